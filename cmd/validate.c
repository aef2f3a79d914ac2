/* `pmodel validate`: how well do the models predict a size that they were not made from?

   The steps: models → a predicted profile for each size, and those of the ends of its intervals → a
   run of each size, into a store of its own → a measured profile → both side by side.  All that can
   be refused is refused before anything runs; the store with the models is only read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/run_session.h"
#include "cmd/runs_of_store.h"
#include "cmd/validate_request.h"
#include "core/store/store.h"
#include "fit/fit.h"
#include "sched/sched.h"

struct validated_size {
    struct pm_profile *predicted, *measured;
    struct pm_prediction **predicted_times, **measured_times; /* machine by machine */
    struct pm_profile *low, *high;                            /* both ends of the intervals */
    struct pm_prediction **low_times, **high_times;
};

struct validating {
    struct pm_validate_request *request;
    struct pm_structure *structure;
    struct pm_model_set *models;
    struct pm_profile **fitted; /* that the models were made from; NULL unless they are needed */
    struct pm_parameters *parameters;
    struct validated_size *sizes;
    size_t n_sizes;
    struct pm_validation_caches caches;
};

/* ---- what the store has ---------------------------------------------------------------------- */

static bool read_models(struct validating *v, struct pm_error *err) {
    const char *path = v->request->store_path;
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    if (!store)
        return false;
    v->structure = pm_store_structure(store, err);
    if (v->structure) {
        v->models = pm_store_models(store, err);
        if (!v->models && err->kind == PM_ERROR_NONE)
            pm_fail(err, "%s has no models yet: call `pmodel fit` on it first", path);
    }
    bool ok = v->models != NULL;
    if (ok && v->request->hierarchy) {
        v->fitted = pm_read_profiles(store, v->structure, v->models->runs, v->models->n_runs, err);
        ok = v->fitted != NULL;
    }
    pm_store_close(store);
    return ok;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static void free_times(struct pm_prediction **times) {
    for (size_t m = 0; times && times[m]; m++)
        pm_prediction_free(times[m]);
    free(times);
}

static struct pm_prediction **
predict_times(const struct validating *v, const struct pm_profile *profile, struct pm_error *err) {
    const struct pm_machine_list *on = &v->request->on;
    struct pm_prediction **times = pm_alloc(on->n_machines + 1, sizeof *times);
    for (size_t m = 0; m < on->n_machines; m++) {
        times[m] = pm_predict(v->structure, profile, on->machines[m], PM_DEPS_OPTIMISTIC, err);
        if (times[m])
            continue;
        while (m > 0)
            pm_prediction_free(times[--m]);
        free(times);
        return NULL;
    }
    return times;
}

static bool predict_sizes(struct validating *v, struct pm_error *err) {
    for (size_t i = 0; i < v->n_sizes; i++) {
        struct validated_size *size = &v->sizes[i];
        size->predicted = pm_fit_instantiate(v->structure, v->models, &v->parameters[i], err);
        size->predicted_times = size->predicted ? predict_times(v, size->predicted, err) : NULL;
        if (!size->predicted_times)
            return false;
        if (v->request->hierarchy)
            continue; /* it shows no intervals */
        const struct pm_parameters *at = &v->parameters[i];
        size->low = pm_fit_instantiate_end(v->structure, v->models, at, PM_FIT_LEVEL, false, err);
        size->low_times = size->low ? predict_times(v, size->low, err) : NULL;
        size->high = size->low_times ? pm_fit_instantiate_end(v->structure, v->models, at,
                                                              PM_FIT_LEVEL, true, err)
                                     : NULL;
        size->high_times = size->high ? predict_times(v, size->high, err) : NULL;
        if (!size->high_times)
            return false;
    }
    return true;
}

/* ---- block sizes ----------------------------------------------------------------------------- */

static bool has_block_size(const uint64_t *sizes, size_t n, uint64_t size) {
    for (size_t i = 0; i < n; i++)
        if (sizes[i] == size)
            return true;
    return false;
}

static void add_block_size(uint64_t **sizes, size_t *n, uint64_t size) {
    if (has_block_size(*sizes, *n, size))
        return;
    *sizes = pm_realloc(*sizes, *n + 1, sizeof **sizes);
    size_t at = (*n)++;
    for (; at > 0 && (*sizes)[at - 1] > size; at--)
        (*sizes)[at] = (*sizes)[at - 1];
    (*sizes)[at] = size;
}

/* The sizes to compare: those asked for, else lines and pages as far as the models have them, else
   all that the models have.  */
static bool choose_block_sizes(struct validating *v, uint64_t **chosen, size_t *n_chosen,
                               struct pm_error *err) {
    static const uint64_t usual[] = {64, 4096};
    const struct pm_run_request *run = &v->request->run;
    const uint64_t *known = v->sizes[0].predicted->block_sizes;
    size_t n_known = v->sizes[0].predicted->n_block_sizes;
    for (size_t i = 0; i < run->n_block_sizes; i++) {
        if (!has_block_size(known, n_known, run->block_sizes[i]))
            return pm_fail(err,
                           "%s has no models for blocks of %llu bytes: measure with `pmodel run "
                           "--block` and call `pmodel fit`",
                           v->request->store_path, (unsigned long long)run->block_sizes[i]);
        add_block_size(chosen, n_chosen, run->block_sizes[i]);
    }
    for (size_t i = 0; !run->n_block_sizes && i < sizeof usual / sizeof usual[0]; i++)
        if (has_block_size(known, n_known, usual[i]))
            add_block_size(chosen, n_chosen, usual[i]);
    for (size_t i = 0; !*n_chosen && i < n_known; i++)
        add_block_size(chosen, n_chosen, known[i]);
    if (!n_known)
        return pm_fail(err,
                       "%s was measured without reuse distances (--no-memory), so that there are "
                       "only counts to compare: add --no-memory",
                       v->request->store_path);
    return true;
}

/* Besides the sizes that are compared, the machines' levels are measured. */
static bool plan_block_sizes(struct validating *v, struct pm_error *err) {
    struct pm_run_request *run = &v->request->run;
    uint64_t *chosen = NULL;
    size_t n_chosen = 0;
    if (run->no_memory)
        return true;
    if (!choose_block_sizes(v, &chosen, &n_chosen, err)) {
        free(chosen);
        return false;
    }
    for (size_t i = 0; i < n_chosen; i++)
        add_block_size(&run->block_sizes, &run->n_block_sizes, chosen[i]);
    for (size_t m = 0; m < v->request->on.n_machines; m++) {
        const struct pm_machine *machine = v->request->on.machines[m];
        for (size_t l = 0; l < machine->n_levels; l++)
            add_block_size(&run->block_sizes, &run->n_block_sizes, machine->levels[l].block_bytes);
    }
    v->caches = (struct pm_validation_caches){chosen, n_chosen, v->request->cache_blocks,
                                              v->request->n_caches};
    return true;
}

/* ---- measurements ---------------------------------------------------------------------------- */

static bool read_measurements(struct validating *v, struct pm_store *store, struct pm_error *err) {
    for (size_t i = 0; store && i < v->n_sizes; i++) {
        struct validated_size *size = &v->sizes[i];
        size->measured = pm_store_profile(store, &v->parameters[i], err);
        if (size->measured)
            pm_profile_keep_matched(size->measured, v->structure); /* of an earlier build, too */
        if (size->measured ? !pm_profile_fits(size->measured, v->structure, err)
                           : err->kind != PM_ERROR_NONE)
            return false;
        size->measured_times = size->measured ? predict_times(v, size->measured, err) : NULL;
        if (size->measured && !size->measured_times)
            return false;
    }
    return true;
}

/* What the builds of these sizes have otherwise (--build) is in no figure, on neither side. */
static bool mark_differences(struct validating *v, struct pm_store *store, struct pm_error *err) {
    if (!store || !v->request->run.build)
        return true;
    for (size_t i = 0; i < v->n_sizes; i++) {
        struct pm_build_differences differences;
        if (!pm_store_differences(store, &v->parameters[i], &differences, err))
            return false;
        bool ok = pm_build_differences_mark(&differences, v->structure, err);
        pm_build_differences_free(&differences);
        if (!ok)
            return false;
    }
    for (size_t i = 0; i < v->n_sizes; i++) {
        struct validated_size *size = &v->sizes[i];
        free_times(size->predicted_times);
        pm_profile_keep_matched(size->predicted, v->structure);
        size->predicted_times = predict_times(v, size->predicted, err);
        if (!size->predicted_times)
            return false;
    }
    return true;
}

/* The exit status; runs that failed were complained of. */
static int measure_sizes(struct validating *v) {
    struct pm_error err = {0};
    v->request->run.matched_to = v->structure;
    struct pm_run_session *session = pm_run_session_new(&v->request->run, &v->parameters[0], &err);
    if (!session)
        return pm_complain(&err);
    int status;
    if (v->request->run.build ||
        pm_structure_hash(pm_run_session_structure(session)) == pm_structure_hash(v->structure)) {
        status = pm_run_session_measure(session, v->parameters, v->n_sizes);
        if (!mark_differences(v, pm_run_session_store(session), &err) ||
            !read_measurements(v, pm_run_session_store(session), &err))
            status = pm_complain(&err);
    } else {
        pm_fail(&err,
                "%s has models of another build of the program: validate that build, or measure "
                "and fit this one in a store of its own",
                v->request->store_path);
        status = pm_complain(&err);
    }
    pm_run_session_free(session);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool report_hierarchy(const struct validating *v, const struct pm_validation *sizes,
                             size_t n, struct pm_error *err) {
    const struct pm_fit_options fit_options = {0};
    const struct pm_hierarchy_request request = {
        .structure = v->structure,
        .models = v->models,
        .fitted = (const struct pm_profile *const *)v->fitted,
        .fit_options = &fit_options,
        .classes = v->request->counts,
        .caches = &v->caches,
        .sizes = sizes,
        .n_sizes = n,
        .together = v->request->measured_only,
    };
    return pm_report_hierarchy(stdout, &request, &v->request->options, err);
}

/* The sizes whose run succeeded. */
static bool report_sizes(const struct validating *v, struct pm_error *err) {
    struct pm_validation *sizes = pm_alloc(v->n_sizes, sizeof *sizes);
    size_t n = 0;
    bool ok = true;
    for (size_t i = 0; i < v->n_sizes; i++) {
        const struct validated_size *size = &v->sizes[i];
        if (size->measured_times)
            sizes[n++] = (struct pm_validation){
                .predicted = size->predicted,
                .measured = size->measured,
                .predicted_times = (const struct pm_prediction *const *)size->predicted_times,
                .measured_times = (const struct pm_prediction *const *)size->measured_times,
                .n_machines = v->request->on.n_machines,
                .level = PM_FIT_LEVEL,
                .low = size->low,
                .high = size->high,
                .low_times = (const struct pm_prediction *const *)size->low_times,
                .high_times = (const struct pm_prediction *const *)size->high_times,
            };
    }
    if (n && v->request->hierarchy)
        ok = report_hierarchy(v, sizes, n, err);
    else if (n)
        pm_report_validations(stdout, v->structure, v->models, &v->caches, sizes, n,
                              &v->request->options);
    free(sizes);
    return ok;
}

/* `--hierarchy` without a command: what the models say of the sizes that they were made from. */
static bool compare_measured(struct validating *v, struct pm_error *err) {
    if (!read_models(v, err))
        return false;
    v->n_sizes = v->models->n_runs;
    v->sizes = pm_alloc(v->n_sizes, sizeof *v->sizes);
    v->parameters = pm_alloc(v->n_sizes, sizeof *v->parameters);
    memcpy(v->parameters, v->models->runs, v->n_sizes * sizeof *v->parameters);
    if (!predict_sizes(v, err))
        return false;
    v->request->run.no_memory |= v->sizes[0].predicted->n_block_sizes == 0;
    if (!plan_block_sizes(v, err))
        return false;
    struct pm_validation *sizes = pm_alloc(v->n_sizes, sizeof *sizes);
    for (size_t i = 0; i < v->n_sizes; i++)
        sizes[i] =
            (struct pm_validation){.predicted = v->sizes[i].predicted, .measured = v->fitted[i]};
    bool ok = report_hierarchy(v, sizes, v->n_sizes, err);
    free(sizes);
    return ok;
}

static bool prepare(struct validating *v, struct pm_error *err) {
    if (!pm_run_design_sizes(&v->request->run.design, &v->parameters, &v->n_sizes, err))
        return false;
    v->sizes = pm_alloc(v->n_sizes, sizeof *v->sizes);
    return read_models(v, err) && predict_sizes(v, err) && plan_block_sizes(v, err);
}

static void free_all(struct validating *v) {
    for (size_t i = 0; v->sizes && i < v->n_sizes; i++) {
        free_times(v->sizes[i].predicted_times);
        free_times(v->sizes[i].measured_times);
        free_times(v->sizes[i].low_times);
        free_times(v->sizes[i].high_times);
        if (v->sizes[i].low)
            pm_profile_free(v->sizes[i].low);
        if (v->sizes[i].high)
            pm_profile_free(v->sizes[i].high);
        if (v->sizes[i].predicted)
            pm_profile_free(v->sizes[i].predicted);
        if (v->sizes[i].measured)
            pm_profile_free(v->sizes[i].measured);
    }
    free(v->sizes);
    free(v->parameters);
    free((uint64_t *)(uintptr_t)v->caches.block_sizes);
    if (v->models)
        pm_profiles_free(v->fitted, v->models->n_runs);
    if (v->models)
        pm_model_set_free(v->models);
    if (v->structure)
        pm_structure_free(v->structure);
}

int pm_cmd_validate(int argc, char **argv) {
    struct pm_validate_request request = {0};
    struct validating v = {.request = &request};
    struct pm_error err = {0};
    int status = pm_read_validate_request(&request, argc, argv);
    bool measure = status == 0 && !request.measured_only;
    if (status == 0 && !(measure ? prepare(&v, &err) : compare_measured(&v, &err))) {
        status = pm_complain(&err);
    } else if (measure) {
        status = measure_sizes(&v);
        if (!report_sizes(&v, &err))
            status = pm_complain(&err);
    }
    free_all(&v);
    pm_validate_request_free(&request);
    return status;
}
