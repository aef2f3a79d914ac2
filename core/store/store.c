/* The profile store: one SQLite file; see store.h for the schema.  This file opens, checks and
   closes it and writes runs; the others read them and keep the rest. */
#include "core/store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/store/private.h"

/* "PMdb": SQLite keeps it in the file's header, so that `file` and other tools can tell. */
enum { PM_APPLICATION_ID = 0x504d6462 };

static const char schema[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE structure (hash INTEGER PRIMARY KEY, build_id BLOB, module TEXT, data BLOB);"
    "CREATE TABLE scope (id INTEGER PRIMARY KEY, parent INTEGER, kind TEXT, name TEXT, file TEXT,"
    " line_first INTEGER, line_last INTEGER, depth INTEGER, key INTEGER, trip_count TEXT);"
    "CREATE TABLE reference_group (id INTEGER PRIMARY KEY, scope INTEGER, object TEXT,"
    " object_type TEXT, flags INTEGER, loads INTEGER, stores INTEGER, strides TEXT);"
    "CREATE TABLE routine (id INTEGER PRIMARY KEY, name TEXT, address INTEGER, size INTEGER,"
    " state INTEGER, counters INTEGER, reason TEXT);"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, parameters TEXT UNIQUE, command TEXT, started REAL,"
    " wall_seconds REAL, cpu_seconds REAL, exit_status INTEGER, threads INTEGER,"
    " processes INTEGER, block_sizes TEXT, settings TEXT, notes TEXT);"
    "CREATE TABLE edges (run INTEGER PRIMARY KEY, counts BLOB, inexact BLOB);"
    "CREATE TABLE models (id INTEGER PRIMARY KEY, made REAL, data BLOB);"
    "CREATE TABLE model (kind TEXT, target INTEGER, block_bytes INTEGER, bin INTEGER,"
    " quantity TEXT, formula TEXT, relative_error REAL);";

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

/* ---- statements ------------------------------------------------------------------ */

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

bool pm_store_run_sql_of(struct pm_store *store, const char *sql, int64_t run,
                         struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, sql, err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_has_table(struct pm_store *store, const char *name, bool *has, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, "SELECT 1 FROM sqlite_master WHERE name = ?", err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    int status = sqlite3_step(s);
    *has = status == SQLITE_ROW;
    bool ok = *has || status == SQLITE_DONE || pm_store_fail(store, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_remove_rows(struct pm_store *store, const char *table, int64_t run,
                          struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, table, &has, err))
        return false;
    char *sql = has ? pm_sprintf("DELETE FROM %s WHERE run = ?", table) : NULL;
    bool ok = !has || pm_store_run_sql_of(store, sql, run, err);
    free(sql);
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

static int64_t pragma_value(struct pm_store *store, const char *sql) {
    sqlite3_stmt *statement = pm_store_prepare(store, sql, NULL);
    int64_t value = -1;
    if (statement && sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool create_schema(struct pm_store *store, struct pm_error *err) {
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d;PRAGMA user_version=%d;",
             PM_APPLICATION_ID, PM_STORE_VERSION);
    if (!pm_store_begin(store, err))
        return false;
    /* Another process may have been quicker. */
    bool ok = pragma_value(store, "PRAGMA user_version") >= PM_STORE_VERSION ||
              (pm_store_run_sql(store, schema, err) &&
               pm_store_run_sql(store, pm_store_histograms_schema, err) &&
               pm_store_run_sql(store, pm_store_skipped_schema, err) &&
               pm_store_run_sql(store, pm_store_times_schema, err) &&
               pm_store_run_sql(store, pragmas, err));
    return store->has_times = pm_store_end(store, ok, err);
}

/* From an earlier version: 1 had no times, 2 no streams. */
static bool upgrade(struct pm_store *store, struct pm_error *err) {
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA user_version=%d;", PM_STORE_VERSION);
    if (!pm_store_begin(store, err))
        return false;
    int64_t version =
        pragma_value(store, "PRAGMA user_version"); /* another may have been quicker */
    bool ok = version >= PM_STORE_VERSION ||
              ((version > 1 || pm_store_run_sql(store, pm_store_times_schema, err)) &&
               pm_store_upgrade_histograms(store, err) &&
               pm_store_run_sql(store, pm_store_skipped_schema, err) &&
               pm_store_run_sql(store, pragma, err));
    return store->has_times = pm_store_end(store, ok, err);
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
    store->has_times = version >= 2;
    if (version == 1 || version == 2)
        return mode == PM_STORE_READ ? pm_store_run_sql(store, pm_store_histograms_view, err) &&
                                           pm_store_run_sql(store, pm_store_skipped_view, err)
                                     : upgrade(store, err);
    if (version != PM_STORE_VERSION && version != PM_STORE_VERSION_CUT_OFF)
        return pm_fail(err,
                       "%s: store of format %lld, this pmodel reads format %d: measure again with "
                       "this version, or use the one that wrote it",
                       store->path, (long long)version, PM_STORE_VERSION_CUT_OFF);
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
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK) {
        pm_store_fail(store, err);
        pm_store_close(store);
        return NULL;
    }
    sqlite3_busy_timeout(store->db, 60000);
    if (!check_schema(store, mode, err)) {
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

char *pm_store_column_text(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? pm_strdup((const char *)text) : NULL;
}

/* ---- small blobs ---------------------------------------------------------------------------- */

void pm_store_bind_compressed(sqlite3_stmt *statement, int column, const void *data, size_t bytes) {
    size_t bound = ZSTD_compressBound(bytes);
    void *packed = pm_alloc(bound, 1);
    size_t size = ZSTD_compress(packed, bound, data, bytes, 3);
    sqlite3_bind_blob64(statement, column, packed, size, free);
}

void *pm_store_read_compressed(sqlite3_stmt *statement, int column, size_t *n_bytes) {
    const void *packed = sqlite3_column_blob(statement, column);
    return pm_unpack(packed, (size_t)sqlite3_column_bytes(statement, column), n_bytes);
}

/* ---- writing runs --------------------------------------------------------------------------- */

static char *block_sizes_text(const uint64_t *sizes, size_t n) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < n; i++) {
        pm_append(&text, "%s%llu", i ? "," : "", (unsigned long long)sizes[i]);
    }
    return text;
}

static bool put_run_row(struct pm_store *store, const struct pm_profile *profile,
                        const struct pm_run_facts *facts, int64_t *id, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "INSERT INTO run (parameters, command, started, wall_seconds, cpu_seconds, exit_status,"
        " threads, processes, block_sizes, settings, notes) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, pm_parameters_text(&profile->parameters), -1, free);
    sqlite3_bind_text(s, 2, facts->command, -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 3, facts->started_unix);
    sqlite3_bind_double(s, 4, facts->wall_seconds);
    sqlite3_bind_double(s, 5, facts->cpu_seconds);
    sqlite3_bind_int(s, 6, facts->exit_status);
    sqlite3_bind_int64(s, 7, facts->n_threads);
    sqlite3_bind_int64(s, 8, facts->n_processes);
    sqlite3_bind_text(s, 9, block_sizes_text(profile->block_sizes, profile->n_block_sizes), -1,
                      free);
    sqlite3_bind_text(s, 10, facts->settings, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 11, facts->notes, -1, SQLITE_STATIC);
    bool ok = pm_store_step(store, s, err);
    *id = sqlite3_last_insert_rowid(store->db);
    sqlite3_finalize(s);
    return ok;
}

static bool put_edges(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                      const bool *inexact, size_t n_routines, struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "INSERT INTO edges (run, counts, inexact) VALUES (?,?,?)", err);
    if (!s)
        return false;
    uint64_t *counts = pm_alloc(profile->n_edges, sizeof *counts);
    for (size_t i = 0; i < profile->n_edges; i++)
        counts[i] = (uint64_t)llround(profile->edge_counts[i]);
    uint8_t *flags = pm_alloc(n_routines, 1);
    for (size_t i = 0; i < n_routines; i++)
        flags[i] = inexact ? inexact[i] : 0;
    sqlite3_bind_int64(s, 1, run);
    pm_store_bind_compressed(s, 2, counts, profile->n_edges * sizeof *counts);
    pm_store_bind_compressed(s, 3, flags, n_routines);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    free(counts);
    free(flags);
    return ok;
}

static bool remove_run(struct pm_store *store, const struct pm_parameters *parameters,
                       struct pm_error *err) {
    static const char *const statements[] = {
        "DELETE FROM edges WHERE run = ?",    "DELETE FROM histogram WHERE run = ?",
        "DELETE FROM estimate WHERE run = ?", "DELETE FROM stream WHERE run = ?",
        "DELETE FROM skipped WHERE run = ?",  "DELETE FROM timing WHERE run = ?",
        "DELETE FROM time WHERE run = ?",     "DELETE FROM run WHERE id = ?",
    };
    int64_t run = pm_store_find_run(store, parameters, err);
    pm_store_forget_roles(store);
    if (run <= 0)
        return run == 0;
    bool ok =
        pm_store_remove_cut_off(store, run, err) && pm_store_remove_merged(store, run, err) &&
        pm_store_remove_patterns(store, run, err) && pm_store_remove_differences(store, run, err) &&
        pm_store_remove_formulas(store, run, err) && pm_store_remove_file_times(store, run, err) &&
        pm_store_remove_block_profile(store, run, err) &&
        pm_store_remove_communication(store, run, err) &&
        pm_store_remove_call_times(store, run, err) && pm_store_remove_intervals(store, run, err) &&
        pm_store_remove_rows(store, "strides", run, err) &&
        pm_store_remove_rows(store, "dirty", run, err) &&
        pm_store_remove_rows(store, "thread_edges", run, err) &&
        pm_store_remove_rows(store, "rank", run, err) &&
        pm_store_remove_rows(store, "bounds", run, err) &&
        pm_store_remove_rows(store, "nest_bound", run, err);
    for (size_t i = 0; ok && i < sizeof statements / sizeof *statements; i++)
        ok = pm_store_run_sql_of(store, statements[i], run, err);
    return ok;
}

bool pm_store_put_run(struct pm_store *store, const struct pm_profile *profile,
                      const struct pm_streams *streams, const struct pm_run_facts *facts,
                      const bool *inexact_routines, size_t n_routines, struct pm_error *err) {
    int64_t run = 0;
    if (!pm_store_begin(store, err))
        return false;
    bool ok =
        remove_run(store, &profile->parameters, err) &&
        put_run_row(store, profile, facts, &run, err) &&
        put_edges(store, run, profile, inexact_routines, n_routines, err) &&
        pm_store_put_skipped(store, run, profile, err) &&
        pm_store_put_strides(store, run, &profile->strides, err) &&
        pm_store_put_dirty(store, run, profile, err) &&
        pm_store_put_cut_off(store, run, facts->cut_off, err) &&
        pm_store_put_merged(store, run, facts->merged, facts->n_merged, err) &&
        (!facts->differences || pm_store_put_differences(store, run, facts->differences, err)) &&
        pm_store_put_thread_edges(store, run, streams, profile->n_edges, err) &&
        pm_store_put_histograms(store, run, profile, streams, err);
    return pm_store_end(store, ok, err);
}
