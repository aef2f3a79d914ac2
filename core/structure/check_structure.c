/* Checks a structure that came from a file before anyone follows its indices; see
   private.h.  Assumes nothing about the values. */
#include "core/structure/private.h"

#include <math.h>

#include "core/probe_abi.h"

static bool damaged(struct pm_error *err, const char *what, size_t index) {
    return pm_fail(err,
                   "the program's structure is damaged: %s %zu names something that is not "
                   "there; measure the program again into a new store",
                   what, index);
}

static bool is_index(uint32_t index, size_t n) { return index < n; }
static bool is_index_or_none(uint32_t index, size_t n) { return index == PM_NONE || index < n; }
static bool is_range(uint32_t first, uint32_t count, size_t n) {
    return (uint64_t)first + count <= n;
}

static bool check_scopes(const struct pm_structure *s, struct pm_error *err) {
    if (s->n_scopes == 0 || s->scopes[0].kind != PM_SCOPE_PROGRAM)
        return damaged(err, "scope", 0);
    for (size_t i = 0; i < s->n_scopes; i++) {
        const struct pm_scope *scope = &s->scopes[i];
        bool parent_good = i == 0 ? scope->parent == PM_NONE : scope->parent < i;
        if (!parent_good || scope->kind > PM_SCOPE_INLINED ||
            (scope->kind == PM_SCOPE_PROGRAM) != (i == 0) || !is_index(scope->fold, s->n_scopes) ||
            !is_index_or_none(scope->routine, s->n_routines) ||
            !is_index_or_none(scope->header, s->n_blocks))
            return damaged(err, "scope", i);
        const struct pm_scope *shown = &s->scopes[scope->fold];
        if (shown->fold != scope->fold || shown->parent != scope->parent)
            return damaged(err, "scope", i);
    }
    return true;
}

static bool check_routines(const struct pm_structure *s, struct pm_error *err) {
    for (size_t i = 0; i < s->n_modules; i++) {
        const struct pm_module *module = &s->modules[i];
        if (!module->path || !module->name || !is_index(module->scope, s->n_scopes) ||
            module->build_id_bytes > sizeof module->build_id)
            return damaged(err, "module", i);
    }
    for (size_t i = 0; i < s->n_routines; i++) {
        const struct pm_routine *routine = &s->routines[i];
        if (!routine->name || !is_index(routine->module, s->n_modules) ||
            !is_index(routine->scope, s->n_scopes) || routine->state > PM_ROUTINE_REFUSED ||
            !is_range(routine->first_part, routine->n_parts, s->n_parts) ||
            !is_range(routine->first_block, routine->n_blocks, s->n_blocks) ||
            !is_range(routine->first_edge, routine->n_edges, s->n_edges))
            return damaged(err, "routine", i);
        /* Items of one routine are contiguous: its range holds its own only. */
        for (uint32_t p = 0; p < routine->n_parts; p++)
            if (s->parts[routine->first_part + p].routine != i)
                return damaged(err, "part", routine->first_part + p);
        for (uint32_t b = 0; b < routine->n_blocks; b++)
            if (s->blocks[routine->first_block + b].routine != i)
                return damaged(err, "basic block", routine->first_block + b);
        for (uint32_t e = 0; e < routine->n_edges; e++)
            if (s->edges[routine->first_edge + e].routine != i)
                return damaged(err, "edge", routine->first_edge + e);
    }
    return true;
}

static bool is_block_of(const struct pm_routine *routine, uint32_t block) {
    return block == PM_NONE ||
           (block >= routine->first_block && block - routine->first_block < routine->n_blocks);
}

static bool check_flow(const struct pm_structure *s, struct pm_error *err) {
    for (size_t i = 0; i < s->n_blocks; i++) {
        const struct pm_block *block = &s->blocks[i];
        if (!is_index(block->routine, s->n_routines) || !is_index(block->scope, s->n_scopes) ||
            !is_index_or_none(block->loop, s->n_scopes) ||
            (block->loop != PM_NONE && s->scopes[block->loop].kind != PM_SCOPE_LOOP) ||
            !is_range(block->first_op, block->n_ops, s->n_ops) ||
            !is_range(block->first_reference, block->n_references, s->n_references))
            return damaged(err, "basic block", i);
    }
    for (size_t i = 0; i < s->n_edges; i++) {
        const struct pm_edge *edge = &s->edges[i];
        if (!is_index(edge->routine, s->n_routines) || edge->kind > PM_EDGE_INDIRECT_ENTRY ||
            (edge->from == PM_NONE && edge->to == PM_NONE) ||
            !is_block_of(&s->routines[edge->routine], edge->from) ||
            !is_block_of(&s->routines[edge->routine], edge->to) ||
            !is_index_or_none(edge->counter, s->n_counters) || !isfinite(edge->weight))
            return damaged(err, "edge", i);
    }
    return true;
}

static bool check_strides(const struct pm_group *group) {
    for (uint32_t level = 0; level < group->n_strides; level++)
        if (group->strides[level].kind > PM_STRIDE_INDIRECT)
            return false;
    return true;
}

static bool is_general(uint8_t number) {
    return number < PM_N_GENERAL_REGISTERS || number == PM_REGISTER_NONE;
}

static bool is_address(const struct pm_reference *reference) {
    return !reference->has_address || (is_general(reference->base) && is_general(reference->index));
}

static bool check_references(const struct pm_structure *s, struct pm_error *err) {
    for (size_t i = 0; i < s->n_references; i++) {
        const struct pm_reference *reference = &s->references[i];
        if (!is_index(reference->block, s->n_blocks) || !is_index(reference->group, s->n_groups) ||
            reference->access < PM_ACCESS_LOAD || reference->access > PM_ACCESS_BOTH ||
            reference->kind > PM_ACCESS_BIT || !is_address(reference))
            return damaged(err, "reference", i);
    }
    for (size_t i = 0; i < s->n_groups; i++) {
        const struct pm_group *group = &s->groups[i];
        if (!is_index(group->scope, s->n_scopes) || !is_index(group->module, s->n_modules) ||
            !check_strides(group))
            return damaged(err, "reference group", i);
    }
    return true;
}

static bool is_register(uint8_t number) { return number < 128 || number == PM_REGISTER_NONE; }

static bool check_ops(const struct pm_structure *s, struct pm_error *err) {
    for (size_t i = 0; i < s->n_ops; i++) {
        const struct pm_op *op = &s->ops[i];
        bool good = op->op_class < PM_N_OP_CLASSES &&
                    is_index_or_none(op->reference, s->n_references) &&
                    op->mnemonic <= s->n_mnemonics;
        for (int k = 0; k < PM_OP_N_DEFS; k++)
            good &= is_register(op->defs[k]);
        for (int k = 0; k < PM_OP_N_USES; k++)
            good &= is_register(op->uses[k]);
        if (!good)
            return damaged(err, "operation", i);
    }
    for (size_t i = 0; i < s->n_mnemonics; i++)
        if (!s->mnemonics[i])
            return damaged(err, "mnemonic", i);
    return true;
}

static bool check_unknowns(const struct pm_structure *s, struct pm_error *err) {
    for (size_t i = 0; i < s->n_unknowns; i++)
        if (!is_index(s->unknowns[i].block, s->n_blocks) || !s->unknowns[i].mnemonic ||
            (i && s->unknowns[i].block < s->unknowns[i - 1].block))
            return damaged(err, "instruction without a class", i);
    return true;
}

static bool check_calls(const struct pm_structure *s, struct pm_error *err) {
    for (size_t i = 0; i < s->n_calls; i++)
        if (!is_index(s->calls[i].block, s->n_blocks) ||
            !is_index(s->calls[i].routine, s->n_routines) ||
            (i && s->calls[i].block < s->calls[i - 1].block))
            return damaged(err, "call", i);
    for (size_t i = 0; i < s->n_imports; i++)
        if (!is_index(s->imports[i].block, s->n_blocks) || !s->imports[i].symbol ||
            (i && s->imports[i].block < s->imports[i - 1].block))
            return damaged(err, "call of another file", i);
    return true;
}

static bool check_assignments(const struct pm_structure *s, struct pm_error *err) {
    for (size_t i = 0; i < s->n_assignments; i++) {
        const struct pm_assignment *a = &s->assignments[i];
        bool good = is_index(a->op, s->n_ops) && is_index_or_none(a->callee, s->n_routines) &&
                    a->n_terms <= PM_MOST_ASSIGNED &&
                    (a->place < PM_N_GENERAL_REGISTERS || a->place == PM_ASSIGNED_MEMORY ||
                     a->place == PM_ASSIGNED_CALL) &&
                    (i == 0 || a->op >= s->assignments[i - 1].op);
        for (unsigned t = 0; t < a->n_terms && good; t++)
            good = a->places[t] < PM_N_GENERAL_REGISTERS || a->places[t] == PM_ASSIGNED_MEMORY;
        if (!good)
            return damaged(err, "assignment", i);
    }
    return true;
}

static bool check_dependences(const struct pm_structure *s, struct pm_error *err) {
    for (size_t i = 0; i < s->n_dependences; i++) {
        const struct pm_dependence *d = &s->dependences[i];
        bool is_for_all = d->from == PM_NONE && d->to == PM_NONE;
        if (!is_index(d->scope, s->n_scopes) || s->scopes[d->scope].kind != PM_SCOPE_LOOP ||
            (i > 0 && d->scope < s->dependences[i - 1].scope) ||
            !(is_for_all ||
              (is_index(d->from, s->n_references) && is_index(d->to, s->n_references))) ||
            (d->kind != PM_DEPENDS_UNKNOWN && (d->kind != PM_DEPENDS_SAME || is_for_all)))
            return damaged(err, "dependence", i);
    }
    return true;
}

bool pm_structure_check(const struct pm_structure *structure, struct pm_error *err) {
    return check_scopes(structure, err) && check_routines(structure, err) &&
           check_flow(structure, err) && check_references(structure, err) &&
           check_ops(structure, err) && check_dependences(structure, err) &&
           check_unknowns(structure, err) && check_calls(structure, err) &&
           check_assignments(structure, err);
}
