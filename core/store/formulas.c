/* The profile store: which parameters of a run were given as formulas of others (-P 'L=log2(N)').
 */
#include <stdlib.h>

#include "core/store/private.h"

bool pm_store_remove_formulas(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_remove_rows(store, "formula", run, err);
}

static bool put_formula(struct pm_store *store, int64_t run, const struct pm_given_formula *formula,
                        struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "INSERT INTO formula (run, name, text) VALUES (?,?,?)", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_text(s, 2, formula->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, formula->text, -1, SQLITE_STATIC);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_formulas(struct pm_store *store, const struct pm_parameters *parameters,
                           const struct pm_given_formulas *formulas, struct pm_error *err) {
    static const char schema[] =
        "CREATE TABLE IF NOT EXISTS formula (run INTEGER, name TEXT, text TEXT,"
        " PRIMARY KEY (run, name)) WITHOUT ROWID;";
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0;
    if (!pm_store_begin(store, err))
        return false;
    bool ok = (formulas->n_list == 0 || pm_store_run_sql(store, schema, err)) &&
              pm_store_remove_formulas(store, run, err);
    for (size_t i = 0; ok && i < formulas->n_list; i++)
        ok = put_formula(store, run, &formulas->list[i], err);
    return pm_store_end(store, ok, err);
}

bool pm_store_formulas(struct pm_store *store, struct pm_given_formulas *formulas,
                       struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "formula", &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT name, min(text) FROM formula GROUP BY name HAVING"
                                       " count(*) = (SELECT count(*) FROM run) ORDER BY name",
                                       err);
    bool ok = s != NULL;
    while (ok && pm_store_next_row(store, s, &ok, err)) {
        char *name = pm_store_column_text(s, 0), *text = pm_store_column_text(s, 1);
        if (name && text)
            pm_given_formulas_add(formulas, name, text);
        free(name);
        free(text);
    }
    sqlite3_finalize(s);
    return ok;
}
