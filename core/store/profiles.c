/* The profile store: what a run did, but for its histograms: counts of edges, of the whole and of
   each thread; accesses that were not analysed; strides; branches. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/raw_file.h"
#include "core/store/private.h"

/* ---- counts of edges ------------------------------------------------------------------------- */

static struct pm_blob counts_of(const double *edge_counts, size_t n) {
    uint64_t *counts = pm_alloc(n, sizeof *counts);
    for (size_t i = 0; i < n; i++)
        counts[i] = (uint64_t)llround(edge_counts[i]);
    return (struct pm_blob){counts, n * sizeof *counts};
}

/* Of *N edges, owned by the caller. */
static double *counts_in(const struct pm_blob *blob, size_t *n) {
    const uint64_t *counts = blob->data;
    *n = blob->n / sizeof *counts;
    double *edge_counts = pm_alloc(*n, sizeof *edge_counts);
    for (size_t i = 0; i < *n; i++)
        edge_counts[i] = (double)counts[i];
    return edge_counts;
}

static bool put_edges(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                      const bool *inexact, size_t n_routines, struct pm_error *err) {
    struct pm_edges_row row = {.counts = counts_of(profile->edge_counts, profile->n_edges),
                               .inexact = {pm_alloc(n_routines, 1), n_routines}};
    for (size_t i = 0; inexact && i < n_routines; i++)
        ((uint8_t *)row.inexact.data)[i] = inexact[i];
    bool ok = pm_store_put_rows(store, PM_EDGES, run, &row, 1, err);
    pm_row_free(PM_EDGES, &row);
    return ok;
}

bool pm_store_read_edges(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_EDGES, run, err);
    const struct pm_edges_row *row = pm_rows_next(&rows);
    if (rows.ok && (!row || row->counts.n % sizeof(uint64_t) != 0))
        pm_rows_damaged(&rows);
    if (row && rows.ok)
        profile->edge_counts = counts_in(&row->counts, &profile->n_edges);
    for (size_t i = 0; row && i < row->inexact.n; i++)
        profile->n_inexact_routines += ((const uint8_t *)row->inexact.data)[i] != 0;
    if (row)
        pm_row_free(PM_EDGES, row);
    return pm_rows_end(&rows);
}

static bool put_thread_edges(struct pm_store *store, int64_t run, const struct pm_streams *streams,
                             size_t n_edges, struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, PM_THREAD_EDGES, run, err);
    for (size_t i = 0; i < streams->n_counts && rows.ok; i++) {
        const struct pm_stream *stream = &streams->streams[streams->counts[i].stream];
        struct pm_thread_edges_row row = {stream->process, stream->thread,
                                          counts_of(streams->counts[i].edge_counts, n_edges)};
        pm_rows_put(&rows, &row);
        pm_row_free(PM_THREAD_EDGES, &row);
    }
    return pm_rows_end(&rows);
}

bool pm_store_read_thread_edges(struct pm_store *store, int64_t run, size_t n_edges,
                                struct pm_streams *streams, struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_THREAD_EDGES, run, err);
    const struct pm_thread_edges_row *row;
    while ((row = pm_rows_next(&rows))) {
        const struct pm_stream stream = {row->process, row->thread, PM_STREAM_THREAD};
        size_t n;
        double *counts = counts_in(&row->counts, &n);
        if (n == n_edges) {
            uint32_t index = pm_streams_index(streams, &stream);
            *PM_PUSH(streams, counts) = (struct pm_stream_counts){index, counts};
        } else {
            free(counts);
            pm_rows_damaged(&rows);
        }
        pm_row_free(PM_THREAD_EDGES, row);
    }
    return pm_rows_end(&rows);
}

bool pm_store_thread_edges(struct pm_store *store, const struct pm_parameters *parameters,
                           size_t n_edges, struct pm_streams *streams, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0;
    return pm_store_is_selected(store)
               ? pm_store_take_selected_threads(store, run, n_edges, streams, err)
               : pm_store_read_thread_edges(store, run, n_edges, streams, err);
}

/* ---- accesses that were not analysed, strides ------------------------------------------------ */

static bool put_skipped(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                        struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, PM_SKIPPED, run, err);
    for (uint8_t i = 0; i < PM_N_SKIPPED && rows.ok; i++) {
        const struct pm_skipped_accesses *of = &profile->skipped[i];
        const struct pm_skipped_row row = {i, of->executions, of->loads, of->stores};
        if (of->executions != 0 || of->loads != 0 || of->stores != 0)
            pm_rows_put(&rows, &row);
    }
    return pm_rows_end(&rows);
}

static bool read_skipped(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_SKIPPED, run, err);
    const struct pm_skipped_row *row;
    while ((row = pm_rows_next(&rows)))
        if (row->reason < PM_N_SKIPPED)
            profile->skipped[row->reason] =
                (struct pm_skipped_accesses){row->loads, row->stores, row->executions};
    return pm_rows_end(&rows);
}

static bool put_strides(struct pm_store *store, int64_t run, const struct pm_run_strides *strides,
                        struct pm_error *err) {
    struct pm_strides_row row = {.n_references = strides->n_references};
    if (strides->n_references == 0)
        return true;
    pm_run_strides_encode(strides, &row.data.data, &row.data.n);
    bool ok = pm_store_put_rows(store, PM_STRIDES, run, &row, 1, err);
    free(row.data.data);
    return ok;
}

static bool read_strides(struct pm_store *store, int64_t run, struct pm_run_strides *strides,
                         struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_STRIDES, run, err);
    const struct pm_strides_row *row = pm_rows_next(&rows);
    if (row && !pm_run_strides_decode(row->data.data, row->data.n, UINT32_MAX, strides, err))
        rows.ok = pm_fail_in(err, "%s: run %lld", store->path, (long long)run);
    return pm_rows_end(&rows);
}

/* ---- branches -------------------------------------------------------------------------------- */

static bool is_branch(const struct pm_measured_branch *row) {
    bool is_sound = row->executions >= row->analysed && row->executions >= row->taken &&
                    row->analysed >= 0 && row->taken >= 0 && isfinite(row->executions);
    for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
        is_sound &= row->wrong[p] >= 0 && row->wrong[p] <= row->analysed;
    return is_sound;
}

static bool read_branches(struct pm_store *store, int64_t run, struct pm_behaviour *behaviour,
                          struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_BRANCHES, run, err);
    const struct pm_measured_branch *row;
    while ((row = pm_rows_next(&rows)))
        if (is_branch(row))
            pm_behaviour_add_branch(behaviour, row);
        else
            pm_rows_damaged(&rows);
    return pm_rows_end(&rows);
}

static bool read_trips(struct pm_store *store, int64_t run, struct pm_behaviour *behaviour,
                       struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_TRIPS, run, err);
    const struct pm_measured_trips *row;
    while ((row = pm_rows_next(&rows)))
        if (row->range < PM_N_TRIP_RANGES && row->entries > 0 &&
            row->iterations >= row->entries * (double)pm_least_trips(row->range) &&
            isfinite(row->iterations))
            pm_behaviour_add_trips(behaviour, row);
        else
            pm_rows_damaged(&rows);
    return pm_rows_end(&rows);
}

bool pm_store_has_behaviour(struct pm_store *store, const struct pm_parameters *parameters,
                            bool *found, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    *found = false;
    return run == 0 || (run > 0 && pm_store_has_rows(store, PM_BRANCHES, run, NULL, 0, found, err));
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool pm_store_put_profile(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                          const struct pm_streams *streams, const bool *inexact_routines,
                          size_t n_routines, struct pm_error *err) {
    return put_edges(store, run, profile, inexact_routines, n_routines, err) &&
           (!streams || put_thread_edges(store, run, streams, profile->n_edges, err)) &&
           put_skipped(store, run, profile, err) &&
           put_strides(store, run, &profile->strides, err) &&
           pm_store_put_rows(store, PM_BRANCHES, run, profile->behaviour.branches,
                             profile->behaviour.n_branches, err) &&
           pm_store_put_rows(store, PM_TRIPS, run, profile->behaviour.trips,
                             profile->behaviour.n_trips, err);
}

bool pm_store_read_profile(struct pm_store *store, int64_t run, struct pm_profile *profile,
                           struct pm_error *err) {
    return pm_store_read_edges(store, run, profile, err) &&
           read_skipped(store, run, profile, err) &&
           read_strides(store, run, &profile->strides, err) &&
           read_branches(store, run, &profile->behaviour, err) &&
           read_trips(store, run, &profile->behaviour, err);
}
