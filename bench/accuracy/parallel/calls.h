/* What a rank did in MPI, call by call, for mpi_times.c and waiting.c.

   Times are of CLOCK_MONOTONIC, which is one for all ranks on a machine. */
#ifndef BENCH_REPLAY_CALLS_H
#define BENCH_REPLAY_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum call_kind {
    CALL_OTHER, /* meets nobody */
    CALL_SEND,
    CALL_RECEIVE,
    CALL_ISEND,
    CALL_IRECEIVE,
    CALL_COMPLETES, /* requests, all of them */
    /* Of all ranks: */
    CALL_MEETS_ALL,
    CALL_MEETS_ROOT,    /* which gives */
    CALL_MEETS_AT_ROOT, /* which takes */
};

struct call {
    int64_t begin, end; /* ns */
    int32_t kind;       /* enum call_kind */
    int32_t partner;    /* or the root; rank of the world */
    int32_t tag;
    int32_t first_request, n_requests; /* of CALL_COMPLETES, in `requests` */
};

struct calls {
    struct call *calls;
    int32_t *requests; /* numbers of the calls that began them */
    size_t n_calls, n_requests;
};

/* How long each of N_RANKS ranks waited, in seconds.  A sentence if the calls do not belong
   together, else NULL. */
const char *find_waiting(const struct calls *ranks, int n_ranks, double *seconds);

#endif
