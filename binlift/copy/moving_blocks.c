/* Which basic blocks are proven to be code, so that they move and their old bytes may be
   overwritten: what can be reached over edges from entries, from indirect entries and from direct
   jumps of other routines.  In a routine with an unresolved jump every block is taken for code,
   because that jump goes somewhere; elsewhere a block that nothing reaches may as well be data
   between instructions, and stays.

   Needs the choice of routines that move.  Fills pm_instrumentation_plan.block_moves. */
#include "binlift/copy/private.h"

#include <stdlib.h>

struct worklist {
    const struct pm_lifted *lifted;
    struct pm_instrumentation_plan *plan;
    uint32_t *blocks;
    uint32_t n;
};

static void reach(struct worklist *list, uint32_t block) {
    if (list->plan->block_moves[block] ||
        !list->plan->moves[list->lifted->structure->blocks[block].routine])
        return;
    list->plan->block_moves[block] = true;
    list->blocks[list->n++] = block;
}

static void reach_roots(struct worklist *list) {
    const struct pm_lifted *lifted = list->lifted;
    const struct pm_structure *structure = lifted->structure;
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        if ((lifted->insn_marks[lifted->block_codes[b].first_insn] & PM_MARK_INDIRECT_ENTRY) ||
            pm_may_be_entered_anywhere(lifted, structure->blocks[b].routine))
            reach(list, b);
    for (uint32_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].kind == PM_EDGE_ENTRY)
            reach(list, structure->edges[e].to);
}

/* Direct jumps and calls of BLOCK, into its own routine or another. */
static void reach_targets(struct worklist *list, uint32_t block) {
    const struct pm_lifted *lifted = list->lifted;
    const struct pm_block_code *code = &lifted->block_codes[block];
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        uint32_t target =
            lifted->insns[k].target ? pm_block_at(lifted, lifted->insns[k].target) : PM_NONE;
        if (target != PM_NONE)
            reach(list, target);
    }
}

void pm_find_moving_blocks(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan) {
    const struct pm_structure *structure = lifted->structure;
    struct worklist list = {.lifted = lifted,
                            .plan = plan,
                            .blocks = pm_alloc(structure->n_blocks, sizeof *list.blocks)};
    plan->block_moves = pm_alloc(structure->n_blocks, sizeof *plan->block_moves);
    uint32_t *first_out = pm_alloc(structure->n_blocks + 1, sizeof *first_out);
    uint32_t *successors = pm_alloc(structure->n_edges, sizeof *successors);

    for (uint32_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].from != PM_NONE && structure->edges[e].to != PM_NONE)
            first_out[structure->edges[e].from + 1]++;
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        first_out[b + 1] += first_out[b];
    uint32_t *next = pm_alloc(structure->n_blocks, sizeof *next);
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->from != PM_NONE && edge->to != PM_NONE)
            successors[first_out[edge->from] + next[edge->from]++] = edge->to;
    }

    reach_roots(&list);
    while (list.n) {
        uint32_t block = list.blocks[--list.n];
        reach_targets(&list, block);
        for (uint32_t i = first_out[block]; i < first_out[block + 1]; i++)
            reach(&list, successors[i]);
    }
    free(next);
    free(successors);
    free(first_out);
    free(list.blocks);
}
