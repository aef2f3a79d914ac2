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

struct pm_estimate pm_estimate_scaled(struct pm_estimate estimate, double factor) {
    return (struct pm_estimate){estimate.low * factor, estimate.estimate * factor,
                                estimate.high * factor};
}
