/* What each thread did of a profile.

   Of a run that is measured exactly that.  At other sizes each thread's share of an edge, and of a
   group's accesses, is as in the run that is nearest to the size by the ratios of the parameters:
   the models are of all threads together.  Distances are then those of all threads' accesses to the
   group, as if threads were alike in these. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/shares/shares.h"
#include "fit/query/profile_at.h"

/* A run's threads, and of the whole of them. */
struct split {
    const struct pm_program *program;
    struct pm_streams threads; /* without histograms */
    double *edges;             /* per edge: of all threads */
    double *accesses;          /* per group: executions of its references, of all threads */
};

/* What nobody did in the run is the first thread's. */
static double share_of(double part, double whole, bool is_first) {
    return whole > 0 ? part / whole : is_first;
}

/* The part of WHOLE, which owns it, that thread T did. */
static struct pm_profile *profile_of_thread(const struct split *split,
                                            const struct pm_profile *whole, size_t t) {
    const struct pm_structure *structure = split->program->structure;
    const double *counts = split->threads.counts[t].edge_counts;
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    *profile = (struct pm_profile){.parameters = whole->parameters,
                                   .predicted = whole->predicted,
                                   .set_spread = whole->set_spread,
                                   .extrapolation = whole->extrapolation,
                                   .below_measured = whole->below_measured,
                                   .relative_error = whole->relative_error,
                                   .n_edges = whole->n_edges,
                                   .n_block_sizes = whole->n_block_sizes};
    profile->edge_counts = pm_alloc(whole->n_edges, sizeof *profile->edge_counts);
    for (size_t e = 0; e < whole->n_edges; e++)
        profile->edge_counts[e] =
            whole->edge_counts[e] * share_of(counts[e], split->edges[e], t == 0);
    profile->block_sizes = pm_alloc(whole->n_block_sizes, sizeof *profile->block_sizes);
    for (size_t i = 0; i < whole->n_block_sizes; i++)
        profile->block_sizes[i] = whole->block_sizes[i];
    for (size_t i = 0; i < whole->n_interpolated; i++)
        *PM_PUSH(profile, interpolated) = whole->interpolated[i];
    profile->strides = whole->strides;
    profile->borrows_strides = true;
    for (size_t i = 0; i < whole->behaviour.n_branches; i++)
        pm_behaviour_add_branch(&profile->behaviour, &whole->behaviour.branches[i]);
    for (size_t i = 0; i < whole->behaviour.n_trips; i++)
        pm_behaviour_add_trips(&profile->behaviour, &whole->behaviour.trips[i]);

    double *shares = pm_group_executions(structure, counts);
    for (size_t g = 0; g < structure->n_groups; g++)
        shares[g] = share_of(shares[g], split->accesses[g], t == 0);
    profile->histograms = pm_scaled_histograms(whole->histograms, whole->n_histograms, shares,
                                               &profile->n_histograms);
    profile->dirty = pm_scaled_histograms(whole->dirty, whole->n_dirty, shares, &profile->n_dirty);
    profile->sequential = pm_scaled_histograms(whole->sequential, whole->n_sequential, shares,
                                               &profile->n_sequential);
    free(shares);
    return profile;
}

/* ---- histograms as measured ------------------------------------------------------------------ */

static void forget_histograms(struct pm_profile *profile) {
    for (size_t i = 0; i < profile->n_histograms; i++)
        pm_histogram_free(&profile->histograms[i].histogram);
    free(profile->histograms);
    profile->histograms = NULL;
    profile->n_histograms = 0;
}

static void forget_interpolated(struct pm_profile *profile) {
    size_t n = 0;
    for (size_t i = 0; i < profile->n_block_sizes; i++)
        if (!pm_profile_interpolated_from(profile, profile->block_sizes[i]))
            profile->block_sizes[n++] = profile->block_sizes[i];
    profile->n_block_sizes = n;
    profile->n_interpolated = 0;
}

/* Puts the histograms of the run WHOLE in the place of those in its threads.  Streams of all
   threads together, and of threads that counted nothing, stay out. */
static bool read_histograms(const struct split *split, struct pm_profile *whole,
                            struct pm_error *err) {
    size_t n_threads = whole->n_threads;
    struct {
        PM_ARRAY(struct pm_group_histogram, rows);
    } *read = pm_alloc(n_threads, sizeof *read);
    struct pm_histogram_cursor *cursor =
        pm_store_histograms(split->program->store, &whole->parameters, err);
    struct pm_histogram_place place;
    while (cursor && pm_histogram_cursor_next(cursor, &place, err)) {
        size_t t = 0;
        while (t < n_threads) {
            const struct pm_stream *of = &split->threads.streams[split->threads.counts[t].stream];
            if (of->kind == place.stream->kind && of->process == place.stream->process &&
                of->thread == place.stream->thread)
                break;
            t++;
        }
        struct pm_group_histogram row = {.group = place.group};
        if (t == n_threads || place.group >= split->program->structure->n_groups)
            continue;
        if (!pm_histogram_cursor_read(cursor, &row.histogram, err))
            break;
        *PM_PUSH(&read[t], rows) = row;
    }
    pm_histogram_cursor_free(cursor);
    for (size_t t = 0; t < n_threads; t++) {
        struct pm_profile *profile = whole->threads[t];
        forget_histograms(profile);
        profile->histograms = read[t].rows;
        profile->n_histograms = read[t].n_rows;
        pm_profile_keep_matched(profile, split->program->structure);
        forget_interpolated(profile);
        pm_program_interpolate(split->program, profile);
    }
    free(read);
    return err->kind == PM_ERROR_NONE;
}

/* ---- which run ------------------------------------------------------------------------------- */

static double distance(const struct pm_parameters *run, const struct pm_parameters *at) {
    double sum = 0;
    for (size_t i = 0; i < at->n; i++) {
        double value;
        if (!pm_parameters_get(run, at->names[i], &value) || value == at->values[i])
            continue;
        sum += value > 0 && at->values[i] > 0 ? fabs(log(at->values[i] / value)) : 1e3;
    }
    return sum;
}

const struct pm_parameters *pm_nearest_run(const struct pm_program *program,
                                           const struct pm_parameters *at) {
    const struct pm_parameters *nearest = NULL;
    for (int whole = 1; whole >= 0 && !nearest; whole--)
        for (size_t i = 0; i < program->n_runs; i++)
            if (program->is_whole[i] == whole &&
                (!nearest || distance(&program->runs[i], at) <= distance(nearest, at)))
                nearest = &program->runs[i];
    return nearest;
}

static void add_up(struct split *split) {
    const struct pm_structure *structure = split->program->structure;
    split->edges = pm_alloc(structure->n_edges, sizeof *split->edges);
    for (size_t t = 0; t < split->threads.n_counts; t++)
        for (size_t e = 0; e < structure->n_edges; e++)
            split->edges[e] += split->threads.counts[t].edge_counts[e];
    split->accesses = pm_group_executions(structure, split->edges);
}

/* Processes share no cores here: each has counts of its own, and they are added up as before. */
static bool is_one_process(const struct pm_streams *threads) {
    for (size_t i = 1; i < threads->n_streams; i++)
        if (threads->streams[i].process != threads->streams[0].process)
            return false;
    return true;
}

bool pm_program_add_threads(const struct pm_program *program, struct pm_profile *profile,
                            struct pm_error *err) {
    struct split split = {.program = program};
    const struct pm_selection selection = pm_store_selection(program->store);
    bool is_selected = !pm_selection_is_all(&selection);
    const struct pm_parameters *run =
        profile->predicted ? pm_nearest_run(program, &profile->parameters) : &profile->parameters;
    bool ok = pm_store_thread_edges(program->store, run, program->structure->n_edges,
                                    &split.threads, err);
    if (ok && split.threads.n_counts > 1 && is_one_process(&split.threads)) {
        add_up(&split);
        for (size_t t = 0; t < split.threads.n_counts; t++)
            *PM_PUSH(profile, threads) = profile_of_thread(&split, profile, t);
        if (profile->predicted || is_selected)
            profile->threads_as = pm_parameters_text(run);
        else
            ok = read_histograms(&split, profile, err);
    }
    free(split.edges);
    free(split.accesses);
    pm_streams_free(&split.threads);
    return ok;
}
