/* Histograms of a block size that was not measured, made of the nearest one that was.

       misses (B, S)  =  misses (b, S) · b / B                                          at most all

   misses (b, S): of a fully associative LRU cache of S bytes in blocks of b bytes, that is of S / b
   of them; b: the measured block size nearest to B, by the ratio of the two (of two as near the
   smaller one).  A TLB is such a cache, of entries · page bytes.  So a reuse distance of d blocks
   of b bytes becomes one of d · b / B blocks of B bytes; of accesses at a distance, and of first
   touches, the share b / B remains, and what is over finds its block as the most recent one.  Where
   B < b, there are B / b times as many at large distances, which are taken from those at small
   ones.

   That is exact for data that is walked over from end to end.  Of what is picked out of it here and
   there a larger block brings nothing more, and true misses are up to B / b times as many (up to
   b / B times fewer, where B < b).  docs/reuse.md has what that comes to in programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/query/profile_at.h"

/* ---- one histogram --------------------------------------------------------------------------- */

/* Accesses of one kind that are still to be given to distances. */
static double take(double *left, double wanted) {
    double taken = fmin(*left, wanted);
    *left -= taken;
    return taken;
}

/* BINS, of which [0, n) are the farthest ones in descending order, become ascending ones, and those
   that overlap one. */
static size_t put_in_order(struct pm_bin *bins, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n / 2; i++) {
        struct pm_bin swap = bins[i];
        bins[i] = bins[n - 1 - i];
        bins[n - 1 - i] = swap;
    }
    for (size_t i = 0; i < n; i++) {
        struct pm_bin *last = kept ? &bins[kept - 1] : NULL;
        if (last && bins[i].low <= last->high)
            pm_bin_join(last, &bins[i]);
        else
            bins[kept++] = bins[i];
    }
    return kept;
}

void pm_histogram_in_blocks(const struct pm_histogram *from, uint64_t block_bytes,
                            struct pm_histogram *to) {
    const double share = (double)from->block_bytes / (double)block_bytes;
    double loads = from->cold_loads + from->beyond_loads,
           stores = from->cold_stores + from->beyond_stores;
    for (size_t i = 0; i < from->n_bins; i++) {
        loads += from->bins[i].loads;
        stores += from->bins[i].stores;
    }
    *to = *from;
    to->block_bytes = block_bytes;
    to->bins = pm_alloc(from->n_bins + 1, sizeof *to->bins);
    to->cold_loads = take(&loads, from->cold_loads * share);
    to->cold_stores = take(&stores, from->cold_stores * share);
    to->beyond_loads = take(&loads, from->beyond_loads * share);
    to->beyond_stores = take(&stores, from->beyond_stores * share);
    to->at_least = ceil(from->at_least * share);
    size_t n = 0;
    for (size_t i = from->n_bins; i-- > 0;) {
        const struct pm_bin *bin = &from->bins[i];
        double low = floor(bin->low * share);
        to->bins[n++] = (struct pm_bin){
            .low = low,
            .high = fmax(low, ceil((bin->high + 1) * share) - 1),
            .mean = fmax(low, bin->mean * share),
            .loads = take(&loads, bin->loads * share),
            .stores = take(&stores, bin->stores * share),
        };
    }
    to->bins[n++] = (struct pm_bin){.loads = loads, .stores = stores};
    to->n_bins = put_in_order(to->bins, n);
}

/* ---- a profile ------------------------------------------------------------------------------- */

static double ratio_of(uint64_t a, uint64_t b) {
    return a > b ? (double)a / (double)b : (double)b / (double)a;
}

/* Of those that were measured. */
static uint64_t nearest_size(const struct pm_profile *profile, uint64_t block_bytes) {
    uint64_t nearest = 0;
    for (size_t i = 0; i < profile->n_block_sizes; i++) {
        uint64_t bytes = profile->block_sizes[i];
        if (pm_profile_interpolated_from(profile, bytes) == 0 &&
            (nearest == 0 || ratio_of(bytes, block_bytes) < ratio_of(nearest, block_bytes)))
            nearest = bytes;
    }
    return nearest;
}

static void add_size(struct pm_profile *profile, uint64_t block_bytes) {
    size_t n = profile->n_block_sizes,
           at = PM_LOWER_BOUND(n, i, profile->block_sizes[i] < block_bytes);
    profile->block_sizes = pm_realloc(profile->block_sizes, n + 1, sizeof *profile->block_sizes);
    memmove(profile->block_sizes + at + 1, profile->block_sizes + at,
            (n - at) * sizeof *profile->block_sizes);
    profile->block_sizes[at] = block_bytes;
    profile->n_block_sizes++;
}

static int compare_histograms(const void *left, const void *right) {
    const struct pm_group_histogram *a = left, *b = right;
    return a->group != b->group ? PM_COMPARE(a->group, b->group)
                                : PM_COMPARE(a->histogram.block_bytes, b->histogram.block_bytes);
}

static void add_histograms(struct pm_profile *profile, uint64_t from, uint64_t block_bytes) {
    size_t n = profile->n_histograms;
    if (n == 0)
        return;
    profile->histograms = pm_realloc(profile->histograms, 2 * n, sizeof *profile->histograms);
    for (size_t i = 0; i < n; i++) {
        const struct pm_group_histogram *histogram = &profile->histograms[i];
        if (histogram->histogram.block_bytes != from)
            continue;
        struct pm_group_histogram *made = &profile->histograms[profile->n_histograms++];
        made->group = histogram->group;
        pm_histogram_in_blocks(&histogram->histogram, block_bytes, &made->histogram);
    }
    PM_SORT(profile->histograms, profile->n_histograms, compare_histograms);
}

static double cold_of(const struct pm_profile *profile, uint64_t block_bytes) {
    double cold = 0;
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_histogram *histogram = &profile->histograms[i].histogram;
        if (histogram->block_bytes == block_bytes)
            cold += histogram->cold_loads + histogram->cold_stores;
    }
    return cold;
}

/* What the histograms lack of the program total, they lack in the other size, too. */
static void add_total(struct pm_profile *profile, uint64_t from, uint64_t block_bytes) {
    for (size_t i = 0; i < profile->n_totals; i++)
        if (profile->totals[i].block_bytes == from) {
            struct pm_program_total made = profile->totals[i];
            double lacking = fmax(0, made.cold - cold_of(profile, from));
            made.block_bytes = block_bytes;
            made.cold =
                cold_of(profile, block_bytes) + lacking * (double)from / (double)block_bytes;
            *PM_PUSH(profile, totals) = made;
            return;
        }
}

struct pm_profile *pm_program_interpolate(const struct pm_program *program,
                                          struct pm_profile *profile) {
    if (profile)
        pm_profile_interpolate(profile, program->interpolate, program->n_interpolate);
    return profile;
}

void pm_profile_interpolate(struct pm_profile *profile, const uint64_t *block_sizes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t from = nearest_size(profile, block_sizes[i]);
        if (from == 0 || pm_profile_has_block_size(profile, block_sizes[i]))
            continue;
        add_size(profile, block_sizes[i]);
        add_histograms(profile, from, block_sizes[i]);
        add_total(profile, from, block_sizes[i]);
        *PM_PUSH(profile, interpolated) = (struct pm_interpolated_size){block_sizes[i], from};
    }
}
