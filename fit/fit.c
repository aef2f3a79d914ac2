/* The modelling stage: measured profiles → models, in parallel.

   All work is a list of independent items, each an edge or a histogram; a thread takes items as
   they come, but each item is computed from the measurements alone and written to its own place, so
   that the result is the same for any number of threads.  Each thread has its memory beforehand. */
#include "fit/private.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/edges/edges.h"
#include "fit/histogram/histogram.h"
#include "fit/prepare/prepare.h"

enum { EDGES_AT_ONCE = 64, ACCESSES_AT_ONCE = 256 };

/* What all threads read. */
struct job {
    const struct pm_structure *structure;
    const struct pm_profile **profiles;   /* ascending in the parameters; owned */
    size_t n;                             /* of them */
    const char *names[PM_MAX_PARAMETERS]; /* that vary independently */
    size_t n_names;
    struct pm_fit_bases bases;
    struct pm_model_set *set;
    enum pm_fit_partition cut;
    struct pm_listing listing;
    uint32_t *largest_bytes; /* [group]: of its accesses; owned */
    double *accesses;        /* [group · n + size]: by the counts of edges; owned */
    bool *known;             /* [group]: at all sizes; owned */
    /* The sizes but the largest, to try models on that; no designs: there is no trial. */
    struct pm_fit_bases trial_bases;
    struct pm_basis *trial_basis; /* owned */
    struct pm_extent extent, trial_extent;
};

void pm_fit_note(struct pm_fit_statistics *statistics, const char *format, ...) {
    if (!statistics || statistics->n_notes == PM_FIT_MAX_NOTES)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(statistics->notes[statistics->n_notes++], PM_FIT_NOTE_SIZE, format, arguments);
    va_end(arguments);
}

/* ---- checks and preparation ------------------------------------------------------------------ */

static bool check_profiles(const struct pm_structure *structure,
                           const struct pm_profile *const *profiles, size_t n,
                           struct pm_error *err) {
    if (n < PM_FIT_LEAST_SIZES)
        return pm_fail(err,
                       "models need runs at 3 sizes at least, and there %s %zu: run more, "
                       "as in `pmodel run -P N=24,32,40,48,56`",
                       n == 1 ? "is" : "are", n);
    for (size_t i = 0; i < n; i++) {
        const struct pm_parameters *p = &profiles[i]->parameters;
        if (profiles[i]->n_edges != structure->n_edges)
            return pm_fail(err,
                           "a run belongs to another build of the program: it has %zu edges "
                           "where the structure has %zu",
                           profiles[i]->n_edges, structure->n_edges);
        bool same = p->n == profiles[0]->parameters.n;
        for (size_t k = 0; same && k < p->n; k++) {
            double value;
            same = pm_parameters_get(&profiles[0]->parameters, p->names[k], &value);
        }
        if (!same)
            return pm_fail(err, "the runs do not all have the same parameters: use a store of its "
                                "own for each set of parameters");
        for (size_t j = 0; j < i; j++)
            if (pm_parameters_equal(p, &profiles[j]->parameters))
                return pm_fail(err, "two runs have the same parameters");
    }
    return true;
}

static void widen_range(struct pm_model_set *set, const struct pm_profile *profile) {
    for (size_t k = 0; k < set->low.n; k++) {
        double value = set->low.values[k];
        pm_parameters_get(&profile->parameters, set->low.names[k], &value);
        set->low.values[k] = fmin(set->low.values[k], value);
        set->high.values[k] = fmax(set->high.values[k], value);
    }
}

/* Smallest and largest measured value of each parameter. */
static void measured_range(const struct job *job) {
    job->set->low = job->set->high = job->profiles[0]->parameters;
    for (size_t i = 1; i < job->n; i++)
        widen_range(job->set, job->profiles[i]);
}

/* ---- fitting --------------------------------------------------------------------------------- */

static void fit_edges(const struct job *job, struct pm_partition *const *partitions, double *series,
                      size_t first, size_t last) {
    for (size_t e = first; e < last; e++) {
        size_t d = pm_fit_design_of_edge(&job->bases, job->structure, e);
        const struct pm_design *design = job->bases.designs[d];
        for (size_t k = 0; k < job->n; k++)
            series[k] = job->profiles[k]->edge_counts[e];
        pm_series_fit(pm_partition_series(partitions[d]), series, PM_SERIES_COUNT,
                      &job->set->edges[e]);
        struct pm_model *model = &job->set->edges[e];
        if (!model->exact && job->n_names == 1 && !job->bases.given[d])
            pm_fit_logarithms(job->n, design->x, series, model);
    }
}

static size_t design_of_group(const struct job *job, uint32_t group) {
    return pm_fit_design_of_group(&job->bases, job->structure, group);
}

/* Whether the next address of GROUP is not known from the one before: the innermost loop in which
   it moves goes through memory with a stride that depends on data or, if there are sizes enough to
   judge by, that is not known. */
static bool is_irregular(const struct job *job, uint32_t number) {
    if (number >= job->structure->n_groups)
        return false;
    const struct pm_group *group = &job->structure->groups[number];
    for (uint32_t i = 0; i < group->n_strides && !(group->flags & PM_GROUP_CALLED); i++) {
        const struct pm_stride *stride = &group->strides[i];
        if (stride->kind != PM_STRIDE_CONSTANT || stride->bytes != 0)
            return stride->kind == PM_STRIDE_INDIRECT ||
                   (stride->kind == PM_STRIDE_UNKNOWN &&
                    job->n >= pm_heuristics.trial_sizes_unknown);
    }
    return false;
}

static void fit_histogram(const struct job *job, struct pm_partition *const *partitions,
                          struct pm_partition *const *trials, size_t h) {
    struct pm_histogram_model *model = &job->set->histograms[h];
    size_t design = design_of_group(job, model->group);
    struct pm_partition *partition = partitions[design];
    const struct pm_histogram *const *histograms = job->listing.histograms + h * job->n;
    if (job->cut == PM_FIT_SIGMETRICS)
        pm_fit_histogram_literally(partition, histograms, model);
    else
        pm_fit_histogram(partition, histograms, model);
    if (job->cut == PM_FIT_GAPS && trials && is_irregular(job, model->group))
        pm_fit_scales(partition, &job->extent, trials[design], &job->trial_extent, histograms,
                      model);
}

/* Accesses of histogram H from executions, where the models of these are at least as good as that
   of the touches, and this is not exact while the share differs from size to size. */
static void fit_accesses(const struct job *job, const double *errors, double *touched, size_t h) {
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

/* Cold accesses of histogram H from those of the same group in smaller blocks, where its data are
   dense; ROWS has room for two of all sizes. */
static void fit_cold(const struct job *job, double *rows, size_t h) {
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
static struct pm_partition *partition_of(const struct job *job,
                                         struct pm_partition *const *partitions,
                                         const struct pm_joint_groups *joint) {
    return partitions[design_of_group(job, joint->members[0].model->group)];
}

/* What the profiles lack of the whole program, at worst. */
static void find_left_out(const struct job *job) {
    struct pm_model_set *set = job->set;
    for (size_t k = 0; k < job->n; k++) {
        struct pm_left_out out = pm_profile_left_out(job->profiles[k]);
        bool known = !isnan(out.accesses) && !isnan(set->accesses_left_out);
        set->accesses_left_out = known ? fmax(set->accesses_left_out, out.accesses) : NAN;
        set->first_touches_left_out =
            known ? fmax(set->first_touches_left_out, out.first_touches) : NAN;
    }
}

static bool whole_cold(const struct pm_profile *profile, uint64_t block_bytes, double *cold) {
    for (size_t i = 0; i < profile->n_wholes; i++)
        if (profile->wholes[i].block_bytes == block_bytes) {
            *cold = profile->wholes[i].cold;
            return true;
        }
    return false;
}

/* Distinct blocks of the whole program, where builds differ: which group touches a block first may
   then be another one in each build, so that the sum of the groups' models says little. */
static void fit_wholes(const struct job *job, struct pm_partition *partition, double *series) {
    struct pm_model_set *set = job->set;
    const struct pm_profile *first = job->profiles[0];
    bool differ = set->first_touches_left_out > 0;
    for (size_t g = 0; g < job->structure->n_groups; g++)
        differ |= (job->structure->groups[g].flags & PM_GROUP_JOINED) != 0;
    if (!differ)
        return;
    set->wholes = pm_alloc(first->n_wholes, sizeof *set->wholes);
    for (size_t i = 0; i < first->n_wholes; i++) {
        struct pm_whole_model *model = &set->wholes[set->n_wholes];
        bool known = true;
        model->block_bytes = first->wholes[i].block_bytes;
        for (size_t k = 0; k < job->n; k++)
            known &= whole_cold(job->profiles[k], model->block_bytes, &series[k]);
        if (!known)
            continue;
        pm_series_fit(pm_partition_series(partition), series, PM_SERIES_COUNT, &model->cold);
        set->n_wholes++;
        double whole = series[job->n - 1];
        for (size_t h = 0; h < set->n_histograms; h++) {
            struct pm_histogram_model *part = &set->histograms[h];
            if (part->block_bytes == model->block_bytes && whole > 0)
                part->cold_share =
                    fmin(cold_of(job->listing.histograms[h * job->n + job->n - 1]) / whole, 1);
        }
    }
}

/* What one thread works with: touched first by it, so that it lies near. */
struct worker {
    struct pm_partition **partitions; /* for each design */
    struct pm_partition **trials;     /* the same of the trial; NULL: there is none */
    double *series;                   /* two values for each size */
};

static struct worker worker_new(const struct job *job) {
    size_t n = job->bases.n_designs;
    struct worker worker = {.partitions = pm_alloc(n, sizeof(struct pm_partition *)),
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
static void worker_free(const struct job *job, struct worker *worker) {
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

static void fit_all(const struct job *job, unsigned n_threads) {
    struct pm_model_set *set = job->set;
    size_t n_chunks = (set->n_edges + EDGES_AT_ONCE - 1) / EDGES_AT_ONCE;
    size_t n_items = n_chunks + set->n_histograms;
    const struct pm_joint_groups *joint = job->listing.joint;
    size_t n_joint = job->cut == PM_FIT_GAPS ? job->listing.n_joint : 0;
    size_t n_pieces = job->cut == PM_FIT_GAPS ? job->listing.n_pieces : 0;
    int threads = n_threads ? (int)n_threads : omp_get_max_threads();
    double *errors = pm_alloc(job->structure->n_groups, sizeof *errors);
#pragma omp parallel num_threads(threads)
    {
        struct worker worker = worker_new(job);
        /* Histograms first: they take longest. */
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < n_items; i++) {
            if (i < set->n_histograms) {
                fit_histogram(job, worker.partitions, worker.trials, i);
                continue;
            }
            size_t first = (i - set->n_histograms) * EDGES_AT_ONCE, last = first + EDGES_AT_ONCE;
            fit_edges(job, worker.partitions, worker.series, first,
                      last < set->n_edges ? last : set->n_edges);
        }
        /* All of them are there now: the loop ends with a barrier. */
#pragma omp for schedule(dynamic)
        for (size_t r = 0; r < (job->n_names == 1 ? job->structure->n_routines : 0); r++)
            pm_fit_onset_edges(job->structure, (uint32_t)r, &job->bases,
                               (const struct pm_profile *const *)job->profiles, set->edges);
#pragma omp for schedule(dynamic)
        for (size_t j = 0; j < n_pieces; j++)
            pm_fit_jointly(partition_of(job, worker.partitions, &joint[j]), &joint[j]);
#pragma omp for schedule(dynamic)
        for (size_t j = n_pieces; j < n_joint; j++) /* of what the pieces have become */
            pm_fit_jointly(partition_of(job, worker.partitions, &joint[j]), &joint[j]);
#pragma omp for schedule(dynamic)
        for (size_t j = n_pieces; j < n_joint; j++) /* of what small blocks have become */
            pm_fit_dense_tail(partition_of(job, worker.partitions, &joint[j]), &joint[j], set);
#pragma omp single
        fit_wholes(job, worker.partitions[0], worker.series);
#pragma omp single
        pm_fit_group_access_errors(job->structure, set->edges,
                                   job->profiles[job->n - 1]->edge_counts, errors);
#pragma omp for schedule(dynamic, ACCESSES_AT_ONCE)
        for (size_t h = 0; h < set->n_histograms; h++) {
            fit_accesses(job, errors, worker.series, h);
            if (job->cut == PM_FIT_GAPS)
                fit_cold(job, worker.series, h);
        }
        worker_free(job, &worker);
    }
    free(errors);
}

static void count_model(struct pm_model *model, void *context) {
    struct pm_fit_statistics *statistics = context;
    statistics->n_models++;
    statistics->n_exact += model->exact;
    statistics->n_constant += model->shape == PM_SHAPE_CONSTANT;
    /* An error that too few sizes leave unknown is no better than a large one. */
    statistics->n_flagged += !(model->leave_one_out_error <= pm_heuristics.flagged_error);
}

static void count_models(struct pm_model_set *set, struct pm_fit_statistics *statistics) {
    pm_model_set_visit(set, count_model, statistics);
    statistics->n_histograms = set->n_histograms;
    for (size_t h = 0; h < set->n_histograms; h++)
        statistics->n_bins += set->histograms[h].n_bins;
}

static void count_accesses(struct job *job) {
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
static void prepare_trial(struct job *job, struct pm_path path,
                          const struct pm_fit_options *options) {
    struct pm_model_set set = {0};
    path.n--;
    if (pm_fit_bases_new(job->structure, &path, options, &set, &job->trial_bases, NULL, NULL) &&
        set.basis->n == job->set->basis->n)
        job->trial_basis = set.basis;
    else
        pm_basis_free(set.basis);
}

static bool prepare(struct job *job, const struct pm_profile *const *profiles,
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

/* Distinct blocks of the smallest block size at each size, as models in the designs DESIGN. */
static void find_extent(const struct job *job, const struct pm_design *design,
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

/* Models of profiles that are checked. */
static struct pm_model_set *fit_profiles(const struct pm_structure *structure,
                                         const struct pm_profile *const *profiles,
                                         size_t n_profiles, const char *const *names,
                                         size_t n_names, const struct pm_fit_options *options,
                                         struct pm_fit_statistics *statistics,
                                         struct pm_error *err) {
    struct job job = {.structure = structure,
                      .n = n_profiles,
                      .n_names = n_names,
                      .cut = options ? options->partition : PM_FIT_GAPS};
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
    measured_range(&job);
    find_left_out(&job);
    job.set->n_edges = structure->n_edges;
    job.set->edges = pm_alloc(structure->n_edges, sizeof *job.set->edges);
    pm_listing_make(&job.listing, job.profiles, job.n, job.set);
    pm_listing_join(&job.listing, structure, &job.bases, job.set);
    if (job.trial_basis) {
        find_extent(&job, job.bases.designs[0], &job.extent);
        find_extent(&job, job.trial_bases.designs[0], &job.trial_extent);
    }
    count_accesses(&job);
    fit_all(&job, options ? options->n_threads : 0);
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

static void note_idle(const char *name, struct pm_fit_statistics *statistics) {
    if (!statistics)
        return;
    struct pm_fit_parameter *idle = &statistics->parameters[statistics->n_parameters++];
    *idle = (struct pm_fit_parameter){.role = PM_PARAMETER_IDLE, .error = NAN};
    snprintf(idle->name, sizeof idle->name, "%s", name);
}

/* Takes runs out of KEPT that differ from an earlier one only in a parameter that changes nothing;
   how many are left. */
static size_t drop_repeats(const struct pm_profile **kept, size_t n,
                           struct pm_fit_statistics *statistics) {
    const struct pm_parameters *all = &kept[0]->parameters;
    bool *repeats = pm_alloc(n, sizeof *repeats);
    size_t n_given = n;
    for (size_t p = 0; p < all->n && all->n > 1; p++) {
        struct pm_fit_sample *sample = pm_fit_sample_new(kept, n);
        bool idle = pm_fit_sample_ignores(sample, all->names[p], repeats);
        pm_fit_sample_free(sample);
        size_t n_left = 0;
        for (size_t k = 0; idle && k < n; k++)
            n_left += !repeats[k];
        if (n_left < PM_FIT_LEAST_SIZES)
            continue;
        note_idle(all->names[p], statistics);
        for (size_t k = 0, left = 0; k < n_given && k < n; k++)
            if (!repeats[k])
                kept[left++] = kept[k];
        n = n_left;
    }
    free(repeats);
    return n;
}

/* Models of KEPT (N of them), of which divergent sizes are left out if OPTIONS say so. */
static struct pm_model_set *fit_kept(const struct pm_structure *structure,
                                     const struct pm_profile **kept, size_t n,
                                     const struct pm_fit_options *options,
                                     struct pm_fit_statistics *statistics, struct pm_error *err) {
    const char *names[PM_MAX_PARAMETERS];
    size_t n_names = pm_fit_varying(kept, n, options, names, statistics, err), n_left = 0;
    bool drop = options && options->drop_divergent;
    if (n_names == 0)
        return NULL;
    bool *diverges = pm_alloc(n, sizeof *diverges);
    if ((drop || statistics) && n_names == 1)
        pm_fit_find_divergent(kept, n, names[0], diverges, options ? options->n_threads : 0,
                              statistics);
    for (size_t k = 0; k < n; k++)
        if (!drop || !diverges[k])
            kept[n_left++] = kept[k];
    free(diverges);
    if (statistics)
        statistics->divergent_dropped = drop && statistics->n_divergent > 0;
    return fit_profiles(structure, kept, n_left, names, n_names, options, statistics, err);
}

struct pm_model_set *pm_fit(const struct pm_structure *structure,
                            const struct pm_profile *const *profiles, size_t n_profiles,
                            const struct pm_fit_options *options,
                            struct pm_fit_statistics *statistics, struct pm_error *err) {
    double started = omp_get_wtime();
    if (statistics)
        *statistics = (struct pm_fit_statistics){0};
    if (!pm_heuristics_read(err) || !check_profiles(structure, profiles, n_profiles, err))
        return NULL;
    const struct pm_profile **kept = pm_alloc(n_profiles, sizeof *kept);
    memcpy(kept, profiles, n_profiles * sizeof *kept);
    size_t n_kept = drop_repeats(kept, n_profiles, statistics);
    struct pm_model_set *set = fit_kept(structure, kept, n_kept, options, statistics, err);
    if (set) {
        for (size_t k = 0; k < n_profiles && n_kept < n_profiles; k++)
            widen_range(set, profiles[k]);
        set->n_runs_dropped = n_profiles - set->n_runs;
    }
    if (statistics)
        statistics->seconds = omp_get_wtime() - started;
    free(kept);
    return set;
}
