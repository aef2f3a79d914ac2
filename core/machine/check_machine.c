/* What must hold of a whole machine, however many files and settings it is made from; then its rows
   and levels in the order in which they are looked up. */
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

static struct pm_machine *machine_read(void) { return pm_machine_reading->machine; }

/* ---- figures that must be there -------------------------------------------------------------- */

struct search {
    bool failed;
};

static void need_figures(void *context, const struct pm_machine_section *section, const char *name,
                         void *content) {
    struct search *search = context;
    const struct pm_trust *trust = pm_trust_of(section, content);
    (void)name;
    for (size_t i = 0; i < section->n_fields && !search->failed; i++) {
        if (!section->fields[i].required || trust->given >> i & 1)
            continue;
        search->failed = true;
        if (section == &pm_sections[PM_SECTION_ROOT])
            pm_machine_refuse_at(trust, "the file has no `%s`", section->fields[i].name);
        else
            pm_machine_refuse_at(trust, "the `%s` section has no `%s`", section->name,
                                 section->fields[i].name);
    }
}

/* ---- levels ---------------------------------------------------------------------------------- */

static const char *kind_word(const struct pm_level *level) {
    return level->kind == PM_LEVEL_TLB ? "tlb" : "cache";
}

/* Sets and their ways; a size that is not a number of blocks was refused before. */
static int check_sets(const struct pm_level *level) {
    const char *blocks_word = level->kind == PM_LEVEL_TLB ? "entries" : "lines";
    uint64_t blocks = level->size_bytes / level->block_bytes;
    uint64_t ways = level->associativity ? level->associativity : blocks;
    if (blocks % ways)
        return pm_machine_refuse_at(
            &level->trust, "%s `%s`: its %llu %s are not a whole number of sets of `ways = %llu`",
            kind_word(level), level->name, (unsigned long long)blocks, blocks_word,
            (unsigned long long)ways);
    if (level->replacement == PM_REPLACEMENT_PLRU && (ways & (ways - 1)))
        return pm_machine_refuse_at(
            &level->trust, "%s `%s`: `replacement = plru` needs a power of two of ways, not %llu",
            kind_word(level), level->name, (unsigned long long)ways);
    return 0;
}

/* BEFORE: the cache nearer the core; NULL none. */
static int check_inclusion(const struct pm_level *level, const struct pm_level *before) {
    if (level->inclusion == PM_INCLUSION_NEITHER)
        return 0;
    if (!before)
        return pm_machine_refuse_at(
            &level->trust,
            "cache `%s`: no cache stands above it, which `inclusion` could be towards",
            level->name);
    if (level->inclusion == PM_INCLUSION_EXCLUSIVE && before->block_bytes != level->block_bytes)
        return pm_machine_refuse_at(
            &level->trust,
            "cache `%s`: `inclusion = exclusive` needs the line of `%s` above it, %llu bytes",
            level->name, before->name, (unsigned long long)before->block_bytes);
    return 0;
}

static int check_cache(const struct pm_level *level, const struct pm_level *before) {
    if (level->size_bytes % level->block_bytes)
        return pm_machine_refuse_at(
            &level->trust, "cache `%s`: its size is not a multiple of its line", level->name);
    if (before && before->size_bytes > level->size_bytes)
        return pm_machine_refuse_at(
            &level->trust,
            "cache `%s` is smaller than `%s` above it: caches stand in order from "
            "the core outwards",
            level->name, before->name);
    return check_sets(level) || check_inclusion(level, before);
}

static int check_tlb(struct pm_level *level) {
    double bytes = (double)level->entries * (double)level->block_bytes;
    if (bytes > 0x1p62)
        return pm_machine_refuse_at(&level->trust, "tlb `%s` maps more than an address space",
                                    level->name);
    level->size_bytes = level->entries * level->block_bytes;
    return check_sets(level);
}

static bool is_in_use(const struct pm_machine *machine, const struct pm_level *level) {
    return level->kind == PM_LEVEL_CACHE || !machine->page_bytes ||
           level->block_bytes == machine->page_bytes;
}

/* Caches first, then TLBs in use, then the others; each in the order of the files. */
static void sort_levels(struct pm_machine *machine) {
    struct pm_level *sorted = pm_alloc(machine->n_all_levels, sizeof *sorted);
    size_t n = 0;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < machine->n_all_levels; i++) {
            const struct pm_level *level = &machine->levels[i];
            int turn = !is_in_use(machine, level) ? 2 : level->kind == PM_LEVEL_TLB;
            if (turn == round)
                sorted[n++] = *level;
        }
        if (round == 1)
            machine->n_levels = n;
    }
    free(machine->levels);
    machine->levels = sorted;
}

static bool check_levels(struct pm_machine *machine) {
    const struct pm_level *before = NULL;
    bool has_tlb = false, uses_tlb = false;
    for (size_t i = 0; i < machine->n_all_levels; i++) {
        struct pm_level *level = &machine->levels[i];
        bool is_cache = level->kind == PM_LEVEL_CACHE;
        pm_renew_serves(level);
        if (is_cache ? check_cache(level, before) : check_tlb(level))
            return false;
        if (is_cache)
            before = level;
        has_tlb |= !is_cache;
        uses_tlb |= !is_cache && is_in_use(machine, level);
    }
    if (!before)
        return pm_machine_refuse(0, "has no `cache` section") == 0;
    if (has_tlb && !uses_tlb)
        return pm_machine_refuse_at(&machine->trust, "no `tlb` has the page in use, %llu bytes",
                                    (unsigned long long)machine->page_bytes) == 0;
    return true;
}

static bool check_prefetchers(const struct pm_machine *machine) {
    for (size_t i = 0; i < machine->n_prefetchers; i++) {
        const struct pm_prefetcher *p = &machine->prefetchers[i];
        bool known = false;
        for (size_t l = 0; l < machine->n_all_levels; l++)
            known |= machine->levels[l].kind == PM_LEVEL_CACHE &&
                     strcmp(machine->levels[l].name, p->level) == 0;
        if (!known)
            return pm_machine_refuse_at(&p->trust, "prefetcher `%s`: there is no cache `%s`",
                                        p->name, p->level) == 0;
        if (p->min_stride_bytes > p->max_stride_bytes)
            return pm_machine_refuse_at(&p->trust,
                                        "prefetcher `%s`: its `min_stride` is above its "
                                        "`max_stride`",
                                        p->name) == 0;
    }
    return true;
}

/* ---- costs ----------------------------------------------------------------------------------- */

uint64_t pm_units_used(const struct pm_machine *machine) {
    uint64_t used = 0;
    for (size_t i = 0; i < machine->n_costs; i++)
        for (size_t a = 0; a < machine->costs[i].n_alternatives; a++) {
            const struct pm_reservation_table *table = &machine->costs[i].alternatives[a];
            for (size_t r = 0; r < table->n_reservations; r++)
                used |= table->reservations[r].units;
        }
    return used;
}

/* One of an included file may be what this machine lacks. */
static bool check_units(const struct pm_machine *machine) {
    uint64_t used = pm_units_used(machine);
    const char *of_machine = machine->paths[0];
    for (size_t unit = 0; unit < machine->n_units; unit++)
        if (!(used >> unit & 1) && machine->units[unit].trust.path == of_machine)
            return pm_machine_refuse_at(&machine->units[unit].trust,
                                        "unit `%s` is used by no `cost`",
                                        machine->units[unit].name) == 0;
    return true;
}

static bool check_mnemonics(const struct pm_machine *machine) {
    bool (*knows)(const char *, const char *) = pm_machine_reading->options->knows_mnemonic;
    for (size_t i = 0; i < machine->n_costs; i++) {
        const struct pm_cost *row = &machine->costs[i];
        if (!row->mnemonic)
            continue;
        if (!machine->isa)
            return pm_machine_refuse_at(&row->trust,
                                        "a cost of `%s` needs an `isa` outside sections: whose "
                                        "instruction it is",
                                        row->mnemonic) == 0;
        if (knows && !knows(machine->isa, row->mnemonic))
            return pm_machine_refuse_at(&row->trust, "%s has no instruction `%s`", machine->isa,
                                        row->mnemonic) == 0;
    }
    return true;
}

/* Rows of classes first, by class; those of mnemonics last, by name. */
static int compare_rows(const void *a, const void *b) {
    const struct pm_cost *x = a, *y = b;
    if (!x->mnemonic != !y->mnemonic)
        return x->mnemonic ? 1 : -1;
    if (x->mnemonic && strcmp(x->mnemonic, y->mnemonic) != 0)
        return strcmp(x->mnemonic, y->mnemonic);
    if (x->op_class != y->op_class)
        return x->op_class < y->op_class ? -1 : 1;
    if (x->width_bits != y->width_bits)
        return x->width_bits < y->width_bits ? -1 : 1;
    return (x->element_bytes > y->element_bytes) - (x->element_bytes < y->element_bytes);
}

static void sort_costs(struct pm_machine *machine) {
    PM_SORT(machine->costs, machine->n_costs, compare_rows);
    size_t row = 0;
    for (int op_class = 0; op_class <= PM_N_OP_CLASSES; op_class++) {
        while (row < machine->n_costs && !machine->costs[row].mnemonic &&
               (int)machine->costs[row].op_class < op_class)
            row++;
        machine->first_cost[op_class] = (uint32_t)row;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void count_unverified(void *context, const struct pm_machine_section *section,
                             const char *name, void *content) {
    (void)name;
    size_t *n = context;
    *n += (size_t)__builtin_popcountll(pm_trust_of(section, content)->unverified);
}

static void derive_bandwidth(struct pm_machine *machine) {
    double gbs = machine->memory.bandwidth_gbs > 0 ? machine->memory.bandwidth_gbs
                                                   : machine->memory_bandwidth_gbs;
    machine->memory_bandwidth_bytes_per_cycle = gbs * 1e9 / machine->clock_hz;
}

bool pm_machine_check(void) {
    struct pm_machine *machine = machine_read();
    struct search search = {0};
    pm_visit_sections(machine, need_figures, &search);
    if (search.failed)
        return false;
    if (!machine->n_costs)
        return pm_machine_refuse(0, "has no `cost` section, so nothing could be scheduled") == 0;
    if (!check_levels(machine) || !check_prefetchers(machine) || !check_units(machine) ||
        !check_mnemonics(machine))
        return false;
    if (!machine->sources)
        machine->sources = pm_strdup("");
    pm_visit_sections(machine, count_unverified, &machine->n_unverified);
    derive_bandwidth(machine);
    sort_levels(machine);
    sort_costs(machine);
    return true;
}
