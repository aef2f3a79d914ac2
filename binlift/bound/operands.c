/* Which references of a nest stay as they are in its copy, as far as their addresses tell. */
#include "binlift/bound/private.h"

static const struct pm_reference *reference_of(const struct pm_nest_work *work,
                                               const struct pm_bound_operand *operand) {
    return &work->lifted->structure->references[operand->reference];
}

static uint32_t loop_of(const struct pm_nest_work *work, const struct pm_bound_operand *operand) {
    return work->lifted->structure->blocks[reference_of(work, operand)->block].loop;
}

/* ---- the frame ------------------------------------------------------------------------------- */

static bool is_in_frame(const struct pm_nest_work *work, const struct pm_bound_operand *operand) {
    const struct pm_memory_operand *memory = pm_bound_memory(work, operand);
    return memory->kind == PM_ACCESS_PLAIN && memory->segment == 0 &&
           memory->index == PM_REGISTER_NONE && memory->base < 32 &&
           pm_formula_is_frame_register(work->formulas, memory->base);
}

static uint64_t frame_registers(const struct pm_nest_work *work) {
    uint64_t frame = 0;
    for (uint8_t number = 0; number < 32; number++)
        if (pm_formula_is_frame_register(work->formulas, number))
            frame |= UINT64_C(1) << number;
    return frame;
}

static bool frame_stays(const struct pm_nest_work *work) {
    const struct pm_lifted *lifted = work->lifted;
    uint64_t defined = 0;
    for (size_t i = 0; i < work->n_blocks; i++) {
        const struct pm_block_code *code = &lifted->block_codes[work->blocks[i]];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            defined |= lifted->insns[k].registers->defs.general;
    }
    return !(defined & frame_registers(work));
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* Is the address the same in all iterations of all loops of the nest around the operand? */
static bool is_invariant(const struct pm_nest_work *work, const struct pm_bound_operand *operand) {
    struct pm_formula_level levels[PM_MOST_LEVELS];
    uint32_t n =
        pm_formula_levels(work->formulas, operand->insn, operand->operand, levels, PM_MOST_LEVELS);
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
    struct pm_formula address =
        pm_formula_of_operand(work->formulas, operand->insn, operand->operand);
    int64_t constant;
    return pm_formula_is_fixed(work->formulas, &address, &constant)
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
    if (loop_of(work, load) == loop_of(work, store))
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
static bool frame_escapes(const struct pm_nest_work *work) {
    const struct pm_lifted *lifted = work->lifted;
    const struct pm_routine *routine = &lifted->structure->routines[work->routine];
    uint64_t frame = frame_registers(work);
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            if (gives_frame_away(&lifted->insns[k], frame))
                return true;
    }
    return false;
}

/* Places of the frame that pointers reach, if a pointer stores. */
static void mark_reached(struct pm_nest_work *work) {
    bool stores = false;
    for (size_t i = 0; i < work->n_operands; i++)
        stores |=
            work->operands[i].kind != PM_IN_FRAME && (work->operands[i].access & PM_ACCESS_STORE);
    if (!stores || !frame_escapes(work))
        return;
    for (size_t i = 0; i < work->n_operands; i++) {
        struct pm_bound_operand *operand = &work->operands[i];
        operand->is_reached = operand->kind == PM_IN_FRAME &&
                              !pm_formula_is_slot(work->formulas, operand->insn, operand->operand);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool pm_bound_find_operands(struct pm_nest_work *work) {
    const struct pm_lifted *lifted = work->lifted;
    if (!frame_stays(work))
        return false;
    for (size_t i = 0; i < work->n_blocks; i++) {
        const struct pm_block_code *code = &lifted->block_codes[work->blocks[i]];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            for (uint32_t r = lifted->insn_references[k]; r < lifted->insn_references[k + 1]; r++) {
                const struct pm_reference *reference = &lifted->structure->references[r];
                struct pm_bound_operand *operand = PM_PUSH(work, operands);
                *operand = (struct pm_bound_operand){.insn = k,
                                                     .reference = r,
                                                     .operand = reference->operand,
                                                     .access = reference->access};
                operand->kind = is_in_frame(work, operand) ? PM_IN_FRAME : PM_IN_SLOT;
            }
    }
    mark_reached(work);
    for (size_t i = 0; i < work->n_operands; i++)
        if (work->operands[i].kind == PM_IN_SLOT && is_scalar(work, &work->operands[i]))
            work->operands[i].kind = PM_IS_SCALAR;
    return true;
}
