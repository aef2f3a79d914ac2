/* Statements from declarations; see rows.h. */
#include "core/store/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/store/private.h"

/* ---- statements ------------------------------------------------------------------------------ */

static const char *sql_type(const struct pm_column *column) {
    return column->word || column->type == PM_COLUMN_TEXT ? "TEXT"
           : column->type == PM_COLUMN_BLOB               ? "BLOB"
           : column->type == PM_COLUMN_DOUBLE             ? "REAL"
                                                          : "INTEGER";
}

/* "a, b": the first N columns, after the run. */
static void append_columns(char **sql, const struct pm_table *table, size_t n) {
    for (size_t i = 0; i < n; i++)
        pm_append(sql, "%s%s", i ? ", " : "", table->columns[i].name);
}

static void append_key(char **sql, const struct pm_table *table) {
    if (!table->of_store)
        pm_append(sql, "run%s", table->n_key ? ", " : "");
    append_columns(sql, table, table->n_key);
}

/* Rows with a key of one number, which are few and large, are kept by that number. */
static char *create_sql(const struct pm_table *table) {
    char *sql = pm_sprintf("CREATE TABLE %s (", table->name);
    if (!table->of_store)
        pm_append(&sql, "run INTEGER%s REFERENCES run (id) ON DELETE CASCADE, ",
                  table->n_key ? " NOT NULL" : "");
    for (size_t i = 0; i < table->n_columns; i++)
        pm_append(&sql, "%s %s, ", table->columns[i].name, sql_type(&table->columns[i]));
    if (table->unique)
        pm_append(&sql, "UNIQUE (%s), ", table->unique);
    pm_append(&sql, "PRIMARY KEY (");
    append_key(&sql, table);
    pm_append(&sql, "))%s", !table->of_store + table->n_key > 1 ? " WITHOUT ROWID;" : ";");
    return sql;
}

static char *select_sql(const struct pm_table *table, int64_t run, const char *where) {
    char *sql = pm_strdup("SELECT ");
    append_columns(&sql, table, table->n_columns);
    pm_append(&sql, " FROM %s", table->name);
    if (run != PM_ALL_RUNS)
        pm_append(&sql, " WHERE run = ?1");
    if (where)
        pm_append(&sql, " %s %s", run != PM_ALL_RUNS ? "AND" : "WHERE", where);
    pm_append(&sql, " ORDER BY ");
    if (table->order)
        pm_append(&sql, "%s", table->order);
    else
        append_key(&sql, table);
    return sql;
}

static char *insert_sql(const struct pm_table *table) {
    char *sql = pm_sprintf("INSERT%s INTO %s (%s", table->replaces ? " OR REPLACE" : "",
                           table->name, table->of_store ? "" : "run, ");
    append_columns(&sql, table, table->n_columns);
    pm_append(&sql, ") VALUES (?");
    for (size_t i = table->of_store; i < table->n_columns; i++)
        pm_append(&sql, ",?");
    pm_append(&sql, ")");
    return sql;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static size_t field_bytes(enum pm_column_type type) {
    static const uint8_t bytes[] = {[PM_COLUMN_U8] = 1,  [PM_COLUMN_U16] = 2, [PM_COLUMN_U32] = 4,
                                    [PM_COLUMN_U64] = 8, [PM_COLUMN_I32] = 4, [PM_COLUMN_BOOL] = 1};
    return bytes[type];
}

static uint64_t most_of(enum pm_column_type type) {
    return type == PM_COLUMN_BOOL ? 1 : UINT64_MAX >> (64 - 8 * field_bytes(type));
}

static void bind_number(sqlite3_stmt *s, int at, const struct pm_column *column,
                        const void *field) {
    uint64_t number = 0;
    int32_t with_sign;
    memcpy(&number, field, field_bytes(column->type));
    if (column->word) {
        sqlite3_bind_text(s, at, column->word((uint32_t)number), -1, SQLITE_STATIC);
    } else if (column->type == PM_COLUMN_I32) {
        memcpy(&with_sign, field, sizeof with_sign);
        sqlite3_bind_int64(s, at, with_sign);
    } else if ((column->null == PM_NULL_IF_NONE && number == most_of(column->type)) ||
               (column->null == PM_NULL_IF_ZERO && number == 0)) {
        sqlite3_bind_null(s, at);
    } else {
        sqlite3_bind_int64(s, at, (int64_t)number);
    }
}

static void bind_blob(struct pm_store_rows *rows, int at, const struct pm_column *column,
                      const struct pm_blob *blob) {
    if (!column->packed) {
        sqlite3_bind_blob64(rows->statement, at, blob->data, blob->n, SQLITE_STATIC);
        return;
    }
    size_t room = ZSTD_compressBound(blob->n);
    void *packed = pm_alloc(room, 1);
    size_t n = pm_pack(rows->store->packing, packed, room, blob->data, blob->n);
    sqlite3_bind_blob64(rows->statement, at, packed, n, free);
}

static void bind_field(struct pm_store_rows *rows, int at, const struct pm_column *column,
                       const void *field) {
    double real;
    char *text;
    switch (column->type) {
    case PM_COLUMN_DOUBLE:
        memcpy(&real, field, sizeof real);
        sqlite3_bind_double(rows->statement, at, real); /* NAN becomes NULL */
        break;
    case PM_COLUMN_TEXT:
        memcpy(&text, field, sizeof text);
        sqlite3_bind_text(rows->statement, at, text, -1, SQLITE_STATIC);
        break;
    case PM_COLUMN_BLOB:
        bind_blob(rows, at, column, field);
        break;
    case PM_COLUMN_ORDINAL:
        sqlite3_bind_int64(rows->statement, at, (int64_t)rows->n);
        break;
    default:
        bind_number(rows->statement, at, column, field);
    }
}

/* The number whose word the text is; where there may be none and is none, the first without one. */
static bool find_word(const struct pm_column *column, const char *text, uint64_t *number) {
    uint32_t at = 0;
    const char *word;
    while ((word = column->word(at)) && (!text || sqlite3_stricmp(text, word) != 0))
        at++;
    *number = at;
    return word || (!text && column->null);
}

static bool read_number(sqlite3_stmt *s, int at, const struct pm_column *column, void *field) {
    bool is_null = sqlite3_column_type(s, at) == SQLITE_NULL;
    int64_t there = sqlite3_column_int64(s, at);
    uint64_t number = (uint64_t)there;
    bool ok = true;
    if (column->word)
        ok = find_word(column, (const char *)sqlite3_column_text(s, at), &number);
    else if (is_null && column->null == PM_NULL_IF_NONE)
        number = most_of(column->type);
    else if (column->type == PM_COLUMN_I32)
        ok = there >= INT32_MIN && there <= INT32_MAX;
    else
        ok = number <= most_of(column->type);
    memcpy(field, &number, field_bytes(column->type));
    return ok;
}

static bool read_blob(struct pm_store_rows *rows, int at, const struct pm_column *column,
                      struct pm_blob *blob) {
    const void *bytes = sqlite3_column_blob(rows->statement, at);
    size_t n = (size_t)sqlite3_column_bytes(rows->statement, at);
    if (column->packed)
        blob->data = pm_unpack_with(rows->store->packing, bytes, n, &blob->n);
    else
        *blob = (struct pm_blob){(void *)bytes, n};
    return blob->data || !column->packed;
}

static bool read_field(struct pm_store_rows *rows, int at, const struct pm_column *column,
                       void *field) {
    double real;
    char *text;
    switch (column->type) {
    case PM_COLUMN_DOUBLE:
        real = column->null && sqlite3_column_type(rows->statement, at) == SQLITE_NULL
                   ? NAN
                   : sqlite3_column_double(rows->statement, at);
        memcpy(field, &real, sizeof real);
        return true;
    case PM_COLUMN_TEXT:
        text = pm_store_column_text(rows->statement, at);
        memcpy(field, &text, sizeof text);
        return true;
    case PM_COLUMN_BLOB:
        return read_blob(rows, at, column, field);
    case PM_COLUMN_ORDINAL:
        return rows->run == PM_ALL_RUNS || rows->table->order ||
               sqlite3_column_int64(rows->statement, at) == (int64_t)rows->n;
    default:
        return read_number(rows->statement, at, column, field);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct pm_store_rows open_rows(struct pm_store *store, enum pm_table_id table, int64_t run,
                                      char *sql, struct pm_error *err) {
    struct pm_store_rows rows = {
        .store = store, .table = &pm_tables[table], .run = run, .err = err, .ok = true};
    rows.statement = pm_store_prepare(store, sql, err);
    rows.ok = rows.statement != NULL;
    free(sql);
    return rows;
}

struct pm_store_rows pm_rows_where(struct pm_store *store, enum pm_table_id table, int64_t run,
                                   const char *where, int64_t value, struct pm_error *err) {
    struct pm_store_rows rows =
        open_rows(store, table, run, select_sql(&pm_tables[table], run, where), err);
    rows.row = pm_alloc(1, rows.table->row_bytes);
    if (rows.ok && run != PM_ALL_RUNS)
        sqlite3_bind_int64(rows.statement, 1, run);
    if (rows.ok && where)
        sqlite3_bind_int64(rows.statement, 2, value);
    return rows;
}

struct pm_store_rows pm_rows_of(struct pm_store *store, enum pm_table_id table, int64_t run,
                                struct pm_error *err) {
    return pm_rows_where(store, table, run, NULL, 0, err);
}

bool pm_rows_damaged(struct pm_store_rows *rows) {
    const struct pm_table *table = rows->table;
    rows->ok = false;
    if (table == &pm_tables[PM_MODELS])
        return pm_fail(rows->err, "%s: %s are damaged: run `pmodel fit` again", rows->store->path,
                       table->what);
    if (rows->run == PM_ALL_RUNS)
        return pm_fail(rows->err, "%s: %s are damaged: measure again into a new store",
                       rows->store->path, table->what);
    return pm_fail(rows->err, "%s: %s of run %lld are damaged: run that size again",
                   rows->store->path, table->what, (long long)rows->run);
}

const void *pm_rows_next(struct pm_store_rows *rows) {
    const struct pm_table *table = rows->table;
    if (!pm_store_next_row(rows->store, rows->statement, &rows->ok, rows->err))
        return NULL;
    memset(rows->row, 0, table->row_bytes);
    bool ok = true;
    for (size_t i = 0; i < table->n_columns && ok; i++)
        ok = read_field(rows, (int)i, &table->columns[i],
                        (char *)rows->row + table->columns[i].offset);
    rows->n++;
    if (ok)
        return rows->row;
    pm_row_free((enum pm_table_id)(table - pm_tables), rows->row);
    pm_rows_damaged(rows);
    return NULL;
}

bool pm_rows_end(struct pm_store_rows *rows) {
    sqlite3_finalize(rows->statement);
    free(rows->row);
    return rows->ok;
}

void pm_row_free(enum pm_table_id table, const void *row) {
    for (size_t i = 0; i < pm_tables[table].n_columns; i++) {
        const struct pm_column *column = &pm_tables[table].columns[i];
        void *owned = NULL; /* a text, or the first field of a blob */
        if (column->type == PM_COLUMN_TEXT || column->packed)
            memcpy(&owned, (const char *)row + column->offset, sizeof owned);
        free(owned);
    }
}

bool pm_store_read_row(struct pm_store *store, enum pm_table_id table, int64_t run, void *row,
                       bool *found, struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, table, run, err);
    const void *there = pm_rows_next(&rows);
    *found = there != NULL;
    if (there)
        memcpy(row, there, rows.table->row_bytes);
    for (size_t i = 0; there && i < rows.table->n_columns; i++) {
        const struct pm_column *column = &rows.table->columns[i];
        if (column->type == PM_COLUMN_BLOB && !column->packed)
            memset((char *)row + column->offset, 0, sizeof(struct pm_blob));
    }
    return pm_rows_end(&rows);
}

bool pm_store_has_rows(struct pm_store *store, enum pm_table_id table, int64_t run,
                       const char *where, int64_t value, bool *found, struct pm_error *err) {
    char *sql = pm_sprintf("SELECT 1 FROM %s WHERE run = ?1 AND %s LIMIT 1", pm_tables[table].name,
                           where ? where : "1");
    struct pm_store_rows rows = open_rows(store, table, run, sql, err);
    if (rows.ok)
        sqlite3_bind_int64(rows.statement, 1, run);
    if (rows.ok && where)
        sqlite3_bind_int64(rows.statement, 2, value);
    *found = pm_store_next_row(store, rows.statement, &rows.ok, err);
    return pm_rows_end(&rows);
}

/* ---- writing --------------------------------------------------------------------------------- */

struct pm_store_rows pm_rows_to(struct pm_store *store, enum pm_table_id table, int64_t run,
                                struct pm_error *err) {
    return open_rows(store, table, run, insert_sql(&pm_tables[table]), err);
}

bool pm_rows_put(struct pm_store_rows *rows, const void *row) {
    const struct pm_table *table = rows->table;
    int at = 1;
    if (!rows->ok)
        return false;
    if (!table->of_store)
        sqlite3_bind_int64(rows->statement, at++, rows->run);
    for (size_t i = 0; i < table->n_columns; i++)
        bind_field(rows, at++, &table->columns[i], (const char *)row + table->columns[i].offset);
    rows->n++;
    return rows->ok = pm_store_step(rows->store, rows->statement, rows->err);
}

bool pm_store_put_rows(struct pm_store *store, enum pm_table_id table, int64_t run,
                       const void *rows, size_t n, struct pm_error *err) {
    struct pm_store_rows to = pm_rows_to(store, table, run, err);
    for (size_t i = 0; i < n && to.ok; i++)
        pm_rows_put(&to, (const char *)rows + i * to.table->row_bytes);
    return pm_rows_end(&to);
}

/* ---- tables as a whole ----------------------------------------------------------------------- */

bool pm_store_make_tables(struct pm_store *store, struct pm_error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < PM_N_TABLES; i++) {
        char *sql = create_sql(&pm_tables[i]);
        ok = pm_store_run_sql(store, sql, err);
        free(sql);
    }
    return ok;
}

bool pm_store_remove_rows(struct pm_store *store, enum pm_table_id first, enum pm_table_id last,
                          int64_t run, struct pm_error *err) {
    bool ok = true;
    for (size_t i = first; ok && i <= last; i++) {
        char *sql =
            pm_sprintf("DELETE FROM %s WHERE run = %lld", pm_tables[i].name, (long long)run);
        ok = pm_store_run_sql(store, sql, err);
        free(sql);
    }
    return ok;
}

/* The number that stands in COLUMN, as it is here. */
static void append_renumbered(char **sql, enum pm_table_id of, const char *column) {
    pm_append(sql, "(SELECT new FROM temp.renumbered WHERE of = %d AND old = t.%s)", (int)of,
              column);
}

bool pm_store_copy_rows(struct pm_store *store, enum pm_table_id id, struct pm_error *err) {
    const struct pm_table *table = &pm_tables[id];
    char *sql = pm_sprintf("INSERT INTO main.%s (%s", table->name, table->of_store ? "" : "run, ");
    append_columns(&sql, table, table->n_columns);
    pm_append(&sql, ") SELECT %s", table->of_store ? "" : "m.new, ");
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct pm_column *column = &table->columns[i];
        pm_append(&sql, "%s", i ? ", " : "");
        if (id == PM_RUNS && i == 0)
            pm_append(&sql, "m.new");
        else if (column->refers)
            append_renumbered(&sql, column->refers, column->name);
        else
            pm_append(&sql, "t.%s", column->name);
    }
    pm_append(&sql, " FROM temp.renumbered AS m JOIN other.%s AS t ON t.%s = m.old WHERE m.of = %d",
              table->name, table->of_store ? "id" : "run", (int)PM_RUNS);
    bool ok = pm_store_run_sql(store, sql, err);
    free(sql);
    return ok;
}
