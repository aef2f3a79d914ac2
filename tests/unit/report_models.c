/* `pmodel fit`: the formula of a loop's iterations is the sum over the edges into its header, and
   flagged models are listed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "report/report.h"
#include "tests/unit/report_example.h"

struct example {
    struct pm_structure *structure;
    struct pm_model_set *models;
};

static const struct pm_fit_statistics statistics = {.n_models = 8,
                                                    .n_exact = 5,
                                                    .n_constant = 1,
                                                    .n_flagged = 2,
                                                    .n_histograms = 1,
                                                    .n_bins = 1,
                                                    .seconds = 0.25};

static void add_edge(struct pm_structure *structure, uint32_t from, uint32_t to) {
    struct pm_edge *edge = PM_PUSH(structure, edges);
    edge->from = from;
    edge->to = to;
    edge->routine = ROUTINE_STEP;
    structure->routines[ROUTINE_STEP].n_edges++;
}

/* Block 1 is the header of loop k: entered over edge 0, again over edge 1, left over edge 2. */
static void add_code(struct pm_structure *structure) {
    for (uint32_t i = 0; i < 3; i++) {
        struct pm_block *block = PM_PUSH(structure, blocks);
        block->routine = ROUTINE_STEP;
        block->scope = i == 1 ? SCOPE_K : SCOPE_STEP;
        block->loop = i == 1 ? SCOPE_K : PM_NONE;
        block->address = 0x401100 + 16 * i;
    }
    structure->routines[ROUTINE_STEP].n_blocks = 3;
    structure->scopes[SCOPE_K].header = 1;
    add_edge(structure, 0, 1);
    add_edge(structure, 1, 1);
    add_edge(structure, 1, 2);
    struct pm_group *group = PM_PUSH(structure, groups);
    group->scope = SCOPE_K;
    group->object = pm_strdup("u");
}

/* COUNT·1 + LINEAR·N + SQUARE·N². */
static struct pm_model polynomial(double constant, double linear, double square) {
    return (struct pm_model){.n_terms = 3,
                             .terms = {0, 1, 2},
                             .coefficients = {constant, linear, square},
                             .exact = true,
                             .n_points = 6};
}

static int set_up(void **state) {
    static const char *const texts[] = {"1", "N", "N^2"};
    struct example *example = pm_alloc(1, sizeof *example);
    struct pm_error err = {0};
    example->structure = example_structure();
    add_code(example->structure);
    struct pm_model_set *models = example->models = pm_alloc(1, sizeof *models);
    models->basis = pm_basis_new(3, texts, &err);
    assert_non_null(models->basis);
    pm_parameters_set(&models->low, "N", 24, &err);
    pm_parameters_set(&models->high, "N", 64, &err);
    models->n_runs = 6;
    models->runs = pm_alloc(6, sizeof *models->runs);
    for (int i = 0; i < 6; i++)
        pm_parameters_set(&models->runs[i], "N", 24 + 8 * i, &err);
    models->n_edges = 3;
    models->edges = pm_alloc(3, sizeof *models->edges);
    models->edges[0] = polynomial(10, 0, 0);
    models->edges[1] = polynomial(-10, -20, 10);
    models->edges[2] = polynomial(0, 3, 0);
    models->edges[2].exact = false;
    models->edges[2].relative_error = 0.05;
    models->edges[2].leave_one_out_error = 0.2;
    models->n_histograms = 1;
    models->histograms = pm_alloc(1, sizeof *models->histograms);
    models->histograms[0].block_bytes = 4096;
    models->histograms[0].n_bins = 1;
    models->histograms[0].bins = pm_bin_model_arena_alloc(&models->bins, 1);
    models->histograms[0].bins[0].distance = polynomial(0, 0, 0.5);
    models->histograms[0].bins[0].distance.leave_one_out_error = 0.3;
    *state = example;
    return 0;
}

static int tear_down(void **state) {
    struct example *example = *state;
    pm_structure_free(example->structure);
    pm_model_set_free(example->models);
    free(example);
    return 0;
}

static char *report(const struct example *example, bool with_models, enum pm_report_format format) {
    char *text;
    CAPTURE(text, out,
            pm_report_models(out, example->structure, example->models, &statistics, with_models,
                             &(struct pm_report_options){.format = format}));
    return text;
}

static void the_summary_says_how_good_the_models_are(void **state) {
    char *text = report(*state, false, PM_REPORT_TABLE);
    assert_string_equal(text, "heat: 6 runs, N from 24 to 64\n"
                              "  8 models in 250 ms: 5 exact, 1 constant, 2 flagged (leave-one-out "
                              "error above 10%)\n"
                              "  1 histograms with 1 bins\n");
    free(text);
}

static void iterations_are_the_sum_over_the_edges_into_the_header(void **state) {
    char *text = report(*state, true, PM_REPORT_JSON);
    json_t *document = json_loads(text, 0, NULL), *model;
    size_t i;
    bool found = false;
    json_array_foreach(json_object_get(document, "models"), i, model) {
        if (strcmp(json_string_value(json_object_get(model, "label")), "step/1 k") != 0 ||
            strcmp(json_string_value(json_object_get(model, "quantity")), "iterations") != 0)
            continue;
        found = true;
        /* The constants cancel. */
        assert_string_equal(json_string_value(json_object_get(model, "formula")), "10*N^2 - 20*N");
        assert_true(json_is_true(json_object_get(model, "exact")));
    }
    assert_true(found);
    json_decref(document);
    free(text);
}

static void iterations_without_counters_are_unknown(void **state) {
    struct example *example = *state;
    example->structure->routines[ROUTINE_STEP].counted = false;
    char *text = report(example, true, PM_REPORT_TABLE);
    assert_null(strstr(text, "10*N^2"));
    assert_non_null(
        strstr(text, "step/1 k              heat.c:28      ?         ?             ?  ?"));
    free(text);
}

static void flagged_models_are_listed(void **state) {
    char *text = report(*state, true, PM_REPORT_TABLE);
    assert_non_null(strstr(text, "flagged models:"));
    assert_non_null(strstr(text, "edge 0x401110 to 0x401120"));
    assert_non_null(strstr(text, "reuse distance in bin 0 of group 0 (u), blocks of 4 KiB"));
    assert_non_null(strstr(text, "5.0%"));
    assert_non_null(strstr(text, "0.5*N^2"));
    assert_null(strstr(text, "cold"));
    free(text);
}

/* At twice the largest size: of an exact model nothing but its value, of another a range around it.
 */
static void intervals_are_shown_beyond_the_measured_sizes(void **state) {
    char *text = report(*state, true, PM_REPORT_JSON);
    json_t *document = json_loads(text, 0, NULL), *model;
    size_t i, n_exact = 0, n_others = 0;
    json_array_foreach(json_object_get(document, "models"), i, model) {
        json_t *interval = json_object_get(model, "interval");
        double value = json_number_value(json_object_get(interval, "value"));
        double low = json_number_value(json_object_get(interval, "low"));
        double high = json_number_value(json_object_get(interval, "high"));
        if (!json_is_number(json_object_get(interval, "value")))
            continue;
        assert_near(json_number_value(json_object_get(interval, "level")), 0.8, 1e-12);
        assert_near(
            json_number_value(json_object_get(json_object_get(interval, "parameters"), "N")), 128,
            1e-12);
        if (json_is_true(json_object_get(model, "exact"))) {
            assert_true(low == value && high == value);
            n_exact++;
        } else {
            assert_true(low < value && value < high);
            assert_near(low * high, value * value, 1e-9 * value * value); /* by factors */
            n_others++;
        }
    }
    assert_true(n_exact > 0 && n_others > 0);
    json_decref(document);
    free(text);
    text = report(*state, true, PM_REPORT_TABLE);
    assert_non_null(strstr(text, "80% AT N=128"));
    free(text);
}

static void csv_has_a_line_for_each_model(void **state) {
    char *text = report(*state, true, PM_REPORT_CSV);
    int n_lines = 0;
    for (const char *at = text; (at = strstr(at, "\r\n")); at += 2)
        n_lines++;
    assert_int_equal(n_lines, 1 + 6 + 2);
    free(text);
    text = report(*state, false, PM_REPORT_CSV);
    assert_non_null(strstr(text, "\r\nheat,6,8,5,1,2,1,1,0.25,0\r\n"));
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_summary_says_how_good_the_models_are),
        TEST(iterations_are_the_sum_over_the_edges_into_the_header),
        TEST(iterations_without_counters_are_unknown),
        TEST(flagged_models_are_listed),
        TEST(intervals_are_shown_beyond_the_measured_sizes),
        TEST(csv_has_a_line_for_each_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
