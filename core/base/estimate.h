/* A figure and between what it lies. */
#ifndef PM_ESTIMATE_H
#define PM_ESTIMATE_H

#include <stddef.h>

/* One unit for all three; low ≤ estimate ≤ high, between which the figure lies with a probability
   of 80%.  NAN: not known. */
struct pm_estimate {
    double low, estimate, high;
};

/* The median of N values, which are sorted here, and what 80% of them lie between, but at least the
   share LEAST_SPREAD of it either way.  N = 0: not known. */
struct pm_estimate pm_estimate_of(double *values, size_t n, double least_spread);

/* Of N of the same figure: the median of those that are known, from the least low to the greatest
   high. */
struct pm_estimate pm_estimate_of_all(const struct pm_estimate *estimates, size_t n);

struct pm_estimate pm_estimate_unknown(void);
/* That is counted, not measured. */
struct pm_estimate pm_estimate_exactly(double value);
/* FACTOR > 0 */
struct pm_estimate pm_estimate_scaled(struct pm_estimate estimate, double factor);

#endif
