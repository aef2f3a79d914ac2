/* The walk over far touches (larger.h, state.h).  Included once by each walk_*.c, after a front
   (reuse/touch.h), and definitions of PM_LARGER_WALK, the name of the function made here, and of
     front_set (front, place, block)   BLOCK is at PLACE */
#include "runtime/reuse/larger/state.h"
#include "runtime/reuse/shadow.h"
#include "runtime/reuse/stamps.h"

/* X, which holds no block of the front, is touched: its distance, PM_COLD or PM_BEYOND.  It has no
   stamp any more. */
static inline uint64_t touch_outside(struct pm_larger *larger, uint64_t block) {
    struct pm_reuse *reuse = larger->reuse;
    uint32_t stamp = *pm_reuse_slot(reuse, block);
    if (PM_UNLIKELY(stamp < PM_FIRST_STAMP))
        return pm_reuse_touch_unstamped(reuse, block);
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
static inline void look_ahead(const struct pm_larger *larger, const struct pm_far_touch *touch) {
    const struct pm_reuse *reuse = larger->reuse;
    __builtin_prefetch(&reuse->slots[pm_reuse_slot_number(reuse, touch->block >> larger->by)]);
}

void PM_LARGER_WALK(struct pm_larger *larger, const struct pm_far_touch *touches, uint32_t count) {
    enum { AHEAD = 8, MANY_PAGES = 1 << 15 /* 8 MiB of slots */ };
    struct pm_reuse *reuse = larger->reuse;
    struct front front = front_load(larger->blocks);
    const bool is_large = reuse->n_pages > MANY_PAGES;
    for (uint32_t i = 0; i < count && PM_LIKELY(!reuse->failed); i++) {
        const struct pm_far_touch *touch = &touches[i];
        uint64_t block = touch->block >> larger->by, evicted = touch->evicted;
        if (evicted != PM_NO_BLOCK)
            evicted >>= larger->by;
        if (is_large && i + AHEAD < count)
            look_ahead(larger, touch + AHEAD);
        if (block == evicted)
            continue;
        const bool is_inside = front_find(&front, block) != 0;
        if (!is_inside) {
            uint64_t distance = touch_outside(larger, block);
            if (distance >= PM_REUSE_FRONT &&
                !pm_touch_histogram_count_far(&reuse->histograms[touch->group], &reuse->arena,
                                              touch->kind, distance))
                reuse->failed = true;
        }
        uint32_t places = front_find(&front, evicted);
        front_set(&front, (unsigned)__builtin_ctz(places), block);
        larger->n_distinct += !is_inside;
        if ((places & (places - 1)) == 0 && evicted != PM_NO_BLOCK) {
            larger->n_distinct--;
            give_stamp(reuse, evicted);
        }
    }
    front_store(&front, larger->blocks);
}
