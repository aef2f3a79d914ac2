/* The schedule of a region: a loop's own body, or a routine's code outside loops.

       cycles of a loop    = max(resource bound, recurrence bound · iterations)
       cycles of a routine = max(resource bound, latency bound)

   (Marin & Mellor-Crummey 2004, section 2.4). */
#include <math.h>
#include <stdlib.h>

#include "sched/schedule.h"

static double recurrence_of_loop(const struct pm_frequencies *frequencies,
                                 const struct pm_target_machine *target, uint32_t loop,
                                 bool pessimistic) {
    const struct pm_structure *structure = frequencies->structure;
    const struct pm_routine *routine = &structure->routines[structure->scopes[loop].routine];
    struct pm_path_step *path = pm_alloc(routine->n_blocks, sizeof *path);
    size_t n_steps = pm_hot_path(frequencies, loop, path);
    double cycles = pm_recurrence_cycles(target, loop, path, n_steps, pessimistic);
    free(path);
    return cycles;
}

static double latency_of_region(const struct pm_frequencies *frequencies,
                                const struct pm_target_machine *target, uint32_t region) {
    const struct pm_lists *regions = &frequencies->regions;
    double cycles = 0;
    for (uint32_t k = regions->first[region]; k < regions->first[region + 1]; k++) {
        double executions = frequencies->blocks[regions->items[k]];
        if (executions > 0)
            cycles += executions * pm_block_latency_cycles(target, regions->items[k]);
    }
    return cycles;
}

void pm_schedule_region(const struct pm_frequencies *frequencies,
                        const struct pm_target_machine *target, uint32_t region,
                        const struct pm_demand *demand, double iterations, bool pessimistic,
                        struct pm_region_schedule *schedule) {
    bool is_loop = frequencies->structure->scopes[region].kind == PM_SCOPE_LOOP;
    struct pm_resource_bound resource = pm_resource_bound(target, demand);
    *schedule =
        (struct pm_region_schedule){.cycles = resource.cycles,
                                    .resource_cycles = resource.cycles,
                                    .bound = resource.is_unit ? PM_BOUND_UNIT : PM_BOUND_ISSUE,
                                    .unit = resource.unit};
    double other = 0;
    if (!is_loop) {
        other = latency_of_region(frequencies, target, region);
    } else if (iterations > 0) {
        schedule->recurrence_cycles = recurrence_of_loop(frequencies, target, region, pessimistic);
        other = schedule->recurrence_cycles * iterations;
    }
    if (other > schedule->cycles) {
        schedule->cycles = other;
        schedule->bound = is_loop ? PM_BOUND_RECURRENCE : PM_BOUND_LATENCY;
    }
}
