/* The profile store: how often each thread of a run took each edge (core/streams.h). */
#include <math.h>
#include <stdlib.h>

#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS thread_edges (run INTEGER, process INTEGER,"
    " thread INTEGER, counts BLOB, PRIMARY KEY (run, process, thread))"
    " WITHOUT ROWID;";

static void *pack_counts(const double *edge_counts, size_t n) {
    uint64_t *counts = pm_alloc(n, sizeof *counts);
    for (size_t i = 0; i < n; i++)
        counts[i] = (uint64_t)llround(edge_counts[i]);
    return counts;
}

bool pm_store_put_thread_edges(struct pm_store *store, int64_t run,
                               const struct pm_streams *streams, size_t n_edges,
                               struct pm_error *err) {
    if (!streams || streams->n_counts == 0)
        return true;
    if (!pm_store_run_sql(store, schema, err))
        return false;
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO thread_edges (run, process, thread, counts) VALUES (?,?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < streams->n_counts; i++) {
        const struct pm_stream *stream = &streams->streams[streams->counts[i].stream];
        uint64_t *counts = pack_counts(streams->counts[i].edge_counts, n_edges);
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, stream->process);
        sqlite3_bind_int64(s, 3, stream->thread);
        pm_store_bind_compressed(s, 4, counts, n_edges * sizeof *counts);
        free(counts);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool read_row(struct pm_store *store, sqlite3_stmt *s, size_t n_edges,
                     struct pm_streams *streams, struct pm_error *err) {
    const struct pm_stream stream = {.process = (uint32_t)sqlite3_column_int64(s, 0),
                                     .thread = (uint32_t)sqlite3_column_int64(s, 1),
                                     .kind = PM_STREAM_THREAD};
    size_t n_bytes = 0;
    uint64_t *counts = pm_store_read_compressed(s, 2, &n_bytes);
    bool ok = counts && n_bytes == n_edges * sizeof *counts;
    if (ok) {
        struct pm_stream_counts *row = PM_PUSH(streams, counts);
        *row = (struct pm_stream_counts){pm_streams_index(streams, &stream),
                                         pm_alloc(n_edges, sizeof *row->edge_counts)};
        for (size_t i = 0; i < n_edges; i++)
            row->edge_counts[i] = (double)counts[i];
    } else {
        pm_fail(err, "%s: the counts of thread %u are damaged: run that size again", store->path,
                stream.thread);
    }
    free(counts);
    return ok;
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

bool pm_store_read_thread_edges(struct pm_store *store, int64_t run, size_t n_edges,
                                struct pm_streams *streams, struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "thread_edges", &has, err))
        return false;
    sqlite3_stmt *s = has ? pm_store_prepare(store,
                                             "SELECT process, thread, counts FROM thread_edges"
                                             " WHERE run = ? ORDER BY process, thread",
                                             err)
                          : NULL;
    if (!s)
        return !has;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err))
        ok = read_row(store, s, n_edges, streams, err);
    sqlite3_finalize(s);
    return ok;
}
