/* The profile store: reuse patterns of runs that were made with --carry. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS carried (run INTEGER, scope_group INTEGER, block_bytes INTEGER,"
    " patterns INTEGER, reuses INTEGER, data BLOB, PRIMARY KEY (run, scope_group, block_bytes))"
    " WITHOUT ROWID;";

/* Stores of runs without --carry have no such table. */
static bool has_table(struct pm_store *store, bool *has, struct pm_error *err) {
    return pm_store_has_table(store, "carried", has, err);
}

static bool put_group(struct pm_store *store, sqlite3_stmt *s, int64_t run,
                      const struct pm_group_patterns *group, struct pm_error *err) {
    void *bytes;
    size_t n_bytes;
    double reuses = 0;
    for (size_t i = 0; i < group->n_patterns; i++)
        reuses += pm_histogram_accesses(&group->patterns[i].histogram);
    pm_group_patterns_encode(group, &bytes, &n_bytes);
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, group->group);
    sqlite3_bind_int64(s, 3, (int64_t)group->block_bytes);
    sqlite3_bind_int64(s, 4, (int64_t)group->n_patterns);
    sqlite3_bind_int64(s, 5, llround(reuses));
    sqlite3_bind_blob64(s, 6, bytes, n_bytes, free);
    return pm_store_step(store, s, err);
}

static bool put_groups(struct pm_store *store, int64_t run, const struct pm_run_patterns *patterns,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT INTO carried (run, scope_group, block_bytes,"
                                       " patterns, reuses, data) VALUES (?,?,?,?,?,?)",
                                       err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < patterns->n_groups; i++)
        ok = put_group(store, s, run, &patterns->groups[i], err);
    sqlite3_finalize(s);
    return ok;
}

static bool remove_old(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_run_sql_of(store, "DELETE FROM carried WHERE run = ?", run, err);
}

bool pm_store_put_patterns(struct pm_store *store, const struct pm_parameters *parameters,
                           const struct pm_run_patterns *patterns, struct pm_error *err) {
    if (!pm_store_begin(store, err))
        return false;
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run > 0 || (run == 0 && pm_fail(err, "%s: no run of this size", store->path));
    ok = ok && pm_store_run_sql(store, schema, err) && remove_old(store, run, err) &&
         put_groups(store, run, patterns, err);
    return pm_store_end(store, ok, err);
}

bool pm_store_remove_patterns(struct pm_store *store, int64_t run, struct pm_error *err) {
    bool has;
    return has_table(store, &has, err) && (!has || remove_old(store, run, err));
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_groups(struct pm_store *store, int64_t run, struct pm_run_patterns *patterns,
                        struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT scope_group, block_bytes, data FROM carried"
                                       " WHERE run = ? ORDER BY scope_group, block_bytes",
                                       err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err)) {
        struct pm_group_patterns group;
        uint32_t number = (uint32_t)sqlite3_column_int64(s, 0);
        ok = pm_group_patterns_decode(sqlite3_column_blob(s, 2), (size_t)sqlite3_column_bytes(s, 2),
                                      &group, err);
        if (ok) {
            group.group = number;
            *PM_PUSH(patterns, groups) = group;
        } else {
            pm_fail_in(err, "%s: run %lld, group %u", store->path, (long long)run, number);
        }
    }
    sqlite3_finalize(s);
    return ok;
}

struct pm_run_patterns *pm_store_patterns(struct pm_store *store,
                                          const struct pm_parameters *parameters,
                                          struct pm_error *err) {
    bool has;
    int64_t run =
        has_table(store, &has, err) && has ? pm_store_find_whole_run(store, parameters, err) : 0;
    if (run <= 0)
        return NULL;
    struct pm_run_patterns *patterns = pm_alloc(1, sizeof *patterns);
    if (read_groups(store, run, patterns, err) && patterns->n_groups > 0)
        return patterns;
    pm_run_patterns_free(patterns);
    return NULL;
}

/* *FOUND: the run has patterns for this block size, 0: for any. */
static bool find_size(struct pm_store *store, int64_t run, uint64_t block_bytes, bool *found,
                      struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT 1 FROM carried WHERE run = ?1 AND ?2 IN (0, block_bytes) LIMIT 1", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, (int64_t)block_bytes);
    int status = sqlite3_step(s);
    *found = status == SQLITE_ROW;
    bool ok = *found || status == SQLITE_DONE || pm_store_fail(store, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_has_patterns(struct pm_store *store, const struct pm_parameters *parameters,
                           const uint64_t *block_sizes, size_t n_block_sizes, bool *found,
                           struct pm_error *err) {
    bool has;
    *found = false;
    if (!has_table(store, &has, err))
        return false;
    int64_t run = has ? pm_store_find_run(store, parameters, err) : 0;
    if (run <= 0)
        return run == 0;
    bool ok = true;
    *found = true;
    for (size_t i = 0; ok && *found && i < (n_block_sizes ? n_block_sizes : 1); i++)
        ok = find_size(store, run, n_block_sizes ? block_sizes[i] : 0, found, err);
    return ok;
}
