/* Profiles of a store at a size, and predictions from them; see predicting.h. */
#include "cmd/predicting/predicting.h"

#include <stdlib.h>

#include "fit/fit.h"

/* ---- the profile at the size that was asked for ---------------------------------------------- */

bool pm_find_profiles(struct pm_program *program, const struct pm_parameters *at,
                      struct pm_profiles_at *found, struct pm_error *err) {
    found->profile = pm_profile_at(program, at, err);
    if (!found->profile)
        return false;
    const struct pm_parameters *size = &found->profile->parameters;
    if (!pm_program_add_threads(program, found->profile, err))
        return false;
    if (found->profile->predicted) {
        if (!pm_profile_ends_at(program->structure, program->models, at,
                                pm_heuristics.interval_level, found->ends, err))
            return false;
        for (int end = 0; end < 2; end++) {
            pm_program_interpolate(program, found->ends[end]);
            if (!pm_program_add_threads(program, found->ends[end], err))
                return false;
        }
        return true;
    }
    found->times = pm_store_times(program->store, size, err);
    found->bounds = pm_store_bounds(program->store, size, err);
    return err->kind == PM_ERROR_NONE &&
           (!found->times || pm_times_fit(found->times, program->structure, err)) &&
           (!found->bounds || pm_bounds_fit(found->bounds, program->structure, err));
}

void pm_free_profiles(struct pm_profiles_at *found) {
    struct pm_profile *profiles[] = {found->profile, found->ends[0], found->ends[1]};
    for (int i = 0; i < 3; i++)
        if (profiles[i])
            pm_profile_free(profiles[i]);
    pm_times_free(found->times);
    pm_bounds_free(found->bounds);
}

/* ---- predictions ----------------------------------------------------------------------------- */

struct pm_prediction *pm_predict_at(const struct pm_structure *structure,
                                    const struct pm_profiles_at *found,
                                    const struct pm_machine *machine,
                                    const struct pm_predict_options *options,
                                    struct pm_error *err) {
    return pm_predict_between(structure, found->profile, found->ends, machine, options, err);
}

static bool predict_on(const struct pm_predicting *request, const struct pm_machine *machine,
                       struct pm_predicted *predicted, struct pm_error *err) {
    const struct pm_program *program = &predicted->program;
    const struct pm_profile *profile = predicted->found.profile;
    if (!pm_profile_is_without_memory(profile) &&
        !pm_need_machine_blocks(program, profile, machine, request->store_path, true, err))
        return false;
    struct pm_prediction *prediction =
        pm_predict_at(program->structure, &predicted->found, machine, request->options, err);
    if (!prediction)
        return false;
    if (!prediction->measured_up_to)
        prediction->measured_up_to = pm_strdup(program->measured_up_to);
    predicted->predictions[predicted->n_predictions++] = prediction;
    return true;
}

bool pm_predicted_make(const struct pm_predicting *request, struct pm_predicted *predicted,
                       struct pm_error *err) {
    const struct pm_machine_list *on = request->on;
    *predicted = (struct pm_predicted){
        .store = pm_store_open(request->store_path, PM_STORE_READ, err),
        .predictions = pm_alloc(on->n_machines + 1, sizeof(struct pm_prediction *))};
    if (!predicted->store || !pm_program_open(&predicted->program, predicted->store, err))
        return false;
    if (request->interpolate)
        pm_interpolate_for_machines(&predicted->program, on);
    bool ok = pm_find_profiles(&predicted->program, request->at, &predicted->found, err);
    for (size_t m = 0; ok && m < on->n_machines; m++)
        ok = predict_on(request, on->machines[m], predicted, err);
    return ok;
}

void pm_predicted_free(struct pm_predicted *predicted) {
    for (size_t i = 0; i < predicted->n_predictions; i++)
        pm_prediction_free(predicted->predictions[i]);
    free(predicted->predictions);
    pm_free_profiles(&predicted->found);
    pm_program_close(&predicted->program);
    pm_store_close(predicted->store);
}
