/* What a reuse distance analysis found of a reference group, as it is written.

   Sampling.  With one of R blocks sampled, of n touches at distance ≥ d about n/R are seen, each at
   about d/R sampled blocks; so counts and distances are multiplied by R (Waldspurger et al.,
   SHARDS, FAST 2015), and R − 1 is added for the evenly chosen blocks about the sampled one itself
   (pm_estimated_distance).  A bin is as wide as that is uncertain: d sampled blocks, d > 0, tell
   of distances from R·d + R/2 to R·d + 3R/2 − 1.  How many touches there really were is known, for
   loads and stores; what the estimate is short of it is added at distance 0, what it has too many
   is taken from the shortest distances: whether a block that is touched all the time is sampled
   decides on many touches, but these are at short distances (SHARDS-adj).  Cold touches stay as
   they are estimated, so that a group may have more accesses than there were if these alone are too
   many.  Misses of caches of 8·R blocks and more are not touched by that.

   Merging.  Neighbouring bins from PM_SINGLE_DISTANCES
   on become one while its (high − low) / low stays within the width asked for. */
#include "core/base/base.h"
#include "runtime/reuse/reuse_state.h"

size_t pm_reuse_most_bins(const struct pm_reuse *reuse) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < reuse->n_groups; i++)
        if (reuse->histograms[i].n_distances > most)
            most = reuse->histograms[i].n_distances;
    return 1 + most + PM_REUSE_EXACT + (size_t)PM_N_OCTAVES * PM_OCTAVE_BINS;
}

uint64_t pm_reuse_block_bytes(const struct pm_reuse *reuse) { return 1ull << reuse->shift; }

uint64_t pm_reuse_sample(const struct pm_reuse *reuse) { return reuse->options.sample; }

/* ---- sampling -------------------------------------------------------------------------------- */

/* The least distance that is estimated by DISTANCE sampled blocks. */
static uint64_t least_estimated(uint64_t sample, uint64_t distance) {
    return distance ? distance * sample + sample / 2 : 0;
}

static void scale(struct pm_raw_bin *bins, size_t n_bins, uint64_t sample) {
    for (size_t i = 0; i < n_bins; i++) {
        struct pm_raw_bin *bin = &bins[i];
        bin->loads *= sample;
        bin->stores *= sample;
        if (bin->high > 0) {
            double n = (double)(bin->loads + bin->stores), per_block = (double)sample;
            bin->distance_sum = per_block * per_block * bin->distance_sum + n * (per_block - 1);
            bin->low = least_estimated(sample, bin->low);
            bin->high = least_estimated(sample, bin->high + 1) - 1;
        }
    }
}

static uint64_t take_some(uint64_t *count, uint64_t *too_many) {
    uint64_t taken = *count < *too_many ? *count : *too_many;
    *count -= taken;
    *too_many -= taken;
    return taken;
}

/* Takes so many loads and stores from the shortest distances; the number of bins left. */
static size_t take_from_shortest(struct pm_raw_bin *bins, size_t n_bins, uint64_t loads,
                                 uint64_t stores) {
    size_t kept = 0;
    for (size_t i = 0; i < n_bins; i++) {
        struct pm_raw_bin bin = bins[i];
        double count = (double)(bin.loads + bin.stores);
        take_some(&bin.loads, &loads);
        take_some(&bin.stores, &stores);
        bin.distance_sum *= (double)(bin.loads + bin.stores) / count;
        if (bin.loads || bin.stores)
            bins[kept++] = bin;
    }
    return kept;
}

/* Adds so many loads and stores at distance 0. */
static size_t add_at_zero(struct pm_raw_bin *bins, size_t n_bins, uint64_t loads, uint64_t stores) {
    if (loads == 0 && stores == 0)
        return n_bins;
    if (n_bins == 0 || bins[0].low > 0) {
        for (size_t i = n_bins; i > 0; i--)
            bins[i] = bins[i - 1];
        bins[0] = (struct pm_raw_bin){0};
        n_bins++;
    }
    bins[0].loads += loads;
    bins[0].stores += stores;
    return n_bins;
}

static uint64_t over(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static void estimate(const struct pm_touch_histogram *histogram, uint64_t sample,
                     struct pm_reuse_result *result, struct pm_raw_bin *bins) {
    uint64_t loads, stores, seen_loads, seen_stores;
    scale(bins, result->n_bins, sample);
    result->cold_loads *= sample;
    result->cold_stores *= sample;
    result->beyond_loads *= sample;
    result->beyond_stores *= sample;
    seen_loads = result->cold_loads + result->beyond_loads;
    seen_stores = result->cold_stores + result->beyond_stores;
    for (size_t i = 0; i < result->n_bins; i++) {
        seen_loads += bins[i].loads;
        seen_stores += bins[i].stores;
    }
    pm_touch_histogram_touches(histogram, &loads, &stores);
    result->n_bins = take_from_shortest(bins, result->n_bins, over(seen_loads, loads),
                                        over(seen_stores, stores));
    result->n_bins =
        add_at_zero(bins, result->n_bins, over(loads, seen_loads), over(stores, seen_stores));
}

uint64_t pm_reuse_subsample_misses(const struct pm_reuse *reuse, unsigned subsample,
                                   unsigned log2_size) {
    const struct pm_subsample *of = &reuse->subsamples[subsample];
    uint64_t misses = of->unbounded;
    for (unsigned digits = log2_size + 1; digits <= 64; digits++)
        misses += of->far[digits];
    return misses;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static size_t merge(struct pm_raw_bin *bins, size_t n_bins, double width) {
    size_t n = 0;
    for (size_t i = 0; i < n_bins; i++) {
        struct pm_raw_bin *last = n ? &bins[n - 1] : NULL;
        if (last && last->low >= PM_SINGLE_DISTANCES &&
            (double)(bins[i].high - last->low) <= width * (double)last->low) {
            last->high = bins[i].high;
            last->loads += bins[i].loads;
            last->stores += bins[i].stores;
            last->distance_sum += bins[i].distance_sum;
        } else {
            bins[n++] = bins[i];
        }
    }
    return n;
}

/* Distances below the stack top's size were counted together; the middle stands for their mean. */
static void widen_near(struct pm_raw_bin *bins, size_t n_bins) {
    if (n_bins == 0 || bins[0].low > 0)
        return;
    bins[0].high = PM_STACK_TOP - 1;
    bins[0].distance_sum = (double)(bins[0].loads + bins[0].stores) * ((double)bins[0].high / 2);
}

void pm_reuse_result_of(const struct pm_reuse *reuse, const struct pm_touch_histogram *histogram,
                        struct pm_reuse_result *result, struct pm_raw_bin *bins) {
    const struct pm_reuse_options *options = &reuse->options;
    *result = (struct pm_reuse_result){
        .block_bytes = pm_reuse_block_bytes(reuse),
        .n_blocks = reuse->n_blocks * options->sample,
        .sample = options->sample,
        .at_least = options->max_blocks ? least_estimated(options->sample, reuse->bound) : 0,
        .n_bins = pm_touch_histogram_bins(histogram, bins),
    };
    pm_touch_histogram_cold(histogram, &result->cold_loads, &result->cold_stores);
    pm_touch_histogram_beyond(histogram, &result->beyond_loads, &result->beyond_stores);
    if (options->sample > 1)
        estimate(histogram, options->sample, result, bins);
    if (reuse->near_is_one_bin)
        widen_near(bins, result->n_bins);
    result->n_bins = merge(bins, result->n_bins, options->bin_width);
}

void pm_reuse_result(const struct pm_reuse *reuse, uint32_t group, struct pm_reuse_result *result,
                     struct pm_raw_bin *bins) {
    if (group < reuse->n_groups)
        pm_reuse_result_of(reuse, &reuse->histograms[group], result, bins);
    else
        *result = (struct pm_reuse_result){.n_bins = 0};
}

/* ---- a part of it ---------------------------------------------------------------------------- */

void pm_reuse_part_begin(const struct pm_reuse_result *whole, struct pm_reuse_result *result,
                         struct pm_raw_bin *bins) {
    *result = (struct pm_reuse_result){.block_bytes = whole->block_bytes,
                                       .n_blocks = whole->n_blocks,
                                       .sample = whole->sample,
                                       .at_least = whole->at_least};
    for (size_t i = 0; i < whole->n_bins; i++)
        bins[i] = (struct pm_raw_bin){0};
}

void pm_reuse_part_add(const struct pm_reuse_result *whole, const struct pm_raw_bin *whole_bins,
                       const struct pm_reuse_rise *rise, struct pm_reuse_result *result,
                       struct pm_raw_bin *bins) {
    if (rise->low == PM_COLD) {
        result->cold_loads += rise->loads;
        result->cold_stores += rise->stores;
    } else if (rise->low == PM_BEYOND) {
        result->beyond_loads += rise->loads;
        result->beyond_stores += rise->stores;
    } else {
        size_t i = PM_LOWER_BOUND(whole->n_bins, n, whole_bins[n].high < rise->low);
        if (i == whole->n_bins)
            return; /* the whole would have it */
        bins[i].loads += rise->loads;
        bins[i].stores += rise->stores;
        bins[i].distance_sum += (double)rise->distance_sum;
    }
}

void pm_reuse_part_end(const struct pm_reuse *reuse, const struct pm_reuse_result *whole,
                       const struct pm_raw_bin *whole_bins, struct pm_reuse_result *result,
                       struct pm_raw_bin *bins) {
    for (size_t i = 0; i < whole->n_bins; i++) {
        struct pm_raw_bin bin = bins[i];
        bin.low = whole_bins[i].low;
        bin.high = whole_bins[i].high;
        if (i == 0 && bin.low == 0 && reuse->near_is_one_bin)
            bin.distance_sum = (double)(bin.loads + bin.stores) * ((double)bin.high / 2);
        if (bin.loads || bin.stores)
            bins[result->n_bins++] = bin;
    }
}
