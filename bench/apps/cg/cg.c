/* Conjugate gradients on a sparse matrix in compressed rows, checked against a known solution.
 *
 * Model:      A x = b, where A is SHIFT on the diagonal plus the Laplacian of a weighted graph:
 *             the N^3 points of a cubic grid joined to their neighbours with weight 1, and to
 *             COUPLINGS random points each with a random weight in (0, 1). A is symmetric; its
 *             smallest eigenvalue is SHIFT (constant vectors), its largest is at most Gershgorin's
 *             bound. b = A x* for a random x*, so that the solution is known.
 * Check:      conjugate gradients promise that after s steps the error in the energy norm
 *             sqrt(e' A e) is at most 2 ((sqrt(c) - 1) / (sqrt(c) + 1))^s of what it was, c being
 *             the ratio of the extreme eigenvalues. It must keep that promise for every size and
 *             step count, the residual that it carries along must be that of its solution, and the
 *             matrix must be symmetric for two vectors at hand: r' (A x*) = x*' (A r).
 *
 * Usage: cg N [STEPS], for a matrix of N^3 rows.
 * Exit status: 0 if the checks hold, 1 if one does not, 2 if an argument makes no sense. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Columns are int: MOST_SIZE is the largest size whose rows an int can number. */
enum { LEAST_SIZE = 2, MOST_SIZE = 1290, DEFAULT_STEPS = 25, MOST_STEPS = 1000000 };
enum { COUPLINGS = 2 };

static const double SHIFT = 1.0;

/* Below this, an error relative to the solution is rounding, and differs between compilers. */
static const double ROUNDING = 1e-12;

/* A square matrix; row r has the entries start[r] .. start[r + 1] - 1, in ascending columns. A
 * column can stand there twice (two couplings of the same pair): its coefficient is the sum. */
struct matrix {
    int rows;
    size_t *start;
    int *column;
    double *value;
};

/* A random edge of the graph: row owner joins row partner. */
struct coupling {
    int partner;
    double weight;
};

__attribute__((noreturn, format(printf, 1, 2))) static void reject(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("cg: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
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

/* Linux grants memory that it does not have, so ask what there is before taking it. */
static void require_memory(int n, double bytes) {
    double present = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (bytes > present)
        reject("size %d needs %.1f GiB of memory, but this machine has %.1f GiB", n, bytes / 0x1p30,
               present / 0x1p30);
}

static void *allocate(size_t count, size_t size) {
    void *memory = malloc(count * size);
    if (!memory)
        reject("no memory for %zu elements of %zu bytes; choose a smaller size", count, size);
    return memory;
}

/* A linear congruential generator modulo 2^64, of which the upper half is random enough. */
static uint32_t random_bits(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static double random_fraction(uint64_t *state) { return (random_bits(state) + 0.5) * 0x1p-32; }

/* The COUPLINGS partners of every row, none of them the row itself. */
static void draw_couplings(int rows, struct coupling *couplings) {
    uint64_t state = 20261;
    for (int row = 0; row < rows; row++)
        for (int c = 0; c < COUPLINGS; c++) {
            struct coupling *coupling = &couplings[(size_t)row * COUPLINGS + c];
            int64_t hop = 1 + random_bits(&state) % (uint32_t)(rows - 1);
            coupling->partner = (int)((row + hop) % rows);
            coupling->weight = random_fraction(&state);
        }
}

/* The grid neighbours of point (i, j, k); returns how many there are, at most six. */
static int grid_neighbours(int n, int i, int j, int k, int neighbours[6]) {
    int row = (i * n + j) * n + k;
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

/* Sets a->start: row r + 1 first counts the entries of row r, then all those before it. */
static void count_entries(int n, const struct coupling *couplings, struct matrix *a) {
    int neighbours[6];
    a->start[0] = 0;
    for (int i = 0, row = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++, row++)
                a->start[row + 1] = 1 + COUPLINGS + grid_neighbours(n, i, j, k, neighbours);
    for (size_t c = 0; c < (size_t)a->rows * COUPLINGS; c++)
        a->start[couplings[c].partner + 1]++;
    for (int row = 0; row < a->rows; row++)
        a->start[row + 1] += a->start[row];
}

static void put_entry(struct matrix *a, size_t *next, int row, int column, double value) {
    size_t place = next[row]++;
    a->column[place] = column;
    a->value[place] = value;
}

/* Writes every entry off the diagonal, and leaves a zero on it; next is scratch for each row. */
static void fill_entries(int n, const struct coupling *couplings, struct matrix *a, size_t *next) {
    for (int row = 0; row < a->rows; row++)
        next[row] = a->start[row];
    for (int i = 0, row = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++, row++) {
                int neighbours[6];
                int count = grid_neighbours(n, i, j, k, neighbours);
                for (int c = 0; c < count; c++)
                    put_entry(a, next, row, neighbours[c], -1.0);
                put_entry(a, next, row, row, 0.0);
            }
    for (int row = 0; row < a->rows; row++)
        for (int c = 0; c < COUPLINGS; c++) {
            const struct coupling *coupling = &couplings[(size_t)row * COUPLINGS + c];
            put_entry(a, next, row, coupling->partner, -coupling->weight);
            put_entry(a, next, coupling->partner, row, -coupling->weight);
        }
}

/* Insertion sort by column: a row has about a dozen entries, most of them in order already. */
static void sort_rows(struct matrix *a) {
    for (int row = 0; row < a->rows; row++)
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

/* Makes each row sum to SHIFT. Returns the largest eigenvalue that Gershgorin's discs allow. */
static double set_diagonal(struct matrix *a) {
    double largest = 0.0;
    for (int row = 0; row < a->rows; row++) {
        size_t diagonal = a->start[row];
        double weights = 0.0;
        for (size_t e = a->start[row]; e < a->start[row + 1]; e++) {
            weights -= a->value[e];
            if (a->column[e] == row)
                diagonal = e;
        }
        a->value[diagonal] = SHIFT + weights;
        largest = fmax(largest, SHIFT + 2.0 * weights);
    }
    return largest;
}

/* Builds the matrix of a grid of n points an edge; its arrays belong to the caller. */
static void assemble(int n, struct matrix *a, double *largest_eigenvalue) {
    a->rows = n * n * n;
    size_t rows = (size_t)a->rows;
    struct coupling *couplings = allocate(rows * COUPLINGS, sizeof *couplings);
    size_t *next = allocate(rows, sizeof *next);
    a->start = allocate(rows + 1, sizeof *a->start);

    draw_couplings(a->rows, couplings);
    count_entries(n, couplings, a);
    a->column = allocate(a->start[rows], sizeof *a->column);
    a->value = allocate(a->start[rows], sizeof *a->value);
    fill_entries(n, couplings, a, next);
    sort_rows(a);
    *largest_eigenvalue = set_diagonal(a);

    free(next);
    free(couplings);
}

/* product = A vector */
static void multiply(const struct matrix *a, const double *restrict vector,
                     double *restrict product) {
    for (int row = 0; row < a->rows; row++) {
        double sum = 0.0;
        for (size_t e = a->start[row]; e < a->start[row + 1]; e++)
            sum += a->value[e] * vector[a->column[e]];
        product[row] = sum;
    }
}

static double dot(int rows, const double *left, const double *right) {
    double sum = 0.0;
    for (int row = 0; row < rows; row++)
        sum += left[row] * right[row];
    return sum;
}

/* sum += factor * vector */
static void add_multiple(int rows, double *restrict sum, double factor,
                         const double *restrict vector) {
    for (int row = 0; row < rows; row++)
        sum[row] += factor * vector[row];
}

/* Improves x = 0 by so many steps. On return, residual is b - A x as the recurrence carries it;
 * direction and product are scratch. Stops early where there is nothing left but rounding. */
static void conjugate_gradient(const struct matrix *a, int steps, const double *b, double *x,
                               double *residual, double *direction, double *product) {
    int rows = a->rows;
    for (int row = 0; row < rows; row++) {
        x[row] = 0.0;
        residual[row] = b[row];
        direction[row] = b[row];
    }
    double square = dot(rows, residual, residual);
    double negligible = square * 1e-32;
    for (int s = 0; s < steps && square > negligible; s++) {
        multiply(a, direction, product);
        double length = square / dot(rows, direction, product);
        add_multiple(rows, x, length, direction);
        add_multiple(rows, residual, -length, product);
        double new_square = dot(rows, residual, residual);
        double turn = new_square / square;
        for (int row = 0; row < rows; row++)
            direction[row] = residual[row] + turn * direction[row];
        square = new_square;
    }
}

static void print_relative(const char *what, double value) {
    if (value < ROUNDING)
        printf("%s below %.0e\n", what, ROUNDING);
    else
        printf("%s %.2e\n", what, value);
}

/* Compares x with the solution and the residual with that of x; product and difference are
 * scratch. Prints all and returns whether the checks hold. */
static bool check(const struct matrix *a, int steps, double largest_eigenvalue,
                  const double *solution, const double *b, const double *x, const double *residual,
                  double *difference, double *product) {
    int rows = a->rows;
    double right_side = sqrt(dot(rows, b, b));
    double energy = sqrt(dot(rows, solution, b)); /* of the solution, and so of the first error */

    multiply(a, x, product);
    double true_square = 0.0, drift_square = 0.0;
    for (int row = 0; row < rows; row++) {
        double true_residual = b[row] - product[row];
        double drift = true_residual - residual[row];
        true_square += true_residual * true_residual;
        drift_square += drift * drift;
        difference[row] = x[row] - solution[row];
    }
    multiply(a, difference, product);
    double error = sqrt(dot(rows, difference, product)) / energy;

    double root = sqrt(largest_eigenvalue / SHIFT);
    double promised = 2.0 * pow((root - 1.0) / (root + 1.0), steps);
    print_relative("residual, relative to b:           ", sqrt(true_square) / right_side);
    print_relative("error in the energy norm, relative:", error);
    print_relative("promised for this matrix:          ", promised);

    multiply(a, residual, product);
    double skew = fabs(dot(rows, residual, b) - dot(rows, solution, product));
    bool symmetric = skew <= ROUNDING * right_side * sqrt(dot(rows, residual, residual));
    bool keeps_promise = error <= promised + ROUNDING;
    bool carries_residual = sqrt(drift_square) <= ROUNDING * right_side;
    printf("matrix is symmetric: %s\n", symmetric ? "passed" : "FAILED");
    printf("error within the promise: %s\n", keeps_promise ? "passed" : "FAILED");
    printf("residual carried along is that of the solution: %s\n",
           carries_residual ? "passed" : "FAILED");
    return symmetric && keeps_promise && carries_residual;
}

/* Bytes at the peak: the matrix, the couplings and six vectors. */
static double memory_needed(int n) {
    double rows = (double)n * n * n;
    double entries = rows * (7 + 2 * COUPLINGS);
    return entries * (sizeof(int) + sizeof(double)) + rows * (2 * sizeof(size_t)) +
           rows * COUPLINGS * sizeof(struct coupling) + rows * 6 * sizeof(double);
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 4)
        reject("usage: cg N [STEPS [TIMES]]");
    int n = whole_number("the size N", argv[1], LEAST_SIZE, MOST_SIZE);
    int steps = argc > 2 ? whole_number("STEPS", argv[2], 1, MOST_STEPS) : DEFAULT_STEPS;
    int times = argc > 3 ? whole_number("TIMES", argv[3], 1, MOST_STEPS) : 1;
    require_memory(n, memory_needed(n));

    struct matrix a;
    double largest_eigenvalue;
    assemble(n, &a, &largest_eigenvalue);
    double *solution = allocate(a.rows, sizeof(double));
    double *b = allocate(a.rows, sizeof(double));
    double *x = allocate(a.rows, sizeof(double));
    double *residual = allocate(a.rows, sizeof(double));
    double *direction = allocate(a.rows, sizeof(double));
    double *product = allocate(a.rows, sizeof(double));

    uint64_t state = 11;
    for (int row = 0; row < a.rows; row++)
        solution[row] = 2.0 * random_fraction(&state) - 1.0;
    multiply(&a, solution, b);
    printf("cg: %d rows, %zu entries, at most %d steps\n", a.rows, a.start[a.rows], steps);

    for (int t = 0; t < times; t++)
        conjugate_gradient(&a, steps, b, x, residual, direction, product);
    bool holds = check(&a, steps, largest_eigenvalue, solution, b, x, residual, direction, product);

    free(product);
    free(direction);
    free(residual);
    free(x);
    free(b);
    free(solution);
    free(a.value);
    free(a.column);
    free(a.start);
    return holds ? 0 : 1;
}
