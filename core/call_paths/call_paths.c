/* Call paths; see call_paths.h. */
#include "core/call_paths/call_paths.h"

#include <stdlib.h>
#include <string.h>

/* ---- the tree -------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct pm_call_site *site) {
    const uint64_t words[] = {(uint64_t)site->parent << 32 | site->module, site->return_address};
    return pm_hash_bytes(words, sizeof words);
}

static bool is_same(const struct pm_call_site *a, const struct pm_call_site *b) {
    return a->parent == b->parent && a->module == b->module &&
           a->return_address == b->return_address;
}

uint32_t pm_call_paths_add(struct pm_call_paths *paths, uint32_t parent, uint32_t module,
                           uint64_t return_address) {
    const struct pm_call_site site = {parent, module, return_address};
    const uint64_t hash = hash_of(&site);
    for (struct pm_map_entry at = pm_map_find(&paths->map, hash); at.found;
         pm_map_next(&paths->map, &at))
        if (is_same(&paths->sites[at.item], &site))
            return at.item;
    while (paths->n_sites == 0) { /* PM_NO_PATH */
        PM_PUSH(paths, sites);
        PM_PUSH(paths, callees);
    }
    *PM_PUSH(paths, sites) = site;
    PM_PUSH(paths, callees);
    uint32_t path = (uint32_t)paths->n_sites - 1;
    pm_map_add(&paths->map, hash, path);
    return path;
}

void pm_call_paths_set_callee(struct pm_call_paths *paths, uint32_t path, const char *name) {
    if (path != PM_NO_PATH && !paths->callees[path] && name && *name)
        paths->callees[path] = pm_strdup(name);
}

uint32_t pm_call_paths_copy(struct pm_call_paths *to, const struct pm_call_paths *from,
                            uint32_t path) {
    struct {
        PM_ARRAY(uint32_t, outwards);
    } sites = {0};
    for (uint32_t at = path; at != PM_NO_PATH; at = from->sites[at].parent)
        *PM_PUSH(&sites, outwards) = at;
    uint32_t copy = PM_NO_PATH;
    for (size_t i = sites.n_outwards; i-- > 0;) {
        const struct pm_call_site *site = &from->sites[sites.outwards[i]];
        copy = pm_call_paths_add(to, copy, site->module, site->return_address);
        pm_call_paths_set_callee(to, copy, from->callees[sites.outwards[i]]);
    }
    free(sites.outwards);
    return copy;
}

void pm_call_paths_free(struct pm_call_paths *paths) {
    for (size_t i = 0; i < paths->n_callees; i++)
        free(paths->callees[i]);
    free(paths->callees);
    free(paths->sites);
    pm_map_free(&paths->map);
    *paths = (struct pm_call_paths){0};
}

bool pm_call_path_fits(const struct pm_structure *structure, const struct pm_call_paths *paths,
                       uint32_t path) {
    for (uint32_t at = path; at != PM_NO_PATH; at = paths->sites[at].parent)
        if (at >= paths->n_sites || paths->sites[at].module >= structure->n_modules ||
            paths->sites[at].parent >= at)
            return false;
    return true;
}

/* ---- places in the program ------------------------------------------------------------------- */

uint32_t pm_call_path_block(const struct pm_structure *structure, const struct pm_call_paths *paths,
                            uint32_t path) {
    if (path == PM_NO_PATH)
        return PM_NONE;
    const struct pm_call_site *site = &paths->sites[path];
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (block->address < site->return_address &&
            site->return_address <= block->address + block->size_bytes &&
            structure->routines[block->routine].module == site->module)
            return b;
    }
    return PM_NONE;
}

/* The routine, or inlined code, that BLOCK is written in. */
static const char *owner_of(const struct pm_structure *structure, uint32_t block) {
    uint32_t scope = structure->blocks[block].scope;
    while (scope != PM_NONE && structure->scopes[scope].kind == PM_SCOPE_LOOP)
        scope = structure->scopes[scope].parent;
    if (scope != PM_NONE && structure->scopes[scope].kind == PM_SCOPE_INLINED &&
        structure->scopes[scope].name)
        return structure->scopes[scope].name;
    return structure->routines[structure->blocks[block].routine].display_name;
}

static void append_site(char **text, const struct pm_structure *structure,
                        const struct pm_call_paths *paths, uint32_t path) {
    uint32_t block = pm_call_path_block(structure, paths, path);
    if (block == PM_NONE) {
        pm_append(text, "0x%llx", (unsigned long long)paths->sites[path].return_address);
        return;
    }
    pm_append(text, "%s", owner_of(structure, block));
    if (structure->blocks[block].line)
        pm_append(text, ":%u", structure->blocks[block].line);
}

/* Is PATH the outermost call, in code that nobody knows, as that of `main`? */
static bool is_start(const struct pm_structure *structure, const struct pm_call_paths *paths,
                     uint32_t path) {
    return paths->sites[path].parent == PM_NO_PATH &&
           pm_call_path_block(structure, paths, path) == PM_NONE;
}

static void append_path(char **text, const struct pm_structure *structure,
                        const struct pm_call_paths *paths, uint32_t path) {
    uint32_t parent = paths->sites[path].parent;
    if (parent != PM_NO_PATH && !is_start(structure, paths, parent)) {
        append_path(text, structure, paths, parent);
        pm_append(text, " > ");
    }
    append_site(text, structure, paths, path);
}

char *pm_call_path_text(const struct pm_structure *structure, const struct pm_call_paths *paths,
                        uint32_t path) {
    char *text = NULL;
    if (path == PM_NO_PATH)
        return pm_strdup("-");
    append_path(&text, structure, paths, path);
    if (paths->callees[path])
        pm_append(&text, " > %s", paths->callees[path]);
    return text;
}

char *pm_call_path_name(const struct pm_structure *structure, const struct pm_call_paths *paths,
                        uint32_t path) {
    char *text = NULL;
    if (path == PM_NO_PATH)
        return pm_strdup("-");
    append_site(&text, structure, paths, path);
    if (paths->callees[path])
        pm_append(&text, " %s", paths->callees[path]);
    return text;
}
