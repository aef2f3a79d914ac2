/* The same models without the largest sizes.

   A fit of the smaller sizes is wrong at larger ones for the reasons for which the fit of all sizes
   is wrong further out: arrays that outgrow something, rows that become as long as a page, periods
   of a block's extent.  So what two such fits say of a size, beside what the fit of all says of it,
   shows where that prediction hangs on a few sizes; predict/spread.c makes intervals of it.  With
   several parameters, the runs at the largest value of any of them are left out.
   Source: the jackknife (Quenouille 1956), leaving out from the end to which models extrapolate. */
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/predict/predict.h"
#include "fit/prepare/prepare.h"
#include "fit/private.h"

static double value_of(const struct pm_profile *profile, const char *name) {
    double value = 0;
    pm_parameters_get(&profile->parameters, name, &value);
    return value;
}

/* The largest value of NAME among those of the N profiles that are below BELOW; −∞ if none is. */
static double largest_below(const struct pm_profile *const *profiles, size_t n, const char *name,
                            double below) {
    double largest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double value = value_of(profiles[i], name);
        if (value < below)
            largest = fmax(largest, value);
    }
    return largest;
}

/* Keeps of the N profiles those below the N_LEFT_OUT largest values of each name. */
static size_t keep_small(const struct pm_profile *const *profiles, size_t n,
                         const char *const *names, size_t n_names, size_t n_left_out,
                         const struct pm_profile **kept) {
    double limit[PM_MAX_PARAMETERS];
    size_t n_kept = 0;
    for (size_t k = 0; k < n_names; k++) {
        limit[k] = INFINITY;
        for (size_t i = 0; i < n_left_out; i++)
            limit[k] = largest_below(profiles, n, names[k], limit[k]);
    }
    for (size_t i = 0; i < n; i++) {
        bool small = true;
        for (size_t k = 0; k < n_names; k++)
            small &= value_of(profiles[i], names[k]) < limit[k];
        if (small)
            kept[n_kept++] = profiles[i];
    }
    return n_kept;
}

/* Whether those kept still vary in as many parameters, so that the models are of the same kind. */
static bool is_enough(const struct pm_profile *const *kept, size_t n_kept,
                      const struct pm_fit_options *options) {
    const char *names[PM_MAX_PARAMETERS];
    struct pm_error ignored = {0};
    return n_kept >= PM_FIT_LEAST_SIZES &&
           pm_fit_varying(kept, n_kept, options, names, NULL, &ignored) == options->n_parameters;
}

size_t pm_fit_keep_fitted(const struct pm_profile *const *profiles, size_t n,
                          const struct pm_model_set *set, const struct pm_profile **fitted) {
    size_t n_fitted = 0;
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < set->n_runs; k++)
            found |= pm_parameters_equal(&profiles[i]->parameters, &set->runs[k]);
        if (found)
            fitted[n_fitted++] = profiles[i];
    }
    return n_fitted;
}

void pm_fit_hold_out(const struct pm_structure *structure, const struct pm_profile *const *profiles,
                     size_t n_profiles, const struct pm_fit_options *options,
                     struct pm_model_set *set) {
    if (pm_fit_without(PM_STEP_HELD_OUT))
        return;
    const struct pm_profile **fitted = pm_alloc(2 * n_profiles, sizeof *fitted);
    const struct pm_profile **kept = fitted + n_profiles;
    const char *names[PM_MAX_PARAMETERS];
    struct pm_error ignored = {0};
    struct pm_fit_options same = options ? *options : (struct pm_fit_options){0};
    same.drop_outliers = false;  /* they are no longer there */
    same.without_strides = true; /* their misses are compared in fully associative caches */
    same.dumping = NULL;
    size_t n_fitted = pm_fit_keep_fitted(profiles, n_profiles, set, fitted);
    size_t n_names = pm_fit_varying(fitted, n_fitted, &same, names, NULL, &ignored);
    same.parameters = names; /* the same kind of models */
    same.n_parameters = n_names;
    set->held_out_tried = true;
    pm_fit_residuals(structure, fitted, n_fitted, set);
    for (size_t left_out = 1; n_names > 0 && left_out <= PM_MOST_HELD_OUT; left_out++) {
        size_t n_kept = keep_small(fitted, n_fitted, names, n_names, left_out, kept);
        if (!is_enough(kept, n_kept, &same))
            break;
        struct pm_model_set *without = pm_fit(structure, kept, n_kept, &same, NULL, &ignored);
        if (!without)
            break;
        set->held_out[set->n_held_out++] = without;
    }
    pm_dump_held_out(options ? options->dumping : NULL, set);
    free(fitted);
}
