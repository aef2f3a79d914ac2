/* What the files of this folder share; see dirty_distances.h. */
#ifndef PM_RUNTIME_WRITE_BACKS_PRIVATE_H
#define PM_RUNTIME_WRITE_BACKS_PRIVATE_H

#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/dirty_distances/dirty_distances.h"

enum { PM_DIRTY_PAGE_SHIFT = 9 };

struct pm_write_backs {
    struct pm_reuse *reuse; /* owned */
    bool failed;            /* out of memory: nothing is analysed any more */
    struct pm_page_table pages;
    struct pm_touch_histogram *dirty; /* [n_dirty], by group: stores by dirty distance */
    uint32_t n_dirty;
};

/* The word of BLOCK; NULL: no memory. */
static inline uint64_t *pm_dirty_word(struct pm_write_backs *write_backs, uint64_t block) {
    const uint64_t n_words = UINT64_C(1) << PM_DIRTY_PAGE_SHIFT;
    uint64_t *words = pm_page_table_find(&write_backs->pages, (block >> PM_DIRTY_PAGE_SHIFT) + 1,
                                         (size_t)n_words);
    return PM_LIKELY(words) ? &words[block & (n_words - 1)] : NULL;
}

/* The walk over a batch, for each vector extension (dirty_walk.h). */
typedef void pm_write_backs_walk(struct pm_write_backs *write_backs,
                                 const struct pmodel_access *accesses, size_t count);
pm_write_backs_walk pm_write_backs_walk_sse2, pm_write_backs_walk_avx2, pm_write_backs_walk_avx512;

#endif
