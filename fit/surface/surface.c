/* Fitting one series in several parameters.

   Candidates are sets of products.  Each is solved by least squares over all points at once,
       min Σ (w_k (y(p_k) − y_k))²,  w_k = e_k / |y_k|,
   where e_k grows with the size of the run, so that relative error counts, and more at the larger
   runs; it is judged by its leave-one-out error times a penalty for each term, as in one parameter
   (series/series.c).  The sets come from two places: models in one parameter for each value of the
   others, with models of their coefficients (hierarchical.c), and selection among all products
   (selection.c).  The better wins.  Solving a set of the first kind again over all points
   gives the same coefficients where these are exact, and better ones where lines are short.

   What reproduces every value with small rational coefficients is exact (exact.c) and
   kept as it is.  Others are kept in shape (shape.c).
   Source: Marin's thesis (Rice University, 2003), section 4.1.1 (models of coefficients); the rest
   is of this project. */
#include "fit/surface/private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

enum {
    MAX_AXES = PM_SURFACE_MAX_AXES,
    MAX_TERMS = PM_MODEL_MAX_TERMS,
    MAX_ORDERS = 24,
    MAX_CANDIDATES = MAX_ORDERS + 2
};

struct pm_surface_workspace *pm_surface_workspace_new(const struct pm_surface *s) {
    struct pm_surface_workspace *w = pm_alloc(1, sizeof *w);
    size_t n_rows = s->n_grid * (1 + 2 * s->n_axes);
    w->surface = s;
    w->point = pm_alloc(s->n, sizeof *w->point);
    w->y = pm_alloc(s->n, sizeof *w->y);
    w->weight = pm_alloc(s->n, sizeof *w->weight);
    w->emphasis = pm_alloc(s->n, sizeof *w->emphasis);
    w->columns = pm_alloc(s->n, sizeof *w->columns);
    w->remaining = pm_alloc(s->n * (s->n_products + 1), sizeof *w->remaining);
    w->square = pm_alloc(s->n_products, sizeof *w->square);
    w->open = pm_alloc(s->n_products, sizeof *w->open);
    w->rows = pm_alloc(n_rows * MAX_TERMS, sizeof *w->rows);
    w->bounds = pm_alloc(n_rows, sizeof *w->bounds);
    w->hierarchical = pm_alloc(2 * (MAX_AXES * MAX_TERMS + 1) * s->n, sizeof *w->hierarchical);
    w->places = pm_alloc(2 * s->n, sizeof *w->places);
    return w;
}

void pm_surface_workspace_free(struct pm_surface_workspace *w) {
    if (!w)
        return;
    free(w->point);
    free(w->y);
    free(w->weight);
    free(w->emphasis);
    free(w->columns);
    free(w->remaining);
    free(w->square);
    free(w->open);
    free(w->rows);
    free(w->bounds);
    free(w->hierarchical);
    free(w->places);
    free(w);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* True if no point with a value lies below point K on all axes: what is zero there sets in later.
 */
static bool is_before_onset(const struct pm_surface *s, const double *y, size_t k) {
    for (size_t other = 0; other < s->n; other++) {
        bool below = y[other] > 0;
        for (size_t i = 0; below && i < s->n_axes; i++)
            below = s->level[other][i] <= s->level[k][i];
        if (below)
            return false;
    }
    return true;
}

static void count_levels(struct pm_surface_workspace *w) {
    const struct pm_surface *s = w->surface;
    for (size_t i = 0; i < s->n_axes; i++) {
        w->n_levels[i] = 0;
        for (size_t level = 0; level < s->axes[i].n_levels; level++) {
            bool used = false;
            for (size_t k = 0; !used && k < w->n; k++)
                used = s->level[w->point[k]][i] == level;
            w->n_levels[i] += used;
        }
    }
}

/* How the data grow along each axis, on the line through the largest point: from its middle on. */
static void measure_growth(struct pm_surface_workspace *w) {
    const struct pm_surface *s = w->surface;
    for (size_t i = 0; i < s->n_axes; i++) {
        const size_t *line = s->projections[((1u << s->n_axes) - 1) & ~(1u << i)].of;
        size_t last = w->point[w->n - 1], middle = w->n - 1, n = 0, wanted;
        w->growth[i] = NAN;
        for (size_t k = 0; k < w->n; k++)
            n += line[w->point[k]] == line[last] && s->level[w->point[k]][i] < s->level[last][i];
        wanted = n / 2; /* points of a line stand by ascending level */
        for (size_t k = 0; k < w->n && n; k++)
            if (line[w->point[k]] == line[last] && s->level[w->point[k]][i] < s->level[last][i] &&
                wanted-- == 0)
                middle = k;
        if (n == 0 || !(w->y[middle] > 0) || !(w->y[w->n - 1] > 0))
            continue;
        const double *levels = s->axes[i].levels;
        w->growth[i] = log(w->y[w->n - 1] / w->y[middle]) /
                       log(levels[s->level[last][i]] / levels[s->level[w->point[middle]][i]]);
    }
}

/* Takes the points of Y that are known; FROM_ONSET: without zeros before the onset.  True if any of
   these was left out. */
static bool take_points(struct pm_surface_workspace *w, const double *y, enum pm_series_kind kind,
                        bool from_onset) {
    const struct pm_surface *s = w->surface;
    double least = kind == PM_SERIES_DISTANCE ? 1 : DBL_MIN, squares = 0;
    bool left_out = false;
    w->kind = kind;
    w->most_power = kind == PM_SERIES_DISTANCE ? pm_heuristics.distance_power : INFINITY;
    w->quantum = kind == PM_SERIES_DISTANCE ? pm_heuristics.distance_error : 0;
    w->n = 0;
    w->largest = 0;
    for (size_t k = 0; k < s->n; k++) {
        if (isnan(y[k]))
            continue;
        if (from_onset && y[k] == 0 && is_before_onset(s, y, k)) {
            left_out = true;
            continue;
        }
        w->point[w->n] = k;
        w->y[w->n++] = y[k];
        w->largest = fmax(w->largest, fabs(y[k]));
        squares += s->size[k] * s->size[k];
    }
    for (size_t i = 0; i < w->n; i++) {
        double small =
            w->y[i] == 0 ? pm_heuristics.surface_small_zero : pm_heuristics.surface_small;
        w->emphasis[i] = pm_fit_without(PM_STEP_EMPHASIS)
                             ? 1
                             : s->size[w->point[i]] / sqrt(squares / (double)w->n);
        w->weight[i] = w->emphasis[i] / fmax(fmax(fabs(w->y[i]), small * w->largest), least);
    }
    if (w->n) {
        count_levels(w);
        measure_growth(w);
    }
    return left_out;
}

/* ---- one candidate --------------------------------------------------------------------------- */

bool pm_surface_usable(const struct pm_surface_workspace *w, size_t j, bool for_exact) {
    const struct pm_surface_product *product = &w->surface->products[j];
    if (product->for_exact && !for_exact)
        return false;
    return product->power <= w->most_power &&
           !(w->kind == PM_SERIES_DISTANCE && product->high_power);
}

bool pm_surface_allowed(const struct pm_surface_workspace *w, const struct pm_candidate *c,
                        bool for_exact) {
    const struct pm_surface *s = w->surface;
    for (size_t i = 0; i < s->n_axes; i++) {
        unsigned functions = 1;
        for (size_t j = 0; j < c->n_terms; j++)
            functions |= 1u << s->products[c->terms[j]].functions[i];
        size_t n = (size_t)__builtin_popcount(functions), levels = w->n_levels[i];
        size_t most = levels < 2                                          ? 1
                      : levels < pm_heuristics.enough_sizes && !for_exact ? pm_heuristics.few_terms
                                                                          : levels - 1;
        if (n > most)
            return false;
    }
    return c->n_terms < w->n && c->n_terms <= MAX_TERMS;
}

/* The penalty for a candidate's growth when the axes of the set AXES grow to the end of the grid,
   from the largest point on, against that of the data. */
static double penalty_along(const struct pm_surface_workspace *w, const struct pm_candidate *c,
                            unsigned axes) {
    const struct pm_surface *s = w->surface;
    size_t last = w->point[w->n - 1];
    double end = 0, far = 0, steps = 0, of_data = 0;
    for (size_t i = 0; i < s->n_axes; i++)
        if (axes >> i & 1) {
            const struct pm_surface_axis *a = &s->axes[i];
            double step = log(a->grid[a->n_grid - 1] / a->levels[s->level[last][i]]);
            steps += step;
            of_data += step * fmax(w->growth[i], 0);
            if (isnan(w->growth[i]))
                return 1;
        }
    for (size_t j = 0; j < c->n_terms; j++) {
        double at_end = s->columns[last * s->n_products + c->terms[j]], at_far = at_end;
        for (size_t i = 0; i < s->n_axes; i++) {
            const struct pm_surface_axis *a = &s->axes[i];
            size_t f = s->products[c->terms[j]].functions[i];
            double here = a->values[s->level[last][i]][f] / a->scale[f];
            if ((axes >> i & 1) && here != 0)
                at_far *= a->grid_values[a->n_grid - 1][f] / here;
        }
        end += c->coefficients[j] * at_end;
        far += c->coefficients[j] * at_far;
    }
    if (!(end > 0) || !(far > 0))
        return 1;
    double n_axes = __builtin_popcount(axes);
    double excess = n_axes * (log(far / end) - of_data) / steps - pm_heuristics.free_growth;
    return excess > 0 ? pow(pm_heuristics.growth_penalty, excess) : 1;
}

/* A candidate that grows much faster beyond the data than the data themselves do must pay for it,
   as in series/candidates.c; along each axis, and along all of them together. */
static double growth_penalty(const struct pm_surface_workspace *w, const struct pm_candidate *c) {
    if (pm_fit_without(PM_STEP_GROWTH_PENALTY))
        return 1;
    double penalty = penalty_along(w, c, (1u << w->surface->n_axes) - 1);
    for (size_t i = 0; i < w->surface->n_axes; i++)
        penalty = fmax(penalty, penalty_along(w, c, 1u << i));
    return penalty;
}

void pm_surface_judge(const struct pm_surface_workspace *w, const double *rotated,
                      struct pm_candidate *c) {
    double residual_sum = 0, left_out_sum = 0, emphasised_sum = 0;
    bool high_power = false;
    for (size_t i = 0; i < w->n; i++) {
        double redundancy, residual = pm_residual(c->n_terms, w->columns[i], w->y[i] * w->weight[i],
                                                  rotated, &redundancy);
        double left_out = residual / fmax(redundancy, pm_heuristics.least_redundancy);
        residual_sum += pow(residual / w->emphasis[i], 2);
        left_out_sum += pow(left_out / w->emphasis[i], 2);
        emphasised_sum += pow(fmax(fabs(left_out) - w->quantum * w->weight[i], 0), 2);
    }
    for (size_t j = 0; j < c->n_terms; j++)
        high_power |= w->surface->products[c->terms[j]].high_power;
    c->residual = sqrt(residual_sum / (double)w->n);
    c->leave_one_out = sqrt(left_out_sum / (double)w->n);
    c->emphasised = sqrt(emphasised_sum / (double)w->n);
    c->score = fmax(c->emphasised, pm_heuristics.least_error) *
               pow(pm_heuristics.surface_term_penalty, (double)c->n_terms) *
               (high_power && !pm_fit_without(PM_STEP_HIGH_POWER_PENALTY)
                    ? pm_heuristics.high_power_penalty
                    : 1) *
               growth_penalty(w, c);
}

bool pm_surface_solve(struct pm_surface_workspace *w, struct pm_candidate *c) {
    const struct pm_surface *s = w->surface;
    size_t n = c->n_terms;
    double rotated[MAX_TERMS];
    if (n == 0 || n >= w->n || n > MAX_TERMS)
        return false;
    for (size_t i = 0; i < w->n; i++)
        for (size_t j = 0; j < n; j++)
            w->columns[i][j] = s->columns[w->point[i] * s->n_products + c->terms[j]] * w->weight[i];
    if (!pm_orthonormalise(w->n, n, w->columns, w->triangle))
        return false;
    for (size_t i = 0; i < w->n; i++) {
        double leverage = 0;
        for (size_t j = 0; j < n; j++)
            leverage += w->columns[i][j] * w->columns[i][j];
        if (leverage > 1 - pm_heuristics.least_redundancy)
            return false;
    }
    pm_rotate(w->n, n, w->columns, w->y, w->weight, rotated);
    pm_back_substitute(n, w->triangle, rotated, c->coefficients);
    pm_surface_judge(w, rotated, c);
    return true;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Fills MODEL and returns true if all points have one value, distances within a block. */
static bool fit_constant(const struct pm_surface_workspace *w, struct pm_model *model) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < w->n; i++) {
        low = fmin(low, w->y[i]);
        high = fmax(high, w->y[i]);
    }
    bool equal = high - low <= 1e-12 * w->largest;
    if (w->n < 2 || (!equal && high - low > 2 * w->quantum))
        return false;
    *model = pm_model_last_value(w->n, w->y, w->weight, w->emphasis);
    model->exact = equal && low == floor(low);
    model->leave_one_out_error = equal ? model->relative_error : NAN;
    return true;
}

static bool fit_exactly(struct pm_surface_workspace *w, const struct pm_candidate *c,
                        struct pm_model *model) {
    double coefficients[MAX_TERMS];
    struct pm_candidate solved = *c;
    if (c->residual > pm_heuristics.rounding || pm_fit_without(PM_STEP_EXACT) ||
        !pm_surface_solve(w, &solved) || !pm_surface_exact(w, &solved, coefficients))
        return false;
    for (size_t j = 0; j < c->n_terms; j++)
        pm_model_add_term(model, w->surface->index[c->terms[j]], coefficients[j]);
    model->exact = true;
    model->leave_one_out_error = 0;
    model->n_points = (uint16_t)w->n;
    return true;
}

static size_t n_orders(const struct pm_surface *s) {
    static const size_t factorial[MAX_AXES + 1] = {1, 1, 2, 6, MAX_ORDERS};
    return factorial[s->n_axes];
}

static size_t most_terms(const struct pm_surface_workspace *w) {
    if (w->kind == PM_SERIES_DISTANCE)
        return w->surface->n_axes + 1;
    size_t most = 2 * w->n / 3;
    return most < MAX_TERMS ? most : MAX_TERMS;
}

/* Adds C, solved, to the N candidates by its score. */
static size_t insert(struct pm_candidate *candidates, size_t n, const struct pm_candidate *c) {
    size_t at = n;
    for (; at > 0 && candidates[at - 1].score > c->score; at--)
        candidates[at] = candidates[at - 1];
    candidates[at] = *c;
    return n + 1;
}

/* Sets of products, solved, best first; how many.  Ends with the first that is exact: then MODEL is
   filled and EXACT set. */
static size_t find_candidates(struct pm_surface_workspace *w, bool for_exact,
                              struct pm_candidate candidates[MAX_CANDIDATES],
                              struct pm_model *model, bool *exact) {
    struct pm_candidate c;
    size_t n = 0;
    *exact = false;
    for (size_t order = 0; w->kind == PM_SERIES_COUNT && !pm_fit_without(PM_STEP_HIERARCHICAL) &&
                           order < n_orders(w->surface);
         order++) {
        if (!pm_surface_hierarchical(w, for_exact, order, &c) ||
            !pm_surface_allowed(w, &c, for_exact) || !pm_surface_solve(w, &c))
            continue;
        if ((*exact = fit_exactly(w, &c, model)))
            return n;
        n = insert(candidates, n, &c);
    }
    for (int from_nested = 0; from_nested < 2 && !(pm_fit_without(PM_STEP_SELECTION) && n);
         from_nested++) {
        c.n_terms = 0;
        if (from_nested && n > 0)
            c = candidates[0];
        else if (from_nested)
            break;
        if (!pm_surface_select(w, for_exact, most_terms(w), &c))
            continue;
        if ((*exact = fit_exactly(w, &c, model)))
            return n;
        n = insert(candidates, n, &c);
    }
    return n;
}

/* Fills MODEL from the points taken; false if no candidate is of use. */
static bool fit_points(struct pm_surface_workspace *w, struct pm_model *model) {
    struct pm_candidate candidates[MAX_CANDIDATES], exact_only[MAX_CANDIDATES];
    bool exact, any_for_exact = false;
    size_t n = find_candidates(w, false, candidates, model, &exact);
    for (size_t j = 0; j < w->surface->n_products; j++)
        any_for_exact |= w->surface->products[j].for_exact;
    if (!exact && any_for_exact && w->kind == PM_SERIES_COUNT)
        find_candidates(w, true, exact_only, model, &exact);
    if (exact)
        return true;
    const struct pm_candidate *best = NULL;
    uint8_t best_shape = PM_SHAPE_FREE;
    for (size_t i = 0; i < n; i++) {
        uint8_t shape = PM_SHAPE_FREE;
        if (best && candidates[i].score >= best->score)
            break; /* constraints only make it worse */
        if (candidates[i].leave_one_out > pm_heuristics.rounding &&
            !pm_fit_without(PM_STEP_SHAPE) && !pm_surface_put_in_shape(w, &candidates[i], &shape))
            continue;
        if (best && candidates[i].score >= best->score)
            continue;
        best = &candidates[i];
        best_shape = shape;
    }
    if (!best)
        return false;
    for (size_t j = 0; j < best->n_terms; j++)
        pm_model_add_term(model, w->surface->index[best->terms[j]],
                          best->coefficients[j] / w->surface->products[best->terms[j]].scale);
    model->relative_error = best->residual;
    model->leave_one_out_error = best->leave_one_out;
    model->sigma =
        pm_candidate_sigma(best, w->n, w->point, w->y, w->surface->columns, w->surface->n_products);
    model->shape = best_shape;
    model->n_points = (uint16_t)w->n;
    return true;
}

void pm_surface_fit(struct pm_surface_workspace *w, const double *y, enum pm_series_kind kind,
                    struct pm_model *model) {
    *model = (struct pm_model){.leave_one_out_error = NAN};
    take_points(w, y, kind, false);
    if (w->largest == 0 && kind == PM_SERIES_COUNT) {
        *model = pm_model_zero(w->n);
        return;
    }
    if (fit_constant(w, model))
        return;
    if (kind == PM_SERIES_COUNT) {
        struct pm_candidate candidates[MAX_CANDIDATES];
        bool exact = false, any_zero = false;
        for (size_t k = 0; k < w->n; k++)
            any_zero |= w->y[k] == 0;
        if (any_zero)
            find_candidates(w, false, candidates, model, &exact);
        if (exact || (any_zero && take_points(w, y, kind, true) && fit_constant(w, model)))
            return;
    }
    if (w->n < pm_heuristics.enough_sizes || !fit_points(w, model))
        *model = pm_model_last_value(w->n, w->y, w->weight, w->emphasis);
}

double pm_surface_predictability(struct pm_surface_workspace *w, const double *y) {
    struct pm_candidate c = {0};
    take_points(w, y, PM_SERIES_DISTANCE, true); /* that kind: no fourth powers */
    w->quantum = 0;
    w->most_power = pm_heuristics.tried_power;
    if (w->largest == 0)
        return 0;
    size_t most = w->n / 2 < pm_heuristics.tried_terms ? w->n / 2 : pm_heuristics.tried_terms;
    return pm_surface_select(w, false, most, &c) ? c.emphasised : 1;
}
