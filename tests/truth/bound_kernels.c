/* Loop nests whose lower bounds are measured: reductions, updates in place, recurrences, branches
   and addresses that hang on what is loaded, divisions by it.  Prints a checksum of each.

     bound_kernels N REPETITIONS [KERNEL] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noinline, noclone)) static

struct node {
    struct node *next;
    double value;
};

static double *a, *b, *c;
static int *indices, *rows;
static long *integers;
static struct node *nodes;

KERNEL double sum(long n) {
    double s = 0;
    for (long i = 0; i < n; i++)
        s += a[i];
    return s;
}

KERNEL double in_place(long n) {
    for (long i = 0; i < n; i++)
        a[i] = a[i] * 0.999 + b[i];
    return a[n / 2];
}

KERNEL double add_arrays(long n) {
    for (long i = 0; i < n; i++)
        c[i] = a[i] + 0.5 * b[i];
    return c[n - 1];
}

KERNEL double recurrence_1(long n) {
    for (long i = 1; i < n; i++)
        c[i] = c[i - 1] * 0.5 + a[i];
    return c[n - 1];
}

KERNEL double recurrence_2(long n) {
    for (long i = 2; i < n; i++)
        c[i] = c[i - 2] * 0.5 + a[i];
    return c[n - 1];
}

KERNEL double recurrence_4(long n) {
    for (long i = 4; i < n; i++)
        c[i] = c[i - 4] * 0.5 + a[i];
    return c[n - 1];
}

KERNEL double branches(long n) {
    double s = 0;
    for (long i = 0; i < n; i++) {
        if (integers[i] > 500)
            s += b[i] * s;
        else if (integers[i] > 250)
            s -= a[i];
        if (s > 1e6)
            s *= 1e-6;
    }
    return s;
}

KERNEL double sparse_product(long n) {
    for (long row = 0; row < n; row++) {
        double s = 0;
        for (int k = rows[row]; k < rows[row + 1]; k++)
            s += a[k] * b[indices[k]];
        c[row] = s;
    }
    return c[n / 3];
}

KERNEL double divisions(long n) {
    long s = 0;
    for (long i = 0; i < n; i++)
        s += (i + 12345) / integers[i];
    return (double)s;
}

KERNEL double list(long n) {
    double s = 0;
    (void)n;
    for (const struct node *at = nodes; at; at = at->next)
        s += at->value;
    return s;
}

KERNEL double histogram(long n) {
    for (long i = 0; i < n; i++)
        integers[indices[i]]++;
    return (double)integers[n / 2];
}

KERNEL double product(long n) {
    long side = 1;
    while (4 * side * side <= n)
        side *= 2;
    for (long i = 0; i < side; i++)
        for (long j = 0; j < side; j++)
            for (long k = 0; k < side; k++)
                c[i * side + j] += a[i * side + k] * b[k * side + j];
    return c[side];
}

static const struct {
    const char *name;
    double (*run)(long n);
} kernels[] = {
    {"sum", sum},
    {"in_place", in_place},
    {"add_arrays", add_arrays},
    {"recurrence_1", recurrence_1},
    {"recurrence_2", recurrence_2},
    {"recurrence_4", recurrence_4},
    {"branches", branches},
    {"sparse_product", sparse_product},
    {"divisions", divisions},
    {"list", list},
    {"histogram", histogram},
    {"product", product},
};

static void fill(long n) {
    unsigned long state = 1;
    for (long i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        a[i] = 1.0 / (double)(1 + i % 97);
        b[i] = 0.25 + (double)(i % 31) / 64;
        integers[i] = 1 + (long)(state >> 33) % 1000;
        indices[i] = (int)((state >> 20) % (unsigned long)n);
        nodes[i] = (struct node){i + 1 < n ? &nodes[i + 1] : NULL, a[i]};
    }
    for (long row = 0; row <= n; row++)
        rows[row] = (int)(row / 8 * 8);
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000, repetitions = argc > 2 ? atol(argv[2]) : 10;
    a = calloc((size_t)n, sizeof *a);
    b = calloc((size_t)n, sizeof *b);
    c = calloc((size_t)n, sizeof *c);
    integers = calloc((size_t)n, sizeof *integers);
    indices = calloc((size_t)n, sizeof *indices);
    rows = calloc((size_t)n + 1, sizeof *rows);
    nodes = calloc((size_t)n, sizeof *nodes);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        double result = 0;
        if (argc > 3 && strcmp(argv[3], kernels[k].name) != 0)
            continue;
        fill(n);
        for (long i = 0; i < repetitions; i++)
            result += kernels[k].run(n);
        printf("%s %.17g\n", kernels[k].name, result);
    }
    return 0;
}
