/* Actions of a store: of a run with its communication, or of a size that never ran from all runs;
   with the computation as predicted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "cmd/progress.h"
#include "cmd/replay/private.h"
#include "core/store/store.h"
#include "sched/signature/signature.h"

/* Notes that a hundredth of the computation hangs by. */
#define SIGNIFICANT 0.01

struct sources {
    struct pm_replaying *replaying;
    struct pm_subject *subject;
    const struct pm_answer *answer;
    bool has_intervals;
    struct pm_replay_sources came;
};

static void add_note(struct pm_replaying *r, char *note) { *PM_PUSH(&r->report, notes) = note; }

/* ---- a run that was measured ----------------------------------------------------------------- */

/* What each rank computes, from what its threads counted; owned by the caller. */
static double *find_rank_seconds(const struct sources *s, const struct pm_profile *profile,
                                 const struct pm_computation *computation,
                                 const struct pm_ranks *ranks, struct pm_error *err) {
    const struct pm_structure *structure = s->subject->program.structure;
    struct pm_streams threads = {0};
    double *seconds = pm_alloc(ranks->ranks[0].size, sizeof *seconds);
    double *counts = pm_alloc(structure->n_edges, sizeof *counts);
    bool ok = pm_store_thread_edges(s->subject->store, &profile->parameters, structure->n_edges,
                                    &threads, err);
    for (size_t i = 0; ok && i < ranks->n_ranks; i++) {
        const struct pm_rank *rank = &ranks->ranks[i];
        memset(counts, 0, structure->n_edges * sizeof *counts);
        pm_ranks_add_edges(&threads, profile->edge_counts, structure->n_edges, rank->process,
                           counts);
        if (rank->rank < ranks->ranks[0].size)
            seconds[rank->rank] += pm_computation_seconds(computation, counts);
    }
    free(counts);
    pm_streams_free(&threads);
    if (ok)
        return seconds;
    free(seconds);
    return NULL;
}

/* What ranks said and when they computed in the run AT.  *FOUND: there is communication. */
static bool read_run(const struct sources *s, const struct pm_parameters *at,
                     const struct pm_computation *computation, struct pm_traced_run *run,
                     bool *found, struct pm_error *err) {
    struct pm_store *store = s->subject->store;
    run->at = *at;
    *found = false;
    if (!pm_store_ranks(store, at, &run->ranks, err) ||
        !pm_store_has_communication(store, at, found, err))
        return false;
    *found = *found && run->ranks.n_ranks > 0;
    if (!*found)
        return true;
    if (!(run->communication = pm_store_communication(store, at, err)))
        return false;
    struct pm_intervals *intervals = pm_store_intervals(store, at, PM_NONE, false, err);
    bool ok = intervals ? pm_intervals_fit(intervals, s->subject->program.structure, err)
                        : err->kind == PM_ERROR_NONE;
    if (ok && intervals)
        run->times = pm_interval_times_of(intervals, computation, &run->communication->paths);
    pm_intervals_free(intervals);
    return ok;
}

static bool add_actions(struct sources *s, const struct pm_traced_run *run,
                        const double *rank_seconds, struct pm_error *err) {
    const struct pm_run_to_replay to_replay = {s->subject->program.structure, run->communication,
                                               &run->ranks, &run->times, rank_seconds};
    s->has_intervals = run->times.n_rows > 0;
    return pm_actions_of_run(&to_replay, &s->replaying->actions, &s->came, err);
}

static bool use_run(struct sources *s, struct pm_error *err) {
    const struct pm_profile *profile = s->answer->profile;
    struct pm_computation computation =
        pm_computation_of(s->subject->program.structure, profile, s->answer->predictions[0]);
    struct pm_traced_run run = {0};
    bool found;
    bool ok = read_run(s, &profile->parameters, &computation, &run, &found, err);
    if (ok && !found)
        ok = pm_fail(err, "the run has no communication: only programs with MPI can be replayed, "
                          "measured without --no-communication");
    double *rank_seconds = ok ? find_rank_seconds(s, profile, &computation, &run.ranks, err) : NULL;
    ok = rank_seconds && add_actions(s, &run, rank_seconds, err);
    free(rank_seconds);
    pm_traced_run_free(&run);
    pm_computation_free(&computation);
    return ok;
}

/* ---- a size that never ran ------------------------------------------------------------------- */

/* The extents that --grid names, by default `p`. */
static struct pm_rank_grid read_grid(char *text) {
    struct pm_rank_grid grid = {0};
    for (char *name; grid.n < PM_MAX_PARAMETERS && (name = strsep(&text, ","));)
        grid.names[grid.n++] = name;
    return grid;
}

/* Makes all computation add up to what is predicted for all ranks together. */
static void scale_computation(struct pm_actions *actions, double seconds) {
    double sum = pm_actions_work(actions);
    if (sum > 0)
        pm_actions_scale_work(actions, seconds / sum);
}

/* Fills RUNS with those that sizes which never ran can be made from. */
static bool read_measured(const struct sources *s, const struct pm_computation *computation,
                          struct pm_traced_run *runs, size_t *n, struct pm_error *err) {
    const struct pm_program *program = &s->subject->program;
    for (size_t r = 0; r < program->n_runs; r++) {
        bool found;
        if (!program->is_whole[r])
            continue;
        if (!read_run(s, &program->runs[r], computation, &runs[*n], &found, err))
            return false;
        if (found && runs[*n].times.n_rows > 0)
            ++*n;
        else
            pm_traced_run_free(&runs[*n]);
    }
    return *n > 0 ||
           pm_fail(err, "no run has communication and intervals, which sizes that never ran are "
                        "made from");
}

/* What an instruction of each scope takes, in the largest run that was measured. */
static bool computation_of_largest(const struct sources *s, struct pm_computation *computation,
                                   struct pm_error *err) {
    const struct pm_program *program = &s->subject->program;
    const struct pm_replay_options *request = s->replaying->request;
    struct pm_question question = {.at = &program->runs[program->n_runs - 1],
                                   .machines = request->on.machines,
                                   .n_machines = 1,
                                   .predict = request->predict};
    question.predict.without_doubts = true;
    struct pm_answer *answer = pm_ask_and_say(s->subject, &question, err);
    if (answer)
        *computation =
            pm_computation_of(program->structure, answer->profile, answer->predictions[0]);
    pm_answer_free(answer);
    return answer != NULL;
}

/* Times of intervals are in proportion to what the instructions of their scopes take in the largest
   run; their sum is the time predicted for the size. */
static bool use_models(struct sources *s, struct pm_error *err) {
    const struct pm_program *program = &s->subject->program;
    const struct pm_profile *profile = s->answer->profile;
    struct pm_computation computation = {0};
    char *names = pm_strdup(s->replaying->request->grid ? s->replaying->request->grid : "p");
    const struct pm_rank_grid grid = read_grid(names);
    struct pm_traced_run *runs = pm_alloc(program->n_runs, sizeof *runs);
    struct pm_traced_run to = {.at = profile->parameters};
    size_t n = 0;
    bool ok = computation_of_largest(s, &computation, err) &&
              read_measured(s, &computation, runs, &n, err) &&
              pm_extrapolate_run(runs, n, &grid, program->models, &to, err) &&
              add_actions(s, &to, NULL, err);
    if (ok) {
        scale_computation(&s->replaying->actions, s->answer->predictions[0]->seconds);
        add_note(s->replaying,
                 pm_sprintf("This size was not measured: loops, bytes and computation of each rank "
                            "are models of %zu runs%s.",
                            n, profile->extrapolation > 1 ? ", beyond these" : ""));
    }
    for (size_t k = 0; k < n; k++)
        pm_traced_run_free(&runs[k]);
    pm_traced_run_free(&to);
    free(runs);
    free(names);
    pm_computation_free(&computation);
    return ok;
}

/* ---- the report's part ----------------------------------------------------------------------- */

static void add_notes(struct pm_replaying *r, const struct sources *s) {
    double whole = s->came.by_intervals + s->came.evenly;
    add_note(r,
             pm_strdup("Times are of a simulation: computation as predicted, messages as SimGrid "
                       "has them on this platform."));
    if (!s->has_intervals)
        add_note(r,
                 pm_strdup("No intervals were measured: what a rank computes is shared out evenly "
                           "between its events."));
    else if (s->came.evenly > SIGNIFICANT * whole)
        add_note(r, pm_sprintf("%.0f%% of the computation is in no interval and shared out evenly "
                               "between events.",
                               100 * s->came.evenly / whole));
    if (s->came.n_left_out)
        add_note(r, pm_sprintf("%llu events are left out: probes, and communicators of a part of "
                               "the ranks.",
                               (unsigned long long)s->came.n_left_out));
    if (s->came.n_averaged)
        add_note(r, pm_sprintf("In %llu collective calls ranks have shares of different size; they "
                               "are replayed as if alike.",
                               (unsigned long long)s->came.n_averaged));
}

/* What a machine reaches at most, and what its signature convolved with the program says: the
   paper's (1).  NAN: the machine's file does not say, or not enough was measured. */
struct rates {
    double peak, metasim_number;
};

static struct rates find_rates(const struct pm_answer *answer, const struct pm_machine *machine) {
    struct pm_signature signature;
    struct pm_roofs roofs;
    struct pm_program_parts parts = {0};
    struct pm_convolution convolution = {0};
    struct pm_error err = {0};
    struct rates rates = {NAN, NAN};
    if (!pm_signature_make(machine, &signature, &err))
        return rates;
    pm_roofs_of(&signature, &roofs);
    if (roofs.flops_per_second > 0)
        rates.peak = roofs.flops_per_second;
    if (pm_parts_of_scopes(answer->subject->program.structure, answer->profile, &signature, &parts,
                           &err) &&
        pm_convolve(&signature, &parts, &convolution, &err))
        rates.metasim_number = convolution.metasim_number;
    pm_convolution_free(&convolution);
    pm_program_parts_free(&parts);
    pm_roofs_free(&roofs);
    pm_signature_free(&signature);
    return rates;
}

/* predictions[0] is on the machine, [1] on the one that it is compared with. */
static void set_ratio(struct pm_replaying *r, const struct pm_answer *answer) {
    if (answer->n_predictions < 2)
        return;
    const struct rates of = find_rates(answer, r->request->on.machines[0]);
    const struct rates other = find_rates(answer, r->request->against.machines[0]);
    r->other = pm_strdup(answer->predictions[1]->machine_title);
    r->report.ratio = (struct pm_processor_ratio){
        .other = r->other,
        .predicted = answer->predictions[1]->seconds / answer->predictions[0]->seconds,
        .convolved = of.metasim_number / other.metasim_number,
        .peak = of.peak / other.peak,
    };
}

static void describe(struct pm_replaying *r, const struct sources *s) {
    const struct pm_prediction *prediction = s->answer->predictions[0];
    r->program = pm_strdup(prediction->program);
    r->at = pm_parameters_text(&s->answer->profile->parameters);
    r->machine = pm_strdup(prediction->machine_title);
    r->report.program = r->program;
    r->report.at = r->at;
    r->report.machine = r->machine;
    r->report.level = prediction->level;
    r->computation = pm_cycles_between(&prediction->scopes[0].total);
    set_ratio(r, s->answer);
    add_notes(r, s);
}

bool pm_actions_of_store(struct pm_replaying *r, struct pm_error *err) {
    const struct pm_replay_options *request = r->request;
    struct pm_machine *machines[2] = {request->on.machines[0]}; /* and the one to compare with */
    struct pm_question question = {.at = r->size,
                                   .machines = machines,
                                   .n_machines = 1,
                                   .predict = request->predict,
                                   .can_interpolate = true,
                                   .interpolate = request->interpolate};
    if (request->against.n_machines)
        machines[question.n_machines++] = request->against.machines[0];
    struct pm_subject subject;
    struct pm_answer *answer = pm_subject_open(&subject, request->store_path, NULL, err)
                                   ? pm_ask_and_say(&subject, &question, err)
                                   : NULL;
    struct sources sources = {.replaying = r, .subject = &subject, .answer = answer};
    bool ok =
        answer && (answer->profile->predicted ? use_models(&sources, err) : use_run(&sources, err));
    if (ok) {
        describe(r, &sources);
        pm_answer_warn(answer, machines, &r->warnings);
    }
    pm_answer_free(answer);
    pm_subject_close(&subject);
    return ok;
}
