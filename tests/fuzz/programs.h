/* Targets: readers of programs and of what compilers put into them. */
#ifndef PM_FUZZ_PROGRAMS_H
#define PM_FUZZ_PROGRAMS_H

#include "binlift/code/code.h"
#include "binlift/dwarf/debug_file.h"
#include "binlift/dwarf/dwarf.h"
#include "binlift/dwarf/unit.h"
#include "binlift/metadata/metadata.h"
#include "core/structure/private.h"
#include "tests/fuzz/inputs.h"
#include "tests/fuzz/moved_frames.h"

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

#endif
