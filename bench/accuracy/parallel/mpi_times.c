/* Loaded before a program with Open MPI, in C or Fortran: how long each rank took from the end of
   MPI_Init to the begin of MPI_Finalize, how much of it in the calls of MPI that the example
   applications have (and some others, for the judge's own test), and how much of that it waited for
   other ranks (waiting.c).  All ranks are on one machine.

   Prints for each rank a line "mpi_times RANK SECONDS SECONDS_IN_MPI SECONDS_WAITING" to standard
   error, or with a sentence in place of the last figure.  A call costs two looks at the clock and a
   line in a list: 0.035 µs of a call, on a core of 4 GHz. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "calls.h"

enum { MOST_CALLS = 1 << 23, MOST_OPEN = 1 << 10 };

static struct calls kept;
static int64_t begin, inside;
static int is_full;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Memory that is there when it is first written. */
static void *room_for(size_t n, size_t size) {
    void *room = mmap(NULL, n * size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        abort();
    return room;
}

static struct call *add(enum call_kind kind, int partner, int tag, int64_t before) {
    static struct call none;
    int64_t after = now();
    inside += after - before;
    is_full |= kept.n_calls == MOST_CALLS;
    struct call *call = is_full ? &none : &kept.calls[kept.n_calls++];
    *call = (struct call){before, after, kind, partner, tag, 0, 0};
    return call;
}

/* The rank of the world that RANK is in COMM, of which the last one is remembered. */
static int world_rank(MPI_Comm comm, int rank) {
    static MPI_Comm last = MPI_COMM_NULL;
    static int *ranks, size;
    if (comm == MPI_COMM_WORLD || rank < 0)
        return rank;
    if (comm != last) {
        MPI_Group group, world;
        PMPI_Comm_size(comm, &size);
        PMPI_Comm_group(comm, &group);
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        free(ranks);
        ranks = calloc(2 * (size_t)size, sizeof *ranks);
        for (int i = 0; i < size; i++)
            ranks[size + i] = i;
        PMPI_Group_translate_ranks(group, size, ranks + size, world, ranks);
        PMPI_Group_free(&group);
        PMPI_Group_free(&world);
        last = comm;
    }
    return ranks[rank];
}

static void add_message(enum call_kind kind, MPI_Comm comm, int partner, int tag, int64_t before) {
    int is_real = partner != MPI_PROC_NULL;
    struct call *call = add(is_real ? kind : CALL_OTHER, 0, tag, before);
    call->partner = is_real ? world_rank(comm, partner) : 0;
}

/* Those of a part of the ranks are not looked at. */
static void add_collective(enum call_kind kind, MPI_Comm comm, int root, int64_t before) {
    int size, all;
    struct call *call = add(kind, 0, 0, before);
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    if (size < all)
        call->kind = CALL_OTHER;
    call->partner = world_rank(comm, root);
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct {
    MPI_Request handle;
    int32_t call;
} open_requests[MOST_OPEN];
static int n_open;

static void begin_request(MPI_Request handle) {
    if (n_open == MOST_OPEN || kept.n_calls == 0)
        is_full = 1;
    else {
        open_requests[n_open].handle = handle;
        open_requests[n_open++].call = (int32_t)kept.n_calls - 1;
    }
}

/* The oldest with HANDLE, of which libraries give one to all that were complete at once; -1: none.
 */
static int32_t end_request(MPI_Request handle) {
    for (int i = 0; i < n_open; i++) {
        if (open_requests[i].handle != handle)
            continue;
        int32_t call = open_requests[i].call;
        n_open--;
        for (; i < n_open; i++)
            open_requests[i] = open_requests[i + 1];
        return call;
    }
    return -1;
}

static int32_t end_requests(int n, const MPI_Request *handles) {
    size_t first = kept.n_requests;
    for (int i = 0; i < n; i++) {
        int32_t call = end_request(handles[i]);
        is_full |= kept.n_requests == MOST_CALLS;
        if (call >= 0 && !is_full)
            kept.requests[kept.n_requests++] = call;
    }
    return (int32_t)first;
}

static void add_completion(int32_t first, int64_t before) {
    struct call *call = add(CALL_COMPLETES, 0, 0, before);
    call->first_request = first;
    call->n_requests = (int32_t)kept.n_requests - first;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* All begin together, as in a replay. */
static void start(void) {
    kept.calls = room_for(MOST_CALLS, sizeof *kept.calls);
    kept.requests = room_for(MOST_CALLS, sizeof *kept.requests);
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = now();
}

struct summary {
    int64_t seconds_ns, inside_ns;
    uint64_t n_calls, n_requests;
    int64_t is_full;
};

static void fetch(int rank, const struct summary *of, struct calls *calls) {
    *calls = (struct calls){.n_calls = of->n_calls, .n_requests = of->n_requests};
    calls->calls = malloc((of->n_calls + 1) * sizeof *calls->calls);
    calls->requests = malloc((of->n_requests + 1) * sizeof *calls->requests);
    PMPI_Recv(calls->calls, (int)(of->n_calls * sizeof *calls->calls), MPI_BYTE, rank, 1,
              MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Recv(calls->requests, (int)(of->n_requests * sizeof *calls->requests), MPI_BYTE, rank, 2,
              MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The first rank takes all lists. */
static void say(void) {
    int rank, n_ranks;
    struct summary own = {now() - begin, inside, kept.n_calls, kept.n_requests, is_full};
    MPI_Request requests[2];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    struct summary *all = calloc((size_t)n_ranks, sizeof *all);
    struct calls *calls = calloc((size_t)n_ranks, sizeof *calls);
    double *waiting = calloc((size_t)n_ranks, sizeof *waiting);
    const char *fault = NULL;
    PMPI_Gather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
    PMPI_Isend(kept.calls, (int)(kept.n_calls * sizeof *kept.calls), MPI_BYTE, 0, 1, MPI_COMM_WORLD,
               &requests[0]);
    PMPI_Isend(kept.requests, (int)(kept.n_requests * sizeof *kept.requests), MPI_BYTE, 0, 2,
               MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; rank == 0 && i < n_ranks; i++) {
        fetch(i, &all[i], &calls[i]);
        if (all[i].is_full)
            fault = "there were too many calls";
    }
    PMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == 0 && !fault)
        fault = find_waiting(calls, n_ranks, waiting);
    for (int i = 0; rank == 0 && i < n_ranks; i++) {
        fprintf(stderr, "mpi_times %d %.9f %.9f ", i, 1e-9 * (double)all[i].seconds_ns,
                1e-9 * (double)all[i].inside_ns);
        if (fault)
            fprintf(stderr, "%s\n", fault);
        else
            fprintf(stderr, "%.9f\n", waiting[i]);
        free(calls[i].calls);
        free(calls[i].requests);
    }
    free(all);
    free(calls);
    free(waiting);
}

int MPI_Init(int *argc, char ***argv) {
    int result = PMPI_Init(argc, argv);
    start();
    return result;
}
int MPI_Finalize(void) {
    say();
    return PMPI_Finalize();
}

/* ---- calls of C ------------------------------------------------------------------------------ */

#define C_WRAPPER(name, parameters, arguments, added)                                              \
    int MPI_##name parameters {                                                                    \
        int64_t before = now();                                                                    \
        int result = PMPI_##name arguments;                                                        \
        added;                                                                                     \
        return result;                                                                             \
    }
C_WRAPPER(Send, (const void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c),
          (b, n, t, p, tag, c), add_message(CALL_SEND, c, p, tag, before))
C_WRAPPER(Ssend, (const void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c),
          (b, n, t, p, tag, c), add_message(CALL_SEND, c, p, tag, before))
C_WRAPPER(Recv, (void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Status *s),
          (b, n, t, p, tag, c, s), add_message(CALL_RECEIVE, c, p, tag, before))
C_WRAPPER(Irecv, (void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Request *r),
          (b, n, t, p, tag, c, r),
          (add_message(CALL_IRECEIVE, c, p, tag, before), begin_request(*r)))
C_WRAPPER(Isend, (const void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Request *r),
          (b, n, t, p, tag, c, r), (add_message(CALL_ISEND, c, p, tag, before), begin_request(*r)))
C_WRAPPER(Allreduce, (const void *b, void *to, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
          (b, to, n, t, o, c), add_collective(CALL_MEETS_ALL, c, 0, before))
C_WRAPPER(Reduce, (const void *b, void *to, int n, MPI_Datatype t, MPI_Op o, int p, MPI_Comm c),
          (b, to, n, t, o, p, c), add_collective(CALL_MEETS_AT_ROOT, c, p, before))
C_WRAPPER(Bcast, (void *b, int n, MPI_Datatype t, int p, MPI_Comm c), (b, n, t, p, c),
          add_collective(CALL_MEETS_ROOT, c, p, before))
C_WRAPPER(Barrier, (MPI_Comm c), (c), add_collective(CALL_MEETS_ALL, c, 0, before))

/* Handles are gone after the call. */
int MPI_Wait(MPI_Request *r, MPI_Status *s) {
    int64_t before = now();
    int32_t first = end_requests(1, r);
    int result = PMPI_Wait(r, s);
    add_completion(first, before);
    return result;
}
int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[]) {
    int64_t before = now();
    int32_t first = end_requests(n, r);
    int result = PMPI_Waitall(n, r, s);
    add_completion(first, before);
    return result;
}

/* ---- calls of Fortran, whose arguments are all addresses --------------------------------------
 */

typedef void *a;
#define VALUE(of) (*(const MPI_Fint *)(of))
#define COMM(of) MPI_Comm_f2c(VALUE(of))
#define FORTRAN_WRAPPER(name, parameters, arguments, added)                                        \
    void pmpi_##name##_ parameters;                                                                \
    void mpi_##name##_ parameters {                                                                \
        int64_t before = now();                                                                    \
        pmpi_##name##_ arguments;                                                                  \
        added;                                                                                     \
    }
void pmpi_init_(a);
void mpi_init_(a error) {
    pmpi_init_(error);
    start();
}
void pmpi_finalize_(a);
void mpi_finalize_(a error) {
    say();
    pmpi_finalize_(error);
}
FORTRAN_WRAPPER(send, (a b, a n, a t, a p, a tag, a c, a e), (b, n, t, p, tag, c, e),
                add_message(CALL_SEND, COMM(c), VALUE(p), VALUE(tag), before))
FORTRAN_WRAPPER(recv, (a b, a n, a t, a p, a tag, a c, a s, a e), (b, n, t, p, tag, c, s, e),
                add_message(CALL_RECEIVE, COMM(c), VALUE(p), VALUE(tag), before))
FORTRAN_WRAPPER(allreduce, (a b, a to, a n, a t, a o, a c, a e), (b, to, n, t, o, c, e),
                add_collective(CALL_MEETS_ALL, COMM(c), 0, before))
FORTRAN_WRAPPER(reduce, (a b, a to, a n, a t, a o, a p, a c, a e), (b, to, n, t, o, p, c, e),
                add_collective(CALL_MEETS_AT_ROOT, COMM(c), VALUE(p), before))
FORTRAN_WRAPPER(cart_create, (a c, a n, a d, a p, a r, a to, a e), (c, n, d, p, r, to, e),
                add_collective(CALL_MEETS_ALL, COMM(c), 0, before))
