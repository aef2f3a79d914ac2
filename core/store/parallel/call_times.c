/* The profile store: times of calls of MPI in runs that were timed
   (core/call_times/call_times.h), as plain tables. */
#include <stdlib.h>

#include "core/communication/communication.h"
#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS call_time (run INTEGER, id INTEGER, rank INTEGER, path INTEGER,"
    " operation TEXT, partner INTEGER, source INTEGER, n INTEGER, seconds REAL,"
    " least_seconds REAL, waiting_seconds REAL, unknown_seconds REAL, PRIMARY KEY (run, id))"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS rank_span (run INTEGER, rank INTEGER, seconds REAL,"
    " PRIMARY KEY (run, rank)) WITHOUT ROWID;";

bool pm_store_remove_call_times(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_remove_rows(store, "call_time", run, err) &&
           pm_store_remove_rows(store, "rank_span", run, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_calls(struct pm_store *store, int64_t run, const struct pm_call_times *times,
                      const uint32_t *paths, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "INSERT INTO call_time (run, id, rank, path, operation, partner, source, n, seconds,"
        " least_seconds, waiting_seconds, unknown_seconds) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
        err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < times->n_calls; i++) {
        const struct pm_call_time *time = &times->calls[i];
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        sqlite3_bind_int64(s, 3, time->rank);
        sqlite3_bind_int64(s, 4, paths[time->path]);
        sqlite3_bind_text(s, 5, pm_operation_name((uint16_t)time->operation), -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 6, time->partner);
        sqlite3_bind_int64(s, 7, time->source);
        sqlite3_bind_int64(s, 8, (int64_t)time->n);
        sqlite3_bind_double(s, 9, time->seconds);
        sqlite3_bind_double(s, 10, time->least_seconds);
        sqlite3_bind_double(s, 11, time->waiting_seconds);
        sqlite3_bind_double(s, 12, time->unknown_seconds);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_spans(struct pm_store *store, int64_t run, const struct pm_call_times *times,
                      struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "INSERT INTO rank_span (run, rank, seconds) VALUES (?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < times->n_spans; i++) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, times->spans[i].rank);
        sqlite3_bind_double(s, 3, times->spans[i].seconds);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_call_times(struct pm_store *store, const struct pm_structure *structure,
                             const struct pm_parameters *parameters,
                             const struct pm_call_times *times, struct pm_error *err) {
    if (!pm_store_begin(store, err))
        return false;
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run > 0 || (run == 0 && pm_fail(err, "%s: no run of this size", store->path));
    ok = ok && pm_store_run_sql(store, schema, err) && pm_store_remove_call_times(store, run, err);
    uint32_t *paths = ok ? pm_store_put_call_paths(store, structure, &times->paths, err) : NULL;
    ok = paths && put_calls(store, run, times, paths, err) && put_spans(store, run, times, err);
    free(paths);
    return pm_store_end(store, ok, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_calls(struct pm_store *store, int64_t run, struct pm_call_times *times,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "SELECT rank, path, operation, partner, source, n, seconds, least_seconds,"
        " waiting_seconds, unknown_seconds FROM call_time WHERE run = ? ORDER BY rank, id",
        err);
    bool ok = s != NULL;
    if (s)
        sqlite3_bind_int64(s, 1, run);
    while (s && pm_store_next_row(store, s, &ok, err)) {
        const char *operation = (const char *)sqlite3_column_text(s, 2);
        *PM_PUSH(times, calls) = (struct pm_call_time){
            .rank = (uint32_t)sqlite3_column_int64(s, 0),
            .path = (uint32_t)sqlite3_column_int64(s, 1),
            .operation = operation ? pm_operation_of_name(operation) : PM_N_OPERATIONS,
            .partner = sqlite3_column_int(s, 3),
            .source = sqlite3_column_int(s, 4),
            .n = (uint64_t)sqlite3_column_int64(s, 5),
            .seconds = sqlite3_column_double(s, 6),
            .least_seconds = sqlite3_column_double(s, 7),
            .waiting_seconds = sqlite3_column_double(s, 8),
            .unknown_seconds = sqlite3_column_double(s, 9),
        };
    }
    sqlite3_finalize(s);
    return ok;
}

static bool read_spans(struct pm_store *store, int64_t run, struct pm_call_times *times,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT rank, seconds FROM rank_span WHERE run = ? ORDER BY rank", err);
    bool ok = s != NULL;
    if (s)
        sqlite3_bind_int64(s, 1, run);
    while (s && pm_store_next_row(store, s, &ok, err))
        *PM_PUSH(times, spans) = (struct pm_rank_span){(uint32_t)sqlite3_column_int64(s, 0),
                                                       sqlite3_column_double(s, 1)};
    sqlite3_finalize(s);
    return ok;
}

struct pm_call_times *pm_store_call_times(struct pm_store *store,
                                          const struct pm_parameters *parameters,
                                          struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "call_time", &has, err) || !has)
        return NULL;
    int64_t run = pm_store_find_run(store, parameters, err);
    struct pm_call_times *times = run > 0 ? pm_alloc(1, sizeof *times) : NULL;
    bool ok = times && read_calls(store, run, times, err) && read_spans(store, run, times, err) &&
              (times->n_calls == 0 || pm_store_call_paths(store, &times->paths, err));
    if (ok && times->n_calls + times->n_spans > 0) {
        if (pm_call_times_are_valid(times, err))
            return times;
        pm_fail_in(err, "%s", store->path);
    }
    pm_call_times_free(times);
    return NULL;
}
