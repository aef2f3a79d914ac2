/* Computed gotos: indirect jumps to labels whose addresses the program holds as values.  Needs
   instructions, jump tables, relocations, tail calls; adds to the tables.

   What jump_tables.c leaves over is followed back over all paths that are known, from the jump to
   where its target comes from.  Labels in code (`lea label`) and entries of tables of offsets are
   taken as they are; paths that meet give the union.  A pointer that is loaded whole can only be a
   label whose address is in data or code of this routine: such a jump goes to all of them, as in
   the compiler's own graph.  What is computed otherwise, or comes from a caller or a call, stays
   unknown.  In an interpreter of thousands of operations, of which each goes to each, all these
   edges would fill memory: there the jumps leave the routine, which is entered at its labels.  New
   tables are new jumps, so a routine is looked at until nothing changes. */
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

enum {
    GENERAL_REGISTERS = 32,
    MOST_STEPS = 1 << 14,
    MOST_STEPS_IN_ALL = 1 << 24,
    MOST_ROUNDS = 8,
    MOST_EDGES = 1 << 17, /* of a routine; CPython's interpreter has 40,000 */
};

/* An instruction, and a register that is looked for before it. */
struct sought {
    uint32_t insn, reg;
};

struct computed_goto {
    uint32_t insn;
    struct pm_addresses targets; /* ascending, each once */
};

struct search {
    struct pm_lifted *lifted;
    struct pm_addresses in_data; /* inner instructions of any routine whose address is in data */
    bool has_in_data;
    uint32_t n_steps; /* in all routines */

    uint32_t routine, first, n;
    struct pm_jumps jumps;
    uint32_t *visited; /* of each instruction, a bit for each register that was looked for there */
    PM_ARRAY(struct sought, trail); /* of one walk: all that was visited */
    PM_ARRAY(struct computed_goto, gotos);
};

/* ---- labels whose addresses are taken ------------------------------------------------------- */

/* Tables of a `switch` whose entries are addresses: their words are no labels. */
struct switch_tables {
    PM_ARRAY(struct pm_jump_table, items);
};

static void find_switch_tables(const struct pm_lifted *lifted, struct switch_tables *tables) {
    for (size_t i = 0; i < lifted->n_tables; i++)
        if (lifted->tables[i].entry_bytes == 8 && !lifted->tables[i].of_labels)
            *PM_PUSH(tables, items) = lifted->tables[i];
    PM_SORT(tables->items, tables->n_items, pm_compare_tables);
}

static bool is_of_switch(const struct switch_tables *tables, uint64_t place) {
    size_t low = PM_LOWER_BOUND(tables->n_items, i, tables->items[i].address <= place);
    return low &&
           place - tables->items[low - 1].address < 8 * (uint64_t)tables->items[low - 1].n_targets;
}

static void add_word(struct search *search, const struct switch_tables *tables, uint64_t place,
                     uint64_t word) {
    const struct pm_lifted *lifted = search->lifted;
    if (word < lifted->text_low || word >= lifted->text_high ||
        pm_insn_at(lifted, word) == PM_NONE || is_of_switch(tables, place))
        return;
    uint32_t routine = pm_routine_at(lifted, word);
    if (routine != PM_NONE && lifted->structure->routines[routine].address != word)
        *PM_PUSH(&search->in_data, addresses) = word;
}

/* Where addresses are fixed at link time, any aligned word may be one. */
static void find_labels_in_data(struct search *search) {
    const struct pm_lifted *lifted = search->lifted;
    const struct pm_image *image = &lifted->image;
    struct switch_tables tables = {0};
    find_switch_tables(lifted, &tables);
    for (size_t i = 0; i < lifted->n_relocations; i++)
        add_word(search, &tables, lifted->relocations[i].place, lifted->relocations[i].value);
    for (size_t i = 0; !image->is_pie && i < image->n_sections; i++) {
        const Elf64_Shdr *header = &image->sections[i].header;
        if (!(header->sh_flags & SHF_ALLOC) || header->sh_type == SHT_NOBITS ||
            pm_section_is_code(&image->sections[i]) ||
            strncmp(image->sections[i].name, ".eh_frame", 9) == 0)
            continue;
        for (uint64_t at = -header->sh_addr & 7; at + 8 <= header->sh_size; at += 8) {
            uint64_t word;
            memcpy(&word, image->bytes + header->sh_offset + at, sizeof word);
            add_word(search, &tables, header->sh_addr + at, word);
        }
    }
    search->in_data.n_addresses =
        pm_make_set(search->in_data.addresses, search->in_data.n_addresses);
    search->has_in_data = true;
    free(tables.items);
}

/* An instruction of the routine that is not its entry. */
static bool is_label(const struct search *search, uint64_t address) {
    uint32_t k = pm_insn_at(search->lifted, address);
    return k != PM_NONE && k - search->first < search->n && k != search->first;
}

static void add_label(const struct search *search, struct pm_addresses *labels, uint64_t address) {
    if (is_label(search, address))
        *PM_PUSH(labels, addresses) = address;
}

/* Addresses that the code forms, and labels that tables of offsets lead to. */
static void add_labels_in_code(const struct search *search, struct pm_addresses *labels) {
    const struct pm_lifted *lifted = search->lifted;
    for (uint32_t k = search->first; k < search->first + search->n; k++) {
        struct pm_definition all[PM_MOST_DEFINITIONS];
        const struct pm_jump_table *table;
        if (lifted->insns[k].control == PM_CONTROL_JUMP_INDIRECT) {
            table = pm_table_of(lifted, k);
            for (uint32_t t = 0; table && table->of_labels && t < table->n_targets; t++)
                add_label(search, labels, lifted->table_targets[table->first_target + t]);
        }
        if (lifted->insns[k].control != PM_CONTROL_NONE)
            continue;
        unsigned n = lifted->isa->define(pm_insn_bytes(lifted, k), &lifted->insns[k], all);
        for (unsigned i = 0; i < n; i++)
            if (all[i].kind == PM_DEFINED_AS_SUM && all[i].n_terms == 0)
                add_label(search, labels, (uint64_t)all[i].constant);
    }
}

/* All labels of the routine; false: there is none. */
static bool add_all_labels(struct search *search, struct pm_addresses *labels) {
    const struct pm_structure *structure = search->lifted->structure;
    const struct pm_routine *routine = &structure->routines[search->routine];
    if (!search->has_in_data)
        find_labels_in_data(search);
    for (uint32_t p = routine->first_part; p < routine->first_part + routine->n_parts; p++) {
        const struct pm_part *part = &structure->parts[p];
        size_t low = PM_LOWER_BOUND(search->in_data.n_addresses, i,
                                    search->in_data.addresses[i] < part->address);
        for (; low < search->in_data.n_addresses &&
               search->in_data.addresses[low] - part->address < part->size_bytes;
             low++)
            add_label(search, labels, search->in_data.addresses[low]);
    }
    add_labels_in_code(search, labels);
    return labels->n_addresses > 0;
}

/* ---- where the target comes from ------------------------------------------------------------ */

struct found {
    struct pm_addresses targets;
    bool loaded;  /* from memory, whole */
    bool unknown; /* otherwise */
};

/* What an instruction computes, as an entry of a table that is added to a label. */
static void accept_computed(struct search *search, uint32_t k, unsigned reg, struct found *found) {
    struct pm_lifted *lifted = search->lifted;
    const struct pm_range *range = pm_range_at(lifted, lifted->insns[k].address);
    bool is_found = false;
    found->unknown = true;
    if (!range || (lifted->insn_marks[k] & PM_MARK_PART_END) || k + 1 >= lifted->n_insns)
        return;
    struct pm_table_query query = {.insns = lifted->insns,
                                   .jump = k + 1,
                                   .first = range->first_insn,
                                   .jumps = search->jumps.items,
                                   .n_jumps = search->jumps.n_items,
                                   .image = (void *)&lifted->image,
                                   .read = pm_image_read,
                                   .is_data = pm_is_data,
                                   .looks_for = (uint8_t)reg,
                                   .has_register = true};
    struct pm_table_form form = lifted->isa->find_table(&query, &is_found);
    found->unknown = !is_found || !form.relative ||
                     !pm_read_label_table(lifted, search->routine, &form, &found->targets);
}

static void look_before(struct search *search, uint32_t k, unsigned reg) {
    uint32_t *bits = &search->visited[k - search->first];
    if (*bits >> reg & 1)
        return;
    *bits |= UINT32_C(1) << reg;
    *PM_PUSH(search, trail) = (struct sought){k, reg};
}

/* A pointer out of memory.  At a fixed place it would be one certain pointer, or, indexed, the
   table of a `switch`. */
static bool is_whole_load(const struct pm_insn *insn, unsigned operand) {
    const struct pm_memory_operand *memory = &insn->memory[operand];
    return operand < insn->n_memory && memory->size_bytes == 8 && !memory->segment &&
           memory->base != PM_REGISTER_NONE && memory->base != PM_REGISTER_PC;
}

/* REG as instruction K leaves it. */
static void look_after(struct search *search, uint32_t k, unsigned reg, struct found *found) {
    const struct pm_lifted *lifted = search->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    struct pm_definition all[PM_MOST_DEFINITIONS];
    const struct pm_definition *value = NULL;
    bool is_call = insn->control == PM_CONTROL_CALL || insn->control == PM_CONTROL_CALL_INDIRECT;
    if (is_call && !(lifted->isa->callee_saved.general >> reg & 1)) {
        found->unknown = true;
        return;
    }
    if (is_call || !(insn->registers->defs.general >> reg & 1)) {
        look_before(search, k, reg);
        return;
    }
    unsigned n = lifted->isa->define(pm_insn_bytes(lifted, k), insn, all);
    for (unsigned i = 0; i < n; i++)
        if (all[i].place == reg)
            value = &all[i];
    bool is_choice = value && value->kind == PM_DEFINED_AS_CHOICE;
    bool is_sum = value && value->kind == PM_DEFINED_AS_SUM;
    if (is_sum && value->n_terms == 0) {
        found->unknown |= !is_label(search, (uint64_t)value->constant);
        add_label(search, &found->targets, (uint64_t)value->constant);
        return;
    }
    bool is_copy = is_sum && value->n_terms == 1 && value->terms[0].factor == 1 && !value->constant;
    if (!is_copy && !is_choice) {
        accept_computed(search, k, reg, found);
        return;
    }
    for (unsigned i = 0; i < value->n_terms; i++) {
        if (value->terms[i].place < GENERAL_REGISTERS)
            look_before(search, k, value->terms[i].place);
        else if (value->terms[i].place == PM_PLACE_MEMORY && is_whole_load(insn, value->operand))
            found->loaded = true;
        else
            found->unknown = true;
    }
}

/* What register REG holds before instruction JUMP. */
static void trace(struct search *search, uint32_t jump, unsigned reg, struct found *found) {
    const struct pm_lifted *lifted = search->lifted;
    search->n_trail = 0;
    look_before(search, jump, reg);
    for (size_t at = 0; at < search->n_trail && !found->unknown; at++) {
        struct sought sought = search->trail[at];
        if (at > MOST_STEPS || search->n_steps++ > MOST_STEPS_IN_ALL) {
            found->unknown = true;
            break;
        }
        found->unknown |= sought.insn == search->first; /* the caller's */
        if (sought.insn > search->first && pm_runs_on(lifted, sought.insn - 1))
            look_after(search, sought.insn - 1, sought.reg, found);
        for (size_t w = pm_first_jump_to(search->jumps.items, search->jumps.n_items, sought.insn);
             w < search->jumps.n_items && search->jumps.items[w].to == sought.insn; w++)
            look_after(search, search->jumps.items[w].from, sought.reg, found);
    }
    for (size_t i = 0; i < search->n_trail; i++)
        search->visited[search->trail[i].insn - search->first] = 0;
}

/* Where JUMP goes, appended to *TARGETS as a set; false: not known. */
static bool find_targets(struct search *search, uint32_t jump, struct pm_addresses *targets) {
    const struct pm_lifted *lifted = search->lifted;
    const struct pm_insn *insn = &lifted->insns[jump];
    struct found found = {0};
    bool has_index = insn->n_memory && insn->memory[0].index != PM_REGISTER_NONE;
    if (insn->n_memory) {
        found.loaded = is_whole_load(insn, 0);
        found.unknown = !found.loaded;
    } else {
        uint64_t reg = insn->registers->uses.general & UINT32_MAX;
        reg &= ~(UINT64_C(1) << lifted->isa->stack_pointer);
        found.unknown = !reg;
        if (reg)
            trace(search, jump, (unsigned)__builtin_ctzll(reg), &found);
    }
    /* With the stack as on entry it may be a tail call through a pointer. */
    bool may_leave = (lifted->insn_marks[jump] & PM_MARK_MAY_LEAVE) && !has_index;
    if (!found.unknown && found.loaded)
        found.unknown = may_leave || !add_all_labels(search, &found.targets);
    found.targets.n_addresses = pm_make_set(found.targets.addresses, found.targets.n_addresses);
    *targets = found.targets;
    if (found.unknown)
        targets->n_addresses = 0;
    return targets->n_addresses > 0;
}

/* ---- one routine, all routines -------------------------------------------------------------- */

static bool same_set(const struct pm_addresses *a, const struct pm_addresses *b) {
    return a->n_addresses == b->n_addresses &&
           (!a->n_addresses ||
            memcmp(a->addresses, b->addresses, a->n_addresses * sizeof *a->addresses) == 0);
}

/* All computed gotos once more, with the jumps known by now; true: something changed. */
static bool look_again(struct search *search, bool is_last) {
    bool changed = false;
    pm_find_jumps(search->lifted, search->routine, &search->jumps);
    for (size_t i = 0; i < search->n_gotos; i++) {
        struct computed_goto *jump = &search->gotos[i];
        struct pm_addresses targets = {0};
        find_targets(search, jump->insn, &targets);
        if (!same_set(&targets, &jump->targets)) {
            changed = true;
            if (is_last) /* does not settle */
                targets.n_addresses = 0;
            pm_set_targets(search->lifted, search->routine, jump->insn, &targets);
        }
        free(jump->targets.addresses);
        jump->targets = targets;
    }
    free(search->jumps.items);
    search->jumps = (struct pm_jumps){0};
    return changed;
}

/* Before each jump gets all labels. */
static bool would_have_too_many_edges(struct search *search) {
    struct pm_addresses labels = {0};
    add_all_labels(search, &labels);
    size_t n_labels = pm_make_set(labels.addresses, labels.n_addresses);
    free(labels.addresses);
    return n_labels > MOST_EDGES / search->n_gotos;
}

static void look_at_routine(struct search *search, uint32_t routine) {
    const struct pm_lifted *lifted = search->lifted;
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    search->routine = routine;
    search->first = code->first_insn;
    search->n = code->n_insns;
    search->n_gotos = 0;
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        if (lifted->insns[k].control == PM_CONTROL_JUMP_INDIRECT &&
            !(lifted->insn_marks[k] & PM_MARK_TAIL_CALL) && !pm_table_of(lifted, k))
            *PM_PUSH(search, gotos) = (struct computed_goto){.insn = k};
    if (!search->n_gotos)
        return;
    if (would_have_too_many_edges(search)) { /* its labels are entries: their addresses are taken */
        for (size_t i = 0; i < search->n_gotos; i++)
            search->lifted->insn_marks[search->gotos[i].insn] |= PM_MARK_TAIL_CALL;
        return;
    }
    search->visited = pm_alloc(search->n, sizeof *search->visited);
    unsigned round = 0;
    while (round < MOST_ROUNDS && look_again(search, round + 1 == MOST_ROUNDS))
        round++;
    free(search->visited);
    for (size_t i = 0; i < search->n_gotos; i++)
        free(search->gotos[i].targets.addresses);
}

/* ---- routines with too many edges ----------------------------------------------------------- */

/* The table's jump leaves the routine, which is entered where it led to. */
static void open_table(struct pm_lifted *lifted, const struct pm_jump_table *table) {
    lifted->insn_marks[table->insn] |= PM_MARK_TAIL_CALL;
    for (uint32_t t = 0; t < table->n_targets; t++) {
        uint32_t to = pm_insn_at(lifted, lifted->table_targets[table->first_target + t]);
        if (to != PM_NONE)
            lifted->insn_marks[to] |= PM_MARK_LEADER | PM_MARK_INDIRECT_ENTRY | PM_MARK_OUTSIDE;
    }
}

static void open_large_routines(struct pm_lifted *lifted) {
    uint64_t *n_edges = pm_alloc(lifted->structure->n_routines, sizeof *n_edges);
    size_t n = 0;
    for (size_t i = 0; i < lifted->n_tables; i++)
        n_edges[pm_routine_at(lifted, lifted->insns[lifted->tables[i].insn].address)] +=
            lifted->tables[i].n_targets;
    for (size_t i = 0; i < lifted->n_tables; i++) {
        const struct pm_jump_table *table = &lifted->tables[i];
        if (n_edges[pm_routine_at(lifted, lifted->insns[table->insn].address)] > MOST_EDGES)
            open_table(lifted, table);
        else
            lifted->tables[n++] = *table;
    }
    lifted->n_tables = n;
    free(n_edges);
}

void pm_find_label_jumps(struct pm_lifted *lifted) {
    struct search search = {.lifted = lifted};
    for (uint32_t r = 0; r < lifted->structure->n_routines; r++)
        look_at_routine(&search, r);
    open_large_routines(lifted);
    free(search.in_data.addresses);
    free(search.trail);
    free(search.gotos);
}
