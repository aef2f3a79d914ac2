/* The profile store: the block sizes of a run, and of which of them distances below 16 are one bin.

   The table is made when there is such a size.  A run without a row in it, as of versions that did
   not merge them, has all distances apart, or binned as its settings say. */
#include <stdlib.h>

#include "core/store/private.h"

bool pm_store_remove_merged(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_remove_rows(store, "merged", run, err);
}

bool pm_store_put_merged(struct pm_store *store, int64_t run, const uint64_t *sizes, size_t n,
                         struct pm_error *err) {
    if (n == 0)
        return true;
    sqlite3_stmt *s =
        pm_store_run_sql(store,
                         "CREATE TABLE IF NOT EXISTS merged (run INTEGER, block_bytes INTEGER,"
                         " PRIMARY KEY (run, block_bytes)) WITHOUT ROWID",
                         err)
            ? pm_store_prepare(store, "INSERT INTO merged (run, block_bytes) VALUES (?,?)", err)
            : NULL;
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, (int64_t)sizes[i]);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool mark_merged(struct pm_store *store, int64_t run, struct pm_run_block_sizes *sizes,
                        struct pm_error *err) {
    bool has, ok = true;
    if (!pm_store_has_table(store, "merged", &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(store, "SELECT block_bytes FROM merged WHERE run = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    while (pm_store_next_row(store, s, &ok, err))
        for (size_t i = 0; i < sizes->n_list; i++)
            sizes->list[i].merged |= sizes->list[i].bytes == (uint64_t)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_block_sizes(struct pm_store *store, const struct pm_parameters *parameters,
                          const char *settings, struct pm_run_block_sizes *sizes,
                          struct pm_error *err) {
    int64_t run = 0;
    bool ok = true;
    *sizes = (struct pm_run_block_sizes){0};
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT id, block_sizes FROM run WHERE parameters = ? AND settings = ?", err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, pm_parameters_text(parameters), -1, free);
    sqlite3_bind_text(s, 2, settings, -1, SQLITE_STATIC);
    if (pm_store_next_row(store, s, &ok, err)) {
        run = sqlite3_column_int64(s, 0);
        uint64_t *bytes;
        size_t n = pm_store_parse_sizes((const char *)sqlite3_column_text(s, 1), &bytes);
        for (size_t i = 0; i < n; i++)
            PM_PUSH(sizes, list)->bytes = bytes[i];
        free(bytes);
    }
    sqlite3_finalize(s);
    return ok && (run == 0 || mark_merged(store, run, sizes, err));
}
