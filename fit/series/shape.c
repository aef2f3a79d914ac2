/* The shape of one series, and fits under constraints.

   A count that grows (falls) along every line of an axis must do so up to pm_heuristics.shape_range
   times the largest size; where its data are convex or concave, it must remain so; where they have
   no direction, it must not turn beyond the largest size, and between the points no more often than
   these do; it never becomes negative.  Distances grow and are convex.  A candidate that breaks its
   shape is solved again as a quadratic program under those constraints, on a grid of sizes; unless
   it does not oscillate and explains the data far better free, as equation 4.4 of Marin's thesis,
   which falls from 16 to 19 before it rises. */
#include <float.h>

#include "fit/series/private.h"

/* Candidates of a series that are solved again in shape. */
enum { most_constrained = 6 };

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

/* ---- what the data say ----------------------------------------------------------------------- */

/* The points of the line along AXIS that begins with point I of those in use; how many. */
static size_t take_line(const struct pm_series_workspace *w, size_t axis, size_t i,
                        size_t *points) {
    size_t n = 0;
    for (; i < w->n; i = w->at->next[axis * w->stride + i])
        points[n++] = i;
    return n;
}

/* How a line along AXIS goes, of N points.  Beyond: as it does within, else as its last third
   differs from the first. */
static struct pm_direction direction_of_line(const struct pm_series_workspace *w, size_t axis,
                                             const size_t *points, size_t n) {
    const struct pm_design *d = w->design;
    bool growing = true, falling = true, convex = n >= pm_heuristics.enough_sizes, concave = convex;
    double largest = 0, first = 0, last = 0;
    for (size_t i = 0; i < n; i++)
        largest = pm_larger(fabs(w->y[points[i]]), largest);
    double noise = pm_heuristics.noise * largest;
    for (size_t i = 0; i + 1 < n; i++) {
        double step = w->y[points[i + 1]] - w->y[points[i]];
        growing &= step >= -noise;
        falling &= step <= noise;
    }
    for (size_t i = 0; i + 2 < n; i++) { /* how far the middle lies below the chord */
        const size_t *p = points + i;
        double x0 = pm_design_at(d, w->at->point[p[0]], axis),
               x2 = pm_design_at(d, w->at->point[p[2]], axis);
        double share = (pm_design_at(d, w->at->point[p[1]], axis) - x0) / (x2 - x0);
        double below = w->y[p[0]] + share * (w->y[p[2]] - w->y[p[0]]) - w->y[p[1]];
        convex &= below >= -noise;
        concave &= below <= noise;
    }
    for (size_t i = 0; i < (n + 2) / 3; i++) {
        first += w->y[points[i]];
        last += w->y[points[n - 1 - i]];
    }
    return (struct pm_direction){.within = growing - falling,
                                 .beyond = (last > first) - (last < first),
                                 .curvature = convex - concave};
}

/* The sign that holds for all lines; 0 if there is none. */
static int agree(int so_far, int line, bool first) { return first || so_far == line ? line : 0; }

/* Along AXIS: what all lines have in common. */
static struct pm_direction direction_along(const struct pm_series_workspace *w, size_t axis) {
    struct pm_direction all = {0};
    bool first = true;
    for (size_t i = 0; i < w->n; i++) {
        bool begins = true;
        for (size_t k = 0; k < i; k++)
            begins &= w->at->next[axis * w->stride + k] != i;
        size_t n = begins ? take_line(w, axis, i, w->line) : 0;
        if (n < 2)
            continue;
        struct pm_direction line = direction_of_line(w, axis, w->line, n);
        all.within = agree(all.within, line.within, first);
        all.beyond = agree(all.beyond, line.beyond, first);
        all.curvature = agree(all.curvature, line.curvature, first);
        first = false;
    }
    if (all.within)
        all.beyond = all.within;
    return all;
}

struct pm_series_shape pm_series_shape_of(const struct pm_series_workspace *w,
                                          enum pm_series_kind kind) {
    struct pm_series_shape shape = {.demanded = kind == PM_SERIES_DISTANCE};
    for (size_t axis = 0; axis < w->design->n_axes; axis++)
        shape.axes[axis] =
            shape.demanded ? (struct pm_direction){1, 1, 1} : direction_along(w, axis);
    return shape;
}

/* ---- constraints ----------------------------------------------------------------------------- */

/* They are of kinds: values, slopes along each axis, curvatures along each. */
static size_t n_kinds(const struct pm_design *d) { return 1 + 2 * d->n_axes; }

/* Constraint c is that of kind c / place_stride at place c % place_stride:
   signs[c] · Σ coefficientᵢ · rowᵢ[c] ≥ 0;  a sign of 0 means that there is none. */
static void constrain(const struct pm_series_workspace *w, const struct pm_series_shape *shape,
                      double *signs) {
    const struct pm_design *d = w->design;
    size_t stride = d->place_stride;
    for (size_t p = 0; p < stride; p++)
        signs[p] = 1;
    for (size_t a = 0; a < d->n_axes; a++)
        for (size_t p = 0; p < stride; p++)
            signs[p] *=
                d->place_x[a * stride + p] >= w->at->first[a] * (1 - pm_heuristics.rounding);
    for (size_t a = 0; a < d->n_axes; a++) {
        double within = shape->axes[a].within, beyond = shape->axes[a].beyond;
        double curvature = shape->axes[a].curvature;
        double *slopes = signs + (1 + a) * stride, *curvatures = slopes + d->n_axes * stride;
        for (size_t p = 0; p < stride; p++) {
            slopes[p] = signs[p] * (d->place_x[a * stride + p] < w->at->last[a] ? within : beyond);
            curvatures[p] = signs[p] * curvature;
        }
    }
}

/* Term J at place P: kind KIND of what the axes have of its factors.  A curvature that is rounding
   of the slopes is none: else a function that is linear in one axis had to be zero in shape.  With
   one axis that is left so, because there it only keeps a constrained line from reaching zero at
   the smallest size, which had larger errors (multigrid). */
static double at_place(const struct pm_design *d, size_t j, size_t p, size_t kind) {
    double value = 1;
    for (size_t a = 0; a < d->n_axes; a++) {
        size_t row = kind == 1 + a               ? PM_SHAPE_SLOPE
                     : kind == 1 + d->n_axes + a ? PM_SHAPE_CURVATURE
                                                 : PM_SHAPE_VALUE;
        size_t f = d->basis[j].factors[a], g = d->places[p][a];
        double factor = d->axes[a].shape[row][f][g];
        bool rounding =
            row == PM_SHAPE_CURVATURE &&
            fabs(factor) <= PM_SHAPE_TOLERANCE * fabs(d->axes[a].shape[PM_SHAPE_SLOPE][f][g]);
        value *= rounding ? 0 : factor;
    }
    return value;
}

/* Finds the candidate's rows on the places; with one axis they are the axis's. */
static void find_rows(struct pm_series_workspace *w, const struct pm_candidate *c) {
    const struct pm_design *d = w->design;
    for (size_t j = 0; j < c->n_terms; j++)
        w->place_row[j] = d->n_axes == 1 ? c->terms[j] : j;
    for (size_t kind = 0; d->n_axes > 1 && kind < n_kinds(d); kind++)
        for (size_t j = 0; j < c->n_terms; j++)
            for (size_t p = 0; p < d->n_places; p++)
                w->owned_rows[(kind * MAX_TERMS + j) * d->place_stride + p] =
                    at_place(d, c->terms[j], p, kind);
}

PM_VECTOR_INLINE const double *row_of(const struct pm_series_workspace *w, size_t kind, size_t j) {
    return w->place_rows + (kind * MAX_TERMS + w->place_row[j]) * w->design->place_stride;
}

/* No constraint is violated by more than a share of the value there. */
PM_VECTOR_CLONES static bool keeps_shape(const struct pm_series_workspace *w,
                                         const struct pm_candidate *c, const double *signs) {
    size_t stride = w->design->place_stride, kinds = 1 + 2 * w->design->n_axes;
    for (size_t i = 0; i < stride; i += PM_VECTOR_WIDTH) {
        pm_vector value = {0};
        for (size_t kind = 0; kind < kinds; kind++) {
            pm_vector sum = {0}, size = {0};
            for (size_t j = 0; j < c->n_terms; j++) {
                pm_vector part = c->coefficients[j] * PM_VECTOR_CONST(row_of(w, kind, j), i);
                sum += part;
                size += PM_VECTOR_LARGER(part, -part);
            }
            value = kind ? value : PM_VECTOR_LARGER(sum, -sum);
            sum = sum * PM_VECTOR_CONST(signs, kind * stride + i) +
                  (kind ? PM_SHAPE_TOLERANCE * value : value * 0) + pm_heuristics.rounding * size;
            for (size_t l = 0; l < PM_VECTOR_WIDTH; l++)
                if (sum[l] < -DBL_MIN)
                    return false;
        }
    }
    return true;
}

/* Solves candidate C, just solved freely, again under the constraints; its leave-one-out error
   grows as its residual. */
PM_VECTOR_CLONES static bool solve_constrained(struct pm_series_workspace *w,
                                               struct pm_candidate *c, const double *signs) {
    double inflation = c->residual > 0 ? c->leave_one_out / c->residual : 1;
    /* In orthonormal coordinates z: min ½|z − Qᵀy|², signs · rows · R⁻¹ z ≥ 0. */
    size_t stride = w->design->place_stride, m = n_kinds(w->design) * stride;
    double z[MAX_TERMS], *normals = w->normals;
    for (size_t j = 0; j < c->n_terms; j++) { /* Rᵀ normals = signs · rows, forward */
        double inverse = 1 / w->solved.triangle[j][j];
        for (size_t kind = 0; kind < n_kinds(w->design); kind++) {
            const double *row = row_of(w, kind, j), *sign = signs + kind * stride;
            double *into = normals + kind * stride;
            for (size_t p = 0; p < stride; p += PM_VECTOR_WIDTH) {
                pm_vector sum = PM_VECTOR_CONST(row, p) * PM_VECTOR_CONST(sign, p);
                for (size_t i = 0; i < j; i++)
                    sum -= w->solved.triangle[i][j] * PM_VECTOR_CONST(into, i * m + p);
                PM_VECTOR_AT(into, j * m + p) = sum * inverse;
            }
        }
    }
    pm_project(&w->solved, c->n_terms, w->target, z);
    if (pm_qp_nearest(c->n_terms, m, normals, z) != PM_QP_SOLVED)
        return false;
    double free_score = c->score;
    pm_candidate_judge(w, z, c);
    c->leave_one_out = fmax(c->leave_one_out, inflation * c->residual);
    c->score = fmax(c->score, free_score); /* constraints only make it worse */
    return true;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static bool has_shape(struct pm_series_workspace *w, const struct pm_candidate *c,
                      const struct pm_series_shape *shape) {
    constrain(w, shape, w->other_signs);
    return keeps_shape(w, c, w->other_signs);
}

/* Whether a fit that is not in shape does not oscillate all the same: it is never negative, goes on
   as it should beyond the data, and is as monotone as these and explains them but for rounding, or
   is convex or concave all over. */
static bool is_sound(struct pm_series_workspace *w, const struct pm_series_shape *shape,
                     const struct pm_candidate *c) {
    struct pm_series_shape asked = *shape;
    size_t n_axes = w->design->n_axes;
    bool any = false;
    for (size_t a = 0; a < n_axes; a++) {
        any |= asked.axes[a].within != 0;
        asked.axes[a].curvature = 0;
    }
    if (any && c->emphasised < PM_EXPLAINED && has_shape(w, c, &asked))
        return true;
    for (int curvature = -1; curvature <= 1; curvature += 2) {
        bool may = !shape->demanded;
        for (size_t a = 0; a < n_axes; a++) {
            may &= shape->axes[a].curvature != -curvature;
            asked.axes[a].within = 0;
            asked.axes[a].curvature = curvature;
        }
        if (may && has_shape(w, c, &asked))
            return true;
    }
    return false;
}

/* Puts candidate C in shape; false if that fails.  A free fit explains the data far better at times
   than any that is monotone and convex: where the minimum lies between two points, or a function
   has steps. */
static bool put_in_shape(struct pm_series_workspace *w, const struct pm_series_shape *shape,
                         struct pm_candidate *c) {
    const struct pm_candidate free = *c;
    bool solved = solve_constrained(w, c, w->signs);
    if (!pm_fit_without(PM_STEP_FREE_FIT) &&
        (!solved || c->score > pm_heuristics.far_better * free.score) &&
        is_sound(w, shape, &free)) {
        *c = free;
        return true;
    }
    return solved;
}

/* The terms of a ranked candidate. */
static void set_terms(const struct pm_series_workspace *w, unsigned subset,
                      struct pm_candidate *c) {
    if (w->design->n_axes > 1) {
        *c = w->found[subset];
        return;
    }
    c->n_terms = 0;
    for (size_t f = 0; f < MAX_TERMS; f++)
        if (subset >> f & 1)
            c->terms[c->n_terms++] = f;
}

/* Solves C, and puts it in shape unless so many were, N_CONSTRAINED, that no more are. */
static enum pm_candidate_fate shape_candidate(struct pm_series_workspace *w,
                                              const struct pm_series_shape *shape,
                                              size_t *n_constrained, struct pm_candidate *c) {
    if (!pm_candidate_solve(w, c))
        return PM_CANDIDATE_UNSOLVED;
    find_rows(w, c);
    if (pm_fit_without(PM_STEP_SHAPE) || keeps_shape(w, c, w->signs))
        return PM_CANDIDATE_FREE;
    bool put = (*n_constrained)++ < most_constrained && put_in_shape(w, shape, c);
    return put ? PM_CANDIDATE_PUT : PM_CANDIDATE_OUTSIDE;
}

bool pm_shape_choose(struct pm_series_workspace *w, size_t n_ranked,
                     const struct pm_series_shape *shape, struct pm_candidate *best) {
    size_t n_constrained = 0;
    constrain(w, shape, w->signs);
    best->score = INFINITY;
    for (size_t i = 0; i < n_ranked && w->ranked[i].score < best->score; i++) {
        struct pm_candidate c;
        set_terms(w, w->ranked[i].subset, &c);
        enum pm_candidate_fate fate = shape_candidate(w, shape, &n_constrained, &c);
        bool is_best = fate >= PM_CANDIDATE_FREE && c.score < best->score;
        if (is_best)
            *best = c;
        pm_dump_candidate(w, shape, i, &c, fate, is_best);
    }
    return isfinite(best->score);
}
