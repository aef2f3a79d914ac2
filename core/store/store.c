/* The profile store: one SQLite file.  This file opens, checks and closes it, and has the
   statements that the others are made of. */
#include "core/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/base.h"
#include "core/store/private.h"
#include "core/version.h"

/* "PMdb": SQLite keeps it in the file's header, so that `file` and other tools can tell. */
enum { PM_APPLICATION_ID = 0x504d6462 };

/* A program is no database. */
bool pm_is_store(const char *path) {
    static const char magic[] = "SQLite format 3";
    char begin[sizeof magic] = "";
    FILE *file = fopen(path, "re");
    bool is = file && fread(begin, 1, sizeof magic, file) == sizeof magic &&
              memcmp(begin, magic, sizeof magic) == 0;
    if (file)
        fclose(file);
    return is;
}

/* ---- statements ------------------------------------------------------------------------------ */

bool pm_store_run_sql(struct pm_store *store, const char *sql, struct pm_error *err) {
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return pm_store_fail(store, err);
    return true;
}

sqlite3_stmt *pm_store_prepare(struct pm_store *store, const char *sql, struct pm_error *err) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK)
        pm_store_fail(store, err);
    return statement;
}

bool pm_store_step(struct pm_store *store, sqlite3_stmt *statement, struct pm_error *err) {
    int status = sqlite3_step(statement);
    if (status != SQLITE_DONE && status != SQLITE_ROW)
        return pm_store_fail(store, err);
    sqlite3_reset(statement);
    return true;
}

bool pm_store_next_row(struct pm_store *store, sqlite3_stmt *s, bool *ok, struct pm_error *err) {
    if (!*ok)
        return false;
    int status = sqlite3_step(s);
    *ok = status == SQLITE_ROW || status == SQLITE_DONE || pm_store_fail(store, err);
    return status == SQLITE_ROW;
}

bool pm_store_number(struct pm_store *store, const char *sql, int64_t run, double *number,
                     struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, sql, err);
    bool ok = s != NULL;
    if (ok)
        sqlite3_bind_int64(s, 1, run); /* refused, and nothing happens, where there is no ? */
    *number = pm_store_next_row(store, s, &ok, err) ? sqlite3_column_double(s, 0) : 0;
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_begin(struct pm_store *store, struct pm_error *err) {
    return pm_store_run_sql(store, "BEGIN IMMEDIATE", err);
}

bool pm_store_end(struct pm_store *store, bool ok, struct pm_error *err) {
    if (ok && pm_store_run_sql(store, "COMMIT", err))
        return true;
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

char *pm_store_column_text(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? pm_strdup((const char *)text) : NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int64_t pragma_value(struct pm_store *store, const char *sql) {
    double value;
    return pm_store_number(store, sql, 0, &value, NULL) ? (int64_t)value : -1;
}

static bool create_schema(struct pm_store *store, struct pm_error *err) {
    char *pragmas = pm_sprintf("PRAGMA application_id=%d;PRAGMA user_version=%d;",
                               PM_APPLICATION_ID, PM_STORE_VERSION);
    bool ok = pm_store_begin(store, err);
    /* Another process may have been quicker. */
    if (ok && pragma_value(store, "PRAGMA user_version") != PM_STORE_VERSION)
        ok = pm_store_make_tables(store, err) && pm_store_run_sql(store, pragmas, err);
    free(pragmas);
    return pm_store_end(store, ok, err);
}

static bool check_schema(struct pm_store *store, enum pm_store_mode mode, struct pm_error *err) {
    int64_t application = pragma_value(store, "PRAGMA application_id");
    int64_t version = pragma_value(store, "PRAGMA user_version");
    int64_t tables = pragma_value(store, "SELECT count(*) FROM sqlite_master");
    if (application < 0 || version < 0 || tables < 0)
        return pm_store_fail(store, err);
    if (application == 0 && version == 0 && tables == 0 && mode == PM_STORE_CREATE)
        return create_schema(store, err);
    if (application != PM_APPLICATION_ID)
        return pm_fail(err, "%s: not a pmodel store (make one with `pmodel run -o NAME.pmdb`)",
                       store->path);
    if (version != PM_STORE_VERSION)
        return pm_fail(err,
                       "%s: a store of format %lld, of %s pmodel; this one, " PM_VERSION
                       ", reads format %d: measure again into a new store, or use the pmodel that "
                       "made it",
                       store->path, (long long)version,
                       version < PM_STORE_VERSION ? "an earlier" : "a later", PM_STORE_VERSION);
    return true;
}

struct pm_store *pm_store_open(const char *path, enum pm_store_mode mode, struct pm_error *err) {
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (mode == PM_STORE_READ && !exists) {
        pm_fail(err, "%s: no such store (make one with `pmodel run -o %s …`)", path, path);
        return NULL;
    }
    if (exists && !S_ISREG(status.st_mode)) {
        pm_fail(err, "%s: not a file, so it cannot be a store", path);
        return NULL;
    }
    struct pm_store *store = pm_alloc(1, sizeof *store);
    store->path = pm_strdup(path);
    store->packing = pm_packing_new();
    store->selection = PM_SELECTION_ALL;
    int flags =
        mode == PM_STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    bool ok = sqlite3_open_v2(path, &store->db, flags, NULL) == SQLITE_OK;
    if (ok)
        sqlite3_busy_timeout(store->db, 60000);
    else
        pm_store_fail(store, err);
    /* With foreign keys what is of a run goes with it. */
    if (!ok || !check_schema(store, mode, err) ||
        !pm_store_run_sql(store, "PRAGMA foreign_keys = ON", err)) {
        pm_store_close(store);
        return NULL;
    }
    return store;
}

void pm_store_close(struct pm_store *store) {
    if (!store)
        return;
    pm_store_forget_roles(store);
    sqlite3_close(store->db);
    pm_packing_free(store->packing);
    free(store->path);
    free(store);
}
