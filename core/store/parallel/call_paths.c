/* The profile store: call paths of all runs.  A path has one number in a store, whatever run it is
   of, so that what is kept by path can be compared from run to run. */
#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS call_path (id INTEGER PRIMARY KEY, parent INTEGER, module INTEGER,"
    " return_address INTEGER, scope INTEGER, callee TEXT);";

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_row(struct pm_store *store, sqlite3_stmt *s, struct pm_call_paths *paths,
                     struct pm_error *err) {
    int64_t id = sqlite3_column_int64(s, 0), parent = sqlite3_column_int64(s, 1);
    int64_t module = sqlite3_column_int64(s, 2);
    uint32_t expected = paths->n_sites ? (uint32_t)paths->n_sites : 1;
    bool ok = id == expected && parent >= 0 && parent < id && module >= 0 && module < PM_NONE;
    if (ok) {
        uint32_t path = pm_call_paths_add(paths, (uint32_t)parent, (uint32_t)module,
                                          (uint64_t)sqlite3_column_int64(s, 3));
        pm_call_paths_set_callee(paths, path, (const char *)sqlite3_column_text(s, 4));
        ok = path == expected;
    }
    return ok || pm_fail(err, "%s: its call paths are damaged: measure again into another store",
                         store->path);
}

bool pm_store_call_paths(struct pm_store *store, struct pm_call_paths *paths,
                         struct pm_error *err) {
    bool has, ok = true;
    *paths = (struct pm_call_paths){0};
    if (!pm_store_has_table(store, "call_path", &has, err) || !has)
        return !err || err->kind == PM_ERROR_NONE;
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT id, parent, module, return_address, callee"
                                       " FROM call_path ORDER BY id",
                                       err);
    if (!s)
        return false;
    while (pm_store_next_row(store, s, &ok, err))
        ok = read_row(store, s, paths, err);
    sqlite3_finalize(s);
    if (!ok)
        pm_call_paths_free(paths);
    return ok;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_row(struct pm_store *store, sqlite3_stmt *s, const struct pm_structure *structure,
                    const struct pm_call_paths *paths, uint32_t path, struct pm_error *err) {
    const struct pm_call_site *site = &paths->sites[path];
    uint32_t block = pm_call_path_block(structure, paths, path);
    sqlite3_bind_int64(s, 1, path);
    sqlite3_bind_int64(s, 2, site->parent);
    sqlite3_bind_int64(s, 3, site->module);
    sqlite3_bind_int64(s, 4, (int64_t)site->return_address);
    if (block != PM_NONE)
        sqlite3_bind_int64(s, 5, structure->blocks[block].scope);
    else
        sqlite3_bind_null(s, 5);
    sqlite3_bind_text(s, 6, paths->callees[path], -1, SQLITE_STATIC);
    return pm_store_step(store, s, err);
}

/* Those from number FIRST on, and callees of those before that have become known. */
static bool put_rows(struct pm_store *store, const struct pm_structure *structure,
                     const struct pm_call_paths *paths, size_t first, const bool *had_callee,
                     struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT OR REPLACE INTO call_path (id, parent, module,"
                                       " return_address, scope, callee) VALUES (?,?,?,?,?,?)",
                                       err);
    bool ok = s != NULL;
    for (size_t path = 1; ok && path < paths->n_sites; path++)
        if (path >= first || (!had_callee[path] && paths->callees[path]))
            ok = put_row(store, s, structure, paths, (uint32_t)path, err);
    sqlite3_finalize(s);
    return ok;
}

uint32_t *pm_store_put_call_paths(struct pm_store *store, const struct pm_structure *structure,
                                  const struct pm_call_paths *paths, struct pm_error *err) {
    struct pm_call_paths all;
    if (!pm_store_run_sql(store, schema, err) || !pm_store_call_paths(store, &all, err))
        return NULL;
    size_t n_before = all.n_sites;
    bool *had_callee = pm_alloc(n_before + 1, sizeof *had_callee);
    uint32_t *numbers = pm_alloc(paths->n_sites + 1, sizeof *numbers);
    for (size_t path = 0; path < n_before; path++)
        had_callee[path] = all.callees[path] != NULL;
    for (uint32_t path = 1; path < paths->n_sites; path++) { /* parents come before */
        const struct pm_call_site *site = &paths->sites[path];
        numbers[path] =
            pm_call_paths_add(&all, numbers[site->parent], site->module, site->return_address);
        pm_call_paths_set_callee(&all, numbers[path], paths->callees[path]);
    }
    bool ok = put_rows(store, structure, &all, n_before, had_callee, err);
    free(had_callee);
    pm_call_paths_free(&all);
    if (!ok) {
        free(numbers);
        return NULL;
    }
    return numbers;
}
