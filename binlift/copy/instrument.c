/* From a lifted program to its instrumented copy: descriptors, new code and traps in one new
   segment, the old text with landings, the runtime library needed.

   The new segment, at its start what the runtime looks for:
     .pmodel_probe   struct pm_probe_header, references, scopes, names
     .edited_text    the new code
     .pmodel_bundles which references share a record
     .pmodel_traps   old addresses whose int3 stand for a jump */
#include "binlift/binlift.h"

#include <stdlib.h>
#include <string.h>

#include "binlift/copy/descriptors.h"
#include "binlift/copy/write_elf.h"
#include "binlift/x86/rewrite/rewrite.h"

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
    if (!has_room(path, "counters", options->first_counter, lifted->structure->n_counters,
                  PM_MAX_COUNTERS, err) ||
        !has_room(path, "references to memory", options->first_reference,
                  options->memory_records ? lifted->structure->n_references : 0, PM_MAX_REFERENCES,
                  err) ||
        !has_room(path, "scopes", options->first_scope, lifted->structure->n_scopes, PM_MAX_SCOPES,
                  err))
        return false;
    if (!options->runtime_path || options->runtime_path[0] != '/')
        return pm_fail(err, "the path of the runtime library must be absolute, not '%s'",
                       options->runtime_path ? options->runtime_path : "");
    return is_free_of_gs(lifted, err) && pm_can_be_extended(&lifted->image, err);
}

static uint64_t align_16(uint64_t value) { return (value + 15) & ~UINT64_C(15); }

/* A table that is known when the code is: N items of SIZE bytes at ITEMS. */
struct late_table {
    const void *items;
    size_t n, size;
    uint64_t offset; /* in the segment */
};

static void put_table(const struct late_table *table, uint8_t *segment, uint64_t *offset,
                      uint32_t *n) {
    *offset = table->offset;
    *n = (uint32_t)table->n;
    if (table->n)
        memcpy(segment + table->offset, table->items, table->n * table->size);
}

static uint64_t end_of_table(const struct late_table *table) {
    return align_16(table->offset + table->n * table->size);
}

/* What the descriptors say of each scope; the caller frees. */
static uint8_t *find_scope_flags(const struct pm_rewrite *rewrite) {
    const struct pm_structure *structure = rewrite->lifted->structure;
    const struct pm_instrument_options *options = rewrite->options;
    uint8_t *flags = pm_alloc(structure->n_scopes, sizeof *flags);
    for (size_t s = 0; s < structure->n_scopes; s++) {
        bool probed =
            rewrite->probes->probed[s] && rewrite->rewritten[structure->scopes[s].routine];
        if (probed)
            flags[s] = options->scope_events[s] | PM_PROBE_SCOPE_PROBED;
        if (options->probed)
            options->probed[s] = probed;
    }
    return flags;
}

static bool write_copy(struct pm_rewrite *rewrite, const struct pm_instrument_options *options,
                       const char *out_path, struct pm_error *err) {
    const struct pm_lifted *lifted = rewrite->lifted;
    uint64_t address = pm_segment_address(&lifted->image);
    uint8_t *descriptors, *code, *image;
    size_t n_descriptors;
    uint8_t *scope_flags = find_scope_flags(rewrite);
    pm_build_descriptors(lifted, options, scope_flags, address, pm_x86_payload_slots, &descriptors,
                         &n_descriptors);
    free(scope_flags);
    if (!pm_x86_rewrite(rewrite, address + n_descriptors, &code, &image, err)) {
        free(descriptors);
        return false;
    }
    struct late_table bundles = {rewrite->bundles, rewrite->n_bundles, sizeof *rewrite->bundles,
                                 align_16(n_descriptors + rewrite->code.size_bytes)};
    struct late_table accesses = {rewrite->accesses, rewrite->n_accesses, sizeof *rewrite->accesses,
                                  end_of_table(&bundles)};
    struct late_table traps = {rewrite->traps, rewrite->n_traps, sizeof *rewrite->traps,
                               end_of_table(&accesses)};
    struct pm_new_section sections[] = {
        {".pmodel_probe", 0, n_descriptors, false},
        {".edited_text", n_descriptors, rewrite->code.size_bytes, true},
        {".pmodel_bundles", bundles.offset, traps.offset - bundles.offset, false},
        {".pmodel_traps", traps.offset, traps.n * traps.size, false},
    };
    struct pm_new_segment segment = {
        .address = address,
        .n_bytes = end_of_table(&traps),
        .sections = sections,
        .n_sections = sizeof sections / sizeof *sections,
    };
    segment.bytes = pm_alloc(segment.n_bytes, 1);
    memcpy(segment.bytes, descriptors, n_descriptors);
    memcpy(segment.bytes + n_descriptors, code, rewrite->code.size_bytes);
    struct pm_probe_header *header = (struct pm_probe_header *)segment.bytes;
    header->has_events = rewrite->probes->n_events > 0;
    put_table(&bundles, segment.bytes, &header->bundles, &header->n_bundles);
    put_table(&accesses, segment.bytes, &header->accesses, &header->n_accesses);
    put_table(&traps, segment.bytes, &header->traps, &header->n_traps);
    bool written =
        pm_write_elf(&lifted->image, image, &segment, options->runtime_path, out_path, err);
    free(segment.bytes);
    free(descriptors);
    free(code);
    free(image);
    return written;
}

static void mark_counted(const struct pm_rewrite *rewrite) {
    struct pm_structure *structure = rewrite->lifted->structure;
    const bool *not_recorded = rewrite->options->not_recorded;
    for (uint32_t r = 0; r < structure->n_routines; r++)
        structure->routines[r].counted = rewrite->rewritten[r] && !rewrite->options->no_counters &&
                                         !(not_recorded && not_recorded[r]) &&
                                         structure->routines[r].n_counters > 0;
}

static void leave_out(struct pm_rewrite *rewrite) {
    const struct pm_instrument_options *options = rewrite->options;
    struct pm_structure *structure = rewrite->lifted->structure;
    for (size_t r = 0; options->left_out && r < structure->n_routines; r++)
        rewrite->rewritten[r] &= !options->left_out[r];
}

bool pm_instrument(struct pm_lifted *lifted, const struct pm_instrument_options *options,
                   const char *out_path, struct pm_error *err) {
    if (!can_be_instrumented(lifted, options, err))
        return false;
    for (uint32_t i = 0; i < lifted->structure->n_references; i++)
        lifted->structure->references[i].recorded = false;
    struct pm_rewrite *rewrite = pm_x86_rewrite_new(lifted, options);
    leave_out(rewrite);
    bool done = write_copy(rewrite, options, out_path, err);
    if (done)
        mark_counted(rewrite);
    pm_x86_rewrite_free(rewrite);
    return done;
}
