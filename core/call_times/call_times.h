/* Times of calls of MPI in a run that was timed (`pmodel run --time`): how long each rank was in
   them, and how long of that it waited for other ranks.  Kept with the run in the store.

   Waiting is as `pmodel replay` counts it in a run on a network that is not there
   (meetings.c, below).  It needs begin and end of each call by one clock, so it is
   known among ranks on one machine.  What calls take beyond the shortest of their kind, which needs
   no common clock, was not taken for it: where a rank comes late every time, no call of its partner
   is short, and nothing would be waiting.

   What is not known is time of calls whose partner has another clock, or is not known; of those
   that the log of a thread had no room for (runtime/mpi_events/); of neighbourhood collectives,
   and of synchronisation of windows other than fences.  It is kept apart, as `unknown`. */
#ifndef PM_CALL_TIMES_H
#define PM_CALL_TIMES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/call_paths/call_paths.h"

/* Calls of one rank, at one place and with one partner, that were events
   (core/communication/communication.h); tests and probes that found nothing were none. */
struct pm_call_time {
    uint32_t rank;          /* of MPI_COMM_WORLD */
    uint32_t path;          /* of the call */
    int32_t partner;        /* as of struct pm_event_kind */
    int32_t source;         /* likewise */
    uint32_t operation;     /* enum pm_operation */
    uint64_t n;             /* events */
    double seconds;         /* in these calls */
    double least_seconds;   /* in the shortest */
    double waiting_seconds; /* the part of `seconds` that is known to be waiting */
    double unknown_seconds; /* the part of `seconds` that may have been waiting or not */
};

struct pm_rank_span {
    uint32_t rank;
    double seconds; /* from the end of MPI_Init to the begin of MPI_Finalize */
};

struct pm_call_times {
    struct pm_call_paths paths;
    PM_ARRAY(struct pm_call_time, calls); /* ascending by rank; owned */
    PM_ARRAY(struct pm_rank_span, spans); /* ascending by rank, each once; owned */
};

void pm_call_times_free(struct pm_call_times *times); /* NULL is allowed */

/* Sums over calls.  Waiting of a sum is not known (NAN) if more than a hundredth of its seconds
   are unknown. */
struct pm_call_seconds {
    double n, seconds, least, waiting, unknown;
};
void pm_call_seconds_add(struct pm_call_seconds *sum, const struct pm_call_time *time);
double pm_call_seconds_waiting(const struct pm_call_seconds *sum);

/* Is what stands in TIMES in itself right?  A sentence says what is not. */
bool pm_call_times_are_valid(const struct pm_call_times *times, struct pm_error *err);

/* ---- waiting (meetings.c) ---------------------------------------------------------------------
   How long a call of MPI waits for other ranks: one definition for calls of a run that was timed
   (measure/call_times/) and of one on a simulated network (sched/replay/).

       a receive or probe    until the send of its message began
       a send                until its receive began, unless the send ended before: it was buffered
       a completion          the longest of its requests, a request being what began it
       a collective          until those had come whom it needs (enum pm_meeting)

   at most as long as the call took. */

/* When another comes, after a call began, in the unit of the call's LENGTH; negative: it was there
   before.  NAN: not known. */
#define PM_NEVER_LATE (-INFINITY) /* the call waits for nobody */

/* What a call of LENGTH waits, in its unit; NAN: not known. */
double pm_waiting(double length, double late);
/* The same for a send, whose receive begins LATE after it. */
double pm_waiting_of_send(double length, double late);
/* The larger of both; NAN if one is not known. */
double pm_longer_waiting(double a, double b);

/* Who cannot go on before whom has come. */
enum pm_meeting {
    PM_MEETING_NONE,    /* it is no collective operation */
    PM_MEETING_ALL,     /* nobody before all */
    PM_MEETING_ROOT,    /* nobody before the root, which gives */
    PM_MEETING_AT_ROOT, /* the root, which takes, before all */
    PM_MEETING_BEFORE,  /* none before those with smaller ranks */
    PM_MEETING_UNKNOWN,
};

/* COMES: when those had come whom each of N members needs, that came at BEGINS, by rank; all by one
   clock.  IS_ALL: nobody is missing.  ROOT: its place among them; N: not known. */
void pm_meet(enum pm_meeting meeting, const double *begins, size_t n, bool is_all, size_t root,
             double *comes);

#endif
