/* Lower bounds on execution time, measured (`pmodel bound`): what loop nests of a run would take if
   nothing missed a cache (Fursin, O'Boyle, Temam & Watts 2004).  Kept with the run in the store. */
#ifndef PM_BOUNDS_H
#define PM_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

/* A loop nest that took enough time to be looked at. */
struct pm_nest_bound {
    uint32_t scope;       /* a loop of the structure, with all that is in it */
    char *refusal;        /* why it has no bound: the end of a sentence that begins with the loop;
                             NULL: it has one; owned */
    double timed_seconds; /* by the timers of the run, with all that it calls if it has a bound */
    double instructions;  /* executed in it, by the counters; NAN: unknown */
    double executions, sampled; /* times that it was entered; with its copy before it */
    double seconds;             /* of all executions, as they were timed beside the copies */
    double sampled_seconds;     /* of the sampled executions … */
    double bound_seconds;       /* … and of their copies */
    double cut;    /* copies that ended with the nest's trip count, not by themselves */
    double faults; /* copies that faulted */
    uint32_t unknown, biased, chased, replayed, chained; /* binlift/bound/bound.h */
    uint32_t routines, library; /* that it calls, with all that these call; calls of the library */
    uint32_t across; /* accesses across lines of the first cache, in the copy as in the nest */
    uint32_t shared; /* 1: it has no timer of its own, timed_seconds are shared out by instructions
                        from a larger scope's */
};

struct pm_bounds {
    PM_ARRAY(struct pm_nest_bound, nests); /* ascending by scope */
    double plain_seconds;                  /* CPU time of the program as it is */
    double recording_over_plain;           /* CPU time of the run that recorded, over that */
    double total_over_plain;               /* … of all runs that bounds need together */
    double timed_seconds;                  /* in loops and what they call, by the timers */
    double bounded_seconds;                /* the part in nests with a bound */
    double instructions;                   /* of the program, by the counters */
    double cycle_seconds;                  /* of the probe's clock, before the runs; 0: unknown */
    char *machine;                         /* processor, as it names itself; owned */
};

/* Decides which loops are to be bounded; NULL: they are chosen by time. */
struct pm_nest_choice {
    bool (*chooses)(const void *context, const struct pm_structure *structure, uint32_t loop);
    const void *context;
};

void pm_bounds_free(struct pm_bounds *bounds); /* and the struct itself; NULL is allowed */

/* Seconds that all executions would take, as they were timed beside the copies; NAN: it has no
   bound. */
double pm_nest_bound_seconds(const struct pm_nest_bound *nest);
/* What the nest took by the run with timers, and what it would have taken there: events and copies
   disturb the nest that follows them. */
double pm_nest_original(const struct pm_nest_bound *nest);
double pm_nest_bound_of_original(const struct pm_nest_bound *nest);

/* As pm_times_fit. */
bool pm_bounds_fit(const struct pm_bounds *bounds, const struct pm_structure *structure,
                   struct pm_error *err);

#endif
