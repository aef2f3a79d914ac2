/* What was measured of branches; see behaviour.h. */
#include "core/behaviour/behaviour.h"

#include <math.h>
#include <stdlib.h>

void pm_behaviour_free(struct pm_behaviour *behaviour) {
    free(behaviour->branches);
    *behaviour = (struct pm_behaviour){0};
}

void pm_behaviour_add_branch(struct pm_behaviour *behaviour, const struct pm_measured_branch *row) {
    *PM_PUSH(behaviour, branches) = *row;
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

void pm_behaviour_sort(struct pm_behaviour *behaviour) {
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

double pm_branch_mispredictions(const struct pm_measured_branch *branch,
                                enum pm_branch_predictor predictor) {
    if (branch->analysed <= 0)
        return branch->executions > 0 ? NAN : 0;
    return branch->executions * (branch->wrong[predictor] / branch->analysed);
}
