/* Plateaus of a curve and the steps between them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

static const double STEP_BEGUN = 0.1, STEP_HALF = 0.5; /* shares of a step */
static const double SHARP = 1.15;                      /* of a cache of 8 ways: 9 / 8 */
/* Of the size, for pages at random in 4 to 16 ways: a page is in a set with more than those. */
static const double HALF_LOST_AT = 0.97;
static const double CLOSE_ENOUGH = 0.01; /* of a size, for bisection */

static double median_of(const double *values, size_t n) {
    double *sorted = pm_alloc(n, sizeof *sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    double median = pm_estimate_of(sorted, n, 0).estimate;
    free(sorted);
    return median;
}

/* The last point of the run that begins at FIRST; one value out of line does not end it. */
static size_t end_of_run(const struct pm_step_curve *curve, size_t first, double same,
                         double same_by) {
    size_t last = first;
    for (size_t i = first + 1; i < curve->n; i++) {
        double base = median_of(curve->value + first, last - first + 1);
        double most = fmax(base * (1 + same), base + same_by);
        double least = fmin(base * (1 - same), base - same_by);
        if (curve->value[i] <= most && curve->value[i] >= least)
            last = i;
        else if (i > last + 1 || i + 1 == curve->n)
            break;
    }
    return last;
}

size_t pm_find_plateaus(const struct pm_step_curve *curve, size_t least, double same,
                        double same_by, struct pm_plateau *plateaus, size_t most) {
    size_t n = 0;
    for (size_t i = 0; i < curve->n && n < most;) {
        size_t last = end_of_run(curve, i, same, same_by);
        if (last - i + 1 < least) {
            i++;
            continue;
        }
        double value = median_of(curve->value + i, last - i + 1);
        struct pm_plateau *before = n ? &plateaus[n - 1] : NULL;
        if (before && value <= fmax(before->value * (1 + same), before->value + same_by))
            before->last = last; /* a disturbance in between */
        else
            plateaus[n++] = (struct pm_plateau){i, last, value};
        i = last + 1;
    }
    return n;
}

/* The size at which MEASURE passes LIMIT, between LOW, where it does not, and HIGH, where it does.
 */
static void bisect(double *low, double *high, double limit,
                   double (*measure)(void *context, double size), void *context) {
    while (*high / *low > 1 + CLOSE_ENOUGH) {
        double middle = sqrt(*low * *high);
        double value = measure(context, middle);
        if (isnan(value))
            return;
        if (value <= limit)
            *low = middle;
        else
            *high = middle;
    }
}

struct pm_estimate pm_locate_step(const struct pm_step_curve *curve, const struct pm_plateau *a,
                                  const struct pm_plateau *b,
                                  double (*measure)(void *context, double size), void *context) {
    double begun = a->value + STEP_BEGUN * (b->value - a->value);
    double half = a->value + STEP_HALF * (b->value - a->value);
    size_t above_begun = a->last + 1, above_half;
    while (above_begun < b->first && curve->value[above_begun] <= begun)
        above_begun++;
    above_half = above_begun;
    while (above_half < b->first && curve->value[above_half] <= half)
        above_half++;
    double low = curve->size[above_begun - 1], high = curve->size[above_begun];
    bisect(&low, &high, begun, measure, context);
    double half_low = fmax(low, curve->size[above_half - 1]);
    double half_high = fmax(curve->size[above_half], high);
    bisect(&half_low, &half_high, half, measure, context);
    /* A step that is sharp is one of replacement in order of use: it begins where the cache is
       full. One that is spread is of pages that fall into sets at random, or of neighbours: then a
       half is lost about where it is full. */
    double estimate = half_high < low * SHARP ? low : half_high / HALF_LOST_AT;
    return (struct pm_estimate){fmin(low, curve->size[a->last]), estimate,
                                fmax(high, half_high) / HALF_LOST_AT * (1 + CLOSE_ENOUGH)};
}
