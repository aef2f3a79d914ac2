/* Exact polynomials: y(x) = (Σ C_k x^k) / D with integers C_k, D.

   Loop bounds that are linear in the size give counts that are polynomials with rational
   coefficients: (n−2)³, n(n+1)/2.  A candidate comes from divided differences in extended precision
   (degrees from 0 up), its coefficients are rounded to multiples of 1/D, and it is accepted only if
   it reproduces every value in integer arithmetic and is the shorter description: its coefficients
   must take fewer bits than the values.  Without that, any four small numbers would be a cubic.

   Sums of other functions, and values that are not whole, come from the fit: coefficients that
   explain the data but for rounding are tried as multiples of 1/D in the same way. */
#include "fit/series/private.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

enum { MAX_DEGREE = PM_MODEL_MAX_TERMS - 1 };

static const int denominators[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100};
enum { N_DENOMINATORS = sizeof denominators / sizeof *denominators };

static bool all_integers(size_t n, const double *values) {
    for (size_t i = 0; i < n; i++)
        if (!pm_is_whole(values[i]))
            return false;
    return true;
}

/* Monomial coefficients of the interpolant through DEGREE + 1 points spread over the N. */
static void interpolate(size_t n, const double *x, const double *y, size_t degree,
                        long double *coefficients) {
    long double points[MAX_DEGREE + 1], divided[MAX_DEGREE + 1];
    for (size_t i = 0; i <= degree; i++) {
        size_t at = degree ? i * (n - 1) / degree : n - 1;
        points[i] = x[at];
        divided[i] = y[at];
    }
    for (size_t order = 1; order <= degree; order++)
        for (size_t i = degree; i >= order; i--)
            divided[i] = (divided[i] - divided[i - 1]) / (points[i] - points[i - order]);
    for (size_t k = 0; k <= degree; k++)
        coefficients[k] = 0;
    for (size_t i = degree + 1; i-- > 0;) { /* p ← p·(x − points[i]) + divided[i] */
        for (size_t k = degree; k > 0; k--)
            coefficients[k] = coefficients[k - 1] - points[i] * coefficients[k];
        coefficients[0] = divided[i] - points[i] * coefficients[0];
    }
}

/* The interpolant passes all points but for rounding: else no denominator need be tried. */
static bool passes_all(size_t n, const double *x, const double *y, size_t degree,
                       const long double *coefficients) {
    for (size_t i = 0; i < n; i++) {
        long double sum = 0;
        for (size_t k = degree + 1; k-- > 0;)
            sum = sum * x[i] + coefficients[k];
        if (fabsl(sum - y[i]) > 1e-3L + pm_heuristics.rounding * fabsl(y[i]))
            return false;
    }
    return true;
}

/* Σ C_k x^k = D·y at all sizes, in integers; false also where they would overflow.  All are below
   2^53, and the CPU converts to 64 bits by itself. */
static bool reproduces(size_t n, const double *x, const double *y, size_t degree,
                       const long double *numerators, int denominator) {
    for (size_t i = 0; i < n; i++) {
        __int128 sum = 0;
        for (size_t k = degree + 1; k-- > 0;)
            if (__builtin_mul_overflow(sum, (__int128)(int64_t)x[i], &sum) ||
                __builtin_add_overflow(sum, (__int128)(int64_t)numerators[k], &sum))
                return false;
        if (sum != (__int128)(int64_t)y[i] * denominator)
            return false;
    }
    return true;
}

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

bool pm_exact_polynomial(size_t n, const double *x, const double *y, size_t max_degree,
                         double *coefficients) {
    if (n < 2 || !all_integers(n, x) || !all_integers(n, y))
        return false;
    for (size_t degree = 0; degree <= max_degree && degree <= MAX_DEGREE && degree + 2 <= n;
         degree++) {
        long double exact[MAX_DEGREE + 1], numerators[MAX_DEGREE + 1];
        interpolate(n, x, y, degree, exact);
        if (!passes_all(n, x, y, degree, exact))
            continue;
        for (size_t d = 0; d < N_DENOMINATORS; d++) {
            bool representable = true;
            for (size_t k = 0; k <= degree; k++) {
                numerators[k] = roundl(exact[k] * denominators[d]);
                representable &= fabsl(numerators[k]) < PM_LARGEST_INTEGER;
            }
            if (!representable || !reproduces(n, x, y, degree, numerators, denominators[d]) ||
                bits_of_model(degree + 1, numerators, d) >= bits_of_data(n, y, 1))
                continue;
            for (size_t k = 0; k <= max_degree; k++)
                coefficients[k] = k <= degree ? (double)(numerators[k] / denominators[d]) : 0;
            return true;
        }
    }
    return false;
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
