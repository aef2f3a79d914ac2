/* Operations of MPI that are communication events, and what each of them does; and what stands for
   ranks, tags and bytes that there are not.  The runtime, which writes them into raw files, and all
   who read them have them from here. */
#ifndef PM_MPI_OPERATIONS_H
#define PM_MPI_OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

/* What an operation does, for those who read events without knowing each. */
enum pm_operation_way {
    PM_WAY_SENDS,       /* to one partner */
    PM_WAY_RECEIVES,    /* from one partner */
    PM_WAY_EXCHANGES,   /* sends to one and receives from another */
    PM_WAY_COMPLETES,   /* requests: waits, and tests that found them complete */
    PM_WAY_PROBES,      /* sees a message, without receiving it */
    PM_WAY_COLLECTIVE,  /* all members of the communicator */
    PM_WAY_NEIGHBOURS,  /* all neighbours in the communicator's topology */
    PM_WAY_MAKES,       /* a communicator or window: all members take part, no bytes of the user */
    PM_WAY_ONE_SIDED,   /* memory of one partner, which does not take part */
    PM_WAY_SYNCHRONISES /* one-sided operations */
};

/* X (name behind "MPI_", way).  Of persistent requests each start is an event, of the operation
   that made the request: MPI_Send_init.  Numbers stand in raw files: what is new goes to the end.
 */
#define PM_OPERATIONS(X)                                                                           \
    X(Send, SENDS)                                                                                 \
    X(Bsend, SENDS)                                                                                \
    X(Ssend, SENDS)                                                                                \
    X(Rsend, SENDS)                                                                                \
    X(Isend, SENDS)                                                                                \
    X(Ibsend, SENDS)                                                                               \
    X(Issend, SENDS)                                                                               \
    X(Irsend, SENDS)                                                                               \
    X(Recv, RECEIVES)                                                                              \
    X(Irecv, RECEIVES)                                                                             \
    X(Mrecv, RECEIVES)                                                                             \
    X(Imrecv, RECEIVES)                                                                            \
    X(Sendrecv, EXCHANGES)                                                                         \
    X(Sendrecv_replace, EXCHANGES)                                                                 \
    X(Send_init, SENDS)                                                                            \
    X(Bsend_init, SENDS)                                                                           \
    X(Ssend_init, SENDS)                                                                           \
    X(Rsend_init, SENDS)                                                                           \
    X(Recv_init, RECEIVES)                                                                         \
    X(Wait, COMPLETES)                                                                             \
    X(Waitall, COMPLETES)                                                                          \
    X(Waitany, COMPLETES)                                                                          \
    X(Waitsome, COMPLETES)                                                                         \
    X(Test, COMPLETES)                                                                             \
    X(Testall, COMPLETES)                                                                          \
    X(Testany, COMPLETES)                                                                          \
    X(Testsome, COMPLETES)                                                                         \
    X(Probe, PROBES)                                                                               \
    X(Iprobe, PROBES)                                                                              \
    X(Mprobe, PROBES)                                                                              \
    X(Improbe, PROBES)                                                                             \
    X(Barrier, COLLECTIVE)                                                                         \
    X(Bcast, COLLECTIVE)                                                                           \
    X(Reduce, COLLECTIVE)                                                                          \
    X(Allreduce, COLLECTIVE)                                                                       \
    X(Gather, COLLECTIVE)                                                                          \
    X(Gatherv, COLLECTIVE)                                                                         \
    X(Scatter, COLLECTIVE)                                                                         \
    X(Scatterv, COLLECTIVE)                                                                        \
    X(Allgather, COLLECTIVE)                                                                       \
    X(Allgatherv, COLLECTIVE)                                                                      \
    X(Alltoall, COLLECTIVE)                                                                        \
    X(Alltoallv, COLLECTIVE)                                                                       \
    X(Alltoallw, COLLECTIVE)                                                                       \
    X(Reduce_scatter, COLLECTIVE)                                                                  \
    X(Reduce_scatter_block, COLLECTIVE)                                                            \
    X(Scan, COLLECTIVE)                                                                            \
    X(Exscan, COLLECTIVE)                                                                          \
    X(Ibarrier, COLLECTIVE)                                                                        \
    X(Ibcast, COLLECTIVE)                                                                          \
    X(Ireduce, COLLECTIVE)                                                                         \
    X(Iallreduce, COLLECTIVE)                                                                      \
    X(Igather, COLLECTIVE)                                                                         \
    X(Igatherv, COLLECTIVE)                                                                        \
    X(Iscatter, COLLECTIVE)                                                                        \
    X(Iscatterv, COLLECTIVE)                                                                       \
    X(Iallgather, COLLECTIVE)                                                                      \
    X(Iallgatherv, COLLECTIVE)                                                                     \
    X(Ialltoall, COLLECTIVE)                                                                       \
    X(Ialltoallv, COLLECTIVE)                                                                      \
    X(Ialltoallw, COLLECTIVE)                                                                      \
    X(Ireduce_scatter, COLLECTIVE)                                                                 \
    X(Ireduce_scatter_block, COLLECTIVE)                                                           \
    X(Iscan, COLLECTIVE)                                                                           \
    X(Iexscan, COLLECTIVE)                                                                         \
    X(Barrier_init, COLLECTIVE)                                                                    \
    X(Bcast_init, COLLECTIVE)                                                                      \
    X(Reduce_init, COLLECTIVE)                                                                     \
    X(Allreduce_init, COLLECTIVE)                                                                  \
    X(Gather_init, COLLECTIVE)                                                                     \
    X(Gatherv_init, COLLECTIVE)                                                                    \
    X(Scatter_init, COLLECTIVE)                                                                    \
    X(Scatterv_init, COLLECTIVE)                                                                   \
    X(Allgather_init, COLLECTIVE)                                                                  \
    X(Allgatherv_init, COLLECTIVE)                                                                 \
    X(Alltoall_init, COLLECTIVE)                                                                   \
    X(Alltoallv_init, COLLECTIVE)                                                                  \
    X(Alltoallw_init, COLLECTIVE)                                                                  \
    X(Reduce_scatter_init, COLLECTIVE)                                                             \
    X(Reduce_scatter_block_init, COLLECTIVE)                                                       \
    X(Scan_init, COLLECTIVE)                                                                       \
    X(Exscan_init, COLLECTIVE)                                                                     \
    X(Neighbor_allgather, NEIGHBOURS)                                                              \
    X(Neighbor_allgatherv, NEIGHBOURS)                                                             \
    X(Neighbor_alltoall, NEIGHBOURS)                                                               \
    X(Neighbor_alltoallv, NEIGHBOURS)                                                              \
    X(Neighbor_alltoallw, NEIGHBOURS)                                                              \
    X(Ineighbor_allgather, NEIGHBOURS)                                                             \
    X(Ineighbor_allgatherv, NEIGHBOURS)                                                            \
    X(Ineighbor_alltoall, NEIGHBOURS)                                                              \
    X(Ineighbor_alltoallv, NEIGHBOURS)                                                             \
    X(Ineighbor_alltoallw, NEIGHBOURS)                                                             \
    X(Neighbor_allgather_init, NEIGHBOURS)                                                         \
    X(Neighbor_allgatherv_init, NEIGHBOURS)                                                        \
    X(Neighbor_alltoall_init, NEIGHBOURS)                                                          \
    X(Neighbor_alltoallv_init, NEIGHBOURS)                                                         \
    X(Neighbor_alltoallw_init, NEIGHBOURS)                                                         \
    X(Comm_dup, MAKES)                                                                             \
    X(Comm_dup_with_info, MAKES)                                                                   \
    X(Comm_idup, MAKES)                                                                            \
    X(Comm_create, MAKES)                                                                          \
    X(Comm_create_group, MAKES)                                                                    \
    X(Comm_split, MAKES)                                                                           \
    X(Comm_split_type, MAKES)                                                                      \
    X(Cart_create, MAKES)                                                                          \
    X(Cart_sub, MAKES)                                                                             \
    X(Graph_create, MAKES)                                                                         \
    X(Dist_graph_create, MAKES)                                                                    \
    X(Dist_graph_create_adjacent, MAKES)                                                           \
    X(Intercomm_create, MAKES)                                                                     \
    X(Intercomm_merge, MAKES)                                                                      \
    X(Win_create, MAKES)                                                                           \
    X(Win_allocate, MAKES)                                                                         \
    X(Win_allocate_shared, MAKES)                                                                  \
    X(Win_create_dynamic, MAKES)                                                                   \
    X(Win_free, SYNCHRONISES)                                                                      \
    X(Win_fence, SYNCHRONISES)                                                                     \
    X(Win_start, SYNCHRONISES)                                                                     \
    X(Win_complete, SYNCHRONISES)                                                                  \
    X(Win_post, SYNCHRONISES)                                                                      \
    X(Win_wait, SYNCHRONISES)                                                                      \
    X(Win_lock, SYNCHRONISES)                                                                      \
    X(Win_unlock, SYNCHRONISES)                                                                    \
    X(Win_lock_all, SYNCHRONISES)                                                                  \
    X(Win_unlock_all, SYNCHRONISES)                                                                \
    X(Win_flush, SYNCHRONISES)                                                                     \
    X(Win_flush_all, SYNCHRONISES)                                                                 \
    X(Win_flush_local, SYNCHRONISES)                                                               \
    X(Win_flush_local_all, SYNCHRONISES)                                                           \
    X(Put, ONE_SIDED)                                                                              \
    X(Get, ONE_SIDED)                                                                              \
    X(Accumulate, ONE_SIDED)                                                                       \
    X(Get_accumulate, ONE_SIDED)                                                                   \
    X(Fetch_and_op, ONE_SIDED)                                                                     \
    X(Compare_and_swap, ONE_SIDED)                                                                 \
    X(Rput, ONE_SIDED)                                                                             \
    X(Rget, ONE_SIDED)                                                                             \
    X(Raccumulate, ONE_SIDED)                                                                      \
    X(Rget_accumulate, ONE_SIDED)

enum pm_operation {
#define PM_OPERATION_ENUM(name, way) PM_MPI_##name,
    PM_OPERATIONS(PM_OPERATION_ENUM)
#undef PM_OPERATION_ENUM
        PM_N_OPERATIONS
};

/* In place of a rank of the world. */
enum {
    PM_NO_PARTNER = -1,      /* the operation has none */
    PM_NULL_PARTNER = -2,    /* MPI_PROC_NULL: nothing is sent or received */
    PM_ANY_SOURCE = -3,      /* of a receive that was never completed */
    PM_UNKNOWN_PARTNER = -4, /* of another world, or the library did not tell */
};
/* In place of a tag: there is none; of a receive of any tag that was never completed. */
enum { PM_NO_TAG = -1, PM_ANY_TAG = -2 };
/* In place of a number of bytes: of a receive that was never completed, or the library did not
   tell. */
#define PM_UNKNOWN_BYTES UINT64_MAX

#endif
