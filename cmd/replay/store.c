/* Actions of a run in a store: its communication, with the computation as predicted. */
#include <math.h>
#include <stdlib.h>

#include "cmd/predicting/predicting.h"
#include "cmd/replay/private.h"
#include "core/store/store.h"
#include "sched/signature/signature.h"

/* Notes that a hundredth of the computation hangs by. */
#define WEIGHTY 0.01

struct sources {
    struct pm_store *store;
    struct pm_program *program;
    const struct pm_profile *profile; /* of all ranks added up */
    struct pm_computation computation;
    struct pm_ranks ranks;
    struct pm_communication *communication;
    struct pm_intervals *intervals;
    double *rank_seconds;
};

static void add_note(struct pm_replaying *r, char *note) { *PM_PUSH(&r->report, notes) = note; }

/* What each rank computes, from what its threads counted. */
static bool find_rank_seconds(struct sources *s, struct pm_error *err) {
    const struct pm_structure *structure = s->program->structure;
    struct pm_streams threads = {0};
    uint32_t size = s->ranks.ranks[0].size;
    s->rank_seconds = pm_alloc(size, sizeof *s->rank_seconds);
    bool ok =
        pm_store_thread_edges(s->store, &s->profile->parameters, structure->n_edges, &threads, err);
    double *counts = pm_alloc(structure->n_edges, sizeof *counts);
    for (size_t i = 0; ok && i < s->ranks.n_ranks; i++) {
        const struct pm_rank *rank = &s->ranks.ranks[i];
        for (size_t e = 0; e < structure->n_edges; e++)
            counts[e] = 0;
        pm_ranks_add_edges(&threads, s->profile->edge_counts, structure->n_edges, rank->process,
                           counts);
        if (rank->rank < size)
            s->rank_seconds[rank->rank] += pm_computation_seconds(&s->computation, counts);
    }
    free(counts);
    pm_streams_free(&threads);
    return ok;
}

/* The run at which the communication and the intervals were measured. */
static bool read_run(struct sources *s, struct pm_error *err) {
    const struct pm_parameters *at = &s->profile->parameters;
    bool found = false;
    if (s->profile->predicted) {
        char *text = pm_parameters_text(at);
        pm_fail(err, "%s was not measured: what ranks say to each other there is not known", text);
        free(text);
        return false;
    }
    if (!pm_store_ranks(s->store, at, &s->ranks, err) ||
        !pm_store_has_communication(s->store, at, &found, err))
        return false;
    if (!found || s->ranks.n_ranks == 0)
        return pm_fail(err, "the run has no communication: only programs with MPI can be replayed, "
                            "measured without --no-communication");
    s->communication = pm_store_communication(s->store, at, err);
    if (!s->communication)
        return false;
    s->intervals = pm_store_intervals(s->store, at, PM_NONE, false, err);
    return (s->intervals || err->kind == PM_ERROR_NONE) &&
           (!s->intervals || pm_intervals_fit(s->intervals, s->program->structure, err));
}

static void add_notes(struct pm_replaying *r, const struct sources *s,
                      const struct pm_replay_sources *came) {
    double whole = came->by_intervals + came->evenly;
    add_note(r,
             pm_strdup("Times are of a simulation: computation as predicted, messages as SimGrid "
                       "has them on this platform."));
    if (!s->intervals)
        add_note(r,
                 pm_strdup("No intervals were measured: what a rank computes is shared out evenly "
                           "between its events."));
    else if (came->evenly > WEIGHTY * whole)
        add_note(r, pm_sprintf("%.0f%% of the computation is in no interval and shared out evenly "
                               "between events.",
                               100 * came->evenly / whole));
    if (came->n_left_out)
        add_note(r, pm_sprintf("%llu events are left out: probes, and communicators of a part of "
                               "the ranks.",
                               (unsigned long long)came->n_left_out));
    if (came->n_averaged)
        add_note(r, pm_sprintf("In %llu collective calls ranks have shares of different size; they "
                               "are replayed as if alike.",
                               (unsigned long long)came->n_averaged));
}

static double peak_rate(const struct pm_machine *machine) {
    struct pm_signature signature;
    struct pm_roofs roofs;
    struct pm_error err = {0};
    if (!pm_signature_make(machine, &signature, &err))
        return NAN;
    pm_roofs_of(&signature, &roofs);
    double rate = roofs.flops_per_second;
    pm_roofs_free(&roofs);
    pm_signature_free(&signature);
    return rate;
}

/* predictions[0] is on the machine, [1] on the one that it is compared with. */
static void set_ratio(struct pm_replaying *r, const struct pm_predicted *predicted) {
    if (predicted->n_predictions < 2)
        return;
    r->other = pm_strdup(predicted->predictions[1]->machine_title);
    r->report.ratio = (struct pm_processor_ratio){
        .other = r->other,
        .convolved = predicted->predictions[1]->seconds / predicted->predictions[0]->seconds,
        .peak = peak_rate(r->request->on.machines[0]) / peak_rate(r->request->against.machines[0]),
    };
}

static bool fill_actions(struct pm_replaying *r, struct pm_predicted *predicted,
                         struct pm_error *err) {
    const struct pm_prediction *prediction = predicted->predictions[0];
    struct sources s = {.store = predicted->store,
                        .program = &predicted->program,
                        .profile = predicted->found.profile};
    struct pm_replay_sources came = {0};
    s.computation = pm_computation_of(s.program->structure, s.profile, prediction);
    bool ok = read_run(&s, err) && find_rank_seconds(&s, err);
    if (ok) {
        const struct pm_run_to_replay run = {s.program->structure, s.communication, &s.ranks,
                                             s.intervals,          &s.computation,  s.rank_seconds};
        ok = pm_actions_of_run(&run, &r->actions, &came, err);
    }
    if (ok) {
        r->program = pm_strdup(prediction->program);
        r->at = pm_parameters_text(&s.profile->parameters);
        r->machine = pm_strdup(prediction->machine_title);
        r->report.program = r->program;
        r->report.at = r->at;
        r->report.machine = r->machine;
        r->report.level = prediction->level;
        r->computation = pm_cycles_between(&prediction->scopes[0].total);
        set_ratio(r, predicted);
        add_notes(r, &s, &came);
    }
    free(s.rank_seconds);
    pm_intervals_free(s.intervals);
    pm_communication_free(s.communication);
    pm_ranks_free(&s.ranks);
    pm_computation_free(&s.computation);
    return ok;
}

bool pm_actions_of_store(struct pm_replaying *r, struct pm_error *err) {
    const struct pm_replay_options *request = r->request;
    struct pm_machine_list on = request->on; /* and the one to compare with; not owned */
    struct pm_machine *machines[2] = {request->on.machines[0]};
    on.machines = machines;
    if (request->against.n_machines) {
        machines[1] = request->against.machines[0];
        on.n_machines = 2;
    }
    struct pm_predicting predicting = {request->store_path, &request->at, &on, &request->predict,
                                       request->interpolate};
    struct pm_predicted predicted = {0};
    bool ok = pm_predicted_make(&predicting, &predicted, err) && fill_actions(r, &predicted, err);
    pm_predicted_free(&predicted);
    return ok;
}
