/* How long ranks wait for each other, from when their actions began and ended:

       a receive        until the send that belongs to it began
       a wait           until the partner's end of the message began, of the latest of its requests
       a send           until the receive began, if the send did not end before
       a collective     until the last rank came to it; of one with a root that gives, until the
   root came; at a root that takes, until the last came

   at most as long as the action took.  What is left of its time is communication.  Messages and
   collectives come together in the order in which MPI brings them together (actions.c). */
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

/* So much of SPAN is before COMES. */
static double waits_for(const struct pm_span *span, double comes) {
    if (isnan(comes) || comes <= span->begin)
        return 0;
    return fmin(comes, span->end) - span->begin;
}

/* The same of one that sends: what is over before the receive begins was taken by the library. */
static double send_waits_for(const struct pm_span *span, double comes) {
    return comes >= span->end ? 0 : waits_for(span, comes);
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
        if (a->kind == PM_ACTION_RECV)
            span->waiting = waits_for(span, partner_begins[i]);
        else if (a->kind == PM_ACTION_SEND)
            span->waiting = send_waits_for(span, partner_begins[i]);
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
            double comes = partner_begins[open->action];
            span->waiting = fmax(span->waiting, open->is_send ? send_waits_for(span, comes)
                                                              : waits_for(span, comes));
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
    for (;;) {
        double last = -INFINITY;
        for (size_t r = 0; r < n; r++) {
            if (!is_next_collective(&actions->ranks[r], &at[r])) {
                free(at);
                return;
            }
            last = fmax(last, replay->ranks[r].spans[at[r]].begin);
        }
        const struct pm_action *first = &actions->ranks[0].actions[at[0]];
        size_t root = (size_t)first->partner < n ? (size_t)first->partner : 0;
        double root_begin = replay->ranks[root].spans[at[root]].begin;
        for (size_t r = 0; r < n; r++) {
            struct pm_span *span = &replay->ranks[r].spans[at[r]++];
            switch (pm_action_meeting(first->kind)) {
            case PM_MEETING_ALL:
                span->waiting = waits_for(span, last);
                break;
            case PM_MEETING_ROOT:
                span->waiting = waits_for(span, root_begin);
                break;
            case PM_MEETING_AT_ROOT:
                span->waiting = r == root ? waits_for(span, last) : 0;
                break;
            case PM_MEETING_NONE:
                break;
            }
        }
    }
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
