/* The shape of one series, and fits under constraints.

   A count that grows (falls) with every size must do so up to pm_heuristics.shape_range times the
   largest; where its data are convex or concave, it must remain so; where they have no direction,
   it must not turn beyond the largest size, and between the points no more often than these do; it
   never becomes negative.  Distances grow and are convex.  A candidate that breaks its shape is
   solved again as a quadratic program under those constraints, on a grid of sizes; unless it does
   not oscillate and explains the data far better free, as equation 4.4 of Marin's thesis, which
   falls from 16 to 19 before it rises. */
#include "fit/series/private.h"

#include <float.h>
#include <math.h>

enum {
    MAX_TERMS = PM_MODEL_MAX_TERMS,
    KINDS = 3, /* of constraints: on values, slopes and curvatures */
    N_CONSTRAINTS = KINDS * PM_SERIES_GRID
};

struct pm_series_shape pm_series_shape_of(const struct pm_series_workspace *w,
                                          enum pm_series_kind kind) {
    if (kind == PM_SERIES_DISTANCE)
        return (struct pm_series_shape){
            .direction = 1, .beyond = 1, .curvature = 1, .demanded = true};
    bool growing = true, falling = true, convex = w->n >= pm_heuristics.enough_sizes,
         concave = convex;
    double noise = pm_heuristics.noise * w->largest;
    for (size_t i = 0; i + 1 < w->n; i++) {
        growing &= w->y[i + 1] - w->y[i] >= -noise;
        falling &= w->y[i + 1] - w->y[i] <= noise;
    }
    for (size_t i = 0; i + 2 < w->n; i++) { /* how far the middle lies below the chord */
        double share = (w->x[i + 1] - w->x[i]) / (w->x[i + 2] - w->x[i]);
        double below = w->y[i] + share * (w->y[i + 2] - w->y[i]) - w->y[i + 1];
        convex &= below >= -noise;
        concave &= below <= noise;
    }
    size_t third = (w->n + 2) / 3;
    double first = 0, last = 0;
    for (size_t i = 0; i < third; i++) {
        first += w->y[i];
        last += w->y[w->n - 1 - i];
    }
    struct pm_series_shape shape = {.direction = growing - falling, .curvature = convex - concave};
    shape.beyond = shape.direction ? shape.direction : last > first ? 1 : last < first ? -1 : 0;
    return shape;
}

/* Constraint c of N_CONSTRAINTS is that of kind c / PM_SERIES_GRID at point c % PM_SERIES_GRID of
   the grid:  signs[c] · Σ coefficientᵢ · gridᵢ[c] ≥ 0;  a sign of 0 means that there is none. */
static void constrain(const struct pm_series_workspace *w, const struct pm_series_shape *shape,
                      double signs[N_CONSTRAINTS]) {
    const double *x = w->design->grid_x;
    double first_x = w->x[0], last_x = w->x[w->n - 1];
    for (size_t j = 0; j < PM_SERIES_GRID; j++) {
        bool within = x[j] >= first_x * (1 - pm_heuristics.rounding);
        int direction = x[j] < last_x ? shape->direction : shape->beyond;
        signs[j] = within;
        signs[PM_SERIES_GRID + j] = within ? direction : 0;
        signs[2 * PM_SERIES_GRID + j] = within && j + 1 < PM_SERIES_GRID ? shape->curvature : 0;
    }
}

/* Values, slopes or curvatures of the candidate's term J on the grid. */
PM_VECTOR_INLINE const double *grid_row(const struct pm_series_workspace *w,
                                        const struct pm_candidate *c, size_t kind, size_t j) {
    return w->grid[kind] + c->terms[j] * PM_SERIES_GRID;
}

/* No constraint is violated by more than a share of the value there. */
PM_VECTOR_CLONES static bool keeps_shape(const struct pm_series_workspace *w,
                                         const struct pm_candidate *c,
                                         const double signs[N_CONSTRAINTS]) {
    for (size_t i = 0; i < PM_SERIES_GRID; i += PM_VECTOR_WIDTH) {
        pm_vector value = {0};
        for (size_t kind = 0; kind < KINDS; kind++) {
            pm_vector sum = {0}, size = {0};
            for (size_t j = 0; j < c->n_terms; j++) {
                pm_vector part = c->coefficients[j] * PM_VECTOR_CONST(grid_row(w, c, kind, j), i);
                sum += part;
                size += PM_VECTOR_LARGER(part, -part);
            }
            value = kind ? value : PM_VECTOR_LARGER(sum, -sum);
            sum = sum * PM_VECTOR_CONST(signs, kind * PM_SERIES_GRID + i) +
                  (kind ? pm_heuristics.shape_tolerance * value : value * 0) +
                  pm_heuristics.rounding * size;
            for (size_t l = 0; l < PM_VECTOR_WIDTH; l++)
                if (sum[l] < -DBL_MIN)
                    return false;
        }
    }
    return true;
}

/* Solves candidate C, just solved freely, again under the constraints; its leave-one-out error
   grows as its residual. */
static bool solve_constrained(struct pm_series_workspace *w, struct pm_candidate *c,
                              const double signs[N_CONSTRAINTS]) {
    double inflation = c->residual > 0 ? c->leave_one_out / c->residual : 1;
    /* In orthonormal coordinates z: min ½|z − Qᵀy|², signs · grid · R⁻¹ z ≥ 0. */
    double z[MAX_TERMS], normals[MAX_TERMS * N_CONSTRAINTS];
    for (size_t j = 0; j < c->n_terms; j++) { /* Rᵀ normals = signs · gridᵀ, forward */
        double inverse = 1 / w->triangle[j][j];
        for (size_t r = 0; r < N_CONSTRAINTS; r += PM_VECTOR_WIDTH) {
            const double *grid = grid_row(w, c, r / PM_SERIES_GRID, j);
            pm_vector sum = PM_VECTOR_CONST(grid, r % PM_SERIES_GRID) * PM_VECTOR_CONST(signs, r);
            for (size_t i = 0; i < j; i++)
                sum -= w->triangle[i][j] * PM_VECTOR_CONST(normals, i * N_CONSTRAINTS + r);
            PM_VECTOR_AT(normals, j * N_CONSTRAINTS + r) = sum * inverse;
        }
    }
    pm_candidate_project(w, c->n_terms, z);
    if (pm_qp_nearest(c->n_terms, N_CONSTRAINTS, normals, z) != PM_QP_SOLVED)
        return false;
    double free_score = c->score;
    pm_candidate_judge(w, z, c);
    c->leave_one_out = fmax(c->leave_one_out, inflation * c->residual);
    c->score = fmax(c->score, free_score); /* constraints only make it worse */
    return true;
}

static bool has_shape(const struct pm_series_workspace *w, const struct pm_candidate *c,
                      int direction, int beyond, int curvature) {
    const struct pm_series_shape shape = {
        .direction = direction, .beyond = beyond, .curvature = curvature};
    double signs[N_CONSTRAINTS];
    constrain(w, &shape, signs);
    return keeps_shape(w, c, signs);
}

/* Whether a fit that is not in shape does not oscillate all the same: it is never negative, goes on
   as it should beyond the data, and is as monotone as these and explains them but for rounding, or
   is convex or concave all over. */
static bool is_sound(const struct pm_series_workspace *w, const struct pm_series_shape *shape,
                     const struct pm_candidate *c) {
    if (shape->direction && c->emphasised < pm_heuristics.explained &&
        has_shape(w, c, shape->direction, shape->beyond, 0))
        return true;
    for (int curvature = -1; curvature <= 1; curvature += 2)
        if (!shape->demanded && shape->curvature != -curvature &&
            has_shape(w, c, 0, shape->beyond, curvature))
            return true;
    return false;
}

/* Puts candidate C in shape; false if that fails.  A free fit explains the data far better at times
   than any that is monotone and convex: where the minimum lies between two points, or a function
   has steps. */
static bool put_in_shape(struct pm_series_workspace *w, const struct pm_series_shape *shape,
                         const double signs[N_CONSTRAINTS], struct pm_candidate *c) {
    const struct pm_candidate free = *c;
    bool solved = solve_constrained(w, c, signs);
    if (!pm_fit_without(PM_STEP_FREE_FIT) &&
        (!solved || c->score > pm_heuristics.far_better * free.score) &&
        is_sound(w, shape, &free)) {
        *c = free;
        return true;
    }
    return solved;
}

bool pm_shape_choose(struct pm_series_workspace *w, size_t n_ranked,
                     const struct pm_series_shape *shape, struct pm_candidate *best) {
    double signs[N_CONSTRAINTS];
    size_t n_constrained = 0;
    constrain(w, shape, signs);
    best->score = INFINITY;
    for (size_t i = 0; i < n_ranked && w->ranked[i].score < best->score; i++) {
        struct pm_candidate c;
        if (!pm_candidate_solve(w, w->ranked[i].subset, &c))
            continue;
        if (!pm_fit_without(PM_STEP_SHAPE) && !keeps_shape(w, &c, signs)) {
            if (n_constrained++ >= pm_heuristics.most_constrained ||
                !put_in_shape(w, shape, signs, &c))
                continue;
        }
        if (c.score < best->score)
            *best = c;
    }
    return isfinite(best->score);
}
