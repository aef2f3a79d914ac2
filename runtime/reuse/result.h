/* What a reuse distance analysis found of a reference group, as it is written.

   Sampling.  With one of R blocks watched, of n touches at distance ≥ d about n/R are seen, each at
   about d/R watched blocks; so counts and distances are multiplied by R (Waldspurger et al.,
   SHARDS, FAST 2015), and R − 1 is added for the evenly chosen blocks about the watched one itself
   (pm_estimated_distance).  A bin is as wide as that is uncertain: d watched blocks, d > 0, tell
   of distances from R·d + R/2 to R·d + 3R/2 − 1.  How many touches there really were is known, for
   loads and stores; what the estimate is short of it is added at distance 0, what it has too many
   is taken from the shortest distances: whether a block that is touched all the time is watched
   decides on many touches, but these are at short distances (SHARDS-adj).  Cold touches stay as
   they are estimated, so that a group may have more accesses than there were if these alone are too
   many.  Misses of caches of 8·R blocks and more are not touched by that.

   Merging.  Neighbouring bins from PM_SINGLE_DISTANCES
   on become one while its (high − low) / low stays within the width asked for. */
#ifndef PM_RUNTIME_REUSE_RESULT_H
#define PM_RUNTIME_REUSE_RESULT_H

#include "runtime/reuse/reuse.h"

enum { PM_SINGLE_DISTANCES = 64 };

struct pm_reuse_result {
    uint64_t cold_loads, cold_stores;
    uint64_t at_least; /* distances from here on are not told apart; 0: all are */
    uint64_t beyond_loads, beyond_stores;
    uint64_t n_bins;
};

/* Bins that any group of REUSE may have: room for pm_reuse_result. */
size_t pm_reuse_most_bins(const struct pm_reuse *reuse);

/* The result of GROUP; its bins, ascending, into BINS. */
void pm_reuse_result(const struct pm_reuse *reuse, uint32_t group, struct pm_reuse_result *result,
                     struct pm_raw_bin *bins);

/* The same of a histogram that is a part of a group's; not under sampling. */
void pm_reuse_result_of(const struct pm_reuse *reuse, const struct pm_group_histogram *histogram,
                        struct pm_reuse_result *result, struct pm_raw_bin *bins);

/* Distinct blocks, estimated under sampling. */
uint64_t pm_reuse_n_blocks(const struct pm_reuse *reuse);

/* Watched touches that miss in a cache of 2^LOG2_SIZE blocks, by the blocks of SUBSAMPLE. */
uint64_t pm_reuse_subsample_misses(const struct pm_reuse *reuse, unsigned subsample,
                                   unsigned log2_size);

#endif
