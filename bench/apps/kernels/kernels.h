/* What the kernels of this folder share: arrays of constant extents, static or on the heap, and the
   main program.

   -DN=48 is the extent, -DKERNEL=lu the kernel, -DHEAP puts arrays on the heap.  A kernel is three
   functions: start_NAME fills its arrays in loops, run_NAME computes, print_NAME prints sums of the
   result, row by row, in loops.  What a build does not use the compiler drops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HEAP
#define VECTOR(name, n) static double *name
#define MATRIX(name, n, m) static double(*name)[m]
#define CUBE(name, n) static double(*name)[n][n]
#define MAKE_VECTOR(name, n) (name = make(sizeof(double) * (n)))
#define MAKE_MATRIX(name, n, m) (name = make(sizeof(double) * (n) * (m)))
#define MAKE_CUBE(name, n) (name = make(sizeof(double) * (n) * (n) * (n)))
static inline void *make(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(2);
    }
    return memory;
}
#else
#define VECTOR(name, n) static double name[n]
#define MATRIX(name, n, m) static double name[n][m]
#define CUBE(name, n) static double name[n][n][n]
#define MAKE_VECTOR(name, n) (void)name
#define MAKE_MATRIX(name, n, m) (void)name
#define MAKE_CUBE(name, n) (void)name
#endif

/* The most that two indices can agree is seen in sums of a row. */
static inline void print_vector(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * (1 + i % 3);
    printf("%.6e\n", sum);
}
static inline void print_matrix(const double (*a)[N]) {
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += a[i][j] * (1 + (i + j) % 3);
        if (i % 16 == 0)
            printf("%.6e\n", sum);
    }
}

#define JOIN(a, b) a##b
#define CALL(step, kernel) JOIN(step, kernel)()
#define MAIN                                                                                       \
    int main(void) {                                                                               \
        CALL(start_, KERNEL);                                                                      \
        CALL(run_, KERNEL);                                                                        \
        CALL(print_, KERNEL);                                                                      \
        return 0;                                                                                  \
    }
