/* `pmodel export --callgrind`, `--folded`, `--extrap`: predictions as files of other tools. */
#include "cmd/export/private.h"
#include "core/store/store.h"
#include "fit/query/query.h"
#include "report/report.h"
#include "sched/sched.h"

/* On the one machine; NULL with a sentence. */
static struct pm_prediction *predict(const struct pm_export_request *request,
                                     const struct pm_program *program, struct pm_profile *profile,
                                     struct pm_error *err) {
    const struct pm_machine *machine = request->on.machines[0];
    if (!pm_profile_is_without_memory(profile) &&
        !pm_need_machine_blocks(program, profile, machine, request->store_path, false, err))
        return NULL;
    if (!pm_program_add_threads(program, profile, err))
        return NULL;
    return pm_predict(program->structure, profile, machine, &request->predict, err);
}

/* At one size. */
static bool export_size(FILE *out, const struct pm_export_request *request,
                        struct pm_program *program, struct pm_error *err) {
    struct pm_profile *profile = pm_profile_at(program, &request->at, err);
    struct pm_prediction *prediction = profile ? predict(request, program, profile, err) : NULL;
    bool ok = prediction != NULL;
    if (ok && request->callgrind)
        pm_export_callgrind(out, program->structure, prediction);
    else if (ok)
        ok = pm_export_folded(out, program->structure, prediction,
                              request->of ? request->of : "Cycles", err);
    if (prediction)
        pm_prediction_free(prediction);
    if (profile)
        pm_profile_free(profile);
    return ok;
}

/* Of the counts of each run that has the values of -P and came to its end. */
static bool export_runs(FILE *out, const struct pm_export_request *request,
                        struct pm_program *program, struct pm_error *err) {
    bool ok = pm_check_parameter_names(&program->runs[0], &request->at, err), found = false;
    for (size_t r = 0; ok && r < program->n_runs; r++) {
        if (!program->is_whole[r] || !pm_run_matches(&program->runs[r], &request->at))
            continue;
        struct pm_profile **profiles =
            pm_read_profiles(program->store, program->structure, &program->runs[r], 1, err);
        struct pm_prediction *prediction =
            profiles ? predict(request, program, profiles[0], err) : NULL;
        if (prediction) {
            pm_export_extrap(out, program->structure, prediction);
            pm_prediction_free(prediction);
        }
        ok = found = prediction != NULL;
        pm_profiles_free(profiles, 1);
    }
    return ok && (found || pm_fail(err, "no whole run of this size (-P) is in the store: measure "
                                        "it with `pmodel run`"));
}

bool pm_export_predictions_to(FILE *out, const struct pm_export_request *request,
                              struct pm_error *err) {
    struct pm_store *store = pm_store_open(request->store_path, PM_STORE_READ, err);
    struct pm_program program = {0};
    struct pm_selecting selecting = request->selecting;
    bool ok = store && pm_select_in(store, &selecting, NULL, err) &&
              pm_program_open(&program, store, err) &&
              (request->extrap ? export_runs(out, request, &program, err)
                               : export_size(out, request, &program, err));
    pm_selecting_free(&selecting);
    pm_program_close(&program);
    pm_store_close(store);
    return ok;
}
