/* The predictor's result: cycles by cause for every scope, which every report reads. */
#ifndef PM_PREDICTION_H
#define PM_PREDICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/machine/machine.h"
#include "core/parameters.h"

enum { PM_MAX_LEVELS = 12 };

/* What cycles of a schedule go to.  X (enumerator, name in JSON, words).  The first five hold an
   iteration of a path back (sched/sched.h). */
#define PM_CAUSES(X)                                                                               \
    X(PM_CAUSE_UNITS, "units", "execution units")                                                  \
    X(PM_CAUSE_RECURRENCE, "recurrence", "dependences from iteration to iteration")                \
    X(PM_CAUSE_FRONT_END, "front_end", "front end: slots issued a cycle, jumps taken")             \
    X(PM_CAUSE_RETIREMENT, "retirement", "slots retired a cycle")                                  \
    X(PM_CAUSE_WINDOW, "window", "latency that the window does not hide")                          \
    X(PM_CAUSE_MISPREDICTIONS, "mispredictions", "branches predicted wrongly")                     \
    X(PM_CAUSE_BANDWIDTH, "bandwidth", "bytes that levels move, beyond all else")                  \
    X(PM_CAUSE_FIRST_TOUCHES, "first_touches", "pages that the system brings at their first touch")
enum pm_cause {
#define PM_CAUSE_ENUM(id, name, words) id,
    PM_CAUSES(PM_CAUSE_ENUM)
#undef PM_CAUSE_ENUM
        PM_N_CAUSES
};
const char *pm_cause_name(enum pm_cause cause);
const char *pm_cause_words(enum pm_cause cause);

enum pm_bound {
    PM_BOUND_NONE = 0,   /* never executed */
    PM_BOUND_ISSUE,      /* front end */
    PM_BOUND_UNIT,       /* execution unit `bound_unit` */
    PM_BOUND_RECURRENCE, /* a dependence cycle through iterations */
    PM_BOUND_RETIREMENT,
    PM_BOUND_LATENCY,        /* dependence chains that the window does not hide */
    PM_BOUND_MISPREDICTIONS, /* branches */
    PM_BOUND_LEVEL,          /* misses of level `bound_level` */
    PM_BOUND_BANDWIDTH,      /* memory bandwidth */
    PM_BOUND_FIRST_TOUCHES,  /* of pages */
    PM_BOUND_UNKNOWN,        /* most operations have no cost in the machine file */
};

/* Difference of a cost if all models are at the upper (lower) ends of their intervals. */
struct pm_cost_change {
    double cycles, schedule_cycles, level_misses[PM_MAX_LEVELS];
};

/* How far the cycles of a cost may be off, in parts that sums over scopes can add
   (sched/time_interval.c); cycles, NAN: not known. */
struct pm_spread {
    struct pm_cost_change low,
        high; /* from the models of counts and misses; 0 where these have no intervals */
    /* Half intervals, downwards and upwards, of the error of the model of time: sums, for scopes
       that all err alike, and sums of squares, for scopes that err independently. */
    double below, above, below_squares, above_squares;
    double machine_below, machine_above; /* half intervals from figures of the machine file */
    double least;   /* the shortest possible schedule without a miss: a lower bound */
    double missing; /* upper bound of what is known to be left out of the estimate */
};

/* What one scope costs.  `self` is without inner scopes, `total` with them. */
struct pm_cost_sum {
    double cycles;              /* schedule + memory, where that is known */
    double schedule_cycles;     /* all accesses hit the first level */
    double causes[PM_N_CAUSES]; /* they add up to schedule_cycles, without bandwidth and first
                                   touches, which are part of memory_cycles */
    double lower_cycles; /* the schedule or the bandwidth, if every miss were prefetched in time */
    double upper_cycles; /* the schedule, and all misses one after the other */
    double mispredictions;         /* branches predicted wrongly */
    double assumed_mispredictions; /* of these, of branches that were not measured: at most */
    double fallback_cycles;        /* the part of `cycles` in code whose misses were not simulated,
                                      although the machine has a window (sched/memory.c) */
    double memory_cycles; /* what misses add: cycles of levels, bandwidth and first touches; NAN, as
                             the misses and cycles of levels, where misses are not known */
    double level_misses[PM_MAX_LEVELS];
    double level_cycles[PM_MAX_LEVELS];
    double level_write_backs[PM_MAX_LEVELS]; /* of a level that writes through, its stores; NAN: not
                                                measured, or a TLB. They add no cycles */
    double instructions, operations;
    double unknown_operations;  /* executed operations that the machine file has no row for */
    double accesses;            /* memory accesses that were recorded */
    double unrecorded_accesses; /* executed memory operations that no histogram covers */
    double calls_out;           /* executed calls of code that is not lifted, or through pointers */
    double first_touches;       /* pages touched for the first time, which the system has to bring;
                                   NAN: not known */
    struct pm_spread spread;
};

/* Adds all of FROM to INTO. */
void pm_cost_sum_add(struct pm_cost_sum *into, const struct pm_cost_sum *from);
/* Adds SHARE of it. */
void pm_cost_sum_add_share(struct pm_cost_sum *into, const struct pm_cost_sum *from, double share);

/* Half an interval of a sum of parts: between SUM, if all parts err alike, and √SQUARES, if they
   err independently. */
double pm_spread_joined(double sum, double squares);

/* Between what the cycles of COST lie with the prediction's probability: counts and misses, the
   model of time and the machine's figures, which err independently of each other, each by a factor,

       low  = cycles / exp √(Σ ln² …),  high = cycles · exp √(Σ ln² (1 + half interval / cycles))

   and what is missing on top.  However many of these go down at once, there is nothing below the
   schedule as short as it and its counts may be, without a miss. */
struct pm_estimate pm_cycles_between(const struct pm_cost_sum *cost);

struct pm_scope_prediction {
    uint32_t scope;    /* index in the structure */
    double entries;    /* how often the scope was entered; 0 unknown */
    double iterations; /* of a loop: executions of its header; of a routine: its calls */
    double low_iterations, high_iterations; /* by the ends of the models' intervals */
    struct pm_cost_sum self, total;
    double resource_cycles_per_iteration;   /* of the loop's own code */
    double recurrence_cycles_per_iteration; /* 0: no cycle */
    /* Own cycles that would be saved if one cause alone vanished; NAN: not computed, as nobody
       asked (pm_predict_options) or for regions with little time. */
    double gains[PM_N_CAUSES];
    bool is_assumed; /* edge counts do not tell which paths through its branches are taken */
    uint8_t bound;   /* enum pm_bound: largest cause of self.cycles */
    uint8_t bound_unit, bound_level;
};

/* A spin loop: it goes round only until another thread has written something. */
struct pm_spin_loop {
    uint32_t scope;
    double rounds; /* that were left out, of all threads */
};

struct pm_spin_loops {
    PM_ARRAY(struct pm_spin_loop, loops);
};

/* What several threads do at the same time, up to where they wait for each other. */
struct pm_parallel_part {
    uint32_t routine; /* with all that it calls; PM_NONE: what is serial */
    unsigned slowest_core;
    double seconds, mean_seconds; /* of the core that takes longest, and of all cores */
};

/* Of a program with several threads (sched/cores/cores.h). */
struct pm_cores {
    unsigned n_cores, n_threads; /* threads that take part in parallel parts */
    bool is_checked;             /* times on so many cores were compared with a clock */
    double imbalance;      /* of all parallel parts: time of the slowest cores over the mean */
    double thread_seconds; /* if one core ran all threads, one after the other */
    PM_ARRAY(struct pm_parallel_part, parts); /* the first is what is serial */
    struct pm_spin_loops spin;
};
void pm_cores_free(struct pm_cores *cores); /* NULL is allowed */

/* A figure of the machine file that is unverified and that a prediction comes from. */
struct pm_doubtful_figure {
    char *name, *value; /* "L3.miss_penalty", "216 cycles" */
    bool is_word;       /* of which there is no more or less: it decides about a tenth of this: */
    double elasticity;  /* relative change of the time over that of the figure */
};
enum { PM_MOST_DOUBTS = 3 };

struct pm_prediction {
    struct pm_parameters parameters;
    char *program;       /* name of the main module */
    char *machine_title; /* with what --set changed; owned */
    char *machine_name;
    double clock_hz;
    bool predicted; /* false: from a measurement at this very size */
    double extrapolation;
    bool below_measured;  /* as in the profile */
    char *measured_up_to; /* "N=64": largest measured size; owned */
    double relative_error;
    bool without_memory; /* no reuse distances were measured: misses are not known, and times, which
                            are of execution alone, are lower bounds */
    size_t n_levels;
    char *level_names[PM_MAX_LEVELS];
    uint8_t level_kinds[PM_MAX_LEVELS];
    uint64_t level_block_bytes[PM_MAX_LEVELS];
    /* The block size that misses of the level are interpolated from; 0: its own was measured. */
    uint64_t level_interpolated_from[PM_MAX_LEVELS];
    size_t n_units;
    char *unit_names[PM_MACHINE_MAX_UNITS];
    size_t n_scopes;
    struct pm_scope_prediction *scopes; /* one for each scope of the structure */
    double seconds;
    bool is_simple;    /* misses cost what the papers' formula says, misses · penalty · exposed */
    bool is_signature; /* misses cost what the machine's curves say; */
    bool is_synthesised; /* … which were made from its description */
    double level;        /* probability with which a figure lies in its interval; 0: it has none */
    struct pm_cores *cores;   /* the time is that on several cores; NULL: of one thread.  Owned */
    size_t n_unverified;      /* unverified figures that were used */
    double unverified_change; /* half an interval of the time, relatively, that all unverified
                                 figures cause */
    size_t n_doubts;          /* the unverified figures that matter most, in descending order */
    struct pm_doubtful_figure doubts[PM_MOST_DOUBTS];
    size_t n_notes;
    char **notes; /* sentences that qualify the figures: shortcuts, shares of the unknown */
    size_t
        n_significant_notes; /* the first ones: of these a figure hangs by more than a hundredth */
};

/* Makes `total` of all scopes of STRUCTURE from `self`. */
void pm_add_totals(const struct pm_structure *structure, struct pm_scope_prediction *scopes);
/* Seconds of the whole, and between what they lie; low and high are NAN without intervals. */
struct pm_estimate pm_prediction_seconds(const struct pm_prediction *prediction);

/* Puts into the intervals of PREDICTION what the same size has with all models at the LOW and HIGH
   ends of theirs. */
void pm_prediction_take_ends(struct pm_prediction *prediction, const struct pm_prediction *low,
                             const struct pm_prediction *high);

/* Are misses of any level interpolated? */
bool pm_prediction_is_interpolated(const struct pm_prediction *prediction);

/* Is it known that there are none? */
bool pm_prediction_is_without_misses(const struct pm_prediction *prediction);

void pm_prediction_free(struct pm_prediction *prediction);

#endif
