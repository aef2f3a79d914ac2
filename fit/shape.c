/* The shape of one series, and fits under constraints.

   A count that grows (falls) with every size must do so up to PM_SERIES_REACH times the largest;
   where its data are convex or concave, it must remain so; where they have no direction, it must
   not turn beyond the largest size, and between the points no more often than these do; it never
   becomes negative.  Distances grow and are convex.  A candidate that breaks its shape is solved
   again as a quadratic program under those constraints, on a grid of sizes; unless it bends only
   once and explains the data far better free, as equation 4.4 of Marin's thesis, which falls from
   16 to 19 before it rises. */
#include "fit/candidate.h"

#include <math.h>
#include <string.h>

#include "fit/qp.h"

enum {
    MAX_TERMS = PM_MODEL_MAX_TERMS,
    MAX_ROWS = 3 * PM_SERIES_GRID,
    MAX_CONSTRAINED = 6, /* candidates of a series that are solved again */
    ENOUGH_SIZES = 5     /* to tell a curvature */
};

#define NOISE 2e-3           /* steps against the trend, relative to the largest value */
#define FAR_BETTER 10.0      /* score of the best monotone fit against a free one that bends once */
#define SHAPE_TOLERANCE 1e-6 /* of the largest value */

struct pm_shape pm_shape_of(const struct pm_series_workspace *w, enum pm_series_kind kind) {
    if (kind == PM_SERIES_DISTANCE)
        return (struct pm_shape){.direction = 1, .beyond = 1, .curvature = 1};
    bool growing = true, falling = true, convex = w->n >= ENOUGH_SIZES, concave = convex;
    double noise = NOISE * w->largest;
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
    struct pm_shape shape = {.direction = growing - falling, .curvature = convex - concave};
    shape.beyond = shape.direction ? shape.direction : last > first ? 1 : last < first ? -1 : 0;
    return shape;
}

/* The constraints of SHAPE as rows over scaled basis functions: row · c ≥ bound. */
static size_t shape_rows(const struct pm_series_workspace *w, const struct pm_shape *shape,
                         double rows[MAX_ROWS][MAX_TERMS], double *bounds) {
    const struct pm_design *design = w->design;
    size_t n = 0, n_basis = design->n_basis;
    double first_x = w->x[0], last_x = w->x[w->n - 1];
    for (size_t j = 0; j < PM_SERIES_GRID; j++) {
        if (design->grid_x[j] < first_x * (1 - 1e-9))
            continue;
        memcpy(rows[n], design->grid[j], n_basis * sizeof(double));
        bounds[n++] = 0;
        int sign = design->grid_x[j] < last_x ? shape->direction : shape->beyond;
        if (sign) {
            for (size_t i = 0; i < n_basis; i++)
                rows[n][i] = sign * design->slope[j][i];
            bounds[n++] = 0;
        }
        if (j + 1 < PM_SERIES_GRID && shape->curvature) {
            for (size_t i = 0; i < n_basis; i++)
                rows[n][i] = shape->curvature * design->curvature[j][i];
            bounds[n++] = 0;
        }
    }
    return n;
}

/* No row is violated by more than a tolerance. */
static bool keeps_shape(const struct pm_series_workspace *w, const struct pm_candidate *c,
                        size_t n_rows, double rows[MAX_ROWS][MAX_TERMS]) {
    for (size_t r = 0; r < n_rows; r++) {
        double sum = 0, size = 0;
        for (size_t j = 0; j < c->n_terms; j++) {
            double part = rows[r][c->terms[j]] * c->coefficients[j];
            sum += part;
            size += fabs(part);
        }
        if (sum < -SHAPE_TOLERANCE * w->largest - 1e-9 * size)
            return false;
    }
    return true;
}

/* Solves candidate C again under the constraints; its leave-one-out error grows as its residual. */
static bool solve_constrained(struct pm_series_workspace *w, struct pm_candidate *c, size_t n_rows,
                              double rows[MAX_ROWS][MAX_TERMS], const double *bounds) {
    size_t k = c->n_terms;
    double inflation = c->residual > 0 ? c->leave_one_out / c->residual : 1;
    if (!pm_candidate_orthonormalise(w, c))
        return false;
    /* In orthonormal coordinates z: min ½zᵀz − (Qᵀy)ᵀz, rows · R⁻¹ z ≥ bounds. */
    double h[MAX_TERMS * MAX_TERMS] = {0}, g[MAX_TERMS], z[MAX_TERMS], a[MAX_ROWS * MAX_TERMS];
    pm_candidate_project(w, k, g);
    for (size_t j = 0; j < k; j++) {
        h[j * k + j] = 1;
        g[j] = -g[j];
    }
    for (size_t r = 0; r < n_rows; r++)
        for (size_t j = 0; j < k; j++) { /* R⊤ aᵀ = rowᵀ, forward */
            double sum = rows[r][c->terms[j]];
            for (size_t i = 0; i < j; i++)
                sum -= w->triangle[i][j] * a[r * k + i];
            a[r * k + j] = sum / w->triangle[j][j];
        }
    if (pm_qp_solve(k, h, g, n_rows, a, bounds, z, NULL) != PM_QP_SOLVED)
        return false;
    double free_score = c->score;
    pm_candidate_judge(w, z, c);
    c->leave_one_out = fmax(c->leave_one_out, inflation * c->residual);
    c->score = fmax(c->score, free_score); /* constraints only make it worse */
    return true;
}

/* Turning points over the measured sizes: of the points themselves, by more than noise, and of a
   candidate. */
static size_t turns_of_points(const struct pm_series_workspace *w) {
    size_t n = 0;
    int before = 0;
    for (size_t i = 0; i + 1 < w->n; i++) {
        double step = w->y[i + 1] - w->y[i];
        int sign = step > NOISE * w->largest ? 1 : step < -NOISE * w->largest ? -1 : 0;
        n += sign && before && sign != before;
        before = sign ? sign : before;
    }
    return n;
}

static size_t turns_of(const struct pm_series_workspace *w, const struct pm_candidate *c) {
    const struct pm_design *design = w->design;
    size_t n = 0;
    int before = 0;
    for (size_t j = 0; j < PM_SERIES_GRID && design->grid_x[j] <= w->x[w->n - 1]; j++) {
        double slope = 0;
        if (design->grid_x[j] < w->x[0] * (1 - 1e-9))
            continue;
        for (size_t t = 0; t < c->n_terms; t++)
            slope += design->slope[j][c->terms[t]] * c->coefficients[t];
        int sign = slope > SHAPE_TOLERANCE * w->largest    ? 1
                   : slope < -SHAPE_TOLERANCE * w->largest ? -1
                                                           : 0;
        n += sign && before && sign != before;
        before = sign ? sign : before;
    }
    return n;
}

/* Whether a free fit of data without a direction turns between the points where these do not. */
static bool oscillates(const struct pm_series_workspace *w, const struct pm_shape *shape,
                       const struct pm_candidate *c) {
    return !shape->direction && turns_of(w, c) > turns_of_points(w);
}

/* Whether a fit that is not monotone is convex or concave all over, not negative, and goes on as it
   should beyond the data: it does not oscillate. */
static bool bends_once(const struct pm_series_workspace *w, const struct pm_shape *shape,
                       const struct pm_candidate *c) {
    double rows[MAX_ROWS][MAX_TERMS], bounds[MAX_ROWS];
    for (int curvature = -1; curvature <= 1; curvature += 2) {
        const struct pm_shape bent = {.beyond = shape->beyond, .curvature = curvature};
        if (shape->curvature != -curvature &&
            keeps_shape(w, c, shape_rows(w, &bent, rows, bounds), rows))
            return true;
    }
    return false;
}

/* Puts candidate C in shape; false if that fails.  A free fit that bends once explains the data far
   better at times than any that is monotone: the minimum then lies between two points. */
static bool put_in_shape(struct pm_series_workspace *w, const struct pm_shape *shape, size_t n_rows,
                         double rows[MAX_ROWS][MAX_TERMS], const double *bounds,
                         struct pm_candidate *c) {
    const struct pm_candidate free = *c;
    bool solved = solve_constrained(w, c, n_rows, rows, bounds);
    if ((!solved || c->score > FAR_BETTER * free.score) && bends_once(w, shape, &free)) {
        *c = free;
        return true;
    }
    return solved && !oscillates(w, shape, c);
}

bool pm_shape_choose(struct pm_series_workspace *w, size_t n_candidates,
                     const struct pm_shape *shape, struct pm_candidate *best) {
    double rows[MAX_ROWS][MAX_TERMS], bounds[MAX_ROWS];
    size_t n_rows = shape_rows(w, shape, rows, bounds), n_constrained = 0;
    best->score = INFINITY;
    for (size_t i = 0; i < n_candidates; i++) {
        struct pm_candidate c = w->candidates[i];
        if (c.score >= best->score)
            break;
        if (!keeps_shape(w, &c, n_rows, rows)) {
            if (n_constrained++ >= MAX_CONSTRAINED ||
                !put_in_shape(w, shape, n_rows, rows, bounds, &c))
                continue;
        } else if (oscillates(w, shape, &c)) {
            continue;
        }
        if (c.score < best->score)
            *best = c;
    }
    return isfinite(best->score);
}
