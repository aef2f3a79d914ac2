/* Sorting in place: the C library's qsort may allocate. */
#ifndef PM_RUNTIME_SORT_H
#define PM_RUNTIME_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PM_SORT_MOST_BYTES = 64 };

/* What stands at the begin of item I. */
static inline uint64_t pm_sort_key(const char *items, size_t i, size_t size) {
    uint64_t key;
    memcpy(&key, items + i * size, sizeof key);
    return key;
}

/* Moves the item at ROOT of a heap of N, greatest key first, down to where it belongs. */
static inline void pm_sort_sift_down(char *items, size_t root, size_t n, size_t size) {
    char item[PM_SORT_MOST_BYTES];
    memcpy(item, items + root * size, size);
    const uint64_t key = pm_sort_key(item, 0, size);
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        child +=
            child + 1 < n && pm_sort_key(items, child, size) < pm_sort_key(items, child + 1, size);
        if (key >= pm_sort_key(items, child, size))
            break;
        memcpy(items + root * size, items + child * size, size);
    }
    memcpy(items + root * size, item, size);
}

/* Heap sort of N items of SIZE bytes, at most PM_SORT_MOST_BYTES, that begin with a key of 64 bits:
   ascending by it. */
static inline void pm_sort_by_key(void *array, size_t n, size_t size) {
    char *items = array, last[PM_SORT_MOST_BYTES];
    for (size_t i = n / 2; i-- > 0;)
        pm_sort_sift_down(items, i, n, size);
    while (n > 1) {
        n--;
        memcpy(last, items + n * size, size);
        memcpy(items + n * size, items, size);
        memcpy(items, last, size);
        pm_sort_sift_down(items, 0, n, size);
    }
}

#endif
