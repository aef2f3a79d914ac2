/* Reuse distances of intervals (PM_ENV_INTERVAL_MEMORY): what the histograms of a thread rose by in
   an interval (pm_reuse_take_rises), added up for each row.

   Of thousands of groups an interval touches a few, each at a few distances. */
#include <stdlib.h>

#include "core/probe_abi.h"
#include "runtime/analyser/analyser.h"
#include "runtime/thread_intervals/private.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/reuse/reuse.h"
#include "runtime/sort.h"
#include "runtime/system.h"

/* A key: block size, group, and the distance from which on its bin is. */
enum { DISTANCE_BITS = 34, GROUP_BITS = 24, SIZE_SHIFT = DISTANCE_BITS + GROUP_BITS };
#define DISTANCES ((UINT64_C(1) << DISTANCE_BITS) - 1)
#define IS_USED (UINT64_C(1) << 63)

bool pm_intervals_have_memory;

void pm_interval_histograms_begin(void) {
    pm_intervals_have_memory = getenv(PM_ENV_INTERVAL_MEMORY) && pm_n_block_sizes > 0 &&
                               pm_process_handler == &pm_analyser;
}

/* ---- taking ---------------------------------------------------------------------------------- */

struct taking {
    struct pm_interval_bins *bins;
    uint64_t *bytes;
    uint64_t size; /* ordinal of the block size */
    bool ok;
};

static void take_rise(void *context, const struct pm_reuse_rise *rise) {
    struct taking *taking = context;
    uint64_t low = rise->low == PM_COLD     ? DISTANCES
                   : rise->low == PM_BEYOND ? DISTANCES - 1
                                            : rise->low;
    const struct pm_interval_bin bin = {.key = IS_USED | taking->size << SIZE_SHIFT |
                                               (uint64_t)rise->group << DISTANCE_BITS | low,
                                        .loads = rise->loads,
                                        .stores = rise->stores,
                                        .distance_sum = rise->distance_sum};
    taking->ok &= pm_interval_bins_add(taking->bins, &bin, taking->bytes);
}

bool pm_interval_take_histograms(const struct pm_thread *thread, struct pm_interval_rises *rises,
                                 struct pm_interval_bins *bins, uint64_t *bytes) {
    struct taking taking = {.bins = bins, .bytes = bytes, .ok = true};
    for (unsigned size = 0; size < pm_n_block_sizes; size++) {
        const struct pm_reuse *reuse = pm_analyser_result(thread->number, size);
        taking.size = size;
        if (reuse)
            taking.ok &= pm_reuse_take_rises(reuse, &rises->of[size], take_rise, &taking);
    }
    return taking.ok;
}

void pm_interval_rises_free(struct pm_interval_rises *rises) {
    for (unsigned size = 0; size < PM_MAX_BLOCK_SIZES; size++)
        pm_reuse_rises_free(rises->of[size]);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* A row, whose bins are written group by group. */
struct writing {
    struct pm_raw_builder *builder;
    const struct pm_thread *thread;
    struct pm_raw_interval_head head;
    struct pm_raw_bin *whole_bins, *bins;
};

static uint32_t module_of_group(uint32_t *group) {
    for (uint32_t i = 0; i < pm_n_modules; i++)
        if (!pm_modules[i].repeats &&
            *group - pm_modules[i].first_group < pm_modules[i].header.n_groups) {
            *group -= pm_modules[i].first_group;
            return i;
        }
    return UINT32_MAX;
}

static void write_group(const struct writing *writing, const struct pm_reuse *reuse,
                        const struct pm_interval_bin *items, size_t n) {
    struct pm_reuse_result whole, part;
    uint32_t group = (uint32_t)(items->key >> DISTANCE_BITS & ((1u << GROUP_BITS) - 1));
    pm_reuse_result(reuse, group, &whole, writing->whole_bins);
    pm_reuse_part_begin(&whole, &part, writing->bins);
    for (size_t i = 0; i < n; i++) {
        uint64_t low = items[i].key & DISTANCES;
        const struct pm_reuse_rise rise = {.group = group,
                                           .low = low == DISTANCES       ? PM_COLD
                                                  : low == DISTANCES - 1 ? PM_BEYOND
                                                                         : low,
                                           .loads = items[i].loads,
                                           .stores = items[i].stores,
                                           .distance_sum = items[i].distance_sum};
        pm_reuse_part_add(&whole, writing->whole_bins, &rise, &part, writing->bins);
    }
    pm_reuse_part_end(reuse, &whole, writing->whole_bins, &part, writing->bins);
    uint32_t module = module_of_group(&group);
    if (module == UINT32_MAX)
        return;
    pm_raw_section_begin(writing->builder, PM_RAW_INTERVAL_HISTOGRAM);
    pm_raw_add(writing->builder, &writing->head, sizeof writing->head);
    pm_raw_add_histogram(writing->builder, module, writing->thread->number, group,
                         PM_RAW_UNKNOWN_BYTES, &part, writing->bins);
    pm_raw_section_end(writing->builder);
}

static void write_size(struct writing *writing, unsigned size, const struct pm_interval_bin *items,
                       size_t n) {
    const struct pm_reuse *reuse = pm_analyser_result(writing->thread->number, size);
    if (!reuse || n == 0)
        return;
    size_t bytes = pm_reuse_most_bins(reuse) * sizeof(struct pm_raw_bin);
    writing->whole_bins = pm_mmap(bytes);
    writing->bins = pm_mmap(bytes);
    if (!writing->whole_bins || !writing->bins)
        writing->builder->failed = true;
    for (size_t i = 0, end; i < n && !writing->builder->failed; i = end) {
        for (end = i; end < n && items[end].key >> DISTANCE_BITS == items[i].key >> DISTANCE_BITS;)
            end++;
        write_group(writing, reuse, items + i, end - i);
    }
    pm_munmap(writing->whole_bins, bytes);
    pm_munmap(writing->bins, bytes);
}

void pm_interval_bins_write(struct pm_raw_builder *builder, const struct pm_thread *thread,
                            const struct pm_raw_interval_head *head,
                            const struct pm_interval_bins *bins) {
    struct writing writing = {.builder = builder, .thread = thread, .head = *head};
    struct pm_interval_bin *sorted = bins->n ? pm_mmap(bins->n * sizeof *sorted) : NULL;
    size_t n = 0;
    if (bins->n && !sorted)
        builder->failed = true;
    for (uint32_t i = 0; sorted && i < bins->room; i++)
        if (bins->items[i].key)
            sorted[n++] = bins->items[i];
    if (n)
        pm_sort_by_key(sorted, n, sizeof *sorted);
    for (size_t i = 0, end; i < n; i = end) {
        unsigned size = (unsigned)((sorted[i].key & ~IS_USED) >> SIZE_SHIFT);
        for (end = i; end < n && (sorted[end].key & ~IS_USED) >> SIZE_SHIFT == size;)
            end++;
        write_size(&writing, size, sorted + i, end - i);
    }
    pm_munmap(sorted, bins->n * sizeof *sorted);
}
