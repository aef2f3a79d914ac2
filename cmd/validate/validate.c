/* `pmodel validate`: how well do the models predict a size that they were not made from?

   The steps: models → a predicted profile for each size, and those of the ends of its intervals → a
   run of each size, into a store of its own → a measured profile → both side by side.  All that can
   be refused is refused before anything runs; the store with the models is only read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "cmd/progress.h"
#include "cmd/validate/private.h"
#include "cmd/validate/times.h"
#include "fit/fit.h"

/* ---- what is compared ------------------------------------------------------------------------ */

/* What the models say of a size, and what a run of it counted (NULL: it failed). */
struct validated_size {
    struct pm_answer *predicted, *measured;
};

struct validating {
    struct pm_validate_request *request;
    struct pm_subject models;   /* the store with the models */
    struct pm_subject runs;     /* the store of the session that measures, in the same numbers */
    struct pm_profile **fitted; /* that the models were made from; NULL unless they are needed */
    struct pm_parameters *parameters;
    struct validated_size *sizes;
    size_t n_sizes;
    struct pm_timed_sizes timed;
    uint64_t *compared;                 /* sizes of blocks; owned */
    struct pm_validation_caches caches; /* of these sizes */
};

static struct pm_structure *structure_of(const struct validating *v) {
    return v->models.program.structure;
}

/* ---- what the store has ---------------------------------------------------------------------- */

static bool read_models(struct validating *v, struct pm_error *err) {
    const char *path = v->request->store_path;
    struct pm_program *program = &v->models.program;
    if (!pm_subject_open(&v->models, path, NULL, err))
        return false;
    const struct pm_model_set *models = pm_program_models(program, err);
    if (!models)
        return err->kind == PM_ERROR_NONE
                   ? pm_fail(err, "%s has no models yet: call `pmodel fit` on it first", path)
                   : false;
    if (v->request->hierarchy)
        v->fitted = pm_read_profiles(v->models.store, program->structure, models->runs,
                                     models->n_runs, err);
    return !v->request->hierarchy || v->fitted;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static struct pm_answer *ask(const struct validating *v, struct pm_subject *subject,
                             const struct pm_parameters *at, enum pm_answer_source source,
                             struct pm_error *err) {
    const struct pm_machine_list *on = &v->request->run.on;
    const struct pm_question question = {.at = at,
                                         .source = source,
                                         .machines = on->machines,
                                         .n_machines = on->n_machines,
                                         .predict = v->request->predict,
                                         .without_ends = v->request->hierarchy};
    return pm_ask_and_say(subject, &question, err);
}

/* Again, after STRUCTURE was told what builds have otherwise. */
static bool predict_sizes(struct validating *v, struct pm_error *err) {
    for (size_t i = 0; i < v->n_sizes; i++) {
        pm_answer_free(v->sizes[i].predicted);
        v->sizes[i].predicted = ask(v, &v->models, &v->parameters[i], PM_FROM_MODELS, err);
        if (!v->sizes[i].predicted)
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
    v->compared = pm_validation_block_sizes(v->sizes[0].predicted->profile, run->blocks.bytes,
                                            run->blocks.n, v->request->store_path, &n, err);
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

/* Runs that failed have no answer. */
static bool read_measurements(struct validating *v, struct pm_store *store, struct pm_error *err) {
    struct pm_error no_run = {0};
    if (!store || !pm_subject_at_hand(&v->runs, store, structure_of(v), &no_run))
        return true;
    for (size_t i = 0; i < v->n_sizes; i++) {
        if (!pm_program_run(&v->runs.program, &v->parameters[i], false))
            continue;
        v->sizes[i].measured = ask(v, &v->runs, &v->parameters[i], PM_FROM_RUN, err);
        if (!v->sizes[i].measured)
            return false;
    }
    return true;
}

/* What the builds of these sizes have otherwise (--build) is in no figure, on neither side. */
static bool mark_differences(struct validating *v, struct pm_store *store, struct pm_error *err) {
    if (!store || !v->request->run.request.build)
        return true;
    for (size_t i = 0; i < v->n_sizes; i++) {
        struct pm_build_differences differences;
        if (!pm_store_differences(store, &v->parameters[i], &differences, err))
            return false;
        bool ok = pm_build_differences_mark(&differences, structure_of(v), err);
        pm_build_differences_free(&differences);
        if (!ok)
            return false;
    }
    return predict_sizes(v, err);
}

/* The exit status; runs that failed were complained of. */
static int measure_sizes(struct validating *v) {
    struct pm_error err = {0};
    v->request->run.request.matched_to = structure_of(v);
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
        pm_structure_hash(own) == pm_structure_hash(structure_of(v)) ||
        pm_structures_are_alike(own, structure_of(v))) {
        status = pm_measuring_sizes(session, v->parameters, v->n_sizes);
        if (!mark_differences(v, pm_measure_session_store(session), &err) ||
            !read_measurements(v, pm_measure_session_store(session), &err))
            status = pm_complain(&err);
    } else {
        pm_fail(&err,
                "%s has models of another %s: validate that one, or measure and fit this one in a "
                "store of its own",
                v->request->store_path,
                pm_structures_share_names(own, structure_of(v)) ? "build of the program"
                                                                : "program");
        status = pm_complain(&err);
    }
    pm_subject_close(&v->runs);
    pm_measure_session_free(session);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool report_hierarchy(const struct validating *v, const struct pm_validation *sizes,
                             size_t n, const struct pm_report_options *options,
                             struct pm_error *err) {
    const struct pm_fit_options fit_options = {0};
    const struct pm_hierarchy_request request = {
        .structure = structure_of(v),
        .models = v->models.program.models,
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
    const struct pm_origin origin = {structure_of(v), v->models.program.models, predicted};
    pm_warn(&origin, warnings);
    pm_warn_of_counts(&origin, warnings);
    pm_warn_of_misses(&origin, v->caches.block_sizes, v->caches.n_block_sizes, warnings);
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
        const struct pm_answer *predicted = v->sizes[i].predicted;
        for (size_t r = 0; timed && r < timed->n_runs; r++)
            ok = ok && pm_times_fit(timed->runs[r], structure_of(v), err);
        if (timed && ok)
            pm_answer_warn(predicted, on->machines, &warnings);
        for (size_t m = 0; timed && ok && m < on->n_machines; m++)
            rows[n++] =
                (struct pm_timed_size){predicted->profile, predicted->predictions[m],
                                       (const struct pm_times *const *)timed->runs, timed->n_runs};
    }
    if (ok && n)
        pm_report_validated_times(
            stdout, &(struct pm_timed_report){structure_of(v), v->models.program.models, rows, n},
            &options);
    pm_warnings_free(&warnings);
    free(rows);
    return ok;
}

/* --measured: times of another machine; nothing is run. */
static bool compare_other_times(struct validating *v, struct pm_error *err) {
    if (!read_models(v, err) ||
        !pm_timed_sizes_read(&v->timed, v->request->measured, structure_of(v), err))
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
        if (!size->measured)
            continue;
        add_warnings(v, size->predicted->profile, &warnings);
        sizes[n++] = (struct pm_validation){
            .predicted = size->predicted->profile,
            .measured = size->measured->profile,
            .predicted_times = (const struct pm_prediction *const *)size->predicted->predictions,
            .measured_times = (const struct pm_prediction *const *)size->measured->predictions,
            .n_machines = v->request->run.on.n_machines,
            .level = pm_heuristics.interval_level,
            .low = size->predicted->ends[0],
            .high = size->predicted->ends[1],
        };
    }
    if (n && v->request->hierarchy)
        ok = report_hierarchy(v, sizes, n, &options, err);
    else if (n)
        pm_report_validations(stdout, structure_of(v), v->models.program.models, &v->caches, sizes,
                              n, &options);
    pm_warnings_free(&warnings);
    free(sizes);
    return ok;
}

/* `--hierarchy` without a command: what the models say of the sizes that they were made from. */
static bool compare_measured(struct validating *v, struct pm_error *err) {
    if (!read_models(v, err))
        return false;
    const struct pm_model_set *models = v->models.program.models;
    v->n_sizes = models->n_runs;
    v->sizes = pm_alloc(v->n_sizes, sizeof *v->sizes);
    v->parameters = pm_alloc(v->n_sizes, sizeof *v->parameters);
    memcpy(v->parameters, models->runs, v->n_sizes * sizeof *v->parameters);
    if (!predict_sizes(v, err))
        return false;
    v->request->run.request.copies.no_memory |= v->sizes[0].predicted->profile->n_block_sizes == 0;
    if (!plan_block_sizes(v, err))
        return false;
    struct pm_validation *sizes = pm_alloc(v->n_sizes, sizeof *sizes);
    for (size_t i = 0; i < v->n_sizes; i++)
        sizes[i] = (struct pm_validation){.predicted = v->sizes[i].predicted->profile,
                                          .measured = v->fitted[i]};
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
        pm_answer_free(v->sizes[i].predicted);
        pm_answer_free(v->sizes[i].measured);
    }
    free(v->sizes);
    free(v->parameters);
    pm_timed_sizes_free(&v->timed);
    free(v->compared);
    if (v->fitted)
        pm_profiles_free(v->fitted, v->models.program.models->n_runs);
    pm_subject_close(&v->models);
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct pm_validate_request request = {.run = {.request.output_to_errors = true},
                                          .predict.without_causes = true,
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
