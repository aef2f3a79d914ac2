/* Copies of a machine whose figures are changed: one of them a little, to see how much hangs on it,
   or those of a level that costs nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

/* ---- copies ---------------------------------------------------------------------------------- */

static void *copied(const void *array, size_t n, size_t size) {
    void *copy = pm_alloc(n, size);
    if (n)
        memcpy(copy, array, n * size);
    return copy;
}

struct pm_machine *pm_machine_copy(const struct pm_machine *machine) {
    struct pm_machine *copy = pm_alloc(1, sizeof *copy);
    *copy = *machine;
    copy->costs = copied(machine->costs, machine->n_costs, sizeof *copy->costs);
    for (size_t i = 0; i < machine->n_costs; i++) {
        struct pm_cost *row = &copy->costs[i];
        row->alternatives =
            copied(row->alternatives, row->n_alternatives, sizeof *row->alternatives);
    }
    copy->levels = copied(machine->levels, machine->n_all_levels, sizeof *copy->levels);
    copy->bypasses = copied(machine->bypasses, machine->n_bypasses, sizeof *copy->bypasses);
    return copy;
}

void pm_machine_copy_free(struct pm_machine *copy) {
    for (size_t i = 0; i < copy->n_costs; i++)
        free(copy->costs[i].alternatives);
    free(copy->costs);
    free(copy->levels);
    free(copy->bypasses);
    free(copy);
}

struct pm_machine *pm_machine_without_level(const struct pm_machine *machine, size_t level) {
    struct pm_machine *without = pm_machine_copy(machine);
    bool is_cache = machine->levels[level].kind == PM_LEVEL_CACHE;
    without->levels[level].miss_penalty_cycles = 0;
    if (is_cache && level + 1 < machine->n_levels &&
        machine->levels[level + 1].kind == PM_LEVEL_CACHE) {
        struct pm_level *next = &without->levels[level + 1];
        next->read_bandwidth = next->write_bandwidth = next->copy_bandwidth = 0;
    } else if (is_cache) {
        without->memory_bandwidth_bytes_per_cycle = 0;
        without->memory.copy_bandwidth_gbs = 0;
    }
    return without;
}

/* ---- one figure ------------------------------------------------------------------------------ */

struct scaling {
    const char *wanted; /* "fp_add/256.latency" */
    double factor;
    bool found;
};

static void scale_tables(struct pm_cost *row, double factor) {
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
        scale_tables(content, scaling->factor);
    else if (isnan(value.number))
        return;
    else
        pm_value_store(field, &value, NULL, content);
    if (section == &pm_sections[PM_SECTION_CACHE])
        pm_renew_serves(content);
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
    struct pm_machine *scaled = pm_machine_copy(machine);
    struct scaling scaling = {.wanted = name, .factor = factor};
    scaled->n_prefetchers = scaled->n_curves = 0; /* these are not copies */
    pm_visit_sections(scaled, visit, &scaling);
    if (scaling.found)
        return scaled;
    pm_machine_copy_free(scaled);
    return NULL;
}
