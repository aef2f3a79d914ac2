/* What write-backs need: for each store the largest reuse distance of any touch of its block since
   the last store to the block.

   Model (J. G. Thompson, A. J. Smith, "Efficient (stack) algorithms for analysis of write-back and
   sector memories", ACM TOCS 7(1), 1989).  A fully associative LRU cache of C blocks, write-back
   and write-allocate.  A block is dirty from a store on until it is evicted, and is written back
   then; at the end all dirty blocks are.  It was evicted between two stores iff one of the touches
   after the first store, up to the second and with it, missed: iff the largest of their reuse
   distances is at least C.  That is the DIRTY DISTANCE of the second store; a store that is the
   first to its block has none.  Each write-back belongs to the store that made the clean block
   dirty, so that
     write-backs(C) = stores with a dirty distance ≥ C + blocks that are stored to.
   An access that loads and stores is a load at its distance and a store at distance 0: one store.
   An access that touches several blocks stores to each of them.
   Assumed: what reuse.h does.  Neither bounded nor sampled: a forgotten distance has no largest.

   Data.  A table has a word for each block: 0, it was not stored to yet; else 1 + the largest
   distance since its last store.  A touch at distance 0 changes no maximum, so that the word of the
   block touched last stays at hand and most touches look nothing up.  Distances are those of a
   pm_reuse, of which this is the only walk; memory is its own and 8 bytes for each block, in pages
   of 512. */
#ifndef PM_RUNTIME_WRITE_BACKS_H
#define PM_RUNTIME_WRITE_BACKS_H

#include "runtime/page_table.h"
#include "runtime/reuse/reuse.h"

struct pm_write_backs;

/* An analysis for blocks of 2^SHIFT bytes; CAPACITY as pm_reuse_new.  NULL without memory. */
struct pm_write_backs *pm_write_backs_new(unsigned shift, uint64_t capacity,
                                          enum pm_reuse_variant variant);
void pm_write_backs_free(struct pm_write_backs *write_backs);

/* Analyses COUNT accesses, all of groups below N_GROUPS.  Without memory it fails for good. */
void pm_write_backs_accesses(struct pm_write_backs *write_backs, uint32_t n_groups,
                             const struct pmodel_access *accesses, size_t count);

/* Forgets all blocks, as if a new thread began with an empty cache. */
void pm_write_backs_forget_blocks(struct pm_write_backs *write_backs);

bool pm_write_backs_failed(const struct pm_write_backs *write_backs);

/* The reuse distances of the same accesses; owned by WRITE_BACKS. */
struct pm_reuse *pm_write_backs_reuse(const struct pm_write_backs *write_backs);

/* The stores of GROUP by dirty distance, all zero of one that was not met: first stores to a block
   are its `cold_stores`; nothing is a load.  Bins, ascending, into BINS with room for
   pm_reuse_most_bins. */
void pm_write_backs_result(const struct pm_write_backs *write_backs, uint32_t group,
                           struct pm_reuse_result *result, struct pm_raw_bin *bins);

#endif
