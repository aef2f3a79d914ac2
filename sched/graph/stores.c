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

/* Where the machine does not say it. */
static const double first_cache_line = 64;
/* Stores of an iteration of which one is loaded again enter one by one, up to so many. */
static const double most_alone = 2;

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

static double share_together(const struct pm_machine *machine, double step) {
    double line = machine->store_line_bytes ? (double)machine->store_line_bytes : first_cache_line;
    return isnan(step) ? 0 : fmax(0, 1 - step / line);
}

static double lines_by_strides(const struct pm_target_machine *target,
                               const struct pm_dep_graph *graph) {
    const struct pm_structure *structure = target->structure;
    const struct pm_machine *machine = target->machine;
    const struct pm_op *first = NULL, *before = NULL;
    double lines = 0, bytes = 0; /* from the first store to the end of the present one */
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_op *op = &structure->ops[graph->nodes[i].op];
        if (!graph->nodes[i].is_store || op->reference == PM_NONE)
            continue;
        double size = structure->references[op->reference].size_bytes;
        bool is_near = before && are_near(structure, before, op);
        if (before)
            lines += 1 - (is_near ? share_together(machine, size) : 0);
        bytes = is_near ? bytes + size : size;
        first = first ? first : op;
        before = op;
    }
    if (first) {
        double step = fabs(pm_reference_step(structure, NULL, first->reference));
        double last = structure->references[before->reference].size_bytes;
        lines += 1 - (are_near(structure, before, first)
                          ? share_together(machine, fabs(step - bytes + last))
                          : 0);
    }
    return lines;
}

/* Is the node a load of an instruction that stores? */
static bool stores_too(const struct pm_dep_graph *graph, uint32_t node) {
    for (size_t i = node + 1; i < graph->n_nodes && !graph->nodes[i].starts_instruction; i++)
        if (graph->nodes[i].is_store)
            return true;
    return false;
}

static double stores_alone(const struct pm_dep_graph *graph) {
    double stores = 0;
    bool are_loaded = false;
    for (size_t i = 0; i < graph->n_nodes; i++)
        stores += graph->nodes[i].is_store;
    for (size_t i = 0; i < graph->n_waits; i++)
        are_loaded |=
            graph->waits[i].sort == PM_THROUGH_MEMORY && !stores_too(graph, graph->waits[i].to);
    return are_loaded ? fmin(stores, most_alone) : 0;
}

double pm_graph_commit(const struct pm_target_machine *target, const struct pm_dep_graph *graph,
                       const double *lines) {
    double all = lines ? *lines : lines_by_strides(target, graph);
    return fmax(all, stores_alone(graph)) * target->machine->store_line_cycles;
}
