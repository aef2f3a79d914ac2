/* How many measured values lie inside the intervals that the models give for them. */
#ifndef PM_COVERAGE_H
#define PM_COVERAGE_H

#include "core/model.h"
#include "fit/analysis/validation.h"

enum pm_coverage_quantity {
    PM_COVERAGE_EDGES,    /* executions of edges that carry a counter */
    PM_COVERAGE_ACCESSES, /* touches of blocks by a group, each block size on its own */
    PM_COVERAGE_COLD,     /* those that are cold */
    PM_COVERAGE_MISSES,   /* of the program, each cache on its own: sums over many models */
    PM_N_COVERAGES
};
/* The first of them are of single models. */
enum { PM_N_MODEL_COVERAGES = PM_COVERAGE_MISSES };

enum { PM_N_COVERAGE_LEVELS = 3 };
extern const double pm_coverage_levels[PM_N_COVERAGE_LEVELS]; /* 0.5, 0.8, 0.95 */

/* At one size; inside + outside = models - exact - unknown. */
struct pm_coverage {
    size_t exact, exact_right;           /* exact models; those that give the measured number */
    size_t unknown;                      /* models without an interval */
    size_t n;                            /* models with one, */
    size_t inside[PM_N_COVERAGE_LEVELS]; /* and how many of these hold what was measured */
};

const char *pm_coverage_word(enum pm_coverage_quantity quantity); /* "edges", for programs */

/* Fills one for each quantity; a quantity that is zero in model and measurement counts nowhere. */
void pm_coverage_count(const struct pm_structure *structure, const struct pm_model_set *models,
                       const struct pm_profile *measured, const struct pm_validation_caches *caches,
                       struct pm_coverage coverage[PM_N_COVERAGES]);

/* The sum of N. */
struct pm_coverage pm_coverage_sum(const struct pm_coverage *coverage, size_t n);

#endif
