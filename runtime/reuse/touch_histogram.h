/* Histograms of reuse distances while they are being measured: one for each reference group, of one
   thread and block size.

   Distances below PM_REUSE_EXACT have a bin each; from there on an octave [2^k, 2^(k+1)) has
   PM_OCTAVE_BINS bins of equal width, so that no bin is wider than 1/128 of its lower end (0.8 %).
   Every bin also sums its distances, so that means stay exact.  Bins of an octave come into being
   with its first access.  Where every distance is to be kept apart (pm_bin_arena.every_distance),
   those from PM_REUSE_EXACT on are in a hash table instead. An access that is both load and store
   counts as a load at its distance and then a store at distance 0; it is stored as a kind of its
   own and split when the histogram is read. */
#ifndef PM_RUNTIME_REUSE_TOUCH_HISTOGRAM_H
#define PM_RUNTIME_REUSE_TOUCH_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/raw_file.h"
#include "runtime/arena.h"
#include "runtime/reuse/reuse.h"
#include "runtime/system.h"

enum {
    PM_STACK_TOP = 16, /* blocks that the stack top (reuse_state.h) holds */
    PM_REUSE_EXACT = 256,
    PM_OCTAVE_BINS = 128,
    PM_FIRST_OCTAVE = 8,                 /* 2^8 = PM_REUSE_EXACT */
    PM_N_OCTAVES = 33 - PM_FIRST_OCTAVE, /* distances are below 2^32 + PM_STACK_TOP */
    PM_KINDS = 3,                        /* load, store, both: enum pm_access − 1 */
};

struct pm_reuse_bin {
    uint64_t count[PM_KINDS];
    uint64_t distance_sum; /* in blocks */
};

struct pm_distance_bin {
    uint64_t distance; /* 0: empty */
    uint64_t count[PM_KINDS];
};

struct pm_touch_histogram {
    uint64_t stack_top[PM_KINDS][PM_STACK_TOP];
    uint64_t cold[PM_KINDS], beyond[PM_KINDS];
    struct pm_reuse_bin *exact; /* distances PM_STACK_TOP … PM_REUSE_EXACT − 1; NULL: none */
    struct pm_reuse_bin *octaves[PM_N_OCTAVES];
    struct pm_distance_bin *distances; /* hash table, owned; NULL: none */
    uint64_t distance_mask, n_distances;
    uint64_t touches[PM_KINDS]; /* of blocks, sampled or not; counted only under sampling */
} __attribute__((aligned(64)));

/* Memory of bins, of any number of histograms.  Zeroed before its first use. */
struct pm_bin_arena {
    struct pm_arena arena;
    uint64_t table_bytes; /* of hash tables, which stand beside it */
    bool every_distance;
};
static inline uint64_t pm_bin_arena_bytes(const struct pm_bin_arena *arena) {
    return arena->table_bytes + pm_arena_bytes(&arena->arena);
}

/* The COUNT bins at *BINS, made if need be; NULL: no memory. */
struct pm_reuse_bin *pm_reuse_new_bins(struct pm_reuse_bin **bins, size_t count,
                                       struct pm_bin_arena *arena);

/* The bin of DISTANCE alone; NULL: no memory. */
struct pm_distance_bin *pm_reuse_distance_bin(struct pm_touch_histogram *histogram,
                                              struct pm_bin_arena *arena, uint64_t distance);

/* Gives back what does not stand in an arena. */
void pm_touch_histogram_free(struct pm_touch_histogram *histogram);

/* Counts N accesses of KIND (enum pm_access − 1) at distances of the bin of DISTANCE ≥
   PM_STACK_TOP blocks, DISTANCE_SUM in all.  False when there is no memory. */
static inline bool pm_touch_histogram_add_many(struct pm_touch_histogram *histogram,
                                               struct pm_bin_arena *arena, unsigned kind,
                                               uint64_t distance, uint64_t n,
                                               uint64_t distance_sum) {
    struct pm_reuse_bin **place = &histogram->exact, *bins;
    size_t count = PM_REUSE_EXACT - PM_STACK_TOP, bin = distance - PM_STACK_TOP;
    if (distance >= PM_REUSE_EXACT) {
        if (PM_UNLIKELY(arena->every_distance)) {
            struct pm_distance_bin *one = pm_reuse_distance_bin(histogram, arena, distance);
            if (one)
                one->count[kind] += n;
            return one;
        }
        unsigned exponent = 63 - (unsigned)__builtin_clzll(distance);
        place = &histogram->octaves[exponent - PM_FIRST_OCTAVE];
        count = PM_OCTAVE_BINS;
        bin = (distance >> (exponent - 7)) - PM_OCTAVE_BINS;
    }
    bins = *place ? *place : pm_reuse_new_bins(place, count, arena);
    if (!bins)
        return false;
    bins[bin].count[kind] += n;
    bins[bin].distance_sum += distance_sum;
    return true;
}

/* Counts N touches by accesses of KIND at DISTANCE ≥ PM_STACK_TOP, PM_COLD or PM_BEYOND.  False
   when there is no memory. */
static inline bool pm_touch_histogram_count_many(struct pm_touch_histogram *histogram,
                                                 struct pm_bin_arena *arena, unsigned kind,
                                                 uint64_t distance, uint64_t n) {
    if (PM_LIKELY(distance < PM_BEYOND))
        return pm_touch_histogram_add_many(histogram, arena, kind, distance, n, n * distance);
    (distance == PM_COLD ? histogram->cold : histogram->beyond)[kind] += n;
    return true;
}

/* The same of one. */
static inline bool pm_touch_histogram_count_far(struct pm_touch_histogram *histogram,
                                                struct pm_bin_arena *arena, unsigned kind,
                                                uint64_t distance) {
    return pm_touch_histogram_count_many(histogram, arena, kind, distance, 1);
}

/* The same at any distance. */
static inline bool pm_touch_histogram_count(struct pm_touch_histogram *histogram,
                                            struct pm_bin_arena *arena, unsigned kind,
                                            uint64_t distance) {
    if (distance >= PM_STACK_TOP)
        return pm_touch_histogram_count_far(histogram, arena, kind, distance);
    histogram->stack_top[kind][distance]++;
    return true;
}

/* Counts of touches by accesses of one kind and group, in one bin, that are not in the histogram
   yet: mostly a touch's distance is in the same bin as the last one of its like. */
struct pm_bin_cache {
    uint64_t low, width; /* the bin has distances low … low + width − 1; width 0: none yet */
    uint64_t n, distance_sum;
};

/* Moves the counts to HISTOGRAM.  False when there is no memory. */
bool pm_bin_cache_flush(struct pm_bin_cache *cache, struct pm_touch_histogram *histogram,
                        struct pm_bin_arena *arena, unsigned kind);

/* The same, and from now on the cache is of the bin of DISTANCE. */
bool pm_bin_cache_switch(struct pm_bin_cache *cache, struct pm_touch_histogram *histogram,
                         struct pm_bin_arena *arena, unsigned kind, uint64_t distance);

/* Takes away all but the first touches; the memory of its bins stays. */
void pm_touch_histogram_clear(struct pm_touch_histogram *histogram);

/* Adds what FROM counts to INTO.  False when there is no memory. */
bool pm_touch_histogram_sum(struct pm_touch_histogram *into, const struct pm_touch_histogram *from,
                            struct pm_bin_arena *arena);

/* The bins that hold accesses, ascending, into BINS if it is not NULL; their number.  As they were
   counted: pm_reuse_result has them as they are written. */
size_t pm_touch_histogram_bins(const struct pm_touch_histogram *histogram, struct pm_raw_bin *bins);

/* Accesses of KIND (enum pm_access − 1) at any distance. */
uint64_t pm_touch_histogram_of_kind(const struct pm_touch_histogram *histogram, unsigned kind);

/* First touches; touches beyond the bound; touches at all, if they were counted. */
void pm_touch_histogram_cold(const struct pm_touch_histogram *histogram, uint64_t *loads,
                             uint64_t *stores);
void pm_touch_histogram_beyond(const struct pm_touch_histogram *histogram, uint64_t *loads,
                               uint64_t *stores);
void pm_touch_histogram_touches(const struct pm_touch_histogram *histogram, uint64_t *loads,
                                uint64_t *stores);

#endif
