/* How long the stores of an iteration take to enter the first cache, which they do in the order of
   the program.

       cycles = Σ over stores of  store_line · (1 − p)

   p is the share of a store's executions that go to the same line as the store before it, with
   which they enter together: 1 − step / line.  Of two stores of one reference group that follow
   each other the step is the size, if their addresses are of the same registers, else they are
   taken to be in different lines; from the last store of an iteration to the first of the next one
   it is what the stride leaves. */
#include <math.h>
#include <stdlib.h>

#include "sched/graph/graph.h"
#include "sched/sched.h"

static const double line_bytes = 64;

/* Are the places of two stores of one group and of the same registers? */
static bool are_near(const struct pm_structure *structure, const struct pm_op *a,
                     const struct pm_op *b) {
    uint32_t group = structure->references[a->reference].group;
    if (group == PM_NONE || structure->references[b->reference].group != group)
        return false;
    for (unsigned k = 1; k < PM_OP_N_USES; k++) /* the first is the data */
        if (a->uses[k] != b->uses[k])
            return false;
    return true;
}

static double share_together(double step) {
    return isnan(step) ? 0 : fmax(0, 1 - step / line_bytes);
}

double pm_graph_commit(const struct pm_target_machine *target, const struct pm_dep_graph *graph) {
    const struct pm_structure *structure = target->structure;
    const struct pm_op *first = NULL, *before = NULL;
    double lines = 0, bytes = 0; /* from the first store to the end of the present one */
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_op *op = &structure->ops[graph->nodes[i].op];
        if (!graph->nodes[i].is_store || op->reference == PM_NONE)
            continue;
        double size = structure->references[op->reference].size_bytes;
        bool is_near = before && are_near(structure, before, op);
        if (before)
            lines += 1 - (is_near ? share_together(size) : 0);
        bytes = is_near ? bytes + size : size;
        first = first ? first : op;
        before = op;
    }
    if (first) {
        double step = fabs(pm_reference_step(structure, NULL, first->reference));
        double last = structure->references[before->reference].size_bytes;
        lines += 1 - (are_near(structure, before, first) ? share_together(fabs(step - bytes + last))
                                                         : 0);
    }
    return lines * target->machine->store_line_cycles;
}
