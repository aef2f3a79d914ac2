/* Seconds of parts of a run, from the prediction of the whole: replay.h has the equation. */
#include <math.h>
#include <stdlib.h>

#include "core/ranks/ranks.h"
#include "sched/replay/private.h"

struct pm_computation pm_computation_of(const struct pm_structure *structure,
                                        const struct pm_profile *profile,
                                        const struct pm_prediction *prediction) {
    struct pm_computation computation = {structure->n_edges,
                                         pm_alloc(structure->n_edges, sizeof(double))};
    double *work = pm_alloc(structure->n_scopes, sizeof *work);
    pm_ranks_add_work(structure, profile->edge_counts, work);
    for (size_t e = 0; e < structure->n_edges; e++) {
        uint32_t to = structure->edges[e].to;
        if (to == PM_NONE)
            continue;
        const struct pm_block *block = &structure->blocks[to];
        double cycles = prediction->scopes[block->scope].self.cycles;
        if (work[block->scope] > 0 && isfinite(cycles))
            computation.per_edge[e] =
                block->n_instructions * cycles / prediction->clock_hz / work[block->scope];
    }
    free(work);
    return computation;
}

void pm_computation_free(struct pm_computation *computation) {
    free(computation->per_edge);
    *computation = (struct pm_computation){0};
}

double pm_computation_seconds(const struct pm_computation *computation, const double *edge_counts) {
    double seconds = 0;
    for (size_t e = 0; e < computation->n_edges; e++)
        seconds += edge_counts[e] * computation->per_edge[e];
    return seconds;
}

static double interval_seconds(const struct pm_computation *computation,
                               const struct pm_interval *interval) {
    double seconds = 0;
    for (size_t i = 0; i < interval->n_edges; i++)
        seconds +=
            (double)interval->edges[i].count * computation->per_edge[interval->edges[i].edge];
    return seconds;
}

struct pm_interval_times pm_interval_times_of(const struct pm_intervals *intervals,
                                              const struct pm_computation *computation,
                                              struct pm_call_paths *paths) {
    struct pm_interval_times times = {0};
    for (size_t i = 0; i < intervals->n_rows; i++) {
        const struct pm_interval *row = &intervals->rows[i];
        if (row->thread != 0)
            continue;
        *PM_PUSH(&times, rows) = (struct pm_interval_time){
            .process = row->process,
            .begin = pm_call_paths_copy(paths, &intervals->paths, row->begin),
            .end = pm_call_paths_copy(paths, &intervals->paths, row->end),
            .first = row->first,
            .n = row->n,
            .seconds = interval_seconds(computation, row)};
    }
    return times;
}
