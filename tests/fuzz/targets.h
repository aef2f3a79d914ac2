/* The readers of what comes from outside, each as a function of any bytes; shared by the fuzzing
   program (fuzz.c) and by the test that replays kept inputs (tests/unit/fuzz_found.c).

   A target must survive every input: a damaged file is a sentence in pm_error, never a crash.  What
   it was able to read is used once, as the commands use it, and must survive being written and read
   again.  Where a checksum stands before a reader, the target makes it fit, so that the input
   gets behind it. */
#ifndef PM_FUZZ_TARGETS_H
#define PM_FUZZ_TARGETS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "binlift/dwarf/debug_file.h"
#include "binlift/dwarf/unit.h"
#include "binlift/dwarf/dwarf.h"
#include "binlift/code/code.h"
#include "binlift/x86/x86.h"
#include "binlift/metadata/metadata.h"
#include "core/machine/machine.h"
#include "machines/probe/code/code.h"
#include "core/model.h"
#include "measure/raw/raw.h"
#include "core/store/store.h"
#include "measure/launchers/private.h"
#include "core/structure/private.h"
#include "tests/fuzz/moved_frames.h"

/* Ends the process, which the fuzzer and the test both take for a failure. */
static void fuzz_demand(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "fuzzing: %s\n", what);
    abort();
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static char fuzz_file[4096];

static void fuzz_remove_file(void) { unlink(fuzz_file); }

/* Path of a file that holds DATA: one file in $TMPDIR (/tmp), written anew each time. */
static const char *fuzz_file_of(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(fuzz_file, sizeof fuzz_file, "%s/pmodel-fuzz-XXXXXX", folder ? folder : "/tmp");
        file = mkstemp(fuzz_file);
        fuzz_demand(file >= 0, "a temporary file cannot be made");
        atexit(fuzz_remove_file);
    }
    fuzz_demand(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size,
                "a temporary file cannot be written");
    return fuzz_file;
}

/* An owned copy, as long as the input so that a sanitizer sees every byte too many. */
static void *fuzz_copy(const uint8_t *data, size_t size) {
    void *copy = pm_alloc(size, 1);
    return size ? memcpy(copy, data, size) : copy;
}

static char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = pm_alloc(size + 1, 1);
    memcpy(text, data, size);
    return text;
}

/* ---- programs -------------------------------------------------------------------------------- */

static void fuzz_elf(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(fuzz_file_of(data, size), NULL, &err);
    if (!lifted) {
        fuzz_demand(err.text[0], "an ELF file was refused without a sentence");
        return;
    }
    void *bytes;
    size_t n_bytes;
    struct pm_structure *structure = pm_lifted_structure(lifted);
    pm_structure_encode(structure, &bytes, &n_bytes);
    struct pm_structure *again = pm_structure_decode(bytes, n_bytes, &err);
    fuzz_demand(again && pm_structure_hash(again) == pm_structure_hash(structure),
                "a lifted structure does not survive the store");
    pm_structure_free(again);
    free(bytes);
    pm_lifted_free(lifted);
}

/* The same with the instrumented copy made of it. */
static void fuzz_rewrite(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(fuzz_file_of(data, size), NULL, &err);
    if (lifted && !pm_lifted_refusal(lifted)) {
        struct pm_instrument_options options = {.memory_records = true,
                                                .runtime_path = "/lib/libpmodel-rt.so"};
        char *out = pm_sprintf("%s.instrumented", fuzz_file);
        fuzz_demand(pm_instrument(lifted, &options, out, &err) || err.text[0],
                    "a program was not instrumented without a sentence");
        unlink(out);
        free(out);
    }
    pm_lifted_free(lifted);
}

/* Debug information alone: every unit of a file, or of what it is split into. */
static void fuzz_dwarf(const uint8_t *data, size_t size) {
    const char *path = fuzz_file_of(data, size);
    struct pm_debug_files files;
    pm_debug_files_find(&files, path);
    pm_debug_files_release(&files);
    struct pm_debug_handle *handle = pm_debug_handle_open(path, NULL);
    Dwarf_CU *unit = NULL;
    Dwarf_Die entry;
    for (uint64_t number = 0; handle->dwarf && dwarf_get_units(handle->dwarf, unit, &unit, NULL,
                                                               NULL, &entry, NULL) == 0;
         number++) {
        struct pm_unit_facts facts = {0};
        pm_read_unit(handle->dwarf, number, dwarf_dieoffset(&entry), 0, UINT64_MAX, &facts);
        for (size_t i = 0; i < facts.n_spans; i++)
            fuzz_demand(facts.spans[i].low < facts.spans[i].high &&
                            facts.spans[i].file < facts.n_files,
                        "a row of a line table ends before it starts or has no file");
        for (size_t i = 0; i < facts.n_inlines; i++)
            fuzz_demand(facts.inlines[i].callee < facts.n_callees &&
                            (facts.inlines[i].parent == PM_NONE || facts.inlines[i].parent < i),
                        "inlined code has no callee or is inlined into later code");
        pm_unit_facts_release(&facts);
    }
    pm_debug_handle_close(handle);
}

/* Tables for unwinding: what the input says first is where they stand.  The new ones are written as
   if all code moved, and read again. */
struct fuzz_unwinding {
    uint32_t is_fixed, code_bytes, code, frames, exceptions; /* addresses, but for the first two */
    uint32_t n_frame_bytes;                                  /* the rest: exceptions */
};

static void fuzz_unwinding(const uint8_t *data, size_t size) {
    struct fuzz_unwinding input;
    if (size < sizeof input)
        return;
    memcpy(&input, data, sizeof input);
    size_t n_bytes = size - sizeof input,
           n_frames = input.n_frame_bytes < n_bytes ? input.n_frame_bytes : n_bytes;
    struct pm_error err = {0};
    struct pm_section sections[3] = {0};
    Elf64_Phdr segments[3] = {0};
    struct pm_image image = {.path = "input", .is_pie = !input.is_fixed};
    moved_frames_image(&image, sections, segments);
    image.bytes = fuzz_copy(data + sizeof input, n_bytes);
    image.n_bytes = n_bytes;
    segments[0].p_vaddr = input.code % (MOVED_BELOW / 2);
    segments[0].p_filesz = input.code_bytes % (1 << 20);
    sections[0].header.sh_addr = input.frames % (MOVED_BELOW / 2);
    sections[0].header.sh_size = n_frames;
    sections[1].header.sh_addr = input.exceptions % (MOVED_BELOW / 2);
    sections[1].header.sh_offset = n_frames;
    sections[1].header.sh_size = n_bytes - n_frames;
    struct moved_frames moved;
    bool is_read;
    const char *wrong = moved_frames_wrong(&image, &moved, &is_read, &err);
    fuzz_demand(!wrong, wrong);
    fuzz_demand(is_read || err.text[0], "tables for unwinding were refused without a sentence");
    moved_frames_release(&moved);
    free(image.bytes);
}

static void fuzz_section(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    uint8_t *bytes = fuzz_copy(data, size);
    struct pm_metadata *metadata = pm_alloc(1, sizeof *metadata);
    if (pm_metadata_parse(metadata, "input", bytes, size, &err)) {
        pm_metadata_index(metadata);
        for (size_t i = 0; i < metadata->n_memory; i++) {
            size_t n;
            fuzz_demand(pm_metadata_memory_at(metadata, metadata->memory[i].address, &n) && n > 0,
                        "a memory record is not found again");
        }
        for (size_t i = 0; i < metadata->n_contributions; i++) {
            const struct pm_contribution *contribution = &metadata->contributions[i];
            pm_metadata_find_loop(metadata, contribution, 1);
            pm_metadata_find_object(metadata, contribution, 1);
            pm_metadata_find_reference(metadata, contribution, 1);
            for (uint32_t j = 0; j < contribution->n_pairs; j++) {
                const struct pm_metadata_pair *pair =
                    &metadata->pairs[contribution->first_pair + j];
                uint32_t loop = pm_metadata_find_reference(metadata, contribution, pair->low)->loop;
                fuzz_demand(pm_metadata_may_alias(metadata, contribution, loop, pair->high,
                                                  pair->low) != PM_ALIAS_INDEPENDENT,
                            "a listed pair is taken for independent");
            }
        }
    } else {
        fuzz_demand(err.text[0], "a section was refused without a sentence");
    }
    pm_free_metadata(metadata);
    free(bytes);
}

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
    fuzz_demand(!raw || (pm_raw_signal(raw) != 0) == ((raw->flags & PM_RAW_CUT_OFF) != 0),
                "a raw file is cut off by no signal, or names one that did not end it");
    for (size_t i = 0; raw && i < raw->n_histograms; i++)
        fuzz_demand(pm_histogram_misses(&raw->histograms[i].histogram, 100.5) >= 0,
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
        pm_histogram_misses(&profile->histograms[i].histogram, 512);
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
    fuzz_demand(pm_histogram_misses(&histogram, 8) <= pm_histogram_accesses(&histogram) * 1.000001,
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
        fuzz_demand(pm_histogram_misses(&group.patterns[i].histogram, 8) >= 0,
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
    static const struct fuzz_blob kind = {"PMS", 1, false, true, 0, 1};
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
    static const struct fuzz_blob kind = {"PMMS", 1, false, false, 0, 0};
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

/* ---- texts ----------------------------------------------------------------------------------- */

/* What is written of MACHINE reads as a machine with as many figures. */
static void fuzz_machine_text(const struct pm_machine *machine) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    fuzz_demand(file != NULL, "no memory");
    pm_machine_write(file, machine);
    fclose(file);
    struct pm_error err = {0};
    struct pm_machine *again = pm_machine_read(fuzz_file_of((uint8_t *)text, length), &err);
    fuzz_demand(again != NULL, err.text);
    struct pm_figures figures = pm_machine_figures(machine), of_again = pm_machine_figures(again);
    fuzz_demand(figures.n_figures == of_again.n_figures, "figures are lost on the way");
    pm_figures_free(&figures);
    pm_figures_free(&of_again);
    pm_machine_free(again);
    free(text);
}

static void fuzz_machine(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_mistake mistake = {0};
    const struct pm_machine_options options = {.mistake = &mistake};
    struct pm_machine *machine = pm_machine_read_with(fuzz_file_of(data, size), &options, &err);
    fuzz_demand(machine || err.text[0], "a machine file was refused without a sentence");
    char *text = pm_sprintf("%.*s", (int)size, (const char *)data);
    if (mistake.sentence)
        pm_mistake_locate(text, mistake.sentence, &mistake);
    free(text);
    pm_mistake_free(&mistake);
    for (int c = 0; machine && c < PM_N_OP_CLASSES; c++)
        pm_machine_cost(machine, c, 256, 8);
    for (size_t l = 0; machine && l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        double sets = (double)pm_level_sets(level), blocks = pm_level_capacity_blocks(level);
        double ways = level->associativity ? level->associativity : blocks;
        fuzz_demand(sets >= 1 && sets * ways == blocks, "sets and ways are not the size");
    }
    for (size_t i = 0; machine && i < machine->n_costs; i++)
        fuzz_demand(pm_cost_throughput(&machine->costs[i]) >= 0, "a throughput is negative");
    if (machine)
        fuzz_machine_text(machine);
    pm_machine_free(machine);
}

static void fuzz_classes(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_classes *classes = pm_classes_new();
    bool ok = pm_classes_read(classes, fuzz_file_of(data, size), "x86-64", &err);
    fuzz_demand(ok || err.text[0], "a file of classes was refused without a sentence");
    pm_classes_resolve(classes, pm_isa_x86_64.n_mnemonics, pm_isa_x86_64.mnemonic);
    for (uint32_t i = 0; i < pm_isa_x86_64.n_mnemonics; i++) {
        const struct pm_class_rule *rule = pm_class_of(classes, i);
        fuzz_demand(!rule || (ok && rule->n_ops >= 1 && rule->n_ops <= PM_CLASS_OPS),
                    "a class has no operation or too many");
    }
    pm_classes_free(classes);
}

static void fuzz_expression(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    char *text = fuzz_text(data, size);
    struct pm_expression *expression = pm_expression_parse(text, &err);
    free(text);
    fuzz_demand(expression || err.text[0], "an expression was refused without a sentence");
    if (!expression)
        return;
    const char *const *names;
    size_t n;
    double result = 0;
    pm_expression_names(expression, &names, &n);
    double *values = pm_alloc(n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (double)i * 7 - 3;
    bool known = pm_expression_evaluate(expression, n, names, values, &result, &err);
    err.text[0] = '\0';
    bool unknown = n && !pm_expression_evaluate(expression, 0, NULL, NULL, &result, &err);
    fuzz_demand(known || err.text[0] || !unknown, "a value was refused without a sentence");
    free(values);
    pm_expression_free(expression);
}

/* A list of basis functions of N and M: each part stands in the list where it says and is read
   alone. */
static void fuzz_basis(const uint8_t *data, size_t size) {
    static const char *const names[] = {"N", "M"};
    struct pm_error err = {0};
    char *text = fuzz_text(data, size);
    struct pm_expression_list *list = pm_expression_list_parse(text, 2, names, &err);
    fuzz_demand(list || err.text[0], "a list of functions was refused without a sentence");
    struct pm_basis *basis =
        list ? pm_basis_new(list->n, (const char *const *)list->texts, &err) : NULL;
    fuzz_demand(!list || basis, "a function of a list cannot be read alone");
    for (size_t i = 0; list && i < list->n; i++)
        fuzz_demand(strncmp(text + list->positions[i], list->texts[i], strlen(list->texts[i])) == 0,
                    "a function is not where its list has it");
    struct pm_parameters at = {.n = 2, .names = {"N", "M"}, .values = {40, 13}};
    double *values = pm_alloc(basis ? basis->n : 1, sizeof *values);
    err.text[0] = '\0';
    fuzz_demand(!basis || pm_basis_evaluate(basis, &at, values, &err) || err.text[0],
                "a value of a basis was refused without a sentence");
    free(values);
    pm_basis_free(basis);
    pm_expression_list_free(list);
    free(text);
}

static void fuzz_size(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_parameters parameters = {0}, again = {0};
    char *text = fuzz_text(data, size);
    bool ok = pm_parameters_parse(text, &parameters, &err);
    free(text);
    fuzz_demand(ok || err.text[0], "a problem size was refused without a sentence");
    if (!ok)
        return;
    text = pm_parameters_text(&parameters);
    fuzz_demand(pm_parameters_parse(text, &again, &err) && pm_parameters_equal(&parameters, &again),
                "the text of a problem size does not read back the same");
    free(text);
}

/* A list of probe instructions; what was read has a text and a mnemonic. */
static void fuzz_probes(const uint8_t *data, size_t size) {
    struct pm_forms forms = {0};
    struct pm_error err = {0};
    if (!pm_forms_read(fuzz_file_of(data, size), &forms, &err)) {
        fuzz_demand(err.text[0], "a list of probes was refused without a sentence");
        return;
    }
    for (size_t i = 0; i < forms.n_forms; i++)
        fuzz_demand(forms.forms[i].text[0] && forms.forms[i].mnemonic[0], "a probe has no name");
    pm_forms_free(&forms);
}

/* The file of a launcher; its commands are filled in, and not run. */
static void fuzz_launcher(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_launcher *launcher = pm_launcher_read(fuzz_file_of(data, size), &err);
    fuzz_demand(launcher || err.text[0], "a launcher's file was refused without a sentence");
    if (!launcher)
        return;
    const struct pm_filling fillings[] = {{"ID", "17"}, {"IDS", "17 18"}, {"FOLDER", "'/a b'"}};
    const char *const templates[] = {launcher->submit, launcher->poll, launcher->job};
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        err.text[0] = '\0';
        char *text = pm_fill_in(templates[i], fillings, 3, "input", &err);
        fuzz_demand(text || err.text[0], "a command was refused without a sentence");
        free(text);
    }
    pm_launcher_free(launcher);
}

/* What a node and we tell each other. */
static void fuzz_sheet(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_sheet sheet, again;
    char *text = fuzz_text(data, size);
    bool ok = pm_sheet_parse(text, "input", &sheet, &err);
    fuzz_demand(ok || err.text[0], "a job's file was refused without a sentence");
    free(text);
    text = pm_sheet_text(&sheet);
    fuzz_demand(pm_sheet_parse(text, "input", &again, &err) && again.n_lines == sheet.n_lines,
                "a job's file does not read back the same");
    for (size_t i = 0; i < sheet.n_lines; i++)
        fuzz_demand(strcmp(sheet.lines[i].text, again.lines[i].text) == 0,
                    "a line of a job's file does not read back the same");
    pm_sheet_free(&sheet);
    pm_sheet_free(&again);
    free(text);
}

/* ---- the list -------------------------------------------------------------------------------- */

static const struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} fuzz_targets[] = {
    {"elf", fuzz_elf},
    {"rewrite", fuzz_rewrite},
    {"dwarf", fuzz_dwarf},
    {"unwinding", fuzz_unwinding},
    {"section", fuzz_section},
    {"raw", fuzz_raw},
    {"store", fuzz_store},
    {"structure", fuzz_structure},
    {"histogram", fuzz_histogram},
    {"carried", fuzz_carried},
    {"strides", fuzz_strides},
    {"models", fuzz_models},
    {"machine", fuzz_machine},
    {"classes", fuzz_classes},
    {"probes", fuzz_probes},
    {"expression", fuzz_expression},
    {"basis", fuzz_basis},
    {"size", fuzz_size},
    {"launcher", fuzz_launcher},
    {"sheet", fuzz_sheet},
};

/* The target NAME, or NULL. */
static const struct fuzz_target *fuzz_find_target(const char *name) {
    for (size_t i = 0; i < sizeof fuzz_targets / sizeof *fuzz_targets; i++)
        if (strcmp(fuzz_targets[i].name, name) == 0)
            return &fuzz_targets[i];
    return NULL;
}

#endif
