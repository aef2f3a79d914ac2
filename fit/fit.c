/* The modelling stage: measured profiles → models, in parallel.

   All work is a list of independent items, each an edge or a histogram; a thread takes items as
   they come, but each item is computed from the measurements alone and written to its own place, so
   that the result is the same for any number of threads.  Each thread has its memory beforehand. */
#include "fit/stage.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pm_alloc.h"
#include "fit/bases.h"

enum { EDGES_AT_ONCE = 64 };

#define FLAGGED_ERROR 0.1
#define ROUNDING 1e-9 /* relative: errors that differ by less are one */

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
    double *executed; /* [group · n + size]: accesses by the counts; owned */
    bool *known;      /* [group]: at all sizes; owned */
};

void pm_fit_note(struct pm_fit_statistics *statistics, const char *format, ...) {
    if (!statistics || statistics->n_notes == PM_FIT_MAX_NOTES)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(statistics->notes[statistics->n_notes++], PM_FIT_NOTE_SIZE, format, arguments);
    va_end(arguments);
}

/* ---- checks and preparation ----------------------------------------------------------------- */

static bool check_profiles(const struct pm_structure *structure,
                           const struct pm_profile *const *profiles, size_t n,
                           struct pm_error *err) {
    if (n < 3)
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

/* Smallest and largest measured value of each parameter. */
static void measured_range(const struct job *job) {
    struct pm_model_set *set = job->set;
    set->low = set->high = job->profiles[0]->parameters;
    for (size_t i = 1; i < job->n; i++)
        for (size_t k = 0; k < set->low.n; k++) {
            double value = set->low.values[k];
            pm_parameters_get(&job->profiles[i]->parameters, set->low.names[k], &value);
            set->low.values[k] = fmin(set->low.values[k], value);
            set->high.values[k] = fmax(set->high.values[k], value);
        }
}

/* ---- what there is to fit ------------------------------------------------------------------- */

static int compare_histograms(const void *a, const void *b) {
    const struct pm_histogram_model *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    return (left->block_bytes > right->block_bytes) - (left->block_bytes < right->block_bytes);
}

/* Block sizes that not all runs measured are left out. */
static bool measured_everywhere(const struct job *job, uint64_t block_bytes) {
    for (size_t i = 0; i < job->n; i++) {
        bool found = false;
        for (size_t b = 0; b < job->profiles[i]->n_block_sizes; b++)
            found |= job->profiles[i]->block_sizes[b] == block_bytes;
        if (!found)
            return false;
    }
    return true;
}

static void list_left_out(const struct job *job, struct pm_fit_statistics *statistics) {
    uint64_t last = 0;
    while (statistics->n_left_out < PM_FIT_MAX_LEFT_OUT) {
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < job->n; i++)
            for (size_t b = 0; b < job->profiles[i]->n_block_sizes; b++) {
                uint64_t bytes = job->profiles[i]->block_sizes[b];
                if (bytes > last && bytes < next && !measured_everywhere(job, bytes))
                    next = bytes;
            }
        if (next == UINT64_MAX)
            return;
        statistics->left_out[statistics->n_left_out++] = last = next;
    }
}

/* One model for each (group, block size) that any run met. */
static void list_histograms(const struct job *job) {
    struct pm_model_set *set = job->set;
    size_t n = 0, most = 0;
    for (size_t i = 0; i < job->n; i++)
        most += job->profiles[i]->n_histograms;
    struct pm_histogram_model *list = pm_alloc(most, sizeof *list);
    for (size_t i = 0; i < job->n; i++)
        for (size_t h = 0; h < job->profiles[i]->n_histograms; h++) {
            const struct pm_group_histogram *histogram = &job->profiles[i]->histograms[h];
            if (!measured_everywhere(job, histogram->histogram.block_bytes))
                continue;
            list[n].group = histogram->group;
            list[n++].block_bytes = histogram->histogram.block_bytes;
        }
    if (n)
        qsort(list, n, sizeof *list, compare_histograms);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || compare_histograms(&list[i], &list[i - 1]) != 0)
            list[set->n_histograms++] = list[i];
    set->histograms = list;
}

/* ---- fitting -------------------------------------------------------------------------------- */

static void fit_edges(const struct job *job, struct pm_partition *const *partitions, double *series,
                      size_t first, size_t last) {
    for (size_t e = first; e < last; e++) {
        size_t d = pm_fit_design_of_edge(&job->bases, job->structure, e);
        const struct pm_design *design = job->bases.designs[d];
        for (size_t k = 0; k < job->n; k++)
            series[k] = job->profiles[k]->edge_counts[e];
        pm_series_fit(partitions[d]->series, series, PM_SERIES_COUNT, &job->set->edges[e]);
        struct pm_model *model = &job->set->edges[e];
        if (!model->exact && job->n_names == 1 && !job->bases.given[d])
            pm_fit_logarithms(job->n, design->x, series, model);
    }
}

static size_t design_of_group(const struct job *job, uint32_t group) {
    return pm_fit_design_of_group(&job->bases, job->structure, group);
}

static void fit_histogram(const struct job *job, struct pm_partition *const *partitions,
                          const struct pm_histogram **histograms, size_t h) {
    struct pm_histogram_model *model = &job->set->histograms[h];
    for (size_t k = 0; k < job->n; k++)
        histograms[k] = pm_profile_histogram(job->profiles[k], model->group, model->block_bytes);
    if (job->cut == PM_FIT_SIGMETRICS)
        pm_fit_histogram_literally(partitions[design_of_group(job, model->group)], histograms,
                                   model);
    else
        pm_fit_histogram(partitions[design_of_group(job, model->group)], histograms, model);
}

/* Accesses of histogram H from executions, where the models of these are at least as good as that
   of the touches, and this is not exact while the share differs from size to size. */
static void fit_accesses(const struct job *job, const double *errors, double *touched, size_t h) {
    struct pm_histogram_model *model = &job->set->histograms[h];
    if (model->group >= job->structure->n_groups || !job->known[model->group])
        return;
    double error = errors[model->group];
    if (isnan(error) || error > model->accesses.leave_one_out_error * (1 + ROUNDING))
        return;
    for (size_t k = 0; k < job->n; k++) {
        const struct pm_histogram *histogram =
            pm_profile_histogram(job->profiles[k], model->group, model->block_bytes);
        touched[k] = histogram ? pm_histogram_accesses(histogram) : 0;
    }
    struct pm_model share;
    if (!pm_fit_share(job->n, job->executed + model->group * job->n, touched,
                      pm_fit_most_touches(job->structure, model->group, model->block_bytes),
                      &share) ||
        (model->accesses.exact && share.relative_error > 0))
        return;
    model->accesses = share;
    model->per_execution = true;
}

/* Where the histograms of each family and block size stand; NEXT chains them. */
struct chains {
    size_t n, *first, *next;
};

static uint64_t family_of(const struct job *job, const uint32_t *families, uint32_t group) {
    if (group < job->structure->n_groups)
        return families[group];
    return (uint64_t)UINT32_MAX + group; /* not in the structure: alone */
}

static struct chains list_families(const struct job *job) {
    const struct pm_model_set *set = job->set;
    struct chains chains = {.first = pm_alloc(set->n_histograms + 1, sizeof *chains.first),
                            .next = pm_alloc(set->n_histograms + 1, sizeof *chains.next)};
    uint32_t *families = pm_fit_families(job->structure);
    size_t *last = pm_alloc(set->n_histograms + 1, sizeof *last);
    for (size_t h = 0; h < set->n_histograms; h++) {
        const struct pm_histogram_model *model = &set->histograms[h], *other;
        chains.next[h] = SIZE_MAX;
        size_t c = 0;
        for (; c < chains.n; c++) {
            other = &set->histograms[chains.first[c]];
            if (family_of(job, families, other->group) == family_of(job, families, model->group) &&
                other->block_bytes == model->block_bytes &&
                design_of_group(job, other->group) == design_of_group(job, model->group))
                break;
        }
        if (c == chains.n)
            chains.first[chains.n++] = h;
        else
            chains.next[last[c]] = h;
        last[c] = h;
    }
    free(last);
    free(families);
    return chains;
}

static void fit_family(const struct job *job, struct pm_partition *const *partitions,
                       const struct chains *chains, size_t c) {
    struct pm_family family = {0};
    for (size_t h = chains->first[c]; h != SIZE_MAX; h = chains->next[h])
        family.n++;
    family.members = pm_alloc(family.n, sizeof *family.members);
    const struct pm_histogram **histograms = pm_alloc(family.n * job->n, sizeof *histograms);
    size_t m = 0;
    for (size_t h = chains->first[c]; h != SIZE_MAX; h = chains->next[h], m++) {
        struct pm_histogram_model *model = &job->set->histograms[h];
        for (size_t k = 0; k < job->n; k++)
            histograms[m * job->n + k] =
                pm_profile_histogram(job->profiles[k], model->group, model->block_bytes);
        family.members[m] = (struct pm_member){histograms + m * job->n, model};
    }
    pm_fit_family(partitions[design_of_group(job, family.members[0].model->group)], &family);
    free(histograms);
    free(family.members);
}

static void fit_all(const struct job *job, unsigned n_threads) {
    struct pm_model_set *set = job->set;
    size_t n_chunks = (set->n_edges + EDGES_AT_ONCE - 1) / EDGES_AT_ONCE;
    size_t n_items = n_chunks + set->n_histograms;
    int threads = n_threads ? (int)n_threads : omp_get_max_threads();
    struct chains chains = list_families(job);
    double *errors = pm_alloc(job->structure->n_groups, sizeof *errors);
#pragma omp parallel num_threads(threads)
    {
        size_t n_designs = job->bases.n_designs;
        struct pm_partition **partitions = pm_alloc(n_designs, sizeof(struct pm_partition *));
        for (size_t d = 0; d < n_designs; d++)
            partitions[d] = pm_partition_new(job->bases.designs[d]);
        const struct pm_histogram **histograms = pm_alloc(job->n, sizeof *histograms);
        double *series = pm_alloc(job->n, sizeof *series);
        /* Histograms first: they take longest. */
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < n_items; i++) {
            if (i < set->n_histograms) {
                fit_histogram(job, partitions, histograms, i);
                continue;
            }
            size_t first = (i - set->n_histograms) * EDGES_AT_ONCE, last = first + EDGES_AT_ONCE;
            fit_edges(job, partitions, series, first, last < set->n_edges ? last : set->n_edges);
        }
        /* All of them are there now: the loop ends with a barrier. */
#pragma omp for schedule(dynamic)
        for (size_t r = 0; r < (job->n_names == 1 ? job->structure->n_routines : 0); r++)
            pm_fit_late_edges(job->structure, (uint32_t)r, &job->bases,
                              (const struct pm_profile *const *)job->profiles, set->edges);
#pragma omp for schedule(dynamic)
        for (size_t c = 0; c < (job->cut == PM_FIT_GAPS ? chains.n : 0); c++)
            fit_family(job, partitions, &chains, c);
#pragma omp single
        pm_fit_executed_errors(job->structure, set->edges, job->profiles[job->n - 1]->edge_counts,
                               errors);
#pragma omp for schedule(dynamic)
        for (size_t h = 0; h < set->n_histograms; h++)
            fit_accesses(job, errors, series, h);
        free(series);
        free(histograms);
        for (size_t d = 0; d < n_designs; d++)
            pm_partition_free(partitions[d]);
        free(partitions);
    }
    free(errors);
    free(chains.first);
    free(chains.next);
}

static void count_model(const struct pm_model *model, struct pm_fit_statistics *statistics) {
    statistics->n_models++;
    statistics->n_exact += model->exact;
    statistics->n_constant += model->shape == PM_SHAPE_CONSTANT;
    /* An error that too few sizes leave unknown is no better than a large one. */
    statistics->n_flagged += !(model->leave_one_out_error <= FLAGGED_ERROR);
}

static void count_models(const struct pm_model_set *set, struct pm_fit_statistics *statistics) {
    statistics->n_histograms = set->n_histograms;
    for (size_t i = 0; i < set->n_edges; i++)
        count_model(&set->edges[i], statistics);
    for (size_t h = 0; h < set->n_histograms; h++) {
        const struct pm_histogram_model *histogram = &set->histograms[h];
        count_model(&histogram->accesses, statistics);
        count_model(&histogram->cold, statistics);
        statistics->n_bins += histogram->n_bins;
        for (size_t b = 0; b < histogram->n_bins; b++) {
            count_model(&histogram->bins[b].count, statistics);
            count_model(&histogram->bins[b].distance, statistics);
        }
    }
}

static void count_accesses(struct job *job) {
    size_t n_groups = job->structure->n_groups;
    double *executed = pm_alloc(n_groups, sizeof *executed);
    bool *known = pm_alloc(n_groups, sizeof *known);
    job->executed = pm_alloc(n_groups * job->n, sizeof *job->executed);
    job->known = pm_alloc(n_groups, sizeof *job->known);
    for (size_t k = 0; k < job->n; k++) {
        pm_fit_executed(job->structure, job->profiles[k]->edge_counts, executed, known);
        for (size_t g = 0; g < n_groups; g++) {
            job->executed[g * job->n + k] = executed[g];
            job->known[g] = known[g] && (k == 0 || job->known[g]);
        }
    }
    free(known);
    free(executed);
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
    const struct pm_path path = {job->names[0], job->n, x, set->runs, job->n_names, job->names};
    bool ok = pm_fit_bases_new(job->structure, &path, options, set, &job->bases, statistics, err);
    free(x);
    return ok;
}

/* Models of profiles that are checked. */
static struct pm_model_set *fit_profiles(const struct pm_structure *structure,
                                         const struct pm_profile *const *profiles,
                                         size_t n_profiles, const struct pm_fit_options *options,
                                         struct pm_fit_statistics *statistics,
                                         struct pm_error *err) {
    struct job job = {
        .structure = structure, .n = n_profiles, .cut = options ? options->partition : PM_FIT_GAPS};
    job.n_names = pm_fit_varying(profiles, n_profiles, job.names, err);
    if (job.n_names == 0)
        return NULL;
    job.profiles = pm_alloc(n_profiles, sizeof *job.profiles);
    job.set = pm_alloc(1, sizeof *job.set);
    if (!prepare(&job, profiles, options, statistics, err)) {
        pm_fit_bases_free(&job.bases);
        pm_model_set_free(job.set);
        free(job.profiles);
        return NULL;
    }
    measured_range(&job);
    job.set->n_edges = structure->n_edges;
    job.set->edges = pm_alloc(structure->n_edges, sizeof *job.set->edges);
    list_histograms(&job);
    count_accesses(&job);
    fit_all(&job, options ? options->n_threads : 0);
    pm_fit_trim_basis(job.set, job.n_names == 1 ? PM_FIT_BASIS : 1);
    if (statistics) {
        count_models(job.set, statistics);
        list_left_out(&job, statistics);
    }
    pm_fit_bases_free(&job.bases);
    free(job.executed);
    free(job.known);
    free(job.profiles);
    return job.set;
}

struct pm_model_set *pm_fit(const struct pm_structure *structure,
                            const struct pm_profile *const *profiles, size_t n_profiles,
                            const struct pm_fit_options *options,
                            struct pm_fit_statistics *statistics, struct pm_error *err) {
    double started = omp_get_wtime();
    if (statistics)
        *statistics = (struct pm_fit_statistics){0};
    if (!check_profiles(structure, profiles, n_profiles, err))
        return NULL;
    bool *diverges = pm_alloc(n_profiles, sizeof *diverges);
    bool drop = options && options->drop_divergent;
    if (drop || statistics)
        pm_fit_find_divergent(profiles, n_profiles, diverges, options ? options->n_threads : 0,
                              statistics);
    const struct pm_profile **kept = pm_alloc(n_profiles, sizeof *kept);
    size_t n_kept = 0;
    for (size_t k = 0; k < n_profiles; k++)
        if (!drop || !diverges[k])
            kept[n_kept++] = profiles[k];
    struct pm_model_set *set = fit_profiles(structure, kept, n_kept, options, statistics, err);
    if (set)
        set->n_runs_dropped = n_profiles - n_kept;
    if (statistics) {
        statistics->divergent_dropped = drop && statistics->n_divergent > 0;
        statistics->seconds = omp_get_wtime() - started;
    }
    free(kept);
    free(diverges);
    return set;
}
