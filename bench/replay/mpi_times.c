/* Loaded before a program with Open MPI, in C or Fortran: how long each rank took from the end of
   MPI_Init to the begin of MPI_Finalize, and how much of it in the calls of MPI that the example
   applications have.

   Prints for each rank a line "mpi_times RANK SECONDS SECONDS_IN_MPI" to standard error. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double begin, inside;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(void) {
    int rank;
    double seconds = now() - begin;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "mpi_times %d %.9f %.9f\n", rank, seconds, inside);
}

/* All begin together, as in a replay. */
static void start(void) {
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = now();
}

#define TIMED(call)                                                                                \
    double before = now();                                                                         \
    call;                                                                                          \
    inside += now() - before

int MPI_Init(int *argc, char ***argv) {
    int result = PMPI_Init(argc, argv);
    start();
    return result;
}
int MPI_Finalize(void) {
    say();
    return PMPI_Finalize();
}

#define C_WRAPPER(name, parameters, arguments)                                                     \
    int MPI_##name parameters {                                                                    \
        TIMED(int result = PMPI_##name arguments);                                                 \
        return result;                                                                             \
    }
C_WRAPPER(Irecv, (void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Request *r),
          (b, n, t, p, tag, c, r))
C_WRAPPER(Isend, (const void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Request *r),
          (b, n, t, p, tag, c, r))
C_WRAPPER(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
C_WRAPPER(Allreduce, (const void *b, void *to, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
          (b, to, n, t, o, c))
C_WRAPPER(Reduce, (const void *b, void *to, int n, MPI_Datatype t, MPI_Op o, int p, MPI_Comm c),
          (b, to, n, t, o, p, c))

/* Fortran's arguments are all addresses. */
typedef void *a;
#define FORTRAN_WRAPPER(name, parameters, arguments)                                               \
    void pmpi_##name##_ parameters;                                                                \
    void mpi_##name##_ parameters { TIMED(pmpi_##name##_ arguments); }
void pmpi_init_(a);
void mpi_init_(a error) {
    pmpi_init_(error);
    start();
}
void pmpi_finalize_(a);
void mpi_finalize_(a error) {
    say();
    pmpi_finalize_(error);
}
FORTRAN_WRAPPER(send, (a b, a n, a t, a p, a tag, a c, a e), (b, n, t, p, tag, c, e))
FORTRAN_WRAPPER(recv, (a b, a n, a t, a p, a tag, a c, a s, a e), (b, n, t, p, tag, c, s, e))
FORTRAN_WRAPPER(allreduce, (a b, a to, a n, a t, a o, a c, a e), (b, to, n, t, o, c, e))
FORTRAN_WRAPPER(reduce, (a b, a to, a n, a t, a o, a p, a c, a e), (b, to, n, t, o, p, c, e))
FORTRAN_WRAPPER(cart_create, (a c, a n, a d, a p, a r, a to, a e), (c, n, d, p, r, to, e))
