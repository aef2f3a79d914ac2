/* Profiles at sizes, measured or from the models; see profile_at.h. */
#include "fit/query/profile_at.h"

#include <stdlib.h>

#include "fit/fit.h"
#include "fit/private.h"

/* Which runs came to their end, and the largest of these; of all, if none did. */
static bool find_whole_runs(struct pm_program *program, struct pm_error *err) {
    size_t largest = program->n_runs - 1;
    program->is_whole = pm_alloc(program->n_runs, sizeof *program->is_whole);
    for (size_t i = 0; i < program->n_runs; i++) {
        char *how;
        if (!pm_store_truncation(program->store, &program->runs[i], &how, err))
            return false;
        program->is_whole[i] = !how;
        free(how);
    }
    for (size_t i = program->n_runs; i-- > 0;)
        if (program->is_whole[i]) {
            largest = i;
            break;
        }
    program->measured_up_to = pm_parameters_text(&program->runs[largest]);
    return true;
}

bool pm_program_open_as(struct pm_program *program, struct pm_store *store,
                        struct pm_structure *structure, struct pm_error *err) {
    *program = (struct pm_program){.store = store, .structure = structure};
    if (!structure || !pm_store_runs(store, &program->runs, &program->n_runs, err))
        return false;
    if (program->n_runs == 0)
        return pm_fail(err, "the store holds no run yet: measure with `pmodel run`");
    return find_whole_runs(program, err);
}

bool pm_program_open(struct pm_program *program, struct pm_store *store, struct pm_error *err) {
    return pm_program_open_as(program, store, pm_store_structure(store, err), err);
}

void pm_program_forget_models(struct pm_program *program) {
    pm_model_set_free(program->models);
    pm_model_set_free(program->brief);
    program->models = program->brief = NULL;
}

void pm_program_close(struct pm_program *program) {
    pm_program_forget_models(program);
    if (program->structure)
        pm_structure_free(program->structure);
    free(program->runs);
    free(program->is_whole);
    free(program->measured_up_to);
    free(program->interpolate);
}

const struct pm_model_set *pm_program_models(struct pm_program *program, struct pm_error *err) {
    if (!program->models)
        program->models = pm_store_models(program->store, err);
    return program->models;
}

static struct pm_profile *measured_profile(const struct pm_program *program,
                                           const struct pm_parameters *run, struct pm_error *err) {
    struct pm_profile *profile = pm_store_profile(program->store, run, err);
    if (!profile || pm_profile_fits(profile, program->structure, err))
        return profile;
    pm_profile_free(profile);
    return NULL;
}

const struct pm_parameters *pm_program_run(const struct pm_program *program,
                                           const struct pm_parameters *at, bool only_whole) {
    const int last = only_whole ? 1 : 0;
    for (int whole = 1; whole >= last; whole--)
        for (size_t i = program->n_runs; i-- > 0;)
            if (program->is_whole[i] == whole && pm_run_matches(&program->runs[i], at))
                return &program->runs[i];
    return NULL;
}

struct pm_profile *pm_profile_of_run(const struct pm_program *program,
                                     const struct pm_parameters *at, struct pm_error *err) {
    if (!pm_check_parameter_names(&program->runs[program->n_runs - 1], at, err))
        return NULL;
    const struct pm_parameters *run = pm_program_run(program, at, false);
    if (run)
        return pm_program_interpolate(program, measured_profile(program, run, err));
    pm_fail(err, "no run of this size (-P) is in the store: measure it with `pmodel run`");
    return NULL;
}

const struct pm_model_set *pm_program_known_models(const struct pm_program *program) {
    return program->models ? program->models : program->brief;
}

/* By models that are in memory. */
static bool predict_whole(const struct pm_program *program, const struct pm_parameters *at,
                          double level, struct pm_predicted *predicted, struct pm_error *err) {
    const struct pm_structure *structure = program->structure;
    const struct pm_model_set *models = program->models;
    bool ok = predicted->profile ||
              (predicted->profile = pm_fit_instantiate(structure, models, at, err)) != NULL;
    for (int end = 0; ok && level > 0 && end < 2; end++) {
        predicted->ends[end] = pm_fit_instantiate_end(structure, models, at, level, end == 1, err);
        ok = predicted->ends[end] != NULL;
    }
    return ok;
}

bool pm_program_predict(struct pm_program *program, const struct pm_parameters *at, double level,
                        struct pm_predicted *predicted, struct pm_error *err) {
    *predicted = (struct pm_predicted){0};
    bool ok = true;
    if (!program->models) {
        struct pm_model_set *brief =
            pm_fit_take_models(program->store, program->structure, at, level, predicted, err);
        ok = brief != NULL;
        if (program->brief)
            pm_model_set_free(brief);
        else
            program->brief = brief;
    }
    bool is_done = predicted->profile && (level <= 0 || predicted->ends[0]);
    ok = ok && (is_done || pm_program_models(program, err)) &&
         (is_done || predict_whole(program, at, level, predicted, err));
    for (int end = 0; ok && predicted->ends[0] && end < 2; end++)
        predicted->ends[end]->set_spread = (end ? 1 : -1) * pm_heuristics.set_spread;
    if (!ok)
        pm_predicted_free(predicted);
    return ok;
}

bool pm_profile_of_models(struct pm_program *program, const struct pm_parameters *at, double level,
                          struct pm_predicted *predicted, struct pm_error *err) {
    if (!pm_check_parameter_names(&program->runs[program->n_runs - 1], at, err))
        return false;
    if (pm_program_predict(program, at, level, predicted, err)) {
        pm_program_interpolate(program, predicted->profile);
        return true;
    }
    if (err->kind == PM_ERROR_NONE && program->n_runs < PM_FIT_LEAST_SIZES)
        pm_fail(err,
                "this size was not measured, and there are no models: they need runs at %d sizes "
                "at least, better 5, and there %s %zu: `pmodel run` more, then `pmodel fit`",
                PM_FIT_LEAST_SIZES, program->n_runs == 1 ? "is" : "are", program->n_runs);
    else if (err->kind == PM_ERROR_NONE)
        pm_fail(err, "this size was not measured and there are no models yet: call `pmodel fit` on "
                     "the store first");
    return false;
}

struct pm_run_patterns *pm_patterns_at(const struct pm_program *program,
                                       const struct pm_parameters *at, struct pm_profile **profile,
                                       struct pm_error *err) {
    *profile = NULL;
    if (!pm_check_parameter_names(&program->runs[program->n_runs - 1], at, err))
        return NULL;
    struct pm_run_patterns *patterns = NULL;
    for (size_t i = program->n_runs; !patterns && err->kind == PM_ERROR_NONE && i-- > 0;)
        if (pm_run_matches(&program->runs[i], at)) {
            patterns = pm_store_patterns(program->store, &program->runs[i], err);
            *profile = patterns ? measured_profile(program, &program->runs[i], err) : NULL;
        }
    if (*profile && pm_run_patterns_fit(patterns, program->structure, err))
        return patterns;
    if (err->kind == PM_ERROR_NONE)
        pm_fail(err, "no run of this size was made with --carry, which is needed to tell "
                     "what carries its misses: `pmodel run --carry`");
    if (*profile)
        pm_profile_free(*profile);
    *profile = NULL;
    pm_run_patterns_free(patterns);
    return NULL;
}

/* ---- runs of a store ------------------------------------------------------------------------- */

bool pm_run_matches(const struct pm_parameters *run, const struct pm_parameters *wanted) {
    for (size_t i = 0; i < wanted->n; i++) {
        double value;
        if (!pm_parameters_get(run, wanted->names[i], &value) || value != wanted->values[i])
            return false;
    }
    return true;
}

bool pm_check_parameter_names(const struct pm_parameters *known, const struct pm_parameters *wanted,
                              struct pm_error *err) {
    for (size_t i = 0; i < wanted->n; i++) {
        double ignored;
        if (pm_parameters_get(known, wanted->names[i], &ignored))
            continue;
        char *text = pm_strdup("");
        struct pm_nearest nearest = {0};
        for (size_t k = 0; k < known->n; k++) {
            pm_append(&text, "%s%s", k ? ", " : "", known->names[k]);
            pm_nearest_try(&nearest, wanted->names[i], known->names[k]);
        }
        if (known->n)
            pm_fail(err, "no parameter \"%s\" in this store: its runs have %s", wanted->names[i],
                    text);
        else
            pm_fail(err, "no parameter \"%s\" in this store: its run was made without -P",
                    wanted->names[i]);
        free(text);
        return pm_fail_nearest(err, &nearest);
    }
    return true;
}

void pm_profiles_free(struct pm_profile **profiles, size_t n) {
    for (size_t i = 0; profiles && i < n; i++)
        pm_profile_free(profiles[i]);
    free(profiles);
}

struct pm_profile **pm_read_profiles(struct pm_store *store, const struct pm_structure *structure,
                                     const struct pm_parameters *sizes, size_t n,
                                     struct pm_error *err) {
    struct pm_profile **profiles = pm_alloc(n, sizeof(struct pm_profile *));
    for (size_t i = 0; i < n; i++) {
        profiles[i] = pm_store_profile(store, &sizes[i], err);
        if (profiles[i] && pm_profile_fits(profiles[i], structure, err))
            continue;
        if (!profiles[i] && err->kind == PM_ERROR_NONE) {
            char *size = pm_parameters_text(&sizes[i]);
            pm_fail(err,
                    "the run %s that the models were made from is no longer there: call "
                    "`pmodel fit` again",
                    size);
            free(size);
        }
        pm_profiles_free(profiles, n);
        return NULL;
    }
    return profiles;
}

void *pm_find_of_run(const struct pm_program *program, const char *path, struct pm_parameters *at,
                     void *(*read)(struct pm_store *, const struct pm_parameters *,
                                   struct pm_error *),
                     struct pm_error *err) {
    const bool any = at->n == 0;
    bool is_there = any;
    for (size_t i = program->n_runs; i-- > 0;) {
        if (!any && !pm_parameters_equal(at, &program->runs[i]))
            continue;
        is_there = true;
        void *found = read(program->store, &program->runs[i], err);
        if (found)
            *at = program->runs[i];
        if (found || err->kind != PM_ERROR_NONE)
            return found;
    }
    if (!is_there) {
        char *size = pm_parameters_text(at);
        pm_fail(err, "%s: no run with %s", path, size);
        free(size);
    }
    return NULL;
}
