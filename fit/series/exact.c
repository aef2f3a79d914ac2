/* Exact models: y(x) = (Σ C_j f_j(x)) / D with integers C_j, D.

   Loop bounds that are linear in the size give counts that are polynomials with rational
   coefficients: (n−2)³, n(n+1)/2.  Over sizes from 16 to 4096 the columns of a fourth power and of
   a constant differ by nine orders of magnitude, and the relative weights by as many: where data
   are exact, what a double loses in the solution is all the error there is.  So coefficients are
   made more precise by solving for what they leave, in extended precision; the result is taken if
   it is the same fit, which it is not where shape was enforced.  Then they are rounded to multiples
   of 1/D, and the model is exact if it reproduces every value and is the shorter description: its
   coefficients must take fewer bits than the values.  Without that, any four small numbers would be
   a cubic. */
#include <float.h>
#include <string.h>

#include "fit/series/private.h"

/* Relative difference of coefficients that are the same fit. */
static const double same_coefficients = 1e-5;

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

/* All denominators divide one of these; the first is the largest. */
static const int multiples[] = {PM_FIT_DENOMINATORS};
enum { N_MULTIPLES = sizeof multiples / sizeof *multiples };

bool pm_exact_is_possible(size_t n, const double *y) {
    for (size_t m = 0; m < N_MULTIPLES; m++) {
        size_t k = 0;
        for (; k < n; k++) {
            double multiple = y[k] * multiples[m];
            if (fabs(multiple - rint(multiple)) > pm_heuristics.rounding * fmax(fabs(multiple), 1))
                break;
        }
        if (k == n)
            return true;
    }
    return false;
}

/* ---- rounding -------------------------------------------------------------------------------- */

static bool is_denominator(int d) {
    for (size_t m = 0; m < N_MULTIPLES; m++)
        if (multiples[m] % d == 0)
            return true;
    return false;
}

/* What a model takes to write down, and the data that it reproduces. */
static double bits_of_model(size_t n_terms, const long double *numerators, int denominator) {
    double sum = denominator > 1 ? pm_bits(denominator) : 0;
    for (size_t j = 0; j < n_terms; j++)
        sum += pm_bits(numerators[j]);
    return sum;
}

static double bits_of_data(size_t n, const double *y, int denominator) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pm_bits(y[i]) + (y[i] != floor(y[i]) ? log2(denominator) : 0);
    return sum;
}

/* Σ C_j f_j = D·y at all sizes, but for the rounding of y and of functions that are not whole; all
   of these whole in *WHOLE. */
static bool sums_to(size_t n, size_t n_terms, const long double *functions, const double *y,
                    const long double *numerators, int denominator, bool *whole) {
    *whole = true;
    for (size_t i = 0; i < n; i++) {
        long double sum = 0, rounding = LDBL_EPSILON * fabsl((long double)y[i]) * denominator;
        for (size_t j = 0; j < n_terms; j++) {
            long double part = numerators[j] * functions[j * n + i];
            bool is_whole = functions[j * n + i] == floorl(functions[j * n + i]);
            *whole = *whole && is_whole;
            sum += part;
            rounding += fabsl(part) * (is_whole ? LDBL_EPSILON : DBL_EPSILON);
        }
        if (y[i] != floor(y[i]))
            rounding += 4 * DBL_EPSILON * fabsl((long double)y[i]) * denominator;
        if (!(fabsl(sum - (long double)y[i] * denominator) <= rounding))
            return false;
    }
    return true;
}

bool pm_exact_round(size_t n, size_t n_terms, const long double *functions, const double *y,
                    double more_bits, long double *coefficients, bool *whole) {
    double caution = n > n_terms + 1 ? 1 : pm_heuristics.exact_caution;
    for (int d = 1; d <= multiples[0]; d++) {
        if (!is_denominator(d))
            continue;
        long double numerators[MAX_TERMS];
        bool representable = true;
        for (size_t j = 0; j < n_terms; j++) {
            numerators[j] = roundl(coefficients[j] * d);
            representable &= fabsl(numerators[j]) < PM_LARGEST_INTEGER;
        }
        if (!representable || !sums_to(n, n_terms, functions, y, numerators, d, whole) ||
            caution * (bits_of_model(n_terms, numerators, d) + more_bits) >= bits_of_data(n, y, d))
            continue;
        for (size_t j = 0; j < n_terms; j++)
            coefficients[j] = numerators[j] / d;
        return true;
    }
    return false;
}

/* ---- the last digits ------------------------------------------------------------------------- */

/* The candidate's functions: products of what the axes have, scaled. */
static void fill_functions(struct pm_series_workspace *w, const struct pm_candidate *c) {
    const struct pm_design *d = w->design;
    for (size_t j = 0; j < c->n_terms; j++)
        for (size_t i = 0; i < w->n; i++) {
            const struct pm_function *f = &d->basis[c->terms[j]];
            long double value = 1 / f->scale;
            for (size_t a = 0; a < d->n_axes; a++)
                value *= d->axes[a].values[d->level[w->at->point[i]][a]][f->factors[a]];
            w->exact_values[j * w->n + i] = value;
        }
}

void pm_exact_improve(const struct pm_least_squares *problem, size_t n, size_t n_terms,
                      const long double *functions, const double *y, const double *weight,
                      long double *coefficients) {
    double coordinates[MAX_TERMS] = {0}, step[MAX_TERMS] = {0};
    for (size_t i = 0; i < n; i++) {
        long double left = y[i];
        for (size_t j = 0; j < n_terms; j++)
            left -= coefficients[j] * functions[j * n + i];
        for (size_t j = 0; j < n_terms; j++)
            coordinates[j] += problem->columns[j * problem->stride + i] * (double)left * weight[i];
    }
    pm_back_substitute(problem, n_terms, coordinates, step);
    for (size_t j = 0; j < n_terms; j++)
        coefficients[j] += step[j];
}

bool pm_candidate_refine(struct pm_series_workspace *w, const struct pm_candidate *c,
                         double *coefficients) {
    long double exact[MAX_TERMS];
    struct pm_candidate free = *c;
    for (size_t j = 0; j < c->n_terms; j++)
        coefficients[j] = c->coefficients[j] / w->design->basis[c->terms[j]].scale;
    if (c->residual > PM_EXPLAINED || !pm_candidate_solve(w, &free))
        return false;
    for (size_t j = 0; j < c->n_terms; j++)
        exact[j] = free.coefficients[j];
    fill_functions(w, c);
    for (size_t i = 0; i < PM_REFINEMENTS; i++)
        pm_exact_improve(&w->solved, w->n, c->n_terms, w->exact_values, w->y, w->weight, exact);
    for (size_t j = 0; j < c->n_terms; j++) {
        double scale = w->design->basis[c->terms[j]].scale;
        exact[j] /= scale;
        for (size_t i = 0; i < w->n; i++)
            w->exact_values[j * w->n + i] *= scale;
        if (!(fabsl(exact[j] - coefficients[j]) <= same_coefficients * fabs(coefficients[j])))
            return false;
    }
    bool whole = false,
         rounded = !pm_fit_without(PM_STEP_EXACT) &&
                   pm_exact_round(w->n, c->n_terms, w->exact_values, w->y, 0, exact, &whole);
    for (size_t j = 0; j < c->n_terms; j++)
        coefficients[j] = (double)exact[j];
    return rounded && whole;
}
