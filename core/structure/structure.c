/* The structure as a whole: making and freeing it, dependences of a loop, and its hashes; see
   structure.h. */
#include "core/structure/structure.h"

#include <stdlib.h>
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

const char *pm_op_mnemonic(const struct pm_structure *structure, const struct pm_op *op) {
    return op->mnemonic ? structure->mnemonics[op->mnemonic - 1] : NULL;
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
    free(structure->calls);
    for (size_t i = 0; i < structure->n_imports; i++)
        free(structure->imports[i].symbol);
    free(structure->imports);
    free(structure->assignments);
    for (size_t i = 0; i < structure->n_mnemonics; i++)
        free(structure->mnemonics[i]);
    free(structure->mnemonics);
    free(structure->isa);
    free(structure);
}

const struct pm_dependence *pm_structure_dependences(const struct pm_structure *structure,
                                                     uint32_t scope, size_t *n) {
    size_t first =
        PM_LOWER_BOUND(structure->n_dependences, i, structure->dependences[i].scope < scope);
    *n = 0;
    while (first + *n < structure->n_dependences &&
           structure->dependences[first + *n].scope == scope)
        ++*n;
    return structure->dependences + first;
}

struct pm_lists pm_edges_out(const struct pm_structure *structure) {
    uint32_t *from = pm_alloc(structure->n_edges, sizeof *from);
    for (size_t e = 0; e < structure->n_edges; e++)
        from[e] = structure->edges[e].from;
    struct pm_lists lists = pm_lists_by_key(from, NULL, structure->n_edges, structure->n_blocks);
    free(from);
    return lists;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

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
