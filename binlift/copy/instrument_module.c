/* From a lifted program to its instrumented copy: descriptors, new code and traps in one new
   segment, the old text with trampolines, the runtime library needed.

   The new segment, at its start what the runtime looks for:
     .pmodel_probe   struct pm_probe_header, references, scopes, names
     .edited_text    the new code
     .pmodel_address_records which references share a record
     .pmodel_traps   old addresses whose int3 stand for a jump
     .pmodel_intervals   where intervals end, and what is called there */
#include "binlift/cfg/cfg.h"
#include "binlift/copy/private.h"
#include "binlift/copy/write_elf.h"

#include <stdlib.h>
#include <string.h>

/* The runtime sets %gs for the whole process, so one routine that uses it is one too many, although
   it would itself stay as it is. */
static bool is_free_of_gs(const struct pm_lifted *lifted, struct pm_error *err) {
    if (lifted->gs_routine == PM_NONE)
        return true;
    const struct pm_routine *routine = &lifted->structure->routines[lifted->gs_routine];
    return pm_fail(err, "%s cannot be instrumented: in routine %s %s", lifted->image.path,
                   routine->name, routine->reason);
}

/* Do COUNT more of WHAT go behind the FIRST that modules before this one have? */
static bool has_room(const char *path, const char *what, uint32_t first, size_t count,
                     uint32_t most, struct pm_error *err) {
    if (first <= most && count <= most - first)
        return true;
    if (first == 0)
        return pm_fail(err, "%s: it needs %zu %s and a process has room for %u", path, count, what,
                       most);
    return pm_fail(err,
                   "%s: it needs %zu %s, the modules before it have %u, and a process has room "
                   "for %u; instrument fewer libraries",
                   path, count, what, first, most);
}

static bool can_be_instrumented(const struct pm_lifted *lifted,
                                const struct pm_instrument_options *options, struct pm_error *err) {
    const char *refusal = pm_lifted_refusal(lifted);
    const char *path = lifted->image.path;
    if (refusal)
        return pm_fail(err, "%s", refusal);
    if (!has_room(path, "counters", options->first_counter, lifted->counters->n_counters,
                  PM_MAX_COUNTERS, err) ||
        !has_room(path, "references to memory", options->first_reference,
                  options->memory_records ? lifted->structure->n_references : 0, PM_MAX_REFERENCES,
                  err) ||
        !has_room(path, "branches", options->first_branch,
                  options->branches ? lifted->structure->n_blocks : 0, PM_MAX_BRANCHES, err) ||
        !has_room(path, "scopes", options->first_scope, lifted->structure->n_scopes, PM_MAX_SCOPES,
                  err))
        return false;
    if (!options->runtime_path || options->runtime_path[0] != '/')
        return pm_fail(err, "the path of the runtime library must be absolute, not '%s'",
                       options->runtime_path ? options->runtime_path : "");
    return is_free_of_gs(lifted, err) && pm_can_be_extended(&lifted->image, err);
}

static uint64_t align_16(uint64_t value) { return (value + 15) & ~UINT64_C(15); }

/* A table that comes with the new code: N items of SIZE bytes at ITEMS. */
struct table {
    const void *items;
    size_t n, size;
    uint64_t offset; /* in the segment */
};

static void put_table(const struct table *table, uint8_t *segment, uint64_t *offset, uint32_t *n) {
    *offset = table->offset;
    *n = (uint32_t)table->n;
    if (table->n)
        memcpy(segment + table->offset, table->items, table->n * table->size);
}

static uint64_t end_of_table(const struct table *table) {
    return align_16(table->offset + table->n * table->size);
}

/* For the runtime: where the calls that moved returned to. */
static struct pm_probe_return *list_returns(const struct pm_lifted *lifted,
                                            const struct pm_new_code *made, uint64_t segment) {
    struct pm_probe_return *returns = pm_alloc(made->n_returns, sizeof *returns);
    for (size_t i = 0; i < made->n_returns; i++)
        returns[i] = (struct pm_probe_return){(uint32_t)(made->returns[i].address - segment),
                                              (uint32_t)(made->returns[i].old - lifted->text_low)};
    return returns;
}

/* For the runtime: where intervals end, and what is called there; the texts stand behind the table,
   which is AT in the segment.  *N_BYTES: of all.  Owned by the caller. */
static uint8_t *list_interval_ends(const struct pm_lifted *lifted, const struct pm_new_code *made,
                                   uint64_t segment, uint64_t at, size_t *n_bytes) {
    struct pm_probe_interval *ends = pm_alloc(made->n_interval_ends, sizeof *ends);
    char *texts = NULL;
    size_t n_table = made->n_interval_ends * sizeof *ends, n_texts = 0;
    for (size_t i = 0; i < made->n_interval_ends; i++) {
        const struct pm_insn *insn = &lifted->insns[made->interval_ends[i].insn];
        const char *name = pm_interval_callee(lifted, insn);
        size_t length = strlen(name) + 1;
        ends[i] = (struct pm_probe_interval){
            (uint32_t)(made->interval_ends[i].address - segment),
            (uint32_t)(insn->address + insn->length - lifted->text_low), at + n_table + n_texts};
        texts = pm_realloc(texts, n_texts + length, 1);
        memcpy(texts + n_texts, name, length);
        n_texts += length;
    }
    *n_bytes = n_table + n_texts;
    uint8_t *bytes = pm_alloc(*n_bytes + 1, 1);
    if (n_table)
        memcpy(bytes, ends, n_table);
    if (n_texts)
        memcpy(bytes + n_table, texts, n_texts);
    free(ends);
    free(texts);
    return bytes;
}

static uint64_t new_landing_pad(const void *context, uint64_t old) {
    const struct pm_new_code *made = context;
    size_t i = PM_LOWER_BOUND(made->n_landing_pads, n, made->landing_pads[n].old < old);
    return made->landing_pads[i].address;
}

enum { N_UNWINDING = 4 }; /* sections, of returns and for unwinding */

static struct pm_new_section section_of(const char *name, const struct pm_new_table *table,
                                        uint64_t segment) {
    return (struct pm_new_section){name, table->address - segment, table->n_bytes, false};
}

static void put_new_table(const struct pm_new_table *table, struct pm_new_segment *segment) {
    if (table->n_bytes)
        memcpy(segment->bytes + (table->address - segment->address), table->bytes, table->n_bytes);
}

static void put_unwinding(const struct pm_new_unwinding *unwinding,
                          struct pm_new_segment *segment) {
    put_new_table(&unwinding->exceptions, segment);
    put_new_table(&unwinding->frames, segment);
    put_new_table(&unwinding->header, segment);
}

/* Puts the segment together and writes the file. */
static bool write_copy(const struct pm_lifted *lifted, const struct pm_instrumentation_plan *plan,
                       const uint8_t *descriptors, size_t n_descriptors,
                       const struct pm_new_code *made, const char *out_path, struct pm_error *err) {
    struct table address_records = {made->address_records, made->n_address_records,
                                    sizeof *made->address_records,
                                    align_16(n_descriptors + made->code_bytes)};
    struct table accesses = {made->accesses, made->n_accesses, sizeof *made->accesses,
                             end_of_table(&address_records)};
    struct table traps = {made->traps, made->n_traps, sizeof *made->traps, end_of_table(&accesses)};
    uint64_t address = pm_segment_address(&lifted->image);
    struct table intervals = {.size = 1, .offset = end_of_table(&traps)};
    uint8_t *interval_ends =
        list_interval_ends(lifted, made, address, intervals.offset, &intervals.n);
    intervals.items = interval_ends;
    struct pm_probe_return *moved_returns = list_returns(lifted, made, address);
    struct table returns = {moved_returns, made->n_returns, sizeof *moved_returns,
                            end_of_table(&intervals)};
    struct pm_new_unwinding unwinding = {0};
    uint64_t end = address + end_of_table(&returns);
    if (plan->unwinding) {
        pm_write_unwinding(plan->unwinding, made->places, made->n_places, end, new_landing_pad,
                           made, &unwinding);
        end = (unwinding.header.address + unwinding.header.n_bytes + 15) & ~UINT64_C(15);
    }
    struct pm_new_section sections[] = {
        {".pmodel_probe", 0, n_descriptors, false},
        {".edited_text", n_descriptors, made->code_bytes, true},
        {".pmodel_address_records", address_records.offset, traps.offset - address_records.offset,
         false},
        {".pmodel_traps", traps.offset, traps.n * traps.size, false},
        {".pmodel_intervals", intervals.offset, intervals.n, false},
        {".pmodel_returns", returns.offset, returns.n * returns.size, false},
        section_of(".gcc_except_table", &unwinding.exceptions, address),
        section_of(".eh_frame", &unwinding.frames, address),
        section_of(".eh_frame_hdr", &unwinding.header, address),
    };
    struct pm_new_segment segment = {
        .address = address,
        .n_bytes = end - address,
        .sections = sections,
        .n_sections = sizeof sections / sizeof *sections - (plan->unwinding ? 0 : N_UNWINDING),
        .unwind_header = unwinding.header.n_bytes ? unwinding.header.address - address : 0,
        .unwind_header_bytes = unwinding.header.n_bytes,
    };
    segment.bytes = pm_alloc(segment.n_bytes, 1);
    memcpy(segment.bytes, descriptors, n_descriptors);
    memcpy(segment.bytes + n_descriptors, made->code, made->code_bytes);
    struct pm_probe_header *header = (struct pm_probe_header *)segment.bytes;
    header->has_events = plan->probes->n_events > 0;
    put_table(&address_records, segment.bytes, &header->address_records,
              &header->n_address_records);
    put_table(&accesses, segment.bytes, &header->accesses, &header->n_accesses);
    put_table(&traps, segment.bytes, &header->traps, &header->n_traps);
    put_table(&returns, segment.bytes, &header->returns, &header->n_returns);
    put_table(&intervals, segment.bytes, &header->intervals, &header->n_intervals);
    header->n_intervals = (uint32_t)made->n_interval_ends;
    put_unwinding(&unwinding, &segment);
    bool written = pm_write_elf(&lifted->image, made->image, &segment, plan->options->runtime_path,
                                out_path, err);
    free(segment.bytes);
    free(moved_returns);
    free(interval_ends);
    pm_new_unwinding_release(&unwinding);
    return written;
}

static void free_new_code(struct pm_new_code *made) {
    free(made->code);
    free(made->image);
    free(made->address_records);
    free(made->accesses);
    free(made->traps);
    free(made->interval_ends);
    free(made->places);
    free(made->returns);
    free(made->landing_pads);
}

static bool make_copy(const struct pm_lifted *lifted, const struct pm_instrumentation_plan *plan,
                      const char *out_path, struct pm_error *err) {
    uint64_t address = pm_segment_address(&lifted->image);
    struct pm_new_code made = {0};
    uint8_t *descriptors;
    size_t n_descriptors;
    pm_build_descriptors(lifted, plan, address, &descriptors, &n_descriptors);
    bool done = lifted->isa->rewrite(lifted, plan, address + n_descriptors, &made, err) &&
                write_copy(lifted, plan, descriptors, n_descriptors, &made, out_path, err);
    free_new_code(&made);
    free(descriptors);
    return done;
}

bool pm_instrument(struct pm_lifted *lifted, const struct pm_instrument_options *options,
                   const char *out_path, struct pm_error *err) {
    if (!can_be_instrumented(lifted, options, err))
        return false;
    struct pm_structure *structure = lifted->structure;
    struct pm_instrumentation_plan *plan = pm_plan_instrumentation(lifted, options);
    bool done = make_copy(lifted, plan, out_path, err);
    if (done)
        pm_mark_instrumented(structure, plan);
    for (size_t s = 0; options->probed && s < structure->n_scopes; s++)
        options->probed[s] = plan->scope_flags[s] != 0;
    pm_instrumentation_plan_free(plan);
    return done;
}
