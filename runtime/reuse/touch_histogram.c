/* Histograms of reuse distances while they are being measured; see histogram.h. */
#include "runtime/reuse/touch_histogram.h"

#include <string.h>

#include "runtime/sort.h"
#include "runtime/system.h"

struct pm_reuse_bin *pm_reuse_new_bins(struct pm_reuse_bin **bins, size_t count,
                                       struct pm_bin_arena *arena) {
    *bins = pm_arena_take(&arena->arena, count * sizeof **bins);
    return *bins;
}

/* ---- bins of one distance -------------------------------------------------------------------- */

static struct pm_distance_bin *find_distance(struct pm_distance_bin *bins, uint64_t mask,
                                             uint64_t distance) {
    uint64_t index = (distance * 0x9e3779b97f4a7c15 >> 32) & mask;
    while (bins[index].distance && bins[index].distance != distance)
        index = (index + 1) & mask;
    return &bins[index];
}

static bool grow_distances(struct pm_touch_histogram *histogram, struct pm_bin_arena *arena) {
    enum { FIRST = 128 };
    struct pm_distance_bin *old = histogram->distances;
    uint64_t n_old = old ? histogram->distance_mask + 1 : 0, n = old ? 2 * n_old : FIRST;
    struct pm_distance_bin *bins = pm_mmap(n * sizeof *bins);
    if (!bins)
        return false;
    for (uint64_t i = 0; i < n_old; i++)
        if (old[i].distance)
            *find_distance(bins, n - 1, old[i].distance) = old[i];
    pm_munmap(old, n_old * sizeof *old);
    arena->table_bytes += (n - n_old) * sizeof *bins;
    histogram->distances = bins;
    histogram->distance_mask = n - 1;
    return true;
}

struct pm_distance_bin *pm_reuse_distance_bin(struct pm_touch_histogram *histogram,
                                              struct pm_bin_arena *arena, uint64_t distance) {
    if (histogram->distances) {
        struct pm_distance_bin *bin =
            find_distance(histogram->distances, histogram->distance_mask, distance);
        if (bin->distance)
            return bin;
    }
    /* At most three quarters full. */
    if ((!histogram->distances || 4 * histogram->n_distances >= 3 * histogram->distance_mask) &&
        !grow_distances(histogram, arena))
        return NULL;
    struct pm_distance_bin *bin =
        find_distance(histogram->distances, histogram->distance_mask, distance);
    bin->distance = distance;
    histogram->n_distances++;
    return bin;
}

void pm_touch_histogram_free(struct pm_touch_histogram *histogram) {
    pm_munmap(histogram->distances, (histogram->distance_mask + 1) * sizeof *histogram->distances);
    histogram->distances = NULL;
}

/* ---- caches of bins
 * --------------------------------------------------------------------------------- */

bool pm_bin_cache_flush(struct pm_bin_cache *cache, struct pm_touch_histogram *histogram,
                        struct pm_bin_arena *arena, unsigned kind) {
    uint64_t n = cache->n, sum = cache->distance_sum;
    cache->n = cache->distance_sum = 0;
    if (n == 0)
        return true;
    if (cache->low < PM_BEYOND)
        return pm_touch_histogram_add_many(histogram, arena, kind, cache->low, n, sum);
    (cache->low == PM_COLD ? histogram->cold : histogram->beyond)[kind] += n;
    return true;
}

bool pm_bin_cache_switch(struct pm_bin_cache *cache, struct pm_touch_histogram *histogram,
                         struct pm_bin_arena *arena, unsigned kind, uint64_t distance) {
    bool ok = pm_bin_cache_flush(cache, histogram, arena, kind);
    cache->width = 1;
    if (distance >= PM_REUSE_EXACT && distance < PM_BEYOND && !arena->every_distance)
        cache->width = (1ull << (63 - __builtin_clzll(distance))) / PM_OCTAVE_BINS;
    cache->low = distance & -cache->width;
    return ok;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void clear_bins(struct pm_reuse_bin *bins, size_t count) {
    if (bins)
        memset(bins, 0, count * sizeof *bins);
}

void pm_touch_histogram_clear(struct pm_touch_histogram *histogram) {
    memset(histogram->stack_top, 0, sizeof histogram->stack_top);
    memset(histogram->beyond, 0, sizeof histogram->beyond);
    clear_bins(histogram->exact, PM_REUSE_EXACT - PM_STACK_TOP);
    for (unsigned i = 0; i < PM_N_OCTAVES; i++)
        clear_bins(histogram->octaves[i], PM_OCTAVE_BINS);
    for (uint64_t i = 0; histogram->distances && i <= histogram->distance_mask; i++)
        memset(histogram->distances[i].count, 0, sizeof histogram->distances[i].count);
}

static bool sum_bins(struct pm_reuse_bin **into, const struct pm_reuse_bin *from, size_t count,
                     struct pm_bin_arena *arena) {
    if (!from)
        return true;
    if (!*into && !pm_reuse_new_bins(into, count, arena))
        return false;
    for (size_t i = 0; i < count; i++) {
        for (unsigned kind = 0; kind < PM_KINDS; kind++)
            (*into)[i].count[kind] += from[i].count[kind];
        (*into)[i].distance_sum += from[i].distance_sum;
    }
    return true;
}

static bool sum_distances(struct pm_touch_histogram *into, const struct pm_touch_histogram *from,
                          struct pm_bin_arena *arena) {
    for (uint64_t i = 0; from->distances && i <= from->distance_mask; i++) {
        const struct pm_distance_bin *bin = &from->distances[i];
        if (!bin->distance)
            continue;
        struct pm_distance_bin *sum = pm_reuse_distance_bin(into, arena, bin->distance);
        if (!sum)
            return false;
        for (unsigned kind = 0; kind < PM_KINDS; kind++)
            sum->count[kind] += bin->count[kind];
    }
    return true;
}

bool pm_touch_histogram_sum(struct pm_touch_histogram *into, const struct pm_touch_histogram *from,
                            struct pm_bin_arena *arena) {
    for (unsigned kind = 0; kind < PM_KINDS; kind++) {
        into->cold[kind] += from->cold[kind];
        into->beyond[kind] += from->beyond[kind];
        for (unsigned d = 0; d < PM_STACK_TOP; d++)
            into->stack_top[kind][d] += from->stack_top[kind][d];
    }
    bool ok = sum_bins(&into->exact, from->exact, PM_REUSE_EXACT - PM_STACK_TOP, arena);
    for (unsigned i = 0; i < PM_N_OCTAVES; i++)
        ok &= sum_bins(&into->octaves[i], from->octaves[i], PM_OCTAVE_BINS, arena);
    return sum_distances(into, from, arena) && ok;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { LOAD = 0, STORE = 1, BOTH = 2 };

static uint64_t sum_of_kind(const struct pm_reuse_bin *bins, size_t count, unsigned kind) {
    uint64_t sum = 0;
    for (size_t i = 0; bins && i < count; i++)
        sum += bins[i].count[kind];
    return sum;
}

uint64_t pm_touch_histogram_of_kind(const struct pm_touch_histogram *histogram, unsigned kind) {
    uint64_t sum = histogram->cold[kind] + histogram->beyond[kind];
    for (uint64_t i = 0; histogram->distances && i <= histogram->distance_mask; i++)
        sum += histogram->distances[i].count[kind];
    for (unsigned d = 0; d < PM_STACK_TOP; d++)
        sum += histogram->stack_top[kind][d];
    sum += sum_of_kind(histogram->exact, PM_REUSE_EXACT - PM_STACK_TOP, kind);
    for (unsigned i = 0; i < PM_N_OCTAVES; i++)
        sum += sum_of_kind(histogram->octaves[i], PM_OCTAVE_BINS, kind);
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

static size_t put_distances(struct pm_raw_bin *bins, size_t n_bins,
                            const struct pm_touch_histogram *histogram) {
    size_t first = n_bins;
    for (uint64_t i = 0; histogram->distances && i <= histogram->distance_mask; i++) {
        const struct pm_distance_bin *bin = &histogram->distances[i];
        uint64_t loads = bin->count[LOAD] + bin->count[BOTH], stores = bin->count[STORE];
        n_bins = put_bin(bins, n_bins,
                         (struct pm_raw_bin){
                             .low = bin->distance,
                             .high = bin->distance,
                             .loads = loads,
                             .stores = stores,
                             .distance_sum = (double)bin->distance * (double)(loads + stores),
                         });
    }
    if (bins)
        pm_sort_by_key(bins + first, n_bins - first, sizeof *bins);
    return n_bins;
}

size_t pm_touch_histogram_bins(const struct pm_touch_histogram *histogram,
                               struct pm_raw_bin *bins) {
    size_t n_bins = 0;
    for (uint64_t d = 0; d < PM_STACK_TOP; d++) {
        uint64_t loads = histogram->stack_top[LOAD][d] + histogram->stack_top[BOTH][d];
        uint64_t stores = histogram->stack_top[STORE][d] +
                          (d == 0 ? pm_touch_histogram_of_kind(histogram, BOTH) : 0);
        n_bins = put_bin(bins, n_bins,
                         (struct pm_raw_bin){
                             .low = d,
                             .high = d,
                             .loads = loads,
                             .stores = stores,
                             .distance_sum = (double)(d * (loads + stores)),
                         });
    }
    n_bins =
        put_bins(bins, n_bins, histogram->exact, PM_REUSE_EXACT - PM_STACK_TOP, PM_STACK_TOP, 1);
    for (unsigned i = 0; i < PM_N_OCTAVES; i++) {
        uint64_t low = 1ull << (i + PM_FIRST_OCTAVE);
        n_bins = put_bins(bins, n_bins, histogram->octaves[i], PM_OCTAVE_BINS, low,
                          low / PM_OCTAVE_BINS);
    }
    return put_distances(bins, n_bins, histogram);
}

void pm_touch_histogram_cold(const struct pm_touch_histogram *histogram, uint64_t *loads,
                             uint64_t *stores) {
    *loads = histogram->cold[LOAD] + histogram->cold[BOTH];
    *stores = histogram->cold[STORE];
}

void pm_touch_histogram_beyond(const struct pm_touch_histogram *histogram, uint64_t *loads,
                               uint64_t *stores) {
    *loads = histogram->beyond[LOAD] + histogram->beyond[BOTH];
    *stores = histogram->beyond[STORE];
}

/* The store of an access that is both is a touch of its own. */
void pm_touch_histogram_touches(const struct pm_touch_histogram *histogram, uint64_t *loads,
                                uint64_t *stores) {
    *loads = histogram->touches[LOAD] + histogram->touches[BOTH];
    *stores = histogram->touches[STORE] + histogram->touches[BOTH];
}
