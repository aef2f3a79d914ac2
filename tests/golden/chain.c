/* A pipeline of p ranks, in p steps of a message of N doubles each; the first has twice the work of
   the others.  Rank $LEAVES ends without a word. */
#include <mpi.h>
#include <stdlib.h>
static volatile double sink;
static double data[1 << 12];
__attribute__((noinline)) static void work(int rounds, int n) {
    for (int k = 0; k < rounds; k++)
        for (int i = 0; i < n; i++)
            sink = sink + data[i & 4095];
}
__attribute__((noinline)) static void leave(void) {
    __asm__ volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory"); /* exit_group */
}
int main(int argc, char **argv) {
    int rank, size, n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int t = 0; t < size; t++) {
        MPI_Recv(data, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(rank == 0 ? 2 * n : n, n);
        MPI_Send(data, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (getenv("LEAVES") && rank == atoi(getenv("LEAVES")))
        leave();
    return 0;
}
