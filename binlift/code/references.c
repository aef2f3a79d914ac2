/* Numbers of references: one for each memory operand of an instruction in a basic block, in the
   order of instructions, and behind them what a called routine of the C library loads and stores.
   Needs basic blocks.  What each of them accesses formula/groups.c says later. */
#include "binlift/batches.h"
#include "binlift/lifted.h"

#include <stdlib.h>

/* Instructions outside of basic blocks are padding. */
static uint32_t references_of(const struct pm_lifted *lifted, uint32_t k) {
    const struct pm_insn *insn = &lifted->insns[k];
    const struct pm_called_routine *called;
    if (lifted->insn_block[k] == PM_NONE)
        return 0;
    called = pm_called_routine(lifted, insn);
    return insn->n_memory + (called && called->access & PM_ACCESS_LOAD) +
           (called && called->access & PM_ACCESS_STORE);
}

/* From 0 on in each batch; returns how many. */
static uint32_t number_batch(struct pm_lifted *lifted, const struct pm_batch *routines) {
    uint32_t n = 0, end = pm_batch_end_insn(lifted, routines);
    for (uint32_t k = pm_batch_first_insn(lifted, routines); k < end; k++) {
        lifted->insn_references[k] = n;
        n += references_of(lifted, k);
    }
    return n;
}

void pm_number_references(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    struct pm_batches routines = {0};
    pm_divide_routines(lifted, &routines);
    uint32_t *counts = pm_alloc(routines.n_items, sizeof *counts), n = 0;
    uint32_t *numbers = lifted->insn_references =
        pm_alloc(lifted->n_insns + 1, sizeof *lifted->insn_references);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < routines.n_items; i++)
        counts[i] = number_batch(lifted, &routines.items[i]);
    for (size_t i = 0; i < routines.n_items; i++) {
        uint32_t end = pm_batch_end_insn(lifted, &routines.items[i]);
        for (uint32_t k = pm_batch_first_insn(lifted, &routines.items[i]); k < end; k++)
            numbers[k] += n;
        n += counts[i];
    }
    numbers[lifted->n_insns] = n;
    for (size_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        structure->blocks[b].first_reference = numbers[code->first_insn];
        structure->blocks[b].n_references =
            numbers[code->first_insn + code->n_insns] - numbers[code->first_insn];
    }
    free(counts);
    free(routines.items);
}
