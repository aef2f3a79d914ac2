/* Touches of simulated caches (simulated_caches.h).  Included once by each profiler_walk_*.c, after
   a definition of
     find_way (row, n, block)       where BLOCK is in the N places of a row, a multiple of
                                    PM_ROW_PLACES; not below N: it is not there
     move_in (row, n, block)        BLOCK becomes the first, the others move back, the N-th goes
     touch_row (row, ways, block)   both: BLOCK becomes the first of the row, in which it was, or
                                    the last of the WAYS goes; false: it was not there */
#include "runtime/profiler/simulated_caches.h"
#include "runtime/system.h"

static inline uint64_t *row_of(const struct pm_cache *cache, uint64_t set) {
    return cache->blocks + set * cache->row_places;
}

/* Of N, below 2^64 / SETS, modulo SETS: as a product with the inverse (Lemire, Kaser & Kurz 2019).
 */
static inline uint64_t modulo(const struct pm_cache *cache, uint64_t n) {
    const uint64_t quotient = (uint64_t)((unsigned __int128)n * cache->inverse >> 64);
    return n - quotient * cache->sets;
}

static inline uint64_t set_of(const struct pm_cache *cache, uint64_t block) {
    if (cache->shape.physical) {
        const unsigned bits = PM_PHYSICAL_PAGE_SHIFT - cache->shift;
        const uint64_t page = (uint32_t)pm_cache_mix(block >> bits);
        block = page << bits | (block & ((1ul << bits) - 1));
    }
    return PM_LIKELY(!cache->inverse) ? block & cache->set_mask : modulo(cache, block);
}

/* ---- a set of places that keep their blocks: PLRU, random ------------------------------------ */

static inline bool is_ordered(const struct pm_cache *cache) {
    return cache->shape.policy == PM_CACHE_LRU || cache->shape.policy == PM_CACHE_FIFO;
}

static inline void turn_away(struct pm_cache *cache, uint64_t set, uint32_t way) {
    if (cache->shape.policy != PM_CACHE_PLRU)
        return;
    uint64_t bits = cache->bits[set];
    for (uint32_t node = way + cache->ways; node > 1; node /= 2) {
        const uint64_t parent = 1ull << node / 2;
        bits = node % 2 ? bits & ~parent : bits | parent;
    }
    cache->bits[set] = bits;
}

static inline uint32_t victim(struct pm_cache *cache, uint64_t set) {
    const uint32_t empty = find_way(row_of(cache, set), cache->row_places, 0);
    if (empty < cache->ways)
        return empty;
    if (cache->shape.policy == PM_CACHE_RANDOM)
        return pm_cache_random(cache, cache->ways);
    uint32_t node = 1;
    while (node < cache->ways)
        node = 2 * node + (uint32_t)(cache->bits[set] >> node & 1);
    return node - cache->ways;
}

/* ---- a set, whatever its policy -------------------------------------------------------------- */

/* Uses BLOCK; false: it is not there. */
static bool use(struct pm_cache *cache, uint64_t set, uint64_t block) {
    if (PM_UNLIKELY(cache->is_large))
        return pm_large_use(cache, set, block);
    const uint32_t way = find_way(row_of(cache, set), cache->row_places, block);
    if (way >= cache->ways)
        return false;
    if (cache->shape.policy == PM_CACHE_LRU)
        move_in(row_of(cache, set), way + 1, block);
    else
        turn_away(cache, set, way);
    return true;
}

/* BLOCK, which is not there, comes: what is replaced, 0: nothing. */
static uint64_t bring(struct pm_cache *cache, uint64_t set, uint64_t block) {
    uint64_t *row = row_of(cache, set), replaced;
    if (PM_UNLIKELY(cache->is_large))
        return pm_large_bring(cache, set, block);
    if (PM_LIKELY(is_ordered(cache))) {
        replaced = row[cache->ways - 1];
        move_in(row, cache->ways, block);
        return replaced;
    }
    const uint32_t way = victim(cache, set);
    replaced = row[way];
    row[way] = block;
    turn_away(cache, set, way);
    return replaced;
}

/* BLOCK leaves; false: it was not there. */
static bool drop(struct pm_cache *cache, uint64_t set, uint64_t block) {
    if (PM_UNLIKELY(cache->is_large))
        return pm_large_drop(cache, set, block);
    uint64_t *row = row_of(cache, set);
    uint32_t way = find_way(row, cache->row_places, block);
    if (way >= cache->ways)
        return false;
    for (; is_ordered(cache) && way + 1 < cache->ways; way++)
        row[way] = row[way + 1];
    row[way] = 0;
    return true;
}

/* ---- the filter ------------------------------------------------------------------------------ */

static inline void note_newest(struct pm_caches *caches, uint64_t set, uint64_t block) {
    if (caches->newest) {
        const uint64_t before = caches->newest[set];
        if (caches->filter[before & caches->filter_mask] == before)
            caches->filter[before & caches->filter_mask] = 0;
        caches->newest[set] = block;
    }
    caches->filter[block & caches->filter_mask] = block;
}

static inline void note_dropped(struct pm_caches *caches, uint64_t block) {
    if (caches->filter[block & caches->filter_mask] == block)
        caches->filter[block & caches->filter_mask] = 0;
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void drop_bytes(struct pm_caches *caches, unsigned l, uint64_t address, uint64_t bytes) {
    struct pm_cache *cache = &caches->levels[l];
    const uint64_t first = address >> cache->shift, n = bytes >> cache->shift;
    for (uint64_t block = first; block < first + n; block++)
        if (drop(cache, set_of(cache, block), block) && l == 0)
            note_dropped(caches, block);
}

/* Level L gets the block with ADDRESS, which it does not have. */
static void place(struct pm_caches *caches, unsigned l, uint64_t address) {
    for (; l < caches->n_levels; l++) {
        struct pm_cache *cache = &caches->levels[l];
        const uint64_t block = address >> cache->shift, set = set_of(cache, block);
        const uint64_t replaced = bring(cache, set, block);
        if (l == 0)
            note_newest(caches, set, block);
        if (!replaced)
            return;
        address = replaced << cache->shift;
        for (unsigned nearer = 0; cache->shape.inclusive && nearer < l; nearer++)
            drop_bytes(caches, nearer, address, cache->shape.line_bytes);
        if (l + 1 == caches->n_levels || !caches->levels[l + 1].shape.exclusive)
            return;
    }
}

static unsigned load(struct pm_caches *caches, unsigned l, uint64_t address) {
    if (l == caches->n_levels)
        return l;
    struct pm_cache *cache = &caches->levels[l];
    const uint64_t block = address >> cache->shift, set = set_of(cache, block);
    if (cache->shape.exclusive)
        return drop(cache, set, block) ? l : load(caches, l + 1, address);
    if (use(cache, set, block)) {
        if (l == 0)
            note_newest(caches, set, block);
        return l;
    }
    const unsigned from = load(caches, l + 1, address);
    place(caches, l, address);
    return from;
}

static unsigned store(struct pm_caches *caches, unsigned l, uint64_t address) {
    if (l == caches->n_levels)
        return l;
    struct pm_cache *cache = &caches->levels[l];
    const uint64_t block = address >> cache->shift, set = set_of(cache, block);
    unsigned from = l;
    if (use(cache, set, block)) {
        if (l == 0)
            note_newest(caches, set, block);
    } else if (cache->shape.no_write_allocate || cache->shape.exclusive) {
        return store(caches, l + 1, address);
    } else {
        from = load(caches, l + 1, address);
        place(caches, l, address);
    }
    if (cache->shape.write_through)
        store(caches, l + 1, address);
    return from;
}

/* Levels that all are LRU, written back and allocated in, and do not look after each other: a load
   is as a store, and each row is written once. */
static inline unsigned touch_simple(struct pm_caches *caches, uint64_t block) {
    const uint64_t address = block << caches->shift;
    struct pm_cache *cache = caches->levels;
    const uint64_t set = set_of(cache, block);
    note_newest(caches, set, block);
    if (touch_row(row_of(cache, set), cache->ways, block))
        return 0;
    for (unsigned l = 1; l < caches->n_levels; l++) {
        cache = &caches->levels[l];
        block = address >> cache->shift;
        if (touch_row(row_of(cache, set_of(cache, block)), cache->ways, block))
            return l;
    }
    return caches->n_levels;
}

/* Touches BLOCK of the first level: the ordinal of the level that had it, n_levels: none. */
static inline unsigned touch(struct pm_caches *caches, uint64_t block, bool is_store) {
    if (PM_LIKELY(caches->are_simple))
        return touch_simple(caches, block);
    return is_store ? store(caches, 0, block << caches->shift)
                    : load(caches, 0, block << caches->shift);
}
