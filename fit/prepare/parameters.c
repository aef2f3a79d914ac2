/* Which parameters the models are functions of.

   If one of those that change from run to run determines all others, models are functions of that
   one: its values are distinct, and the others rise or fall with it.  Where several would do (M =
   floor((N−1)/3) beside N), it is the one in which the others are best expressed as polynomials.
   Else parameters that are functions of the rest are left out, one after the other: functions of
   one other parameter, which then has fewer values than there are runs, or exact polynomials in
   several (P = A·B). What remains varies independently. */
#include "fit/prepare/prepare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/surface/surface.h"

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
                     ? fmax(pm_series_predictability(workspace, y, 0), pm_heuristics.rounding)
                     : INFINITY;
    }
    pm_series_workspace_free(workspace);
    pm_design_free(design);
    pm_basis_free(basis);
    return error;
}

/* The one parameter that determines all others, or NULL. */
static const char *find_single(const struct pm_profile *const *profiles, size_t n) {
    const struct pm_parameters *all = &profiles[0]->parameters;
    const char *best = NULL;
    double best_error = INFINITY, best_value = 0, *x = pm_alloc(2 * n, sizeof *x);
    size_t *order = pm_alloc(n, sizeof *order);
    for (size_t p = 0; p < all->n; p++) {
        const char *name = all->names[p];
        if (is_constant(profiles, n, name))
            continue;
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
    return best;
}

/* ---- order ----------------------------------------------------------------------------------- */

static void coordinates(const struct pm_profile *profile, const char *const *names, size_t n_names,
                        double *point) {
    for (size_t p = 0; p < n_names; p++)
        point[p] = value_of(profile, names[p]);
}

void pm_fit_sort(const struct pm_profile *const *profiles, size_t n, const char *const *names,
                 size_t n_names, const struct pm_profile **sorted) {
    for (size_t i = 0; i < n; i++) {
        double here[PM_MAX_PARAMETERS], before[PM_MAX_PARAMETERS];
        size_t at = i;
        coordinates(profiles[i], names, n_names, here);
        for (; at > 0; at--) {
            coordinates(sorted[at - 1], names, n_names, before);
            if (n_names == 1 ? before[0] <= here[0]
                             : pm_surface_compare(before, here, n_names) <= 0)
                break;
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = profiles[i];
    }
}

/* ---- several --------------------------------------------------------------------------------- */

static size_t n_levels(const struct pm_profile *const *profiles, size_t n, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool known = false;
        for (size_t j = 0; j < i && !known; j++)
            known = value_of(profiles[i], name) == value_of(profiles[j], name);
        count += !known;
    }
    return count;
}

/* True if OTHER has one value for each of NAME's, and rises or falls with them. */
static bool determines(const struct pm_profile *const *profiles, size_t n, const char *name,
                       const char *other) {
    bool rises = true, falls = true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double step = value_of(profiles[j], name) - value_of(profiles[i], name);
            double change = value_of(profiles[j], other) - value_of(profiles[i], other);
            if (step == 0 && change != 0)
                return false;
            rises &= step <= 0 || change >= 0;
            falls &= step <= 0 || change <= 0;
        }
    return rises || falls;
}

/* True if runs that agree in all of NAMES are the same run. */
static bool tell_apart(const struct pm_profile *const *profiles, size_t n, const char *const *names,
                       size_t n_names) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            bool same = true;
            for (size_t p = 0; p < n_names; p++)
                same &= value_of(profiles[i], names[p]) == value_of(profiles[j], names[p]);
            if (same)
                return false;
        }
    return true;
}

/* OTHER as a function of NAMES: true if it is an exact polynomial of no more terms than a formula
   has. */
static bool is_polynomial(const struct pm_profile *const *profiles, size_t n,
                          const char *const *names, size_t n_names, const char *other) {
    const struct pm_profile **sorted = pm_alloc(n, sizeof *sorted);
    double *points = pm_alloc(n * (n_names + 1), sizeof *points), *y = points + n * n_names;
    pm_fit_sort(profiles, n, names, n_names, sorted);
    for (size_t k = 0; k < n; k++) {
        coordinates(sorted[k], names, n_names, points + k * n_names);
        y[k] = value_of(sorted[k], other);
    }
    struct pm_surface *surface = pm_surface_new(names, n_names, points, n, NULL, 0, NULL);
    struct pm_surface_workspace *workspace = surface ? pm_surface_workspace_new(surface) : NULL;
    struct pm_model model = {0};
    if (workspace)
        pm_surface_fit(workspace, y, PM_SERIES_COUNT, &model);
    pm_surface_workspace_free(workspace);
    pm_surface_free(surface);
    free(points);
    free(sorted);
    return model.exact && model.n_terms <= pm_heuristics.formula_terms;
}

/* True if parameter AT of the N_NAMES is a function of the others. */
static bool is_dependent(const struct pm_profile *const *profiles, size_t n,
                         const char *const *names, size_t n_names, size_t at) {
    const char *rest[PM_MAX_PARAMETERS];
    size_t n_rest = 0;
    for (size_t p = 0; p < n_names; p++)
        if (p != at)
            rest[n_rest++] = names[p];
    if (!tell_apart(profiles, n, rest, n_rest))
        return false;
    for (size_t p = 0; p < n_rest; p++)
        if (n_levels(profiles, n, rest[p]) < n && determines(profiles, n, rest[p], names[at]))
            return true;
    return n_rest >= 2 && n_rest <= PM_SURFACE_MAX_AXES &&
           is_polynomial(profiles, n, rest, n_rest, names[at]);
}

/* The next parameter to leave out: of those that are functions of the others the one with most
   values, and of these the one with the smallest: a sum or a product rather than what it is made
   of, M rather than N = 3·M.  N_NAMES if there is none. */
static size_t next_dependent(const struct pm_profile *const *profiles, size_t n,
                             const char *const *names, size_t n_names) {
    size_t found = n_names, most = 0;
    double least = INFINITY;
    for (size_t p = 0; p < n_names; p++) {
        size_t levels = n_levels(profiles, n, names[p]);
        double largest = 0;
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, value_of(profiles[i], names[p]));
        if (levels < most || (levels == most && largest >= least) ||
            !is_dependent(profiles, n, names, n_names, p))
            continue;
        found = p;
        most = levels;
        least = largest;
    }
    return found;
}

size_t pm_fit_varying(const struct pm_profile *const *profiles, size_t n, const char **names,
                      struct pm_error *err) {
    const struct pm_parameters *all = &profiles[0]->parameters;
    size_t n_names = 0;
    for (size_t p = 0; p < all->n; p++)
        if (!is_constant(profiles, n, all->names[p]))
            names[n_names++] = all->names[p];
    if (n_names == 0)
        pm_fail(err,
                "no parameter differs between the %zu runs, so there is nothing to fit: run "
                "the program at several sizes, as in `pmodel run -P N=24,32,40,48,56`",
                n);
    if (n_names < 2) /* all else is constant, and no two runs are alike */
        return n_names;
    const char *single = find_single(profiles, n);
    if (single) {
        names[0] = single;
        return 1;
    }
    for (size_t out; (out = next_dependent(profiles, n, names, n_names)) < n_names;) {
        memmove(names + out, names + out + 1, (n_names - out - 1) * sizeof *names);
        n_names--;
    }
    if (n_names <= PM_SURFACE_MAX_AXES)
        return n_names;
    pm_fail(err,
            "%zu parameters vary independently, and models are functions of %d at most: run with "
            "some of %s, %s, %s, %s, %s … fixed, or as formulas of the others",
            n_names, PM_SURFACE_MAX_AXES, names[0], names[1], names[2], names[3], names[4]);
    return 0;
}
