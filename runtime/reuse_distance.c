/* The parts of the reuse distance analysis that are not hot; see reuse_distance.h.  A touch
   is in reuse_touch.h, the walk over a batch in reuse_walk.h, compiled once for each vector
   extension. */
#include "runtime/reuse_distance.h"

#include <string.h>

#include "runtime/system.h"

enum { FIRST_PAGES = 64 };
#define MOST_STAMPS (1ull << 31)

/* ---- shadow table ---------------------------------------------------------------------------- */

static void put_page(struct pm_shadow_page *pages, uint64_t mask, struct pm_shadow_page page) {
    uint64_t index = pm_shadow_hash(page.key) & mask;
    while (pages[index].key)
        index = (index + 1) & mask;
    pages[index] = page;
}

static bool grow_page_table(struct pm_reuse *reuse) {
    uint64_t old_size = reuse->pages ? reuse->page_mask + 1 : 0;
    uint64_t new_size = old_size ? 2 * old_size : 4 * FIRST_PAGES;
    struct pm_shadow_page *pages = pm_map(new_size * sizeof *pages);
    if (!pages)
        return false;
    for (uint64_t i = 0; i < old_size; i++)
        if (reuse->pages[i].key)
            put_page(pages, new_size - 1, reuse->pages[i]);
    pm_unmap(reuse->pages, old_size * sizeof *pages);
    reuse->pages = pages;
    reuse->page_mask = new_size - 1;
    return true;
}

static bool grow_slots(struct pm_reuse *reuse) {
    uint64_t room = reuse->room_pages ? 2 * reuse->room_pages : FIRST_PAGES;
    const size_t page_bytes = PM_SHADOW_PAGE_BLOCKS * sizeof *reuse->slots;
    if (room * PM_SHADOW_PAGE_BLOCKS > 1ull << 32)
        return false;
    uint32_t *slots = pm_remap(reuse->slots, reuse->room_pages * page_bytes, room * page_bytes);
    if (!slots)
        return false;
    reuse->slots = slots;
    reuse->room_pages = room;
    return true;
}

bool pm_reuse_new_page(struct pm_reuse *reuse, uint64_t key) {
    if ((!reuse->pages || 2 * reuse->n_pages > reuse->page_mask) && !grow_page_table(reuse))
        return false;
    if (reuse->n_pages == reuse->room_pages && !grow_slots(reuse))
        return false;
    put_page(reuse->pages, reuse->page_mask,
             (struct pm_shadow_page){key, reuse->n_pages++ * PM_SHADOW_PAGE_BLOCKS});
    return true;
}

/* ---- stamps ---------------------------------------------------------------------------------- */

static size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

/* Bitmap and counts for `capacity` stamps, all zero.  Nodes of 32 counts are always whole. */
static bool new_index(struct pm_reuse *reuse, uint64_t capacity) {
    size_t bits = round_up(capacity / 8, 64), lines = 2 * round_up(capacity >> 9, 32);
    size_t n14 = 4 * round_up((capacity >> 14) + 1, 32);
    size_t n19 = 4 * round_up((capacity >> 19) + 1, 32);
    size_t n24 = 4 * round_up((capacity >> 24) + 1, 32);
    size_t bytes = bits + lines + n14 + n19 + n24;
    char *memory = pm_map(bytes);
    if (!memory)
        return false;
    pm_unmap(reuse->bits, reuse->index_bytes);
    reuse->index_bytes = bytes;
    reuse->bits = (uint64_t *)memory;
    reuse->per_line = (uint16_t *)(memory += bits);
    reuse->per_14 = (uint32_t *)(memory += lines);
    reuse->per_19 = (uint32_t *)(memory += n14);
    reuse->per_24 = (uint32_t *)(memory + n19);
    return true;
}

/* Gives the stamps in use the numbers from 1 on, in their order; the bitmap is then stale. */
static uint32_t renumber(struct pm_reuse *reuse) {
    uint32_t next = 1;
    for (uint64_t word = 0; word < (reuse->capacity + 63) / 64; word++)
        for (uint64_t bits = reuse->bits[word]; bits; bits &= bits - 1) {
            uint32_t slot = reuse->owner[64 * word + (unsigned)__builtin_ctzll(bits)];
            reuse->owner[next] = slot;
            reuse->slots[slot] = next++;
        }
    return next;
}

/* Sets the stamps 1 … next − 1 in an index that is zero. */
static void fill_index(struct pm_reuse *reuse, uint32_t next) {
    for (uint32_t stamp = 1; stamp < next; stamp++) {
        reuse->bits[stamp >> 6] |= 1ull << (stamp & 63);
        reuse->per_line[stamp >> 9]++;
        reuse->per_14[stamp >> 14]++;
        reuse->per_19[stamp >> 19]++;
        reuse->per_24[stamp >> 24]++;
    }
}

static bool grow_stamps(struct pm_reuse *reuse) {
    uint64_t capacity = 2 * reuse->capacity;
    if (capacity > MOST_STAMPS)
        return false;
    uint32_t *owner =
        pm_remap(reuse->owner, reuse->capacity * sizeof *owner, capacity * sizeof *owner);
    if (!owner)
        return false;
    reuse->owner = owner;
    if (!new_index(reuse, capacity)) {
        /* The upper half is not used then; give it back. */
        pm_unmap(owner + reuse->capacity, reuse->capacity * sizeof *owner);
        return false;
    }
    reuse->capacity = capacity;
    return true;
}

void pm_reuse_compact(struct pm_reuse *reuse) {
    uint32_t next = renumber(reuse);
    bool grown = next > reuse->capacity / 4 && grow_stamps(reuse);
    if (!grown && next > reuse->capacity / 8 * 7) {
        reuse->failed = true;
        return;
    }
    if (!grown)
        memset(reuse->bits, 0, reuse->index_bytes);
    fill_index(reuse, next);
    reuse->next_stamp = next;
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum pm_reuse_variant pm_reuse_best_variant(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("bmi2"))
        return PM_REUSE_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
        __builtin_cpu_supports("bmi"))
        return PM_REUSE_AVX2;
    return PM_REUSE_SSE2;
}

struct pm_reuse *pm_reuse_new(unsigned shift, uint64_t capacity, enum pm_reuse_variant variant) {
    struct pm_reuse *reuse = pm_map(sizeof *reuse);
    if (!reuse)
        return NULL;
    reuse->shift = shift;
    reuse->variant = variant;
    reuse->capacity = capacity;
    reuse->next_stamp = 1;
    memset(reuse->front, 0xff, sizeof reuse->front);
    reuse->owner = pm_map(capacity * sizeof *reuse->owner);
    if (!reuse->owner || !new_index(reuse, capacity) || !grow_page_table(reuse)) {
        pm_reuse_free(reuse);
        return NULL;
    }
    return reuse;
}

void pm_reuse_free(struct pm_reuse *reuse) {
    if (!reuse)
        return;
    pm_arena_free(&reuse->arena);
    pm_unmap(reuse->histograms, reuse->n_groups * sizeof *reuse->histograms);
    pm_unmap(reuse->slots, reuse->room_pages * PM_SHADOW_PAGE_BLOCKS * sizeof *reuse->slots);
    pm_unmap(reuse->pages, (reuse->page_mask + 1) * sizeof *reuse->pages);
    pm_unmap(reuse->owner, reuse->capacity * sizeof *reuse->owner);
    pm_unmap(reuse->bits, reuse->index_bytes);
    pm_unmap(reuse, sizeof *reuse);
}

void pm_reuse_forget_blocks(struct pm_reuse *reuse) {
    if (reuse->failed)
        return;
    memset(reuse->front, 0xff, sizeof reuse->front);
    memset(reuse->slots, 0, reuse->n_pages * PM_SHADOW_PAGE_BLOCKS * sizeof *reuse->slots);
    memset(reuse->pages, 0, (reuse->page_mask + 1) * sizeof *reuse->pages);
    memset(reuse->bits, 0, reuse->index_bytes);
    reuse->n_pages = 0;
    reuse->next_stamp = 1;
}

static bool grow_histograms(struct pm_reuse *reuse, uint32_t n_groups) {
    struct pm_group_histogram *histograms = pm_remap(
        reuse->histograms, reuse->n_groups * sizeof *histograms, n_groups * sizeof *histograms);
    if (!histograms)
        return false;
    reuse->histograms = histograms;
    reuse->n_groups = n_groups;
    return true;
}

void pm_reuse_accesses(struct pm_reuse *reuse, uint32_t n_groups,
                       const struct pmodel_access *accesses, size_t count) {
    static pm_reuse_walk *const walks[PM_REUSE_N_VARIANTS] = {
        [PM_REUSE_SSE2] = pm_reuse_walk_sse2,
        [PM_REUSE_AVX2] = pm_reuse_walk_avx2,
        [PM_REUSE_AVX512] = pm_reuse_walk_avx512,
    };
    if (n_groups > reuse->n_groups && !grow_histograms(reuse, n_groups))
        reuse->failed = true;
    if (!reuse->failed)
        walks[reuse->variant](reuse, accesses, count);
}
