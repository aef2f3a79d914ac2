/* Exact models: y(x) = (Σ C_j f_j(x)) / D with integers C_j, D.

   Loop bounds that are linear in the size give counts that are polynomials with rational
   coefficients: (n−2)³, n(n+1)/2.  A fit whose coefficients explain the data but for rounding
   (extended_precision.c) has them rounded to multiples of 1/D, and is exact if it then reproduces
   every value and is the shorter description: its coefficients must take fewer bits than the
   values. Without that, any four small numbers would be a cubic. */
#include "fit/series/private.h"

#include <float.h>
#include <math.h>

static const int denominators[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100};
enum { N_DENOMINATORS = sizeof denominators / sizeof *denominators };

bool pm_exact_is_possible(size_t n, const double *y) {
    for (size_t d = 0; d < N_DENOMINATORS; d++) {
        size_t k = 0;
        for (; k < n; k++) {
            double multiple = y[k] * denominators[d];
            if (fabs(multiple - rint(multiple)) > pm_heuristics.rounding * fmax(fabs(multiple), 1))
                break;
        }
        if (k == n)
            return true;
    }
    return false;
}

/* What a model takes to write down, and the data that it reproduces. */
static double bits_of_model(size_t n_terms, const long double *numerators, size_t d) {
    double sum = d ? pm_bits(denominators[d]) : 0;
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
static bool sums_to(size_t n, size_t n_terms, const double *functions, const double *y,
                    const long double *numerators, int denominator, bool *whole) {
    *whole = true;
    for (size_t i = 0; i < n; i++) {
        long double sum = 0, rounding = LDBL_EPSILON * fabsl((long double)y[i]) * denominator;
        for (size_t j = 0; j < n_terms; j++) {
            long double part = numerators[j] * functions[j * n + i];
            bool is_whole = functions[j * n + i] == floor(functions[j * n + i]);
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

bool pm_exact_round(size_t n, size_t n_terms, const double *functions, const double *y,
                    double *coefficients, bool *whole) {
    for (size_t d = 0; d < N_DENOMINATORS && n > n_terms; d++) {
        long double numerators[PM_MODEL_MAX_TERMS];
        bool representable = true;
        for (size_t j = 0; j < n_terms; j++) {
            numerators[j] = roundl((long double)coefficients[j] * denominators[d]);
            representable &= fabsl(numerators[j]) < PM_LARGEST_INTEGER;
        }
        if (!representable ||
            !sums_to(n, n_terms, functions, y, numerators, denominators[d], whole) ||
            bits_of_model(n_terms, numerators, d) >= bits_of_data(n, y, denominators[d]))
            continue;
        for (size_t j = 0; j < n_terms; j++)
            coefficients[j] = (double)(numerators[j] / denominators[d]);
        return true;
    }
    return false;
}
