/* What of a machine does not depend on the operations that it executes: which unions of units can
   be the tightest, and how much of each an operation of a row needs at least.

   Of a row with one alternative, what it needs of a union is the busy cycles of those reservations
   that only units of the union can serve; of several alternatives, the least of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/target/target.h"

enum { MAX_UNIONS = 4096 };

struct unions {
    PM_ARRAY(uint64_t, sets);
};

static void add_set(struct unions *to, uint64_t set) {
    for (size_t i = 0; i < to->n_sets; i++)
        if (to->sets[i] == set)
            return;
    *PM_PUSH(to, sets) = set;
}

static void add_sets_of_row(const struct pm_cost *row, struct unions *to) {
    for (size_t a = 0; a < row->n_alternatives; a++)
        for (size_t r = 0; r < row->alternatives[a].n_reservations; r++)
            add_set(to, row->alternatives[a].reservations[r].units);
}

/* All units of a row with alternatives: one of them may be full while another has room. */
static uint64_t units_of_row(const struct pm_cost *row) {
    uint64_t units = 0;
    for (size_t a = 0; a < row->n_alternatives; a++)
        for (size_t r = 0; r < row->alternatives[a].n_reservations; r++)
            units |= row->alternatives[a].reservations[r].units;
    return units;
}

/* Unions grow while this runs; a union of sets without a common unit is never tighter than the
   tighter of its parts, so those are left out. */
static bool close_unions(struct unions *unions) {
    size_t n_sets = unions->n_sets;
    for (size_t i = 0; i < unions->n_sets; i++)
        for (size_t k = 0; k < n_sets; k++) {
            if (unions->sets[i] & unions->sets[k])
                add_set(unions, unions->sets[i] | unions->sets[k]);
            if (unions->n_sets > MAX_UNIONS)
                return false;
        }
    return true;
}

static double least_within(const struct pm_cost *row, uint64_t units) {
    double least = row->n_alternatives ? INFINITY : 0;
    for (size_t a = 0; a < row->n_alternatives; a++)
        least = fmin(least, pm_busy_within(&row->alternatives[a], units));
    return least;
}

bool pm_target_make(const struct pm_structure *structure, const struct pm_machine *machine,
                    struct pm_target_machine *target, struct pm_error *err) {
    *target = (struct pm_target_machine){.machine = machine, .structure = structure};
    target->is_foreign =
        machine->isa && structure->isa && strcmp(machine->isa, structure->isa) != 0;
    target->has_mnemonics = machine->isa && !target->is_foreign &&
                            machine->first_cost[PM_N_OP_CLASSES] < machine->n_costs;
    struct unions unions = {0};
    for (size_t i = 0; i < machine->n_costs; i++)
        add_sets_of_row(&machine->costs[i], &unions);
    for (size_t i = 0; i < machine->n_costs; i++)
        if (machine->costs[i].n_alternatives > 1)
            add_set(&unions, units_of_row(&machine->costs[i]));
    if (!close_unions(&unions)) {
        free(unions.sets);
        return pm_fail(err,
                       "machine %s: the `units` of its costs overlap in more than %d ways; "
                       "use fewer different sets",
                       machine->path ? machine->path : machine->name, MAX_UNIONS);
    }
    target->unions = unions.sets;
    target->n_unions = unions.n_sets;
    target->within = pm_alloc(machine->n_costs * target->n_unions, sizeof *target->within);
    for (size_t i = 0; i < machine->n_costs; i++)
        for (size_t u = 0; u < target->n_unions; u++)
            target->within[i * target->n_unions + u] =
                least_within(&machine->costs[i], target->unions[u]);
    return true;
}

void pm_target_free(struct pm_target_machine *target) {
    free(target->unions);
    free(target->within);
    *target = (struct pm_target_machine){0};
}
