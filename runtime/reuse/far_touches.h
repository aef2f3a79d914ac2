/* What the walks of a smaller size keep for larger blocks, and tell them (larger/larger.h). */
#ifndef PM_RUNTIME_REUSE_FAR_TOUCHES_H
#define PM_RUNTIME_REUSE_FAR_TOUCHES_H

#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/larger/larger.h"

/* What a touch makes of the blocks of a size that the stack top holds. */
struct pm_top_change {
    uint64_t block, evicted; /* comes; goes.  PM_NO_BLOCK: none */
    uint32_t group, kind;    /* of the touch; enum pm_access − 1 */
};

enum { PM_FRONT_CHANGES = 512 };

/* What a smaller size keeps for the larger ones. */
struct pm_far_touches {
    struct pm_larger *larger; /* the list of them, ascending */
    uint64_t in_least_block;  /* the smallest one's 2^by − 1 */
    uint32_t n;
    struct pm_top_change changes[PM_FRONT_CHANGES];
};

/* All larger sizes of BASE go over its far touches. */
void pm_larger_take(struct pm_reuse *base);

/* BLOCK, which is not in the stack top of BASE, is touched and pushes EVICTED out.  Room is made
   before it is needed: a child of a fork that the runtime does not see has a copy in the midst of
   that. */
static inline void pm_larger_note_far(struct pm_reuse *base, uint64_t block, uint64_t evicted,
                                      uint32_t group, unsigned kind) {
    struct pm_far_touches *far = base->far;
    if (PM_UNLIKELY(far->n == PM_FRONT_CHANGES))
        pm_larger_take(base);
    far->changes[far->n++] = (struct pm_top_change){block, evicted, group, kind};
}

/* N touches are not the first ones of their access of KIND and GROUP. */
void pm_larger_note_continued(struct pm_reuse *base, uint32_t group, unsigned kind, uint64_t n);

/* N of these are of BLOCK: if it begins a larger block, they are its first ones. */
void pm_larger_note_begun(struct pm_reuse *base, uint64_t block, uint32_t group, unsigned kind,
                          uint64_t n);
static inline bool pm_larger_may_begin(const struct pm_reuse *base, uint64_t block) {
    return (block & base->far->in_least_block) == 0;
}

/* Makes room for groups below N_GROUPS; a size without memory fails for good. */
void pm_larger_make_histograms(struct pm_reuse *base, uint32_t n_groups);

/* As if a new thread began. */
void pm_larger_forget_blocks(struct pm_reuse *base);

void pm_larger_free(struct pm_reuse *base);
uint64_t pm_larger_bytes(const struct pm_reuse *base);

#endif
