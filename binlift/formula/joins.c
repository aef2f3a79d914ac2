/* Where values meet.  The value that a register has at a loop's header is an induction variable if
   every way round the loop adds the same invariant sum to it:

       value = value at the loop's entry + sum · number of the iteration

   or if it is what another induction variable was one iteration before.  Where it follows no rule
   it is an atom.  Elsewhere what all paths bring alike stays in the formula, and the rest is an
   atom. */
#include "binlift/formula/solver.h"

#include <string.h>

enum { MOST_ATTEMPTS = 4, MOST_INCOMING = 4 };

/* The loop at whose header V stands, PM_NONE if it is another meeting. */
uint32_t pm_loop_of_join(const struct pm_formulas *f, const struct pm_ssa_value *v) {
    uint32_t loop = pm_loop_of_block(f, v->where);
    if (loop == PM_NONE || f->structure->scopes[loop].header != v->where ||
        (f->structure->scopes[loop].flags & PM_SCOPE_IRREDUCIBLE))
        return PM_NONE;
    return loop;
}

/* The formulas that the edges into a value's basic block bring. */
struct incoming {
    uint32_t n;
    struct pm_formula formulas[MOST_INCOMING]; /* different ones */
};

/* As the loop SEEN_FROM sees them; those from inside LOOP if INSIDE, else the others (LOOP PM_NONE:
   all).  False: one is not known, or there are too many. */
static bool find_incoming(struct pm_formulas *f, uint32_t value, uint32_t loop, bool inside,
                          uint32_t seen_from, struct incoming *incoming) {
    struct pm_ssa_value v = f->values[value];
    uint32_t vertex = v.where - f->first_block, last = PM_NONE;
    incoming->n = 0;
    for (uint32_t k = f->flow->first_in[vertex]; k < f->flow->first_in[vertex + 1]; k++) {
        uint32_t e = f->flow->in[k], from = pm_flow_from(f->flow, e), brought;
        if (from == f->flow->entry) {
            if (loop != PM_NONE && inside)
                continue;
            if (f->flow->edges[e].kind != PM_EDGE_ENTRY)
                return false;
            brought = f->entry_values[v.variable];
        } else {
            if (f->position[from] == PM_NONE ||
                (loop != PM_NONE &&
                 pm_loop_is_in(f, pm_loop_of_block(f, f->first_block + from), loop) != inside))
                continue;
            brought = pm_value_at_end(f, from, v.variable);
        }
        if (brought == last)
            continue;
        last = brought;
        struct pm_formula next = pm_formula_of_value(f, brought, seen_from);
        bool is_new = true;
        for (uint32_t i = 0; i < incoming->n; i++)
            is_new &= !pm_sum_equal(&incoming->formulas[i], &next);
        if (is_new && incoming->n == MOST_INCOMING)
            return false;
        if (is_new)
            incoming->formulas[incoming->n++] = next;
    }
    return incoming->n > 0;
}

/* Joins different formulas: their common terms, plus an atom in LOOP for the rest. */
static struct pm_formula join_incoming(struct pm_formulas *f, uint32_t value,
                                       struct incoming *incoming, uint32_t loop) {
    struct pm_formula common = {0};
    for (uint32_t i = 0; i < incoming->n; i++)
        incoming->formulas[i] = pm_formula_resolve(f, &incoming->formulas[i]);
    for (uint32_t t = 0; t < incoming->formulas[0].n_terms; t++) {
        struct pm_formula term = {.n_terms = 1, .terms = {incoming->formulas[0].terms[t]}};
        bool in_all = true;
        for (uint32_t i = 1; i < incoming->n; i++) {
            bool is_there = false;
            for (uint32_t k = 0; k < incoming->formulas[i].n_terms; k++)
                is_there |= memcmp(&incoming->formulas[i].terms[k], &term.terms[0],
                                   sizeof term.terms[0]) == 0;
            in_all &= is_there;
        }
        if (in_all)
            pm_formula_add(&common, &term, 1);
    }
    uint32_t atom =
        pm_atom(f, PM_ATOM_JOIN, f->values[value].where, f->values[value].variable, loop);
    if (common.n_terms == PM_FORMULA_TERMS)
        return pm_sum_atom(atom);
    f->atoms[atom].value = value;
    for (uint32_t i = 0; i < incoming->n; i++) {
        pm_formula_add(&incoming->formulas[i], &common, -1);
        if (f->atoms[atom].n_arguments < incoming->n)
            pm_atom_add_argument(f, atom, &incoming->formulas[i]);
    }
    struct pm_formula joined = pm_sum_atom(atom);
    pm_formula_add(&joined, &common, 1);
    return joined;
}

struct pm_formula pm_formula_initial(struct pm_formulas *f, uint32_t value) {
    struct pm_ssa_value v = f->values[value];
    struct incoming incoming;
    uint32_t loop = pm_loop_of_join(f, &v), parent = pm_outer_loop(f->structure, loop);
    if (!find_incoming(f, value, loop, false, parent, &incoming))
        return pm_sum_atom(pm_atom(f, PM_ATOM_JOIN, v.where, v.variable, parent));
    return incoming.n == 1 ? incoming.formulas[0] : join_incoming(f, value, &incoming, parent);
}

/* value = initial + step · iteration, in LOOP, given what one time round makes of it. */
static bool solve(struct pm_formulas *f, uint32_t loop, uint32_t atom,
                  const struct pm_formula *initial, const struct pm_formula *round,
                  struct pm_formula *solution) {
    struct pm_formula rest, factor, start, one = pm_sum_constant(1);
    struct pm_formula iteration = pm_sum_atom(pm_atom(f, PM_ATOM_ITERATION, 0, 0, loop)), moved;
    if (!pm_sum_split(round, atom, &rest, &factor))
        return false;
    *solution = *initial;
    if (pm_sum_equal(&factor, &one)) {
        return pm_is_from_outside(f, &rest, loop) && pm_sum_multiply(&rest, &iteration, &moved) &&
               pm_formula_add(solution, &moved, 1);
    }
    /* What another was one iteration before, if that holds for the first iteration as well. */
    if (factor.n_terms || !pm_sum_split(round, iteration.terms[0].atoms[0], &rest, &factor) ||
        !pm_is_from_outside(f, &rest, loop) || !pm_is_from_outside(f, &factor, loop))
        return false;
    start = rest;
    return pm_formula_add(&start, &factor, -1) && pm_sum_equal(&start, initial) &&
           pm_sum_multiply(&factor, &iteration, &moved) && pm_formula_add(solution, &moved, 1);
}

/* What was last met as provisional waits for a value other than VALUE. */
bool pm_is_busy_other(const struct pm_formulas *f, uint32_t value) {
    return f->provisional_on != value && f->values[f->provisional_on].state == PM_VALUE_BUSY;
}

/* At a loop's header.  The value is busy meanwhile. */
static struct pm_formula formula_at_header(struct pm_formulas *f, uint32_t value, uint32_t loop) {
    uint32_t atom =
        pm_atom(f, PM_ATOM_LOOP, f->values[value].where, f->values[value].variable, loop);
    f->atoms[atom].value = value;
    unsigned n_provisional = f->n_provisional;
    struct pm_formula initial = pm_formula_initial(f, value), round = {0}, solution;
    struct incoming incoming;
    bool is_agreed = find_incoming(f, value, loop, true, loop, &incoming) && incoming.n == 1;
    if (is_agreed) {
        round = pm_formula_resolve(f, &incoming.formulas[0]);
        initial = pm_formula_resolve(f, &initial);
        if (solve(f, loop, atom, &initial, &round, &solution)) {
            f->atoms[atom].solution = pm_store_formula(f, &solution);
            f->atoms[atom].is_solved = true;
            f->n_known++;
            return solution;
        }
    }
    struct pm_formula others, factor;
    uint32_t blocker = 0;
    if (++f->values[value].attempts < MOST_ATTEMPTS) {
        if (f->n_provisional != n_provisional && pm_is_busy_other(f, value))
            blocker = f->provisional_on;
        else if (is_agreed && pm_sum_split(&round, atom, &others, &factor))
            blocker = pm_busy_in(f, &others, loop);
    }
    f->values[value].blocker = blocker; /* to be tried again when that one is found */
    f->values[value].state = blocker ? PM_VALUE_NEW : PM_VALUE_DONE;
    if (!blocker && is_agreed && f->atoms[atom].n_arguments == 0)
        pm_atom_add_argument(f, atom, &round), f->n_known++;
    return pm_sum_atom(atom);
}

struct pm_formula pm_formula_of_join(struct pm_formulas *f, uint32_t value) {
    struct pm_ssa_value v = f->values[value];
    uint32_t loop = pm_loop_of_join(f, &v);
    if (loop != PM_NONE)
        return formula_at_header(f, value, loop);
    struct incoming incoming;
    uint32_t around = pm_loop_of_block(f, v.where);
    uint32_t atom = pm_atom(f, PM_ATOM_JOIN, v.where, v.variable, around);
    f->atoms[atom].value = value;
    if (!find_incoming(f, value, PM_NONE, true, around, &incoming))
        return pm_sum_atom(atom);
    if (v.is_cyclic) { /* irreducible: only if nothing but itself comes round */
        struct pm_formula own = pm_sum_atom(atom);
        uint32_t n = 0;
        for (uint32_t i = 0; i < incoming.n; i++)
            if (!pm_sum_equal(&incoming.formulas[i], &own))
                incoming.formulas[n++] = incoming.formulas[i];
        return n == 1 && !pm_sum_has(&incoming.formulas[0], atom) ? incoming.formulas[0] : own;
    }
    return incoming.n == 1 ? incoming.formulas[0] : join_incoming(f, value, &incoming, around);
}
