/* Loops in the forms that the vectoriser, the unroller and the loop optimiser make of them: strides
   of all signs, gathers, masks, reductions, while loops, nests, triangular nests, strips. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noipa, used))

KEEP void triad(double *restrict a, const double *b, const double *c, double s, long n) {
    for (long i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}
KEEP void backwards(float *a, const float *b, int n) {
    for (int i = n - 1; i >= 0; i--)
        a[i] = b[i] * 2;
}
KEEP double dot(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
KEEP long sum_int(const int *a, long n) {
    long s = 0;
    for (long i = 0; i < n; i++)
        s += a[i];
    return s;
}
KEEP void gather(double *restrict a, const double *b, const int *index, long n) {
    for (long i = 0; i < n; i++)
        a[i] = b[index[i]];
}
KEEP void scatter(double *a, const double *b, const int *index, long n) {
    for (long i = 0; i < n; i++)
        a[index[i]] = b[i];
}
KEEP void masked(int *restrict a, const int *b, const int *c, long n) {
    for (long i = 0; i < n; i++)
        if (c[i] > 0)
            a[i] = b[i] + c[i];
}
KEEP long count_if(const unsigned char *p, long n, int c) {
    long k = 0;
    for (long i = 0; i < n; i++)
        k += p[i] == c;
    return k;
}
KEEP void strided(double *a, long n, long stride) {
    for (long i = 0; i < n; i++)
        a[i * stride] += 1;
}
KEEP void every_third(int *a, long n) {
    for (long i = 0; i < n; i += 3)
        a[i] = (int)i;
}
KEEP void complex_pairs(float *restrict a, const float *b, long n) {
    for (long i = 0; i < n; i++) {
        a[2 * i] = b[2 * i + 1];
        a[2 * i + 1] = -b[2 * i];
    }
}
KEEP void matrix(int n, double a[n][n], double b[n][n], double c[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
}
KEEP void triangle(int n, double a[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            a[i][j] = a[j][i] + 1;
}
KEEP void stencil(int n, double u[n][n][n], double v[n][n][n]) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                v[i][j][k] = u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k] +
                             u[i][j][k - 1] + u[i][j][k + 1];
}
KEEP void tiled(int n, double a[n][n], double b[n][n]) {
    for (int ii = 0; ii < n; ii += 16)
        for (int jj = 0; jj < n; jj += 16)
            for (int i = ii; i < ii + 16 && i < n; i++)
                for (int j = jj; j < jj + 16 && j < n; j++)
                    a[i][j] = b[j][i];
}
KEEP void recurrence(double *a, long n) {
    for (long i = 2; i < n; i++)
        a[i] = a[i - 1] * 0.5 + a[i - 2];
}
struct item {
    struct item *next;
    double value;
    int tag[3];
};
KEEP double list_sum(const struct item *p) {
    double s = 0;
    for (; p; p = p->next)
        s += p->value;
    return s;
}
KEEP int find(const struct item *items, int n, int tag) {
    for (int i = 0; i < n; i++)
        if (items[i].tag[1] == tag)
            return i;
    return -1;
}
KEEP unsigned collatz(uint64_t n) {
    unsigned steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}
KEEP int bits(uint32_t x) {
    int n = 0;
    do
        n += x & 1;
    while (x >>= 1);
    return n;
}
KEEP void sort(int *a, int n) {
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i - 1;
        while (j >= 0 && a[j] > x) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = x;
    }
}
KEEP int continues(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] % 7 == 0)
            continue;
        if (a[i] < -1000)
            break;
        for (int j = 0; j < a[i]; j++) {
            if (j == s)
                goto next;
            s += j;
        }
    next:;
    }
    return s;
}
KEEP void copy(unsigned char *to, const unsigned char *from) {
    while ((*to++ = *from++))
        ;
}
KEEP void clear(char *p, long n) {
    for (long i = 0; i < n; i++)
        p[i] = 0;
}
KEEP void pointers(double **rows, int n, int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            rows[i][j] *= 2;
}
KEEP float largest(const float *a, int n) {
    float m = a[0];
    for (int i = 1; i < n; i++)
        m = a[i] > m ? a[i] : m;
    return m;
}
KEEP void convert(double *restrict a, const short *b, int n) {
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}
KEEP void unrolled_by_hand(double *a, int n) {
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        a[i] += 1;
        a[i + 1] += 2;
        a[i + 2] += 3;
        a[i + 3] += 4;
    }
    for (; i < n; i++)
        a[i] = 0;
}
static double global_a[40][40], global_b[40][40];
KEEP void globals(void) {
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            global_a[i][j] = global_b[j][i];
}

int main(void) {
    enum { N = 40 };
    double(*x)[N] = calloc(N, sizeof *x), (*y)[N] = calloc(N, sizeof *y),
    (*z)[N] = calloc(N, sizeof *z);
    double *cube = calloc(2 * N * N * N, sizeof *cube), *rows[N];
    int index[N], numbers[N];
    short small[N] = {1, 2};
    float f[2 * N] = {1}, g[2 * N] = {2};
    struct item items[3] = {{&items[1], 1, {0}}, {&items[2], 2, {0, 5, 0}}, {NULL, 3, {0}}};
    unsigned char text[] = "some text", other[sizeof text];
    for (int i = 0; i < N; i++) {
        index[i] = (7 * i) % N;
        numbers[i] = 20 - i;
        rows[i] = x[i];
    }
    triad(x[0], y[0], z[0], 2, N * N);
    backwards(f, g, N);
    x[1][1] = dot(x[0], y[0], N * N) + (double)sum_int(numbers, N);
    gather(x[0], y[0], index, N);
    scatter(x[0], y[0], index, N);
    masked(numbers, index, index, N);
    strided(x[0], N, 5);
    every_third(numbers, N);
    complex_pairs(f, g, N);
    matrix(N, x, y, z);
    triangle(N, x);
    stencil(N, (void *)cube, (void *)(cube + N * N * N));
    tiled(N, x, y);
    recurrence(x[3], N);
    sort(numbers, N);
    copy(other, text);
    clear((char *)other, 3);
    pointers(rows, N, N);
    convert(x[5], small, N);
    unrolled_by_hand(x[6], N - 1);
    globals();
    printf("%g %d %u %d %d %g %ld\n", list_sum(items), find(items, 3, 5), collatz(27), bits(99),
           continues(numbers, N), (double)largest(f, N), count_if(text, sizeof text, 'e'));
    return 0;
}
