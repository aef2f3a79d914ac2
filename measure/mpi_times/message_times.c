/* Which send belongs to which receive.

   Messages from one rank to another in one communicator with one tag come together in the order in
   which they were sent and received: the n-th send belongs to the n-th receive.  A receive from any
   source, or with any tag, is of what it got.  A probe sees what the next receive gets; one that
   keeps the message for its caller (MPI_Mprobe) stands for the receive, which does not wait any
   more.

   Where there are not as many of the ones as of the others, and all of both are known, something
   else is not (a receive that never came to its end): all of these messages are unknown. */
#include <stdlib.h>

#include "core/mpi_operations.h"
#include "measure/mpi_times/private.h"

struct end {
    uint32_t communicator;
    int32_t from, to, tag;
    uint32_t process, event;
    bool is_look; /* of a probe, which leaves the message where it is */
};

struct ends {
    PM_ARRAY(struct end, sends);
    PM_ARRAY(struct end, receives);
};

static int by_channel(const void *left, const void *right) {
    const struct end *a = left, *b = right;
    int order = PM_COMPARE(a->communicator, b->communicator);
    order = order ? order : PM_COMPARE(a->from, b->from);
    order = order ? order : PM_COMPARE(a->to, b->to);
    return order ? order : PM_COMPARE(a->tag, b->tag);
}

static int by_place(const void *left, const void *right) {
    const struct end *a = left, *b = right;
    int order = by_channel(a, b);
    order = order ? order : PM_COMPARE(a->process, b->process);
    return order ? order : PM_COMPARE(a->event, b->event);
}

/* Ranks and sources that are not known, or MPI_PROC_NULL. */
static int64_t without_partner(int32_t partner) {
    return partner == PM_NULL_PARTNER || partner == PM_NO_PARTNER ? PM_COMES_NEVER
                                                                  : PM_COMES_UNKNOWN;
}

static void add_send(struct ends *ends, struct end end, const struct pm_event_kind *kind,
                     struct pm_event_partners *partners) {
    end.to = kind->partner;
    end.tag = kind->tag;
    if (kind->partner >= 0)
        *PM_PUSH(ends, sends) = end;
    partners->receiver = kind->partner >= 0 ? PM_COMES_UNKNOWN : without_partner(kind->partner);
}

static void add_receive(struct ends *ends, struct end end, int32_t from, int32_t tag,
                        struct pm_event_partners *partners) {
    end.to = end.from;
    end.from = from;
    end.tag = tag;
    if (from >= 0)
        *PM_PUSH(ends, receives) = end;
    partners->comes = from >= 0 ? PM_COMES_UNKNOWN : without_partner(from);
}

static void add_event(struct ends *ends, const struct pm_event_kind *kind, struct end end,
                      struct pm_event_partners *partners) {
    switch (pm_operation_way(kind->operation)) {
    case PM_WAY_SENDS:
        add_send(ends, end, kind, partners);
        return;
    case PM_WAY_EXCHANGES:
        add_send(ends, end, kind, partners);
        add_receive(ends, end, kind->source, kind->source_tag, partners);
        return;
    case PM_WAY_PROBES:
        end.is_look = kind->operation == PM_MPI_Probe || kind->operation == PM_MPI_Iprobe;
        add_receive(ends, end, kind->partner, kind->tag, partners);
        return;
    case PM_WAY_RECEIVES:
        if (kind->operation != PM_MPI_Mrecv && kind->operation != PM_MPI_Imrecv)
            add_receive(ends, end, kind->partner, kind->tag, partners);
        return;
    default:
        return;
    }
}

static struct pm_timed_event *event_of(struct pm_timed_run *run, const struct end *end) {
    return &run->processes[end->process].events[end->event];
}
static struct pm_event_partners *partners_of(struct pm_timed_run *run, const struct end *end) {
    return &run->processes[end->process].partners[end->event];
}

/* So many ends from FIRST on are of its channel. */
static size_t channel_length(const struct end *ends, size_t n, const struct end *first) {
    size_t i = 0;
    while (i < n && by_channel(&ends[i], first) == 0)
        i++;
    return i;
}

static void match_channel(struct pm_timed_run *run, const struct end *sends, size_t n_sends,
                          const struct end *receives, size_t n_receives) {
    size_t n_taken = 0;
    for (size_t i = 0; i < n_receives; i++)
        n_taken += !receives[i].is_look;
    if (n_sends == 0 || n_receives == 0 ||
        !pm_have_one_clock(run, sends[0].process, receives[0].process))
        return;
    if (n_taken != n_sends && !run->processes[sends[0].process].is_cut &&
        !run->processes[receives[0].process].is_cut)
        return;
    for (size_t i = 0, s = 0; i < n_receives && s < n_sends; i++) {
        partners_of(run, &receives[i])->comes = event_of(run, &sends[s])->begin;
        if (!receives[i].is_look)
            partners_of(run, &sends[s++])->receiver = event_of(run, &receives[i])->begin;
    }
}

static void match(struct pm_timed_run *run, const struct ends *ends) {
    size_t s = 0, r = 0;
    while (s < ends->n_sends || r < ends->n_receives) {
        const struct end *first =
            s == ends->n_sends ? &ends->receives[r]
            : r == ends->n_receives || by_channel(&ends->sends[s], &ends->receives[r]) <= 0
                ? &ends->sends[s]
                : &ends->receives[r];
        size_t n_sends = channel_length(&ends->sends[s], ends->n_sends - s, first);
        size_t n_receives = channel_length(&ends->receives[r], ends->n_receives - r, first);
        match_channel(run, &ends->sends[s], n_sends, &ends->receives[r], n_receives);
        s += n_sends;
        r += n_receives;
    }
}

void pm_match_messages(struct pm_timed_run *run) {
    struct ends ends = {0};
    for (size_t p = 0; p < run->n_processes; p++) {
        const struct pm_timed_process *process = &run->processes[p];
        for (size_t i = 0; i < process->n_events; i++) {
            const struct pm_event_kind *kind = pm_timed_kind(run, &process->events[i]);
            add_event(&ends, kind,
                      (struct end){.communicator = kind->communicator,
                                   .from = (int32_t)process->rank,
                                   .process = (uint32_t)p,
                                   .event = (uint32_t)i},
                      &process->partners[i]);
        }
    }
    PM_SORT(ends.sends, ends.n_sends, by_place);
    PM_SORT(ends.receives, ends.n_receives, by_place);
    match(run, &ends);
    free(ends.sends);
    free(ends.receives);
}
