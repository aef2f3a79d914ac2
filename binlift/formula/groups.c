/* References and reference groups.  Needs the scope tree joined with metadata,
   and the numbers of references (code/references.c).

   A reference is one memory operand of one instruction; what push, pop, call and ret move is one
   too, and what a called routine of the C library loads or stores (code/called.c).  References
   whose loop, strides at every level and base object are equal are a group; the displacement is not
   looked at, so that the copies of an unrolled loop, a[i] and a[i+1], fall together; where the
   object has no name, what it is counted from is (pm_formula_origin). */
#include "binlift/batches.h"
#include "binlift/formula/groups.h"

#include <stdlib.h>
#include <string.h>

/* Where the accesses of a group start from, if its object has no name. */
struct origin {
    uint64_t number, neighbour; /* as of its first key */
    int64_t low, high;          /* anchors of all its keys */
};

/* Of a batch of routines, to which its numbers belong: no group has references of two routines. */
struct group_table {
    const struct pm_structure *structure;
    PM_ARRAY(struct pm_group, groups);
    PM_ARRAY(struct origin, origins); /* of each group; a key's part that the group does not keep */
    struct pm_map map;                /* of groups */
};

/* ---- from key to group ----------------------------------------------------------------------- */

static uint64_t hash_key(const struct pm_group_key *key) {
    uint64_t parts[5] = {key->scope, key->flags, pm_hash_text(key->object),
                         pm_hash_text(key->object_type), key->origin};
    uint64_t hash = pm_hash_bytes(parts, sizeof parts);
    for (uint32_t i = 0; i < key->n_strides; i++) {
        const struct pm_step *step = &key->strides[i];
        uint64_t level[4] = {hash, step->kind, (uint64_t)step->bytes,
                             pm_hash_text(step->expression)};
        hash = pm_hash_bytes(level, sizeof level);
    }
    return hash;
}

static bool same_text(const char *left, const char *right) {
    return left == right || (left && right && strcmp(left, right) == 0);
}

/* At the same symbol, or copies of one access: nearer than one iteration of the innermost loop
   goes. */
static bool is_same_place(const struct origin *origin, const struct pm_group_key *key) {
    if (origin->number != key->origin)
        return false;
    if (origin->neighbour == key->neighbour)
        return true;
    if (key->n_strides == 0 || key->strides[0].kind != PM_STRIDE_CONSTANT)
        return false;
    uint64_t reach = key->strides[0].bytes < 0 ? -(uint64_t)key->strides[0].bytes
                                               : (uint64_t)key->strides[0].bytes;
    uint64_t above = (uint64_t)key->anchor - (uint64_t)origin->low;
    uint64_t below = (uint64_t)origin->high - (uint64_t)key->anchor;
    return (key->anchor < origin->low || above < reach) &&
           (key->anchor > origin->high || below < reach);
}

static bool is_group_of(const struct pm_group *group, const struct origin *origin,
                        const struct pm_group_key *key) {
    if (group->scope != key->scope || group->flags != key->flags || !is_same_place(origin, key) ||
        group->n_strides != key->n_strides || !same_text(group->object, key->object) ||
        !same_text(group->object_type, key->object_type))
        return false;
    for (uint32_t i = 0; i < key->n_strides; i++)
        if (group->strides[i].kind != key->strides[i].kind ||
            group->strides[i].bytes != key->strides[i].bytes ||
            !same_text(group->strides[i].expression, key->strides[i].expression))
            return false;
    return true;
}

static char *copy_text(const char *text) { return text ? pm_strdup(text) : NULL; }

static void make_group(struct group_table *table, const struct pm_group_key *key) {
    const struct pm_structure *structure = table->structure;
    struct pm_group *group = PM_PUSH(table, groups);
    group->scope = key->scope;
    group->module = structure->routines[structure->scopes[key->scope].routine].module;
    group->object = copy_text(key->object);
    group->object_type = copy_text(key->object_type);
    group->flags = key->flags;
    group->n_strides = key->n_strides;
    group->strides = pm_alloc(key->n_strides, sizeof *group->strides);
    for (uint32_t i = 0; i < key->n_strides; i++)
        group->strides[i] = (struct pm_stride){key->strides[i].kind, key->strides[i].bytes,
                                               copy_text(key->strides[i].expression)};
}

/* Of several that may be the key's, the one that was made first. */
static uint32_t find_group(struct group_table *table, const struct pm_group_key *key) {
    uint64_t hash = hash_key(key);
    uint32_t found = PM_NONE;
    for (struct pm_map_entry at = pm_map_find(&table->map, hash); at.found;
         pm_map_next(&table->map, &at))
        if (at.item < found && is_group_of(&table->groups[at.item], &table->origins[at.item], key))
            found = at.item;
    if (found == PM_NONE) {
        found = (uint32_t)table->n_groups;
        make_group(table, key);
        *PM_PUSH(table, origins) =
            (struct origin){key->origin, key->neighbour, key->anchor, key->anchor};
        pm_map_add(&table->map, hash, found);
    }
    struct origin *origin = &table->origins[found];
    origin->low = key->anchor < origin->low ? key->anchor : origin->low;
    origin->high = key->anchor > origin->high ? key->anchor : origin->high;
    return found;
}

/* ---- references ------------------------------------------------------------------------------ */

static void add_reference(struct group_table *table, struct pm_describer *describer, uint32_t insn,
                          unsigned operand) {
    const struct pm_lifted *lifted = describer->lifted;
    const struct pm_memory_operand *memory = &lifted->insns[insn].memory[operand];
    struct pm_group_key key;
    pm_describe_operand(describer, insn, operand, &key);
    uint32_t number = find_group(table, &key);
    lifted->structure->references[lifted->insn_references[insn] + operand] =
        (struct pm_reference){.address = lifted->insns[insn].address,
                              .block = lifted->insn_block[insn],
                              .group = number,
                              .size_bytes = memory->size_bytes,
                              .access = memory->access,
                              .kind = memory->kind,
                              .operand = (uint8_t)operand};
    struct pm_group *group = &table->groups[number];
    if (group->n_loads + group->n_stores == 0 || memory->size_bytes < group->bytes_min)
        group->bytes_min = memory->size_bytes;
    if (memory->size_bytes > group->bytes_max)
        group->bytes_max = memory->size_bytes;
    group->n_loads += (memory->access & PM_ACCESS_LOAD) != 0;
    group->n_stores += (memory->access & PM_ACCESS_STORE) != 0;
}

/* What the routine of the C library that INSN calls loads and stores: from reference FIRST on. */
static void add_called(struct group_table *table, const struct pm_lifted *lifted, uint32_t insn,
                       uint32_t first) {
    static const struct {
        uint8_t operand, access;
    } parts[] = {{PM_OPERAND_CALLED_LOAD, PM_ACCESS_LOAD},
                 {PM_OPERAND_CALLED_STORE, PM_ACCESS_STORE}};
    const struct pm_called_routine *routine = pm_called_routine(lifted, &lifted->insns[insn]);
    struct pm_group_key key;
    pm_describe_called(lifted, insn, routine->name, &key);
    uint32_t number = find_group(table, &key);
    struct pm_group *group = &table->groups[number];
    group->bytes_min = group->bytes_max = 1u << routine->scale;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!(routine->access & parts[i].access))
            continue;
        lifted->structure->references[first++] =
            (struct pm_reference){.address = lifted->insns[insn].address,
                                  .block = lifted->insn_block[insn],
                                  .group = number,
                                  .size_bytes = 1u << routine->scale,
                                  .access = parts[i].access,
                                  .kind = PM_ACCESS_CALLED,
                                  .operand = parts[i].operand};
        group->n_loads += parts[i].access == PM_ACCESS_LOAD;
        group->n_stores += parts[i].access == PM_ACCESS_STORE;
    }
}

static void add_references(struct pm_lifted *lifted, const struct pm_batch *routines,
                           struct group_table *table) {
    struct pm_describer describer = {.lifted = lifted};
    uint32_t routine = PM_NONE, end = pm_batch_end_insn(lifted, routines);
    for (uint32_t i = pm_batch_first_insn(lifted, routines); i < end; i++) {
        const struct pm_insn *insn = &lifted->insns[i];
        uint32_t first = lifted->insn_references[i], behind = lifted->insn_references[i + 1];
        if (first == behind)
            continue;
        const struct pm_block *block = &lifted->structure->blocks[lifted->insn_block[i]];
        if (block->routine != routine) {
            routine = block->routine;
            pm_formulas_free(describer.formulas);
            describer.formulas = pm_formulas_new(lifted, routine);
        }
        for (unsigned k = 0; k < insn->n_memory; k++)
            add_reference(table, &describer, i, k);
        if (behind - first > insn->n_memory)
            add_called(table, lifted, i, first + insn->n_memory);
    }
    pm_formulas_free(describer.formulas);
    pm_map_free(&table->map);
    free(table->origins);
}

/* Puts the groups of a batch behind those of the batches before it. */
static void append(struct pm_lifted *lifted, const struct pm_batch *routines,
                   struct group_table *table) {
    struct pm_structure *structure = lifted->structure;
    uint32_t first_group = (uint32_t)structure->n_groups;
    uint32_t end = lifted->insn_references[pm_batch_end_insn(lifted, routines)];
    uint32_t r = lifted->insn_references[pm_batch_first_insn(lifted, routines)];
    for (; r < end; r++)
        structure->references[r].group += first_group;
    for (size_t g = 0; g < table->n_groups; g++)
        *PM_PUSH(structure, groups) = table->groups[g];
    free(table->groups);
}

void pm_build_groups(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    lifted->data_symbols = pm_data_symbols_new(&lifted->image);
    struct pm_batches routines = {0};
    pm_divide_routines(lifted, &routines);
    struct group_table *tables = pm_alloc(routines.n_items, sizeof *tables);
    structure->n_references = structure->cap_references = lifted->insn_references[lifted->n_insns];
    structure->references = pm_alloc(structure->n_references, sizeof *structure->references);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < routines.n_items; i++) {
        tables[i].structure = structure;
        add_references(lifted, &routines.items[i], &tables[i]);
    }
    for (size_t i = 0; i < routines.n_items; i++)
        append(lifted, &routines.items[i], &tables[i]);
    free(tables);
    free(routines.items);
}
