/* The declaration of a table is all that its rows need: what was put in comes back, goes with its
   run, and goes along when stores are merged, with the numbers of the store it comes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/store/private.h"
#include "tests/unit/store_example.h"

enum { N_ROWS = 3, ROW_BYTES = 512 };

/* Rows ascend by their numbers in all columns, but for doubles, by which one table descends. */
static void fill_field(const struct pm_column *column, char *field, uint64_t number,
                       bool is_nothing) {
    static const uint8_t bytes[] = {[PM_COLUMN_U8] = 1,  [PM_COLUMN_U16] = 2, [PM_COLUMN_U32] = 4,
                                    [PM_COLUMN_U64] = 8, [PM_COLUMN_I32] = 4, [PM_COLUMN_BOOL] = 1};
    uint64_t value = column->word ? number : number + 1;
    double real = 100.5 - (double)number;
    char *text = is_nothing ? NULL : pm_sprintf("text %u", (unsigned)number);
    struct pm_blob blob = {.data = pm_alloc(16, 1), .n = 16};
    memset(blob.data, (int)number + 1, blob.n);
    if (is_nothing && column->null == PM_NULL_IF_NONE)
        value = UINT64_MAX;
    else if (is_nothing && column->null == PM_NULL_IF_ZERO)
        value = 0;
    if (column->type == PM_COLUMN_TEXT)
        memcpy(field, &text, sizeof text);
    else
        free(text);
    if (column->type == PM_COLUMN_BLOB)
        memcpy(field, &blob, sizeof blob);
    else
        free(blob.data);
    if (column->type == PM_COLUMN_DOUBLE)
        memcpy(field, &real, sizeof real);
    else if (column->type == PM_COLUMN_BOOL)
        *field = number & 1;
    else if (column->type < PM_COLUMN_BOOL)
        memcpy(field, &value, bytes[column->type]);
}

static void fill_row(enum pm_table_id table, char *row, uint64_t number) {
    const struct pm_table *of = &pm_tables[table];
    assert_true(of->row_bytes <= ROW_BYTES);
    memset(row, 0, ROW_BYTES);
    for (size_t i = 0; i < of->n_columns; i++)
        fill_field(&of->columns[i], row + of->columns[i].offset, number,
                   number + 1 == N_ROWS && i >= of->n_key && !of->columns[i].word);
}

static void free_row(enum pm_table_id table, const char *row) {
    for (size_t i = 0; i < pm_tables[table].n_columns; i++) {
        const struct pm_column *column = &pm_tables[table].columns[i];
        struct pm_blob blob = {0};
        if (column->type == PM_COLUMN_BLOB && !column->packed)
            memcpy(&blob, row + column->offset, sizeof blob);
        free(blob.data);
    }
    pm_row_free(table, row);
}

static void assert_field(const struct pm_column *column, const char *expected, const char *there) {
    struct pm_blob a, b;
    char *text, *other;
    if (column->type == PM_COLUMN_BLOB) {
        memcpy(&a, expected + column->offset, sizeof a);
        memcpy(&b, there + column->offset, sizeof b);
        assert_int_equal(a.n, b.n);
        assert_memory_equal(a.data, b.data, a.n);
    } else if (column->type == PM_COLUMN_TEXT) {
        memcpy(&text, expected + column->offset, sizeof text);
        memcpy(&other, there + column->offset, sizeof other);
        assert_string_equal(text ? text : "none", other ? other : "none");
    } else if (column->type != PM_COLUMN_ORDINAL) {
        size_t n = column->type == PM_COLUMN_DOUBLE || column->type == PM_COLUMN_U64 ? 8
                   : column->type == PM_COLUMN_U32 || column->type == PM_COLUMN_I32  ? 4
                   : column->type == PM_COLUMN_U16                                   ? 2
                                                                                     : 1;
        assert_memory_equal(expected + column->offset, there + column->offset, n);
    }
}

/* As many as a run can have. */
static uint64_t n_rows_of(enum pm_table_id table) { return pm_tables[table].n_key ? N_ROWS : 1; }

static int64_t put_run(struct pm_store *store, double n) {
    struct pm_error err = {0};
    struct pm_parameters at = size_of(n);
    put(store, n);
    int64_t run = pm_store_find_run(store, &at, &err);
    assert_true(run > 0);
    assert_true(pm_store_remove_rows(store, PM_EDGES, PM_N_TABLES - 1, run, &err));
    return run;
}

static void put_all(struct pm_store *store, int64_t run) {
    struct pm_error err = {0};
    _Alignas(8) char row[ROW_BYTES];
    for (enum pm_table_id table = PM_EDGES; table < PM_N_TABLES; table++) {
        struct pm_store_rows rows = pm_rows_to(store, table, run, &err);
        for (uint64_t i = 0; i < n_rows_of(table); i++) {
            fill_row(table, row, i);
            assert_true(pm_rows_put(&rows, row));
            free_row(table, row);
        }
        assert_true(pm_rows_end(&rows));
    }
}

static double count(struct pm_store *store, enum pm_table_id table) {
    struct pm_error err = {0};
    char *sql = pm_sprintf("SELECT count(*) FROM %s", pm_tables[table].name);
    double n;
    assert_true(pm_store_number(store, sql, 0, &n, &err));
    free(sql);
    return n;
}

static void rows_of_all_tables_come_back_and_go_with_their_run(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    int64_t other = put_run(store, 8), run = put_run(store, 16);
    put_all(store, other);
    put_all(store, run);
    _Alignas(8) char expected[ROW_BYTES];
    for (enum pm_table_id table = PM_EDGES; table < PM_N_TABLES; table++) {
        struct pm_store_rows rows = pm_rows_of(store, table, run, &err);
        const char *row;
        uint64_t n = 0;
        for (; (row = pm_rows_next(&rows)); n++) {
            /* Those of which a word is the key come by the alphabet. */
            const struct pm_column *key = &pm_tables[table].columns[0];
            fill_row(table, expected, key->word ? (uint64_t)row[key->offset] : n);
            for (size_t i = 0; i < pm_tables[table].n_columns; i++)
                assert_field(&pm_tables[table].columns[i], expected, row);
            pm_row_free(table, row);
            free_row(table, expected);
        }
        assert_true(pm_rows_end(&rows));
        assert_int_equal(n, n_rows_of(table));
    }
    put(store, 16); /* in place of the one that is there */
    struct pm_parameters at = size_of(16);
    int64_t again = pm_store_find_run(store, &at, &err);
    assert_true(pm_store_remove_rows(store, PM_EDGES, PM_N_TABLES - 1, again, &err));
    for (enum pm_table_id table = PM_EDGES; table < PM_N_TABLES; table++)
        assert_true(count(store, table) == (double)n_rows_of(table));
    pm_store_close(store);
}

/* Paths and kinds by the numbers that rows name; in the order of FIRST return addresses. */
static void put_numbers(struct pm_store *store, uint64_t first, int64_t step) {
    struct pm_error err = {0};
    for (uint32_t i = 0; i < N_ROWS; i++) {
        const struct pm_call_path_row path = {
            .id = i + 1, .return_address = first + (uint64_t)(step * i), .scope = PM_NONE};
        const struct pm_interval_kind kind = {i + 1, i + 1, 0};
        assert_true(pm_store_put_rows(store, PM_CALL_PATHS, PM_ALL_RUNS, &path, 1, &err));
        assert_true(pm_store_put_rows(store, PM_INTERVAL_KINDS, PM_ALL_RUNS, &kind, 1, &err));
    }
}

static void say(void *context, const char *sentence) {
    (void)context;
    (void)sentence;
}

/* What N traffic rows of a run were called at, and where intervals begin, as a text. */
static char *places(struct pm_store *store, double n) {
    struct pm_error err = {0};
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "SELECT group_concat(t.socket || '@' || p.return_address, ' ') || ' ' ||"
        " (SELECT group_concat(i.first || '@' || b.return_address, ' ') FROM interval AS i"
        "  JOIN interval_kind AS k ON k.id = i.kind JOIN call_path AS b ON b.id = k.begin"
        "  WHERE i.run = r.id)"
        " FROM run AS r JOIN socket_traffic AS t ON t.run = r.id JOIN call_path AS p ON p.id = "
        "t.path"
        " WHERE r.parameters = ?",
        &err);
    struct pm_parameters at = size_of(n);
    sqlite3_bind_text(s, 1, pm_parameters_text(&at), -1, free);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    char *text = pm_store_column_text(s, 0);
    sqlite3_finalize(s);
    assert_non_null(text);
    return text;
}

static void rows_of_all_tables_are_merged_with_new_numbers(void **state) {
    (void)state;
    struct pm_error err = {0};
    /* What differs between builds must be of the structure, which such rows are not. */
    static const char no_builds[] = "DELETE FROM build_difference; DELETE FROM build_join";
    struct pm_store *store = open_new();
    put_numbers(store, 0x1000, 16);
    put_all(store, put_run(store, 8));
    pm_store_close(store);
    run_sql(no_builds);
    char *from = pm_strdup(path), *into;
    strcat(path, ".into"); /* which open_new makes */
    unlink(path);
    into = pm_strdup(path);
    store = open_new();
    put_numbers(store, 0x1020, -16); /* the same paths, numbered from the other end */
    put_all(store, put_run(store, 16));
    pm_store_close(store);
    run_sql(no_builds);
    (void)pm_store_merge(into, &from, 1, say, NULL, &err);
    assert_string_equal(err.text, "");
    store = pm_store_open(into, PM_STORE_READ, &err);
    assert_non_null(store);
    for (enum pm_table_id table = PM_EDGES; table < PM_N_TABLES; table++)
        assert_true(table == PM_DIFFERENCES || table == PM_JOINS ||
                    count(store, table) == 2 * (double)n_rows_of(table));
    assert_true(count(store, PM_CALL_PATHS) == N_ROWS && count(store, PM_INTERVAL_KINDS) == N_ROWS);
    char *mine = places(store, 16), *theirs = places(store, 8);
    assert_string_equal(mine, "1@4128 2@4112 3@4096 1@4128 2@4112 3@4096");
    assert_non_null(strstr(theirs, "1@4096"));
    assert_non_null(strstr(theirs, "2@4112"));
    assert_non_null(strstr(theirs, "3@4128"));
    free(mine);
    free(theirs);
    pm_store_close(store);
    unlink(from);
    unlink(into);
    free(from);
    free(into);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_of_all_tables_come_back_and_go_with_their_run, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rows_of_all_tables_are_merged_with_new_numbers, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("store_rows", tests, NULL, NULL);
}
