/* What an analysis found, as it is written; see reuse_result.h. */
#include "runtime/reuse/result.h"

size_t pm_reuse_most_bins(const struct pm_reuse *reuse) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < reuse->n_groups; i++)
        if (reuse->histograms[i].n_distances > most)
            most = reuse->histograms[i].n_distances;
    return 1 + most + PM_REUSE_EXACT + (size_t)PM_N_OCTAVES * PM_OCTAVE_BINS;
}

uint64_t pm_reuse_n_blocks(const struct pm_reuse *reuse) {
    return reuse->n_blocks * reuse->options.sample;
}

/* ---- sampling -------------------------------------------------------------------------------- */

/* The least distance that is estimated by DISTANCE watched blocks. */
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

static void estimate(const struct pm_group_histogram *histogram, uint64_t sample,
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
    pm_group_histogram_touches(histogram, &loads, &stores);
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

void pm_reuse_result_of(const struct pm_reuse *reuse, const struct pm_group_histogram *histogram,
                        struct pm_reuse_result *result, struct pm_raw_bin *bins) {
    const struct pm_reuse_options *options = &reuse->options;
    *result = (struct pm_reuse_result){
        .at_least = options->max_blocks ? least_estimated(options->sample, reuse->bound) : 0,
        .n_bins = pm_group_histogram_bins(histogram, bins),
    };
    pm_group_histogram_cold(histogram, &result->cold_loads, &result->cold_stores);
    pm_group_histogram_beyond(histogram, &result->beyond_loads, &result->beyond_stores);
    if (options->sample > 1)
        estimate(histogram, options->sample, result, bins);
    result->n_bins = merge(bins, result->n_bins, options->bin_width);
}

void pm_reuse_result(const struct pm_reuse *reuse, uint32_t group, struct pm_reuse_result *result,
                     struct pm_raw_bin *bins) {
    pm_reuse_result_of(reuse, &reuse->histograms[group], result, bins);
}
