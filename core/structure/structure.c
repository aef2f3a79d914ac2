/* The structure as a whole: making and freeing it, the scopes' keys, and its hash; see
   structure.h.  As bytes: structure_bytes.c. */
#include "core/structure/structure.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct pm_structure *pm_structure_new(void) {
    struct pm_structure *structure = pm_alloc(1, sizeof *structure);
    struct pm_scope *program = PM_PUSH(structure, scopes);
    program->kind = PM_SCOPE_PROGRAM;
    program->parent = PM_NONE;
    program->routine = PM_NONE;
    program->header = PM_NONE;
    program->unroll = 1;
    return structure;
}

void pm_structure_free(struct pm_structure *structure) {
    if (!structure)
        return;
    for (size_t i = 0; i < structure->n_modules; i++) {
        free(structure->modules[i].path);
        free(structure->modules[i].name);
    }
    for (size_t i = 0; i < structure->n_routines; i++) {
        free(structure->routines[i].name);
        free(structure->routines[i].display_name);
        free(structure->routines[i].reason);
    }
    for (size_t i = 0; i < structure->n_scopes; i++) {
        free(structure->scopes[i].name);
        free(structure->scopes[i].file);
        free(structure->scopes[i].call_file);
        free(structure->scopes[i].trip_count);
    }
    for (size_t i = 0; i < structure->n_groups; i++) {
        struct pm_group *group = &structure->groups[i];
        for (uint32_t level = 0; level < group->n_strides; level++)
            free(group->strides[level].expression);
        free(group->strides);
        free(group->object);
        free(group->object_type);
    }
    for (size_t i = 0; i < structure->n_unknowns; i++)
        free(structure->unknowns[i].mnemonic);
    free(structure->modules);
    free(structure->routines);
    free(structure->parts);
    free(structure->blocks);
    free(structure->edges);
    free(structure->scopes);
    free(structure->references);
    free(structure->groups);
    free(structure->ops);
    free(structure->dependences);
    free(structure->unknowns);
    free(structure->isa);
    free(structure);
}

const struct pm_dependence *pm_structure_dependences(const struct pm_structure *structure,
                                                     uint32_t scope, size_t *n) {
    size_t low = 0, high = structure->n_dependences;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (structure->dependences[middle].scope < scope)
            low = middle + 1;
        else
            high = middle;
    }
    *n = 0;
    while (low + *n < structure->n_dependences && structure->dependences[low + *n].scope == scope)
        ++*n;
    return structure->dependences + low;
}

/* ---- loops ---------------------------------------------------------------------------------- */

uint32_t pm_outer_loop(const struct pm_structure *structure, uint32_t scope) {
    for (scope = structure->scopes[scope].parent; scope != PM_NONE;
         scope = structure->scopes[scope].parent) {
        if (structure->scopes[scope].kind == PM_SCOPE_LOOP)
            return scope;
        if (structure->scopes[scope].kind == PM_SCOPE_ROUTINE)
            break; /* of another routine, where a clone stands under its source */
    }
    return PM_NONE;
}

uint32_t pm_own_scope(const struct pm_structure *structure, uint32_t scope) {
    while (scope != PM_NONE && structure->scopes[scope].kind == PM_SCOPE_INLINED)
        scope = structure->scopes[scope].parent;
    bool has_code = scope != PM_NONE && (structure->scopes[scope].kind == PM_SCOPE_LOOP ||
                                         structure->scopes[scope].kind == PM_SCOPE_ROUTINE);
    return has_code ? scope : PM_NONE;
}

bool pm_scope_is_counted(const struct pm_structure *structure, uint32_t scope) {
    uint32_t own = pm_own_scope(structure, scope);
    if (own == PM_NONE || (structure->scopes[own].flags & PM_SCOPE_UNMATCHED))
        return false;
    uint32_t routine = structure->scopes[own].routine;
    return routine < structure->n_routines && structure->routines[routine].counted;
}

bool pm_group_is_matched(const struct pm_structure *structure, uint32_t group) {
    uint32_t own = pm_own_scope(structure, structure->groups[group].scope);
    return !(structure->groups[group].flags & PM_GROUP_UNMATCHED) &&
           (own == PM_NONE || !(structure->scopes[own].flags & PM_SCOPE_UNMATCHED));
}

uint32_t pm_edge_scope(const struct pm_structure *structure, uint32_t edge) {
    const struct pm_edge *e = &structure->edges[edge];
    uint32_t loop =
        e->from == PM_NONE || e->to == PM_NONE ? PM_NONE : structure->blocks[e->from].loop;
    while (loop != PM_NONE && !pm_is_in_loop(structure, e->to, loop))
        loop = pm_outer_loop(structure, loop);
    return loop != PM_NONE ? loop : structure->routines[e->routine].scope;
}

bool pm_is_in_loop(const struct pm_structure *structure, uint32_t block, uint32_t loop) {
    return block != PM_NONE && pm_part_of_loop(structure, block, loop) != PM_NONE;
}

uint32_t pm_part_of_loop(const struct pm_structure *structure, uint32_t block, uint32_t loop) {
    uint32_t part = PM_NONE, at = structure->blocks[block].loop;
    while (at != PM_NONE && at > loop) { /* outer ones have smaller numbers */
        part = at;
        at = pm_outer_loop(structure, at);
    }
    return at != loop ? PM_NONE : part == PM_NONE ? loop : part;
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* A scope among its siblings: those with equal `parent` and `look` are otherwise alike. */
struct sibling {
    uint32_t parent, scope;
    uint64_t look; /* hash of kind, name, file and line */
    bool is_remainder;
};

static int compare_siblings(const void *left, const void *right) {
    const struct sibling *a = left, *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->look != b->look)
        return a->look < b->look ? -1 : 1;
    if (a->is_remainder != b->is_remainder)
        return a->is_remainder ? 1 : -1;
    return a->scope < b->scope ? -1 : a->scope > b->scope;
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

/* LINE in FILE, counted from the first line of the routine or callee around SCOPE if that is in the
   same file. */
static uint64_t relative_line(const struct pm_structure *structure, const struct pm_scope *scope,
                              const char *file, uint32_t line) {
    uint32_t above = scope->parent;
    while (above != PM_NONE && structure->scopes[above].kind == PM_SCOPE_LOOP)
        above = structure->scopes[above].parent;
    if (line == 0 || above == PM_NONE || structure->scopes[above].line_first == 0 ||
        strcmp(base_name(file), base_name(structure->scopes[above].file)) != 0)
        return line;
    return (uint64_t)line - structure->scopes[above].line_first + (UINT64_C(1) << 32);
}

/* The scope's own name as far as it is the same in every build. */
static const char *lasting_name(const struct pm_structure *structure,
                                const struct pm_scope *scope) {
    if (scope->kind == PM_SCOPE_ROUTINE && scope->routine < structure->n_routines) {
        const struct pm_routine *routine = &structure->routines[scope->routine];
        char *made_up = pm_sprintf("sub_%llx", (unsigned long long)routine->address);
        bool has_symbol = !routine->name || strcmp(routine->name, made_up) != 0;
        free(made_up);
        return has_symbol && scope->name ? scope->name : "";
    }
    return scope->kind == PM_SCOPE_INLINED && scope->name ? scope->name : "";
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

static uint64_t hash_look(const struct pm_structure *structure, const struct pm_scope *scope) {
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
    if (scope->kind == PM_SCOPE_ROUTINE || scope->kind == PM_SCOPE_LOOP)
        file = base_name(scope->file);
    uint64_t parts[4] = {scope->kind, line, XXH3_64bits(name, length),
                         XXH3_64bits(file, strlen(file))};
    return XXH3_64bits(parts, sizeof parts);
}

void pm_structure_assign_keys(struct pm_structure *structure) {
    size_t n = structure->n_scopes;
    struct sibling *siblings = pm_alloc(n, sizeof *siblings);
    uint64_t *ordinals = pm_alloc(n, sizeof *ordinals), *looks = pm_alloc(n, sizeof *looks);
    for (size_t i = 0; i < n; i++) {
        const struct pm_scope *scope = &structure->scopes[i];
        looks[i] = hash_look(structure, scope);
        siblings[i] = (struct sibling){scope->parent, (uint32_t)i, looks[i],
                                       (scope->flags & PM_SCOPE_REMAINDER) != 0};
    }
    qsort(siblings, n, sizeof *siblings, compare_siblings);
    for (size_t i = 1; i < n; i++)
        if (siblings[i].parent == siblings[i - 1].parent &&
            siblings[i].look == siblings[i - 1].look)
            ordinals[siblings[i].scope] = ordinals[siblings[i - 1].scope] + 1;
    for (size_t i = 0; i < n; i++) { /* parents come before their children */
        struct pm_scope *scope = &structure->scopes[i];
        uint64_t above = scope->parent == PM_NONE ? 0 : structure->scopes[scope->parent].key;
        uint64_t parts[3] = {above, looks[i], ordinals[i]};
        scope->key = XXH3_64bits(parts, sizeof parts);
    }
    free(siblings);
    free(ordinals);
    free(looks);
}

/* ---- hash ----------------------------------------------------------------------------------- */

uint32_t pm_fold_root(const struct pm_structure *structure, uint32_t scope) {
    for (size_t steps = 0; steps < structure->n_scopes; steps++) {
        uint32_t fold = structure->scopes[scope].fold;
        if (fold == scope || fold >= structure->n_scopes ||
            structure->scopes[fold].kind != structure->scopes[scope].kind)
            break;
        scope = fold;
    }
    return scope;
}

static void hash_numbers(XXH3_state_t *state, const uint64_t *numbers, size_t n) {
    XXH3_64bits_update(state, numbers, n * sizeof *numbers);
}
#define HASH(state, ...)                                                                           \
    hash_numbers(state, (const uint64_t[]){__VA_ARGS__},                                           \
                 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

uint64_t pm_structure_hash(const struct pm_structure *structure) {
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        abort();
    XXH3_64bits_reset(state);
    HASH(state, structure->n_modules, structure->n_blocks, structure->n_edges,
         structure->n_references, structure->n_groups);
    for (size_t i = 0; i < structure->n_modules; i++) {
        const struct pm_module *module = &structure->modules[i];
        HASH(state, module->build_id_bytes);
        XXH3_64bits_update(state, module->build_id, sizeof module->build_id);
    }
    for (size_t i = 0; i < structure->n_blocks; i++) {
        const struct pm_block *block = &structure->blocks[i];
        HASH(state, block->address, block->size_bytes, block->routine);
    }
    for (size_t i = 0; i < structure->n_edges; i++) {
        const struct pm_edge *edge = &structure->edges[i];
        HASH(state, edge->from, edge->to, edge->kind);
    }
    for (size_t i = 0; i < structure->n_references; i++) {
        const struct pm_reference *reference = &structure->references[i];
        HASH(state, reference->address, reference->group, reference->size_bytes, reference->access,
             reference->kind, reference->operand);
    }
    for (size_t i = 0; i < structure->n_groups; i++)
        HASH(state, structure->groups[i].scope, structure->groups[i].module);
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

uint64_t pm_placement_hash(const struct pm_structure *structure) {
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        abort();
    XXH3_64bits_reset(state);
    uint64_t whole = pm_structure_hash(structure);
    HASH(state, whole, structure->n_counters);
    for (size_t i = 0; i < structure->n_edges; i++)
        HASH(state, structure->edges[i].counter);
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}
