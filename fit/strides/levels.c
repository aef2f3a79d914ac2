/* The levels of a walk: strides and numbers of elements as functions of the size.

   The outer levels of some sizes may be those of another loop, or go to and fro: from the first one
   on that does not have one direction at all sizes that have it, walks begin anew, with stride 0.
 */
#include <math.h>

#include "fit/strides/strides.h"

void pm_fit_list_strides(const struct pm_fit_job *job) {
    const struct pm_run_strides *largest = &job->profiles[job->n - 1]->strides;
    struct pm_model_set *set = job->set;
    set->n_strides = largest->n_references;
    set->strides = pm_alloc(set->n_strides, sizeof *set->strides);
    for (size_t i = 0; i < set->n_strides; i++)
        set->strides[i].reference = largest->references[i].reference;
}

/* SERIES gets the strides without their signs, and those behind them the numbers of elements.
   False if the directions differ, or too few sizes have the level. */
static bool take_level(const struct pm_fit_job *job, uint32_t reference, uint32_t level,
                       double *series) {
    size_t n = 0, n_without = 0;
    bool upwards = false, downwards = false;
    for (size_t k = 0; k < job->n; k++) {
        const struct pm_reference_strides *strides =
            pm_strides_of_reference(&job->profiles[k]->strides, reference);
        bool has = strides && strides->n_levels > level;
        double stride = has ? strides->levels[level].stride_bytes : NAN;
        series[k] = fabs(stride);
        series[job->n + k] = has ? pm_stride_level_elements(&strides->levels[level]) : NAN;
        upwards |= stride > 0;
        downwards |= stride < 0;
        n += has;
        n_without += strides && !has;
    }
    return n >= PM_FIT_LEAST_SIZES && n > n_without && !(upwards && downwards);
}

void pm_fit_stride_levels(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t i) {
    struct pm_stride_model *model = &job->set->strides[i];
    const struct pm_reference_strides *largest = &job->profiles[job->n - 1]->strides.references[i];
    uint32_t group = job->structure->references[largest->reference].group;
    size_t design =
        group == PM_NONE ? 0 : pm_fit_design_of_group(&job->bases, job->structure, group);
    size_t n_sizes = 0;
    struct pm_series_workspace *workspace = pm_partition_series(worker->partitions[design]);
    model->levels = pm_alloc(largest->n_levels, sizeof *model->levels);
    for (; model->n_levels < largest->n_levels; model->n_levels++) {
        const struct pm_stride_level *from = &largest->levels[model->n_levels];
        struct pm_stride_level_model *level = &model->levels[model->n_levels];
        if (!take_level(job, largest->reference, model->n_levels, worker->series)) {
            level->stride = level->count = pm_model_zero(job->n);
            model->n_levels++;
            break;
        }
        *level = (struct pm_stride_level_model){.downwards = from->stride_bytes < 0,
                                                .stride_share = from->stride_share,
                                                .count_share = from->count_share};
        pm_series_fit(workspace, worker->series, PM_SERIES_COUNT, &level->stride);
        pm_series_fit(workspace, worker->series + job->n, PM_SERIES_COUNT, &level->count);
    }
    for (size_t k = 0; k < job->n; k++)
        n_sizes += pm_strides_of_reference(&job->profiles[k]->strides, largest->reference) != NULL;
    model->known = n_sizes >= PM_FIT_LEAST_SIZES;
}
