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

/* The least that repeats of N values of which each is the figure itself or more, as what others do
   only slows: the quantile PM_LEAST_QUANTILE, with the order statistics between which it lies with
   a probability of 80% (binomial ranks: David & Nagaraja, Order Statistics, section 7.1), but at
   least the share LEAST_SPREAD of it either way.  The values are sorted here.  N = 0: not known. */
struct pm_estimate pm_estimate_least(double *values, size_t n, double least_spread);
/* In the midst of what nobody slowed, as long as that is a tenth of all. */
#define PM_LEAST_QUANTILE 0.05

/* The same of N visits to a figure at several moments: the least of those that are known, in an
   interval that reaches to the next one, and by the same factor to the other side. */
struct pm_estimate pm_estimate_least_of(const struct pm_estimate *visits, size_t n);

/* Of N of the same figure: the median of those that are known, from the least low to the greatest
   high. */
struct pm_estimate pm_estimate_of_all(const struct pm_estimate *estimates, size_t n);

struct pm_estimate pm_estimate_unknown(void);
/* That is counted, not measured. */
struct pm_estimate pm_estimate_exactly(double value);
/* FACTOR > 0 */
struct pm_estimate pm_estimate_scaled(struct pm_estimate estimate, double factor);
/* FACTOR divided by the estimate, which is positive: rates from times. */
struct pm_estimate pm_estimate_inverse(double factor, struct pm_estimate estimate);

#endif
