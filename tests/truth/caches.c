/* See caches.h.

   The places of a set are in a ring from the newest to the oldest, so that the oldest is the one
   before the newest, and an empty place is made the oldest.  LRU moves what is used to
   the front, the others only what comes. */
#include "tests/truth/caches.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_SHIFT = 12, MOST_SEARCHED_WAYS = 16 /* more: by a hash table */ };
#define EMPTY UINT64_MAX
#define NO_PLACE UINT32_MAX

struct neighbours {
    uint32_t newer, older;
};

/* Places are numbered set · ways + way. */
struct level {
    struct pm_level is;
    unsigned block_shift;
    uint64_t sets;
    uint32_t ways;
    uint64_t *blocks; /* [place]; EMPTY */
    bool *dirty;      /* [place] */
    struct neighbours *ring;
    uint32_t *newest;     /* [set] */
    bool *right;          /* PLRU, [set · ways + node], the root is 1: where the next victim is */
    uint32_t *slots;      /* hash table: place, NO_PLACE; NULL: sets are searched */
    uint32_t *same_slot;  /* [place] the next one of its slot */
    unsigned slots_shift; /* 64 − log2 (slots) */
    uint64_t random;
    struct caches_counts counts;
};

struct caches {
    size_t n_levels;
    uint64_t pages; /* the seed of their numbers */
    struct level levels[];
};

/* ---- sets ------------------------------------------------------------------------------------ */

/* A permutation of 64-bit numbers that looks random (the end of MurmurHash3). */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static uint64_t set_of(const struct caches *caches, const struct level *level, uint64_t block) {
    if (level->is.indexed == PM_INDEXED_PHYSICAL) {
        unsigned bits = PAGE_SHIFT - level->block_shift;
        uint64_t in_page = block & ((1u << bits) - 1);
        block = mix((block >> bits) ^ caches->pages) << bits | in_page;
    }
    return level->sets & (level->sets - 1) ? block % level->sets : block & (level->sets - 1);
}

static uint32_t *slot_of(const struct level *level, uint64_t block) {
    return &level->slots[block * 0x9e3779b97f4a7c15u >> level->slots_shift];
}

/* No branch hangs on where it is found: that is as good as random. */
static uint32_t find(const struct level *level, uint64_t set, uint64_t block) {
    uint32_t first = (uint32_t)set * level->ways, place = NO_PLACE;
    if (level->blocks[level->newest[set]] == block)
        return level->newest[set];
    if (level->slots) {
        for (place = *slot_of(level, block); place != NO_PLACE; place = level->same_slot[place])
            if (level->blocks[place] == block)
                break;
        return place;
    }
    for (uint32_t way = 0; way < level->ways; way++)
        place = level->blocks[first + way] == block ? first + way : place;
    return place;
}

static void make_newest(struct level *level, uint64_t set, uint32_t place) {
    struct neighbours *ring = level->ring;
    uint32_t newest = level->newest[set], oldest = ring[newest].newer;
    if (place != newest && place != oldest) {
        ring[ring[place].newer].older = ring[place].older;
        ring[ring[place].older].newer = ring[place].newer;
        ring[place] = (struct neighbours){.newer = oldest, .older = newest};
        ring[newest].newer = ring[oldest].older = place;
    }
    level->newest[set] = place;
}

static void make_oldest(struct level *level, uint64_t set, uint32_t place) {
    make_newest(level, set, place);
    level->newest[set] = level->ring[place].older;
}

/* ---- replacement ----------------------------------------------------------------------------- */

static void turn_away(struct level *level, uint64_t set, uint32_t place) {
    bool *right = level->right + set * level->ways;
    uint32_t first = (uint32_t)set * level->ways;
    for (uint32_t node = place - first + level->ways; node > 1; node /= 2)
        right[node / 2] = node % 2 == 0;
}

static void use(struct level *level, uint64_t set, uint32_t place) {
    if (level->is.replacement == PM_REPLACEMENT_LRU)
        make_newest(level, set, place);
    else if (level->is.replacement == PM_REPLACEMENT_PLRU)
        turn_away(level, set, place);
}

/* Marsaglia's xorshift with 64 bits, multiplied. */
static uint32_t random_below(struct level *level, uint32_t below) {
    level->random ^= level->random >> 12;
    level->random ^= level->random << 25;
    level->random ^= level->random >> 27;
    uint64_t high = level->random * 0x2545f4914f6cdd1du >> 32;
    return (uint32_t)(high * below >> 32);
}

static uint32_t victim(struct level *level, uint64_t set) {
    uint32_t first = (uint32_t)set * level->ways, node = 1;
    uint32_t oldest = level->ring[level->newest[set]].newer;
    if (level->blocks[oldest] == EMPTY)
        return oldest;
    switch (level->is.replacement) {
    case PM_REPLACEMENT_LRU:
    case PM_REPLACEMENT_FIFO:
        break;
    case PM_REPLACEMENT_RANDOM:
        return first + random_below(level, level->ways);
    case PM_REPLACEMENT_PLRU:
        while (node < level->ways)
            node = 2 * node + level->right[set * level->ways + node];
        return first + node - level->ways;
    }
    return oldest;
}

static void leave(struct level *level, uint64_t set, uint32_t place) {
    if (level->slots) {
        uint32_t *at = slot_of(level, level->blocks[place]);
        while (*at != place)
            at = &level->same_slot[*at];
        *at = level->same_slot[place];
    }
    level->blocks[place] = EMPTY;
    level->dirty[place] = false;
    make_oldest(level, set, place);
}

static void come(struct level *level, uint64_t set, uint32_t place, uint64_t block, bool dirty) {
    if (level->slots) {
        uint32_t *slot = slot_of(level, block);
        level->same_slot[place] = *slot;
        *slot = place;
    }
    level->blocks[place] = block;
    level->dirty[place] = dirty;
    make_newest(level, set, place);
    use(level, set, place);
}

/* ---- between levels.  Level n_levels is memory, which has all blocks ------------------------- */

/* Is there a level L that holds what the one before it replaced? */
static bool is_exclusive(const struct caches *caches, size_t l) {
    return l < caches->n_levels && caches->levels[l].is.inclusion == PM_INCLUSION_EXCLUSIVE;
}

static void write_back(struct caches *caches, size_t l, uint64_t address) {
    for (; l < caches->n_levels; l++) {
        struct level *level = &caches->levels[l];
        uint64_t block = address >> level->block_shift;
        uint32_t place = find(level, set_of(caches, level, block), block);
        if (place != NO_PLACE && level->is.write == PM_WRITE_BACK) {
            level->dirty[place] = true;
            return;
        }
    }
}

/* Takes the bytes out of level L; was one of its blocks dirty? */
static bool invalidate(struct caches *caches, size_t l, uint64_t address, uint64_t bytes) {
    struct level *level = &caches->levels[l];
    uint64_t first = address >> level->block_shift, n = bytes >> level->block_shift;
    bool dirty = false;
    for (uint64_t block = first; block < first + n; block++) {
        uint64_t set = set_of(caches, level, block);
        uint32_t place = find(level, set, block);
        if (place == NO_PLACE)
            continue;
        dirty |= level->dirty[place];
        level->counts.write_backs += level->dirty[place];
        leave(level, set, place);
    }
    return dirty;
}

static uint32_t place_block(struct caches *caches, size_t l, uint64_t address, bool dirty);

static void replace(struct caches *caches, size_t l, uint64_t set, uint32_t place) {
    struct level *level = &caches->levels[l];
    uint64_t address = level->blocks[place] << level->block_shift;
    bool dirty = level->dirty[place];
    leave(level, set, place);
    if (level->is.inclusion == PM_INCLUSION_INCLUSIVE)
        for (size_t nearer = 0; nearer < l; nearer++)
            dirty |= invalidate(caches, nearer, address, level->is.block_bytes);
    level->counts.write_backs += dirty;
    if (is_exclusive(caches, l + 1))
        place_block(caches, l + 1, address, dirty);
    else if (dirty)
        write_back(caches, l + 1, address);
}

/* Gives the block a place in level L, and tells which. */
static uint32_t place_block(struct caches *caches, size_t l, uint64_t address, bool dirty) {
    struct level *level = &caches->levels[l];
    uint64_t block = address >> level->block_shift, set = set_of(caches, level, block);
    uint32_t place = victim(level, set);
    if (level->blocks[place] != EMPTY)
        replace(caches, l, set, place);
    come(level, set, place, block, dirty);
    return place;
}

/* Brings a block from level L to the one before it; is it dirty? */
static bool fetch(struct caches *caches, size_t l, uint64_t address, bool for_store) {
    if (l == caches->n_levels)
        return false;
    struct level *level = &caches->levels[l];
    uint64_t block = address >> level->block_shift, set = set_of(caches, level, block);
    uint32_t place = find(level, set, block);
    bool dirty = false;
    if (place == NO_PLACE) {
        *(for_store ? &level->counts.store_misses : &level->counts.load_misses) += 1;
        dirty = fetch(caches, l + 1, address, for_store);
        if (!is_exclusive(caches, l))
            place_block(caches, l, address, dirty);
    } else if (is_exclusive(caches, l)) {
        dirty = level->dirty[place];
        leave(level, set, place);
    } else {
        use(level, set, place);
    }
    return is_exclusive(caches, l) && dirty;
}

static void store(struct caches *caches, size_t l, uint64_t address) {
    if (l == caches->n_levels)
        return;
    struct level *level = &caches->levels[l];
    uint64_t block = address >> level->block_shift, set = set_of(caches, level, block);
    uint32_t place = find(level, set, block);
    if (place != NO_PLACE) {
        use(level, set, place);
    } else {
        level->counts.store_misses++;
        if (!level->is.write_allocate || is_exclusive(caches, l)) {
            store(caches, l + 1, address);
            return;
        }
        bool dirty = fetch(caches, l + 1, address, true);
        place = place_block(caches, l, address, dirty);
    }
    if (level->is.write == PM_WRITE_BACK)
        level->dirty[place] = true;
    else
        store(caches, l + 1, address);
}

void caches_access(struct caches *caches, uint64_t address, uint64_t size_bytes, bool is_store) {
    unsigned shift = caches->levels[0].block_shift;
    uint64_t last = (address + size_bytes - 1) >> shift;
    for (uint64_t block = address >> shift; block <= last; block++) {
        if (is_store)
            store(caches, 0, block << shift);
        else
            fetch(caches, 0, block << shift, false);
    }
}

/* ---- making and asking ----------------------------------------------------------------------- */

static bool is_power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

static bool can_be(const struct pm_level *levels, size_t l, struct pm_error *err) {
    const struct pm_level *level = &levels[l], *before = l ? &levels[l - 1] : NULL;
    bool is_exclusive = level->inclusion == PM_INCLUSION_EXCLUSIVE;
    uint64_t blocks = level->size_bytes / (level->block_bytes ? level->block_bytes : 1);
    if (!is_power_of_two(level->block_bytes) ||
        (level->block_bytes > 1u << PAGE_SHIFT && level->indexed == PM_INDEXED_PHYSICAL))
        return pm_fail(err,
                       "level %zu: blocks are a power of two of bytes, of a physically "
                       "indexed level no more than a page",
                       l + 1);
    if (!blocks || blocks >= NO_PLACE || !pm_level_sets(level))
        return pm_fail(err, "level %zu has no set, or too many blocks", l + 1);
    if (level->replacement == PM_REPLACEMENT_PLRU &&
        !is_power_of_two(level->associativity ? level->associativity : blocks))
        return pm_fail(err, "level %zu: a tree has a power of two of ways", l + 1);
    if (is_exclusive &&
        (!before || before->block_bytes != level->block_bytes || before->write == PM_WRITE_THROUGH))
        return pm_fail(err,
                       "level %zu is exclusive of a level before it, with blocks of the same "
                       "size, that writes back",
                       l + 1);
    if (before && before->block_bytes > level->block_bytes)
        return pm_fail(err, "level %zu has smaller blocks than the level before it", l + 1);
    return true;
}

static void make_hash_table(struct level *level, size_t n_places) {
    for (level->slots_shift = 64; 1ull << (64 - level->slots_shift) < 2 * n_places;)
        level->slots_shift--;
    size_t n_slots = (size_t)1 << (64 - level->slots_shift);
    level->slots = pm_alloc(n_slots, sizeof *level->slots);
    memset(level->slots, 0xff, n_slots * sizeof *level->slots); /* NO_PLACE */
    level->same_slot = pm_alloc(n_places, sizeof *level->same_slot);
}

static void make_level(struct level *level, const struct pm_level *is, uint64_t seed) {
    uint64_t sets = pm_level_sets(is);
    uint32_t ways =
        is->associativity ? is->associativity : (uint32_t)(is->size_bytes / is->block_bytes);
    size_t n_places = sets * ways;
    *level = (struct level){
        .is = *is,
        .block_shift = (unsigned)__builtin_ctzll(is->block_bytes),
        .sets = sets,
        .ways = ways,
        .blocks = pm_alloc(n_places, sizeof *level->blocks),
        .dirty = pm_alloc(n_places, sizeof *level->dirty),
        .ring = pm_alloc(n_places, sizeof *level->ring),
        .newest = pm_alloc(sets, sizeof *level->newest),
        .right = pm_alloc(n_places, sizeof *level->right),
        .random = mix(seed) | 1,
    };
    memset(level->blocks, 0xff, n_places * sizeof *level->blocks); /* EMPTY */
    for (uint32_t place = 0; place < n_places; place++) {
        uint32_t first = place / ways * ways, way = place - first;
        level->ring[place] = (struct neighbours){.newer = first + (way + 1) % ways,
                                                 .older = first + (way + ways - 1) % ways};
    }
    for (uint64_t set = 0; set < sets; set++)
        level->newest[set] = (uint32_t)(set * ways + ways - 1); /* so that the first comes first */
    if (ways > MOST_SEARCHED_WAYS)
        make_hash_table(level, n_places);
}

struct caches *caches_new(const struct pm_level *levels, size_t n_levels, uint64_t seed,
                          struct pm_error *err) {
    for (size_t l = 0; l < n_levels; l++)
        if (!can_be(levels, l, err))
            return NULL;
    struct caches *caches = pm_alloc(1, sizeof *caches + n_levels * sizeof caches->levels[0]);
    caches->n_levels = n_levels;
    caches->pages = mix(~seed);
    for (size_t l = 0; l < n_levels; l++)
        make_level(&caches->levels[l], &levels[l], seed + l);
    return caches;
}

void caches_free(struct caches *caches) {
    for (size_t l = 0; caches && l < caches->n_levels; l++) {
        struct level *level = &caches->levels[l];
        free(level->blocks);
        free(level->dirty);
        free(level->ring);
        free(level->newest);
        free(level->right);
        free(level->slots);
        free(level->same_slot);
    }
    free(caches);
}

struct caches_counts caches_counts(const struct caches *caches, size_t level) {
    return caches->levels[level].counts;
}

bool caches_hold(const struct caches *caches, size_t l, uint64_t address) {
    const struct level *level = &caches->levels[l];
    uint64_t block = address >> level->block_shift;
    return find(level, set_of(caches, level, block), block) != NO_PLACE;
}

uint64_t caches_held(const struct caches *caches, size_t l, uint64_t *dirty) {
    const struct level *level = &caches->levels[l];
    uint64_t held = 0;
    *dirty = 0;
    for (uint64_t place = 0; place < level->sets * level->ways; place++) {
        held += level->blocks[place] != EMPTY;
        *dirty += level->dirty[place];
    }
    return held;
}
