/* A value that is used behind its loop is that of the last iteration.  The number of that iteration
   follows from the comparison at the loop's only exit; else it is an atom, how often the loop went
   round. */
#include "binlift/formula/solver.h"

uint32_t pm_only_exit(const struct pm_formulas *f, uint32_t loop) {
    uint32_t found = PM_NONE;
    for (uint32_t e = 0; e < f->flow->n_edges; e++) {
        const struct pm_edge *edge = &f->flow->edges[e];
        if (edge->from == PM_NONE || edge->to == PM_NONE ||
            !pm_loop_is_in(f, f->structure->blocks[edge->from].loop, loop) ||
            pm_loop_is_in(f, f->structure->blocks[edge->to].loop, loop))
            continue;
        if (found != PM_NONE)
            return PM_NONE;
        found = e;
    }
    return found;
}

/* What the flags compare with zero where basic block BLOCK ends. */
static bool compared_at_end(struct pm_formulas *f, uint32_t block, struct pm_formula *compared) {
    const struct pm_block_code *code = &f->lifted->block_codes[block];
    for (uint32_t i = code->first_insn + code->n_insns; i-- > code->first_insn;) {
        struct pm_definition definitions[PM_MOST_DEFINITIONS];
        const struct pm_insn *insn = &f->lifted->insns[i];
        unsigned n = pm_is_call(insn->control)
                         ? 0
                         : f->lifted->isa->define(pm_insn_bytes(f->lifted, i), insn, definitions);
        for (unsigned k = 0; k < n; k++)
            if (definitions[k].place == PM_PLACE_FLAGS)
                return pm_formula_evaluate(f, i, &definitions[k], compared);
        if ((insn->registers->defs.general & PM_FLAGS_MASK) || pm_is_call(insn->control))
            return false;
    }
    return false;
}

static enum pm_condition opposite(enum pm_condition condition) {
    switch (condition) {
    case PM_IF_EQUAL:
        return PM_IF_NOT_EQUAL;
    case PM_IF_NOT_EQUAL:
        return PM_IF_EQUAL;
    case PM_IF_LESS:
        return PM_IF_GREATER_OR_EQUAL;
    case PM_IF_LESS_OR_EQUAL:
        return PM_IF_GREATER;
    case PM_IF_GREATER:
        return PM_IF_LESS_OR_EQUAL;
    case PM_IF_GREATER_OR_EQUAL:
        return PM_IF_LESS;
    default:
        return PM_IF_UNKNOWN;
    }
}

/* The condition under which EDGE, out of basic block `from`, is taken. */
static enum pm_condition condition_of(const struct pm_formulas *f, const struct pm_edge *edge) {
    const struct pm_block_code *code = &f->lifted->block_codes[edge->from];
    uint32_t last = code->first_insn + code->n_insns - 1;
    const struct pm_insn *insn = &f->lifted->insns[last];
    if (code->n_insns == 0 || insn->control != PM_CONTROL_BRANCH)
        return PM_IF_UNKNOWN;
    enum pm_condition taken = f->lifted->isa->condition(pm_insn_bytes(f->lifted, last), insn);
    return edge->kind == PM_EDGE_TAKEN ? taken : opposite(taken);
}

/* LOOP is left when rest + step · iteration meets CONDITION for the first time; the number of that
   iteration is −rest / step, or one more where equality does not leave. */
static bool solve_ending(struct pm_formulas *f, uint32_t loop, struct pm_ending *ending) {
    uint32_t exit = pm_only_exit(f, loop);
    struct pm_formula compared, rest, factor;
    int64_t step;
    if (exit == PM_NONE || !compared_at_end(f, f->flow->edges[exit].from, &compared))
        return false;
    enum pm_condition condition = condition_of(f, &f->flow->edges[exit]);
    uint32_t iteration = pm_atom(f, PM_ATOM_ITERATION, 0, 0, loop);
    compared = pm_formula_resolve(f, &compared);
    if (condition == PM_IF_UNKNOWN || !pm_sum_split(&compared, iteration, &rest, &factor) ||
        !pm_formula_constant(&factor, &step) || step == 0 || !pm_is_from_outside(f, &rest, loop))
        return false;
    bool rises = step > 0, one_more = false;
    switch (condition) {
    case PM_IF_EQUAL:
        break;
    case PM_IF_GREATER_OR_EQUAL:
    case PM_IF_GREATER:
        if (!rises)
            return false;
        one_more = condition == PM_IF_GREATER;
        break;
    case PM_IF_LESS_OR_EQUAL:
    case PM_IF_LESS:
        if (rises)
            return false;
        one_more = condition == PM_IF_LESS;
        break;
    default:
        return false;
    }
    struct pm_formula bound = pm_sum_constant(one_more && (step == 1 || step == -1) ? step : 0);
    if (!pm_formula_add(&bound, &rest, -1))
        return false;
    ending->bound = pm_store_formula(f, &bound);
    /* In other steps than one the last may lie beyond the bound: only that it is fixed is known. */
    ending->factor = condition == PM_IF_EQUAL || step == 1 || step == -1 ? step : 0;
    return true;
}

static struct pm_ending *ending_of(struct pm_formulas *f, uint32_t loop) {
    struct pm_ending *ending = &f->endings[loop - f->first_scope];
    if (ending->asked)
        return ending;
    ending->asked = true; /* while it is being found it is not known */
    uint32_t trips = pm_atom(f, PM_ATOM_TRIPS, loop, 0, pm_outer_loop(f->structure, loop));
    struct pm_ending found = {.asked = true, .trips = trips};
    ending->trips = trips;
    found.is_known = solve_ending(f, loop, &found);
    if (found.is_known) {
        struct pm_formula bound = pm_load_formula(f, found.bound);
        pm_atom_add_argument(f, trips, &bound);
    }
    *ending = found;
    return ending;
}

/* *SUM with the number of the last iteration of LOOP for that of the iteration. */
static bool put_last_iteration(struct pm_formulas *f, struct pm_formula *sum, uint32_t loop) {
    uint32_t iteration = pm_atom(f, PM_ATOM_ITERATION, 0, 0, loop);
    if (!pm_sum_has(sum, iteration))
        return true;
    struct pm_ending *ending = ending_of(f, loop);
    struct pm_formula rest, factor, bound, exact = {0}, inexact = {0}, product;
    if (!pm_sum_split(sum, iteration, &rest, &factor))
        return false;
    for (uint32_t i = 0; i < factor.n_terms; i++) {
        struct pm_formula term = {.n_terms = 1, .terms = {factor.terms[i]}};
        int64_t by = ending->factor;
        bool divides = ending->is_known && by != 0 &&
                       !(by == -1 && term.terms[0].factor == INT64_MIN) &&
                       term.terms[0].factor % by == 0;
        if (divides)
            term.terms[0].factor /= by;
        if (!pm_formula_add(divides ? &exact : &inexact, &term, 1))
            return false;
    }
    struct pm_formula trips = pm_sum_atom(ending->trips);
    *sum = rest;
    if (ending->is_known) {
        bound = pm_load_formula(f, ending->bound);
        bound = pm_formula_resolve(f, &bound);
        if (!pm_sum_multiply(&exact, &bound, &product) || !pm_formula_add(sum, &product, 1))
            return false;
    }
    return pm_sum_multiply(&inexact, &trips, &product) && pm_formula_add(sum, &product, 1);
}

/* A value at the same header that SUM depends on and that is being looked for; 0: none. */
uint32_t pm_busy_in(const struct pm_formulas *f, const struct pm_formula *sum, uint32_t loop) {
    for (uint32_t i = 0; i < sum->n_terms; i++)
        for (int k = 0; k < PM_TERM_ATOMS && sum->terms[i].atoms[k]; k++) {
            const struct pm_atom *atom = &f->atoms[sum->terms[i].atoms[k]];
            if (atom->kind == PM_ATOM_LOOP && atom->loop == loop &&
                f->values[atom->value].state == PM_VALUE_BUSY)
                return atom->value;
        }
    return 0;
}

/* SUM, of a value that VALUE in FROM has, as the loop TO outside of it sees it. */
struct pm_formula pm_formula_behind_loop(struct pm_formulas *f, struct pm_formula sum,
                                         uint32_t value, uint32_t from, uint32_t to) {
    for (; from != PM_NONE && !pm_loop_is_in(f, to, from);
         from = pm_outer_loop(f->structure, from)) {
        uint32_t parent = pm_outer_loop(f->structure, from);
        if (!put_last_iteration(f, &sum, from) || !pm_is_from_outside(f, &sum, from)) {
            uint32_t busy = pm_busy_in(f, &sum, from);
            if (busy) {
                f->n_provisional++;
                f->provisional_on = busy;
            }
            /* by its number a value has a name of its own */
            sum = pm_sum_atom(pm_atom(f, PM_ATOM_JOIN, value | UINT32_C(1) << 31,
                                      f->values[value].variable, parent));
        }
    }
    return sum;
}
