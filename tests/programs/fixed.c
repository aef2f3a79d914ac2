/* A program whose arrays have fixed extents: it is built anew for each size, with -DN=24. */
#include <stdio.h>

enum { STEPS = 3, SIDE = 40 };

static double u[N][N], v[N][N], column[N];
static double table[SIDE][SIDE]; /* as large at every size; its first N by N elements are used */
static volatile double result;

__attribute__((noinline)) static void fill(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            u[i][j] = (double)(i + 2 * j);
}

__attribute__((noinline)) static void step(double (*to)[N], double (*from)[N]) {
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

__attribute__((noinline)) static void sum_columns(void) {
    for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += u[i][j];
        column[j] = sum;
    }
}

/* Walks a part of an array whose extent does not grow with N. */
__attribute__((noinline)) static void add_table(void) {
    for (int i = 0; i < N && i < SIDE; i++)
        for (int j = 0; j < N && j < SIDE; j++)
            table[i][j] += u[i][j];
}

/* The inner loop is gone where it would run once or twice. */
__attribute__((noinline)) static void fold(void) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N / 16; k++)
            column[i] += v[k][i];
}

int main(void) {
    fill();
    for (int s = 0; s < STEPS; s++) {
        step(v, u);
        step(u, v);
    }
    sum_columns();
    add_table();
    fold();
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += column[i];
    result = sum;
    printf("%.6g\n", sum);
    return 0;
}
