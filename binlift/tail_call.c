/* Is an indirect jump without a table a tail call through a pointer, or does it go to places in its
   routine that were not found?  Needs instructions, landings.

   The compiler's word comes first.  Without it, it is a tail call where saved registers are popped
   just before it, or where it goes through a fixed slot.  If no label of the routine is known to be
   taken as a value, it is also taken for one
   - where its target is loaded from a place without an index (a member of a structure), and
   - where the stack frame is taken down just before it, or the routine has none. */
#include "binlift/lifted.h"

#include <stdlib.h>

enum { LOOK_BACK = 40 };
#define GENERAL_BITS UINT32_MAX

static bool moves_stack(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    return (insn->registers->defs.general >> lifted->isa->stack_pointer & 1) &&
           insn->control == PM_CONTROL_NONE;
}

/* pop, leave; ldp of saved registers that gives the stack back */
static bool pops(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    return moves_stack(lifted, insn) && insn->n_memory &&
           (insn->memory[0].implicit || insn->memory[0].base == lifted->isa->stack_pointer) &&
           insn->memory[0].access == PM_ACCESS_LOAD;
}

static bool has_frame(const struct pm_lifted *lifted, const struct pm_routine_code *code) {
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        if (moves_stack(lifted, &lifted->insns[k]))
            return true;
    return false;
}

/* push, and making room: the frame is still being set up. */
static bool sets_up_frame(const struct pm_lifted *lifted, uint32_t number) {
    const struct pm_insn *insn = &lifted->insns[number];
    struct pm_definition step[PM_MOST_DEFINITIONS];
    if (insn->n_memory && insn->memory[0].implicit)
        return insn->memory[0].access == PM_ACCESS_STORE;
    unsigned n = lifted->isa->define(pm_insn_bytes(lifted, number), insn, step);
    for (unsigned i = 0; i < n; i++)
        if (step[i].place == lifted->isa->stack_pointer)
            return step[i].kind == PM_DEFINED_AS_SUM && step[i].n_terms == 1 &&
                   step[i].terms[0].place == lifted->isa->stack_pointer && step[i].constant < 0;
    return false;
}

/* The instruction that gives the stack back in the straight line before JUMP, or NULL. */
static const struct pm_insn *stack_move_before(const struct pm_lifted *lifted,
                                               const struct pm_routine_code *code, uint32_t jump) {
    for (uint32_t k = jump; k-- > code->first_insn && jump - k <= LOOK_BACK;) {
        const struct pm_insn *insn = &lifted->insns[k];
        if (insn->control != PM_CONTROL_NONE || (lifted->insn_marks[k] & PM_MARK_PART_END))
            return NULL;
        if (moves_stack(lifted, insn))
            return sets_up_frame(lifted, k) ? NULL : insn;
    }
    return NULL;
}

/* The register that instruction NUMBER copies into the one of the set TO; false: no copy. */
static bool copies(const struct pm_lifted *lifted, uint32_t number, uint64_t to, uint64_t *from) {
    struct pm_definition made[PM_MOST_DEFINITIONS];
    const struct pm_insn *insn = &lifted->insns[number];
    unsigned n = lifted->isa->define(pm_insn_bytes(lifted, number), insn, made);
    for (unsigned i = 0; i < n; i++)
        if (made[i].place < 32 && to >> made[i].place & 1 && made[i].kind == PM_DEFINED_AS_SUM &&
            made[i].n_terms == 1 && made[i].terms[0].place < 32 && made[i].terms[0].factor == 1 &&
            made[i].constant == 0) {
            *from = UINT64_C(1) << made[i].terms[0].place;
            return true;
        }
    return false;
}

/* Is the register that JUMP goes through loaded from a place without an index? */
static bool target_is_member(const struct pm_lifted *lifted, const struct pm_routine_code *code,
                             uint32_t jump) {
    uint64_t target = lifted->insns[jump].registers->uses.general & GENERAL_BITS;
    for (uint32_t k = jump; k-- > code->first_insn && jump - k <= LOOK_BACK;) {
        const struct pm_insn *insn = &lifted->insns[k];
        if ((insn->control != PM_CONTROL_NONE && insn->control != PM_CONTROL_BRANCH) ||
            (lifted->insn_marks[k] & PM_MARK_PART_END))
            return false;
        if (!(insn->registers->defs.general & target) || copies(lifted, k, target, &target))
            continue;
        return insn->n_memory == 1 && insn->memory[0].access == PM_ACCESS_LOAD &&
               insn->memory[0].index == PM_REGISTER_NONE && insn->memory[0].size_bytes == 8 &&
               (insn->registers->kills.general & target);
    }
    return false;
}

bool pm_is_tail_call(const struct pm_lifted *lifted, uint32_t routine, uint32_t jump) {
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    const struct pm_insn *insn = &lifted->insns[jump];
    const struct pm_insn *stack_move = stack_move_before(lifted, code, jump);
    struct pm_addresses targets = {0};
    bool leaves = false;
    if (pm_metadata_jump(lifted, jump, &targets, &leaves)) {
        free(targets.addresses);
        return leaves && targets.n_addresses == 0;
    }
    if (insn->n_memory && insn->memory[0].base == PM_REGISTER_PC)
        return true;
    if (stack_move && pops(lifted, stack_move))
        return true;
    if (code->interior_references)
        return false;
    if (insn->n_memory)
        return insn->memory[0].index == PM_REGISTER_NONE || stack_move || !has_frame(lifted, code);
    return stack_move || !has_frame(lifted, code) || target_is_member(lifted, code, jump);
}
