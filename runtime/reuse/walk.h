/* The walk over a batch of accesses (reuse_state.h).  Included once by each walk_*.c,
   after a stack top (touch.h) and a definition of PM_REUSE_WALK, the name of the function made
   here. */
#include "runtime/reuse/touch.h"

/* Looking ahead, for traces that miss the stack top often and whose slots do not fit into a cache:
   the slot of a block is asked for AHEAD accesses before its touch, the line of its stamp half as
   many before.  Measured on random accesses to 200 MB in 64-byte blocks: 39 instead of 73 ns. */
enum { AHEAD = 16, FAR_OFTEN = 4, MANY_PAGES = 1 << 15 /* 8 MiB of slots */ };

struct lookahead {
    uint64_t slots[AHEAD]; /* of the accesses to come, by ordinal modulo AHEAD; 0 none */
};

static inline void look_ahead(const struct pm_reuse *reuse, struct lookahead *lookahead,
                              const struct pmodel_access *accesses, size_t i, size_t count) {
    uint64_t index = 0;
    if (i + AHEAD < count) {
        index = pm_reuse_slot_number(reuse, accesses[i + AHEAD].address >> reuse->shift);
        __builtin_prefetch(&reuse->slots[index]);
    }
    lookahead->slots[i % AHEAD] = index;
    index = lookahead->slots[(i + AHEAD / 2) % AHEAD];
    uint32_t stamp = reuse->slots[index];
    __builtin_prefetch(&reuse->stamps.bits[stamp >> 6]);
    __builtin_prefetch(&reuse->stamps.per_line[stamp >> 8]);
}

/* ---- where only some blocks are sampled ------------------------------------------------------ */

/* The touches of an access: all are counted, and those of sampled blocks analysed. */
static inline void touch_sampled(struct pm_reuse *reuse, struct stack_top *stack_top,
                                 uint64_t *newest, const struct pmodel_access *access) {
    struct pm_touch_histogram *histogram = &reuse->histograms[access->group];
    unsigned kind = access->kind - 1;
    uint64_t block = access->address >> reuse->shift;
    uint64_t last = (access->address + access->size_bytes - 1) >> reuse->shift;
    for (;; block++) {
        histogram->touches[kind]++;
        if (pm_is_sampled(reuse, block))
            pm_reuse_touch_sampled(reuse, stack_top, newest, block, access->group, kind);
        if (block >= last)
            return;
    }
}

/* Hashes of a run of accesses at once: most accesses are to one block that is not
   sampled, and only counted. */
static void walk_sampled(struct pm_reuse *reuse, const struct pmodel_access *accesses,
                         size_t count) {
    enum { RUN = 64 };
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    uint64_t newest = reuse->stack_top[0];
    const unsigned shift = reuse->shift;
    const uint32_t sample_threshold = reuse->sample_threshold;
    for (size_t from = 0; from < count && !reuse->failed; from += RUN) {
        const struct pmodel_access *run = accesses + from;
        uint64_t blocks[RUN];
        uint32_t hashes[RUN];
        size_t n = count - from < RUN ? count - from : RUN;
        for (size_t i = 0; i < n; i++)
            blocks[i] = run[i].address >> shift;
        for (size_t i = 0; i < n; i++)
            hashes[i] = pm_block_hash(blocks[i]);
        for (size_t i = 0; i < n; i++) {
            uint64_t last = (run[i].address + run[i].size_bytes - 1) >> shift;
            if (PM_LIKELY(hashes[i] > sample_threshold && last <= blocks[i]))
                reuse->histograms[run[i].group].touches[run[i].kind - 1]++;
            else
                touch_sampled(reuse, &stack_top, &newest, &run[i]);
        }
    }
    stack_top_store(&stack_top, reuse->stack_top);
}

/* ---- where all are --------------------------------------------------------------------------- */

void PM_REUSE_WALK(struct pm_reuse *reuse, const struct pmodel_access *accesses, size_t count) {
    if (reuse->subsamples) {
        walk_sampled(reuse, accesses, count);
        return;
    }
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    struct lookahead lookahead = {{0}};
    uint64_t newest = reuse->stack_top[0];
    const unsigned shift = reuse->shift;
    const uint32_t stamps_before = reuse->stamps.next;
    for (size_t i = 0; i < count && PM_LIKELY(!reuse->failed); i++) {
        const struct pmodel_access *access = &accesses[i];
        struct pm_touch_histogram *histogram = &reuse->histograms[access->group];
        unsigned kind = access->kind - 1;
        uint64_t block = access->address >> shift;
        uint64_t last = (access->address + access->size_bytes - 1) >> shift;
        if (reuse->far_often)
            look_ahead(reuse, &lookahead, accesses, i, count);
        for (;; block++) {
            if (block == newest) {
                histogram->stack_top[kind][0]++;
            } else {
                newest = block;
                uint64_t evicted;
                unsigned place = stack_top_touch(&stack_top, block, &evicted);
                if (PM_LIKELY(place < PM_STACK_TOP))
                    histogram->stack_top[kind][place]++;
                else if (!pm_touch_histogram_count_far(
                             histogram, &reuse->arena, kind,
                             pm_reuse_touch_far_here(reuse, block, evicted,
                                                     (struct pm_toucher){access->group, kind})))
                    reuse->failed = true;
            }
            if (PM_LIKELY(block >= last))
                break;
            if (reuse->far)
                pm_reuse_note_continued(reuse, (struct pm_toucher){access->group, kind}, block + 1);
        }
    }
    stack_top_store(&stack_top, reuse->stack_top);
    reuse->far_often =
        reuse->n_pages > MANY_PAGES && reuse->stamps.next - stamps_before > count / FAR_OFTEN;
}
