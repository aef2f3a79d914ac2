/* The profile store: call paths, of all runs. */
#include <stdlib.h>

#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS call_path (id INTEGER PRIMARY KEY, parent INTEGER, module INTEGER,"
    " return_address INTEGER, scope INTEGER, callee TEXT);";

bool pm_store_read_call_paths(struct pm_store *store, struct pm_call_paths *paths,
                              struct pm_error *err) {
    bool has, ok = true;
    if (!pm_store_has_table(store, "call_path", &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT parent, module, return_address, callee FROM call_path ORDER BY id", err);
    if (!s)
        return false;
    while (pm_store_next_row(store, s, &ok, err)) {
        uint32_t path = pm_call_paths_add(paths, (uint32_t)sqlite3_column_int64(s, 0),
                                          (uint32_t)sqlite3_column_int64(s, 1),
                                          (uint64_t)sqlite3_column_int64(s, 2));
        pm_call_paths_set_callee(paths, path, (const char *)sqlite3_column_text(s, 3));
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_call_paths(struct pm_store *store, const struct pm_call_paths *paths,
                             uint32_t **ids, struct pm_error *err) {
    struct pm_call_paths all = {0};
    *ids = NULL;
    if (!pm_store_run_sql(store, schema, err) || !pm_store_read_call_paths(store, &all, err))
        return false;
    *ids = pm_alloc(paths->n_sites + 1, sizeof **ids);
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "INSERT OR REPLACE INTO call_path (id, parent, module, return_address,"
                         " callee) VALUES (?,?,?,?,?)",
                         err);
    bool ok = s != NULL;
    for (size_t i = 1; ok && i < paths->n_sites; i++) {
        const struct pm_call_site *site = &paths->sites[i];
        (*ids)[i] =
            pm_call_paths_add(&all, (*ids)[site->parent], site->module, site->return_address);
        sqlite3_bind_int64(s, 1, (*ids)[i]);
        sqlite3_bind_int64(s, 2, (*ids)[site->parent]);
        sqlite3_bind_int64(s, 3, site->module);
        sqlite3_bind_int64(s, 4, (int64_t)site->return_address);
        sqlite3_bind_text(s, 5, paths->callees[i], -1, SQLITE_STATIC);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    pm_call_paths_free(&all);
    return ok;
}
