/* Ranks of MPI send messages: how long one of each size takes.  `pmodel probe --network` starts it,
   built with each MPI library.  To and fro between the first two; and in a chain, each rank with
   both its neighbours at once, so that links which several of them use are shared as in a program
   that exchanges borders.  Of two ranks the chain is one exchange.

       pingpong [SIZE…]

   Prints lines of a word, bytes and seconds:
   - pingpong: from the begin of a send to the end of the receive, half of there and back;
   - exchange: all send at once, without blocking, and wait for their messages;
   - eager, with 0 seconds: the largest of the sizes that is sent without waiting for the receiver.
   Each time is the least median of three series: what disturbs one makes it longer.  A size that
   takes far longer than a larger one was disturbed in all, and is measured again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_SIZES = 64, SERIES = 3, BATCHES = 15, MOST_BYTES = 1 << 24, MOST_REPEATS = 4 };
/* A batch takes about so long, so that the clock is good enough, and the series are short. */
static const double BATCH_SECONDS = 1e-3;
/* Seconds by which the receiver is late; a send that ends in a tenth of that did not wait. */
static const double LATE_SECONDS = 20e-3;

/* A message takes no longer than a larger one, but for how the library sends them. */
static const double FAR_LONGER = 3;

static int rank;
static int processes;
static char *to_send, *to_receive[2]; /* from the process before and the process behind */

static void ping(int bytes) {
    if (rank == 0) {
        MPI_Send(to_send, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(to_receive[1], bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(to_receive[0], bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(to_send, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
}

static void exchange(int bytes) {
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int n = 0;
    for (int side = 0; side < 2; side++) {
        int neighbour = rank + (side ? 1 : -1);
        if (neighbour < 0 || neighbour >= processes)
            continue;
        MPI_Irecv(to_receive[side], bytes, MPI_BYTE, neighbour, 1, MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(to_send, bytes, MPI_BYTE, neighbour, 1, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, statuses);
}

/* Of the rank that takes longest. */
static double time_of(void (*step)(int), int bytes, int times) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < times; i++)
        step(bytes);
    double own = (MPI_Wtime() - begin) / times, longest;
    MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Seconds of a step; ranks agree on how many make a batch, because they agree on the time. */
static double measure(void (*step)(int), int bytes) {
    double best = 0, first = time_of(step, bytes, 4);
    int times = (int)(BATCH_SECONDS / first) + 1;
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

static int is_disturbed(const int sizes[], const double seconds[], int n, int i) {
    int disturbed = 0;
    for (int k = 0; k < n; k++)
        disturbed |= sizes[k] > sizes[i] && seconds[i] > FAR_LONGER * seconds[k];
    return disturbed;
}

/* Ranks agree on what is measured again, because they agree on the times. */
static void measure_all(void (*step)(int), const int sizes[], double seconds[], int n) {
    for (int i = 0; i < n; i++)
        seconds[i] = measure(step, sizes[i]);
    for (int repeat = 0; repeat < MOST_REPEATS; repeat++)
        for (int i = 0; i < n; i++)
            if (is_disturbed(sizes, seconds, n, i)) {
                double again = measure(step, sizes[i]);
                seconds[i] = again < seconds[i] ? again : seconds[i];
            }
}

/* Does a send of so many bytes end before the receiver comes? */
static int is_eager(int bytes) {
    int eager = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        double begin = MPI_Wtime();
        MPI_Send(to_send, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
        eager = MPI_Wtime() - begin < LATE_SECONDS / 10;
    } else if (rank == 1) {
        struct timespec late = {0, (long)(LATE_SECONDS * 1e9)};
        nanosleep(&late, NULL);
        MPI_Recv(to_receive[0], bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&eager, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return eager;
}

int main(int argc, char **argv) {
    int sizes[MOST_SIZES], n = 0, eager = 0;
    double to_and_fro[MOST_SIZES], both[MOST_SIZES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (int i = 1; i < argc && n < MOST_SIZES; i++)
        if (atoi(argv[i]) >= 0 && atoi(argv[i]) <= MOST_BYTES)
            sizes[n++] = atoi(argv[i]);
    for (int bytes = 1; argc == 1 && bytes <= 4 << 20; bytes *= 4)
        sizes[n++] = bytes;
    to_send = calloc(MOST_BYTES, 1);
    to_receive[0] = calloc(MOST_BYTES, 1);
    to_receive[1] = calloc(MOST_BYTES, 1);
    if (processes < 2 || !to_send || !to_receive[0] || !to_receive[1]) {
        fprintf(stderr, "pingpong: needs two ranks, and memory for them\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    measure_all(ping, sizes, to_and_fro, n);
    measure_all(exchange, sizes, both, n);
    for (int i = 0; i < n; i++) {
        if (is_eager(sizes[i]) && sizes[i] > eager)
            eager = sizes[i];
        if (rank == 0)
            printf("pingpong %d %.9g\nexchange %d %.9g\n", sizes[i], to_and_fro[i] / 2, sizes[i],
                   both[i]);
    }
    if (rank == 0)
        printf("eager %d 0\n", eager);
    free(to_receive[1]);
    free(to_receive[0]);
    free(to_send);
    MPI_Finalize();
    return 0;
}
