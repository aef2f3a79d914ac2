/* Adjacency and reverse post-order of one routine's control flow graph.
   Needs blocks and edges (cfg.c). */
#include "binlift/cfg/cfg.h"

#include <stdlib.h>

struct pm_flow *pm_flow_new(const struct pm_structure *structure, uint32_t routine) {
    struct pm_flow *flow = pm_alloc(1, sizeof *flow);
    flow->structure = structure;
    flow->routine = &structure->routines[routine];
    flow->n_blocks = flow->routine->n_blocks;
    flow->n_vertices = flow->n_blocks + 2;
    flow->entry = flow->n_blocks;
    flow->exit = flow->n_blocks + 1;
    flow->n_edges = flow->routine->n_edges;
    flow->edges = structure->edges + flow->routine->first_edge;

    flow->first_out = pm_alloc(flow->n_vertices + 1, sizeof *flow->first_out);
    flow->first_in = pm_alloc(flow->n_vertices + 1, sizeof *flow->first_in);
    flow->out = pm_alloc(flow->n_edges, sizeof *flow->out);
    flow->in = pm_alloc(flow->n_edges, sizeof *flow->in);
    for (uint32_t e = 0; e < flow->n_edges; e++) {
        flow->first_out[pm_flow_from(flow, e)]++;
        flow->first_in[pm_flow_to(flow, e)]++;
    }
    uint32_t out_end = 0, in_end = 0;
    for (uint32_t v = 0; v <= flow->n_vertices; v++) {
        out_end += flow->first_out[v];
        in_end += flow->first_in[v];
        flow->first_out[v] = out_end; /* ends, which filling backwards turns into starts */
        flow->first_in[v] = in_end;
    }
    for (uint32_t e = flow->n_edges; e-- > 0;) {
        flow->out[--flow->first_out[pm_flow_from(flow, e)]] = e;
        flow->in[--flow->first_in[pm_flow_to(flow, e)]] = e;
    }
    return flow;
}

void pm_flow_free(struct pm_flow *flow) {
    if (!flow)
        return;
    free(flow->first_out);
    free(flow->first_in);
    free(flow->out);
    free(flow->in);
    free(flow);
}

uint32_t pm_flow_order(const struct pm_flow *flow, uint32_t *order, uint32_t *position) {
    uint32_t *stack = pm_alloc(flow->n_vertices, sizeof *stack);
    uint32_t *next = pm_alloc(flow->n_vertices, sizeof *next); /* out-edge to look at */
    uint32_t n_stack = 0, n_done = 0;
    enum { UNSEEN = PM_NONE, SEEN = PM_NONE - 1 };

    for (uint32_t v = 0; v < flow->n_vertices; v++) {
        position[v] = UNSEEN;
        next[v] = flow->first_out[v];
    }
    stack[n_stack++] = flow->entry;
    position[flow->entry] = SEEN;
    while (n_stack) {
        uint32_t v = stack[n_stack - 1];
        if (next[v] == flow->first_out[v + 1]) {
            order[n_done++] = v;
            n_stack--;
            continue;
        }
        uint32_t to = pm_flow_to(flow, flow->out[next[v]++]);
        if (position[to] == UNSEEN) {
            position[to] = SEEN;
            stack[n_stack++] = to;
        }
    }
    for (uint32_t i = 0; i < n_done / 2; i++) {
        uint32_t swap = order[i];
        order[i] = order[n_done - 1 - i];
        order[n_done - 1 - i] = swap;
    }
    for (uint32_t i = 0; i < n_done; i++)
        position[order[i]] = i;
    free(next);
    free(stack);
    return n_done;
}
