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

/* ---- texts ----------------------------------------------------------------------------------- */

/* The steps of a path, as texts, innermost first. */
struct steps {
    PM_ARRAY(char *, texts);
};

static void free_steps(struct steps *steps) {
    for (size_t i = 0; i < steps->n_texts; i++)
        free(steps->texts[i]);
    free(steps->texts);
}

static char *step_text(const char *name, uint32_t line) {
    return line ? pm_sprintf("%s:%u", name, line) : pm_strdup(name);
}

/* A call in BLOCK: the inlined code that it is in, outwards, then the routine; each with the line
   of what is called there, of the call itself that where the block begins. */
static void add_block_steps(struct steps *steps, const struct pm_structure *structure,
                            uint32_t block) {
    const struct pm_routine *routine = &structure->routines[structure->blocks[block].routine];
    uint32_t line = structure->blocks[block].line;
    for (uint32_t s = structure->blocks[block].scope; s != PM_NONE && s != routine->scope;
         s = structure->scopes[s].parent) {
        const struct pm_scope *scope = &structure->scopes[s];
        if (scope->kind != PM_SCOPE_INLINED || !scope->name)
            continue;
        *PM_PUSH(steps, texts) = step_text(scope->name, line);
        line = scope->call_file_line;
    }
    *PM_PUSH(steps, texts) = step_text(routine->display_name, line);
}

/* Of the outermost call nothing is said if it is in code that nobody knows, as that of `main` is.
 */
static struct steps steps_of(const struct pm_structure *structure,
                             const struct pm_call_paths *paths, uint32_t path) {
    struct steps steps = {0};
    for (uint32_t at = path; at != PM_NO_PATH; at = paths->sites[at].parent) {
        uint32_t block = pm_call_path_block(structure, paths, at);
        if (block != PM_NONE)
            add_block_steps(&steps, structure, block);
        else if (at == path || paths->sites[at].parent != PM_NO_PATH)
            *PM_PUSH(&steps, texts) =
                pm_sprintf("0x%llx", (unsigned long long)paths->sites[at].return_address);
    }
    return steps;
}

/* The N innermost of STEPS, and what is called last behind BEFORE_CALLEE. */
static char *join(const struct steps *steps, size_t n, const char *before_callee,
                  const char *callee) {
    char *text = NULL;
    for (size_t i = n < steps->n_texts ? n : steps->n_texts; i-- > 0;)
        pm_append(&text, "%s%s", text ? " > " : "", steps->texts[i]);
    if (callee)
        pm_append(&text, "%s%s", before_callee, callee);
    return text;
}

char *pm_call_path_text(const struct pm_structure *structure, const struct pm_call_paths *paths,
                        uint32_t path) {
    if (path == PM_NO_PATH)
        return pm_strdup("-");
    struct steps steps = steps_of(structure, paths, path);
    char *text = join(&steps, SIZE_MAX, " > ", paths->callees[path]);
    free_steps(&steps);
    return text;
}

char *pm_call_path_name(const struct pm_structure *structure, const struct pm_call_paths *paths,
                        uint32_t path) {
    if (path == PM_NO_PATH)
        return pm_strdup("-");
    struct steps steps = steps_of(structure, paths, path);
    char *text = join(&steps, 1, " ", paths->callees[path]);
    free_steps(&steps);
    return text;
}

/* ---- names that differ ----------------------------------------------------------------------- */

struct naming {
    const struct pm_call_paths *paths;
    struct steps *steps; /* per path */
    char **texts;        /* with all steps: paths that have one text are not told apart by steps */
    char **names;
    bool *is_open; /* per path: its name has as many steps as all have that are not named yet */
};

/* Names of N steps for all that have none yet; those that no path of another text has stay. */
static bool name_by(struct naming *naming, size_t n) {
    size_t n_paths = naming->paths->n_sites;
    struct pm_map map = {0};
    bool *is_double = pm_alloc(n_paths, sizeof *is_double), open = false;
    for (size_t path = 1; path < n_paths; path++) {
        if (!naming->is_open[path])
            continue;
        free(naming->names[path]);
        naming->names[path] = join(&naming->steps[path], n, " ", naming->paths->callees[path]);
        uint64_t hash = pm_hash_text(naming->names[path]);
        for (struct pm_map_entry at = pm_map_find(&map, hash); at.found; pm_map_next(&map, &at))
            if (strcmp(naming->names[at.item], naming->names[path]) == 0 &&
                strcmp(naming->texts[at.item], naming->texts[path]) != 0)
                is_double[at.item] = is_double[path] = true;
        pm_map_add(&map, hash, (uint32_t)path);
    }
    for (size_t path = 1; path < n_paths; path++)
        open |= naming->is_open[path] &= is_double[path];
    free(is_double);
    pm_map_free(&map);
    return open;
}

/* Names that are the same, because their paths have one text, get the address of the last call. */
static void add_addresses(struct naming *naming) {
    size_t n_paths = naming->paths->n_sites;
    struct pm_map map = {0};
    bool *is_double = pm_alloc(n_paths + 1, sizeof *is_double);
    for (size_t path = 1; path < n_paths; path++) {
        uint64_t hash = pm_hash_text(naming->texts[path]);
        if (!naming->texts[path])
            continue;
        for (struct pm_map_entry at = pm_map_find(&map, hash); at.found; pm_map_next(&map, &at))
            if (strcmp(naming->texts[at.item], naming->texts[path]) == 0)
                is_double[at.item] = is_double[path] = true;
        pm_map_add(&map, hash, (uint32_t)path);
    }
    for (size_t path = 1; path < n_paths; path++)
        if (is_double[path])
            pm_append(&naming->names[path], " @0x%llx",
                      (unsigned long long)naming->paths->sites[path].return_address);
    free(is_double);
    pm_map_free(&map);
}

char **pm_call_path_names(const struct pm_structure *structure, const struct pm_call_paths *paths,
                          const bool *is_named) {
    struct naming naming = {paths, pm_alloc(paths->n_sites + 1, sizeof *naming.steps),
                            pm_alloc(paths->n_sites + 1, sizeof *naming.texts),
                            pm_alloc(paths->n_sites + 1, sizeof *naming.names),
                            pm_alloc(paths->n_sites + 1, sizeof *naming.is_open)};
    size_t most_steps = 1, n = 1;
    naming.names[PM_NO_PATH] = pm_strdup("-");
    for (uint32_t path = 1; path < paths->n_sites; path++)
        if ((naming.is_open[path] = is_named[path])) {
            naming.steps[path] = steps_of(structure, paths, path);
            naming.texts[path] = join(&naming.steps[path], SIZE_MAX, " ", paths->callees[path]);
            if (naming.steps[path].n_texts > most_steps)
                most_steps = naming.steps[path].n_texts;
        }
    while (name_by(&naming, n) && n < most_steps)
        n++;
    add_addresses(&naming);
    for (size_t path = 1; path < paths->n_sites; path++) {
        free_steps(&naming.steps[path]);
        free(naming.texts[path]);
    }
    free(naming.steps);
    free(naming.texts);
    free(naming.is_open);
    return naming.names;
}

void pm_call_path_names_free(char **names, const struct pm_call_paths *paths) {
    for (size_t path = 0; path == 0 || path < paths->n_sites; path++)
        free(names[path]);
    free(names);
}
