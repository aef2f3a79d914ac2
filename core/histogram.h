/* The reuse-distance histogram of one reference group for one block size.

   Reuse distance d: the number of distinct blocks touched between two touches of a block (0: the
   same block again).  An access hits in a fully associative LRU cache of C blocks iff d < C (Marin
   & Mellor-Crummey 2004, section 2.2.2).  A first touch is cold and always misses. Counts are
   doubles, because predicted histograms have fractional ones; measured counts are integers below
   2^53 and stay exact. */
#ifndef PM_HISTOGRAM_H
#define PM_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"

struct pm_bin {
    double low, high; /* distances in blocks, both included; low == high where exact */
    double mean;      /* mean distance of the accesses in the bin */
    double loads, stores;
};

struct pm_histogram {
    uint64_t block_bytes;
    double cold_loads, cold_stores;
    size_t n_bins;
    struct pm_bin *bins; /* ascending, disjoint; owned */

    /* Bytes of memory that were touched for the first time by these accesses; beside the bytes of
       the blocks that were, cold × block_bytes, they tell what of the blocks is used.  It is the
       same for all block sizes.  NAN: unknown; so is a sum with a part that is. */
    double bytes_touched;
    /* Reuses of which only is known that their distance is at_least blocks or more; in no bin.  0:
       there are none, all distances are known. */
    double at_least, beyond_loads, beyond_stores;
    /* One of so many blocks was watched, and all counts are multiplied by it; 1: all were.  0 only
       in a sum that nothing was added to yet. */
    uint64_t sample;
};

/* The five figures of a bin by number, as encoded bins are stored column by column. */
enum { PM_BIN_COLUMNS = 5 };
double *pm_bin_column(struct pm_bin *bin, unsigned column);

void pm_histogram_free(struct pm_histogram *histogram); /* the bins; not the struct itself */

/* Accesses that miss in every cache as far as is known: cold ones and those beyond. */
double pm_histogram_always_missing(const struct pm_histogram *histogram);

/* Accesses in all, cold ones and those beyond included. */
double pm_histogram_accesses(const struct pm_histogram *histogram);

/* The part of BIN's accesses that misses in a cache of CACHE_BLOCKS blocks. */
double pm_bin_missing_share(const struct pm_bin *bin, double cache_blocks);

/* Misses of a fully associative LRU cache of CACHE_BLOCKS blocks, cold misses included.  In a bin
   that CACHE_BLOCKS cuts, distances are taken as evenly spread over [low, high].  Reuses beyond all
   count as misses: in a cache of more than at_least blocks the result is an upper bound. */
double pm_fully_associative_misses(const struct pm_histogram *histogram, double cache_blocks);

/* Share of the bytes of the blocks that these accesses were the first to touch that was not
   touched: 1 − bytes_touched / (cold × block_bytes).  Bytes that others touched first in these
   blocks count as not touched, and those that these touched first in blocks of others as touched:
   over all groups of an object the share is exact.  NAN: not known, no blocks, or more bytes than
   the blocks have. */
double pm_histogram_unused_share(const struct pm_histogram *histogram);

/* INTO becomes the smallest bin that holds both. */
void pm_bin_join(struct pm_bin *into, const struct pm_bin *from);

/* Adds the accesses of FROM (same block size) to INTO.  Equal bins are joined and others kept, so
   that what was measured with one bin width keeps it and exact distances stay exact; bins that
   overlap only partly (of different bin widths) are merged into their union.  Of two bounds
   at_least the smaller one is kept, of two samples the larger one. */
void pm_histogram_add(struct pm_histogram *into, const struct pm_histogram *from);

/* Ascending bins, and counts that are some. */
bool pm_histogram_is_valid(const struct pm_histogram *histogram);

/* A histogram as bytes (zstd-compressed, versioned) for the store, and back.  *BYTES is owned by
   the caller (free).  Decoding checks everything: a damaged blob is an error, never a crash.
   PACKING (core/base/packing.h) may be NULL; for many histograms one after the other it makes this
   five times as fast, since most have few bins. */
void pm_histogram_encode(struct pm_packing *packing, const struct pm_histogram *histogram,
                         void **bytes, size_t *n_bytes);
bool pm_histogram_decode(struct pm_packing *packing, const void *bytes, size_t n_bytes,
                         struct pm_histogram *histogram, struct pm_error *err);

#endif
