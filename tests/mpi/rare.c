/* What MPI programs do more rarely: several threads at once, an error that is returned,
   communicators that are made and freed again and again, two groups, a topology, a type for each
   partner, derived types (tests/e2e/communication.sh). */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int rank, size;
static void *talk(void *tag) {
    int t = *(int *)tag, x = t, y;
    for (int i = 0; i < 100 * (t + 1); i++)
        MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, t, &y, 1, MPI_INT, (rank + size - 1) % size,
                     t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}
int main(int argc, char **argv) {
    int provided, tags[2] = {0, 1}, flag;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_t other;
    pthread_create(&other, NULL, talk, &tags[1]);
    talk(&tags[0]);
    pthread_join(other, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int result = MPI_Send(tags, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    int class = 0;
    MPI_Error_class(result, &class);
    if (rank == 0)
        printf("level %d, error class right: %d\n", provided == MPI_THREAD_MULTIPLE,
               class == MPI_ERR_RANK);
    for (int i = 0; i < 50; i++) {
        MPI_Comm c;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Barrier(c);
        MPI_Comm_free(&c);
    }
    /* intercommunicator between even and odd ranks */
    MPI_Comm half, inter, merged, cart;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 9, &inter);
    int me;
    MPI_Comm_rank(half, &me);
    int buf[8] = {0};
    MPI_Sendrecv(tags, 2, MPI_INT, me, 1, buf, 2, MPI_INT, me, 1, inter, MPI_STATUS_IGNORE);
    MPI_Allreduce(tags, buf, 2, MPI_INT, MPI_SUM, inter);
    MPI_Bcast(buf, 3, MPI_INT, rank % 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Intercomm_merge(inter, 0, &merged);
    MPI_Barrier(merged);
    int dims[1] = {size}, periods[1] = {0};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    int in[8], out[8] = {0};
    MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, cart);
    int counts[64], places[64];
    MPI_Datatype types[64];
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = 0;
        types[i] = i % 2 ? MPI_INT : MPI_DOUBLE;
    }
    MPI_Datatype recv[64];
    double in2[64];
    for (int i = 0; i < size; i++)
        recv[i] = rank % 2 ? MPI_INT : MPI_DOUBLE;
    double out2[64] = {0};
    MPI_Alltoallw(out2, counts, places, types, in2, counts, places, recv, MPI_COMM_WORLD);
    MPI_Datatype vector;
    MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    double big[100] = {0}, big2[100];
    MPI_Request q;
    MPI_Irecv(big2, 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q);
    MPI_Send(big, 1, vector, (rank + 1) % size, 3, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Finalized(&flag);
    MPI_Finalize();
    MPI_Finalized(&flag);
    return flag ? 0 : 1;
}
