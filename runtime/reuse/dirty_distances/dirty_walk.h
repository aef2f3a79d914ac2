/* The walk over a batch of accesses (dirty_distances.h).  Included once by each dirty_walk_*.c,
   after a stack top (reuse/touch.h) and a definition of PM_WRITE_BACKS_WALK, the name of the
   function made here. */
#include "core/access.h"
#include "runtime/reuse/touch.h"
#include "runtime/reuse/dirty_distances/private.h"

/* A touch of the block of WORD at DISTANCE; KIND: enum pm_access − 1.  A first touch finds 0 in
   WORD. */
static inline bool take_touch(struct pm_write_backs *write_backs, uint64_t *word, uint32_t group,
                              unsigned kind, uint64_t distance) {
    enum { LOAD = 0, STORE = 1 };
    uint64_t largest = PM_COLD;
    if (*word) {
        largest = distance > *word - 1 ? distance : *word - 1;
        *word = largest + 1;
    }
    if (kind == LOAD)
        return true;
    *word = 1;
    return pm_touch_histogram_count(&write_backs->dirty[group], &write_backs->reuse->arena, STORE,
                                    largest);
}

void PM_WRITE_BACKS_WALK(struct pm_write_backs *write_backs, const struct pmodel_access *accesses,
                         size_t count) {
    struct pm_reuse *reuse = write_backs->reuse;
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    const unsigned shift = reuse->shift;
    uint64_t newest = PM_NO_BLOCK, *word = NULL;
    for (size_t i = 0; i < count && PM_LIKELY(!write_backs->failed); i++) {
        const struct pmodel_access *access = &accesses[i];
        const unsigned kind = access->kind - 1;
        const uint64_t end = (access->address + access->size_bytes - 1) >> shift;
        for (uint64_t block = access->address >> shift;; block++) {
            uint64_t distance = 0;
            if (block != newest) {
                newest = block;
                word = pm_dirty_word(write_backs, block);
                if (PM_UNLIKELY(!word)) {
                    write_backs->failed = true;
                    break;
                }
                distance = pm_reuse_touch(reuse, &stack_top, block,
                                          (struct pm_toucher){access->group, kind});
            }
            if (PM_UNLIKELY(!pm_touch_histogram_count(&reuse->histograms[access->group],
                                                      &reuse->arena, kind, distance) ||
                            !take_touch(write_backs, word, access->group, kind, distance)))
                write_backs->failed = true;
            if (PM_LIKELY(block >= end))
                break;
        }
    }
    stack_top_store(&stack_top, reuse->stack_top);
    write_backs->failed |= reuse->failed;
}
