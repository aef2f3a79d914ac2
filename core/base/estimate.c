#include "core/base/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/search.h"

struct pm_estimate pm_estimate_unknown(void) {
    return (struct pm_estimate){NAN, NAN, NAN};
}

struct pm_estimate pm_estimate_of(double *values, size_t n, double least_spread) {
    if (n == 0)
        return pm_estimate_unknown();
    PM_SORT(values, n, pm_compare_doubles);
    double median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    double least = least_spread * fabs(median);
    return (struct pm_estimate){
        .low = fmin(values[n / 10], median - least),
        .estimate = median,
        .high = fmax(values[n - 1 - n / 10], median + least),
    };
}

/* How many of N independent trials of probability PM_LEAST_QUANTILE succeed: the fewest for which
   the probability of so many or fewer is more than P. */
static size_t binomial_quantile(size_t n, double p) {
    static const double q = PM_LEAST_QUANTILE;
    double log_mass = (double)n * log1p(-q), below = exp(log_mass);
    size_t k = 0;
    for (; k < n && below <= p; k++) {
        log_mass += log((double)(n - k) / (double)(k + 1)) + log(q) - log1p(-q);
        below += exp(log_mass);
    }
    return k;
}

struct pm_estimate pm_estimate_least(double *values, size_t n, double least_spread) {
    if (n == 0)
        return pm_estimate_unknown();
    PM_SORT(values, n, pm_compare_doubles);
    size_t low = binomial_quantile(n, 0.1), high = binomial_quantile(n, 0.9);
    double estimate = values[(size_t)(PM_LEAST_QUANTILE * (double)(n - 1))];
    double most = values[high < n ? high : n - 1];
    /* Of few, none may be as low as the quantile is. */
    double lowest = low             ? values[low - 1]
                    : values[0] > 0 ? values[0] * values[0] / most
                                    : values[0] - (most - values[0]);
    double least = least_spread * fabs(estimate);
    return (struct pm_estimate){fmin(lowest, estimate - least), estimate,
                                fmax(most, estimate + least)};
}

struct pm_estimate pm_estimate_least_of(const struct pm_estimate *visits, size_t n) {
    struct pm_estimate least = pm_estimate_unknown();
    double next = NAN;
    for (size_t i = 0; i < n; i++) {
        if (isnan(visits[i].estimate))
            continue;
        if (!(visits[i].estimate >= least.estimate)) {
            next = least.estimate;
            least = visits[i];
        } else
            next = fmin(next, visits[i].estimate); /* of a number and NAN the number */
    }
    if (next > least.estimate) {
        least.high = fmax(least.high, next);
        least.low = fmin(least.low, least.estimate * least.estimate / next);
    }
    return least;
}

struct pm_estimate pm_estimate_of_all(const struct pm_estimate *estimates, size_t n) {
    double *values = pm_alloc(n, sizeof *values), low = INFINITY, high = -INFINITY;
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(estimates[i].estimate))
            continue;
        values[n_known++] = estimates[i].estimate;
        low = fmin(low, estimates[i].low);
        high = fmax(high, estimates[i].high);
    }
    struct pm_estimate all = pm_estimate_of(values, n_known, 0);
    free(values);
    return n_known ? (struct pm_estimate){low, all.estimate, high} : pm_estimate_unknown();
}

struct pm_estimate pm_estimate_exactly(double value) {
    return (struct pm_estimate){value, value, value};
}

struct pm_estimate pm_estimate_inverse(double factor, struct pm_estimate estimate) {
    return (struct pm_estimate){factor / estimate.high, factor / estimate.estimate,
                                factor / estimate.low};
}

struct pm_estimate pm_estimate_scaled(struct pm_estimate estimate, double factor) {
    return (struct pm_estimate){estimate.low * factor, estimate.estimate * factor,
                                estimate.high * factor};
}
