/* Sections with distances: histograms, those between stores, reuse patterns, and misses of samples.
 */
#include <math.h>
#include <string.h>

#include "measure/raw/sections.h"

/* Bins must ascend without overlap, and the sum of distances must be one that they can have. */
static bool bin_is_valid(const struct pm_raw_bin *bin, const struct pm_raw_bin *before) {
    double count = (double)bin->loads + (double)bin->stores;
    return bin->low <= bin->high && (!before || before->high < bin->low) && count > 0 &&
           bin->distance_sum >= (double)bin->low * count * (1 - 1e-9) &&
           bin->distance_sum <= (double)bin->high * count * (1 + 1e-9);
}

static bool read_bins(struct pm_histogram *histogram, struct pm_reader *in) {
    const struct pm_raw_bin *bins = pm_take(in, histogram->n_bins * sizeof *bins);
    if (!bins)
        return false;
    histogram->bins = pm_alloc(histogram->n_bins ? histogram->n_bins : 1, sizeof *histogram->bins);
    for (size_t i = 0; i < histogram->n_bins; i++) {
        if (!bin_is_valid(&bins[i], i ? &bins[i - 1] : NULL))
            return false;
        histogram->bins[i] = (struct pm_bin){
            .low = (double)bins[i].low,
            .high = (double)bins[i].high,
            .mean = bins[i].distance_sum / ((double)bins[i].loads + (double)bins[i].stores),
            .loads = (double)bins[i].loads,
            .stores = (double)bins[i].stores,
        };
    }
    return true;
}

static bool head_is_valid(const struct pm_raw *raw, const struct pm_raw_histogram_head *head) {
    return head->module < raw->n_modules && head->group < raw->modules[head->module].n_groups &&
           head->block_bytes != 0 && (head->block_bytes & (head->block_bytes - 1)) == 0 &&
           head->sample != 0 &&
           (head->at_least != 0 || (head->beyond_loads == 0 && head->beyond_stores == 0));
}

bool pm_raw_take_histogram(const struct pm_raw *raw, struct pm_raw_histogram *histogram,
                           struct pm_reader *in) {
    struct pm_raw_histogram_head head;
    const void *bytes = pm_take(in, sizeof head);
    if (!bytes)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (!head_is_valid(raw, &head) || pm_bytes_left(in) != head.n_bins * sizeof(struct pm_raw_bin))
        return false;
    histogram->module = (uint32_t)head.module;
    histogram->group = head.group;
    histogram->thread = head.thread;
    histogram->n_blocks = head.n_blocks;
    histogram->histogram = (struct pm_histogram){
        .block_bytes = head.block_bytes,
        .cold_loads = (double)head.cold_loads,
        .cold_stores = (double)head.cold_stores,
        .bytes_touched =
            head.bytes_touched == PM_RAW_UNKNOWN_BYTES ? NAN : (double)head.bytes_touched,
        .at_least = (double)head.at_least,
        .beyond_loads = (double)head.beyond_loads,
        .beyond_stores = (double)head.beyond_stores,
        .sample = head.sample,
        .n_bins = head.n_bins,
    };
    return read_bins(&histogram->histogram, in);
}

bool pm_raw_read_histogram(struct pm_raw *raw, struct pm_reader *in) {
    return pm_raw_take_histogram(raw, PM_PUSH(raw, histograms), in);
}

static bool has_loads(const struct pm_histogram *histogram) {
    bool has = histogram->cold_loads > 0 || histogram->beyond_loads > 0;
    for (size_t i = 0; i < histogram->n_bins; i++)
        has |= histogram->bins[i].loads > 0;
    return has;
}

bool pm_raw_read_dirty(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_histogram *dirty = PM_PUSH(raw, dirty);
    return pm_raw_take_histogram(raw, dirty, in) && !has_loads(&dirty->histogram) &&
           dirty->histogram.at_least == 0 && dirty->histogram.sample == 1;
}

bool pm_raw_read_sequential(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_histogram *sequential = PM_PUSH(raw, sequential);
    return pm_raw_take_histogram(raw, sequential, in) && sequential->histogram.sample == 1;
}

bool pm_raw_read_carried(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_carried *carried = PM_PUSH(raw, carried);
    const struct pm_raw_carried_head *head = pm_take(in, sizeof *head);
    if (!head || !pm_raw_take_histogram(raw, &carried->reuses, in))
        return false;
    const struct pm_histogram *histogram = &carried->reuses.histogram;
    memcpy(&carried->by, head, sizeof *head);
    bool outside = carried->by.carrier_module == PM_RAW_OUTSIDE;
    return carried->by.source_module < raw->n_modules &&
           (outside ? carried->by.carrier_scope == 0 && carried->by.across == 0
                    : carried->by.carrier_module < raw->n_modules) &&
           carried->by.across <= 1 && histogram->cold_loads == 0 && histogram->cold_stores == 0;
}

bool pm_raw_read_samples(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_samples samples = {.thread = pm_take_unsigned(in, 8)};
    samples.block_bytes = pm_take_unsigned(in, 8);
    samples.sample = pm_take_unsigned(in, 8);
    const void *misses = pm_take(in, sizeof samples.misses);
    if (!misses || samples.sample < 2 || samples.block_bytes == 0 ||
        (samples.block_bytes & (samples.block_bytes - 1)) != 0)
        return false;
    memcpy(samples.misses, misses, sizeof samples.misses);
    for (unsigned size = 1; size < PM_RAW_SAMPLE_SIZES; size++)
        for (unsigned i = 0; i < PM_RAW_SUBSAMPLES; i++)
            if (samples.misses[size][i] > samples.misses[size - 1][i])
                return false; /* a larger cache misses more */
    *PM_PUSH(raw, samples) = samples;
    return true;
}
