/* A receive that is posted first and completed last, behind more events than wait for one, and one
   that is never completed (tests/e2e/communication.sh). */
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size, x = 1, y[8], n;
    MPI_Request late, never;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Irecv(y, 8, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &late);
    MPI_Irecv(y, 8, MPI_INT, MPI_ANY_SOURCE, 98, MPI_COMM_WORLD, &never);
    for (int i = 0; i < 20000; i++)
        MPI_Sendrecv(&x, 1, MPI_INT, rank, 0, &n, 1, MPI_INT, rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Send(y, 3, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD);
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    MPI_Cancel(&never);
    MPI_Request_free(&never);
    MPI_Finalize();
}
