/* Models in one parameter first, then models of their coefficients in the next (Marin's thesis,
   section 4.1.1): y(p, q) = Σ_t c_t(q) · f_t(p), where c_t(q) = Σ_u d_tu · g_u(q).

   A line is a set of points that differ in one axis only.  All lines get the same terms f_t, as the
   thesis's six models in MM "have the same general form": the subset of the axis's functions with
   the best leave-one-out error over all lines, in the scale of the values.  Each term's
   coefficients, one for each line, are then values over the other axes; their errors count by what
   they do to y.  A line that is too short for its terms says nothing of the coefficients.  Only the
   terms are redundancy: several.c solves for all coefficients over all points. */
#include <string.h>

#include "fit/series/private.h"

/* Of the lines may be too short for the terms. */
static const double short_lines = 0.5;
/* Functions of one axis that its models may have. */
enum { line_terms = 5 };
/* Lines long enough for the terms. */
enum { least_lines = 3 };

enum { MAX_TERMS = PM_MODEL_MAX_TERMS, MAX_AXES = PM_FIT_MAX_AXES };

/* What one call works on: values at the places of the projection on AXES. */
struct layer {
    unsigned axes; /* those that remain */
    size_t depth;
    const double *y, *weight; /* [place]; weight 0: not known */
};

struct hierarchy {
    struct pm_series_workspace *w;
    bool for_exact;
    size_t order[MAX_AXES];
    uint8_t factors[MAX_AXES]; /* of the term that is being followed */
    struct pm_candidate *candidate;
};

/* The points of line LINE (a place of the projection on the other axes): indices of places, and
   their levels on AXIS. */
static size_t take_line(const struct hierarchy *n, const struct layer *layer, size_t axis,
                        size_t line, size_t *places, size_t *levels) {
    const struct pm_design *d = n->w->design;
    const struct pm_projection *from = &d->projections[layer->axes];
    const struct pm_projection *to = &d->projections[layer->axes & ~(1u << axis)];
    size_t count = 0;
    for (size_t place = 0; place < from->n; place++) {
        if (to->of[from->point[place]] != line || !(layer->weight[place] > 0))
            continue;
        places[count] = place;
        levels[count++] = d->level[from->point[place]][axis];
    }
    return count;
}

struct line_fit {
    size_t n;                       /* points */
    double squares;                 /* of leave-one-out errors, weighted */
    double coefficients[MAX_TERMS]; /* of scaled functions */
    double weights[MAX_TERMS];      /* what an error of each does to the values */
};

/* Least squares of a line in the TERMS; false if it is too short: it needs a point more than terms.
 */
static bool fit_line(const struct hierarchy *n, const struct layer *layer, size_t axis, size_t line,
                     unsigned subset, struct line_fit *fit) {
    struct pm_series_workspace *w = n->w;
    const struct pm_axis *a = &w->design->axes[axis];
    size_t k = 0, *places = w->line, *levels = w->line + w->design->n;
    double rotated[MAX_TERMS], *target = pm_row(w, w->remaining, 0);
    fit->n = take_line(n, layer, axis, line, places, levels);
    if (fit->n < (size_t)__builtin_popcount(subset) + 1)
        return false;
    w->solved.n = pm_vector_padded(fit->n);
    for (size_t f = 0; f < a->n_functions; f++) {
        if (!(subset >> f & 1))
            continue;
        double *column = pm_row(w, w->solved.columns, k);
        for (size_t i = 0; i < w->solved.n; i++)
            column[i] =
                i < fit->n ? a->values[levels[i]][f] / a->scale[f] * layer->weight[places[i]] : 0;
        fit->weights[k++] = sqrt(pm_vector_dot(w->solved.n, column, column) / (double)fit->n);
    }
    for (size_t i = 0; i < w->solved.n; i++)
        target[i] = i < fit->n ? layer->y[places[i]] * layer->weight[places[i]] : 0;
    bool independent = pm_orthonormalise(&w->solved, k);
    if (independent)
        pm_project(&w->solved, k, target, rotated);
    w->solved.n = w->n_padded;
    if (!independent)
        return false;
    pm_back_substitute(&w->solved, k, rotated, fit->coefficients);
    fit->squares = 0;
    for (size_t i = 0; i < fit->n; i++) {
        double redundancy, residual = pm_residual(&w->solved, k, i, target, rotated, &redundancy);
        if (redundancy < pm_heuristics.least_redundancy)
            return false;
        fit->squares += residual * residual / (redundancy * redundancy);
    }
    return true;
}

static bool is_usable(const struct hierarchy *n, const struct pm_axis *a, unsigned subset) {
    for (size_t f = 0; f < a->n_functions; f++)
        if ((subset >> f & 1) && a->for_exact[f] && !n->for_exact)
            return false;
    return true;
}

/* Functions that a model of the line may have: fewer than levels; two where these are few. */
static size_t most_functions(const struct hierarchy *n, size_t axis) {
    size_t levels = n->w->at->n_levels[axis];
    size_t most =
        levels < pm_heuristics.enough_sizes && !n->for_exact ? pm_heuristics.few_terms : levels - 1;
    return most < line_terms ? most : line_terms;
}

/* The common terms of all lines along AXIS, 0 if none is of use. */
static unsigned common_terms(const struct hierarchy *n, const struct layer *layer, size_t axis) {
    const struct pm_design *d = n->w->design;
    const struct pm_axis *a = &d->axes[axis];
    size_t n_lines = d->projections[layer->axes & ~(1u << axis)].n;
    double best_score = INFINITY;
    unsigned best = 0;
    for (unsigned subset = 1; subset < 1u << a->n_functions; subset++) {
        size_t k = (size_t)__builtin_popcount(subset), n_points = 0, n_fitted = 0;
        double squares = 0;
        if (k > most_functions(n, axis) || !is_usable(n, a, subset))
            continue;
        for (size_t line = 0; line < n_lines; line++) {
            struct line_fit fit;
            if (!fit_line(n, layer, axis, line, subset, &fit))
                continue;
            n_fitted++;
            n_points += fit.n;
            squares += fit.squares;
        }
        if (n_fitted == 0 || (n_lines > 1 && (n_fitted < least_lines ||
                                              (double)n_fitted < short_lines * (double)n_lines)))
            continue;
        double score = fmax(sqrt(squares / (double)n_points), pm_heuristics.rounding) *
                       (1 + pm_heuristics.term_penalty * (double)k);
        if (score < best_score) {
            best_score = score;
            best = subset;
        }
    }
    return best;
}

/* Adds the product of the functions that were followed. */
static bool add_product(const struct hierarchy *n) {
    const struct pm_design *d = n->w->design;
    struct pm_candidate *c = n->candidate;
    for (size_t j = 0; j < d->n_basis; j++) {
        if (memcmp(d->basis[j].factors, n->factors, d->n_axes * sizeof *n->factors) != 0)
            continue;
        if (c->n_terms == MAX_TERMS)
            return false;
        size_t at = c->n_terms++;
        for (; at > 0 && c->terms[at - 1] > j; at--)
            c->terms[at] = c->terms[at - 1];
        c->terms[at] = j;
        return true;
    }
    return false; /* it grows too much */
}

static bool is_negligible(const struct hierarchy *n, const struct layer *layer) {
    for (size_t place = 0; place < n->w->design->projections[layer->axes].n; place++)
        if (fabs(layer->y[place]) * layer->weight[place] > pm_heuristics.rounding)
            return false;
    return true;
}

static bool descend(struct hierarchy *n, const struct layer *layer) {
    struct pm_series_workspace *w = n->w;
    const struct pm_design *d = w->design;
    if (is_negligible(n, layer))
        return true;
    if (layer->axes == 0)
        return add_product(n);
    size_t axis = n->order[layer->depth];
    const struct pm_axis *a = &d->axes[axis];
    unsigned rest = layer->axes & ~(1u << axis), subset = common_terms(n, layer, axis);
    if (!subset)
        return false;
    /* Coefficients and their weights: a row of places for each term. */
    double *values = w->depths + 2 * layer->depth * MAX_TERMS * d->n;
    double *weights = values + MAX_TERMS * d->n;
    for (size_t line = 0; line < d->projections[rest].n; line++) {
        struct line_fit fit;
        bool fitted = fit_line(n, layer, axis, line, subset, &fit);
        for (size_t t = 0; t < (size_t)__builtin_popcount(subset); t++) {
            values[t * d->n + line] = fitted ? fit.coefficients[t] : 0;
            weights[t * d->n + line] = fitted ? fit.weights[t] : 0;
        }
    }
    size_t t = 0;
    for (size_t f = 0; f < a->n_functions; f++) {
        if (!(subset >> f & 1))
            continue;
        struct layer next = {rest, layer->depth + 1, values + t * d->n, weights + t * d->n};
        n->factors[axis] = (uint8_t)f;
        if (!descend(n, &next))
            return false;
        t++;
    }
    return true;
}

bool pm_terms_of_coefficients(struct pm_series_workspace *w, bool for_exact, size_t order,
                              struct pm_candidate *candidate) {
    const struct pm_design *d = w->design;
    unsigned all = (1u << d->n_axes) - 1;
    struct hierarchy n = {.w = w, .for_exact = for_exact, .candidate = candidate};
    bool used[MAX_AXES] = {false};
    for (size_t i = 0; i < d->n_axes; i++) { /* the ORDER-th permutation */
        size_t left = d->n_axes - i, skip = order % left, axis = 0;
        order /= left;
        for (;; axis++)
            if (!used[axis] && skip-- == 0)
                break;
        used[axis] = true;
        n.order[i] = axis;
    }
    /* The outermost layer's places are the points: values and weights of those that are in use. */
    double *values = w->depths + 2 * (size_t)MAX_AXES * MAX_TERMS * d->n, *weights = values + d->n;
    memset(weights, 0, d->n * sizeof *weights);
    for (size_t i = 0; i < w->n; i++) {
        size_t place = d->projections[all].of[w->at->point[i]];
        values[place] = w->y[i];
        weights[place] = w->weight[i];
    }
    candidate->n_terms = 0;
    return descend(&n, &(struct layer){all, 0, values, weights}) && candidate->n_terms > 0;
}
