/* Sorting, and searches in sorted arrays. */
#ifndef PM_SEARCH_H
#define PM_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Lower bound: the first index I in 0 … N − 1 for which IS_BELOW, an expression in I, is false; N
   if it is true of all.  It must be true of none or of the first ones.

       size_t at = PM_LOWER_BOUND(n, i, ranges[i].address < address);
*/
#define PM_LOWER_BOUND(n, i, is_below)                                                             \
    __extension__({                                                                                \
        size_t pm_low_ = 0, pm_high_ = (n);                                                        \
        while (pm_low_ < pm_high_) {                                                               \
            size_t i = pm_low_ + (pm_high_ - pm_low_) / 2;                                         \
            if (is_below)                                                                          \
                pm_low_ = i + 1;                                                                   \
            else                                                                                   \
                pm_high_ = i;                                                                      \
        }                                                                                          \
        pm_low_;                                                                                   \
    })

/* −1, 0 or 1, as qsort wants it, for anything that `<` compares. */
#define PM_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* qsort of the N elements of ARRAY, which may be NULL if there are none. */
#define PM_SORT(array, n, compare)                                                                 \
    do {                                                                                           \
        if ((n) > 1)                                                                               \
            qsort((array), (n), sizeof *(array), (compare));                                       \
    } while (0)

/* For qsort and bsearch over plain arrays, ascending. */
static inline int pm_compare_u32(const void *left, const void *right) {
    return PM_COMPARE(*(const uint32_t *)left, *(const uint32_t *)right);
}
static inline int pm_compare_u64(const void *left, const void *right) {
    return PM_COMPARE(*(const uint64_t *)left, *(const uint64_t *)right);
}
static inline int pm_compare_doubles(const void *left, const void *right) {
    return PM_COMPARE(*(const double *)left, *(const double *)right);
}

/* Makes a set of the N values: ascending, each once.  How many are left. */
static inline size_t pm_make_set(uint64_t *values, size_t n) {
    size_t kept = 0;
    PM_SORT(values, n, pm_compare_u64);
    for (size_t i = 0; i < n; i++)
        if (!kept || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}

#endif
