/* How long ranks wait for each other (core/call_times/call_times.h), from when their actions began
   and ended.  What is left of the time of these is communication.  Messages and collectives come
   together in the order in which MPI brings them together (actions.c). */
#include <math.h>
#include <stdlib.h>

#include "sched/replay/private.h"

/* When the partner's end of the message began that each action posts; NAN: it posts none. */
struct partners {
    double **begins; /* by rank and action; owned */
};

static struct partners find_partners(const struct pm_actions *actions,
                                     const struct pm_replay *replay) {
    struct partners partners = {pm_alloc(actions->n_ranks, sizeof *partners.begins)};
    for (size_t r = 0; r < actions->n_ranks; r++) {
        size_t n = actions->ranks[r].n_actions;
        partners.begins[r] = pm_alloc(n, sizeof **partners.begins);
        for (size_t i = 0; i < n; i++)
            partners.begins[r][i] = NAN;
    }
    struct pm_messages messages = pm_messages_of(actions);
    for (size_t i = 0; i < messages.n_sends && i < messages.n_receives; i++) {
        const struct pm_message_end *send = &messages.sends[i], *receive = &messages.receives[i];
        partners.begins[send->from][send->action] =
            replay->ranks[receive->to].spans[receive->action].begin;
        partners.begins[receive->to][receive->action] =
            replay->ranks[send->from].spans[send->action].begin;
    }
    pm_messages_free(&messages);
    return partners;
}

/* What the action of SPAN waits for an end of a message that begins at COMES; NAN: it has none. */
static double waits_for(const struct pm_span *span, bool is_send, double comes) {
    double length = span->end - span->begin, late = comes - span->begin;
    return isnan(comes) ? 0 : is_send ? pm_waiting_of_send(length, late) : pm_waiting(length, late);
}

/* Requests that are under way, by what a `wait` names them. */
struct request {
    size_t action; /* that began it */
    bool is_send;
    int32_t partner, tag;
};
struct requests {
    PM_ARRAY(struct request, open);
};

static void forget(struct requests *requests, size_t i) {
    for (; i + 1 < requests->n_open; i++)
        requests->open[i] = requests->open[i + 1];
    requests->n_open--;
}

/* Of messages alone; collectives come later. */
static void wait_for_messages(const struct pm_rank_actions *rank, struct pm_span *spans,
                              const double *partner_begins) {
    struct requests requests = {0};
    for (size_t i = 0; i < rank->n_actions; i++) {
        const struct pm_action *a = &rank->actions[i];
        struct pm_span *span = &spans[i];
        if (a->kind == PM_ACTION_RECV || a->kind == PM_ACTION_SEND)
            span->waiting = waits_for(span, a->kind == PM_ACTION_SEND, partner_begins[i]);
        else if (a->kind == PM_ACTION_ISEND || a->kind == PM_ACTION_IRECV)
            *PM_PUSH(&requests, open) =
                (struct request){i, a->kind == PM_ACTION_ISEND, a->partner, a->tag};
        if (a->kind != PM_ACTION_WAIT && a->kind != PM_ACTION_WAITALL)
            continue;
        for (size_t o = 0; o < requests.n_open;) {
            const struct request *open = &requests.open[o];
            if (a->kind == PM_ACTION_WAIT && (open->is_send != a->is_send ||
                                              open->partner != a->partner || open->tag != a->tag)) {
                o++;
                continue;
            }
            span->waiting = pm_longer_waiting(
                span->waiting, waits_for(span, open->is_send, partner_begins[open->action]));
            forget(&requests, o);
            if (a->kind == PM_ACTION_WAIT)
                break;
        }
    }
    free(requests.open);
}

static bool is_next_collective(const struct pm_rank_actions *rank, size_t *i) {
    while (*i < rank->n_actions && rank->actions[*i].kind < PM_ACTION_BARRIER)
        ++*i;
    return *i < rank->n_actions;
}

static void wait_for_collectives(const struct pm_actions *actions, struct pm_replay *replay) {
    size_t n = actions->n_ranks, *at = pm_alloc(n, sizeof *at);
    double *begins = pm_alloc(n, sizeof *begins), *comes = pm_alloc(n, sizeof *comes);
    bool have_come = true;
    while (have_come) {
        for (size_t r = 0; r < n && have_come; r++) {
            have_come = is_next_collective(&actions->ranks[r], &at[r]);
            if (have_come)
                begins[r] = replay->ranks[r].spans[at[r]].begin;
        }
        if (!have_come)
            break;
        const struct pm_action *first = &actions->ranks[0].actions[at[0]];
        size_t root = (size_t)first->partner < n ? (size_t)first->partner : 0;
        pm_meet(pm_action_meeting(first->kind), begins, n, true, root, comes);
        for (size_t r = 0; r < n; r++) {
            struct pm_span *span = &replay->ranks[r].spans[at[r]++];
            span->waiting = pm_waiting(span->end - span->begin, comes[r] - span->begin);
        }
    }
    free(at);
    free(begins);
    free(comes);
}

void pm_replay_add_up(const struct pm_actions *actions, struct pm_replay *replay) {
    struct partners partners = find_partners(actions, replay);
    for (size_t r = 0; r < actions->n_ranks; r++) {
        wait_for_messages(&actions->ranks[r], replay->ranks[r].spans, partners.begins[r]);
        free(partners.begins[r]);
    }
    free(partners.begins);
    wait_for_collectives(actions, replay);
    for (size_t r = 0; r < actions->n_ranks; r++) {
        struct pm_rank_times *times = &replay->ranks[r];
        times->computation = times->communication = times->waiting = times->seconds = 0;
        for (size_t i = 0; i < actions->ranks[r].n_actions; i++) {
            const struct pm_span *span = &times->spans[i];
            if (actions->ranks[r].actions[i].kind == PM_ACTION_COMPUTE)
                times->computation += span->end - span->begin;
            else
                times->communication += span->end - span->begin - span->waiting;
            times->waiting += span->waiting;
            times->seconds = fmax(times->seconds, span->end);
        }
    }
}
