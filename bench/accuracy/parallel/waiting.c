/* How long ranks waited for each other, from when their calls began and ended: the definition that
   pmodel's replay has (sched/replay/replay_waiting.c), written once more, as a judge.

       a receive        until its send began
       a completion     until the partner's end of the message began, of the latest of its requests
       a send           until the receive began, if the send did not end before
       a collective     until the last rank came; where a root gives, until that came; where it
                        takes, at the root until the last came

   at most as long as the call took (the late senders, late receivers and waits at collectives of
   Wolf & Mohr 2003).  The n-th message from one rank to another with a tag belongs to the n-th
   receive there, the n-th collective of one rank to the n-th of all others: programs have one
   communicator, or tags that tell them apart. */
#include <stdbool.h>
#include <stdlib.h>

#include "calls.h"

struct end {
    int from, to, tag;
    int rank;
    size_t call; /* of RANK */
};

struct ends {
    struct end *ends;
    size_t n;
};

static int by_message(const void *left, const void *right) {
    const struct end *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

static bool is_send(const struct call *call) {
    return call->kind == CALL_SEND || call->kind == CALL_ISEND;
}
static bool is_receive(const struct call *call) {
    return call->kind == CALL_RECEIVE || call->kind == CALL_IRECEIVE;
}

static struct ends find_ends(const struct calls *ranks, int n_ranks,
                             bool (*is_wanted)(const struct call *)) {
    struct ends found = {0};
    for (int rank = 0; rank < n_ranks; rank++)
        for (size_t i = 0; i < ranks[rank].n_calls; i++)
            found.n += is_wanted(&ranks[rank].calls[i]);
    found.ends = calloc(found.n + 1, sizeof *found.ends);
    size_t n = 0;
    for (int rank = 0; rank < n_ranks; rank++)
        for (size_t i = 0; i < ranks[rank].n_calls; i++) {
            const struct call *call = &ranks[rank].calls[i];
            if (is_wanted(call))
                found.ends[n++] =
                    (struct end){is_send(call) ? rank : call->partner,
                                 is_send(call) ? call->partner : rank, call->tag, rank, i};
        }
    qsort(found.ends, found.n, sizeof *found.ends, by_message);
    return found;
}

/* Nanoseconds of CALL that were over when COMES. */
static int64_t waits_for(const struct call *call, int64_t comes) {
    if (comes <= call->begin)
        return 0;
    return (comes < call->end ? comes : call->end) - call->begin;
}

/* What is over before its receive began was buffered. */
static int64_t send_waits_for(const struct call *call, int64_t comes) {
    return comes >= call->end ? 0 : waits_for(call, comes);
}

/* COMES[rank][call]: when the other end of the message began; 0: it has none. */
static const char *find_partners(const struct calls *ranks, int n_ranks, int64_t **comes) {
    struct ends sends = find_ends(ranks, n_ranks, is_send);
    struct ends receives = find_ends(ranks, n_ranks, is_receive);
    const char *fault =
        sends.n == receives.n ? NULL : "there are more sends than receives, or less";
    for (size_t i = 0; !fault && i < sends.n; i++) {
        const struct end *send = &sends.ends[i], *receive = &receives.ends[i];
        if (send->from != receive->from || send->to != receive->to || send->tag != receive->tag)
            fault = "a message is not received, or its receive did not say from whom";
        comes[send->rank][send->call] = ranks[receive->rank].calls[receive->call].begin;
        comes[receive->rank][receive->call] = ranks[send->rank].calls[send->call].begin;
    }
    free(sends.ends);
    free(receives.ends);
    return fault;
}

static int64_t waits_for_messages(const struct calls *of, const int64_t *comes) {
    int64_t sum = 0;
    for (size_t i = 0; i < of->n_calls; i++) {
        const struct call *call = &of->calls[i];
        int64_t longest = 0;
        if (call->kind == CALL_RECEIVE)
            longest = waits_for(call, comes[i]);
        else if (call->kind == CALL_SEND)
            longest = send_waits_for(call, comes[i]);
        for (int k = 0; k < call->n_requests; k++) {
            int32_t begun = of->requests[call->first_request + k];
            int64_t waits = is_send(&of->calls[begun]) ? send_waits_for(call, comes[begun])
                                                       : waits_for(call, comes[begun]);
            longest = waits > longest ? waits : longest;
        }
        sum += longest;
    }
    return sum;
}

static const struct call *next_collective(const struct calls *of, size_t *at) {
    while (*at < of->n_calls && of->calls[*at].kind < CALL_MEETS_ALL)
        ++*at;
    return *at < of->n_calls ? &of->calls[(*at)++] : NULL;
}

static int64_t waits_at(const struct call *call, int rank, int64_t last, int64_t root) {
    if (call->kind == CALL_MEETS_ROOT)
        return waits_for(call, root);
    if (call->kind == CALL_MEETS_AT_ROOT && rank != call->partner)
        return 0;
    return waits_for(call, last);
}

static const char *add_collectives(const struct calls *ranks, int n_ranks, double *seconds) {
    size_t *at = calloc((size_t)n_ranks, sizeof *at);
    const struct call **now = calloc((size_t)n_ranks, sizeof *now);
    const char *fault = NULL;
    for (bool is_more = true; is_more && !fault;) {
        int64_t last = 0;
        int n = 0;
        for (int rank = 0; rank < n_ranks; rank++) {
            now[rank] = next_collective(&ranks[rank], &at[rank]);
            n += now[rank] != NULL;
            if (now[rank] && now[rank]->begin > last)
                last = now[rank]->begin;
        }
        is_more = n > 0;
        if (n > 0 && n < n_ranks)
            fault = "not all ranks have the same collective operations";
        for (int rank = 0; is_more && !fault && rank < n_ranks; rank++)
            seconds[rank] +=
                1e-9 * (double)waits_at(now[rank], rank, last, now[now[rank]->partner]->begin);
    }
    free(at);
    free(now);
    return fault;
}

const char *find_waiting(const struct calls *ranks, int n_ranks, double *seconds) {
    int64_t **comes = calloc((size_t)n_ranks, sizeof *comes);
    for (int rank = 0; rank < n_ranks; rank++)
        comes[rank] = calloc(ranks[rank].n_calls + 1, sizeof **comes);
    const char *fault = find_partners(ranks, n_ranks, comes);
    for (int rank = 0; rank < n_ranks; rank++) {
        if (!fault)
            seconds[rank] = 1e-9 * (double)waits_for_messages(&ranks[rank], comes[rank]);
        free(comes[rank]);
    }
    free(comes);
    return fault ? fault : add_collectives(ranks, n_ranks, seconds);
}
