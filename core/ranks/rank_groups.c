/* Which ranks do the same work; the distance and the rule stand in ranks.h. */
#include <math.h>
#include <stdlib.h>

#include "core/profile.h"
#include "core/ranks/ranks.h"

void pm_ranks_add_edges(const struct pm_streams *threads, const double *whole, size_t n_edges,
                        uint32_t process, double *counts) {
    for (size_t t = 0; t < threads->n_counts; t++)
        if (threads->streams[threads->counts[t].stream].process == process)
            for (size_t e = 0; e < n_edges; e++)
                counts[e] += threads->counts[t].edge_counts[e];
    for (size_t e = 0; threads->n_counts == 0 && process == 0 && e < n_edges; e++)
        counts[e] += whole[e];
}

void pm_ranks_add_work(const struct pm_structure *structure, const double *edge_counts,
                       double *work) {
    double *executions = pm_block_executions(structure, edge_counts);
    for (size_t b = 0; b < structure->n_blocks; b++)
        work[structure->blocks[b].scope] += executions[b] * structure->blocks[b].n_instructions;
    free(executions);
}

double pm_ranks_distance(const double *work_a, const double *work_b, size_t n_scopes) {
    double a = 0, b = 0, more_a = 0, more_b = 0;
    for (size_t s = 0; s < n_scopes; s++) {
        a += work_a[s];
        b += work_b[s];
        more_a += fmax(0, work_a[s] - work_b[s]);
        more_b += fmax(0, work_b[s] - work_a[s]);
    }
    return fmax(a, b) > 0 ? fmax(more_a, more_b) / fmax(a, b) : 0;
}

void pm_ranks_group(struct pm_ranks *ranks, const double *work, size_t n_scopes, double tolerance) {
    struct first { /* of each group the first rank */
        uint32_t role;
        const double *work;
    };
    struct {
        PM_ARRAY(struct first, list);
    } groups = {0};
    const double *row = work; /* of ranks, each once */
    ranks->tolerance = tolerance;
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        struct pm_rank *rank = &ranks->ranks[i];
        if (!pm_ranks_is_first_process(ranks, i)) {
            rank->group = ranks->ranks[i - 1].group;
            continue;
        }
        rank->group = 0;
        while (rank->group < groups.n_list &&
               (groups.list[rank->group].role != rank->role ||
                pm_ranks_distance(groups.list[rank->group].work, row, n_scopes) > tolerance))
            rank->group++;
        if (rank->group == groups.n_list)
            *PM_PUSH(&groups, list) = (struct first){rank->role, row};
        row += n_scopes;
    }
    free(groups.list);
}

void pm_ranks_group_by_edges(struct pm_ranks *ranks, const struct pm_structure *structure,
                             const struct pm_streams *threads, const double *whole,
                             double tolerance) {
    size_t n_edges = structure->n_edges, n_scopes = structure->n_scopes;
    double *counts = pm_alloc(n_edges, sizeof *counts);
    double *work = pm_alloc(ranks->n_ranks * n_scopes, sizeof *work), *row = work;
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        if (i > 0 && pm_ranks_is_first_process(ranks, i))
            row += n_scopes;
        for (size_t e = 0; e < n_edges; e++)
            counts[e] = 0;
        pm_ranks_add_edges(threads, whole, n_edges, ranks->ranks[i].process, counts);
        pm_ranks_add_work(structure, counts, row);
    }
    pm_ranks_group(ranks, work, n_scopes, tolerance);
    free(work);
    free(counts);
}
