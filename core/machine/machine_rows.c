/* Rows of costs, bypasses and foreign operations from a machine file.  Those of an included file
   are replaced as a whole. */
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

/* ---- costs ----------------------------------------------------------------------------------- */

static int take_units(cfg_t *section, int line, struct pm_cost *row) {
    unsigned n = cfg_size(section, "units");
    struct pm_reservation any = {
        .count = 1, .busy_cycles = cfg_size(section, "repeat") ? row->repeat_cycles : 1};
    for (unsigned i = 0; i < n; i++) {
        const char *name = cfg_getnstr(section, "units", i);
        int unit = pm_unit_named(pm_machine_reading->machine, name, strlen(name));
        if (unit < 0)
            return pm_machine_refuse(
                line, "there is no unit `%s` (a `unit` section must stand above its use)", name);
        any.units |= UINT64_C(1) << unit;
    }
    if (!n)
        return 0;
    row->alternatives = pm_alloc(1, sizeof *row->alternatives);
    row->n_alternatives = 1;
    row->alternatives[0] =
        (struct pm_reservation_table){.n_reservations = 1, .reservations = {any}};
    return 0;
}

static int take_tables(cfg_t *section, int line, struct pm_cost *row) {
    unsigned n = cfg_size(section, "uses");
    if (cfg_size(section, "repeat"))
        return pm_machine_refuse(
            line, "`repeat` goes with `units`; in `uses` cycles stand behind a colon: \"p0:4\"");
    row->has_tables = true;
    row->alternatives = pm_alloc(n, sizeof *row->alternatives);
    row->n_alternatives = n;
    for (unsigned i = 0; i < n; i++) {
        struct pm_error why = {0};
        if (!pm_reservation_table_parse(pm_machine_reading->machine,
                                        cfg_getnstr(section, "uses", i), &row->alternatives[i],
                                        &why))
            return pm_machine_refuse(line, "%s", why.text);
    }
    return 0;
}

static int take_domain(int line, const char *name) {
    struct pm_machine *machine = pm_machine_reading->machine;
    for (size_t i = 0; i < machine->n_domains; i++)
        if (strcmp(machine->domains[i], name) == 0)
            return 0;
    if (machine->n_domains == PM_MACHINE_MAX_DOMAINS)
        return pm_machine_refuse(line, "more than %d domains", PM_MACHINE_MAX_DOMAINS);
    machine->domains[machine->n_domains++] = pm_strdup(name);
    return 0;
}

void pm_free_cost(struct pm_cost *row) {
    free(row->mnemonic);
    free(row->alternatives);
    free(row->domain);
    free(row->trust.source);
}

static bool is_same_row(const struct pm_cost *a, const struct pm_cost *b) {
    bool same_name = a->mnemonic && b->mnemonic
                         ? strcmp(a->mnemonic, b->mnemonic) == 0
                         : !a->mnemonic && !b->mnemonic && a->op_class == b->op_class;
    return same_name && a->width_bits == b->width_bits && a->element_bytes == b->element_bytes;
}

/* Adds a copy of ROW for the class or mnemonic OF; it replaces the row of an included file. */
static int add_row(int line, const struct pm_cost *row, const char *of) {
    struct pm_machine *machine = pm_machine_reading->machine;
    struct pm_cost mine = *row;
    mine.mnemonic = row->mnemonic ? pm_strdup(of) : NULL;
    struct pm_cost *place = NULL;
    for (size_t k = 0; k < machine->n_costs && !place; k++)
        if (is_same_row(&machine->costs[k], &mine))
            place = &machine->costs[k];
    if (place && pm_is_of_this_file(&place->trust)) {
        free(mine.mnemonic);
        return pm_machine_refuse(line, "a second cost of `%s` for the same `width` and `element`",
                                 of);
    }
    if (place)
        pm_free_cost(place);
    else
        place = PM_PUSH(machine, costs);
    mine.alternatives = pm_alloc(row->n_alternatives, sizeof *mine.alternatives);
    if (row->n_alternatives)
        memcpy(mine.alternatives, row->alternatives,
               row->n_alternatives * sizeof *mine.alternatives);
    mine.domain = row->domain ? pm_strdup(row->domain) : NULL;
    mine.trust.source = row->trust.source ? pm_strdup(row->trust.source) : NULL;
    *place = mine;
    return 0;
}

/* "(v)addpd": addpd and vaddpd. */
static int add_mnemonic(int line, const struct pm_cost *row, const char *name) {
    if (strncmp(name, "(v)", 3) != 0)
        return add_row(line, row, name);
    char *with = pm_sprintf("v%s", name + 3);
    int status = add_row(line, row, name + 3) || add_row(line, row, with) ? -1 : 0;
    free(with);
    return status;
}

/* One row for each class or mnemonic that the section is of. */
static int add_rows(cfg_t *section, int line, struct pm_cost *row) {
    for (unsigned i = 0; i < cfg_size(section, "of"); i++)
        if (pm_take_class(cfg_getnstr(section, "of", i), line, &row->op_class) ||
            add_row(line, row, cfg_getnstr(section, "of", i)))
            return -1;
    static char is_mnemonic[] = "";
    row->mnemonic = is_mnemonic;
    row->op_class = PM_OP_UNKNOWN;
    for (unsigned i = 0; i < cfg_size(section, "mnemonic"); i++)
        if (add_mnemonic(line, row, cfg_getnstr(section, "mnemonic", i)))
            return -1;
    row->mnemonic = NULL;
    return 0;
}

static int fill_row(cfg_t *section, int line, struct pm_cost *row) {
    if (!cfg_size(section, "of") && !cfg_size(section, "mnemonic"))
        return pm_machine_refuse(line, "the `cost` section has no class: write `of = {fp_add, …}`");
    if (pm_take_section(section, line, PM_SECTION_COST, NULL, row))
        return -1;
    unsigned n_kinds = (cfg_size(section, "units") > 0) + (cfg_size(section, "uses") > 0) +
                       (cfg_getbool(section, "free") != cfg_false);
    if (!cfg_size(section, "latency"))
        return pm_machine_refuse(line, "the `cost` section has no `latency`");
    if (n_kinds != 1)
        return pm_machine_refuse(line, "the `cost` section needs either `units = {…}`, "
                                       "`uses = {…}` or `free = true`");
    if (cfg_size(section, "uses") ? take_tables(section, line, row)
                                  : take_units(section, line, row))
        return -1;
    return row->domain ? take_domain(line, row->domain) : 0;
}

int pm_take_cost(cfg_t *section, int line) {
    struct pm_cost row = {.repeat_cycles = 1, .operations = 1};
    int status = fill_row(section, line, &row) || add_rows(section, line, &row) ? -1 : 0;
    row.mnemonic = NULL;
    pm_free_cost(&row);
    return status;
}

/* ---- bypasses, foreign operations ------------------------------------------------------------ */

/* Names of classes and domains. */
static int take_ends(cfg_t *section, const char *list, int line, uint64_t *classes,
                     uint32_t *domains) {
    const struct pm_machine *machine = pm_machine_reading->machine;
    for (unsigned i = 0; i < cfg_size(section, list); i++) {
        const char *name = cfg_getnstr(section, list, i);
        enum pm_op_class op_class;
        size_t domain = 0;
        while (domain < machine->n_domains && strcmp(machine->domains[domain], name) != 0)
            domain++;
        if (domain < machine->n_domains)
            *domains |= 1u << domain;
        else if (pm_op_class_from_name(name, &op_class) && op_class != PM_OP_UNKNOWN)
            *classes |= UINT64_C(1) << op_class;
        else
            return pm_machine_refuse(line,
                                     "`%s` of a `bypass` names `%s`, which is neither an operation "
                                     "class nor the `domain` of a cost above it",
                                     list, name);
    }
    if (*classes || *domains)
        return 0;
    return pm_machine_refuse(line, "the `bypass` section has no `%s`", list);
}

int pm_take_bypass(cfg_t *section, int line) {
    struct pm_bypass bypass = {0};
    bool has_latency = cfg_size(section, "latency") > 0;
    if (take_ends(section, "from", line, &bypass.from_classes, &bypass.from_domains) ||
        take_ends(section, "to", line, &bypass.to_classes, &bypass.to_domains))
        return -1;
    if (has_latency == (cfg_size(section, "extra") > 0))
        return pm_machine_refuse(
            line, "the `bypass` section needs either `latency` or `extra`, in cycles");
    bypass.is_extra = !has_latency;
    if (pm_take_section(section, line, PM_SECTION_BYPASS, NULL, &bypass)) {
        free(bypass.trust.source);
        return -1;
    }
    *PM_PUSH(pm_machine_reading->machine, bypasses) = bypass;
    return 0;
}

int pm_take_foreign(cfg_t *section, int line) {
    const char *title = cfg_title(section);
    int kind = 0;
    while (kind < PM_N_FOREIGN && strcmp(pm_foreign_word((enum pm_foreign_kind)kind), title) != 0)
        kind++;
    if (kind == PM_N_FOREIGN)
        return pm_machine_refuse(line,
                                 "`foreign` knows memory_operand, indexed_address, push, flags, "
                                 "mask, gather, scatter, multiply_add, not `%s`",
                                 title);
    struct pm_foreign *foreign = &pm_machine_reading->machine->foreign[kind];
    foreign->given = true;
    foreign->n_adds = 0;
    for (unsigned i = 0; i < cfg_size(section, "adds"); i++) {
        if (foreign->n_adds == PM_MOST_FOREIGN)
            return pm_machine_refuse(line, "`adds` names more than %d operations", PM_MOST_FOREIGN);
        if (pm_take_class(cfg_getnstr(section, "adds", i), line, &foreign->adds[foreign->n_adds++]))
            return -1;
    }
    return pm_take_section(section, line, PM_SECTION_FOREIGN, NULL, foreign);
}
