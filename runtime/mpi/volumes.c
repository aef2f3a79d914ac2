/* How many bytes a call moves, by its arguments: those of the user's buffers, a rank's own part of
   a collective operation included.  In place of a buffer that MPI_IN_PLACE stands for, what the
   standard says that it is. */
#include "runtime/mpi/call.h"

static uint64_t size_of(MPI_Datatype type) {
    MPI_Count bytes = MPI_UNDEFINED;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0)
        return PM_UNKNOWN_BYTES;
    return (uint64_t)bytes;
}

static uint64_t times(uint64_t n, uint64_t bytes) {
    uint64_t product;
    return n == PM_UNKNOWN_BYTES || bytes == PM_UNKNOWN_BYTES ||
                   __builtin_mul_overflow(n, bytes, &product)
               ? PM_UNKNOWN_BYTES
               : product;
}

static uint64_t count_at(const struct pm_mpi_call *call, const void *counts, uint32_t i) {
    int64_t count = call->is_large ? (int64_t)((const MPI_Count *)counts)[i]
                                   : (int64_t)((const int *)counts)[i];
    return count < 0 ? PM_UNKNOWN_BYTES : (uint64_t)count;
}

static uint64_t plain(const struct pm_mpi_side *side) {
    return side->count == 0 ? 0 : times((uint64_t)side->count, size_of(side->type));
}

/* Of N partners, but for those that are MPI_PROC_NULL among RANKS (NULL: none is). */
static uint64_t sum(const struct pm_mpi_call *call, const struct pm_mpi_side *side, uint32_t n,
                    const int *ranks) {
    uint64_t bytes = 0, size = side->types ? 0 : size_of(side->type);
    for (uint32_t i = 0; i < n && bytes != PM_UNKNOWN_BYTES; i++) {
        uint64_t count = count_at(call, side->counts, i);
        if (count == 0 || (ranks && ranks[i] == MPI_PROC_NULL))
            continue;
        uint64_t more = times(count, side->types ? size_of(side->types[i]) : size);
        bytes = more == PM_UNKNOWN_BYTES ? more : bytes + more;
    }
    return bytes;
}

static uint64_t one_of(const struct pm_mpi_call *call, const struct pm_mpi_side *side,
                       const struct pm_mpi_comm *comm) {
    return times(count_at(call, side->counts, (uint32_t)comm->rank), size_of(side->type));
}

static uint32_t count_real(const int *ranks, int n) {
    uint32_t real = 0;
    for (int i = 0; i < n; i++)
        real += ranks[i] != MPI_PROC_NULL;
    return real;
}

static void neighbours(const struct pm_mpi_call *call, struct pm_mpi_comm *comm, uint64_t *sent,
                       uint64_t *received) {
    const struct pm_mpi_side *s = &call->send, *r = &call->receive;
    *sent = *received = PM_UNKNOWN_BYTES;
    if (!pm_mpi_neighbours(call->comm, comm))
        return;
    bool by_counts = call->volume == PM_VOLUME_NEIGHBOR_ALLTOALLV ||
                     call->volume == PM_VOLUME_NEIGHBOR_ALLTOALLW;
    *sent = by_counts ? sum(call, s, (uint32_t)comm->n_out, comm->out)
                      : times(count_real(comm->out, comm->n_out), plain(s));
    *received = by_counts || call->volume == PM_VOLUME_NEIGHBOR_ALLGATHERV
                    ? sum(call, r, (uint32_t)comm->n_in, comm->in)
                    : times(count_real(comm->in, comm->n_in), plain(r));
}

static void collective(const struct pm_mpi_call *call, const struct pm_mpi_comm *comm,
                       uint64_t *sent, uint64_t *received) {
    const struct pm_mpi_side *s = &call->send, *r = &call->receive;
    /* Of an intercommunicator ranks of the other group are those that take part. */
    uint32_t n = comm->is_inter ? comm->n_remote : comm->n_members;
    bool has_root = call->root != PM_MPI_NO_RANK;
    bool is_root = comm->is_inter ? call->root == MPI_ROOT : call->root == comm->rank;
    bool in_place = s->at == MPI_IN_PLACE;
    *sent = *received = 0;
    if (has_root && call->root == MPI_PROC_NULL)
        return;
    bool gives = !comm->is_inter || !is_root; /* in a gather, or reduction; the reverse in others */
    switch (call->volume) {
    case PM_VOLUME_BCAST:
        *(is_root ? sent : received) = plain(s);
        return;
    case PM_VOLUME_REDUCE:
        *sent = gives ? plain(s) : 0;
        *received = is_root ? plain(s) : 0;
        return;
    case PM_VOLUME_ALL:
        *sent = *received = plain(s);
        return;
    case PM_VOLUME_EXSCAN:
        *sent = plain(s);
        *received = comm->rank > 0 ? plain(s) : 0;
        return;
    case PM_VOLUME_GATHER:
        *sent = !gives ? 0 : in_place ? plain(r) : plain(s);
        *received = is_root ? times(n, plain(r)) : 0;
        return;
    case PM_VOLUME_GATHERV:
        *sent = !gives ? 0 : in_place ? one_of(call, r, comm) : plain(s);
        *received = is_root ? sum(call, r, n, NULL) : 0;
        return;
    case PM_VOLUME_SCATTER:
        *sent = is_root ? times(n, plain(s)) : 0;
        *received = !gives ? 0 : r->at == MPI_IN_PLACE ? plain(s) : plain(r);
        return;
    case PM_VOLUME_SCATTERV:
        *sent = is_root ? sum(call, s, n, NULL) : 0;
        *received = !gives ? 0 : r->at == MPI_IN_PLACE ? one_of(call, s, comm) : plain(r);
        return;
    case PM_VOLUME_ALLGATHER:
        *sent = in_place ? plain(r) : plain(s);
        *received = times(n, plain(r));
        return;
    case PM_VOLUME_ALLGATHERV:
        *sent = in_place ? one_of(call, r, comm) : plain(s);
        *received = sum(call, r, n, NULL);
        return;
    case PM_VOLUME_ALLTOALL:
        *received = times(n, plain(r));
        *sent = in_place ? *received : times(n, plain(s));
        return;
    case PM_VOLUME_ALLTOALLV:
    case PM_VOLUME_ALLTOALLW:
        *received = sum(call, r, n, NULL);
        *sent = in_place ? *received : sum(call, s, n, NULL);
        return;
    case PM_VOLUME_REDUCE_SCATTER: { /* one type, and counts of the whole group it is given to */
        struct pm_mpi_side side = {.counts = r->counts, .type = s->type};
        *sent = sum(call, &side, comm->n_members, NULL);
        *received = one_of(call, &side, comm);
        return;
    }
    case PM_VOLUME_REDUCE_SCATTER_BLOCK: {
        struct pm_mpi_side side = {.count = r->count, .type = s->type};
        *sent = times(comm->n_members, plain(&side));
        *received = plain(&side);
        return;
    }
    default:
        neighbours(call, (struct pm_mpi_comm *)comm, sent, received);
    }
}

void pm_mpi_volume(const struct pm_mpi_call *call, struct pm_mpi_comm *comm, uint64_t *sent,
                   uint64_t *received) {
    bool is_null = call->dest == MPI_PROC_NULL;
    *sent = *received = 0;
    switch (call->volume) {
    case PM_VOLUME_NONE:
        return;
    case PM_VOLUME_SEND:
    case PM_VOLUME_PUT:
        *sent = is_null ? 0 : plain(&call->send);
        return;
    case PM_VOLUME_RECEIVE:
        *received = PM_UNKNOWN_BYTES;
        return;
    case PM_VOLUME_GET:
        *received = is_null ? 0 : plain(&call->receive);
        return;
    case PM_VOLUME_PUT_GET:
        *sent = is_null || call->send.count == 0 ? 0 : plain(&call->send);
        *received = is_null ? 0 : plain(&call->receive);
        return;
    case PM_VOLUME_FETCH:
        *sent = *received = is_null ? 0 : size_of(call->send.type);
        return;
    case PM_VOLUME_COMPARE: /* what is compared with travels too, as the standard has it */
        *received = is_null ? 0 : size_of(call->receive.type);
        *sent = times(2, *received);
        return;
    default:
        if (comm)
            collective(call, comm, sent, received);
        else
            *sent = *received = PM_UNKNOWN_BYTES;
    }
}
