/* What was measured of branches; see behaviour.h. */
#include "core/behaviour/behaviour.h"

#include <math.h>
#include <stdlib.h>

void pm_behaviour_free(struct pm_behaviour *behaviour) {
    free(behaviour->branches);
    free(behaviour->trips);
    *behaviour = (struct pm_behaviour){0};
}

void pm_behaviour_add_branch(struct pm_behaviour *behaviour, const struct pm_measured_branch *row) {
    *PM_PUSH(behaviour, branches) = *row;
}

void pm_behaviour_add_trips(struct pm_behaviour *behaviour, const struct pm_measured_trips *row) {
    *PM_PUSH(behaviour, trips) = *row;
}

static int by_block(const void *left, const void *right) {
    const struct pm_measured_branch *a = left, *b = right;
    return PM_COMPARE(a->block, b->block);
}

void pm_measured_branch_add(struct pm_measured_branch *to, const struct pm_measured_branch *from) {
    to->executions += from->executions;
    to->taken += from->taken;
    to->analysed += from->analysed;
    for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
        to->wrong[p] += from->wrong[p];
}

static int by_block_and_range(const void *left, const void *right) {
    const struct pm_measured_trips *a = left, *b = right;
    return a->block != b->block ? PM_COMPARE(a->block, b->block) : PM_COMPARE(a->range, b->range);
}

static void sort_trips(struct pm_behaviour *behaviour) {
    struct pm_measured_trips *all = behaviour->trips;
    size_t n = 0;
    PM_SORT(all, behaviour->n_trips, by_block_and_range);
    for (size_t i = 0; i < behaviour->n_trips; i++)
        if (n && by_block_and_range(&all[n - 1], &all[i]) == 0) {
            all[n - 1].entries += all[i].entries;
            all[n - 1].iterations += all[i].iterations;
        } else {
            all[n++] = all[i];
        }
    behaviour->n_trips = n;
}

void pm_behaviour_sort(struct pm_behaviour *behaviour) {
    sort_trips(behaviour);
    struct pm_measured_branch *all = behaviour->branches;
    size_t n = 0;
    PM_SORT(all, behaviour->n_branches, by_block);
    for (size_t i = 0; i < behaviour->n_branches; i++)
        if (n && all[n - 1].block == all[i].block)
            pm_measured_branch_add(&all[n - 1], &all[i]);
        else
            all[n++] = all[i];
    behaviour->n_branches = n;
}

const struct pm_measured_branch *pm_behaviour_branch(const struct pm_behaviour *behaviour,
                                                     uint32_t block) {
    const struct pm_measured_branch *all = behaviour->branches;
    size_t at = PM_LOWER_BOUND(behaviour->n_branches, i, all[i].block < block);
    return at < behaviour->n_branches && all[at].block == block ? &all[at] : NULL;
}

const struct pm_measured_trips *pm_behaviour_trips(const struct pm_behaviour *behaviour,
                                                   uint32_t block, size_t *n) {
    const struct pm_measured_trips *all = behaviour->trips;
    size_t at = PM_LOWER_BOUND(behaviour->n_trips, i, all[i].block < block), end = at;
    while (end < behaviour->n_trips && all[end].block == block)
        end++;
    *n = end - at;
    return &all[at];
}

struct pm_trips_summary pm_trips_summary(const struct pm_measured_trips *rows, size_t n) {
    double entries = 0, iterations = 0, below = 0;
    struct pm_trips_summary summary = {NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < n; i++) {
        entries += rows[i].entries;
        iterations += rows[i].iterations;
    }
    for (size_t i = 0; i < n; i++) {
        double trips = rows[i].iterations / rows[i].entries;
        summary.shortest = i == 0 ? trips : summary.shortest;
        summary.longest = trips;
        below += rows[i].iterations;
        if (isnan(summary.usual) && below >= iterations / 2)
            summary.usual = trips;
    }
    summary.mean = n ? iterations / entries : NAN;
    return summary;
}

double pm_branch_mispredictions(const struct pm_measured_branch *branch,
                                enum pm_branch_predictor predictor) {
    if (branch->analysed <= 0)
        return branch->executions > 0 ? NAN : 0;
    return branch->executions * (branch->wrong[predictor] / branch->analysed);
}
