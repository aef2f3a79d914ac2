/* Exact counts with logarithms: y(x) = (Σ C_k x^a_k log2(x)^b_k) / D with integers C_k, D.

   Programs that halve their data, as a Fourier transform or a multigrid cycle, are measured at
   powers of two, and their loops run x·log2(x)/2 times, or a sum over log2(x) levels: a geometric
   sum of x^k is a multiple of x^k / (2^k − 1), which is why D may be 3, 7 or 21.  At such sizes
   log2(x) is a whole number, so that a candidate can be checked in whole numbers, and only what
   reproduces every value is taken (exact.c): at other sizes, and for counts that are not exact,
   logarithms are candidates like any other (prepare/basis_functions.c). */
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/series/private.h"

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

/* Function F at X. */
static double value_of(size_t f, double x) {
    return pow(x, functions[f].power) * pow(log2(x), functions[f].logs);
}

/* Fills MODEL and returns true if candidate C reproduces all N points, and takes fewer bits. */
static bool fits(const struct candidate *c, size_t n, const double *x, const double *y,
                 struct pm_model *model) {
    size_t stride = pm_vector_padded(n);
    if (n < c->n)
        return false;
    double *rows = pm_alloc((c->n + 1) * stride, sizeof *rows), *weight = rows + c->n * stride;
    struct pm_least_squares problem = {.n = stride, .stride = stride, .columns = rows};
    long double *values = pm_alloc(c->n * n, sizeof *values), exact[MOST_TERMS] = {0};
    for (size_t k = 0; k < n; k++) {
        weight[k] = 1 / fmax(fabs(y[k]), 1);
        for (size_t j = 0; j < c->n; j++) {
            values[j * n + k] = value_of(c->terms[j], x[k]);
            rows[j * stride + k] = (double)values[j * n + k] * weight[k];
        }
    }
    bool whole, found = pm_orthonormalise(&problem, c->n);
    for (size_t i = 0; found && i <= PM_REFINEMENTS; i++)
        pm_exact_improve(&problem, n, c->n, values, y, weight, exact);
    found = found && pm_exact_round(n, c->n, values, y, log2(N_CANDIDATES), exact, &whole);
    if (found)
        *model = (struct pm_model){.n_points = (uint16_t)n, .exact = true};
    for (size_t j = 0; found && j < c->n; j++)
        pm_model_add_term(model, c->terms[j], (double)exact[j]);
    free(values);
    free(rows);
    return found;
}

bool pm_fit_logarithms(size_t n, const double *x, const double *y, struct pm_model *model) {
    if (pm_fit_without(PM_STEP_EXACT))
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
