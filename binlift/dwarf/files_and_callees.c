/* Numbers for what debug information names: paths and callees; see dwarf.h.
   Names of callees are made readable only when somebody asks. */
#include "binlift/dwarf/dwarf.h"
#include "binlift/dwarf/unit.h"
#include "binlift/elf/elf.h"

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

/* ---- callees -------------------------------------------------------------------------------- */

static size_t callee_slot(const struct pm_debug *debug, struct pm_entry_key key) {
    size_t mask = debug->n_callee_slots - 1, at = XXH3_64bits(&key, sizeof key) & mask;
    for (; debug->callee_slots[at]; at = (at + 1) & mask) {
        struct pm_entry_key other = debug->callee_keys[debug->callee_slots[at] - 1];
        if (other.section == key.section && other.offset == key.offset)
            break;
    }
    return at;
}

uint32_t pm_debug_callee(struct pm_debug *debug, struct pm_unit_callee *made, bool *is_new) {
    if (2 * (debug->n_callees + 1) > debug->n_callee_slots) {
        free(debug->callee_slots);
        debug->n_callee_slots = debug->n_callee_slots ? 2 * debug->n_callee_slots : 256;
        debug->callee_slots = pm_alloc(debug->n_callee_slots, sizeof *debug->callee_slots);
        for (uint32_t i = 0; i < debug->n_callees; i++)
            debug->callee_slots[callee_slot(debug, debug->callee_keys[i])] = i + 1;
    }
    size_t slot = callee_slot(debug, made->key);
    *is_new = debug->callee_slots[slot] == 0;
    if (!*is_new)
        return debug->callee_slots[slot] - 1;
    *PM_PUSH(debug, callee_keys) = made->key;
    *PM_PUSH(debug, callees) = (struct pm_callee){.linkage_name = made->linkage_name,
                                                  .plain_name = made->plain_name,
                                                  .file = PM_NONE,
                                                  .line = made->line};
    made->linkage_name = made->plain_name = NULL;
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
