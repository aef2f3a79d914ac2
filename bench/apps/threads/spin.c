/* A lock and a barrier of the program's own, at which threads go round until the others have come:
   the first thread has twice the work of the others between two barriers. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "busiest.h"

static atomic_int lock, arrived, generation;

static void acquire(void) {
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        while (atomic_load_explicit(&lock, memory_order_relaxed))
            ;
}

static void release(void) { atomic_store_explicit(&lock, 0, memory_order_release); }

static void wait_for_all(int n_threads) {
    int before = atomic_load(&generation);
    if (atomic_fetch_add(&arrived, 1) == n_threads - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&generation, 1);
    } else {
        while (atomic_load_explicit(&generation, memory_order_acquire) == before)
            ;
    }
}

static double work(double *a, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) {
        a[i] = a[i] * 0.5 + 1;
        sum += a[i];
    }
    return sum;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000, times = argc > 2 ? atol(argv[2]) : 10;
    double total = 0;
#pragma omp parallel
    {
        int me = omp_get_thread_num(), n_threads = omp_get_num_threads();
        double *a = calloc((size_t)n, sizeof *a);
        for (long t = 0; t < times; t++) {
            double sum = work(a, me == 0 ? n : n / 2);
            acquire();
            total += sum;
            release();
            wait_for_all(n_threads);
        }
        free(a);
    }
    print_busiest();
    printf("%.3f\n", total / (double)n);
    return 0;
}
