/* Loops of a structure, each scheduled along its hottest path. */
#include <stdlib.h>

#include "sched/sched.h"

bool *pm_innermost_loops(const struct pm_structure *structure) {
    bool *innermost = pm_alloc(structure->n_scopes, sizeof *innermost);
    bool *has_loop = pm_alloc(structure->n_scopes, sizeof *has_loop);
    for (uint32_t s = (uint32_t)structure->n_scopes; s-- > 1;) {
        bool is_loop = structure->scopes[s].kind == PM_SCOPE_LOOP;
        innermost[s] = is_loop && !has_loop[s];
        if (has_loop[s] || is_loop)
            has_loop[structure->scopes[s].parent] = true;
    }
    free(has_loop);
    return innermost;
}

static double *estimated_counts(const struct pm_structure *structure) {
    double *counts = pm_alloc(structure->n_edges, sizeof *counts);
    for (size_t e = 0; e < structure->n_edges; e++)
        counts[e] = structure->edges[e].weight;
    return counts;
}

static void schedule_loop(const struct pm_target_machine *target, uint32_t loop, double trips,
                          const struct pm_path_step *path, size_t n_steps,
                          const struct pm_schedule_options *options,
                          struct pm_loop_schedules *schedules) {
    struct pm_schedule_options own = *options;
    struct pm_loop_schedule *item = PM_PUSH(schedules, items);
    *item = (struct pm_loop_schedule){
        .scope = loop, .first_step = (uint32_t)schedules->n_steps, .n_steps = (uint32_t)n_steps};
    for (size_t i = 0; i < n_steps; i++)
        *PM_PUSH(schedules, steps) = path[i];
    own.loop = loop;
    own.trips = trips;
    if (n_steps)
        pm_schedule_path(target, path, n_steps, &own, &item->schedule);
}

void pm_schedule_loops(const struct pm_target_machine *target, const double *edge_counts,
                       const bool *wanted, const struct pm_schedule_options *options,
                       struct pm_loop_schedules *schedules) {
    const struct pm_structure *structure = target->structure;
    uint32_t most_steps = 1;
    double *weights = estimated_counts(structure);
    struct pm_frequencies counted, estimated;
    pm_frequencies_make(structure, weights, &estimated);
    if (edge_counts)
        pm_frequencies_make(structure, edge_counts, &counted);
    for (size_t r = 0; r < structure->n_routines; r++)
        if (structure->routines[r].n_blocks > most_steps)
            most_steps = structure->routines[r].n_blocks;
    struct pm_path_step *path = pm_alloc(most_steps, sizeof *path);
    *schedules = (struct pm_loop_schedules){0};
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        if (!wanted[s])
            continue;
        size_t n_steps = edge_counts ? pm_hot_path(&counted, s, path) : 0;
        if (n_steps == 0)
            n_steps = pm_hot_path(&estimated, s, path);
        schedule_loop(target, s, edge_counts ? pm_mean_trips(&counted, s) : 0, path, n_steps,
                      options, schedules);
    }
    free(path);
    if (edge_counts)
        pm_frequencies_free(&counted);
    pm_frequencies_free(&estimated);
    free(weights);
}

void pm_loop_schedules_free(struct pm_loop_schedules *schedules) {
    free(schedules->items);
    free(schedules->steps);
    *schedules = (struct pm_loop_schedules){0};
}
