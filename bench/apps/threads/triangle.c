/* Rows of a triangle: equal numbers of rows for all threads, so that the last one has most of the
   work.  With an argument more rows are taken as threads come free. */
#include <stdio.h>
#include <stdlib.h>

#include "busiest.h"

static double row(const double *a, const double *x, long n) {
    double sum = 0;
    for (long j = 0; j < n; j++)
        sum = sum * 0.5 + a[j] * x[j];
    return sum;
}

static void in_turn(long n, const double *a, const double *x, double *y) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        y[i] = row(a, x, i + 1);
}

static void as_free(long n, const double *a, const double *x, double *y) {
#pragma omp parallel for schedule(dynamic, 4)
    for (long i = 0; i < n; i++)
        y[i] = row(a, x, i + 1);
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 100, times = argc > 2 ? atol(argv[2]) : 10;
    double *a = malloc(sizeof *a * n), *x = malloc(sizeof *x * n), *y = malloc(sizeof *y * n);
    for (long i = 0; i < n; i++) {
        a[i] = (double)(i % 5);
        x[i] = (double)(i % 3);
    }
    for (long t = 0; t < times; t++)
        (argc > 3 ? as_free : in_turn)(n, a, x, y);
    print_busiest();
    printf("%.6f\n", y[n - 1]);
    free(a);
    free(x);
    free(y);
    return 0;
}
