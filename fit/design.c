/* What all series of a fit share: basis functions at the measured sizes and over the range of
   prediction, each scaled to 1 at the largest size; see series.h.  Shape is expressed by
   differences between neighbouring points of a grid, so that it works for any basis. */
#include "fit/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pm_alloc.h"

static bool evaluate_at(const struct pm_basis *basis, const char *parameter, double x,
                        double *values, struct pm_error *err) {
    struct pm_parameters at = {0};
    return pm_parameters_set(&at, parameter, x, err) && pm_basis_evaluate(basis, &at, values, err);
}

/* True if function i is x^i, told by its values at two points. */
static bool are_monomials(const struct pm_basis *basis, const char *parameter) {
    double at_2[PM_MODEL_MAX_TERMS], at_3[PM_MODEL_MAX_TERMS];
    if (!evaluate_at(basis, parameter, 2, at_2, NULL) ||
        !evaluate_at(basis, parameter, 3, at_3, NULL))
        return false;
    for (size_t i = 0; i < basis->n; i++)
        if (at_2[i] != pow(2, (double)i) || at_3[i] != pow(3, (double)i))
            return false;
    return true;
}

static bool fill_grid(struct pm_design *design, const struct pm_basis *basis, const char *parameter,
                      struct pm_error *err) {
    double low = design->x[0], high = PM_SERIES_REACH * design->x[design->n - 1];
    bool geometric = low > 0;
    for (size_t j = 0; j < PM_SERIES_GRID; j++) {
        double share = (double)j / (PM_SERIES_GRID - 1), function[PM_MODEL_MAX_TERMS];
        design->grid_x[j] = geometric ? low * pow(high / low, share) : low + (high - low) * share;
        if (!evaluate_at(basis, parameter, design->grid_x[j], function, err))
            return false;
        for (size_t i = 0; i < basis->n; i++)
            design->grid[j][i] = function[i] / design->scale[i];
    }
    const double *x = design->grid_x;
    for (size_t i = 0; i < basis->n; i++) {
        for (size_t j = 0; j + 1 < PM_SERIES_GRID; j++)
            design->slope[j][i] = design->grid[j + 1][i] - design->grid[j][i];
        for (size_t j = 0; j + 2 < PM_SERIES_GRID; j++)
            design->curvature[j][i] = design->slope[j + 1][i] / (x[j + 2] - x[j + 1]) * x[j + 1] -
                                      design->slope[j][i] / (x[j + 1] - x[j]) * x[j + 1];
    }
    return true;
}

struct pm_design *pm_design_new(const struct pm_basis *basis, const char *parameter,
                                const double *x, size_t n, struct pm_error *err) {
    if (basis->n == 0 || basis->n > PM_MODEL_MAX_TERMS) {
        pm_fail(err, "a fit takes 1 to %d basis functions, not %zu", PM_MODEL_MAX_TERMS, basis->n);
        return NULL;
    }
    struct pm_design *design = pm_alloc(1, sizeof *design);
    design->n = n;
    design->n_basis = basis->n;
    design->x = pm_alloc(n, sizeof *design->x);
    memcpy(design->x, x, n * sizeof *x);
    design->values = pm_alloc(n, sizeof *design->values);
    design->monomials = are_monomials(basis, parameter);
    double function[PM_MODEL_MAX_TERMS];
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
