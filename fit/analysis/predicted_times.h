/* Predicted beside measured seconds, as a table of pairs, for `pmodel validate --time`. */
#ifndef PM_PREDICTED_TIMES_H
#define PM_PREDICTED_TIMES_H

#include "core/base/base.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/times.h"
#include "fit/analysis/rows.h"

/* A size that was predicted, and timed in several processes. */
struct pm_timed_size {
    const struct pm_profile *predicted;     /* its counts say who calls whom how often */
    const struct pm_prediction *prediction; /* of it */
    const struct pm_times *const *runs;     /* fit the structure */
    size_t n_runs;                          /* at least 1 */
};

enum pm_time_row_kind {
    PM_TIME_PROGRAM, /* the whole; measured: of the program as it is, without timers */
    PM_TIME_NEST,    /* a timer: its loop or routine with what has none of its own */
    PM_TIME_UNTIMED, /* predicted of what no timer is known to hold, measured in no timer */
};

/* The estimate's seconds by cause, which add up to it; mispredictions are part of the schedule. */
struct pm_time_parts {
    double schedule, mispredictions, bandwidth, first_touches, levels[PM_MAX_LEVELS];
};

struct pm_time_row {
    enum pm_time_row_kind kind;
    struct pm_row_place place;    /* of a nest; its scope is PM_NONE for the others */
    struct pm_estimate predicted; /* seconds; low and high are NAN without intervals */
    struct pm_time_parts parts;   /* of the estimate */
    double lower, upper;          /* seconds: every miss prefetched, every miss alone */
    /* What the interval comes from, in seconds (struct pm_spread). */
    double low_by_models, high_by_models, below_by_machine, above_by_machine, missing;
    double low_schedule_by_models; /* of low_by_models, its schedule */
    double fallback;               /* seconds of the estimate whose misses were not simulated */
    double *runs;                  /* measured seconds, ascending; owned */
    size_t n_runs;
    struct pm_estimate measured; /* of these: the least, twice, and p90: others only slow */
    double median;               /* of these */
    double share;                /* of the program's measured time */
    double error;                /* predicted / measured − 1; NAN: nothing was measured */
    bool is_large;               /* at least the least share */
    bool inside;                 /* what was measured is between low and high */
    bool assumes_branches;       /* mispredictions are at most so many, for branches not measured */
    double unknown_share;        /* of the operations: those without a cost */
    double unrecorded_share;     /* of the accesses: those in no histogram */
    double calls_out;     /* executed calls to code that is not lifted, or through pointers */
    double first_touches; /* of pages */
};

struct pm_time_table {
    double least_share;
    PM_ARRAY(struct pm_time_row, rows); /* the program, nests by time, what is in none; owned */
    double over_plain; /* median over runs of their CPU time with timers by that without */
    double core_share; /* mean over runs (core/times.h); NAN: not known */
};

/* The own predicted time of each scope goes to the nest whose timer holds it: its own, that of a
   scope around it, or, of a routine without a timer, those of its callers, by how often they call
   it.  LEAST_SHARE: of the program's measured time, from which on a nest is large. */
struct pm_time_table *pm_time_table_new(const struct pm_structure *structure,
                                        const struct pm_timed_size *size, double least_share);
void pm_time_table_free(struct pm_time_table *table);

#endif
