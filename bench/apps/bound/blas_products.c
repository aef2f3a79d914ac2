/* Matrix products C += A · B of n × n doubles, by rows (bench/accuracy/time/bound.sh; Fursin,
   O'Boyle, Temam & Watts 2004, section 5.6): `./products tiled|ijk|ikj|dgemm N TIMES`.  The last is
   the BLAS routine of the library that $BLAS names.  Prints seconds of the processor for each
   product, and a sum. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef double vector __attribute__((vector_size(32), aligned(8), may_alias));
enum { LANES = 4, ROWS = 4, VECTORS = 3, COLUMNS = VECTORS * LANES };

#define PRODUCT __attribute__((noinline, noclone)) static void
#define MATRICES double *restrict c, const double *restrict a, const double *restrict b, int n

/* A tile of C of 4 × 12 is held in registers; nothing is done for the caches. */
PRODUCT tiled(MATRICES) {
    for (int i = 0; i + ROWS <= n; i += ROWS)
        for (int j = 0; j + COLUMNS <= n; j += COLUMNS) {
            vector sum[ROWS][VECTORS];
            for (int row = 0; row < ROWS; row++)
                for (int v = 0; v < VECTORS; v++)
                    sum[row][v] = (vector){0, 0, 0, 0};
            for (int k = 0; k < n; k++) {
                vector right[VECTORS];
                for (int v = 0; v < VECTORS; v++)
                    right[v] = *(const vector *)&b[(size_t)k * n + j + v * LANES];
                for (int row = 0; row < ROWS; row++) {
                    double left = a[(size_t)(i + row) * n + k];
                    vector all = {left, left, left, left};
                    for (int v = 0; v < VECTORS; v++)
                        sum[row][v] += all * right[v];
                }
            }
            for (int row = 0; row < ROWS; row++)
                for (int v = 0; v < VECTORS; v++)
                    for (int lane = 0; lane < LANES; lane++)
                        c[(size_t)(i + row) * n + j + v * LANES + lane] += sum[row][v][lane];
        }
}

PRODUCT ijk(MATRICES) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[(size_t)i * n + k] * b[(size_t)k * n + j];
            c[(size_t)i * n + j] += sum;
        }
}

PRODUCT ikj(MATRICES) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[(size_t)i * n + j] += a[(size_t)i * n + k] * b[(size_t)k * n + j];
}

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
typedef void dgemm_routine(int order, int transposes_a, int transposes_b, int m, int n, int k,
                           double alpha, const double *a, int lda, const double *b, int ldb,
                           double beta, double *c, int ldc);
static dgemm_routine *library_routine;

PRODUCT dgemm(MATRICES) {
    library_routine(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, a, n, b, n, 1, c, n);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double *matrix(int n) {
    double *all = aligned_alloc(64, sizeof *all * (size_t)n * (size_t)n);
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        all[i] = 1 + (double)(i % 7);
    return all;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*product)(MATRICES);
    } all[] = {{"tiled", tiled}, {"ijk", ijk}, {"ikj", ikj}, {"dgemm", dgemm}};
    const char *name = argc > 1 ? argv[1] : "", *library = getenv("BLAS");
    int n = argc > 2 ? atoi(argv[2]) : 0, times = argc > 3 ? atoi(argv[3]) : 1;
    void *opened = library ? dlopen(library, RTLD_NOW) : NULL;
    if (opened)
        library_routine = (dgemm_routine *)dlsym(opened, "cblas_dgemm");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0 || n < 1 ||
            (all[i].product == dgemm && !library_routine))
            continue;
        double *a = matrix(n), *b = matrix(n), *c = matrix(n), sum = 0;
        for (int time = 0; time < times; time++) {
            double begin = now();
            all[i].product(c, a, b, n);
            fprintf(stderr, "%.6f\n", now() - begin);
        }
        for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
            sum += c[k];
        printf("%.17g\n", sum);
        free(a);
        free(b);
        free(c);
        return 0;
    }
    fprintf(stderr, "products: tiled, ijk, ikj, or dgemm of the library $BLAS; N; TIMES\n");
    return 2;
}
