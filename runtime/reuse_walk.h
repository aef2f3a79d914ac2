/* The hot loop of the reuse distance analysis (reuse_distance.h): a batch of accesses through front
   and time stamps.  Included once by each reuse_front_*.c, which defines before:
     struct front                    the 16 most recent blocks in registers
     front_load, front_store         from and to memory
     front_touch (front, block, &evicted)
                                     brings BLOCK to the front; its place before, or 16 if it was
   not there, and then EVICTED is the block that fell out PM_REUSE_WALK                   name of
   the function defined here */
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

/* A touch of a block that was not in the front. */
static __attribute__((noinline)) void touch_far(struct pm_reuse *reuse,
                                                struct pm_group_histogram *histogram, unsigned kind,
                                                uint64_t block, uint64_t evicted) {
    uint64_t slot;
    uint32_t *stamp = find_stamp(reuse, block, &slot);
    reuse->n_far++;
    if (PM_UNLIKELY(!stamp)) {
        if (!pm_reuse_new_page(reuse, block / PM_SHADOW_PAGE_BLOCKS + 1)) {
            reuse->failed = true;
            return;
        }
        stamp = find_stamp(reuse, block, &slot);
    }
    if (*stamp) {
        uint64_t distance = (uint64_t)PM_REUSE_FRONT + count_after(reuse, *stamp);
        change_stamp(reuse, *stamp, -1);
        if (!pm_group_histogram_add(histogram, &reuse->arena, kind, distance))
            reuse->failed = true;
    } else {
        histogram->cold[kind]++;
        reuse->n_blocks++;
    }
    if (evicted != PM_NO_BLOCK)
        stamp_evicted(reuse, evicted);
}

/* Looking ahead, for traces that miss the front often and whose stamps do not fit into a cache: the
   slot of a block is asked for AHEAD accesses before its touch, the line of its stamp half as many
   before.  Measured on random accesses to 200 MB in 64-byte blocks: 39 instead of 73 ns. */
enum { AHEAD = 16, FAR_OFTEN = 4, MANY_PAGES = 2048 /* 8 MiB of slots */ };

struct lookahead {
    uint64_t slots[AHEAD]; /* of the accesses to come, by ordinal modulo AHEAD; 0: unknown */
};

static inline void look_ahead(const struct pm_reuse *reuse, struct lookahead *lookahead,
                              const struct pmodel_access *accesses, size_t i, size_t count) {
    uint64_t slot = 0;
    if (i + AHEAD < count) {
        const uint32_t *stamp =
            find_stamp(reuse, accesses[i + AHEAD].address >> reuse->shift, &slot);
        if (stamp)
            __builtin_prefetch(stamp);
    }
    lookahead->slots[i % AHEAD] = slot;
    uint32_t stamp = reuse->slots ? reuse->slots[lookahead->slots[(i + AHEAD / 2) % AHEAD]] : 0;
    __builtin_prefetch(&reuse->bits[stamp >> 6]);
    __builtin_prefetch(&reuse->per_line[stamp >> 9]);
}

void PM_REUSE_WALK(struct pm_reuse *reuse, const struct pmodel_access *accesses, size_t count) {
    struct front front = front_load(reuse->front);
    struct lookahead lookahead = {{0}};
    uint64_t newest = reuse->front[0];
    const unsigned shift = reuse->shift;
    const uint64_t far_before = reuse->n_far;
    for (size_t i = 0; i < count && PM_LIKELY(!reuse->failed); i++) {
        const struct pmodel_access *access = &accesses[i];
        struct pm_group_histogram *histogram = &reuse->histograms[access->group];
        unsigned kind = access->kind - 1;
        uint64_t block = access->address >> shift;
        uint64_t last = (access->address + access->size_bytes - 1) >> shift;
        if (reuse->far_often)
            look_ahead(reuse, &lookahead, accesses, i, count);
        for (;; block++) {
            if (block == newest) {
                histogram->front[kind][0]++;
            } else {
                uint64_t evicted;
                unsigned place = front_touch(&front, block, &evicted);
                newest = block;
                if (PM_LIKELY(place < PM_REUSE_FRONT))
                    histogram->front[kind][place]++;
                else
                    touch_far(reuse, histogram, kind, block, evicted);
            }
            if (PM_LIKELY(block >= last))
                break;
        }
    }
    front_store(&front, reuse->front);
    reuse->far_often = reuse->n_pages > MANY_PAGES && reuse->n_far - far_before > count / FAR_OFTEN;
}
