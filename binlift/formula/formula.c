/* From definitions to access formulas; see formula.h and, for the method, Marin & Mellor-Crummey
   2004, section 2.1.  Needs the scope tree.

   A value is followed back through its definitions (define_values.c); where several meet, to what
   each way brings (joins.c); and seen from outside of its loop it is that of the last
   iteration (loop_exits.c).  While it is being found it is an atom.  What has too many terms, or
   too long a chain of definitions, is an atom of its own. */
#include "binlift/formula/solver.h"

#include <stdlib.h>

enum { MOST_ROUNDS = 16, MOST_DISCARDED = 4096 };

/* ---- making ready ---------------------------------------------------------------------------- */

struct pm_formulas *pm_formulas_new(const struct pm_lifted *lifted, uint32_t routine) {
    struct pm_formulas *f = pm_alloc(1, sizeof *f);
    f->lifted = lifted;
    f->structure = lifted->structure;
    f->routine = &f->structure->routines[routine];
    f->code = &lifted->routine_codes[routine];
    f->number = routine;
    f->first_block = f->routine->first_block;
    f->first_scope = f->routine->scope;
    uint32_t end = f->first_scope;
    while (end < f->structure->n_scopes && f->structure->scopes[end].routine == routine)
        end++;
    f->n_scopes = end - f->first_scope;
    f->frame_pointer = -1;
    return f;
}

static void make_ready(struct pm_formulas *f) {
    if (f->is_ready)
        return;
    f->is_ready = true;
    f->flow = pm_flow_new(f->structure, f->number);
    f->order = pm_alloc(f->flow->n_vertices, sizeof *f->order);
    f->position = pm_alloc(f->flow->n_vertices, sizeof *f->position);
    f->n_order = pm_flow_order(f->flow, f->order, f->position);
    f->endings = pm_alloc(f->n_scopes, sizeof *f->endings);
    pm_find_frame(f);
    pm_find_values(f);
}

bool pm_formula_frame_place(struct pm_formulas *f, uint32_t insn, unsigned operand,
                            int64_t *place) {
    make_ready(f);
    const struct pm_frame_access *access = pm_frame_access_of(f, insn, operand);
    if (access)
        *place = access->offset;
    return access != NULL;
}

void pm_formulas_free(struct pm_formulas *f) {
    if (!f)
        return;
    pm_flow_free(f->flow);
    free(f->order);
    free(f->position);
    free(f->accesses);
    free(f->slots);
    free(f->values);
    free(f->entry_values);
    free(f->in);
    free(f->out);
    free(f->changed);
    free(f->terms);
    free(f->atoms);
    free(f->arguments);
    pm_map_free(&f->atom_map);
    free(f->endings);
    for (size_t i = 0; i < f->n_texts; i++)
        free(f->texts[i]);
    free(f->texts);
    free(f);
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint32_t loop_of_value(const struct pm_formulas *f, const struct pm_ssa_value *v) {
    if (v->kind == PM_VALUE_INSN)
        return pm_loop_of_insn(f, v->where);
    return v->kind == PM_VALUE_JOIN ? pm_loop_of_block(f, v->where) : PM_NONE;
}

/* An atom that stands for a value that is unknown, or still being computed. */
static struct pm_formula formula_unknown(struct pm_formulas *f, uint32_t value) {
    struct pm_ssa_value *v = &f->values[value];
    uint32_t around = loop_of_value(f, v);
    if (value == 0)
        return pm_sum_atom(pm_atom(f, PM_ATOM_JOIN, PM_NONE, 0, f->routine->scope));
    if (v->kind == PM_VALUE_ENTRY)
        return pm_sum_atom(pm_atom(f, PM_ATOM_ENTRY, 0, v->variable, PM_NONE));
    if (v->kind == PM_VALUE_INSN)
        return pm_sum_atom(pm_atom(f, PM_ATOM_RESULT, v->where, v->variable, around));
    uint32_t loop = pm_loop_of_join(f, v);
    uint32_t atom =
        pm_atom(f, loop == PM_NONE ? PM_ATOM_JOIN : PM_ATOM_LOOP, v->where, v->variable, around);
    f->atoms[atom].value = value;
    return pm_sum_atom(atom);
}

static struct pm_formula own_formula(struct pm_formulas *f, uint32_t value) {
    struct pm_ssa_value v = f->values[value];
    struct pm_formula formula;
    if (v.state == PM_VALUE_DONE) {
        formula = pm_load_formula(f, (struct pm_stored_formula){v.first_term, v.n_terms});
        return pm_formula_resolve(f, &formula);
    }
    if (value == 0 || v.kind == PM_VALUE_ENTRY || v.state == PM_VALUE_BUSY ||
        f->depth >= PM_MOST_DEPTH || (v.blocker && f->values[v.blocker].state == PM_VALUE_BUSY))
        return formula_unknown(f, value);
    /* Every path from a value back to itself leads over one of these. */
    if (v.is_cyclic)
        f->values[value].state = PM_VALUE_BUSY;
    unsigned n_provisional = f->n_provisional;
    f->depth++;
    formula = v.kind == PM_VALUE_INSN ? pm_formula_of_definition(f, v.where, v.variable)
                                      : pm_formula_of_join(f, value);
    f->depth--;
    if (v.is_cyclic && f->values[value].state == PM_VALUE_NEW)
        return formula;
    if (!v.is_cyclic && f->n_provisional != n_provisional && pm_is_busy_other(f, value) &&
        f->n_discarded++ < MOST_DISCARDED)
        return formula; /* better later */
    struct pm_stored_formula stored = pm_store_formula(f, &formula);
    f->values[value].first_term = stored.first_term;
    f->values[value].n_terms = stored.n_terms;
    f->values[value].state = PM_VALUE_DONE;
    return formula;
}

struct pm_formula pm_formula_of_value(struct pm_formulas *f, uint32_t value, uint32_t loop) {
    struct pm_formula formula = own_formula(f, value);
    return pm_formula_behind_loop(f, formula, value, loop_of_value(f, &f->values[value]), loop);
}

/* An atom of FORMULA that stands for something known by now; 0: none. */
static uint32_t find_solved(struct pm_formulas *f, const struct pm_formula *formula) {
    for (uint32_t i = 0; i < formula->n_terms; i++)
        for (int k = 0; k < PM_TERM_ATOMS && formula->terms[i].atoms[k]; k++) {
            uint32_t atom = formula->terms[i].atoms[k];
            if (f->atoms[atom].kind != PM_ATOM_LOOP)
                continue;
            if (!f->atoms[atom].is_solved && f->values[f->atoms[atom].value].state == PM_VALUE_NEW)
                own_formula(f, f->atoms[atom].value);
            if (f->atoms[atom].is_solved)
                return atom;
        }
    return 0;
}

struct pm_formula pm_formula_resolve(struct pm_formulas *f, const struct pm_formula *formula) {
    struct pm_formula resolved = *formula;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        uint32_t atom = find_solved(f, &resolved);
        if (!atom)
            break;
        struct pm_formula solution = pm_load_formula(f, f->atoms[atom].solution);
        struct pm_formula tried = resolved;
        if (!pm_sum_replace(&tried, atom, &solution))
            break;
        resolved = tried;
    }
    return resolved;
}

/* ---- operands -------------------------------------------------------------------------------- */

struct pm_formula pm_formula_of_register(struct pm_formulas *f, uint32_t insn, uint8_t number) {
    make_ready(f);
    struct pm_formula formula = pm_formula_of_place(f, insn, number, 0);
    return pm_formula_resolve(f, &formula);
}

struct pm_formula pm_formula_of_operand(struct pm_formulas *f, uint32_t insn, unsigned number) {
    make_ready(f);
    const struct pm_memory_operand *operand = &f->lifted->insns[insn].memory[number];
    struct pm_formula formula = pm_sum_constant(operand->displacement), part;
    /* A segment's base and what a gather or the number of a bit adds are not known. */
    bool fits = true;
    bool is_gather = operand->kind == PM_ACCESS_GATHER_K || operand->kind == PM_ACCESS_GATHER_V ||
                     operand->kind == PM_ACCESS_BIT;
    if (operand->base < PM_N_GENERAL) {
        part = pm_formula_of_place(f, insn, operand->base, 0);
        fits &= pm_formula_add(&formula, &part, 1);
    }
    if (operand->index < PM_N_GENERAL && !is_gather) {
        part = pm_formula_of_place(f, insn, operand->index, 0);
        fits &= pm_formula_add(&formula, &part, operand->scale ? operand->scale : 1);
    }
    if (operand->segment)
        part = pm_sum_atom(pm_atom(f, PM_ATOM_ENTRY, 0, 0xff - operand->segment, PM_NONE)),
        fits &= pm_formula_add(&formula, &part, 1);
    if (!fits || is_gather)
        return pm_sum_atom(
            pm_atom(f, PM_ATOM_RESULT, insn, 0xf0 + number, pm_loop_of_insn(f, insn)));
    return pm_formula_resolve(f, &formula);
}
