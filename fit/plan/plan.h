/* Which sizes to measure, so that models can be made of them in a given time: `pmodel plan`.

   What a run costs is estimated from a few small ones.  With p the parameters, and p₀ the smallest
   of the trials,

       quantity(p) = quantity(p₀) · Π over the parameters of (p / p₀)^e,

   where the exponents e are those between two trials that differ in one parameter, the two largest
   where there are more; for the executed basic blocks (work), the bytes of memory that are touched
   and those in the store.  Time and peak memory are linear in work and in touched bytes.  Terms of
   higher degree show at larger sizes only, so that estimates far beyond the trials are too low. */
#ifndef PM_FIT_PLAN_H
#define PM_FIT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/parameters.h"
#include "core/base/base.h"

enum { PM_PLAN_ENOUGH_VALUES = 5 }; /* of a parameter, for polynomials of degree 4 */

/* What one run costs, or cost; NAN: unknown. */
struct pm_plan_cost {
    double seconds;       /* of the instrumented run */
    double work;          /* executed basic blocks */
    double touched_bytes; /* distinct blocks of the smallest measured size */
    double peak_bytes;    /* resident memory of the process */
    double store_bytes;   /* that the store grows by */
};

struct pm_plan_trial {
    struct pm_parameters at;
    struct pm_plan_cost cost;
};

struct pm_plan_request {
    const struct pm_parameters *sizes; /* admissible, each once */
    size_t n_sizes;
    const char *const *names; /* parameters to be varied independently of each other */
    size_t n_names;
    const struct pm_plan_trial *trials; /* one at least */
    size_t n_trials;
    size_t n_runs;       /* wanted; 0: as many values of each parameter as are enough, and one more
                            where there is one parameter */
    double most_seconds; /* for all runs together */
    double most_bytes;   /* of resident memory, for each run */
    const struct pm_parameters *to; /* size to be predicted; NULL: none was named */
};

struct pm_planned_run {
    struct pm_parameters at;
    struct pm_plan_cost cost; /* estimated */
};

struct pm_plan {
    PM_ARRAY(struct pm_planned_run, runs); /* in the order of the admissible sizes */
    double seconds, store_bytes;           /* of all runs */
    bool too_few;                          /* for models of degree 4 in each parameter */
    struct pm_plan_cost to_cost;           /* of measuring the size to be predicted; NAN: none */
    PM_ARRAY(char *, notes);               /* sentences; owned */
};

/* Parameters of SIZES that vary, in the order of the first; IS_FORMULA tells those that follow from
   others and are left out.  NAMES has room for PM_MAX_PARAMETERS; returns how many. */
size_t pm_plan_varying(const struct pm_parameters *sizes, size_t n_sizes,
                       bool (*is_formula)(const void *context, const char *name),
                       const void *context, const char **names);

/* The next size for a trial, after those of REQUEST: the smallest; then, for each parameter, one
   with about twice its value and the others as in the smallest; then, of one parameter, further
   doublings until a trial took SECONDS.  NULL: there is none. */
const struct pm_parameters *pm_plan_next_trial(const struct pm_plan_request *request,
                                               double seconds);

/* What a run at AT costs. */
struct pm_plan_cost pm_plan_estimate(const struct pm_plan_request *request,
                                     const struct pm_parameters *at);

/* Chooses runs.  Of each parameter: values of one residue class modulo 8, 4 or 2, if there are
   enough in one; as far apart as the time and the memory allow, the largest at most
   PM_PLAN_SPAN times the smallest if there are enough between; evenly spaced on a logarithmic
   scale. Of several parameters all combinations that are admissible.  The caller frees. */
struct pm_plan *pm_fit_plan(const struct pm_plan_request *request);
void pm_fit_plan_free(struct pm_plan *plan); /* NULL is allowed */

enum { PM_PLAN_SPAN = 4 };

#endif
