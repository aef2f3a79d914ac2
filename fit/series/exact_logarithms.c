/* Exact counts with logarithms: y(x) = (Σ C_k x^a_k log2(x)^b_k) / D with integers C_k, D.

   Programs that halve their data, as a Fourier transform or a multigrid cycle, are measured at
   powers of two, and their loops run x·log2(x)/2 times, or a sum over log2(x) levels: a geometric
   sum of x^k is a multiple of x^k / (2^k − 1), which is why D may be 3, 7 or 21.  At such sizes
   log2(x) is a whole number, so that a candidate can be checked in integers, and only what
   reproduces every value is taken: at other sizes, and for counts that are not exact, logarithms
   are candidates like any other (prepare/basis_functions.c).  As in exact.c the candidate must be
   the shorter description: by a third where at most one point is left to test its terms. */
#include "fit/series/private.h"

#include <math.h>
#include <string.h>

enum { MOST_TERMS = 5, N_FUNCTIONS = PM_FIT_BASIS };

/* The functions of the basis of a model set: x^power · log2(x)^logs. */
static const struct {
    int power, logs;
} functions[N_FUNCTIONS] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {0, 1}, {1, 1}, {2, 1}};

static const struct candidate {
    size_t n;
    size_t terms[MOST_TERMS]; /* of the basis */
} candidates[] = {
    {2, {0, 5}},       {3, {0, 1, 5}},       {3, {0, 1, 6}},       {3, {0, 1, 2}},
    {4, {0, 1, 5, 6}}, {4, {0, 1, 2, 5}},    {4, {0, 1, 2, 6}},    {4, {0, 1, 2, 7}},
    {4, {0, 1, 2, 3}}, {5, {0, 1, 2, 5, 6}}, {5, {0, 1, 2, 6, 7}}, {5, {0, 1, 2, 3, 5}},
};
enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

static const int denominators[] = {1,  2,  3,  4,  6,  7,  8,  12, 14, 16,
                                   21, 24, 28, 32, 42, 48, 56, 64, 84, 168};
enum { N_DENOMINATORS = sizeof denominators / sizeof *denominators };

/* Function F at X, a power of two; false where it is too large. */
static bool whole_value(size_t f, double x, __int128 *value) {
    *value = 1;
    for (int i = 0; i < functions[f].power; i++)
        if (!pm_multiply(value, (__int128)x))
            return false;
    for (int i = 0; i < functions[f].logs; i++)
        if (!pm_multiply(value, (__int128)log2(x)))
            return false;
    return true;
}

/* Gauss elimination with row pivots of the N × N system; false if it is singular. */
static bool solve(size_t n, long double rows[MOST_TERMS][MOST_TERMS + 1], long double *solution) {
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(rows[i][k]) > fabsl(rows[pivot][k]))
                pivot = i;
        if (fabsl(rows[pivot][k]) < 1e-12L)
            return false;
        for (size_t j = k; pivot != k && j <= n; j++) {
            long double swapped = rows[k][j];
            rows[k][j] = rows[pivot][j];
            rows[pivot][j] = swapped;
        }
        for (size_t i = k + 1; i < n; i++) {
            long double factor = rows[i][k] / rows[k][k];
            for (size_t j = k; j <= n; j++)
                rows[i][j] -= factor * rows[k][j];
        }
    }
    for (size_t k = n; k-- > 0;) {
        solution[k] = rows[k][n];
        for (size_t j = k + 1; j < n; j++)
            solution[k] -= rows[k][j] * solution[j];
        solution[k] /= rows[k][k];
    }
    return true;
}

/* The candidate through as many points as it has terms, spread over the N; each equation is divided
   by its largest coefficient. */
static bool interpolate(const struct candidate *c, size_t n, const double *x, const double *y,
                        long double *coefficients) {
    long double rows[MOST_TERMS][MOST_TERMS + 1];
    for (size_t i = 0; i < c->n; i++) {
        size_t at = i * (n - 1) / (c->n - 1);
        long double largest = 1;
        for (size_t k = 0; k < c->n; k++) {
            __int128 value;
            if (!whole_value(c->terms[k], x[at], &value))
                return false;
            rows[i][k] = (long double)value;
            largest = fmaxl(largest, rows[i][k]);
        }
        rows[i][c->n] = y[at];
        for (size_t k = 0; k <= c->n; k++)
            rows[i][k] /= largest;
    }
    return solve(c->n, rows, coefficients);
}

/* Σ C_k f_k(x) = D·y at all sizes, in integers; false also where they would overflow. */
static bool reproduces(const struct candidate *c, size_t n, const double *x, const double *y,
                       const long double *numerators, int denominator) {
    for (size_t i = 0; i < n; i++) {
        __int128 sum = 0;
        for (size_t k = 0; k < c->n; k++) {
            __int128 value;
            if (!whole_value(c->terms[k], x[i], &value) ||
                !pm_add_product(&sum, (__int128)numerators[k], value))
                return false;
        }
        if (sum != (__int128)y[i] * denominator)
            return false;
    }
    return true;
}

/* Fills MODEL and returns true if candidate C reproduces all N points in fewer bits. */
static bool fits(const struct candidate *c, size_t n, const double *x, const double *y,
                 struct pm_model *model) {
    long double exact[MOST_TERMS], numerators[MOST_TERMS];
    double data_bits = 0, caution = n > c->n + 1 ? 1 : pm_heuristics.exact_caution;
    if (n < c->n || !interpolate(c, n, x, y, exact))
        return false;
    for (size_t i = 0; i < n; i++)
        data_bits += pm_bits(y[i]);
    for (size_t d = 0; d < N_DENOMINATORS; d++) {
        double model_bits = log2(N_CANDIDATES) + (d ? pm_bits(denominators[d]) : 0);
        bool representable = true;
        for (size_t k = 0; k < c->n; k++) {
            numerators[k] = roundl(exact[k] * denominators[d]);
            representable &= fabsl(numerators[k]) < PM_LARGEST_INTEGER;
            model_bits += pm_bits(numerators[k]);
        }
        if (!representable || caution * model_bits >= data_bits ||
            !reproduces(c, n, x, y, numerators, denominators[d]))
            continue;
        *model = (struct pm_model){.n_points = (uint16_t)n, .exact = true};
        for (size_t k = 0; k < c->n; k++)
            pm_model_add_term(model, c->terms[k], (double)(numerators[k] / denominators[d]));
        return true;
    }
    return false;
}

bool pm_fit_logarithms(size_t n, const double *x, const double *y, struct pm_model *model) {
    if (pm_fit_without(PM_STEP_EXACT_LOGARITHMS))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!pm_is_power_of_two(x[i]) || !pm_is_whole(y[i]))
            return false;
    size_t onset = 0; /* the quantity may be zero at first: then the sizes from there on */
    while (onset < n && y[onset] == 0)
        onset++;
    for (size_t c = 0; c < N_CANDIDATES; c++)
        if (fits(&candidates[c], n, x, y, model) ||
            (onset && fits(&candidates[c], n - onset, x + onset, y + onset, model)) ||
            (onset && fits(&candidates[c], n - onset + 1, x + onset - 1, y + onset - 1, model)))
            return true;
    return false;
}
