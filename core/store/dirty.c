/* The profile store: stores by dirty distance of runs that were made with --write-backs
   (core/write_backs/write_backs.h). */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/store/private.h"
#include "core/write_backs/write_backs.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS dirty (run INTEGER, scope_group INTEGER, block_bytes INTEGER,"
    " stores INTEGER, data BLOB, PRIMARY KEY (run, scope_group, block_bytes)) WITHOUT ROWID;";

bool pm_store_put_dirty(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                        struct pm_error *err) {
    if (profile->n_dirty == 0)
        return true;
    if (!pm_store_run_sql(store, schema, err))
        return false;
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT INTO dirty (run, scope_group, block_bytes, stores,"
                                       " data) VALUES (?,?,?,?,?)",
                                       err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < profile->n_dirty; i++) {
        const struct pm_group_histogram *of = &profile->dirty[i];
        void *bytes;
        size_t n_bytes;
        pm_histogram_encode(store->packing, &of->histogram, &bytes, &n_bytes);
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, of->group);
        sqlite3_bind_int64(s, 3, (int64_t)of->histogram.block_bytes);
        sqlite3_bind_int64(s, 4, llround(pm_histogram_accesses(&of->histogram)));
        sqlite3_bind_blob64(s, 5, bytes, n_bytes, free);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool read_row(struct pm_store *store, sqlite3_stmt *s, struct pm_profile *profile,
                     struct pm_error *err) {
    struct pm_histogram histogram;
    int64_t group = sqlite3_column_int64(s, 0);
    if (!pm_histogram_decode(store->packing, sqlite3_column_blob(s, 2),
                             (size_t)sqlite3_column_bytes(s, 2), &histogram, err))
        return pm_fail_in(err, "%s: group %lld", store->path, (long long)group);
    if (group < 0 || group > UINT32_MAX ||
        histogram.block_bytes != (uint64_t)sqlite3_column_int64(s, 1)) {
        pm_histogram_free(&histogram);
        return pm_fail(err, "%s: the table of dirty distances is damaged: run that size again",
                       store->path);
    }
    pm_profile_add_dirty(profile, (uint32_t)group, &histogram);
    return true;
}

bool pm_store_read_dirty(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "dirty", &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT scope_group, block_bytes, data FROM dirty"
                                       " WHERE run = ? ORDER BY scope_group, block_bytes",
                                       err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err))
        ok = read_row(store, s, profile, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_has_dirty(struct pm_store *store, const struct pm_parameters *parameters, bool *found,
                        struct pm_error *err) {
    *found = false;
    bool has;
    if (!pm_store_has_table(store, "dirty", &has, err))
        return false;
    int64_t run = has ? pm_store_find_run(store, parameters, err) : 0;
    sqlite3_stmt *s =
        run > 0 ? pm_store_prepare(store, "SELECT 1 FROM dirty WHERE run = ? LIMIT 1", err) : NULL;
    if (!s)
        return run == 0;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    *found = pm_store_next_row(store, s, &ok, err);
    sqlite3_finalize(s);
    return ok;
}
