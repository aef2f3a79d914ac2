/* Models of profiles, in parallel.

   All work is a list of independent items, each an edge or a histogram; a thread takes items as
   they come, but each item is computed from the measurements alone and written to its own place, so
   that the result is the same for any number of threads.  Each thread has its memory beforehand. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/edges/edges.h"
#include "fit/items.h"
#include "fit/strides/strides.h"

enum { EDGES_AT_ONCE = 64, ACCESSES_AT_ONCE = 256, STRIDES_AT_ONCE = 16 };

/* ---- threads --------------------------------------------------------------------------------- */

static struct pm_fit_worker worker_new(const struct pm_fit_job *job) {
    size_t n = job->bases.n_designs;
    struct pm_fit_worker worker = {.partitions = pm_alloc(n, sizeof(struct pm_partition *)),
                                   .series = pm_alloc(2 * job->n, sizeof *worker.series)};
    for (size_t d = 0; d < n; d++)
        worker.partitions[d] = pm_partition_new(job->bases.designs[d], job->listing.most_bins);
    if (job->trial_basis)
        worker.trials = pm_alloc(n, sizeof(struct pm_partition *));
    for (size_t d = 0; d < n && job->trial_basis; d++)
        worker.trials[d] = pm_partition_new(job->trial_bases.designs[d], job->listing.most_bins);
    return worker;
}

/* The models' bins go to the set. */
static void worker_free(const struct pm_fit_job *job, struct pm_fit_worker *worker) {
    for (size_t d = 0; d < job->bases.n_designs; d++) {
#pragma omp critical
        pm_partition_hand_over(worker->partitions[d], &job->set->bins);
        pm_partition_free(worker->partitions[d]);
    }
    for (size_t d = 0; d < job->bases.n_designs && worker->trials; d++)
        pm_partition_free(worker->trials[d]);
    free(worker->trials);
    free(worker->partitions);
    free(worker->series);
}

static void fit_all(const struct pm_fit_job *job, unsigned n_threads) {
    struct pm_model_set *set = job->set;
    size_t n_chunks = (set->n_edges + EDGES_AT_ONCE - 1) / EDGES_AT_ONCE;
    size_t n_items = n_chunks + set->n_histograms;
    size_t n_joint = pm_fit_without(PM_STEP_PARTITION) ? 0 : job->listing.n_joint;
    int threads = job->dumping ? 1 : n_threads ? (int)n_threads : omp_get_max_threads();
    double *errors = pm_alloc(job->structure->n_groups, sizeof *errors);
#pragma omp parallel num_threads(threads)
    {
        struct pm_fit_worker worker = worker_new(job);
        /* Histograms first: they take longest. */
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < n_items; i++) {
            if (i < set->n_histograms) {
                pm_fit_one_histogram(job, &worker, i);
                continue;
            }
            size_t first = (i - set->n_histograms) * EDGES_AT_ONCE, last = first + EDGES_AT_ONCE;
            pm_fit_edges(job, &worker, first, last < set->n_edges ? last : set->n_edges);
        }
        /* All of them are there now: the loop ends with a barrier. */
#pragma omp for schedule(dynamic)
        for (size_t r = 0; r < (job->n_names == 1 ? job->structure->n_routines : 0); r++)
            pm_fit_onset_edges(job->structure, (uint32_t)r, &job->bases,
                               (const struct pm_profile *const *)job->profiles, set->edges);
#pragma omp for schedule(dynamic)
        for (size_t j = 0; j < n_joint; j++)
            pm_fit_one_joint(job, &worker, j);
#pragma omp for schedule(dynamic)
        for (size_t j = 0; j < n_joint; j++) /* of what small blocks have become */
            pm_fit_one_tail(job, &worker, j);
#pragma omp for schedule(dynamic, STRIDES_AT_ONCE)
        for (size_t i = 0; i < set->n_strides; i++) {
            pm_fit_stride_levels(job, &worker, i);
            pm_fit_stride_variants(job, &worker, i);
        }
#pragma omp single
        pm_fit_stride_offsets(job, &worker);
#pragma omp single
        pm_fit_program_totals(job, &worker);
#pragma omp single
        pm_fit_group_access_errors(job->structure, set->edges,
                                   job->profiles[job->n - 1]->edge_counts, errors);
#pragma omp for schedule(dynamic, ACCESSES_AT_ONCE)
        for (size_t h = 0; h < set->n_histograms; h++) {
            pm_fit_accesses(job, &worker, errors, h);
            if (!pm_fit_without(PM_STEP_PARTITION))
                pm_fit_cold(job, &worker, h);
        }
        worker_free(job, &worker);
    }
    free(errors);
}

/* ---- before and after ------------------------------------------------------------------------ */

static void count_model(struct pm_model *model, void *context) {
    struct pm_fit_statistics *statistics = context;
    statistics->n_models++;
    statistics->n_exact += model->exact;
    statistics->n_constant += model->shape == PM_SHAPE_CONSTANT;
    /* An error that too few sizes leave unknown is no better than a large one. */
    statistics->n_flagged += !(model->leave_one_out_error <= pm_heuristics.flagged_error);
}

static void count_models(struct pm_model_set *set, struct pm_fit_statistics *statistics) {
    size_t n_strides = set->n_strides;
    set->n_strides = 0; /* they are no figures of a report */
    pm_model_set_visit(set, count_model, statistics);
    set->n_strides = n_strides;
    statistics->n_histograms = set->n_histograms;
    for (size_t h = 0; h < set->n_histograms; h++)
        statistics->n_bins += set->histograms[h].n_bins;
}

static void count_accesses(struct pm_fit_job *job) {
    size_t n_groups = job->structure->n_groups;
    double *accesses = pm_alloc(n_groups, sizeof *accesses);
    bool *known = pm_alloc(n_groups, sizeof *known);
    job->accesses = pm_alloc(n_groups * job->n, sizeof *job->accesses);
    job->known = pm_alloc(n_groups, sizeof *job->known);
    job->largest_bytes = pm_alloc(n_groups, sizeof *job->largest_bytes);
    pm_fit_largest_accesses(job->structure, job->largest_bytes);
    for (size_t k = 0; k < job->n; k++) {
        pm_fit_group_accesses(job->structure, job->profiles[k]->edge_counts, accesses, known);
        for (size_t g = 0; g < n_groups; g++) {
            job->accesses[g * job->n + k] = accesses[g];
            job->known[g] = known[g] && (k == 0 || job->known[g]);
        }
    }
    free(known);
    free(accesses);
}

/* The designs of PATH without its largest size.  Where they cannot be made there is no trial. */
static void prepare_trial(struct pm_fit_job *job, struct pm_path path,
                          const struct pm_fit_options *options) {
    struct pm_model_set set = {0};
    path.n--;
    if (pm_fit_bases_new(job->structure, &path, options, &set, &job->trial_bases, NULL, NULL) &&
        set.basis->n == job->set->basis->n)
        job->trial_basis = set.basis;
    else
        pm_basis_free(set.basis);
}

static bool prepare(struct pm_fit_job *job, const struct pm_profile *const *profiles,
                    const struct pm_fit_options *options, struct pm_fit_statistics *statistics,
                    struct pm_error *err) {
    pm_fit_sort(profiles, job->n, job->names, job->n_names, job->profiles);
    double *x = pm_alloc(job->n, sizeof *x);
    struct pm_model_set *set = job->set;
    set->n_runs = job->n;
    set->runs = pm_alloc(job->n, sizeof *set->runs);
    for (size_t k = 0; k < job->n; k++) {
        set->runs[k] = job->profiles[k]->parameters;
        pm_parameters_get(&set->runs[k], job->names[0], &x[k]);
    }
    struct pm_path path = {job->names[0], job->n, x, set->runs, job->n_names, job->names};
    bool ok = pm_fit_bases_new(job->structure, &path, options, set, &job->bases, statistics, err);
    if (ok && job->n_names == 1 && job->n >= pm_heuristics.trial_sizes &&
        !pm_fit_without(PM_STEP_IRREGULAR))
        prepare_trial(job, path, options);
    free(x);
    return ok;
}

/* What the profiles lack of the whole program, at worst. */
static void find_left_out(const struct pm_fit_job *job) {
    struct pm_model_set *set = job->set;
    for (size_t k = 0; k < job->n; k++) {
        struct pm_left_out out = pm_profile_left_out(job->profiles[k]);
        bool known = !isnan(out.accesses) && !isnan(set->accesses_left_out);
        set->accesses_left_out = known ? fmax(set->accesses_left_out, out.accesses) : NAN;
        set->first_touches_left_out =
            known ? fmax(set->first_touches_left_out, out.first_touches) : NAN;
    }
}

/* Smallest and largest measured value of each parameter. */
static void measured_range(const struct pm_fit_job *job) {
    job->set->low = job->set->high = job->profiles[0]->parameters;
    for (size_t i = 1; i < job->n; i++)
        pm_fit_widen_range(job->set, job->profiles[i]);
}

struct pm_model_set *pm_fit_profiles(const struct pm_structure *structure,
                                     const struct pm_profile *const *profiles, size_t n_profiles,
                                     const char *const *names, size_t n_names,
                                     const struct pm_fit_options *options,
                                     struct pm_fit_statistics *statistics, struct pm_error *err) {
    struct pm_fit_job job = {.structure = structure,
                             .n = n_profiles,
                             .n_names = n_names,
                             .dumping = options ? options->dumping : NULL};
    memcpy(job.names, names, n_names * sizeof *names);
    job.profiles = pm_alloc(n_profiles, sizeof *job.profiles);
    job.set = pm_alloc(1, sizeof *job.set);
    if (!prepare(&job, profiles, options, statistics, err)) {
        pm_fit_bases_free(&job.trial_bases);
        pm_basis_free(job.trial_basis);
        pm_fit_bases_free(&job.bases);
        pm_model_set_free(job.set);
        free(job.profiles);
        return NULL;
    }
    pm_dump_bases(&job);
    measured_range(&job);
    find_left_out(&job);
    job.set->n_edges = structure->n_edges;
    job.set->edges = pm_alloc(structure->n_edges, sizeof *job.set->edges);
    pm_listing_make(&job.listing, job.profiles, job.n, job.set);
    pm_listing_join(&job.listing, structure, &job.bases, job.set);
    if (job.trial_basis) {
        pm_fit_find_extent(&job, job.bases.designs[0], &job.extent);
        pm_fit_find_extent(&job, job.trial_bases.designs[0], &job.trial_extent);
    }
    count_accesses(&job);
    if (!options || !options->without_strides)
        pm_fit_list_strides(&job);
    fit_all(&job, options ? options->n_threads : 0);
    if (job.n_names == 1)
        pm_fit_remainder_edges(structure, &job.bases,
                               (const struct pm_profile *const *)job.profiles, names[0], job.set);
    pm_dump_models(&job);
    pm_fit_trim_basis(job.set, job.n_names == 1 ? PM_FIT_BASIS : 1);
    if (statistics) {
        count_models(job.set, statistics);
        pm_listing_left_out(job.profiles, job.n, statistics);
    }
    pm_fit_bases_free(&job.trial_bases);
    pm_basis_free(job.trial_basis);
    pm_fit_bases_free(&job.bases);
    pm_listing_free(&job.listing);
    free(job.largest_bytes);
    free(job.accesses);
    free(job.known);
    free(job.profiles);
    return job.set;
}
