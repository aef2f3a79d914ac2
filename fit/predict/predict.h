/* From models to a profile at one size, and between which bounds it is.  Most of the interface is
   in fit/fit.h (pm_fit_instantiate, pm_fit_interval …), because commands and reports use it. */
#ifndef PM_FIT_PREDICT_H
#define PM_FIT_PREDICT_H

#include "core/histogram.h"
#include "fit/fit.h"

/* An interval that reaches further has no bounds. */
#define PM_LONGEST_FACTOR 1e9
/* Of a program: fewer are none. */
#define PM_LEAST_MISSES 0.5
/* Blocks: what smaller caches miss bounds the intervals of no larger one, because those are
 * calibrated from here on. */
enum { PM_SPREAD_SMALLEST = 64 };

/* Sorts N bins by distance, joins those at one distance, and moves the ends of neighbours that
   overlap to a place between their means; returns how many are left. */
size_t pm_fit_order_bins(struct pm_bin *bins, size_t n);

/* How far P is beyond the runs of SET, 1 inside: the largest factor of any parameter, above the
   largest or (*BELOW, which may be NULL) below the smallest value. */
double pm_fit_extrapolation(const struct pm_model_set *set, const struct pm_parameters *p,
                            bool *below);

/* The two-sided quantile of the intervals' distribution at probability LEVEL, with FREEDOM degrees
   of freedom at most; see interval.c. */
double pm_fit_quantile(double level, double freedom);

/* Fills the residuals of SET, which was made of the N PROFILES; see residuals.c. */
void pm_fit_residuals(const struct pm_structure *structure,
                      const struct pm_profile *const *profiles, size_t n, struct pm_model_set *set);

/* Moves the accesses of PROFILE, which SET predicts at its parameters, to an end of the intervals
   of the program's misses; see spread.c.  SET has tried to hold out sizes. */
void pm_fit_spread(const struct pm_structure *structure, const struct pm_model_set *set,
                   double level, bool high, struct pm_profile *profile);

#endif
