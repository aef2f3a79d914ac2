/* Exact counts in several parameters: y = (Σ C_j · f_j) / D at all points, with integers C_j, D.

   The coefficients that least squares found are made more precise by solving for what they leave,
   in extended precision; then the smallest D is looked for at which they are nearly whole numbers.
   As in one parameter (series/exact.c) a candidate must reproduce every value in integer
   arithmetic, and take fewer bits than the values: by a third where only one point is left to test
   it. */
#include "fit/surface/private.h"

#include <math.h>

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

/* Function of term J at point K in extended precision. */
static long double value_of(const struct pm_surface *s, size_t j, size_t k) {
    long double value = 1;
    for (size_t i = 0; i < s->n_axes; i++)
        value *= s->axes[i].values[s->level[k][i]][s->products[j].functions[i]];
    return value;
}

/* The same as an integer; false if it is none, or too large. */
static bool whole_value(const struct pm_surface *s, size_t j, size_t k, __int128 *value) {
    *value = 1;
    for (size_t i = 0; i < s->n_axes; i++) {
        double factor = s->axes[i].values[s->level[k][i]][s->products[j].functions[i]];
        if (!pm_is_whole(factor) || !pm_multiply(value, (__int128)factor))
            return false;
    }
    return true;
}

/* Adds to COEFFICIENTS the least-squares solution for what they leave of the values. */
static void refine(struct pm_surface_workspace *w, const struct pm_candidate *c,
                   long double *coefficients) {
    const struct pm_surface *s = w->surface;
    double rotated[MAX_TERMS] = {0}, step[MAX_TERMS] = {0};
    for (size_t i = 0; i < w->n; i++) {
        long double left = w->y[i];
        for (size_t j = 0; j < c->n_terms; j++)
            left -= coefficients[j] * value_of(s, c->terms[j], w->point[i]);
        for (size_t j = 0; j < c->n_terms; j++)
            rotated[j] += w->columns[i][j] * (double)left * w->weight[i];
    }
    pm_back_substitute(c->n_terms, w->triangle, rotated, step);
    for (size_t j = 0; j < c->n_terms; j++)
        coefficients[j] += step[j] / s->products[c->terms[j]].scale;
}

static bool reproduces(const struct pm_surface_workspace *w, const struct pm_candidate *c,
                       const long double *numerators, int denominator) {
    for (size_t i = 0; i < w->n; i++) {
        __int128 sum = 0;
        for (size_t j = 0; j < c->n_terms; j++) {
            __int128 value;
            if (!whole_value(w->surface, c->terms[j], w->point[i], &value) ||
                !pm_add_product(&sum, (__int128)numerators[j], value))
                return false;
        }
        if (sum != (__int128)w->y[i] * denominator)
            return false;
    }
    return true;
}

bool pm_surface_exact(struct pm_surface_workspace *w, const struct pm_candidate *c,
                      double *coefficients) {
    long double exact[MAX_TERMS], numerators[MAX_TERMS];
    double data_bits = 0, caution = w->n > c->n_terms + 1 ? 1 : pm_heuristics.exact_caution;
    for (size_t i = 0; i < w->n; i++) {
        if (!pm_is_whole(w->y[i]))
            return false;
        data_bits += pm_bits(w->y[i]);
    }
    for (size_t j = 0; j < c->n_terms; j++)
        exact[j] = c->coefficients[j] / w->surface->products[c->terms[j]].scale;
    for (size_t i = 0; i < pm_heuristics.refinements; i++)
        refine(w, c, exact);
    for (int d = 1; d <= (int)pm_heuristics.most_denominator; d++) {
        double model_bits = d > 1 ? pm_bits(d) : 0;
        bool whole = true;
        for (size_t j = 0; j < c->n_terms && whole; j++) {
            numerators[j] = roundl(exact[j] * d);
            whole = fabsl(exact[j] * d - numerators[j]) < pm_heuristics.nearly_whole &&
                    fabsl(numerators[j]) < PM_LARGEST_INTEGER;
            model_bits += pm_bits(numerators[j]);
        }
        if (!whole || caution * model_bits >= data_bits || !reproduces(w, c, numerators, d))
            continue;
        for (size_t j = 0; j < c->n_terms; j++)
            coefficients[j] = (double)(numerators[j] / d);
        return true;
    }
    return false;
}
