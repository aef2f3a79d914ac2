/* Sizes that models were made from: whether anything changes with them, whether they are enough to
   check a model, and whether the answer is for a smaller or a far larger one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/private.h"
#include "fit/warnings/private.h"

/* Of each of several parameters: a cubic has so many coefficients. */
enum { enough_values = 4 };

/* ---- nothing changes ------------------------------------------------------------------------- */

/* Is something executed, and all of it equally often at all sizes? */
static bool is_all_equal(const struct pm_model_set *models) {
    size_t n_counted = 0;
    for (size_t e = 0; e < models->n_edges; e++) {
        const struct pm_model *model = &models->edges[e];
        if (model->n_terms == 0)
            continue;
        if (!model->exact || model->shape != PM_SHAPE_CONSTANT)
            return false;
        n_counted++;
    }
    return n_counted > 0;
}

static void warn_of_equal_counts(const struct pm_origin *origin, const char *parameters,
                                 struct pm_warnings *warnings) {
    if (is_all_equal(origin->models))
        pm_warning_add(warnings, PM_WARNING_EQUAL_COUNTS, NAN,
                       "nothing that is executed differs between the %zu runs, so the program does "
                       "not seem to take %s, and the models say nothing of other sizes.",
                       origin->models->n_runs, parameters);
}

/* ---- few sizes ------------------------------------------------------------------------------- */

static size_t n_values(const struct pm_model_set *models, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < models->n_runs; i++) {
        double own = NAN, other = NAN;
        bool is_new = true;
        pm_parameters_get(&models->runs[i], name, &own);
        for (size_t j = 0; j < i && is_new; j++)
            is_new = !pm_parameters_get(&models->runs[j], name, &other) || other != own;
        n += is_new;
    }
    return n;
}

static void warn_of_few_sizes(const struct pm_origin *origin, const char *const *names, size_t n,
                              struct pm_warnings *warnings) {
    size_t enough = n == 1 ? (size_t)pm_heuristics.enough_sizes : (size_t)enough_values;
    for (size_t i = 0; i < n; i++) {
        size_t values = n_values(origin->models, names[i]);
        if (values < enough)
            pm_warning_add(warnings, PM_WARNING_FEW_SIZES, NAN,
                           "models are made of %zu values of %s, too few to check them, and their "
                           "errors and intervals say little: measure %zu or more.",
                           values, names[i], enough);
    }
}

/* ---- below the measured sizes ---------------------------------------------------------------- */

static void warn_of_smaller_size(const struct pm_origin *origin, const char *const *names, size_t n,
                                 struct pm_warnings *warnings) {
    for (size_t i = 0; origin->profile && i < n; i++) {
        double value, low;
        if (pm_parameters_get(&origin->profile->parameters, names[i], &value) &&
            pm_parameters_get(&origin->models->low, names[i], &low) && value < low)
            pm_warning_add(warnings, PM_WARNING_BELOW_MEASURED, NAN,
                           "%s=%g is below the smallest measured value, %g: what matters at small "
                           "sizes only is not in the models.",
                           names[i], value, low);
    }
}

/* ---- far beyond them ------------------------------------------------------------------------- */

static void warn_of_far_size(const struct pm_origin *origin, const char *const *names, size_t n,
                             struct pm_warnings *warnings) {
    for (size_t i = 0; origin->profile && i < n; i++) {
        double value, high;
        if (pm_parameters_get(&origin->profile->parameters, names[i], &value) &&
            pm_parameters_get(&origin->models->high, names[i], &high) &&
            value > pm_heuristics.shape_range * high)
            pm_warning_add(warnings, PM_WARNING_FAR, NAN,
                           "%s=%g is %.3g times the largest measured value: models were made to "
                           "rise and fall as the measurements do up to %g times it, and beyond "
                           "that a term that is small now may rule them.",
                           names[i], value, value / high, pm_heuristics.shape_range);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

void pm_warn_of_sizes(const struct pm_origin *origin, struct pm_warnings *warnings) {
    const char *names[PM_MAX_PARAMETERS];
    size_t n = pm_model_set_parameters(origin->models, names);
    char *text = pm_strdup("");
    for (size_t i = 0; i < n; i++)
        pm_append(&text, "%s%s", i ? ", " : "", names[i]);
    warn_of_equal_counts(origin, text, warnings);
    warn_of_few_sizes(origin, names, n, warnings);
    warn_of_smaller_size(origin, names, n, warnings);
    warn_of_far_size(origin, names, n, warnings);
    free(text);
}
