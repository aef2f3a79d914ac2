#include "core/base/estimate.h"

#include <math.h>

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

struct pm_estimate pm_estimate_exactly(double value) {
    return (struct pm_estimate){value, value, value};
}

struct pm_estimate pm_estimate_scaled(struct pm_estimate estimate, double factor) {
    return (struct pm_estimate){estimate.low * factor, estimate.estimate * factor,
                                estimate.high * factor};
}
