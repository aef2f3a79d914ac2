/* What the files of graph/ share: a graph that is being built. */
#ifndef PM_GRAPH_PRIVATE_H
#define PM_GRAPH_PRIVATE_H

#include "sched/graph/graph.h"

/* The nodes of an operation of the path. */
struct pm_op_nodes {
    uint32_t op;
    uint32_t first, last; /* the first waits for its operands, the last gives its result */
    uint32_t data;        /* of a store: waits for the data; PM_NONE */
    uint32_t row;         /* pm_need_row */
    bool is_fused;        /* one with the branch behind it */
    bool moves_stack;     /* pm_need.moves_stack */
};

struct pm_builder {
    const struct pm_target_machine *target;
    const struct pm_path_step *path;
    size_t n_steps;
    const struct pm_graph_options *options;
    struct pm_dep_graph *graph;
    PM_ARRAY(struct pm_op_nodes, ops); /* in order of the path */
    PM_ARRAY(struct pm_wait, found);
    uint32_t *n_loops_before;     /* inner loops among the steps before each */
    uint32_t block;               /* that nodes are being added of */
    unsigned n_lines;             /* of code that an iteration is fetched from */
    bool fresh[PM_REGISTER_NONE]; /* registers; only with entries (pm_graph_options) */
    bool takes_nop;               /* of the operation before: a nop behind it needs no slot */
    double fused_latency;         /* of the operation before, if it is one with this branch; −1 */
};

bool pm_is_store_class(uint8_t op_class);

/* Does an inner loop lie between the steps?  CARRIED: to the step in the next iteration. */
bool pm_is_hidden(const struct pm_builder *builder, uint32_t from_step, uint32_t to_step,
                  bool carried);
void pm_add_wait(struct pm_builder *builder, const struct pm_wait *wait);

/* FRESH (PM_REGISTER_NONE values): the registers that LOOP does not carry from one entry to the
   next (entries.c). */
void pm_find_fresh_registers(const struct pm_structure *structure, uint32_t loop, bool *fresh);
/* Does REFERENCE come to other places in each entry of the loop that it is in? */
bool pm_is_fresh_place(const struct pm_structure *structure, uint32_t reference);

void pm_wait_through_registers(struct pm_builder *builder); /* registers.c */
void pm_wait_through_memory(struct pm_builder *builder);    /* graph_memory.c */

#endif
