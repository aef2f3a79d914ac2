/* One structure of a program and its libraries, each lifted on its own: the items of a module go
   behind those of the modules before it, and every number that names another item grows by how many
   items of that kind there were.  Only the scope of the program is shared.  See structure.h. */
#include "core/structure/structure.h"

#include <stdlib.h>
#include <string.h>

/* How many items the modules before have; what is added to each number. */
struct shifts {
    uint32_t module, routine, part, block, edge, scope, reference, group, op, counter;
};

static void shift(uint32_t *number, uint32_t by) {
    if (*number != PM_NONE)
        *number += by;
}

/* The program's scope is the same one for all. */
static void shift_scope(uint32_t *scope, uint32_t by) {
    if (*scope != PM_NONE && *scope != 0)
        *scope += by;
}

/* ---- each kind of item ---------------------------------------------------------------------- */

static void shift_modules(struct pm_structure *from, const struct shifts *by) {
    for (size_t i = 0; i < from->n_modules; i++)
        shift_scope(&from->modules[i].scope, by->scope);
    for (size_t i = 0; i < from->n_routines; i++) {
        struct pm_routine *routine = &from->routines[i];
        shift(&routine->module, by->module);
        shift_scope(&routine->scope, by->scope);
        routine->first_part += by->part;
        routine->first_block += by->block;
        routine->first_edge += by->edge;
    }
    for (size_t i = 0; i < from->n_parts; i++)
        shift(&from->parts[i].routine, by->routine);
}

static void shift_flow(struct pm_structure *from, const struct shifts *by) {
    for (size_t i = 0; i < from->n_blocks; i++) {
        struct pm_block *block = &from->blocks[i];
        shift(&block->routine, by->routine);
        shift_scope(&block->scope, by->scope);
        shift_scope(&block->loop, by->scope);
        block->first_op += by->op;
        block->first_reference += by->reference;
    }
    for (size_t i = 0; i < from->n_edges; i++) {
        struct pm_edge *edge = &from->edges[i];
        shift(&edge->from, by->block);
        shift(&edge->to, by->block);
        shift(&edge->routine, by->routine);
        shift(&edge->counter, by->counter);
    }
}

static void shift_scopes(struct pm_structure *from, const struct shifts *by) {
    for (size_t i = 0; i < from->n_scopes; i++) {
        struct pm_scope *scope = &from->scopes[i];
        shift_scope(&scope->parent, by->scope);
        shift_scope(&scope->fold, by->scope);
        shift(&scope->routine, by->routine);
        shift(&scope->header, by->block);
    }
}

static void shift_data(struct pm_structure *from, const struct shifts *by) {
    for (size_t i = 0; i < from->n_references; i++) {
        shift(&from->references[i].block, by->block);
        shift(&from->references[i].group, by->group);
    }
    for (size_t i = 0; i < from->n_groups; i++) {
        shift_scope(&from->groups[i].scope, by->scope);
        shift(&from->groups[i].module, by->module);
    }
    for (size_t i = 0; i < from->n_ops; i++)
        shift(&from->ops[i].reference, by->reference);
    for (size_t i = 0; i < from->n_dependences; i++) {
        shift_scope(&from->dependences[i].scope, by->scope);
        shift(&from->dependences[i].from, by->reference);
        shift(&from->dependences[i].to, by->reference);
    }
    for (size_t i = 0; i < from->n_unknowns; i++)
        shift(&from->unknowns[i].block, by->block);
    for (size_t i = 0; i < from->n_assignments; i++) {
        shift(&from->assignments[i].op, by->op);
        shift(&from->assignments[i].callee, by->routine);
    }
    for (size_t i = 0; i < from->n_imports; i++)
        shift(&from->imports[i].block, by->block);
    for (size_t i = 0; i < from->n_calls; i++) {
        shift(&from->calls[i].block, by->block);
        shift(&from->calls[i].routine, by->routine);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* The mnemonics of FROM become numbers of INTO's, which takes over those that it lacks. */
static void move_mnemonics(struct pm_structure *into, struct pm_structure *from) {
    uint32_t *numbers = pm_alloc(from->n_mnemonics, sizeof *numbers);
    for (size_t i = 0; i < from->n_mnemonics; i++) {
        size_t at = 0;
        while (at < into->n_mnemonics && strcmp(into->mnemonics[at], from->mnemonics[i]) != 0)
            at++;
        if (at == into->n_mnemonics)
            *PM_PUSH(into, mnemonics) = from->mnemonics[i];
        else
            free(from->mnemonics[i]);
        numbers[i] = (uint32_t)at + 1;
    }
    for (size_t i = 0; i < from->n_ops; i++)
        if (from->ops[i].mnemonic)
            from->ops[i].mnemonic = numbers[from->ops[i].mnemonic - 1];
    from->n_mnemonics = 0;
    free(numbers);
}

/* Behind INTO's array NAME that of FROM, without its first SKIP items; FROM's is then empty. */
#define APPEND(into, from, name, skip)                                                             \
    do {                                                                                           \
        size_t n_##name##_new = (from)->n_##name - (skip);                                         \
        (into)->name =                                                                             \
            pm_realloc((into)->name, (into)->n_##name + n_##name##_new + 1, sizeof *(into)->name); \
        if (n_##name##_new)                                                                        \
            memcpy((into)->name + (into)->n_##name, (from)->name + (skip),                         \
                   n_##name##_new * sizeof *(into)->name);                                         \
        (into)->n_##name += n_##name##_new;                                                        \
        (into)->cap_##name = (into)->n_##name + 1;                                                 \
        (from)->n_##name = (skip);                                                                 \
    } while (0)

static void move_items(struct pm_structure *into, struct pm_structure *from) {
    move_mnemonics(into, from);
    APPEND(into, from, modules, 0);
    APPEND(into, from, routines, 0);
    APPEND(into, from, parts, 0);
    APPEND(into, from, blocks, 0);
    APPEND(into, from, edges, 0);
    APPEND(into, from, scopes, 1);
    APPEND(into, from, references, 0);
    APPEND(into, from, groups, 0);
    APPEND(into, from, ops, 0);
    APPEND(into, from, dependences, 0);
    APPEND(into, from, unknowns, 0);
    APPEND(into, from, calls, 0);
    APPEND(into, from, imports, 0);
    APPEND(into, from, assignments, 0);
    into->n_counters += from->n_counters;
    from->n_counters = 0;
}

static bool fits(size_t a, size_t b) { return a + b < PM_NONE; }

static bool can_be_appended(const struct pm_structure *into, const struct pm_structure *from,
                            struct pm_error *err) {
    const char *name = from->n_modules ? from->modules[0].name : "a module";
    if (into->isa && from->isa && strcmp(into->isa, from->isa) != 0)
        return pm_fail(err, "%s is for %s and the program for %s", name, from->isa, into->isa);
    if (!fits(into->n_routines, from->n_routines) || !fits(into->n_parts, from->n_parts) ||
        !fits(into->n_blocks, from->n_blocks) || !fits(into->n_edges, from->n_edges) ||
        !fits(into->n_scopes, from->n_scopes) || !fits(into->n_references, from->n_references) ||
        !fits(into->n_groups, from->n_groups) || !fits(into->n_ops, from->n_ops) ||
        !fits(into->n_counters, from->n_counters))
        return pm_fail(err, "%s: with it the program has too much code; measure fewer libraries",
                       name);
    return true;
}

bool pm_structure_append(struct pm_structure *into, struct pm_structure *from,
                         struct pm_module_place *place, struct pm_error *err) {
    if (!can_be_appended(into, from, err))
        return false;
    *place = (struct pm_module_place){
        .placement_hash = pm_placement_hash(from),
        .module = (uint32_t)into->n_modules,
        .first_routine = (uint32_t)into->n_routines,
        .first_counter = into->n_counters,
        .n_counters = from->n_counters,
        .first_reference = (uint32_t)into->n_references,
        .n_references = (uint32_t)from->n_references,
        .first_group = (uint32_t)into->n_groups,
        .n_groups = (uint32_t)from->n_groups,
        .first_block = (uint32_t)into->n_blocks,
        .n_blocks = (uint32_t)from->n_blocks,
        .first_scope = (uint32_t)into->n_scopes - 1,
        .n_scopes = (uint32_t)from->n_scopes,
    };
    into->hash = 0;
    if (!into->n_modules) { /* nothing to put it behind */
        struct pm_structure empty = *into;
        *into = *from;
        *from = empty;
        into->hash = 0;
        return true;
    }
    struct shifts by = {
        .module = place->module,
        .routine = place->first_routine,
        .part = (uint32_t)into->n_parts,
        .block = (uint32_t)into->n_blocks,
        .edge = (uint32_t)into->n_edges,
        .scope = place->first_scope,
        .reference = place->first_reference,
        .group = place->first_group,
        .op = (uint32_t)into->n_ops,
        .counter = place->first_counter,
    };
    shift_modules(from, &by);
    shift_flow(from, &by);
    shift_scopes(from, &by);
    shift_data(from, &by);
    move_items(into, from);
    return true;
}
