/* Histograms of reuse distances while they are being measured; see reuse_histogram.h. */
#include "runtime/reuse_histogram.h"

#include "runtime/system.h"

/* ---- memory ---------------------------------------------------------------------------------- */

enum { CHUNK_BYTES = 1 << 18 };

struct pm_arena_chunk {
    struct pm_arena_chunk *next;
    uint64_t bytes[];
};

void *pm_arena_take(struct pm_arena *arena, size_t bytes) {
    if (!arena->chunks || arena->used + bytes > CHUNK_BYTES) {
        struct pm_arena_chunk *chunk = pm_map(CHUNK_BYTES);
        if (!chunk)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->used = sizeof *chunk;
    }
    void *memory = (char *)arena->chunks + arena->used;
    arena->used += bytes;
    return memory;
}

void pm_arena_free(struct pm_arena *arena) {
    while (arena->chunks) {
        struct pm_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        pm_unmap(chunk, CHUNK_BYTES);
    }
}

uint64_t pm_arena_bytes(const struct pm_arena *arena) {
    uint64_t bytes = 0;
    for (const struct pm_arena_chunk *chunk = arena->chunks; chunk; chunk = chunk->next)
        bytes += CHUNK_BYTES;
    return bytes;
}

struct pm_reuse_bin *pm_reuse_new_bins(struct pm_reuse_bin **bins, size_t count,
                                       struct pm_arena *arena) {
    *bins = pm_arena_take(arena, count * sizeof **bins);
    return *bins;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { LOAD = 0, STORE = 1, BOTH = 2 };

static uint64_t sum_of_both(const struct pm_reuse_bin *bins, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; bins && i < count; i++)
        sum += bins[i].count[BOTH];
    return sum;
}

/* Accesses that are load and store, at any distance. */
static uint64_t all_both(const struct pm_group_histogram *histogram) {
    uint64_t sum = histogram->cold[BOTH];
    for (unsigned d = 0; d < PM_REUSE_FRONT; d++)
        sum += histogram->front[BOTH][d];
    sum += sum_of_both(histogram->exact, PM_REUSE_EXACT - PM_REUSE_FRONT);
    for (unsigned i = 0; i < PM_N_OCTAVES; i++)
        sum += sum_of_both(histogram->octaves[i], PM_OCTAVE_BINS);
    return sum;
}

static size_t put_bin(struct pm_raw_bin *bins, size_t n_bins, struct pm_raw_bin bin) {
    if (bin.loads == 0 && bin.stores == 0)
        return n_bins;
    if (bins)
        bins[n_bins] = bin;
    return n_bins + 1;
}

/* COUNT bins of WIDTH distances from LOW on. */
static size_t put_bins(struct pm_raw_bin *bins, size_t n_bins, const struct pm_reuse_bin *from,
                       size_t count, uint64_t low, uint64_t width) {
    for (size_t i = 0; from && i < count; i++, low += width)
        n_bins = put_bin(bins, n_bins,
                         (struct pm_raw_bin){
                             .low = low,
                             .high = low + width - 1,
                             .loads = from[i].count[LOAD] + from[i].count[BOTH],
                             .stores = from[i].count[STORE],
                             .distance_sum = (double)from[i].distance_sum,
                         });
    return n_bins;
}

size_t pm_group_histogram_bins(const struct pm_group_histogram *histogram,
                               struct pm_raw_bin *bins) {
    size_t n_bins = 0;
    for (uint64_t d = 0; d < PM_REUSE_FRONT; d++) {
        uint64_t loads = histogram->front[LOAD][d] + histogram->front[BOTH][d];
        uint64_t stores = histogram->front[STORE][d] + (d == 0 ? all_both(histogram) : 0);
        n_bins = put_bin(bins, n_bins,
                         (struct pm_raw_bin){
                             .low = d,
                             .high = d,
                             .loads = loads,
                             .stores = stores,
                             .distance_sum = (double)(d * (loads + stores)),
                         });
    }
    n_bins = put_bins(bins, n_bins, histogram->exact, PM_REUSE_EXACT - PM_REUSE_FRONT,
                      PM_REUSE_FRONT, 1);
    for (unsigned i = 0; i < PM_N_OCTAVES; i++) {
        uint64_t low = 1ull << (i + PM_FIRST_OCTAVE);
        n_bins = put_bins(bins, n_bins, histogram->octaves[i], PM_OCTAVE_BINS, low,
                          low / PM_OCTAVE_BINS);
    }
    return n_bins;
}

void pm_group_histogram_cold(const struct pm_group_histogram *histogram, uint64_t *loads,
                             uint64_t *stores) {
    *loads = histogram->cold[LOAD] + histogram->cold[BOTH];
    *stores = histogram->cold[STORE];
}
