/* Where each edge's counter can stand (counters.h).  Needs the CFG with an edge for every path that
   control may take, blocks' instructions, and indirect entries. */
#include "binlift/counters/private.h"

#include <stdlib.h>

static uint8_t terminator(const struct pm_lifted *lifted, uint32_t block) {
    return lifted->block_codes[block].n_insns ? pm_last_insn(lifted, block)->control
                                              : PM_CONTROL_NONE;
}

static bool is_branch(uint8_t control) {
    return control == PM_CONTROL_BRANCH || control == PM_CONTROL_BRANCH_LOOP;
}

/* Whether control goes along EDGE by the target's old address or from another routine, so that the
   target's other predecessors can be distinguished from it only where it arrives. */
static bool arrives(const struct pm_lifted *lifted, const struct pm_edge *edge) {
    return edge->kind == PM_EDGE_ENTRY || edge->kind == PM_EDGE_INDIRECT_ENTRY ||
           edge->kind == PM_EDGE_TABLE ||
           (edge->kind == PM_EDGE_FALLTHROUGH && pm_is_call(terminator(lifted, edge->from)));
}

static enum pm_counter_place place_of_arrival(const struct pm_lifted *lifted,
                                              const struct pm_flow *flow, uint32_t e) {
    uint32_t to = pm_flow_to(flow, e), n_tables = 0, n_others = 0;
    for (uint32_t i = flow->first_in[to]; i < flow->first_in[to + 1]; i++) {
        const struct pm_edge *other = &flow->edges[flow->in[i]];
        if (other->kind == PM_EDGE_TABLE)
            n_tables++;
        else if (arrives(lifted, other))
            n_others++;
    }
    if (n_tables + n_others == 1)
        return PM_PLACE_ARRIVAL;
    if (flow->edges[e].kind == PM_EDGE_TABLE)
        return PM_PLACE_TAGGED;
    return n_others == 1 ? PM_PLACE_ARRIVAL : PM_PLACE_NOWHERE;
}

/* Of a block that a conditional branch ends, the first edge that is no fall-through is the
   branch's; when both edges leave the routine, the second EXIT stands for falling off its end. */
static enum pm_counter_place place_after_branch(const struct pm_flow *flow, uint32_t e) {
    uint32_t from = pm_flow_from(flow, e);
    if (flow->edges[e].kind == PM_EDGE_FALLTHROUGH)
        return PM_PLACE_FALLTHROUGH;
    for (uint32_t i = flow->first_out[from]; i < flow->first_out[from + 1]; i++) {
        uint32_t other = flow->out[i];
        if (other != e && flow->edges[other].kind == PM_EDGE_TAKEN)
            return PM_PLACE_FALLTHROUGH;
        if (other < e && flow->edges[other].kind == PM_EDGE_EXIT)
            return PM_PLACE_FALLTHROUGH;
    }
    return PM_PLACE_BRANCH;
}

static enum pm_counter_place place_of(const struct pm_lifted *lifted, const struct pm_flow *flow,
                                      uint32_t e) {
    uint32_t from = pm_flow_from(flow, e), to = pm_flow_to(flow, e);
    bool only_in = to != flow->exit && flow->first_in[to + 1] - flow->first_in[to] == 1;
    bool only_out = from != flow->entry && flow->first_out[from + 1] - flow->first_out[from] == 1;
    if (only_in)
        return PM_PLACE_IN_TARGET;
    if (only_out)
        return PM_PLACE_IN_SOURCE;
    if (arrives(lifted, &flow->edges[e]))
        return place_of_arrival(lifted, flow, e);
    if (from != flow->entry && is_branch(terminator(lifted, flow->edges[e].from)))
        return place_after_branch(flow, e);
    return PM_PLACE_NOWHERE; /* a call that did not return, an unresolved target of a jump */
}

void pm_find_counter_places(const struct pm_lifted *lifted, const struct pm_flow *flow,
                            uint8_t *places) {
    for (uint32_t e = 0; e < flow->n_edges; e++)
        places[e] = place_of(lifted, flow, e);
}
