/* The walk over a batch of accesses (reuse_distance.h).  Included once by each reuse_walk_*.c,
   after a front (reuse_touch.h) and a definition of PM_REUSE_WALK, the name of the function made
   here. */
#include "runtime/reuse_touch.h"

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
                newest = block;
                uint64_t distance = pm_reuse_touch(reuse, &front, block);
                if (!pm_group_histogram_count(histogram, &reuse->arena, kind, distance))
                    reuse->failed = true;
            }
            if (PM_LIKELY(block >= last))
                break;
        }
    }
    front_store(&front, reuse->front);
    reuse->far_often = reuse->n_pages > MANY_PAGES && reuse->n_far - far_before > count / FAR_OFTEN;
}
