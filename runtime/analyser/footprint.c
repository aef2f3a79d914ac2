/* The bytes that each group was the first to touch; see footprint.h. */
#include "runtime/analyser/footprint.h"

#include <string.h>

#include "runtime/system.h"

enum {
    LAST_KIND = 3, /* of an access */
    WORD_BYTES = PM_FOOTPRINT_WORD_BYTES,
    PAGE_BYTES = PM_FOOTPRINT_PAGE_BYTES,
};

/* ---- pages ----------------------------------------------------------------------------------- */

/* The bits of the page with KEY, made if need be; NULL: no memory. */
static uint64_t *look_up(struct pm_footprint *footprint, uint64_t key) {
    uint64_t *bits = pm_page_table_find(&footprint->pages, key, PM_FOOTPRINT_N_TOUCHED + 1);
    if (bits)
        footprint->last = (struct pm_page){key, bits};
    return bits;
}

static inline uint64_t *bits_of(struct pm_footprint *footprint, uint64_t address) {
    uint64_t key = pm_footprint_key(address);
    return PM_LIKELY(footprint->last.key == key) ? footprint->last.words : look_up(footprint, key);
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
        uint64_t n = (uint64_t)__builtin_popcountll(first);
        *word |= first;
        bits[PM_FOOTPRINT_N_TOUCHED] += n;
        footprint->bytes[group] += n;
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

static inline void touch(struct pm_footprint *footprint, uint32_t group, uint64_t address,
                         uint64_t size) {
    if (PM_LIKELY(address % WORD_BYTES + size <= WORD_BYTES))
        touch_word(footprint, group, address, size);
    else
        touch_words(footprint, group, address, size);
}

void pm_footprint_touch(struct pm_footprint *footprint, uint32_t group, uint64_t address,
                        uint64_t size) {
    if (PM_LIKELY(size != 0))
        touch(footprint, group, address, size);
}

bool pm_footprint_make_groups(struct pm_footprint *footprint, uint32_t n_groups) {
    const size_t bytes = sizeof *footprint->bytes;
    if (n_groups <= footprint->n_groups)
        return true;
    if (!pm_mgrow(&footprint->bytes, footprint->n_groups * bytes, n_groups * bytes)) {
        footprint->failed = true;
        return false;
    }
    footprint->n_groups = n_groups;
    return true;
}

void pm_footprint_accesses(struct pm_footprint *footprint, uint32_t n_groups,
                           const struct pmodel_access *batch, size_t count) {
    pm_footprint_make_groups(footprint, n_groups);
    for (size_t i = 0; i < count && !footprint->failed; i++) {
        const struct pmodel_access *access = &batch[i];
        uint64_t size = access->size_bytes;
        if (PM_UNLIKELY(size == 0 || access->kind > LAST_KIND))
            continue;
        touch(footprint, access->group, access->address, size);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_footprint *pm_footprint_new(void) {
    struct pm_footprint *footprint = pm_mmap(sizeof *footprint);
    if (!footprint)
        return NULL;
    if (pm_page_table_begin(&footprint->pages))
        return footprint;
    pm_footprint_free(footprint);
    return NULL;
}

void pm_footprint_free(struct pm_footprint *footprint) {
    if (!footprint)
        return;
    pm_footprint_free_records(footprint->address_records);
    pm_page_table_free(&footprint->pages);
    pm_munmap(footprint->bytes, footprint->n_groups * sizeof *footprint->bytes);
    pm_munmap(footprint, sizeof *footprint);
}

uint64_t pm_footprint_bytes(const struct pm_footprint *footprint, uint32_t group) {
    return group < footprint->n_groups ? footprint->bytes[group] : 0;
}

void pm_footprint_forget(struct pm_footprint *footprint) {
    footprint->last = (struct pm_page){0};
    pm_footprint_forget_records(footprint->address_records);
    pm_page_table_clear(&footprint->pages);
}
