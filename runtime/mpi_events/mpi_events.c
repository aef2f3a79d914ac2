/* Communication events of the process; see communication.h.

   An event's place in its thread's order is where the call came back.  Of a receive that is not
   complete it is kept in a queue, with all that come after it, until it is: then what comes out of
   the queue is counted and becomes part of the sequence.  A receive that waits too long leaves the
   queue as one of which nothing is known, and is only counted as what it was when it completes. */
#include "runtime/mpi_events/mpi_events.h"

#include <stdlib.h>
#include <string.h>

#include "core/mpi_operations.h"
#include "core/probe_abi.h"
#include "runtime/mpi_events/private.h"
#include "runtime/process.h"
#include "runtime/raw_output/raw_output.h"
#include "runtime/threads.h"

/* A receive that left the queue before it was complete. */
struct late_event {
    uint64_t serial;
    uint32_t kind; /* that it is counted as */
};
enum { MOST_LATE = 1 << 12, INCOMPLETE = UINT32_MAX, SERIAL_BITS = 44 };

struct events {
    int lock;
    struct pm_counted_events kinds;
    struct pm_sequence sequence;
    struct pm_call_log log;
    struct waiting { /* PM_WAITING_EVENTS, by serial */
        bool is_open;
        uint64_t ns; /* of its call */
        struct pm_raw_event event;
    } * waiting;
    uint64_t first_waiting, next_serial;
    struct late_event *late;
    uint32_t n_late;
    bool is_cut; /* there is no room for more of the sequence */
    uint64_t n_cut, n_lost;
    bool is_held; /* by who writes the raw file */
    struct pm_path_cache *paths;
};

static struct events *events_of[PM_MAX_THREADS];
static struct {
    int lock;
    uint32_t *words; /* as the raw file has them */
    uint32_t n_words, room, n;
} communicators;

enum wanted { NOT_ASKED, NOTHING, EVENTS, EVENTS_AND_TIMES };

static enum wanted what_is_wanted(void) {
    static int wanted;
    int known = __atomic_load_n(&wanted, __ATOMIC_RELAXED);
    if (known == NOT_ASKED) {
        const char *set = getenv(PM_ENV_COMMUNICATION);
        known = !set || !*set                              ? NOTHING
                : strcmp(set, PM_COMMUNICATION_TIMES) == 0 ? EVENTS_AND_TIMES
                                                           : EVENTS;
        __atomic_store_n(&wanted, known, __ATOMIC_RELAXED);
    }
    return (enum wanted)known;
}

PM_EXPORT bool pmodel_communication_wanted(void) { return what_is_wanted() != NOTHING; }
PM_EXPORT bool pmodel_call_times_wanted(void) { return what_is_wanted() == EVENTS_AND_TIMES; }

/* ---- one event ------------------------------------------------------------------------------- */

/* Those of the thread with NUMBER, which are made the first time; NULL: there is no memory. */
static struct events *find_events(uint32_t number) {
    struct events *events = __atomic_load_n(&events_of[number], __ATOMIC_ACQUIRE);
    if (events)
        return events;
    struct events *others = NULL;
    events = pm_mmap(sizeof *events);
    if (events && !__atomic_compare_exchange_n(&events_of[number], &others, events, false,
                                               __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        pm_munmap(events, sizeof *events);
        events = others;
    }
    return events;
}

static void add_time(struct pm_raw_call_time *time, uint64_t ns, bool is_first) {
    time->ns += ns;
    if (is_first || ns < time->least_ns)
        time->least_ns = ns;
}

/* Counts EVENT, whose call took NS, and appends it to the order; its kind, UINT32_MAX: there is no
   room. */
static uint32_t settle(struct events *events, const struct pm_raw_event *event, uint64_t ns) {
    uint32_t kind = pm_event_kind(&events->kinds, event);
    if (kind == UINT32_MAX) {
        events->n_lost++;
    } else {
        bool is_first = events->kinds.kinds[kind].n++ == 0;
        if (events->kinds.times)
            add_time(&events->kinds.times[kind], ns, is_first);
    }
    events->is_cut =
        events->is_cut || kind == UINT32_MAX || !pm_sequence_add(&events->sequence, kind);
    events->n_cut += events->is_cut;
    return kind;
}

static struct waiting *waiting_event(struct events *events, uint64_t serial) {
    return &events->waiting[serial % PM_WAITING_EVENTS];
}

/* What nobody waits for any more. */
static void settle_known(struct events *events) {
    while (events->first_waiting < events->next_serial) {
        struct waiting *first = waiting_event(events, events->first_waiting);
        if (first->is_open)
            break;
        settle(events, &first->event, first->ns);
        events->first_waiting++;
    }
}

/* The first that waits is not waited for any longer. */
static void settle_first(struct events *events) {
    struct waiting *first = waiting_event(events, events->first_waiting);
    uint32_t kind = settle(events, &first->event, first->ns);
    if (!events->late)
        events->late = pm_mmap(MOST_LATE * sizeof *events->late);
    if (events->late && events->n_late < MOST_LATE && kind != UINT32_MAX)
        events->late[events->n_late++] = (struct late_event){events->first_waiting, kind};
    events->first_waiting++;
}

static uint64_t wait_for(struct events *events, const struct pm_raw_event *event, uint64_t ns,
                         bool is_open) {
    if (!events->waiting &&
        !(events->waiting = pm_mmap(PM_WAITING_EVENTS * sizeof *events->waiting))) {
        settle(events, event, ns);
        return UINT64_MAX;
    }
    if (events->next_serial - events->first_waiting == PM_WAITING_EVENTS) {
        settle_first(events);
        settle_known(events);
    }
    *waiting_event(events, events->next_serial) = (struct waiting){is_open, ns, *event};
    return events->next_serial++;
}

PM_EXPORT uint64_t pmodel_event(const struct pmodel_event *event, bool is_open) {
    const struct pm_thread *thread = pm_current_thread();
    if (pm_process_is_finished() || (thread && thread->stopped))
        return 0;
    uint32_t number = thread ? thread->number : 0;
    struct events *events = find_events(number);
    if (!events)
        return 0;
    const struct pm_raw_event raw = {
        .path = pm_call_path_cached(&events->paths, event->frame, event->callee),
        .operation = event->operation,
        .communicator = event->communicator,
        .requests = pm_request_list_number(event->requests, event->n_requests),
        .partner = event->partner,
        .source = event->source,
        .tag = event->tag,
        .source_tag = event->source_tag,
        .bytes_sent = event->bytes_sent,
        .bytes_received = event->bytes_received};
    uint64_t serial = UINT64_MAX, ns = event->end_ns - event->begin_ns;
    pm_lock(&events->lock);
    if (event->end_ns)
        pm_call_log_add(&events->log, event->begin_ns, event->end_ns);
    if (is_open || events->first_waiting < events->next_serial)
        serial = wait_for(events, &raw, ns, is_open);
    else
        settle(events, &raw, ns);
    pm_unlock(&events->lock);
    return is_open && serial != UINT64_MAX ? (uint64_t)(number + 1) << SERIAL_BITS | serial : 0;
}

static void complete(struct pm_raw_event *event, int32_t partner, int32_t tag, uint64_t bytes) {
    event->partner = partner;
    event->tag = tag;
    event->bytes_received = bytes;
}

/* It is counted already, as one of which nothing is known. */
static void complete_late(struct events *events, uint64_t serial, int32_t partner, int32_t tag,
                          uint64_t bytes) {
    for (uint32_t i = 0; i < events->n_late; i++) {
        if (events->late[i].serial != serial)
            continue;
        uint32_t before = events->late[i].kind;
        struct pm_raw_event event = events->kinds.kinds[before];
        complete(&event, partner, tag, bytes);
        uint32_t kind = pm_event_kind(&events->kinds, &event);
        if (kind != UINT32_MAX) {
            events->kinds.kinds[before].n--;
            events->kinds.kinds[kind].n++;
        }
        events->late[i] = events->late[--events->n_late];
        return;
    }
}

PM_EXPORT void pmodel_event_complete(uint64_t ticket, int32_t partner, int32_t tag,
                                     uint64_t bytes) {
    uint64_t number = (ticket >> SERIAL_BITS) - 1;
    uint64_t serial = ticket & ((1ull << SERIAL_BITS) - 1);
    if (ticket == 0 || number >= PM_MAX_THREADS || !events_of[number] || pm_process_is_finished())
        return;
    struct events *events = events_of[number];
    pm_lock(&events->lock);
    if (serial < events->first_waiting) {
        complete_late(events, serial, partner, tag, bytes);
    } else if (serial < events->next_serial) {
        struct waiting *waiting = waiting_event(events, serial);
        waiting->is_open = false;
        complete(&waiting->event, partner, tag, bytes);
        settle_known(events);
    }
    pm_unlock(&events->lock);
}

/* ---- communicators --------------------------------------------------------------------------- */

PM_EXPORT uint32_t pmodel_communicator(uint16_t made_by, const int32_t *members, uint32_t n_members,
                                       const int32_t *remote, uint32_t n_remote) {
    uint32_t number = UINT32_MAX, n = 3 + n_members + n_remote;
    pm_lock(&communicators.lock);
    uint32_t room = communicators.room ? communicators.room : 1 << 10;
    while (room < communicators.n_words + n)
        room *= 2;
    if (room == communicators.room ||
        pm_mgrow(&communicators.words, communicators.room * sizeof(uint32_t),
                 room * sizeof(uint32_t))) {
        uint32_t *words = communicators.words + communicators.n_words;
        communicators.room = room;
        communicators.n_words += n;
        *words++ = made_by;
        *words++ = n_members;
        *words++ = n_remote;
        for (uint32_t i = 0; i < n_members; i++)
            *words++ = (uint32_t)members[i];
        for (uint32_t i = 0; i < n_remote; i++)
            *words++ = (uint32_t)remote[i];
        number = communicators.n++;
    }
    pm_unlock(&communicators.lock);
    return number;
}

static void add_communicators(struct pm_raw_builder *builder) {
    bool is_locked = pm_lock_soon(&communicators.lock);
    pm_raw_section_begin(builder, PM_RAW_COMMUNICATORS);
    pm_raw_add(builder, communicators.words, communicators.n_words * sizeof(uint32_t));
    pm_raw_section_end(builder);
    if (is_locked)
        pm_unlock(&communicators.lock);
}

/* ---- the raw file ---------------------------------------------------------------------------- */

static void add_counts(struct pm_raw_builder *builder, uint32_t thread,
                       const struct events *events) {
    const struct pm_counted_events *kinds = &events->kinds;
    pm_raw_section_begin(builder, PM_RAW_COMMUNICATION);
    pm_raw_add_u64(builder, thread);
    pm_raw_add_u64(builder, events->n_lost);
    pm_raw_add(builder, kinds->kinds, kinds->n_kinds * sizeof *kinds->kinds);
    pm_raw_section_end(builder);
}

/* The bodies of loops, then the list. */
static void add_trace(struct pm_raw_builder *builder, uint32_t thread,
                      const struct events *events) {
    const struct pm_sequence *sequence = &events->sequence;
    pm_raw_section_begin(builder, PM_RAW_TRACE);
    pm_raw_add_u64(builder, thread);
    pm_raw_add_u64(builder, sequence->n);
    pm_raw_add_u64(builder, events->n_cut);
    pm_raw_add_u32(builder, sequence->n_starts + 1);
    pm_raw_add_u32(builder, sequence->n_bodies + sequence->n_list);
    pm_raw_add(builder, sequence->starts, sequence->n_starts * sizeof *sequence->starts);
    pm_raw_add_u32(builder, sequence->n_bodies);
    pm_raw_add(builder, sequence->bodies, sequence->n_bodies * sizeof *sequence->bodies);
    pm_raw_add(builder, sequence->list, sequence->n_list * sizeof *sequence->list);
    pm_raw_section_end(builder);
}

/* Of a process that is at its end nothing will come to be known any more. */
static void settle_all(struct events *events) {
    while (events->first_waiting < events->next_serial) {
        const struct waiting *first = waiting_event(events, events->first_waiting++);
        settle(events, &first->event, first->ns);
    }
}

/* A thread that a signal ends the process in may be in the middle of an event: its counts are right
   then, but for that one, and there is no trace. */
static void add_thread(struct pm_raw_builder *builder, uint32_t thread, struct events *events) {
    if (!events->is_held && !pm_process_is_finished())
        return; /* it began just now: the next file has it */
    if (events->is_held && pm_process_is_finished())
        settle_all(events);
    add_counts(builder, thread, events);
    if (events->is_held)
        add_trace(builder, thread, events);
    if (events->is_held && pmodel_call_times_wanted())
        pm_call_times_add_thread(builder, thread, &events->kinds, &events->log);
}

void pm_communication_add(struct pm_raw_builder *builder) {
    if (!pmodel_communication_wanted() || communicators.n == 0)
        return;
    /* No thread counts an event from here on, so that all that events refer to is written. */
    for (uint32_t i = 0; i < PM_MAX_THREADS; i++)
        if (events_of[i])
            events_of[i]->is_held = pm_lock_soon(&events_of[i]->lock);
    add_communicators(builder);
    pm_request_lists_add(builder);
    if (pmodel_call_times_wanted())
        pm_mpi_span_add(builder);
    for (uint32_t i = 0; i < PM_MAX_THREADS; i++)
        if (events_of[i])
            add_thread(builder, i, events_of[i]);
    for (uint32_t i = 0; i < PM_MAX_THREADS; i++)
        if (events_of[i] && events_of[i]->is_held) {
            events_of[i]->is_held = false;
            pm_unlock(&events_of[i]->lock);
        }
}

void pm_communication_after_fork(void) {
    for (uint32_t i = 0; i < PM_MAX_THREADS; i++) {
        struct events *events = events_of[i];
        if (!events)
            continue;
        pm_counted_events_free(&events->kinds);
        pm_sequence_free(&events->sequence);
        pm_call_log_free(&events->log);
        pm_path_cache_free(&events->paths);
        pm_munmap(events->waiting, PM_WAITING_EVENTS * sizeof *events->waiting);
        pm_munmap(events->late, MOST_LATE * sizeof *events->late);
        *events = (struct events){0};
    }
    communicators.lock = 0;
    communicators.n = communicators.n_words = 0;
    pm_request_lists_clear();
    pm_mpi_span_clear();
}
