/* Sets of simulated caches (simulated_caches.h) that have too many ways to be searched, as fully
   associative ones: a table of all blocks by a hash, and in each set a ring from the newest to the
   oldest place. An empty place is the oldest of its set, so that it goes first. */
#include "runtime/profiler/simulated_caches.h"
#include "runtime/system.h"

#define NO_PLACE UINT32_MAX

struct pm_large_sets {
    uint64_t n_places, n_slots;
    uint32_t *slots;         /* [n_slots]: the first place of a hash + 1; 0: none */
    uint32_t *same_slot;     /* [place]: the next one + 1 */
    uint32_t *newer, *older; /* [place] */
    uint32_t *newest;        /* [set]: its place + 1; 0: none was used yet, and its ring not made */
    uint8_t *right;          /* [set · ways + node] of PLRU, the root is 1: go right */
};

struct pm_large_sets *pm_large_sets_new(uint64_t sets, uint32_t ways) {
    struct pm_large_sets *large = pm_mmap(sizeof *large);
    if (!large)
        return NULL;
    large->n_places = sets * ways;
    for (large->n_slots = 1; large->n_slots < 2 * large->n_places;)
        large->n_slots *= 2;
    large->slots = pm_mmap(large->n_slots * sizeof *large->slots);
    large->same_slot = pm_mmap(large->n_places * sizeof *large->same_slot);
    large->newer = pm_mmap(large->n_places * sizeof *large->newer);
    large->older = pm_mmap(large->n_places * sizeof *large->older);
    large->newest = pm_mmap(large->n_places * sizeof *large->newest);
    large->right = pm_mmap(large->n_places);
    if (large->slots && large->same_slot && large->newer && large->older && large->newest &&
        large->right)
        return large;
    pm_large_sets_free(large);
    return NULL;
}

void pm_large_sets_free(struct pm_large_sets *large) {
    if (!large)
        return;
    pm_munmap(large->slots, large->n_slots * sizeof *large->slots);
    pm_munmap(large->same_slot, large->n_places * sizeof *large->same_slot);
    pm_munmap(large->newer, large->n_places * sizeof *large->newer);
    pm_munmap(large->older, large->n_places * sizeof *large->older);
    pm_munmap(large->newest, large->n_places * sizeof *large->newest);
    pm_munmap(large->right, large->n_places);
    pm_munmap(large, sizeof *large);
}

/* ---- finding --------------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct pm_large_sets *large, uint64_t block) {
    return &large->slots[(block * 0x9e3779b97f4a7c15u >> 20) & (large->n_slots - 1)];
}

static uint32_t find(const struct pm_cache *cache, uint64_t block) {
    const struct pm_large_sets *large = cache->large;
    for (uint32_t next = *slot_of(large, block); next; next = large->same_slot[next - 1])
        if (cache->blocks[next - 1] == block)
            return next - 1;
    return NO_PLACE;
}

static void enter(struct pm_cache *cache, uint32_t place, uint64_t block) {
    uint32_t *slot = slot_of(cache->large, block);
    cache->blocks[place] = block;
    cache->large->same_slot[place] = *slot;
    *slot = place + 1;
}

static void leave(struct pm_cache *cache, uint32_t place) {
    uint32_t *at = slot_of(cache->large, cache->blocks[place]);
    while (*at != place + 1)
        at = &cache->large->same_slot[*at - 1];
    *at = cache->large->same_slot[place];
    cache->blocks[place] = 0;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The newest place of SET, whose first one comes first. */
static uint32_t newest_of(struct pm_cache *cache, uint64_t set) {
    struct pm_large_sets *large = cache->large;
    const uint32_t first = (uint32_t)set * cache->ways, ways = cache->ways;
    if (large->newest[set])
        return large->newest[set] - 1;
    for (uint32_t way = 0; way < ways; way++) {
        large->newer[first + way] = first + (way + 1) % ways;
        large->older[first + way] = first + (way + ways - 1) % ways;
    }
    large->newest[set] = first + ways;
    return first + ways - 1;
}

static void make_newest(struct pm_cache *cache, uint64_t set, uint32_t place) {
    struct pm_large_sets *large = cache->large;
    const uint32_t newest = newest_of(cache, set), oldest = large->newer[newest];
    if (place != newest && place != oldest) {
        large->older[large->newer[place]] = large->older[place];
        large->newer[large->older[place]] = large->newer[place];
        large->newer[place] = oldest;
        large->older[place] = newest;
        large->newer[newest] = large->older[oldest] = place;
    }
    large->newest[set] = place + 1;
}

static void turn_away(struct pm_cache *cache, uint64_t set, uint32_t place) {
    uint8_t *right = cache->large->right + set * cache->ways;
    uint32_t way = place - (uint32_t)set * cache->ways;
    for (uint32_t node = way + cache->ways; node > 1; node /= 2)
        right[node / 2] = node % 2 == 0;
}

static uint32_t victim(struct pm_cache *cache, uint64_t set) {
    const uint32_t oldest = cache->large->newer[newest_of(cache, set)];
    const uint32_t first = (uint32_t)set * cache->ways;
    const uint8_t *right = cache->large->right + set * cache->ways;
    uint32_t node = 1;
    if (!cache->blocks[oldest] || cache->shape.policy == PM_CACHE_LRU ||
        cache->shape.policy == PM_CACHE_FIFO)
        return oldest;
    if (cache->shape.policy == PM_CACHE_RANDOM)
        return first + pm_cache_random(cache, cache->ways);
    while (node < cache->ways)
        node = 2 * node + right[node];
    return first + node - cache->ways;
}

/* ---- sets ------------------------------------------------------------------------------------ */

bool pm_large_use(struct pm_cache *cache, uint64_t set, uint64_t block) {
    const uint32_t at = find(cache, block);
    if (at == NO_PLACE)
        return false;
    if (cache->shape.policy == PM_CACHE_LRU)
        make_newest(cache, set, at);
    else if (cache->shape.policy == PM_CACHE_PLRU)
        turn_away(cache, set, at);
    return true;
}

uint64_t pm_large_bring(struct pm_cache *cache, uint64_t set, uint64_t block) {
    const uint32_t at = victim(cache, set);
    const uint64_t replaced = cache->blocks[at];
    if (replaced)
        leave(cache, at);
    enter(cache, at, block);
    make_newest(cache, set, at);
    if (cache->shape.policy == PM_CACHE_PLRU)
        turn_away(cache, set, at);
    return replaced;
}

bool pm_large_drop(struct pm_cache *cache, uint64_t set, uint64_t block) {
    const uint32_t at = find(cache, block);
    if (at == NO_PLACE)
        return false;
    leave(cache, at);
    make_newest(cache, set, at);
    cache->large->newest[set] = cache->large->older[at] + 1;
    return true;
}
