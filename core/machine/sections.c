/* A section of a machine file, once libconfuse has read it, becomes part of the machine.  What an
   included file says stays unless this file says otherwise: of titled sections figure by figure, of
   costs, bypasses and curves as a whole. */
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"
#include "core/prediction.h"

bool pm_is_of_this_file(const struct pm_trust *trust) {
    return trust->path == pm_machine_reading->path;
}

/* ---- any section ----------------------------------------------------------------------------- */

void pm_note_interval(struct pm_machine *machine, const char *section, const char *field,
                      const struct pm_machine_value *value) {
    char *name = section ? pm_sprintf("%s.%s", section, field) : pm_strdup(field);
    size_t at = 0;
    while (at < machine->n_intervals && strcmp(machine->intervals[at].name, name) != 0)
        at++;
    if (value->has_interval) {
        if (at == machine->n_intervals)
            PM_PUSH(machine, intervals)->name = pm_strdup(name);
        machine->intervals[at].number = value->number;
        machine->intervals[at].low = value->low;
        machine->intervals[at].high = value->high;
    } else if (at < machine->n_intervals) {
        free(machine->intervals[at].name);
        machine->intervals[at] = machine->intervals[--machine->n_intervals];
    }
    free(name);
}

/* The figures of SECTION; *GIVEN gets their bits. */
static int take_figures(cfg_t *section, int line, const struct pm_machine_section *kind,
                        const char *name, void *content, uint64_t *given) {
    *given = 0;
    for (size_t i = 0; i < kind->n_fields; i++) {
        const struct pm_machine_field *field = &kind->fields[i];
        if (cfg_size(section, field->name) == 0)
            continue;
        *given |= UINT64_C(1) << i;
        if (field->type == PM_FIELD_LIST)
            continue;
        struct pm_machine_value value;
        struct pm_error why = {0};
        const char *text = cfg_getstr(section, field->name);
        if (!pm_value_parse(field, text, &value, &why))
            return pm_machine_refuse(line, "%s", why.text);
        pm_value_store(field, &value, text, content);
        if (pm_field_is_figure(field))
            pm_note_interval(pm_machine_reading->machine, name, field->name, &value);
    }
    return 0;
}

/* Bits of the figures that SECTION marks: all that are GIVEN with `verified = false`, else those
   that `not_verified` names among ALL. */
static int take_unverified(cfg_t *section, int line, const struct pm_machine_section *kind,
                           uint64_t given, uint64_t all, uint64_t *unverified) {
    *unverified = 0;
    for (size_t i = 0; i < kind->n_fields && !cfg_getbool(section, "verified"); i++)
        if (pm_field_is_figure(&kind->fields[i]))
            *unverified |= given & (UINT64_C(1) << i);
    for (unsigned i = 0; i < cfg_size(section, "not_verified"); i++) {
        const char *name = cfg_getnstr(section, "not_verified", i);
        int field = pm_field_named(kind, name);
        if (field < 0 || !pm_field_is_figure(&kind->fields[field]) || !(all >> field & 1))
            return pm_machine_refuse(
                line, "`not_verified` names `%s`, which is no figure given here", name);
        *unverified |= UINT64_C(1) << field;
    }
    return 0;
}

/* What was there before stands behind, if some of its figures are left. */
static void take_source(struct pm_trust *trust, const char *source, uint64_t given) {
    bool is_left = trust->source && (trust->given & ~given);
    char *whole = is_left ? pm_sprintf("%s; else %s", source, trust->source) : pm_strdup(source);
    free(trust->source);
    trust->source = whole;
}

/* Fields, marks and source of SECTION into CONTENT; NAME is that of its figures, NULL none. */
int pm_take_section(cfg_t *section, int line, enum pm_machine_section_kind number, const char *name,
                    void *content) {
    const struct pm_machine_section *kind = &pm_sections[number];
    struct pm_trust *trust = pm_trust_of(kind, content);
    uint64_t given, unverified;
    if (take_figures(section, line, kind, name, content, &given) ||
        take_unverified(section, line, kind, given, given | trust->given, &unverified))
        return -1;
    if (cfg_size(section, "source"))
        take_source(trust, cfg_getstr(section, "source"), given);
    trust->given |= given;
    trust->unverified = (trust->unverified & ~given) | unverified;
    trust->path = pm_machine_reading->path;
    trust->line = line;
    return 0;
}

int pm_take_class(const char *text, int line, enum pm_op_class *op_class) {
    if (pm_op_class_from_name(text, op_class) && *op_class != PM_OP_UNKNOWN)
        return 0;
    return pm_machine_refuse(
        line, "there is no operation class `%s` (machines/README.md lists them)", text);
}

int pm_take_classes(cfg_t *section, const char *list, int line, uint64_t *classes) {
    *classes = 0;
    for (unsigned i = 0; i < cfg_size(section, list); i++) {
        enum pm_op_class op_class;
        if (pm_take_class(cfg_getnstr(section, list, i), line, &op_class))
            return -1;
        *classes |= UINT64_C(1) << op_class;
    }
    return 0;
}

/* ---- outside sections ------------------------------------------------------------------------ */

static int take_eliminations(cfg_t *section, int line, uint32_t *eliminates) {
    *eliminates = 0;
    for (unsigned i = 0; i < cfg_size(section, "eliminates"); i++) {
        const char *word = cfg_getnstr(section, "eliminates", i);
        uint32_t bit = 1;
        while (pm_elimination_word(bit) && strcmp(pm_elimination_word(bit), word) != 0)
            bit <<= 1;
        if (!pm_elimination_word(bit))
            return pm_machine_refuse(
                line,
                "`eliminates` is made of moves, vector_moves, zeroing, additions, "
                "stack_moves, borrows, not `%s`",
                word);
        *eliminates |= bit;
    }
    return 0;
}

int pm_take_root(cfg_t *section, int line) {
    struct pm_machine *machine = pm_machine_reading->machine;
    if (cfg_size(section, "fuses_branch") &&
        pm_take_classes(section, "fuses_branch", line, &machine->fuses_branch))
        return -1;
    if (cfg_size(section, "eliminates") && take_eliminations(section, line, &machine->eliminates))
        return -1;
    return pm_take_section(section, line, PM_SECTION_ROOT, NULL, machine);
}

/* ---- units ----------------------------------------------------------------------------------- */

int pm_take_unit(cfg_t *section, int line) {
    struct pm_machine *machine = pm_machine_reading->machine;
    const char *name = cfg_title(section);
    int number = pm_unit_named(machine, name, strlen(name));
    if (number < 0 && machine->n_units == PM_MACHINE_MAX_UNITS)
        return pm_machine_refuse(line, "more than %d units", PM_MACHINE_MAX_UNITS);
    if (strpbrk(name, " \t|+:@*,{}\"") || !*name)
        return pm_machine_refuse(line, "`%s` is no name for a unit: letters, digits and _", name);
    if (number < 0) {
        number = (int)machine->n_units++;
        machine->units[number].name = pm_strdup(name);
    }
    return pm_take_section(section, line, PM_SECTION_UNIT, name, &machine->units[number]);
}

/* ---- levels and memory ----------------------------------------------------------------------- */

static struct pm_level *level_named(const char *name) {
    struct pm_machine *machine = pm_machine_reading->machine;
    for (size_t i = 0; i < machine->n_all_levels; i++)
        if (strcmp(machine->levels[i].name, name) == 0)
            return &machine->levels[i];
    return NULL;
}

static struct pm_level *new_level(const char *name, uint8_t kind) {
    struct pm_machine *machine = pm_machine_reading->machine;
    machine->levels =
        pm_realloc(machine->levels, machine->n_all_levels + 1, sizeof *machine->levels);
    struct pm_level *level = &machine->levels[machine->n_all_levels++];
    *level = (struct pm_level){
        .name = pm_strdup(name), .kind = kind, .shared_by = 1, .write_allocate = true};
    return level;
}

static int take_level(cfg_t *section, int line, uint8_t kind) {
    const char *name = cfg_title(section);
    struct pm_level *level = level_named(name);
    if (level && pm_is_of_this_file(&level->trust))
        return pm_machine_refuse(line, "a second level of the name `%s`", name);
    if (level && level->kind != kind)
        return pm_machine_refuse(line, "`%s` is a cache in one file and a TLB in the other", name);
    if (!level && pm_machine_reading->machine->n_all_levels == PM_MAX_LEVELS)
        return pm_machine_refuse(line, "more than %d caches and TLBs", PM_MAX_LEVELS);
    if (!level)
        level = new_level(name, kind);
    if (pm_take_section(section, line, kind == PM_LEVEL_TLB ? PM_SECTION_TLB : PM_SECTION_CACHE,
                        name, level))
        return -1;
    return kind == PM_LEVEL_CACHE ? pm_take_serves(section, line, level) : 0;
}

int pm_take_cache(cfg_t *section, int line) { return take_level(section, line, PM_LEVEL_CACHE); }
int pm_take_tlb(cfg_t *section, int line) { return take_level(section, line, PM_LEVEL_TLB); }

int pm_take_memory(cfg_t *section, int line) {
    return pm_take_section(section, line, PM_SECTION_MEMORY, "memory",
                           &pm_machine_reading->machine->memory);
}

int pm_take_prefetcher(cfg_t *section, int line) {
    struct pm_machine *machine = pm_machine_reading->machine;
    const char *name = cfg_title(section);
    struct pm_prefetcher *prefetcher = NULL;
    for (size_t i = 0; i < machine->n_prefetchers && !prefetcher; i++)
        if (strcmp(machine->prefetchers[i].name, name) == 0)
            prefetcher = &machine->prefetchers[i];
    if (!prefetcher) {
        prefetcher = PM_PUSH(machine, prefetchers);
        prefetcher->name = pm_strdup(name);
    }
    return pm_take_section(section, line, PM_SECTION_PREFETCHER, name, prefetcher);
}
