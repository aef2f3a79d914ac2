/* How long the stores of an iteration take to enter the first cache, which they do in the order of
   the program.

       cycles = Σ over stores of  store_line · (1 − p)

   p is the share of a store's executions that go to the same line as the store before it, with
   which they enter together: of two stores of one reference group that follow each other, and of a
   store that is alone in the iteration and its next execution, 1 − step / line, where the step is
   the stride or the size.  Of other stores p is 0. */
#include <math.h>
#include <stdlib.h>

#include "sched/graph/graph.h"

static const double line_bytes = 64;

/* Bytes from one execution of REFERENCE to the next; NAN unknown. */
static double stride_of(const struct pm_structure *structure, uint32_t reference) {
    uint32_t group = structure->references[reference].group;
    if (group == PM_NONE || structure->groups[group].n_strides == 0 ||
        structure->groups[group].strides[0].kind != PM_STRIDE_CONSTANT)
        return NAN;
    return fabs((double)structure->groups[group].strides[0].bytes);
}

static double share_together(const struct pm_structure *structure, uint32_t before,
                             uint32_t reference) {
    const struct pm_reference *references = structure->references;
    double step = references[reference].size_bytes;
    if (references[before].group != references[reference].group ||
        references[before].group == PM_NONE)
        return 0;
    if (before == reference)
        step = stride_of(structure, reference);
    return isnan(step) ? 0 : fmax(0, 1 - step / line_bytes);
}

double pm_graph_commit(const struct pm_target_machine *target, const struct pm_dep_graph *graph) {
    const struct pm_structure *structure = target->structure;
    uint32_t first = PM_NONE, before = PM_NONE;
    double lines = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        uint32_t reference = structure->ops[graph->nodes[i].op].reference;
        if (!graph->nodes[i].is_store || reference == PM_NONE)
            continue;
        if (before != PM_NONE)
            lines += 1 - share_together(structure, before, reference);
        first = first == PM_NONE ? reference : first;
        before = reference;
    }
    if (first != PM_NONE)
        lines += 1 - share_together(structure, before, first);
    return lines * target->machine->store_line_cycles;
}
