/* Curves, their plateaus and the steps between them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

static const double STEP_BEGUN = 0.1, STEP_HALF = 0.5; /* shares of a step */
static const double SHARP = 1.15;                      /* of a cache of 8 ways: 9 / 8 */
/* Of the size, for pages at random in 4 to 16 ways: a page is in a set with more than those. */
static const double HALF_LOST_AT = 0.97;
static const double REPEATS = 0.02; /* of a point's latency, between two visits */
enum { LEAST_VISITS = 2, MOST_VISITS = 8 };

/* ---- measuring ------------------------------------------------------------------------------- */

void pm_choose_sizes(struct pm_step_curve *curve, double first, double coarse, double most) {
    curve->n = 0;
    for (size_t i = 0; curve->n < PM_MOST_POINTS; i++) {
        double size = first * exp2((double)(i / PM_OCTAVE_POINTS)) *
                      (1 + (double)(i % PM_OCTAVE_POINTS) / PM_OCTAVE_POINTS);
        if (size > most)
            break;
        if (size <= coarse || i % 2 == 0)
            curve->size[curve->n++] = size;
    }
}

struct point {
    size_t n;
    struct pm_estimate visits[MOST_VISITS];
};

/* Do two visits agree on the least? */
static bool repeats(const struct point *point) {
    double least = pm_estimate_least_of(point->visits, point->n).estimate;
    size_t n = 0;
    for (size_t i = 0; i < point->n; i++)
        n += point->visits[i].estimate <= least * (1 + REPEATS);
    return n >= LEAST_VISITS;
}

/* The value at a point is at most what it is at a larger one. */
static void ascend(double *values, size_t n) {
    for (size_t i = n; i-- > 1;)
        values[i - 1] = fmin(values[i - 1], values[i]);
}

void pm_measure_steps(struct pm_step_curve *curve, size_t passes,
                      const struct pm_probe_effort *effort,
                      struct pm_estimate (*visit)(const void *context, double size),
                      const void *context) {
    struct point *points = pm_alloc(PM_MOST_POINTS, sizeof *points);
    size_t n = 0;
    for (size_t pass = 0; pass < passes && pass < MOST_VISITS; pass++)
        for (size_t i = 0; i < curve->n && pm_probe_goes_on(effort); i++)
            if (!repeats(&points[i]))
                points[i].visits[points[i].n++] = visit(context, curve->size[i]);
    for (; n < curve->n; n++) {
        struct pm_estimate least = pm_estimate_least_of(points[n].visits, points[n].n);
        if (isnan(least.estimate))
            break;
        curve->value[n] = least.estimate;
        curve->low[n] = least.low;
        curve->high[n] = least.high;
    }
    curve->n = n;
    ascend(curve->value, n);
    ascend(curve->low, n);
    ascend(curve->high, n);
    free(points);
}

/* ---- plateaus and steps ---------------------------------------------------------------------- */

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

size_t pm_find_plateaus(const struct pm_step_curve *curve, double span, double same, double same_by,
                        struct pm_plateau *plateaus, size_t most) {
    size_t n = 0;
    for (size_t i = 0; i < curve->n && n < most;) {
        size_t last = end_of_run(curve, i, same, same_by);
        if (last < i + 2 || curve->size[last] < span * curve->size[i]) {
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

/* The size at which VALUES, of the points from FIRST to LAST, pass LIMIT. */
static double crossing(const struct pm_step_curve *curve, const double *values, size_t first,
                       size_t last, double limit) {
    size_t above = first + 1;
    while (above < last && values[above] <= limit)
        above++;
    double rise = values[above] - values[above - 1];
    double share = rise > 0 ? (limit - values[above - 1]) / rise : 0;
    return curve->size[above - 1] +
           fmin(fmax(share, 0), 1) * (curve->size[above] - curve->size[above - 1]);
}

struct pm_estimate pm_locate_step(const struct pm_step_curve *curve, const struct pm_plateau *a,
                                  const struct pm_plateau *b) {
    double begun = a->value + STEP_BEGUN * (b->value - a->value);
    double half = a->value + STEP_HALF * (b->value - a->value);
    double begins = crossing(curve, curve->value, a->last, b->first, begun);
    double is_half = crossing(curve, curve->value, a->last, b->first, half);
    /* A step that is sharp is one of replacement in order of use: it begins where the cache is
       full. One that is spread is of pages that fall into sets at random, or of neighbours: then a
       half is lost about where it is full. */
    double estimate = is_half < begins * SHARP ? begins : is_half / HALF_LOST_AT;
    double most = crossing(curve, curve->low, a->last, b->first, half) / HALF_LOST_AT;
    return (struct pm_estimate){
        fmin(crossing(curve, curve->high, a->last, b->first, begun), curve->size[a->last]),
        estimate, fmax(most, curve->size[a->last + 1])};
}
