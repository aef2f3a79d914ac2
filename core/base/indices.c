/* Indices and lists of them; see indices.h. */
#include "core/base/indices.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

uint32_t *pm_alloc_none(size_t n) {
    uint32_t *indices = pm_alloc(n, sizeof *indices);
    memset(indices, 0xff, n * sizeof *indices);
    return indices;
}

struct pm_lists pm_lists_by_key(const uint32_t *keys, const uint32_t *items, size_t n,
                                size_t n_lists) {
    struct pm_lists lists = {.first = pm_alloc(n_lists + 1, sizeof *lists.first)};
    for (size_t i = 0; i < n; i++)
        if (keys[i] != PM_NONE)
            lists.first[keys[i] + 1]++;
    for (size_t k = 0; k < n_lists; k++)
        lists.first[k + 1] += lists.first[k];
    lists.items = pm_alloc(lists.first[n_lists], sizeof *lists.items);
    uint32_t *next = pm_alloc(n_lists + 1, sizeof *next); /* where the next of each list goes */
    memcpy(next, lists.first, (n_lists + 1) * sizeof *next);
    for (size_t i = 0; i < n; i++)
        if (keys[i] != PM_NONE)
            lists.items[next[keys[i]]++] = items ? items[i] : (uint32_t)i;
    free(next);
    return lists;
}

void pm_lists_free(struct pm_lists *lists) {
    free(lists->first);
    free(lists->items);
    *lists = (struct pm_lists){0};
}
