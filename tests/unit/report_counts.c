/* `pmodel report --as formulas`, `pmodel fit --flagged` and `pmodel validate --hierarchy`: counts
   of classes in scopes, their models, and where the error of the whole lives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "report/report.h"
#include "tests/unit/report_example.h"

enum { N_SIZES = 7, N_EDGES = 8 };
static const double sizes[N_SIZES] = {9, 14, 19, 23, 28, 34, 45};

struct example {
    struct pm_structure *structure;
    struct pm_profile *profiles[N_SIZES];
    struct pm_model_set *models;
};

static void add_op(struct pm_structure *structure, struct pm_block *block, enum pm_op_class class,
                   uint16_t bits) {
    struct pm_op *op = PM_PUSH(structure, ops);
    op->op_class = (uint8_t) class;
    op->element_bytes = 8;
    op->width_bits = bits & PM_OP_MOST_BITS;
    op->reference = PM_NONE;
    block->n_ops++;
}

static void add_block(struct pm_structure *structure, uint32_t routine, uint32_t scope,
                      enum pm_op_class class, uint16_t bits) {
    struct pm_block *block = PM_PUSH(structure, blocks);
    block->routine = routine;
    block->scope = scope;
    block->loop = structure->scopes[scope].kind == PM_SCOPE_LOOP ? scope : PM_NONE;
    block->address = 0x401000 + 16 * structure->n_blocks;
    block->n_instructions = 3;
    block->first_op = (uint32_t)structure->n_ops;
    block->first_reference = (uint32_t)structure->n_references;
    add_op(structure, block, class, bits);
    add_op(structure, block, PM_OP_INT_ADD, 64);
    struct pm_reference *reference = PM_PUSH(structure, references);
    reference->block = (uint32_t)structure->n_blocks - 1;
    reference->access = PM_ACCESS_BOTH;
    reference->recorded = true;
    block->n_references = 1;
    structure->routines[routine].n_blocks++;
}

static void add_edge(struct pm_structure *structure, uint32_t routine, uint32_t from, uint32_t to,
                     enum pm_edge_kind kind) {
    struct pm_edge *edge = PM_PUSH(structure, edges);
    edge->from = from;
    edge->to = to;
    edge->routine = routine;
    edge->kind = (uint8_t)kind;
    edge->counter = structure->n_counters++;
    structure->routines[routine].n_edges++;
}

/* `step` adds N² numbers, four at a time in block 1 and the others in block 2; `main` (block 3) is
   executed as often as chance wants. */
static void add_code(struct pm_structure *structure) {
    add_block(structure, ROUTINE_STEP, SCOPE_STEP, PM_OP_FP_MULT, 64);
    add_block(structure, ROUTINE_STEP, SCOPE_I_VECTOR, PM_OP_FP_ADD, 256);
    add_block(structure, ROUTINE_STEP, SCOPE_I_REMAINDER, PM_OP_FP_ADD, 64);
    add_edge(structure, ROUTINE_STEP, PM_NONE, 0, PM_EDGE_ENTRY);
    add_edge(structure, ROUTINE_STEP, 0, 1, PM_EDGE_FALLTHROUGH);
    add_edge(structure, ROUTINE_STEP, 1, 1, PM_EDGE_TAKEN);
    add_edge(structure, ROUTINE_STEP, 1, 2, PM_EDGE_FALLTHROUGH);
    add_edge(structure, ROUTINE_STEP, 2, 2, PM_EDGE_TAKEN);
    add_edge(structure, ROUTINE_STEP, 2, PM_NONE, PM_EDGE_EXIT);
    structure->routines[ROUTINE_MAIN].first_block = 3;
    structure->routines[ROUTINE_MAIN].first_edge = 6;
    add_block(structure, ROUTINE_MAIN, SCOPE_MAIN, PM_OP_FP_MULT, 64);
    add_edge(structure, ROUTINE_MAIN, PM_NONE, 3, PM_EDGE_ENTRY);
    add_edge(structure, ROUTINE_MAIN, 3, PM_NONE, PM_EDGE_EXIT);
}

static struct pm_profile *new_profile(size_t k) {
    static const double wild[N_SIZES] = {900, 100, 2000, 300, 5000, 700, 1200};
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    double n = sizes[k], all = n * n, vectors = floor(all / 4), rest = all - 4 * vectors;
    const double counts[N_EDGES] = {1, 1, vectors - 1, 1, rest - 1, 1, wild[k], wild[k]};
    assert_true(pm_parameters_set(&profile->parameters, "N", n, NULL));
    profile->n_edges = N_EDGES;
    profile->edge_counts = pm_alloc(N_EDGES, sizeof *profile->edge_counts);
    memcpy(profile->edge_counts, counts, sizeof counts);
    if (rest == 0) { /* the remainder is not entered */
        profile->edge_counts[3] = profile->edge_counts[4] = profile->edge_counts[5] = 0;
    }
    return profile;
}

static int set_up(void **state) {
    struct example *example = pm_alloc(1, sizeof *example);
    struct pm_error err = {0};
    example->structure = example_structure();
    add_code(example->structure);
    for (size_t k = 0; k < N_SIZES; k++)
        example->profiles[k] = new_profile(k);
    example->models =
        pm_fit(example->structure, (const struct pm_profile *const *)example->profiles, N_SIZES,
               NULL, NULL, &err);
    assert_non_null(example->models);
    *state = example;
    return 0;
}

static int tear_down(void **state) {
    struct example *example = *state;
    for (size_t k = 0; k < N_SIZES; k++)
        pm_profile_free(example->profiles[k]);
    pm_model_set_free(example->models);
    pm_structure_free(example->structure);
    free(example);
    return 0;
}

/* What is printed; NULL with a sentence in ERR. */
static char *report(const struct example *example, const struct pm_counts_request *request,
                    enum pm_report_format format, struct pm_error *err) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct pm_report_options options = {.format = format};
    bool ok = pm_report_counts(out, example->structure, example->models,
                               (const struct pm_profile *const *)example->profiles, NULL, request,
                               &options, err);
    fclose(out);
    if (ok)
        return text;
    free(text);
    return NULL;
}

static json_t *report_json(const struct example *example, const struct pm_counts_request *request) {
    struct pm_error err = {0};
    char *text = report(example, request, PM_REPORT_JSON, &err);
    if (!text)
        fail_msg("%s", err.text);
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    free(text);
    return document;
}

static const char *text_of(const json_t *row, const char *field) {
    return json_string_value(json_object_get(row, field));
}

static json_t *row_at(json_t *document, size_t i) {
    return json_array_get(json_object_get(document, "rows"), i);
}

static size_t count_rows(json_t *document) {
    return json_array_size(json_object_get(document, "rows"));
}

static void elements_of_a_vector_loop_and_its_remainder_are_one_exact_row(void **state) {
    struct pm_counts_request request = {
        .level = PM_MIX_LOOP, .classes = "fp_add", .elements = true};
    json_t *document = report_json(*state, &request);
    assert_int_equal(count_rows(document), 1);
    assert_string_equal(text_of(row_at(document, 0), "formula"), "N^2");
    assert_string_equal(text_of(row_at(document, 0), "label"), "step/3 i");
    assert_true(json_is_true(json_object_get(row_at(document, 0), "exact")));
    json_decref(document);
    request.elements = false;
    document = report_json(*state, &request);
    assert_true(json_is_true(json_object_get(row_at(document, 0), "exact")));
    assert_non_null(strstr(text_of(row_at(document, 0), "formula"), "floor("));
    json_decref(document);
}

static void rows_of_a_level_add_up_to_the_program(void **state) {
    double sums[5] = {0};
    for (int level = PM_MIX_LOOP; level <= PM_MIX_PROGRAM; level++) {
        json_t *document = report_json(
            *state, &(struct pm_counts_request){.level = (enum pm_mix_level)level,
                                                .classes = "instructions,accesses,int_add"});
        for (size_t i = 0; i < count_rows(document); i++)
            sums[level] += json_number_value(json_object_get(row_at(document, i), "count"));
        json_decref(document);
    }
    /* At 45: 506 vectors, 1 more, `step` once and `main` 1200 times; 3 + 2 + 1 of each. */
    for (int level = PM_MIX_LOOP; level <= PM_MIX_PROGRAM; level++)
        assert_true(sums[level] == 6 * (506 + 1 + 1 + 1200));
}

static void rows_are_sorted_and_cut(void **state) {
    struct pm_counts_request request = {.level = PM_MIX_LOOP, .by_count = true};
    json_t *document = report_json(*state, &request);
    assert_int_equal(count_rows(document), 3);
    assert_string_equal(text_of(row_at(document, 0), "name"), "main");
    assert_string_equal(text_of(row_at(document, 2), "kind"), "routine");
    json_decref(document);
    request.by_count = false;
    request.least_share = 0.01;
    document = report_json(*state, &request);
    assert_int_equal(count_rows(document), 2);
    assert_int_equal(json_integer_value(json_object_get(document, "rows_below_threshold")), 1);
    json_decref(document);
    request.least_share = 0;
    request.most_rows = 1;
    document = report_json(*state, &request);
    assert_int_equal(count_rows(document), 1);
    assert_string_equal(text_of(row_at(document, 0), "name"), "main");
    json_decref(document);
}

static void edges_have_the_models_of_the_store(void **state) {
    struct pm_counts_request request = {.edges = true, .routines = "step"};
    json_t *document = report_json(*state, &request);
    assert_int_equal(count_rows(document), 5); /* the remainder is executed once at most */
    assert_string_equal(text_of(row_at(document, 0), "edge_kind"), "entry");
    assert_string_equal(text_of(row_at(document, 0), "formula"), "1");
    json_decref(document);
}

static void all_formats_have_all_rows(void **state) {
    const struct pm_counts_request requests[] = {
        {.level = PM_MIX_ROUTINE, .classes = "all"},
        {.level = PM_MIX_LOOP, .interval = "main"},
        {.edges = true},
        {.level = PM_MIX_MODULE,
         .at = &(struct pm_parameters){.n = 1, .names = {"N"}, .values = {100}}},
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct pm_error err = {0};
        json_t *document = report_json(*state, &requests[i]);
        char *csv = report(*state, &requests[i], PM_REPORT_CSV, &err);
        char *table = report(*state, &requests[i], PM_REPORT_TABLE, &err);
        size_t n_lines = 0;
        for (const char *at = csv; (at = strstr(at, "\r\n")); at += 2)
            n_lines++;
        assert_int_equal(n_lines, 1 + count_rows(document));
        assert_non_null(strstr(table, "MODEL"));
        free(csv);
        free(table);
        json_decref(document);
    }
}

static void expect_error(const struct example *example, struct pm_counts_request request,
                         const char *sentence) {
    struct pm_error err = {0};
    assert_null(report(example, &request, PM_REPORT_JSON, &err));
    if (!strstr(err.text, sentence))
        fail_msg("expected \"%s\", got \"%s\"", sentence, err.text);
}

static void what_there_is_not_is_refused_with_a_sentence(void **state) {
    struct pm_counts_request request = {.level = PM_MIX_ROUTINE, .classes = "fp_add,,int_add"};
    expect_error(*state, request, "no instruction class \"\"");
    request.classes = "vex";
    expect_error(*state, request, "no instruction class \"vex\"");
    request.classes = "crypto";
    expect_error(*state, request, "nothing of this was counted");
    request.classes = NULL;
    request.routines = "absent";
    expect_error(*state, request, "no routine is called absent");
    request.routines = NULL;
    request.interval = "absent";
    expect_error(*state, request, "no routine is called so");
    request.interval = "never";
    expect_error(*state, request, "never called in the run N=9");
    request.interval = "broken";
    expect_error(*state, request, "its calls were not counted");
    request.interval = NULL;
    request.at = &(struct pm_parameters){.n = 1, .names = {"M"}, .values = {100}};
    expect_error(*state, request, "no parameter M");
}

/* ---- flagged, hierarchy ---------------------------------------------------------------------- */

static void flagged_rows_come_by_weight_with_reasons(void **state) {
    const struct example *example = *state;
    for (int format = PM_REPORT_TABLE; format <= PM_REPORT_CSV; format++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        const struct pm_report_options options = {.format = (enum pm_report_format)format};
        pm_report_flagged(out, example->structure, example->models,
                          (const struct pm_profile *const *)example->profiles, &options);
        fclose(out);
        if (format == PM_REPORT_JSON) {
            json_t *document = json_loads(text, 0, NULL);
            assert_non_null(document);
            assert_string_equal(text_of(row_at(document, 0), "label"), "main");
            assert_string_equal(json_string_value(json_array_get(
                                    json_object_get(row_at(document, 0), "reasons"), 0)),
                                "jumps");
            double weight = json_number_value(json_object_get(row_at(document, 0), "weight"));
            assert_true(fabs(weight - 1200.0 / 1708) < 1e-12);
            json_decref(document);
        } else {
            assert_non_null(strstr(text, "jumps"));
        }
        free(text);
    }
}

static void the_error_of_the_whole_lives_in_the_wild_routine(void **state) {
    const struct example *example = *state;
    const struct pm_validation_caches caches = {0};
    struct pm_validation compared[N_SIZES];
    struct pm_error err = {0};
    for (size_t k = 0; k < N_SIZES; k++) {
        compared[k] = (struct pm_validation){.measured = example->profiles[k]};
        compared[k].predicted = pm_fit_instantiate(example->structure, example->models,
                                                   &example->profiles[k]->parameters, &err);
        assert_non_null(compared[k].predicted);
    }
    for (int format = PM_REPORT_TABLE; format <= PM_REPORT_CSV; format++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        const struct pm_report_options options = {.format = (enum pm_report_format)format};
        const struct pm_hierarchy_request request = {
            .structure = example->structure,
            .models = example->models,
            .fitted = (const struct pm_profile *const *)example->profiles,
            .classes = "fp_mult",
            .caches = &caches,
            .sizes = compared,
            .n_sizes = N_SIZES,
            .together = true};
        assert_true(pm_report_hierarchy(out, &request, &options, &err));
        fclose(out);
        if (format == PM_REPORT_JSON) {
            json_t *document = json_loads(text, 0, NULL), *quantity;
            quantity = json_object_get(json_array_get(json_object_get(document, "comparisons"), 0),
                                       "quantities");
            quantity = json_array_get(quantity, 0);
            assert_true(json_number_value(json_object_get(quantity, "rest_error")) == 0);
            assert_true(json_number_value(json_object_get(quantity, "routines_error")) > 0.1);
            json_t *first = json_array_get(json_object_get(quantity, "routines"), 0);
            assert_string_equal(text_of(first, "name"), "main");
            assert_true(json_is_true(json_object_get(first, "named")));
            assert_true(json_number_value(json_object_get(first, "part_of_error")) == 1);
            json_decref(document);
        } else {
            assert_non_null(strstr(text, "main"));
        }
        free(text);
    }
    for (size_t k = 0; k < N_SIZES; k++)
        pm_profile_free((struct pm_profile *)(uintptr_t)compared[k].predicted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(elements_of_a_vector_loop_and_its_remainder_are_one_exact_row),
        TEST(rows_of_a_level_add_up_to_the_program),
        TEST(rows_are_sorted_and_cut),
        TEST(edges_have_the_models_of_the_store),
        TEST(all_formats_have_all_rows),
        TEST(what_there_is_not_is_refused_with_a_sentence),
        TEST(flagged_rows_come_by_weight_with_reasons),
        TEST(the_error_of_the_whole_lives_in_the_wild_routine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
