/* What a run left out of its analysis (core/profile.h).

   An execution of a basic block executes each of its references once, so the accesses of routines
   whose edges are counted follow from these. */
#include <stdlib.h>
#include <string.h>

#include "measure/ingest/private.h"

void pm_skipped_add_stopped(struct pm_skipped_accesses *stopped, const struct pm_raw *raw) {
    for (size_t i = 0; i < raw->n_skipped; i++) {
        stopped->loads += (double)raw->skipped[i].loads;
        stopped->stores += (double)raw->skipped[i].stores;
        stopped->executions += (double)raw->skipped[i].n_stops;
    }
}

static bool is_left_out(const struct pm_copies *copies, uint32_t routine) {
    return copies->not_recorded && copies->not_recorded[routine];
}

static void add_left_out(const struct pm_copies *copies, const uint64_t *edge_counts,
                         struct pm_skipped_accesses *left_out) {
    const struct pm_structure *structure = copies->structure;
    uint64_t *blocks = pm_alloc(structure->n_blocks, sizeof *blocks);
    for (size_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->to == PM_NONE || !is_left_out(copies, edge->routine))
            continue;
        blocks[edge->to] += edge_counts[e];
        if (edge->kind == PM_EDGE_ENTRY)
            left_out->executions += (double)edge_counts[e];
    }
    for (size_t i = 0; i < structure->n_references; i++) {
        const struct pm_reference *reference = &structure->references[i];
        if (reference->block == PM_NONE)
            continue;
        if (reference->access & PM_ACCESS_LOAD)
            left_out->loads += (double)blocks[reference->block];
        if (reference->access & PM_ACCESS_STORE)
            left_out->stores += (double)blocks[reference->block];
    }
    free(blocks);
}

void pm_skipped_solve(const struct pm_copies *copies, const uint64_t *counters,
                      const struct pm_open_call *open_calls, size_t n_open_calls,
                      uint64_t *edge_counts, bool *inexact, struct pm_skipped_accesses *left_out) {
    const struct pm_structure *structure = copies->structure;
    pm_solve_edges(structure, counters, copies->not_recorded, open_calls, n_open_calls, edge_counts,
                   inexact);
    add_left_out(copies, edge_counts, left_out);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        if (!is_left_out(copies, r))
            continue;
        inexact[r] = false;
        if (routine->n_edges)
            memset(edge_counts + routine->first_edge, 0, routine->n_edges * sizeof *edge_counts);
    }
}
