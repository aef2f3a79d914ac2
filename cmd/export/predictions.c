/* `pmodel report --as callgrind`, `--folded`, `--extrap`: predictions as files of other tools. */
#include "cmd/export/private.h"
#include "cmd/progress.h"
#include "report/report.h"

static struct pm_question question_of(const struct pm_export_request *request) {
    return (struct pm_question){.at = &request->at,
                                .machines = request->on.machines,
                                .n_machines = 1,
                                .predict = request->predict,
                                .without_ends = true};
}

/* At one size. */
static bool export_size(FILE *out, const struct pm_export_request *request,
                        struct pm_subject *subject, struct pm_error *err) {
    const struct pm_question question = question_of(request);
    struct pm_answer *answer = pm_ask_and_say(subject, &question, err);
    bool ok = answer != NULL;
    if (ok && request->callgrind)
        pm_export_callgrind(out, subject->program.structure, answer->predictions[0]);
    else if (ok)
        ok = pm_export_folded(out, subject->program.structure, answer->predictions[0],
                              request->of ? request->of : "Cycles", err);
    pm_answer_free(answer);
    return ok;
}

/* Of the counts of each run that has the values of -P and came to its end. */
static bool export_runs(FILE *out, const struct pm_export_request *request,
                        struct pm_subject *subject, struct pm_error *err) {
    const struct pm_program *program = &subject->program;
    struct pm_question question = question_of(request);
    bool ok = pm_check_parameter_names(&program->runs[0], &request->at, err), found = false;
    question.source = PM_FROM_RUN;
    for (size_t r = 0; ok && r < program->n_runs; r++) {
        if (!program->is_whole[r] || !pm_run_matches(&program->runs[r], &request->at))
            continue;
        question.at = &program->runs[r];
        struct pm_answer *answer = pm_ask_and_say(subject, &question, err);
        if (answer)
            pm_export_extrap(out, program->structure, answer->predictions[0]);
        ok = found = answer != NULL;
        pm_answer_free(answer);
    }
    return ok && (found || pm_fail(err, "no whole run of this size (-P) is in the store: measure "
                                        "it with `pmodel run`"));
}

bool pm_export_predictions_to(FILE *out, const struct pm_export_request *request,
                              struct pm_error *err) {
    struct pm_subject subject;
    bool ok = pm_subject_open(&subject, request->store_path, &request->selection, err) &&
              (request->extrap ? export_runs(out, request, &subject, err)
                               : export_size(out, request, &subject, err));
    pm_subject_close(&subject);
    return ok;
}
