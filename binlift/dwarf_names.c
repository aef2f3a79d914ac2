/* Numbers for what debug information names: paths, files of line tables, callees; see dwarf.h.
   Names of callees are made readable only when somebody asks. */
#include "binlift/dwarf.h"
#include "binlift/names.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- paths ---------------------------------------------------------------------------------- */

static void grow_file_slots(struct pm_debug *debug) {
    size_t n = debug->n_file_slots ? 2 * debug->n_file_slots : 64;
    uint32_t *slots = pm_alloc(n, sizeof *slots);
    for (uint32_t file = 0; file < debug->n_files; file++) {
        size_t at = XXH3_64bits(debug->files[file], strlen(debug->files[file])) & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = file + 1;
    }
    free(debug->file_slots);
    debug->file_slots = slots;
    debug->n_file_slots = n;
}

uint32_t pm_debug_file(struct pm_debug *debug, const char *path) {
    if (!path)
        return PM_NONE;
    if (2 * (debug->n_files + 1) > debug->n_file_slots)
        grow_file_slots(debug);
    size_t mask = debug->n_file_slots - 1;
    size_t at = XXH3_64bits(path, strlen(path)) & mask;
    for (; debug->file_slots[at]; at = (at + 1) & mask)
        if (strcmp(debug->files[debug->file_slots[at] - 1], path) == 0)
            return debug->file_slots[at] - 1;
    *PM_PUSH(debug, files) = pm_strdup(path);
    debug->file_slots[at] = (uint32_t)debug->n_files;
    return (uint32_t)debug->n_files - 1;
}

struct adder {
    struct pm_debug *debug;
    struct pm_dwarf_unit *unit;
};

static void add_unit_file(void *context, char *path) {
    struct adder *adder = context;
    *PM_PUSH(adder->unit, files) = pm_debug_file(adder->debug, path);
    free(path);
}

uint32_t pm_debug_unit_file(struct pm_debug *debug, const struct pm_dwarf_unit *unit,
                            uint32_t file) {
    struct pm_dwarf_unit *kept = (struct pm_dwarf_unit *)unit; /* what is kept is not seen */
    if (!kept->has_files) {
        struct adder adder = {debug, kept};
        kept->has_files = true;
        pm_each_line_file(unit, add_unit_file, &adder);
    }
    return file < kept->n_files ? kept->files[file] : PM_NONE;
}

/* ---- callees -------------------------------------------------------------------------------- */

struct pm_callee pm_debug_describe(struct pm_debug *debug, struct pm_dwarf_reference entry) {
    enum { MOST_STEPS = 16 }; /* abstract origin, specification … a circle is damage */
    struct pm_callee found = {.file = PM_NONE};
    for (int steps = 0; entry.unit && steps < MOST_STEPS; steps++) {
        struct pm_entry at = pm_read_entry(entry.unit, entry.offset, NULL);
        if (!found.linkage_name)
            found.linkage_name = at.linkage_name;
        if (!found.plain_name)
            found.plain_name = at.name;
        if (found.line == 0)
            found.line = at.line;
        if (found.file == PM_NONE && at.file != UINT32_MAX)
            found.file = pm_debug_unit_file(debug, entry.unit, at.file);
        entry = at.origin;
    }
    return found;
}

static size_t callee_slot(const struct pm_debug *debug, struct pm_dwarf_reference origin) {
    uint64_t words[2] = {origin.offset, (uintptr_t)origin.unit};
    size_t mask = debug->n_callee_slots - 1, at = XXH3_64bits(words, sizeof words) & mask;
    for (; debug->callee_slots[at]; at = (at + 1) & mask) {
        const struct pm_dwarf_reference *other =
            &debug->callee_entries[debug->callee_slots[at] - 1];
        if (other->unit == origin.unit && other->offset == origin.offset)
            break;
    }
    return at;
}

uint32_t pm_debug_callee(struct pm_debug *debug, struct pm_dwarf_reference origin) {
    if (2 * (debug->n_callees + 1) > debug->n_callee_slots) {
        free(debug->callee_slots);
        debug->n_callee_slots = debug->n_callee_slots ? 2 * debug->n_callee_slots : 256;
        debug->callee_slots = pm_alloc(debug->n_callee_slots, sizeof *debug->callee_slots);
        for (uint32_t i = 0; i < debug->n_callees; i++)
            debug->callee_slots[callee_slot(debug, debug->callee_entries[i])] = i + 1;
    }
    size_t slot = callee_slot(debug, origin);
    if (debug->callee_slots[slot])
        return debug->callee_slots[slot] - 1;
    debug->callee_entries = pm_grow(debug->callee_entries, debug->n_callees,
                                    &debug->cap_callee_entries, sizeof *debug->callee_entries);
    debug->callee_entries[debug->n_callees] = origin;
    *PM_PUSH(debug, callees) = pm_debug_describe(debug, origin);
    debug->callee_slots[slot] = (uint32_t)debug->n_callees;
    return (uint32_t)debug->n_callees - 1;
}

const char *pm_callee_name(struct pm_debug *debug, uint32_t callee) {
    struct pm_callee *found = &debug->callees[callee];
    if (!found->name && found->linkage_name)
        found->name = pm_display_name(found->linkage_name);
    if (!found->name)
        found->name =
            pm_strdup(found->plain_name ? found->plain_name : "inlined code without a name");
    return found->name;
}
