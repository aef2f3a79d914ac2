/* Direct fit: terms selected among all products at once.

   Forward: the product that explains most of what the terms so far leave (orthogonal least squares:
   what is chosen is projected out of all that remain), until no more are allowed.  Backward: the
   term whose removal costs least, until none is left.  The set with the best score on the way is
   the next start, as long as that improves it.  Pairs of terms are all tried where no more than a
   few are allowed, because the first term that forward selection takes is often a mixture of two.
 */
#include "fit/surface/private.h"

#include <math.h>
#include <string.h>

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };
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
static bool consider(struct pm_surface_workspace *w, struct pm_candidate *c,
                     struct pm_candidate *best) {
    sort_terms(c);
    if (!pm_surface_solve(w, c))
        return false;
    if (c->score < pm_heuristics.better_score * best->score)
        *best = *c;
    return true;
}

/* Column J of what remains, n values; the values' own are column n_products. */
static double *column(const struct pm_surface_workspace *w, size_t j) {
    return w->remaining + j * w->surface->n;
}

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Projects column J out of all others. */
static void project_out(struct pm_surface_workspace *w, size_t j, const bool *open) {
    const struct pm_surface *s = w->surface;
    double *chosen = column(w, j), length = sqrt(dot(chosen, chosen, w->n));
    for (size_t i = 0; i < w->n; i++)
        chosen[i] /= length;
    for (size_t other = 0; other <= s->n_products; other++) {
        double *left = column(w, other);
        if (other == j || (other < s->n_products && !open[other]))
            continue;
        double part = dot(chosen, left, w->n);
        for (size_t i = 0; i < w->n; i++)
            left[i] -= part * chosen[i];
    }
}

/* Adds terms to C, best first, up to MAX_TERMS; all sets on the way are considered. */
static void forward(struct pm_surface_workspace *w, bool for_exact, size_t max_terms,
                    struct pm_candidate *c, struct pm_candidate *best) {
    const struct pm_surface *s = w->surface;
    bool *open = w->open;
    for (size_t j = 0; j < s->n_products; j++) {
        open[j] = pm_surface_usable(w, j, for_exact);
        w->square[j] = 0;
        for (size_t i = 0; open[j] && i < w->n; i++) {
            double value = s->columns[w->point[i] * s->n_products + j] * w->weight[i];
            column(w, j)[i] = value;
            w->square[j] += value * value;
        }
    }
    for (size_t i = 0; i < w->n; i++)
        column(w, s->n_products)[i] = w->y[i] * w->weight[i];
    for (size_t t = 0; t < c->n_terms; t++) {
        open[c->terms[t]] = false;
        project_out(w, c->terms[t], open);
    }
    while (c->n_terms < max_terms) {
        double most = 0;
        size_t chosen = s->n_products;
        for (size_t j = 0; j < s->n_products; j++) {
            if (!open[j])
                continue;
            double square = dot(column(w, j), column(w, j), w->n);
            double part = dot(column(w, j), column(w, s->n_products), w->n);
            if (!(square > DEPENDENT * w->square[j])) {
                open[j] = false;
                continue;
            }
            if (part * part <= most * square)
                continue;
            c->terms[c->n_terms++] = j;
            if (pm_surface_allowed(w, c, for_exact)) {
                most = part * part / square;
                chosen = j;
            }
            c->n_terms--;
        }
        if (chosen == s->n_products)
            return;
        c->terms[c->n_terms++] = chosen;
        open[chosen] = false;
        project_out(w, chosen, open);
        struct pm_candidate solved = *c;
        consider(w, &solved, best);
    }
}

/* The term whose removal costs least: cⱼ² / ((RᵀR)⁻¹)ⱼⱼ, C being the last that was solved. */
static size_t least_needed(struct pm_surface_workspace *w, const struct pm_candidate *c) {
    double least = INFINITY;
    size_t found = 0, n = c->n_terms;
    for (size_t j = 0; j < n; j++) {
        double row[MAX_TERMS] = {0}, square = 0; /* eⱼᵀ R⁻¹, from R⊤ x = eⱼ */
        row[j] = 1;
        pm_forward_substitute(n, w->triangle, row, row);
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

static void backward(struct pm_surface_workspace *w, struct pm_candidate *c,
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

static void try_pairs(struct pm_surface_workspace *w, bool for_exact, size_t max_terms,
                      struct pm_candidate *best) {
    size_t n = w->surface->n_products;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n && pm_surface_usable(w, i, for_exact); j++) {
            struct pm_candidate c = {.n_terms = 1 + (j > i), .terms = {i, j}};
            if (c.n_terms <= max_terms && pm_surface_usable(w, j, for_exact) &&
                pm_surface_allowed(w, &c, for_exact))
                consider(w, &c, best);
        }
}

bool pm_surface_select(struct pm_surface_workspace *w, bool for_exact, size_t max_terms,
                       struct pm_candidate *c) {
    struct pm_candidate best = {.score = INFINITY}, start = *c;
    if (start.n_terms > 0)
        consider(w, &start, &best);
    if (max_terms <= pm_heuristics.pair_terms)
        try_pairs(w, for_exact, max_terms, &best);
    for (size_t round = 0; round < pm_heuristics.selection_rounds; round++) {
        double before = best.score;
        struct pm_candidate path = best;
        if (!isfinite(before))
            path.n_terms = 0;
        forward(w, for_exact, max_terms, &path, &best);
        backward(w, &path, &best);
        if (!(best.score < before))
            break;
    }
    *c = best;
    return isfinite(best.score);
}
