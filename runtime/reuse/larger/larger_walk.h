/* The walk over changes of the stack top (larger.h, reuse_state.h).  Included once by each
   larger_walk_*.c, after a stack top (reuse/touch.h), and definitions of PM_LARGER_WALK, the name
   of the function made here, and of stack_top_set (stack_top, place, block)   BLOCK is at PLACE */
#include "runtime/reuse/larger_size.h"
#include "runtime/reuse/shadow.h"
#include "runtime/reuse/stamps.h"

/* TOUCHER touches X, which holds no block of the stack top: its distance, PM_COLD or PM_BEYOND.  It
   has no stamp any more. */
static inline uint64_t touch_outside(struct pm_larger *larger, uint64_t block,
                                     struct pm_toucher toucher) {
    struct pm_reuse *reuse = larger->reuse;
    uint32_t stamp = *pm_reuse_slot(reuse, block);
    if (PM_UNLIKELY(stamp < PM_FIRST_STAMP))
        return pm_reuse_touch_unstamped(reuse, block, toucher);
    uint64_t distance = larger->n_distinct + (uint64_t)pm_stamp_take_back(&reuse->stamps, stamp);
    return PM_LIKELY(distance < reuse->bound) ? distance : PM_BEYOND;
}

static inline void give_stamp(struct pm_reuse *reuse, uint64_t block) {
    *pm_reuse_slot(reuse, block) = reuse->stamps.next;
    pm_stamp_give_out(&reuse->stamps);
    if (PM_UNLIKELY(reuse->stamps.next == reuse->stamps.capacity))
        pm_reuse_compact(reuse);
}

/* Looking ahead where slots do not fit a cache (reuse/walk.h). */
static inline void look_ahead(const struct pm_reuse *reuse, const struct pm_top_change *change,
                              unsigned by) {
    if (change->block != PM_NO_BLOCK)
        __builtin_prefetch(&reuse->slots[pm_reuse_slot_number(reuse, change->block >> by)]);
}

/* The block of this size that holds BLOCK of the smaller one. */
static inline uint64_t outer_block(uint64_t block, unsigned by) {
    return block == PM_NO_BLOCK ? PM_NO_BLOCK : block >> by;
}

uint32_t PM_LARGER_WALK(struct pm_larger *larger, struct pm_top_change *changes, uint32_t count,
                        unsigned by) {
    enum { AHEAD = 8, MANY_PAGES = 1 << 15 /* 8 MiB of slots */ };
    struct pm_reuse *reuse = larger->reuse;
    struct stack_top stack_top = stack_top_load(larger->blocks);
    const bool is_large = reuse->n_pages > MANY_PAGES;
    uint32_t n_changes = 0;
    for (uint32_t i = 0; i < count && PM_LIKELY(!reuse->failed); i++) {
        const struct pm_top_change change = changes[i];
        uint64_t comes = outer_block(change.block, by), goes = outer_block(change.evicted, by);
        if (is_large && i + AHEAD < count)
            look_ahead(reuse, &changes[i + AHEAD], by);
        if (comes == goes)
            continue;
        uint32_t there = comes == PM_NO_BLOCK ? 0 : stack_top_find(&stack_top, comes);
        if (there) {
            larger->holds[__builtin_ctz(there)]++;
            comes = PM_NO_BLOCK;
        } else if (comes != PM_NO_BLOCK) {
            uint64_t distance =
                touch_outside(larger, comes, (struct pm_toucher){change.group, change.kind});
            if (distance >= PM_STACK_TOP &&
                !pm_touch_histogram_count_far(&reuse->histograms[change.group], &reuse->arena,
                                              change.kind, distance))
                reuse->failed = true;
        }
        uint32_t places = 0;
        if (goes != PM_NO_BLOCK) {
            places = stack_top_find(&stack_top, goes);
            if (places && --larger->holds[__builtin_ctz(places)])
                goes = PM_NO_BLOCK;
        }
        if (comes == PM_NO_BLOCK && goes == PM_NO_BLOCK)
            continue;
        if (goes == PM_NO_BLOCK)
            places = stack_top_find(&stack_top, PM_NO_BLOCK);
        else
            give_stamp(reuse, goes);
        if (PM_UNLIKELY(!places)) { /* only where a copy was made in the midst of a walk */
            reuse->failed = true;
            break;
        }
        const unsigned place = (unsigned)__builtin_ctz(places);
        stack_top_set(&stack_top, place, comes);
        if (comes != PM_NO_BLOCK)
            larger->holds[place] = 1;
        larger->n_distinct += (comes != PM_NO_BLOCK) - (uint32_t)(goes != PM_NO_BLOCK);
        changes[n_changes++] = (struct pm_top_change){comes, goes, change.group, change.kind};
    }
    stack_top_store(&stack_top, larger->blocks);
    return n_changes;
}
