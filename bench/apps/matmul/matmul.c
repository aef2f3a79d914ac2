/* Matrix product C = A B in three variants, checked against the exact answer.
 *
 * Matrices:   A is ROWS x N, B is N x N; all rows one after the other.
 * Variants:   blocked   loops over blocks of BLOCK x BLOCK, in each of them i, k, j;
 *             ijk       for each element of C, a row of A times a column of B;
 *             ikj       for each element of A, a row of B is added to a row of C.
 * Exactness:  A[i][k] = i + 2 k + 1 and B[k][j] = 3 k - j. Every element and every partial sum of
 *             C is a whole number below 2^53, which a double holds exactly in any order of
 *             summation, and the sums of k and k^2 are known: the answer must be equal, not close.
 *
 * Usage: matmul N [VARIANT [ROWS [TIMES]]], blocked, N rows and once if not given.
 * Exit status: 0 if the check holds, 1 if it does not, 2 if an argument makes no sense. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With MOST_SIZE, the magnitudes' sum in an element, 9 N^3, is still below 2^53. */
enum { LEAST_SIZE = 1, MOST_SIZE = 100000 };

/* Three blocks are 24 KiB: they fit a first-level cache of 32 KiB. */
enum { BLOCK = 32 };

__attribute__((noreturn, format(printf, 1, 2))) static void reject(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("matmul: ", stderr);
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

static int smaller(int left, int right) { return left < right ? left : right; }

/* c = a b, where a and c have so many rows. */
typedef void multiply_function(int rows, int n, double (*restrict a)[n], double (*restrict b)[n],
                               double (*restrict c)[n]);

static void clear(int rows, int n, double (*c)[n]) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            c[i][j] = 0.0;
}

static void multiply_blocked(int rows, int n, double (*restrict a)[n], double (*restrict b)[n],
                             double (*restrict c)[n]) {
    clear(rows, n, c);
    for (int ii = 0; ii < rows; ii += BLOCK)
        for (int kk = 0; kk < n; kk += BLOCK)
            for (int jj = 0; jj < n; jj += BLOCK)
                for (int i = ii; i < smaller(ii + BLOCK, rows); i++)
                    for (int k = kk; k < smaller(kk + BLOCK, n); k++)
                        for (int j = jj; j < smaller(jj + BLOCK, n); j++)
                            c[i][j] += a[i][k] * b[k][j];
}

static void multiply_ijk(int rows, int n, double (*restrict a)[n], double (*restrict b)[n],
                         double (*restrict c)[n]) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

static void multiply_ikj(int rows, int n, double (*restrict a)[n], double (*restrict b)[n],
                         double (*restrict c)[n]) {
    clear(rows, n, c);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i][j] += a[i][k] * b[k][j];
}

static const struct variant {
    const char *name;
    multiply_function *multiply;
} VARIANT[] = {
    {"blocked", multiply_blocked},
    {"ijk", multiply_ijk},
    {"ikj", multiply_ikj},
};

static const struct variant *variant_named(const char *name) {
    for (size_t v = 0; v < sizeof VARIANT / sizeof *VARIANT; v++)
        if (strcmp(VARIANT[v].name, name) == 0)
            return &VARIANT[v];
    reject("VARIANT must be blocked, ijk or ikj, but is '%s'", name);
}

static void initialise(int rows, int n, double (*a)[n], double (*b)[n]) {
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < n; k++)
            a[i][k] = i + 2 * k + 1;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            b[k][j] = 3 * k - j;
}

/* The sum over k of (i + 2 k + 1) (3 k - j). */
static int64_t exact_element(int64_t n, int64_t i, int64_t j) {
    int64_t sum = n * (n - 1) / 2;
    int64_t sum_of_squares = n * (n - 1) * (2 * n - 1) / 6;
    return 6 * sum_of_squares + (3 * (i + 1) - 2 * j) * sum - (i + 1) * j * n;
}

/* Prints the last element and whether all are right, and returns the latter. */
static bool check(int rows, int n, double (*c)[n]) {
    int64_t wrong = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            wrong += !(c[i][j] == (double)exact_element(n, i, j));
    printf("C[%d][%d] = %.0f\n", rows - 1, n - 1, c[rows - 1][n - 1]);
    if (wrong == 0)
        printf("all elements are exact: passed\n");
    else
        printf("%lld elements are wrong: FAILED\n", (long long)wrong);
    return wrong == 0;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 5)
        reject("usage: matmul N [VARIANT [ROWS [TIMES]]]");
    int n = whole_number("the size N", argv[1], LEAST_SIZE, MOST_SIZE);
    const struct variant *variant = variant_named(argc > 2 ? argv[2] : "blocked");
    int rows = argc > 3 ? whole_number("ROWS", argv[3], 1, n) : n;
    int times = argc > 4 ? whole_number("TIMES", argv[4], 1, MOST_SIZE) : 1;

    require_memory(n, ((double)n + 2.0 * rows) * n * sizeof(double));
    double(*a)[n] = allocate((size_t)rows * n, sizeof(double));
    double(*b)[n] = allocate((size_t)n * n, sizeof(double));
    double(*c)[n] = allocate((size_t)rows * n, sizeof(double));
    initialise(rows, n, a, b);
    printf("matmul: %d x %d times %d x %d, %s\n", rows, n, n, n, variant->name);

    for (int t = 0; t < times; t++)
        variant->multiply(rows, n, a, b, c);
    bool holds = check(rows, n, c);

    free(c);
    free(b);
    free(a);
    return holds ? 0 : 1;
}
