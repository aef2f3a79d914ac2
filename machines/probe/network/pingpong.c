/* Two ranks of MPI send messages to and fro: how long one of each size takes.  `pmodel probe
   --network` starts it, built with each MPI library.

       pingpong [SIZE…]

   Prints lines
       pingpong BYTES SECONDS    from the begin of a send to the end of the receive, half of there
   and back exchange BYTES SECONDS    both send at once, without blocking, and wait for both
   messages eager BYTES 0             the largest of the sizes that is sent without waiting for the
   receiver Each time is the least median of three series: what disturbs one makes it longer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_SIZES = 64, SERIES = 3, BATCHES = 15, MOST_BYTES = 1 << 24 };
/* A batch takes about so long, so that the clock is good enough, and the series are short. */
static const double BATCH_SECONDS = 1e-3;
/* The receiver comes so much later; a send that ends in a tenth of that did not wait for it. */
static const double LATE_SECONDS = 20e-3;

static int rank;
static char *to_send, *to_receive;

static void ping(int bytes) {
    if (rank == 0) {
        MPI_Send(to_send, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(to_receive, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(to_receive, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(to_send, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
}

static void swap(int bytes) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(to_receive, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(to_send, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

static double time_of(void (*step)(int), int bytes, int times) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < times; i++)
        step(bytes);
    return (MPI_Wtime() - begin) / times;
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Seconds of a step; ranks agree on how many make a batch. */
static double measure(void (*step)(int), int bytes) {
    double best = 0, first = time_of(step, bytes, 4);
    int times = (int)(BATCH_SECONDS / first) + 1;
    MPI_Bcast(&times, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int series = 0; series < SERIES; series++) {
        double batches[BATCHES];
        for (int i = 0; i < BATCHES; i++)
            batches[i] = time_of(step, bytes, times);
        qsort(batches, BATCHES, sizeof *batches, by_value);
        if (series == 0 || batches[BATCHES / 2] < best)
            best = batches[BATCHES / 2];
    }
    return best;
}

/* Does a send of so many bytes end before the receiver comes? */
static int is_eager(int bytes) {
    int eager = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        double begin = MPI_Wtime();
        MPI_Send(to_send, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
        eager = MPI_Wtime() - begin < LATE_SECONDS / 10;
    } else {
        struct timespec late = {0, (long)(LATE_SECONDS * 1e9)};
        nanosleep(&late, NULL);
        MPI_Recv(to_receive, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&eager, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return eager;
}

int main(int argc, char **argv) {
    int processes, sizes[MOST_SIZES], n = 0, eager = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (int i = 1; i < argc && n < MOST_SIZES; i++)
        sizes[n++] = atoi(argv[i]);
    for (int bytes = 1; n == 0 || (argc == 1 && bytes <= 4 << 20); bytes *= 4)
        sizes[n++] = bytes;
    to_send = calloc(MOST_BYTES, 1);
    to_receive = calloc(MOST_BYTES, 1);
    if (processes != 2 || !to_send || !to_receive) {
        fprintf(stderr, "pingpong: needs two ranks, and memory for them\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < n; i++) {
        if (sizes[i] < 0 || sizes[i] > MOST_BYTES)
            continue;
        double to_and_fro = measure(ping, sizes[i]), both = measure(swap, sizes[i]);
        if (is_eager(sizes[i]) && sizes[i] > eager)
            eager = sizes[i];
        if (rank == 0)
            printf("pingpong %d %.9g\nexchange %d %.9g\n", sizes[i], to_and_fro / 2, sizes[i],
                   both);
    }
    if (rank == 0)
        printf("eager %d 0\n", eager);
    free(to_receive);
    free(to_send);
    MPI_Finalize();
    return 0;
}
