/* Arrays of fixed extent: built for each size, -D N=24. nest.c says why arrays and frame are where
   they are. */
#include <stdio.h>

enum { PAGE = 65536 };

static double u[N][N] __attribute__((aligned(PAGE)));
static double column[N] __attribute__((aligned(PAGE)));
static volatile double result;

__attribute__((noinline)) static void fill(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            u[i][j] = i + 2 * j;
}

__attribute__((noinline)) static void sum_columns(void) {
    for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += u[i][j];
        column[j] = sum;
    }
}

/* The inner loop is gone where it would run once. */
__attribute__((noinline)) static void fold(void) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N / 16; k++)
            column[i] += u[k][i];
}

__attribute__((noinline)) static int work(void) {
    fill();
    sum_columns();
    fold();
    result = column[N - 1];
    printf("%.6g\n", result);
    return 0;
}

int main(void) {
    _Alignas(PAGE) volatile int status = work();
    return status;
}
