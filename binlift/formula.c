/* From definitions to access formulas; see formula.h and, for the method, Marin & Mellor-Crummey
   2004, section 2.1.  Needs the scope tree.

   A value is followed back through its definitions.  The value that a register has at a loop's
   header is an induction variable if every way round the loop adds the same invariant sum to it:

       value = value at the loop's entry + sum · number of the iteration

   or if it is what another induction variable was one iteration before.  Meanwhile, and where it
   follows no rule, it is an atom.  A value that is used behind its loop is that of the last
   iteration, whose number follows from the comparison at the loop's only exit, or is an atom.
   What has too many terms, or too long a chain of definitions, is an atom of its own. */
#include "binlift/formula_private.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ATTEMPTS = 4, MOST_ROUNDS = 16, MOST_WAYS = 4, MOST_DISCARDED = 4096 };

static struct pm_formula formula_of_place(struct pm_formulas *f, uint32_t insn, uint8_t place,
                                          uint8_t operand);

/* ---- making ready -------------------------------------------------------------------------------
 */

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
    free(f->atom_slots);
    free(f->endings);
    for (size_t i = 0; i < f->n_texts; i++)
        free(f->texts[i]);
    free(f->texts);
    free(f);
}

/* ---- definitions --------------------------------------------------------------------------------
 */

static bool is_call(const struct pm_insn *insn) {
    return insn->control == PM_CONTROL_CALL || insn->control == PM_CONTROL_CALL_INDIRECT;
}

/* What INSN gives to VARIABLE, if all that it needs are general registers. */
static struct pm_formula formula_of_result(struct pm_formulas *f, uint32_t insn,
                                           uint32_t variable) {
    const struct pm_insn *code = &f->lifted->insns[insn];
    uint32_t loop = pm_loop_of_insn(f, insn);
    uint32_t uses = (uint32_t)code->registers->uses.general;
    if (variable >= PM_N_GENERAL || is_call(code) || code->n_memory ||
        code->registers->uses.vector || code->registers->uses.general >> PM_N_GENERAL)
        return pm_sum_atom(pm_atom(f, PM_ATOM_RESULT, insn, variable, loop));
    if (!(code->registers->kills.general >> variable & 1))
        uses |= UINT32_C(1) << variable;
    struct pm_formula arguments[4];
    unsigned n = 0;
    for (; uses && n < 4; uses &= uses - 1)
        arguments[n++] = formula_of_place(f, insn, (uint8_t)__builtin_ctz(uses), 0);
    if (uses)
        return pm_sum_atom(pm_atom(f, PM_ATOM_RESULT, insn, variable, loop));
    uint32_t atom = pm_atom(f, PM_ATOM_FUNCTION, insn, variable, loop);
    if (f->atoms[atom].n_arguments == 0)
        for (unsigned k = 0; k < n; k++)
            pm_atom_add_argument(f, atom, &arguments[k]);
    return pm_sum_atom(atom);
}

/* A word that the dynamic linker or nobody writes. */
static bool fixed_word(const struct pm_formulas *f, const struct pm_memory_operand *operand,
                       int64_t address, uint64_t *word) {
    const struct pm_section *section = pm_image_section_at(&f->lifted->image, (uint64_t)address);
    return operand->size_bytes == 8 && section &&
           (!(section->header.sh_flags & SHF_WRITE) || strncmp(section->name, ".got", 4) == 0 ||
            strcmp(section->name, ".data.rel.ro") == 0) &&
           pm_word_at(f->lifted, (uint64_t)address, word) && *word != 0;
}

struct pm_formula pm_formula_of_load(struct pm_formulas *f, uint32_t insn, uint8_t number) {
    const struct pm_memory_operand *operand = &f->lifted->insns[insn].memory[number];
    uint32_t loop = pm_loop_of_insn(f, insn);
    const struct pm_frame_access *access = pm_frame_access_of(f, insn, number);
    uint32_t slot = access ? pm_slot_at(f, access->offset) : PM_NONE;
    if (slot != PM_NONE && operand->size_bytes >= 4)
        return pm_formula_of_value(f, pm_value_before(f, insn, slot), loop);
    struct pm_formula address = pm_formula_of_operand(f, insn, number);
    int64_t constant;
    uint64_t word;
    if (pm_formula_constant(&address, &constant) && fixed_word(f, operand, constant, &word))
        return pm_sum_constant((int64_t)word);
    uint32_t atom = pm_atom(f, PM_ATOM_LOAD, insn, number, loop);
    if (f->atoms[atom].n_arguments == 0)
        pm_atom_add_argument(f, atom, &address);
    return pm_sum_atom(atom);
}

static struct pm_formula formula_of_place(struct pm_formulas *f, uint32_t insn, uint8_t place,
                                          uint8_t operand) {
    if (place == PM_PLACE_MEMORY)
        return pm_formula_of_load(f, insn, operand);
    return pm_formula_of_value(f, pm_value_before(f, insn, place), pm_loop_of_insn(f, insn));
}

/* False: too many terms, or not of that kind. */
static bool evaluate(struct pm_formulas *f, uint32_t insn, const struct pm_definition *definition,
                     struct pm_formula *formula) {
    struct pm_formula terms[PM_MOST_TERMS], product;
    int64_t value;
    if (definition->kind == PM_DEFINED_OTHERWISE || definition->n_terms > PM_MOST_TERMS)
        return false;
    for (unsigned t = 0; t < definition->n_terms; t++)
        terms[t] = formula_of_place(f, insn, definition->terms[t].place, definition->operand);
    *formula = pm_sum_constant(definition->constant);
    switch (definition->kind) {
    case PM_DEFINED_AS_SUM:
        for (unsigned t = 0; t < definition->n_terms; t++)
            if (!pm_formula_add(formula, &terms[t], definition->terms[t].factor))
                return false;
        return true;
    case PM_DEFINED_AS_PRODUCT:
        return definition->n_terms >= 2 && pm_sum_multiply(&terms[0], &terms[1], &product) &&
               pm_formula_add(formula, &product, definition->terms[0].factor) &&
               (definition->n_terms == 2 ||
                pm_formula_add(formula, &terms[2], definition->terms[2].factor));
    case PM_DEFINED_AS_CONSTANT_WITH:
        if (definition->n_terms != 1 || !pm_formula_constant(&terms[0], &value))
            return false;
        *formula = pm_sum_constant((value & ~definition->terms[0].factor) | definition->constant);
        return true;
    case PM_DEFINED_AS_QUOTIENT: /* where it is surely exact */
        *formula = terms[0];
        for (uint32_t i = 0; i < formula->n_terms; i++) {
            if (definition->constant <= 0 || formula->terms[i].factor % definition->constant != 0)
                return false;
            formula->terms[i].factor /= definition->constant;
        }
        return definition->n_terms == 1;
    default: /* a choice between equal values is none */
        *formula = terms[0];
        for (unsigned t = 1; t < definition->n_terms; t++)
            if (!pm_sum_equal(&terms[t], &terms[0]))
                return false;
        return definition->n_terms > 0;
    }
}

/* The definition that stores to the slot VARIABLE whole. */
static bool defines_slot(const struct pm_formulas *f, uint32_t insn,
                         const struct pm_definition *definition, uint32_t variable) {
    const struct pm_slot *slot = &f->slots[variable - PM_N_GENERAL];
    if (definition->place != PM_PLACE_MEMORY)
        return false;
    const struct pm_frame_access *access = pm_frame_access_of(f, insn, definition->operand);
    const struct pm_memory_operand *operand = &f->lifted->insns[insn].memory[definition->operand];
    return access && access->offset == slot->offset && operand->size_bytes == slot->size_bytes;
}

static struct pm_formula formula_of_definition(struct pm_formulas *f, uint32_t insn,
                                               uint32_t variable) {
    const struct pm_insn *code = &f->lifted->insns[insn];
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    struct pm_formula formula;
    unsigned n = is_call(code)
                     ? 0
                     : f->lifted->isa->define(pm_insn_bytes(f->lifted, insn), code, definitions);
    for (unsigned i = 0; i < n; i++) {
        bool is_it = variable < PM_N_GENERAL ? definitions[i].place == variable
                                             : defines_slot(f, insn, &definitions[i], variable);
        if (is_it && evaluate(f, insn, &definitions[i], &formula))
            return formula;
    }
    return formula_of_result(f, insn, variable);
}

/* ---- leaving loops ------------------------------------------------------------------------------
 */

/* SUM does not change in LOOP. */
static bool is_from_outside(struct pm_formulas *f, const struct pm_formula *sum, uint32_t loop) {
    return pm_sum_variation(f, sum, loop) == PM_VARIES_NOT;
}

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
        unsigned n = is_call(insn)
                         ? 0
                         : f->lifted->isa->define(pm_insn_bytes(f->lifted, i), insn, definitions);
        for (unsigned k = 0; k < n; k++)
            if (definitions[k].place == PM_PLACE_FLAGS)
                return evaluate(f, i, &definitions[k], compared);
        if ((insn->registers->defs.general & PM_FLAGS_MASK) || is_call(insn))
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
        !pm_formula_constant(&factor, &step) || step == 0 || !is_from_outside(f, &rest, loop))
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
static uint32_t busy_in(const struct pm_formulas *f, const struct pm_formula *sum, uint32_t loop) {
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
static struct pm_formula leave(struct pm_formulas *f, struct pm_formula sum, uint32_t value,
                               uint32_t from, uint32_t to) {
    for (; from != PM_NONE && !pm_loop_is_in(f, to, from);
         from = pm_outer_loop(f->structure, from)) {
        uint32_t parent = pm_outer_loop(f->structure, from);
        if (!put_last_iteration(f, &sum, from) || !is_from_outside(f, &sum, from)) {
            uint32_t busy = busy_in(f, &sum, from);
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

/* ---- where values meet --------------------------------------------------------------------------
 */

static uint32_t loop_of_block(const struct pm_formulas *f, uint32_t block) {
    return f->structure->blocks[block].loop;
}

/* The loop at whose header V stands, PM_NONE if it is another meeting. */
static uint32_t loop_of_meeting(const struct pm_formulas *f, const struct pm_value *v) {
    uint32_t loop = loop_of_block(f, v->where);
    if (loop == PM_NONE || f->structure->scopes[loop].header != v->where ||
        (f->structure->scopes[loop].flags & PM_SCOPE_IRREDUCIBLE))
        return PM_NONE;
    return loop;
}

/* The formulas that the ways into a value's basic block bring. */
struct ways {
    uint32_t n;
    struct pm_formula formulas[MOST_WAYS]; /* different ones */
};

/* As the loop SEEN_FROM sees them; those from inside LOOP if INSIDE, else the others (LOOP PM_NONE:
   all).  False: one is not known, or there are too many. */
static bool find_ways(struct pm_formulas *f, uint32_t value, uint32_t loop, bool inside,
                      uint32_t seen_from, struct ways *ways) {
    struct pm_value v = f->values[value];
    uint32_t vertex = v.where - f->first_block, last = PM_NONE;
    ways->n = 0;
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
                 pm_loop_is_in(f, loop_of_block(f, f->first_block + from), loop) != inside))
                continue;
            brought = pm_value_at_end(f, from, v.variable);
        }
        if (brought == last)
            continue;
        last = brought;
        struct pm_formula next = pm_formula_of_value(f, brought, seen_from);
        bool is_new = true;
        for (uint32_t i = 0; i < ways->n; i++)
            is_new &= !pm_sum_equal(&ways->formulas[i], &next);
        if (is_new && ways->n == MOST_WAYS)
            return false;
        if (is_new)
            ways->formulas[ways->n++] = next;
    }
    return ways->n > 0;
}

/* Different formulas: what they have in common, and an atom for the rest, which is in LOOP. */
static struct pm_formula join_ways(struct pm_formulas *f, uint32_t value, struct ways *ways,
                                   uint32_t loop) {
    struct pm_formula common = {0};
    for (uint32_t i = 0; i < ways->n; i++)
        ways->formulas[i] = pm_formula_resolve(f, &ways->formulas[i]);
    for (uint32_t t = 0; t < ways->formulas[0].n_terms; t++) {
        struct pm_formula term = {.n_terms = 1, .terms = {ways->formulas[0].terms[t]}};
        bool in_all = true;
        for (uint32_t i = 1; i < ways->n; i++) {
            bool is_there = false;
            for (uint32_t k = 0; k < ways->formulas[i].n_terms; k++)
                is_there |=
                    memcmp(&ways->formulas[i].terms[k], &term.terms[0], sizeof term.terms[0]) == 0;
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
    for (uint32_t i = 0; i < ways->n; i++) {
        pm_formula_add(&ways->formulas[i], &common, -1);
        if (f->atoms[atom].n_arguments < ways->n)
            pm_atom_add_argument(f, atom, &ways->formulas[i]);
    }
    struct pm_formula joined = pm_sum_atom(atom);
    pm_formula_add(&joined, &common, 1);
    return joined;
}

struct pm_formula pm_formula_initial(struct pm_formulas *f, uint32_t value) {
    struct pm_value v = f->values[value];
    struct ways ways;
    uint32_t loop = loop_of_meeting(f, &v), parent = pm_outer_loop(f->structure, loop);
    if (!find_ways(f, value, loop, false, parent, &ways))
        return pm_sum_atom(pm_atom(f, PM_ATOM_JOIN, v.where, v.variable, parent));
    return ways.n == 1 ? ways.formulas[0] : join_ways(f, value, &ways, parent);
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
        return is_from_outside(f, &rest, loop) && pm_sum_multiply(&rest, &iteration, &moved) &&
               pm_formula_add(solution, &moved, 1);
    }
    /* What another was one iteration before, if that holds for the first iteration as well. */
    if (factor.n_terms || !pm_sum_split(round, iteration.terms[0].atoms[0], &rest, &factor) ||
        !is_from_outside(f, &rest, loop) || !is_from_outside(f, &factor, loop))
        return false;
    start = rest;
    return pm_formula_add(&start, &factor, -1) && pm_sum_equal(&start, initial) &&
           pm_sum_multiply(&factor, &iteration, &moved) && pm_formula_add(solution, &moved, 1);
}

/* What was last met as provisional waits for a value other than VALUE. */
static bool is_busy_other(const struct pm_formulas *f, uint32_t value) {
    return f->provisional_on != value && f->values[f->provisional_on].state == PM_VALUE_BUSY;
}

/* At a loop's header.  The value is busy meanwhile. */
static struct pm_formula formula_at_header(struct pm_formulas *f, uint32_t value, uint32_t loop) {
    uint32_t atom =
        pm_atom(f, PM_ATOM_LOOP, f->values[value].where, f->values[value].variable, loop);
    f->atoms[atom].value = value;
    unsigned n_provisional = f->n_provisional;
    struct pm_formula initial = pm_formula_initial(f, value), round = {0}, solution;
    struct ways ways;
    bool is_agreed = find_ways(f, value, loop, true, loop, &ways) && ways.n == 1;
    if (is_agreed) {
        round = pm_formula_resolve(f, &ways.formulas[0]);
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
        if (f->n_provisional != n_provisional && is_busy_other(f, value))
            blocker = f->provisional_on;
        else if (is_agreed && pm_sum_split(&round, atom, &others, &factor))
            blocker = busy_in(f, &others, loop);
    }
    f->values[value].blocker = blocker; /* to be tried again when that one is found */
    f->values[value].state = blocker ? PM_VALUE_NEW : PM_VALUE_DONE;
    if (!blocker && is_agreed && f->atoms[atom].n_arguments == 0)
        pm_atom_add_argument(f, atom, &round), f->n_known++;
    return pm_sum_atom(atom);
}

static struct pm_formula formula_of_meeting(struct pm_formulas *f, uint32_t value) {
    struct pm_value v = f->values[value];
    uint32_t loop = loop_of_meeting(f, &v);
    if (loop != PM_NONE)
        return formula_at_header(f, value, loop);
    struct ways ways;
    uint32_t around = loop_of_block(f, v.where);
    uint32_t atom = pm_atom(f, PM_ATOM_JOIN, v.where, v.variable, around);
    f->atoms[atom].value = value;
    if (!find_ways(f, value, PM_NONE, true, around, &ways))
        return pm_sum_atom(atom);
    if (v.is_cyclic) { /* irreducible: only if nothing but itself comes round */
        struct pm_formula own = pm_sum_atom(atom);
        uint32_t n = 0;
        for (uint32_t i = 0; i < ways.n; i++)
            if (!pm_sum_equal(&ways.formulas[i], &own))
                ways.formulas[n++] = ways.formulas[i];
        return n == 1 && !pm_sum_has(&ways.formulas[0], atom) ? ways.formulas[0] : own;
    }
    return ways.n == 1 ? ways.formulas[0] : join_ways(f, value, &ways, around);
}

/* ---- values -------------------------------------------------------------------------------------
 */

static uint32_t loop_of_value(const struct pm_formulas *f, const struct pm_value *v) {
    if (v->kind == PM_VALUE_INSN)
        return pm_loop_of_insn(f, v->where);
    return v->kind == PM_VALUE_MEETING ? loop_of_block(f, v->where) : PM_NONE;
}

/* An atom that stands for a value of which nothing is known, or that is being looked for. */
static struct pm_formula formula_unknown(struct pm_formulas *f, uint32_t value) {
    struct pm_value *v = &f->values[value];
    uint32_t around = loop_of_value(f, v);
    if (value == 0)
        return pm_sum_atom(pm_atom(f, PM_ATOM_JOIN, PM_NONE, 0, f->routine->scope));
    if (v->kind == PM_VALUE_ENTRY)
        return pm_sum_atom(pm_atom(f, PM_ATOM_ENTRY, 0, v->variable, PM_NONE));
    if (v->kind == PM_VALUE_INSN)
        return pm_sum_atom(pm_atom(f, PM_ATOM_RESULT, v->where, v->variable, around));
    uint32_t loop = loop_of_meeting(f, v);
    uint32_t atom =
        pm_atom(f, loop == PM_NONE ? PM_ATOM_JOIN : PM_ATOM_LOOP, v->where, v->variable, around);
    f->atoms[atom].value = value;
    return pm_sum_atom(atom);
}

static struct pm_formula own_formula(struct pm_formulas *f, uint32_t value) {
    struct pm_value v = f->values[value];
    struct pm_formula formula;
    if (v.state == PM_VALUE_DONE) {
        formula = pm_load_formula(f, (struct pm_stored_formula){v.first_term, v.n_terms});
        return pm_formula_resolve(f, &formula);
    }
    if (value == 0 || v.kind == PM_VALUE_ENTRY || v.state == PM_VALUE_BUSY ||
        f->depth >= PM_MOST_DEPTH || (v.blocker && f->values[v.blocker].state == PM_VALUE_BUSY))
        return formula_unknown(f, value);
    /* Every way from a value back to itself leads over one of these. */
    if (v.is_cyclic)
        f->values[value].state = PM_VALUE_BUSY;
    unsigned n_provisional = f->n_provisional;
    f->depth++;
    formula = v.kind == PM_VALUE_INSN ? formula_of_definition(f, v.where, v.variable)
                                      : formula_of_meeting(f, value);
    f->depth--;
    if (v.is_cyclic && f->values[value].state == PM_VALUE_NEW)
        return formula;
    if (!v.is_cyclic && f->n_provisional != n_provisional && is_busy_other(f, value) &&
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
    return leave(f, formula, value, loop_of_value(f, &f->values[value]), loop);
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

/* ---- operands -----------------------------------------------------------------------------------
 */

struct pm_formula pm_formula_of_register(struct pm_formulas *f, uint32_t insn, uint8_t number) {
    make_ready(f);
    struct pm_formula formula = formula_of_place(f, insn, number, 0);
    return pm_formula_resolve(f, &formula);
}

struct pm_formula pm_formula_of_operand(struct pm_formulas *f, uint32_t insn, unsigned number) {
    make_ready(f);
    const struct pm_memory_operand *operand = &f->lifted->insns[insn].memory[number];
    struct pm_formula formula = pm_sum_constant(operand->displacement), part;
    /* A segment's base and what a gather adds are not known. */
    bool fits = true;
    bool is_gather = operand->kind == PM_PROBE_GATHER_K || operand->kind == PM_PROBE_GATHER_V;
    if (operand->base < PM_N_GENERAL) {
        part = formula_of_place(f, insn, operand->base, 0);
        fits &= pm_formula_add(&formula, &part, 1);
    }
    if (operand->index < PM_N_GENERAL && !is_gather) {
        part = formula_of_place(f, insn, operand->index, 0);
        fits &= pm_formula_add(&formula, &part, operand->scale ? operand->scale : 1);
    }
    if (operand->implicit && operand->access == PM_ACCESS_STORE)
        fits &= pm_formula_add(
            &formula,
            &(struct pm_formula){.n_terms = 1, .terms = {{.factor = operand->size_bytes}}}, -1);
    if (operand->segment)
        part = pm_sum_atom(pm_atom(f, PM_ATOM_ENTRY, 0, 0xff - operand->segment, PM_NONE)),
        fits &= pm_formula_add(&formula, &part, 1);
    if (!fits || is_gather)
        return pm_sum_atom(
            pm_atom(f, PM_ATOM_RESULT, insn, 0xf0 + number, pm_loop_of_insn(f, insn)));
    return pm_formula_resolve(f, &formula);
}
