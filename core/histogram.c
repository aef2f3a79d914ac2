/* Reuse-distance histograms; see histogram.h. */
#include "core/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "core/base/base.h"

void pm_histogram_free(struct pm_histogram *histogram) {
    free(histogram->bins);
    histogram->bins = NULL;
    histogram->n_bins = 0;
}

double pm_histogram_always_missing(const struct pm_histogram *histogram) {
    return histogram->cold_loads + histogram->cold_stores + histogram->beyond_loads +
           histogram->beyond_stores;
}

double pm_histogram_accesses(const struct pm_histogram *histogram) {
    double sum = pm_histogram_always_missing(histogram);
    for (size_t i = 0; i < histogram->n_bins; i++)
        sum += histogram->bins[i].loads + histogram->bins[i].stores;
    return sum;
}

/* [low, high] holds high − low + 1 distances, and those from CACHE_BLOCKS on miss. */
double pm_bin_missing_share(const struct pm_bin *bin, double cache_blocks) {
    if (bin->low >= cache_blocks)
        return 1;
    if (bin->high < cache_blocks)
        return 0;
    return (bin->high + 1 - cache_blocks) / (bin->high + 1 - bin->low);
}

double pm_fully_associative_misses(const struct pm_histogram *histogram, double cache_blocks) {
    double sum = pm_histogram_always_missing(histogram);
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        sum += (bin->loads + bin->stores) * pm_bin_missing_share(bin, cache_blocks);
    }
    return sum;
}

double pm_histogram_unused_share(const struct pm_histogram *histogram) {
    double cold = histogram->cold_loads + histogram->cold_stores;
    double bytes = cold * (double)histogram->block_bytes;
    bool known = bytes > 0 && histogram->bytes_touched <= bytes; /* not if NAN */
    return known ? 1 - histogram->bytes_touched / bytes : NAN;
}

/* ---- adding ---------------------------------------------------------------------------------- */

void pm_bin_join(struct pm_bin *into, const struct pm_bin *from) {
    double into_count = into->loads + into->stores, from_count = from->loads + from->stores;
    if (into_count + from_count > 0)
        into->mean =
            (into->mean * into_count + from->mean * from_count) / (into_count + from_count);
    into->low = fmin(into->low, from->low);
    into->high = fmax(into->high, from->high);
    into->loads += from->loads;
    into->stores += from->stores;
}

void pm_histogram_add(struct pm_histogram *into, const struct pm_histogram *from) {
    struct pm_bin *merged = pm_alloc(into->n_bins + from->n_bins + 1, sizeof *merged);
    size_t n_merged = 0, i = 0, j = 0;
    while (i < into->n_bins || j < from->n_bins) {
        bool from_into =
            j == from->n_bins || (i < into->n_bins && into->bins[i].low <= from->bins[j].low);
        const struct pm_bin *next = from_into ? &into->bins[i++] : &from->bins[j++];
        if (n_merged > 0 && next->low <= merged[n_merged - 1].high)
            pm_bin_join(&merged[n_merged - 1], next);
        else
            merged[n_merged++] = *next;
    }
    free(into->bins);
    into->bins = merged;
    into->n_bins = n_merged;
    into->cold_loads += from->cold_loads;
    into->cold_stores += from->cold_stores;
    into->bytes_touched += from->bytes_touched;
    into->beyond_loads += from->beyond_loads;
    into->beyond_stores += from->beyond_stores;
    if (from->at_least > 0 && (into->at_least == 0 || from->at_least < into->at_least))
        into->at_least = from->at_least;
    if (from->sample > into->sample)
        into->sample = from->sample;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A blob: this header, then the zstd-compressed payload: what is not of a bin (head_values,
   sample), then the five columns of the bins one after the other, which compresses better than row
   by row. Version 1 had but the first three words before the columns. */
struct blob_header {
    char magic[4];
    uint32_t version;
    uint64_t n_bins;
    uint64_t checksum; /* XXH3 of the payload before compression, seeded with n_bins */
};
enum { BLOB_VERSION = 2, N_HEAD = 8 };
static const char blob_magic[4] = "PMH";
#define MOST_BINS (1ull << 32) /* more than distances below 2^64 have at 1 % */

double *pm_bin_column(struct pm_bin *bin, unsigned column) {
    double *const values[PM_BIN_COLUMNS] = {&bin->low, &bin->high, &bin->mean, &bin->loads,
                                            &bin->stores};
    return values[column];
}

static void put_head(const struct pm_histogram *histogram, double *words) {
    memcpy(&words[0], &histogram->block_bytes, sizeof words[0]);
    words[1] = histogram->cold_loads;
    words[2] = histogram->cold_stores;
    words[3] = histogram->bytes_touched;
    words[4] = histogram->at_least;
    words[5] = histogram->beyond_loads;
    words[6] = histogram->beyond_stores;
    uint64_t sample = histogram->sample ? histogram->sample : 1;
    memcpy(&words[7], &sample, sizeof words[7]);
}

static void take_head(struct pm_histogram *histogram, const double *words) {
    memcpy(&histogram->block_bytes, &words[0], sizeof words[0]);
    histogram->cold_loads = words[1];
    histogram->cold_stores = words[2];
    histogram->bytes_touched = words[3];
    histogram->at_least = words[4];
    histogram->beyond_loads = words[5];
    histogram->beyond_stores = words[6];
    memcpy(&histogram->sample, &words[7], sizeof words[7]);
}

void pm_histogram_encode(struct pm_packing *packing, const struct pm_histogram *histogram,
                         void **bytes, size_t *n_bytes) {
    size_t n_bins = histogram->n_bins, n_words = N_HEAD + PM_BIN_COLUMNS * n_bins;
    double *words = pm_alloc(n_words, sizeof *words);
    put_head(histogram, words);
    for (unsigned column = 0; column < PM_BIN_COLUMNS; column++)
        for (size_t i = 0; i < n_bins; i++)
            words[N_HEAD + column * n_bins + i] = *pm_bin_column(&histogram->bins[i], column);

    struct blob_header header = {.version = BLOB_VERSION, .n_bins = n_bins};
    memcpy(header.magic, blob_magic, sizeof header.magic);
    header.checksum = XXH3_64bits_withSeed(words, n_words * sizeof *words, n_bins);
    size_t room = ZSTD_compressBound(n_words * sizeof *words);
    char *blob = pm_alloc(sizeof header + room, 1);
    memcpy(blob, &header, sizeof header);
    size_t used = pm_pack(packing, blob + sizeof header, room, words, n_words * sizeof *words);
    free(words);
    *bytes = blob;
    *n_bytes = sizeof header + used; /* the room suffices for any input, so this cannot fail */
}

static bool check_header(const void *bytes, size_t n_bytes, struct blob_header *header,
                         struct pm_error *err) {
    if (n_bytes < sizeof *header)
        return pm_fail(err, "histogram: truncated after %zu bytes", n_bytes);
    memcpy(header, bytes, sizeof *header);
    if (memcmp(header->magic, blob_magic, sizeof header->magic) != 0)
        return pm_fail(err, "histogram: these bytes are not a histogram");
    if (header->version != BLOB_VERSION)
        return pm_fail(err, "histogram: version %u, this pmodel reads version %u", header->version,
                       (unsigned)BLOB_VERSION);
    if (header->n_bins > MOST_BINS)
        return pm_fail(err, "histogram: damaged: %llu bins are more than there can be",
                       (unsigned long long)header->n_bins);
    return true;
}

static bool is_count(double value) { return value >= 0 && value <= 0x1p63; }

static bool head_is_valid(const struct pm_histogram *histogram) {
    return is_count(histogram->cold_loads) && is_count(histogram->cold_stores) &&
           (isnan(histogram->bytes_touched) || is_count(histogram->bytes_touched)) &&
           is_count(histogram->at_least) && is_count(histogram->beyond_loads) &&
           is_count(histogram->beyond_stores) &&
           (histogram->at_least > 0 || histogram->beyond_loads + histogram->beyond_stores == 0) &&
           histogram->sample > 0;
}

static bool bins_are_valid(const struct pm_histogram *histogram) {
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        if (!(bin->low >= 0 && bin->low <= bin->high && bin->high <= 0x1p64) ||
            !isfinite(bin->mean) || !is_count(bin->loads) || !is_count(bin->stores) ||
            (i > 0 && bin->low <= histogram->bins[i - 1].high))
            return false;
    }
    return true;
}

bool pm_histogram_is_valid(const struct pm_histogram *histogram) {
    return head_is_valid(histogram) && bins_are_valid(histogram);
}

bool pm_histogram_decode(struct pm_packing *packing, const void *bytes, size_t n_bytes,
                         struct pm_histogram *histogram, struct pm_error *err) {
    struct blob_header header;
    *histogram = (struct pm_histogram){0};
    if (!check_header(bytes, n_bytes, &header, err))
        return false;
    size_t n_bins = header.n_bins, n_words = N_HEAD + PM_BIN_COLUMNS * n_bins, got = 0;
    double *words =
        pm_unpack_with(packing, (const char *)bytes + sizeof header, n_bytes - sizeof header, &got);
    if (!words || got != n_words * sizeof *words ||
        header.checksum != XXH3_64bits_withSeed(words, n_words * sizeof *words, n_bins)) {
        free(words);
        return pm_fail(err, "histogram: damaged: its checksum does not match");
    }
    take_head(histogram, words);
    histogram->n_bins = n_bins;
    histogram->bins = pm_alloc(n_bins + 1, sizeof *histogram->bins);
    for (unsigned column = 0; column < PM_BIN_COLUMNS; column++)
        for (size_t i = 0; i < n_bins; i++)
            *pm_bin_column(&histogram->bins[i], column) = words[N_HEAD + column * n_bins + i];
    free(words);
    if (pm_histogram_is_valid(histogram))
        return true;
    pm_histogram_free(histogram);
    return pm_fail(err, "histogram: its bins are not ascending counts of distances");
}
