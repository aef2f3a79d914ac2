/* From the raw files of one run to the profile that the store keeps; see ingest.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "core/write_backs/write_backs.h"
#include "measure/ingest/private.h"

struct thread_counters {
    uint32_t stream, process;
    uint64_t *counters; /* [structure->n_counters]; owned */
};

/* Sums over processes and threads while the files are read; histograms are kept apart. */
struct sums {
    const struct pm_copies *copies;
    const struct pm_structure *structure; /* of all copies */
    uint64_t *counters;                   /* [structure->n_counters] */
    PM_ARRAY(struct thread_counters, threads);
    const uint64_t *block_sizes;
    size_t n_block_sizes;
    uint64_t n_missed_jumps;
    PM_ARRAY(struct pm_open_call, open_calls);
    PM_ARRAY(size_t, first_open_calls); /* of each process the first of these */
    struct pm_rank_oddities odd_ranks;
    struct pm_skipped_accesses stopped;
    struct pm_run_strides strides; /* goes to the profile */
    struct pm_profile_sums blocks;
    struct pm_interval_sums *intervals;
    struct pm_communication_sums *communication;
    bool *loaded; /* per module: in at least one process */
    struct pm_ingested *result;
};

/* Where the modules of RAW have their numbers in the structure; the caller frees.  NULL with a
   sentence if one is not of this program. */
static const struct pm_module_place **find_places(const struct sums *sums, const struct pm_raw *raw,
                                                  const char *path, struct pm_error *err) {
    const struct pm_copies *all = sums->copies;
    const struct pm_module_place **places = pm_alloc(raw->n_modules, sizeof(void *));
    for (size_t i = 0; i < raw->n_modules; i++) {
        const struct pm_raw_module *module = &raw->modules[i];
        for (size_t k = 0; !places[i] && k < all->n_places; k++)
            if (all->places[k].placement_hash == module->structure_hash &&
                all->places[k].first_counter == module->first_counter &&
                all->places[k].n_counters == module->n_counters)
                places[i] = &all->places[k];
        if (places[i]) {
            sums->loaded[places[i]->module] = true;
            continue;
        }
        if (raw->rank.size)
            pm_fail(err,
                    "%s: rank %llu was measured by another program than the one that was "
                    "instrumented: all ranks must run the same file",
                    path, (unsigned long long)raw->rank.rank);
        else
            pm_fail(err, "%s: measured by another program than the one that was instrumented",
                    path);
        free(places);
        return NULL;
    }
    return places;
}

static void add_frames(struct sums *sums, const struct pm_raw *raw,
                       const struct pm_module_place *const *places) {
    *PM_PUSH(sums, first_open_calls) = sums->n_open_calls;
    for (size_t i = 0; i < raw->n_frames; i++)
        for (size_t f = 0; f < raw->frames[i].n_frames; f++) {
            const struct pm_raw_frame *frame = &raw->frames[i].frames[f];
            *PM_PUSH(sums, open_calls) =
                (struct pm_open_call){.module = places[raw->frames[i].module]->module,
                                      .return_address = frame->return_address,
                                      .count = frame->count};
        }
}

static struct pm_stream stream_of(const struct sums *sums, uint64_t thread) {
    bool shared = thread == PM_RAW_SHARED;
    return (struct pm_stream){.process = sums->result->n_processes,
                              .thread = shared ? 0 : (uint32_t)thread,
                              .kind = shared ? PM_STREAM_SHARED : PM_STREAM_THREAD};
}

static uint64_t *counters_of_thread(struct sums *sums, uint64_t thread) {
    struct pm_stream stream = stream_of(sums, thread);
    uint32_t index = pm_streams_index(&sums->result->streams, &stream);
    for (size_t i = sums->n_threads; i-- > 0;)
        if (sums->threads[i].stream == index)
            return sums->threads[i].counters;
    uint64_t *counters = pm_alloc(sums->structure->n_counters, sizeof *counters);
    *PM_PUSH(sums, threads) = (struct thread_counters){index, stream.process, counters};
    return counters;
}

static void add_counters(struct sums *sums, const struct pm_raw *raw,
                         const struct pm_module_place *const *places) {
    for (size_t i = 0; i < raw->n_counters; i++) {
        const struct pm_module_place *place = places[raw->counters[i].module];
        uint64_t *of_thread =
            raw->counters[i].n_counts ? counters_of_thread(sums, raw->counters[i].thread) : NULL;
        for (size_t c = 0; c < raw->counters[i].n_counts; c++) {
            const struct pm_raw_count *count = &raw->counters[i].counts[c];
            sums->counters[place->first_counter + count->counter] += count->count;
            of_thread[place->first_counter + count->counter] += count->count;
        }
    }
}

/* Of each cache size for which the estimate means something, up to the one from which on only first
   touches miss. */
static void add_estimates(struct sums *sums, const struct pm_raw *raw) {
    struct pm_streams *streams = &sums->result->streams;
    for (size_t i = 0; i < raw->n_samples; i++) {
        const struct pm_raw_samples *samples = &raw->samples[i];
        struct pm_stream stream = stream_of(sums, samples->thread);
        double error, least = pm_raw_sampled_misses(samples, PM_RAW_SAMPLE_SIZES - 1, &error);
        for (unsigned size = 0; size < PM_RAW_SAMPLE_SIZES; size++) {
            uint64_t blocks = UINT64_C(1) << size;
            double misses = pm_raw_sampled_misses(samples, size, &error);
            if (blocks < PM_RAW_SUBSAMPLES * samples->sample)
                continue;
            *PM_PUSH(streams, estimates) =
                (struct pm_stream_estimate){.stream = pm_streams_index(streams, &stream),
                                            .block_bytes = samples->block_bytes,
                                            .cache_blocks = blocks,
                                            .misses = misses,
                                            .standard_error = error};
            if (misses <= least)
                break;
        }
    }
}

static bool was_asked_for(const struct sums *sums, const struct pm_raw_histogram *from,
                          const struct pm_module_place *place) {
    size_t size = 0;
    while (size < sums->n_block_sizes && sums->block_sizes[size] != from->histogram.block_bytes)
        size++;
    return size < sums->n_block_sizes && from->group < place->n_groups &&
           (from->thread <= UINT32_MAX || from->thread == PM_RAW_SHARED);
}

/* Takes them out of RAW. */
static bool add_histograms(struct sums *sums, struct pm_raw *raw,
                           const struct pm_module_place *const *places, const char *path,
                           struct pm_error *err) {
    struct pm_streams *streams = &sums->result->streams;
    for (size_t i = 0; i < raw->n_histograms; i++) {
        struct pm_raw_histogram *from = &raw->histograms[i];
        const struct pm_module_place *place = places[from->module];
        if (!was_asked_for(sums, from, place))
            return pm_fail(err, "%s: a histogram that was not asked for", path);
        struct pm_stream stream = stream_of(sums, from->thread);
        if (stream.kind == PM_STREAM_THREAD && from->histogram.block_bytes == sums->block_sizes[0])
            sums->result->accesses += pm_histogram_accesses(&from->histogram);
        *PM_PUSH(streams, histograms) =
            (struct pm_stream_histogram){.stream = pm_streams_index(streams, &stream),
                                         .group = place->first_group + from->group,
                                         .histogram = from->histogram};
        from->histogram = (struct pm_histogram){0};
    }
    return true;
}

static void add_ending(struct pm_ingested *result, const struct pm_raw *raw) {
    result->n_truncated += (raw->flags & PM_RAW_TRUNCATED) != 0;
    result->n_checkpoints += (raw->flags & PM_RAW_CHECKPOINT) != 0;
    if (pm_raw_signal(raw))
        result->signal = pm_raw_signal(raw);
}

static bool add_file(void *to, const char *path, struct pm_error *err) {
    struct sums *sums = to;
    struct pm_raw *raw = pm_raw_read(path, err);
    const struct pm_module_place **places = raw ? find_places(sums, raw, path, err) : NULL;
    bool ok = places != NULL;
    if (ok) {
        add_counters(sums, raw, places);
        add_frames(sums, raw, places);
        add_estimates(sums, raw);
        pm_ingest_rank(&sums->result->ranks, &sums->odd_ranks, raw, sums->result->n_processes);
        ok = add_histograms(sums, raw, places, path, err) &&
             pm_ingest_strides(&sums->strides, raw, places, path, err) &&
             pm_ingest_parts(sums->result->profile, raw, places, path, err) &&
             pm_ingest_branches(&sums->result->profile->behaviour, raw, places, path, err) &&
             pm_ingest_trips(&sums->result->profile->behaviour, raw, places, path, err) &&
             pm_ingest_block_profile(&sums->blocks, raw, places, path, err) &&
             pm_ingest_communication(sums->communication, raw, places, sums->result->n_processes,
                                     path, err) &&
             pm_ingest_intervals(sums->intervals, raw, places, sums->result->n_processes, path,
                                 err) &&
             (!sums->result->patterns ||
              pm_ingest_patterns(sums->result->patterns, raw, places, path, err));
        sums->result->n_threads += (uint32_t)raw->n_threads;
        sums->result->n_processes++;
        add_ending(sums->result, raw);
        sums->n_missed_jumps += raw->n_missed_jumps;
        pm_skipped_add_stopped(&sums->stopped, raw);
        for (size_t i = 0; i < raw->n_notes; i++)
            pm_add_note(&sums->result->notes, raw->notes[i]);
    }
    free(places);
    pm_raw_free(raw);
    return ok;
}

/* ---- the profile ----------------------------------------------------------------------------- */

/* Edges of COUNTERS, in room for EDGES; for what belongs to nobody else. */
static void solve(const struct sums *sums, const uint64_t *counters,
                  const struct pm_open_call *open_calls, size_t n_open_calls, uint64_t *edges) {
    struct pm_skipped_accesses ignored = {0};
    bool *inexact = pm_alloc(sums->structure->n_routines, sizeof *inexact);
    pm_skipped_solve(sums->copies, counters, open_calls, n_open_calls, edges, inexact, &ignored);
    free(inexact);
}

/* What the process of threads FIRST … END − 1 took of each edge, at most what is LEFT. */
static double *edges_of_process(const struct sums *sums, size_t first, size_t end,
                                const double *left) {
    const struct pm_structure *structure = sums->structure;
    uint32_t process = sums->threads[first].process;
    uint64_t *counters = pm_alloc(structure->n_counters, sizeof *counters),
             *edges = pm_alloc(structure->n_edges, sizeof *edges);
    double *taken = pm_alloc(structure->n_edges, sizeof *taken);
    size_t open = sums->first_open_calls[process], after = process + 1 < sums->n_first_open_calls
                                                               ? sums->first_open_calls[process + 1]
                                                               : sums->n_open_calls;
    for (size_t t = first; t < end; t++)
        for (size_t c = 0; c < structure->n_counters; c++)
            counters[c] += sums->threads[t].counters[c];
    solve(sums, counters, sums->open_calls ? sums->open_calls + open : NULL, after - open, edges);
    for (size_t e = 0; e < structure->n_edges; e++)
        taken[e] = (double)edges[e] < left[e] ? (double)edges[e] : left[e];
    free(edges);
    free(counters);
    return taken;
}

/* Adds what thread T took, LEFT of its process for it: all of it, if IS_FIRST. */
static void add_thread(struct sums *sums, size_t t, bool is_first, double *left) {
    size_t n_edges = sums->structure->n_edges;
    struct pm_stream_counts *row = PM_PUSH(&sums->result->streams, counts);
    uint64_t *counts = pm_alloc(n_edges, sizeof *counts);
    *row = (struct pm_stream_counts){sums->threads[t].stream,
                                     pm_alloc(n_edges, sizeof *row->edge_counts)};
    if (!is_first)
        solve(sums, sums->threads[t].counters, NULL, 0, counts);
    for (size_t e = 0; e < n_edges; e++) {
        row->edge_counts[e] =
            !is_first && (double)counts[e] < left[e] ? (double)counts[e] : left[e];
        left[e] -= row->edge_counts[e];
    }
    free(counts);
}

/* Edges of each thread.  Which thread of a process the activations belong to that were left for
   good is not known; so the first one gets what the others leave of the process's, and the first
   process what the others leave of the whole. */
static void make_threads(struct sums *sums) {
    size_t n_edges = sums->structure->n_edges;
    double *left = pm_alloc(n_edges, sizeof *left);
    for (size_t e = 0; e < n_edges; e++)
        left[e] = sums->result->profile->edge_counts[e];
    for (size_t end = sums->n_threads; end > 0 && sums->n_threads > 1;) {
        size_t first = end - 1;
        while (first > 0 && sums->threads[first - 1].process == sums->threads[first].process)
            first--;
        double *of_process = first > 0 ? edges_of_process(sums, first, end, left) : NULL;
        for (size_t e = 0; of_process && e < n_edges; e++)
            left[e] -= of_process[e];
        for (size_t t = end; t-- > first;)
            add_thread(sums, t, t == first, of_process ? of_process : left);
        free(of_process);
        end = first;
    }
    free(left);
}

static void make_profile(struct sums *sums, const struct pm_parameters *at) {
    const struct pm_structure *structure = sums->structure;
    struct pm_ingested *result = sums->result;
    struct pm_profile *profile = result->profile;
    profile->parameters = *at;
    profile->extrapolation = 1;
    profile->n_edges = structure->n_edges;
    profile->edge_counts = pm_alloc(structure->n_edges, sizeof *profile->edge_counts);
    uint64_t *counts = pm_alloc(structure->n_edges, sizeof *counts);
    result->inexact = pm_alloc(structure->n_routines, sizeof *result->inexact);
    pm_skipped_solve(sums->copies, sums->counters, sums->open_calls, sums->n_open_calls, counts,
                     result->inexact, &profile->skipped[PM_SKIPPED_LEFT_OUT]);
    profile->skipped[PM_SKIPPED_STOPPED] = sums->stopped;
    for (size_t i = 0; i < structure->n_edges; i++)
        profile->edge_counts[i] = (double)counts[i];
    free(counts);
    for (size_t i = 0; i < structure->n_routines; i++)
        profile->n_inexact_routines += result->inexact[i];
    make_threads(sums);
    pm_sort_histograms(profile->dirty, &profile->n_dirty);
    pm_sort_histograms(profile->sequential, &profile->n_sequential);
    pm_behaviour_sort(&profile->behaviour);
    pm_run_strides_sort(&sums->strides);
    profile->strides = sums->strides;
    sums->strides = (struct pm_run_strides){0};
    profile->n_block_sizes = sums->n_block_sizes;
    profile->block_sizes = pm_alloc(sums->n_block_sizes, sizeof *profile->block_sizes);
    for (size_t i = 0; i < sums->n_block_sizes; i++)
        profile->block_sizes[i] = sums->block_sizes[i];
}

static void note_libraries(const struct sums *sums) {
    const struct pm_structure *structure = sums->structure;
    for (size_t i = 0; i < structure->n_modules; i++) {
        if (sums->loaded[i])
            continue;
        char *note = pm_sprintf("%s was not loaded, or not the instrumented copy: nothing of it is "
                                "counted",
                                structure->modules[i].name);
        pm_add_note(&sums->result->notes, note);
        free(note);
    }
}

static void note_skipped(const struct sums *sums) {
    struct pm_ingested *result = sums->result;
    for (unsigned reason = 0; reason < PM_N_SKIPPED; reason++) {
        char *note = pm_skipped_sentence(&result->profile->skipped[reason], reason);
        if (note)
            pm_add_note(&result->notes, note);
        free(note);
    }
}

static void note_endings(const struct sums *sums) {
    struct pm_ingested *result = sums->result;
    char note[200];
    if (result->n_truncated) {
        snprintf(note, sizeof note,
                 "%u of %u processes were ended by signal %d (%s): what they did until then is "
                 "counted",
                 result->n_truncated, result->n_processes, result->signal,
                 strsignal(result->signal));
        pm_add_note(&result->notes, note);
    }
    if (result->n_checkpoints) {
        snprintf(note, sizeof note,
                 "%u of %u processes were ended without warning: what they did until their last "
                 "checkpoint is counted, and open routines once too often or too rarely",
                 result->n_checkpoints, result->n_processes);
        pm_add_note(&result->notes, note);
    }
}

static void note_irregularities(const struct sums *sums) {
    struct pm_ingested *result = sums->result;
    char note[160];
    if (result->profile->n_inexact_routines) {
        snprintf(note, sizeof note,
                 "counts of %zu routines are inexact (left in a way that could not be followed)",
                 result->profile->n_inexact_routines);
        pm_add_note(&result->notes, note);
    }
    if (sums->n_missed_jumps) {
        snprintf(note, sizeof note, "%llu jumps to places that were not foreseen were caught",
                 (unsigned long long)sums->n_missed_jumps);
        pm_add_note(&result->notes, note);
    }
}

bool pm_ingest(const char *folder, const struct pm_copies *copies, const struct pm_parameters *at,
               const uint64_t *block_sizes, size_t n_block_sizes, bool with_patterns,
               bool with_checkpoints, double rank_tolerance, struct pm_ingested *ingested,
               struct pm_error *err) {
    const struct pm_structure *structure = copies->structure;
    *ingested = (struct pm_ingested){.profile = pm_alloc(1, sizeof *ingested->profile)};
    if (with_patterns)
        ingested->patterns = pm_alloc(1, sizeof *ingested->patterns);
    struct sums sums = {
        .copies = copies,
        .loaded = pm_alloc(structure->n_modules, sizeof *sums.loaded),
        .structure = structure,
        .counters = pm_alloc(structure->n_counters, sizeof *sums.counters),
        .block_sizes = block_sizes,
        .n_block_sizes = n_block_sizes,
        .blocks = {.structure = structure},
        .intervals = pm_interval_sums_new(copies),
        .communication = pm_communication_sums_new(),
        .result = ingested,
    };
    bool ok = pm_add_raw_files(folder, "measurement", with_checkpoints, add_file, &sums, err);
    ingested->communication = pm_communication_sums_end(sums.communication, &ingested->notes);
    if (ok) {
        pm_streams_order(&ingested->streams);
        make_profile(&sums, at);
        pm_ingest_ranks_end(ingested, &sums.odd_ranks, structure, rank_tolerance);
        ingested->blocks = pm_profile_sums_end(&sums.blocks, ingested->profile->edge_counts);
        ingested->n_served = sums.blocks.n_served;
        ingested->intervals = pm_interval_sums_end(sums.intervals, ingested->profile,
                                                   ingested->inexact, &ingested->notes);
        note_endings(&sums);
        note_irregularities(&sums);
        note_skipped(&sums);
        note_libraries(&sums);
        if (ingested->patterns)
            pm_run_patterns_sort(ingested->patterns);
    }
    free(sums.counters);
    for (size_t i = 0; i < sums.n_threads; i++)
        free(sums.threads[i].counters);
    free(sums.threads);
    pm_run_strides_free(&sums.strides);
    pm_profile_sums_free(&sums.blocks);
    pm_interval_sums_free(sums.intervals);
    free(sums.open_calls);
    free(sums.first_open_calls);
    free(sums.loaded);
    return ok;
}

void pm_ingested_free(struct pm_ingested *ingested) {
    if (ingested->profile)
        pm_profile_free(ingested->profile);
    pm_streams_free(&ingested->streams);
    pm_ranks_free(&ingested->ranks);
    free(ingested->missing_ranks);
    pm_run_patterns_free(ingested->patterns);
    pm_intervals_free(ingested->intervals);
    pm_communication_free(ingested->communication);
    pm_block_profile_free(ingested->blocks);
    free(ingested->inexact);
    free(ingested->notes);
    *ingested = (struct pm_ingested){0};
}
