/* Every way of communication, some steps of each, with numbers and sizes that follow from the rank:
   what `pmodel show --as communication` says of it is compared with other counts
   (tests/e2e/communication.sh). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, TAG = 7 };
static double out[N], in[N], sum;
static int rank, size, counts[64], places[64];

static void blocking(int steps) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < steps; i++) {
        if (size > 1 && rank % 2 == 0) {
            MPI_Send(out, 10 + rank, MPI_DOUBLE, to, TAG, MPI_COMM_WORLD);
            if (size % 2 == 0 || rank + 1 < size)
                MPI_Ssend(out, i, MPI_INT, to, TAG, MPI_COMM_WORLD);
        }
        if (size > 1 && from % 2 == 0) {
            MPI_Status status;
            MPI_Recv(in, N, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
            if (size % 2 == 0 || from + 1 < size)
                MPI_Recv(in, N, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Sendrecv(out, 3, MPI_DOUBLE, to, 1, in, N, MPI_DOUBLE, from, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sum += in[0];
    }
}

/* Along a line, where both ends have nobody. */
static void nonblocking(int steps) {
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank ? rank - 1 : MPI_PROC_NULL;
    for (int i = 0; i < steps; i++) {
        MPI_Request requests[4];
        int index, flag = 0;
        MPI_Irecv(in, N / 2, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in + N / 2, N / 2, MPI_DOUBLE, up, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out, 100, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out, 200 + rank, MPI_DOUBLE, down, 3, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Irecv(in, N, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 1000, MPI_BYTE, rank, 4, MPI_COMM_WORLD, &requests[1]);
        while (!flag)
            MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
}

static void persistent(int steps) {
    MPI_Request requests[2];
    MPI_Send_init(out, 50, MPI_FLOAT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, N, MPI_FLOAT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < steps; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void matched(void) {
    MPI_Message message;
    MPI_Request request;
    int n;
    MPI_Status status;
    MPI_Isend(out, 77, MPI_DOUBLE, (rank + 1) % size, 6, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &n);
    MPI_Mrecv(in, n, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collective(int steps, MPI_Comm comm) {
    MPI_Request request;
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < n; i++) {
        counts[i] = 2 + i;
        places[i] = i ? places[i - 1] + counts[i - 1] : 0;
    }
    for (int i = 0; i < steps; i++) {
        MPI_Bcast(in, 30, MPI_DOUBLE, n - 1, comm);
        MPI_Reduce(out, in, 20, MPI_DOUBLE, MPI_MAX, 0, comm);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        MPI_Barrier(comm);
    }
    MPI_Gather(out, 5, MPI_INT, in, 5, MPI_INT, 0, comm);
    MPI_Gatherv(out, counts[me], MPI_DOUBLE, in, counts, places, MPI_DOUBLE, 0, comm);
    MPI_Scatter(out, 6, MPI_INT, in, 6, MPI_INT, 0, comm);
    MPI_Allgather(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, comm);
    MPI_Alltoall(out, 3, MPI_INT, in, 3, MPI_INT, comm);
    MPI_Scan(out, in, 9, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Iallreduce(out, in, 8, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void one_sided(int steps) {
    MPI_Win window;
    MPI_Win_create(in, N * sizeof *in, sizeof *in, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < steps; i++) {
        MPI_Win_fence(0, window);
        MPI_Put(out, 12, MPI_DOUBLE, (rank + 1) % size, 0, 12, MPI_DOUBLE, window);
        MPI_Get(out + 100, 7, MPI_DOUBLE, 0, 200, 7, MPI_DOUBLE, window);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 3, provided;
    MPI_Comm half;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        out[i] = i + rank;
    blocking(steps);
    nonblocking(steps);
    persistent(steps);
    matched();
    collective(steps, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    collective(1, half);
    MPI_Comm_free(&half);
    if (size > 1) /* Open MPI has no windows of one rank here */
        one_sided(steps);
    if (rank == 0)
        printf("%.0f\n", sum);
    MPI_Finalize();
    return 0;
}
