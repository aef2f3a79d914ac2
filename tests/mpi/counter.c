/* An independent count of what an MPI program sends: a line "operation sent received" for each call
   in the file $COUNTER.RANK, for exchange.c and exchange.f90.  Preloaded; of Fortran only with
   libraries whose bindings call the functions of C.  Of nonblocking receives it knows nothing. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *lines;
static long bytes(int count, MPI_Datatype type) {
    int size;
    PMPI_Type_size(type, &size);
    return (long)count * size;
}
static void count(const char *operation, long sent, long received) {
    if (!lines) {
        char name[4096];
        int rank;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(name, sizeof name, "%s.%d", getenv("COUNTER"), rank);
        lines = fopen(name, "w");
    }
    fprintf(lines, "%s %ld %ld\n", operation, sent, received);
    fflush(lines);
}
static int members(MPI_Comm comm) {
    int n;
    PMPI_Comm_size(comm, &n);
    return n;
}
static int is(int root, MPI_Comm comm) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

#define SEND(name, arguments, ...)                                                                 \
    int MPI_##name(const void *b, int n, MPI_Datatype t, int to, int tag,                          \
                   MPI_Comm c __VA_ARGS__) {                                                       \
        count("MPI_" #name, to == MPI_PROC_NULL ? 0 : bytes(n, t), 0);                             \
        return PMPI_##name arguments;                                                              \
    }
#define COMMA ,
SEND(Send, (b, n, t, to, tag, c))
SEND(Ssend, (b, n, t, to, tag, c))
SEND(Isend, (b, n, t, to, tag, c, r), COMMA MPI_Request *r)

int MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s) {
    MPI_Status mine;
    int received, result = PMPI_Recv(b, n, t, from, tag, c, &mine);
    PMPI_Get_count(&mine, MPI_BYTE, &received);
    count("MPI_Recv", 0, received);
    if (s != MPI_STATUS_IGNORE)
        *s = mine;
    return result;
}
int MPI_Sendrecv(const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn,
                 MPI_Datatype rt, int from, int rtag, MPI_Comm c, MPI_Status *s) {
    MPI_Status mine;
    int received, result = PMPI_Sendrecv(b, n, t, to, tag, rb, rn, rt, from, rtag, c, &mine);
    PMPI_Get_count(&mine, MPI_BYTE, &received);
    count("MPI_Sendrecv", bytes(n, t), received);
    if (s != MPI_STATUS_IGNORE)
        *s = mine;
    return result;
}
int MPI_Barrier(MPI_Comm c) {
    count("MPI_Barrier", 0, 0);
    return PMPI_Barrier(c);
}
int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c) {
    count("MPI_Bcast", is(root, c) ? bytes(n, t) : 0, is(root, c) ? 0 : bytes(n, t));
    return PMPI_Bcast(b, n, t, root, c);
}
int MPI_Reduce(const void *b, void *r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c) {
    count("MPI_Reduce", bytes(n, t), is(root, c) ? bytes(n, t) : 0);
    return PMPI_Reduce(b, r, n, t, o, root, c);
}
int MPI_Allreduce(const void *b, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
    count("MPI_Allreduce", bytes(n, t), bytes(n, t));
    return PMPI_Allreduce(b, r, n, t, o, c);
}
int MPI_Scan(const void *b, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
    count("MPI_Scan", bytes(n, t), bytes(n, t));
    return PMPI_Scan(b, r, n, t, o, c);
}
int MPI_Iallreduce(const void *b, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
                   MPI_Request *q) {
    count("MPI_Iallreduce", bytes(n, t), bytes(n, t));
    return PMPI_Iallreduce(b, r, n, t, o, c, q);
}
int MPI_Gather(const void *b, int n, MPI_Datatype t, void *r, int rn, MPI_Datatype rt, int root,
               MPI_Comm c) {
    count("MPI_Gather", bytes(n, t), is(root, c) ? members(c) * bytes(rn, rt) : 0);
    return PMPI_Gather(b, n, t, r, rn, rt, root, c);
}
int MPI_Gatherv(const void *b, int n, MPI_Datatype t, void *r, const int *rn, const int *p,
                MPI_Datatype rt, int root, MPI_Comm c) {
    long all = 0;
    for (int i = 0; i < members(c); i++)
        all += bytes(rn[i], rt);
    count("MPI_Gatherv", bytes(n, t), is(root, c) ? all : 0);
    return PMPI_Gatherv(b, n, t, r, rn, p, rt, root, c);
}
int MPI_Scatter(const void *b, int n, MPI_Datatype t, void *r, int rn, MPI_Datatype rt, int root,
                MPI_Comm c) {
    count("MPI_Scatter", is(root, c) ? members(c) * bytes(n, t) : 0, bytes(rn, rt));
    return PMPI_Scatter(b, n, t, r, rn, rt, root, c);
}
int MPI_Allgather(const void *b, int n, MPI_Datatype t, void *r, int rn, MPI_Datatype rt,
                  MPI_Comm c) {
    count("MPI_Allgather", bytes(n, t), members(c) * bytes(rn, rt));
    return PMPI_Allgather(b, n, t, r, rn, rt, c);
}
int MPI_Alltoall(const void *b, int n, MPI_Datatype t, void *r, int rn, MPI_Datatype rt,
                 MPI_Comm c) {
    count("MPI_Alltoall", members(c) * bytes(n, t), members(c) * bytes(rn, rt));
    return PMPI_Alltoall(b, n, t, r, rn, rt, c);
}
int MPI_Put(const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int rn, MPI_Datatype rt,
            MPI_Win w) {
    count("MPI_Put", bytes(n, t), 0);
    return PMPI_Put(b, n, t, to, at, rn, rt, w);
}
int MPI_Get(void *b, int n, MPI_Datatype t, int from, MPI_Aint at, int rn, MPI_Datatype rt,
            MPI_Win w) {
    count("MPI_Get", 0, bytes(n, t));
    return PMPI_Get(b, n, t, from, at, rn, rt, w);
}
int MPI_Win_fence(int a, MPI_Win w) {
    count("MPI_Win_fence", 0, 0);
    return PMPI_Win_fence(a, w);
}
