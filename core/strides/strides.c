/* Strides of a run; see strides.h. */
#include "core/strides/strides.h"

#include <math.h>
#include <stdlib.h>

#include "core/codec.h"

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

static const struct pm_codec_kind kind = {"PMST", PM_STRIDES_VERSION, "the strides are",
                                          "run that size again"};

static bool is_amount(double value) { return value >= 0 && isfinite(value); }
static bool is_share(double value) { return value >= 0 && value <= 1; }

static void code_level(struct pm_codec *codec, struct pm_stride_level *level) {
    REAL(level->stride_bytes);
    REAL(level->stride_share);
    REAL(level->count);
    REAL(level->count_share);
    REAL(level->mean_count);
    MUST(isfinite(level->stride_bytes) && is_share(level->stride_share) && level->count >= 1 &&
         isfinite(level->count) && is_share(level->count_share) && level->mean_count >= 1 &&
         isfinite(level->mean_count));
}

static void code_variant(struct pm_codec *codec, struct pm_stride_variant *variant) {
    REAL(variant->share);
    REAL(variant->since);
    REAL(variant->phase);
    REAL(variant->lowest);
    REAL(variant->highest);
    REAL(variant->n_levels);
    MUST(variant->share > 0 && variant->share <= 1 && is_amount(variant->since) &&
         variant->phase > 0 && isfinite(variant->phase) && variant->lowest >= 0 &&
         variant->highest >= variant->lowest && isfinite(variant->highest) &&
         variant->n_levels > 0 && variant->n_levels <= PM_MOST_STRIDE_LEVELS &&
         variant->n_levels == floor(variant->n_levels));
    for (uint32_t k = 0; k < PM_MOST_STRIDE_LEVELS; k++) {
        struct pm_variant_level *level = &variant->levels[k];
        REAL(level->stride_bytes);
        REAL(level->count);
        MUST(isfinite(level->stride_bytes) && isfinite(level->count) &&
             (k < variant->n_levels ? level->count >= 1 : level->count == 0));
    }
}

static void code_reference(struct pm_codec *codec, struct pm_run_strides *strides,
                           struct pm_reference_strides *one) {
    U32(one->reference);
    U32(one->n_levels);
    U32(one->n_variants);
    REAL(one->executions);
    REAL(one->lowest);
    REAL(one->highest);
    MUST(one->n_levels <= PM_MOST_STRIDE_LEVELS && one->n_variants <= PM_MOST_STRIDE_VARIANTS &&
         one->executions > 0 && isfinite(one->executions) && one->lowest >= 0 &&
         one->highest >= one->lowest && isfinite(one->highest));
    for (uint32_t k = 0; k < one->n_levels && !codec->in.fault; k++)
        code_level(codec, &one->levels[k]);
    if (codec->reading)
        one->first_variant = strides->n_variants;
    for (uint32_t v = 0; v < one->n_variants && !codec->in.fault; v++)
        code_variant(codec, codec->reading ? PM_PUSH(strides, variants)
                                           : &strides->variants[one->first_variant + v]);
}

/* References ascend and are below END. */
static void code_strides(struct pm_codec *codec, struct pm_run_strides *strides, uint32_t end) {
    enum { REFERENCE_LEAST_BYTES = 3 * 8 + 3 };
    size_t n = pm_code_length(codec, strides->n_references, REFERENCE_LEAST_BYTES);
    for (size_t i = 0; i < n && !codec->in.fault; i++) {
        struct pm_reference_strides *one =
            codec->reading ? PM_PUSH(strides, references) : &strides->references[i];
        code_reference(codec, strides, one);
        MUST(one->reference < end && (i == 0 || one[-1].reference < one->reference));
    }
}

void pm_run_strides_encode(const struct pm_run_strides *strides, void **bytes, size_t *n_bytes) {
    struct pm_codec codec = {.reading = false};
    code_strides(&codec, (struct pm_run_strides *)strides, PM_NONE); /* which it does not change */
    pm_codec_seal(&codec, &kind, bytes, n_bytes);
}

bool pm_run_strides_decode(const void *bytes, size_t n_bytes, uint32_t n_references,
                           struct pm_run_strides *strides, struct pm_error *err) {
    struct pm_codec codec;
    *strides = (struct pm_run_strides){0};
    if (!pm_codec_open(&codec, &kind, bytes, n_bytes, err))
        return false;
    code_strides(&codec, strides, n_references);
    if (pm_codec_close(&codec, &kind, err))
        return true;
    pm_run_strides_free(strides);
    return false;
}
