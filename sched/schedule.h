/* What the files of sched/ share.  Order of the passes: target, frequencies, then for every region
   its paths, their schedules and mispredicted branches; misses; assembly; doubts, notes. */
#ifndef PM_SCHEDULE_H
#define PM_SCHEDULE_H

#include "core/structure/structure.h"
#include "sched/sched.h"
#include "sched/target/target.h"

/* ---- branches.c ------------------------------------------------------------------------------ */

struct pm_mispredictions {
    double of_exits; /* branches that leave a loop */
    double of_data;  /* branches that hang on loaded data */
};

/* Of the own branches of REGION, in all of its executions, at most. */
struct pm_mispredictions pm_mispredictions(const struct pm_frequencies *frequencies,
                                           uint32_t region);

/* ---- regions.c ------------------------------------------------------------------------------- */

struct pm_region_request {
    const struct pm_frequencies *frequencies;
    const struct pm_target_machine *target;
    uint32_t region; /* a scope: a loop, or a routine for its code outside loops */
    double entries;
    bool pessimistic;
    bool with_causes; /* else all cycles of a path go to what holds it back most */
    bool with_gains;
};

struct pm_region_schedule {
    double cycles; /* of all executions; the sum of: */
    double causes[PM_N_CAUSES];
    double gains[PM_N_CAUSES]; /* with_gains */
    double mispredictions;
    double resource_cycles;   /* of an iteration of a loop: of units, or the front end */
    double recurrence_cycles; /* of an iteration of a loop */
    double most_cycles;       /* of a path, in all; its tightest unit: */
    uint8_t unit;
    uint8_t bound;   /* enum pm_bound: what holds that path back, or most are mispredictions */
    bool is_assumed; /* edge counts leave open which ways go together */
};

void pm_schedule_region(const struct pm_region_request *request,
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
