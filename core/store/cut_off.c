/* The profile store: runs that did not come to their end, and how they ended.

   The table is made when there is such a run.  The store then gets a version of its own, because a
   reader that does not know of them would take them for whole. */
#include <stdio.h>
#include <stdlib.h>

#include "core/store/private.h"

bool pm_store_remove_cut_off(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_remove_rows(store, "cut_off", run, err);
}

static bool make_table(struct pm_store *store, struct pm_error *err) {
    char sql[160];
    snprintf(sql, sizeof sql,
             "CREATE TABLE IF NOT EXISTS cut_off (run INTEGER PRIMARY KEY, how TEXT);"
             "PRAGMA user_version=%d;",
             PM_STORE_VERSION_CUT_OFF);
    return pm_store_run_sql(store, sql, err);
}

bool pm_store_put_cut_off(struct pm_store *store, int64_t run, const char *how,
                          struct pm_error *err) {
    if (!how)
        return true;
    sqlite3_stmt *s =
        make_table(store, err)
            ? pm_store_prepare(store, "INSERT INTO cut_off (run, how) VALUES (?,?)", err)
            : NULL;
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_text(s, 2, how, -1, SQLITE_STATIC);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_cut_off(struct pm_store *store, const struct pm_parameters *parameters, char **how,
                      struct pm_error *err) {
    bool has;
    *how = NULL;
    if (!pm_store_has_table(store, "cut_off", &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT how FROM cut_off JOIN run ON run.id = cut_off.run WHERE run.parameters = ?",
        err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, pm_store_run_text(store, parameters), -1, free);
    bool ok = true;
    if (pm_store_next_row(store, s, &ok, err)) {
        *how = pm_store_column_text(s, 0);
        *how = *how ? *how : pm_strdup("in an unknown way");
    }
    sqlite3_finalize(s);
    return ok;
}
