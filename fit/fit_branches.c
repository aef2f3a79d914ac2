/* Models of mispredicted branches (core/behaviour/behaviour.h): a set of its own, of series of
   counts (counts.c).  A branch that was never executed at a size is wrong 0 times there. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/fit.h"
#include "fit/private.h"

static int by_number(const void *left, const void *right) {
    return PM_COMPARE(*(const uint32_t *)left, *(const uint32_t *)right);
}

/* The blocks of all branches that were executed in a run. */
static void list_blocks(const struct pm_profile *const *runs, size_t n,
                        struct pm_branch_models *branches) {
    size_t n_blocks = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < runs[k]->behaviour.n_branches; i++)
            *PM_PUSH(branches, blocks) = runs[k]->behaviour.branches[i].block;
    PM_SORT(branches->blocks, branches->n_blocks, by_number);
    for (size_t i = 0; i < branches->n_blocks; i++)
        if (n_blocks == 0 || branches->blocks[n_blocks - 1] != branches->blocks[i])
            branches->blocks[n_blocks++] = branches->blocks[i];
    branches->n_blocks = n_blocks;
}

/* A branch of which no execution was analysed in a run takes its share of the nearest run before,
   or of none: bursts miss what is rare. */
static double mispredictions_in(const struct pm_profile *run, uint32_t block, unsigned predictor) {
    const struct pm_measured_branch *branch = pm_behaviour_branch(&run->behaviour, block);
    double wrong = branch ? pm_branch_mispredictions(branch, predictor) : 0;
    return isnan(wrong) ? 0 : wrong;
}

void pm_fit_branches(const struct pm_profile *const *profiles, size_t n_profiles,
                     const struct pm_fit_options *options, struct pm_model_set *set) {
    const struct pm_profile **kept = pm_alloc(n_profiles, sizeof *kept);
    struct pm_fit_options same = options ? *options : (struct pm_fit_options){0};
    struct pm_branch_models *branches = &set->branches;
    struct pm_error ignored = {0};
    same.drop_outliers = false; /* they are no longer there */
    same.dumping = NULL;
    size_t n = pm_fit_keep_fitted(profiles, n_profiles, set, kept);
    struct pm_parameters *sizes = pm_alloc(n + 1, sizeof *sizes);
    bool all = n > 0;
    for (size_t k = 0; k < n; k++) {
        all &= kept[k]->behaviour.n_branches > 0;
        sizes[k] = kept[k]->parameters;
    }
    if (all)
        list_blocks(kept, n, branches);
    double *counts = pm_alloc(branches->n_blocks * PM_N_PREDICTORS * n + 1, sizeof *counts);
    for (size_t i = 0; i < branches->n_blocks; i++)
        for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
            for (size_t k = 0; k < n; k++)
                counts[(i * PM_N_PREDICTORS + p) * n + k] =
                    mispredictions_in(kept[k], branches->blocks[i], p);
    if (all)
        branches->models =
            pm_fit_counts(sizes, n, counts, branches->n_blocks * PM_N_PREDICTORS, &same, &ignored);
    free(counts);
    free(sizes);
    free(kept);
}
