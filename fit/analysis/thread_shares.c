/* Misses of each thread: those of its histograms as parts of the run's; see threads.h. */
#include "fit/analysis/threads.h"

#include <stdlib.h>

#include "fit/sets/sets.h"

/* Histograms of all streams; the streams' numbers beside them. */
struct stream_parts {
    PM_ARRAY(struct pm_group_histogram, histograms);
    PM_ARRAY(uint32_t, streams);
};

static bool read_parts(struct pm_histogram_cursor *cursor, struct stream_parts *parts,
                       struct pm_error *err) {
    struct pm_histogram_place place;
    struct pm_histogram histogram;
    while (pm_histogram_cursor_next(cursor, &place, err) &&
           pm_histogram_cursor_read(cursor, &histogram, err)) {
        *PM_PUSH(parts, histograms) = (struct pm_group_histogram){place.group, histogram};
        *PM_PUSH(parts, streams) = place.stream_index;
    }
    return err->kind == PM_ERROR_NONE;
}

static void add_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                       const struct stream_parts *parts, const struct pm_machine *machine,
                       struct pm_thread_misses *threads) {
    double **misses =
        pm_set_misses_of_parts(structure, profile, parts->histograms, parts->n_histograms, machine);
    for (size_t i = 0; i < parts->n_histograms; i++) {
        struct pm_thread_misses *to = &threads[parts->streams[i]];
        if (parts->histograms[i].histogram.block_bytes == machine->levels[0].block_bytes)
            to->accesses += pm_histogram_accesses(&parts->histograms[i].histogram);
        for (size_t l = 0; l < machine->n_levels; l++)
            to->misses[l] += misses[l][i];
    }
    pm_set_misses_free(misses, machine->n_levels);
}

struct pm_thread_misses *pm_misses_by_thread(const struct pm_structure *structure,
                                             const struct pm_profile *profile,
                                             struct pm_histogram_cursor *cursor,
                                             const struct pm_machine *const *machines,
                                             size_t n_machines, size_t *n, struct pm_error *err) {
    const struct pm_stream *streams = pm_histogram_cursor_streams(cursor, n);
    struct stream_parts parts = {0};
    struct pm_thread_misses *threads = NULL;
    if (read_parts(cursor, &parts, err)) {
        threads = pm_alloc(*n * n_machines + 1, sizeof *threads);
        for (size_t i = 0; i < *n * n_machines; i++)
            threads[i].stream = streams[i % *n];
        for (size_t m = 0; m < n_machines; m++)
            add_misses(structure, profile, &parts, machines[m], threads + m * *n);
    }
    for (size_t i = 0; i < parts.n_histograms; i++)
        pm_histogram_free(&parts.histograms[i].histogram);
    free(parts.histograms);
    free(parts.streams);
    return threads;
}
