/* Misses of each thread, added up histogram by histogram; see threads.h. */
#include "fit/analysis/threads.h"

#include <stdlib.h>

#include "core/histogram.h"

static void add_histogram(struct pm_thread_misses *to, const struct pm_machine *machine,
                          const struct pm_histogram *histogram) {
    if (histogram->block_bytes == machine->levels[0].block_bytes)
        to->accesses += pm_histogram_accesses(histogram);
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        if (level->block_bytes == histogram->block_bytes)
            to->misses[l] += pm_histogram_misses(histogram, pm_level_capacity_blocks(level));
    }
}

struct pm_thread_misses *pm_misses_by_thread(struct pm_histogram_cursor *cursor,
                                             const struct pm_machine *const *machines,
                                             size_t n_machines, size_t *n, struct pm_error *err) {
    const struct pm_stream *streams = pm_histogram_cursor_streams(cursor, n);
    struct pm_thread_misses *threads = pm_alloc(*n * n_machines + 1, sizeof *threads);
    struct pm_histogram_place place;
    struct pm_histogram histogram;
    for (size_t i = 0; i < *n * n_machines; i++)
        threads[i].stream = streams[i % *n];
    while (pm_histogram_cursor_next(cursor, &place, err) &&
           pm_histogram_cursor_read(cursor, &histogram, err)) {
        for (size_t m = 0; m < n_machines; m++)
            add_histogram(&threads[m * *n + place.stream_index], machines[m], &histogram);
        pm_histogram_free(&histogram);
    }
    if (err->kind == PM_ERROR_NONE)
        return threads;
    free(threads);
    return NULL;
}
