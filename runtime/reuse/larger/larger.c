/* The begin and the end of analyses of larger blocks, and the touches that are counted by their
   number only; see larger.h and reuse_state.h.  The walk over far touches is in larger_walk.h,
   compiled once for each vector extension. */
#include <string.h>

#include "runtime/reuse/larger_size.h"
#include "runtime/system.h"

/* ---- touches that do not begin a larger block -------------------------------------------------
 */

static inline bool begins_block(const struct pm_larger *larger, uint64_t block) {
    return (block & ((1ull << larger->by) - 1)) == 0;
}

void pm_larger_note_continued(struct pm_reuse *base, uint32_t group, unsigned kind, uint64_t n) {
    for (struct pm_larger *larger = base->far->larger; larger; larger = larger->next)
        if (group < larger->n_uncounted)
            larger->uncounted[group].n[kind] += n;
}

void pm_larger_note_begun(struct pm_reuse *base, uint64_t block, uint32_t group, unsigned kind,
                          uint64_t n) {
    for (struct pm_larger *larger = base->far->larger; larger; larger = larger->next)
        if (begins_block(larger, block) && group < larger->n_uncounted)
            larger->uncounted[group].n[kind] -= n;
}

/* ---- far touches ------------------------------------------------------------------------------
 */

void pm_larger_take(struct pm_reuse *base) {
    static pm_larger_walk *const walks[PM_REUSE_N_VARIANTS] = {
        [PM_REUSE_SSE2] = pm_larger_walk_sse2,
        [PM_REUSE_AVX2] = pm_larger_walk_avx2,
        [PM_REUSE_AVX512] = pm_larger_walk_avx512,
    };
    struct pm_far_touches *far = base->far;
    unsigned before = 0;
    bool failed = false; /* what follows is not known either */
    for (struct pm_larger *larger = far->larger; larger; larger = larger->next) {
        far->n = walks[base->variant](larger, far->changes, far->n, larger->by - before);
        before = larger->by;
        failed = larger->reuse->failed |= failed;
    }
    far->n = 0;
}

/* Distances below the stack top's size, in one bin: all touches but the others. */
static void set_near(struct pm_larger *larger, const struct pm_reuse *base, uint32_t group) {
    struct pm_touch_histogram *histogram = &larger->reuse->histograms[group];
    for (unsigned kind = 0; kind < PM_KINDS; kind++) {
        histogram->stack_top[kind][0] = 0;
        histogram->stack_top[kind][0] = pm_touch_histogram_of_kind(&base->histograms[group], kind) -
                                        larger->uncounted[group].n[kind] -
                                        pm_touch_histogram_of_kind(histogram, kind);
    }
}

void pm_larger_flush(struct pm_reuse *base) {
    if (!base->far)
        return;
    pm_larger_take(base);
    for (struct pm_larger *larger = base->far->larger; larger; larger = larger->next) {
        for (uint32_t group = 0; !larger->reuse->failed && group < base->n_groups; group++)
            set_near(larger, base, group);
    }
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void begin_stack_top(struct pm_larger *larger) {
    memset(larger->blocks, 0xff, sizeof larger->blocks);
    memset(larger->holds, 0, sizeof larger->holds);
    larger->n_distinct = 0;
}

/* BLOCKS of a size that is smaller by 2^BY are in the stack top. */
static void set_stack_top(struct pm_larger *larger, const uint64_t *blocks, unsigned by) {
    begin_stack_top(larger);
    for (unsigned i = 0; i < PM_STACK_TOP; i++) {
        unsigned place = 0;
        if (blocks[i] == PM_NO_BLOCK)
            continue;
        while (place < larger->n_distinct && larger->blocks[place] != blocks[i] >> by)
            place++;
        larger->blocks[place] = blocks[i] >> by;
        larger->n_distinct += larger->holds[place]++ == 0;
    }
}

void pm_larger_set_stack_tops(struct pm_reuse *base) {
    const uint64_t *blocks = base->stack_top;
    unsigned before = 0;
    for (struct pm_larger *larger = base->far->larger; larger; larger = larger->next) {
        set_stack_top(larger, blocks, larger->by - before);
        blocks = larger->blocks;
        before = larger->by;
    }
}

static bool make_histograms(struct pm_larger *larger, uint32_t n_groups) {
    const size_t bytes = sizeof *larger->uncounted;
    if (!pm_reuse_make_histograms(larger->reuse, n_groups))
        return false;
    if (n_groups <= larger->n_uncounted)
        return true;
    if (!pm_mgrow(&larger->uncounted, larger->n_uncounted * bytes, n_groups * bytes))
        return false;
    larger->n_uncounted = n_groups;
    return true;
}

void pm_larger_make_histograms(struct pm_reuse *base, uint32_t n_groups) {
    for (struct pm_larger *larger = base->far->larger; larger; larger = larger->next)
        if (!make_histograms(larger, n_groups))
            larger->reuse->failed = true;
}

/* Distances below the stack top's size are not told apart, so that none of them may be beyond. */
static bool choose(struct pm_reuse *reuse, struct pm_reuse_options options) {
    if (options.max_blocks && options.max_blocks < PM_STACK_TOP)
        options.max_blocks = PM_STACK_TOP;
    reuse->near_is_one_bin = true;
    return pm_reuse_choose(reuse, &options);
}

static void free_one(struct pm_larger *larger) {
    pm_reuse_free(larger->reuse);
    pm_munmap(larger->uncounted, larger->n_uncounted * sizeof *larger->uncounted);
    pm_munmap(larger, sizeof *larger);
}

struct pm_larger *pm_larger_new(struct pm_reuse *base, unsigned shift, uint64_t capacity) {
    if (!base->far && !(base->far = pm_mmap(sizeof *base->far)))
        return NULL;
    struct pm_larger *larger = pm_mmap(sizeof *larger);
    if (!larger)
        return NULL;
    larger->by = shift - base->shift;
    larger->reuse = pm_reuse_new(shift, capacity, base->variant);
    if (!larger->reuse || !choose(larger->reuse, base->options) ||
        (base->piece && !pm_piece_make_analysis(larger->reuse)) ||
        !make_histograms(larger, base->n_groups)) {
        free_one(larger);
        return NULL;
    }
    begin_stack_top(larger);
    struct pm_larger **place = &base->far->larger;
    while (*place && (*place)->by < larger->by)
        place = &(*place)->next;
    larger->next = *place;
    *place = larger;
    base->far->in_least_block = (1ull << base->far->larger->by) - 1;
    return larger;
}

const struct pm_reuse *pm_larger_reuse(const struct pm_larger *larger) { return larger->reuse; }

void pm_larger_forget_blocks(struct pm_reuse *base) {
    pm_larger_take(base);
    for (struct pm_larger *larger = base->far->larger; larger; larger = larger->next) {
        begin_stack_top(larger);
        pm_reuse_forget_blocks(larger->reuse);
    }
}

void pm_larger_free(struct pm_reuse *base) {
    for (struct pm_larger *larger = base->far->larger, *next; larger; larger = next) {
        next = larger->next;
        free_one(larger);
    }
    pm_munmap(base->far, sizeof *base->far);
}

uint64_t pm_larger_bytes(const struct pm_reuse *base) {
    uint64_t bytes = sizeof *base->far;
    for (const struct pm_larger *larger = base->far->larger; larger; larger = larger->next)
        bytes += sizeof *larger + pm_reuse_bytes(larger->reuse) +
                 larger->n_uncounted * sizeof *larger->uncounted;
    return bytes;
}
