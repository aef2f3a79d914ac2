/* The profile store: intervals of runs (core/intervals/intervals.h). */
#include <math.h>
#include <stdlib.h>

#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS interval_kind (id INTEGER PRIMARY KEY, begin INTEGER, end INTEGER,"
    " UNIQUE (begin, end));"
    "CREATE TABLE IF NOT EXISTS interval (run INTEGER, kind INTEGER, process INTEGER,"
    " thread INTEGER, first INTEGER, n INTEGER, edges BLOB,"
    " PRIMARY KEY (run, kind, process, thread, first)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS interval_histogram (run INTEGER, kind INTEGER, process INTEGER,"
    " thread INTEGER, first INTEGER, scope_group INTEGER, block_bytes INTEGER, cold INTEGER,"
    " accesses INTEGER, data BLOB,"
    " PRIMARY KEY (run, kind, process, thread, first, scope_group, block_bytes)) WITHOUT ROWID;";

static bool has_table(struct pm_store *store, bool *has, struct pm_error *err) {
    return pm_store_has_table(store, "interval", has, err);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

bool pm_store_interval_kinds(struct pm_store *store, struct pm_interval_kinds *kinds,
                             struct pm_error *err) {
    bool has, ok = true;
    *kinds = (struct pm_interval_kinds){0};
    if (!has_table(store, &has, err))
        return false;
    sqlite3_stmt *s =
        has ? pm_store_prepare(store, "SELECT id, begin, end FROM interval_kind ORDER BY id", err)
            : NULL;
    if (!s)
        return !has;
    while (pm_store_next_row(store, s, &ok, err))
        *PM_PUSH(kinds, kinds) =
            (struct pm_interval_kind){.number = (uint32_t)sqlite3_column_int64(s, 0),
                                      .begin = (uint32_t)sqlite3_column_int64(s, 1),
                                      .end = (uint32_t)sqlite3_column_int64(s, 2)};
    sqlite3_finalize(s);
    if (!ok)
        free(kinds->kinds);
    return ok;
}

/* The number of the kind from BEGIN to END, which is added if it is new; 0 after an error. */
static int64_t find_kind(struct pm_store *store, uint32_t begin, uint32_t end,
                         struct pm_error *err) {
    static const char *const statements[] = {
        "INSERT OR IGNORE INTO interval_kind (begin, end) VALUES (?,?)",
        "SELECT id FROM interval_kind WHERE begin = ? AND end = ?"};
    int64_t kind = 0;
    for (unsigned i = 0; i < 2; i++) {
        sqlite3_stmt *s = pm_store_prepare(store, statements[i], err);
        if (!s)
            return 0;
        sqlite3_bind_int64(s, 1, begin);
        sqlite3_bind_int64(s, 2, end);
        int status = sqlite3_step(s);
        if (status == SQLITE_ROW)
            kind = sqlite3_column_int64(s, 0);
        else if (status != SQLITE_DONE)
            pm_store_fail(store, err);
        sqlite3_finalize(s);
    }
    return kind;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void bind_place(sqlite3_stmt *s, int64_t run, int64_t kind, const struct pm_interval *row) {
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, kind);
    sqlite3_bind_int64(s, 3, row->process);
    sqlite3_bind_int64(s, 4, row->thread);
    sqlite3_bind_int64(s, 5, (int64_t)row->first);
}

static bool put_histograms(struct pm_store *store, sqlite3_stmt *s, int64_t run, int64_t kind,
                           const struct pm_interval *row, struct pm_error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < row->n_histograms; i++) {
        const struct pm_histogram *histogram = &row->histograms[i].histogram;
        void *bytes;
        size_t n_bytes;
        pm_histogram_encode(store->packing, histogram, &bytes, &n_bytes);
        bind_place(s, run, kind, row);
        sqlite3_bind_int64(s, 6, row->histograms[i].group);
        sqlite3_bind_int64(s, 7, (int64_t)histogram->block_bytes);
        sqlite3_bind_int64(s, 8, llround(histogram->cold_loads + histogram->cold_stores));
        sqlite3_bind_int64(s, 9, llround(pm_histogram_accesses(histogram)));
        sqlite3_bind_blob64(s, 10, bytes, n_bytes, free);
        ok = pm_store_step(store, s, err);
    }
    return ok;
}

static bool put_row(struct pm_store *store, sqlite3_stmt *s, int64_t run, int64_t kind,
                    const struct pm_interval *row, struct pm_error *err) {
    void *bytes;
    size_t n_bytes;
    pm_interval_encode_edges(store->packing, row, &bytes, &n_bytes);
    bind_place(s, run, kind, row);
    sqlite3_bind_int64(s, 6, (int64_t)row->n);
    sqlite3_bind_blob64(s, 7, bytes, n_bytes, free);
    return pm_store_step(store, s, err);
}

/* NUMBERS: of the paths in the store.  Rows of one kind stand together. */
static bool put_rows(struct pm_store *store, int64_t run, const struct pm_intervals *intervals,
                     const uint32_t *numbers, struct pm_error *err) {
    sqlite3_stmt *edges = pm_store_prepare(store,
                                           "INSERT INTO interval (run, kind, process, thread,"
                                           " first, n, edges) VALUES (?,?,?,?,?,?,?)",
                                           err);
    sqlite3_stmt *histograms =
        edges
            ? pm_store_prepare(store,
                               "INSERT INTO interval_histogram (run, kind, process, thread, first,"
                               " scope_group, block_bytes, cold, accesses, data)"
                               " VALUES (?,?,?,?,?,?,?,?,?,?)",
                               err)
            : NULL;
    bool ok = histograms != NULL;
    int64_t kind = 0;
    for (size_t i = 0; ok && i < intervals->n_rows; i++) {
        const struct pm_interval *row = &intervals->rows[i];
        if (i == 0 || row->begin != row[-1].begin || row->end != row[-1].end)
            kind = find_kind(store, numbers[row->begin], numbers[row->end], err);
        ok = kind > 0 && put_row(store, edges, run, kind, row, err) &&
             put_histograms(store, histograms, run, kind, row, err);
    }
    sqlite3_finalize(edges);
    sqlite3_finalize(histograms);
    return ok;
}

static bool put(struct pm_store *store, int64_t run, const struct pm_structure *structure,
                const struct pm_intervals *intervals, struct pm_error *err) {
    uint32_t *numbers = pm_store_put_call_paths(store, structure, &intervals->paths, err);
    bool ok = numbers && put_rows(store, run, intervals, numbers, err);
    free(numbers);
    return ok;
}

bool pm_store_put_intervals(struct pm_store *store, const struct pm_parameters *parameters,
                            const struct pm_structure *structure,
                            const struct pm_intervals *intervals, struct pm_error *err) {
    if (!pm_store_begin(store, err))
        return false;
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run > 0 || (run == 0 && pm_fail(err, "%s: no run of this size", store->path));
    ok = ok && pm_store_run_sql(store, schema, err) && pm_store_remove_intervals(store, run, err) &&
         put(store, run, structure, intervals, err);
    return pm_store_end(store, ok, err);
}

bool pm_store_remove_intervals(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_remove_rows(store, "interval", run, err) &&
           pm_store_remove_rows(store, "interval_histogram", run, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool damaged(const struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_fail(err, "%s: the intervals of run %lld are damaged: run that size again",
                   store->path, (long long)run);
}

static bool read_row(struct pm_store *store, sqlite3_stmt *s, int64_t run,
                     struct pm_intervals *intervals, struct pm_error *err) {
    struct pm_interval row = {.kind = (uint32_t)sqlite3_column_int64(s, 0),
                              .begin = (uint32_t)sqlite3_column_int64(s, 1),
                              .end = (uint32_t)sqlite3_column_int64(s, 2),
                              .process = (uint32_t)sqlite3_column_int64(s, 3),
                              .thread = (uint32_t)sqlite3_column_int64(s, 4),
                              .first = (uint64_t)sqlite3_column_int64(s, 5),
                              .n = (uint64_t)sqlite3_column_int64(s, 6)};
    size_t n_paths = intervals->paths.n_sites ? intervals->paths.n_sites : 1;
    bool ok = row.begin < n_paths && row.end < n_paths && row.n > 0 &&
              pm_interval_decode_edges(store->packing, sqlite3_column_blob(s, 7),
                                       (size_t)sqlite3_column_bytes(s, 7), &row);
    *PM_PUSH(intervals, rows) = row;
    return ok || damaged(store, run, err);
}

static sqlite3_stmt *select_rows(struct pm_store *store, const char *sql, int64_t run,
                                 uint32_t kind, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, sql, err);
    if (!s)
        return NULL;
    sqlite3_bind_int64(s, 1, run);
    if (kind != PM_NONE)
        sqlite3_bind_int64(s, 2, kind);
    return s;
}

static bool read_rows(struct pm_store *store, int64_t run, uint32_t kind,
                      struct pm_intervals *intervals, struct pm_error *err) {
    sqlite3_stmt *s = select_rows(
        store,
        "SELECT kind, begin, end, process, thread, first, n, edges FROM interval"
        " JOIN interval_kind ON interval_kind.id = kind WHERE run = ?1 AND kind = ifnull(?2, kind)"
        " ORDER BY begin, end, process, thread, first",
        run, kind, err);
    bool ok = true;
    while (s && pm_store_next_row(store, s, &ok, err))
        ok = read_row(store, s, run, intervals, err);
    sqlite3_finalize(s);
    return s && ok;
}

static bool is_of(const struct pm_interval *row, sqlite3_stmt *s) {
    return row->kind == sqlite3_column_int64(s, 0) && row->process == sqlite3_column_int64(s, 1) &&
           row->thread == sqlite3_column_int64(s, 2) &&
           row->first == (uint64_t)sqlite3_column_int64(s, 3);
}

/* Histograms come in the order of the rows, of which not all have some. */
static bool read_histograms(struct pm_store *store, int64_t run, uint32_t kind,
                            struct pm_intervals *intervals, struct pm_error *err) {
    sqlite3_stmt *s = select_rows(
        store,
        "SELECT kind, process, thread, first, scope_group, data FROM interval_histogram"
        " JOIN interval_kind ON interval_kind.id = kind WHERE run = ?1 AND kind = ifnull(?2, kind)"
        " ORDER BY begin, end, process, thread, first, scope_group, block_bytes",
        run, kind, err);
    size_t at = 0;
    bool ok = true;
    while (s && pm_store_next_row(store, s, &ok, err)) {
        while (at < intervals->n_rows && !is_of(&intervals->rows[at], s))
            at++;
        if (at == intervals->n_rows) {
            ok = damaged(store, run, err);
            break;
        }
        struct pm_group_histogram *into = PM_PUSH(&intervals->rows[at], histograms);
        into->group = (uint32_t)sqlite3_column_int64(s, 4);
        ok = pm_histogram_decode(store->packing, sqlite3_column_blob(s, 5),
                                 (size_t)sqlite3_column_bytes(s, 5), &into->histogram, err);
    }
    sqlite3_finalize(s);
    return s && ok;
}

struct pm_intervals *pm_store_intervals(struct pm_store *store,
                                        const struct pm_parameters *parameters, uint32_t kind,
                                        bool with_histograms, struct pm_error *err) {
    bool has;
    int64_t run =
        has_table(store, &has, err) && has ? pm_store_find_run(store, parameters, err) : 0;
    if (run <= 0)
        return NULL;
    struct pm_intervals *intervals = pm_alloc(1, sizeof *intervals);
    if (pm_store_call_paths(store, &intervals->paths, err) &&
        read_rows(store, run, kind, intervals, err) && intervals->n_rows > 0 &&
        (!with_histograms || read_histograms(store, run, kind, intervals, err)))
        return intervals;
    pm_intervals_free(intervals);
    return NULL;
}

static bool has_row(struct pm_store *store, const char *sql, int64_t run, bool *found,
                    struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, sql, err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    int status = sqlite3_step(s);
    *found = status == SQLITE_ROW;
    bool ok = *found || status == SQLITE_DONE || pm_store_fail(store, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_has_intervals(struct pm_store *store, const struct pm_parameters *parameters,
                            bool with_histograms, bool *found, struct pm_error *err) {
    bool has;
    *found = false;
    if (!has_table(store, &has, err))
        return false;
    int64_t run = has ? pm_store_find_run(store, parameters, err) : 0;
    if (run <= 0)
        return run == 0;
    return has_row(store,
                   with_histograms ? "SELECT 1 FROM interval_histogram WHERE run = ? LIMIT 1"
                                   : "SELECT 1 FROM interval WHERE run = ? LIMIT 1",
                   run, found, err);
}

bool pm_store_interval_bytes(struct pm_store *store, const struct pm_parameters *parameters,
                             double *bytes, struct pm_error *err) {
    bool has;
    *bytes = 0;
    if (!has_table(store, &has, err))
        return false;
    int64_t run = has ? pm_store_find_run(store, parameters, err) : 0;
    if (run <= 0)
        return run == 0;
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "SELECT (SELECT ifnull(sum(length(edges) + 12), 0) FROM interval WHERE run = ?1)"
        " + (SELECT ifnull(sum(length(data) + 16), 0) FROM interval_histogram WHERE run = ?1)",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = sqlite3_step(s) == SQLITE_ROW || pm_store_fail(store, err);
    *bytes = ok ? sqlite3_column_double(s, 0) : 0;
    sqlite3_finalize(s);
    return ok;
}
