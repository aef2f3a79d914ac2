/* Which parameter the models are functions of.

   One of those that change from run to run must determine all others: its values are distinct, and
   the others rise or fall with it.  Where several would do (M = floor((N−1)/3) beside N), it is the
   one in which the others are best expressed as polynomials. */
#include "fit/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pm_alloc.h"

static double value_of(const struct pm_profile *profile, const char *name) {
    double value = NAN;
    pm_parameters_get(&profile->parameters, name, &value);
    return value;
}

static bool is_constant(const struct pm_profile *const *profiles, size_t n, const char *name) {
    for (size_t i = 1; i < n; i++)
        if (value_of(profiles[i], name) != value_of(profiles[0], name))
            return false;
    return true;
}

/* Profiles in ascending order of NAME; false if two have the same value. */
static bool order_by(const struct pm_profile *const *profiles, size_t n, const char *name,
                     size_t *order) {
    for (size_t i = 0; i < n; i++) {
        double value = value_of(profiles[i], name);
        size_t at = i;
        for (; at > 0 && value_of(profiles[order[at - 1]], name) > value; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 1; i < n; i++)
        if (value_of(profiles[order[i]], name) == value_of(profiles[order[i - 1]], name))
            return false;
    return true;
}

static bool is_monotone(const struct pm_profile *const *profiles, size_t n, const size_t *order,
                        const char *name) {
    bool rises = true, falls = true;
    for (size_t i = 1; i < n; i++) {
        double step = value_of(profiles[order[i]], name) - value_of(profiles[order[i - 1]], name);
        rises &= step >= 0;
        falls &= step <= 0;
    }
    return rises || falls;
}

/* Error of the other parameters as polynomials in NAME; infinite if NAME does not determine them.
 */
static double error_as_base(const struct pm_profile *const *profiles, size_t n, const char *name,
                            size_t *order, double *x, double *y) {
    static const char *const texts[] = {"1", "x", "x^2", "x^3"};
    const struct pm_parameters *all = &profiles[0]->parameters;
    if (!order_by(profiles, n, name, order))
        return INFINITY;
    for (size_t i = 0; i < n; i++)
        x[i] = value_of(profiles[order[i]], name);
    struct pm_basis *basis = pm_basis_new(4, texts, NULL);
    struct pm_design *design = basis ? pm_design_new(basis, "x", x, n, NULL) : NULL;
    struct pm_series_workspace *workspace = design ? pm_series_workspace_new(design) : NULL;
    double error = workspace ? 0 : INFINITY;
    for (size_t p = 0; workspace && p < all->n; p++) {
        const char *other = all->names[p];
        if (strcmp(other, name) == 0 || is_constant(profiles, n, other))
            continue;
        for (size_t i = 0; i < n; i++)
            y[i] = value_of(profiles[order[i]], other);
        error += is_monotone(profiles, n, order, other)
                     ? fmax(pm_series_predictability(workspace, y, 0), 1e-9)
                     : INFINITY;
    }
    pm_series_workspace_free(workspace);
    pm_design_free(design);
    pm_basis_free(basis);
    return error;
}

const char *pm_fit_varying(const struct pm_profile *const *profiles, size_t n,
                           struct pm_error *err) {
    const struct pm_parameters *all = &profiles[0]->parameters;
    const char *names[2] = {NULL, NULL}, *best = NULL;
    double best_error = INFINITY, best_value = 0;
    size_t n_varying = 0, *order = pm_alloc(n, sizeof *order);
    double *x = pm_alloc(2 * n, sizeof *x);
    for (size_t p = 0; p < all->n; p++) {
        const char *name = all->names[p];
        if (is_constant(profiles, n, name))
            continue;
        if (n_varying < 2)
            names[n_varying] = name;
        n_varying++;
        double error = error_as_base(profiles, n, name, order, x, x + n);
        if (!isfinite(error))
            continue;
        double value = x[n - 1];
        if (error < best_error * (1 - 1e-6) || (error <= best_error && value > best_value)) {
            best = name;
            best_error = error;
            best_value = value;
        }
    }
    free(x);
    free(order);
    if (n_varying == 1) /* all else is constant, and no two runs are alike */
        return names[0];
    if (n_varying == 0)
        pm_fail(err,
                "no parameter differs between the %zu runs, so there is nothing to fit: run "
                "the program at several sizes, as in `pmodel run -P N=24,32,40,48,56`",
                n);
    else if (!best)
        pm_fail(err,
                "%s and %s vary independently, and models are functions of one parameter: run "
                "with all parameters but one fixed, or as formulas of that one",
                names[0], names[1]);
    return best;
}
