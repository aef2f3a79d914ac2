/* The bytes that each group was the first to touch; see footprint.h. */
#include "runtime/analyser/footprint.h"

#include <string.h>

#include "runtime/system.h"

enum {
    FIRST_PAGES = 1 << 10,
    LAST_KIND = 3, /* of an access */
    WORD_BYTES = 64,
    PAGE_BYTES = 1 << PM_FOOTPRINT_PAGE_SHIFT,
};

/* ---- pages ----------------------------------------------------------------------------------- */

static struct pm_footprint_page *find_page(struct pm_footprint_page *pages, uint64_t mask,
                                           uint64_t key) {
    uint64_t i = key * 0x9e3779b97f4a7c15 >> 32 & mask;
    while (PM_UNLIKELY(pages[i].key != key) && pages[i].key)
        i = (i + 1) & mask;
    return &pages[i];
}

static bool grow_pages(struct pm_footprint *footprint) {
    uint64_t room = footprint->page_mask + 1, mask = 2 * room - 1;
    struct pm_footprint_page *pages = pm_map(2 * room * sizeof *pages);
    if (!pages)
        return false;
    for (uint64_t i = 0; i < room; i++)
        if (footprint->pages[i].key)
            *find_page(pages, mask, footprint->pages[i].key) = footprint->pages[i];
    pm_unmap(footprint->pages, room * sizeof *pages);
    footprint->pages = pages;
    footprint->page_mask = mask;
    return true;
}

/* The bits of the page with KEY, made if need be; NULL: no memory.  The table is at most half
   full. */
static uint64_t *look_up(struct pm_footprint *footprint, uint64_t key) {
    struct pm_footprint_page *page = find_page(footprint->pages, footprint->page_mask, key);
    if (PM_UNLIKELY(page->key == 0)) {
        if (2 * footprint->n_pages > footprint->page_mask) {
            if (!grow_pages(footprint))
                return NULL;
            page = find_page(footprint->pages, footprint->page_mask, key);
        }
        uint64_t *bits =
            pm_arena_take(&footprint->arena, PM_FOOTPRINT_PAGE_WORDS * sizeof *page->bits);
        if (!bits)
            return NULL;
        *page = (struct pm_footprint_page){key, bits};
        footprint->n_pages++;
    }
    footprint->last = *page;
    return page->bits;
}

static inline uint64_t *bits_of(struct pm_footprint *footprint, uint64_t address) {
    uint64_t key = (address >> PM_FOOTPRINT_PAGE_SHIFT) + 1;
    return PM_LIKELY(footprint->last.key == key) ? footprint->last.bits : look_up(footprint, key);
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* Touches SIZE bytes from ADDRESS on, at least one, that lie in one word. */
static inline void touch_word(struct pm_footprint *footprint, uint32_t group, uint64_t address,
                              uint64_t size) {
    uint64_t *bits = bits_of(footprint, address);
    if (PM_UNLIKELY(!bits)) {
        footprint->failed = true;
        return;
    }
    uint64_t *word = &bits[address % PAGE_BYTES / WORD_BYTES];
    uint64_t touched = UINT64_MAX >> (WORD_BYTES - size) << address % WORD_BYTES;
    uint64_t first = touched & ~*word;
    if (first) {
        *word |= first;
        footprint->bytes[group] += (uint64_t)__builtin_popcountll(first);
    }
}

static void touch_words(struct pm_footprint *footprint, uint32_t group, uint64_t address,
                        uint64_t size) {
    while (size && !footprint->failed) {
        uint64_t part = WORD_BYTES - address % WORD_BYTES;
        part = part < size ? part : size;
        touch_word(footprint, group, address, part);
        address += part;
        size -= part;
    }
}

static bool make_groups(struct pm_footprint *footprint, uint32_t n_groups) {
    const size_t bytes = sizeof *footprint->bytes;
    if (n_groups <= footprint->n_groups)
        return true;
    uint64_t *grown = pm_remap(footprint->bytes, footprint->n_groups * bytes, n_groups * bytes);
    if (!grown)
        return false;
    footprint->bytes = grown;
    footprint->n_groups = n_groups;
    return true;
}

void pm_footprint_accesses(struct pm_footprint *footprint, uint32_t n_groups,
                           const struct pmodel_access *batch, size_t count) {
    if (!make_groups(footprint, n_groups))
        footprint->failed = true;
    for (size_t i = 0; i < count && !footprint->failed; i++) {
        const struct pmodel_access *access = &batch[i];
        uint64_t size = access->size_bytes;
        if (PM_UNLIKELY(size == 0 || access->kind > LAST_KIND))
            continue;
        if (PM_LIKELY(access->address % WORD_BYTES + size <= WORD_BYTES))
            touch_word(footprint, access->group, access->address, size);
        else
            touch_words(footprint, access->group, access->address, size);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_footprint *pm_footprint_new(void) {
    struct pm_footprint *footprint = pm_map(sizeof *footprint);
    if (!footprint)
        return NULL;
    footprint->page_mask = FIRST_PAGES - 1;
    footprint->pages = pm_map(FIRST_PAGES * sizeof *footprint->pages);
    if (footprint->pages)
        return footprint;
    pm_footprint_free(footprint);
    return NULL;
}

void pm_footprint_free(struct pm_footprint *footprint) {
    if (!footprint)
        return;
    pm_arena_free(&footprint->arena);
    pm_unmap(footprint->pages, (footprint->page_mask + 1) * sizeof *footprint->pages);
    pm_unmap(footprint->bytes, footprint->n_groups * sizeof *footprint->bytes);
    pm_unmap(footprint, sizeof *footprint);
}

uint64_t pm_footprint_bytes(const struct pm_footprint *footprint, uint32_t group) {
    return group < footprint->n_groups ? footprint->bytes[group] : 0;
}

void pm_footprint_forget(struct pm_footprint *footprint) {
    pm_arena_free(&footprint->arena);
    footprint->arena = (struct pm_arena){0};
    footprint->last = (struct pm_footprint_page){0};
    memset(footprint->pages, 0, (footprint->page_mask + 1) * sizeof *footprint->pages);
    footprint->n_pages = 0;
}
