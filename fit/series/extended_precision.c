/* The last digits of a fit that explains its data.

   Over sizes from 16 to 4096 the columns of a fourth power and of a constant differ by nine orders
   of magnitude, and the relative weights by as many: where data are exact, what a double loses in
   the solution is all the error there is.  So Gram-Schmidt is done once more in extended precision,
   on the functions as they are; the result is taken if it is the same fit, which it is not where
   shape was enforced.  Then the coefficients are tried as fractions (exact.c). */
#include "fit/series/private.h"

#include <math.h>
#include <string.h>

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

/* Function J of the candidate at point I, as it is. */
static double function_at(const struct pm_series_workspace *w, const struct pm_candidate *c,
                          size_t j, size_t i) {
    size_t f = c->terms[j];
    return w->design->values[w->point[i]][f] * w->design->scale[f];
}

/* Orthogonalises column J (of N_POINTS entries) against those before it, twice. */
static long double orthogonalise(size_t n_points, size_t j, long double *columns,
                                 long double triangle[MAX_TERMS][MAX_TERMS]) {
    long double *column = columns + j * n_points, square = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < j; k++) {
            long double part = 0, *other = columns + k * n_points;
            for (size_t i = 0; i < n_points; i++)
                part += other[i] * column[i];
            triangle[k][j] += part;
            for (size_t i = 0; i < n_points; i++)
                column[i] -= part * other[i];
        }
    for (size_t i = 0; i < n_points; i++)
        square += column[i] * column[i];
    return sqrtl(square);
}

/* Least squares in extended precision; false if columns depend on each other. */
static bool solve(struct pm_series_workspace *w, const struct pm_candidate *c,
                  long double *solution) {
    long double triangle[MAX_TERMS][MAX_TERMS] = {{0}}, rotated[MAX_TERMS] = {0};
    for (size_t j = 0; j < c->n_terms; j++) {
        long double *column = w->extended + j * w->n;
        for (size_t i = 0; i < w->n; i++)
            column[i] = (long double)function_at(w, c, j, i) * w->weight[i];
        long double length = orthogonalise(w->n, j, w->extended, triangle);
        if (!(length > 0))
            return false;
        triangle[j][j] = length;
        rotated[j] = 0;
        for (size_t i = 0; i < w->n; i++) {
            column[i] /= length;
            rotated[j] += column[i] * w->y[i] * w->weight[i];
        }
    }
    for (size_t j = c->n_terms; j-- > 0;) {
        solution[j] = rotated[j];
        for (size_t k = j + 1; k < c->n_terms; k++)
            solution[j] -= triangle[j][k] * solution[k];
        solution[j] /= triangle[j][j];
    }
    return true;
}

bool pm_candidate_refine(struct pm_series_workspace *w, const struct pm_candidate *c,
                         double *coefficients) {
    for (size_t j = 0; j < c->n_terms; j++)
        coefficients[j] = c->coefficients[j] / w->design->scale[c->terms[j]];
    long double solution[MAX_TERMS];
    if (c->residual > pm_heuristics.explained || !solve(w, c, solution))
        return false;
    double refined[MAX_TERMS] = {0};
    for (size_t j = 0; j < c->n_terms; j++) {
        refined[j] = (double)solution[j];
        if (!(fabs(refined[j] - coefficients[j]) <=
              pm_heuristics.same_coefficients * fabs(coefficients[j])))
            return false;
    }
    memcpy(coefficients, refined, c->n_terms * sizeof *coefficients);
    for (size_t j = 0; j < c->n_terms; j++)
        for (size_t i = 0; i < w->n; i++)
            w->unscaled[j * w->n + i] = function_at(w, c, j, i);
    bool whole = false;
    return !pm_fit_without(PM_STEP_EXACT) &&
           pm_exact_round(w->n, c->n_terms, w->unscaled, w->y, coefficients, &whole) && whole;
}
