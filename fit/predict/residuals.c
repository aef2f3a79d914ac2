/* How far off the misses of the whole program are where they were measured.

       r = mean of |ln (M_models (C, x) / M (C, x))| over the measured sizes x and over caches C

   C: caches of SPREAD_SMALLEST blocks, twice as many, … up to the first that holds all reuses at x.
   What the models leave there, as the period of a count that they take by its trend, or blocks that
   lie otherwise at each size, they leave beyond these sizes, too, however well the sets without the
   largest sizes agree: these are made of the same functions.
   Source: of this project; calibrated with spread.c (docs/log-fitting.md). */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/predict/miss_curve.h"
#include "fit/predict/predict.h"

/* A sum and of how many. */
struct mean {
    double sum;
    size_t n;
};

static void compare(const struct pm_profile *measured, const struct pm_profile *predicted,
                    uint64_t block_bytes, struct mean *mean) {
    double in_cells[PM_MAX_CELLS + 1], truth[PM_MAX_CELLS + 1], models[PM_MAX_CELLS + 1];
    pm_count_cells(measured, block_bytes, in_cells);
    pm_misses_from_cells(in_cells, truth);
    pm_count_cells(predicted, block_bytes, in_cells);
    pm_misses_from_cells(in_cells, models);
    size_t cell = pm_cell_of((double)PM_SPREAD_SMALLEST);
    for (; cell < PM_MAX_CELLS; cell += PM_CELLS_PER_OCTAVE) {
        double ratio = fmax(models[cell], PM_LEAST_MISSES) / fmax(truth[cell], PM_LEAST_MISSES);
        mean->sum += fabs(log(ratio));
        mean->n++;
        if (truth[cell] <= truth[PM_MAX_CELLS])
            return;
    }
}

void pm_fit_residuals(const struct pm_structure *structure,
                      const struct pm_profile *const *profiles, size_t n,
                      struct pm_model_set *set) {
    struct pm_profile **predicted = pm_alloc(n, sizeof(struct pm_profile *));
    struct pm_error ignored = {0};
    bool all = n > 0;
    for (size_t k = 0; k < n && all; k++) {
        predicted[k] = pm_fit_instantiate(structure, set, &profiles[k]->parameters, &ignored);
        all = predicted[k] != NULL;
    }
    set->n_residuals = all ? predicted[0]->n_block_sizes : 0;
    set->residuals = pm_alloc(set->n_residuals, sizeof *set->residuals);
    for (size_t b = 0; b < set->n_residuals; b++) {
        uint64_t block_bytes = predicted[0]->block_sizes[b];
        struct mean mean = {0};
        for (size_t k = 0; k < n; k++)
            compare(profiles[k], predicted[k], block_bytes, &mean);
        set->residuals[b] = (struct pm_program_residual){block_bytes, mean.sum / (double)mean.n};
    }
    for (size_t k = 0; k < n; k++)
        pm_profile_free(predicted[k]);
    free(predicted);
}
