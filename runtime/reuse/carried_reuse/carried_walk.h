/* The walk over a batch of accesses and events (carried_reuse.h, reuse/carriers.h).  Included once
   by each carried_walk_*.c, after a stack top (reuse/touch.h) and a definition of PM_CARRIED_WALK,
   the name of the function made here. */
#include "runtime/reuse/carriers_touch.h"
#include "runtime/reuse/touch.h"

void PM_CARRIED_WALK(struct pm_carried *carried, const uint32_t *group_scopes,
                     const struct pmodel_access *batch, size_t count) {
    enum { LOAD = 0, STORE = 1, BOTH = 2 };
    struct pm_reuse *reuse = carried->reuse;
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    const unsigned shift = reuse->shift;
    pm_carried_store_lasts(carried);
    uint64_t newest = reuse->stack_top[0];
    uint64_t *last = newest == PM_NO_BLOCK ? NULL : pm_carried_last(carried, newest);
    for (size_t i = 0; i < count && PM_LIKELY(!carried->failed); i++) {
        const struct pmodel_access *access = &batch[i];
        const uint32_t group = access->group;
        if (access->kind >= PM_CARRIED_ENTER) {
            pm_carried_take_event(carried, access->kind, group);
            continue;
        }
        const unsigned kind = access->kind - 1;
        const uint64_t touch = carried->now | group_scopes[group];
        const uint64_t end = (access->address + access->size_bytes - 1) >> shift;
        for (uint64_t block = access->address >> shift;; block++) {
            uint64_t distance = 0;
            if (block != newest) {
                newest = block;
                last = pm_carried_last(carried, block);
                if (PM_UNLIKELY(!last)) {
                    carried->failed = true;
                    break;
                }
                distance =
                    pm_reuse_touch(reuse, &stack_top, block, (struct pm_toucher){group, kind});
            }
            if (PM_UNLIKELY(distance == PM_COLD))
                reuse->histograms[group].cold[kind == BOTH ? LOAD : kind]++;
            else
                pm_carried_count_reuse(carried, group, *last, kind == BOTH ? LOAD : kind, distance);
            if (kind == BOTH)
                pm_carried_count_reuse(carried, group, touch, STORE, 0);
            *last = touch;
            if (PM_LIKELY(block >= end))
                break;
        }
    }
    stack_top_store(&stack_top, reuse->stack_top);
    carried->failed |= reuse->failed;
    pm_carried_load_lasts(carried);
}
