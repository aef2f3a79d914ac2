/* Keys of scopes, which are the same in every build of a program; see structure.h. */
#include "core/structure/structure.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A scope among its siblings: those with equal `parent` and `look` are otherwise alike. */
struct sibling {
    uint32_t parent, scope;
    uint64_t look; /* hash of kind, name, file and line */
    bool is_remainder;
};

static int compare_siblings(const void *left, const void *right) {
    const struct sibling *a = left, *b = right;
    if (a->parent != b->parent)
        return PM_COMPARE(a->parent, b->parent);
    if (a->look != b->look)
        return PM_COMPARE(a->look, b->look);
    if (a->is_remainder != b->is_remainder)
        return PM_COMPARE(a->is_remainder, b->is_remainder);
    return PM_COMPARE(a->scope, b->scope);
}

/* LINE in FILE, counted from the first line of the routine or callee around SCOPE if that is in the
   same file. */
static uint64_t relative_line(const struct pm_structure *structure, const struct pm_scope *scope,
                              const char *file, uint32_t line) {
    uint32_t above = scope->parent;
    while (above != PM_NONE && structure->scopes[above].kind == PM_SCOPE_LOOP)
        above = structure->scopes[above].parent;
    if (line == 0 || above == PM_NONE || structure->scopes[above].line_first == 0 ||
        strcmp(pm_base_name(file), pm_base_name(structure->scopes[above].file)) != 0)
        return line;
    return (uint64_t)line - structure->scopes[above].line_first + (UINT64_C(1) << 32);
}

bool pm_has_symbol(const struct pm_routine *routine) {
    char *made_up = pm_sprintf("sub_%llx", (unsigned long long)routine->address);
    bool has_symbol = !routine->name || strcmp(routine->name, made_up) != 0;
    free(made_up);
    return has_symbol;
}

/* The scope's own name as far as it is the same in every build. */
static const char *lasting_name(const struct pm_structure *structure,
                                const struct pm_scope *scope) {
    bool is_routine = scope->kind == PM_SCOPE_ROUTINE && scope->routine < structure->n_routines;
    bool lasts = is_routine ? pm_has_symbol(&structure->routines[scope->routine])
                            : scope->kind == PM_SCOPE_INLINED;
    return lasts && scope->name ? scope->name : "";
}

/* Of a library `libm.so` of libm.so.6, so that a later version has the same keys. */
static size_t stem_length(const char *library) {
    const char *suffix = strstr(library, ".so.");
    return suffix ? (size_t)(suffix - library) + 3 : strlen(library);
}

static bool is_library(const struct pm_structure *structure, const struct pm_scope *scope) {
    return scope->kind == PM_SCOPE_MODULE && structure->n_modules > 1 &&
           scope != &structure->scopes[structure->modules[0].scope];
}

static uint64_t hash_look(const struct pm_structure *structure, const struct pm_scope *scope,
                          bool with_files) {
    const char *name = lasting_name(structure, scope), *file = "";
    size_t length = strlen(name);
    uint64_t line = 0;
    if (is_library(structure, scope)) {
        name = scope->name ? scope->name : "";
        length = stem_length(name);
    }
    if (scope->kind == PM_SCOPE_INLINED)
        line = relative_line(structure, scope, scope->call_file, scope->call_file_line);
    else if (scope->kind == PM_SCOPE_LOOP)
        line = relative_line(structure, scope, scope->file, scope->line_first);
    if (with_files && (scope->kind == PM_SCOPE_ROUTINE || scope->kind == PM_SCOPE_LOOP))
        file = pm_base_name(scope->file);
    uint64_t parts[4] = {scope->kind, line, XXH3_64bits(name, length),
                         XXH3_64bits(file, strlen(file))};
    return XXH3_64bits(parts, sizeof parts);
}

uint64_t *pm_structure_source_keys(const struct pm_structure *structure) {
    uint64_t *keys = pm_alloc(structure->n_scopes, sizeof *keys);
    for (size_t i = 0; i < structure->n_scopes; i++) { /* parents come before their children */
        const struct pm_scope *scope = &structure->scopes[i];
        uint32_t around = scope->parent;
        while (scope->kind == PM_SCOPE_LOOP && around != PM_NONE &&
               structure->scopes[around].kind == PM_SCOPE_LOOP)
            around = structure->scopes[around].parent;
        uint64_t parts[3] = {around == PM_NONE ? 0 : keys[around],
                             hash_look(structure, scope, true), scope->depth};
        keys[i] = XXH3_64bits(parts, sizeof parts);
    }
    return keys;
}

uint64_t *pm_structure_place_keys(const struct pm_structure *structure) {
    uint64_t *keys = pm_alloc(structure->n_scopes, sizeof *keys);
    for (size_t i = 0; i < structure->n_scopes; i++) { /* parents come before their children */
        const struct pm_scope *scope = &structure->scopes[i];
        uint32_t code = (uint32_t)i;
        while (code != PM_NONE && structure->scopes[code].kind == PM_SCOPE_LOOP)
            code = structure->scopes[code].parent;
        const char *name = code == PM_NONE ? "" : lasting_name(structure, &structure->scopes[code]);
        uint64_t line = scope->kind == PM_SCOPE_LOOP
                            ? relative_line(structure, scope, scope->file, scope->line_first)
                            : 0;
        uint64_t parts[3] = {scope->kind, line, XXH3_64bits(name, strlen(name))};
        keys[i] = *name ? XXH3_64bits(parts, sizeof parts) : 0;
    }
    return keys;
}

/* KEYS (n_scopes values). */
static void make_keys(const struct pm_structure *structure, bool with_files, uint64_t *keys) {
    size_t n = structure->n_scopes;
    struct sibling *siblings = pm_alloc(n, sizeof *siblings);
    uint64_t *ordinals = pm_alloc(n, sizeof *ordinals), *looks = pm_alloc(n, sizeof *looks);
    for (size_t i = 0; i < n; i++) {
        const struct pm_scope *scope = &structure->scopes[i];
        looks[i] = hash_look(structure, scope, with_files);
        siblings[i] = (struct sibling){scope->parent, (uint32_t)i, looks[i],
                                       (scope->flags & PM_SCOPE_REMAINDER) != 0};
    }
    PM_SORT(siblings, n, compare_siblings);
    for (size_t i = 1; i < n; i++)
        if (siblings[i].parent == siblings[i - 1].parent &&
            siblings[i].look == siblings[i - 1].look)
            ordinals[siblings[i].scope] = ordinals[siblings[i - 1].scope] + 1;
    for (size_t i = 0; i < n; i++) { /* parents come before their children */
        uint32_t parent = structure->scopes[i].parent;
        uint64_t parts[3] = {parent == PM_NONE ? 0 : keys[parent], looks[i], ordinals[i]};
        keys[i] = XXH3_64bits(parts, sizeof parts);
    }
    free(siblings);
    free(ordinals);
    free(looks);
}

void pm_structure_assign_keys(struct pm_structure *structure) {
    uint64_t *keys = pm_alloc(structure->n_scopes, sizeof *keys);
    make_keys(structure, true, keys);
    for (size_t i = 0; i < structure->n_scopes; i++)
        structure->scopes[i].key = keys[i];
    free(keys);
}

uint64_t *pm_structure_path_keys(const struct pm_structure *structure) {
    uint64_t *keys = pm_alloc(structure->n_scopes, sizeof *keys);
    make_keys(structure, false, keys);
    return keys;
}
