/* What varies in a loop, and from it strides and first addresses; see formula.h.

   Seen from a loop, what happens in the loops inside it is taken as it is in their first iteration:
   the stride of a row in the outer loop is the distance of the rows' starts.  What is loaded from a
   place that moves makes an address indirect.  What is loaded from a place that stays varies only
   if something in the loop may store there. */
#include "binlift/formula/solver.h"

#include <stdlib.h>

enum { MOST_STORES = 32, MOST_STORE_LOOKS = 4096 };

/* ---- atoms in a loop ------------------------------------------------------------------------- */

/* FORMULA in the first iteration of LOOP. */
static struct pm_formula at_entry(struct pm_formulas *f, const struct pm_formula *formula,
                                  uint32_t loop) {
    struct pm_formula first = pm_formula_resolve(f, formula), zero = {0};
    pm_sum_replace(&first, pm_atom(f, PM_ATOM_ITERATION, 0, 0, loop), &zero);
    for (int rounds = 0; rounds < PM_FORMULA_TERMS; rounds++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < first.n_terms && !found; i++)
            for (int k = 0; k < PM_TERM_ATOMS && first.terms[i].atoms[k] && !found; k++) {
                uint32_t atom = first.terms[i].atoms[k];
                if (f->atoms[atom].kind == PM_ATOM_LOOP && f->atoms[atom].loop == loop)
                    found = atom;
            }
        if (!found)
            break;
        struct pm_formula initial = pm_formula_initial(f, f->atoms[found].value), tried = first;
        initial = pm_formula_resolve(f, &initial);
        if (!pm_sum_replace(&tried, found, &initial))
            return pm_sum_atom(pm_atom(f, PM_ATOM_JOIN, f->structure->scopes[loop].header,
                                       PM_REGISTER_NONE, pm_outer_loop(f->structure, loop)));
        first = tried;
    }
    return first;
}

/* FORMULA with the first iteration of every loop strictly inside LOOP. */
static struct pm_formula seen_from(struct pm_formulas *f, const struct pm_formula *formula,
                                   uint32_t loop) {
    struct pm_formula seen = pm_formula_resolve(f, formula);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < seen.n_terms && !changed; i++)
            for (int k = 0; k < PM_TERM_ATOMS && seen.terms[i].atoms[k] && !changed; k++) {
                const struct pm_atom *atom = &f->atoms[seen.terms[i].atoms[k]];
                if ((atom->kind != PM_ATOM_ITERATION && atom->kind != PM_ATOM_LOOP) ||
                    atom->loop == loop || !pm_loop_is_in(f, atom->loop, loop))
                    continue;
                seen = at_entry(f, &seen, atom->loop);
                changed = true;
            }
    }
    return seen;
}

/* LOADED and STORED, both addresses in LOOP, surely name different bytes. */
static bool are_apart(const struct pm_formulas *f, const struct pm_formula *loaded,
                      int64_t n_loaded, const struct pm_formula *stored, int64_t n_stored) {
    struct pm_formula difference;
    int64_t bytes, ignored;
    if (!pm_formula_subtract(stored, loaded, &difference))
        return false;
    if (pm_formula_constant(&difference, &bytes))
        return bytes >= n_loaded || bytes <= -n_stored;
    return (pm_formula_is_frame(f, loaded, &ignored) && pm_formula_constant(stored, &ignored)) ||
           (pm_formula_is_frame(f, stored, &ignored) && pm_formula_constant(loaded, &ignored));
}

/* Nothing in LOOP stores to the N_BYTES at ADDRESS, which does not vary in it. */
static bool is_unchanged(struct pm_formulas *f, uint32_t loop, const struct pm_formula *address,
                         int64_t n_bytes) {
    unsigned n_stores = 0;
    uint32_t n_looks = 0;
    for (uint32_t b = f->first_block; b < f->first_block + f->routine->n_blocks; b++) {
        const struct pm_block_code *code = &f->lifted->block_codes[b];
        if (!pm_loop_is_in(f, f->structure->blocks[b].loop, loop))
            continue;
        for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++) {
            const struct pm_insn *insn = &f->lifted->insns[i];
            if (pm_is_call(insn->control) || ++n_looks > MOST_STORE_LOOKS)
                return false;
            for (unsigned k = 0; k < insn->n_memory; k++) {
                const struct pm_memory_operand *operand = &insn->memory[k];
                if (!(operand->access & PM_ACCESS_STORE) || operand->implicit)
                    continue;
                if (++n_stores > MOST_STORES || operand->kind != PM_ACCESS_PLAIN)
                    return false;
                struct pm_formula stored = pm_formula_of_operand(f, i, k);
                if (!are_apart(f, address, n_bytes, &stored, operand->size_bytes))
                    return false;
            }
        }
    }
    return true;
}

static enum pm_variation larger(enum pm_variation a, enum pm_variation b) { return a > b ? a : b; }

/* ADDRESS goes on with the iterations of LOOP, or with a pointer that is followed; otherwise
   nobody knows whether it changes at all. */
static bool moves(const struct pm_formulas *f, const struct pm_formula *address, uint32_t loop) {
    for (uint32_t i = 0; i < address->n_terms; i++)
        for (int k = 0; k < PM_TERM_ATOMS && address->terms[i].atoms[k]; k++) {
            const struct pm_atom *atom = &f->atoms[address->terms[i].atoms[k]];
            if (atom->loop == loop &&
                (atom->kind == PM_ATOM_ITERATION || atom->kind == PM_ATOM_LOOP))
                return true;
        }
    return false;
}

static enum pm_variation variation_of_load(struct pm_formulas *f, const struct pm_atom *atom,
                                           uint32_t loop) {
    struct pm_formula address = pm_load_formula(f, f->arguments[atom->first_argument]);
    const struct pm_memory_operand *operand = &f->lifted->insns[atom->where].memory[atom->place];
    int64_t constant;
    address = seen_from(f, &address, loop);
    switch (pm_sum_variation(f, &address, loop)) {
    case PM_VARIES_NOT:
        break;
    case PM_VARIES_INDIRECTLY:
        return PM_VARIES_INDIRECTLY;
    default:
        return moves(f, &address, loop) ? PM_VARIES_INDIRECTLY : PM_VARIES;
    }
    if (pm_formula_constant(&address, &constant)) {
        const struct pm_section *section =
            pm_image_section_at(&f->lifted->image, (uint64_t)constant);
        if (section && !(section->header.sh_flags & SHF_WRITE))
            return PM_VARIES_NOT;
    }
    return is_unchanged(f, loop, &address, operand->size_bytes) ? PM_VARIES_NOT : PM_VARIES;
}

/* ---- which path is taken --------------------------------------------------------------------- */

/* What the branch at the end of VERTEX tests does not vary in LOOP. */
static bool tests_invariant(struct pm_formulas *f, uint32_t vertex, uint32_t loop) {
    const struct pm_block_code *code = &f->lifted->block_codes[f->first_block + vertex];
    uint32_t i = code->first_insn + code->n_insns;
    if (code->n_insns == 0 || f->lifted->insns[--i].control != PM_CONTROL_BRANCH)
        return false;
    while (!(f->lifted->insns[i].registers->defs.general & PM_FLAGS_MASK))
        if (i-- == code->first_insn)
            return false;
    const struct pm_insn *insn = &f->lifted->insns[i];
    if (pm_is_call(insn->control) || insn->registers->uses.vector ||
        (insn->registers->uses.general >> PM_N_GENERAL))
        return false;
    uint32_t addresses = 0;
    for (unsigned k = 0; k < insn->n_memory; k++) {
        struct pm_formula loaded = pm_formula_of_load(f, i, k);
        loaded = seen_from(f, &loaded, loop);
        if (pm_sum_variation(f, &loaded, loop) != PM_VARIES_NOT)
            return false;
        if (insn->memory[k].base < PM_N_GENERAL) /* what is loaded says it all */
            addresses |= UINT32_C(1) << insn->memory[k].base;
    }
    for (uint32_t uses = (uint32_t)insn->registers->uses.general & ~addresses; uses;
         uses &= uses - 1) {
        struct pm_formula used = pm_formula_of_register(f, i, (uint8_t)__builtin_ctz(uses));
        used = seen_from(f, &used, loop);
        if (pm_sum_variation(f, &used, loop) != PM_VARIES_NOT)
            return false;
    }
    return true;
}

/* The path on which basic block WHERE is reached is the same in all iterations of LOOP: back to the
   place through which all paths lead, no branch tests what varies.  A loop that is left at one
   place only is no branch. */
static bool is_reached_one_way(struct pm_formulas *f, uint32_t where, uint32_t loop) {
    enum { MOST_OPEN = 16, MOST_BACK = 64 };
    uint32_t open[MOST_OPEN], n_open = 1;
    uint32_t target = where - f->first_block, own = f->structure->blocks[where].loop;
    open[0] = target;
    for (int steps = 0; steps < MOST_BACK; steps++) {
        uint32_t at = 0;
        for (uint32_t i = 1; i < n_open; i++)
            if (f->position[open[i]] > f->position[open[at]])
                at = i;
        uint32_t vertex = open[at];
        uint32_t around =
            vertex == f->flow->entry ? PM_NONE : f->structure->blocks[f->first_block + vertex].loop;
        bool is_inner = vertex != target && around != PM_NONE && !pm_loop_is_in(f, own, around) &&
                        pm_loop_is_in(f, around, loop);
        if (vertex != target && vertex != f->flow->entry &&
            f->flow->first_out[vertex + 1] - f->flow->first_out[vertex] > 1) {
            if (is_inner ? pm_only_exit(f, around) == PM_NONE : !tests_invariant(f, vertex, loop))
                return false;
        }
        if (n_open == 1 && vertex != target)
            return true;
        open[at] = open[--n_open];
        for (uint32_t k = f->flow->first_in[vertex]; k < f->flow->first_in[vertex + 1]; k++) {
            uint32_t e = f->flow->in[k], from = pm_flow_from(f->flow, e);
            bool is_open = false;
            if (from == f->flow->entry && f->flow->edges[e].kind != PM_EDGE_ENTRY)
                return false;
            if (f->position[from] == PM_NONE || f->position[from] >= f->position[vertex])
                continue;
            for (uint32_t i = 0; i < n_open; i++)
                is_open |= open[i] == from;
            if (!is_open && n_open == MOST_OPEN)
                return false;
            if (!is_open)
                open[n_open++] = from;
        }
        if (n_open == 0)
            return false;
    }
    return false;
}

/* ---- what atoms do in a loop ----------------------------------------------------------------- */

static enum pm_variation find_variation(struct pm_formulas *f, struct pm_atom atom, uint32_t loop) {
    enum pm_variation variation = PM_VARIES_NOT;
    switch (atom.kind) {
    case PM_ATOM_LOAD:
        return variation_of_load(f, &atom, loop);
    case PM_ATOM_TRIPS:
        if (atom.n_arguments == 0)
            return PM_VARIES;
        break;
    case PM_ATOM_JOIN:
        if (atom.n_arguments == 0)
            return PM_VARIES;
        break;
    case PM_ATOM_FUNCTION:
    case PM_ATOM_LOOP: /* its value after one iteration, if that is known */
        break;
    default:
        return PM_VARIES;
    }
    for (uint32_t i = 0; i < atom.n_arguments; i++) {
        struct pm_formula argument = pm_load_formula(f, f->arguments[atom.first_argument + i]);
        argument = seen_from(f, &argument, loop);
        variation = larger(variation, pm_sum_variation(f, &argument, loop));
    }
    if (atom.kind == PM_ATOM_LOOP || (atom.kind == PM_ATOM_JOIN && variation == PM_VARIES_NOT &&
                                      !is_reached_one_way(f, atom.where, loop)))
        return larger(variation, PM_VARIES);
    return variation;
}

static enum pm_variation atom_variation(struct pm_formulas *f, uint32_t number, uint32_t loop) {
    struct pm_atom *atom = &f->atoms[number];
    if (atom->loop == PM_NONE || atom->kind == PM_ATOM_ENTRY || !pm_loop_is_in(f, atom->loop, loop))
        return PM_VARIES_NOT;
    if (atom->asked_loop == loop + 1 && atom->asked_when == f->n_known)
        return (enum pm_variation)atom->asked_answer;
    if (f->depth >= PM_MOST_DEPTH)
        return PM_VARIES;
    atom->asked_loop = loop + 1; /* meanwhile, and where it depends on itself */
    atom->asked_answer = PM_VARIES;
    atom->asked_when = f->n_known;
    f->depth++;
    enum pm_variation answer = find_variation(f, *atom, loop);
    f->depth--;
    atom = &f->atoms[number];
    atom->asked_loop = loop + 1;
    atom->asked_answer = (uint8_t)answer;
    atom->asked_when = f->n_known;
    return answer;
}

enum pm_variation pm_sum_variation(struct pm_formulas *f, const struct pm_formula *sum,
                                   uint32_t loop) {
    enum pm_variation variation = PM_VARIES_NOT;
    for (uint32_t i = 0; i < sum->n_terms; i++)
        for (int k = 0; k < PM_TERM_ATOMS && sum->terms[i].atoms[k]; k++)
            variation = larger(variation, atom_variation(f, sum->terms[i].atoms[k], loop));
    return variation;
}

/* ---- strides --------------------------------------------------------------------------------- */

struct pm_step pm_formula_step(struct pm_formulas *f, const struct pm_formula *formula,
                               uint32_t loop) {
    struct pm_step step = {.kind = PM_STRIDE_UNKNOWN};
    struct pm_formula rest, factor;
    if (!pm_formula_split(f, formula, loop, &rest, &factor))
        return step;
    enum pm_variation variation =
        larger(pm_sum_variation(f, &rest, loop), pm_sum_variation(f, &factor, loop));
    if (variation != PM_VARIES_NOT) {
        if (variation == PM_VARIES_INDIRECTLY)
            step.kind = PM_STRIDE_INDIRECT;
        return step;
    }
    if (pm_formula_constant(&factor, &step.bytes)) {
        step.kind = PM_STRIDE_CONSTANT;
        return step;
    }
    step = (struct pm_step){.kind = PM_STRIDE_SYMBOLIC};
    step.expression = *PM_PUSH(f, texts) = pm_formula_text(f, &factor);
    return step;
}

bool pm_formula_split(struct pm_formulas *f, const struct pm_formula *formula, uint32_t loop,
                      struct pm_formula *rest, struct pm_formula *stride) {
    struct pm_formula resolved = pm_formula_resolve(f, formula);
    return pm_sum_split(&resolved, pm_atom(f, PM_ATOM_ITERATION, 0, 0, loop), rest, stride);
}

uint32_t pm_formula_levels(struct pm_formulas *f, uint32_t insn, unsigned operand,
                           struct pm_formula_level *levels, uint32_t most) {
    uint32_t loop = pm_loop_of_insn(f, insn), n = 0;
    if (loop == PM_NONE || most == 0)
        return 0;
    struct pm_formula formula = pm_formula_of_operand(f, insn, operand);
    for (; loop != PM_NONE && n < most; loop = pm_outer_loop(f->structure, loop)) {
        levels[n].loop = loop;
        levels[n].step = pm_formula_step(f, &formula, loop);
        formula = levels[n++].first = at_entry(f, &formula, loop);
    }
    return n;
}

/* ---- bases ----------------------------------------------------------------------------------- */

bool pm_formula_is_frame(const struct pm_formulas *f, const struct pm_formula *formula,
                         int64_t *offset) {
    *offset = formula->n_terms && formula->terms[0].atoms[0] == 0 ? formula->terms[0].factor : 0;
    for (uint32_t i = 0; i < formula->n_terms; i++) {
        const struct pm_formula_term *term = &formula->terms[i];
        const struct pm_atom *atom = &f->atoms[term->atoms[0]];
        if (term->atoms[0] && !term->atoms[1] && term->factor == 1 && atom->kind != PM_ATOM_LOAD &&
            atom->kind != PM_ATOM_ITERATION && atom->kind != PM_ATOM_TRIPS &&
            atom->place == f->lifted->isa->stack_pointer)
            return true;
    }
    return false;
}

bool pm_formula_is_fixed(const struct pm_formulas *f, const struct pm_formula *formula,
                         int64_t *address) {
    bool moves_only = true;
    *address = formula->n_terms && formula->terms[0].atoms[0] == 0 ? formula->terms[0].factor : 0;
    for (uint32_t i = 0; i < formula->n_terms; i++) {
        bool moves = formula->terms[i].atoms[0] == 0;
        for (int k = 0; k < PM_TERM_ATOMS && formula->terms[i].atoms[k]; k++)
            moves |= f->atoms[formula->terms[i].atoms[k]].kind == PM_ATOM_ITERATION;
        moves_only &= moves;
    }
    return moves_only;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t origin(struct pm_formulas *f, const struct pm_formula *formula, int depth);

static uint64_t origin_of_atom(struct pm_formulas *f, uint32_t number, int depth) {
    enum { DEEPEST = 6 };
    struct pm_atom atom = f->atoms[number];
    uint64_t hash = atom.kind;
    if ((atom.kind != PM_ATOM_LOAD && atom.kind != PM_ATOM_FUNCTION) || depth >= DEEPEST)
        return mix(hash, number);
    for (uint32_t i = 0; i < atom.n_arguments; i++) {
        struct pm_formula argument = pm_load_formula(f, f->arguments[atom.first_argument + i]);
        argument = pm_formula_resolve(f, &argument);
        hash = mix(hash, origin(f, &argument, depth + 1));
    }
    return hash;
}

/* The terms are added up, because their order is that of atoms' numbers. */
static uint64_t origin(struct pm_formulas *f, const struct pm_formula *formula, int depth) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < formula->n_terms; i++) {
        uint64_t product = 0;
        for (int k = 0; k < PM_TERM_ATOMS && formula->terms[i].atoms[k]; k++)
            product += origin_of_atom(f, formula->terms[i].atoms[k], depth);
        if (product)
            sum += mix(product, (uint64_t)formula->terms[i].factor);
    }
    return sum;
}

/* LARGER has the atoms of TERM and the number of an iteration: it is what a loop adds up of it. */
static bool is_added_up(const struct pm_formulas *f, const struct pm_formula_term *term,
                        const struct pm_formula_term *larger) {
    int k = 0, n_iterations = 0;
    for (int l = 0; l < PM_TERM_ATOMS && larger->atoms[l]; l++) {
        if (k < PM_TERM_ATOMS && term->atoms[k] == larger->atoms[l])
            k++;
        else if (f->atoms[larger->atoms[l]].kind == PM_ATOM_ITERATION)
            n_iterations++;
        else
            return false;
    }
    return n_iterations == 1 && (k == PM_TERM_ATOMS || term->atoms[k] == 0);
}

/* Copies of an access whose stride is no constant lie multiples of its terms apart. */
static struct pm_formula without_steps(const struct pm_formulas *f,
                                       const struct pm_formula *formula) {
    struct pm_formula kept = {0};
    for (uint32_t i = 0; i < formula->n_terms; i++) {
        bool is_step = false;
        for (uint32_t j = 0; j < formula->n_terms && formula->terms[i].atoms[0]; j++)
            is_step |= is_added_up(f, &formula->terms[i], &formula->terms[j]);
        if (!is_step)
            kept.terms[kept.n_terms++] = formula->terms[i];
    }
    return kept;
}

uint64_t pm_formula_origin(struct pm_formulas *f, const struct pm_formula *formula,
                           int64_t *constant) {
    *constant = formula->n_terms && formula->terms[0].atoms[0] == 0 ? formula->terms[0].factor : 0;
    struct pm_formula kept = without_steps(f, formula);
    return origin(f, &kept, 0);
}
