/* Fitting one series in several parameters.

   Candidates are sets of products.  They come from two places: models in one parameter for each
   value of the others, with models of their coefficients (hierarchical.c), and selection among all
   products (select_functions.c).  All are solved over all points at once, which gives the same
   coefficients as models of coefficients where these are exact, and better ones where lines are
   short; what they are worth is what candidates in one parameter are worth (candidate.c), and the
   best that has the shape of the data wins (shape.c).  What reproduces every value with small
   rational coefficients is kept at once (exact.c).
   Source: Marin's thesis (Rice University, 2003), section 4.1.1 (models of coefficients); the rest
   is of this project. */
#include <string.h>

#include "fit/series/private.h"

/* Terms of a cut that is tried, in several parameters. */
enum { tried_terms = 6 };
/* Where no more are allowed, all pairs of terms are tried. */
enum { pair_terms = 3 };

bool pm_terms_allowed(const struct pm_series_workspace *w, const struct pm_term_limits *limits,
                      const struct pm_candidate *c) {
    const struct pm_design *d = w->design;
    for (size_t i = 0; i < d->n_axes; i++) {
        unsigned factors = 1;
        for (size_t j = 0; j < c->n_terms; j++)
            factors |= 1u << d->basis[c->terms[j]].factors[i];
        size_t levels = w->at->n_levels[i];
        size_t most = levels < 2 ? 1
                      : levels < pm_heuristics.enough_sizes && !limits->for_exact
                          ? pm_heuristics.few_terms
                          : levels - 1;
        if ((size_t)__builtin_popcount(factors) > most)
            return false;
    }
    return c->n_terms < w->n && c->n_terms <= PM_MODEL_MAX_TERMS;
}

/* Keeps C among the best, where it is not yet. */
static void keep_found(struct pm_series_workspace *w, const struct pm_candidate *c) {
    size_t worst = 0;
    for (size_t i = 0; i < w->n_found; i++) {
        const struct pm_candidate *other = &w->found[i];
        if (other->n_terms == c->n_terms &&
            memcmp(other->terms, c->terms, c->n_terms * sizeof *c->terms) == 0)
            return;
        if (other->score > w->found[worst].score)
            worst = i;
    }
    if (w->n_found < PM_KEPT_SETS)
        w->found[w->n_found++] = *c;
    else if (c->score < w->found[worst].score)
        w->found[worst] = *c;
}

bool pm_terms_solve(struct pm_series_workspace *w, struct pm_candidate *c) {
    if (!pm_candidate_solve(w, c) || c->redundancy < pm_heuristics.least_redundancy)
        return false;
    keep_found(w, c);
    return true;
}

/* Fills MODEL if candidate C is exact. */
static bool fit_exactly(struct pm_series_workspace *w, const struct pm_candidate *c,
                        struct pm_model *model) {
    double coefficients[PM_MODEL_MAX_TERMS];
    if (!pm_candidate_refine(w, c, coefficients))
        return false;
    pm_set_model(w, c, &(struct pm_series_shape){0}, model);
    return true;
}

static size_t n_orders(const struct pm_design *d) {
    static const size_t factorial[PM_FIT_MAX_AXES + 1] = {1, 1, 2, 6, 24};
    return factorial[d->n_axes];
}

static struct pm_term_limits limits_of(const struct pm_series_workspace *w,
                                       enum pm_series_kind kind, bool for_exact) {
    if (kind == PM_SERIES_DISTANCE)
        return (struct pm_term_limits){.gentle = true,
                                       .most_power = pm_heuristics.distance_power,
                                       .most_terms = w->design->n_axes + 1,
                                       .pairs = true};
    size_t most = 2 * w->n / 3, n = w->design->n_basis;
    return (struct pm_term_limits){.for_exact = for_exact,
                                   .most_power = INFINITY,
                                   .pairs = n * (n - 1) / 2 <= PM_MOST_SUBSETS,
                                   .most_terms =
                                       most < PM_MODEL_MAX_TERMS ? most : PM_MODEL_MAX_TERMS};
}

/* Finds sets of products, solved.  Ends with the first that is exact: then MODEL is filled, and the
   result true. */
static bool find_candidates(struct pm_series_workspace *w, enum pm_series_kind kind, bool for_exact,
                            struct pm_model *model) {
    const struct pm_term_limits limits = limits_of(w, kind, for_exact);
    bool nested = kind != PM_SERIES_DISTANCE;
    struct pm_candidate c, best = {.score = INFINITY};
    w->n_found = 0;
    for (size_t order = 0; order < (nested ? n_orders(w->design) : 0); order++) {
        if (!pm_terms_of_coefficients(w, for_exact, order, &c) ||
            !pm_terms_allowed(w, &limits, &c) || !pm_terms_solve(w, &c))
            continue;
        if (fit_exactly(w, &c, model))
            return true;
        if (c.score < best.score)
            best = c;
    }
    for (int start = 0; start < (isfinite(best.score) ? 2 : 1); start++) {
        c = best;
        if (start == 0) /* from nothing */
            c.n_terms = 0;
        if (pm_terms_select(w, &limits, &c) && fit_exactly(w, &c, model))
            return true;
    }
    return false;
}

/* Fills MODEL from the points taken; false if no candidate is of use. */
static bool fit_points(struct pm_series_workspace *w, enum pm_series_kind kind,
                       struct pm_model *model) {
    bool any_for_exact = false;
    struct pm_candidate best;
    for (size_t f = 0; f < w->design->n_basis; f++)
        any_for_exact |= w->design->basis[f].for_exact;
    if (any_for_exact && kind != PM_SERIES_DISTANCE && find_candidates(w, kind, true, model))
        return true;
    if (find_candidates(w, kind, false, model))
        return true;
    for (size_t i = 0; i < w->n_found; i++)
        pm_rank(w->ranked, i, w->found[i].score, (unsigned)i);
    struct pm_series_shape shape = pm_series_shape_of(w, kind);
    if (!pm_shape_choose(w, w->n_found, &shape, &best))
        return false;
    pm_set_model(w, &best, &shape, model);
    return true;
}

void pm_several_fit(struct pm_series_workspace *w, const double *y, enum pm_series_kind kind,
                    struct pm_model *model) {
    bool any_zero = false;
    *model = (struct pm_model){.leave_one_out_error = NAN};
    pm_points_take(w, y, 0, kind, false);
    if (w->largest == 0 && kind != PM_SERIES_DISTANCE) {
        *model = pm_model_zero(w->n);
        return;
    }
    for (size_t i = 0; i < w->n; i++)
        any_zero |= w->y[i] == 0;
    if (pm_points_equal(w, model))
        return;
    if (kind != PM_SERIES_DISTANCE && any_zero) {
        if (find_candidates(w, kind, false, model))
            return;
        pm_points_take(w, y, 0, kind, true);
        if (pm_points_equal(w, model))
            return;
    }
    if (kind == PM_SERIES_DISTANCE && pm_points_settle(w)) {
        *model = pm_points_constant(w);
        return;
    }
    if (w->n < pm_heuristics.enough_sizes || !fit_points(w, kind, model))
        *model = pm_points_constant(w);
}

double pm_several_predictability(struct pm_series_workspace *w, const double *y, size_t from) {
    struct pm_candidate c = {0};
    w->n_found = 0;
    pm_points_take(w, y, from, PM_SERIES_COUNT, true);
    if (w->largest == 0)
        return 0;
    size_t most = w->n / 2 < tried_terms ? w->n / 2 : tried_terms;
    const struct pm_term_limits limits = {.gentle = true,
                                          .most_power = pm_heuristics.tried_power,
                                          .most_terms = most,
                                          .pairs = most <= pair_terms};
    return pm_terms_select(w, &limits, &c) ? c.emphasised : 1;
}
