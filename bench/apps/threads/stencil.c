/* A Jacobi sweep over an N x N grid: each thread its rows, a barrier after each sweep. */
#include <stdio.h>
#include <stdlib.h>

#include "busiest.h"

static void sweep(long n, const double *restrict from, double *restrict to) {
#pragma omp parallel for schedule(static)
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            to[i * n + j] = 0.25 * (from[i * n + j - 1] + from[i * n + j + 1] +
                                    from[(i - 1) * n + j] + from[(i + 1) * n + j]);
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 100, steps = argc > 2 ? atol(argv[2]) : 10;
    /* Half a page apart, so that addresses of a store and of the loads behind it do not end alike.
     */
    long apart = (n * n + 511) / 512 * 512 + 256;
    double *u = malloc(sizeof *u * (apart + n * n)), *v = u + apart;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            u[i * n + j] = v[i * n + j] = i == 0 ? 1 : (double)(j % 7);
    for (long s = 0; s < steps; s++) {
        sweep(n, u, v);
        sweep(n, v, u);
    }
    print_busiest();
    printf("%.6f\n", u[n * (n / 2) + n / 2]);
    free(u);
    return 0;
}
