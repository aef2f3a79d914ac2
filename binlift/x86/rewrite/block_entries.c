/* Control that arrives at a basic block from outside its visible predecessors: by a call, from
   another routine, or by its old address (exceptions, jump tables, returns of calls).  Where an
   edge must be counted there, the block gets an entry of its own, in front of what its predecessors
   see.

   Several jumps through tables that lead to one block cannot be distinguished by the address.  Each
   then stores its tag (its block's number + 1) in a slot of the control block before it jumps, and
   the entry compares and clears it.

   Follows from the instrumentation plan.  Fills entries, sets_tag, clears_tag. */
#include "binlift/counters/counters.h"
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

#include <stdlib.h>

static const struct pm_edge *routine_edges(const struct pm_rewrite *rewrite, uint32_t block,
                                           uint32_t *first, uint32_t *end) {
    const struct pm_structure *structure = rewrite->lifted->structure;
    const struct pm_routine *routine = &structure->routines[structure->blocks[block].routine];
    *first = routine->first_edge;
    *end = routine->first_edge + routine->n_edges;
    return structure->edges;
}

struct arrivals {
    uint32_t n_tables;
    bool counts;       /* an edge has its counter here */
    bool counts_apart; /* by its tag, or by the absence of one */
};

/* Is EDGE counted, or are its events reported, at PLACE? */
static bool is_measured(const struct pm_rewrite *rewrite, uint32_t edge, uint8_t place) {
    return (pm_counter_of(rewrite->plan, edge) != PM_NONE &&
            rewrite->plan->counters->places[edge] == place) ||
           (pm_has_events(rewrite->plan, edge) && rewrite->plan->probes->places[edge] == place);
}

/* Events first: if measuring begins with one, the edge is counted. */
static void put_measurement(struct pm_rewrite *rewrite, uint32_t edge, uint8_t place,
                            pm_live_set live) {
    if (rewrite->plan->probes->places[edge] == place)
        pm_x86_put_probes(rewrite, edge);
    if (pm_counter_of(rewrite->plan, edge) != PM_NONE &&
        rewrite->plan->counters->places[edge] == place)
        pm_x86_put_counter(rewrite, pm_counter_of(rewrite->plan, edge), live, 0);
}

static struct arrivals *find_arrivals(const struct pm_rewrite *rewrite) {
    const struct pm_structure *structure = rewrite->lifted->structure;
    struct arrivals *arrivals = pm_alloc(structure->n_blocks, sizeof *arrivals);
    for (uint32_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].kind == PM_EDGE_TABLE)
            arrivals[structure->edges[e].to].n_tables++;
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        bool by_tag = is_measured(rewrite, e, PM_PLACE_TAGGED);
        if (!by_tag && !is_measured(rewrite, e, PM_PLACE_ARRIVAL))
            continue;
        arrivals[edge->to].counts = true;
        arrivals[edge->to].counts_apart |=
            by_tag || (arrivals[edge->to].n_tables && edge->kind != PM_EDGE_TABLE);
    }
    return arrivals;
}

void pm_x86_plan_entries(struct pm_rewrite *rewrite) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_structure *structure = lifted->structure;
    struct arrivals *arrivals = find_arrivals(rewrite);
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->kind == PM_EDGE_TABLE && arrivals[edge->to].counts_apart)
            rewrite->sets_tag[edge->from] = true;
    }
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->kind == PM_EDGE_TABLE && rewrite->sets_tag[edge->from])
            rewrite->clears_tag[edge->to] = true;
    }
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        if (!rewrite->plan->block_moves[b])
            rewrite->entries[b] = PM_NONE;
        else if (arrivals[b].counts || rewrite->clears_tag[b])
            rewrite->entries[b] = pm_code_new_labels(&rewrite->code, 1);
        else
            rewrite->entries[b] = lifted->block_codes[b].first_insn;
    }
    free(arrivals);
}

/* Counts by the tag; control then goes to DONE or on. */
static void put_tagged_counters(struct pm_rewrite *rewrite, uint32_t block, uint32_t done) {
    struct pm_code *code = &rewrite->code;
    uint32_t first, end;
    const struct pm_edge *edges = routine_edges(rewrite, block, &first, &end);
    for (uint32_t e = first; e < end; e++) {
        if (edges[e].to != block || !is_measured(rewrite, e, PM_PLACE_TAGGED))
            continue;
        uint32_t next = pm_code_new_labels(code, 1);
        pm_put_compare_tag_gs(code, edges[e].from + 1, PM_SLOT_TAG);
        pm_code_branch(code, PM_CONDITION_NE, pm_to_label(next));
        put_measurement(rewrite, e, PM_PLACE_TAGGED, 0);
        pm_code_jump(code, pm_to_label(done));
        pm_code_bind(code, next);
    }
}

/* Counts the edge that comes without a tag, if it has its counter here.  In front of it a block
   that is entered with tags too asks that there is no tag. */
static void put_plain_counter(struct pm_rewrite *rewrite, uint32_t block, pm_live_set live,
                              uint32_t done) {
    uint32_t first, end;
    const struct pm_edge *edges = routine_edges(rewrite, block, &first, &end);
    for (uint32_t e = first; e < end; e++) {
        if (edges[e].to != block || !is_measured(rewrite, e, PM_PLACE_ARRIVAL))
            continue;
        if (rewrite->clears_tag[block] && edges[e].kind != PM_EDGE_TABLE) {
            pm_put_compare_tag_gs(&rewrite->code, 0, PM_SLOT_TAG);
            pm_code_branch(&rewrite->code, PM_CONDITION_NE, pm_to_label(done));
        }
        put_measurement(rewrite, e, PM_PLACE_ARRIVAL, live);
    }
}

void pm_x86_put_entry(struct pm_rewrite *rewrite, uint32_t block) {
    struct pm_code *code = &rewrite->code;
    pm_live_set live = rewrite->live[rewrite->lifted->block_codes[block].first_insn];
    pm_code_bind(code, rewrite->entries[block]);
    if (!rewrite->clears_tag[block]) {
        put_plain_counter(rewrite, block, live, PM_NONE);
        return;
    }
    uint32_t done = pm_code_new_labels(code, 1);
    bool flags_live = live & PM_LIVE_FLAGS;
    if (flags_live) {
        pm_put_store_gs(code, PM_RAX, PM_SLOT_FLAGS);
        pm_put_save_flags(code);
    }
    put_tagged_counters(rewrite, block, done);
    put_plain_counter(rewrite, block, live & ~PM_LIVE_FLAGS, done);
    pm_code_bind(code, done);
    pm_put_store_tag_gs(code, 0, PM_SLOT_TAG);
    if (flags_live) {
        pm_put_restore_flags(code);
        pm_put_load_gs(code, PM_RAX, PM_SLOT_FLAGS);
    }
}
