/* From a question to its answer:

   which run, or the models → the profile with its threads → the ends of its intervals, or what was
   timed and bounded → a prediction on each machine. */
#include "ask/ask.h"

#include <stdlib.h>

#include "core/store/store.h"
#include "fit/fit.h"
#include "fit/sets/sets.h"
#include "sched/cores/cores.h"

/* ---- profiles -------------------------------------------------------------------------------- */

/* What every profile of an answer goes through.  Of ranks, which are not predicted as threads, it
   leaves out the loops in which they only wait, and adds them to SPIN. */
static bool complete(struct pm_subject *subject, struct pm_profile *profile,
                     struct pm_spin_loops *spin, struct pm_error *err) {
    const struct pm_selection selection = pm_store_selection(subject->store);
    pm_profile_keep_matched(profile, subject->program.structure);
    pm_program_interpolate(&subject->program, profile);
    if (!pm_program_add_threads(&subject->program, profile, err))
        return false;
    if (pm_selection_has_ranks(&selection) && profile->n_threads == 0)
        pm_take_out_spin_loops(subject->program.structure, &profile->edge_counts, 1, spin);
    return true;
}

/* Of models, with both ends of the intervals. */
static bool find_profile(struct pm_answer *answer, const struct pm_question *question,
                         struct pm_error *err) {
    static const struct pm_parameters any = {0};
    struct pm_program *program = &answer->subject->program;
    const struct pm_parameters *at = question->at ? question->at : &any;
    struct pm_predicted predicted;
    if (question->source == PM_FROM_RUN ||
        (question->source != PM_FROM_MODELS && pm_program_run(program, at, false)))
        return (answer->profile = pm_profile_of_run(program, at, err)) != NULL;
    if (!pm_profile_of_models(program, at,
                              question->without_ends ? 0 : pm_heuristics.interval_level, &predicted,
                              err))
        return false;
    answer->profile = predicted.profile;
    answer->ends[0] = predicted.ends[0];
    answer->ends[1] = predicted.ends[1];
    return true;
}

static bool complete_ends(struct pm_answer *answer, struct pm_error *err) {
    struct pm_spin_loops ignored = {0};
    bool ok = true;
    for (int end = 0; ok && end < 2 && answer->ends[end]; end++)
        ok = complete(answer->subject, answer->ends[end], &ignored, err);
    free(ignored.loops);
    return ok;
}

/* Of a run, what was measured beside its counts. */
static bool add_measured(struct pm_subject *subject, struct pm_answer *answer,
                         struct pm_error *err) {
    const struct pm_parameters *run = &answer->profile->parameters;
    const struct pm_structure *structure = subject->program.structure;
    answer->times = pm_store_times(subject->store, run, err);
    answer->bounds = pm_store_bounds(subject->store, run, err);
    return err->kind == PM_ERROR_NONE &&
           (!answer->times || pm_times_fit(answer->times, structure, err)) &&
           (!answer->bounds || pm_bounds_fit(answer->bounds, structure, err));
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* One table for each machine, whatever is asked of the subject. */
static struct pm_known_paths *known_paths(struct pm_subject *subject,
                                          const struct pm_machine *machine) {
    for (size_t i = 0; i < subject->n_paths; i++)
        if (subject->paths[i].machine == machine)
            return subject->paths[i].known;
    struct pm_known_paths *beside = subject->n_paths ? subject->paths[0].known : NULL;
    *PM_PUSH(subject, paths) = (struct pm_machine_paths){machine, pm_known_paths_new(beside)};
    return subject->paths[subject->n_paths - 1].known;
}

/* A rank is predicted without its spin loops: this says so. */
static void note_spin_loops(const struct pm_spin_loops *spin, struct pm_prediction *prediction) {
    double rounds = 0;
    for (size_t i = 0; i < spin->n_loops; i++)
        rounds += spin->loops[i].rounds;
    if (rounds > 0)
        pm_prediction_note(prediction,
                           "%zu loop%s that only wait%s for other ranks, with %.3g rounds, %s left "
                           "out; `pmodel report --as ranks` has them.",
                           spin->n_loops, spin->n_loops == 1 ? "" : "s",
                           spin->n_loops == 1 ? "s" : "", rounds,
                           spin->n_loops == 1 ? "is" : "are");
}

/* Does PROFILE have the block sizes of all machines? */
static bool need_blocks(const struct pm_answer *answer, const struct pm_question *question,
                        struct pm_error *err) {
    const struct pm_profile *profile = answer->profile;
    for (size_t m = 0; m < question->n_machines; m++)
        if ((question->needs_misses || !pm_profile_is_without_memory(profile)) &&
            !pm_need_machine_blocks(answer->subject, profile, question->machines[m],
                                    question->can_interpolate, err))
            return false;
    return true;
}

/* Of the profile and its ends in the levels of all machines; NULL: each thread has its own. */
static double **misses_of(const struct pm_answer *answer, const struct pm_question *question) {
    return answer->profile->n_threads > 1
               ? NULL
               : pm_set_misses_of_machines(answer->subject->program.structure, answer->profile,
                                           answer->ends[0] ? answer->ends : NULL,
                                           (const struct pm_machine *const *)question->machines,
                                           question->n_machines);
}

bool pm_answer_predict(struct pm_answer *answer, const struct pm_question *question,
                       struct pm_error *err) {
    const struct pm_program *program = &answer->subject->program;
    struct pm_predict_options options = question->predict;
    if (!need_blocks(answer, question, err))
        return false;
    double **misses = misses_of(answer, question);
    size_t n_levels = 0;
    bool ok = true;
    for (size_t m = 0; m < question->n_machines; n_levels += question->machines[m++]->n_levels) {
        options.known = known_paths(answer->subject, question->machines[m]);
        options.misses = misses ? misses + n_levels : NULL;
        struct pm_prediction *prediction =
            ok ? pm_predict_between(program->structure, answer->profile, answer->ends,
                                    question->machines[m], &options, err)
               : NULL;
        ok = prediction != NULL;
        if (!ok)
            continue;
        if (!prediction->measured_up_to)
            prediction->measured_up_to = pm_strdup(program->measured_up_to);
        note_spin_loops(&answer->spin, prediction);
        *PM_PUSH(answer, predictions) = prediction;
    }
    if (misses)
        pm_set_misses_free(misses, n_levels);
    return ok;
}

struct pm_prediction *pm_answer_what_if(const struct pm_answer *answer,
                                        const struct pm_machine *machine,
                                        const struct pm_predict_options *predict,
                                        struct pm_error *err) {
    return pm_predict(answer->subject->program.structure, answer->profile, machine, predict, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_answer *pm_ask(struct pm_subject *subject, const struct pm_question *question,
                         struct pm_error *err) {
    struct pm_answer *answer = pm_alloc(1, sizeof *answer);
    answer->subject = subject;
    if (question->interpolate)
        pm_subject_interpolate(subject, question->machines, question->n_machines);
    bool ok = find_profile(answer, question, err) &&
              complete(subject, answer->profile, &answer->spin, err) &&
              complete_ends(answer, err) &&
              (answer->profile->predicted || add_measured(subject, answer, err));
    if (ok && pm_answer_predict(answer, question, err))
        return answer;
    pm_answer_free(answer);
    return NULL;
}

void pm_answer_free(struct pm_answer *answer) {
    if (!answer)
        return;
    for (size_t i = 0; i < answer->n_predictions; i++)
        pm_prediction_free(answer->predictions[i]);
    free(answer->predictions);
    pm_profile_free(answer->profile);
    pm_profile_free(answer->ends[0]);
    pm_profile_free(answer->ends[1]);
    pm_times_free(answer->times);
    pm_bounds_free(answer->bounds);
    free(answer->spin.loops);
    free(answer);
}

/* ---- warnings -------------------------------------------------------------------------------- */

void pm_answer_warn(const struct pm_answer *answer, struct pm_machine *const *machines,
                    struct pm_warnings *warnings) {
    const struct pm_program *program = &answer->subject->program;
    const struct pm_origin origin = {program->structure, pm_program_known_models(program),
                                     answer->profile};
    pm_warn(&origin, warnings);
    for (size_t i = 0; i < answer->n_predictions; i++)
        pm_warn_of_time(&origin, answer->predictions[i], machines[i], warnings);
}

bool pm_subject_warn_of_outside(const struct pm_subject *subject, struct pm_warnings *warnings,
                                struct pm_error *err) {
    const struct pm_program *program = &subject->program;
    bool ok = true, found = false;
    for (int sampled = 1; ok && !found && sampled >= 0; sampled--)
        for (size_t i = program->n_runs; ok && !found && i-- > 0;) {
            struct pm_file_times times = {0};
            ok = pm_store_file_times(subject->store, &program->runs[i], &times, err);
            found = times.n_files > 0 && (!sampled || times.files[0].samples > 0);
            if (ok && found)
                pm_warn_of_outside(&times, &program->runs[i], warnings);
            pm_file_times_free(&times);
        }
    return ok;
}
