/* Exact reuse distances of one thread's accesses for one block size.

   Model.  A block is 2^shift bytes, aligned.  The accesses of a thread in program order are turned
   into touches of blocks: an access touches every block that holds one of its bytes, in ascending
   order.  The reuse distance of a touch is the number d of distinct other blocks touched since the
   last touch of the same block; a first touch has none and is cold.  An LRU cache of C blocks hits
   iff d < C (Marin & Mellor-Crummey 2004, section 2.2.2).
   Assumed: addresses do not wrap around, and no access touches block 2^64 − 1 (which has no user
   memory); a thread touches fewer than 2^30 blocks of a size (else the analysis gives up and says
   so); other threads' accesses do not count.  Nothing is rounded.

   Bounded (max_blocks > 0).  Memory is bounded by forgetting the least recent blocks: a touch at a
   distance of max_blocks or more is PM_BEYOND, exactly; first touches stay exact too.

   Sampled (sample = R > 1).  Only blocks whose hash is in the lowest R-th part of its range are
   looked at; counts and distances are estimated from these (reuse_result.c).

   Memory for each block touched: 4 bytes of slot, and 1 to 3 of stamps and tables; for a block that
   is alone among 64 neighbours 256 bytes more, among 2^14 neighbours 2 KiB (reuse_state.h). */
#ifndef PM_RUNTIME_REUSE_H
#define PM_RUNTIME_REUSE_H

#include <stdbool.h>

#include "core/raw_file.h"
#include "runtime/pmodel_handler.h"
#include "runtime/reuse/pieces.h"

struct pm_reuse;
struct pm_touch_histogram;

/* For which vector extension the analysis is compiled. */

enum pm_reuse_variant { PM_REUSE_SSE2, PM_REUSE_AVX2, PM_REUSE_AVX512, PM_REUSE_N_VARIANTS };

/* The best one that this CPU can run. */
enum pm_reuse_variant pm_reuse_best_variant(void);

/* Distances below it are always written one by one. */
enum { PM_SINGLE_DISTANCES = 64 };

#define PM_USUAL_BIN_WIDTH 0.01

/* What the user may choose. */
struct pm_reuse_options {
    uint64_t max_blocks; /* memory for about so many (sampled) blocks; 0: unbounded */
    uint64_t sample;     /* one of so many blocks is sampled; 0, 1: all */
    double bin_width; /* (high − low) / low of a written bin at most; 0: bins of one distance */
};

/* Are bins as narrow as that kept by distance? */
bool pm_reuse_keeps_every_distance(const struct pm_reuse_options *options);

/* An analysis for blocks of 2^SHIFT bytes; CAPACITY stamps at first (a power of two from 512).
   NULL without memory.  Free with pm_reuse_free. */
struct pm_reuse *pm_reuse_new(unsigned shift, uint64_t capacity, enum pm_reuse_variant variant);
void pm_reuse_free(struct pm_reuse *reuse);

/* Before the first access.  False: no memory. */
bool pm_reuse_choose(struct pm_reuse *reuse, const struct pm_reuse_options *options);

/* Analyses COUNT accesses, all of groups below N_GROUPS.  Without memory it fails for good. */
void pm_reuse_accesses(struct pm_reuse *reuse, uint32_t n_groups,
                       const struct pmodel_access *accesses, size_t count);

/* Forgets all blocks, as if a new thread began; histograms and n_blocks stay. */
void pm_reuse_forget_blocks(struct pm_reuse *reuse);

bool pm_reuse_has_failed(const struct pm_reuse *reuse);

/* Bytes of memory in use, histograms included. */
uint64_t pm_reuse_bytes(const struct pm_reuse *reuse);

/* ---- what was found -------------------------------------------------------------------------- */

/* Of a reference group, as it is written. */
struct pm_reuse_result {
    uint64_t block_bytes;
    uint64_t n_blocks; /* distinct blocks of the whole analysis, estimated under sampling */
    uint64_t sample;   /* one of so many blocks was sampled; 1: all */
    uint64_t cold_loads, cold_stores; /* first touches */
    uint64_t at_least;                /* distances from here on are counted as one; 0: none are */
    uint64_t beyond_loads, beyond_stores;
    uint64_t n_bins;
};

/* Bins that any group of REUSE may have: room for pm_reuse_result. */
size_t pm_reuse_most_bins(const struct pm_reuse *reuse);

/* The result of GROUP, all zero of one that was not met; its bins, ascending, into BINS. */
void pm_reuse_result(const struct pm_reuse *reuse, uint32_t group, struct pm_reuse_result *result,
                     struct pm_raw_bin *bins);

/* The same of a histogram that is a part of a group's; not under sampling. */
void pm_reuse_result_of(const struct pm_reuse *reuse, const struct pm_touch_histogram *histogram,
                        struct pm_reuse_result *result, struct pm_raw_bin *bins);

/* ---- what was found since the last time (rises.c) --------------------------------------------
 */

/* Instead of a distance: a first touch; at the bound or farther. */
#define PM_COLD UINT64_MAX
#define PM_BEYOND (UINT64_MAX - 1)

/* Accesses of a group at distances of the bin from LOW on, as the histogram counts them. */
struct pm_reuse_rise {
    uint32_t group;
    uint64_t low; /* or PM_COLD, PM_BEYOND */
    uint64_t loads, stores, distance_sum;
};

/* Calls TELL (CONTEXT, …) for all that REUSE counted since the last time, several times for one bin
   maybe; not under sampling.  *RISES, NULL at first, is what it stood at.  False: there was no
   memory for that, and some may be missing, now or the next time. */
struct pm_reuse_rises;
bool pm_reuse_take_rises(const struct pm_reuse *reuse, struct pm_reuse_rises **rises,
                         void (*tell)(void *context, const struct pm_reuse_rise *rise),
                         void *context);
void pm_reuse_rises_free(struct pm_reuse_rises *rises); /* NULL: none */

/* A part of the accesses of a group, whose result is WHOLE with the bins WHOLE_BINS: in these bins.
   Begin with all zero BINS, one for each of these, and RESULT; add each rise; end. */
void pm_reuse_part_begin(const struct pm_reuse_result *whole, struct pm_reuse_result *result,
                         struct pm_raw_bin *bins);
void pm_reuse_part_add(const struct pm_reuse_result *whole, const struct pm_raw_bin *whole_bins,
                       const struct pm_reuse_rise *rise, struct pm_reuse_result *result,
                       struct pm_raw_bin *bins);
void pm_reuse_part_end(const struct pm_reuse *reuse, const struct pm_reuse_result *whole,
                       const struct pm_raw_bin *whole_bins, struct pm_reuse_result *result,
                       struct pm_raw_bin *bins);

/* The size of blocks in bytes, and of how many of them one is sampled; 1: all are looked at. */
uint64_t pm_reuse_block_bytes(const struct pm_reuse *reuse);
uint64_t pm_reuse_sample(const struct pm_reuse *reuse);

/* ---- touches that go on from one block to the next (sequential_touches.h) -------------------- */

/* REUSE, which was not given an access yet, counts them.  False: no memory. */
bool pm_reuse_count_sequential(struct pm_reuse *reuse);
bool pm_reuse_counts_sequential(const struct pm_reuse *reuse);

/* Those of GROUP, all zero of one that was not met; an access that loads and stores is a load.
   Bins, ascending, into BINS with room for pm_reuse_most_bins. */
void pm_reuse_sequential(const struct pm_reuse *reuse, uint32_t group,
                         struct pm_reuse_result *result, struct pm_raw_bin *bins);

/* ---- samples --------------------------------------------------------------------------------- */

/* Under sampling: touches of sampled blocks that miss in a cache of 2^LOG2_SIZE blocks, by the
   blocks of SUBSAMPLE, of PM_RAW_SUBSAMPLES. */
uint64_t pm_reuse_subsample_misses(const struct pm_reuse *reuse, unsigned subsample,
                                   unsigned log2_size);

#endif
