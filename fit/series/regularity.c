/* Why a series is hard to model: does it jump from size to size, and is there a period?

   A value y_b at size x_b is compared with what its neighbours a and c say, on a straight line
   through their logarithms:

       difference_b = log y_b − (1 − s) log y_a − s log y_c,   s = log(x_b / x_a) / log(x_c / x_a)

   Whatever grows like a power of the size, or passes slowly from one power to another, is near that
   line, while loops that are unrolled, blocks of constant extent and chance are not.  Of a period
   m, neighbours are taken among the sizes of one residue class modulo m.
   Source: of this project. */
#include "fit/fit.h"

#include <math.h>
#include <stdbool.h>

/* Relative difference from the neighbours' line of a series that is smooth. */
static const double regular = 0.05;
/* Of that difference, what a period leaves. */
static const double periodic = 0.25;

/* Adds what Y[B] differs from the line through A and C. */
static void add_difference(const double *x, const double *y, size_t a, size_t b, size_t c,
                           double *sum, size_t *n) {
    if (!(y[a] > 0 && y[b] > 0 && y[c] > 0))
        return;
    double share = log(x[b] / x[a]) / log(x[c] / x[a]);
    double difference = log(y[b]) - (1 - share) * log(y[a]) - share * log(y[c]);
    *sum += difference * difference;
    ++*n;
}

/* Of each value from the neighbours in its residue class modulo M (0: there is but one class); NAN
   with fewer than two values that have such. */
static double difference_within(size_t n, const double *x, const double *y, unsigned m) {
    double sum = 0;
    size_t n_differences = 0;
    for (size_t b = 0; b < n; b++) {
        size_t before = n, after = n;
        for (size_t k = 0; k < n; k++) {
            if (m && fmod(x[k], m) != fmod(x[b], m))
                continue;
            if (k < b)
                before = k;
            else if (k > b && after == n)
                after = k;
        }
        if (before < n && after < n)
            add_difference(x, y, before, b, after, &sum, &n_differences);
    }
    return n_differences >= 2 ? sqrt(sum / (double)n_differences) : NAN;
}

enum pm_regularity pm_fit_regularity(size_t n, const double *x, const double *y, unsigned *period) {
    static const unsigned periods[] = {PM_FIT_PERIODS};
    double all = difference_within(n, x, y, 0);
    if (isnan(all))
        return PM_REGULARITY_UNKNOWN;
    if (all < regular)
        return PM_REGULARITY_SMOOTH;
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++)
        if (difference_within(n, x, y, periods[i]) < periodic * all) {
            *period = periods[i];
            return PM_REGULARITY_PERIODIC;
        }
    return PM_REGULARITY_JUMPS;
}
