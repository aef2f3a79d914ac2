/* One touch of a block: what it costs to know its reuse distance (reuse_distance.h), and nothing of
   what is counted with it.  For walks that are compiled once for each vector extension: such a file
   first includes one of reuse_front_*.h, which defines
     struct front                    the 16 most recent blocks in registers
     front_load, front_store         from and to reuse->front
     front_touch (front, block, &evicted)
                                     brings BLOCK to the front; its place before, which is its
                                     distance; or 16 if it was not there, and then EVICTED is the
                                     block that fell out */
#ifndef PM_RUNTIME_REUSE_TOUCH_H
#define PM_RUNTIME_REUSE_TOUCH_H

#include "runtime/reuse_distance.h"
#include "runtime/system.h"

/* Lanes after lane k of a vector of n: &after[n − 1 − k], n lanes. */
static const uint64_t after_of_8[16] = {[8 ... 15] = UINT64_MAX};
static const uint16_t after_of_32_short[64] = {[32 ... 63] = UINT16_MAX};
static const uint32_t after_of_32[64] = {[32 ... 63] = UINT32_MAX};

/* The stamp of BLOCK's slot, NULL if it has no slot yet. */
static inline uint32_t *find_stamp(const struct pm_reuse *reuse, uint64_t block, uint64_t *slot) {
    uint64_t key = block / PM_SHADOW_PAGE_BLOCKS + 1;
    uint64_t index = pm_shadow_hash(key) & reuse->page_mask;
    while (reuse->pages[index].key != key) {
        if (reuse->pages[index].key == 0)
            return NULL;
        index = (index + 1) & reuse->page_mask;
    }
    *slot = reuse->pages[index].first_slot + block % PM_SHADOW_PAGE_BLOCKS;
    return &reuse->slots[*slot];
}

/* Bits after STAMP in its line of 512. */
static inline uint32_t count_in_line(const struct pm_reuse *reuse, uint32_t stamp) {
    const uint64_t *line = &reuse->bits[(stamp >> 9) * 8];
    const uint64_t *after = &after_of_8[7 - ((stamp >> 6) & 7)];
    uint32_t count =
        (uint32_t)__builtin_popcountll(reuse->bits[stamp >> 6] & (~0ull << (stamp & 63))) - 1;
    for (unsigned i = 0; i < 8; i++)
        count += (uint32_t)__builtin_popcountll(line[i] & after[i]);
    return count;
}

/* Sum of the counts after INDEX in its node of 32; COUNTS of a node sum to less than 2^16. */
static inline uint32_t sum_short_node(const uint16_t *counts, uint32_t index) {
    const uint16_t *node = counts + (index & ~31u), *after = &after_of_32_short[31 - (index & 31)];
    uint16_t sum = 0;
    for (unsigned i = 0; i < 32; i++)
        sum = (uint16_t)(sum + (node[i] & after[i]));
    return sum;
}

static inline uint32_t sum_node(const uint32_t *counts, uint32_t index) {
    const uint32_t *node = counts + (index & ~31u), *after = &after_of_32[31 - (index & 31)];
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i++)
        sum += node[i] & after[i];
    return sum;
}

/* Stamps in use after STAMP. */
static inline uint32_t count_after(const struct pm_reuse *reuse, uint32_t stamp) {
    uint32_t newest = reuse->next_stamp;
    uint32_t count = count_in_line(reuse, stamp);
    if (stamp >> 9 == newest >> 9)
        return count;
    count += sum_short_node(reuse->per_line, stamp >> 9);
    if (stamp >> 14 == newest >> 14)
        return count;
    count += sum_node(reuse->per_14, stamp >> 14);
    if (stamp >> 19 == newest >> 19)
        return count;
    count += sum_node(reuse->per_19, stamp >> 19);
    for (uint32_t i = (stamp >> 24) + 1; i <= newest >> 24; i++)
        count += reuse->per_24[i];
    return count;
}

static inline void change_stamp(struct pm_reuse *reuse, uint32_t stamp, int by) {
    reuse->bits[stamp >> 6] ^= 1ull << (stamp & 63);
    reuse->per_line[stamp >> 9] = (uint16_t)(reuse->per_line[stamp >> 9] + by);
    reuse->per_14[stamp >> 14] += (uint32_t)by;
    reuse->per_19[stamp >> 19] += (uint32_t)by;
    reuse->per_24[stamp >> 24] += (uint32_t)by;
}

/* EVICTED was in the front, so it has a slot. */
static inline void stamp_evicted(struct pm_reuse *reuse, uint64_t evicted) {
    uint64_t slot;
    uint32_t *stamp = find_stamp(reuse, evicted, &slot);
    uint32_t next = reuse->next_stamp++;
    *stamp = next;
    reuse->owner[next] = (uint32_t)slot;
    change_stamp(reuse, next, 1);
    if (PM_UNLIKELY(reuse->next_stamp == reuse->capacity))
        pm_reuse_compact(reuse);
}

/* Touches BLOCK, which is not in the front, and takes EVICTED out of it (PM_NO_BLOCK: none).  The
   number of distinct other blocks since BLOCK's last touch, or PM_COLD.  Without memory
   reuse->failed is set and the result means nothing. */
static __attribute__((noinline, unused)) uint64_t
pm_reuse_touch_far(struct pm_reuse *reuse, uint64_t block, uint64_t evicted) {
    uint64_t slot, distance = PM_COLD;
    uint32_t *stamp = find_stamp(reuse, block, &slot);
    reuse->n_far++;
    if (PM_UNLIKELY(!stamp)) {
        if (!pm_reuse_new_page(reuse, block / PM_SHADOW_PAGE_BLOCKS + 1)) {
            reuse->failed = true;
            return PM_COLD;
        }
        stamp = find_stamp(reuse, block, &slot);
    }
    if (*stamp) {
        distance = (uint64_t)PM_REUSE_FRONT + count_after(reuse, *stamp);
        change_stamp(reuse, *stamp, -1);
    } else {
        reuse->n_blocks++;
    }
    if (evicted != PM_NO_BLOCK)
        stamp_evicted(reuse, evicted);
    return distance;
}

/* Touches BLOCK: its reuse distance, or PM_COLD.  FRONT is reuse->front in registers
   (front_load, front_store around a walk). */
static inline uint64_t pm_reuse_touch(struct pm_reuse *reuse, struct front *front, uint64_t block) {
    uint64_t evicted;
    unsigned place = front_touch(front, block, &evicted);
    return PM_LIKELY(place < PM_REUSE_FRONT) ? place : pm_reuse_touch_far(reuse, block, evicted);
}

#endif
