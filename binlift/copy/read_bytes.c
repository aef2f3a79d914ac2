/* Bytes of code that some instruction reads as data, by an address relative to the program counter.
   Compilers of interpreters do it: one place's immediate is another's constant.  Such bytes keep
   their value when the code around them moves: no int3, no trampoline, no call that is
   redirected.  A routine in which control may arrive at one of them stays as it is.

   Part of the choice of routines that move.  Fills pm_instrumentation_plan.read_bytes. */
#include "binlift/copy/private.h"

#include <stdlib.h>

static int compare_ranges(const void *left, const void *right) {
    const struct pm_byte_range *a = left, *b = right;
    return PM_COMPARE(a->low, b->low);
}

static void find_ranges(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan) {
    for (uint32_t k = 0; k < lifted->n_insns; k++) {
        const struct pm_insn *insn = &lifted->insns[k];
        for (unsigned m = 0; m < insn->n_memory; m++) {
            const struct pm_memory_operand *memory = &insn->memory[m];
            uint64_t low = (uint64_t)memory->displacement;
            if (memory->base == PM_REGISTER_PC && low >= lifted->text_low &&
                low < lifted->text_high)
                *PM_PUSH(plan, read_bytes) = (struct pm_byte_range){low, low + memory->size_bytes};
        }
    }
    PM_SORT(plan->read_bytes, plan->n_read_bytes, compare_ranges);
}

/* May control arrive at ADDRESS: as a block's start, or when a call comes back? */
static uint32_t routine_entered_at(const struct pm_lifted *lifted, uint64_t address) {
    uint32_t k = pm_insn_at(lifted, address);
    bool returns = k != PM_NONE && k > 0 && pm_is_call(lifted->insns[k - 1].control) &&
                   lifted->insns[k - 1].address + lifted->insns[k - 1].length == address;
    return returns || pm_block_at(lifted, address) != PM_NONE ? pm_routine_at(lifted, address)
                                                              : PM_NONE;
}

void pm_find_read_bytes(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan) {
    find_ranges(lifted, plan);
    for (size_t i = 0; i < plan->n_read_bytes; i++)
        for (uint64_t at = plan->read_bytes[i].low; at < plan->read_bytes[i].high; at++) {
            uint32_t routine = routine_entered_at(lifted, at);
            if (routine != PM_NONE)
                plan->moves[routine] = false;
        }
}

bool pm_is_read_as_data(const struct pm_instrumentation_plan *plan, uint64_t address,
                        uint64_t n_bytes) {
    const struct pm_byte_range *ranges = plan->read_bytes;
    /* From the first range on that may reach up to ADDRESS. */
    for (size_t i = PM_LOWER_BOUND(plan->n_read_bytes, i, ranges[i].low + UINT16_MAX < address);
         i < plan->n_read_bytes && ranges[i].low < address + n_bytes; i++)
        if (ranges[i].high > address)
            return true;
    return false;
}
