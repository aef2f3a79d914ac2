/* What the files of sched/ share.  Order of the passes: target, frequencies, then for every
   region resource, recurrence and latency bounds; misses; assembly; doubts, notes. */
#ifndef PM_SCHEDULE_H
#define PM_SCHEDULE_H

#include "core/structure/structure.h"
#include "sched/sched.h"
#include "sched/target/target.h"

/* ---- recurrence.c, latency.c ----------------------------------------------------------------- */

/* PESSIMISTIC: unknown dependences through memory are taken as real. */
double pm_recurrence_cycles(const struct pm_target_machine *target, uint32_t loop,
                            const struct pm_path_step *path, size_t n_steps, bool pessimistic);
double pm_block_latency_cycles(const struct pm_target_machine *target, uint32_t block);

/* ---- regions.c ------------------------------------------------------------------------------- */

struct pm_region_schedule {
    double cycles; /* of all executions */
    double resource_cycles;
    double recurrence_cycles; /* of an iteration of a loop */
    uint8_t bound, unit;      /* what limits it: enum pm_bound, and the unit */
};

void pm_schedule_region(const struct pm_frequencies *frequencies,
                        const struct pm_target_machine *target, uint32_t region,
                        const struct pm_demand *demand, double iterations, bool pessimistic,
                        struct pm_region_schedule *schedule);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Fills misses, cycles of the levels and accesses in `self` of the scopes.  *BANDWIDTH_CYCLES:
   what the bandwidth bound adds to the last cache's cycles, in all; BY_BANDWIDTH (n_scopes) tells
   where it does. */
void pm_memory_costs(const struct pm_frequencies *frequencies, const struct pm_profile *profile,
                     const struct pm_machine *machine, struct pm_scope_prediction *scopes,
                     bool *by_bandwidth, double *bandwidth_cycles);

/* ---- doubts.c -------------------------------------------------------------------------------- */

/* What a prediction was made from. */
struct pm_mapped {
    const struct pm_frequencies *frequencies;
    const struct pm_profile *profile;
    const struct pm_target_machine *target;
    const struct pm_region_schedule *schedules; /* by scope */
    const double *executions;                   /* of the rows of costs */
    bool pessimistic;
};

/* Counts the figures that PREDICTION comes from and that are not verified, and finds those that
   matter most. */
void pm_find_doubts(const struct pm_mapped *mapped, struct pm_prediction *prediction);

/* ---- notes.c --------------------------------------------------------------------------------- */

/* Is PART of WHOLE more than what sums of predicted counts may be off by? */
bool pm_is_worth_a_note(double part, double whole);

void pm_add_notes(const struct pm_frequencies *frequencies, const struct pm_profile *profile,
                  const struct pm_target_machine *target, double split_operations,
                  double bandwidth_cycles, struct pm_prediction *prediction);

/* ---- memory_notes.c -------------------------------------------------------------------------- */

void pm_add_memory_notes(const struct pm_structure *structure, const struct pm_profile *profile,
                         const struct pm_machine *machine, struct pm_prediction *prediction);

#endif
