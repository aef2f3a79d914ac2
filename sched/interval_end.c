/* What a size takes at an end of the models' intervals, from what it takes in the estimate.

   Counts and misses are those of the end; what an operation, and a miss, takes is that of the
   estimate, of each scope:

       schedule       (S − W) · operations(end) / operations + W · wrong(end) / wrong
       level          misses(end) · cycles of the level's misses / misses
       bandwidth      B · operations(end) / operations
       first touches  pages(end) · cycles of one

   W are the cycles of branches that are predicted wrongly, which are mostly one an entry of a loop,
   not one an iteration.  So nothing is scheduled again.  Only where the misses of a scope are so
   many more, or fewer, than its operations tell that the time of the program may change are they
   simulated with the counts of the end (scope_memory.c): more of them hide behind each other.  Code
   that the estimate does not execute takes the estimate's mean cycles of an operation. */
#include <math.h>
#include <stdlib.h>

#include "fit/sets/sets.h"
#include "sched/schedule.h"

struct ending {
    const struct pm_mapped *mapped; /* of the end */
    const struct pm_machine *machine;
    const struct pm_scope_prediction *estimate; /* by scope */
    double whole;                               /* cycles of the estimate */
};

/* ---- schedules ------------------------------------------------------------------------------- */

static void count_operations(const struct pm_frequencies *frequencies,
                             struct pm_scope_prediction *scopes) {
    const struct pm_structure *structure = frequencies->structure;
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        scopes[structure->blocks[b].scope].self.operations +=
            frequencies->blocks[b] * structure->blocks[b].n_ops;
}

static double region_mispredictions(const struct pm_frequencies *frequencies, uint32_t region,
                                    double entries) {
    struct pm_wrong_branch *wrong = pm_wrong_branches(frequencies, region);
    const struct pm_mispredictions sum = pm_mispredictions_of(frequencies, region, entries, wrong);
    free(wrong);
    return sum.exits + sum.of_data;
}

/* How many times as many branches of each region are predicted wrongly as in the estimate; 0 where
   none is there.  The caller frees. */
static double *wrong_times(const struct pm_frequencies *frequencies,
                           const struct pm_scope_prediction *estimate,
                           const struct pm_scope_prediction *scopes) {
    const struct pm_structure *structure = frequencies->structure;
    double *times = pm_alloc(structure->n_scopes, sizeof *times);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        uint32_t region = pm_own_scope(structure, s);
        if (region != PM_NONE)
            times[region] += estimate[s].self.mispredictions;
    }
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (times[s] > 0)
            times[s] = region_mispredictions(frequencies, s, scopes[s].entries) / times[s];
    return times;
}

static double schedule_of(const struct pm_cost_sum *as, double operations, double wrong_times) {
    const double wrong = as->causes[PM_CAUSE_MISPREDICTIONS];
    return (as->schedule_cycles - wrong) * operations / as->operations + wrong * wrong_times;
}

/* Into SCOPES, and of regions into SCHEDULES. */
static void take_schedules(const struct pm_frequencies *frequencies,
                           const struct pm_scope_prediction *estimate,
                           struct pm_scope_prediction *scopes,
                           struct pm_region_schedule *schedules) {
    const struct pm_structure *structure = frequencies->structure;
    const struct pm_cost_sum *all = &estimate[0].total;
    const double mean = all->operations > 0 ? all->schedule_cycles / all->operations : 0;
    double *times = wrong_times(frequencies, estimate, scopes);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_cost_sum *as = &estimate[s].self;
        struct pm_cost_sum *self = &scopes[s].self;
        uint32_t region = pm_own_scope(structure, s);
        self->schedule_cycles =
            as->operations > 0
                ? schedule_of(as, self->operations, region == PM_NONE ? 0 : times[region])
                : mean * self->operations;
        if (as->operations > 0)
            self->unknown_operations = as->unknown_operations * self->operations / as->operations;
        if (region != PM_NONE)
            schedules[region].cycles += self->schedule_cycles;
    }
    free(times);
}

/* ---- misses ---------------------------------------------------------------------------------- */

/* Of which each takes what one takes in the estimate. */
static void take_memory(const struct ending *e, const struct pm_cost_sum *as,
                        struct pm_cost_sum *self) {
    for (size_t l = 0; l < e->machine->n_levels; l++) {
        const struct pm_level *level = &e->machine->levels[l];
        const double cost = as->level_misses[l] > 0 ? as->level_cycles[l] / as->level_misses[l]
                                                    : level->miss_penalty_cycles * level->exposed;
        self->level_cycles[l] = cost * self->level_misses[l];
        self->memory_cycles += self->level_cycles[l];
    }
    if (as->operations > 0)
        self->causes[PM_CAUSE_BANDWIDTH] =
            as->causes[PM_CAUSE_BANDWIDTH] * self->operations / as->operations;
    self->causes[PM_CAUSE_FIRST_TOUCHES] = self->first_touches * e->machine->page_fault_cycles;
    self->memory_cycles += self->causes[PM_CAUSE_BANDWIDTH] + self->causes[PM_CAUSE_FIRST_TOUCHES];
}

/* Cycles that the misses of SELF take at most more, or less, than its operations tell. */
static double most_change(const struct ending *e, const struct pm_cost_sum *as,
                          const struct pm_cost_sum *self) {
    const double times = as->operations > 0 ? self->operations / as->operations : 0;
    double most = 0;
    for (size_t l = 0; l < e->machine->n_levels; l++)
        most += fabs(self->level_misses[l] - times * as->level_misses[l]) *
                e->machine->levels[l].miss_penalty_cycles;
    return most;
}

static void add_memory(const struct ending *e, struct pm_scope_prediction *p) {
    const struct pm_cost_sum *as = &e->estimate[p->scope].self;
    struct pm_cost_sum *self = &p->self;
    if (isnan(self->memory_cycles)) {
        self->cycles = self->schedule_cycles;
        return;
    }
    struct pm_cost_sum in_proportion = *self;
    take_memory(e, as, &in_proportion);
    in_proportion.cycles = in_proportion.schedule_cycles + in_proportion.memory_cycles;
    if (pm_is_worth_simulating(in_proportion.cycles, most_change(e, as, self), e->whole))
        pm_add_memory_cycles(e->mapped, p);
    else
        *self = in_proportion;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_costs(struct pm_mapped *mapped, double *const *misses,
                      const struct pm_scope_prediction *estimate,
                      struct pm_scope_prediction *scopes) {
    const struct pm_structure *structure = mapped->frequencies->structure;
    const struct pm_machine *machine = mapped->target->machine;
    const struct ending e = {mapped, machine, estimate, estimate[0].total.cycles};
    struct pm_region_schedule *schedules = pm_alloc(structure->n_scopes, sizeof *schedules);
    struct pm_group_misses *groups = pm_alloc(structure->n_groups, sizeof *groups);
    count_operations(mapped->frequencies, scopes);
    take_schedules(mapped->frequencies, estimate, scopes, schedules);
    pm_count_misses(mapped->frequencies, mapped->profile, misses, machine, scopes, groups);
    double *prefetched = pm_prefetched_misses(structure, machine, groups);
    mapped->schedules = schedules;
    mapped->groups = groups;
    mapped->prefetched = prefetched;
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        mapped->all_cycles += scopes[s].self.schedule_cycles;
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        add_memory(&e, &scopes[s]);
    pm_add_totals(structure, scopes);
    free(prefetched);
    free(groups);
    free(schedules);
}

void pm_predict_end(const struct pm_structure *structure, const struct pm_profile *profile,
                    const struct pm_machine *machine, const struct pm_predict_options *options,
                    struct pm_scope_prediction *scopes) {
    const struct pm_target_machine target = pm_target_of(structure, machine);
    struct pm_frequencies frequencies;
    pm_profile_frequencies(structure, profile, machine, &frequencies);
    struct pm_mapped mapped = {.frequencies = &frequencies,
                               .profile = profile,
                               .target = &target,
                               .known = options->known,
                               .pessimistic = options->dependences == PM_DEPS_PESSIMISTIC,
                               .simple = options->time != PM_TIME_WINDOW,
                               .is_end = true};
    double **own_misses =
        options->misses ? NULL : pm_set_misses_of_levels(structure, profile, NULL, machine);
    pm_count_entries(&frequencies, scopes);
    add_costs(&mapped, own_misses ? own_misses : options->misses, options->estimate, scopes);
    if (own_misses)
        pm_set_misses_free(own_misses, machine->n_levels);
    pm_frequencies_free(&frequencies);
}
