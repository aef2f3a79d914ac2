/* A scalar product of vectors that lie far from the cores, with a reduction, after each vector got
   a serial touch: what limits it is the bandwidth of memory. */
#include <stdio.h>
#include <stdlib.h>

#include "busiest.h"

static double product(const double *x, const double *y, long n) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000, times = argc > 2 ? atol(argv[2]) : 10;
    double *x = malloc(sizeof *x * n), *y = malloc(sizeof *y * n), sum = 0;
    for (long i = 0; i < n; i++) {
        x[i] = (double)(i % 8);
        y[i] = 0.5;
    }
    for (long t = 0; t < times; t++)
        sum += product(x, y, n);
    print_busiest();
    printf("%.6f\n", sum);
    free(x);
    free(y);
    return 0;
}
