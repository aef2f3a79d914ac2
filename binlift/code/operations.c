/* The generic operations of every basic block.  Needs basic blocks, numbers of references
   and classes.

   Each operation keeps the mnemonic of its instruction.  One without a class becomes an operation
   PM_OP_UNKNOWN, and its mnemonic is kept with its basic block, too. */
#include "binlift/batches.h"
#include "binlift/op_registers.h"

#include <stdlib.h>
#include <string.h>

struct batch {
    PM_ARRAY(struct pm_op, ops);
    PM_ARRAY(struct pm_unknown, unknowns);
};

static void add_unknown(const struct pm_lifted *lifted, struct batch *batch, uint32_t block,
                        uint32_t number) {
    const char *mnemonic = lifted->isa->mnemonic(number);
    mnemonic = mnemonic ? mnemonic : "?";
    for (size_t i = batch->n_unknowns; i-- > 0 && batch->unknowns[i].block == block;)
        if (strcmp(batch->unknowns[i].mnemonic, mnemonic) == 0) {
            batch->unknowns[i].count++;
            return;
        }
    *PM_PUSH(batch, unknowns) = (struct pm_unknown){block, 1, pm_strdup(mnemonic)};
}

static void translate(const struct pm_lifted *lifted, struct batch *batch, uint32_t block,
                      uint32_t k) {
    struct pm_op ops[PM_MOST_OPS];
    bool is_unknown = false;
    unsigned n =
        lifted->isa->translate(pm_insn_bytes(lifted, k), &lifted->insns[k], lifted->classes, ops);
    for (unsigned i = 0; i < n; i++) {
        struct pm_op *op = PM_PUSH(batch, ops);
        *op = ops[i];
        op->instruction_start = i == 0;
        if (op->reference != PM_NONE) /* the operand's number */
            op->reference += lifted->insn_references[k];
        is_unknown |= op->op_class == PM_OP_UNKNOWN;
    }
    if (is_unknown)
        add_unknown(lifted, batch, block, ops[0].mnemonic - 1);
}

/* Numbers of operations count from the start of the batch. */
static void translate_batch(struct pm_lifted *lifted, const struct pm_batch *routines,
                            struct batch *batch) {
    for (uint32_t r = routines->first; r < routines->end; r++) {
        const struct pm_routine *routine = &lifted->structure->routines[r];
        for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
            struct pm_block *block = &lifted->structure->blocks[b];
            const struct pm_block_code *code = &lifted->block_codes[b];
            block->first_op = (uint32_t)batch->n_ops;
            for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
                translate(lifted, batch, b, k);
            block->n_ops = (uint32_t)batch->n_ops - block->first_op;
        }
    }
}

static void gather(struct pm_lifted *lifted, const struct pm_batches *routines,
                   struct batch *batches) {
    struct pm_structure *structure = lifted->structure;
    size_t n = 0;
    for (size_t i = 0; i < routines->n_items; i++)
        n += batches[i].n_ops;
    structure->ops = pm_alloc(n, sizeof *structure->ops);
    structure->cap_ops = n;
    for (size_t i = 0; i < routines->n_items; i++) {
        struct batch *batch = &batches[i];
        for (uint32_t r = routines->items[i].first; r < routines->items[i].end; r++)
            for (uint32_t b = 0; b < structure->routines[r].n_blocks; b++)
                structure->blocks[structure->routines[r].first_block + b].first_op +=
                    (uint32_t)structure->n_ops;
        if (batch->n_ops)
            memcpy(structure->ops + structure->n_ops, batch->ops,
                   batch->n_ops * sizeof *batch->ops);
        structure->n_ops += batch->n_ops;
        for (size_t u = 0; u < batch->n_unknowns; u++)
            *PM_PUSH(structure, unknowns) = batch->unknowns[u];
        free(batch->ops);
        free(batch->unknowns);
    }
}

/* Those of the ISA's mnemonics that occur get the structure's own numbers, in order of the code. */
static void number_mnemonics(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    uint32_t *numbers = pm_alloc(lifted->isa->n_mnemonics + 1, sizeof *numbers);
    for (size_t i = 0; i < structure->n_ops; i++) {
        struct pm_op *op = &structure->ops[i];
        uint32_t number = op->mnemonic - 1;
        const char *name = number < lifted->isa->n_mnemonics ? lifted->isa->mnemonic(number) : NULL;
        if (name && !numbers[number]) {
            *PM_PUSH(structure, mnemonics) = pm_strdup(name);
            numbers[number] = (uint32_t)structure->n_mnemonics;
        }
        op->mnemonic = name ? numbers[number] : 0;
    }
    free(numbers);
}

void pm_translate_blocks(struct pm_lifted *lifted) {
    struct pm_batches routines = {0};
    pm_divide_routines(lifted, &routines);
    struct batch *batches = pm_alloc(routines.n_items, sizeof *batches);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < routines.n_items; i++)
        translate_batch(lifted, &routines.items[i], &batches[i]);
    gather(lifted, &routines, batches);
    number_mnemonics(lifted);
    free(batches);
    free(routines.items);
}
