/* Conjugate gradients on a sparse matrix in compressed rows, its rows distributed among the
 * processes of MPI.
 *
 * Model:      A x = b, where A is SHIFT on the diagonal plus the Laplacian of a weighted graph: the
 * N^3 points of a cubic grid joined to their neighbours with weight 1, and to COUPLINGS random
 * points of the same plane each with a random weight in (0, 1). A is symmetric; its smallest
 * eigenvalue is SHIFT (constant vectors), its largest is at most Gershgorin's bound. b = A x* for a
 * random x*, so that the solution is known. Processes:  each has a range of planes. Before a
 * product with A, neighbours exchange the planes at their borders. In a scalar product every plane
 * has a sum of its own; the processes put those of their planes into an array that is zero
 * elsewhere, and add up these arrays. So no bit of the result depends on their number. Imbalance:
 * SKEW planes are given to the last process, and the rest shared out evenly. Check:      as in
 * ../cg: the error in the energy norm is within what the method promises, the residual that is
 *             carried along is that of the solution, and the matrix is symmetric for two vectors at
 * hand. The checksum is a sum of all bits of x.
 *
 * Usage: cg_mpi N [STEPS [SKEW]], for a matrix of N^3 rows and at most N - SKEW processes.
 * Exit status: 0 if the checks hold, 1 if one does not, 2 if an argument makes no sense. */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SIZE = 2, MOST_SIZE = 1288, DEFAULT_STEPS = 25, MOST_STEPS = 1000000 };
enum { COUPLINGS = 2 };
enum { NOBODY = -1 };
enum {
    UPWARD = 1,
    DOWNWARD = 2
}; /* tags of planes that are sent to the next and to the previous process */

static const double SHIFT = 1.0;

/* Below this, an error relative to the solution is rounding. */
static const double ROUNDING = 1e-12;

/* What a process has of the grid: the planes from first to end - 1. A distributed vector has room
 * for a plane of each neighbour before and behind them. */
struct share {
    int n, plane;             /* points of an edge, and of a plane */
    int first, end;           /* planes */
    int rows;                 /* of the matrix */
    int rank, before, behind; /* processes; NOBODY where there is no neighbour */
};

/* The rows of a process; row r has the entries start[r] .. start[r + 1] - 1, in ascending columns,
 * which count from the plane before the first. A column can stand there twice (two couplings of the
 * same pair): its coefficient is the sum. */
struct matrix {
    size_t *start;
    int *column;
    double *value;
};

/* A random edge of the graph: a row joins row partner of its plane. */
struct coupling {
    int partner;
    double weight;
};

/* Every process finds the same fault; the first one says so. */
__attribute__((noreturn, format(printf, 1, 2))) static void reject(const char *format, ...) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fputs("cg_mpi: ", stderr);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    MPI_Finalize();
    exit(2);
}

/* The whole number that text spells; ends the program if it spells none from least to most. */
static int whole_number(const char *name, const char *text, int least, int most) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0')
        reject("%s must be a whole number, but is '%s'", name, text);
    if (errno == ERANGE || number < least || number > most)
        reject("%s must be from %d to %d, but is %s", name, least, most, text);
    return (int)number;
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "cg_mpi: no memory for %zu elements of %zu bytes; choose a smaller size\n",
                count, size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

/* A distributed vector of zeros. */
static double *vector_new(const struct share *share) {
    return allocate((size_t)share->rows + 2 * (size_t)share->plane, sizeof(double));
}

/* A linear congruential generator modulo 2^64, of which the upper half is random enough. */
static uint32_t random_bits(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static double random_fraction(uint64_t *state) { return (random_bits(state) + 0.5) * 0x1p-32; }

/* A state for each plane, so that whoever has the plane draws the same numbers. */
static uint64_t random_state(int seed, int plane) {
    uint64_t state = (uint64_t)seed << 32 | (uint32_t)plane;
    for (int i = 0; i < 4; i++)
        random_bits(&state);
    return state;
}

static struct share take_share(int n, int skew) {
    struct share share = {.n = n, .plane = n * n};
    int processes;
    MPI_Comm_rank(MPI_COMM_WORLD, &share.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes > n - skew)
        reject("size %d with a skew of %d is for %d processes at most, not %d", n, skew, n - skew,
               processes);
    bool last = share.rank == processes - 1;
    share.first = (int)((long)(n - skew) * share.rank / processes);
    share.end = last ? n : (int)((long)(n - skew) * (share.rank + 1) / processes);
    share.rows = (share.end - share.first) * share.plane;
    share.before = share.rank > 0 ? share.rank - 1 : NOBODY;
    share.behind = last ? NOBODY : share.rank + 1;
    return share;
}

/* The COUPLINGS partners of every row of a plane, none of them the row itself. */
static void draw_couplings(int plane_number, int points, struct coupling *couplings) {
    uint64_t state = random_state(20261, plane_number);
    for (int point = 0; point < points; point++)
        for (int c = 0; c < COUPLINGS; c++) {
            struct coupling *coupling = &couplings[(size_t)point * COUPLINGS + c];
            int64_t hop = 1 + random_bits(&state) % (uint32_t)(points - 1);
            coupling->partner = (int)((point + hop) % points);
            coupling->weight = random_fraction(&state);
        }
}

/* The grid neighbours of point (i, j, k), which is the row so called; returns how many there are,
 * at most six. */
static int grid_neighbours(int n, int i, int j, int k, int row, int neighbours[6]) {
    int count = 0;
    if (i > 0)
        neighbours[count++] = row - n * n;
    if (j > 0)
        neighbours[count++] = row - n;
    if (k > 0)
        neighbours[count++] = row - 1;
    if (k < n - 1)
        neighbours[count++] = row + 1;
    if (j < n - 1)
        neighbours[count++] = row + n;
    if (i < n - 1)
        neighbours[count++] = row + n * n;
    return count;
}

/* Sets start: row r + 1 first counts the entries of row r, then all those before it. */
static void count_entries(const struct share *share, const struct coupling *couplings,
                          struct matrix *a) {
    int neighbours[6], n = share->n;
    for (int i = share->first, row = 0; i < share->end; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++, row++)
                a->start[row + 1] += 1 + COUPLINGS + grid_neighbours(n, i, j, k, row, neighbours);
    for (int row = 0; row < share->rows; row++)
        for (int c = 0; c < COUPLINGS; c++) {
            int partner = couplings[(size_t)row * COUPLINGS + c].partner;
            a->start[row / share->plane * share->plane + partner + 1]++;
        }
    for (int row = 0; row < share->rows; row++)
        a->start[row + 1] += a->start[row];
}

static void put_entry(struct matrix *a, size_t *next, int row, int column, double value) {
    size_t place = next[row]++;
    a->column[place] = column;
    a->value[place] = value;
}

/* Writes every entry off the diagonal, and leaves a zero on it; next is scratch for each row. */
static void fill_entries(const struct share *share, const struct coupling *couplings,
                         struct matrix *a, size_t *next) {
    int n = share->n, plane = share->plane;
    for (int row = 0; row < share->rows; row++)
        next[row] = a->start[row];
    for (int i = share->first, row = 0; i < share->end; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++, row++) {
                int neighbours[6];
                int count = grid_neighbours(n, i, j, k, row, neighbours);
                for (int c = 0; c < count; c++)
                    put_entry(a, next, row, plane + neighbours[c], -1.0);
                put_entry(a, next, row, plane + row, 0.0);
            }
    for (int row = 0; row < share->rows; row++)
        for (int c = 0; c < COUPLINGS; c++) {
            const struct coupling *coupling = &couplings[(size_t)row * COUPLINGS + c];
            int partner = row / plane * plane + coupling->partner;
            put_entry(a, next, row, plane + partner, -coupling->weight);
            put_entry(a, next, partner, plane + row, -coupling->weight);
        }
}

/* Insertion sort by column, which leaves equal ones as they are: a row has about a dozen entries.
 */
static void sort_rows(int rows, struct matrix *a) {
    for (int row = 0; row < rows; row++)
        for (size_t e = a->start[row] + 1; e < a->start[row + 1]; e++) {
            int column = a->column[e];
            double value = a->value[e];
            size_t place = e;
            for (; place > a->start[row] && a->column[place - 1] > column; place--) {
                a->column[place] = a->column[place - 1];
                a->value[place] = a->value[place - 1];
            }
            a->column[place] = column;
            a->value[place] = value;
        }
}

/* Makes each row sum to SHIFT. Returns the largest eigenvalue that Gershgorin's discs of these rows
 * allow. */
static double set_diagonal(const struct share *share, struct matrix *a) {
    double largest = 0.0;
    for (int row = 0; row < share->rows; row++) {
        size_t diagonal = a->start[row];
        double weights = 0.0;
        for (size_t e = a->start[row]; e < a->start[row + 1]; e++) {
            weights -= a->value[e];
            if (a->column[e] == share->plane + row)
                diagonal = e;
        }
        a->value[diagonal] = SHIFT + weights;
        largest = fmax(largest, SHIFT + 2.0 * weights);
    }
    return largest;
}

/* Builds the process's rows; the arrays belong to the caller. largest_eigenvalue is a bound for all
 * rows. */
static void assemble(const struct share *share, struct matrix *a, double *largest_eigenvalue) {
    size_t rows = (size_t)share->rows;
    struct coupling *couplings = allocate(rows * COUPLINGS, sizeof *couplings);
    size_t *next = allocate(rows, sizeof *next);
    a->start = allocate(rows + 1, sizeof *a->start);

    for (int i = share->first; i < share->end; i++)
        draw_couplings(i, share->plane,
                       &couplings[(size_t)(i - share->first) * share->plane * COUPLINGS]);
    count_entries(share, couplings, a);
    a->column = allocate(a->start[rows], sizeof *a->column);
    a->value = allocate(a->start[rows], sizeof *a->value);
    fill_entries(share, couplings, a, next);
    sort_rows(share->rows, a);
    double largest = set_diagonal(share, a);
    MPI_Allreduce(&largest, largest_eigenvalue, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

    free(next);
    free(couplings);
}

/* Gives the neighbours the planes at the borders, and gets theirs. */
static void exchange(const struct share *share, double *vector) {
    MPI_Request requests[4];
    MPI_Status statuses[4];
    double *own = vector + share->plane, *end = own + share->rows;
    int plane = share->plane, n = 0;
    if (share->before != NOBODY)
        MPI_Irecv(vector, plane, MPI_DOUBLE, share->before, UPWARD, MPI_COMM_WORLD, &requests[n++]);
    if (share->behind != NOBODY)
        MPI_Irecv(end, plane, MPI_DOUBLE, share->behind, DOWNWARD, MPI_COMM_WORLD, &requests[n++]);
    if (share->behind != NOBODY)
        MPI_Isend(end - plane, plane, MPI_DOUBLE, share->behind, UPWARD, MPI_COMM_WORLD,
                  &requests[n++]);
    if (share->before != NOBODY)
        MPI_Isend(own, plane, MPI_DOUBLE, share->before, DOWNWARD, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, statuses);
}

/* product = A vector, for the process's rows. */
static void multiply_rows(const struct share *share, const struct matrix *a,
                          const double *restrict vector, double *restrict product) {
    for (int row = 0; row < share->rows; row++) {
        double sum = 0.0;
        for (size_t e = a->start[row]; e < a->start[row + 1]; e++)
            sum += a->value[e] * vector[a->column[e]];
        product[share->plane + row] = sum;
    }
}

static void multiply(const struct share *share, const struct matrix *a, double *vector,
                     double *product) {
    exchange(share, vector);
    multiply_rows(share, a, vector, product);
}

/* The scalar product of two distributed vectors; sums is scratch for each plane of the grid. */
static double dot(const struct share *share, const double *left, const double *right,
                  double *sums) {
    memset(sums, 0, (size_t)share->n * sizeof *sums);
    const double *l = left + share->plane, *r = right + share->plane;
    for (int i = share->first; i < share->end; i++, l += share->plane, r += share->plane) {
        double sum = 0.0;
        for (int point = 0; point < share->plane; point++)
            sum += l[point] * r[point];
        sums[i] = sum;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, share->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double sum = 0.0;
    for (int i = 0; i < share->n; i++)
        sum += sums[i];
    return sum;
}

/* sum += factor * vector, for the process's rows. */
static void add_multiple(const struct share *share, double *restrict sum, double factor,
                         const double *restrict vector) {
    for (int row = share->plane; row < share->plane + share->rows; row++)
        sum[row] += factor * vector[row];
}

/* Improves x = 0 by so many steps, and returns how many were done: it stops early where there is
 * nothing left but rounding. On return, residual is b - A x as the recurrence carries it;
 * direction, product and sums are scratch. */
static int conjugate_gradient(const struct share *share, const struct matrix *a, int steps,
                              const double *b, double *x, double *residual, double *direction,
                              double *product, double *sums) {
    for (int row = share->plane; row < share->plane + share->rows; row++) {
        x[row] = 0.0;
        residual[row] = b[row];
        direction[row] = b[row];
    }
    double square = dot(share, residual, residual, sums);
    double negligible = square * 1e-32;
    int step = 0;
    for (; step < steps && square > negligible; step++) {
        multiply(share, a, direction, product);
        double length = square / dot(share, direction, product, sums);
        add_multiple(share, x, length, direction);
        add_multiple(share, residual, -length, product);
        double new_square = dot(share, residual, residual, sums);
        double turn = new_square / square;
        for (int row = share->plane; row < share->plane + share->rows; row++)
            direction[row] = residual[row] + turn * direction[row];
        square = new_square;
    }
    return step;
}

/* The bits of a distributed vector, added up modulo 2^64; the first process has the result. */
static uint64_t sum_bits(const struct share *share, const double *vector) {
    uint64_t sum = 0, total = 0;
    for (int row = 0; row < share->rows; row++) {
        uint64_t bits;
        memcpy(&bits, &vector[share->plane + row], sizeof bits);
        sum += bits;
    }
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return total;
}

static void print_relative(const char *what, double value) {
    if (value < ROUNDING)
        printf("%s below %.0e\n", what, ROUNDING);
    else
        printf("%s %.2e\n", what, value);
}

static bool print_verdict(const char *what, bool holds) {
    printf("%s: %s\n", what, holds ? "passed" : "FAILED");
    return holds;
}

/* Compares x with the solution and the residual with that of x; difference, product and sums are
 * scratch. The first process prints all. Returns whether the checks hold, which is the same
 * everywhere. */
static bool check(const struct share *share, const struct matrix *a, int steps,
                  double largest_eigenvalue, double *solution, const double *b, double *x,
                  double *residual, double *difference, double *product, double *sums) {
    double right_side = sqrt(dot(share, b, b, sums));
    double energy =
        sqrt(dot(share, solution, b, sums)); /* of the solution, and so of the first error */

    multiply(share, a, x, product);
    for (int row = share->plane; row < share->plane + share->rows; row++) {
        product[row] = b[row] - product[row];
        difference[row] = product[row] - residual[row];
    }
    double true_residual = sqrt(dot(share, product, product, sums));
    double drift = sqrt(dot(share, difference, difference, sums));
    for (int row = share->plane; row < share->plane + share->rows; row++)
        difference[row] = x[row] - solution[row];
    multiply(share, a, difference, product);
    double error = sqrt(dot(share, difference, product, sums)) / energy;
    multiply(share, a, residual, product);
    double skew = fabs(dot(share, residual, b, sums) - dot(share, solution, product, sums));
    double length = sqrt(dot(share, residual, residual, sums));
    uint64_t bits = sum_bits(share, x);

    double root = sqrt(largest_eigenvalue / SHIFT);
    double promised = 2.0 * pow((root - 1.0) / (root + 1.0), steps);
    bool symmetric = skew <= ROUNDING * right_side * length;
    bool keeps_promise = error <= promised + ROUNDING;
    bool carries_residual = drift <= ROUNDING * right_side;
    if (share->rank == 0) {
        print_relative("residual, relative to b:           ", true_residual / right_side);
        print_relative("error in the energy norm, relative:", error);
        print_relative("promised for this matrix:          ", promised);
        print_verdict("matrix is symmetric", symmetric);
        print_verdict("error within the promise", keeps_promise);
        print_verdict("residual carried along is that of the solution", carries_residual);
        printf("checksum: %016llx\n", (unsigned long long)bits);
    }
    return symmetric && keeps_promise && carries_residual;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc < 2 || argc > 4)
        reject("usage: cg_mpi N [STEPS [SKEW]]");
    int n = whole_number("the size N", argv[1], LEAST_SIZE, MOST_SIZE);
    int steps = argc > 2 ? whole_number("STEPS", argv[2], 1, MOST_STEPS) : DEFAULT_STEPS;
    int skew = argc > 3 ? whole_number("SKEW", argv[3], 0, n - 1) : 0;

    struct share share = take_share(n, skew);
    struct matrix a;
    double largest_eigenvalue;
    assemble(&share, &a, &largest_eigenvalue);
    double *solution = vector_new(&share), *b = vector_new(&share), *x = vector_new(&share);
    double *residual = vector_new(&share), *direction = vector_new(&share),
           *product = vector_new(&share);
    double *sums = allocate((size_t)n, sizeof *sums);

    for (int i = share.first, row = share.plane; i < share.end; i++) {
        uint64_t state = random_state(11, i);
        for (int point = 0; point < share.plane; point++, row++)
            solution[row] = 2.0 * random_fraction(&state) - 1.0;
    }
    multiply(&share, &a, solution, b);
    int done = conjugate_gradient(&share, &a, steps, b, x, residual, direction, product, sums);
    if (share.rank == 0)
        printf("cg_mpi: %d rows, %d steps\n", n * n * n, done);
    bool holds = check(&share, &a, done, largest_eigenvalue, solution, b, x, residual, direction,
                       product, sums);

    free(sums);
    free(product);
    free(direction);
    free(residual);
    free(x);
    free(b);
    free(solution);
    free(a.value);
    free(a.column);
    free(a.start);
    MPI_Finalize();
    return holds ? 0 : 1;
}
