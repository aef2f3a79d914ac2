/* A machine with one figure changed a little, to see how much hangs on it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

struct scaling {
    const char *wanted; /* "fp_add/256.latency" */
    double factor;
    bool found;
};

static void scale_templates(struct pm_cost *row, double factor) {
    for (size_t a = 0; a < row->n_alternatives; a++)
        for (size_t r = 0; r < row->alternatives[a].n_reservations; r++)
            row->alternatives[a].reservations[r].busy_cycles *= factor;
}

static void scale_field(const struct pm_machine_section *section,
                        const struct pm_machine_field *field, void *content,
                        struct scaling *scaling) {
    struct pm_machine_value value = {.number = pm_value_of(field, content) * scaling->factor};
    bool is_row = section == &pm_sections[PM_SECTION_COST];
    bool is_busy = is_row && (field->type == PM_FIELD_LIST || strcmp(field->name, "repeat") == 0 ||
                              strcmp(field->name, "operations") == 0);
    if (is_busy)
        scale_templates(content, scaling->factor);
    else if (isnan(value.number))
        return;
    else
        pm_value_store(field, &value, NULL, content);
    scaling->found = true;
}

static void visit(void *context, const struct pm_machine_section *section, const char *name,
                  void *content) {
    struct scaling *scaling = context;
    size_t length = strlen(name);
    const char *field = scaling->wanted;
    if (length) {
        if (strncmp(scaling->wanted, name, length) != 0 || scaling->wanted[length] != '.')
            return;
        field += length + 1;
    }
    int number = pm_field_named(section, field);
    if (number >= 0)
        scale_field(section, &section->fields[number], content, scaling);
}

struct pm_machine *pm_machine_scaled(const struct pm_machine *machine, const char *name,
                                     double factor) {
    struct pm_machine *scaled = pm_alloc(1, sizeof *scaled);
    struct scaling scaling = {.wanted = name, .factor = factor};
    *scaled = *machine;
    scaled->costs = pm_alloc(machine->n_costs, sizeof *scaled->costs);
    for (size_t i = 0; i < machine->n_costs; i++) {
        const struct pm_cost *from = &machine->costs[i];
        scaled->costs[i] = *from;
        scaled->costs[i].alternatives = pm_alloc(from->n_alternatives, sizeof *from->alternatives);
        if (from->n_alternatives)
            memcpy(scaled->costs[i].alternatives, from->alternatives,
                   from->n_alternatives * sizeof *from->alternatives);
    }
    scaled->levels = pm_alloc(machine->n_all_levels, sizeof *scaled->levels);
    memcpy(scaled->levels, machine->levels, machine->n_all_levels * sizeof *scaled->levels);
    scaled->bypasses = pm_alloc(machine->n_bypasses, sizeof *scaled->bypasses);
    if (machine->n_bypasses)
        memcpy(scaled->bypasses, machine->bypasses, machine->n_bypasses * sizeof *scaled->bypasses);
    scaled->n_prefetchers = scaled->n_curves = 0; /* nothing is mapped on them */
    pm_visit_sections(scaled, visit, &scaling);
    if (scaling.found)
        return scaled;
    pm_machine_scaled_free(scaled);
    return NULL;
}

void pm_machine_scaled_free(struct pm_machine *scaled) {
    for (size_t i = 0; i < scaled->n_costs; i++)
        free(scaled->costs[i].alternatives);
    free(scaled->costs);
    free(scaled->levels);
    free(scaled->bypasses);
    free(scaled);
}
