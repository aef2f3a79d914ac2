/* The misses of each thread of a measured run, straight from its histograms; see report_threads.h.
 */
#include "cmd/report_threads.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/report.h"

static void add_histogram(struct pm_thread_misses *to, const struct pm_machine *machine,
                          const struct pm_histogram *histogram) {
    if (histogram->block_bytes == machine->levels[0].block_bytes)
        to->accesses += pm_histogram_accesses(histogram);
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        if (level->block_bytes == histogram->block_bytes)
            to->misses[l] +=
                pm_histogram_misses(histogram, (double)(level->size_bytes / level->block_bytes));
    }
}

/* THREADS: for each machine one for each stream, machine by machine. */
static bool add_up(struct pm_histogram_cursor *cursor, const struct pm_machine_list *on,
                   struct pm_thread_misses *threads, size_t n_streams, struct pm_error *err) {
    struct pm_histogram_place place;
    while (pm_histogram_cursor_next(cursor, &place, err)) {
        struct pm_histogram histogram;
        if (!pm_histogram_cursor_read(cursor, &histogram, err))
            return false;
        for (size_t m = 0; m < on->n_machines; m++)
            add_histogram(&threads[m * n_streams + place.stream_index], on->machines[m],
                          &histogram);
        pm_histogram_free(&histogram);
    }
    return err->kind == PM_ERROR_NONE;
}

bool pm_print_threads(struct pm_store *store, const struct pm_parameters *at,
                      const struct pm_machine_list *on, const struct pm_report_options *options,
                      struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_store_histograms(store, at, err);
    if (!cursor)
        return false;
    size_t n;
    const struct pm_stream *streams = pm_histogram_cursor_streams(cursor, &n);
    struct pm_thread_misses *threads = pm_alloc(n * on->n_machines + 1, sizeof *threads);
    for (size_t i = 0; i < n * on->n_machines; i++)
        threads[i].stream = streams[i % n];
    bool ok = add_up(cursor, on, threads, n, err);
    for (size_t m = 0; ok && m < on->n_machines; m++)
        pm_report_threads(stdout, on->machines[m], threads + m * n, n, options);
    free(threads);
    pm_histogram_cursor_free(cursor);
    return ok;
}
