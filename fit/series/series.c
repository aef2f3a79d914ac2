/* Fitting one series.

   Model: y(x) = Σ cᵢ·fᵢ(x), signed coefficients, least squares of the residuals divided by the
   values, so that relative error counts over orders of magnitude:  min Σ ((y(x_s) − y_s) / |y_s|)².
   Every subset of the basis is a candidate (candidates.c); the best one that has the shape of the
   data, free or under constraints (shape.c), is the model.  Another basis may have a better one: it
   is taken where its score is so much better that the design's gain is met.

   Exact polynomials are looked for first (exact.c).  Few sizes make a careful model: below five,
   two terms at most; a series that is zero at so many sizes that fewer than five remain, one term.
   Source: Marin & Mellor-Crummey 2004, section 2.3.1; signed coefficients instead of their
   restrictions, because exact loop counts such as (n−2)³ need them. */
#include "fit/series/private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/surface/surface.h"

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

/* Rows of the grid by function, for the constraints on shape. */
static void copy_grid(struct pm_series_workspace *w) {
    const struct pm_design *design = w->design;
    for (size_t i = 0; i < design->n_basis; i++)
        for (size_t j = 0; j < PM_SERIES_GRID; j++) {
            w->grid[0][i * PM_SERIES_GRID + j] = design->grid[j][i];
            w->grid[1][i * PM_SERIES_GRID + j] = design->slope[j][i];
            if (j + 1 < PM_SERIES_GRID)
                w->grid[2][i * PM_SERIES_GRID + j] = design->curvature[j][i];
        }
}

struct pm_series_workspace *pm_series_workspace_new(const struct pm_design *design) {
    struct pm_series_workspace *w = pm_alloc(1, sizeof *w);
    w->design = design;
    if (design->surface) {
        w->surface = pm_surface_workspace_new(design->surface);
        return w;
    }
    size_t n_basis = design->n_basis, stride = pm_vector_padded(design->n);
    w->penalty_power = log(pm_heuristics.growth_penalty) / log(pm_heuristics.shape_range);
    w->n_free_of_penalty = pm_fit_without(PM_STEP_HIGH_POWER_PENALTY) ? n_basis : design->n_gentle;
    size_t n_rows = 7 + 2 * n_basis + (n_basis + 1) * (n_basis + 2);
    double *memory = pm_alloc(n_rows * stride + 3 * n_basis * PM_SERIES_GRID, sizeof *memory);
    w->stride = stride;
    w->point = pm_alloc(design->n, sizeof *w->point);
    w->ranked = pm_alloc((size_t)1 << n_basis, sizeof *w->ranked);
    w->memory = memory;
    double **single[] = {&w->x,        &w->y,      &w->weight,   &w->emphasis,
                         &w->relation, &w->target, &w->tolerated};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++, memory += stride)
        *single[i] = memory;
    w->functions = memory;
    w->columns = memory + n_basis * stride;
    memory += 2 * n_basis * stride;
    for (size_t l = 0; l <= n_basis; l++) {
        w->levels[l].left = memory;
        w->levels[l].leverage = memory + stride;
        w->levels[l].columns = memory + 2 * stride;
        memory += (n_basis + 2) * stride;
    }
    for (size_t kind = 0; kind < 3; kind++, memory += n_basis * PM_SERIES_GRID)
        w->grid[kind] = memory;
    copy_grid(w);
    w->extended = pm_alloc(n_basis * design->n, sizeof *w->extended);
    w->unscaled = pm_alloc(n_basis * design->n, sizeof *w->unscaled);
    w->alternatives = pm_alloc(design->n_alternatives + 1, sizeof(struct pm_series_workspace *));
    for (size_t a = 0; a < design->n_alternatives; a++)
        w->alternatives[a] = pm_series_workspace_new(design->alternatives[a]);
    return w;
}

void pm_series_workspace_free(struct pm_series_workspace *w) {
    if (!w)
        return;
    pm_surface_workspace_free(w->surface);
    for (size_t a = 0; a < w->design->n_alternatives; a++)
        pm_series_workspace_free(w->alternatives[a]);
    free(w->alternatives);
    free(w->unscaled);
    free(w->extended);
    free(w->memory);
    free(w->ranked);
    free(w->point);
    free(w);
}

/* The sizes that have a value, from FROM on; what depends on them alone is kept from series to
   series. */
static void take_sizes(struct pm_series_workspace *w, const double *y, size_t from) {
    const struct pm_design *design = w->design;
    size_t n = 0;
    bool same = true;
    for (size_t s = from; s < design->n; s++)
        if (!isnan(y[s])) {
            same &= n < w->n && w->point[n] == s;
            w->point[n++] = s;
        }
    if (same && n == w->n)
        return;
    w->n = n;
    w->n_padded = pm_vector_padded(n);
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        w->x[i] = design->x[w->point[i]];
        squares += w->x[i] * w->x[i] / (double)n;
    }
    bool even = pm_fit_without(PM_STEP_EMPHASIS);
    for (size_t i = 0; i < n; i++)
        w->emphasis[i] = even ? 1 : w->x[i] / sqrt(squares);
    for (size_t f = 0; f < design->n_basis; f++)
        for (size_t i = 0; i < w->n_padded; i++)
            w->functions[f * w->stride + i] = i < n ? design->values[w->point[i]][f] : 0;
}

static void take_points(struct pm_series_workspace *w, const double *y, size_t from,
                        enum pm_series_kind kind) {
    double least = kind == PM_SERIES_DISTANCE ? 1 : DBL_MIN;
    double quantum = kind == PM_SERIES_DISTANCE ? pm_heuristics.distance_error
                     : kind == PM_SERIES_BLOCKS ? pm_heuristics.block_error
                                                : 0;
    take_sizes(w, y, from);
    w->largest = 0;
    for (size_t i = 0; i < w->n; i++) {
        w->y[i] = y[w->point[i]];
        w->largest = pm_larger(fabs(w->y[i]), w->largest);
    }
    /* A value near zero must not rule those before it; small ones where a series begins count as
       they are. */
    double reached = least;
    for (size_t i = 0; i < w->n; i++) {
        /* a zero before the others, as in fit_from_zero, must not rule them */
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
}

/* ---- the model ------------------------------------------------------------------------------- */

static void set_shape(struct pm_model *model, const struct pm_series_shape *shape) {
    model->shape = (uint8_t)((shape->beyond > 0 ? PM_SHAPE_INCREASING : 0) |
                             (shape->beyond < 0 ? PM_SHAPE_DECREASING : 0) |
                             (shape->curvature > 0 ? PM_SHAPE_CONVEX : 0) |
                             (shape->curvature < 0 ? PM_SHAPE_CONCAVE : 0));
}

static struct pm_model constant_model(const struct pm_series_workspace *w) {
    return pm_model_last_value(w->n, w->y, w->weight, w->relation);
}

/* Fills MODEL and returns true if the points have one value. */
static bool fit_equal(struct pm_series_workspace *w, struct pm_model *model) {
    for (size_t i = 0; i < w->n; i++)
        if (!(fabs(w->y[i] - w->y[w->n - 1]) <= 1e-12 * w->largest))
            return false;
    if (w->n < 2)
        return false;
    *model = constant_model(w);
    model->exact = w->y[0] == floor(w->y[0]);
    model->leave_one_out_error = model->relative_error;
    return true;
}

static void fill_model(struct pm_series_workspace *w, const struct pm_candidate *best,
                       struct pm_model *model) {
    double coefficients[MAX_TERMS];
    model->exact = pm_candidate_refine(w, best, coefficients);
    for (size_t j = 0; j < best->n_terms; j++)
        pm_model_add_term(model, w->design->index[best->terms[j]], coefficients[j]);
    model->relative_error = model->exact ? 0 : best->residual;
    model->leave_one_out_error = model->exact ? 0 : best->leave_one_out;
    model->sigma = model->exact ? 0
                                : pm_candidate_sigma(best, w->n, w->point, w->y,
                                                     &w->design->values[0][0], MAX_TERMS);
}

/* The first of the points from which on a distance stays the same within one block, for the larger
   half of the sizes at least; n if there is none. */
static size_t constant_from(const struct pm_series_workspace *w) {
    size_t least = pm_heuristics.constant_sizes, from = w->n;
    if (w->n < least || pm_fit_without(PM_STEP_CONSTANT_DISTANCE))
        return w->n;
    size_t most = w->n - (w->n / 2 > least ? w->n / 2 : least);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = w->n; i-- > 0;) {
        low = fmin(low, w->y[i]);
        high = fmax(high, w->y[i]);
        if (high - low > 2 * pm_heuristics.distance_error)
            break;
        from = i;
    }
    return from <= most ? from : w->n;
}

/* MOST, or less where a large basis would have too many subsets of so many functions. */
static size_t affordable_terms(size_t n_basis, size_t most) {
    double choices = 1, subsets = 0; /* of exactly, and of at most so many functions */
    for (size_t k = 1; k <= n_basis; k++) {
        choices *= (double)(n_basis - k + 1) / (double)k;
        subsets += choices;
        if (subsets > (double)pm_heuristics.most_subsets)
            return most < k - 1 ? most : k - 1;
    }
    return most;
}

/* The best candidate for the points taken; false if there is none. */
static bool fit_points(struct pm_series_workspace *w, enum pm_series_kind kind, bool after_onset,
                       struct pm_series_shape *shape, struct pm_candidate *best) {
    size_t n_basis = w->design->n_basis, most = w->n - 1;
    if (w->n < 3)
        return false;
    if (w->n < pm_heuristics.enough_sizes)
        most = after_onset ? (w->y[0] == 0 ? w->n - 1 : pm_heuristics.onset_terms)
                           : pm_heuristics.few_terms;
    if (kind == PM_SERIES_DISTANCE) {
        most = most > pm_heuristics.distance_terms ? pm_heuristics.distance_terms : most;
        n_basis = w->design->n_gentle;
    }
    most = affordable_terms(n_basis, most);
    *shape = pm_series_shape_of(w, kind);
    return pm_shape_choose(w, pm_candidates_rank(w, n_basis, most), shape, best);
}

/* The best candidate of the alternatives in place of BEST where it is worth its price, from the
   sizes FROM on; the workspace that has it. */
static struct pm_series_workspace *search(struct pm_series_workspace *w, const double *y,
                                          size_t from, enum pm_series_kind kind, bool after_onset,
                                          struct pm_series_shape *shape,
                                          struct pm_candidate *best) {
    struct pm_series_workspace *chosen = w;
    double least = best->score; /* over the gain */
    for (size_t a = 0; a < w->design->n_alternatives; a++) {
        struct pm_series_workspace *other = w->alternatives[a];
        double gain = other->design->gain;
        struct pm_series_shape its_shape;
        struct pm_candidate candidate;
        if (kind == PM_SERIES_DISTANCE && other->design->counts_only)
            continue;
        take_points(other, y, from, kind);
        if (!fit_points(other, kind, after_onset, &its_shape, &candidate) ||
            candidate.score >= gain * least)
            continue;
        least = candidate.score / gain;
        *best = candidate;
        *shape = its_shape;
        chosen = other;
    }
    return chosen;
}

static void set_model(struct pm_series_workspace *w, const struct pm_candidate *best,
                      const struct pm_series_shape *shape, struct pm_model *model) {
    model->n_points = (uint16_t)w->n;
    fill_model(w, best, model);
    set_shape(model, shape);
}

/* A count that is zero below size number FROM, as (m − 1)·m² is below m = 2: the last size at which
   it is zero is a point of it, too, and with few others the most informative one.  Where the data
   take that point much better or as well, MODEL is filled; the points taken are those from FROM on.
 */
static bool fit_from_zero(struct pm_series_workspace *w, const double *y, size_t from,
                          struct pm_model *model) {
    struct pm_series_shape shape, without_shape;
    struct pm_candidate best, without;
    bool one = fit_points(w, PM_SERIES_COUNT, true, &without_shape, &without);
    take_points(w, y, from - 1, PM_SERIES_COUNT);
    if (fit_equal(w, model)) {
        model->n_points = (uint16_t)w->n;
        return true;
    }
    if (fit_points(w, PM_SERIES_COUNT, true, &shape, &best) &&
        (!one || best.score < without.score)) {
        set_model(w, &best, &shape, model);
        return true;
    }
    take_points(w, y, from, PM_SERIES_COUNT);
    return false;
}

void pm_series_fit(struct pm_series_workspace *w, const double *y, enum pm_series_kind kind,
                   struct pm_model *model) {
    if (w->surface) {
        pm_surface_fit(w->surface, y, kind, model);
        return;
    }
    *model = (struct pm_model){.leave_one_out_error = NAN};
    size_t from = 0, n_sizes = w->design->n;
    while (from < n_sizes && (isnan(y[from]) || (kind != PM_SERIES_DISTANCE && y[from] == 0)))
        from++;
    if (from < n_sizes && kind != PM_SERIES_DISTANCE && pm_fit_without(PM_STEP_COUNTS_FROM_ONSET))
        from = 0;
    if (from == n_sizes) {
        *model = pm_model_zero(n_sizes);
        return;
    }
    take_points(w, y, from, kind);
    model->n_points = (uint16_t)w->n;
    if (fit_equal(w, model))
        return;
    if (kind == PM_SERIES_DISTANCE && constant_from(w) < w->n) {
        *model = constant_model(w);
        return;
    }

    struct pm_series_shape shape, other_shape;
    struct pm_candidate best, other;
    bool after_onset = w->n < n_sizes && w->n < pm_heuristics.enough_sizes;
    if (after_onset && kind != PM_SERIES_DISTANCE && from > 0 &&
        !pm_fit_without(PM_STEP_LAST_ZERO) && fit_from_zero(w, y, from, model))
        return;
    if (!fit_points(w, kind, after_onset, &shape, &best)) {
        *model = constant_model(w);
        return;
    }
    struct pm_series_workspace *chosen = search(w, y, from, kind, after_onset, &shape, &best);
    /* The smallest size may be of another kind: arrays so small that they come from another part of
       memory, a loop that is skipped.  It is left out where the rest then agrees far better. */
    bool enough = w->n > pm_heuristics.enough_sizes ||
                  (kind == PM_SERIES_DISTANCE && w->n == pm_heuristics.enough_sizes);
    if (enough && !pm_fit_without(PM_STEP_SMALLEST_SIZE)) {
        take_points(w, y, from + 1, kind);
        double limit = pm_heuristics.smallest_gain * best.score;
        bool hopeful = pm_candidates_least_score(w, w->design->n_basis) < limit;
        if (hopeful && fit_equal(w, model)) {
            model->exact = false; /* not at every size */
            model->n_points = (uint16_t)w->n;
            return;
        }
        if (hopeful && fit_points(w, kind, after_onset, &other_shape, &other) &&
            other.score < limit) {
            best = other;
            shape = other_shape;
            chosen = w;
        } else {
            take_points(w, y, from, kind);
        }
    }
    bool left_out = chosen->n < model->n_points;
    set_model(chosen, &best, &shape, model);
    model->exact &= !left_out; /* not at every size */
}

double pm_series_predictability_within(struct pm_series_workspace *w, const double *y, size_t from,
                                       double accepted, double hopeless) {
    if (w->surface)
        return pm_surface_predictability(w->surface, y);
    take_points(w, y, from, PM_SERIES_COUNT);
    if (w->largest == 0)
        return 0;
    if (w->n < 2)
        return 1;
    size_t n_basis = w->design->n_gentle;
    return pm_candidates_error(w, n_basis, affordable_terms(n_basis, w->n - 1), accepted, hopeless);
}

double pm_series_predictability(struct pm_series_workspace *w, const double *y, size_t from) {
    return pm_series_predictability_within(w, y, from, -1, INFINITY);
}
