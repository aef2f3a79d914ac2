/* OpenMP: loops, reductions, sections, tasks, single, critical, simd, collapse, schedules. */
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noipa, used))

KEEP void scale(double *a, long n) {
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        a[i] *= 2;
}
KEEP double sum(const double *a, long n) {
    double s = 0;
#pragma omp parallel for reduction(+ : s) schedule(dynamic, 16)
    for (long i = 0; i < n; i++)
        s += a[i];
    return s;
}
KEEP void nest(int n, double a[n][n], double b[n][n]) {
#pragma omp parallel for collapse(2) schedule(guided)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = b[j][i] + 1;
}
KEEP void vectors(float *a, const float *b, int n) {
#pragma omp simd safelen(8)
    for (int i = 0; i < n; i++)
        a[i] = b[i] + a[i];
}
KEEP void parallel_vectors(float *a, const float *b, int n) {
#pragma omp parallel for simd
    for (int i = 0; i < n; i++)
        a[i] = b[i] * b[i];
}
KEEP int parts(int k) {
    int x = 0, y = 0, z = 0;
#pragma omp parallel sections
    {
#pragma omp section
        x = k * 3;
#pragma omp section
        for (int i = 0; i < k; i++)
            y += i;
#pragma omp section
        z = k ? 100 / k : 0;
    }
    return x + y + z;
}
KEEP long fibonacci(int n) {
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}
KEEP long tasks(int n) {
    long r = 0;
#pragma omp parallel
#pragma omp single
    r = fibonacci(n);
    return r;
}
KEEP long guarded(int n) {
    long total = 0, many = 0;
#pragma omp parallel
    {
        long own = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            switch (i % 6) {
            case 0:
                own += 3;
                break;
            case 1:
                own -= i;
                break;
            case 2:
                own ^= 5;
                break;
            case 3:
                own *= 3;
                break;
            case 4:
                own |= 8;
                break;
            case 5:
                own++;
                break;
            }
#pragma omp critical
        total += own;
#pragma omp atomic
        many++;
#pragma omp barrier
#pragma omp master
        total += many > 0;
    }
    return total;
}
KEEP void ordered(int n, double *a) {
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 1; i < n; i++) {
#pragma omp ordered
        a[i] += a[i - 1];
    }
}
KEEP void loops_of_tasks(int n, double *a) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(8)
    for (int i = 0; i < n; i++)
        a[i] = i;
}

int main(void) {
    enum { N = 32 };
    double(*a)[N] = calloc(N, sizeof *a), (*b)[N] = calloc(N, sizeof *b);
    float f[N] = {1}, g[N] = {2};
    scale(a[0], N);
    nest(N, a, b);
    vectors(f, g, N);
    parallel_vectors(f, g, N);
    ordered(N, a[1]);
    loops_of_tasks(N, a[2]);
    printf("%g %d %ld %d\n", sum(a[0], N * N), parts(4), tasks(7), guarded(60) != 0);
    return 0;
}
