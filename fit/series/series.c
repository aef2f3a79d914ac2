/* Fitting one series.

   Model: y(x) = Σ cᵢ·fᵢ(x), signed coefficients, least squares of the residuals divided by the
   values, so that relative error counts over orders of magnitude:  min Σ ((y(x_s) − y_s) / |y_s|)².
   Every subset of the basis is a candidate (subsets.c); the best one that has the shape of the
   data, free or under constraints (shape.c), is the model.  Another basis may have a better one: it
   is taken where its score is so much better that the design's gain is met.

   Exact polynomials are looked for first (exact.c).  Few sizes make a careful model: below five,
   two terms at most; a series that is zero at so many sizes that fewer than five remain, one term.
   Source: Marin & Mellor-Crummey 2004, section 2.3.1; signed coefficients instead of their
   restrictions, because exact loop counts such as (n−2)³ need them. */
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/series/private.h"

/* The same where the quantity sets in after the first size. */
enum { onset_terms = 1 };

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

/* What only fits in several parameters need. */
static void allocate_several(struct pm_series_workspace *w) {
    const struct pm_design *d = w->design;
    size_t kinds = 1 + 2 * d->n_axes;
    w->found = pm_alloc(PM_KEPT_SETS, sizeof *w->found);
    w->owned_rows = pm_alloc(kinds * MAX_TERMS * d->place_stride, sizeof *w->owned_rows);
    w->place_rows = w->owned_rows;
    w->remaining = pm_alloc((d->n_basis + 1) * w->stride, sizeof *w->remaining);
    w->square = pm_alloc(d->n_basis, sizeof *w->square);
    w->open = pm_alloc(d->n_basis, sizeof *w->open);
    w->depths = pm_alloc(2 * (PM_FIT_MAX_AXES * MAX_TERMS + 1) * d->n, sizeof *w->depths);
}

struct pm_series_workspace *pm_series_workspace_new(const struct pm_design *d) {
    struct pm_series_workspace *w = pm_alloc(1, sizeof *w);
    size_t n_terms = d->n_basis < MAX_TERMS ? d->n_basis : MAX_TERMS, stride = d->stride;
    size_t n_ranked = d->n_axes > 1 ? PM_KEPT_SETS : (size_t)1 << d->n_basis;
    size_t n_constraints = (1 + 2 * d->n_axes) * d->place_stride;
    w->design = d;
    w->stride = w->solved.stride = stride;
    pm_points_allocate(w);
    w->line = pm_alloc(2 * d->n, sizeof *w->line);
    w->ranked = pm_alloc(n_ranked, sizeof *w->ranked);
    double **rows[] = {&w->y, &w->weight, &w->relation, &w->target, &w->tolerated};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = pm_alloc(stride, sizeof **rows[i]);
    w->solved.columns = pm_alloc(n_terms * stride, sizeof *w->solved.columns);
    w->signs = pm_alloc(n_constraints, sizeof *w->signs);
    w->other_signs = pm_alloc(n_constraints, sizeof *w->other_signs);
    w->normals = pm_alloc((n_terms + 1) * n_constraints, sizeof *w->normals);
    w->exact_values = pm_alloc(n_terms * d->n, sizeof *w->exact_values);
    for (size_t way = 0; way < 1 + PM_FIT_MAX_AXES; way++)
        w->penalty_power[way] = log(pm_heuristics.growth_penalty) / log(d->reach[way]);
    w->n_free_of_penalty = pm_fit_without(PM_STEP_HIGH_POWER_PENALTY) ? d->n_basis : d->n_gentle;
    if (d->n_axes > 1) {
        allocate_several(w);
    } else {
        w->tree = pm_tree_new(d);
        w->place_rows = &d->axes->shape[0][0][0];
    }
    w->alternatives = pm_alloc(d->n_alternatives + 1, sizeof(struct pm_series_workspace *));
    for (size_t a = 0; a < d->n_alternatives; a++)
        w->alternatives[a] = pm_series_workspace_new(d->alternatives[a]);
    return w;
}

void pm_series_workspace_free(struct pm_series_workspace *w) {
    if (!w)
        return;
    for (size_t a = 0; a < w->design->n_alternatives; a++)
        pm_series_workspace_free(w->alternatives[a]);
    pm_tree_free(w->tree);
    pm_points_free(w);
    void *const owned[] = {w->alternatives, w->line,        w->ranked,        w->y,
                           w->weight,       w->relation,    w->target,        w->tolerated,
                           w->signs,        w->other_signs, w->normals,       w->exact_values,
                           w->found,        w->owned_rows,  w->remaining,     w->square,
                           w->open,         w->depths,      w->solved.columns};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(w);
}

/* ---- the model ------------------------------------------------------------------------------- */

static uint8_t flags_of(const struct pm_series_workspace *w, const struct pm_series_shape *shape) {
    bool growing = true, falling = true, convex = true, concave = true;
    for (size_t a = 0; a < w->design->n_axes; a++) {
        const struct pm_direction *direction = &shape->axes[a];
        growing &= direction->beyond >= 0;
        falling &= direction->beyond <= 0;
        convex &= direction->curvature > 0;
        concave &= direction->curvature < 0;
    }
    return (uint8_t)((growing && !falling ? PM_SHAPE_INCREASING : 0) |
                     (falling && !growing ? PM_SHAPE_DECREASING : 0) |
                     (convex ? PM_SHAPE_CONVEX : 0) | (concave ? PM_SHAPE_CONCAVE : 0));
}

struct pm_model pm_points_constant(const struct pm_series_workspace *w) {
    return pm_model_last_value(w->n, w->y, w->weight, w->relation);
}

bool pm_points_equal(const struct pm_series_workspace *w, struct pm_model *model) {
    for (size_t i = 0; i < w->n; i++)
        if (!(fabs(w->y[i] - w->y[w->n - 1]) <= pm_heuristics.rounding * w->largest))
            return false;
    if (w->n < 2)
        return false;
    *model = pm_points_constant(w);
    model->exact = w->y[0] == floor(w->y[0]);
    model->leave_one_out_error = model->relative_error;
    return true;
}

bool pm_points_settle(const struct pm_series_workspace *w) {
    size_t least = pm_heuristics.constant_sizes;
    if (w->n < least || pm_fit_without(PM_STEP_CONSTANT_DISTANCE))
        return false;
    size_t most = w->n - (w->n / 2 > least ? w->n / 2 : least), from = w->n;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = w->n; i-- > 0; from = i) {
        low = fmin(low, w->y[i]);
        high = fmax(high, w->y[i]);
        if (high - low > 2 * pm_heuristics.distance_error)
            break;
    }
    return from <= most;
}

void pm_set_model(struct pm_series_workspace *w, const struct pm_candidate *best,
                  const struct pm_series_shape *shape, struct pm_model *model) {
    double coefficients[MAX_TERMS];
    model->n_points = (uint16_t)w->n;
    model->exact = pm_candidate_refine(w, best, coefficients);
    for (size_t j = 0; j < best->n_terms; j++)
        pm_model_add_term(model, w->design->basis[best->terms[j]].index, coefficients[j]);
    model->relative_error = model->exact ? 0 : best->residual;
    model->leave_one_out_error = model->exact ? 0 : best->leave_one_out;
    model->sigma = model->exact ? 0 : pm_candidate_sigma(w, best);
    model->shape = flags_of(w, shape);
}

/* ---- one parameter --------------------------------------------------------------------------- */

/* MOST, or less where a large basis would have too many subsets of so many functions. */
static size_t affordable_terms(size_t n_basis, size_t most) {
    double choices = 1, subsets = 0; /* of exactly, and of at most so many functions */
    for (size_t k = 1; k <= n_basis; k++) {
        choices *= (double)(n_basis - k + 1) / (double)k;
        subsets += choices;
        if (subsets > (double)PM_MOST_SUBSETS)
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
        most = after_onset ? (w->y[0] == 0 ? w->n - 1 : onset_terms) : pm_heuristics.few_terms;
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
        if ((kind == PM_SERIES_DISTANCE && other->design->counts_only) ||
            pm_score(0, 1, false) >= gain * least)
            continue;
        pm_points_take(other, y, from, kind, false);
        if (pm_candidates_least_score(other, other->design->n_basis) >= gain * least ||
            !fit_points(other, kind, after_onset, &its_shape, &candidate) ||
            candidate.score >= gain * least)
            continue;
        least = candidate.score / gain;
        *best = candidate;
        *shape = its_shape;
        chosen = other;
    }
    return chosen;
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
    pm_points_take(w, y, from - 1, PM_SERIES_COUNT, false);
    if (pm_points_equal(w, model)) {
        model->n_points = (uint16_t)w->n;
        return true;
    }
    if (fit_points(w, PM_SERIES_COUNT, true, &shape, &best) &&
        (!one || best.score < without.score)) {
        pm_set_model(w, &best, &shape, model);
        return true;
    }
    pm_points_take(w, y, from, PM_SERIES_COUNT, false);
    return false;
}

/* *EXPLAINS_ROUNDING: the model, of one parameter, is nearer to the values than those are to what
   was rounded to give them. */
static void fit(struct pm_series_workspace *w, const double *y, enum pm_series_kind kind,
                struct pm_model *model, bool *explains_rounding) {
    *explains_rounding = false;
    if (w->design->n_axes > 1) {
        pm_several_fit(w, y, kind, model);
        return;
    }
    *model = (struct pm_model){.leave_one_out_error = NAN};
    size_t from = 0, n_sizes = w->design->n;
    while (from < n_sizes && (isnan(y[from]) || (kind != PM_SERIES_DISTANCE && y[from] == 0)))
        from++;
    if (from < n_sizes && kind != PM_SERIES_DISTANCE && pm_fit_without(PM_STEP_ONSET))
        from = 0;
    if (from == n_sizes) {
        *model = pm_model_zero(n_sizes);
        return;
    }
    pm_points_take(w, y, from, kind, false);
    model->n_points = (uint16_t)w->n;
    if (pm_points_equal(w, model))
        return;
    if (kind == PM_SERIES_DISTANCE && pm_points_settle(w)) {
        *model = pm_points_constant(w);
        return;
    }

    struct pm_series_shape shape, other_shape;
    struct pm_candidate best, other;
    bool after_onset = w->n < n_sizes && w->n < pm_heuristics.enough_sizes;
    if (after_onset && kind != PM_SERIES_DISTANCE && from > 0 && !pm_fit_without(PM_STEP_ONSET) &&
        fit_from_zero(w, y, from, model))
        return;
    if (!fit_points(w, kind, after_onset, &shape, &best)) {
        *model = pm_points_constant(w);
        return;
    }
    struct pm_series_workspace *chosen = search(w, y, from, kind, after_onset, &shape, &best);
    /* The smallest size may be of another kind: arrays so small that they come from another part of
       memory, a loop that is skipped.  It is left out where the rest then agrees far better. */
    bool enough = w->n > pm_heuristics.enough_sizes ||
                  (kind == PM_SERIES_DISTANCE && w->n == pm_heuristics.enough_sizes);
    if (enough && !pm_fit_without(PM_STEP_SMALLEST_SIZE)) {
        pm_points_take(w, y, from + 1, kind, false);
        double limit = pm_heuristics.smallest_gain * best.score;
        bool hopeful = pm_candidates_least_score(w, w->design->n_basis) < limit;
        if (hopeful && pm_points_equal(w, model)) {
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
            pm_points_take(w, y, from, kind, false);
        }
    }
    bool left_out = chosen->n < model->n_points;
    pm_set_model(chosen, &best, &shape, model);
    *explains_rounding = !model->exact && best.emphasised < best.rounding;
    model->exact &= !left_out; /* not at every size */
}

static void score_rounding(struct pm_series_workspace *w, bool is_rounded) {
    w->is_rounded = is_rounded;
    for (size_t a = 0; a < w->design->n_alternatives; a++)
        w->alternatives[a]->is_rounded = is_rounded;
}

void pm_series_fit(struct pm_series_workspace *w, const double *y, enum pm_series_kind kind,
                   struct pm_model *model) {
    bool explains_rounding;
    fit(w, y, kind, model, &explains_rounding);
}

/* Small whole numbers are met by functions that have nothing to do with them: four terms meet five
   of 20, 24, 30, 34, 38, 44.  Unless the model is exact, rounding then counts as an error. */
void pm_series_fit_executions(struct pm_series_workspace *w, const double *y,
                              struct pm_model *model) {
    bool explains_rounding;
    fit(w, y, PM_SERIES_COUNT, model, &explains_rounding);
    if (!explains_rounding || pm_fit_without(PM_STEP_ROUNDING))
        return;
    score_rounding(w, true);
    fit(w, y, PM_SERIES_COUNT, model, &explains_rounding);
    score_rounding(w, false);
}

double pm_series_predictability_within(struct pm_series_workspace *w, const double *y, size_t from,
                                       double accepted, double hopeless) {
    if (w->design->n_axes > 1)
        return pm_several_predictability(w, y, from);
    pm_points_take(w, y, from, PM_SERIES_COUNT, false);
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
