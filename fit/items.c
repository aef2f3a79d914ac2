/* One item of what is modelled: an edge, a histogram, the accesses or first touches of one; see
   items.h.  Each is made from the measurements alone, and from models that are there. */
#include "fit/items.h"

#include <math.h>

#include "core/base/base.h"
#include "fit/edges/edges.h"

void pm_fit_edges(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t first,
                  size_t last) {
    double *series = worker->series;
    for (size_t e = first; e < last; e++) {
        size_t d = pm_fit_design_of_edge(&job->bases, job->structure, e);
        const struct pm_design *design = job->bases.designs[d];
        for (size_t k = 0; k < job->n; k++)
            series[k] = job->profiles[k]->edge_counts[e];
        pm_dump_series_of_edge(job, pm_partition_series(worker->partitions[d]), e);
        pm_series_fit_executions(pm_partition_series(worker->partitions[d]), series,
                                 &job->set->edges[e]);
        pm_dump_series_of_nothing(pm_partition_series(worker->partitions[d]));
        struct pm_model *model = &job->set->edges[e];
        if (!model->exact && job->n_names == 1 && !job->bases.given[d])
            pm_fit_logarithms(job->n, design->x, series, model);
    }
}

static size_t design_of_group(const struct pm_fit_job *job, uint32_t group) {
    return pm_fit_design_of_group(&job->bases, job->structure, group);
}

bool pm_fit_is_irregular(const struct pm_structure *structure, uint32_t number, size_t n_sizes) {
    if (number >= structure->n_groups)
        return false;
    const struct pm_group *group = &structure->groups[number];
    for (uint32_t i = 0; i < group->n_strides && !(group->flags & PM_GROUP_CALLED); i++) {
        const struct pm_stride *stride = &group->strides[i];
        if (stride->kind != PM_STRIDE_CONSTANT || stride->bytes != 0)
            return stride->kind == PM_STRIDE_INDIRECT ||
                   (stride->kind == PM_STRIDE_UNKNOWN &&
                    n_sizes >= pm_heuristics.trial_sizes_unknown);
    }
    return false;
}

void pm_fit_one_histogram(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t h) {
    struct pm_histogram_model *model = &job->set->histograms[h];
    size_t design = design_of_group(job, model->group);
    struct pm_partition *partition = worker->partitions[design];
    const struct pm_histogram *const *histograms = job->listing.histograms + h * job->n;
    pm_dump_series_of_histogram(job, pm_partition_series(partition), h);
    if (pm_fit_without(PM_STEP_PARTITION))
        pm_fit_histogram_literally(partition, histograms, model);
    else
        pm_fit_histogram(partition, histograms, model);
    pm_dump_series_of_nothing(pm_partition_series(partition));
    pm_dump_partition(job->dumping, job->structure, job->set->runs, partition, model);
    if (!pm_fit_without(PM_STEP_PARTITION) && worker->trials &&
        pm_fit_is_irregular(job->structure, model->group, job->n))
        pm_fit_scales(partition, &job->extent, worker->trials[design], &job->trial_extent,
                      histograms, model);
}

void pm_fit_accesses(const struct pm_fit_job *job, struct pm_fit_worker *worker,
                     const double *errors, size_t h) {
    double *touched = worker->series;
    struct pm_histogram_model *model = &job->set->histograms[h];
    if (model->group >= job->structure->n_groups || !job->known[model->group])
        return;
    double error = errors[model->group];
    if (isnan(error) || error > model->accesses.leave_one_out_error * (1 + pm_heuristics.rounding))
        return;
    for (size_t k = 0; k < job->n; k++) {
        const struct pm_histogram *histogram = job->listing.histograms[h * job->n + k];
        touched[k] = histogram ? pm_histogram_accesses(histogram) : 0;
    }
    struct pm_model share;
    if (!pm_fit_touches_per_access(
            job->n, job->accesses + model->group * job->n, touched,
            pm_fit_most_touches(job->largest_bytes[model->group], model->block_bytes), &share) ||
        (model->accesses.exact && share.relative_error > 0))
        return;
    model->accesses = share;
    model->per_execution = true;
}

static double cold_of(const struct pm_histogram *histogram) {
    return histogram ? histogram->cold_loads + histogram->cold_stores : 0;
}

void pm_fit_cold(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t h) {
    double *rows = worker->series;
    struct pm_histogram_model *large = &job->set->histograms[h];
    const struct pm_basis *basis = job->set->basis;
    size_t first = h, n = job->n, constant = pm_constant_function(basis);
    while (first > 0 && job->set->histograms[first - 1].group == large->group)
        first--;
    const struct pm_histogram_model *small = &job->set->histograms[first];
    if (first == h || large->block_bytes % small->block_bytes != 0 || large->cold.exact ||
        constant == basis->n)
        return;
    for (size_t k = 0; k < n; k++) {
        rows[k] = cold_of(job->listing.histograms[first * n + k]);
        rows[n + k] = cold_of(job->listing.histograms[h * n + k]);
    }
    pm_fit_dense_cold(n, rows, rows + n, (double)(large->block_bytes / small->block_bytes),
                      (uint16_t)constant, &small->cold, &large->cold);
}

/* The partition that is for the groups of JOINT. */
static struct pm_partition *partition_of(const struct pm_fit_job *job,
                                         const struct pm_fit_worker *worker,
                                         const struct pm_joint_groups *joint) {
    return worker->partitions[design_of_group(job, joint->members[0].model->group)];
}

void pm_fit_one_joint(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t j) {
    const struct pm_joint_groups *joint = &job->listing.joint[j];
    pm_fit_jointly(partition_of(job, worker, joint), joint);
}

void pm_fit_one_tail(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t j) {
    const struct pm_joint_groups *joint = &job->listing.joint[j];
    pm_fit_dense_tail(partition_of(job, worker, joint), joint, job->set);
}

static bool total_cold(const struct pm_profile *profile, uint64_t block_bytes, double *cold) {
    for (size_t i = 0; i < profile->n_totals; i++)
        if (profile->totals[i].block_bytes == block_bytes) {
            *cold = profile->totals[i].cold;
            return true;
        }
    return false;
}

void pm_fit_program_totals(const struct pm_fit_job *job, struct pm_fit_worker *worker) {
    double *series = worker->series;
    struct pm_model_set *set = job->set;
    const struct pm_profile *first = job->profiles[0];
    bool differ = set->first_touches_left_out > 0;
    for (size_t g = 0; g < job->structure->n_groups; g++)
        differ |= (job->structure->groups[g].flags & PM_GROUP_JOINED) != 0;
    if (!differ)
        return;
    set->totals = pm_alloc(first->n_totals, sizeof *set->totals);
    for (size_t i = 0; i < first->n_totals; i++) {
        struct pm_total_model *model = &set->totals[set->n_totals];
        bool known = true;
        model->block_bytes = first->totals[i].block_bytes;
        for (size_t k = 0; k < job->n; k++)
            known &= total_cold(job->profiles[k], model->block_bytes, &series[k]);
        if (!known)
            continue;
        pm_series_fit(pm_partition_series(worker->partitions[0]), series, PM_SERIES_COUNT,
                      &model->cold);
        set->n_totals++;
        double total = series[job->n - 1];
        for (size_t h = 0; h < set->n_histograms; h++) {
            struct pm_histogram_model *part = &set->histograms[h];
            if (part->block_bytes == model->block_bytes && total > 0)
                part->cold_share =
                    fmin(cold_of(job->listing.histograms[h * job->n + job->n - 1]) / total, 1);
        }
    }
}

void pm_fit_find_extent(const struct pm_fit_job *job, const struct pm_design *design,
                        struct pm_extent *extent) {
    uint64_t block_bytes = UINT64_MAX;
    double *blocks = pm_alloc(job->n, sizeof *blocks);
    for (size_t h = 0; h < job->listing.n; h++)
        if (job->set->histograms[h].block_bytes < block_bytes)
            block_bytes = job->set->histograms[h].block_bytes;
    for (size_t h = 0; h < job->listing.n; h++)
        for (size_t k = 0; k < job->n && job->set->histograms[h].block_bytes == block_bytes; k++)
            blocks[k] += cold_of(job->listing.histograms[h * job->n + k]);
    struct pm_partition *partition = pm_partition_new(design, 0);
    extent->grows = pm_fit_extent(partition, blocks, &extent->blocks);
    pm_partition_free(partition);
    free(blocks);
}
