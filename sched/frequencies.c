/* Frequencies of basic blocks and scopes, and which basic blocks are scheduled together.

   No basic block belongs to more than one region (Marin & Mellor-Crummey 2004, section 2.4: from
   the inside out): the region of a loop is its body without inner loops, the region of a routine
   its code outside loops.  Inlined code is scheduled with what surrounds it. */
#include "sched/schedule.h"

#include <stdlib.h>

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

void pm_profile_frequencies(const struct pm_structure *structure, const struct pm_profile *profile,
                            const struct pm_machine *machine, struct pm_frequencies *frequencies) {
    pm_frequencies_make(structure, profile->edge_counts, frequencies);
    frequencies->behaviour = &profile->behaviour;
    frequencies->predictor = machine->branch_predictor;
}

void pm_count_entries(const struct pm_frequencies *frequencies,
                      struct pm_scope_prediction *scopes) {
    const struct pm_structure *structure = frequencies->structure;
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_scope *scope = &structure->scopes[s];
        scopes[s].scope = s;
        scopes[s].entries = pm_scope_entries(structure, frequencies->edges, s);
        if (scope->kind == PM_SCOPE_LOOP && scope->header != PM_NONE)
            scopes[s].iterations = frequencies->blocks[scope->header];
        else
            scopes[s].iterations = scopes[s].entries;
    }
}

double pm_mean_trips(const struct pm_frequencies *frequencies, uint32_t loop) {
    const struct pm_structure *structure = frequencies->structure;
    uint32_t header = structure->scopes[loop].header;
    double entries = pm_scope_entries(structure, frequencies->edges, loop);
    return header == PM_NONE || !(entries > 0) ? 0 : frequencies->blocks[header] / entries;
}

void pm_frequencies_free(struct pm_frequencies *frequencies) {
    free(frequencies->blocks);
    pm_lists_free(&frequencies->out);
    pm_lists_free(&frequencies->regions);
}
