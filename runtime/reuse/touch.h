/* One touch of a block: what it costs to know its reuse distance (reuse.h), and nothing of
   what is counted with it.  For walks that are compiled once for each vector extension: such a file
   first includes one of stack_top_*.h, which defines
     struct stack_top                    the 16 most recent blocks in registers
     stack_top_load, stack_top_store         from and to reuse->stack top
     stack_top_find (stack_top, block)       bit i set: BLOCK has place i; at most one is
     stack_top_touch (stack_top, block, &evicted)
                                     brings BLOCK to the front; its place before, which is its
                                     distance; or 16 if it was not there, and then EVICTED is the
                                     block that fell out */
#ifndef PM_RUNTIME_REUSE_TOUCH_H
#define PM_RUNTIME_REUSE_TOUCH_H

#include "runtime/reuse/far_touches.h"
#include "runtime/reuse/shadow.h"
#include "runtime/reuse/stamps.h"
#include "runtime/system.h"

/* Larger blocks: an access of TOUCHER goes on in BLOCK. */
static inline void pm_reuse_note_continued(struct pm_reuse *reuse, struct pm_toucher toucher,
                                           uint64_t block) {
    pm_larger_note_continued(reuse, toucher.group, toucher.kind, 1);
    if (pm_larger_may_begin(reuse, block))
        pm_larger_note_begun(reuse, block, toucher.group, toucher.kind, 1);
}

/* TOUCHER touches BLOCK, which has this slot and is not in the stack top, and takes EVICTED out of
   it (PM_NO_BLOCK: none).  The number of distinct other blocks since BLOCK's last touch, PM_COLD or
   PM_BEYOND.  Without memory reuse->failed is set and the result means nothing. */
static inline __attribute__((always_inline)) uint64_t
pm_reuse_touch_slot(struct pm_reuse *reuse, uint64_t slot, uint64_t block, uint64_t evicted,
                    struct pm_toucher toucher) {
    uint64_t distance;
    if (reuse->far)
        pm_larger_note_far(reuse, block, evicted, toucher.group, toucher.kind);
    uint32_t stamp = reuse->slots[slot];
    if (PM_LIKELY(stamp >= PM_FIRST_STAMP)) {
        distance = (uint64_t)PM_STACK_TOP + pm_stamp_take_back(&reuse->stamps, stamp);
        if (PM_UNLIKELY(reuse->sequential != NULL)) /* which spares it a look at the bitmap */
            reuse->slots[slot] = PM_SLOT_FRONT;
        if (PM_UNLIKELY(distance >= reuse->bound))
            distance = PM_BEYOND;
    } else {
        distance = pm_reuse_touch_unstamped(reuse, block, toucher);
    }
    if (PM_UNLIKELY(reuse->sequential != NULL))
        pm_sequential_note(reuse, block, distance, toucher);
    if (PM_UNLIKELY(evicted == PM_NO_BLOCK)) /* only where BLOCK had no stamp */
        return distance;
    pm_stamp_give_out(&reuse->stamps);
    uint32_t next = reuse->stamps.next;
    *pm_reuse_slot(reuse, evicted) = next - 1;
    if (PM_UNLIKELY(next == reuse->stamps.capacity))
        pm_reuse_compact(reuse);
    return distance;
}

/* The same of any block that is not in the stack top. */
static inline __attribute__((always_inline)) uint64_t
pm_reuse_touch_far_here(struct pm_reuse *reuse, uint64_t block, uint64_t evicted,
                        struct pm_toucher toucher) {
    return pm_reuse_touch_slot(reuse, pm_reuse_slot_number(reuse, block), block, evicted, toucher);
}

/* The same; at several places of a walk better a call than the whole code. */
static inline uint64_t pm_reuse_touch_far(struct pm_reuse *reuse, uint64_t block, uint64_t evicted,
                                          struct pm_toucher toucher) {
    return pm_reuse_touch_far_here(reuse, block, evicted, toucher);
}

/* TOUCHER touches BLOCK: its reuse distance, PM_COLD or PM_BEYOND.  STACK_TOP is reuse->stack top
   in registers (stack_top_load, stack_top_store around a walk). */
static inline uint64_t pm_reuse_touch(struct pm_reuse *reuse, struct stack_top *stack_top,
                                      uint64_t block, struct pm_toucher toucher) {
    uint64_t evicted;
    unsigned place = stack_top_touch(stack_top, block, &evicted);
    return PM_LIKELY(place < PM_STACK_TOP) ? place
                                           : pm_reuse_touch_far(reuse, block, evicted, toucher);
}

/* Touches the sampled BLOCK by an access of KIND (enum pm_access − 1) and GROUP, and counts it.
   NEWEST is the block touched before. */
static inline void pm_reuse_touch_sampled(struct pm_reuse *reuse, struct stack_top *stack_top,
                                          uint64_t *newest, uint64_t block, uint32_t group,
                                          unsigned kind) {
    struct pm_touch_histogram *histogram = &reuse->histograms[group];
    if (block == *newest) {
        histogram->stack_top[kind][0]++;
        return;
    }
    *newest = block;
    uint64_t distance = pm_reuse_touch(reuse, stack_top, block, (struct pm_toucher){group, kind});
    pm_reuse_note_sample(reuse, block, distance);
    if (!pm_touch_histogram_count(histogram, &reuse->arena, kind, distance))
        reuse->failed = true;
}

#endif
