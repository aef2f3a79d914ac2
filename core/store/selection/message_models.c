/* The profile store: models of messages (core/messages/messages.h), kept under what is selected as
   models of counts are; one by one, by formula, for other tools. */
#include <stdlib.h>
#include <time.h>

#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS message_models (selection TEXT PRIMARY KEY, made REAL, data BLOB);"
    "CREATE TABLE IF NOT EXISTS message_model (selection TEXT, number INTEGER, path INTEGER,"
    " operation TEXT, quantity TEXT, formula TEXT, relative_error REAL,"
    " PRIMARY KEY (selection, number)) WITHOUT ROWID;";

static bool remove_old(struct pm_store *store, const char *selection, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, "DELETE FROM message_model WHERE selection = ?", err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, selection, -1, SQLITE_STATIC);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_set(struct pm_store *store, const char *selection,
                    const struct pm_message_models *messages, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT OR REPLACE INTO message_models (selection, made, data) VALUES (?,?,?)", err);
    if (!s)
        return false;
    void *bytes;
    size_t n_bytes;
    pm_model_set_encode(messages->models, &bytes, &n_bytes);
    sqlite3_bind_text(s, 1, selection, -1, SQLITE_STATIC);
    sqlite3_bind_double(s, 2, (double)time(NULL));
    sqlite3_bind_blob64(s, 3, bytes, n_bytes, free);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_items(struct pm_store *store, const char *selection,
                      const struct pm_message_models *messages, struct pm_error *err) {
    const struct pm_model_set *models = messages->models;
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT INTO message_model (selection, number, path,"
                                       " operation, quantity, formula, relative_error)"
                                       " VALUES (?,?,?,?,?,?,?)",
                                       err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < messages->n_items * PM_N_MESSAGE_QUANTITIES; i++) {
        const struct pm_message_item *item = &messages->items[i / PM_N_MESSAGE_QUANTITIES];
        enum pm_message_quantity quantity = i % PM_N_MESSAGE_QUANTITIES;
        sqlite3_bind_text(s, 1, selection, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        sqlite3_bind_int64(s, 3, item->path);
        sqlite3_bind_text(s, 4, pm_operation_name(item->operation), -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 5, pm_message_quantity_word(quantity), -1, SQLITE_STATIC);
        if (item->unknown[quantity])
            sqlite3_bind_null(s, 6);
        else
            sqlite3_bind_text(s, 6, pm_model_text(models->basis, &models->edges[i]), -1, free);
        sqlite3_bind_double(s, 7, models->edges[i].relative_error);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_message_models(struct pm_store *store, const struct pm_message_models *messages,
                                 struct pm_error *err) {
    char *selection = pm_store_selection_text(store, err);
    if (!selection)
        return false;
    bool ok = pm_store_begin(store, err);
    if (ok)
        ok = pm_store_end(store,
                          pm_store_run_sql(store, schema, err) &&
                              remove_old(store, selection, err) &&
                              put_set(store, selection, messages, err) &&
                              put_items(store, selection, messages, err),
                          err);
    free(selection);
    return ok;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_item(struct pm_store *store, sqlite3_stmt *s, struct pm_message_models *messages,
                      size_t number, struct pm_error *err) {
    const char *operation = (const char *)sqlite3_column_text(s, 2);
    uint16_t code = operation ? pm_operation_of_name(operation) : PM_N_OPERATIONS;
    size_t quantity = number % PM_N_MESSAGE_QUANTITIES;
    if (sqlite3_column_int64(s, 0) != (int64_t)number || code == PM_N_OPERATIONS)
        return pm_fail(err, "%s: its models of messages are damaged: call `pmodel fit` again",
                       store->path);
    struct pm_message_item *item =
        quantity == 0 ? PM_PUSH(messages, items) : &messages->items[messages->n_items - 1];
    item->path = (uint32_t)sqlite3_column_int64(s, 1);
    item->operation = code;
    item->unknown[quantity] = sqlite3_column_type(s, 3) == SQLITE_NULL;
    return true;
}

static bool read_items(struct pm_store *store, const char *selection,
                       struct pm_message_models *messages, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT number, path, operation, formula FROM message_model"
                                       " WHERE selection = ? ORDER BY number",
                                       err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, selection, -1, SQLITE_STATIC);
    bool ok = true;
    size_t n = 0;
    while (pm_store_next_row(store, s, &ok, err))
        ok = read_item(store, s, messages, n++, err);
    sqlite3_finalize(s);
    return ok && (n == messages->models->n_edges ||
                  pm_fail(err, "%s: its models of messages are damaged: call `pmodel fit` again",
                          store->path));
}

struct pm_message_models *pm_store_message_models(struct pm_store *store, struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "message_models", &has, err) || !has)
        return NULL;
    char *selection = pm_store_selection_text(store, err);
    sqlite3_stmt *s =
        selection
            ? pm_store_prepare(store, "SELECT data FROM message_models WHERE selection = ?", err)
            : NULL;
    struct pm_message_models *messages = pm_alloc(1, sizeof *messages);
    bool ok = s != NULL;
    if (s)
        sqlite3_bind_text(s, 1, selection, -1, SQLITE_STATIC);
    if (s && pm_store_next_row(store, s, &ok, err))
        messages->models =
            pm_model_set_decode(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0), err);
    sqlite3_finalize(s);
    ok = ok && messages->models && pm_store_check_runs(store, messages->models, err) &&
         read_items(store, selection, messages, err);
    free(selection);
    if (ok)
        return messages;
    pm_message_models_free(messages);
    return NULL;
}

bool pm_store_forget_models(struct pm_store *store, struct pm_error *err) {
    static const char *const tables[] = {"selected_models", "message_models", "message_model"};
    char *selection = pm_store_selection_text(store, err);
    bool ok = selection != NULL;
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++) {
        bool has;
        ok = pm_store_has_table(store, tables[i], &has, err);
        char *sql = ok && has ? pm_sprintf("DELETE FROM %s WHERE selection = ?", tables[i]) : NULL;
        sqlite3_stmt *s = sql ? pm_store_prepare(store, sql, err) : NULL;
        if (sql) {
            sqlite3_bind_text(s, 1, selection, -1, SQLITE_STATIC);
            ok = s && pm_store_step(store, s, err);
            sqlite3_finalize(s);
        }
        free(sql);
    }
    free(selection);
    return ok;
}
