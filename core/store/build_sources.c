/* The profile store: what the run of another build did, by source: which groups are one, what the
   whole program did, and how much work was done where.  Runs of builds that differ before version
   1 of these tables have none of it; then no more is known than what is the same in all builds. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS build_join (run INTEGER, id INTEGER, with_id INTEGER);"
    "CREATE INDEX IF NOT EXISTS build_join_of_run ON build_join (run);"
    "CREATE TABLE IF NOT EXISTS build_whole (run INTEGER, block_bytes INTEGER, accesses REAL,"
    " cold REAL);"
    "CREATE TABLE IF NOT EXISTS build_work (run INTEGER PRIMARY KEY, group_bytes BLOB,"
    " iterations BLOB);";

static bool has_tables(struct pm_store *store, bool *has, struct pm_error *err) {
    return pm_store_has_table(store, "build_work", has, err);
}

static bool damaged(const struct pm_store *store, struct pm_error *err) {
    return pm_fail(err, "%s: what is known of other builds is damaged: measure into a new store",
                   store->path);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_joins(struct pm_store *store, int64_t run,
                      const struct pm_build_differences *differences, struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "INSERT INTO build_join (run, id, with_id) VALUES (?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < differences->n_joins; i++) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, differences->joins[i].group);
        sqlite3_bind_int64(s, 3, differences->joins[i].with);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_wholes(struct pm_store *store, int64_t run,
                       const struct pm_build_differences *differences, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO build_whole (run, block_bytes, accesses, cold) VALUES (?,?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < differences->n_wholes; i++) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, (int64_t)differences->wholes[i].block_bytes);
        sqlite3_bind_double(s, 3, differences->wholes[i].accesses);
        sqlite3_bind_double(s, 4, differences->wholes[i].cold);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_work(struct pm_store *store, int64_t run, const struct pm_build_work *work,
                     struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO build_work (run, group_bytes, iterations) VALUES (?,?,?)", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    pm_store_bind_compressed(s, 2, work->group_bytes, work->n_groups * sizeof(double));
    pm_store_bind_compressed(s, 3, work->iterations, work->n_scopes * sizeof(double));
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_build_sources(struct pm_store *store, int64_t run,
                                const struct pm_build_differences *differences,
                                struct pm_error *err) {
    return pm_store_run_sql(store, schema, err) && put_joins(store, run, differences, err) &&
           put_wholes(store, run, differences, err) &&
           (!differences->work.group_bytes || put_work(store, run, &differences->work, err));
}

bool pm_store_remove_build_sources(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_remove_rows(store, "build_join", run, err) &&
           pm_store_remove_rows(store, "build_whole", run, err) &&
           pm_store_remove_rows(store, "build_work", run, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool pm_store_read_joins(struct pm_store *store, int64_t run,
                         struct pm_build_differences *differences, struct pm_error *err) {
    bool has;
    if (!has_tables(store, &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT DISTINCT id, with_id FROM build_join"
                                       " WHERE ?1 = 0 OR run = ?1 ORDER BY id, with_id",
                                       err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err)) {
        int64_t group = sqlite3_column_int64(s, 0), with = sqlite3_column_int64(s, 1);
        ok = (group >= 0 && group < PM_NONE && with >= 0 && with < PM_NONE) || damaged(store, err);
        if (ok)
            *PM_PUSH(differences, joins) = (struct pm_group_join){(uint32_t)group, (uint32_t)with};
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_read_wholes(struct pm_store *store, int64_t run, struct pm_profile *profile,
                          struct pm_error *err) {
    bool has;
    if (!has_tables(store, &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT block_bytes, accesses, cold FROM build_whole WHERE run = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err))
        *PM_PUSH(profile, wholes) = (struct pm_whole){
            .block_bytes = (uint64_t)sqlite3_column_int64(s, 0),
            .accesses = sqlite3_column_double(s, 1),
            .cold = sqlite3_column_double(s, 2),
        };
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_read_work(struct pm_store *store, int64_t run, size_t n_groups, size_t n_scopes,
                        struct pm_build_work *work, bool *found, struct pm_error *err) {
    bool has;
    *found = false;
    if (!has_tables(store, &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT group_bytes, iterations FROM build_work WHERE run = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    size_t group_bytes = 0, scope_bytes = 0;
    if (pm_store_next_row(store, s, &ok, err)) {
        *found = true;
        work->group_bytes = pm_store_read_compressed(s, 0, &group_bytes);
        work->iterations = pm_store_read_compressed(s, 1, &scope_bytes);
        work->n_groups = group_bytes / sizeof(double);
        work->n_scopes = scope_bytes / sizeof(double);
        ok = (work->group_bytes && work->iterations && work->n_groups == n_groups &&
              work->n_scopes == n_scopes) ||
             damaged(store, err);
    }
    sqlite3_finalize(s);
    if (!ok)
        pm_build_work_free(work);
    return ok;
}

/* Runs that are not of the store's build have work. */
bool pm_store_base_run(struct pm_store *store, int64_t *run, struct pm_error *err) {
    bool has;
    *run = 0;
    if (!has_tables(store, &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "SELECT (SELECT id FROM run WHERE id NOT IN (SELECT run FROM build_work)"
                         " AND id NOT IN (SELECT run FROM build_difference) ORDER BY id LIMIT 1)"
                         " WHERE NOT EXISTS (SELECT 1 FROM build_difference"
                         "  WHERE run NOT IN (SELECT run FROM build_work))",
                         err);
    if (!s)
        return false;
    bool ok = true;
    if (pm_store_next_row(store, s, &ok, err) && sqlite3_column_type(s, 0) != SQLITE_NULL)
        *run = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return ok;
}
