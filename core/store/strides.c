/* The profile store: strides of runs (core/strides/strides.h). */
#include <stdlib.h>

#include "core/store/private.h"

static const char schema[] = "CREATE TABLE IF NOT EXISTS strides (run INTEGER PRIMARY KEY, "
                             "n_references INTEGER, data BLOB);";

bool pm_store_put_strides(struct pm_store *store, int64_t run, const struct pm_run_strides *strides,
                          struct pm_error *err) {
    if (strides->n_references == 0)
        return true;
    if (!pm_store_run_sql(store, schema, err))
        return false;
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO strides (run, n_references, data) VALUES (?,?,?)", err);
    if (!s)
        return false;
    void *bytes;
    size_t n_bytes;
    pm_run_strides_encode(strides, &bytes, &n_bytes);
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, (int64_t)strides->n_references);
    sqlite3_bind_blob64(s, 3, bytes, n_bytes, free);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

/* Stores of runs from before strides were measured have no such table. */
bool pm_store_read_strides(struct pm_store *store, int64_t run, struct pm_run_strides *strides,
                           struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "strides", &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(store, "SELECT data FROM strides WHERE run = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    if (pm_store_next_row(store, s, &ok, err)) {
        ok = pm_run_strides_decode(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0),
                                   UINT32_MAX, strides, err);
        if (!ok)
            pm_fail_in(err, "%s: run %lld", store->path, (long long)run);
    }
    sqlite3_finalize(s);
    return ok;
}
