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

/* What gives a value: from when on it is worked out, and for how long. */
struct value {
    double begin_cycle, latency_cycles;
    uint32_t row;
};

double pm_block_latency_cycles(const struct pm_target_machine *target, uint32_t block) {
    const struct pm_block *b = &target->structure->blocks[block];
    const struct pm_machine *machine = target->machine;
    struct value values[PM_REGISTER_NONE + 1];
    for (unsigned k = 0; k <= PM_REGISTER_NONE; k++)
        values[k] = (struct value){.row = PM_NONE};
    double chain = 0;
    for (uint32_t i = b->first_op; i < b->first_op + b->n_ops; i++) {
        const struct pm_op *op = &target->structure->ops[i];
        struct pm_need need;
        pm_op_need(target, i, &need);
        struct value self = {.latency_cycles = need.latency_cycles, .row = pm_need_row(&need)};
        for (unsigned k = 0; k < PM_OP_N_USES; k++) {
            if (op->uses[k] == PM_REGISTER_NONE)
                continue;
            const struct value *used = &values[op->uses[k]];
            self.begin_cycle =
                fmax(self.begin_cycle, used->begin_cycle + used->latency_cycles +
                                           pm_bypass_cycles(target, used->row, self.row));
        }
        chain = fmax(chain, self.begin_cycle + self.latency_cycles);
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
            values[op->defs[k]] = self; /* PM_REGISTER_NONE: never read */
    }
    if (!machine->out_of_order)
        return chain;
    return machine->window ? chain * fmin(1, (double)b->n_ops / machine->window) : 0;
}
