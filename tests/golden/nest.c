/* Loops of each kind that pmodel tells apart; tests/e2e/golden.sh measures it at several sizes N.
   Nothing of what is measured may depend on where the kernel puts the stack: arrays are static and
   begin at a page of the largest size, main moves its frame to such a border, and what lies beyond
   it, the arguments, is looked at by the C library alone, which is not measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 96, PAGE = 65536 };

static double u[MOST][MOST] __attribute__((aligned(PAGE)));
static double v[MOST][MOST] __attribute__((aligned(PAGE)));
static double row[MOST] __attribute__((aligned(PAGE)));
static int where[MOST * MOST] __attribute__((aligned(PAGE)));
static volatile double result;

/* A nest of two loops. */
__attribute__((noinline)) static void fill(int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            u[i][j] = i + 2 * j;
            where[i * n + j] = (i * 7 + j * 13) % n;
        }
}

/* Two arrays that change roles. */
__attribute__((noinline)) static void stencil(int n, double (*to)[MOST], double (*from)[MOST]) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

/* Indirect accesses. */
__attribute__((noinline)) static double gather(int n) {
    double sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += row[where[i]];
    return sum;
}

/* An inner loop that is as long as the outer one has got. */
__attribute__((noinline)) static double triangle(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            sum += v[j][i];
    return sum;
}

/* Inlined into its caller, with its loop. */
__attribute__((always_inline)) static inline double scale(double *of, int n, double by) {
    double most = 0;
    for (int k = 0; k < n; k++) {
        of[k] *= by;
        if (of[k] > most)
            most = of[k];
    }
    return most;
}

/* A routine of the C library, and inlined code. */
__attribute__((noinline)) static double copy(int n) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        memcpy(row, u[i], (size_t)n * sizeof row[0]);
        most += scale(row, n, 0.5);
    }
    return most;
}

/* A jump table. */
__attribute__((noinline)) static int choose(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        switch (where[i] % 7) {
        case 0:
            sum += 3;
            break;
        case 1:
            sum ^= i;
            break;
        case 2:
            sum -= n;
            break;
        case 3:
            sum *= 5;
            break;
        case 4:
            sum |= 16;
            break;
        case 5:
            sum = -sum;
            break;
        default:
            sum++;
        }
    return sum;
}

/* Periodic in the size, and more often executed than any small power of it. */
__attribute__((noinline)) static double uneven(int n) {
    double sum = 0;
    for (int i = 0; i < (n % 3) * n * n; i++)
        sum += row[i % n];
    return sum;
}

__attribute__((noinline)) static int work(int argc, char **argv) {
    int n = getopt(argc, argv, "-") == 1 ? atoi(optarg) : 0;
    if (n < 4 || n > MOST) {
        fprintf(stderr, "nest: the size must be from 4 to %d\n", MOST);
        return 3;
    }
    fill(n);
    for (int step = 0; step < 3; step++) {
        stencil(n, v, u);
        stencil(n, u, v);
    }
    double sum = copy(n);
    sum += gather(n) + triangle(n) + choose(n) + uneven(n);
    result = sum;
    printf("%.6g\n", sum);
    return 0;
}

int main(int argc, char **argv) {
    _Alignas(PAGE) volatile int status = work(argc, argv);
    return status;
}
