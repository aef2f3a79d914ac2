/* Which branches' outcomes are stored, and how (core/probe_abi.h).

   Each execution of a conditional branch is a record, but where that is known from less: of an
   innermost loop whose back edge is counted outside of it (counters/counters.h), and that has one
   branch only, the number of iterations says all outcomes of a visit.  Such loops are the short
   ones, whose time a record in each iteration would show in.

   The other branches that are the only way out of a loop, and that each of its iterations comes to
   once, are told apart: between two of their ways out lie the iterations of an entry.

   Needs the counter plan, and which blocks move. */
#include "binlift/copy/private.h"

#include <stdlib.h>

static uint8_t control_of(const struct pm_lifted *lifted, uint32_t block) {
    return pm_last_insn(lifted, block)->control;
}

/* Is LATCH the only one of the loop's blocks that ends in a branch? */
static bool branches_alone(const struct pm_lifted *lifted, uint32_t latch) {
    const struct pm_structure *structure = lifted->structure;
    uint32_t loop = structure->blocks[latch].loop;
    const struct pm_routine *routine = &structure->routines[structure->blocks[latch].routine];
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        uint8_t control = control_of(lifted, b);
        if (b != latch && pm_is_in_loop(structure, b, loop) &&
            (control == PM_CONTROL_BRANCH || control == PM_CONTROL_BRANCH_LOOP ||
             control == PM_CONTROL_JUMP_INDIRECT))
            return false;
    }
    return true;
}

/* What is stored of the branch at the end of the block that TRIP's back edge comes from. */
static enum pm_branch_kind kind_of(const struct pm_lifted *lifted,
                                   const struct pm_trip_count *trip) {
    const struct pm_edge *edge = &lifted->structure->edges[trip->edge];
    if (!branches_alone(lifted, edge->from))
        return PM_BRANCH_EACH;
    return edge->kind == PM_EDGE_TAKEN ? PM_BRANCH_LOOP_TAKEN : PM_BRANCH_LOOP_NOT_TAKEN;
}

/* ---- ways out of loops ----------------------------------------------------------------------- */

/* By loop. */
struct ways {
    uint32_t n_out, n_back; /* edges */
    uint32_t out, back;     /* the last of them */
};

static struct ways *ways_of_loops(const struct pm_structure *structure) {
    struct ways *ways = pm_alloc(structure->n_scopes, sizeof *ways);
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        uint32_t loop = edge->from == PM_NONE ? PM_NONE : structure->blocks[edge->from].loop;
        for (; loop != PM_NONE; loop = pm_outer_loop(structure, loop)) {
            bool stays = pm_is_in_loop(structure, edge->to, loop);
            if (!stays)
                ways[loop].n_out++, ways[loop].out = e;
            else if (edge->to == structure->scopes[loop].header)
                ways[loop].n_back++, ways[loop].back = e;
        }
    }
    return ways;
}

/* What is stored of the branch at the end of BLOCK, each of whose executions is a record. */
static enum pm_branch_kind kind_of_each(const struct pm_structure *structure,
                                        const struct ways *ways, uint32_t block) {
    uint32_t loop = structure->blocks[block].loop;
    if (loop == PM_NONE || structure->scopes[loop].flags & PM_SCOPE_IRREDUCIBLE)
        return PM_BRANCH_EACH;
    const struct ways *of = &ways[loop];
    const struct pm_edge *out = &structure->edges[of->out];
    bool once = block == structure->scopes[loop].header ||
                (of->n_back == 1 && structure->edges[of->back].from == block);
    if (of->n_out != 1 || out->from != block || !once)
        return PM_BRANCH_EACH;
    return out->kind == PM_EDGE_TAKEN ? PM_BRANCH_LEAVES_TAKEN : PM_BRANCH_LEAVES_NOT_TAKEN;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_find_branches(const struct pm_lifted *lifted, struct pm_instrumentation_plan *plan) {
    const struct pm_structure *structure = lifted->structure;
    const struct pm_counter_plan *counters = plan->counters;
    uint8_t *kinds = pm_alloc(structure->n_blocks, sizeof *kinds); /* PM_BRANCH_EACH is 0 */
    plan->branch_of = pm_alloc(structure->n_blocks, sizeof *plan->branch_of);
    for (size_t t = 0; !plan->options->no_counters && t < counters->n_trip_counts; t++)
        kinds[structure->edges[counters->trip_counts[t].edge].from] =
            (uint8_t)kind_of(lifted, &counters->trip_counts[t]);
    struct ways *ways = plan->options->branches ? ways_of_loops(structure) : NULL;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        plan->branch_of[b] = PM_NONE;
        if (!plan->options->branches || !plan->block_moves[b] ||
            !plan->analysed[structure->blocks[b].routine] ||
            control_of(lifted, b) != PM_CONTROL_BRANCH)
            continue;
        plan->branch_of[b] = (uint32_t)plan->n_branches;
        enum pm_branch_kind kind = kinds[b];
        if (kind == PM_BRANCH_EACH)
            kind = kind_of_each(structure, ways, b);
        *PM_PUSH(plan, branches) = (struct pm_probe_branch){
            .address = pm_last_insn(lifted, b)->address, .block = b, .kind = kind};
    }
    free(ways);
    free(kinds);
}
