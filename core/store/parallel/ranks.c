/* The profile store: the ranks of a run of an MPI program (core/ranks/ranks.h). */
#include <stdlib.h>

#include "core/raw_file.h"
#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS rank (run INTEGER, process INTEGER, rank INTEGER, size INTEGER,"
    " host TEXT, role TEXT, member_of INTEGER, tolerance REAL, PRIMARY KEY (run, process))"
    " WITHOUT ROWID;";

static bool put_rank(struct pm_store *store, int64_t run, const struct pm_ranks *ranks,
                     const struct pm_rank *rank, sqlite3_stmt *s, struct pm_error *err) {
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, rank->process);
    sqlite3_bind_int64(s, 3, rank->rank);
    sqlite3_bind_int64(s, 4, rank->size);
    sqlite3_bind_text(s, 5, rank->host, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, rank->group);
    sqlite3_bind_double(s, 7, ranks->tolerance);
    return pm_store_step(store, s, err);
}

bool pm_store_put_ranks(struct pm_store *store, const struct pm_parameters *parameters,
                        const struct pm_ranks *ranks, struct pm_error *err) {
    int64_t run = ranks->n_ranks ? pm_store_find_run(store, parameters, err) : 0;
    if (run <= 0)
        return run == 0;
    pm_store_forget_roles(store);
    if (!pm_store_begin(store, err))
        return false;
    bool ok = pm_store_run_sql(store, schema, err) && pm_store_remove_rows(store, "rank", run, err);
    sqlite3_stmt *s = ok ? pm_store_prepare(store,
                                            "INSERT INTO rank (run, process, rank, size, host,"
                                            " member_of, tolerance) VALUES (?,?,?,?,?,?,?)",
                                            err)
                         : NULL;
    ok = s != NULL;
    for (size_t i = 0; ok && i < ranks->n_ranks; i++)
        ok = put_rank(store, run, ranks, &ranks->ranks[i], s, err);
    sqlite3_finalize(s);
    return pm_store_end(store, ok, err);
}

enum { MOST_PROCESSES = 4 * PM_MOST_RANKS }; /* ranks may have forked */

static bool read_rank(struct pm_store *store, sqlite3_stmt *s, struct pm_ranks *ranks,
                      struct pm_error *err) {
    int64_t process = sqlite3_column_int64(s, 0), rank = sqlite3_column_int64(s, 1),
            size = sqlite3_column_int64(s, 2), group = sqlite3_column_int64(s, 4);
    if (process < 0 || process > MOST_PROCESSES || rank < 0 || rank >= size ||
        size > PM_MOST_RANKS || group < 0 || group > size)
        return pm_fail(err, "%s: the table of ranks is damaged: run that size again", store->path);
    char *host = pm_store_column_text(s, 3);
    *PM_PUSH(ranks, ranks) = (struct pm_rank){.process = (uint32_t)process,
                                              .rank = (uint32_t)rank,
                                              .size = (uint32_t)size,
                                              .host = host ? host : pm_strdup(""),
                                              .group = (uint32_t)group};
    ranks->tolerance = sqlite3_column_double(s, 5);
    return true;
}

bool pm_store_ranks_of_run(struct pm_store *store, int64_t run, struct pm_ranks *ranks,
                           struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "rank", &has, err))
        return false;
    sqlite3_stmt *s =
        has ? pm_store_prepare(store,
                               "SELECT process, rank, size, host, member_of, tolerance FROM rank"
                               " WHERE run = ? ORDER BY rank, process",
                               err)
            : NULL;
    if (!s)
        return !has;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err))
        ok = read_rank(store, s, ranks, err);
    sqlite3_finalize(s);
    return ok;
}
