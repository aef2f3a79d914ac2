/* The profile store: measured times of runs (core/times.h), as plain tables. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/store/private.h"

const char pm_store_times_schema[] =
    "CREATE TABLE timing (run INTEGER PRIMARY KEY, machine TEXT, cpu_seconds REAL,"
    " plain_seconds REAL, over_plain REAL, outside_seconds REAL, own_seconds REAL,"
    " repetitions INTEGER, notes TEXT);"
    "CREATE TABLE time (run INTEGER, scope INTEGER, seconds REAL, entries REAL, threads INTEGER,"
    " PRIMARY KEY (run, scope)) WITHOUT ROWID;";

/* ---- writing -------------------------------------------------------------------------------- */

static bool remove_old(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_run_sql_of(store, "DELETE FROM timing WHERE run = ?", run, err) &&
           pm_store_run_sql_of(store, "DELETE FROM time WHERE run = ?", run, err) &&
           pm_store_remove_call_times(store, run, err);
}

static bool put_timing(struct pm_store *store, int64_t run, const struct pm_times *times,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "INSERT INTO timing (run, machine, cpu_seconds, plain_seconds, over_plain,"
        " outside_seconds, own_seconds, repetitions, notes) VALUES (?,?,?,?,?,?,?,?,?)",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_text(s, 2, times->machine, -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 3, times->cpu_seconds);
    sqlite3_bind_double(s, 4, times->plain_seconds);
    sqlite3_bind_double(s, 5, times->over_plain);
    sqlite3_bind_double(s, 6, times->outside_seconds);
    sqlite3_bind_double(s, 7, times->own_seconds);
    sqlite3_bind_int64(s, 8, times->repetitions);
    sqlite3_bind_text(s, 9, times->notes, -1, SQLITE_STATIC);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_scopes(struct pm_store *store, int64_t run, const struct pm_times *times,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO time (run, scope, seconds, entries, threads) VALUES (?,?,?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 0; i < times->n_scopes && ok; i++) {
        const struct pm_scope_time *time = &times->scopes[i];
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, time->scope);
        sqlite3_bind_double(s, 3, time->seconds);
        sqlite3_bind_double(s, 4, time->entries);
        sqlite3_bind_int64(s, 5, time->threads);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_times(struct pm_store *store, const struct pm_parameters *parameters,
                        const struct pm_times *times, struct pm_error *err) {
    if (!pm_store_begin(store, err))
        return false;
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run > 0 && remove_old(store, run, err) && put_timing(store, run, times, err) &&
              put_scopes(store, run, times, err);
    if (run == 0)
        pm_fail(err, "%s: no run of that size that measured times could belong to", store->path);
    return pm_store_end(store, ok, err);
}

/* ---- reading -------------------------------------------------------------------------------- */

static struct pm_times *read_timing(struct pm_store *store, int64_t run, struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "SELECT machine, cpu_seconds, plain_seconds, over_plain, outside_seconds,"
                         " own_seconds, repetitions, notes FROM timing WHERE run = ?",
                         err);
    if (!s)
        return NULL;
    sqlite3_bind_int64(s, 1, run);
    struct pm_times *times = NULL;
    int status = sqlite3_step(s);
    if (status == SQLITE_ROW) {
        times = pm_alloc(1, sizeof *times);
        times->machine = pm_store_column_text(s, 0);
        times->cpu_seconds = sqlite3_column_double(s, 1);
        times->plain_seconds = sqlite3_column_double(s, 2);
        times->over_plain = sqlite3_column_double(s, 3);
        times->outside_seconds = sqlite3_column_double(s, 4);
        times->own_seconds = sqlite3_column_double(s, 5);
        times->repetitions = (uint32_t)sqlite3_column_int64(s, 6);
        times->notes = pm_store_column_text(s, 7);
    } else if (status != SQLITE_DONE) {
        pm_store_fail(store, err);
    }
    sqlite3_finalize(s);
    return times;
}

static bool read_scopes(struct pm_store *store, int64_t run, struct pm_times *times,
                        struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT scope, seconds, entries, threads FROM time WHERE run = ? ORDER BY scope",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err)) {
        int64_t scope = sqlite3_column_int64(s, 0);
        *PM_PUSH(times, scopes) = (struct pm_scope_time){
            .scope = scope < 0 || scope >= PM_NONE ? PM_NONE : (uint32_t)scope,
            .seconds = sqlite3_column_double(s, 1),
            .entries = sqlite3_column_double(s, 2),
            .threads = (uint32_t)sqlite3_column_int64(s, 3),
        };
    }
    sqlite3_finalize(s);
    return ok;
}

struct pm_times *pm_store_times(struct pm_store *store, const struct pm_parameters *parameters,
                                struct pm_error *err) {
    int64_t run = store->has_times ? pm_store_find_whole_run(store, parameters, err) : 0;
    struct pm_times *times = run > 0 ? read_timing(store, run, err) : NULL;
    if (times && !read_scopes(store, run, times, err)) {
        pm_times_free(times);
        return NULL;
    }
    return times;
}
