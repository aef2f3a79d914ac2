/* Frequencies of basic blocks and scopes, and which basic blocks are scheduled together.

   No basic block belongs to more than one region (Marin & Mellor-Crummey 2004, section 2.4: from
   the inside out): the region of a loop is its body without inner loops, the region of a routine
   its code outside loops.  Inlined code is scheduled with what surrounds it. */
#include "sched/schedule.h"

#include <stdlib.h>

/* Parents have smaller indices than their children. */
static bool scope_is_inside(const struct pm_structure *structure, uint32_t scope, uint32_t outer) {
    while (scope != PM_NONE && scope > outer)
        scope = structure->scopes[scope].parent;
    return scope == outer;
}

static bool block_is_inside(const struct pm_structure *structure, uint32_t block, uint32_t scope) {
    const struct pm_block *b = &structure->blocks[block];
    bool is_loop = structure->scopes[scope].kind == PM_SCOPE_LOOP;
    return scope_is_inside(structure, is_loop ? b->loop : b->scope, scope);
}

void pm_frequencies_make(const struct pm_structure *structure, const double *edge_counts,
                         struct pm_frequencies *frequencies) {
    *frequencies = (struct pm_frequencies){.structure = structure,
                                           .edges = edge_counts,
                                           .blocks = pm_block_executions(structure, edge_counts),
                                           .out = pm_edges_out(structure)};
    uint32_t *regions = pm_alloc(structure->n_blocks, sizeof *regions);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        regions[b] = pm_block_scope(structure, b);
        if (structure->scopes[regions[b]].flags & PM_SCOPE_UNMATCHED)
            frequencies->blocks[b] = 0; /* of edges that cross its border only */
    }
    frequencies->regions = pm_lists_by_key(regions, NULL, structure->n_blocks, structure->n_scopes);
    free(regions);
}

void pm_frequencies_free(struct pm_frequencies *frequencies) {
    free(frequencies->blocks);
    pm_lists_free(&frequencies->out);
    pm_lists_free(&frequencies->regions);
}

double pm_scope_entries(const struct pm_frequencies *frequencies, uint32_t scope) {
    const struct pm_structure *structure = frequencies->structure;
    const struct pm_scope *s = &structure->scopes[scope];
    if (s->routine == PM_NONE)
        return 0;
    const struct pm_routine *routine = &structure->routines[s->routine];
    double entries = 0;
    for (uint32_t i = routine->first_edge; i < routine->first_edge + routine->n_edges; i++) {
        const struct pm_edge *edge = &structure->edges[i];
        if (edge->to == PM_NONE)
            continue;
        if (s->kind == PM_SCOPE_ROUTINE)
            entries += edge->kind == PM_EDGE_ENTRY ? frequencies->edges[i] : 0;
        else if ((s->kind == PM_SCOPE_INLINED || edge->to == s->header) &&
                 block_is_inside(structure, edge->to, scope) &&
                 (edge->from == PM_NONE || !block_is_inside(structure, edge->from, scope)))
            entries += frequencies->edges[i];
    }
    return entries;
}
