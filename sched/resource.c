/* The resource bound: the least cycles in which the machine's units can execute a demand.

       cycles = max( slots / issue_width,  max over S of  D(S) / |S| )

   S runs over sets of units, |S| is the number of units in it, D(S) the busy cycles of all
   operations that only units of S can execute.  By Hall's condition (in its fractional form: each
   operation may be shared out between its units over many iterations) this is not only a lower
   bound but reached.  Only unions of the operations' own unit sets can be the tightest S, and only
   those whose parts overlap (see costs.c), so that there are few.
   Assumes that operations of the demand are independent: recurrence.c and latency.c have the rest.
   Marin & Mellor-Crummey 2004, section 2.4, for units, latency and repeat rate. */
#include "sched/schedule.h"

static double demand_within(const struct pm_unit_sets *sets, const struct pm_demand *demand,
                            uint64_t units) {
    double cycles = 0;
    for (size_t i = 0; i < sets->n_sets; i++)
        if (!(sets->sets[i] & ~units))
            cycles += demand->set_cycles[i];
    return cycles;
}

struct pm_resource_bound pm_resource_bound(const struct pm_machine *machine,
                                           const struct pm_unit_sets *sets,
                                           const struct pm_demand *demand) {
    struct pm_resource_bound bound = {.cycles = demand->slots / machine->issue_width};
    for (size_t i = 0; i < sets->n_unions; i++) {
        uint64_t units = sets->unions[i];
        double cycles = demand_within(sets, demand, units) / __builtin_popcountll(units);
        if (cycles > bound.cycles)
            bound = (struct pm_resource_bound){
                .cycles = cycles, .is_unit = true, .unit = (uint8_t)__builtin_ctzll(units)};
    }
    return bound;
}
