#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "cmd/signature/parts.h"

#include <math.h>
#include <stdlib.h>

#include "core/store/store.h"

/* The largest run with the values of -P that has a profile of basic blocks. */
static bool find_blocks(const struct pm_parts_request *request, struct pm_stored_parts *stored,
                        struct pm_error *err) {
    const struct pm_program *program = &stored->subject.program;
    for (size_t r = program->n_runs; r-- > 0;) {
        if (!pm_run_matches(&program->runs[r], &request->at))
            continue;
        stored->blocks = pm_store_block_profile(stored->subject.store, &program->runs[r], err);
        if (!stored->blocks && err->kind != PM_ERROR_NONE)
            return false;
        if (!stored->blocks)
            continue;
        stored->shown.at = program->runs[r];
        stored->shown.source = "profile";
        return pm_block_profile_fits(stored->blocks, program->structure, err);
    }
    return true;
}

static bool find_scopes(const struct pm_parts_request *request, struct pm_stored_parts *stored,
                        struct pm_error *err) {
    if (request->at.n == 0 && !request->by_models)
        return pm_fail(err,
                       "%s has no profile of basic blocks: `pmodel run --profile --simulate "
                       "MACHINE` measures one, or -P NAME=VALUE takes the loops of a size",
                       request->store_path);
    const struct pm_question question = {.at = &request->at, .without_ends = true};
    stored->answer = pm_ask_and_say(&stored->subject, &question, err);
    if (!stored->answer)
        return false;
    stored->shown.at = stored->answer->profile->parameters;
    stored->shown.source = stored->answer->profile->predicted ? "models" : "run";
    return true;
}

static bool find_time(struct pm_stored_parts *stored, struct pm_error *err) {
    struct pm_times *times = pm_store_times(stored->subject.store, &stored->shown.at, err);
    stored->shown.measured_seconds = times ? times->plain_seconds : NAN;
    pm_times_free(times);
    return err->kind == PM_ERROR_NONE;
}

bool pm_stored_parts_open(const struct pm_parts_request *request, struct pm_stored_parts *stored,
                          struct pm_error *err) {
    *stored = (struct pm_stored_parts){0};
    if (!pm_subject_open(&stored->subject, request->store_path, NULL, err) ||
        !pm_check_parameter_names(&stored->subject.program.runs[0], &request->at, err))
        return false;
    stored->shown.structure = stored->subject.program.structure;
    if (!request->by_models && !find_blocks(request, stored, err))
        return false;
    return (stored->blocks || find_scopes(request, stored, err)) && find_time(stored, err);
}

void pm_stored_parts_close(struct pm_stored_parts *stored) {
    pm_block_profile_free(stored->blocks);
    pm_answer_free(stored->answer);
    pm_subject_close(&stored->subject);
}

bool pm_stored_parts_on(const struct pm_stored_parts *stored, const struct pm_signature *signature,
                        struct pm_program_parts *parts, struct pm_error *err) {
    const struct pm_structure *structure = stored->subject.program.structure;
    *parts = (struct pm_program_parts){0};
    if (stored->blocks)
        return pm_parts_of_blocks(structure, stored->blocks, signature, parts, err);
    const struct pm_profile *profile = stored->answer->profile;
    return pm_need_machine_blocks(&stored->subject, profile, signature->machine, false, err) &&
           pm_parts_of_scopes(structure, profile, signature, parts, err);
}

struct pm_signature *pm_signatures_of(const struct pm_machine_list *list, struct pm_error *err) {
    struct pm_signature *signatures = pm_alloc(list->n_machines, sizeof *signatures);
    for (size_t m = 0; m < list->n_machines; m++)
        if (!pm_signature_make(list->machines[m], &signatures[m], err)) {
            pm_signatures_free(signatures, m);
            return NULL;
        }
    return signatures;
}

void pm_signatures_free(struct pm_signature *signatures, size_t n) {
    for (size_t i = 0; i < n; i++)
        pm_signature_free(&signatures[i]);
    free(signatures);
}
