/* Loops whose data fit in the first-level cache: their lower bound is their time
   (bench/accuracy/time/bound.sh).

   Each kernel goes over its data again and again in one nest.  `./fitting` runs all. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, TIMES = 400000, SIDE = 16, LONG_TIMES = 100000 };

#define KERNEL __attribute__((noinline, noclone)) static void
#define REPEAT(times) for (int repetition = 0; repetition < (times); repetition++, barrier())

/* The compiler moves nothing across it; it is no instruction. */
static inline void barrier(void) { __asm__ volatile("" ::: "memory"); }

struct element {
    uint64_t next;
    double value;
};

static double a[N + 8], b[N], c[N];
static float f[N], g[N];
static int32_t i32[N], key[N];
static uint8_t bytes[N], more_bytes[N];
static double p[SIDE][SIDE], q[SIDE][SIDE], r[SIDE][SIDE];
static struct element list[N];
static double result;

/* ---- in place, and from array to array ------------------------------------------------------- */

KERNEL scale(double by) {
    REPEAT(TIMES)
    for (int i = 0; i < N; i++)
        a[i] *= by;
}

KERNEL update(double by) {
    REPEAT(TIMES)
    for (int i = 0; i < N; i++)
        a[i] = a[i] * by + b[i];
}

KERNEL count_up(void) {
    REPEAT(TIMES)
    for (int i = 0; i < N; i += 5)
        i32[i]++;
}

KERNEL copy(void) {
    REPEAT(TIMES)
    for (int i = 0; i < N; i++)
        c[i] = b[i];
}

KERNEL triad(double by) {
    REPEAT(TIMES)
    for (int i = 0; i < N; i++)
        c[i] = a[i] + by * b[i];
}

KERNEL stencil(void) {
    REPEAT(TIMES)
    for (int i = 1; i < N - 1; i++)
        c[i] = b[i - 1] + b[i] + b[i + 1];
}

KERNEL divide(void) {
    REPEAT(LONG_TIMES)
    for (int i = 0; i < N; i++)
        f[i] = g[i] / (f[i] + 2);
}

KERNEL add_bytes(void) {
    REPEAT(TIMES)
    for (int i = 0; i < N; i++)
        bytes[i] = (uint8_t)(bytes[i] + more_bytes[i]);
}

KERNEL every_other(void) {
    REPEAT(TIMES)
    for (int i = 0; i < N; i += 2)
        c[i] = b[i] + 1;
}

/* ---- reductions ------------------------------------------------------------------------------ */

KERNEL dot(void) {
    double sum = 0;
    REPEAT(LONG_TIMES)
    for (int i = 0; i < N; i++)
        sum += b[i] * c[i];
    result += sum;
}

/* A store for each element: a chain through memory, which the copy has, too. */
KERNEL sum_in_memory(double *to) {
    REPEAT(LONG_TIMES / 4)
    for (int i = 0; i < N; i++) {
        *(volatile double *)to += b[i];
    }
}

KERNEL sum_of_integers(void) {
    int32_t sum = 0;
    REPEAT(TIMES)
    for (int i = 0; i < N; i++)
        sum += i32[i];
    result += sum;
}

KERNEL largest(void) {
    double most = 0;
    REPEAT(LONG_TIMES)
    for (int i = 0; i < N; i++)
        most = b[i] > most ? b[i] : most;
    result += most;
}

/* ---- recurrences ----------------------------------------------------------------------------- */

#define RECURRENCE(distance)                                                                       \
    KERNEL recurrence_##distance(double by) {                                                      \
        REPEAT(LONG_TIMES / 2)                                                                     \
        for (int i = distance; i < N; i++)                                                         \
            a[i] = a[i - distance] * by + b[i];                                                    \
    }
RECURRENCE(1)
RECURRENCE(2)
RECURRENCE(4)

/* ---- nests, branches, indices ---------------------------------------------------------------- */

KERNEL product(void) {
    REPEAT(LONG_TIMES)
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += p[i][k] * q[k][j];
            r[i][j] = sum;
        }
}

KERNEL transpose(void) {
    REPEAT(TIMES)
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            r[j][i] = p[i][j];
}

/* A branch that hardly ever goes the other way. */
KERNEL guarded(void) {
    REPEAT(LONG_TIMES)
    for (int i = 0; i < N; i++)
        if (key[i] % 64 == 0)
            c[i] = b[i] / 3;
}

KERNEL indexed(void) {
    double sum = 0;
    REPEAT(LONG_TIMES)
    for (int i = 0; i < N; i++)
        sum += b[key[i]];
    result += sum;
}

/* Each address waits for the load before. */
KERNEL chase(void) {
    uint64_t at = 0;
    REPEAT(LONG_TIMES)
    for (int i = 0; i < N; i++)
        at = list[at].next;
    result += list[at].value;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        a[i] = b[i] = c[i] = 1 + i % 3;
        f[i] = g[i] = (float)(1 + i % 5);
        i32[i] = i % 7;
        key[i] = (int32_t)((unsigned)i * 37u % N);
        bytes[i] = more_bytes[i] = (uint8_t)i;
        list[i] = (struct element){((unsigned)i * 5u + 1u) % N, i};
    }
    for (int i = 0; i < SIDE * SIDE; i++)
        p[i / SIDE][i % SIDE] = q[i / SIDE][i % SIDE] = 1 + i % 4;
    scale(1);
    update(0.5);
    count_up();
    copy();
    triad(0.5);
    stencil();
    divide();
    add_bytes();
    every_other();
    dot();
    sum_in_memory(&result);
    sum_of_integers();
    largest();
    recurrence_1(0.5);
    recurrence_2(0.5);
    recurrence_4(0.5);
    product();
    transpose();
    guarded();
    indexed();
    chase();
    printf("%.17g %.17g %.17g %g %d %u %g\n", result, a[N - 1], c[N / 2], (double)f[3], (int)i32[5],
           (unsigned)bytes[9], r[3][4]);
    return 0;
}
