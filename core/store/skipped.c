/* The profile store: accesses of a run that were not analysed (core/profile.h), a row a reason. */
#include <string.h>

#include "core/store/private.h"

const char pm_store_skipped_schema[] =
    "CREATE TABLE skipped (run INTEGER, reason TEXT, executions REAL, loads REAL, stores REAL,"
    " PRIMARY KEY (run, reason)) WITHOUT ROWID;";

/* Up to version 2 nobody counted them. */
const char pm_store_skipped_view[] =
    "CREATE TEMP VIEW skipped AS SELECT 0 AS run, '' AS reason, 0.0 AS executions, 0.0 AS loads,"
    " 0.0 AS stores WHERE 0;";

static const char *const reasons[PM_N_SKIPPED] = {[PM_SKIPPED_STOPPED] = "stopped",
                                                  [PM_SKIPPED_LEFT_OUT] = "left out",
                                                  [PM_SKIPPED_UNMATCHED] = "unmatched"};

bool pm_store_put_skipped(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                          struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT INTO skipped (run, reason, executions, loads,"
                                       " stores) VALUES (?,?,?,?,?)",
                                       err);
    bool ok = s != NULL;
    for (unsigned i = 0; ok && i < PM_N_SKIPPED; i++) {
        const struct pm_skipped_accesses *skipped = &profile->skipped[i];
        if (skipped->executions == 0 && skipped->loads == 0 && skipped->stores == 0)
            continue;
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_text(s, 2, reasons[i], -1, SQLITE_STATIC);
        sqlite3_bind_double(s, 3, skipped->executions);
        sqlite3_bind_double(s, 4, skipped->loads);
        sqlite3_bind_double(s, 5, skipped->stores);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_read_skipped(struct pm_store *store, int64_t run, struct pm_profile *profile,
                           struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT reason, executions, loads, stores FROM skipped WHERE run = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err)) {
        const char *reason = (const char *)sqlite3_column_text(s, 0);
        for (unsigned i = 0; i < PM_N_SKIPPED; i++)
            if (reason && strcmp(reason, reasons[i]) == 0)
                profile->skipped[i] =
                    (struct pm_skipped_accesses){.executions = sqlite3_column_double(s, 1),
                                                 .loads = sqlite3_column_double(s, 2),
                                                 .stores = sqlite3_column_double(s, 3)};
    }
    sqlite3_finalize(s);
    return ok;
}
