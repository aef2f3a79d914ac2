/* Which loops become nests: of loops in each other the outermost that can be bounded as a whole. */
#include "binlift/bound/private.h"
#include "core/profile.h"

#include <stdlib.h>

const char *pm_bound_refusal_text(uint8_t refusal) {
    static const char *const texts[PM_BOUND_N_REFUSALS] = {
        [PM_BOUND_POSSIBLE] = "can be bounded",
        [PM_BOUND_ENTRIES] = "is entered in several places",
        [PM_BOUND_CALLS] = "calls other routines",
        [PM_BOUND_LONG] = "calls routines that run long",
        [PM_BOUND_RECURSION] = "calls a routine that calls itself",
        [PM_BOUND_LARGE] = "has too many instructions with all that it calls",
        [PM_BOUND_UNUSED] = "was not executed",
        [PM_BOUND_JUMPS] = "jumps to addresses that are computed",
        [PM_BOUND_SYSTEM] = "has instructions of the system, or unknown ones",
        [PM_BOUND_ATOMIC] = "has atomic instructions",
        [PM_BOUND_GATHERS] = "gathers or scatters",
        [PM_BOUND_STRINGS] = "has string instructions",
        [PM_BOUND_FRAME] = "moves the stack pointer or the frame pointer",
        [PM_BOUND_COUNTING] = "counts a register that hangs on what it loads",
        [PM_BOUND_FORMS] = "has an operand that no slot can take the place of",
    };
    return refusal < PM_BOUND_N_REFUSALS ? texts[refusal] : "is not bounded";
}

/* ---- one loop -------------------------------------------------------------------------------- */

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

/* Makes a nest of LOOP, or says why that cannot be. */
static uint8_t try_loop(struct pm_bound_search *search, uint32_t loop, struct pm_bound_plan *plan) {
    struct pm_nest_work work = {.lifted = search->lifted,
                                .search = search,
                                .loop = loop,
                                .routine = search->lifted->structure->scopes[loop].routine};
    uint8_t refusal = has_one_entry(&work) ? pm_bound_find_region(&work) : PM_BOUND_ENTRIES;
    if (!refusal && !pm_bound_find_operands(&work))
        refusal = PM_BOUND_FRAME;
    if (!refusal && !pm_bound_find_tainted(&work))
        refusal = PM_BOUND_COUNTING;
    if (!refusal)
        pm_bound_add_nest(&work, plan);
    free(work.callees);
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

/* Instructions of a call of each routine. */
static double *instructions_per_call(const struct pm_structure *structure,
                                     const double *edge_counts, const double *executed) {
    double *own = pm_alloc(structure->n_routines + 1, sizeof *own);
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        own[structure->blocks[b].routine] += executed[b] * structure->blocks[b].n_instructions;
    double *per_call = pm_bound_per_call(structure, edge_counts, own);
    free(own);
    return per_call;
}

/* Loops come after the loops around them, so that a nest covers its inner loops. */
static void try_loops(struct pm_bound_search *search, const bool *wanted,
                      struct pm_bound_plan *plan) {
    const struct pm_structure *structure = search->lifted->structure;
    uint32_t routine = PM_NONE;
    bool *covered = pm_alloc(structure->n_scopes, sizeof *covered);
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++) {
        const struct pm_scope *s = &structure->scopes[scope];
        uint32_t outer = s->kind == PM_SCOPE_LOOP ? pm_outer_loop(structure, scope) : PM_NONE;
        if (s->kind != PM_SCOPE_LOOP || (wanted && !wanted[scope]))
            continue;
        if (outer != PM_NONE && covered[outer]) {
            covered[scope] = true;
            continue;
        }
        if (s->routine != routine)
            pm_bound_free_formulas(search);
        routine = s->routine;
        plan->refusals[scope] = try_loop(search, scope, plan);
        covered[scope] = plan->refusals[scope] == PM_BOUND_POSSIBLE;
    }
    pm_bound_free_formulas(search);
    free(covered);
}

/* Of a reference, and of a branch, that several nests have, the first is recorded. */
static void find_recorded(const struct pm_lifted *lifted, struct pm_bound_plan *plan) {
    uint32_t *accesses = pm_alloc(lifted->structure->n_references + 1, sizeof *accesses);
    uint32_t *branches = pm_alloc(lifted->n_insns + 1, sizeof *branches); /* 0: none yet */
    for (uint32_t i = 0; i < plan->n_accesses; i++) {
        struct pm_bound_access *access = &plan->accesses[i];
        access->recorded = PM_NONE;
        if (pm_bound_slot_of(access) == PM_NONE)
            continue;
        if (!accesses[access->reference])
            accesses[access->reference] = i + 1;
        access->recorded = accesses[access->reference] - 1;
    }
    for (uint32_t i = 0; i < plan->n_replayed; i++) {
        if (!branches[plan->replayed[i]])
            branches[plan->replayed[i]] = i + 1;
        *PM_PUSH(plan, recorded_branches) = branches[plan->replayed[i]] - 1;
    }
    free(accesses);
    free(branches);
}

struct pm_bound_plan *pm_plan_bounds(const struct pm_lifted *lifted,
                                     const struct pm_bound_wishes *wishes) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_bound_plan *plan = pm_alloc(1, sizeof *plan);
    double *executed = NULL, *per_call = NULL;
    plan->refusals = pm_alloc(structure->n_scopes, sizeof *plan->refusals);
    if (wishes->edge_counts) {
        executed = pm_block_executions(structure, wishes->edge_counts);
        per_call = instructions_per_call(structure, wishes->edge_counts, executed);
    }
    struct pm_bound_search search = {.lifted = lifted, .executed = executed, .per_call = per_call};
    try_loops(&search, wishes->wanted, plan);
    PM_SORT(plan->nests, plan->n_nests, compare_nests);
    find_recorded(lifted, plan);
    free(executed);
    free(per_call);
    return plan;
}

void pm_bound_plan_free(struct pm_bound_plan *plan) {
    if (!plan)
        return;
    free(plan->nests);
    free(plan->blocks);
    free(plan->accesses);
    free(plan->slots);
    free(plan->replayed);
    free(plan->recorded_branches);
    free(plan->saved);
    free(plan->refusals);
    free(plan);
}
