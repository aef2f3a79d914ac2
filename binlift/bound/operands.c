/* Which references of a nest stay as they are in its copy, as far as their addresses tell. */
#include "binlift/bound/private.h"
#include "binlift/code/code.h"

static const struct pm_reference *reference_of(const struct pm_nest_work *work,
                                               const struct pm_bound_operand *operand) {
    return &work->lifted->structure->references[operand->reference];
}

static uint32_t loop_of(const struct pm_nest_work *work, const struct pm_bound_operand *operand) {
    return work->lifted->structure->blocks[reference_of(work, operand)->block].loop;
}

/* ---- the frame ------------------------------------------------------------------------------- */

static struct pm_formulas *formulas_of(const struct pm_nest_work *work,
                                       const struct pm_bound_operand *operand) {
    return pm_bound_formulas(work, pm_bound_routine_of(work, operand->insn));
}

static bool is_in_frame(const struct pm_nest_work *work, const struct pm_bound_operand *operand) {
    const struct pm_memory_operand *memory = pm_bound_memory(work, operand);
    return memory->kind == PM_ACCESS_PLAIN && memory->segment == 0 &&
           memory->index == PM_REGISTER_NONE && memory->base < 32 &&
           pm_formula_is_frame_register(formulas_of(work, operand), memory->base);
}

static uint64_t frame_registers(const struct pm_nest_work *work, uint32_t routine) {
    uint64_t frame = 0;
    for (uint8_t number = 0; number < 32; number++)
        if (pm_formula_is_frame_register(pm_bound_formulas(work, routine), number))
            frame |= UINT64_C(1) << number;
    return frame;
}

/* Registers that the nest's blocks of ROUTINE define; calls give them back. */
static uint64_t defined_in(const struct pm_nest_work *work, uint32_t routine) {
    const struct pm_lifted *lifted = work->lifted;
    uint64_t defined = 0;
    for (size_t i = 0; i < work->n_blocks; i++) {
        const struct pm_block_code *code = &lifted->block_codes[work->blocks[i]];
        if (lifted->structure->blocks[work->blocks[i]].routine != routine)
            continue;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            if (!pm_is_call(lifted->insns[k].control))
                defined |= lifted->insns[k].registers->defs.general;
    }
    return defined;
}

/* Is it known where all operands in the frame of ROUTINE are?  What is pushed lies below the rest
   in any case. */
static bool places_are_known(const struct pm_nest_work *work, uint32_t routine) {
    for (size_t i = 0; i < work->n_operands; i++)
        if (work->operands[i].kind == PM_IN_FRAME && !work->operands[i].has_place &&
            !pm_bound_memory(work, &work->operands[i])->implicit &&
            pm_bound_routine_of(work, work->operands[i].insn) == routine)
            return false;
    return true;
}

/* The highest: pushes lead down from there. */
static int64_t find_height(const struct pm_nest_work *work) {
    int64_t height = INT64_MIN;
    for (size_t i = 0; i < work->n_operands; i++) {
        const struct pm_bound_operand *operand = &work->operands[i];
        const struct pm_memory_operand *memory = pm_bound_memory(work, operand);
        if (operand->kind == PM_IN_FRAME && operand->has_place &&
            memory->base == work->lifted->isa->stack_pointer &&
            pm_bound_routine_of(work, operand->insn) == work->routine &&
            operand->place - memory->displacement > height)
            height = operand->place - memory->displacement;
    }
    return height;
}

/* By how much INSN moves the stack pointer; false: not known. */
static bool stack_move(const struct pm_lifted *lifted, uint32_t k, int64_t *move) {
    const struct pm_insn *insn = &lifted->insns[k];
    uint8_t stack_pointer = lifted->isa->stack_pointer;
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    *move = 0;
    if (pm_is_call(insn->control) ||
        !(insn->registers->defs.general & UINT64_C(1) << stack_pointer))
        return true;
    unsigned n = lifted->isa->define(pm_insn_bytes(lifted, k), insn, definitions);
    for (unsigned i = 0; i < n; i++)
        if (definitions[i].place == stack_pointer && definitions[i].kind == PM_DEFINED_AS_SUM &&
            definitions[i].n_terms == 1 && definitions[i].terms[0].factor == 1 &&
            definitions[i].terms[0].place == stack_pointer) {
            *move = definitions[i].constant;
            return true;
        }
    return false;
}

/* Does each basic block of the nest's own routine give the stack pointer back, and never lift it
   above where it found it?  Then what is pushed lies below all that counts. */
static bool stack_is_balanced(const struct pm_nest_work *work) {
    const struct pm_lifted *lifted = work->lifted;
    for (size_t i = 0; i < work->n_blocks; i++) {
        const struct pm_block_code *code = &lifted->block_codes[work->blocks[i]];
        int64_t height = 0, move;
        if (lifted->structure->blocks[work->blocks[i]].routine != work->routine)
            continue;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            if (!stack_move(lifted, k, &move) || height + move > 0)
                return false;
            height += move;
        }
        if (height != 0)
            return false;
    }
    return true;
}

/* In the nest's own routine the frame pointer stays, and of the stack pointer it is known where it
   is, if it moves. */
static bool own_frame_stays(struct pm_nest_work *work) {
    uint64_t moved = defined_in(work, work->routine) & frame_registers(work, work->routine);
    uint64_t stack_pointer = UINT64_C(1) << work->lifted->isa->stack_pointer;
    work->stack_moves = (moved & stack_pointer) != 0;
    if ((moved & ~stack_pointer) ||
        (moved && (!places_are_known(work, work->routine) || !stack_is_balanced(work))))
        return false;
    if (work->stack_moves)
        work->height = find_height(work);
    return true;
}

/* A called routine stores no arguments of its own, which lie in the frame of its caller. */
static bool stores_above_frame(const struct pm_nest_work *work, uint32_t routine) {
    for (size_t i = 0; i < work->n_operands; i++) {
        const struct pm_bound_operand *operand = &work->operands[i];
        if (operand->kind == PM_IN_FRAME && operand->has_place && operand->place >= 0 &&
            (operand->access & PM_ACCESS_STORE) &&
            pm_bound_routine_of(work, operand->insn) == routine)
            return true;
    }
    return false;
}

static bool frames_stay(struct pm_nest_work *work) {
    if (!own_frame_stays(work))
        return false;
    for (size_t i = 0; i < work->n_callees; i++)
        if (!places_are_known(work, work->callees[i]) || stores_above_frame(work, work->callees[i]))
            return false;
    return true;
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* Is the address the same in all iterations of all loops of the nest around the operand?  Of a
   called routine only what has a known address. */
static bool is_invariant(const struct pm_nest_work *work, const struct pm_bound_operand *operand) {
    struct pm_formula_level levels[PM_MOST_LEVELS];
    struct pm_formulas *formulas = formulas_of(work, operand);
    int64_t ignored;
    if (pm_bound_routine_of(work, operand->insn) != work->routine) {
        struct pm_formula address =
            pm_formula_of_operand(formulas, operand->insn, operand->operand);
        return pm_formula_constant(&address, &ignored);
    }
    uint32_t n =
        pm_formula_levels(formulas, operand->insn, operand->operand, levels, PM_MOST_LEVELS);
    for (uint32_t i = 0; i < n; i++) {
        if (levels[i].step.kind != PM_STRIDE_CONSTANT || levels[i].step.bytes != 0)
            return false;
        if (levels[i].loop == work->loop)
            return true;
    }
    return false;
}

/* The name of the object at a known address; NULL: it is not known. */
static const char *object_of(const struct pm_nest_work *work,
                             const struct pm_bound_operand *operand) {
    struct pm_formulas *formulas = formulas_of(work, operand);
    struct pm_formula address = pm_formula_of_operand(formulas, operand->insn, operand->operand);
    int64_t constant;
    return pm_formula_is_fixed(formulas, &address, &constant)
               ? pm_data_symbol_at(work->lifted->data_symbols, (uint64_t)constant)
               : NULL;
}

/* Of references directly in one loop: do its dependences say that they may meet? */
static bool may_meet_in_loop(const struct pm_nest_work *work, uint32_t loop, uint32_t a,
                             uint32_t b) {
    size_t n;
    const struct pm_dependence *all = pm_structure_dependences(work->lifted->structure, loop, &n);
    for (size_t i = 0; i < n; i++)
        if ((all[i].from == a && all[i].to == b) || (all[i].from == b && all[i].to == a) ||
            all[i].from == PM_NONE)
            return true;
    return false;
}

static bool may_meet(const struct pm_nest_work *work, const struct pm_bound_operand *load,
                     const struct pm_bound_operand *store) {
    const struct pm_structure *structure = work->lifted->structure;
    if (structure->groups[reference_of(work, load)->group].flags & PM_GROUP_CONSTANTS)
        return false;
    if (loop_of(work, load) != PM_NONE && loop_of(work, load) == loop_of(work, store) &&
        work->n_callees == 0)
        return may_meet_in_loop(work, loop_of(work, load), load->reference, store->reference);
    const char *one = object_of(work, load), *other = object_of(work, store);
    return !one || !other || one == other;
}

static bool is_scalar(const struct pm_nest_work *work, const struct pm_bound_operand *load) {
    if (load->access != PM_ACCESS_LOAD || reference_of(work, load)->kind != PM_ACCESS_PLAIN ||
        !is_invariant(work, load))
        return false;
    for (size_t i = 0; i < work->n_operands; i++) {
        const struct pm_bound_operand *store = &work->operands[i];
        if ((store->access & PM_ACCESS_STORE) && store->kind != PM_IN_FRAME &&
            may_meet(work, load, store))
            return false;
    }
    return true;
}

static bool has_frame_base(const struct pm_insn *insn, uint64_t frame) {
    for (unsigned i = 0; i < insn->n_memory; i++)
        if (insn->memory[i].base < 32 && (frame >> insn->memory[i].base & 1))
            return true;
    return false;
}

/* Does INSN give an address in the frame to memory, or to a register that is none of the frame's?
 */
static bool gives_frame_away(const struct pm_insn *insn, uint64_t frame) {
    uint64_t others = insn->registers->defs.general & UINT32_MAX & ~frame;
    bool uses = (insn->registers->uses.general & frame) && !has_frame_base(insn, frame);
    return uses && !pm_is_call(insn->control) && (others || insn->n_memory > 0);
}

/* If no instruction of the routine does, no pointer leads there. */
static bool frame_escapes(const struct pm_nest_work *work, uint32_t number) {
    const struct pm_lifted *lifted = work->lifted;
    const struct pm_routine *routine = &lifted->structure->routines[number];
    uint64_t frame = frame_registers(work, number);
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            if (gives_frame_away(&lifted->insns[k], frame))
                return true;
    }
    return false;
}

/* Places in the frame of ROUTINE that pointers reach. */
static void mark_reached_in(struct pm_nest_work *work, uint32_t routine) {
    if (!frame_escapes(work, routine))
        return;
    for (size_t i = 0; i < work->n_operands; i++) {
        struct pm_bound_operand *operand = &work->operands[i];
        if (operand->kind == PM_IN_FRAME && pm_bound_routine_of(work, operand->insn) == routine &&
            !pm_bound_memory(work, operand)->implicit)
            operand->is_reached = !pm_formula_is_slot(pm_bound_formulas(work, routine),
                                                      operand->insn, operand->operand);
    }
}

/* If a pointer stores. */
static void mark_reached(struct pm_nest_work *work) {
    bool stores = work->library_stores;
    for (size_t i = 0; i < work->n_operands; i++)
        stores |=
            work->operands[i].kind != PM_IN_FRAME && (work->operands[i].access & PM_ACCESS_STORE);
    if (!stores)
        return;
    mark_reached_in(work, work->routine);
    for (size_t i = 0; i < work->n_callees; i++)
        mark_reached_in(work, work->callees[i]);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void add_operand(struct pm_nest_work *work, uint32_t insn, uint32_t r) {
    const struct pm_reference *reference = &work->lifted->structure->references[r];
    struct pm_bound_operand *operand = PM_PUSH(work, operands);
    *operand = (struct pm_bound_operand){
        .insn = insn, .reference = r, .operand = reference->operand, .access = reference->access};
    operand->kind = is_in_frame(work, operand) ? PM_IN_FRAME : PM_IN_SLOT;
    if (operand->kind == PM_IN_FRAME)
        operand->has_place = pm_formula_frame_place(formulas_of(work, operand), insn,
                                                    operand->operand, &operand->place);
}

bool pm_bound_find_operands(struct pm_nest_work *work) {
    const struct pm_lifted *lifted = work->lifted;
    for (size_t i = 0; i < work->n_blocks; i++) {
        const struct pm_block_code *code = &lifted->block_codes[work->blocks[i]];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            for (uint32_t r = lifted->insn_references[k]; r < lifted->insn_references[k + 1]; r++)
                add_operand(work, k, r);
    }
    if (!frames_stay(work))
        return false;
    mark_reached(work);
    for (size_t i = 0; i < work->n_operands; i++)
        if (work->operands[i].kind == PM_IN_SLOT && is_scalar(work, &work->operands[i]))
            work->operands[i].kind = PM_IS_SCALAR;
    return true;
}
