/* Strides of a run; see strides.h. */
#include "core/strides/strides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

double pm_stride_level_elements(const struct pm_stride_level *level) {
    bool usual = level->count_share > 0.5 || level->count_share <= 0;
    return fmax(1, usual ? level->count : level->mean_count);
}

void pm_run_strides_free(struct pm_run_strides *strides) {
    free(strides->references);
    free(strides->variants);
    *strides = (struct pm_run_strides){0};
}

const struct pm_reference_strides *pm_strides_of_reference(const struct pm_run_strides *strides,
                                                           uint32_t reference) {
    size_t low = 0, high = strides->n_references;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strides->references[middle].reference < reference)
            low = middle + 1;
        else
            high = middle;
    }
    return low < strides->n_references && strides->references[low].reference == reference
               ? &strides->references[low]
               : NULL;
}

void pm_run_strides_add(struct pm_run_strides *strides, const struct pm_reference_strides *one) {
    *PM_PUSH(strides, references) = *one;
}

static int compare(const void *a, const void *b) {
    const struct pm_reference_strides *x = a, *y = b;
    int order = PM_COMPARE(x->reference, y->reference);
    return order ? order : PM_COMPARE(y->executions, x->executions);
}

void pm_run_strides_sort(struct pm_run_strides *strides) {
    size_t n = 0;
    PM_SORT(strides->references, strides->n_references, compare);
    for (size_t i = 0; i < strides->n_references; i++)
        if (n == 0 || strides->references[n - 1].reference != strides->references[i].reference)
            strides->references[n++] = strides->references[i];
    strides->n_references = n;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A blob: this header, then the zstd-compressed payload of doubles: for each reference its number,
   number of levels, executions, lowest and highest address and, from version 2 on, number of
   variants, then the figures of its levels and of its variants. */
struct blob_header {
    char magic[4];
    uint32_t version;
    uint64_t n_words;
    uint64_t checksum; /* XXH3 of the payload before compression, seeded with n_words */
};
enum {
    BLOB_VERSION = 2,
    COMPRESSION_LEVEL = 3,
    N_FIRST = 6,
    N_LEVEL = sizeof(struct pm_stride_level) / sizeof(double),
    N_VARIANT = sizeof(struct pm_stride_variant) / sizeof(double),
};
static const char blob_magic[4] = "PMS";

void pm_run_strides_encode(const struct pm_run_strides *strides, void **bytes, size_t *n_bytes) {
    size_t n_words = 0, at = 0;
    for (size_t i = 0; i < strides->n_references; i++)
        n_words += N_FIRST + N_LEVEL * strides->references[i].n_levels +
                   N_VARIANT * (size_t)strides->references[i].n_variants;
    double *words = pm_alloc(n_words, sizeof *words);
    for (size_t i = 0; i < strides->n_references; i++) {
        const struct pm_reference_strides *one = &strides->references[i];
        const double first[N_FIRST] = {one->reference, one->n_levels, one->executions,
                                       one->lowest,    one->highest,  one->n_variants};
        memcpy(words + at, first, sizeof first);
        at += N_FIRST;
        for (uint32_t k = 0; k < one->n_levels; k++, at += N_LEVEL)
            memcpy(words + at, &one->levels[k], sizeof one->levels[k]);
        for (uint32_t v = 0; v < one->n_variants; v++, at += N_VARIANT)
            memcpy(words + at, &strides->variants[one->first_variant + v],
                   sizeof *strides->variants);
    }
    struct blob_header header = {.version = BLOB_VERSION, .n_words = n_words};
    memcpy(header.magic, blob_magic, sizeof header.magic);
    header.checksum = XXH3_64bits_withSeed(words, n_words * sizeof *words, n_words);
    size_t room = ZSTD_compressBound(n_words * sizeof *words);
    char *blob = pm_alloc(sizeof header + room, 1);
    memcpy(blob, &header, sizeof header);
    size_t used = ZSTD_compress(blob + sizeof header, room, words, n_words * sizeof *words,
                                COMPRESSION_LEVEL);
    free(words);
    *bytes = blob;
    *n_bytes = sizeof header + used; /* the room suffices for any input, so this cannot fail */
}

static bool level_is_valid(const struct pm_stride_level *level) {
    return isfinite(level->stride_bytes) && level->stride_share >= 0 && level->stride_share <= 1 &&
           level->count >= 1 && isfinite(level->count) && level->count_share >= 0 &&
           level->count_share <= 1 && level->mean_count >= 1 && isfinite(level->mean_count);
}

/* Is NUMBER a whole one from 0 up to, not including, END? */
static bool is_index(double number, double end) {
    return number >= 0 && number < end && number == floor(number);
}

static bool variant_is_valid(const struct pm_stride_variant *variant) {
    bool valid = variant->share > 0 && variant->share <= 1 && variant->since >= 0 &&
                 isfinite(variant->since) && variant->phase > 0 && isfinite(variant->phase) &&
                 variant->lowest >= 0 && variant->highest >= variant->lowest &&
                 isfinite(variant->highest) &&
                 is_index(variant->n_levels, PM_MOST_STRIDE_LEVELS + 1) && variant->n_levels > 0;
    for (uint32_t k = 0; k < PM_MOST_STRIDE_LEVELS; k++)
        valid &=
            isfinite(variant->levels[k].stride_bytes) && isfinite(variant->levels[k].count) &&
            (k < variant->n_levels ? variant->levels[k].count >= 1 : variant->levels[k].count == 0);
    return valid;
}

/* One reference from WORDS, of which LEFT are there; how many it took, 0: it is none. */
static size_t take_one(struct pm_run_strides *strides, const double *words, size_t left,
                       uint32_t version, uint32_t n_references) {
    const size_t n_first = version > 1 ? N_FIRST : N_FIRST - 1;
    if (left < n_first || !is_index(words[0], n_references) ||
        !is_index(words[1], PM_MOST_STRIDE_LEVELS + 1) ||
        (version > 1 && !is_index(words[N_FIRST - 1], PM_MOST_STRIDE_VARIANTS + 1)))
        return 0;
    struct pm_reference_strides one = {.reference = (uint32_t)words[0],
                                       .n_levels = (uint32_t)words[1],
                                       .executions = words[2],
                                       .lowest = words[3],
                                       .highest = words[4],
                                       .first_variant = strides->n_variants,
                                       .n_variants = version > 1 ? (uint32_t)words[5] : 0};
    size_t n_levels = n_first + (size_t)N_LEVEL * one.n_levels;
    size_t n = n_levels + (size_t)N_VARIANT * one.n_variants;
    if (left < n || !(one.executions > 0) || !(one.lowest >= 0) || !(one.highest >= one.lowest) ||
        !isfinite(one.executions) || !isfinite(one.highest) ||
        (strides->n_references &&
         strides->references[strides->n_references - 1].reference >= one.reference))
        return 0;
    memcpy(one.levels, words + n_first, one.n_levels * sizeof *one.levels);
    for (uint32_t k = 0; k < one.n_levels; k++)
        if (!level_is_valid(&one.levels[k]))
            return 0;
    for (uint32_t v = 0; v < one.n_variants; v++) {
        struct pm_stride_variant *variant = PM_PUSH(strides, variants);
        memcpy(variant, words + n_levels + (size_t)v * N_VARIANT, sizeof *variant);
        if (!variant_is_valid(variant))
            return 0;
    }
    pm_run_strides_add(strides, &one);
    return n;
}

bool pm_run_strides_decode(const void *bytes, size_t n_bytes, uint32_t n_references,
                           struct pm_run_strides *strides, struct pm_error *err) {
    struct blob_header header;
    *strides = (struct pm_run_strides){0};
    if (n_bytes < sizeof header)
        return pm_fail(err, "strides: cut off after %zu bytes", n_bytes);
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, blob_magic, sizeof header.magic) != 0)
        return pm_fail(err, "strides: these bytes are none");
    if (header.version < 1 || header.version > BLOB_VERSION)
        return pm_fail(err, "strides: version %u, this pmodel reads versions up to %u",
                       header.version, (unsigned)BLOB_VERSION);
    size_t got = 0;
    double *words = pm_unpack((const char *)bytes + sizeof header, n_bytes - sizeof header, &got);
    bool ok = words && got % sizeof *words == 0 && got / sizeof *words == header.n_words &&
              header.checksum == XXH3_64bits_withSeed(words, got, header.n_words);
    for (size_t at = 0, n = 1; ok && at < header.n_words; at += n) {
        n = take_one(strides, words + at, header.n_words - at, header.version, n_references);
        ok = n > 0;
    }
    free(words);
    if (ok)
        return true;
    pm_run_strides_free(strides);
    return pm_fail(err, "strides: damaged");
}
