/* A set of models as bytes and back.

   Header: magic, version, size and XXH3 of the raw bytes; then the raw bytes, zstd-compressed. Raw:
   little-endian fields in the order of the structures of model.h.  The decoder checks the checksum
   first and then every length, index and number, so that a damaged or foreign blob is an error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>
#include <zstd.h>

#include "core/model.h"
#include "core/strides/strides.h"
#include "core/base/base.h"

enum {
    /* 4 had no powers, nothing of the whole program, and no sets that are held out; 5 no misfits,
       6 no strides, 7 no variants of them, 8 none of stores by dirty distance */
    MODEL_SET_VERSION = 9,
    DIRTY_VERSION = 9,
    STRIDE_VARIANTS_VERSION = 8,
    STRIDES_VERSION = 7,
    MISFIT_VERSION = 6,
    OLDEST_VERSION = 4,
    HEADER_BYTES = 24,
    MODEL_LEAST_BYTES = 29, /* a model without terms, of the oldest version */
    BIN_LEAST_BYTES = 2 * MODEL_LEAST_BYTES + 2 * 8 + 2,
    HISTOGRAM_LEAST_BYTES = 2 * MODEL_LEAST_BYTES + 5 * 8 + 1, /* without bins */
};
static const char MAGIC[4] = "PMMS";

/* ---- writing -------------------------------------------------------------------------------- */

struct writer {
    char *bytes;
    size_t n, capacity;
};

static void put(struct writer *w, const void *data, size_t size) {
    if (w->n + size > w->capacity) {
        w->capacity = 2 * (w->n + size) + 256;
        w->bytes = pm_realloc(w->bytes, w->capacity, 1);
    }
    memcpy(w->bytes + w->n, data, size);
    w->n += size;
}
static void put_u8(struct writer *w, uint8_t value) { put(w, &value, sizeof value); }
static void put_u64(struct writer *w, uint64_t value) { put(w, &value, sizeof value); }
static void put_double(struct writer *w, double value) { put(w, &value, sizeof value); }
static void put_text(struct writer *w, const char *text) {
    put_u64(w, strlen(text));
    put(w, text, strlen(text));
}

static void put_model(struct writer *w, const struct pm_model *model) {
    put_u8(w, model->n_terms);
    put(w, model->terms, model->n_terms * sizeof model->terms[0]);
    put(w, model->coefficients, model->n_terms * sizeof model->coefficients[0]);
    put_double(w, model->power);
    put_double(w, model->relative_error);
    put_double(w, model->leave_one_out_error);
    put_double(w, model->sigma);
    put(w, &model->n_points, sizeof model->n_points);
    put_u8(w, model->shape);
    put_u8(w, model->exact);
}

static void put_parameters(struct writer *w, const struct pm_parameters *parameters) {
    put_u64(w, parameters->n);
    for (size_t i = 0; i < parameters->n; i++) {
        put_text(w, parameters->names[i]);
        put_double(w, parameters->values[i]);
    }
}

static void put_stride_level(struct writer *w, const struct pm_stride_level_model *level) {
    put_model(w, &level->stride);
    put_model(w, &level->count);
    put_u8(w, level->downwards);
    put_double(w, level->stride_share);
    put_double(w, level->count_share);
}

static void put_stride_variants(struct writer *w, const struct pm_stride_model *strides) {
    put_u64(w, strides->n_variants);
    if (!strides->n_variants)
        return;
    put_u8(w, strides->same_number);
    put_model(w, &strides->all_phases);
    put_model(w, &strides->usual_phase);
    for (uint32_t v = 0; v < 2 * strides->n_variants; v++) {
        const struct pm_stride_variant_model *variant = &strides->variants[v];
        put_double(w, variant->share);
        put_double(w, variant->since);
        put_u64(w, variant->known ? variant->n_levels : 0);
        if (!variant->known)
            continue;
        put_model(w, &variant->phase);
        put_model(w, &variant->offset);
        for (uint32_t l = 0; l < variant->n_levels; l++)
            put_stride_level(w, &variant->levels[l]);
    }
}

static void put_strides(struct writer *w, const struct pm_model_set *set) {
    put_u64(w, set->n_strides);
    for (size_t i = 0; i < set->n_strides; i++) {
        const struct pm_stride_model *strides = &set->strides[i];
        put_u64(w, strides->reference);
        put_u8(w, strides->known);
        if (!strides->known)
            continue;
        put_u64(w, strides->n_levels);
        for (uint32_t l = 0; l < strides->n_levels; l++)
            put_stride_level(w, &strides->levels[l]);
        put_u64(w, strides->space);
        put_model(w, &strides->offset);
        put_u8(w, strides->below);
        put_u8(w, strides->whole_pages);
        put_double(w, strides->place_in_page);
        put_stride_variants(w, strides);
    }
}

static void put_set(struct writer *w, const struct pm_model_set *set);

static void put_held_out(struct writer *w, const struct pm_model_set *set) {
    put_u8(w, set->held_out_tried);
    put_u8(w, (uint8_t)set->n_held_out);
    for (size_t i = 0; i < set->n_held_out; i++)
        put_set(w, set->held_out[i]);
}

static void put_set(struct writer *w, const struct pm_model_set *set) {
    put_u64(w, set->basis->n);
    for (size_t i = 0; i < set->basis->n; i++)
        put_text(w, set->basis->texts[i]);
    put_parameters(w, &set->low);
    put_parameters(w, &set->high);
    put_u64(w, set->n_runs);
    for (size_t i = 0; i < set->n_runs; i++)
        put_parameters(w, &set->runs[i]);
    put_u64(w, set->n_runs_dropped);
    put_u64(w, set->n_edges);
    for (size_t i = 0; i < set->n_edges; i++)
        put_model(w, &set->edges[i]);
    put_u64(w, set->n_histograms);
    for (size_t i = 0; i < set->n_histograms; i++) {
        const struct pm_histogram_model *histogram = &set->histograms[i];
        put_u64(w, histogram->group);
        put_u64(w, histogram->block_bytes);
        put_model(w, &histogram->accesses);
        put_u8(w, histogram->per_execution);
        put_model(w, &histogram->cold);
        put_double(w, histogram->at_least);
        put_double(w, histogram->store_share);
        put_u64(w, histogram->n_bins);
        for (size_t b = 0; b < histogram->n_bins; b++) {
            const struct pm_bin_model *bin = &histogram->bins[b];
            put_model(w, &bin->count);
            put_model(w, &bin->distance);
            put_double(w, bin->low);
            put_double(w, bin->high);
            put_u8(w, bin->constant_distance);
            put_u8(w, bin->takes_rest);
        }
    }
    put_double(w, set->accesses_left_out);
    put_double(w, set->first_touches_left_out);
    put_u64(w, set->n_wholes);
    for (size_t i = 0; i < set->n_wholes; i++) {
        put_u64(w, set->wholes[i].block_bytes);
        put_model(w, &set->wholes[i].cold);
    }
    for (size_t i = 0; i < set->n_histograms; i++)
        put_double(w, set->histograms[i].cold_share);
    put_held_out(w, set);
    put_u64(w, set->n_misfits);
    for (size_t i = 0; i < set->n_misfits; i++) {
        put_u64(w, set->misfits[i].block_bytes);
        put_double(w, set->misfits[i].error);
    }
    put_strides(w, set);
    put_u8(w, set->dirty != NULL);
    if (set->dirty)
        put_set(w, set->dirty);
}

void pm_model_set_encode(const struct pm_model_set *set, void **bytes, size_t *n_bytes) {
    struct writer raw = {0};
    put_set(&raw, set);
    size_t bound = ZSTD_compressBound(raw.n);
    char *out = pm_alloc(HEADER_BYTES + bound, 1);
    uint32_t version = MODEL_SET_VERSION;
    uint64_t raw_bytes = raw.n, checksum = XXH3_64bits(raw.bytes, raw.n);
    memcpy(out, MAGIC, sizeof MAGIC);
    memcpy(out + 4, &version, sizeof version);
    memcpy(out + 8, &raw_bytes, sizeof raw_bytes);
    memcpy(out + 16, &checksum, sizeof checksum);
    size_t compressed = ZSTD_compress(out + HEADER_BYTES, bound, raw.bytes, raw.n, 3);
    free(raw.bytes);
    *bytes = out; /* with a buffer of compressBound, ZSTD_compress cannot fail for lack of room */
    *n_bytes = HEADER_BYTES + compressed;
}

/* ---- reading -------------------------------------------------------------------------------- */

static double get_double(struct pm_reader *r) {
    double value;
    pm_take_into(r, &value, sizeof value);
    return value;
}

/* A number of items that take at least LEAST bytes each: never more than what is left. */
static size_t get_count(struct pm_reader *r, size_t least) {
    uint64_t count = pm_take_unsigned(r, 8);
    if (r->fault || count > pm_bytes_left(r) / least) {
        r->fault = PM_READ_BAD;
        return 0;
    }
    return count;
}

static char *get_text(struct pm_reader *r) {
    size_t length = get_count(r, 1);
    char *text = pm_alloc(length + 1, 1);
    pm_take_into(r, text, length);
    return text;
}

/* What the models of a set have in common. */
struct of_set {
    uint32_t version;
    size_t n_basis;
};

static void get_model(struct pm_reader *r, struct pm_model *model, struct of_set of) {
    model->n_terms = (uint8_t)pm_take_unsigned(r, 1);
    if (model->n_terms > PM_MODEL_MAX_TERMS) {
        model->n_terms = 0;
        r->fault = PM_READ_BAD;
    }
    pm_take_into(r, model->terms, model->n_terms * sizeof model->terms[0]);
    pm_take_into(r, model->coefficients, model->n_terms * sizeof model->coefficients[0]);
    for (size_t i = 0; i < model->n_terms; i++)
        if (model->terms[i] >= of.n_basis || !isfinite(model->coefficients[i]))
            r->fault = PM_READ_BAD;
    model->power = of.version > OLDEST_VERSION ? get_double(r) : 0;
    if (!(model->power >= 0 && isfinite(model->power)))
        r->fault = PM_READ_BAD;
    model->relative_error = get_double(r);
    model->leave_one_out_error = get_double(r);
    model->sigma = get_double(r);
    pm_take_into(r, &model->n_points, sizeof model->n_points);
    model->shape = (uint8_t)pm_take_unsigned(r, 1);
    uint8_t exact = (uint8_t)pm_take_unsigned(r, 1);
    if (exact > 1)
        r->fault = PM_READ_BAD;
    model->exact = exact == 1;
}

static void get_parameters(struct pm_reader *r, struct pm_parameters *parameters) {
    size_t n = get_count(r, 16);
    if (n > PM_MAX_PARAMETERS)
        r->fault = PM_READ_BAD;
    for (size_t i = 0; i < n && !r->fault; i++) {
        char *name = get_text(r);
        double value = get_double(r);
        if (!r->fault && !pm_parameters_set(parameters, name, value, NULL))
            r->fault = PM_READ_BAD;
        free(name);
    }
}

static void get_basis(struct pm_reader *r, struct pm_model_set *set) {
    size_t n = get_count(r, 8);
    char **texts = pm_alloc(n, sizeof *texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = get_text(r);
    if (!r->fault)
        set->basis = pm_basis_new(n, (const char *const *)texts, NULL);
    if (!set->basis)
        r->fault = PM_READ_BAD;
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void get_histogram(struct pm_reader *r, struct pm_histogram_model *histogram,
                          struct of_set of, struct pm_bin_model_arena *arena) {
    uint64_t group = pm_take_unsigned(r, 8);
    histogram->group = (uint32_t)group;
    histogram->block_bytes = pm_take_unsigned(r, 8);
    if (group > UINT32_MAX || histogram->block_bytes == 0)
        r->fault = PM_READ_BAD;
    get_model(r, &histogram->accesses, of);
    uint8_t per_execution = (uint8_t)pm_take_unsigned(r, 1);
    if (per_execution > 1)
        r->fault = PM_READ_BAD;
    histogram->per_execution = per_execution == 1;
    get_model(r, &histogram->cold, of);
    histogram->at_least = get_double(r);
    if (!(histogram->at_least >= 0 && isfinite(histogram->at_least)))
        r->fault = PM_READ_BAD;
    histogram->store_share = get_double(r);
    if (!(histogram->store_share >= 0 && histogram->store_share <= 1))
        r->fault = PM_READ_BAD;
    histogram->n_bins = get_count(r, BIN_LEAST_BYTES);
    histogram->bins = pm_bin_model_arena_alloc(arena, histogram->n_bins);
    for (size_t b = 0; b < histogram->n_bins; b++) {
        struct pm_bin_model *bin = &histogram->bins[b];
        get_model(r, &bin->count, of);
        get_model(r, &bin->distance, of);
        bin->low = get_double(r);
        bin->high = get_double(r);
        if (!(bin->low >= 0 && bin->low <= 1 && bin->high >= 1 && isfinite(bin->high)))
            r->fault = PM_READ_BAD;
        bin->constant_distance = (uint8_t)pm_take_unsigned(r, 1) != 0;
        bin->takes_rest = (uint8_t)pm_take_unsigned(r, 1) != 0;
    }
}

static double get_share(struct pm_reader *r) {
    double share = get_double(r);
    if (!isnan(share) && !(share >= 0 && share <= 1))
        r->fault = PM_READ_BAD;
    return share;
}

static void get_wholes(struct pm_reader *r, struct pm_model_set *set, struct of_set of) {
    set->accesses_left_out = get_share(r);
    set->first_touches_left_out = get_share(r);
    set->n_wholes = get_count(r, MODEL_LEAST_BYTES + 8);
    set->wholes = pm_alloc(set->n_wholes, sizeof *set->wholes);
    for (size_t i = 0; i < set->n_wholes; i++) {
        set->wholes[i].block_bytes = pm_take_unsigned(r, 8);
        get_model(r, &set->wholes[i].cold, of);
    }
    for (size_t i = 0; i < set->n_histograms; i++) {
        double *share = &set->histograms[i].cold_share;
        *share = get_double(r);
        if (!(*share >= 0 && *share <= 1))
            r->fault = PM_READ_BAD;
    }
}

static struct pm_model_set *get_set(struct pm_reader *r, uint32_t version, bool may_hold_out);

/* Sets in a set have none themselves, so that no file makes this recur. */
static void get_held_out(struct pm_reader *r, struct pm_model_set *set, uint32_t version,
                         bool may_hold_out) {
    set->held_out_tried = pm_take_unsigned(r, 1) != 0;
    size_t n = pm_take_unsigned(r, 1);
    if (n > (may_hold_out ? PM_MOST_HELD_OUT : 0))
        r->fault = PM_READ_BAD;
    for (size_t i = 0; i < n && !r->fault; i++)
        set->held_out[set->n_held_out++] = get_set(r, version, false);
}

static void get_misfits(struct pm_reader *r, struct pm_model_set *set) {
    set->n_misfits = get_count(r, 16);
    set->misfits = pm_alloc(set->n_misfits, sizeof *set->misfits);
    for (size_t i = 0; i < set->n_misfits; i++) {
        struct pm_misfit *misfit = &set->misfits[i];
        misfit->block_bytes = pm_take_unsigned(r, 8);
        misfit->error = get_double(r);
        if (!(misfit->error >= 0 && isfinite(misfit->error)))
            r->fault = PM_READ_BAD;
    }
}

static bool get_flag(struct pm_reader *r) {
    uint64_t flag = pm_take_unsigned(r, 1);
    if (flag > 1)
        r->fault = PM_READ_BAD;
    return flag == 1;
}

static uint32_t get_u32(struct pm_reader *r, uint64_t most) {
    uint64_t value = pm_take_unsigned(r, 8);
    if (value > most)
        r->fault = PM_READ_BAD;
    return r->fault ? 0 : (uint32_t)value;
}

static void get_stride_level(struct pm_reader *r, struct pm_stride_level_model *level,
                             struct of_set of) {
    get_model(r, &level->stride, of);
    get_model(r, &level->count, of);
    level->downwards = get_flag(r);
    level->stride_share = get_double(r);
    level->count_share = get_double(r);
    if (!(level->stride_share >= 0 && level->stride_share <= 1 && level->count_share >= 0 &&
          level->count_share <= 1))
        r->fault = PM_READ_BAD;
}

static void get_stride_variants(struct pm_reader *r, struct pm_stride_model *strides,
                                struct of_set of) {
    enum { LEAST_BYTES = 48 }; /* of a variant, counted from both ends */
    size_t n = get_count(r, LEAST_BYTES);
    if (n > PM_MOST_STRIDE_VARIANTS)
        r->fault = PM_READ_BAD;
    if (!n || r->fault)
        return;
    strides->same_number = get_flag(r);
    get_model(r, &strides->all_phases, of);
    get_model(r, &strides->usual_phase, of);
    strides->n_variants = (uint32_t)n;
    strides->variants = pm_alloc(2 * n, sizeof *strides->variants);
    for (size_t v = 0; v < 2 * n && !r->fault; v++) {
        struct pm_stride_variant_model *variant = &strides->variants[v];
        variant->share = get_double(r);
        variant->since = get_double(r);
        variant->n_levels = get_u32(r, PM_MOST_STRIDE_LEVELS);
        if (!(variant->share > 0 && variant->share <= 1 && variant->since >= 0 &&
              isfinite(variant->since)))
            r->fault = PM_READ_BAD;
        if (!variant->n_levels || r->fault)
            continue;
        variant->known = true;
        get_model(r, &variant->phase, of);
        get_model(r, &variant->offset, of);
        for (uint32_t l = 0; l < variant->n_levels; l++)
            get_stride_level(r, &variant->levels[l], of);
    }
}

static void get_strides(struct pm_reader *r, struct pm_model_set *set, struct of_set of) {
    uint64_t next = 0; /* they ascend */
    set->n_strides = get_count(r, 9);
    set->strides = pm_alloc(set->n_strides, sizeof *set->strides);
    for (size_t i = 0; i < set->n_strides && !r->fault; i++) {
        struct pm_stride_model *strides = &set->strides[i];
        strides->reference = get_u32(r, PM_NONE - 1);
        strides->known = get_flag(r);
        if (strides->reference < next)
            r->fault = PM_READ_BAD;
        next = strides->reference + 1ull;
        if (!strides->known || r->fault)
            continue;
        strides->n_levels = get_u32(r, PM_MOST_STRIDE_LEVELS);
        strides->levels = pm_alloc(strides->n_levels, sizeof *strides->levels);
        for (uint32_t l = 0; l < strides->n_levels; l++)
            get_stride_level(r, &strides->levels[l], of);
        strides->space = get_u32(r, set->n_strides - 1);
        get_model(r, &strides->offset, of);
        strides->below = get_flag(r);
        strides->whole_pages = get_flag(r);
        strides->place_in_page = get_double(r);
        if (isinf(strides->place_in_page))
            r->fault = PM_READ_BAD;
        if (of.version >= STRIDE_VARIANTS_VERSION)
            get_stride_variants(r, strides, of);
    }
}

static struct pm_model_set *get_set(struct pm_reader *r, uint32_t version, bool may_hold_out) {
    struct pm_model_set *set = pm_alloc(1, sizeof *set);
    get_basis(r, set);
    const struct of_set of = {version, set->basis ? set->basis->n : 0};
    get_parameters(r, &set->low);
    get_parameters(r, &set->high);
    set->n_runs = get_count(r, 8);
    set->runs = pm_alloc(set->n_runs, sizeof *set->runs);
    for (size_t i = 0; i < set->n_runs; i++)
        get_parameters(r, &set->runs[i]);
    set->n_runs_dropped = pm_take_unsigned(r, 8);
    set->n_edges = get_count(r, MODEL_LEAST_BYTES);
    set->edges = pm_alloc(set->n_edges, sizeof *set->edges);
    for (size_t i = 0; i < set->n_edges; i++)
        get_model(r, &set->edges[i], of);
    set->n_histograms = get_count(r, HISTOGRAM_LEAST_BYTES);
    set->histograms = pm_alloc(set->n_histograms, sizeof *set->histograms);
    for (size_t i = 0; i < set->n_histograms; i++)
        get_histogram(r, &set->histograms[i], of, &set->bins);
    set->accesses_left_out = set->first_touches_left_out = NAN;
    if (version > OLDEST_VERSION) {
        get_wholes(r, set, of);
        get_held_out(r, set, version, may_hold_out);
    }
    if (version >= MISFIT_VERSION)
        get_misfits(r, set);
    if (version >= STRIDES_VERSION)
        get_strides(r, set, of);
    if (version >= DIRTY_VERSION && get_flag(r)) {
        if (!may_hold_out)
            r->fault = PM_READ_BAD;
        else
            set->dirty = get_set(r, version, false);
    }
    return set;
}

/* NULL where bytes are left over or something is at fault. */
static struct pm_model_set *get_whole(struct pm_reader *r, uint32_t version) {
    struct pm_model_set *set = get_set(r, version, true);
    if (!r->fault && r->at == r->end)
        return set;
    pm_model_set_free(set);
    return NULL;
}

struct pm_model_set *pm_model_set_decode(const void *bytes, size_t n_bytes, struct pm_error *err) {
    static const char damaged[] = "the stored models are damaged: run `pmodel fit` again";
    uint32_t version = 0;
    uint64_t raw_bytes = 0, checksum = 0;
    const char *in = bytes;
    if (n_bytes < HEADER_BYTES || memcmp(in, MAGIC, sizeof MAGIC) != 0) {
        pm_fail(err, "%s", damaged);
        return NULL;
    }
    memcpy(&version, in + 4, sizeof version);
    memcpy(&raw_bytes, in + 8, sizeof raw_bytes);
    memcpy(&checksum, in + 16, sizeof checksum);
    if (version < OLDEST_VERSION || version > MODEL_SET_VERSION) {
        pm_fail(err,
                "the stored models have format version %u, this pmodel reads version %d: run "
                "`pmodel fit` again",
                version, MODEL_SET_VERSION);
        return NULL;
    }
    size_t got = 0;
    char *raw = pm_unpack(in + HEADER_BYTES, n_bytes - HEADER_BYTES, &got);
    struct pm_model_set *set = NULL;
    if (raw && got == raw_bytes && XXH3_64bits(raw, got) == checksum) {
        struct pm_reader r = pm_reader_of(raw, raw_bytes);
        set = get_whole(&r, version);
    }
    free(raw);
    if (!set)
        pm_fail(err, "%s", damaged);
    return set;
}
