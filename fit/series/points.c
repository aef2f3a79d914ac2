/* The points that a series is fitted to, and what each counts.

   A residual is divided by the value, so that relative error counts over orders of magnitude, and
   larger sizes count more:  w_k = e_k / |y_k|,  e_k ~ x_k.  A value near zero must not rule those
   before it: it counts as a thousandth of these. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
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

/* ---- which they are -------------------------------------------------------------------------- */

void pm_points_allocate(struct pm_series_workspace *w) {
    const struct pm_design *d = w->design;
    w->in_question = pm_alloc(d->n, sizeof *w->in_question);
    for (size_t s = 0; s < PM_POINT_SETS; s++) {
        struct pm_series_points *p = &w->points[s];
        p->point = pm_alloc(d->n, sizeof *p->point);
        p->next = pm_alloc(d->n_axes * w->stride, sizeof *p->next);
        p->emphasis = pm_alloc(w->stride, sizeof *p->emphasis);
        p->functions = pm_alloc(d->n_basis * w->stride, sizeof *p->functions);
    }
    w->at = w->points;
}

void pm_points_free(struct pm_series_workspace *w) {
    free(w->in_question);
    for (size_t s = 0; s < PM_POINT_SETS; s++) {
        free(w->points[s].point);
        free(w->points[s].next);
        free(w->points[s].emphasis);
        free(w->points[s].functions);
    }
}

/* The middle of the points below the last one on its line along AXIS. */
static void find_middle(const struct pm_design *d, struct pm_series_points *p, size_t axis) {
    const size_t *line = pm_design_lines(d, axis), last = p->n - 1;
    size_t n_below = 0;
    for (size_t i = 0; i < last; i++)
        n_below += line[p->point[i]] == line[p->point[last]];
    p->middle[axis] = p->n;
    for (size_t i = 0, wanted = n_below / 2; i < last && n_below; i++)
        if (line[p->point[i]] == line[p->point[last]] && wanted-- == 0)
            p->middle[axis] = i;
    if (n_below)
        p->log_ratio[axis] = log(pm_design_at(d, p->point[last], axis) /
                                 pm_design_at(d, p->point[p->middle[axis]], axis));
}

/* Levels of the points on AXIS, and its lines. */
static void find_lines(const struct pm_design *d, struct pm_series_points *p, size_t axis) {
    const size_t *line = pm_design_lines(d, axis);
    size_t *next = p->next + axis * d->stride;
    p->n_levels[axis] = 0;
    p->first[axis] = INFINITY;
    p->last[axis] = 0;
    for (size_t i = 0; i < p->n; i++) {
        double here = pm_design_at(d, p->point[i], axis);
        bool known = false;
        for (size_t k = 0; k < i && !known; k++)
            known = d->level[p->point[k]][axis] == d->level[p->point[i]][axis];
        p->n_levels[axis] += !known;
        p->first[axis] = fmin(p->first[axis], here);
        p->last[axis] = fmax(p->last[axis], here);
        next[i] = i + 1; /* points of one line stand by ascending level */
        while (next[i] < p->n && line[p->point[next[i]]] != line[p->point[i]])
            next[i]++;
    }
    if (p->n)
        find_middle(d, p, axis);
}

/* What follows from the N points POINT. */
static void fill_points(const struct pm_design *d, struct pm_series_points *p, const size_t *point,
                        size_t n) {
    double squares = 0;
    bool even = pm_fit_without(PM_STEP_EMPHASIS);
    p->n = n;
    for (size_t i = 0; i < n; i++) {
        p->point[i] = point[i];
        squares += d->x[point[i]] * d->x[point[i]] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        p->emphasis[i] = even ? 1 : d->x[point[i]] / sqrt(squares);
    for (size_t f = 0; f < d->n_basis; f++)
        for (size_t i = 0; i < d->stride; i++)
            p->functions[f * d->stride + i] = i < n ? d->values[f * d->stride + point[i]] : 0;
    for (size_t axis = 0; axis < d->n_axes; axis++)
        find_lines(d, p, axis);
}

static bool are_points(const struct pm_series_points *p, const size_t *point, size_t n) {
    return p->n == n && memcmp(p->point, point, n * sizeof *point) == 0;
}

/* The sizes that have a value; what depends on them alone is kept from series to series. */
static void take_sizes(struct pm_series_workspace *w, const double *y, size_t from, bool onset) {
    const struct pm_design *d = w->design;
    size_t n = 0, s = 0;
    for (size_t k = from; k < d->n; k++)
        if (!isnan(y[k]) && !(onset && y[k] == 0 && is_before_onset(d, y, k)))
            w->in_question[n++] = k;
    if (are_points(w->at, w->in_question, n))
        return;
    while (s < PM_POINT_SETS && !are_points(&w->points[s], w->in_question, n))
        s++;
    if (s == PM_POINT_SETS) {
        s = w->oldest;
        w->oldest = (s + 1) % PM_POINT_SETS;
        fill_points(d, &w->points[s], w->in_question, n);
    }
    w->at = &w->points[s];
    w->n = n;
    w->n_padded = w->solved.n = pm_vector_padded(n);
}

/* ---- what each counts ------------------------------------------------------------------------ */

/* How the data grow along AXIS, on the line through the last size, from its middle on: the power
   of the size; NAN if that is not known. */
static double growth_along(const struct pm_series_workspace *w, size_t axis) {
    if (w->at->middle[axis] == w->n || !(w->y[w->at->middle[axis]] > 0))
        return NAN;
    double ratio = w->y[w->n - 1] / w->y[w->at->middle[axis]];
    return ratio > 1 ? log(ratio) / w->at->log_ratio[axis] : 0;
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
    double quantum = kind == PM_SERIES_DISTANCE ? pm_heuristics.distance_error
                     : kind == PM_SERIES_BLOCKS ? pm_heuristics.block_error
                                                : 0;
    take_sizes(w, y, from, onset);
    w->largest = 0;
    for (size_t i = 0; i < w->n; i++) {
        w->y[i] = y[w->at->point[i]];
        w->largest = pm_larger(fabs(w->y[i]), w->largest);
    }
    /* Small values where a series begins count as they are. */
    double reached = least;
    for (size_t i = 0; i < w->n; i++) {
        /* a zero before the others must not rule them */
        double size = w->y[i] == 0 ? w->largest : fabs(w->y[i]);
        reached = pm_larger(pm_heuristics.small_value * size, reached);
        w->weight[i] = w->at->emphasis[i] / pm_larger(fabs(w->y[i]), reached);
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
