/* A hierarchy of caches, simulated access by access.

   Written from the definitions of its policies, to judge models of misses: it knows nothing of
   them.  A level is what core/machine/machine.h says of a cache; sizes, ways and policies as there.

   An access touches each block that holds one of its bytes, in ascending order.  What a level is
   asked for:

     a load       a hit, or a miss that brings the block in from the next level

     a store      the same; a level that does not allocate leaves a block that it misses to the
                  next level.  A level that writes back keeps a stored block dirty, one that writes
                  through stores in the next level, too

     write-back   of a dirty block that a nearer level replaces: marks the block as dirty here, or,
                  where it is not, in the next level.  It is no use of the block, moves nothing and
                  is no miss: which blocks are in which level does not hang on what is dirty

   A level misses with a load or a store by what the program did: a block that a store brings
   in through several levels is a store miss in each of them.

     neither      a level keeps what it brought in until it replaces that

     inclusive    what it replaces leaves all levels nearer the core, too; what is dirty there is
                  written back with it

     exclusive    holds what the level before it replaced, dirty or not, and gives back what
                  that level misses: a hit leaves it.  A store that misses does not allocate in it

   Replaced is an empty place, else of the set

     LRU          what was used longest ago

     FIFO         what came longest ago

     random       any, with equal chance, by a generator that the seed starts

     PLRU         the leaf at which the bits of a binary tree end: each use of a place turns the
                  bits above it away

   The set of a virtual address is its block modulo the number of sets.  Of a physical one it is the
   same, after the number of the page of 4 KiB is replaced by a random one, the same in all
   levels. */
#ifndef PM_TESTS_CACHES_H
#define PM_TESTS_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/machine/machine.h"

struct caches;

struct caches_counts {
    uint64_t load_misses, store_misses;
    uint64_t write_backs; /* dirty blocks that the level gave to the next */
};

/* LEVELS [n_levels] from the core outwards.  The caller frees the result (caches_free); NULL with
   an error where a level cannot be. */
struct caches *caches_new(const struct pm_level *levels, size_t n_levels, uint64_t seed,
                          struct pm_error *err);
void caches_free(struct caches *caches);

void caches_access(struct caches *caches, uint64_t address, uint64_t size_bytes, bool is_store);

struct caches_counts caches_counts(const struct caches *caches, size_t level);
/* Does the level hold the block with the byte at ADDRESS? */
bool caches_hold(const struct caches *caches, size_t level, uint64_t address);
/* Blocks that the level holds, and how many of them are dirty. */
uint64_t caches_held(const struct caches *caches, size_t level, uint64_t *dirty);

#endif
