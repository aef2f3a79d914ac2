/* The profile store: the models of the last fit, of counts and of messages, of all runs or of what
   is selected of them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/codec.h"
#include "core/store/private.h"

/* ---- putting in ------------------------------------------------------------------------------ */

/* BYTES, which it takes. */
static bool put_bytes(struct pm_store *store, enum pm_models_kind kind, struct pm_blob bytes,
                      struct pm_error *err) {
    const struct pm_models_row row = {pm_store_selection_text(store, err), kind, (double)time(NULL),
                                      bytes};
    bool ok = row.selection && pm_store_put_rows(store, PM_MODELS, PM_ALL_RUNS, &row, 1, err);
    free(row.selection);
    free(bytes.data);
    return ok;
}

bool pm_store_put_models(struct pm_store *store, const struct pm_model_set *models,
                         struct pm_error *err) {
    struct pm_blob bytes;
    pm_model_set_encode(models, &bytes.data, &bytes.n);
    return put_bytes(store, PM_MODELS_OF_COUNTS, bytes, err);
}

bool pm_store_put_message_models(struct pm_store *store, const struct pm_message_models *messages,
                                 struct pm_error *err) {
    struct pm_blob bytes;
    pm_message_models_encode(messages, &bytes.data, &bytes.n);
    return put_bytes(store, PM_MODELS_OF_MESSAGES, bytes, err);
}

bool pm_store_forget_models(struct pm_store *store, struct pm_error *err) {
    char *selection = pm_store_selection_text(store, err);
    sqlite3_stmt *s =
        selection ? pm_store_prepare(store, "DELETE FROM models WHERE selection = ?", err) : NULL;
    if (s)
        sqlite3_bind_text(s, 1, selection, -1, SQLITE_STATIC);
    bool ok = s && pm_store_step(store, s, err);
    sqlite3_finalize(s);
    free(selection);
    return ok;
}

/* ---- are they of the runs that are there now? ------------------------------------------------ */

/* How many runs the selection has, and how many of these were truncated. */
static bool count_runs(struct pm_store *store, size_t *n_runs, size_t *n_truncated,
                       struct pm_error *err) {
    struct pm_parameters *runs = NULL;
    *n_truncated = 0;
    bool ok = pm_store_runs(store, &runs, n_runs, err);
    for (size_t i = 0; ok && i < *n_runs; i++) {
        char *how;
        ok = pm_store_truncation(store, &runs[i], &how, err);
        *n_truncated += how != NULL;
        free(how);
    }
    free(runs);
    return ok;
}

/* The models must be of all truncated runs, or of none. */
static bool check_runs(struct pm_store *store, struct pm_model_set *models, struct pm_error *err) {
    size_t n_runs, n_truncated, n_fitted = models->n_runs + models->n_runs_dropped;
    if (!count_runs(store, &n_runs, &n_truncated, err))
        return false;
    if (n_fitted != n_runs && n_fitted + n_truncated != n_runs)
        return pm_fail(err,
                       "%s: runs were added or removed after the last fit: call `pmodel fit %s`",
                       store->path, store->path);
    for (size_t i = 0; n_truncated && i < models->n_runs; i++) {
        char *how;
        if (!pm_store_truncation(store, &models->runs[i], &how, err))
            return false;
        models->n_truncated += how != NULL;
        free(how);
    }
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Those of what is selected, as the bytes of the row that ROWS come to; NULL: there are none. */
static const struct pm_models_row *find_models(struct pm_store *store, enum pm_models_kind kind,
                                               struct pm_store_rows *rows, struct pm_error *err) {
    char *selection = pm_store_selection_text(store, err);
    const struct pm_models_row *row;
    *rows = pm_rows_of(store, PM_MODELS, PM_ALL_RUNS, err);
    rows->ok = rows->ok && selection;
    while ((row = pm_rows_next(rows)) &&
           (row->kind != kind || !row->selection || strcmp(row->selection, selection) != 0))
        pm_row_free(PM_MODELS, row);
    if (row)
        pm_row_free(PM_MODELS, row); /* the bytes stay as long as the row does */
    free(selection);
    return row;
}

struct pm_model_set *pm_store_models(struct pm_store *store, struct pm_error *err) {
    return pm_store_take_models(store, NULL, err);
}

struct pm_model_set *pm_store_take_models(struct pm_store *store,
                                          const struct pm_model_taker *taker,
                                          struct pm_error *err) {
    struct pm_store_rows rows;
    struct pm_codec codec;
    struct pm_model_set *models = NULL;
    const struct pm_models_row *row = find_models(store, PM_MODELS_OF_COUNTS, &rows, err);
    bool is_open = row && pm_model_set_open(&codec, row->data.data, row->data.n, err);
    if (row && !is_open)
        pm_fail_in(err, "%s", store->path);
    pm_rows_end(&rows); /* the bytes, which for a large program are the largest that is in memory */
    if (is_open) {
        models = pm_model_set_take(&codec, taker, err);
        if (!models)
            pm_fail_in(err, "%s", store->path);
    }
    if (models && check_runs(store, models, err))
        return models;
    pm_model_set_free(models);
    return NULL;
}

struct pm_message_models *pm_store_message_models(struct pm_store *store, struct pm_error *err) {
    struct pm_store_rows rows;
    struct pm_message_models *messages = NULL;
    const struct pm_models_row *row = find_models(store, PM_MODELS_OF_MESSAGES, &rows, err);
    if (row) {
        messages = pm_message_models_decode(row->data.data, row->data.n, err);
        if (!messages)
            pm_fail_in(err, "%s", store->path);
    }
    pm_rows_end(&rows);
    if (messages && check_runs(store, messages->models, err))
        return messages;
    pm_message_models_free(messages);
    return NULL;
}
