/* Items that name each other by their index in an array, and lists of such indices. */
#ifndef PM_INDICES_H
#define PM_INDICES_H

#include <stddef.h>
#include <stdint.h>

#define PM_NONE UINT32_MAX /* the index of no item */

/* N indices, all PM_NONE; owned by the caller (free). */
uint32_t *pm_alloc_none(size_t n);

/* For each of n_lists keys a list of items, all in one array: those of key k are
   items[first[k]] … items[first[k + 1] − 1]. */
struct pm_lists {
    uint32_t *first, *items; /* owned */
};

/* Puts item i, or ITEMS[i] if ITEMS is not NULL, into the list of KEYS[i], i = 0 … N − 1, in this
   order; none where the key is PM_NONE.  Keys are below N_LISTS. */
struct pm_lists pm_lists_by_key(const uint32_t *keys, const uint32_t *items, size_t n,
                                size_t n_lists);
void pm_lists_free(struct pm_lists *lists); /* what it owns; leaves it empty */

#endif
