/* What all series of a fit share: basis functions at the measured sizes and over the range of
   prediction; see series.h.

   Each function is divided by a power of two near its largest value, which costs no digit.  Shape
   is expressed by slopes on a grid, d f / d log x, taken by differences, so that it works for any
   basis: over a ten-thousandth of x where that explains how the function goes from one point of the
   grid to the next, and from neighbour to neighbour where it does not, as for ceil(N/8), which is
   constant almost everywhere.

   A function may name parameters that only go along with the varying one.  At measured sizes these
   are known; between them they are taken as straight, beyond them as a power of the size. */
#include "fit/series/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/surface/surface.h"

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

/* ---- the line of sizes ----------------------------------------------------------------------- */

static double value_at(const struct pm_path *path, size_t run, const char *name) {
    double value = 0;
    pm_parameters_get(&path->runs[run], name, &value);
    return value;
}

/* Parameter NAME where the varying one is X. */
static double companion(const struct pm_path *path, const char *name, double x) {
    size_t last = path->n - 1, middle = last / 2, k = 1;
    double at_last = value_at(path, last, name), at_middle = value_at(path, middle, name);
    if (x > path->x[last]) {
        double ratio = at_last / at_middle;
        if (!(ratio > 0) || middle == last)
            return at_last;
        return at_last * pow(x / path->x[last], log(ratio) / log(path->x[last] / path->x[middle]));
    }
    while (k < last && path->x[k] < x)
        k++;
    if (k > last)
        return at_last;
    double share = fmax((x - path->x[k - 1]) / (path->x[k] - path->x[k - 1]), 0);
    double before = value_at(path, k - 1, name), after = value_at(path, k, name);
    return share == 1 ? after : before + share * (after - before);
}

bool pm_path_at(const struct pm_path *path, double x, struct pm_parameters *at,
                struct pm_error *err) {
    memset(at, 0, sizeof *at);
    bool ok = pm_parameters_set(at, path->parameter, x, err);
    for (size_t p = 0; ok && path->runs && p < path->runs[0].n; p++) {
        const char *name = path->runs[0].names[p];
        if (strcmp(name, path->parameter) != 0)
            ok = pm_parameters_set(at, name, companion(path, name, x), err);
    }
    return ok;
}

double pm_path_grid(const struct pm_path *path, size_t j) {
    double low = path->x[0], high = pm_heuristics.shape_range * path->x[path->n - 1];
    return low * pow(high / low, (double)j / (PM_SERIES_GRID - 1));
}

/* All functions of the basis, in its order, at X. */
static bool evaluate_at(const struct pm_basis *basis, const struct pm_path *path, double x,
                        double *values, struct pm_error *err) {
    struct pm_parameters at;
    if (!pm_path_at(path, x, &at, err))
        return false;
    return pm_basis_evaluate(basis, &at, values, err) ||
           pm_fail_in(err, "at %s=%g", path->parameter, x);
}

/* ---- functions on the grid ------------------------------------------------------------------- */

/* Puts the functions that grow like a fourth power beyond the data behind the others. */
static bool order_functions(struct pm_design *design, const struct pm_basis *basis,
                            const struct pm_path *path, struct pm_error *err) {
    double here[MAX_TERMS], far[MAX_TERMS], last = path->x[path->n - 1];
    if (!evaluate_at(basis, path, last, here, err) ||
        !evaluate_at(basis, path, pm_heuristics.shape_range * last, far, err))
        return false;
    size_t n = 0;
    for (int steep = 0; steep < 2; steep++) {
        for (size_t i = 0; i < basis->n; i++)
            if ((here[i] != 0 && fabs(far[i] / here[i]) > pow(pm_heuristics.shape_range,
                                                              pm_heuristics.high_power)) == steep)
                design->index[n++] = (uint16_t)i;
        if (!steep)
            design->n_gentle = n ? n : basis->n;
    }
    return true;
}

/* At the smallest size a function may end, as sqrt(N-1) does at 1: then the slope to its right. */
static bool fill_point(struct pm_design *design, const struct pm_basis *basis,
                       const struct pm_path *path, size_t j, struct pm_error *err) {
    double x = design->grid_x[j], at[MAX_TERMS], before[MAX_TERMS], after[MAX_TERMS];
    if (!evaluate_at(basis, path, x, at, err) ||
        !evaluate_at(basis, path, x * (1 + pm_heuristics.slope_step), after, err))
        return false;
    double span = 2 * pm_heuristics.slope_step;
    if (!evaluate_at(basis, path, x * (1 - pm_heuristics.slope_step), before, j ? err : NULL)) {
        if (j)
            return false;
        memcpy(before, at, sizeof before);
        span = pm_heuristics.slope_step;
    }
    for (size_t i = 0; i < basis->n; i++) {
        size_t f = design->index[i];
        design->grid[j][i] = at[f] / design->scale[i];
        design->slope[j][i] = (after[f] - before[f]) / (span * design->scale[i]);
    }
    return true;
}

/* Whether the slopes of function I account for how it goes from point to point of the grid. */
static bool has_steps(const struct pm_design *design, size_t i) {
    for (size_t j = 0; j + 1 < PM_SERIES_GRID; j++) {
        double change = design->grid[j + 1][i] - design->grid[j][i];
        double width = log(design->grid_x[j + 1] / design->grid_x[j]);
        double explained = 0.5 * width * (design->slope[j][i] + design->slope[j + 1][i]);
        if (fabs(explained - change) >
                pm_heuristics.unexplained_steps * fmax(fabs(change), fabs(explained)) &&
            fabs(explained - change) > pm_heuristics.shape_tolerance)
            return true;
    }
    return false;
}

static void slopes_between_neighbours(struct pm_design *design, size_t i) {
    for (size_t j = 0; j < PM_SERIES_GRID; j++) {
        size_t left = j ? j - 1 : 0, right = j + 1 < PM_SERIES_GRID ? j + 1 : j;
        design->slope[j][i] = (design->grid[right][i] - design->grid[left][i]) /
                              log(design->grid_x[right] / design->grid_x[left]);
    }
}

static bool fill_grid(struct pm_design *design, const struct pm_basis *basis,
                      const struct pm_path *path, struct pm_error *err) {
    for (size_t j = 0; j < PM_SERIES_GRID; j++) {
        design->grid_x[j] = pm_path_grid(path, j);
        if (!fill_point(design, basis, path, j, err))
            return false;
    }
    for (size_t i = 0; i < basis->n; i++)
        if (has_steps(design, i))
            slopes_between_neighbours(design, i);
    const double *x = design->grid_x;
    for (size_t j = 0; j + 1 < PM_SERIES_GRID; j++)
        for (size_t i = 0; i < basis->n; i++)
            design->curvature[j][i] =
                design->slope[j + 1][i] / x[j + 1] * x[j] - design->slope[j][i];
    return true;
}

/* ---- the design ------------------------------------------------------------------------------ */

static bool fill_values(struct pm_design *design, const struct pm_basis *basis,
                        const struct pm_path *path, struct pm_error *err) {
    double values[MAX_TERMS];
    for (size_t s = 0; s < design->n; s++) {
        if (!evaluate_at(basis, path, design->x[s], values, err))
            return false;
        for (size_t i = 0; i < basis->n; i++) {
            design->values[s][i] = values[design->index[i]];
            design->scale[i] = fmax(design->scale[i], fabs(design->values[s][i]));
        }
    }
    for (size_t i = 0; i < basis->n; i++) {
        int exponent = 0;
        frexp(design->scale[i], &exponent);
        design->scale[i] = ldexp(1, exponent);
        for (size_t s = 0; s < design->n; s++)
            design->values[s][i] /= design->scale[i];
    }
    return true;
}

struct pm_design *pm_design_on_path(const struct pm_basis *basis, const struct pm_path *path,
                                    struct pm_error *err) {
    if (basis->n == 0 || basis->n > PM_MODEL_MAX_TERMS) {
        pm_fail(err, "a fit takes 1 to %d basis functions, not %zu", PM_MODEL_MAX_TERMS, basis->n);
        return NULL;
    }
    if (!(path->x[0] > 0)) {
        pm_fail(err, "%s=%g is not a size that can be fitted: it must be above 0", path->parameter,
                path->x[0]);
        return NULL;
    }
    struct pm_design *design = pm_alloc(1, sizeof *design);
    size_t n = path->n;
    design->n = n;
    design->n_basis = basis->n;
    design->x = pm_alloc(n, sizeof *design->x);
    memcpy(design->x, path->x, n * sizeof *design->x);
    design->values = pm_alloc(n, sizeof *design->values);
    if (order_functions(design, basis, path, err) && fill_values(design, basis, path, err) &&
        fill_grid(design, basis, path, err)) {
        pm_design_number_functions(design, basis->n);
        return design;
    }
    pm_design_free(design);
    return NULL;
}

struct pm_design *pm_design_new(const struct pm_basis *basis, const char *parameter,
                                const double *x, size_t n, struct pm_error *err) {
    const struct pm_path path = {.parameter = parameter, .n = n, .x = x};
    return pm_design_on_path(basis, &path, err);
}

/* Value of function NUMBER of the list at a measured size, 0 if DESIGN does not have it. */
static double function_value(const struct pm_design *design, size_t number, size_t size) {
    if (design->surface)
        return pm_surface_function(design->surface, number, size);
    for (size_t i = 0; i < design->n_basis; i++)
        if (design->index[i] == number)
            return design->values[size][i] * design->scale[i];
    for (size_t a = 0; a < design->n_alternatives; a++) {
        double value = function_value(design->alternatives[a], number, size);
        if (value != 0)
            return value;
    }
    return 0;
}

void pm_design_number_functions(struct pm_design *design, size_t n) {
    free(design->functions);
    design->n_functions = n;
    design->functions = pm_alloc(design->n * n, sizeof *design->functions);
    for (size_t k = 0; k < design->n; k++)
        for (size_t i = 0; i < n; i++)
            design->functions[k * n + i] = function_value(design, i, k);
}

double pm_design_model_value(const struct pm_design *design, const struct pm_model *model,
                             size_t size) {
    return pm_model_value(model, design->functions + size * design->n_functions);
}

struct pm_design *pm_design_of_surface(struct pm_surface *surface) {
    struct pm_design *design = pm_alloc(1, sizeof *design);
    design->n = pm_surface_n_points(surface);
    design->x = pm_alloc(design->n, sizeof *design->x);
    for (size_t k = 0; k < design->n; k++)
        design->x[k] = pm_surface_size(surface, k);
    design->surface = surface;
    return design;
}

void pm_design_free(struct pm_design *design) {
    if (!design)
        return;
    pm_surface_free(design->surface);
    for (size_t i = 0; i < design->n_alternatives; i++)
        pm_design_free(design->alternatives[i]);
    free(design->alternatives);
    free(design->values);
    free(design->functions);
    free(design->x);
    free(design);
}

/* ---- from size to size ----------------------------------------------------------------------- */

size_t pm_design_nearest(const struct pm_design *design, size_t k) {
    return design->surface ? pm_surface_nearest(design->surface, k) : k + 1;
}

void pm_design_steps(const struct pm_design *design, size_t from, size_t to, double *up,
                     double *down) {
    if (design->surface) {
        pm_surface_steps(design->surface, from, to, up, down);
        return;
    }
    double step = log(design->x[to] / design->x[from]);
    *up = step > 0 ? step : 0;
    *down = step > 0 ? 0 : step;
}
