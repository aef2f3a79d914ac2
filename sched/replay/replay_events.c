/* Events of a run, in the order of each rank's trace, as actions that SimGrid's replay knows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sched/replay/private.h"

/* A request that is under way; numbers are those of pm_request_list. */
struct request {
    bool is_open, is_send;
    int32_t partner, tag;
};

/* Of one rank. */
struct translation {
    const struct pm_run_to_replay *run;
    struct pm_actions *actions;
    struct pm_rank_actions *to;
    struct pm_replay_sources *sources;
    uint32_t rank;
    PM_ARRAY(struct request, requests); /* by number */
    uint32_t label;                     /* of the event that is translated */
};

/* Messages of different communicators stay apart: each pair of communicator and tag becomes a tag
   of its own, by the order of numbers, the same at both ends. */
static int32_t tag_of(const struct translation *t, uint32_t communicator, int32_t tag) {
    const struct pm_communication *communication = t->run->communication;
    size_t n = communication->n_communicators, place = 0;
    while (place < n && communication->communicators[place].number != communicator)
        place++;
    return (int32_t)((int64_t)tag * (int64_t)(n + 1) + (int64_t)place) & INT32_MAX;
}

static void push(struct translation *t, struct pm_action action) {
    action.label = t->label;
    *PM_PUSH(t->to, actions) = action;
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct request *request_of(struct translation *t, uint32_t number) {
    while (t->n_requests <= number)
        PM_PUSH(t, requests);
    return &t->requests[number];
}

static void open_requests(struct translation *t, const struct pm_event_kind *kind, bool is_send,
                          int32_t partner, int32_t tag) {
    const struct pm_request_list *list = &t->run->communication->requests[kind->requests];
    for (size_t i = 0; i < list->n_numbers; i++)
        *request_of(t, list->numbers[i]) = (struct request){true, is_send, partner, tag};
}

static size_t count_open(const struct translation *t) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_requests; i++)
        n += t->requests[i].is_open;
    return n;
}

/* All that are open at once, as SimGrid's `waitall` means it, or one by one. */
static void complete_requests(struct translation *t, const struct pm_event_kind *kind) {
    const struct pm_request_list *list = &t->run->communication->requests[kind->requests];
    size_t n = 0;
    for (size_t i = 0; i < list->n_numbers; i++)
        n += request_of(t, list->numbers[i])->is_open;
    bool all = n > 1 && n == count_open(t);
    if (all)
        push(t, (struct pm_action){.kind = PM_ACTION_WAITALL, .bytes = n});
    for (size_t i = 0; i < list->n_numbers; i++) {
        struct request *request = request_of(t, list->numbers[i]);
        if (request->is_open && !all)
            push(t, (struct pm_action){.kind = PM_ACTION_WAIT,
                                       .is_send = request->is_send,
                                       .partner = request->partner,
                                       .tag = request->tag});
        request->is_open = false;
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool is_nonblocking(uint16_t operation) {
    switch (operation) {
    case PM_MPI_Isend:
    case PM_MPI_Ibsend:
    case PM_MPI_Issend:
    case PM_MPI_Irsend:
    case PM_MPI_Irecv:
    case PM_MPI_Imrecv:
    case PM_MPI_Send_init:
    case PM_MPI_Bsend_init:
    case PM_MPI_Ssend_init:
    case PM_MPI_Rsend_init:
    case PM_MPI_Recv_init:
        return true;
    default:
        return false;
    }
}

static bool fail_partner(const struct translation *t, const struct pm_event_kind *kind,
                         struct pm_error *err) {
    return pm_fail(err,
                   "rank %" PRIu32 " calls %s with a partner that is not known (it was never "
                   "completed, or is in another world), so it cannot be replayed",
                   t->rank, pm_operation_name(kind->operation));
}

static bool add_message(struct translation *t, const struct pm_event_kind *kind, bool is_send,
                        struct pm_error *err) {
    if (kind->partner == PM_NULL_PARTNER)
        return true;
    uint64_t bytes = is_send ? kind->bytes_sent : kind->bytes_received;
    if (kind->partner < 0 || bytes == PM_UNKNOWN_BYTES)
        return fail_partner(t, kind, err);
    bool apart = is_nonblocking(kind->operation);
    int32_t tag = tag_of(t, kind->communicator, kind->tag);
    push(t, (struct pm_action){.kind = is_send ? (apart ? PM_ACTION_ISEND : PM_ACTION_SEND)
                                               : (apart ? PM_ACTION_IRECV : PM_ACTION_RECV),
                               .partner = kind->partner,
                               .tag = tag,
                               .bytes = bytes});
    if (apart)
        open_requests(t, kind, is_send, kind->partner, tag);
    return true;
}

static bool add_exchange(struct translation *t, const struct pm_event_kind *kind,
                         struct pm_error *err) {
    bool receives = kind->source != PM_NULL_PARTNER, sends = kind->partner != PM_NULL_PARTNER;
    if ((receives && kind->source < 0) || (sends && kind->partner < 0))
        return fail_partner(t, kind, err);
    int32_t tag = tag_of(t, kind->communicator, kind->source_tag);
    if (receives)
        push(t, (struct pm_action){.kind = PM_ACTION_IRECV,
                                   .partner = kind->source,
                                   .tag = tag,
                                   .bytes = kind->bytes_received});
    if (sends)
        push(t, (struct pm_action){.kind = PM_ACTION_SEND,
                                   .partner = kind->partner,
                                   .tag = tag_of(t, kind->communicator, kind->tag),
                                   .bytes = kind->bytes_sent});
    if (receives)
        push(t, (struct pm_action){.kind = PM_ACTION_WAIT, .partner = kind->source, .tag = tag});
    return true;
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* How SimGrid is told of one.  Nonblocking and persistent ones as if they ended where they begin.
 */
static const struct {
    uint16_t operations[3]; /* and itself nonblocking, and persistent */
    uint8_t kind;
    bool is_per_rank; /* what it sends is shared out among all ranks */
    bool is_averaged;
} collectives[] = {
#define COLLECTIVE(name, nonblocking, kind, is_per_rank, is_averaged)                              \
    {                                                                                              \
        {PM_MPI_##name, PM_MPI_I##nonblocking, PM_MPI_##name##_init}, PM_ACTION_##kind,            \
            is_per_rank, is_averaged                                                               \
    }
    COLLECTIVE(Barrier, barrier, BARRIER, false, false),
    COLLECTIVE(Bcast, bcast, BCAST, false, false),
    COLLECTIVE(Reduce, reduce, REDUCE, false, false),
    COLLECTIVE(Allreduce, allreduce, ALLREDUCE, false, false),
    COLLECTIVE(Gather, gather, GATHER, false, false),
    COLLECTIVE(Gatherv, gatherv, GATHER, false, true),
    COLLECTIVE(Scatter, scatter, SCATTER, true, false),
    COLLECTIVE(Scatterv, scatterv, SCATTER, true, true),
    COLLECTIVE(Allgather, allgather, ALLGATHER, false, false),
    COLLECTIVE(Allgatherv, allgatherv, ALLGATHER, false, true),
    COLLECTIVE(Alltoall, alltoall, ALLTOALL, true, false),
    COLLECTIVE(Alltoallv, alltoallv, ALLTOALL, true, true),
    COLLECTIVE(Alltoallw, alltoallw, ALLTOALL, true, true),
    COLLECTIVE(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, true, true),
    COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER, true, false),
    COLLECTIVE(Scan, scan, SCAN, false, false),
    COLLECTIVE(Exscan, exscan, EXSCAN, false, false),
#undef COLLECTIVE
};

static bool is_of_all(const struct translation *t, const struct pm_communicator *communicator) {
    return communicator && communicator->n_members == t->actions->n_ranks;
}

/* Where RANK is among the members; their number: nowhere. */
static size_t place_of(const struct pm_communicator *communicator, int32_t rank) {
    size_t i = 0;
    while (i < communicator->n_members && communicator->members[i] != rank)
        i++;
    return i;
}

/* Messages of collectives have a tag that MPI gives to nobody. */
enum { COLLECTIVE_TAG = -1 };

/* ACTION among the members of a communicator; false: they are not known, or in two groups. */
static bool add_in_part(struct translation *t, const struct pm_communicator *communicator,
                        const struct pm_event_kind *kind, struct pm_action *action) {
    if (!communicator || communicator->n_remote > 0)
        return false;
    size_t mine = place_of(communicator, (int32_t)t->rank);
    size_t root = kind->partner >= 0 ? place_of(communicator, kind->partner) : 0;
    if (mine == communicator->n_members || root == communicator->n_members)
        return false;
    const struct pm_replay_part part = {communicator->members, communicator->n_members, mine, root,
                                        tag_of(t, kind->communicator, COLLECTIVE_TAG)};
    action->label = t->label;
    pm_add_part(t->to, &part, action);
    return true;
}

/* The arguments of a reduction that leaves each rank BYTES. */
static uint64_t line_of_equal_shares(struct translation *t, uint64_t bytes) {
    char *line = NULL;
    for (size_t r = 0; r < t->actions->n_ranks; r++)
        pm_append(&line, "%" PRIu64 " ", bytes);
    pm_append(&line, "0 %d", PM_TRACED_BYTE);
    *PM_PUSH(t->actions, lines) = line;
    return t->actions->n_lines - 1;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    a = a == PM_UNKNOWN_BYTES ? 0 : a;
    b = b == PM_UNKNOWN_BYTES ? 0 : b;
    return a > b ? a : b;
}

static bool add_collective(struct translation *t, const struct pm_event_kind *kind,
                           struct pm_error *err) {
    const struct pm_communicator *communicator =
        pm_communicator(t->run->communication, kind->communicator);
    size_t n = communicator && communicator->n_members ? communicator->n_members : 1, c = 0;
    size_t n_collectives = sizeof collectives / sizeof *collectives;
    for (; c < n_collectives; c++)
        if (kind->operation == collectives[c].operations[0] ||
            kind->operation == collectives[c].operations[1] ||
            kind->operation == collectives[c].operations[2])
            break;
    if (c == n_collectives)
        return pm_fail(err, "rank %" PRIu32 " calls %s, which cannot be replayed", t->rank,
                       pm_operation_name(kind->operation));
    struct pm_action action = {.kind = collectives[c].kind,
                               .partner = kind->partner < 0 ? 0 : kind->partner};
    /* Gatherings have as much from each as it sends, or all of it over the ranks. */
    bool gathers = action.kind == PM_ACTION_ALLGATHER;
    uint64_t whole = larger(kind->bytes_sent, kind->bytes_received);
    action.bytes = gathers ? kind->bytes_received / n
                   : collectives[c].is_per_rank
                       ? (action.kind == PM_ACTION_SCATTER ? kind->bytes_received : whole / n)
                   : action.kind == PM_ACTION_GATHER ? kind->bytes_sent
                                                     : whole;
    action.received_bytes = action.bytes;
    /* What is added up is numbers; of which type a trace does not say. */
    action.type = action.bytes % 8 == 0   ? PM_TRACED_DOUBLE
                  : action.bytes % 4 == 0 ? PM_TRACED_INT
                                          : PM_TRACED_BYTE;
    t->sources->n_averaged += collectives[c].is_averaged;
    if (!is_of_all(t, communicator))
        return add_in_part(t, communicator, kind, &action) ||
               pm_fail(err,
                       "rank %" PRIu32
                       " calls %s in a communicator whose members are not known, or "
                       "in two groups, which cannot be replayed",
                       t->rank, pm_operation_name(kind->operation));
    if (action.kind == PM_ACTION_REDUCE_SCATTER)
        action.received_bytes = line_of_equal_shares(t, action.bytes);
    push(t, action);
    return true;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static bool add_event(struct translation *t, const struct pm_event_kind *kind,
                      struct pm_error *err) {
    switch (pm_operation_way(kind->operation)) {
    case PM_WAY_SENDS:
        return add_message(t, kind, true, err);
    case PM_WAY_RECEIVES:
        return add_message(t, kind, false, err);
    case PM_WAY_EXCHANGES:
        return add_exchange(t, kind, err);
    case PM_WAY_COMPLETES:
        complete_requests(t, kind);
        return true;
    case PM_WAY_COLLECTIVE:
        return add_collective(t, kind, err);
    case PM_WAY_MAKES: /* all wait for each other, for a few numbers */
        if (is_of_all(t, pm_communicator(t->run->communication, kind->communicator)))
            push(t, (struct pm_action){.kind = PM_ACTION_BARRIER});
        else
            t->sources->n_left_out++;
        return true;
    case PM_WAY_PROBES:
        t->sources->n_left_out++;
        return true;
    case PM_WAY_NEIGHBOURS:
    case PM_WAY_ONE_SIDED:
    case PM_WAY_SYNCHRONISES:
        break;
    }
    return pm_fail(err, "rank %" PRIu32 " calls %s, which SimGrid's replay has no word for",
                   t->rank, pm_operation_name(kind->operation));
}

/* The trace of a process; NULL with a sentence, or without one: it has none. */
static const struct pm_trace *find_trace(const struct pm_communication *communication,
                                         const struct pm_rank *rank, struct pm_error *err) {
    const struct pm_trace *found = NULL;
    for (size_t i = 0; i < communication->n_traces; i++) {
        const struct pm_trace *trace = &communication->traces[i];
        if (trace->process != rank->process || trace->n_events == 0)
            continue;
        if (found) {
            pm_fail(err,
                    "several threads of rank %" PRIu32 " communicate: in which order is not known, "
                    "so they cannot be replayed",
                    rank->rank);
            return NULL;
        }
        found = trace;
    }
    if (found && found->n_lost > 0) {
        pm_fail(err,
                "the trace of rank %" PRIu32 " is truncated: it lacks the last %" PRIu64
                " of its events",
                rank->rank, found->n_lost);
        return NULL;
    }
    return found;
}

/* Adds what is computed from the event that was translated last on; work is added later. */
static size_t add_computation(struct translation *t) {
    push(t, (struct pm_action){.kind = PM_ACTION_COMPUTE});
    return t->to->n_actions - 1;
}

static bool translate_rank(struct translation *t, const struct pm_rank *rank, uint32_t *labels,
                           struct pm_error *err) {
    const struct pm_communication *communication = t->run->communication;
    const struct pm_trace *trace = find_trace(communication, rank, err);
    if (!trace && err->kind != PM_ERROR_NONE)
        return false;
    struct pm_placement placement = pm_placement_begin(t->run, rank->process);
    push(t, (struct pm_action){.kind = PM_ACTION_INIT});
    size_t at = add_computation(t), n_gaps = 1;
    bool ok = true;
    struct pm_trace_walk walk = trace ? pm_trace_walk(trace) : (struct pm_trace_walk){0};
    for (uint32_t event; trace && pm_trace_next(&walk, &event);) {
        const struct pm_event_kind *kind = &communication->counts[event].kind;
        if (labels[event] == PM_NONE) {
            char *name = pm_call_path_name(t->run->structure, &communication->paths, kind->path);
            labels[event] = pm_actions_label(t->actions, name);
            free(name);
        }
        double seconds;
        bool ends = pm_placement_ends(&placement, kind->path, &seconds);
        if (ends)
            t->to->actions[at].work = seconds;
        t->label = labels[event];
        ok = add_event(t, kind, err);
        if (!ok)
            break;
        if (ends || placement.is_empty) {
            t->label = 0;
            at = add_computation(t);
            n_gaps++;
        }
    }
    if (trace && !ok)
        pm_trace_walk_free(&walk);
    if (ok) {
        t->label = 0;
        t->to->actions[at].work += pm_placement_end(&placement);
        double rest = t->run->rank_seconds ? t->run->rank_seconds[t->rank] - placement.placed : 0;
        t->sources->by_intervals += placement.placed;
        if (placement.is_empty || rest > 0) {
            t->sources->evenly += rest > 0 ? rest : 0;
            for (size_t i = 0; i < t->to->n_actions; i++)
                if (t->to->actions[i].kind == PM_ACTION_COMPUTE && rest > 0)
                    t->to->actions[i].work += rest / (double)n_gaps;
        }
        push(t, (struct pm_action){.kind = PM_ACTION_FINALIZE});
    }
    pm_placement_free(&placement);
    return ok;
}

bool pm_actions_of_run(const struct pm_run_to_replay *run, struct pm_actions *actions,
                       struct pm_replay_sources *sources, struct pm_error *err) {
    const struct pm_ranks *ranks = run->ranks;
    uint32_t size = ranks->n_ranks ? ranks->ranks[0].size : 0;
    if (pm_ranks_count(ranks, PM_NONE, PM_NONE) < size || size == 0) {
        char *missing = pm_ranks_missing(ranks);
        pm_fail(err, "ranks %s of this run were not measured, so it cannot be replayed",
                missing ? missing : "");
        free(missing);
        return false;
    }
    if (run->communication->n_lost > 0)
        return pm_fail(err, "the run's communication is truncated: %" PRIu64 " events are lost",
                       run->communication->n_lost);
    uint32_t *labels = pm_alloc_none(run->communication->n_counts);
    for (uint32_t r = 0; r < size; r++)
        PM_PUSH(actions, ranks);
    pm_actions_label(actions, "");
    bool ok = true;
    for (size_t i = 0; ok && i < ranks->n_ranks; i++) {
        if (!pm_ranks_is_first_process(ranks, i))
            continue;
        struct translation t = {.run = run,
                                .actions = actions,
                                .to = &actions->ranks[ranks->ranks[i].rank],
                                .sources = sources,
                                .rank = ranks->ranks[i].rank};
        ok = translate_rank(&t, &ranks->ranks[i], labels, err);
        free(t.requests);
    }
    free(labels);
    return ok;
}
