/* The profile store: lower bounds of runs that `pmodel bound` measured. */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS bounds (run INTEGER PRIMARY KEY, machine TEXT, plain_seconds REAL,"
    " recording_over_plain REAL, total_over_plain REAL, timed_seconds REAL, bounded_seconds REAL,"
    " instructions REAL, cycle_seconds REAL);"
    "CREATE TABLE IF NOT EXISTS nest_bound (run INTEGER, scope INTEGER, refusal TEXT,"
    " timed_seconds REAL, instructions REAL, executions REAL, sampled REAL, seconds REAL,"
    " sampled_seconds REAL, bound_seconds REAL, cut REAL, faults REAL, unknown INTEGER,"
    " biased INTEGER, chased INTEGER, replayed INTEGER, chained INTEGER, routines INTEGER,"
    " library INTEGER, shared INTEGER, across INTEGER,"
    " PRIMARY KEY (run, scope)) WITHOUT ROWID;";

/* Figures of a nest, in this order. */
#define NEST_COLUMNS                                                                               \
    "timed_seconds, instructions, executions, sampled, seconds, sampled_seconds, bound_seconds,"   \
    " cut, faults, unknown, biased, chased, replayed, chained, routines, library, shared,"         \
    " across"
enum { N_AMOUNTS = 9, N_NUMBERS = 9 };

static void list_fields(struct pm_nest_bound *nest, double *amounts[N_AMOUNTS],
                        uint32_t *numbers[N_NUMBERS]) {
    double *all[N_AMOUNTS] = {&nest->timed_seconds, &nest->instructions, &nest->executions,
                              &nest->sampled,       &nest->seconds,      &nest->sampled_seconds,
                              &nest->bound_seconds, &nest->cut,          &nest->faults};
    uint32_t *counts[N_NUMBERS] = {&nest->unknown,  &nest->biased,  &nest->chased,
                                   &nest->replayed, &nest->chained, &nest->routines,
                                   &nest->library,  &nest->shared,  &nest->across};
    for (size_t i = 0; i < N_AMOUNTS; i++)
        amounts[i] = all[i];
    for (size_t i = 0; i < N_NUMBERS; i++)
        numbers[i] = counts[i];
}

/* ---- stores of earlier versions -------------------------------------------------------------- */

/* Columns that earlier versions do not have. */
static const struct {
    const char *table, *column, *add;
} added[] = {
    {"bounds", "instructions", "ALTER TABLE bounds ADD COLUMN instructions REAL"},
    {"bounds", "cycle_seconds", "ALTER TABLE bounds ADD COLUMN cycle_seconds REAL"},
    {"nest_bound", "instructions", "ALTER TABLE nest_bound ADD COLUMN instructions REAL"},
    {"nest_bound", "routines", "ALTER TABLE nest_bound ADD COLUMN routines INTEGER"},
    {"nest_bound", "library", "ALTER TABLE nest_bound ADD COLUMN library INTEGER"},
    {"nest_bound", "shared", "ALTER TABLE nest_bound ADD COLUMN shared INTEGER"},
    {"nest_bound", "across", "ALTER TABLE nest_bound ADD COLUMN across INTEGER"},
};
enum { N_ADDED = sizeof added / sizeof *added };

static bool has_column(struct pm_store *store, size_t i, bool *has, struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, added[i].table, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, added[i].column, -1, SQLITE_STATIC);
    int status = sqlite3_step(s);
    *has = status == SQLITE_ROW;
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        pm_store_fail(store, err);
    sqlite3_finalize(s);
    return status == SQLITE_ROW || status == SQLITE_DONE;
}

static bool add_columns(struct pm_store *store, struct pm_error *err) {
    for (size_t i = 0; i < N_ADDED; i++) {
        bool has;
        if (!has_column(store, i, &has, err) ||
            (!has && !pm_store_run_sql(store, added[i].add, err)))
            return false;
    }
    return true;
}

static bool has_columns(struct pm_store *store, struct pm_error *err) {
    for (size_t i = 0; i < N_ADDED; i++) {
        bool has;
        if (!has_column(store, i, &has, err))
            return false;
        if (!has)
            return pm_fail(err,
                           "%s: its lower bounds are of an earlier version of pmodel:"
                           " `pmodel bound -o` measures them anew",
                           store->path);
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool remove_old(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_run_sql_of(store, "DELETE FROM bounds WHERE run = ?", run, err) &&
           pm_store_run_sql_of(store, "DELETE FROM nest_bound WHERE run = ?", run, err);
}

static bool put_whole(struct pm_store *store, int64_t run, const struct pm_bounds *bounds,
                      struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "INSERT INTO bounds (run, machine, plain_seconds, recording_over_plain,"
                         " total_over_plain, timed_seconds, bounded_seconds,"
                         " instructions, cycle_seconds)"
                         " VALUES (?,?,?,?,?,?,?,?,?)",
                         err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_text(s, 2, bounds->machine, -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 3, bounds->plain_seconds);
    sqlite3_bind_double(s, 4, bounds->recording_over_plain);
    sqlite3_bind_double(s, 5, bounds->total_over_plain);
    sqlite3_bind_double(s, 6, bounds->timed_seconds);
    sqlite3_bind_double(s, 7, bounds->bounded_seconds);
    sqlite3_bind_double(s, 8, bounds->instructions);
    sqlite3_bind_double(s, 9, bounds->cycle_seconds);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_nests(struct pm_store *store, int64_t run, const struct pm_bounds *bounds,
                      struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "INSERT INTO nest_bound (run, scope, refusal, " NEST_COLUMNS ")"
                         " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                         err);
    bool ok = s != NULL;
    for (size_t i = 0; i < bounds->n_nests && ok; i++) {
        struct pm_nest_bound nest = bounds->nests[i];
        double *amounts[N_AMOUNTS];
        uint32_t *numbers[N_NUMBERS];
        int column = 4;
        list_fields(&nest, amounts, numbers);
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, nest.scope);
        sqlite3_bind_text(s, 3, nest.refusal, -1, SQLITE_STATIC);
        for (size_t k = 0; k < N_AMOUNTS; k++)
            sqlite3_bind_double(s, column++, *amounts[k]);
        for (size_t k = 0; k < N_NUMBERS; k++)
            sqlite3_bind_int64(s, column++, *numbers[k]);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_bounds(struct pm_store *store, const struct pm_parameters *parameters,
                         const struct pm_bounds *bounds, struct pm_error *err) {
    if (!pm_store_begin(store, err))
        return false;
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run > 0 || (run == 0 && pm_fail(err, "%s: no run of this size", store->path));
    ok = ok && pm_store_run_sql(store, schema, err) && add_columns(store, err) &&
         remove_old(store, run, err) && put_whole(store, run, bounds, err) &&
         put_nests(store, run, bounds, err);
    return pm_store_end(store, ok, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct pm_bounds *read_whole(struct pm_store *store, int64_t run, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "SELECT machine, plain_seconds, recording_over_plain, total_over_plain, timed_seconds,"
        " bounded_seconds, instructions, cycle_seconds FROM bounds WHERE run = ?",
        err);
    struct pm_bounds *bounds = NULL;
    if (!s)
        return NULL;
    sqlite3_bind_int64(s, 1, run);
    int status = sqlite3_step(s);
    if (status == SQLITE_ROW) {
        bounds = pm_alloc(1, sizeof *bounds);
        bounds->machine = pm_store_column_text(s, 0);
        bounds->plain_seconds = sqlite3_column_double(s, 1);
        bounds->recording_over_plain = sqlite3_column_double(s, 2);
        bounds->total_over_plain = sqlite3_column_double(s, 3);
        bounds->timed_seconds = sqlite3_column_double(s, 4);
        bounds->bounded_seconds = sqlite3_column_double(s, 5);
        bounds->instructions = sqlite3_column_double(s, 6);
        bounds->cycle_seconds = sqlite3_column_double(s, 7);
    } else if (status != SQLITE_DONE) {
        pm_store_fail(store, err);
    }
    sqlite3_finalize(s);
    return bounds;
}

static bool read_nests(struct pm_store *store, int64_t run, struct pm_bounds *bounds,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT scope, refusal, " NEST_COLUMNS
                                       " FROM nest_bound WHERE run = ? ORDER BY scope",
                                       err);
    bool ok = true;
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    while (pm_store_next_row(store, s, &ok, err)) {
        struct pm_nest_bound *nest = PM_PUSH(bounds, nests);
        double *amounts[N_AMOUNTS];
        uint32_t *numbers[N_NUMBERS];
        int column = 2;
        int64_t scope = sqlite3_column_int64(s, 0);
        *nest = (struct pm_nest_bound){.scope = scope < 0 || scope >= PM_NONE ? PM_NONE
                                                                              : (uint32_t)scope,
                                       .refusal = pm_store_column_text(s, 1)};
        list_fields(nest, amounts, numbers);
        for (size_t k = 0; k < N_AMOUNTS; k++)
            *amounts[k] = sqlite3_column_double(s, column++);
        for (size_t k = 0; k < N_NUMBERS; k++)
            *numbers[k] = (uint32_t)sqlite3_column_int64(s, column++);
    }
    sqlite3_finalize(s);
    return ok;
}

struct pm_bounds *pm_store_bounds(struct pm_store *store, const struct pm_parameters *parameters,
                                  struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "bounds", &has, err) || !has)
        return NULL;
    if (!has_columns(store, err))
        return NULL;
    int64_t run = pm_store_find_whole_run(store, parameters, err);
    struct pm_bounds *bounds = run > 0 ? read_whole(store, run, err) : NULL;
    if (bounds && !read_nests(store, run, bounds, err)) {
        pm_bounds_free(bounds);
        return NULL;
    }
    return bounds;
}
