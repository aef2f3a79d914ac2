/* One axis: functions at its levels, and on a grid over the range of prediction.

   Each function is divided by a power of two near its largest value, which costs no digit.  Shape
   is expressed by slopes on a grid, d f / d log x, taken by differences, so that it works for any
   basis: over a ten-thousandth of x where that explains how the function goes from one point of the
   grid to the next, and from neighbour to neighbour where it does not, as for ceil(N/8), which is
   constant almost everywhere.

   A function may name parameters that only go along with the varying one.  At measured sizes these
   are known; between them they are taken as straight, beyond them as a power of the size. */
#include "fit/series/private.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Of x, in central differences: exact to about 1e-8. */
static const double slope_step = 1e-4;
/* Of a function's change between points of the grid, not explained by its slopes: then it has
 * steps. */
static const double unexplained_steps = 0.5;

enum { MAX_FUNCTIONS = PM_MODEL_MAX_TERMS };

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

double pm_path_grid(const struct pm_path *path, size_t j, size_t n) {
    double low = path->x[0], high = pm_heuristics.shape_range * path->x[path->n - 1];
    return low * pow(high / low, (double)j / (double)(n - 1));
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

/* Puts the functions that grow like a fourth power beyond the data behind the others; how they
   grow. */
static bool order_functions(struct pm_axis *axis, const struct pm_basis *basis,
                            const struct pm_path *path, struct pm_error *err) {
    double here[MAX_FUNCTIONS], far[MAX_FUNCTIONS], last = path->x[path->n - 1];
    if (!evaluate_at(basis, path, last, here, err) ||
        !evaluate_at(basis, path, pm_heuristics.shape_range * last, far, err))
        return false;
    double steep_ratio = pow(pm_heuristics.shape_range, pm_heuristics.high_power);
    axis->n_functions = 0;
    for (int steep = 0; steep < 2; steep++)
        for (size_t i = 0; i < basis->n; i++) {
            double ratio = here[i] != 0 ? fabs(far[i] / here[i]) : 0;
            if ((ratio > steep_ratio) != steep)
                continue;
            size_t f = axis->n_functions++;
            axis->number[f] = (uint16_t)i;
            axis->steep[f] = steep;
            axis->power[f] = ratio > 0 ? log(ratio) / log(pm_heuristics.shape_range) : 0;
        }
    return true;
}

static bool fill_levels(struct pm_axis *axis, const struct pm_basis *basis,
                        const struct pm_path *path, struct pm_error *err) {
    double values[MAX_FUNCTIONS], largest[MAX_FUNCTIONS] = {0};
    axis->n_levels = path->n;
    axis->levels = pm_alloc(path->n, sizeof *axis->levels);
    axis->values = pm_alloc(path->n, sizeof *axis->values);
    for (size_t l = 0; l < path->n; l++) {
        axis->levels[l] = path->x[l];
        if (!evaluate_at(basis, path, path->x[l], values, err))
            return false;
        for (size_t f = 0; f < axis->n_functions; f++) {
            axis->values[l][f] = values[axis->number[f]];
            largest[f] = fmax(largest[f], fabs(axis->values[l][f]));
        }
    }
    for (size_t f = 0; f < axis->n_functions; f++) {
        int exponent = 0;
        frexp(largest[f], &exponent);
        axis->scale[f] = ldexp(1, exponent);
    }
    return true;
}

/* At the smallest size a function may end, as sqrt(N-1) does at 1: then the slope to its right. */
static bool fill_point(struct pm_axis *axis, const struct pm_basis *basis,
                       const struct pm_path *path, size_t j, struct pm_error *err) {
    double x = axis->grid[j], at[MAX_FUNCTIONS], before[MAX_FUNCTIONS], after[MAX_FUNCTIONS];
    if (!evaluate_at(basis, path, x, at, err) ||
        !evaluate_at(basis, path, x * (1 + slope_step), after, err))
        return false;
    double span = 2 * slope_step;
    if (!evaluate_at(basis, path, x * (1 - slope_step), before, j ? err : NULL)) {
        if (j)
            return false;
        memcpy(before, at, sizeof before);
        span = slope_step;
    }
    for (size_t i = 0; i < axis->n_functions; i++) {
        size_t f = axis->number[i];
        axis->shape[PM_SHAPE_VALUE][i][j] = at[f] / axis->scale[i];
        axis->shape[PM_SHAPE_SLOPE][i][j] = (after[f] - before[f]) / (span * axis->scale[i]);
    }
    return true;
}

/* Whether the slopes of function I account for how it goes from point to point of the grid. */
static bool has_steps(const struct pm_axis *axis, size_t i) {
    const double *value = axis->shape[PM_SHAPE_VALUE][i], *slope = axis->shape[PM_SHAPE_SLOPE][i];
    for (size_t j = 0; j + 1 < axis->n_grid; j++) {
        double change = value[j + 1] - value[j];
        double width = log(axis->grid[j + 1] / axis->grid[j]);
        double explained = 0.5 * width * (slope[j] + slope[j + 1]);
        if (fabs(explained - change) > unexplained_steps * fmax(fabs(change), fabs(explained)) &&
            fabs(explained - change) > PM_SHAPE_TOLERANCE)
            return true;
    }
    return false;
}

static void slopes_between_neighbours(struct pm_axis *axis, size_t i) {
    const double *value = axis->shape[PM_SHAPE_VALUE][i];
    for (size_t j = 0; j < axis->n_grid; j++) {
        size_t left = j ? j - 1 : 0, right = j + 1 < axis->n_grid ? j + 1 : j;
        axis->shape[PM_SHAPE_SLOPE][i][j] =
            (value[right] - value[left]) / log(axis->grid[right] / axis->grid[left]);
    }
}

static bool fill_grid(struct pm_axis *axis, const struct pm_basis *basis,
                      const struct pm_path *path, struct pm_error *err) {
    const double *x = axis->grid;
    for (size_t j = 0; j < axis->n_grid; j++) {
        axis->grid[j] = pm_path_grid(path, j, axis->n_grid);
        if (!fill_point(axis, basis, path, j, err))
            return false;
    }
    for (size_t i = 0; i < axis->n_functions; i++) {
        const double *slope = axis->shape[PM_SHAPE_SLOPE][i];
        if (has_steps(axis, i))
            slopes_between_neighbours(axis, i);
        for (size_t j = 0; j + 1 < axis->n_grid; j++)
            axis->shape[PM_SHAPE_CURVATURE][i][j] = slope[j + 1] / x[j + 1] * x[j] - slope[j];
    }
    return true;
}

bool pm_axis_fill(struct pm_axis *axis, const struct pm_basis *basis, const struct pm_path *path,
                  struct pm_error *err) {
    if (!(path->x[0] > 0))
        return pm_fail(err, "%s=%g is not a size that can be fitted: it must be above 0",
                       path->parameter, path->x[0]);
    return order_functions(axis, basis, path, err) && fill_levels(axis, basis, path, err) &&
           fill_grid(axis, basis, path, err);
}
