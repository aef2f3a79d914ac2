/* Targets: readers of what was measured, raw files and stores with their blobs. */
#ifndef PM_FUZZ_STORES_H
#define PM_FUZZ_STORES_H

#include <xxhash.h>
#include <zstd.h>

#include "core/model.h"
#include "core/store/store.h"
#include "core/structure/private.h"
#include "measure/raw/raw.h"
#include "tests/fuzz/inputs.h"

/* ---- measurements ---------------------------------------------------------------------------- */

static void fuzz_raw(const uint8_t *data, size_t size) {
    char *bytes = fuzz_copy(data, size);
    if (size >= sizeof(struct pm_raw_header) + 8) {
        uint64_t file_bytes = size;
        memcpy(bytes + offsetof(struct pm_raw_header, file_bytes), &file_bytes, 8);
        uint64_t checksum = XXH3_64bits(bytes, size - 8);
        memcpy(bytes + size - 8, &checksum, 8);
    }
    struct pm_error err = {0};
    struct pm_raw *raw = pm_raw_read_memory(bytes, size, "input", &err);
    fuzz_demand(raw || err.text[0], "a raw file was refused without a sentence");
    fuzz_demand(!raw || (pm_raw_signal(raw) != 0) == ((raw->flags & PM_RAW_TRUNCATED) != 0),
                "a raw file is truncated by no signal, or names one that did not end it");
    for (size_t i = 0; raw && i < raw->n_histograms; i++)
        fuzz_demand(pm_fully_associative_misses(&raw->histograms[i].histogram, 100.5) >= 0,
                    "a raw histogram has misses that are not a count");
    for (size_t i = 0; raw && i < raw->n_carried; i++)
        fuzz_demand(raw->carried[i].by.source_module < raw->n_modules &&
                        raw->carried[i].reuses.module < raw->n_modules,
                    "a raw file has a reuse pattern of no module");
    for (size_t i = 0; raw && i < raw->n_profiles; i++)
        fuzz_demand(raw->profiles[i].head.module < raw->n_modules &&
                        raw->profiles[i].n_served ==
                            raw->profiles[i].n_blocks * raw->profiles[i].head.n_served,
                    "a raw file has a profile of no module, or with levels missing");
    for (size_t i = 0; raw && i < raw->n_frames; i++)
        for (size_t f = 0; f < raw->frames[i].n_frames; f++)
            fuzz_demand(raw->frames[i].module < raw->n_modules && raw->frames[i].frames[f].count,
                        "a raw file notes a frame of no module, or no times");
    pm_raw_free(raw);
    free(bytes);
}

static void fuzz_store_run(struct pm_store *store, const struct pm_parameters *size) {
    struct pm_error err = {0};
    struct pm_run_facts facts = {0};
    pm_times_free(pm_store_times(store, size, &err));
    pm_block_profile_free(pm_store_block_profile(store, size, &err));
    pm_run_patterns_free(pm_store_patterns(store, size, &err));
    pm_intervals_free(pm_store_intervals(store, size, PM_NONE, true, &err));
    pm_communication_free(pm_store_communication(store, size, &err));
    struct pm_profile *profile = pm_store_profile(store, size, &err);
    for (size_t i = 0; profile && i < profile->n_histograms; i++)
        pm_fully_associative_misses(&profile->histograms[i].histogram, 512);
    if (profile)
        pm_profile_free(profile);
    if (pm_store_run_facts(store, size, &facts, &err)) {
        bool found;
        uint64_t block_size = 64;
        pm_store_has_run(store, size, facts.settings ? facts.settings : "", &block_size, 1, &found,
                         &err);
        pm_run_facts_free(&facts);
    }
}

static void fuzz_store(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_store *store = pm_store_open(fuzz_file_of(data, size), PM_STORE_READ, &err);
    fuzz_demand(store || err.text[0], "a store was refused without a sentence");
    if (!store)
        return;
    pm_structure_free(pm_store_structure(store, &err));
    pm_model_set_free(pm_store_models(store, &err));
    struct pm_parameters *runs;
    size_t n_runs;
    if (pm_store_runs(store, &runs, &n_runs, &err)) {
        for (size_t i = 0; i < n_runs; i++)
            fuzz_store_run(store, &runs[i]);
        free(runs);
    }
    pm_store_close(store);
}

/* ---- blobs of the store ------------------------------------------------------------------------
   Each is 24 bytes (magic, u32 version, u64 length of what is packed, u64 checksum) and a zstd
   frame.  An input that begins with the magic is such a blob, its checksum and version are made to
   fit; any other input is what is packed. */

enum { FUZZ_BLOB_HEADER = 24, FUZZ_MOST_UNPACKED = 1 << 20 };

struct fuzz_blob {
    const char *magic;
    uint32_t version;
    bool checksum_of_packed, seeded; /* the checksum is seeded with the length */
    size_t words_before, words_each; /* the length counts items of so many words; 0: bytes */
};

static uint64_t fuzz_checksum(const struct fuzz_blob *kind, const void *bytes, size_t n_bytes,
                              uint64_t length) {
    return kind->seeded ? XXH3_64bits_withSeed(bytes, n_bytes, length)
                        : XXH3_64bits(bytes, n_bytes);
}

static char *fuzz_pack(const struct fuzz_blob *kind, const uint8_t *data, size_t size,
                       size_t *n_bytes) {
    uint64_t length = size;
    if (kind->words_each) {
        length =
            size / 8 > kind->words_before ? (size / 8 - kind->words_before) / kind->words_each : 0;
        size_t whole = 8 * (kind->words_before + length * kind->words_each);
        size = size < whole ? size : whole;
    }
    size_t room = ZSTD_compressBound(size);
    char *packed = pm_alloc(FUZZ_BLOB_HEADER + room, 1);
    size_t used = ZSTD_compress(packed + FUZZ_BLOB_HEADER, room, data, size, 1);
    uint64_t checksum = kind->checksum_of_packed
                            ? fuzz_checksum(kind, packed + FUZZ_BLOB_HEADER, used, length)
                            : fuzz_checksum(kind, data, size, length);
    memcpy(packed, kind->magic, 4);
    memcpy(packed + 4, &kind->version, 4);
    memcpy(packed + 8, &length, 8);
    memcpy(packed + 16, &checksum, 8);
    *n_bytes = FUZZ_BLOB_HEADER + used;
    return pm_realloc(packed, *n_bytes, 1);
}

static void fuzz_repair(const struct fuzz_blob *kind, char *blob, size_t size) {
    const char *packed = blob + FUZZ_BLOB_HEADER;
    size_t n_packed = size - FUZZ_BLOB_HEADER;
    uint64_t length, checksum = 0;
    memcpy(&length, blob + 8, 8);
    if (kind->checksum_of_packed) {
        checksum = fuzz_checksum(kind, packed, n_packed, length);
    } else {
        unsigned long long n_unpacked = ZSTD_getFrameContentSize(packed, n_packed);
        n_unpacked = n_unpacked < FUZZ_MOST_UNPACKED ? n_unpacked : FUZZ_MOST_UNPACKED;
        char *unpacked = pm_alloc(n_unpacked, 1);
        size_t got = ZSTD_decompress(unpacked, n_unpacked, packed, n_packed);
        if (!ZSTD_isError(got))
            checksum = fuzz_checksum(kind, unpacked, got, length);
        free(unpacked);
    }
    memcpy(blob + 4, &kind->version, 4);
    memcpy(blob + 16, &checksum, 8);
}

static char *fuzz_blob_of(const struct fuzz_blob *kind, const uint8_t *data, size_t size,
                          size_t *n_bytes) {
    if (size < FUZZ_BLOB_HEADER || memcmp(data, kind->magic, 4) != 0)
        return fuzz_pack(kind, data, size, n_bytes);
    char *blob = fuzz_copy(data, size);
    fuzz_repair(kind, blob, size);
    *n_bytes = size;
    return blob;
}

static void fuzz_structure(const uint8_t *data, size_t size) {
    static const struct fuzz_blob kind = {"PMDS", PM_STRUCTURE_VERSION, true, true, 0, 0};
    struct pm_error err = {0};
    size_t n_bytes;
    char *blob = fuzz_blob_of(&kind, data, size, &n_bytes);
    struct pm_structure *structure = pm_structure_decode(blob, n_bytes, &err);
    free(blob);
    fuzz_demand(structure || err.text[0], "a structure was refused without a sentence");
    if (!structure)
        return;
    void *bytes;
    pm_structure_assign_keys(structure);
    pm_structure_encode(structure, &bytes, &n_bytes);
    struct pm_structure *again = pm_structure_decode(bytes, n_bytes, &err);
    fuzz_demand(again && pm_structure_hash(again) == pm_structure_hash(structure),
                "a structure does not survive being written and read");
    pm_structure_free(again);
    pm_structure_free(structure);
    free(bytes);
}

static void fuzz_histogram(const uint8_t *data, size_t size) {
    static const struct fuzz_blob kind = {"PMH", 2, false, true, 8, 5};
    struct pm_error err = {0};
    size_t n_bytes;
    char *blob = fuzz_blob_of(&kind, data, size, &n_bytes);
    struct pm_histogram histogram;
    bool ok = pm_histogram_decode(NULL, blob, n_bytes, &histogram, &err);
    free(blob);
    fuzz_demand(ok || err.text[0], "a histogram was refused without a sentence");
    if (!ok)
        return;
    fuzz_demand(pm_fully_associative_misses(&histogram, 8) <=
                    pm_histogram_accesses(&histogram) * 1.000001,
                "a histogram has more misses than accesses");
    struct pm_histogram sum = {.block_bytes = histogram.block_bytes}, again;
    pm_histogram_add(&sum, &histogram);
    pm_histogram_add(&sum, &histogram);
    void *bytes;
    pm_histogram_encode(NULL, &histogram, &bytes, &n_bytes);
    fuzz_demand(pm_histogram_decode(NULL, bytes, n_bytes, &again, &err),
                "a histogram does not survive being written and read");
    free(bytes);
    pm_histogram_free(&again);
    pm_histogram_free(&sum);
    pm_histogram_free(&histogram);
}

static void fuzz_carried(const uint8_t *data, size_t size) {
    static const struct fuzz_blob kind = {"PMC", 1, false, true, 0, 1};
    struct pm_error err = {0};
    size_t n_bytes;
    char *blob = fuzz_blob_of(&kind, data, size, &n_bytes);
    struct pm_group_patterns group, again;
    bool ok = pm_group_patterns_decode(blob, n_bytes, &group, &err);
    free(blob);
    fuzz_demand(ok || err.text[0], "reuse patterns were refused without a sentence");
    if (!ok)
        return;
    for (size_t i = 0; i < group.n_patterns; i++)
        fuzz_demand(pm_fully_associative_misses(&group.patterns[i].histogram, 8) >= 0,
                    "a reuse pattern has misses that are not a count");
    void *bytes;
    pm_group_patterns_encode(&group, &bytes, &n_bytes);
    fuzz_demand(pm_group_patterns_decode(bytes, n_bytes, &again, &err),
                "reuse patterns do not survive being written and read");
    free(bytes);
    pm_group_patterns_free(&again);
    pm_group_patterns_free(&group);
}

static void fuzz_strides(const uint8_t *data, size_t size) {
    static const struct fuzz_blob kind = {"PMST", PM_STRIDES_VERSION, true, true, 0, 0};
    struct pm_error err = {0};
    size_t n_bytes;
    char *blob = fuzz_blob_of(&kind, data, size, &n_bytes);
    struct pm_run_strides strides, again;
    bool ok = pm_run_strides_decode(blob, n_bytes, UINT32_MAX, &strides, &err);
    free(blob);
    fuzz_demand(ok || err.text[0], "strides were refused without a sentence");
    if (!ok)
        return;
    void *bytes;
    pm_run_strides_encode(&strides, &bytes, &n_bytes);
    fuzz_demand(pm_run_strides_decode(bytes, n_bytes, UINT32_MAX, &again, &err) &&
                    again.n_references == strides.n_references,
                "strides do not survive being written and read");
    free(bytes);
    pm_run_strides_free(&again);
    pm_run_strides_free(&strides);
}

static void fuzz_evaluate_models(const struct pm_model_set *set) {
    double *values = pm_alloc(set->basis->n, sizeof *values);
    if (pm_basis_evaluate(set->basis, &set->high, values, NULL))
        for (size_t i = 0; i < set->n_edges; i++)
            pm_model_value(&set->edges[i], values);
    for (size_t i = 0; i < set->n_edges && i < 4; i++)
        free(pm_model_text(set->basis, &set->edges[i]));
    free(values);
}

static void fuzz_models(const uint8_t *data, size_t size) {
    static const struct fuzz_blob kind = {"PMMS", PM_MODEL_SET_VERSION, true, true, 0, 0};
    struct pm_error err = {0};
    size_t n_bytes;
    char *blob = fuzz_blob_of(&kind, data, size, &n_bytes);
    struct pm_model_set *set = pm_model_set_decode(blob, n_bytes, &err);
    free(blob);
    fuzz_demand(set || err.text[0], "models were refused without a sentence");
    if (!set)
        return;
    fuzz_evaluate_models(set);
    void *bytes;
    pm_model_set_encode(set, &bytes, &n_bytes);
    struct pm_model_set *again = pm_model_set_decode(bytes, n_bytes, &err);
    fuzz_demand(again != NULL, "models do not survive being written and read");
    pm_model_set_free(again);
    pm_model_set_free(set);
    free(bytes);
}

#endif
