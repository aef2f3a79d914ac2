/* A smooth curve through most of the points. */
#ifndef PM_FIT_ROBUST_CURVE_H
#define PM_FIT_ROBUST_CURVE_H

#include <stdbool.h>
#include <stddef.h>

/* What all series at the same sizes share; read-only once made. */
struct pm_robust;

/* X: N sizes above 0, ascending and distinct, at least 6.  The caller frees. */
struct pm_robust *pm_robust_new(const double *x, size_t n);
void pm_robust_free(struct pm_robust *robust);

/* How many of the sizes may lie off the curve. */
size_t pm_robust_most_outliers(const struct pm_robust *robust);

/* OUTLYING[k]: Y[k] (N values above 0) lies off the curve that most of the sizes are on, by more
   than LEAST (relative) and by far more than these.  False if none does.  SCRATCH: 3·N values. */
bool pm_robust_outliers(const struct pm_robust *robust, const double *y, double least,
                        double *scratch, bool *outlying);

#endif
