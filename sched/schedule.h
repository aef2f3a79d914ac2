/* What the files of sched/ share.  Order of the passes: target, frequencies, then for every region
   its paths, their schedules and mispredicted branches; misses; assembly; doubts, notes. */
#ifndef PM_SCHEDULE_H
#define PM_SCHEDULE_H

#include "core/base/base.h"
#include "core/structure/structure.h"
#include "sched/sched.h"
#include "sched/target/target.h"
#include "sched/window/window.h"

/* ---- frequencies.c --------------------------------------------------------------------------- */

/* With what PROFILE has of branches, and MACHINE's predictor. */
void pm_profile_frequencies(const struct pm_structure *structure, const struct pm_profile *profile,
                            const struct pm_machine *machine, struct pm_frequencies *frequencies);
/* Entries and iterations of all scopes, into SCOPES (n_scopes). */
void pm_count_entries(const struct pm_frequencies *frequencies, struct pm_scope_prediction *scopes);

/* ---- branches.c ------------------------------------------------------------------------------ */

/* How often the branches of REGION are predicted wrongly, those that are not measured at most: of
   each of its basic blocks, in the order of their list.  Freed by the caller. */
struct pm_wrong_branch *pm_wrong_branches(const struct pm_frequencies *frequencies,
                                          uint32_t region);
/* Of all branches of a region: where ENTRIES of a loop end, and elsewhere; of both together those
   of branches that were not measured. */
struct pm_mispredictions {
    double exits, of_data, assumed;
};
/* WRONG: of the region, as pm_wrong_branches. */
struct pm_mispredictions pm_mispredictions_of(const struct pm_frequencies *frequencies,
                                              uint32_t region, double entries,
                                              const struct pm_wrong_branch *wrong);
/* Is that of BLOCK measured? */
bool pm_is_measured_branch(const struct pm_frequencies *frequencies, uint32_t block);
/* Those of the steps of a path through REGION, into STEPS_WRONG (n_steps); whether there is one. */
bool pm_wrong_on_path(const struct pm_frequencies *frequencies, uint32_t region,
                      const struct pm_wrong_branch *wrong, const struct pm_path_step *steps,
                      size_t n_steps, struct pm_wrong_branch *steps_wrong);

/* ---- trip_groups.c -----------------------------------------------------------------------------
 */

/* Entries of a loop that are about as long. */
struct pm_trip_group {
    double trips; /* iterations of an entry, on average; 0: not of a loop */
    double share; /* of the loop's iterations */
};
enum { PM_MOST_TRIP_GROUPS = 6 };

/* Those of REGION, shortest first; how many.  One of the mean where the region is no loop, or
   nothing is known of its entries. */
unsigned pm_trip_groups(const struct pm_frequencies *frequencies, uint32_t region,
                        struct pm_trip_group groups[PM_MOST_TRIP_GROUPS]);

/* ---- crossings.c -------------------------------------------------------------------------------
 */

/* Per reference of a path, in the order of pm_schedule_options: the share of accesses that lie
   across two lines. */
struct pm_crossings {
    PM_ARRAY(double, shares); /* owned */
};
void pm_crossings_of_path(const struct pm_structure *structure, const struct pm_profile *profile,
                          uint64_t line_bytes, const struct pm_path_step *steps, size_t n_steps,
                          struct pm_crossings *crossings);

/* ---- known_paths.c --------------------------------------------------------------------------- */

/* As pm_schedule_path; what was asked for with the same KNOWN, always of the same target, is not
   worked out again.  KNOWN: NULL is allowed. */
void pm_schedule_known_path(struct pm_known_paths *known, const struct pm_target_machine *target,
                            const struct pm_path_step *path, size_t n_steps,
                            const struct pm_schedule_options *options,
                            struct pm_path_schedule *schedule);

/* What an interprocedural trace of the target takes (interprocedural/). */
struct pm_trace_time {
    struct pm_digest trace;
    double cycles;
    double n_loads, n_forwarded, n_blocked, n_unknown;
};
/* The one of TRACE; *IS_NEW: it is to be filled now.  Borrowed until the next call. */
struct pm_trace_time *pm_known_trace(struct pm_known_paths *known, struct pm_digest trace,
                                     bool *is_new);

/* ---- regions.c ------------------------------------------------------------------------------- */

struct pm_region_request {
    const struct pm_frequencies *frequencies;
    const struct pm_target_machine *target;
    struct pm_known_paths *known;     /* of the target; NULL: none */
    const struct pm_profile *profile; /* where accesses lie; NULL: none across two lines */
    uint32_t region;                  /* a scope: a loop, or a routine for its code outside loops */
    double entries;
    bool pessimistic;
    bool is_light;      /* paths take their largest bound, and are not simulated … */
    bool without_wrong; /* … nor mispredicted branches, which take the penalty each */
    bool is_brief;      /* these, and misses, are simulated with fewer operations */
    bool with_causes;   /* else all cycles of a path go to what holds it back most */
    bool with_gains;
    const struct pm_dumping *dumping; /* paths print what they are; NULL: not */
};

struct pm_region_schedule {
    double cycles; /* of all executions; the sum of: */
    double causes[PM_N_CAUSES];
    double gains[PM_N_CAUSES]; /* with_gains */
    double mispredictions;
    double assumed_mispredictions; /* of these, those that are what counts allow at most */
    double shadowed_cycles;   /* of these, mispredictions and what filling and draining takes */
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

/* Misses of a reference group with histograms, including the groups that are joined to it. */
struct pm_group_misses {
    double executions; /* of its references; one across two lines touches both of them */
    double misses[PM_MAX_LEVELS];
    /* Share of these that is sequential (core/behaviour/behaviour.h); NAN: not measured, or
       prefetchers do not follow it, as those of TLBs. */
    double sequential[PM_MAX_LEVELS];
    bool stores;
};

/* Fills misses, write-backs and accesses in `self` of the scopes, and GROUPS (n_groups, zeroed).
   What is not known is NAN, and so are its memory cycles.  MISSES: by level and histogram. */
void pm_count_misses(const struct pm_frequencies *frequencies, const struct pm_profile *profile,
                     double *const *misses, const struct pm_machine *machine,
                     struct pm_scope_prediction *scopes, struct pm_group_misses *groups);
/* What the misses of SELF cost by the papers' formula, or by the bandwidth of memory: its cycles by
   level, its bandwidth, lower and upper cycles. */
void pm_simple_memory_cycles(const struct pm_machine *machine, struct pm_cost_sum *self);

/* The share of a miss that prefetchers hide of what goes on from line to line; 0: they follow no
   such streams. */
double pm_sequential_cover(const struct pm_machine *machine);
/* The share that they hide of a group's other misses, where SEQUENTIAL is the share of those (NAN:
   not measured).  STEP: how far strides say that its references go, bytes; COVERED: what they say
   that is hidden. */
double pm_covered_beside_sequential(const struct pm_machine *machine, double sequential,
                                    double step, double covered);

/* Misses of each scope that prefetchers hide, PM_MAX_LEVELS values each; the caller frees. */
double *pm_prefetched_misses(const struct pm_structure *structure, const struct pm_machine *machine,
                             const struct pm_group_misses *groups);
/* What they cost on a machine with a window that was not simulated: the papers' formula with what
   the window and prefetchers hide instead of `exposed`.  PREFETCHED: of the scope. */
void pm_fallback_memory_cycles(const struct pm_machine *machine, const double *prefetched,
                               struct pm_cost_sum *self);

/* ---- exposure.c ------------------------------------------------------------------------------ */

/* What the misses of a region add to its schedule, in the same fields.  Those of a path which take
   less than LEAST_CYCLES, each alone, are not simulated. */
void pm_exposed_memory_cycles(const struct pm_region_request *request,
                              const struct pm_region_schedule *schedule,
                              const struct pm_profile *profile,
                              const struct pm_group_misses *groups, double least_cycles,
                              struct pm_cost_sum *self);

/* ---- scope_memory.c -------------------------------------------------------------------------- */

struct pm_signature; /* sched/signature/signature.h */
struct pm_patterns;

/* What a prediction is made from. */
struct pm_mapped {
    const struct pm_frequencies *frequencies;
    const struct pm_profile *profile;
    const struct pm_target_machine *target;
    struct pm_known_paths *known;
    const struct pm_region_schedule *schedules; /* by scope */
    const double *executions;                   /* of the rows of costs */
    const struct pm_group_misses *groups;       /* by group */
    const double *prefetched;                   /* as pm_prefetched_misses, of these */
    const struct pm_signature *signature;       /* PM_TIME_SIGNATURE, and with it: */
    const struct pm_patterns *patterns;         /* by scope; else NULL */
    double all_cycles;                          /* of all schedules */
    bool pessimistic, simple;
    bool is_end; /* of the models' intervals: simulations are brief */
};

/* Adds what the misses in P, which has its schedule, take: its memory cycles, those of levels, of
   bandwidth and first touches, lower, upper and all cycles. */
void pm_add_memory_cycles(const struct pm_mapped *mapped, struct pm_scope_prediction *p);

/* Is a change of a scope's misses worth a simulation?  It changes the scope's CYCLES by MOST, at
   most, of a program that takes WHOLE. */
bool pm_is_worth_simulating(double cycles, double most, double whole);

/* ---- interval_end.c -------------------------------------------------------------------------- */

/* The costs of SCOPES (n_scopes, zeroed) at an end of the models' intervals with PROFILE, from
   those of OPTIONS' estimate. */
void pm_predict_end(const struct pm_structure *structure, const struct pm_profile *profile,
                    const struct pm_machine *machine, const struct pm_predict_options *options,
                    struct pm_scope_prediction *scopes);

/* ---- doubts.c -------------------------------------------------------------------------------- */

/* Counts the figures that PREDICTION comes from and that are unverified, and finds those that
   matter most. */
void pm_find_doubts(const struct pm_mapped *mapped, struct pm_prediction *prediction);

/* Half an interval of an unverified figure, relatively. */
double pm_unverified_half(const struct pm_machine *machine, const char *figure);

/* ---- machine_interval.c ---------------------------------------------------------------------- */

/* Does what FIGURE may change hang on a scope's own misses, so that it is not in
   prediction->unverified_change? */
bool pm_figure_is_of_misses(const struct pm_machine *machine, const char *figure);

/* Fills what figures of the machine may change of all scopes' own costs. */
void pm_add_machine_spreads(const struct pm_mapped *mapped, struct pm_prediction *prediction);

/* ---- time_interval.c ------------------------------------------------------------------------- */

/* Fills `spread` of all scopes' own costs, as if the models were exact. */
void pm_add_spreads(const struct pm_mapped *mapped, struct pm_prediction *prediction);

/* ---- prediction_notes.c ---------------------------------------------------------------------- */

/* Is PART of WHOLE more than what sums of predicted counts may be off by? */
bool pm_is_worth_a_note(double part, double whole);

/* PREDICTION has taken the ends of its interval: if it is so wide that it says little, a note tells
   what makes it so. */
void pm_note_wide_interval(const struct pm_structure *structure, struct pm_prediction *prediction);

/* MISSES: [level][histogram of PROFILE]. */
void pm_add_notes(const struct pm_frequencies *frequencies, const struct pm_profile *profile,
                  double *const *misses, const struct pm_target_machine *target,
                  double split_operations, struct pm_prediction *prediction);

/* ---- dump_prediction.c ----------------------------------------------------------------------- */

/* What the passes of a prediction made, for pm_predict_options.dumping. */
void pm_dump_profile(const struct pm_dumping *dumping, const struct pm_profile *profile,
                     const struct pm_machine *machine);
void pm_dump_frequencies(const struct pm_dumping *dumping, const struct pm_frequencies *frequencies,
                         const struct pm_scope_prediction *scopes);
/* A path of a region, its schedule by OPTIONS, and its reservations. */
void pm_dump_path(const struct pm_region_request *request, const struct pm_path_step *steps,
                  size_t n_steps, double executions, const struct pm_schedule_options *options,
                  const struct pm_path_schedule *path);
void pm_dump_regions(const struct pm_dumping *dumping, const struct pm_frequencies *frequencies,
                     const struct pm_region_schedule *schedules);
void pm_dump_misses(const struct pm_dumping *dumping, const struct pm_machine *machine,
                    const struct pm_group_misses *groups);
/* What misses add, and what all that adds up to. */
void pm_dump_costs(const struct pm_dumping *dumping, const struct pm_prediction *prediction);

/* ---- memory_notes.c -------------------------------------------------------------------------- */

void pm_add_memory_notes(const struct pm_structure *structure, const struct pm_profile *profile,
                         double *const *misses, const struct pm_machine *machine,
                         struct pm_prediction *prediction);

#endif
