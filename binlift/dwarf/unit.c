/* What one unit of the debug information says of code, read by libdw; see dwarf.h.  Needs nothing
   but a handle. */
#include "binlift/dwarf/dwarf.h"
#include "binlift/dwarf/unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers for pointers ------------------------------------------------------------------- */

uint32_t pm_pointer_number(struct pm_pointers *pointers, const void *pointer, bool *is_new) {
    uint64_t hash = pm_hash_bytes(&pointer, sizeof pointer);
    *is_new = false;
    for (struct pm_map_entry at = pm_map_find(&pointers->map, hash); at.found;
         pm_map_next(&pointers->map, &at))
        if (pointers->pointers[at.item] == pointer)
            return at.item;
    *is_new = true;
    *PM_PUSH(pointers, pointers) = pointer;
    pm_map_add(&pointers->map, hash, (uint32_t)pointers->n_pointers - 1);
    return (uint32_t)pointers->n_pointers - 1;
}

static void pointers_release(struct pm_pointers *pointers) {
    free(pointers->pointers);
    pm_map_free(&pointers->map);
}

/* ---- a unit --------------------------------------------------------------------------------- */

/* The folder in which UNIT was compiled; NULL: not said. */
static const char *folder_of(Dwarf_CU *unit) {
    Dwarf_Die entry;
    Dwarf_Attribute attribute;
    if (dwarf_cu_info(unit, NULL, NULL, &entry, NULL, NULL, NULL, NULL) != 0 ||
        !dwarf_attr_integrate(&entry, DW_AT_comp_dir, &attribute))
        return NULL;
    return dwarf_formstring(&attribute);
}

uint32_t pm_unit_file(struct pm_unit_reader *reader, Dwarf_CU *unit, const char *path) {
    if (!path || strcmp(path, "???") == 0) /* libdw's for file 0 of DWARF 2 to 4 */
        return PM_NONE;
    bool is_new;
    uint32_t file = pm_pointer_number(&reader->files, path, &is_new);
    if (is_new) { /* libdw leaves the names of folders as they are */
        const char *folder = *path == '/' ? NULL : folder_of(unit);
        *PM_PUSH(reader->facts, files) =
            folder ? pm_sprintf("%s/%s", folder, path) : pm_strdup(path);
    }
    return file;
}

static const char *split_name(Dwarf_Die *unit) {
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr(unit, DW_AT_dwo_name, &attribute) ||
        dwarf_attr(unit, DW_AT_GNU_dwo_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name ? name : "?";
}

void pm_read_unit(Dwarf *dwarf, uint64_t number, uint64_t offset, uint64_t low, uint64_t high,
                  struct pm_unit_facts *facts) {
    Dwarf_Die unit, split = {0};
    uint8_t type;
    if (!dwarf_offdie(dwarf, offset, &unit) ||
        dwarf_cu_info(unit.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) != 0)
        return;
    struct pm_unit_reader reader = {
        .dwarf = dwarf, .number = number, .low = low, .high = high, .facts = facts};
    pm_read_unit_lines(&reader, &unit);
    if (type != DW_UT_skeleton)
        pm_read_unit_entries(&reader, &unit);
    else if (split.cu)
        pm_read_unit_entries(&reader, &split);
    else
        facts->missing_split = pm_strdup(split_name(&unit));
    pointers_release(&reader.files);
    pointers_release(&reader.callees);
}

void pm_unit_facts_release(struct pm_unit_facts *facts) {
    for (size_t i = 0; i < facts->n_files; i++)
        free(facts->files[i]);
    for (size_t i = 0; i < facts->n_callees; i++) {
        free(facts->callees[i].linkage_name);
        free(facts->callees[i].plain_name);
    }
    for (size_t i = 0; i < facts->n_routines; i++)
        free(facts->routines[i].name);
    free(facts->files);
    free(facts->spans);
    free(facts->callees);
    free(facts->inlines);
    free(facts->ranges);
    free(facts->routines);
    free(facts->missing_split);
}
