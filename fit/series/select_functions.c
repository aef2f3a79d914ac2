/* Direct fit in several parameters: terms selected among all products at once.

   Forward: the product that explains most of what the terms so far leave (orthogonal least squares:
   what is chosen is projected out of all that remain), until no more are allowed.  Backward: the
   term whose removal costs least, until none is left.  The set with the best score on the way is
   the next start, as long as that improves it.  Pairs of terms are all tried where that is
   affordable, because the first term that forward selection takes is often a mixture of two. */
#include <string.h>

#include "fit/series/private.h"

/* A score that is no rounding away from another. */
static const double better_score = 0.999;
/* Of selection forward and backward; most end after two. */
enum { selection_rounds = 4 };

#define DEPENDENT 1e-18 /* of a column's square: nothing of it is left */

static void sort_terms(struct pm_candidate *c) {
    for (size_t i = 1; i < c->n_terms; i++) {
        size_t term = c->terms[i], at = i;
        for (; at > 0 && c->terms[at - 1] > term; at--)
            c->terms[at] = c->terms[at - 1];
        c->terms[at] = term;
    }
}

/* Solves C, its terms in any order, and keeps it if it is better than BEST. */
static bool consider(struct pm_series_workspace *w, struct pm_candidate *c,
                     struct pm_candidate *best) {
    sort_terms(c);
    if (!pm_terms_solve(w, c))
        return false;
    if (c->score < better_score * best->score)
        *best = *c;
    return true;
}

static bool is_usable(const struct pm_series_workspace *w, const struct pm_term_limits *limits,
                      size_t j) {
    const struct pm_function *f = &w->design->basis[j];
    return (limits->for_exact || !f->for_exact) && !(limits->gentle && f->steep) &&
           f->power <= limits->most_power;
}

/* Row J of what remains; the values' own is that behind the functions. */
PM_VECTOR_INLINE double *column(const struct pm_series_workspace *w, size_t j) {
    return pm_row(w, w->remaining, j);
}

/* Projects column J out of all others. */
PM_VECTOR_CLONES static void project_out(struct pm_series_workspace *w, size_t j) {
    size_t n = w->n_padded, n_basis = w->design->n_basis;
    double *chosen = column(w, j), inverse = 1 / sqrt(pm_vector_dot(n, chosen, chosen));
    for (size_t i = 0; i < n; i++)
        chosen[i] *= inverse;
    for (size_t other = 0; other <= n_basis; other++) {
        double *left = column(w, other);
        if (other != j && (other == n_basis || w->open[other]))
            pm_vector_add(n, left, -pm_vector_dot(n, chosen, left), chosen, left);
    }
}

/* All columns as they are; which are open. */
PM_VECTOR_CLONES static void open_columns(struct pm_series_workspace *w,
                                          const struct pm_term_limits *limits) {
    size_t n = w->n_padded, n_basis = w->design->n_basis;
    for (size_t j = 0; j < n_basis; j++) {
        const double *function = pm_row(w, w->at->functions, j);
        w->open[j] = is_usable(w, limits, j);
        for (size_t i = 0; w->open[j] && i < n; i++)
            column(w, j)[i] = function[i] * w->weight[i];
        w->square[j] = w->open[j] ? pm_vector_dot(n, column(w, j), column(w, j)) : 0;
    }
    memcpy(column(w, n_basis), w->target, n * sizeof *w->target);
}

/* The function that explains most of what is left and may be a term of C; n_basis if none may. */
PM_VECTOR_CLONES static size_t best_column(struct pm_series_workspace *w,
                                           const struct pm_term_limits *limits,
                                           struct pm_candidate *c) {
    size_t n = w->n_padded, n_basis = w->design->n_basis, chosen = n_basis;
    double most = 0;
    for (size_t j = 0; j < n_basis; j++) {
        if (!w->open[j])
            continue;
        double square = pm_vector_dot(n, column(w, j), column(w, j));
        double part = pm_vector_dot(n, column(w, j), column(w, n_basis));
        w->open[j] = square > DEPENDENT * w->square[j];
        if (!w->open[j] || part * part <= most * square)
            continue;
        c->terms[c->n_terms++] = j;
        if (pm_terms_allowed(w, limits, c)) {
            most = part * part / square;
            chosen = j;
        }
        c->n_terms--;
    }
    return chosen;
}

/* Adds terms to C, best first; all sets on the way are considered. */
static void forward(struct pm_series_workspace *w, const struct pm_term_limits *limits,
                    struct pm_candidate *c, struct pm_candidate *best) {
    open_columns(w, limits);
    for (size_t t = 0; t < c->n_terms; t++) {
        w->open[c->terms[t]] = false;
        project_out(w, c->terms[t]);
    }
    while (c->n_terms < limits->most_terms) {
        size_t chosen = best_column(w, limits, c);
        if (chosen == w->design->n_basis)
            return;
        c->terms[c->n_terms++] = chosen;
        w->open[chosen] = false;
        project_out(w, chosen);
        struct pm_candidate solved = *c;
        consider(w, &solved, best);
    }
}

/* The term whose removal costs least: cⱼ² / ((RᵀR)⁻¹)ⱼⱼ, C being the last that was solved. */
static size_t least_needed(struct pm_series_workspace *w, const struct pm_candidate *c) {
    double least = INFINITY;
    size_t found = 0, n = c->n_terms;
    for (size_t j = 0; j < n; j++) {
        double row[PM_MODEL_MAX_TERMS] = {0}, square = 0; /* eⱼᵀ R⁻¹, from R⊤ x = eⱼ */
        row[j] = 1;
        pm_forward_substitute(&w->solved, n, row, row);
        for (size_t k = j; k < n; k++)
            square += row[k] * row[k];
        double cost = c->coefficients[j] * c->coefficients[j] / square;
        if (cost < least) {
            least = cost;
            found = j;
        }
    }
    return found;
}

static void remove_term(struct pm_candidate *c, size_t at) {
    c->n_terms--;
    memmove(c->terms + at, c->terms + at + 1, (c->n_terms - at) * sizeof *c->terms);
}

static void backward(struct pm_series_workspace *w, struct pm_candidate *c,
                     struct pm_candidate *best) {
    while (c->n_terms > 1) {
        if (!consider(w, c, best)) { /* too many for the points: the last that was added goes */
            c->n_terms--;
            continue;
        }
        remove_term(c, least_needed(w, c));
    }
    if (c->n_terms == 1)
        consider(w, c, best);
}

static void try_pairs(struct pm_series_workspace *w, const struct pm_term_limits *limits,
                      struct pm_candidate *best) {
    size_t n = w->design->n_basis;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n && is_usable(w, limits, i); j++) {
            struct pm_candidate c = {.n_terms = 1 + (j > i), .terms = {i, j}};
            if (c.n_terms <= limits->most_terms && is_usable(w, limits, j) &&
                pm_terms_allowed(w, limits, &c))
                consider(w, &c, best);
        }
}

bool pm_terms_select(struct pm_series_workspace *w, const struct pm_term_limits *limits,
                     struct pm_candidate *c) {
    struct pm_candidate best = {.score = INFINITY}, start = *c;
    if (start.n_terms > 0)
        consider(w, &start, &best);
    if (limits->pairs)
        try_pairs(w, limits, &best);
    for (size_t round = 0; round < selection_rounds; round++) {
        double before = best.score;
        struct pm_candidate path = best;
        if (!isfinite(before))
            path.n_terms = 0;
        forward(w, limits, &path, &best);
        backward(w, &path, &best);
        if (!(best.score < before))
            break;
    }
    *c = best;
    return isfinite(best.score);
}
