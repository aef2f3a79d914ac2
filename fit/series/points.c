/* The points that a series is fitted to, and what each counts.

   A residual is divided by the value, so that relative error counts over orders of magnitude, and
   larger sizes count more:  w_k = e_k / |y_k|,  e_k ~ x_k.  A value near zero must not rule those
   before it: it counts as a thousandth of these. */
#include <float.h>

#include "fit/series/private.h"

/* True if no point with a value lies below point K on all axes: what is zero there sets in later.
 */
static bool is_before_onset(const struct pm_design *d, const double *y, size_t k) {
    for (size_t other = 0; other < d->n; other++) {
        bool below = y[other] > 0;
        for (size_t i = 0; below && i < d->n_axes; i++)
            below = d->level[other][i] <= d->level[k][i];
        if (below)
            return false;
    }
    return true;
}

/* Levels and lines of the points in use. */
static void find_lines(struct pm_series_workspace *w) {
    const struct pm_design *d = w->design;
    for (size_t axis = 0; axis < d->n_axes; axis++) {
        const size_t *line = pm_design_lines(d, axis);
        size_t *next = w->next + axis * w->stride;
        w->n_levels[axis] = 0;
        w->first[axis] = INFINITY;
        w->last[axis] = 0;
        for (size_t i = 0; i < w->n; i++) {
            double here = pm_design_at(d, w->point[i], axis);
            bool known = false;
            for (size_t k = 0; k < i && !known; k++)
                known = d->level[w->point[k]][axis] == d->level[w->point[i]][axis];
            w->n_levels[axis] += !known;
            w->first[axis] = fmin(w->first[axis], here);
            w->last[axis] = fmax(w->last[axis], here);
            next[i] = i + 1; /* points of one line stand by ascending level */
            while (next[i] < w->n && line[w->point[next[i]]] != line[w->point[i]])
                next[i]++;
        }
    }
}

/* The sizes that have a value; what depends on them alone is kept from series to series. */
static void take_sizes(struct pm_series_workspace *w, const double *y, size_t from, bool onset) {
    const struct pm_design *d = w->design;
    size_t n = 0;
    bool same = true;
    for (size_t k = from; k < d->n; k++) {
        if (isnan(y[k]) || (onset && y[k] == 0 && is_before_onset(d, y, k)))
            continue;
        same &= n < w->n && w->point[n] == k;
        w->point[n++] = k;
    }
    if (same && n == w->n)
        return;
    w->n = n;
    w->n_padded = pm_vector_padded(n);
    w->solved.n = w->n_padded;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += d->x[w->point[i]] * d->x[w->point[i]] / (double)n;
    bool even = pm_fit_without(PM_STEP_EMPHASIS);
    for (size_t i = 0; i < n; i++)
        w->emphasis[i] = even ? 1 : d->x[w->point[i]] / sqrt(squares);
    for (size_t f = 0; f < d->n_basis; f++)
        for (size_t i = 0; i < w->n_padded; i++)
            pm_row(w, w->functions, f)[i] = i < n ? d->values[f * d->stride + w->point[i]] : 0;
    find_lines(w);
}

/* How the data grow along AXIS, on the line through the last size, from its middle on: the power
   of the size; NAN if that is not known. */
static double growth_along(const struct pm_series_workspace *w, size_t axis) {
    const struct pm_design *d = w->design;
    const size_t *line = pm_design_lines(d, axis), last = w->n - 1;
    size_t n = 0, middle = last;
    for (size_t i = 0; i < last; i++)
        n += line[w->point[i]] == line[w->point[last]];
    if (n == 0)
        return NAN;
    for (size_t i = 0, wanted = n / 2; i < last; i++)
        if (line[w->point[i]] == line[w->point[last]] && wanted-- == 0)
            middle = i;
    if (!(w->y[middle] > 0 && w->y[last] > 0))
        return w->y[middle] > 0 ? 0 : NAN;
    double power = log(w->y[last] / w->y[middle]) / log(pm_design_at(d, w->point[last], axis) /
                                                        pm_design_at(d, w->point[middle], axis));
    return fmax(power, 0);
}

/* From the largest size to the end of the range of prediction a fit may grow by so much without a
   penalty: by the power of the data over the larger half of the sizes, and a little.  Where values
   are noisy, a high power that helps a little among them runs away outside. */
static void find_free_growth(struct pm_series_workspace *w) {
    const struct pm_design *d = w->design;
    size_t n_ways = d->n_axes > 1 ? 1 + d->n_axes : 1;
    double sum = 0;
    for (size_t axis = 0; axis < d->n_axes; axis++) {
        double power = growth_along(w, axis);
        sum += power;
        if (n_ways > 1)
            w->free_growth[1 + axis] = power;
    }
    w->free_growth[0] = sum; /* each axis grows as much */
    for (size_t way = 0; way < n_ways; way++) {
        double power = w->free_growth[way];
        w->free_growth[way] = isnan(power) || pm_fit_without(PM_STEP_GROWTH_PENALTY)
                                  ? INFINITY
                                  : pow(d->reach[way], power + pm_heuristics.free_growth);
    }
}

void pm_points_take(struct pm_series_workspace *w, const double *y, size_t from,
                    enum pm_series_kind kind, bool onset) {
    double least = kind == PM_SERIES_DISTANCE ? 1 : DBL_MIN;
    double quantum = kind == PM_SERIES_DISTANCE ? pm_heuristics.distance_error : 0;
    take_sizes(w, y, from, onset);
    w->largest = 0;
    for (size_t i = 0; i < w->n; i++) {
        w->y[i] = y[w->point[i]];
        w->largest = pm_larger(fabs(w->y[i]), w->largest);
    }
    /* Small values where a series begins count as they are. */
    double reached = least;
    for (size_t i = 0; i < w->n; i++) {
        /* a zero before the others must not rule them */
        double size = w->y[i] == 0 ? w->largest : fabs(w->y[i]);
        reached = pm_larger(pm_heuristics.small_value * size, reached);
        w->weight[i] = w->emphasis[i] / pm_larger(fabs(w->y[i]), reached);
        w->relation[i] =
            w->weight[i] *
            pm_larger(pm_larger(fabs(w->y[i]), pm_heuristics.small_value * w->largest), least);
        w->target[i] = w->y[i] * w->weight[i];
        w->tolerated[i] = quantum * w->weight[i];
    }
    for (size_t i = w->n; i < w->n_padded; i++)
        w->weight[i] = w->target[i] = w->tolerated[i] = 0;
    if (w->n)
        find_free_growth(w);
}
