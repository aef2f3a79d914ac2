/* SIMD: rows of doubles, four at a time.

   A row has a multiple of PM_VECTOR_WIDTH entries, zero where there is nothing.  Sums are formed in
   four parts, on any CPU in the same order, so that a result does not depend on the CPU. */
#ifndef PM_FIT_VECTORS_H
#define PM_FIT_VECTORS_H

#include <stddef.h>

enum { PM_VECTOR_WIDTH = 4 };

typedef double pm_vector
    __attribute__((vector_size(PM_VECTOR_WIDTH * sizeof(double)), aligned(8), may_alias));
typedef long pm_vector_mask
    __attribute__((vector_size(PM_VECTOR_WIDTH * sizeof(long)), aligned(8), may_alias));

/* A function with loops over rows is compiled for AVX2 too, and the CPU decides which one is
   called; what it calls has to be inlined for that.  Nothing but speed depends on it: no operation
   is fused. Not under AddressSanitizer, which is not there yet when that is decided. */
#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__
#define PM_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PM_VECTOR_CLONES
#endif
#define PM_VECTOR_INLINE static inline __attribute__((always_inline))

#define PM_VECTOR_AT(row, i) (*(pm_vector *)((row) + (i)))
#define PM_VECTOR_CONST(row, i) (*(const pm_vector *)((row) + (i)))

/* The larger one of each pair; B where A is not a number. */
#define PM_VECTOR_LARGER(a, b)                                                                     \
    ((pm_vector)((((a) > (b)) & (pm_vector_mask)(a)) | (~((a) > (b)) & (pm_vector_mask)(b))))

/* As fmax, without a call; B where A is not a number. */
PM_VECTOR_INLINE double pm_larger(double a, double b) { return a > b ? a : b; }

/* N rounded up to whole vectors. */
PM_VECTOR_INLINE size_t pm_vector_padded(size_t n) {
    return (n + PM_VECTOR_WIDTH - 1) / PM_VECTOR_WIDTH * PM_VECTOR_WIDTH;
}

/* A · B over N entries, N a multiple of PM_VECTOR_WIDTH. */
PM_VECTOR_INLINE double pm_vector_dot(size_t n, const double *a, const double *b) {
    pm_vector sum = {0};
    for (size_t i = 0; i < n; i += PM_VECTOR_WIDTH)
        sum += PM_VECTOR_CONST(a, i) * PM_VECTOR_CONST(b, i);
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* INTO = FROM + FACTOR · ROW. */
PM_VECTOR_INLINE void pm_vector_add(size_t n, const double *from, double factor, const double *row,
                                    double *into) {
    for (size_t i = 0; i < n; i += PM_VECTOR_WIDTH)
        PM_VECTOR_AT(into, i) = PM_VECTOR_CONST(from, i) + factor * PM_VECTOR_CONST(row, i);
}

#endif
