/* Fields that are declared once come out of all three writers, and tables fit a terminal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/writers/writers.h"

struct row {
    const char *name;
    double seconds;
    uint32_t line, index;
    bool is_least, hidden;
};

static bool is_shown(const void *row) { return !((const struct row *)row)->hidden; }

PM_GETTER(double_line, struct row, pm_integer(2 * row->line))
PM_GETTER(name_cell, struct row, pm_owned_text(pm_sprintf("<%s>", row->name)))

#define ROW(member_) PM_MEMBER(struct row, member_)

static const struct pm_field fields[] = {
    {"name", PM_NAME, ROW(name), .header = "NAME", .cell = name_cell},
    {"seconds", PM_SECONDS, ROW(seconds), .header = "TIME", PM_MARKED(">", struct row, is_least)},
    {"line", PM_POSITIVE, ROW(line), .header = "LINE", .dispensable = 2},
    {"index", PM_INDEX, ROW(index), .json_when = is_shown},
    {"double_line", PM_INTEGER, .get = double_line, .csv_name = "twice", .header = "TWICE",
     .dispensable = 1},
    {"is_least", PM_YES_NO, ROW(is_least), .not_in_json = true},
};

static const struct row rows[] = {
    {"one", 0.5, 7, 3, true, false},
    {"a, b", NAN, 0, UINT32_MAX, false, true},
};

enum { ROOM = 2000 };

static void expect_table(const char *names, const struct pm_report_options *options,
                         const char *expected) {
    char text[ROOM] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    struct pm_fields columns = pm_fields_named(PM_FIELDS(fields), names);
    pm_fields_table(out, columns, rows, 2, sizeof *rows, options);
    fclose(out);
    free(columns.fields);
    assert_string_equal(text, expected);
}

static void a_table_has_the_columns_that_are_named(void **state) {
    (void)state;
    expect_table("seconds name double_line line", &(struct pm_report_options){0},
                 "    TIME  NAME    TWICE  LINE\n"
                 " >500 ms  <one>      14     7\n"
                 "       ?  <a, b>      0     ?\n");
}

static void the_most_dispensable_columns_go_first(void **state) {
    (void)state;
    expect_table("seconds name double_line line", &(struct pm_report_options){.width = 28},
                 "    TIME  NAME    TWICE\n"
                 " >500 ms  <one>      14\n"
                 "       ?  <a, b>      0\n"
                 " no room for LINE: --wide\n"
                 "   has all columns\n");
    expect_table("seconds name double_line line", &(struct pm_report_options){.width = 10},
                 "    TIME  NAME\n"
                 " >500 ms  <one>\n"
                 "       ?  <a, b>\n"
                 " no room\n"
                 "   for\n"
                 "   TWICE,\n"
                 "   LINE:\n"
                 "   --wide\n"
                 "   has all\n"
                 "   columns\n");
}

static void a_wide_table_has_them_all(void **state) {
    (void)state;
    expect_table("name line double_line", &(struct pm_report_options){.width = 10, .wide = true},
                 " NAME    LINE  TWICE\n"
                 " <one>      7     14\n"
                 " <a, b>     ?      0\n");
}

static void csv_has_the_named_fields_in_their_order(void **state) {
    char text[ROOM] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    (void)state;
    pm_fields_csv(out, PM_FIELDS(fields), "double_line name seconds line index is_least", rows, 2,
                  sizeof *rows);
    fclose(out);
    assert_string_equal(text, "twice,name,seconds,line,index,is_least\r\n"
                              "14,one,0.5,7,3,1\r\n"
                              "0,\"a, b\",,,,0\r\n");
}

static void json_has_all_that_are_of_the_row(void **state) {
    (void)state;
    json_t *array = pm_fields_array(PM_FIELDS(fields), rows, 2, sizeof *rows);
    char *text = json_dumps(array, JSON_COMPACT);
    assert_string_equal(text,
                        "[{\"name\":\"one\",\"seconds\":0.5,\"line\":7,\"index\":3,"
                        "\"double_line\":14},"
                        "{\"name\":\"a, b\",\"seconds\":null,\"line\":null,\"double_line\":0}]");
    free(text);
    json_decref(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_the_columns_that_are_named),
        cmocka_unit_test(the_most_dispensable_columns_go_first),
        cmocka_unit_test(a_wide_table_has_them_all),
        cmocka_unit_test(csv_has_the_named_fields_in_their_order),
        cmocka_unit_test(json_has_all_that_are_of_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
