/* Fitting one series.

   Model: y(x) = Σ cᵢ·fᵢ(x), signed coefficients, least squares of the residuals divided by the
   values, so that relative error counts over orders of magnitude:  min Σ ((y(x_s) − y_s) / |y_s|)².
   Every subset of the basis is a candidate; it is solved by Gram-Schmidt, twice, on scaled columns
   (the basis becomes orthonormal over the measured sizes), and judged by its leave-one-out error,
   residual / (1 − leverage), times a penalty for each term.

   Shape: a count that grows (falls) with every size must do so up to PM_SERIES_REACH times the
   largest; where its data are convex or concave, it must remain so; where they have no direction,
   it must not turn beyond the largest size; it never becomes negative.  A candidate that breaks
   its shape is solved again as a quadratic program under those constraints.

   Exact polynomials are looked for first (exact.c).  Few sizes make a careful model: below five,
   two terms at most; a series that sets in so late that fewer than five sizes remain, one term.
   Source: Marin & Mellor-Crummey 2004, section 2.3.1; signed coefficients instead of their
   restrictions, because exact loop counts such as (n−2)³ need them. */
#include "fit/series.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pm_alloc.h"
#include "fit/qp.h"

enum {
    MAX_TERMS = PM_MODEL_MAX_TERMS,
    MAX_ROWS = 3 * PM_SERIES_GRID,
    ENOUGH_SIZES = 5,
    CUBIC = 4, /* basis functions up to degree 3 */
    MAX_CONSTRAINED = 6
};
#define TERM_PENALTY 0.03
#define QUARTIC_PENALTY 4.0  /* a fourth power must pay: it runs away beyond the data */
#define GROWTH_PENALTY 4.0   /* for each power of growth beyond that of the data */
#define FREE_GROWTH 0.5      /* powers that are not charged: lower terms fade as sizes grow */
#define ROUNDING 1e-10       /* relative errors below this are all alike */
#define NOISE 2e-3           /* steps against the trend, relative to the largest value */
#define DIVERGENT 0.2        /* gain in error for which the smallest size is left out */
#define QUANTUM 0.5          /* blocks: distances are whole numbers */
#define SHAPE_TOLERANCE 1e-6 /* of the largest value */

struct candidate {
    unsigned subset;
    size_t n_terms;
    size_t terms[MAX_TERMS];
    double coefficients[MAX_TERMS]; /* of scaled basis functions */
    double residual, leave_one_out; /* root mean squares, relative */
    double emphasised;              /* leave-one-out error with larger sizes counting more */
    double score;
};

struct pm_series_workspace {
    const struct pm_design *design;
    size_t n;                     /* points in use */
    size_t *point;                /* their indices among the sizes */
    double *x, *y, *weight;       /* of points */
    double *emphasis;             /* of points: of the weight, what is not relative error */
    double (*columns)[MAX_TERMS]; /* weighted basis, then orthonormal */
    double triangle[MAX_TERMS][MAX_TERMS];
    double rotated[MAX_TERMS]; /* Qᵀ(weighted y) */
    struct candidate *candidates;
    double largest; /* of |y| */
    double quantum; /* residuals up to this are no reason to prefer another model */
};

struct pm_series_workspace *pm_series_workspace_new(const struct pm_design *design) {
    struct pm_series_workspace *w = pm_alloc(1, sizeof *w);
    w->design = design;
    w->point = pm_alloc(design->n, sizeof *w->point);
    w->x = pm_alloc(design->n, sizeof *w->x);
    w->y = pm_alloc(design->n, sizeof *w->y);
    w->weight = pm_alloc(design->n, sizeof *w->weight);
    w->emphasis = pm_alloc(design->n, sizeof *w->emphasis);
    w->columns = pm_alloc(design->n, sizeof *w->columns);
    w->candidates = pm_alloc((size_t)1 << design->n_basis, sizeof *w->candidates);
    return w;
}

void pm_series_workspace_free(struct pm_series_workspace *w) {
    if (!w)
        return;
    free(w->candidates);
    free(w->columns);
    free(w->emphasis);
    free(w->weight);
    free(w->y);
    free(w->x);
    free(w->point);
    free(w);
}

static void take_points(struct pm_series_workspace *w, const double *y, size_t from,
                        enum pm_series_kind kind) {
    double least = kind == PM_SERIES_DISTANCE ? 1 : DBL_MIN;
    w->quantum = kind == PM_SERIES_DISTANCE ? QUANTUM : 0;
    w->n = 0;
    w->largest = 0;
    for (size_t s = from; s < w->design->n; s++)
        if (!isnan(y[s])) {
            w->point[w->n] = s;
            w->x[w->n] = w->design->x[s];
            w->y[w->n++] = y[s];
            w->largest = fmax(w->largest, fabs(y[s]));
        }
    double squares = 0;
    for (size_t i = 0; i < w->n; i++)
        squares += w->x[i] * w->x[i] / (double)w->n;
    for (size_t i = 0; i < w->n; i++) {
        w->emphasis[i] = w->x[i] / sqrt(squares);
        /* a value near zero must not rule all others */
        w->weight[i] = w->emphasis[i] / fmax(fmax(fabs(w->y[i]), 1e-3 * w->largest), least);
    }
}

/* ---- one subset of the basis, free ---------------------------------------------------------- */

/* Orthonormalises the subset's weighted columns; false if they depend on each other. */
static bool orthonormalise(struct pm_series_workspace *w, const struct candidate *c) {
    for (size_t j = 0; j < c->n_terms; j++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < w->n; i++) {
            w->columns[i][j] = w->design->values[w->point[i]][c->terms[j]] * w->weight[i];
            before += w->columns[i][j] * w->columns[i][j];
        }
        for (size_t k = 0; k < j; k++)
            w->triangle[k][j] = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < j; k++) {
                double part = 0;
                for (size_t i = 0; i < w->n; i++)
                    part += w->columns[i][k] * w->columns[i][j];
                w->triangle[k][j] += part;
                for (size_t i = 0; i < w->n; i++)
                    w->columns[i][j] -= part * w->columns[i][k];
            }
        for (size_t i = 0; i < w->n; i++)
            after += w->columns[i][j] * w->columns[i][j];
        if (!(after > 1e-22 * before))
            return false;
        w->triangle[j][j] = sqrt(after);
        for (size_t i = 0; i < w->n; i++)
            w->columns[i][j] /= w->triangle[j][j];
    }
    return true;
}

/* Solves triangle · coefficients = ROTATED. */
static void back_substitute(const struct pm_series_workspace *w, size_t n_terms,
                            const double *rotated, double *coefficients) {
    for (size_t j = n_terms; j-- > 0;) {
        double sum = rotated[j];
        for (size_t k = j + 1; k < n_terms; k++)
            sum -= w->triangle[j][k] * coefficients[k];
        coefficients[j] = sum / w->triangle[j][j];
    }
}

/* Errors and score of the fit whose orthonormal coordinates are ROTATED. */
static void judge(const struct pm_series_workspace *w, struct candidate *c, const double *rotated) {
    double residual_sum = 0, left_out_sum = 0, emphasised_sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        double residual = w->y[i] * w->weight[i], leverage = 0;
        for (size_t j = 0; j < c->n_terms; j++) {
            residual -= w->columns[i][j] * rotated[j];
            leverage += w->columns[i][j] * w->columns[i][j];
        }
        double relative = residual / w->emphasis[i], keep = fmax(1 - leverage, 1e-6);
        residual_sum += relative * relative;
        left_out_sum += relative * relative / (keep * keep);
        double excess = fmax(fabs(residual) / keep - w->quantum * w->weight[i], 0);
        emphasised_sum += excess * excess;
    }
    c->residual = sqrt(residual_sum / (double)w->n);
    c->leave_one_out = sqrt(left_out_sum / (double)w->n);
    c->emphasised = sqrt(emphasised_sum / (double)w->n);
    c->score = fmax(c->emphasised, ROUNDING) * (1 + TERM_PENALTY * (double)c->n_terms);
    if (w->design->monomials && c->terms[c->n_terms - 1] >= CUBIC)
        c->score *= QUARTIC_PENALTY;
}

/* A candidate that grows much faster beyond the data than the data themselves do must pay for it:
   where values are noisy, a high power that helps a little among them runs away outside.  Growth is
   an exponent, d log y / d log x: the model's from the largest size to the end of the range of
   prediction, the data's over the larger half of the sizes. */
static void charge_growth(const struct pm_series_workspace *w, struct candidate *c) {
    double end = 0, far = 0;
    size_t middle = (w->n - 1) / 2, last = w->n - 1;
    for (size_t j = 0; j < c->n_terms; j++) {
        end += c->coefficients[j]; /* scaled functions are 1 at the largest size */
        far += c->coefficients[j] * w->design->grid[PM_SERIES_GRID - 1][c->terms[j]];
    }
    if (w->y[middle] <= 0 || end <= 0 || far <= 0 || middle == last)
        return;
    double of_data = log(w->y[last] / w->y[middle]) / log(w->x[last] / w->x[middle]);
    double excess = log(far / end) / log(PM_SERIES_REACH) - fmax(of_data, 0) - FREE_GROWTH;
    if (excess > 0)
        c->score *= pow(GROWTH_PENALTY, excess);
}

static bool solve_free(struct pm_series_workspace *w, struct candidate *c) {
    if (!orthonormalise(w, c))
        return false;
    for (size_t j = 0; j < c->n_terms; j++) {
        w->rotated[j] = 0;
        for (size_t i = 0; i < w->n; i++)
            w->rotated[j] += w->columns[i][j] * w->y[i] * w->weight[i];
    }
    back_substitute(w, c->n_terms, w->rotated, c->coefficients);
    judge(w, c, w->rotated);
    charge_growth(w, c);
    return true;
}

/* All subsets of the first N_BASIS functions with at most MAX_SIZE terms, best first; how many. */
static size_t solve_subsets(struct pm_series_workspace *w, size_t n_basis, size_t max_size) {
    size_t n = 0;
    for (unsigned subset = 1; subset < 1u << n_basis; subset++) {
        if ((size_t)__builtin_popcount(subset) > max_size)
            continue;
        struct candidate c = {.subset = subset};
        for (size_t i = 0; i < n_basis; i++)
            if (subset >> i & 1)
                c.terms[c.n_terms++] = i;
        if (!solve_free(w, &c))
            continue;
        size_t at = n++;
        for (; at > 0 && w->candidates[at - 1].score > c.score; at--)
            w->candidates[at] = w->candidates[at - 1];
        w->candidates[at] = c;
    }
    return n;
}

/* ---- shape ---------------------------------------------------------------------------------- */

struct shape {
    int direction; /* +1 growing, −1 falling, 0 neither over the measured sizes */
    int beyond;    /* direction beyond the largest size */
    int curvature; /* +1 convex, −1 concave, 0 not known */
};

static struct shape shape_of(const struct pm_series_workspace *w, enum pm_series_kind kind) {
    if (kind == PM_SERIES_DISTANCE)
        return (struct shape){.direction = 1, .beyond = 1, .curvature = 1};
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
    struct shape shape = {.direction = growing - falling, .curvature = convex - concave};
    shape.beyond = shape.direction ? shape.direction : last > first ? 1 : last < first ? -1 : 0;
    return shape;
}

/* The constraints of SHAPE as rows over scaled basis functions: row · c ≥ bound. */
static size_t shape_rows(const struct pm_series_workspace *w, const struct shape *shape,
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
static bool keeps_shape(const struct pm_series_workspace *w, const struct candidate *c,
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
static bool solve_constrained(struct pm_series_workspace *w, struct candidate *c, size_t n_rows,
                              double rows[MAX_ROWS][MAX_TERMS], const double *bounds) {
    size_t k = c->n_terms;
    double inflation = c->residual > 0 ? c->leave_one_out / c->residual : 1;
    if (!orthonormalise(w, c))
        return false;
    /* In orthonormal coordinates z: min ½zᵀz − (Qᵀy)ᵀz, rows · R⁻¹ z ≥ bounds. */
    double h[MAX_TERMS * MAX_TERMS] = {0}, g[MAX_TERMS], z[MAX_TERMS], a[MAX_ROWS * MAX_TERMS];
    for (size_t j = 0; j < k; j++) {
        h[j * k + j] = 1;
        g[j] = 0;
        for (size_t i = 0; i < w->n; i++)
            g[j] -= w->columns[i][j] * w->y[i] * w->weight[i];
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
    back_substitute(w, k, z, c->coefficients);
    double free_score = c->score;
    judge(w, c, z);
    charge_growth(w, c);
    c->leave_one_out = fmax(c->leave_one_out, inflation * c->residual);
    c->score = fmax(c->score, free_score); /* constraints only make it worse */
    return true;
}

/* The best candidate that has the shape, free or constrained; false if there is none. */
static bool choose(struct pm_series_workspace *w, size_t n_candidates, const struct shape *shape,
                   struct candidate *best) {
    double rows[MAX_ROWS][MAX_TERMS], bounds[MAX_ROWS];
    size_t n_rows = shape_rows(w, shape, rows, bounds), n_constrained = 0;
    best->score = INFINITY;
    for (size_t i = 0; i < n_candidates; i++) {
        struct candidate c = w->candidates[i];
        if (c.score >= best->score)
            break;
        if (!keeps_shape(w, &c, n_rows, rows) &&
            (n_constrained++ >= MAX_CONSTRAINED || !solve_constrained(w, &c, n_rows, rows, bounds)))
            continue;
        if (c.score < best->score)
            *best = c;
    }
    return isfinite(best->score);
}

/* ---- the model ------------------------------------------------------------------------------ */

static void add_term(struct pm_model *model, size_t term, double coefficient) {
    if (coefficient == 0)
        return;
    model->terms[model->n_terms] = (uint16_t)term;
    model->coefficients[model->n_terms++] = coefficient;
}

static void set_shape(struct pm_model *model, const struct shape *shape) {
    model->shape = (uint8_t)((shape->beyond > 0 ? PM_SHAPE_INCREASING : 0) |
                             (shape->beyond < 0 ? PM_SHAPE_DECREASING : 0) |
                             (shape->curvature > 0 ? PM_SHAPE_CONVEX : 0) |
                             (shape->curvature < 0 ? PM_SHAPE_CONCAVE : 0));
}

/* A constant where nothing better is known: the value at the largest size. */
static void constant_model(const struct pm_series_workspace *w, struct pm_model *model) {
    double value = w->n ? w->y[w->n - 1] : 0, sum = 0;
    add_term(model, 0, value);
    model->shape = PM_SHAPE_CONSTANT;
    for (size_t i = 0; i < w->n; i++)
        sum += pow((value - w->y[i]) * w->weight[i] / w->emphasis[i], 2);
    model->relative_error = w->n ? sqrt(sum / (double)w->n) : 0;
}

/* Fills MODEL and returns true if the points are one constant or an exact polynomial. */
static bool fit_exactly(struct pm_series_workspace *w, struct pm_model *model) {
    bool all_equal = true;
    for (size_t i = 0; i < w->n; i++)
        all_equal &= fabs(w->y[i] - w->y[w->n - 1]) <= 1e-12 * w->largest;
    if (all_equal && w->n >= 2) {
        constant_model(w, model);
        model->exact = w->y[0] == floor(w->y[0]);
        model->leave_one_out_error = model->relative_error;
        return true;
    }
    double coefficients[MAX_TERMS];
    if (!w->design->monomials ||
        !pm_exact_polynomial(w->n, w->x, w->y, w->design->n_basis - 1, coefficients))
        return false;
    for (size_t i = 0; i < w->design->n_basis; i++)
        add_term(model, i, coefficients[i]);
    model->exact = true;
    model->leave_one_out_error = 0;
    return true;
}

static double residual_sigma(const struct pm_series_workspace *w, const struct candidate *c) {
    double sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        double value = 0;
        for (size_t j = 0; j < c->n_terms; j++)
            value += c->coefficients[j] * w->design->values[w->point[i]][c->terms[j]];
        sum += (value - w->y[i]) * (value - w->y[i]);
    }
    double freedom = w->n > c->n_terms ? (double)(w->n - c->n_terms) : 1;
    return sqrt(sum / freedom);
}

/* The first of the points from which on a distance stays the same within one block, for the larger
   half of the sizes at least; n if there is none. */
static size_t level_from(const struct pm_series_workspace *w) {
    if (w->n < 3)
        return w->n;
    size_t most = w->n - (w->n / 2 > 3 ? w->n / 2 : 3), from = w->n;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = w->n; i-- > 0;) {
        low = fmin(low, w->y[i]);
        high = fmax(high, w->y[i]);
        if (high - low > 2 * QUANTUM)
            break;
        from = i;
    }
    return from <= most ? from : w->n;
}

/* The best candidate for the points taken; false if there is none. */
static bool fit_points(struct pm_series_workspace *w, enum pm_series_kind kind, bool late,
                       struct shape *shape, struct candidate *best) {
    size_t n_basis = w->design->n_basis, most = w->n - 1;
    if (w->n < 3)
        return false;
    if (w->n < ENOUGH_SIZES)
        most = late ? 1 : 2;
    if (kind == PM_SERIES_DISTANCE) {
        most = most > 2 ? 2 : most;
        n_basis = w->design->monomials && n_basis > CUBIC ? CUBIC : n_basis;
    }
    *shape = shape_of(w, kind);
    return choose(w, solve_subsets(w, n_basis, most), shape, best);
}

void pm_series_fit(struct pm_series_workspace *w, const double *y, enum pm_series_kind kind,
                   struct pm_model *model) {
    memset(model, 0, sizeof *model);
    model->leave_one_out_error = NAN;
    size_t from = 0, n_sizes = w->design->n;
    while (from < n_sizes && (isnan(y[from]) || (kind == PM_SERIES_COUNT && y[from] == 0)))
        from++;
    if (from == n_sizes) { /* zero at every size */
        model->shape = PM_SHAPE_CONSTANT;
        model->exact = true;
        model->n_points = (uint16_t)n_sizes;
        model->leave_one_out_error = 0;
        return;
    }
    take_points(w, y, from, kind);
    model->n_points = (uint16_t)w->n;
    if (fit_exactly(w, model))
        return;
    if (kind == PM_SERIES_DISTANCE && level_from(w) < w->n) {
        constant_model(w, model);
        return;
    }

    struct shape shape, other_shape;
    struct candidate best, other;
    bool late = w->n < n_sizes && w->n < ENOUGH_SIZES;
    if (!fit_points(w, kind, late, &shape, &best)) {
        constant_model(w, model);
        return;
    }
    /* The smallest size may be of another kind: arrays so small that they come from another part of
       memory, a loop that is skipped.  It is left out where the rest then agrees far better. */
    if (w->n > ENOUGH_SIZES || (kind == PM_SERIES_DISTANCE && w->n == ENOUGH_SIZES)) {
        take_points(w, y, from + 1, kind);
        if (fit_exactly(w, model)) {
            model->exact = false; /* not at every size */
            model->n_points = (uint16_t)w->n;
            return;
        }
        if (fit_points(w, kind, late, &other_shape, &other) &&
            other.score < DIVERGENT * best.score) {
            best = other;
            shape = other_shape;
        } else {
            take_points(w, y, from, kind);
        }
    }
    model->n_points = (uint16_t)w->n;
    for (size_t j = 0; j < best.n_terms; j++)
        add_term(model, best.terms[j], best.coefficients[j] / w->design->scale[best.terms[j]]);
    model->relative_error = best.residual;
    model->leave_one_out_error = best.leave_one_out;
    model->sigma = residual_sigma(w, &best);
    set_shape(model, &shape);
}

double pm_series_predictability(struct pm_series_workspace *w, const double *y, size_t from) {
    take_points(w, y, from, PM_SERIES_COUNT);
    if (w->largest == 0)
        return 0;
    if (w->n < 2)
        return 1;
    size_t n_basis = w->design->n_basis;
    if (w->design->monomials && n_basis > CUBIC)
        n_basis = CUBIC;
    size_t n = solve_subsets(w, n_basis, w->n - 1);
    return n ? w->candidates[0].emphasised : 1;
}
