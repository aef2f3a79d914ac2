/* What the files of this folder share; see mpi_times.h for what others use. */
#ifndef PM_MEASURE_MPI_TIMES_PRIVATE_H
#define PM_MEASURE_MPI_TIMES_PRIVATE_H

#include "core/communication/communication.h"
#include "measure/mpi_times/mpi_times.h"

/* A call of which the log says when it was; ns of CLOCK_MONOTONIC. */
struct pm_timed_event {
    int64_t begin, end;
    uint32_t count; /* index in pm_communication.counts: of which kind it is */
};

/* Begin of the events that a call may wait for. */
enum { PM_COMES_NEVER = -1 /* it waits for nobody */, PM_COMES_UNKNOWN = -2 };
struct pm_event_partners {
    int64_t receiver; /* the event that receives its message */
    int64_t comes;    /* the event that sends what it receives; or a collective */
};

struct pm_timed_process {
    uint32_t rank;
    uint64_t clock[2];                       /* zeros: not known */
    bool is_cut;                             /* the log does not have all of its calls */
    PM_ARRAY(struct pm_timed_event, events); /* by begin, of all threads; owned */
    struct pm_event_partners *partners;      /* of each; owned */
};

struct pm_timed_run {
    const struct pm_communication *communication;
    PM_ARRAY(struct pm_timed_process, processes); /* owned */
};

static inline const struct pm_event_kind *pm_timed_kind(const struct pm_timed_run *run,
                                                        const struct pm_timed_event *event) {
    return &run->communication->counts[event->count].kind;
}

/* Finds whom each event may wait for: message_times.c, collectives.c. */
void pm_match_messages(struct pm_timed_run *run);
void pm_match_collectives(struct pm_timed_run *run);

/* Is PROCESSES[A]'s clock PROCESSES[B]'s? */
bool pm_have_one_clock(const struct pm_timed_run *run, size_t a, size_t b);

/* Once partners are known: nanoseconds of waiting, and of calls of which that is not known, added
   by kind (index in pm_communication.counts) (waiting_times.c). */
struct pm_kind_waiting {
    uint64_t logged_ns, waiting_ns, unknown_ns;
};
void pm_add_waiting(const struct pm_timed_run *run, struct pm_kind_waiting *by_kind);

#endif
