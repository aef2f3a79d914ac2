/* Stores by dirty distance; see dirty_distances.h.  The walk over a batch is in dirty_walk.h,
   compiled once for each vector extension. */
#include "runtime/reuse/dirty_distances/private.h"

#include <string.h>

#include "runtime/system.h"

struct pm_write_backs *pm_write_backs_new(unsigned shift, uint64_t capacity,
                                          enum pm_reuse_variant variant) {
    struct pm_write_backs *write_backs = pm_mmap(sizeof *write_backs);
    if (!write_backs)
        return NULL;
    write_backs->reuse = pm_reuse_new(shift, capacity, variant);
    if (pm_page_table_begin(&write_backs->pages) && write_backs->reuse)
        return write_backs;
    pm_write_backs_free(write_backs);
    return NULL;
}

void pm_write_backs_free(struct pm_write_backs *write_backs) {
    if (!write_backs)
        return;
    for (uint32_t group = 0; group < write_backs->n_dirty; group++)
        pm_touch_histogram_free(&write_backs->dirty[group]);
    pm_munmap(write_backs->dirty, write_backs->n_dirty * sizeof *write_backs->dirty);
    pm_page_table_free(&write_backs->pages);
    pm_reuse_free(write_backs->reuse);
    pm_munmap(write_backs, sizeof *write_backs);
}

static bool make_histograms(struct pm_write_backs *write_backs, uint32_t n_groups) {
    const size_t bytes = sizeof *write_backs->dirty;
    if (!pm_reuse_make_histograms(write_backs->reuse, n_groups))
        return false;
    if (n_groups <= write_backs->n_dirty)
        return true;
    if (!pm_mgrow(&write_backs->dirty, write_backs->n_dirty * bytes, n_groups * bytes))
        return false;
    write_backs->n_dirty = n_groups;
    return true;
}

void pm_write_backs_accesses(struct pm_write_backs *write_backs, uint32_t n_groups,
                             const struct pmodel_access *accesses, size_t count) {
    static pm_write_backs_walk *const walks[PM_REUSE_N_VARIANTS] = {
        [PM_REUSE_SSE2] = pm_write_backs_walk_sse2,
        [PM_REUSE_AVX2] = pm_write_backs_walk_avx2,
        [PM_REUSE_AVX512] = pm_write_backs_walk_avx512,
    };
    if (!make_histograms(write_backs, n_groups))
        write_backs->failed = true;
    if (!write_backs->failed)
        walks[write_backs->reuse->variant](write_backs, accesses, count);
}

void pm_write_backs_forget_blocks(struct pm_write_backs *write_backs) {
    pm_reuse_forget_blocks(write_backs->reuse);
    pm_page_table_clear(&write_backs->pages);
}

bool pm_write_backs_failed(const struct pm_write_backs *write_backs) {
    return write_backs->failed || pm_reuse_has_failed(write_backs->reuse);
}

struct pm_reuse *pm_write_backs_reuse(const struct pm_write_backs *write_backs) {
    return write_backs->reuse;
}

void pm_write_backs_result(const struct pm_write_backs *write_backs, uint32_t group,
                           struct pm_reuse_result *result, struct pm_raw_bin *bins) {
    static const struct pm_touch_histogram none;
    pm_reuse_result_of(write_backs->reuse,
                       group < write_backs->n_dirty ? &write_backs->dirty[group] : &none, result,
                       bins);
}
