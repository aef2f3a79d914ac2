/* The latency bound of code outside loops, where no next iteration fills the gaps.

       cycles of one execution = L · min(1, n / W)       out of order
                               = L                        in order

   L is the longest dependence chain of the basic block in cycles, n its operations, W the window
   (operations in flight).  Out of order, the code before and after overlaps with the block: an
   operation stays in flight for about L, at most W are, so n of them take at least L · n / W
   (Little's law).  Without a known window the chain counts as hidden.
   Assumes that loads hit the first level; dependences through memory are not seen. */
#include "sched/schedule.h"

#include <math.h>

double pm_block_latency_cycles(const struct pm_structure *structure,
                               const struct pm_machine *machine, const struct pm_unit_sets *sets,
                               uint32_t block) {
    const struct pm_block *b = &structure->blocks[block];
    double ready[PM_REGISTER_NONE + 1] = {0}, chain = 0;
    for (uint32_t i = b->first_op; i < b->first_op + b->n_ops; i++) {
        const struct pm_op *op = &structure->ops[i];
        struct pm_need need;
        pm_op_need(machine, sets, op, &need);
        double time = 0;
        for (unsigned k = 0; k < PM_OP_N_USES; k++)
            if (op->uses[k] != PM_REGISTER_NONE)
                time = fmax(time, ready[op->uses[k]]);
        time += need.latency_cycles;
        chain = fmax(chain, time);
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
            ready[op->defs[k]] = time; /* PM_REGISTER_NONE: never read */
    }
    if (!machine->out_of_order)
        return chain;
    return machine->window ? chain * fmin(1, (double)b->n_ops / machine->window) : 0;
}
