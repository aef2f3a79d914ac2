/* The profile store: the models of the last fit, whole as a blob and by formula for other tools. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/store/private.h"

/* One row of table `model`. */
static bool put_formula(struct pm_store *store, sqlite3_stmt *s, const struct pm_model_set *models,
                        const char *kind, uint64_t target, uint64_t block_bytes, long bin,
                        const char *quantity, const struct pm_model *model, struct pm_error *err) {
    sqlite3_clear_bindings(s);
    sqlite3_bind_text(s, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, (int64_t)target);
    if (block_bytes)
        sqlite3_bind_int64(s, 3, (int64_t)block_bytes);
    if (bin >= 0)
        sqlite3_bind_int64(s, 4, bin);
    sqlite3_bind_text(s, 5, quantity, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 6, pm_model_text(models->basis, model), -1, free);
    if (isfinite(model->relative_error))
        sqlite3_bind_double(s, 7, model->relative_error);
    return pm_store_step(store, s, err);
}

static bool put_histogram_formulas(struct pm_store *store, sqlite3_stmt *s,
                                   const struct pm_model_set *models,
                                   const struct pm_histogram_model *h, struct pm_error *err) {
    static const char kind[] = "group";
    if (!put_formula(store, s, models, kind, h->group, h->block_bytes, -1, "accesses", &h->accesses,
                     err) ||
        !put_formula(store, s, models, kind, h->group, h->block_bytes, -1, "cold", &h->cold, err))
        return false;
    for (size_t b = 0; b < h->n_bins; b++)
        if (!put_formula(store, s, models, kind, h->group, h->block_bytes, (long)b, "count",
                         &h->bins[b].count, err) ||
            !put_formula(store, s, models, kind, h->group, h->block_bytes, (long)b, "distance",
                         &h->bins[b].distance, err))
            return false;
    return true;
}

static bool put_formulas(struct pm_store *store, const struct pm_model_set *models,
                         struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT INTO model (kind, target, block_bytes, bin,"
                                       " quantity, formula, relative_error) VALUES (?,?,?,?,?,?,?)",
                                       err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < models->n_edges; i++)
        ok = put_formula(store, s, models, "edge", i, 0, -1, "count", &models->edges[i], err);
    for (size_t i = 0; ok && i < models->n_histograms; i++)
        ok = put_histogram_formulas(store, s, models, &models->histograms[i], err);
    sqlite3_finalize(s);
    return ok;
}

/* Those of a part of the runs stand beside those of the whole. */
static bool put_selected(struct pm_store *store, const struct pm_model_set *models,
                         struct pm_error *err) {
    static const char schema[] =
        "CREATE TABLE IF NOT EXISTS selected_models (selection TEXT PRIMARY"
        " KEY, made REAL, data BLOB)";
    char *selection = pm_store_selection_text(store, err);
    sqlite3_stmt *s = selection && pm_store_run_sql(store, schema, err)
                          ? pm_store_prepare(store,
                                             "INSERT OR REPLACE INTO selected_models (selection,"
                                             " made, data) VALUES (?,?,?)",
                                             err)
                          : NULL;
    if (!s) {
        free(selection);
        return false;
    }
    void *bytes;
    size_t n_bytes;
    pm_model_set_encode(models, &bytes, &n_bytes);
    sqlite3_bind_text(s, 1, selection, -1, free);
    sqlite3_bind_double(s, 2, (double)time(NULL));
    sqlite3_bind_blob64(s, 3, bytes, n_bytes, free);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_blob(struct pm_store *store, const struct pm_model_set *models,
                     struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, "INSERT INTO models (made, data) VALUES (?,?)", err);
    if (!s)
        return false;
    void *bytes;
    size_t n_bytes;
    pm_model_set_encode(models, &bytes, &n_bytes);
    sqlite3_bind_double(s, 1, (double)time(NULL));
    sqlite3_bind_blob64(s, 2, bytes, n_bytes, free);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_models(struct pm_store *store, const struct pm_model_set *models,
                         struct pm_error *err) {
    if (!pm_store_begin(store, err))
        return false;
    bool ok = pm_store_is_selected(store)
                  ? put_selected(store, models, err)
                  : pm_store_run_sql(store, "DELETE FROM models; DELETE FROM model", err) &&
                        put_blob(store, models, err) && put_formulas(store, models, err);
    return pm_store_end(store, ok, err);
}

/* Of what is selected. */
static bool count_selected(struct pm_store *store, size_t *n_runs, size_t *n_cut_off,
                           struct pm_error *err) {
    struct pm_parameters *runs = NULL;
    bool ok = pm_store_runs(store, &runs, n_runs, err);
    for (size_t i = 0; ok && i < *n_runs; i++) {
        char *how;
        ok = pm_store_cut_off(store, &runs[i], &how, err);
        *n_cut_off += ok && how;
        free(ok ? how : NULL);
    }
    free(runs);
    return ok;
}

/* How many runs there are, and how many of them were cut off. */
static bool count_runs(struct pm_store *store, size_t *n_runs, size_t *n_cut_off,
                       struct pm_error *err) {
    bool has;
    *n_runs = *n_cut_off = 0;
    if (pm_store_is_selected(store))
        return count_selected(store, n_runs, n_cut_off, err);
    if (!pm_store_has_table(store, "cut_off", &has, err))
        return false;
    sqlite3_stmt *s = pm_store_prepare(store,
                                       has ? "SELECT (SELECT count(*) FROM run), count(*) FROM"
                                             " cut_off"
                                           : "SELECT count(*), 0 FROM run",
                                       err);
    bool ok = s != NULL;
    if (ok && pm_store_next_row(store, s, &ok, err)) {
        *n_runs = (size_t)sqlite3_column_int64(s, 0);
        *n_cut_off = (size_t)sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_check_runs(struct pm_store *store, struct pm_model_set *models,
                         struct pm_error *err) {
    size_t n_runs, n_cut_off, n_fitted = models->n_runs + models->n_runs_dropped;
    if (!count_runs(store, &n_runs, &n_cut_off, err))
        return false;
    if (n_fitted != n_runs && n_fitted + n_cut_off != n_runs)
        return pm_fail(err,
                       "%s: runs were added or removed after the last fit: call `pmodel fit %s`",
                       store->path, store->path);
    for (size_t i = 0; n_cut_off && i < models->n_runs; i++) {
        char *how;
        if (!pm_store_cut_off(store, &models->runs[i], &how, err))
            return false;
        models->n_cut_off += how != NULL;
        free(how);
    }
    return true;
}

/* The row that has the models; NULL, with a sentence after an error, if there is none. */
static sqlite3_stmt *select_models(struct pm_store *store, struct pm_error *err) {
    bool has;
    if (!pm_store_is_selected(store))
        return pm_store_prepare(store, "SELECT data FROM models ORDER BY id DESC LIMIT 1", err);
    if (!pm_store_has_table(store, "selected_models", &has, err) || !has)
        return NULL;
    char *selection = pm_store_selection_text(store, err);
    sqlite3_stmt *s =
        selection
            ? pm_store_prepare(store, "SELECT data FROM selected_models WHERE selection = ?", err)
            : NULL;
    if (s)
        sqlite3_bind_text(s, 1, selection, -1, SQLITE_TRANSIENT);
    free(selection);
    return s;
}

struct pm_model_set *pm_store_models(struct pm_store *store, struct pm_error *err) {
    sqlite3_stmt *s = select_models(store, err);
    if (!s)
        return NULL;
    struct pm_model_set *models = NULL;
    int status = sqlite3_step(s);
    if (status == SQLITE_ROW) {
        models =
            pm_model_set_decode(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0), err);
        if (!models) {
            pm_fail_in(err, "%s", store->path);
        } else if (!pm_store_check_runs(store, models, err)) {
            pm_model_set_free(models);
            models = NULL;
        }
    } else if (status != SQLITE_DONE) {
        pm_store_fail(store, err);
    }
    sqlite3_finalize(s);
    return models;
}
