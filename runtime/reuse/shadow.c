/* The shadow table: regions and pages come and go; see shadow.h.

   A page's entry in its region is its number, and 0 before a block of it was touched.  Behind the
   entries stand as many for pages that were given back: the number of a mask, which has the blocks
   that were touched, or 0.
   Free masks form a list, each with the next one in it; free pages stand in an array of their own,
   because what is in a slot may be taken for a stamp. */
#include "runtime/reuse/shadow.h"

#include <string.h>

enum { FIRST_PAGES = 256, FIRST_REGIONS = 64, PAGE_BYTES = PM_PAGE_BLOCKS * sizeof(uint32_t) };
#define MOST_PAGES (1ull << 32)

static struct pm_shadow_region *find_region(const struct pm_reuse *reuse, uint64_t key) {
    uint64_t index = (key * 0x9e3779b97f4a7c15 >> 32) & reuse->region_mask;
    while (reuse->regions[index].key && reuse->regions[index].key != key)
        index = (index + 1) & reuse->region_mask;
    return &reuse->regions[index];
}

/* A table of N entries, a power of two, with the regions that there are. */
static bool resize_table(struct pm_reuse *reuse, uint64_t n) {
    struct pm_shadow_region *old = reuse->regions, *regions = pm_mmap(n * sizeof *regions);
    uint64_t n_old = old ? reuse->region_mask + 1 : 0;
    if (!regions)
        return false;
    reuse->regions = regions;
    reuse->region_mask = n - 1;
    for (uint64_t i = 0; i < n_old; i++)
        if (old[i].key)
            *find_region(reuse, old[i].key) = old[i];
    pm_munmap(old, n_old * sizeof *old);
    return true;
}

/* The table is at most a quarter full: each probe more is a jump that is not foreseen. */
static struct pm_shadow_region *make_region(struct pm_reuse *reuse, uint64_t key) {
    struct pm_shadow_region *region = find_region(reuse, key);
    if (region->key)
        return region;
    if (4 * reuse->n_regions > reuse->region_mask) {
        if (!resize_table(reuse, 2 * (reuse->region_mask + 1)))
            return NULL;
        region = find_region(reuse, key);
    }
    uint32_t *pages = pm_arena_take(&reuse->tables, 2 * PM_REGION_PAGES * sizeof *pages);
    if (!pages)
        return NULL;
    *region = (struct pm_shadow_region){key, pages};
    reuse->n_regions++;
    return region;
}

/* The number of a page of zeros, 0 without memory. */
static uint32_t take_page(struct pm_reuse *reuse) {
    if (reuse->n_free)
        return reuse->free_pages[--reuse->n_free];
    if (reuse->n_pages == reuse->room_pages) {
        uint64_t room = reuse->room_pages ? 2 * reuse->room_pages : FIRST_PAGES;
        if (room > MOST_PAGES ||
            !pm_mgrow(&reuse->slots, reuse->room_pages * PAGE_BYTES, room * PAGE_BYTES))
            return 0;
        reuse->room_pages = room;
    }
    return (uint32_t)reuse->n_pages++;
}

static bool room_for_free_page(struct pm_reuse *reuse) {
    if (reuse->n_free < reuse->room_free)
        return true;
    uint64_t room = reuse->room_free ? 2 * reuse->room_free : FIRST_PAGES;
    const size_t bytes = sizeof *reuse->free_pages;
    if (!pm_mgrow(&reuse->free_pages, reuse->room_free * bytes, room * bytes))
        return false;
    reuse->room_free = room;
    return true;
}

/* Number of a mask, 0 without memory. */
static uint32_t take_mask(struct pm_reuse *reuse) {
    if (reuse->free_mask) {
        uint32_t mask = reuse->free_mask;
        reuse->free_mask = (uint32_t)reuse->masks[mask];
        return mask;
    }
    if (reuse->n_masks >= reuse->room_masks) {
        uint64_t room = reuse->room_masks ? 2 * reuse->room_masks : FIRST_PAGES;
        const size_t bytes = sizeof *reuse->masks;
        if (room > MOST_PAGES || !pm_mgrow(&reuse->masks, reuse->room_masks * bytes, room * bytes))
            return 0;
        reuse->room_masks = room;
        reuse->n_masks += reuse->n_masks == 0; /* number 0 is none */
    }
    return (uint32_t)reuse->n_masks++;
}

uint32_t *pm_reuse_new_slot(struct pm_reuse *reuse, uint64_t block) {
    struct pm_shadow_region *region = make_region(reuse, (block >> PM_REGION_SHIFT) + 1);
    if (!region)
        return NULL;
    uint32_t *entry = &region->pages[block / PM_PAGE_BLOCKS % PM_REGION_PAGES];
    if (*entry == 0) {
        uint32_t page = take_page(reuse), mask = entry[PM_REGION_PAGES];
        if (!page)
            return NULL;
        if (mask) {
            uint32_t *slots = reuse->slots + page * (uint64_t)PM_PAGE_BLOCKS;
            for (uint64_t touched = reuse->masks[mask]; touched; touched &= touched - 1)
                slots[__builtin_ctzll(touched)] = PM_SLOT_FORGOTTEN;
            reuse->masks[mask] = reuse->free_mask;
            reuse->free_mask = mask;
        }
        entry[0] = page;
        entry[PM_REGION_PAGES] = 0;
    }
    return &reuse->slots[*entry * (uint64_t)PM_PAGE_BLOCKS + block % PM_PAGE_BLOCKS];
}

/* Without memory for the mask the page stays. */
static void give_back_unless_needed(struct pm_reuse *reuse, uint32_t *entry) {
    uint32_t *slots = reuse->slots + *entry * (uint64_t)PM_PAGE_BLOCKS;
    uint64_t touched = 0;
    for (unsigned i = 0; i < PM_PAGE_BLOCKS; i++) {
        if (slots[i] > PM_SLOT_FORGOTTEN)
            return;
        touched |= (uint64_t)(slots[i] == PM_SLOT_FORGOTTEN) << i;
    }
    uint32_t mask = room_for_free_page(reuse) ? take_mask(reuse) : 0;
    if (!mask)
        return;
    reuse->masks[mask] = touched;
    memset(slots, 0, PAGE_BYTES);
    reuse->free_pages[reuse->n_free++] = *entry;
    entry[0] = 0;
    entry[PM_REGION_PAGES] = mask;
}

void pm_shadow_give_back(struct pm_reuse *reuse) {
    for (uint64_t i = 0; i <= reuse->region_mask; i++)
        for (unsigned j = 0; reuse->regions[i].key && j < PM_REGION_PAGES; j++) {
            uint32_t *entry = &reuse->regions[i].pages[j];
            if (*entry)
                give_back_unless_needed(reuse, entry);
        }
}

bool pm_shadow_begin(struct pm_reuse *reuse) {
    if (!resize_table(reuse, FIRST_REGIONS))
        return false;
    take_page(reuse); /* page 0 */
    return reuse->slots;
}

void pm_shadow_free(struct pm_reuse *reuse) {
    pm_munmap(reuse->slots, reuse->room_pages * PAGE_BYTES);
    pm_munmap(reuse->regions, (reuse->region_mask + 1) * sizeof *reuse->regions);
    pm_munmap(reuse->masks, reuse->room_masks * sizeof *reuse->masks);
    pm_munmap(reuse->free_pages, reuse->room_free * sizeof *reuse->free_pages);
    pm_arena_free(&reuse->tables);
}

void pm_shadow_clear(struct pm_reuse *reuse) {
    memset(reuse->slots, 0, reuse->n_pages * PAGE_BYTES);
    memset(reuse->regions, 0, (reuse->region_mask + 1) * sizeof *reuse->regions);
    pm_arena_free(&reuse->tables);
    reuse->n_pages = 1;
    reuse->n_regions = 0;
    reuse->n_masks = reuse->n_masks != 0;
    reuse->n_free = reuse->free_mask = 0;
}

uint64_t pm_shadow_bytes(const struct pm_reuse *reuse) {
    return reuse->n_pages * PAGE_BYTES + reuse->n_masks * sizeof *reuse->masks +
           reuse->room_free * sizeof *reuse->free_pages +
           (reuse->region_mask + 1) * sizeof *reuse->regions + pm_arena_bytes(&reuse->tables);
}
