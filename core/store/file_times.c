/* The profile store: in which files' code a program's time goes (core/times.h), a row a file. */
#include <stdlib.h>

#include "core/store/private.h"

bool pm_store_remove_file_times(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_remove_rows(store, "file_time", run, err);
}

static bool put_file(struct pm_store *store, int64_t run, const struct pm_file_time *file,
                     struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT INTO file_time (run, path, measured, measurable,"
                                       " samples) VALUES (?,?,?,?,?)",
                                       err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_text(s, 2, file->path, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 3, file->measured);
    sqlite3_bind_int(s, 4, file->measurable);
    sqlite3_bind_double(s, 5, file->samples);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_file_times(struct pm_store *store, const struct pm_parameters *parameters,
                             const struct pm_file_times *times, struct pm_error *err) {
    static const char schema[] =
        "CREATE TABLE IF NOT EXISTS file_time (run INTEGER, path TEXT, measured INTEGER,"
        " measurable INTEGER, samples REAL);";
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0;
    if (!pm_store_begin(store, err))
        return false;
    bool ok = pm_store_run_sql(store, schema, err) && pm_store_remove_file_times(store, run, err);
    for (size_t i = 0; ok && i < times->n_files; i++)
        ok = put_file(store, run, &times->files[i], err);
    return pm_store_end(store, ok, err);
}

bool pm_store_file_times(struct pm_store *store, const struct pm_parameters *parameters,
                         struct pm_file_times *times, struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "file_time", &has, err))
        return false;
    if (!has)
        return true;
    int64_t run = pm_store_find_run(store, parameters, err);
    sqlite3_stmt *s = run > 0 ? pm_store_prepare(store,
                                                 "SELECT path, measured, measurable, samples FROM"
                                                 " file_time WHERE run = ? ORDER BY samples DESC",
                                                 err)
                              : NULL;
    if (!s)
        return run == 0;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err))
        *PM_PUSH(times, files) = (struct pm_file_time){.path = pm_store_column_text(s, 0),
                                                       .measured = sqlite3_column_int(s, 1) != 0,
                                                       .measurable = sqlite3_column_int(s, 2) != 0,
                                                       .samples = sqlite3_column_double(s, 3)};
    sqlite3_finalize(s);
    return ok;
}
