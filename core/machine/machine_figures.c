/* The figures of a machine as a list: what --diff compares, --check lists, and reports count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

char *pm_cost_name(const struct pm_cost *row) {
    char *name = pm_strdup(row->mnemonic ? row->mnemonic : pm_op_class_name(row->op_class));
    if (row->width_bits || row->element_bytes)
        pm_append(&name, "/%u", (unsigned)row->width_bits);
    if (row->element_bytes)
        pm_append(&name, "/%u", (unsigned)row->element_bytes);
    return name;
}

const char *pm_cost_unverified(const struct pm_cost *row, size_t i) {
    const struct pm_machine_section *section = &pm_sections[PM_SECTION_COST];
    for (size_t field = 0; field < section->n_fields; field++)
        if (row->trust.unverified >> field & 1 && i-- == 0)
            return section->fields[field].name;
    return NULL;
}

static void visit_costs(struct pm_machine *machine, pm_visit_section *visit, void *context) {
    for (size_t i = 0; i < machine->n_costs; i++) {
        char *name = pm_cost_name(&machine->costs[i]);
        visit(context, &pm_sections[PM_SECTION_COST], name, &machine->costs[i]);
        free(name);
    }
    for (size_t i = 0; i < machine->n_bypasses; i++) {
        char *name = pm_sprintf("bypass/%zu", i + 1);
        visit(context, &pm_sections[PM_SECTION_BYPASS], name, &machine->bypasses[i]);
        free(name);
    }
    for (int kind = 0; kind < PM_N_FOREIGN; kind++)
        if (machine->foreign[kind].given) {
            char *name = pm_sprintf("foreign/%s", pm_foreign_word((enum pm_foreign_kind)kind));
            visit(context, &pm_sections[PM_SECTION_FOREIGN], name, &machine->foreign[kind]);
            free(name);
        }
}

void pm_visit_sections(struct pm_machine *machine, pm_visit_section *visit, void *context) {
    visit(context, &pm_sections[PM_SECTION_ROOT], "", machine);
    for (size_t i = 0; i < machine->n_units; i++)
        visit(context, &pm_sections[PM_SECTION_UNIT], machine->units[i].name, &machine->units[i]);
    visit_costs(machine, visit, context);
    for (size_t i = 0; i < machine->n_all_levels; i++) {
        struct pm_level *level = &machine->levels[i];
        enum pm_machine_section_kind kind =
            level->kind == PM_LEVEL_TLB ? PM_SECTION_TLB : PM_SECTION_CACHE;
        visit(context, &pm_sections[kind], level->name, level);
    }
    visit(context, &pm_sections[PM_SECTION_MEMORY], "memory", &machine->memory);
    for (size_t i = 0; i < machine->n_prefetchers; i++)
        visit(context, &pm_sections[PM_SECTION_PREFETCHER], machine->prefetchers[i].name,
              &machine->prefetchers[i]);
    for (size_t i = 0; i < machine->n_curves; i++)
        visit(context, &pm_sections[PM_SECTION_CURVE], machine->curves[i].name,
              &machine->curves[i]);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static char *classes_text(uint64_t classes) {
    char *text = pm_strdup("{");
    for (int c = 0; c < PM_N_OP_CLASSES; c++)
        if (classes >> c & 1)
            pm_append(&text, "%s%s", text[1] ? ", " : "", pm_op_class_name((enum pm_op_class)c));
    pm_append(&text, "}");
    return text;
}

static char *eliminations_text(uint32_t eliminates) {
    char *text = pm_strdup("{");
    for (uint32_t bit = 1; pm_elimination_word(bit); bit <<= 1)
        if (eliminates & bit)
            pm_append(&text, "%s%s", text[1] ? ", " : "", pm_elimination_word(bit));
    pm_append(&text, "}");
    return text;
}

static char *units_text(const struct pm_machine *machine, const struct pm_cost *row) {
    char *text = pm_strdup("{");
    for (size_t unit = 0; unit < machine->n_units && row->n_alternatives; unit++)
        if (row->alternatives[0].reservations[0].units >> unit & 1)
            pm_append(&text, "%s%s", text[1] ? ", " : "", machine->units[unit].name);
    pm_append(&text, "}");
    return text;
}

static char *tables_text(const struct pm_machine *machine, const struct pm_cost *row) {
    char *text = pm_strdup("{");
    for (size_t i = 0; i < row->n_alternatives; i++) {
        char *one = pm_reservation_table_text(machine, &row->alternatives[i]);
        pm_append(&text, "%s\"%s\"", i ? ", " : "", one);
        free(one);
    }
    pm_append(&text, "}");
    return text;
}

static char *adds_text(const struct pm_foreign *foreign) {
    char *text = pm_strdup("{");
    for (size_t i = 0; i < foreign->n_adds; i++)
        pm_append(&text, "%s%s", i ? ", " : "", pm_op_class_name(foreign->adds[i]));
    pm_append(&text, "}");
    return text;
}

static char *points_text(const struct pm_curve *curve, const char *list) {
    const double *points = strcmp(list, "working_set") == 0 ? curve->working_set_bytes
                           : strcmp(list, "value") == 0     ? curve->value
                           : strcmp(list, "low") == 0       ? curve->low
                                                            : curve->high;
    static const struct pm_machine_field point = {.type = PM_FIELD_REAL};
    char *text = pm_strdup("{");
    for (size_t i = 0; i < curve->n_points && points; i++) {
        char *one = pm_value_text(&point, &points[i]);
        pm_append(&text, "%s%s", i ? ", " : "", one);
        free(one);
    }
    pm_append(&text, "}");
    return text;
}

char *pm_list_text(const struct pm_machine *machine, const struct pm_machine_section *section,
                   const struct pm_machine_field *field, const void *content) {
    if (section == &pm_sections[PM_SECTION_ROOT])
        return strcmp(field->name, "eliminates") == 0 ? eliminations_text(machine->eliminates)
                                                      : classes_text(machine->fuses_branch);
    if (section == &pm_sections[PM_SECTION_COST])
        return strcmp(field->name, "units") == 0 ? units_text(machine, content)
                                                 : tables_text(machine, content);
    if (section == &pm_sections[PM_SECTION_FOREIGN])
        return adds_text(content);
    if (section == &pm_sections[PM_SECTION_CACHE])
        return pm_response_text(&((const struct pm_level *)content)->serves);
    return points_text(content, field->name);
}

/* ---- the list -------------------------------------------------------------------------------- */

struct listing {
    const struct pm_machine *machine;
    struct pm_figures figures;
};

/* WITH the interval that it was measured to lie in. */
static void add_interval(const struct pm_machine *machine, struct pm_figure *figure) {
    for (size_t i = 0; i < machine->n_intervals; i++)
        if (strcmp(machine->intervals[i].name, figure->name) == 0)
            pm_append(&figure->value, " (%.15g to %.15g)", machine->intervals[i].low,
                      machine->intervals[i].high);
}

static void list_section(void *context, const struct pm_machine_section *section, const char *name,
                         void *content) {
    struct listing *listing = context;
    const struct pm_trust *trust = pm_trust_of(section, content);
    if (section == &pm_sections[PM_SECTION_CURVE])
        return; /* a curve is no figure */
    for (size_t i = 0; i < section->n_fields; i++) {
        const struct pm_machine_field *field = &section->fields[i];
        if (!(trust->given >> i & 1) || !pm_field_is_figure(field))
            continue;
        struct pm_figure *figure = PM_PUSH(&listing->figures, figures);
        *figure = (struct pm_figure){
            .name = *name ? pm_sprintf("%s.%s", name, field->name) : pm_strdup(field->name),
            .value = field->type == PM_FIELD_LIST
                         ? pm_list_text(listing->machine, section, field, content)
                         : pm_value_text(field, content),
            .number = pm_value_of(field, content),
            .unit = field->unit,
            .unverified = trust->unverified >> i & 1,
            .source = trust->source};
        add_interval(listing->machine, figure);
    }
}

struct pm_figures pm_machine_figures(const struct pm_machine *machine) {
    struct listing listing = {.machine = machine};
    pm_visit_sections((struct pm_machine *)machine, list_section, &listing);
    return listing.figures;
}

void pm_figures_free(struct pm_figures *figures) {
    for (size_t i = 0; i < figures->n_figures; i++) {
        free(figures->figures[i].name);
        free(figures->figures[i].value);
    }
    free(figures->figures);
    *figures = (struct pm_figures){0};
}
