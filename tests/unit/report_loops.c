/* `pmodel loops`: routines with their loops, and what is missing is said. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "report/report.h"
#include "tests/unit/report_example.h"

static void add_group(struct pm_structure *structure) {
    struct pm_group *group = PM_PUSH(structure, groups);
    group->scope = SCOPE_I_VECTOR;
    group->object = pm_strdup("u");
    group->object_type = pm_strdup("double");
    group->flags = PM_GROUP_FROM_COMPILER | PM_GROUP_IRREGULAR;
    group->n_loads = 6;
    group->n_stores = 1;
    group->bytes_min = 8;
    group->bytes_max = 32;
    group->n_strides = 4;
    group->strides = pm_alloc(4, sizeof *group->strides);
    group->strides[0] = (struct pm_stride){.kind = PM_STRIDE_CONSTANT, .bytes = -8};
    group->strides[1] =
        (struct pm_stride){.kind = PM_STRIDE_SYMBOLIC, .expression = pm_strdup("8*n")};
    group->strides[2].kind = PM_STRIDE_INDIRECT;
}

static int set_up(void **state) {
    struct pm_structure *structure = example_structure();
    struct pm_routine *step = &structure->routines[ROUTINE_STEP];
    step->n_counters = 5;
    step->n_counters_formula = 4;
    step->n_blocks = 2;
    step->n_edges = 4;
    for (int i = 0; i < 4; i++)
        PM_PUSH(structure, edges)->routine = ROUTINE_STEP;
    for (int i = 0; i < 2; i++) {
        struct pm_block *block = PM_PUSH(structure, blocks);
        block->routine = ROUTINE_STEP;
        block->scope = i ? SCOPE_I_VECTOR : SCOPE_STEP;
        block->n_references = 3;
    }
    structure->routines[ROUTINE_NEVER].state = PM_ROUTINE_PARTIAL;
    structure->routines[ROUTINE_NEVER].reason = pm_strdup("unresolved jump at 0x401290");
    add_group(structure);
    *state = structure;
    return 0;
}

static int tear_down(void **state) {
    pm_structure_free(*state);
    return 0;
}

static char *report(const struct pm_structure *structure, enum pm_report_format format,
                    const char *routine) {
    static const struct pm_lift_statistics statistics = {.n_instructions = 500,
                                                         .n_unknown_instructions = 2,
                                                         .n_indirect_jumps = 3,
                                                         .n_resolved_jumps = 2};
    char *text;
    CAPTURE(text, out,
            pm_report_loops(out, structure, &statistics, true, routine,
                            &(struct pm_report_options){.format = format}));
    return text;
}

static void the_table_is_as_agreed(void **state) {
    static const char expected[] =
        "heat (x86-64)\n"
        "  routines: 2 lifted, 1 partial, 1 refused; loops: 6\n"
        "  text: 2000 bytes, 95% covered by lifted routines\n"
        "  instructions: 500, of these 2 without a generic class; indirect jumps: 2 of 3 "
        "resolved\n"
        "  compiler metadata (.pmodel): 3 of 4 routines\n"
        "\n"
        " ROUTINE / LOOP              SOURCE     BLOCKS  EDGES  FORMULA  COUNTERS  TRIPS    "
        "REMARKS\n"
        " main                        heat.c:50       0      0        0         0\n"
        "   norm inlined in main      heat.c:15       0\n"
        "     norm/1 :18              heat.c:18       0                            n*n - 1\n"
        " step                        heat.c:25       2      4        4         5\n"
        "   step/1 k                  heat.c:28       0                            ?\n"
        "     step/2 j                heat.c:29       0                            ?\n"
        "       step/3 i (vector)     heat.c:31       1                            ?        "
        "vector body\n"
        "         group 0: u (double), loads 6, stores 1, 8 to 32 bytes each; strides: -8, 8*n, "
        "indirect, ? [irregular]\n"
        "       step/3 i (remainder)  heat.c:31       0                            ?        "
        "remainder, reported with step/3 i (vector)\n"
        " broken                      ?               0      ?        ?         ?           "
        "refused: byte 0x06 at 0x401203 is no instruction\n"
        " never                       ?               0      0        0         0           "
        "partial: unresolved jump at 0x401290\n"
        "   never/1 0x401300          ?               0                            ?\n"
        "total: 2 basic blocks, 4 edges, 5 counters (formula E - V + 2: 4), 6 references in 1 "
        "groups\n";
    char *text = report(*state, PM_REPORT_TABLE, NULL);
    assert_string_equal(text, expected);
    free(text);
}

static void one_routine_alone(void **state) {
    char *text = report(*state, PM_REPORT_TABLE, "step");
    assert_non_null(strstr(text, "step/3 i (vector)"));
    assert_null(strstr(text, "norm"));
    assert_non_null(strstr(text, "routines: 1 lifted, 0 partial, 0 refused; loops: 4"));
    free(text);
    text = report(*state, PM_REPORT_TABLE, "stop");
    assert_non_null(strstr(text, "no routine is called stop"));
    free(text);
}

static void missing_metadata_and_lines_are_said(void **state) {
    struct pm_structure *structure = *state;
    structure->modules[0].has_metadata = structure->modules[0].has_lines = false;
    char *text = report(structure, PM_REPORT_TABLE, NULL);
    assert_non_null(strstr(text, "no compiler metadata (.pmodel): names of objects"));
    assert_non_null(strstr(text, "no debug information (DWARF)"));
    free(text);
}

static void a_structure_from_a_store_has_no_statistics(void **state) {
    char *table, *json;
    CAPTURE(table, out,
            pm_report_loops(out, *state, NULL, false, NULL, &(struct pm_report_options){0}));
    assert_null(strstr(table, "indirect jumps"));
    assert_null(strstr(table, "group 0"));
    free(table);
    CAPTURE(json, out,
            pm_report_loops(out, *state, NULL, false, NULL,
                            &(struct pm_report_options){.format = PM_REPORT_JSON}));
    json_t *document = json_loads(json, 0, NULL);
    assert_true(json_is_null(json_object_get(document, "statistics")));
    json_decref(document);
    free(json);
}

static void json_has_every_scope_and_group(void **state) {
    char *text = report(*state, PM_REPORT_JSON, NULL);
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    const json_t *scopes = json_object_get(document, "scopes");
    assert_int_equal(json_array_size(scopes), 11);
    const json_t *loop = json_array_get(scopes, 6);
    assert_string_equal(json_string_value(json_object_get(loop, "label")), "step/3 i (vector)");
    assert_true(json_is_null(json_object_get(loop, "trip_count")));
    const json_t *group = json_array_get(json_object_get(loop, "groups"), 0);
    const json_t *strides = json_object_get(group, "strides_innermost_first");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(strides, 0), "bytes")), -8);
    assert_string_equal(json_string_value(json_object_get(json_array_get(strides, 3), "kind")),
                        "unknown");
    const json_t *broken = json_array_get(scopes, 8);
    assert_string_equal(json_string_value(json_object_get(broken, "state")), "refused");
    assert_true(json_is_null(json_object_get(broken, "counters")));
    json_decref(document);
    free(text);
}

static void csv_has_equal_records(void **state) {
    char *text = report(*state, PM_REPORT_CSV, NULL), *rest = text;
    int n_records = 0, n_fields_of_header = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line; n_records++) {
        int n_fields = 1;
        bool inside_quotes = false;
        for (const char *at = line; *at; at++) {
            inside_quotes ^= *at == '"';
            n_fields += *at == ',' && !inside_quotes;
        }
        assert_int_equal(line[strlen(line) - 1], '\r');
        if (n_records == 0)
            n_fields_of_header = n_fields;
        assert_int_equal(n_fields, n_fields_of_header);
    }
    assert_int_equal(n_records, 1 + 11 + 1);
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_table_is_as_agreed),
        TEST(one_routine_alone),
        TEST(missing_metadata_and_lines_are_said),
        TEST(a_structure_from_a_store_has_no_statistics),
        TEST(json_has_every_scope_and_group),
        TEST(csv_has_equal_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
