/* Communication of a run: what each thread of each rank said to whom, by call path, as counts of
   events that are alike and as the order in which they came (Marin 2003, section 3.3.2, where only
   volumes on sockets are known).  Kept with the run in the store.

   An event is one call of MPI that came back without an error.  Of a nonblocking receive partner,
   tag and bytes are what its completion told.  Of a persistent request each start is an event, with
   the operation that made it; a call that completes several requests is one.  Tests and probes that
   found nothing are no events.

   Bytes are those of the user's buffers: of a collective operation what this rank gives into it and
   gets out of it, its own part included, whatever messages the library makes of it. */
#ifndef PM_COMMUNICATION_H
#define PM_COMMUNICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/call_paths/call_paths.h"
#include "core/mpi_operations.h"

/* The same number in all processes of the run that are members of it. */
struct pm_communicator {
    uint32_t number;
    uint16_t made_by;           /* enum pm_operation; PM_N_OPERATIONS: MPI has it, or unknown */
    PM_ARRAY(int32_t, members); /* ranks of the world in their order, or PM_UNKNOWN_PARTNER;
                                   owned */
    PM_ARRAY(int32_t, remote);  /* of an intercommunicator the other group; owned */
};

/* What events that are alike have in common. */
struct pm_event_kind {
    uint32_t path;         /* of the call (core/call_paths/call_paths.h) */
    uint16_t operation;    /* enum pm_operation */
    uint32_t communicator; /* its number; PM_NONE: none, or unknown */
    int32_t partner;       /* to whom, from whom, the target, the root; a rank of the world */
    int32_t source;        /* of PM_WAY_EXCHANGES from whom; else PM_NO_PARTNER */
    int32_t tag, source_tag;
    uint64_t bytes_sent, bytes_received;
    uint32_t
        requests; /* index in pm_communication.requests: what it begins or completes; 0: none */
};

/* Events of one kind in one thread. */
struct pm_event_count {
    uint32_t process, thread;
    struct pm_event_kind kind;
    uint64_t n; /* 0: only in the trace, whose place could not wait for what the event was */
};

/* Numbers of requests of one process, kept small: a completed request's number is given to the next
   request.  Persistent requests keep theirs. */
struct pm_request_list {
    PM_ARRAY(uint32_t, numbers); /* in the order of the call; owned */
};

/* An event, or a loop over a sequence. */
struct pm_trace_node {
    uint32_t item;  /* index in pm_communication.counts, or in pm_trace.sequences */
    uint32_t times; /* of a loop, at least 2; 0: an event */
};

/* The events of one thread in their order: the last sequence is all of it.  A sequence has loops
   over earlier ones only. */
struct pm_trace {
    uint32_t process, thread;
    uint64_t n_events; /* that the sequences stand for */
    uint64_t n_lost;   /* that came after them, when there was no more room; they are counted */
    PM_ARRAY(struct pm_trace_node,
             nodes); /* the nodes of each sequence follow those of the one before; owned */
    PM_ARRAY(uint32_t, sequences); /* where in NODES each of them begins; owned */
};

/* A socket of a process: its own address and its peer's as text, "127.0.0.1:4000 to 127.0.0.1:80";
   "unix" where it has none. */
struct pm_socket {
    uint32_t process;
    char *text; /* owned */
};

/* What a thread moved on a socket while control was inside a routine that `run --sockets` named. */
struct pm_socket_traffic {
    uint32_t process, thread;
    uint32_t path;   /* call path of that routine */
    uint32_t socket; /* index in pm_communication.sockets */
    uint64_t sends,
        receives; /* calls of the C library, or messages in one call, that moved bytes */
    uint64_t bytes_sent, bytes_received;
};

struct pm_communication {
    struct pm_call_paths paths;
    PM_ARRAY(struct pm_communicator, communicators); /* ascending by number */
    PM_ARRAY(struct pm_request_list, requests);      /* the first is empty */
    PM_ARRAY(struct pm_event_count, counts); /* by process, thread, in the order of first events */
    PM_ARRAY(struct pm_trace, traces);       /* by process, thread */
    uint64_t n_lost; /* events and transfers that are not counted, as there was no more room */
    PM_ARRAY(struct pm_socket, sockets);
    PM_ARRAY(struct pm_socket_traffic, traffic);
};

struct pm_communication *pm_communication_new(void);
void pm_communication_free(struct pm_communication *communication); /* NULL is allowed */

/* The one with NUMBER; NULL: there is none. */
const struct pm_communicator *pm_communicator(const struct pm_communication *communication,
                                              uint32_t number);
/* Index of the request list with these NUMBERS; a new list is added. */
uint32_t pm_request_list(struct pm_communication *communication, const uint32_t *numbers, size_t n);

/* "MPI_Send"; NULL: there is no such operation. */
const char *pm_operation_name(uint16_t operation);
enum pm_operation_way pm_operation_way(uint16_t operation);
/* MPI_Irecv, MPI_Iprobe, and starts of persistent requests: they begin something, or look. */
bool pm_operation_is_nonblocking(uint16_t operation);

/* Whether an event of this kind sends to (receives from) one other rank, and which; false: it does
   not, the partner is unknown, or it is MPI_PROC_NULL.  One-sided operations send what they write
   and receive what they read. */
bool pm_event_sends(const struct pm_event_kind *kind, int32_t *to);
bool pm_event_receives(const struct pm_event_kind *kind, int32_t *from);

/* Is what stands in COMMUNICATION in itself right?  A sentence says what is not. */
bool pm_communication_is_valid(const struct pm_communication *communication, struct pm_error *err);

/* ---- traces (event_trace.c) ------------------------------------------------------------------ */

/* The nodes of sequence NUMBER. */
const struct pm_trace_node *pm_trace_sequence(const struct pm_trace *trace, uint32_t number,
                                              size_t *n);

/* Goes through the events of a trace in their order, in memory for the depth of its loops only. */
struct pm_trace_walk {
    const struct pm_trace *trace;
    PM_ARRAY(struct pm_trace_place, open); /* owned */
};
struct pm_trace_place {
    uint32_t next, end; /* nodes */
    uint32_t first;     /* node that the sequence begins at */
    uint32_t times;     /* that are left, this one included */
};
struct pm_trace_walk pm_trace_walk(const struct pm_trace *trace);
/* The next event, an index in pm_communication.counts; false at the end, where the walk frees what
   it owns. */
bool pm_trace_next(struct pm_trace_walk *walk, uint32_t *event);
void pm_trace_walk_free(struct pm_trace_walk *walk); /* before the end */

/* Does TRACE hold together, with events below N_COUNTS? */
bool pm_trace_is_valid(const struct pm_trace *trace, size_t n_counts);

#endif
