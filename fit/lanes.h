/* Rows of doubles, four at a time.  Private to fit/.

   A row has a multiple of PM_LANES entries, zero where there is nothing.  Sums are formed in four
   parts, on any CPU in the same order, so that a result does not depend on the CPU. */
#ifndef PM_LANES_H
#define PM_LANES_H

#include <stddef.h>

enum { PM_LANES = 4 };

typedef double pm_lanes
    __attribute__((vector_size(PM_LANES * sizeof(double)), aligned(8), may_alias));
typedef long pm_lanes_mask
    __attribute__((vector_size(PM_LANES * sizeof(long)), aligned(8), may_alias));

/* A function with loops over rows is compiled for AVX2 too, and the CPU decides which one is
   called; what it calls has to be inlined for that.  Nothing but speed depends on it: no operation
   is fused. Not under AddressSanitizer, which is not there yet when that is decided. */
#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__
#define PM_LANES_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PM_LANES_CLONES
#endif
#define PM_LANES_INLINE static inline __attribute__((always_inline))

#define PM_LANES_AT(row, i) (*(pm_lanes *)((row) + (i)))
#define PM_LANES_CONST(row, i) (*(const pm_lanes *)((row) + (i)))

/* The larger one of each pair; B where A is not a number. */
#define PM_LANES_LARGER(a, b)                                                                      \
    ((pm_lanes)((((a) > (b)) & (pm_lanes_mask)(a)) | (~((a) > (b)) & (pm_lanes_mask)(b))))

/* As fmax, without a call; B where A is not a number. */
PM_LANES_INLINE double pm_larger(double a, double b) { return a > b ? a : b; }

/* N rounded up to whole lanes. */
PM_LANES_INLINE size_t pm_lanes_padded(size_t n) {
    return (n + PM_LANES - 1) / PM_LANES * PM_LANES;
}

/* A · B over N entries, N a multiple of PM_LANES. */
PM_LANES_INLINE double pm_lanes_dot(size_t n, const double *a, const double *b) {
    pm_lanes sum = {0};
    for (size_t i = 0; i < n; i += PM_LANES)
        sum += PM_LANES_CONST(a, i) * PM_LANES_CONST(b, i);
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* INTO = FROM + FACTOR · ROW. */
PM_LANES_INLINE void pm_lanes_add(size_t n, const double *from, double factor, const double *row,
                                  double *into) {
    for (size_t i = 0; i < n; i += PM_LANES)
        PM_LANES_AT(into, i) = PM_LANES_CONST(from, i) + factor * PM_LANES_CONST(row, i);
}

#endif
