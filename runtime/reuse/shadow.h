/* Where the analysis keeps the stamp of a block: a hash table of regions of 2^14 blocks, for each a
   table of its 256 pages, for each page that was touched 64 slots of 4 bytes.

   Pages are small for programs that touch a block here and there; regions keep the hash table small
   enough for the second-level cache (docs/log-measuring.md).  A region's table has 4 bytes for a
   page, and a sweep misses one line of it in 1024 blocks. */
#ifndef PM_RUNTIME_REUSE_SHADOW_H
#define PM_RUNTIME_REUSE_SHADOW_H

#include "runtime/reuse/reuse_state.h"
#include "runtime/system.h"

/* The number of BLOCK's slot; that of page 0, whose slots are never written and say
   PM_SLOT_NEVER, if its page is not there. */
static inline uint64_t pm_reuse_slot_number(const struct pm_reuse *reuse, uint64_t block) {
    uint64_t key = (block >> PM_REGION_SHIFT) + 1;
    uint64_t index = (key * 0x9e3779b97f4a7c15 >> 32) & reuse->region_mask;
    while (PM_UNLIKELY(reuse->regions[index].key != key)) {
        if (reuse->regions[index].key == 0)
            return 0;
        index = (index + 1) & reuse->region_mask;
    }
    uint32_t page = reuse->regions[index].pages[block / PM_PAGE_BLOCKS % PM_REGION_PAGES];
    return page * (uint64_t)PM_PAGE_BLOCKS + block % PM_PAGE_BLOCKS;
}

static inline uint32_t *pm_reuse_slot(const struct pm_reuse *reuse, uint64_t block) {
    return &reuse->slots[pm_reuse_slot_number(reuse, block)];
}

/* BLOCK's slot; makes its page if need be.  NULL: no memory. */
uint32_t *pm_reuse_new_slot(struct pm_reuse *reuse, uint64_t block);

/* An empty table; false: no memory. */
bool pm_shadow_begin(struct pm_reuse *reuse);
void pm_shadow_free(struct pm_reuse *reuse);
void pm_shadow_clear(struct pm_reuse *reuse);
uint64_t pm_shadow_bytes(const struct pm_reuse *reuse);

/* Gives back pages all of whose blocks were forgotten or never touched. */
void pm_shadow_give_back(struct pm_reuse *reuse);

#endif
