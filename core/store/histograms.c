/* The profile store: histograms of runs, one blob for each group, block size and stream.  They are
   written and read in the order of the table's key, one after the other, so that a run of a large
   program is never in memory as a whole but where a profile is asked for. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/store/private.h"

const char pm_store_histograms_schema[] =
    "CREATE TABLE stream (run INTEGER, stream INTEGER, kind TEXT, process INTEGER, thread INTEGER,"
    " PRIMARY KEY (run, stream)) WITHOUT ROWID;"
    "CREATE TABLE histogram (run INTEGER, scope_group INTEGER, block_bytes INTEGER,"
    " stream INTEGER, cold INTEGER, accesses INTEGER, data BLOB,"
    " PRIMARY KEY (run, scope_group, block_bytes, stream)) WITHOUT ROWID;"
    "CREATE TABLE estimate (run INTEGER, stream INTEGER, block_bytes INTEGER,"
    " cache_blocks INTEGER, misses REAL, standard_error REAL,"
    " PRIMARY KEY (run, stream, block_bytes, cache_blocks)) WITHOUT ROWID;";

/* Up to version 2 threads were added up. */
const char pm_store_histograms_view[] =
    "CREATE TEMP VIEW stream AS"
    " SELECT id AS run, 0 AS stream, 'sum' AS kind, 0 AS process, NULL AS thread FROM main.run;"
    "CREATE TEMP VIEW histogram AS SELECT run, scope_group, block_bytes, 0 AS stream, cold,"
    " accesses, data FROM main.histogram;"
    "CREATE TEMP VIEW estimate AS SELECT 0 AS run, 0 AS stream, 0 AS block_bytes,"
    " 0 AS cache_blocks, 0 AS misses, 0 AS standard_error WHERE 0;";

bool pm_store_upgrade_histograms(struct pm_store *store, struct pm_error *err) {
    return pm_store_run_sql(store, "ALTER TABLE histogram RENAME TO histogram_of_run", err) &&
           pm_store_run_sql(store, pm_store_histograms_schema, err) &&
           pm_store_run_sql(store,
                            "INSERT INTO stream SELECT id, 0, 'sum', 0, NULL FROM run;"
                            "INSERT INTO histogram SELECT run, scope_group, block_bytes, 0, cold,"
                            " accesses, data FROM histogram_of_run;"
                            "DROP TABLE histogram_of_run;",
                            err);
}

static const char *const kinds[] = {
    [PM_STREAM_THREAD] = "thread", [PM_STREAM_SHARED] = "shared", [PM_STREAM_SUM] = "sum"};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* ---- writing -------------------------------------------------------------------------------- */

static bool put_streams(struct pm_store *store, int64_t run, const struct pm_stream *streams,
                        size_t n_streams, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO stream (run, stream, kind, process, thread) VALUES (?,?,?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < n_streams; i++) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        sqlite3_bind_text(s, 3, kinds[streams[i].kind], -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 4, streams[i].process);
        if (streams[i].kind == PM_STREAM_THREAD)
            sqlite3_bind_int64(s, 5, streams[i].thread);
        else
            sqlite3_bind_null(s, 5);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_histogram(struct pm_store *store, sqlite3_stmt *s, int64_t run, uint32_t stream,
                          uint32_t group, const struct pm_histogram *histogram,
                          struct pm_error *err) {
    void *bytes;
    size_t n_bytes;
    pm_histogram_encode(store->packing, histogram, &bytes, &n_bytes);
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, group);
    sqlite3_bind_int64(s, 3, (int64_t)histogram->block_bytes);
    sqlite3_bind_int64(s, 4, stream);
    sqlite3_bind_int64(s, 5, llround(histogram->cold_loads + histogram->cold_stores));
    sqlite3_bind_int64(s, 6, llround(pm_histogram_accesses(histogram)));
    sqlite3_bind_blob64(s, 7, bytes, n_bytes, free);
    return pm_store_step(store, s, err);
}

static sqlite3_stmt *prepare_histograms(struct pm_store *store, struct pm_error *err) {
    return pm_store_prepare(store,
                            "INSERT INTO histogram (run, scope_group, block_bytes, stream, cold,"
                            " accesses, data) VALUES (?,?,?,?,?,?,?)",
                            err);
}

static bool put_sums(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                     struct pm_error *err) {
    const struct pm_stream sum = {.kind = PM_STREAM_SUM};
    sqlite3_stmt *s = put_streams(store, run, &sum, 1, err) ? prepare_histograms(store, err) : NULL;
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < profile->n_histograms; i++)
        ok = put_histogram(store, s, run, 0, profile->histograms[i].group,
                           &profile->histograms[i].histogram, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_estimates(struct pm_store *store, int64_t run, const struct pm_streams *streams,
                          struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT INTO estimate (run, stream, block_bytes,"
                                       " cache_blocks, misses, standard_error)"
                                       " VALUES (?,?,?,?,?,?)",
                                       err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < streams->n_estimates; i++) {
        const struct pm_stream_estimate *estimate = &streams->estimates[i];
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, estimate->stream);
        sqlite3_bind_int64(s, 3, (int64_t)estimate->block_bytes);
        sqlite3_bind_int64(s, 4, (int64_t)estimate->cache_blocks);
        sqlite3_bind_double(s, 5, estimate->misses);
        sqlite3_bind_double(s, 6, estimate->standard_error);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_histograms(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                             const struct pm_streams *streams, struct pm_error *err) {
    if (!streams)
        return put_sums(store, run, profile, err);
    sqlite3_stmt *s = put_streams(store, run, streams->streams, streams->n_streams, err)
                          ? prepare_histograms(store, err)
                          : NULL;
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < streams->n_histograms; i++) {
        const struct pm_stream_histogram *of = &streams->histograms[i];
        ok = put_histogram(store, s, run, of->stream, of->group, &of->histogram, err);
    }
    sqlite3_finalize(s);
    return ok && put_estimates(store, run, streams, err);
}

/* ---- reading -------------------------------------------------------------------------------- */

struct pm_histogram_cursor {
    struct pm_store *store;
    int64_t run;
    sqlite3_stmt *statement;
    struct pm_streams streams; /* without histograms */
    bool failed;
};

static bool damaged(const struct pm_histogram_cursor *cursor, struct pm_error *err) {
    return pm_fail(err, "%s: the histograms of run %lld are damaged: run that size again",
                   cursor->store->path, (long long)cursor->run);
}

static bool read_stream(struct pm_histogram_cursor *cursor, sqlite3_stmt *s, struct pm_error *err) {
    const char *name = (const char *)sqlite3_column_text(s, 1);
    uint8_t kind = 0;
    while (kind < N_KINDS && (!name || sqlite3_stricmp(name, kinds[kind]) != 0))
        kind++;
    if (kind == N_KINDS || sqlite3_column_int64(s, 0) != (int64_t)cursor->streams.n_streams)
        return damaged(cursor, err);
    *PM_PUSH(&cursor->streams, streams) =
        (struct pm_stream){.process = (uint32_t)sqlite3_column_int64(s, 2),
                           .thread = (uint32_t)sqlite3_column_int64(s, 3),
                           .kind = kind};
    return true;
}

static bool read_streams(struct pm_histogram_cursor *cursor, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        cursor->store,
        "SELECT stream, kind, process, thread FROM stream WHERE run = ? ORDER BY stream", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, cursor->run);
    bool ok = true;
    while (pm_store_next_row(cursor->store, s, &ok, err))
        ok = read_stream(cursor, s, err);
    sqlite3_finalize(s);
    return ok;
}

struct pm_histogram_cursor *pm_store_histograms_of_run(struct pm_store *store, int64_t run,
                                                       struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_alloc(1, sizeof *cursor);
    cursor->store = store;
    cursor->run = run;
    if (read_streams(cursor, err))
        cursor->statement = pm_store_prepare(store,
                                             "SELECT scope_group, block_bytes, stream, data"
                                             " FROM histogram WHERE run = ?"
                                             " ORDER BY scope_group, block_bytes, stream",
                                             err);
    if (cursor->statement) {
        sqlite3_bind_int64(cursor->statement, 1, run);
        return cursor;
    }
    pm_histogram_cursor_free(cursor);
    return NULL;
}

struct pm_histogram_cursor *pm_store_histograms(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run > 0)
        return pm_store_histograms_of_run(store, run, err);
    if (run == 0)
        pm_fail(err, "%s: no run of that size", store->path);
    return NULL;
}

void pm_histogram_cursor_free(struct pm_histogram_cursor *cursor) {
    if (!cursor)
        return;
    sqlite3_finalize(cursor->statement);
    pm_streams_free(&cursor->streams);
    free(cursor);
}

const struct pm_stream *pm_histogram_cursor_streams(const struct pm_histogram_cursor *cursor,
                                                    size_t *n_streams) {
    *n_streams = cursor->streams.n_streams;
    return cursor->streams.streams;
}

bool pm_histogram_cursor_next(struct pm_histogram_cursor *cursor, struct pm_histogram_place *place,
                              struct pm_error *err) {
    int status = cursor->failed ? SQLITE_DONE : sqlite3_step(cursor->statement);
    if (status != SQLITE_ROW) {
        if (status != SQLITE_DONE)
            cursor->failed = !pm_store_fail(cursor->store, err);
        return false;
    }
    int64_t group = sqlite3_column_int64(cursor->statement, 0);
    int64_t block_bytes = sqlite3_column_int64(cursor->statement, 1);
    int64_t stream = sqlite3_column_int64(cursor->statement, 2);
    if (group < 0 || group > UINT32_MAX || block_bytes <= 0 || stream < 0 ||
        stream >= (int64_t)cursor->streams.n_streams) {
        cursor->failed = !damaged(cursor, err);
        return false;
    }
    *place = (struct pm_histogram_place){.group = (uint32_t)group,
                                         .block_bytes = (uint64_t)block_bytes,
                                         .stream_index = (uint32_t)stream,
                                         .stream = &cursor->streams.streams[stream]};
    return true;
}

bool pm_histogram_cursor_read(struct pm_histogram_cursor *cursor, struct pm_histogram *histogram,
                              struct pm_error *err) {
    sqlite3_stmt *s = cursor->statement;
    if (pm_histogram_decode(cursor->store->packing, sqlite3_column_blob(s, 3),
                            (size_t)sqlite3_column_bytes(s, 3), histogram, err) &&
        histogram->block_bytes == (uint64_t)sqlite3_column_int64(s, 1))
        return true;
    pm_histogram_free(histogram);
    cursor->failed = true;
    if (err->kind == PM_ERROR_NONE)
        return damaged(cursor, err);
    return pm_fail_in(err, "%s: run %lld, group %lld", cursor->store->path, (long long)cursor->run,
                      (long long)sqlite3_column_int64(s, 0));
}

bool pm_store_has_bytes(struct pm_store *store, const struct pm_parameters *parameters, bool *found,
                        struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_store_histograms(store, parameters, err);
    struct pm_histogram_place place;
    struct pm_histogram histogram;
    *found = true;
    if (cursor && pm_histogram_cursor_next(cursor, &place, err) &&
        pm_histogram_cursor_read(cursor, &histogram, err)) {
        *found = !isnan(histogram.bytes_touched);
        pm_histogram_free(&histogram);
    }
    pm_histogram_cursor_free(cursor);
    return err->kind == PM_ERROR_NONE;
}

bool pm_store_estimates(struct pm_store *store, const struct pm_parameters *parameters,
                        struct pm_stream_estimate **estimates, size_t *n_estimates,
                        struct pm_error *err) {
    struct {
        PM_ARRAY(struct pm_stream_estimate, rows);
    } list = {0};
    int64_t run = pm_store_find_run(store, parameters, err);
    sqlite3_stmt *s = run < 0 ? NULL
                              : pm_store_prepare(store,
                                                 "SELECT stream, block_bytes, cache_blocks, misses,"
                                                 " standard_error FROM estimate WHERE run = ?"
                                                 " ORDER BY stream, block_bytes, cache_blocks",
                                                 err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err))
        *PM_PUSH(&list, rows) =
            (struct pm_stream_estimate){.stream = (uint32_t)sqlite3_column_int64(s, 0),
                                        .block_bytes = (uint64_t)sqlite3_column_int64(s, 1),
                                        .cache_blocks = (uint64_t)sqlite3_column_int64(s, 2),
                                        .misses = sqlite3_column_double(s, 3),
                                        .standard_error = sqlite3_column_double(s, 4)};
    sqlite3_finalize(s);
    *estimates = list.rows;
    *n_estimates = list.n_rows;
    if (ok)
        return true;
    free(list.rows);
    *estimates = NULL;
    return false;
}

/* ---- the process's whole --------------------------------------------------------------------- */

struct sums {
    PM_ARRAY(struct pm_group_histogram, rows);
};

static bool add_to_sums(struct sums *sums, struct pm_histogram_cursor *cursor,
                        const struct pm_histogram_place *place, struct pm_error *err) {
    struct pm_histogram histogram;
    if (!pm_histogram_cursor_read(cursor, &histogram, err))
        return false;
    struct pm_group_histogram *last = sums->n_rows ? &sums->rows[sums->n_rows - 1] : NULL;
    if (last && last->group == place->group && last->histogram.block_bytes == place->block_bytes) {
        pm_histogram_add(&last->histogram, &histogram);
        pm_histogram_free(&histogram);
    } else {
        *PM_PUSH(sums, rows) = (struct pm_group_histogram){place->group, histogram};
    }
    return true;
}

bool pm_store_read_sums(struct pm_store *store, int64_t run, struct pm_profile *profile,
                        struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_store_histograms_of_run(store, run, err);
    struct sums sums = {0};
    struct pm_histogram_place place;
    bool ok = cursor != NULL;
    while (ok && pm_histogram_cursor_next(cursor, &place, err))
        if (place.stream->kind != PM_STREAM_SHARED)
            ok = add_to_sums(&sums, cursor, &place, err);
    ok = ok && !cursor->failed;
    pm_histogram_cursor_free(cursor);
    profile->histograms = sums.rows;
    profile->n_histograms = sums.n_rows;
    return ok;
}
