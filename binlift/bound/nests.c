/* Which loops become nests: of loops in each other the outermost that can be bounded as a whole. */
#include "binlift/bound/private.h"

#include <stdlib.h>

const char *pm_bound_refusal_text(uint8_t refusal) {
    static const char *const texts[PM_BOUND_N_REFUSALS] = {
        [PM_BOUND_POSSIBLE] = "can be bounded",
        [PM_BOUND_ENTRIES] = "is entered in several places",
        [PM_BOUND_CALLS] = "calls other routines",
        [PM_BOUND_JUMPS] = "jumps to addresses that are computed",
        [PM_BOUND_SYSTEM] = "has instructions of the system, or unknown ones",
        [PM_BOUND_ATOMIC] = "has atomic instructions",
        [PM_BOUND_GATHERS] = "gathers or scatters",
        [PM_BOUND_STRINGS] = "has string instructions",
        [PM_BOUND_PUSHES] = "moves the stack pointer",
        [PM_BOUND_FRAME] = "changes the frame pointer",
        [PM_BOUND_COUNTING] = "counts a register that hangs on what it loads",
        [PM_BOUND_FORMS] = "has an operand that no slot can take the place of",
    };
    return refusal < PM_BOUND_N_REFUSALS ? texts[refusal] : "is not bounded";
}

/* ---- reasons --------------------------------------------------------------------------------- */

/* Without a file of instruction classes all operations are unknown. */
static uint8_t refusal_of_operations(const struct pm_lifted *lifted, const struct pm_block *block) {
    const struct pm_structure *structure = lifted->structure;
    for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++)
        switch (structure->ops[i].op_class) {
        case PM_OP_ATOMIC:
            return PM_BOUND_ATOMIC;
        case PM_OP_STRING:
            return PM_BOUND_STRINGS;
        case PM_OP_CALL:
            return PM_BOUND_CALLS;
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
    if (pm_is_call(insn->control))
        return PM_BOUND_CALLS;
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
        if (insn->memory[i].implicit)
            return PM_BOUND_PUSHES;
    }
    return PM_BOUND_POSSIBLE;
}

static uint8_t refusal_of_blocks(const struct pm_nest_work *work) {
    const struct pm_lifted *lifted = work->lifted;
    uint8_t refusal = PM_BOUND_POSSIBLE;
    for (size_t i = 0; i < work->n_blocks && !refusal; i++) {
        const struct pm_block_code *code = &lifted->block_codes[work->blocks[i]];
        refusal = refusal_of_operations(lifted, &lifted->structure->blocks[work->blocks[i]]);
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns && !refusal; k++)
            refusal = refusal_of_instruction(&lifted->insns[k]);
    }
    return refusal;
}

/* Control comes to the header along edges, or where the routine is entered, and nowhere else. Loops
   in it may have several entries. */
static bool has_one_entry(const struct pm_nest_work *work) {
    const struct pm_structure *structure = work->lifted->structure;
    const struct pm_routine *routine = &structure->routines[work->routine];
    uint32_t header = structure->scopes[work->loop].header;
    if (pm_may_be_entered_anywhere(work->lifted, work->routine))
        return false;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        bool is_usual = edge->kind == PM_EDGE_ENTRY && edge->to == header;
        if (edge->from == PM_NONE && edge->to != PM_NONE && !is_usual &&
            pm_is_in_loop(structure, edge->to, work->loop))
            return false;
    }
    return !(structure->scopes[work->loop].flags & PM_SCOPE_IRREDUCIBLE);
}

/* ---- one loop -------------------------------------------------------------------------------- */

static void list_blocks(struct pm_nest_work *work) {
    const struct pm_structure *structure = work->lifted->structure;
    const struct pm_routine *routine = &structure->routines[work->routine];
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++)
        if (pm_is_in_loop(structure, b, work->loop))
            *PM_PUSH(work, blocks) = b;
}

/* Makes a nest of LOOP, or says why that cannot be. */
static uint8_t try_loop(const struct pm_lifted *lifted, struct pm_formulas *formulas, uint32_t loop,
                        struct pm_bound_plan *plan) {
    struct pm_nest_work work = {.lifted = lifted,
                                .formulas = formulas,
                                .loop = loop,
                                .routine = lifted->structure->scopes[loop].routine};
    list_blocks(&work);
    uint8_t refusal = has_one_entry(&work) ? refusal_of_blocks(&work) : PM_BOUND_ENTRIES;
    if (!refusal && !pm_bound_find_operands(&work))
        refusal = PM_BOUND_FRAME;
    if (!refusal && !pm_bound_find_tainted(&work))
        refusal = PM_BOUND_COUNTING;
    if (!refusal)
        pm_bound_add_nest(&work, plan);
    free(work.blocks);
    free(work.operands);
    free(work.replayed);
    return refusal;
}

/* ---- all loops ------------------------------------------------------------------------------- */

static int compare_nests(const void *left, const void *right) {
    const struct pm_bound_nest *a = left, *b = right;
    return PM_COMPARE(a->loop, b->loop);
}

/* A loop stands behind the loops around it: what is a nest covers those in it. */
struct pm_bound_plan *pm_plan_bounds(const struct pm_lifted *lifted, const bool *wanted) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_bound_plan *plan = pm_alloc(1, sizeof *plan);
    struct pm_formulas *formulas = NULL;
    uint32_t routine = PM_NONE;
    bool *covered = pm_alloc(structure->n_scopes, sizeof *covered);
    plan->refusals = pm_alloc(structure->n_scopes, sizeof *plan->refusals);
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++) {
        const struct pm_scope *s = &structure->scopes[scope];
        uint32_t outer = s->kind == PM_SCOPE_LOOP ? pm_outer_loop(structure, scope) : PM_NONE;
        if (s->kind != PM_SCOPE_LOOP || (wanted && !wanted[scope]))
            continue;
        if (outer != PM_NONE && covered[outer]) {
            covered[scope] = true;
            continue;
        }
        if (s->routine != routine) {
            pm_formulas_free(formulas);
            formulas = pm_formulas_new(lifted, s->routine);
            routine = s->routine;
        }
        plan->refusals[scope] = try_loop(lifted, formulas, scope, plan);
        covered[scope] = plan->refusals[scope] == PM_BOUND_POSSIBLE;
    }
    PM_SORT(plan->nests, plan->n_nests, compare_nests);
    pm_formulas_free(formulas);
    free(covered);
    return plan;
}

void pm_bound_plan_free(struct pm_bound_plan *plan) {
    if (!plan)
        return;
    free(plan->nests);
    free(plan->accesses);
    free(plan->slots);
    free(plan->replayed);
    free(plan->saved);
    free(plan->refusals);
    free(plan);
}
