/* Bytes of code that some instruction reads as data, by an address relative to the program counter.
   Compilers of interpreters do it: one place's immediate is another's constant.  Such bytes keep
   their value when the code around them moves: no int3, no landing jump, no call that is
   redirected.  A routine in which control may arrive at one of them stays as it is.

   Needs the choice of routines that are rewritten, and narrows it.  Fills pm_rewrite.read. */
#include "binlift/x86/rewrite/rewrite.h"

#include <stdlib.h>

static int compare_ranges(const void *left, const void *right) {
    const struct pm_byte_range *a = left, *b = right;
    return a->low < b->low ? -1 : a->low > b->low;
}

static void find_ranges(struct pm_rewrite *rewrite) {
    const struct pm_lifted *lifted = rewrite->lifted;
    for (uint32_t k = 0; k < lifted->n_insns; k++) {
        const struct pm_insn *insn = &lifted->insns[k];
        for (unsigned m = 0; m < insn->n_memory; m++) {
            const struct pm_memory_operand *memory = &insn->memory[m];
            uint64_t low = (uint64_t)memory->displacement;
            if (memory->base == PM_REGISTER_PC && low >= lifted->text_low &&
                low < lifted->text_high)
                *PM_PUSH(rewrite, read) = (struct pm_byte_range){low, low + memory->size_bytes};
        }
    }
    if (rewrite->n_read)
        qsort(rewrite->read, rewrite->n_read, sizeof *rewrite->read, compare_ranges);
}

/* May control arrive at ADDRESS: as a block's start, or when a call comes back? */
static uint32_t routine_entered_at(const struct pm_lifted *lifted, uint64_t address) {
    uint32_t k = pm_insn_at(lifted, address);
    bool returns = k != PM_NONE && k > 0 && pm_is_call(lifted->insns[k - 1].control) &&
                   lifted->insns[k - 1].address + lifted->insns[k - 1].length == address;
    return returns || pm_block_at(lifted, address) != PM_NONE ? pm_routine_at(lifted, address)
                                                              : PM_NONE;
}

void pm_x86_find_read_code(struct pm_rewrite *rewrite) {
    find_ranges(rewrite);
    for (size_t i = 0; i < rewrite->n_read; i++)
        for (uint64_t at = rewrite->read[i].low; at < rewrite->read[i].high; at++) {
            uint32_t routine = routine_entered_at(rewrite->lifted, at);
            if (routine != PM_NONE)
                rewrite->rewritten[routine] = false;
        }
}

bool pm_x86_is_read(const struct pm_rewrite *rewrite, uint64_t address, uint64_t n_bytes) {
    size_t low = 0, high = rewrite->n_read;
    while (low < high) { /* the first range that may reach up to ADDRESS */
        size_t middle = low + (high - low) / 2;
        if (rewrite->read[middle].low + UINT16_MAX < address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < rewrite->n_read && rewrite->read[i].low < address + n_bytes; i++)
        if (rewrite->read[i].high > address)
            return true;
    return false;
}
