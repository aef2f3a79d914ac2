/* A call of MPI on its way through its wrapper: its arguments, in one shape for all calls, and the
   event that is made when it returns. */
#ifndef PM_RUNTIME_MPI_CALL_H
#define PM_RUNTIME_MPI_CALL_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mpi_operations.h"
#include "runtime/mpi_events/mpi_events.h"
#include "runtime/lock.h"
#include "runtime/system.h"

enum { PM_MPI_NO_RANK = INT_MIN, PM_MPI_NO_NUMBER = UINT32_MAX };

/* What happens to requests, statuses and handles in a call. */
enum pm_mpi_does {
    PM_DOES_INIT,
    PM_DOES_FINALIZE,
    PM_DOES_MOVES,     /* bytes, by its arguments */
    PM_DOES_BEGINS,    /* the same, with a request that a later call completes */
    PM_DOES_RECEIVES,  /* what the status tells */
    PM_DOES_EXCHANGES, /* sends by its arguments, receives what the status tells */
    PM_DOES_MRECEIVES, /* a message that was found before */
    PM_DOES_MBEGINS,
    PM_DOES_MAKES_REQUEST, /* a persistent one */
    PM_DOES_STARTS,
    PM_DOES_COMPLETES,
    PM_DOES_FREES_REQUEST,
    PM_DOES_PROBES,
    PM_DOES_MPROBES,
    PM_DOES_MAKES_COMM,
    PM_DOES_FREES_COMM,
    PM_DOES_MAKES_WIN,
    PM_DOES_FREES_WIN,
    PM_DOES_AT_WINDOW,
};

/* How the bytes follow from the arguments (volumes.c). */
enum pm_mpi_volume {
    PM_VOLUME_NONE,
    PM_VOLUME_SEND,
    PM_VOLUME_RECEIVE, /* told by a status, later */
    PM_VOLUME_BCAST,
    PM_VOLUME_REDUCE,
    PM_VOLUME_ALL,
    PM_VOLUME_EXSCAN,
    PM_VOLUME_GATHER,
    PM_VOLUME_GATHERV,
    PM_VOLUME_SCATTER,
    PM_VOLUME_SCATTERV,
    PM_VOLUME_ALLGATHER,
    PM_VOLUME_ALLGATHERV,
    PM_VOLUME_ALLTOALL,
    PM_VOLUME_ALLTOALLV,
    PM_VOLUME_ALLTOALLW,
    PM_VOLUME_REDUCE_SCATTER,
    PM_VOLUME_REDUCE_SCATTER_BLOCK,
    PM_VOLUME_NEIGHBOR_ALLGATHER,
    PM_VOLUME_NEIGHBOR_ALLGATHERV,
    PM_VOLUME_NEIGHBOR_ALLTOALL,
    PM_VOLUME_NEIGHBOR_ALLTOALLV,
    PM_VOLUME_NEIGHBOR_ALLTOALLW,
    PM_VOLUME_PUT,
    PM_VOLUME_GET,
    PM_VOLUME_PUT_GET,
    PM_VOLUME_FETCH,
    PM_VOLUME_COMPARE,
};

/* One side of what a call moves. */
struct pm_mpi_side {
    const void *at;
    MPI_Count count;
    const void *counts; /* of each partner: int, or MPI_Count */
    MPI_Datatype type;
    const MPI_Datatype *types;
};

struct pm_mpi_request;
struct pm_mpi_comm;
struct pm_mpi_taken {
    struct pm_mpi_request *request; /* NULL: nothing is known of it, or it is not active */
};
enum { PM_MPI_FEW = 16 };

struct pm_mpi_call {
    uint8_t does, volume;
    uint16_t operation; /* enum pm_operation */
    bool is_large;      /* counts are MPI_Count */
    const char *callee;
    const void *frame;
    struct pm_mpi_side send, receive;
    MPI_Comm comm;
    MPI_Win win;
    int dest, source, root, tag, rtag; /* PM_MPI_NO_RANK: it has none */
    MPI_Request *request, *requests;
    int n;
    int *index, *flag, *outcount, *indices;
    MPI_Message *message;
    MPI_Comm *newcomm, *oldcomm;
    MPI_Win *newwin, *oldwin;
    MPI_Status *status, *statuses; /* after pm_mpi_before ours, where the program wants none */
    bool has_statuses;             /* one for each request */
    MPI_Status own_status;
    struct pm_mpi_taken *taken, few_taken[PM_MPI_FEW]; /* of its requests */
    MPI_Status *own_statuses, few_statuses[PM_MPI_FEW];
    int n_taken;
    uint64_t begin_ns, end_ns;       /* in the library; 0: times are not wanted */
    struct pm_mpi_comm *comm_before; /* of a window or message that is gone after the call */
};

/* Is the call the program's, and are events wanted?  Then pm_mpi_before and pm_mpi_after must
   follow: calls that the library makes meanwhile are not the program's. */
bool pm_mpi_enter(enum pm_mpi_does does);
/* Is the MPI library itself at ADDRESS?  (Its bindings for Fortran are not.) */
bool pm_mpi_is_library(const void *address);

void pm_mpi_before(struct pm_mpi_call *call);
int pm_mpi_after(struct pm_mpi_call *call, int result); /* RESULT */

/* The function SYMBOL behind ours, looked up once. */
#define PM_MPI_NEXT(next, symbol)                                                                  \
    ({                                                                                             \
        __typeof__(next) known = __atomic_load_n(&next, __ATOMIC_RELAXED);                         \
        if (!known) {                                                                              \
            known = (__typeof__(next))pm_mpi_next(symbol);                                         \
            __atomic_store_n(&next, known, __ATOMIC_RELAXED);                                      \
        }                                                                                          \
        known;                                                                                     \
    })
void *pm_mpi_next(const char *symbol);

/* What the runtime has for us; all NULL or none. */
struct pm_mpi_runtime {
    pmodel_event_function *event;
    pmodel_event_complete_function *complete;
    pmodel_communicator_function *communicator;
    pmodel_mpi_span_function *span;
    bool wants_times;
};
extern struct pm_mpi_runtime pm_mpi_runtime;

/* Locks of what is known: needed only where several threads may call MPI at the same time
   (MPI_THREAD_MULTIPLE).  Known before there is anything to lock. */
extern bool pm_mpi_has_threads;
static inline void pm_mpi_lock(int *lock) {
    if (pm_mpi_has_threads)
        pm_lock(lock);
}
static inline void pm_mpi_unlock(int *lock) {
    if (pm_mpi_has_threads)
        pm_unlock(lock);
}

/* ---- communicators and windows (communicators.c) ----------------------------------------------
 */

struct pm_mpi_comm {
    uint32_t number;
    uint16_t made_by; /* enum pm_operation */
    int rank;         /* our own in it */
    bool is_inter;    /* partners are in the remote group */
    uint32_t n_members, n_remote;
    int32_t *members, *remote; /* ranks of the world */
    bool has_neighbours;       /* the rest is known */
    int n_in, n_out;
    int *in, *out; /* ranks in it, MPI_PROC_NULL among them; from whom, to whom */
    uint64_t handle;
    struct pm_mpi_comm *next;
};

/* When MPI is there: the world. */
void pm_mpi_begin_world(void);
/* NULL: there is no memory. */
struct pm_mpi_comm *pm_mpi_comm(MPI_Comm comm);
/* The same for one that was just made. */
void pm_mpi_new_comm(MPI_Comm comm, uint16_t made_by);
void pm_mpi_forget_comm(MPI_Comm comm);
/* The communicator of a window's group. */
struct pm_mpi_comm *pm_mpi_comm_of_window(MPI_Win win);
void pm_mpi_new_window(MPI_Win win, MPI_Comm comm);
void pm_mpi_forget_window(MPI_Win win);
/* The rank of the world that RANK is there, or what stands for it (core/communication/). */
int32_t pm_mpi_world_rank(const struct pm_mpi_comm *comm, int rank);
/* Whom topologies know. */
bool pm_mpi_neighbours(MPI_Comm handle, struct pm_mpi_comm *comm);

/* ---- requests (requests.c) --------------------------------------------------------------------
 */

/* What is known of a request until it is complete, or, of a persistent one, until it is freed. */
struct pm_mpi_request {
    uint64_t handle;
    uint32_t number;
    bool is_persistent, is_active, is_taken;
    uint64_t ticket; /* of its event, that waits for the status; 0: it does not */
    const struct pm_mpi_comm *comm;
    struct pmodel_event event; /* of a persistent one: of each start */
    bool is_receive;
    struct pm_mpi_request *next;
};

/* A number that no request has, the smallest; PM_MPI_NO_NUMBER: too many are open. */
uint32_t pm_mpi_request_number(void);
void pm_mpi_request_add(MPI_Request handle, const struct pm_mpi_request *request);
/* That of HANDLE, of several the oldest that is not taken yet (libraries give one handle to all
   that were complete at once): it is taken until it is put back, or ends.  NULL: unknown. */
struct pm_mpi_request *pm_mpi_request_take(MPI_Request handle);
void pm_mpi_request_put_back(struct pm_mpi_request *request);
void pm_mpi_request_end(struct pm_mpi_request *request); /* and its number */

/* ---- volumes (volumes.c) ----------------------------------------------------------------------
 */

/* Bytes that the call sends and receives, as far as its arguments tell; PM_UNKNOWN_BYTES. */
void pm_mpi_volume(const struct pm_mpi_call *call, struct pm_mpi_comm *comm, uint64_t *sent,
                   uint64_t *received);

#endif
