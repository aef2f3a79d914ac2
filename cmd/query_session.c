/* What a query reads from a store; see query_session.h. */
#include "cmd/query_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/query_request.h"
#include "cmd/runs_of_store.h"
#include "fit/fit.h"
#include "sched/sched.h"

bool pm_open_query_session(struct pm_query_session *session, struct pm_store *store,
                           bool needs_models, struct pm_error *err) {
    *session = (struct pm_query_session){.store = store};
    session->structure = pm_store_structure(store, err);
    if (!session->structure || !pm_store_runs(store, &session->runs, &session->n_runs, err))
        return false;
    if (session->n_runs == 0)
        return pm_fail(err, "the store holds no run yet: measure with `pmodel run`");
    session->measured_up_to = pm_parameters_text(&session->runs[session->n_runs - 1]);
    struct pm_error without = {0};
    session->models = pm_store_models(store, &without);
    if (session->models || (!needs_models && without.kind == PM_ERROR_INPUT))
        return true;
    if (without.kind != PM_ERROR_NONE) {
        *err = without;
        return false;
    }
    return !needs_models || pm_fail(err, "which size is asked, and there are no models yet: call "
                                         "`pmodel fit` on the store first");
}

void pm_close_query_session(struct pm_query_session *session) {
    pm_model_set_free(session->models);
    if (session->structure)
        pm_structure_free(session->structure);
    free(session->runs);
    free(session->measured_up_to);
}

/* ---- profiles -------------------------------------------------------------------------------- */

struct pm_profile *pm_session_predicted(void *context, const struct pm_parameters *at,
                                        struct pm_error *err) {
    const struct pm_query_session *session = context;
    return pm_fit_instantiate(session->structure, session->models, at, err);
}

struct pm_profile *pm_session_predicted_end(void *context, const struct pm_parameters *at,
                                            struct pm_error *err) {
    const struct pm_session_end *end = context;
    return pm_fit_instantiate_end(end->session->structure, end->session->models, at,
                                  PM_QUERY_PROBABILITY, end->high, err);
}

bool pm_session_ends(const struct pm_query_session *session, const struct pm_parameters *at,
                     struct pm_profile *ends[2], struct pm_error *err) {
    for (int i = 0; i < 2; i++) {
        struct pm_session_end end = {session, i == 1};
        ends[i] = pm_session_predicted_end(&end, at, err);
        if (ends[i])
            continue;
        if (i == 1)
            pm_profile_free(ends[0]);
        return false;
    }
    return true;
}

struct pm_profile *pm_session_profile(const struct pm_query_session *session,
                                      const struct pm_parameters *at, struct pm_error *err) {
    if (!pm_check_parameter_names(&session->runs[session->n_runs - 1], at, err))
        return NULL;
    for (size_t i = session->n_runs; i-- > 0;) {
        if (!pm_run_matches(&session->runs[i], at))
            continue;
        struct pm_profile *profile = pm_store_profile(session->store, &session->runs[i], err);
        if (!profile || pm_profile_fits(profile, session->structure, err))
            return profile;
        pm_profile_free(profile);
        return NULL;
    }
    if (session->models)
        return pm_fit_instantiate(session->structure, session->models, at, err);
    struct pm_model_set *models = pm_store_models(session->store, err); /* says why not */
    pm_model_set_free(models);
    if (err->kind == PM_ERROR_NONE)
        pm_fail(err, "this size was not measured and there are no models yet: call `pmodel fit` on "
                     "the store first");
    return NULL;
}

/* ---- what is solved for ---------------------------------------------------------------------- */

bool pm_session_depends_on(const struct pm_query_session *session, const char *name) {
    const struct pm_basis *basis = session->models->basis;
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
static size_t count_unknown(const struct pm_query_session *session,
                            const struct pm_parameters *fixed, const char **name, char **all) {
    const struct pm_model_set *models = session->models;
    size_t n = 0;
    *all = pm_strdup("");
    for (size_t p = 0; p < models->low.n; p++) {
        double ignored;
        if (!pm_session_depends_on(session, models->low.names[p]))
            continue;
        pm_append(all, "%s%s", **all ? ", " : "", models->low.names[p]);
        if (pm_parameters_get(fixed, models->low.names[p], &ignored))
            continue;
        if (n++ == 0)
            *name = models->low.names[p];
    }
    return n;
}

double pm_session_largest(const struct pm_query_session *session, const char *name) {
    double largest = NAN;
    pm_parameters_get(&session->models->high, name, &largest);
    return largest;
}

static bool default_range(const struct pm_query_session *session, const char *name,
                          struct pm_query_range *range, struct pm_error *err) {
    double low = 0, high = pm_session_largest(session, name);
    pm_parameters_get(&session->models->low, name, &low);
    if (low != floor(low) || high != floor(high))
        return pm_fail(err,
                       "%s was not a whole number in all runs: say with --range %s=LOW:HIGH:STEP "
                       "which values to look at",
                       name, name);
    *range = (struct pm_query_range){
        .low = low, .step = 1, .n = (uint64_t)(PM_QUERY_FACTOR * high - low) + 1};
    return true;
}

bool pm_session_surface(struct pm_query_session *session, const struct pm_parameters *fixed,
                        const char *range, struct pm_query_surface *surface, struct pm_error *err) {
    const char *name = NULL;
    char *all;
    *surface = (struct pm_query_surface){0};
    size_t n = count_unknown(session, fixed, &name, &all);
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
    if (!ok || !pm_check_parameter_names(&session->runs[session->n_runs - 1], fixed, err))
        return false;
    *surface = (struct pm_query_surface){
        .profile_at = pm_session_predicted, .context = session, .fixed = *fixed, .name = name};
    if (!range)
        return default_range(session, name, &surface->range, err);
    char *named;
    if (!pm_read_query_range(range, &named, &surface->range, err))
        return false;
    ok = strcmp(named, name) == 0 ||
         pm_fail(err, "--range is of %s, but what is looked for is %s", named, name);
    free(named);
    return ok;
}

/* ---- caches ---------------------------------------------------------------------------------- */

bool pm_add_levels(struct pm_level_cache_list *list, const struct pm_machine *machine,
                   const struct pm_profile *profile, struct pm_error *err) {
    if (!pm_check_block_sizes(profile, machine, err))
        return false;
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        *PM_PUSH(list, caches) = (struct pm_query_level_cache){
            .name = pm_strdup(level->name),
            .machine = pm_strdup(machine->name),
            .cache = {level->block_bytes, (double)(level->size_bytes / level->block_bytes)},
        };
    }
    return true;
}

void pm_free_level_caches(struct pm_level_cache_list *list) {
    for (size_t i = 0; i < list->n_caches; i++) {
        free(list->caches[i].name);
        free(list->caches[i].machine);
    }
    free(list->caches);
}
