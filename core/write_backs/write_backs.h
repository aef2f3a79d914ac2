/* Write-backs from stores by dirty distance.

   Model (J. G. Thompson, A. J. Smith, "Efficient (stack) algorithms for analysis of write-back and
   sector memories", ACM TOCS 7(1), 1989).  The dirty distance of a store is the largest reuse
   distance of any touch of its block since the last store to the block; a store that is the first
   to its block has none, and is cold.  In a fully associative LRU cache of C blocks that writes
   back and allocates on a store, a store makes a clean block dirty iff it is cold or its dirty
   distance is at least C.  Each block that became dirty is written back once: when it is replaced,
   or at the end of the program, where all are.  So

     write-backs(C) = cold stores + stores with a dirty distance ≥ C

   which belong to the group whose store made the block dirty.  Each thread has a cache of its own,
   from which other threads take nothing.  A cache that writes through keeps no block dirty, which
   is C = 0: it passes on all stores, each for every block that it touches. */
#ifndef PM_WRITE_BACKS_H
#define PM_WRITE_BACKS_H

#include "core/profile.h"
#include "core/shared_level/shared_level.h"

/* Does PROFILE have dirty distances in blocks of this size?  One that was measured with them has
   them for each block size, for every program stores. */
bool pm_profile_has_dirty(const struct pm_profile *profile, uint64_t block_bytes);

/* The dirty distances of (GROUP, BLOCK_BYTES); NULL: it stored nothing, or they were not measured.
 */
const struct pm_histogram *pm_profile_dirty(const struct pm_profile *profile, uint32_t group,
                                            uint64_t block_bytes);

/* The write-backs that GROUP causes in a cache of BLOCKS blocks of BLOCK_BYTES, or of one that
   SERVES so (core/shared_level/shared_level.h), if that has points; NAN: not measured. */
double pm_write_backs(const struct pm_profile *profile, uint32_t group, uint64_t block_bytes,
                      double blocks, const struct pm_response *serves);

/* Adds FROM, of GROUP, to PROFILE's dirty distances, out of order (pm_sort_histograms). */
void pm_profile_add_dirty(struct pm_profile *profile, uint32_t group, struct pm_histogram *from);

#endif
