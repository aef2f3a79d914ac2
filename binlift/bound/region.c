/* The basic blocks of a nest: those of its loop, and of all routines that are called from them.
   Blocks that the run never executed are left out: a copy ends where it comes to one. */
#include "binlift/bound/private.h"
#include "binlift/elf/elf.h"

#include <stdlib.h>

/* A call that takes longer than four events (measure/bounding/) does at an instruction a cycle is
   left to the loops of what is called, so that they have bounds of their own. */
enum { LONG_CALL = 16384, MOST_INSNS = 32768 };

/* ---- formulas -------------------------------------------------------------------------------- */

struct pm_formulas *pm_bound_formulas(const struct pm_nest_work *work, uint32_t routine) {
    struct pm_bound_search *search = work->search;
    for (size_t i = 0; i < search->n_formulas; i++)
        if (search->formulas[i].routine == routine)
            return search->formulas[i].formulas;
    struct pm_routine_formulas *made = PM_PUSH(search, formulas);
    *made = (struct pm_routine_formulas){routine, pm_formulas_new(search->lifted, routine)};
    return made->formulas;
}

void pm_bound_free_formulas(struct pm_bound_search *search) {
    for (size_t i = 0; i < search->n_formulas; i++)
        pm_formulas_free(search->formulas[i].formulas);
    free(search->formulas);
    search->formulas = NULL;
    search->n_formulas = search->cap_formulas = 0;
}

/* ---- what stands against a block ------------------------------------------------------------- */

/* Without a file of instruction classes all operations are unknown. */
static uint8_t refusal_of_operations(const struct pm_lifted *lifted, const struct pm_block *block) {
    const struct pm_structure *structure = lifted->structure;
    for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++)
        switch (structure->ops[i].op_class) {
        case PM_OP_ATOMIC:
            return PM_BOUND_ATOMIC;
        case PM_OP_STRING:
            return PM_BOUND_STRINGS;
        case PM_OP_SYSTEM:
            return PM_BOUND_SYSTEM;
        case PM_OP_UNKNOWN:
            if (lifted->classes)
                return PM_BOUND_SYSTEM;
            break;
        default:
            break;
        }
    return PM_BOUND_POSSIBLE;
}

static uint8_t refusal_of_instruction(const struct pm_insn *insn) {
    if (insn->control == PM_CONTROL_JUMP_INDIRECT)
        return PM_BOUND_JUMPS;
    if (insn->uses_unsupported)
        return PM_BOUND_SYSTEM;
    for (unsigned i = 0; i < insn->n_memory; i++) {
        if (insn->memory[i].kind == PM_ACCESS_GATHER_K ||
            insn->memory[i].kind == PM_ACCESS_GATHER_V)
            return PM_BOUND_GATHERS;
        if (insn->memory[i].kind == PM_ACCESS_STRING || insn->memory[i].stops_early)
            return PM_BOUND_STRINGS;
    }
    return PM_BOUND_POSSIBLE;
}

/* ---- what is called -------------------------------------------------------------------------- */

static bool is_callee(const struct pm_nest_work *work, uint32_t routine) {
    for (size_t i = 0; i < work->n_callees; i++)
        if (work->callees[i] == routine)
            return true;
    return false;
}

static uint8_t add_callee(struct pm_nest_work *work, uint32_t routine) {
    const struct pm_structure *structure = work->lifted->structure;
    if (routine == work->routine)
        return PM_BOUND_RECURSION;
    if (is_callee(work, routine))
        return PM_BOUND_POSSIBLE;
    if (structure->routines[routine].state != PM_ROUTINE_LIFTED ||
        structure->routines[routine].n_blocks == 0 ||
        pm_may_be_entered_anywhere(work->lifted, routine))
        return PM_BOUND_CALLS;
    if (work->search->per_call && work->search->per_call[routine] > LONG_CALL)
        return PM_BOUND_LONG;
    *PM_PUSH(work, callees) = routine;
    return PM_BOUND_POSSIBLE;
}

static uint8_t look_at_call(struct pm_nest_work *work, const struct pm_insn *insn) {
    uint32_t routine;
    unsigned n_stored;
    switch (pm_bound_call_of(work->lifted, insn, &routine, &n_stored)) {
    case PM_BOUND_NO_CALL:
        return PM_BOUND_POSSIBLE;
    case PM_BOUND_CALLS_INSIDE:
        return add_callee(work, routine);
    case PM_BOUND_CALLS_LIBRARY:
        work->n_library++;
        work->library_stores |= n_stored > 0;
        return PM_BOUND_POSSIBLE;
    default:
        return PM_BOUND_CALLS;
    }
}

/* A jump or branch of a callee that leaves it: a call in the place of a return.  In the nest's own
   routine it leaves the nest. */
static uint8_t look_at_jump(struct pm_nest_work *work, uint32_t block, const struct pm_insn *insn) {
    uint32_t own = work->lifted->structure->blocks[block].routine;
    bool jumps = insn->control == PM_CONTROL_JUMP || insn->control == PM_CONTROL_BRANCH ||
                 insn->control == PM_CONTROL_BRANCH_LOOP;
    if (own == work->routine || !jumps)
        return PM_BOUND_POSSIBLE;
    uint32_t routine = pm_routine_at(work->lifted, insn->target);
    if (routine == own)
        return PM_BOUND_POSSIBLE;
    if (routine == PM_NONE || work->lifted->structure->routines[routine].address != insn->target)
        return PM_BOUND_CALLS;
    return add_callee(work, routine);
}

static uint8_t add_block(struct pm_nest_work *work, uint32_t block) {
    const struct pm_lifted *lifted = work->lifted;
    const struct pm_block_code *code = &lifted->block_codes[block];
    if (!pm_bound_was_executed(work, block))
        return PM_BOUND_POSSIBLE;
    *PM_PUSH(work, blocks) = block;
    uint8_t refusal = refusal_of_operations(lifted, &lifted->structure->blocks[block]);
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns && !refusal; k++) {
        refusal = refusal_of_instruction(&lifted->insns[k]);
        if (!refusal)
            refusal = look_at_call(work, &lifted->insns[k]);
        if (!refusal)
            refusal = look_at_jump(work, block, &lifted->insns[k]);
    }
    return refusal;
}

/* ---- recursion ------------------------------------------------------------------------------- */

enum { NEW = 0, OPEN, DONE };

/* Does what INSN leads to come back to a routine that is open? */
static bool comes_back(const struct pm_nest_work *work, uint32_t routine, uint8_t *states) {
    const struct pm_structure *structure = work->lifted->structure;
    const struct pm_routine *r = &structure->routines[routine];
    if (states[routine] != NEW)
        return states[routine] == OPEN;
    states[routine] = OPEN;
    size_t i = PM_LOWER_BOUND(structure->n_calls, k, structure->calls[k].block < r->first_block);
    for (; i < structure->n_calls && structure->calls[i].block < r->first_block + r->n_blocks; i++)
        if (pm_bound_index(work, structure->calls[i].block) < work->n_blocks &&
            comes_back(work, structure->calls[i].routine, states))
            return true;
    states[routine] = DONE;
    return false;
}

static bool has_recursion(const struct pm_nest_work *work) {
    uint8_t *states = pm_alloc(work->lifted->structure->n_routines, sizeof *states);
    bool found = false;
    for (size_t i = 0; i < work->n_callees && !found; i++)
        found = comes_back(work, work->callees[i], states);
    free(states);
    return found;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static uint32_t count_insns(const struct pm_nest_work *work) {
    uint32_t n = 0;
    for (size_t i = 0; i < work->n_blocks; i++)
        n += work->lifted->block_codes[work->blocks[i]].n_insns;
    return n;
}

uint8_t pm_bound_find_region(struct pm_nest_work *work) {
    const struct pm_structure *structure = work->lifted->structure;
    const struct pm_routine *own = &structure->routines[work->routine];
    uint8_t refusal = PM_BOUND_POSSIBLE;
    for (uint32_t b = own->first_block; b < own->first_block + own->n_blocks && !refusal; b++)
        if (pm_is_in_loop(structure, b, work->loop))
            refusal = add_block(work, b);
    for (size_t i = 0; i < work->n_callees && !refusal; i++) {
        const struct pm_routine *callee = &structure->routines[work->callees[i]];
        for (uint32_t b = callee->first_block;
             b < callee->first_block + callee->n_blocks && !refusal; b++)
            refusal = add_block(work, b);
    }
    if (refusal || work->n_blocks == 0)
        return refusal ? refusal : PM_BOUND_UNUSED;
    PM_SORT(work->blocks, work->n_blocks, pm_compare_u32);
    if (has_recursion(work))
        return PM_BOUND_RECURSION;
    return count_insns(work) > MOST_INSNS ? PM_BOUND_LARGE : PM_BOUND_POSSIBLE;
}
