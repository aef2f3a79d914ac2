/* Models as functions of the parameter that is solved for; see query.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "fit/query/query.h"

/* ---- profiles from the models ---------------------------------------------------------------- */

bool pm_query_needs_models(struct pm_program *program, struct pm_error *err) {
    return pm_program_models(program, err) ||
           (err->kind == PM_ERROR_NONE &&
            pm_fail(err, "which size is asked, and there are no models yet: call `pmodel fit` on "
                         "the store first"));
}

static struct pm_profile *predicted(void *context, const struct pm_parameters *at,
                                    struct pm_error *err) {
    const struct pm_program *program = context;
    return pm_program_interpolate(program,
                                  pm_fit_instantiate(program->structure, program->models, at, err));
}

/* ---- what is solved for ---------------------------------------------------------------------- */

bool pm_query_depends_on(const struct pm_model_set *models, const char *name) {
    const struct pm_basis *basis = models->basis;
    for (size_t i = 0; i < basis->n; i++) {
        const char *const *names;
        size_t n_names;
        pm_expression_names(basis->expressions[i], &names, &n_names);
        for (size_t k = 0; k < n_names; k++)
            if (strcmp(names[k], name) == 0)
                return true;
    }
    return false;
}

/* Names in the models' basis that FIXED does not give; how many, the first in *NAME. */
static size_t count_unknown(const struct pm_model_set *models, const struct pm_parameters *fixed,
                            const char **name, char **all) {
    size_t n = 0;
    *all = pm_strdup("");
    for (size_t p = 0; p < models->low.n; p++) {
        double ignored;
        if (!pm_query_depends_on(models, models->low.names[p]))
            continue;
        pm_append(all, "%s%s", **all ? ", " : "", models->low.names[p]);
        if (pm_parameters_get(fixed, models->low.names[p], &ignored))
            continue;
        if (n++ == 0)
            *name = models->low.names[p];
    }
    return n;
}

static bool default_range(const struct pm_model_set *models, const char *name,
                          struct pm_query_range *range, struct pm_error *err) {
    double low = 0, high = NAN;
    pm_parameters_get(&models->low, name, &low);
    pm_parameters_get(&models->high, name, &high);
    if (low != floor(low) || high != floor(high))
        return pm_fail(err,
                       "%s was not a whole number in all runs: say with --range %s=LOW:HIGH:STEP "
                       "which values to look at",
                       name, name);
    *range = (struct pm_query_range){
        .low = low, .step = 1, .n = (uint64_t)(PM_QUERY_FACTOR * high - low) + 1};
    return true;
}

bool pm_query_find_surface(struct pm_program *program, const struct pm_parameters *fixed,
                           const char *range_of, const struct pm_query_range *range,
                           struct pm_query_surface *surface, struct pm_error *err) {
    const char *name = NULL;
    char *all;
    *surface = (struct pm_query_surface){0};
    size_t n = count_unknown(program->models, fixed, &name, &all);
    bool ok = n == 1;
    if (n == 0 && *all)
        pm_fail(err,
                "the answer is a size, and %s is given: leave one parameter out, or give the "
                "size and the cache, or the size and --hit-ratio",
                all);
    else if (n == 0)
        pm_fail(err, "the models do not depend on any parameter, so there is no size to look for");
    else if (n > 1)
        pm_fail(err, "the models are functions of %s: give all but one of them with -P", all);
    free(all);
    if (!ok || !pm_check_parameter_names(&program->runs[program->n_runs - 1], fixed, err))
        return false;
    *surface = (struct pm_query_surface){
        .profile_at = predicted, .context = program, .fixed = *fixed, .name = name};
    pm_parameters_get(&program->models->high, name, &surface->largest_measured);
    if (!range_of)
        return default_range(program->models, name, &surface->range, err);
    surface->range = *range;
    return strcmp(range_of, name) == 0 ||
           pm_fail(err, "--range is of %s, but what is looked for is %s", range_of, name);
}
