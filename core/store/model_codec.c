/* A set of models as bytes and back (core/codec.h): its fields in the order of the structures
   of model.h.  What is read is checked field by field, so that a damaged or foreign blob is an
   error. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/codec.h"
#include "core/model.h"
#include "core/raw_file.h"
#include "core/store/private.h"

static const char again[] = "run `pmodel fit` again";
static const struct pm_codec_kind counts = {"PMMS", PM_MODEL_SET_VERSION, "the stored models are",
                                            again},
                                  messages = {"PMMM", PM_MODEL_SET_VERSION,
                                              "the stored models of messages are", again};

enum {
    MODEL_LEAST_BYTES = 36, /* a model without terms */
    BIN_LEAST_BYTES = 2 * MODEL_LEAST_BYTES + 2 * 8 + 2,
    HISTOGRAM_LEAST_BYTES = 2 * MODEL_LEAST_BYTES + 3 * 8 + 4, /* without bins */
    VARIANT_LEAST_BYTES = 2 * 8 + 1,
};

static bool is_share(double value) { return value >= 0 && value <= 1; }
static bool is_amount(double value) { return value >= 0 && isfinite(value); }

/* ---- one model ------------------------------------------------------------------------------- */

/* N_BASIS: functions that its terms may be. */
static void code_model(struct pm_codec *codec, struct pm_model *model, size_t n_basis) {
    U8(model->n_terms);
    MUST(model->n_terms <= PM_MODEL_MAX_TERMS);
    for (size_t i = 0; i < model->n_terms && !codec->in.fault; i++) {
        U16(model->terms[i]);
        REAL(model->coefficients[i]);
        MUST(model->terms[i] < n_basis && isfinite(model->coefficients[i]));
    }
    REAL(model->power);
    MUST(is_amount(model->power));
    REAL(model->relative_error);
    REAL(model->leave_one_out_error);
    REAL(model->sigma);
    U16(model->n_points);
    U8(model->shape);
    BOOL(model->exact);
    if (codec->in.fault)
        model->n_terms = 0;
}

static void code_parameters(struct pm_codec *codec, struct pm_parameters *parameters) {
    size_t n = pm_code_length(codec, parameters->n, 9);
    MUST(n <= PM_MAX_PARAMETERS);
    for (size_t i = 0; i < n && !codec->in.fault; i++) {
        char *name = codec->reading ? NULL : parameters->names[i];
        double value = codec->reading ? 0 : parameters->values[i];
        pm_code_text(codec, &name);
        REAL(value);
        if (codec->reading) {
            MUST(name && !codec->in.fault && pm_parameters_set(parameters, name, value, NULL));
            free(name);
        }
    }
}

static void code_basis(struct pm_codec *codec, struct pm_model_set *set) {
    size_t n = codec->reading ? 0 : set->basis->n;
    char **texts =
        pm_code_array(codec, codec->reading ? NULL : set->basis->texts, &n, sizeof *texts, 1);
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        pm_code_text(codec, &texts[i]);
        all &= texts[i] != NULL;
    }
    if (!codec->reading)
        return;
    if (all && !codec->in.fault)
        set->basis = pm_basis_new(n, (const char *const *)texts, NULL);
    MUST(set->basis);
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

/* ---- histograms ------------------------------------------------------------------------------ */

static void code_bin(struct pm_codec *codec, struct pm_bin_model *bin, size_t n_basis) {
    code_model(codec, &bin->count, n_basis);
    code_model(codec, &bin->distance, n_basis);
    REAL(bin->low);
    REAL(bin->high);
    MUST(is_share(bin->low) && bin->high >= 1 && isfinite(bin->high));
    BOOL(bin->constant_distance);
    BOOL(bin->takes_rest);
    REAL(bin->sequential);
    MUST(is_share(bin->sequential));
}

static void code_histogram(struct pm_codec *codec, struct pm_histogram_model *histogram,
                           size_t n_basis, struct pm_bin_model_arena *arena) {
    U32(histogram->group);
    U64(histogram->block_bytes);
    MUST(histogram->block_bytes > 0);
    code_model(codec, &histogram->accesses, n_basis);
    BOOL(histogram->per_execution);
    code_model(codec, &histogram->cold, n_basis);
    REAL(histogram->at_least);
    MUST(is_amount(histogram->at_least));
    REAL(histogram->store_share);
    REAL(histogram->cold_share);
    MUST(is_share(histogram->store_share) && is_share(histogram->cold_share));
    BOOL(histogram->knows_sequential);
    REAL(histogram->sequential_cold);
    MUST(is_share(histogram->sequential_cold));
    histogram->n_bins = pm_code_length(codec, histogram->n_bins, BIN_LEAST_BYTES);
    if (codec->reading)
        histogram->bins = pm_bin_model_arena_alloc(arena, histogram->n_bins);
    for (size_t b = 0; b < histogram->n_bins; b++)
        code_bin(codec, &histogram->bins[b], n_basis);
}

static void code_histograms(struct pm_codec *codec, struct pm_model_set *set, size_t n_basis) {
    set->histograms = pm_code_array(codec, set->histograms, &set->n_histograms,
                                    sizeof *set->histograms, HISTOGRAM_LEAST_BYTES);
    for (size_t i = 0; i < set->n_histograms && !codec->in.fault; i++)
        code_histogram(codec, &set->histograms[i], n_basis, &set->bins);
}

static void take_histograms(struct pm_codec *codec, struct pm_model_set *set, size_t n_basis,
                            const struct pm_model_taker *taker) {
    size_t n = pm_code_length(codec, 0, HISTOGRAM_LEAST_BYTES);
    for (size_t i = 0; i < n && !codec->in.fault; i++) {
        struct pm_histogram_model histogram = {0};
        code_histogram(codec, &histogram, n_basis, &set->bins);
        if (!codec->in.fault)
            taker->histogram(taker->context, &histogram);
        pm_bin_model_arena_return(&set->bins, histogram.n_bins);
    }
    pm_bin_model_arena_free(&set->bins);
}

/* ---- strides --------------------------------------------------------------------------------- */

static void code_level(struct pm_codec *codec, struct pm_stride_level_model *level,
                       size_t n_basis) {
    code_model(codec, &level->stride, n_basis);
    code_model(codec, &level->count, n_basis);
    BOOL(level->downwards);
    REAL(level->stride_share);
    REAL(level->count_share);
    MUST(is_share(level->stride_share) && is_share(level->count_share));
}

/* One without levels is not known. */
static void code_variant(struct pm_codec *codec, struct pm_stride_variant_model *variant,
                         size_t n_basis) {
    uint32_t n_levels = variant->known ? variant->n_levels : 0;
    REAL(variant->share);
    REAL(variant->since);
    U32(n_levels);
    MUST(variant->share > 0 && variant->share <= 1 && is_amount(variant->since) &&
         n_levels <= PM_MOST_STRIDE_LEVELS);
    if (!n_levels || codec->in.fault)
        return;
    variant->known = true;
    variant->n_levels = n_levels;
    code_model(codec, &variant->phase, n_basis);
    code_model(codec, &variant->offset, n_basis);
    for (uint32_t l = 0; l < n_levels; l++)
        code_level(codec, &variant->levels[l], n_basis);
}

/* N_STRIDES: how many references there are models of. */
static void code_strides(struct pm_codec *codec, struct pm_stride_model *strides, size_t n_strides,
                         size_t n_basis) {
    U32(strides->reference);
    BOOL(strides->known);
    if (!strides->known || codec->in.fault)
        return;
    U32(strides->n_levels);
    MUST(strides->n_levels <= PM_MOST_STRIDE_LEVELS);
    if (codec->reading) {
        strides->n_levels = codec->in.fault ? 0 : strides->n_levels;
        strides->levels = pm_alloc(strides->n_levels, sizeof *strides->levels);
    }
    for (uint32_t l = 0; l < strides->n_levels; l++)
        code_level(codec, &strides->levels[l], n_basis);
    U32(strides->space);
    MUST(strides->space < n_strides);
    code_model(codec, &strides->offset, n_basis);
    BOOL(strides->below);
    BOOL(strides->whole_pages);
    REAL(strides->place_in_page);
    MUST(!isinf(strides->place_in_page));
    size_t n = 2 * (size_t)strides->n_variants;
    strides->variants =
        pm_code_array(codec, strides->variants, &n, sizeof *strides->variants, VARIANT_LEAST_BYTES);
    MUST(n <= 2 * PM_MOST_STRIDE_VARIANTS && n % 2 == 0);
    if (codec->reading)
        strides->n_variants = codec->in.fault ? 0 : (uint32_t)(n / 2);
    if (!strides->n_variants)
        return;
    BOOL(strides->same_number);
    code_model(codec, &strides->all_phases, n_basis);
    code_model(codec, &strides->usual_phase, n_basis);
    for (size_t v = 0; v < n; v++)
        code_variant(codec, &strides->variants[v], n_basis);
}

/* References ascend: this one's is behind *LAST, unless it is the FIRST. */
static void code_next_strides(struct pm_codec *codec, struct pm_stride_model *strides,
                              size_t n_strides, size_t n_basis, bool first, uint32_t *last) {
    code_strides(codec, strides, n_strides, n_basis);
    MUST(strides->reference < PM_NONE && (first || strides->reference > *last));
    *last = strides->reference;
}

static void code_all_strides(struct pm_codec *codec, struct pm_model_set *set, size_t n_basis) {
    uint32_t last = 0;
    set->strides = pm_code_array(codec, set->strides, &set->n_strides, sizeof *set->strides, 2);
    for (size_t i = 0; i < set->n_strides && !codec->in.fault; i++)
        code_next_strides(codec, &set->strides[i], set->n_strides, n_basis, i == 0, &last);
}

static void take_strides(struct pm_codec *codec, size_t n_basis,
                         const struct pm_model_taker *taker) {
    uint32_t last = 0;
    size_t n = pm_code_length(codec, 0, 2);
    for (size_t i = 0; i < n && !codec->in.fault; i++) {
        struct pm_stride_model strides = {0};
        code_next_strides(codec, &strides, n, n_basis, i == 0, &last);
        if (!codec->in.fault)
            taker->strides(taker->context, &strides);
        pm_stride_model_free(&strides);
    }
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void code_left_out(struct pm_codec *codec, double *share) {
    REAL(*share);
    MUST(isnan(*share) || is_share(*share));
}

static void code_totals(struct pm_codec *codec, struct pm_model_set *set, size_t n_basis) {
    code_left_out(codec, &set->accesses_left_out);
    code_left_out(codec, &set->first_touches_left_out);
    set->totals = pm_code_array(codec, set->totals, &set->n_totals, sizeof *set->totals,
                                MODEL_LEAST_BYTES + 1);
    for (size_t i = 0; i < set->n_totals; i++) {
        U64(set->totals[i].block_bytes);
        code_model(codec, &set->totals[i].cold, n_basis);
    }
    set->residuals =
        pm_code_array(codec, set->residuals, &set->n_residuals, sizeof *set->residuals, 9);
    for (size_t i = 0; i < set->n_residuals; i++) {
        U64(set->residuals[i].block_bytes);
        REAL(set->residuals[i].error);
        MUST(is_amount(set->residuals[i].error));
    }
}

/* TAKER, here and below: NULL, or reading. */
static void code_set(struct pm_codec *codec, struct pm_model_set *set, enum pm_model_set_role role,
                     const struct pm_model_taker *taker);

/* What TAKER takes is not kept. */
static void code_inner(struct pm_codec *codec, struct pm_model_set **set,
                       enum pm_model_set_role role, const struct pm_model_taker *taker) {
    if (codec->reading)
        *set = pm_alloc(1, sizeof **set);
    code_set(codec, *set, role, taker);
    if (!taker)
        return;
    pm_model_set_free(*set);
    *set = NULL;
}

static void code_branch_block(struct pm_codec *codec, uint32_t *block) { U32(*block); }

static void code_trips(struct pm_codec *codec, struct pm_measured_trips *row) {
    U32(row->block);
    U32(row->range);
    REAL(row->entries);
    REAL(row->iterations);
    MUST(row->range < PM_N_TRIP_RANGES && row->entries > 0 && row->iterations >= row->entries);
}

static void code_branches(struct pm_codec *codec, struct pm_branch_models *branches) {
    GROWABLE(branches, blocks, code_branch_block);
    for (size_t i = 1; i < branches->n_blocks && !codec->in.fault; i++)
        MUST(branches->blocks[i - 1] < branches->blocks[i]);
    GROWABLE(branches, trips, code_trips);
    code_inner(codec, &branches->models, PM_MODELS_OF_BRANCHES, NULL);
    MUST(codec->in.fault || branches->models->n_edges == branches->n_blocks * PM_N_PREDICTORS);
}

/* Sets in a set have none themselves, so that no file makes this recur. */
static void code_inner_sets(struct pm_codec *codec, struct pm_model_set *set, bool is_inner,
                            const struct pm_model_taker *taker) {
    size_t n = set->n_held_out;
    bool has_dirty = set->dirty, has_branches = set->branches.models;
    BOOL(set->held_out_tried);
    U8(n);
    BOOL(has_dirty);
    BOOL(has_branches);
    MUST(n <= PM_MOST_HELD_OUT && (!is_inner || (n == 0 && !has_dirty && !has_branches)));
    for (size_t i = 0; i < n && !codec->in.fault; i++) {
        code_inner(codec, &set->held_out[i], PM_MODELS_HELD_OUT, taker);
        set->n_held_out = !codec->reading ? n : taker ? 0 : i + 1;
    }
    if (has_dirty && !codec->in.fault)
        code_inner(codec, &set->dirty, PM_MODELS_OF_DIRTY, taker);
    if (has_branches && !codec->in.fault)
        code_branches(codec, &set->branches);
}

static void code_set(struct pm_codec *codec, struct pm_model_set *set, enum pm_model_set_role role,
                     const struct pm_model_taker *taker) {
    code_basis(codec, set);
    const size_t n_basis = set->basis ? set->basis->n : 0;
    code_parameters(codec, &set->low);
    code_parameters(codec, &set->high);
    set->runs = pm_code_array(codec, set->runs, &set->n_runs, sizeof *set->runs, 1);
    for (size_t i = 0; i < set->n_runs && !codec->in.fault; i++)
        code_parameters(codec, &set->runs[i]);
    U64(set->n_runs_dropped);
    set->edges =
        pm_code_array(codec, set->edges, &set->n_edges, sizeof *set->edges, MODEL_LEAST_BYTES);
    for (size_t i = 0; i < set->n_edges && !codec->in.fault; i++)
        code_model(codec, &set->edges[i], n_basis);
    if (taker && !codec->in.fault)
        taker->begin(taker->context, role, set);
    if (taker)
        take_histograms(codec, set, n_basis, taker);
    else
        code_histograms(codec, set, n_basis);
    code_totals(codec, set, n_basis);
    if (taker)
        take_strides(codec, n_basis, taker);
    else
        code_all_strides(codec, set, n_basis);
    code_inner_sets(codec, set, role != PM_MODELS_OF_ALL, taker);
    if (taker && !codec->in.fault)
        taker->end(taker->context, role, set);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_model_set_encode(const struct pm_model_set *set, void **bytes, size_t *n_bytes) {
    struct pm_codec codec = {.reading = false};
    /* which it does not change */
    code_set(&codec, (struct pm_model_set *)set, PM_MODELS_OF_ALL, NULL);
    pm_codec_seal(&codec, &counts, bytes, n_bytes);
}

bool pm_model_set_open(struct pm_codec *codec, const void *bytes, size_t n_bytes,
                       struct pm_error *err) {
    if (!pm_codec_open(codec, &counts, bytes, n_bytes, err))
        return false;
    pm_codec_keep_rest(codec);
    return true;
}

struct pm_model_set *pm_model_set_take(struct pm_codec *codec, const struct pm_model_taker *taker,
                                       struct pm_error *err) {
    struct pm_model_set *set = pm_alloc(1, sizeof *set);
    code_set(codec, set, PM_MODELS_OF_ALL, taker);
    if (pm_codec_close(codec, &counts, err))
        return set;
    pm_model_set_free(set);
    return NULL;
}

struct pm_model_set *pm_model_set_decode(const void *bytes, size_t n_bytes, struct pm_error *err) {
    struct pm_codec codec;
    if (!pm_codec_open(&codec, &counts, bytes, n_bytes, err))
        return NULL;
    return pm_model_set_take(&codec, NULL, err);
}

static void code_item(struct pm_codec *codec, struct pm_message_item *item) {
    U32(item->path);
    U16(item->operation);
    MUST(item->operation < PM_N_OPERATIONS);
    for (unsigned quantity = 0; quantity < PM_N_MESSAGE_QUANTITIES; quantity++)
        BOOL(item->unknown[quantity]);
}

static void code_messages(struct pm_codec *codec, struct pm_message_models *of) {
    GROWABLE(of, items, code_item);
    if (codec->reading)
        of->models = pm_alloc(1, sizeof *of->models);
    code_set(codec, of->models, PM_MODELS_OF_ALL, NULL);
    MUST(of->models->n_edges == of->n_items * PM_N_MESSAGE_QUANTITIES);
}

void pm_message_models_encode(const struct pm_message_models *of, void **bytes, size_t *n_bytes) {
    struct pm_codec codec = {.reading = false};
    code_messages(&codec, (struct pm_message_models *)of);
    pm_codec_seal(&codec, &messages, bytes, n_bytes);
}

struct pm_message_models *pm_message_models_decode(const void *bytes, size_t n_bytes,
                                                   struct pm_error *err) {
    struct pm_codec codec;
    if (!pm_codec_open(&codec, &messages, bytes, n_bytes, err))
        return NULL;
    struct pm_message_models *of = pm_alloc(1, sizeof *of);
    code_messages(&codec, of);
    if (pm_codec_close(&codec, &messages, err))
        return of;
    pm_message_models_free(of);
    return NULL;
}
