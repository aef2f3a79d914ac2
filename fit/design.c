/* What all series of a fit share: basis functions at the measured sizes and over the range of
   prediction, each scaled to 1 at the largest size; see series.h.  Shape is expressed by
   slopes on a grid, taken by differences, so that it works for any basis. */
#include "fit/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pm_alloc.h"

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

static bool evaluate_at(const struct pm_basis *basis, const char *parameter, double x,
                        double *values, struct pm_error *err) {
    struct pm_parameters at = {0};
    return pm_parameters_set(&at, parameter, x, err) && pm_basis_evaluate(basis, &at, values, err);
}

/* True if function i is x^i, told by its values at two points. */
static bool are_monomials(const struct pm_basis *basis, const char *parameter) {
    double at_2[MAX_TERMS], at_3[MAX_TERMS];
    if (!evaluate_at(basis, parameter, 2, at_2, NULL) ||
        !evaluate_at(basis, parameter, 3, at_3, NULL))
        return false;
    for (size_t i = 0; i < basis->n; i++)
        if (at_2[i] != pow(2, (double)i) || at_3[i] != pow(3, (double)i))
            return false;
    return true;
}

/* Slopes by central differences: exact to about 1e-8, whatever the basis. */
#define SLOPE_STEP 1e-4

static bool fill_grid(struct pm_design *design, const struct pm_basis *basis, const char *parameter,
                      struct pm_error *err) {
    double low = design->x[0], high = PM_SERIES_REACH * design->x[design->n - 1];
    for (size_t j = 0; j < PM_SERIES_GRID; j++) {
        double share = (double)j / (PM_SERIES_GRID - 1), x = low * pow(high / low, share);
        double at[MAX_TERMS], before[MAX_TERMS], after[MAX_TERMS];
        if (!evaluate_at(basis, parameter, x, at, err) ||
            !evaluate_at(basis, parameter, x * (1 - SLOPE_STEP), before, err) ||
            !evaluate_at(basis, parameter, x * (1 + SLOPE_STEP), after, err))
            return false;
        design->grid_x[j] = x;
        for (size_t i = 0; i < basis->n; i++) {
            design->grid[j][i] = at[i] / design->scale[i];
            design->slope[j][i] = (after[i] - before[i]) / (2 * SLOPE_STEP * design->scale[i]);
        }
    }
    const double *x = design->grid_x;
    for (size_t j = 0; j + 1 < PM_SERIES_GRID; j++)
        for (size_t i = 0; i < basis->n; i++)
            design->curvature[j][i] =
                design->slope[j + 1][i] / x[j + 1] * x[j] - design->slope[j][i];
    return true;
}

struct pm_design *pm_design_new(const struct pm_basis *basis, const char *parameter,
                                const double *x, size_t n, struct pm_error *err) {
    if (basis->n == 0 || basis->n > PM_MODEL_MAX_TERMS) {
        pm_fail(err, "a fit takes 1 to %d basis functions, not %zu", PM_MODEL_MAX_TERMS, basis->n);
        return NULL;
    }
    if (!(x[0] > 0)) {
        pm_fail(err, "%s=%g is not a size that can be fitted: it must be above 0", parameter, x[0]);
        return NULL;
    }
    struct pm_design *design = pm_alloc(1, sizeof *design);
    design->n = n;
    design->n_basis = basis->n;
    design->x = pm_alloc(n, sizeof *design->x);
    memcpy(design->x, x, n * sizeof *x);
    design->values = pm_alloc(n, sizeof *design->values);
    design->monomials = are_monomials(basis, parameter);
    double function[MAX_TERMS];
    bool ok = evaluate_at(basis, parameter, x[n - 1], function, err);
    for (size_t i = 0; ok && i < basis->n; i++)
        design->scale[i] = function[i] != 0 ? fabs(function[i]) : 1;
    for (size_t s = 0; ok && s < n; s++) {
        ok = evaluate_at(basis, parameter, x[s], function, err);
        for (size_t i = 0; ok && i < basis->n; i++)
            design->values[s][i] = function[i] / design->scale[i];
    }
    ok = ok && fill_grid(design, basis, parameter, err);
    if (ok)
        return design;
    pm_design_free(design);
    return NULL;
}

void pm_design_free(struct pm_design *design) {
    if (!design)
        return;
    free(design->values);
    free(design->x);
    free(design);
}
