/* The control flow graph of one routine as vertices with their edges: basic blocks by their place
   in the routine, then ENTRY and EXIT.  Private to binlift/. */
#ifndef PM_FLOW_H
#define PM_FLOW_H

#include "core/structure/structure.h"

struct pm_flow {
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    uint32_t n_blocks, n_vertices; /* n_blocks + 2 */
    uint32_t entry, exit;          /* vertices */
    uint32_t n_edges;
    const struct pm_edge *edges; /* of the routine */
    uint32_t *first_out, *out; /* edges that leave vertex v: out[first_out[v] … first_out[v+1]) */
    uint32_t *first_in, *in;
};

/* Needs edges whose ends lie in ROUTINE.  Freed by pm_flow_free. */
struct pm_flow *pm_flow_new(const struct pm_structure *structure, uint32_t routine);
void pm_flow_free(struct pm_flow *flow);

static inline uint32_t pm_flow_from(const struct pm_flow *flow, uint32_t edge) {
    uint32_t from = flow->edges[edge].from;
    return from == PM_NONE ? flow->entry : from - flow->routine->first_block;
}

static inline uint32_t pm_flow_to(const struct pm_flow *flow, uint32_t edge) {
    uint32_t to = flow->edges[edge].to;
    return to == PM_NONE ? flow->exit : to - flow->routine->first_block;
}

/* Vertices that ENTRY reaches, in reverse post-order (ENTRY first).  Fills POSITION (n_vertices;
   PM_NONE where unreachable) and ORDER; returns how many. */
uint32_t pm_flow_order(const struct pm_flow *flow, uint32_t *order, uint32_t *position);

#endif
