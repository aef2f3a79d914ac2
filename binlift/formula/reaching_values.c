/* Which definition of a register, or of a slot of the frame, reaches a place; see
   solver.h.  Needs the slots and the reverse post-order.

   As in static single assignment form: every definition is a value, and where paths join that bring
   different ones, a value of its own stands for them.  At a loop's header that is so for what the
   loop defines; where a path comes from a part not yet seen (an irreducible region), for
   everything. A call defines what its callee need not save.  Values are in the order of their basic
   block, so that one finds the definition before an instruction by going back from the block's end.
 */
#include "binlift/formula/solver.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add_value(struct pm_formulas *f, enum pm_value_kind kind, uint32_t variable,
                          uint32_t where, uint32_t previous) {
    uint32_t number = (uint32_t)f->n_values;
    *PM_PUSH(f, values) = (struct pm_ssa_value){.kind = (uint8_t)kind,
                                                .variable = (uint16_t)variable,
                                                .where = where,
                                                .previous = previous};
    return number;
}

static void mark(uint64_t *set, uint32_t variable) {
    set[variable / 64] |= UINT64_C(1) << variable % 64;
}

/* Calls VISIT for every variable that instruction I defines, lowest first. */
typedef void visit_definition(struct pm_formulas *f, uint32_t i, uint32_t variable, void *data);

static void each_definition(struct pm_formulas *f, uint32_t i, visit_definition *visit,
                            void *data) {
    const struct pm_insn *insn = &f->lifted->insns[i];
    for (uint32_t set = pm_registers_defined(f->lifted, insn); set; set &= set - 1)
        visit(f, i, (uint32_t)__builtin_ctz(set), data);
    for (unsigned k = 0; f->n_slots && k < insn->n_memory; k++) {
        if (!(insn->memory[k].access & PM_ACCESS_STORE))
            continue;
        const struct pm_frame_access *access = pm_frame_access_of(f, i, k);
        if (!access)
            continue;
        int64_t end = access->offset + insn->memory[k].size_bytes;
        size_t slot = PM_LOWER_BOUND(f->n_slots, s, /* ends behind the access's start */
                                     f->slots[s].offset + f->slots[s].size_bytes <= access->offset);
        for (; slot < f->n_slots && f->slots[slot].offset < end; slot++)
            visit(f, i, PM_N_GENERAL + (uint32_t)slot, data);
    }
}

/* ---- what loops change ----------------------------------------------------------------------- */

static void mark_changed(struct pm_formulas *f, uint32_t i, uint32_t variable, void *data) {
    (void)f;
    (void)i;
    mark(data, variable);
}

static void find_changes(struct pm_formulas *f) {
    f->changed = pm_alloc(f->n_scopes, sizeof *f->changed);
    for (uint32_t b = 0; b < f->routine->n_blocks; b++) {
        uint32_t loop = f->structure->blocks[f->first_block + b].loop;
        const struct pm_block_code *code = &f->lifted->block_codes[f->first_block + b];
        if (loop == PM_NONE)
            continue;
        for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++)
            each_definition(f, i, mark_changed, f->changed[loop - f->first_scope]);
    }
    for (uint32_t s = f->n_scopes; s-- > 0;) { /* inner loops have larger numbers */
        if (f->structure->scopes[f->first_scope + s].kind != PM_SCOPE_LOOP)
            continue;
        uint32_t parent = pm_outer_loop(f->structure, f->first_scope + s);
        for (unsigned w = 0; parent != PM_NONE && w < PM_VARIABLE_WORDS; w++)
            f->changed[parent - f->first_scope][w] |= f->changed[s][w];
    }
}

/* ---- values at the start and end of basic blocks --------------------------------------------- */

/* The loop whose header VERTEX is and that is entered there only; PM_NONE. */
static uint32_t loop_of_header(const struct pm_formulas *f, uint32_t vertex) {
    uint32_t block = f->first_block + vertex, loop = f->structure->blocks[block].loop;
    if (loop == PM_NONE || f->structure->scopes[loop].header != block ||
        (f->structure->scopes[loop].flags & PM_SCOPE_IRREDUCIBLE))
        return PM_NONE;
    return loop;
}

static uint32_t meeting(struct pm_formulas *f, uint32_t vertex, uint32_t variable, bool is_cyclic) {
    uint32_t value = add_value(f, PM_VALUE_JOIN, variable, f->first_block + vertex, 0);
    f->values[value].is_cyclic = is_cyclic;
    return value;
}

static void start_block(struct pm_formulas *f, uint32_t vertex) {
    uint32_t n = f->n_variables, loop = loop_of_header(f, vertex);
    uint32_t *in = f->in + (size_t)vertex * n;
    bool is_first = true, unseen = false;
    for (uint32_t k = f->flow->first_in[vertex]; k < f->flow->first_in[vertex + 1]; k++) {
        uint32_t e = f->flow->in[k], from = pm_flow_from(f->flow, e);
        if (from == f->flow->entry && f->flow->edges[e].kind != PM_EDGE_ENTRY) {
            unseen = true; /* from outside, by unknown means */
            continue;
        }
        if (f->position[from] == PM_NONE)
            continue; /* never executed */
        if (from != f->flow->entry && f->position[from] >= f->position[vertex]) {
            unseen |= loop == PM_NONE ||
                      !pm_loop_is_in(f, f->structure->blocks[f->first_block + from].loop, loop);
            continue;
        }
        const uint32_t *out = from == f->flow->entry ? f->entry_values : f->out + (size_t)from * n;
        for (uint32_t v = 0; v < n; v++)
            if (is_first)
                in[v] = out[v];
            else if (in[v] != out[v])
                in[v] = 0;
        is_first = false;
    }
    for (uint32_t v = 0; v < n; v++) {
        bool changes =
            loop != PM_NONE && (f->changed[loop - f->first_scope][v / 64] >> v % 64 & 1) != 0;
        if (in[v] == 0 || unseen || changes)
            in[v] = meeting(f, vertex, v, loop != PM_NONE || unseen);
    }
}

static void define_variable(struct pm_formulas *f, uint32_t i, uint32_t variable, void *data) {
    uint32_t *row = data, previous = row[variable];
    row[variable] = add_value(f, PM_VALUE_INSN, variable, i, previous);
}

void pm_find_values(struct pm_formulas *f) {
    f->n_variables = PM_N_GENERAL + (uint32_t)f->n_slots;
    size_t n_cells = (size_t)f->flow->n_blocks * f->n_variables;
    f->in = pm_alloc(n_cells, sizeof *f->in);
    f->out = pm_alloc(n_cells, sizeof *f->out);
    f->entry_values = pm_alloc(f->n_variables, sizeof *f->entry_values);
    add_value(f, PM_VALUE_ENTRY, 0, 0, 0); /* number 0 is none */
    for (uint32_t v = 0; v < f->n_variables; v++)
        f->entry_values[v] = add_value(f, PM_VALUE_ENTRY, v, 0, 0);
    find_changes(f);
    for (uint32_t o = 0; o < f->n_order; o++) {
        uint32_t vertex = f->order[o];
        if (vertex >= f->flow->n_blocks)
            continue;
        start_block(f, vertex);
        uint32_t *row = f->out + (size_t)vertex * f->n_variables;
        memcpy(row, f->in + (size_t)vertex * f->n_variables, f->n_variables * sizeof *row);
        const struct pm_block_code *code = &f->lifted->block_codes[f->first_block + vertex];
        for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++)
            each_definition(f, i, define_variable, row);
    }
}

uint32_t pm_value_before(const struct pm_formulas *f, uint32_t insn, uint32_t variable) {
    uint32_t block = f->lifted->insn_block[insn] - f->first_block;
    uint32_t first = f->lifted->block_codes[f->first_block + block].first_insn;
    uint32_t v = f->out[(size_t)block * f->n_variables + variable];
    while (f->values[v].kind == PM_VALUE_INSN && f->values[v].where >= insn &&
           f->values[v].where >= first &&
           f->lifted->insn_block[f->values[v].where] == f->first_block + block)
        v = f->values[v].previous;
    return v;
}
