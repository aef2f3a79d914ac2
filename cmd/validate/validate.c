/* `pmodel validate`: how well do the models predict a size that they were not made from?

   The steps: models → a predicted profile for each size, and those of the ends of its intervals → a
   run of each size, into a store of its own → a measured profile → both side by side.  All that can
   be refused is refused before anything runs; the store with the models is only read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/validate/private.h"
#include "cmd/validate/times.h"
#include "core/store/store.h"
#include "fit/fit.h"
#include "fit/query/query.h"
#include "fit/warnings/warnings.h"
#include "sched/sched.h"

/* ---- what is compared ------------------------------------------------------------------------ */

struct validated_size {
    struct pm_profile *predicted, *measured, *ends[2]; /* ends: of the intervals */
    struct pm_prediction **predicted_times, **measured_times,
        **end_times[2]; /* machine by machine */
};

struct validating {
    struct pm_validate_request *request;
    struct pm_structure *structure;
    struct pm_model_set *models;
    struct pm_profile **fitted; /* that the models were made from; NULL unless they are needed */
    struct pm_parameters *parameters;
    struct validated_size *sizes;
    size_t n_sizes;
    struct pm_known_paths **known; /* machine by machine */
    struct pm_timed_sizes timed;
    uint64_t *compared;                 /* sizes of blocks; owned */
    struct pm_validation_caches caches; /* of these sizes */
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

/* Of an END of intervals its costs alone. */
static struct pm_prediction **predict_times(const struct validating *v,
                                            const struct pm_profile *profile, bool end,
                                            struct pm_error *err) {
    const struct pm_machine_list *on = &v->request->run.on;
    struct pm_predict_options options = v->request->predict;
    options.without_doubts = options.without_causes = end;
    struct pm_prediction **times = pm_alloc(on->n_machines + 1, sizeof *times);
    for (size_t m = 0; m < on->n_machines; m++) {
        options.known = v->known[m];
        times[m] = pm_predict(v->structure, profile, on->machines[m], &options, err);
        if (times[m])
            continue;
        while (m > 0)
            pm_prediction_free(times[--m]);
        free(times);
        return NULL;
    }
    return times;
}

/* Do the models have the block sizes of all machines?  Of one size as of all. */
static bool check_machines(const struct validating *v, const struct pm_profile *predicted,
                           struct pm_error *err) {
    const struct pm_machine_list *on = &v->request->run.on;
    const char *path = v->request->store_path;
    struct pm_program program = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    bool ok = store && pm_program_open(&program, store, err);
    for (size_t m = 0; ok && m < on->n_machines && !pm_profile_is_without_memory(predicted); m++)
        ok = pm_need_machine_blocks(&program, predicted, on->machines[m], path, false, err);
    pm_program_close(&program);
    pm_store_close(store);
    return ok;
}

static bool predict_sizes(struct validating *v, struct pm_error *err) {
    v->known = pm_alloc(v->request->run.on.n_machines, sizeof *v->known);
    for (size_t m = 0; m < v->request->run.on.n_machines; m++)
        v->known[m] = pm_known_paths_new();
    for (size_t i = 0; i < v->n_sizes; i++) {
        struct validated_size *size = &v->sizes[i];
        size->predicted = pm_fit_instantiate(v->structure, v->models, &v->parameters[i], err);
        if (!size->predicted || (i == 0 && !check_machines(v, size->predicted, err)))
            return false;
        size->predicted_times = predict_times(v, size->predicted, false, err);
        if (!size->predicted_times)
            return false;
        if (v->request->hierarchy)
            continue; /* it shows no intervals */
        if (!pm_profile_ends_at(v->structure, v->models, &v->parameters[i],
                                pm_heuristics.interval_level, size->ends, err))
            return false;
        for (int end = 0; end < 2; end++)
            if (!(size->end_times[end] = predict_times(v, size->ends[end], true, err)))
                return false;
    }
    return true;
}

/* ---- block sizes ----------------------------------------------------------------------------- */

/* Besides the sizes that are compared, the machines' levels are measured. */
static bool plan_block_sizes(struct validating *v, struct pm_error *err) {
    struct pm_measure_request *run = &v->request->run.request;
    size_t n;
    if (run->copies.no_memory)
        return true;
    v->compared = pm_validation_block_sizes(v->sizes[0].predicted, run->blocks.bytes, run->blocks.n,
                                            v->request->store_path, &n, err);
    if (!v->compared)
        return false;
    for (size_t i = 0; i < n; i++)
        pm_block_sizes_add(&run->blocks, v->compared[i]);
    pm_measuring_machine_blocks(&v->request->run);
    v->caches = (struct pm_validation_caches){v->compared, n, v->request->cache_blocks,
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
        size->measured_times = size->measured ? predict_times(v, size->measured, false, err) : NULL;
        if (size->measured && !size->measured_times)
            return false;
    }
    return true;
}

/* What is not the same in all builds leaves a predicted profile, the estimate or an END, and the
   times made of it. */
static bool keep_matched(const struct validating *v, struct pm_profile *profile, bool end,
                         struct pm_prediction ***times, struct pm_error *err) {
    if (!profile)
        return true;
    free_times(*times);
    pm_profile_keep_matched(profile, v->structure);
    *times = predict_times(v, profile, end, err);
    return *times != NULL;
}

/* What the builds of these sizes have otherwise (--build) is in no figure, on neither side. */
static bool mark_differences(struct validating *v, struct pm_store *store, struct pm_error *err) {
    if (!store || !v->request->run.request.build)
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
        if (!keep_matched(v, size->predicted, false, &size->predicted_times, err))
            return false;
        for (int end = 0; end < 2; end++)
            if (!keep_matched(v, size->ends[end], true, &size->end_times[end], err))
                return false;
    }
    return true;
}

/* The exit status; runs that failed were complained of. */
static int measure_sizes(struct validating *v) {
    struct pm_error err = {0};
    v->request->run.request.matched_to = v->structure;
    if (v->request->time)
        v->request->run.request.times_listener =
            (struct pm_times_listener){pm_timed_sizes_take, &v->timed};
    struct pm_measure_session *session =
        pm_measuring_begin(&v->request->run, &v->parameters[0], &err);
    if (!session)
        return pm_complain(&err);
    const struct pm_structure *own = pm_measure_session_structure(session);
    int status;
    if (v->request->run.request.build ||
        pm_structure_hash(own) == pm_structure_hash(v->structure) ||
        pm_structures_are_alike(own, v->structure)) {
        status = pm_measuring_sizes(session, v->parameters, v->n_sizes);
        if (!mark_differences(v, pm_measure_session_store(session), &err) ||
            !read_measurements(v, pm_measure_session_store(session), &err))
            status = pm_complain(&err);
    } else {
        pm_fail(&err,
                "%s has models of another %s: validate that one, or measure and fit this one in a "
                "store of its own",
                v->request->store_path,
                pm_structures_share_names(own, v->structure) ? "build of the program" : "program");
        status = pm_complain(&err);
    }
    pm_measure_session_free(session);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool report_hierarchy(const struct validating *v, const struct pm_validation *sizes,
                             size_t n, const struct pm_report_options *options,
                             struct pm_error *err) {
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
    return pm_report_hierarchy(stdout, &request, options, err);
}

static void add_warnings(const struct validating *v, const struct pm_profile *predicted,
                         struct pm_warnings *warnings) {
    const struct pm_answer answer = {v->structure, v->models, predicted};
    pm_warn(&answer, warnings);
    pm_warn_of_counts(&answer, warnings);
    pm_warn_of_misses(&answer, v->caches.block_sizes, v->caches.n_block_sizes, warnings);
}

/* ---- --time ---------------------------------------------------------------------------------- */

/* Each size that was timed, on each machine. */
static bool report_times(struct validating *v, struct pm_error *err) {
    const struct pm_machine_list *on = &v->request->run.on;
    struct pm_timed_size *rows = pm_alloc(v->n_sizes * on->n_machines, sizeof *rows);
    struct pm_warnings warnings = {0};
    struct pm_report_options options = v->request->options;
    size_t n = 0;
    bool ok = true;
    options.warnings = &warnings;
    for (size_t i = 0; i < v->n_sizes; i++) {
        const struct pm_timed_runs *timed = pm_timed_sizes_find(&v->timed, &v->parameters[i]);
        const struct pm_answer answer = {v->structure, v->models, v->sizes[i].predicted};
        for (size_t r = 0; timed && r < timed->n_runs; r++)
            ok = ok && pm_times_fit(timed->runs[r], v->structure, err);
        if (timed && ok)
            pm_warn(&answer, &warnings);
        for (size_t m = 0; timed && ok && m < on->n_machines; m++) {
            struct pm_prediction *prediction = v->sizes[i].predicted_times[m];
            pm_prediction_take_ends(prediction, v->sizes[i].end_times[0][m],
                                    v->sizes[i].end_times[1][m]);
            pm_warn_of_time(&answer, prediction, on->machines[m], &warnings);
            rows[n++] =
                (struct pm_timed_size){v->sizes[i].predicted, prediction,
                                       (const struct pm_times *const *)timed->runs, timed->n_runs};
        }
    }
    if (ok && n)
        pm_report_validated_times(
            stdout, &(struct pm_timed_report){v->structure, v->models, rows, n}, &options);
    pm_warnings_free(&warnings);
    free(rows);
    return ok;
}

/* --measured: times of another machine; nothing is run. */
static bool compare_other_times(struct validating *v, struct pm_error *err) {
    if (!read_models(v, err) ||
        !pm_timed_sizes_read(&v->timed, v->request->measured, v->structure, err))
        return false;
    v->n_sizes = 1;
    v->sizes = pm_alloc(1, sizeof *v->sizes);
    v->parameters = pm_alloc(1, sizeof *v->parameters);
    v->parameters[0] = v->timed.sizes[0].at;
    return predict_sizes(v, err) && report_times(v, err);
}

/* ---- reports --------------------------------------------------------------------------------- */

/* The sizes whose run succeeded. */
static bool report_sizes(struct validating *v, struct pm_error *err) {
    if (v->request->time)
        return report_times(v, err);
    struct pm_validation *sizes = pm_alloc(v->n_sizes, sizeof *sizes);
    size_t n = 0;
    bool ok = true;
    struct pm_warnings warnings = {0};
    struct pm_report_options options = v->request->options;
    options.warnings = &warnings;
    for (size_t i = 0; i < v->n_sizes; i++) {
        const struct validated_size *size = &v->sizes[i];
        if (size->measured_times)
            add_warnings(v, size->predicted, &warnings);
        if (size->measured_times)
            sizes[n++] = (struct pm_validation){
                .predicted = size->predicted,
                .measured = size->measured,
                .predicted_times = (const struct pm_prediction *const *)size->predicted_times,
                .measured_times = (const struct pm_prediction *const *)size->measured_times,
                .n_machines = v->request->run.on.n_machines,
                .level = pm_heuristics.interval_level,
                .low = size->ends[0],
                .high = size->ends[1],
                .low_times = (const struct pm_prediction *const *)size->end_times[0],
                .high_times = (const struct pm_prediction *const *)size->end_times[1],
            };
    }
    if (n && v->request->hierarchy)
        ok = report_hierarchy(v, sizes, n, &options, err);
    else if (n)
        pm_report_validations(stdout, v->structure, v->models, &v->caches, sizes, n, &options);
    pm_warnings_free(&warnings);
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
    v->request->run.request.copies.no_memory |= v->sizes[0].predicted->n_block_sizes == 0;
    if (!plan_block_sizes(v, err))
        return false;
    struct pm_validation *sizes = pm_alloc(v->n_sizes, sizeof *sizes);
    for (size_t i = 0; i < v->n_sizes; i++)
        sizes[i] =
            (struct pm_validation){.predicted = v->sizes[i].predicted, .measured = v->fitted[i]};
    bool ok = report_hierarchy(v, sizes, v->n_sizes, &v->request->options, err);
    free(sizes);
    return ok;
}

static bool prepare(struct validating *v, struct pm_error *err) {
    if (!pm_measuring_expand(&v->request->run, &v->parameters, &v->n_sizes, err))
        return false;
    v->sizes = pm_alloc(v->n_sizes, sizeof *v->sizes);
    return read_models(v, err) && predict_sizes(v, err) && plan_block_sizes(v, err);
}

static void free_all(struct validating *v) {
    for (size_t i = 0; v->sizes && i < v->n_sizes; i++) {
        free_times(v->sizes[i].predicted_times);
        free_times(v->sizes[i].measured_times);
        free_times(v->sizes[i].end_times[0]);
        free_times(v->sizes[i].end_times[1]);
        struct pm_profile *profiles[] = {v->sizes[i].ends[0], v->sizes[i].ends[1],
                                         v->sizes[i].predicted, v->sizes[i].measured};
        for (int k = 0; k < 4; k++)
            if (profiles[k])
                pm_profile_free(profiles[k]);
    }
    for (size_t m = 0; v->known && m < v->request->run.on.n_machines; m++)
        pm_known_paths_free(v->known[m]);
    free(v->known);
    free(v->sizes);
    free(v->parameters);
    pm_timed_sizes_free(&v->timed);
    free(v->compared);
    if (v->models)
        pm_profiles_free(v->fitted, v->models->n_runs);
    if (v->models)
        pm_model_set_free(v->models);
    if (v->structure)
        pm_structure_free(v->structure);
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct pm_validate_request request = {.run = {.request.output_to_errors = true},
                                          .options = pm_default_report_options()};
    struct validating v = {.request = &request};
    struct pm_error err = {0};
    request.options.min_percent = 1;
    pm_measuring_init(&request.run, self->name);
    int status = pm_validate_read_command_line(self, &request, argc, argv);
    bool measure = status == 0 && !request.measured_only;
    if (status == 0 && !(measure            ? prepare(&v, &err)
                         : request.measured ? compare_other_times(&v, &err)
                                            : compare_measured(&v, &err))) {
        status = pm_complain(&err);
    } else if (measure) {
        status = measure_sizes(&v);
        if (!report_sizes(&v, &err))
            status = pm_complain(&err);
    }
    free_all(&v);
    pm_measuring_free(&request.run);
    free(request.cache_blocks);
    return status;
}

const struct pm_command pm_command_validate = {
    .name = "validate",
    .purpose = "compare what the models predict with a measured run at a size that was not fitted",
    .usage = "-s STORE -P NAME=VALUES [OPTION]... -- COMMAND [ARGUMENT]...\n"
             "--time -s STORE -m MACHINE -P NAME=VALUES [OPTION]... -- COMMAND [ARGUMENT]...\n"
             "--time --measured FILE -s STORE -m MACHINE [OPTION]...\n"
             "--hierarchy -s STORE [OPTION]... [-- COMMAND [ARGUMENT]...]",
    .examples = "pmodel validate -s heat.pmdb -P N=128 -- ./heat {N}    # how far off?",
    .options = pm_validate_options,
    .runs_program = true,
    .run = run,
};
