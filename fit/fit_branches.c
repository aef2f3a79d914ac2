/* Models of mispredicted branches (core/behaviour/behaviour.h): a set of its own, of series of
   counts (counts.c).  A branch that was never executed at a size is wrong 0 times there.

   And how entries of loops are spread about their mean, as at the largest size: the mean at another
   size follows from the counts, and entries are taken to be as far from it, relatively. */
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/fit.h"
#include "fit/private.h"

static int by_number(const void *left, const void *right) {
    return PM_COMPARE(*(const uint32_t *)left, *(const uint32_t *)right);
}

/* The branch of BLOCK in all runs together. */
static struct pm_measured_branch sum_of(const struct pm_profile *const *runs, size_t n,
                                        uint32_t block) {
    struct pm_measured_branch sum = {.block = block};
    for (size_t k = 0; k < n; k++) {
        const struct pm_measured_branch *branch = pm_behaviour_branch(&runs[k]->behaviour, block);
        if (branch)
            pm_measured_branch_add(&sum, branch);
    }
    return sum;
}

/* The blocks of all branches that were analysed in a run. */
static void list_blocks(const struct pm_profile *const *runs, size_t n,
                        struct pm_branch_models *branches) {
    size_t n_blocks = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < runs[k]->behaviour.n_branches; i++)
            if (runs[k]->behaviour.branches[i].analysed > 0)
                *PM_PUSH(branches, blocks) = runs[k]->behaviour.branches[i].block;
    PM_SORT(branches->blocks, branches->n_blocks, by_number);
    for (size_t i = 0; i < branches->n_blocks; i++)
        if (n_blocks == 0 || branches->blocks[n_blocks - 1] != branches->blocks[i])
            branches->blocks[n_blocks++] = branches->blocks[i];
    branches->n_blocks = n_blocks;
}

/* At each of N sizes how often each predictor is wrong at BLOCK's branch, predictor by predictor.
   Bursts miss what is rare: where no execution was analysed, the share of all runs together counts.
 */
static void put_counts(const struct pm_profile *const *runs, size_t n, uint32_t block,
                       double *counts) {
    struct pm_measured_branch sum = sum_of(runs, n, block);
    for (size_t k = 0; k < n; k++) {
        const struct pm_measured_branch *branch = pm_behaviour_branch(&runs[k]->behaviour, block);
        for (unsigned p = 0; branch && p < PM_N_PREDICTORS; p++)
            counts[p * n + k] = branch->analysed > 0
                                    ? pm_branch_mispredictions(branch, p)
                                    : branch->executions * (sum.wrong[p] / sum.analysed);
    }
}

static void take_trips(const struct pm_profile *const *runs, size_t n,
                       struct pm_branch_models *branches) {
    const struct pm_behaviour *largest = NULL;
    double most = 0;
    for (size_t k = 0; k < n; k++) {
        double iterations = 0;
        for (size_t i = 0; i < runs[k]->behaviour.n_trips; i++)
            iterations += runs[k]->behaviour.trips[i].iterations;
        if (iterations > most) {
            most = iterations;
            largest = &runs[k]->behaviour;
        }
    }
    for (size_t i = 0; largest && i < largest->n_trips; i++)
        *PM_PUSH(branches, trips) = largest->trips[i];
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
    if (all) {
        list_blocks(kept, n, branches);
        take_trips(kept, n, branches);
    }
    double *counts = pm_alloc(branches->n_blocks * PM_N_PREDICTORS * n + 1, sizeof *counts);
    for (size_t i = 0; i < branches->n_blocks; i++)
        put_counts(kept, n, branches->blocks[i], counts + i * PM_N_PREDICTORS * n);
    if (all)
        branches->models =
            pm_fit_counts(sizes, n, counts, branches->n_blocks * PM_N_PREDICTORS, &same, &ignored);
    free(counts);
    free(sizes);
    free(kept);
}
