/* Estimated frequency of every edge, entry = 1 (Marin & Mellor-Crummey 2004, section 2.2.1):

     w(entry) = 1;  w(vertex) = sum of w(incoming edges), times 10 for a loop's head;
     w(edge)  = w(source) / number of edges that leave the source, when none of them exits a loop;
     w(exit edge) = w(head of L) / N_exit(L), where L is the outermost loop that the edge exits and
                    N_exit(L) the number of edges that exit L;
     the source's other edges share equally what is left.

   Two readings of ours: in w(exit edge) the head's weight stands without its factor of ten, since
   what leaves a loop is what came in, and it is never more than the source has.  Calls that do not
   come back weigh nothing and are no exits of a loop; an indirect entry weighs
   INDIRECT_ENTRY_WEIGHT.  Retreating edges do not add to their target: the factor of ten stands for
   them.

   Needs loops in the scope tree. */
#include "binlift/counters/private.h"

#include <stdlib.h>

static const double LOOP_FACTOR = 10;
static const double INDIRECT_ENTRY_WEIGHT = 0.01; /* exceptions and the like are rarer than calls */

/* The outermost loop that EDGE exits, PM_NONE if it exits none. */
static uint32_t exited_loop(const struct pm_structure *structure, const struct pm_edge *edge) {
    uint32_t outermost = PM_NONE;
    if (edge->from == PM_NONE || edge->kind == PM_EDGE_NO_RETURN)
        return PM_NONE;
    for (uint32_t loop = structure->blocks[edge->from].loop;
         loop != PM_NONE && !pm_is_in_loop(structure, edge->to, loop);
         loop = pm_outer_loop(structure, loop))
        outermost = loop;
    return outermost;
}

struct estimate {
    const struct pm_flow *flow;
    uint32_t *exited;    /* per edge: loop that it exits, as a number of `loops` */
    uint32_t *head_loop; /* per vertex: loop whose head it is */
    uint32_t *n_exits;   /* per loop number: edges that exit it, as their outermost */
    double *entered;     /* per loop number: weight that enters the head from outside */
    double *weights;     /* per edge */
};

/* Numbers the routine's loops by scope index, from the lowest that its blocks name. */
static uint32_t number_loops(struct estimate *e, uint32_t *n_loops) {
    const struct pm_structure *structure = e->flow->structure;
    uint32_t low = PM_NONE, high = 0;
    for (uint32_t b = 0; b < e->flow->n_blocks; b++)
        for (uint32_t loop = structure->blocks[e->flow->routine->first_block + b].loop;
             loop != PM_NONE; loop = pm_outer_loop(structure, loop)) {
            low = loop < low ? loop : low;
            high = loop > high ? loop : high;
        }
    *n_loops = low == PM_NONE ? 0 : high - low + 1;
    return low;
}

static void find_exits(struct estimate *e) {
    const struct pm_structure *structure = e->flow->structure;
    uint32_t n_loops, low = number_loops(e, &n_loops);
    e->n_exits = pm_alloc(n_loops, sizeof *e->n_exits);
    e->entered = pm_alloc(n_loops, sizeof *e->entered);
    e->exited = pm_alloc(e->flow->n_edges, sizeof *e->exited);
    e->head_loop = pm_alloc(e->flow->n_vertices, sizeof *e->head_loop);
    for (uint32_t v = 0; v < e->flow->n_vertices; v++)
        e->head_loop[v] = PM_NONE;
    for (uint32_t b = 0; b < e->flow->n_blocks; b++) {
        uint32_t block = e->flow->routine->first_block + b;
        uint32_t loop = structure->blocks[block].loop;
        if (loop != PM_NONE && structure->scopes[loop].header == block)
            e->head_loop[b] = loop - low;
    }
    for (uint32_t i = 0; i < e->flow->n_edges; i++) {
        uint32_t loop = exited_loop(structure, &e->flow->edges[i]);
        e->exited[i] = loop == PM_NONE ? PM_NONE : loop - low;
        if (loop != PM_NONE)
            e->n_exits[loop - low]++;
    }
}

/* Shares WEIGHT among the edges that leave vertex V. */
static void share(struct estimate *e, uint32_t v, double weight) {
    const struct pm_flow *flow = e->flow;
    double exits = 0;
    uint32_t n_others = 0;
    for (uint32_t i = flow->first_out[v]; i < flow->first_out[v + 1]; i++) {
        uint32_t edge = flow->out[i], loop = e->exited[edge];
        if (loop != PM_NONE)
            exits += e->weights[edge] = e->entered[loop] / e->n_exits[loop];
        else if (flow->edges[edge].kind != PM_EDGE_NO_RETURN)
            n_others++;
    }
    double scale = exits > weight ? weight / exits : 1;
    double left = weight > exits * scale ? weight - exits * scale : 0; /* rounding may go below */
    for (uint32_t i = flow->first_out[v]; i < flow->first_out[v + 1]; i++) {
        uint32_t edge = flow->out[i];
        if (e->exited[edge] != PM_NONE)
            e->weights[edge] *= scale;
        else if (flow->edges[edge].kind != PM_EDGE_NO_RETURN)
            e->weights[edge] = left / n_others;
    }
}

static void visit(struct estimate *e, uint32_t v, const uint32_t *position) {
    const struct pm_flow *flow = e->flow;
    double weight = 0;
    for (uint32_t i = flow->first_in[v]; i < flow->first_in[v + 1]; i++) {
        uint32_t from = pm_flow_from(flow, flow->in[i]);
        if (position[from] < position[v])
            weight += e->weights[flow->in[i]];
    }
    if (e->head_loop[v] != PM_NONE) {
        e->entered[e->head_loop[v]] = weight;
        weight *= LOOP_FACTOR;
    }
    share(e, v, weight);
}

void pm_estimate_weights(const struct pm_flow *flow, double *weights) {
    struct estimate e = {.flow = flow, .weights = weights};
    uint32_t *order = pm_alloc(flow->n_vertices, sizeof *order);
    uint32_t *position = pm_alloc(flow->n_vertices, sizeof *position);

    find_exits(&e);
    for (uint32_t i = flow->first_out[flow->entry]; i < flow->first_out[flow->entry + 1]; i++) {
        uint32_t edge = flow->out[i];
        e.weights[edge] = flow->edges[edge].kind == PM_EDGE_ENTRY ? 1 : INDIRECT_ENTRY_WEIGHT;
    }
    uint32_t n = pm_flow_order(flow, order, position);
    for (uint32_t i = 1; i < n; i++)
        visit(&e, order[i], position);

    free(position);
    free(order);
    free(e.exited);
    free(e.head_loop);
    free(e.n_exits);
    free(e.entered);
}
