/* `pmodel report`: rows add up to the whole, and all formats say the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "report/labels/labels.h"
#include "report/report.h"
#include "report/predictions/predictions.h"
#include "report/predictions/rows.h"
#include "report/writers/writers.h"
#include "tests/unit/report_example.h"

struct example {
    struct pm_structure *structure;
    struct pm_prediction *prediction;
    struct pm_times *times; /* NULL: not measured */
};

static int set_up(void **state) {
    struct example *example = pm_alloc(1, sizeof *example);
    example->structure = example_structure();
    example->prediction = example_prediction(example->structure);
    *state = example;
    return 0;
}

static int tear_down(void **state) {
    struct example *example = *state;
    pm_prediction_free(example->prediction);
    pm_times_free(example->times);
    pm_structure_free(example->structure);
    free(example);
    return 0;
}

static char *report(const struct example *example, const struct pm_report_options *options) {
    const struct pm_sized_prediction prediction = {example->prediction, example->times, NULL};
    const struct pm_predictions_report report = {example->structure, &prediction, 1, 1};
    struct pm_error err = {0};
    char *text;
    CAPTURE(text, out, assert_true(pm_report_predictions(out, &report, options, &err)));
    return text;
}

static char *report_as(const struct example *example, enum pm_report_format format) {
    return report(example, &(struct pm_report_options){.format = format});
}

static const struct pm_row *row_of(const struct pm_rows *rows, uint32_t scope) {
    return &rows->rows[rows->row_of_scope[scope]];
}

/* ---- rows ----------------------------------------------------------------------------------- */

static double cost_at(const struct pm_cost_sum *cost, size_t i) {
    double value;
    memcpy(&value, (const char *)cost + pm_cost_fields[i].offset, sizeof value);
    return value;
}

static void rows_add_up_to_the_whole(void **state) {
    struct example *example = *state;
    struct pm_rows *rows =
        pm_rows_new(example->structure, example->prediction, example->times, NULL);
    const struct pm_cost_sum *whole = &example->prediction->scopes[0].total;
    struct pm_cost_sum sum = {0};
    double seconds = 0, share = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        if (!rows->rows[i].counted)
            continue;
        pm_cost_sum_add(&sum, &rows->rows[i].self);
        seconds += rows->rows[i].seconds;
        share += rows->rows[i].share;
    }
    assert_near(share, 1, 1e-12);
    assert_near(seconds, example->prediction->seconds, 1e-12);
    for (size_t i = 0; i < pm_n_cost_fields; i++)
        assert_near(cost_at(&sum, i), cost_at(whole, i), 1e-3);
    for (size_t level = 0; level < PM_MAX_LEVELS; level++)
        assert_near(sum.level_misses[level], whole->level_misses[level], 1e-3);
    assert_true(rows->unattributed_seconds == 0);
    pm_rows_free(rows);
}

static void folded_loops_and_inlined_code_are_one_row(void **state) {
    struct example *example = *state;
    struct pm_rows *rows =
        pm_rows_new(example->structure, example->prediction, example->times, NULL);
    const struct pm_row *row = row_of(rows, SCOPE_I_VECTOR);
    assert_ptr_equal(row, row_of(rows, SCOPE_I_REMAINDER));
    assert_ptr_equal(row, row_of(rows, SCOPE_SQUARE));
    assert_int_equal(row->n_members, 3);
    assert_string_equal(row->label, "step/3 i");
    assert_near(row->self.cycles, 9e7, 0);
    /* The inlined code is part of the vector loop's total. */
    assert_near(row->total.cycles, 9e7, 0);
    assert_near(row->iterations, 2.1e7, 0);
    assert_near(row->misses_per_iteration[0], 1.6e7 / 2.1e7, 1e-12);
    assert_near(row->resource_cycles_per_iteration, 2, 1e-12);
    assert_int_equal(row->line_first, 31);
    assert_int_equal(row->line_last, 36);
    assert_string_equal(row->bound_label, "L2 misses");
    pm_rows_free(rows);
}

static void a_fold_that_never_ends_is_not_followed_for_ever(void **state) {
    struct example *example = *state;
    example->structure->scopes[SCOPE_I_VECTOR].fold = SCOPE_I_REMAINDER;
    struct pm_rows *rows =
        pm_rows_new(example->structure, example->prediction, example->times, NULL);
    assert_true(rows->n_rows > 0);
    pm_rows_free(rows);
}

static void a_loop_in_inlined_code_bears_the_callees_name(void **state) {
    struct example *example = *state;
    char *label = pm_scope_label(example->structure, SCOPE_NORM_LOOP);
    assert_string_equal(label, "norm/1 :18");
    free(label);
    label = pm_scope_label(example->structure, SCOPE_NORM);
    assert_string_equal(label, "norm inlined in main");
    free(label);
}

static void time_in_no_scope_gets_a_row(void **state) {
    struct example *example = *state;
    example->prediction->seconds *= 2;
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_non_null(strstr(text, "in no scope"));
    free(text);
}

static void code_without_iterations_has_unknown_rates(void **state) {
    struct example *example = *state;
    example->prediction->scopes[SCOPE_K].iterations = 0;
    struct pm_rows *rows =
        pm_rows_new(example->structure, example->prediction, example->times, NULL);
    assert_true(isnan(row_of(rows, SCOPE_K)->iterations));
    assert_true(isnan(row_of(rows, SCOPE_K)->misses_per_iteration[0]));
    pm_rows_free(rows);
}

/* ---- the table ------------------------------------------------------------------------------ */

static void the_table_is_as_agreed(void **state) {
    static const char expected[] =
        "heat  N=256  on Example (300 MHz): predicted 340 ms     measured up to N=64, so "
        "extrapolated 4.0x; models' error 1.2%\n"
        "     TIME     %  LOOP                    SOURCE     BOUND BY            L1/it  L2/it  "
        "TLB/it\n"
        "   300 ms    88  step/3 i                heat.c:31  L2 misses            0.76   0.19      "
        " "
        "0\n"
        " >30.0 ms   8.8  norm/1 :18              heat.c:18  unknown operations      ?      ?      "
        " "
        "?\n"
        "  10.0 ms   2.9  step/2 j                heat.c:29  recurrence          0.076  0.019      "
        " "
        "0\n"
        "   111 us  <0.1  other (3 smaller ones)\n"
        "        ?     ?  not counted (1)\n"
        "notes:\n"
        "  - A time marked > is a lower bound: at least 1% of the operations in that row have no "
        "cost in the machine file.\n"
        "  - Caches are taken as fully associative.\n";
    struct example *example = *state;
    example->prediction->n_notes = example->prediction->n_significant_notes = 1;
    example->prediction->notes = pm_alloc(1, sizeof(char *));
    example->prediction->notes[0] = pm_strdup("Caches are taken as fully associative.");
    char *text = report(example, &(struct pm_report_options){.min_percent = 0.5});
    assert_string_equal(text, expected);
    free(text);
}

static void notes_by_which_little_hangs_are_asked_for(void **state) {
    struct example *example = *state;
    example->prediction->n_notes = 2;
    example->prediction->n_significant_notes = 1;
    example->prediction->notes = pm_alloc(2, sizeof(char *));
    example->prediction->notes[0] = pm_strdup("All of it is a guess.");
    example->prediction->notes[1] = pm_strdup("One branch may be wrong.");
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_non_null(strstr(text, "All of it is a guess."));
    assert_null(strstr(text, "One branch"));
    assert_non_null(
        strstr(text, "  - 1 more, of what changes no figure by 1% or is assumed: --notes\n"));
    free(text);
    text = report(example, &(struct pm_report_options){.all_notes = true});
    assert_non_null(strstr(text, "One branch may be wrong."));
    assert_null(strstr(text, "--notes"));
    free(text);
    text = report_as(example, PM_REPORT_JSON);
    assert_non_null(strstr(text, "One branch may be wrong."));
    free(text);
}

/* "30.0 ms" → 0.03. */
static double read_seconds(const char *text) {
    char *unit;
    double value = strtod(text + strspn(text, " >"), &unit);
    return value * (strncmp(unit, " ms", 3) == 0   ? 1e-3
                    : strncmp(unit, " us", 3) == 0 ? 1e-6
                    : strncmp(unit, " ns", 3) == 0 ? 1e-9
                                                   : 1);
}

static void printed_times_add_up_whatever_is_left_out(void **state) {
    struct example *example = *state;
    const struct pm_report_options choices[] = {
        {.min_percent = 0}, {.min_percent = 5}, {.min_percent = 100}, {.max_rows = 2}};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        char *text = report(example, &choices[i]), *rest = text;
        double sum = 0;
        strsep(&rest, "\n");
        strsep(&rest, "\n");
        for (char *line; (line = strsep(&rest, "\n")) && strcmp(line, "notes:") != 0;)
            if (!strstr(line, "not counted"))
                sum += read_seconds(line);
        assert_near(sum, example->prediction->seconds, 0.005 * sum);
        free(text);
    }
}

static void a_measured_size_says_so(void **state) {
    struct example *example = *state;
    example->prediction->predicted = false;
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_non_null(strstr(text, "measured at this size"));
    assert_null(strstr(text, "extrapolated"));
    free(text);
}

static void unknown_operations_of_the_whole_mark_its_time(void **state) {
    struct example *example = *state;
    example->prediction->scopes[SCOPE_I_VECTOR].self.unknown_operations = 1e8;
    example_sum_up(example->structure, example->prediction);
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_non_null(strstr(text, "predicted >340 ms"));
    assert_non_null(strstr(text, "\n  >300 ms"));
    free(text);
}

/* What a mark means is said where the mark is: not of rows that are summed up, have unknown
   figures, or are not there. */
static void notes_are_of_what_is_shown(void **state) {
    struct example *example = *state;
    static const char time_marked[] = "A time marked >", misses_marked[] = "Misses marked >";
    struct pm_cost_sum *of_norm = &example->prediction->scopes[SCOPE_NORM_LOOP].self;
    char *text = report(example, &(struct pm_report_options){.min_percent = 0.5});
    assert_non_null(strstr(text, " >30.0 ms"));
    assert_non_null(strstr(text, time_marked));
    assert_null(strstr(text, misses_marked)); /* they are not known at all */
    free(text);
    of_norm->accesses = 65535;
    of_norm->unknown_operations = 0;
    text = report(example, &(struct pm_report_options){.min_percent = 0.5});
    assert_null(strstr(text, time_marked));
    assert_non_null(strstr(text, misses_marked));
    free(text);
    text = report(example, &(struct pm_report_options){.max_rows = 1});
    assert_null(strstr(text, misses_marked)); /* the row is among the others */
    free(text);
}

static void without_memory_times_are_lower_bounds_and_misses_no_column(void **state) {
    struct example *example = *state;
    example->prediction->without_memory = true;
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_non_null(strstr(text, "predicted >340 ms"));
    assert_non_null(strstr(text, " >30.0 ms   8.8  norm/1 :18"));
    assert_non_null(strstr(text, "  300 ms    88  step/3 i")); /* all of its accesses are known */
    assert_null(strstr(text, "L1/it"));
    assert_null(strstr(text, "Misses marked"));
    free(text);
}

static void a_program_that_costs_nothing_has_unknown_shares(void **state) {
    struct example *example = *state;
    for (size_t i = 0; i < example->prediction->n_scopes; i++)
        example->prediction->scopes[i].self = (struct pm_cost_sum){0};
    example_sum_up(example->structure, example->prediction);
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_non_null(strstr(text, "predicted 0 s"));
    assert_null(strstr(text, "nan"));
    free(text);
}

static void a_narrow_terminal_shortens_names_not_numbers(void **state) {
    struct example *example = *state;
    free(example->structure->routines[ROUTINE_STEP].display_name);
    example->structure->routines[ROUTINE_STEP].display_name =
        pm_strdup("a_routine_whose_name_is_longer_than_any_terminal_is_wide");
    char *text = report(example, &(struct pm_report_options){.width = 90}), *rest = text;
    assert_non_null(strstr(text, "~"));
    assert_non_null(strstr(text, " 300 ms "));
    for (char *line; (line = strsep(&rest, "\n"));)
        assert_true(strlen(line) <= 90);
    free(text);
}

static void a_narrower_one_leaves_columns_out_and_says_which(void **state) {
    char *text = report(*state, &(struct pm_report_options){.width = 60}), *rest = text;
    assert_null(strstr(text, "L1/it "));
    assert_non_null(strstr(text, "BOUND BY"));
    assert_non_null(strstr(text, "L1/it"));
    assert_non_null(strstr(text, "--wide"));
    for (char *line; (line = strsep(&rest, "\n"));)
        assert_true(strlen(line) <= 60);
    free(text);
    text = report(*state, &(struct pm_report_options){.width = 60, .wide = true});
    assert_non_null(strstr(text, "L1/it "));
    assert_null(strstr(text, "--wide"));
    free(text);
}

static void names_cannot_write_control_characters(void **state) {
    struct example *example = *state;
    free(example->structure->scopes[SCOPE_J].name);
    example->structure->scopes[SCOPE_J].name = pm_strdup("j\033[2J\n");
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "step/2 j?[2J?"));
    free(text);
}

static void color_is_only_there_if_asked_for(void **state) {
    struct example *example = *state;
    char *text = report(example, &(struct pm_report_options){.color = true});
    assert_non_null(strstr(text, "\033[1m"));
    free(text);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *load(const char *text) {
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    if (!document)
        fail_msg("line %d: %s", error.line, error.text);
    return document;
}

static const json_t *json_row(const json_t *prediction, const char *label) {
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(prediction, "rows"), i, row) {
        if (strcmp(json_string_value(json_object_get(row, "label")), label) == 0)
            return row;
    }
    fail_msg("no row %s", label);
    return NULL;
}

static void json_has_all_rows_and_they_add_up(void **state) {
    struct example *example = *state;
    char *text =
        report(example, &(struct pm_report_options){.format = PM_REPORT_JSON, .min_percent = 50});
    json_t *document = load(text), *row;
    assert_string_equal(json_string_value(json_object_get(document, "format")), "pmodel-report");
    json_t *prediction = json_array_get(json_object_get(document, "predictions"), 0);
    double share = 0;
    size_t i, n_rows = 0;
    json_array_foreach(json_object_get(prediction, "rows"), i, row) {
        n_rows++;
        if (json_is_number(json_object_get(row, "self_share")))
            share += json_number_value(json_object_get(row, "self_share"));
    }
    assert_int_equal(n_rows, 9);
    assert_near(share, 1, 1e-12);
    assert_int_equal(json_array_size(json_object_get(prediction, "scopes")), N_EXAMPLE_SCOPES);
    const json_t *inner = json_row(prediction, "step/3 i");
    assert_near(json_number_value(json_object_get(
                    json_object_get(json_object_get(inner, "self"), "misses"), "L1")),
                1.6e7, 0);
    assert_int_equal(json_array_size(json_object_get(inner, "member_keys")), 3);
    const json_t *outer = json_row(prediction, "step/1 k");
    assert_true(json_number_value(json_object_get(outer, "total_seconds")) >
                json_number_value(json_object_get(inner, "total_seconds")));
    json_decref(document);
    free(text);
}

static void json_writes_null_for_the_unknown(void **state) {
    struct example *example = *state;
    char *text = report_as(example, PM_REPORT_JSON);
    json_t *document = load(text);
    json_t *prediction = json_array_get(json_object_get(document, "predictions"), 0);
    const json_t *norm = json_row(prediction, "norm/1 :18");
    assert_true(json_is_null(json_object_get(json_object_get(norm, "misses_per_iteration"), "L1")));
    assert_true(json_is_true(json_object_get(norm, "time_is_lower_bound")));
    const json_t *broken = json_row(prediction, "broken");
    assert_true(json_is_false(json_object_get(broken, "counted")));
    assert_null(json_object_get(broken, "self_seconds"));
    assert_true(json_is_null(json_object_get(broken, "line_first")));
    json_decref(document);
    free(text);
}

static void json_survives_names_that_are_not_utf_8(void **state) {
    struct example *example = *state;
    free(example->structure->scopes[SCOPE_J].name);
    example->structure->scopes[SCOPE_J].name = pm_strdup("\xff\xc3\xa4\xc3");
    char *text = report_as(example, PM_REPORT_JSON);
    json_t *document = load(text);
    json_row(json_array_get(json_object_get(document, "predictions"), 0),
             "step/2 \xef\xbf\xbd\xc3\xa4\xef\xbf\xbd");
    json_decref(document);
    free(text);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* Fields of the next record of RFC 4180 text *AT; 0 at its end. */
static size_t read_record(const char **at, char fields[][128], size_t max) {
    size_t n = 0;
    const char *from = *at;
    while (*from && n < max) {
        char *field = fields[n++];
        if (*from == '"') {
            for (from++; *from != '"' || *++from == '"'; from++)
                *field++ = *from;
        } else {
            while (*from && *from != ',' && *from != '\r')
                *field++ = *from++;
        }
        *field = '\0';
        if (*from == '\r') {
            assert_int_equal(from[1], '\n');
            from += 2;
            break;
        }
        assert_int_equal(*from, ',');
        from++;
    }
    *at = from;
    return n;
}

enum { MAX_FIELDS = 80 };

static size_t column(char names[][128], size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    fail_msg("no column %s", name);
    return 0;
}

static void csv_has_a_header_and_equal_records_that_add_up(void **state) {
    struct example *example = *state;
    free(example->structure->scopes[SCOPE_J].name);
    example->structure->scopes[SCOPE_J].name = pm_strdup("j, \"the second\"");
    char *text = report_as(example, PM_REPORT_CSV);
    const char *at = text;
    static char names[MAX_FIELDS][128], fields[MAX_FIELDS][128];
    size_t n_names = read_record(&at, names, MAX_FIELDS), n_records = 0;
    double cycles = 0;
    bool quoted = false, unknown = false;
    for (size_t n; (n = read_record(&at, fields, MAX_FIELDS)); n_records++) {
        assert_int_equal(n, n_names);
        cycles += strtod(fields[column(names, n, "self_cycles")], NULL);
        quoted |= strcmp(fields[column(names, n, "label")], "step/2 j, \"the second\"") == 0;
        if (strcmp(fields[column(names, n, "label")], "broken") == 0)
            unknown = *fields[column(names, n, "self_seconds")] == '\0' &&
                      *fields[column(names, n, "self_L1_misses")] == '\0';
    }
    assert_int_equal(n_records, 9);
    assert_true(quoted);
    assert_true(unknown);
    assert_near(cycles, example->prediction->scopes[0].total.cycles, 1e-3);
    free(text);
}

static void csv_of_two_machines_has_the_levels_of_both(void **state) {
    struct example *example = *state;
    struct pm_prediction *other = example_prediction(example->structure);
    free(other->level_names[1]);
    other->level_names[1] = pm_strdup("L3");
    const struct pm_sized_prediction predictions[] = {{example->prediction, NULL, NULL},
                                                      {other, NULL, NULL}};
    const struct pm_predictions_report both = {example->structure, predictions, 2, 1};
    const struct pm_report_options options = {.format = PM_REPORT_CSV};
    struct pm_error err = {0};
    char *text;
    CAPTURE(text, out, assert_true(pm_report_predictions(out, &both, &options, &err)));
    const char *at = text;
    static char names[MAX_FIELDS][128], fields[MAX_FIELDS][128];
    size_t n = read_record(&at, names, MAX_FIELDS);
    size_t l2 = column(names, n, "self_L2_misses"), l3 = column(names, n, "self_L3_misses");
    assert_int_equal(read_record(&at, fields, MAX_FIELDS), n);
    assert_string_equal(fields[l3], "");
    assert_string_equal(fields[l2], "4000000");
    for (int i = 0; i < 9; i++)
        assert_int_equal(read_record(&at, fields, MAX_FIELDS), n);
    assert_string_equal(fields[l2], "");
    assert_string_equal(fields[l3], "4000000");
    pm_prediction_free(other);
    free(text);
}

/* ---- chosen rows and columns ----------------------------------------------------------------- */

static void fields_are_called_by_name_or_head(void **state) {
    static const char expected[] = "\n L1/ki      TIME  ITERATIONS  LOOP\n"
                                   "  76.2    300 ms       21.0M  step/3 i\n";
    struct pm_report_options options = {
        .fields = "L1/ki,self_seconds,Iterations,loop", .max_rows = 1, .min_percent = 50};
    char *text = report(*state, &options);
    assert_non_null(strstr(text, expected));
    free(text);
    options = (struct pm_report_options){.fields = "+misses", .min_percent = 50};
    text = report(*state, &options);
    assert_non_null(strstr(text, "L1/it  L2/it  TLB/it     L1     L2  TLB\n"));
    free(text);
}

static void a_field_that_there_is_not_is_an_error_before_all_output(void **state) {
    struct example *example = *state;
    const struct pm_sized_prediction prediction = {example->prediction, NULL, NULL};
    const struct pm_predictions_report whole = {example->structure, &prediction, 1, 1};
    struct pm_error err = {0};
    char *text;
    struct pm_report_options options = {.fields = "time,lop"};
    CAPTURE(text, out, assert_false(pm_report_predictions(out, &whole, &options, &err)));
    assert_string_equal(text, "");
    assert_non_null(strstr(err.text, "no field is called \"lop\" (did you mean LOOP?): there are"));
    assert_non_null(strstr(err.text, "L1/ki"));
    free(text);
    options = (struct pm_report_options){.sort = "lop"};
    CAPTURE(text, out, assert_false(pm_report_predictions(out, &whole, &options, &err)));
    assert_string_equal(text, "");
    free(text);
}

static void csv_has_the_fields_that_are_asked_for(void **state) {
    char *text =
        report(*state, &(struct pm_report_options){
                           .fields = "loop,L1", .filter = "step/[23]", .format = PM_REPORT_CSV});
    assert_string_equal(text, "label,L1_misses\r\nstep/3 i,16000000\r\n"
                              "step/2 j,50000\r\n");
    free(text);
}

static void rows_are_sorted_by_any_field(void **state) {
    char *text = report(*state, &(struct pm_report_options){.sort = "loop", .fields = "loop"});
    const char *main_row = strstr(text, "\n main"), *norm = strstr(text, "\n norm/1 :18"),
               *step = strstr(text, "\n step/3 i"), *unknown = strstr(text, "\n not counted");
    assert_true(main_row && norm && step && unknown);
    assert_true(main_row < norm && norm < step && step < unknown);
    free(text);
}

static void what_the_filter_leaves_out_is_summed_up(void **state) {
    static const char *const patterns[] = {"norm", "norm/1", "*.c:18", "no*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char *text = report(*state, &(struct pm_report_options){.filter = patterns[i]});
        assert_non_null(strstr(text, "norm/1 :18"));
        assert_null(strstr(text, "step/3"));
        assert_non_null(strstr(text, "310 ms   91  other (5)"));
        free(text);
    }
}

static void the_tree_has_totals_that_add_up(void **state) {
    struct example *example = *state;
    char *text = report(example, &(struct pm_report_options){.tree = true});
    const char *step = strstr(text, "step "), *k = strstr(text, "  step/1 k"),
               *j = strstr(text, "    step/2 j"), *i = strstr(text, "      step/3 i");
    assert_true(step && k && j && i);
    assert_true(step < k && k < j && j < i);
    assert_non_null(strstr(text, " 310 ms       91   10.0 ms      step/2 j"));
    assert_non_null(strstr(text, " 300 ms       88    300 ms        step/3 i"));
    free(text);
    text = report(example, &(struct pm_report_options){.tree = true, .filter = "step/2"});
    assert_non_null(strstr(text, "  step/1 k")); /* what it is in */
    assert_non_null(strstr(text, "step/3 i"));   /* what is in it */
    assert_null(strstr(text, "norm"));
    free(text);
    text = report(example, &(struct pm_report_options){.tree = true, .max_rows = 1});
    double sum = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (strstr(line, "  step") || strstr(line, " other"))
            sum += strstr(line, "   other") ? 0 : read_seconds(line);
    assert_near(sum, example->prediction->seconds, 0.005 * sum);
    free(text);
}

static void sizes_stand_side_by_side(void **state) {
    struct example *example = *state;
    struct pm_prediction *other = example_prediction(example->structure);
    other->scopes[SCOPE_I_VECTOR].self.cycles *= 2;
    example_sum_up(example->structure, other);
    other->parameters.values[0] = 512;
    const struct pm_sized_prediction predictions[] = {{example->prediction, NULL, NULL},
                                                      {other, NULL, NULL}};
    const struct pm_predictions_report both = {example->structure, predictions, 1, 2};
    struct pm_report_options options = {.min_percent = 1};
    struct pm_error err = {0};
    char *text;
    CAPTURE(text, out, assert_true(pm_report_predictions(out, &both, &options, &err)));
    assert_non_null(strstr(text, "  N=256: predicted 340 ms"));
    assert_non_null(strstr(text, "  N=512: predicted "));
    assert_non_null(strstr(text, "   N=256     %     N=512     %  LOOP"));
    assert_non_null(strstr(text, "  300 ms    88 "));
    assert_non_null(strstr(text, "step/3 i"));
    assert_non_null(strstr(text, "other (3 smaller ones)"));
    free(text);
    pm_prediction_free(other);
}

static void each_column_is_explained(void **state) {
    (void)state;
    FILE *file = fopen("docs/reading-a-report.md", "r");
    char *text = pm_strdup(""), line[4096];
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        pm_append(&text, "%s", line);
    fclose(file);
    for (size_t i = 0; i < pm_row_fields.n_fields; i++) {
        const struct pm_field *field = &pm_row_fields.fields[i];
        char *name = pm_sprintf("`%s`", field->name);
        if (field->header && (!strstr(text, name) || !strstr(text, field->header)))
            fail_msg("docs/reading-a-report.md has no %s, %s", field->header, field->name);
        free(name);
    }
    free(text);
}

/* ---- measured times -------------------------------------------------------------------------- */

/* The innermost loops of step are too short for timers; norm's loop is in main's. */
static void add_times(struct example *example) {
    static const struct pm_scope_time scopes[] = {{SCOPE_MAIN, 0.04, 1, 1},
                                                  {SCOPE_STEP, 0.00001, 10, 2},
                                                  {SCOPE_K, 0.001, 10, 2},
                                                  {SCOPE_J, 0.3, 2560, 2},
                                                  {SCOPE_NEVER, 0, 0, 0}};
    struct pm_times *times = example->times = pm_alloc(1, sizeof *times);
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
        *PM_PUSH(times, scopes) = scopes[i];
    times->outside_seconds = 0.002;
    times->own_seconds = 0.0005;
    times->cpu_seconds = 0.345;
    times->plain_seconds = 0.342;
    times->over_plain = 1.008;
    times->repetitions = 3;
    times->machine = pm_strdup("Some Processor");
    times->notes = pm_strdup("one thing\nanother thing\n");
    struct pm_error err = {0};
    assert_true(pm_times_fit(times, example->structure, &err));
}

static void measured_times_of_rows_add_up_to_the_whole(void **state) {
    struct example *example = *state;
    add_times(example);
    struct pm_rows *rows =
        pm_rows_new(example->structure, example->prediction, example->times, NULL);
    double sum = example->times->outside_seconds;
    for (size_t i = 0; i < rows->n_rows; i++)
        sum += isnan(rows->rows[i].measured_seconds) ? 0 : rows->rows[i].measured_seconds;
    assert_near(sum, rows->measured_seconds, 1e-15);
    assert_near(sum, 0.34301, 1e-15);
    const struct pm_row *inner = row_of(rows, SCOPE_I_VECTOR), *outer = row_of(rows, SCOPE_J);
    assert_true(isnan(inner->measured_seconds));
    assert_int_equal(inner->measured_in, SCOPE_J);
    assert_true(outer->measured_seconds == 0.3 && outer->measured_with_inner);
    assert_true(row_of(rows, SCOPE_K)->measured_seconds == 0.001);
    assert_false(row_of(rows, SCOPE_K)->measured_with_inner);
    assert_int_equal(row_of(rows, SCOPE_NORM_LOOP)->measured_in, SCOPE_MAIN);
    assert_true(isnan(row_of(rows, SCOPE_BROKEN)->measured_seconds));
    assert_int_equal(row_of(rows, SCOPE_BROKEN)->measured_in, PM_NONE);
    pm_rows_free(rows);
}

/* A loop and the one that is folded into it are one row, whoever of them holds the time. */
static void folded_loops_are_timed_as_one(void **state) {
    struct example *example = *state;
    add_times(example);
    example->times->n_scopes = 4;
    *PM_PUSH(example->times, scopes) = (struct pm_scope_time){SCOPE_I_VECTOR, 0.2, 9, 1};
    *PM_PUSH(example->times, scopes) = (struct pm_scope_time){SCOPE_I_REMAINDER, 0.03, 9, 1};
    struct pm_rows *rows =
        pm_rows_new(example->structure, example->prediction, example->times, NULL);
    const struct pm_row *row = row_of(rows, SCOPE_I_VECTOR);
    assert_near(row->measured_seconds, 0.23, 1e-15);
    assert_int_equal(row->measured_in, PM_NONE);
    assert_false(row->measured_with_inner);
    assert_false(row_of(rows, SCOPE_J)->measured_with_inner);
    pm_rows_free(rows);
}

static void the_table_has_measured_beside_predicted(void **state) {
    struct example *example = *state;
    add_times(example);
    char *text = report(example, &(struct pm_report_options){.min_percent = 0.5});
    assert_non_null(strstr(text, "   TIME     %       MEASURED  LOOP"));
    assert_non_null(strstr(text, " 300 ms    88  in step/2 :29  step/3 i"));
    assert_non_null(strstr(text, "10.0 ms   2.9        <300 ms  step/2 j"));
    assert_non_null(strstr(text, "<0.1        1.01 ms  other (2 smaller ones)"));
    assert_non_null(strstr(text, "2.00 ms  outside all timers"));
    assert_non_null(strstr(text, "on Some Processor, 343 ms in all"));
    assert_non_null(strstr(text, "took 1.008 times its plain time"));
    assert_non_null(strstr(text, "  - one thing\n  - another thing\n"));
    free(text);
}

/* Whose time is where is said of rows that are shown; main has no callers. */
static void where_times_are_is_said_of_what_is_shown(void **state) {
    static const char named[] = "measured in the loop or routine that is named";
    static const char with_inner[] = "marked <", of_main[] = "time ? of main",
                      by_callers[] = "timed routines that call it";
    struct example *example = *state;
    add_times(example);
    char *text = report(example, &(struct pm_report_options){.min_percent = 0.5});
    assert_non_null(strstr(text, named));
    assert_non_null(strstr(text, with_inner));
    assert_null(strstr(text, of_main));
    assert_null(strstr(text, by_callers));
    free(text);
    example->times->n_scopes = 0;
    text = report(example, &(struct pm_report_options){.min_percent = 0});
    assert_null(strstr(text, named));
    assert_null(strstr(text, with_inner));
    assert_non_null(strstr(text, of_main));
    assert_non_null(strstr(text, by_callers));
    free(text);
    text = report(example, &(struct pm_report_options){.max_rows = 1}); /* step/3 */
    assert_null(strstr(text, of_main));
    free(text);
}

static void json_has_measured_times(void **state) {
    struct example *example = *state;
    add_times(example);
    char *text = report_as(example, PM_REPORT_JSON);
    json_t *document = json_loads(text, 0, NULL);
    json_t *prediction = json_array_get(json_object_get(document, "predictions"), 0), *row;
    json_t *measured = json_object_get(prediction, "measured");
    double sum = json_number_value(json_object_get(measured, "outside_seconds"));
    size_t index, n_elsewhere = 0;
    json_array_foreach(json_object_get(prediction, "rows"), index, row) {
        sum += json_number_value(json_object_get(row, "measured_seconds"));
        n_elsewhere += json_is_string(json_object_get(row, "measured_in_key"));
    }
    assert_near(sum, json_number_value(json_object_get(measured, "seconds")), 1e-12);
    assert_int_equal(n_elsewhere, 2);
    assert_int_equal(json_array_size(json_object_get(measured, "timers")), 5);
    assert_string_equal(json_string_value(json_object_get(measured, "machine")), "Some Processor");
    json_decref(document);
    free(text);
}

/* What is predicted to be short may have taken long; and where a time is, can be found. */
static void rows_are_shown_for_measured_time_too(void **state) {
    struct example *example = *state;
    add_times(example);
    char *text = report(example, &(struct pm_report_options){.min_percent = 20});
    assert_non_null(strstr(text, "<300 ms  step/2 j"));
    assert_non_null(strstr(text, "other (4 smaller ones)"));
    free(text);
    example->times->scopes[3].seconds = 1e-6; /* of step/2, which step/3 names */
    text = report(example, &(struct pm_report_options){.min_percent = 20});
    assert_non_null(strstr(text, "step/2 j"));
    free(text);
    text = report(example, &(struct pm_report_options){.sort = "measured", .fields = "measured"});
    assert_non_null(strstr(text, "\n      <40.0 ms\n       1.00 ms\n"));
    free(text);
}

static void csv_has_measured_times(void **state) {
    struct example *example = *state;
    add_times(example);
    char *text = report_as(example, PM_REPORT_CSV);
    const char *at = text;
    static char names[MAX_FIELDS][128], fields[MAX_FIELDS][128];
    size_t n = read_record(&at, names, MAX_FIELDS);
    size_t seconds = column(names, n, "measured_seconds"), in = column(names, n, "measured_in_key");
    size_t with_inner = column(names, n, "measured_with_inner"), label = column(names, n, "label");
    double sum = 0;
    while (read_record(&at, fields, MAX_FIELDS)) {
        sum += strtod(fields[seconds], NULL);
        assert_int_equal(strcmp(fields[label], "step/2 j") == 0,
                         *fields[with_inner] == '1' && strcmp(fields[label], "main") != 0);
        if (strcmp(fields[label], "step/3 i") == 0)
            assert_true(*fields[seconds] == '\0' && strncmp(fields[in], "0x", 2) == 0);
    }
    assert_near(sum, 0.34101, 1e-12);
    free(text);
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* The same prediction with all cycles and misses multiplied; the caller frees. */
static struct pm_prediction *scaled_prediction(const struct example *example, double factor) {
    struct pm_prediction *prediction = example_prediction(example->structure);
    for (size_t i = 0; i < prediction->n_scopes; i++) {
        prediction->scopes[i].self.cycles *= factor;
        prediction->scopes[i].total.cycles *= factor;
        prediction->scopes[i].iterations *= factor;
        for (size_t level = 0; level < prediction->n_levels; level++)
            prediction->scopes[i].self.level_misses[level] *= factor;
    }
    return prediction;
}

static void add_ends(const struct example *example) {
    struct pm_prediction *low = scaled_prediction(example, 0.9),
                         *high = scaled_prediction(example, 1.5);
    example->prediction->level = 0.8;
    pm_prediction_take_ends(example->prediction, low, high);
    pm_prediction_free(low);
    pm_prediction_free(high);
}

static void a_row_is_between_both_ends_of_the_prediction(void **state) {
    struct example *example = *state;
    add_ends(example);
    struct pm_rows *rows =
        pm_rows_new(example->structure, example->prediction, example->times, NULL);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_row *row = &rows->rows[i];
        struct pm_row_end low = row->low, high = row->high;
        assert_int_equal(isnan(low.seconds), !row->counted);
        if (!row->counted)
            continue;
        assert_near(low.seconds, 0.9 * row->seconds, 1e-12);
        assert_near(high.seconds, 1.5 * row->seconds, 1e-12);
        assert_near(high.level_misses[0], 1.5 * row->self.level_misses[0], 1e-3);
        if (!isnan(row->iterations))
            assert_near(low.iterations, 0.9 * row->iterations, 1e-3);
    }
    /* What lies on the wrong side does not make the interval exclude the prediction. */
    example->prediction->scopes[SCOPE_J].self.spread.low.cycles *= -100;
    pm_rows_free(rows);
    rows = pm_rows_new(example->structure, example->prediction, example->times, NULL);
    const struct pm_row *row = row_of(rows, SCOPE_J);
    assert_near(row->low.seconds, row->seconds, 1e-12);
    pm_rows_free(rows);
}

static void all_formats_have_the_interval(void **state) {
    struct example *example = *state;
    add_ends(example);
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_non_null(strstr(text, ": predicted 340 ms (80%: 306 ms to 510 ms)"));
    free(text);
    text = report_as(example, PM_REPORT_JSON);
    json_t *document = json_loads(text, 0, NULL);
    json_t *prediction = json_array_get(json_object_get(document, "predictions"), 0);
    double seconds = json_number_value(json_object_get(prediction, "seconds"));
    assert_near(json_number_value(json_object_get(prediction, "level")), 0.8, 1e-12);
    assert_near(json_number_value(json_object_get(prediction, "low_seconds")), 0.9 * seconds, 1e-9);
    assert_near(json_number_value(json_object_get(prediction, "high_seconds")), 1.5 * seconds,
                1e-9);
    json_t *row = json_array_get(json_object_get(prediction, "rows"), 0);
    assert_near(json_number_value(json_object_get(json_object_get(row, "high"), "self_seconds")),
                1.5 * json_number_value(json_object_get(row, "self_seconds")), 1e-9);
    json_decref(document);
    free(text);
    text = report_as(example, PM_REPORT_CSV);
    assert_non_null(strstr(text, ",low_self_seconds,high_self_seconds,"));
    assert_non_null(strstr(text, ",0.8,4,\r\n"));
    free(text);
}

static void all_formats_mark_what_is_interpolated(void **state) {
    struct example *example = *state;
    example->prediction->level_interpolated_from[1] = 64;
    char *text = report_as(example, PM_REPORT_TABLE);
    assert_non_null(strstr(text, ": predicted ~340 ms"));
    assert_non_null(strstr(text, "~TIME"));
    assert_non_null(strstr(text, " L1/it  ~L2/it"));
    free(text);
    text = report_as(example, PM_REPORT_JSON);
    assert_non_null(strstr(text, "\"interpolated_from_block_bytes\": 64"));
    assert_non_null(strstr(text, "\"interpolated\": true"));
    assert_non_null(strstr(text, "\"interpolated\": \"L2\""));
    free(text);
    text = report_as(example, PM_REPORT_CSV);
    assert_non_null(strstr(text, ",interpolated\r\n"));
    assert_non_null(strstr(text, ",L2\r\n"));
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(rows_add_up_to_the_whole),
        TEST(folded_loops_and_inlined_code_are_one_row),
        TEST(a_fold_that_never_ends_is_not_followed_for_ever),
        TEST(a_loop_in_inlined_code_bears_the_callees_name),
        TEST(time_in_no_scope_gets_a_row),
        TEST(code_without_iterations_has_unknown_rates),
        TEST(the_table_is_as_agreed),
        TEST(notes_by_which_little_hangs_are_asked_for),
        TEST(fields_are_called_by_name_or_head),
        TEST(a_field_that_there_is_not_is_an_error_before_all_output),
        TEST(csv_has_the_fields_that_are_asked_for),
        TEST(rows_are_sorted_by_any_field),
        TEST(what_the_filter_leaves_out_is_summed_up),
        TEST(the_tree_has_totals_that_add_up),
        TEST(sizes_stand_side_by_side),
        TEST(each_column_is_explained),
        TEST(rows_are_shown_for_measured_time_too),
        TEST(printed_times_add_up_whatever_is_left_out),
        TEST(a_measured_size_says_so),
        TEST(unknown_operations_of_the_whole_mark_its_time),
        TEST(notes_are_of_what_is_shown),
        TEST(without_memory_times_are_lower_bounds_and_misses_no_column),
        TEST(a_program_that_costs_nothing_has_unknown_shares),
        TEST(a_narrow_terminal_shortens_names_not_numbers),
        TEST(a_narrower_one_leaves_columns_out_and_says_which),
        TEST(names_cannot_write_control_characters),
        TEST(color_is_only_there_if_asked_for),
        TEST(json_has_all_rows_and_they_add_up),
        TEST(json_writes_null_for_the_unknown),
        TEST(json_survives_names_that_are_not_utf_8),
        TEST(csv_has_a_header_and_equal_records_that_add_up),
        TEST(csv_of_two_machines_has_the_levels_of_both),
        TEST(measured_times_of_rows_add_up_to_the_whole),
        TEST(folded_loops_are_timed_as_one),
        TEST(the_table_has_measured_beside_predicted),
        TEST(where_times_are_is_said_of_what_is_shown),
        TEST(json_has_measured_times),
        TEST(csv_has_measured_times),
        TEST(a_row_is_between_both_ends_of_the_prediction),
        TEST(all_formats_have_the_interval),
        TEST(all_formats_mark_what_is_interpolated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
