/* Shape in several parameters.

   Where the data grow (fall) along every line of an axis, a model that turns more than once on the
   way, or beyond the largest size, oscillates; one turn within the measured range does not count:
   a count may fall before it rises between two sizes (equation 4.4 of Marin's thesis).  Where the
   data have no direction along an axis, but a trend that lasts to the ends of the lines, the model
   must not turn against it beyond the largest size.  Counts are never negative; distances never
   fall and are convex.  All this is looked at on a grid (design.c).  A candidate that fails
   is solved again as a quadratic program in which each place of the grid has value ≥ 0 and slopes
   with the direction of the data.
 */
#include "fit/surface/private.h"

#include <math.h>
#include <string.h>

enum { MAX_TERMS = PM_MODEL_MAX_TERMS, MAX_AXES = PM_SURFACE_MAX_AXES };

struct shape {
    int direction[MAX_AXES]; /* +1 growing, −1 falling, 0 neither over the measured sizes */
    int beyond[MAX_AXES];    /* direction beyond the largest size */
};

/* The next point in use after I on its line along AXIS; w->n if there is none. */
static size_t next_on_line(const struct pm_surface_workspace *w, size_t axis, size_t i) {
    const struct pm_surface *s = w->surface;
    const size_t *line = s->projections[((1u << s->n_axes) - 1) & ~(1u << axis)].of;
    /* Points of one line stand by ascending level. */
    for (size_t k = i + 1; k < w->n; k++)
        if (line[w->point[k]] == line[w->point[i]])
            return k;
    return w->n;
}

static struct shape shape_of(const struct pm_surface_workspace *w) {
    struct shape shape = {0};
    for (size_t axis = 0; axis < w->surface->n_axes; axis++) {
        bool growing = true, falling = true, any = false;
        double trend = 0, at_end = 0; /* sums of relative steps: all, the last of each line */
        for (size_t i = 0; i < w->n; i++) {
            size_t next = next_on_line(w, axis, i);
            if (next == w->n)
                continue;
            double step = w->y[next] - w->y[i], larger = fmax(fabs(w->y[next]), fabs(w->y[i]));
            any = true;
            growing &= step >= -pm_heuristics.noise * larger;
            falling &= step <= pm_heuristics.noise * larger;
            if (larger > 0)
                trend += step / larger;
            if (larger > 0 && next_on_line(w, axis, next) == w->n)
                at_end += step / larger;
        }
        if (trend * at_end < 0) /* they turn before the largest size */
            trend = 0;
        shape.direction[axis] = any ? growing - falling : 0;
        shape.beyond[axis] = shape.direction[axis] ? shape.direction[axis]
                             : trend > 0           ? 1
                             : trend < 0           ? -1
                                                   : 0;
        if (w->kind == PM_SERIES_DISTANCE)
            shape.direction[axis] = shape.beyond[axis] = 1;
    }
    return shape;
}

/* Term J at PLACE of the grid: its value, or its slope along AXIS. */
static double at_place(const struct pm_surface *s, size_t j, size_t place, size_t slope_axis) {
    double value = 1;
    for (size_t i = 0; i < s->n_axes; i++) {
        const struct pm_surface_axis *a = &s->axes[i];
        size_t f = s->products[j].functions[i], g = s->grid[place][i];
        value *= i == slope_axis ? a->grid_slopes[g][f] : a->grid_values[g][f];
    }
    return value;
}

static bool is_beyond(const struct pm_surface *s, size_t place, size_t axis) {
    const struct pm_surface_axis *a = &s->axes[axis];
    return a->grid[s->grid[place][axis]] >= a->levels[a->n_levels - 1];
}

typedef double (*quantity)(const struct pm_surface *s, size_t j, size_t place, size_t axis);

/* Sum over the terms of their quantity OF, and of its absolute values in *SIZE. */
static double sum_terms(const struct pm_surface_workspace *w, const struct pm_candidate *c,
                        quantity of, size_t place, size_t axis, double *size) {
    double sum = 0;
    *size = 0;
    for (size_t j = 0; j < c->n_terms; j++) {
        double part = c->coefficients[j] * of(w->surface, c->terms[j], place, axis);
        sum += part;
        *size += fabs(part);
    }
    return sum;
}

/* Value or slope of the candidate, 0 if it is only rounding. */
static double look(const struct pm_surface_workspace *w, const struct pm_candidate *c, size_t place,
                   size_t slope_axis) {
    double size, sum = sum_terms(w, c, at_place, place, slope_axis, &size);
    return fabs(sum) <= pm_heuristics.shape_tolerance * w->largest + pm_heuristics.rounding * size
               ? 0
               : sum;
}

/* Slope of term J by the axis itself, at PLACE, less that at the place before it: the curvature
   along AXIS.  In units of the slope at PLACE; 0 at the first place. */
static double curvature(const struct pm_surface *s, size_t j, size_t place, size_t axis) {
    size_t below = s->below[place * s->n_axes + axis];
    if (below == s->n_grid)
        return 0;
    const double *grid = s->axes[axis].grid;
    double ratio = grid[s->grid[place][axis]] / grid[s->grid[below][axis]];
    double here = at_place(s, j, place, axis), before = ratio * at_place(s, j, below, axis);
    return fabs(here - before) > pm_heuristics.shape_tolerance * fmax(fabs(here), fabs(before))
               ? here - before
               : 0;
}

static bool is_convex(const struct pm_surface_workspace *w, const struct pm_candidate *c,
                      size_t place, size_t axis) {
    double size, sum = sum_terms(w, c, curvature, place, axis, &size);
    return sum >= -pm_heuristics.shape_tolerance * w->largest - pm_heuristics.rounding * size;
}

/* Slopes along AXIS: against the direction only before the first that is with it, and not beyond
   the measured range. */
static bool oscillates(const struct pm_surface_workspace *w, const struct pm_candidate *c,
                       const struct shape *shape, size_t axis) {
    const struct pm_surface *s = w->surface;
    for (size_t place = 0; place < s->n_grid; place++) {
        bool beyond = is_beyond(s, place, axis);
        if (!beyond && !shape->direction[axis])
            continue;
        int sign = beyond ? shape->beyond[axis] : shape->direction[axis];
        if (sign * look(w, c, place, axis) >= 0)
            continue;
        size_t below = s->below[place * s->n_axes + axis];
        if (beyond || w->kind == PM_SERIES_DISTANCE ||
            (below < s->n_grid && sign * look(w, c, below, axis) > 0))
            return true;
    }
    return false;
}

static bool keeps_shape(const struct pm_surface_workspace *w, const struct pm_candidate *c,
                        const struct shape *shape) {
    for (size_t place = 0; place < w->surface->n_grid; place++)
        if (look(w, c, place, MAX_AXES) < 0)
            return false;
    for (size_t axis = 0; axis < w->surface->n_axes; axis++)
        if (oscillates(w, c, shape, axis))
            return false;
    for (size_t i = 0; w->kind == PM_SERIES_DISTANCE && i < w->surface->n_grid; i++)
        for (size_t axis = 0; axis < w->surface->n_axes; axis++)
            if (!is_convex(w, c, i, axis))
                return false;
    return true;
}

/* One constraint, ROW · c ≥ 0, in the orthonormal coordinates z of the candidate's columns, R c =
   z: aᵀ z ≥ 0 with R⊤ a = row. */
static void add_row(struct pm_surface_workspace *w, const struct pm_candidate *c, const double *row,
                    size_t n_rows) {
    pm_forward_substitute(c->n_terms, w->triangle, row, w->rows + n_rows * c->n_terms);
}

static size_t make_rows(struct pm_surface_workspace *w, const struct pm_candidate *c,
                        const struct shape *shape) {
    const struct pm_surface *s = w->surface;
    double row[MAX_TERMS];
    size_t n = 0;
    for (size_t place = 0; place < s->n_grid; place++) {
        for (size_t j = 0; j < c->n_terms; j++)
            row[j] = at_place(s, c->terms[j], place, MAX_AXES);
        add_row(w, c, row, n++);
        for (size_t axis = 0; axis < s->n_axes; axis++) {
            int sign = is_beyond(s, place, axis) ? shape->beyond[axis] : shape->direction[axis];
            for (size_t j = 0; j < c->n_terms; j++)
                row[j] = sign * at_place(s, c->terms[j], place, axis);
            if (sign)
                add_row(w, c, row, n++);
            for (size_t j = 0; j < c->n_terms; j++)
                row[j] = curvature(s, c->terms[j], place, axis);
            if (w->kind == PM_SERIES_DISTANCE && s->grid[place][axis] > 0)
                add_row(w, c, row, n++);
        }
    }
    return n;
}

/* Solves C again under the constraints; its leave-one-out error grows as its residual. */
static bool solve_constrained(struct pm_surface_workspace *w, struct pm_candidate *c,
                              const struct shape *shape) {
    double inflation = c->residual > 0 ? c->leave_one_out / c->residual : 1, score = c->score;
    double h[MAX_TERMS * MAX_TERMS] = {0}, g[MAX_TERMS], z[MAX_TERMS];
    size_t k = c->n_terms;
    if (!pm_surface_solve(w, c)) /* the columns are those of the last candidate that was solved */
        return false;
    pm_rotate(w->n, k, w->columns, w->y, w->weight, g);
    for (size_t j = 0; j < k; j++) {
        h[j * k + j] = 1;
        g[j] = -g[j];
    }
    size_t n_rows = make_rows(w, c, shape);
    if (pm_qp_solve(k, h, g, n_rows, w->rows, w->bounds, z, NULL) != PM_QP_SOLVED)
        return false;
    pm_back_substitute(k, w->triangle, z, c->coefficients);
    pm_surface_judge(w, z, c);
    c->leave_one_out = fmax(c->leave_one_out, inflation * c->residual);
    c->score = fmax(c->score, score); /* constraints only make it worse */
    return true;
}

bool pm_surface_put_in_shape(struct pm_surface_workspace *w, struct pm_candidate *c,
                             uint8_t *flags) {
    struct shape shape = shape_of(w);
    bool growing = true, falling = true;
    for (size_t axis = 0; axis < w->surface->n_axes; axis++) {
        growing &= shape.beyond[axis] >= 0;
        falling &= shape.beyond[axis] <= 0;
    }
    *flags = growing && !falling   ? PM_SHAPE_INCREASING
             : falling && !growing ? PM_SHAPE_DECREASING
                                   : PM_SHAPE_FREE;
    return keeps_shape(w, c, &shape) || solve_constrained(w, c, &shape);
}
