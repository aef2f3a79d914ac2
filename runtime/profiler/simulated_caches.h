/* Caches of a machine, simulated access by access, for profiles of basic blocks (profiler.h).

   What a level does with a block, as machine files name it (core/machine/machine.h):

     a load          hits, or brings the block in from the next level
     a store         the same; a level that does not allocate leaves a block that it misses to the
                     next one.  One that writes through stores there, too
     neither         the level keeps what it brought in until it replaces that
     inclusive       what it replaces leaves all levels nearer the core, too
     exclusive       holds what the level before it replaced, and gives back what that one misses: a
                     hit leaves it

   and replaces an empty place, else of the set

     LRU, FIFO       what was used, or came, longest ago
     random          any, with equal chance
     PLRU            the place to which the bits of a binary tree lead, that each use turns away

   What is dirty is not followed: a block that is written back is no use of it.  The set of a
   virtual address is its block modulo the number of sets; of a physical one the same, after the
   number of the page of 4 KiB was replaced by a random one, the same in all levels.

   The filter.  Most touches are of the block that was touched last in its set of the first level:
   then nothing changes, whatever the policy, unless a store is written through.  A table has these
   blocks, so that one comparison tells. */
#ifndef PM_RUNTIME_PROFILER_SIMULATED_CACHES_H
#define PM_RUNTIME_PROFILER_SIMULATED_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PM_MOST_CACHES = 8, PM_ROW_PLACES = 8, PM_PHYSICAL_PAGE_SHIFT = 12 };

enum pm_cache_policy { PM_CACHE_LRU, PM_CACHE_PLRU, PM_CACHE_FIFO, PM_CACHE_RANDOM };

/* A level, as PM_ENV_SIMULATE says it (core/probe_abi.h). */
struct pm_cache_shape {
    uint64_t size_bytes, line_bytes;
    uint64_t ways; /* 0: fully associative */
    enum pm_cache_policy policy;
    bool physical, inclusive, exclusive, write_through, no_write_allocate;
};

/* Blocks are numbered by their addresses; 0 is none, as no program has that page. */
struct pm_cache {
    struct pm_cache_shape shape;
    unsigned shift; /* log2 of line_bytes */
    bool is_large;  /* sets too large to be searched (large_sets.c) */
    uint64_t sets, set_mask;
    uint64_t inverse; /* ⌈2^64 / sets⌉; 0: sets are a power of two */
    uint32_t ways;
    uint32_t row_places; /* of a set: its ways, rounded up, or if it is large all the same */
    uint64_t *blocks; /* [set · row_places + way]; of LRU and FIFO the newest first, unless it is
                         large */
    uint64_t *bits;   /* of PLRU: [set], bit n is node n of the tree, from 1 on: go right */
    uint64_t random;
    struct pm_large_sets *large; /* NULL unless it is */
};

struct pm_caches {
    unsigned n_levels, shift; /* SHIFT: of the first level */
    bool are_simple;          /* profiler_touch.h */
    bool stores_pass;         /* the first level writes through: the filter is for loads only */
    uint64_t filter_mask, *filter; /* [filter_mask + 1] by block modulo */
    uint64_t *newest;              /* [set]; NULL: the filter is by set */
    struct pm_cache levels[PM_MOST_CACHES];
};

/* Can these be?  With a sentence's worth of reasons the command has looked before. */
bool pm_caches_can_be(const struct pm_cache_shape *shapes, unsigned n_levels);

/* NULL: no memory. */
struct pm_caches *pm_caches_new(const struct pm_cache_shape *shapes, unsigned n_levels);
void pm_caches_free(struct pm_caches *caches);

/* Is BLOCK the one that was touched last in its set? */
static inline bool pm_caches_are_as_before(const struct pm_caches *caches, uint64_t block) {
    return caches->filter[block & caches->filter_mask] == block;
}

/* ---- large_sets.c: sets of more ways than can be searched ------------------------------------ */

enum { PM_MOST_SEARCHED_WAYS = 64 };

struct pm_large_sets *pm_large_sets_new(uint64_t sets, uint32_t ways);
void pm_large_sets_free(struct pm_large_sets *large);
/* As the functions of the same names in caches.c. */
bool pm_large_use(struct pm_cache *cache, uint64_t set, uint64_t block);
uint64_t pm_large_bring(struct pm_cache *cache, uint64_t set, uint64_t block);
bool pm_large_drop(struct pm_cache *cache, uint64_t set, uint64_t block);

/* ---- numbers that look random ---------------------------------------------------------------- */

/* A number below BELOW, from CACHE's generator: Marsaglia's xorshift with 64 bits, multiplied. */
static inline uint32_t pm_cache_random(struct pm_cache *cache, uint32_t below) {
    cache->random ^= cache->random >> 12;
    cache->random ^= cache->random << 25;
    cache->random ^= cache->random >> 27;
    const uint64_t high = cache->random * 0x2545f4914f6cdd1du >> 32;
    return (uint32_t)(high * below >> 32);
}

/* A permutation of 64-bit numbers (the end of MurmurHash3). */
static inline uint64_t pm_cache_mix(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

#endif
