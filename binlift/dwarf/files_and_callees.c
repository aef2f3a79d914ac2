/* Numbers for what debug information names: paths and callees; see dwarf.h.
   Names of callees are made readable only when somebody asks. */
#include "binlift/dwarf/dwarf.h"
#include "binlift/dwarf/unit.h"
#include "binlift/elf/elf.h"

#include <stdlib.h>
#include <string.h>

/* ---- paths ---------------------------------------------------------------------------------- */

uint32_t pm_debug_file(struct pm_debug *debug, const char *path) {
    if (!path)
        return PM_NONE;
    uint64_t hash = pm_hash_text(path);
    for (struct pm_map_entry at = pm_map_find(&debug->file_map, hash); at.found;
         pm_map_next(&debug->file_map, &at))
        if (strcmp(debug->files[at.item], path) == 0)
            return at.item;
    *PM_PUSH(debug, files) = pm_strdup(path);
    pm_map_add(&debug->file_map, hash, (uint32_t)debug->n_files - 1);
    return (uint32_t)debug->n_files - 1;
}

/* ---- callees -------------------------------------------------------------------------------- */

uint32_t pm_debug_callee(struct pm_debug *debug, struct pm_unit_callee *made, bool *is_new) {
    uint64_t hash = pm_hash_bytes(&made->key, sizeof made->key);
    *is_new = false;
    for (struct pm_map_entry at = pm_map_find(&debug->callee_map, hash); at.found;
         pm_map_next(&debug->callee_map, &at))
        if (memcmp(&debug->callee_keys[at.item], &made->key, sizeof made->key) == 0)
            return at.item;
    *is_new = true;
    *PM_PUSH(debug, callee_keys) = made->key;
    *PM_PUSH(debug, callees) = (struct pm_callee){.linkage_name = made->linkage_name,
                                                  .plain_name = made->plain_name,
                                                  .file = PM_NONE,
                                                  .line = made->line};
    made->linkage_name = made->plain_name = NULL;
    pm_map_add(&debug->callee_map, hash, (uint32_t)debug->n_callees - 1);
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
