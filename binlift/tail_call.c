/* Is an indirect jump without a table a tail call through a pointer, or does it go to places in its
   routine that were not found?  Needs instructions, landings.

   It is taken for a tail call where the routine's labels are not taken as values and either
   - its target is loaded from a place without an index (a member of a structure, the GOT), or
   - the stack frame is taken down just before it, or the routine has none. */
#include "binlift/lifted.h"

enum { STACK_POINTER_BIT = 1 << 4, EPILOGUE_INSTRUCTIONS = 12 };

/* Push, pop, add, sub, leave … of the stack pointer. */
static bool moves_stack(const struct pm_insn *insn) {
    return (insn->defs.general & STACK_POINTER_BIT) != 0 && insn->control == PM_CONTROL_NONE;
}

static bool has_frame(const struct pm_lifted *lifted, const struct pm_routine_code *code) {
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        if (moves_stack(&lifted->insns[k]))
            return true;
    return false;
}

static bool follows_epilogue(const struct pm_lifted *lifted, const struct pm_routine_code *code,
                             uint32_t jump) {
    for (uint32_t k = jump; k-- > code->first_insn && jump - k <= EPILOGUE_INSTRUCTIONS;) {
        const struct pm_insn *insn = &lifted->insns[k];
        if (insn->control != PM_CONTROL_NONE)
            return false;
        if (moves_stack(insn))
            return true;
    }
    return false;
}

bool pm_is_tail_call(const struct pm_lifted *lifted, uint32_t routine, uint32_t jump) {
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    const struct pm_insn *insn = &lifted->insns[jump];
    if (insn->n_memory && insn->memory[0].base == PM_REGISTER_PC)
        return true;
    if (code->interior_references)
        return false;
    if (insn->n_memory && insn->memory[0].index == PM_REGISTER_NONE)
        return true;
    return follows_epilogue(lifted, code, jump) || !has_frame(lifted, code);
}
