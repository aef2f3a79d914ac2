/* Bases that a user gives, for all models or for a part of the program, and functions that are
   searched: what is in them is used, what cannot be fitted gets a sentence. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/base.h"
#include "fit/fit.h"
#include "tests/unit/uniform.h"

enum { N_SIZES = 8, N_EDGES = 4, OUTSIDE = 0, ITERATIONS = 2 };
static const double sizes[N_SIZES] = {16, 24, 32, 48, 64, 96, 128, 192};

static struct pm_scope *add_scope(struct pm_structure *structure, uint8_t kind, uint32_t parent,
                                  const char *name) {
    struct pm_scope *scope = PM_PUSH(structure, scopes);
    scope->kind = kind;
    scope->parent = parent;
    scope->fold = (uint32_t)structure->n_scopes - 1;
    scope->name = pm_strdup(name);
    return scope;
}

/* Routine f: ENTRY → 0 → 1 → 1 (loop f/1 i in heat.c:31) → EXIT. */
static struct pm_structure *new_structure(void) {
    static const uint32_t ends[N_EDGES][2] = {{PM_NONE, 0}, {0, 1}, {1, 1}, {1, PM_NONE}};
    struct pm_structure *structure = pm_structure_new();
    add_scope(structure, PM_SCOPE_ROUTINE, 0, "f");
    struct pm_scope *loop = add_scope(structure, PM_SCOPE_LOOP, 1, "i");
    loop->depth = 1;
    loop->line_first = 31;
    loop->file = pm_strdup("src/heat.c");
    struct pm_routine *routine = PM_PUSH(structure, routines);
    routine->name = pm_strdup("f");
    routine->display_name = pm_strdup("f");
    routine->scope = 1;
    routine->n_blocks = 2;
    routine->n_edges = N_EDGES;
    routine->counted = true;
    for (uint32_t b = 0; b < 2; b++)
        PM_PUSH(structure, blocks)->scope = 1 + b;
    for (int e = 0; e < N_EDGES; e++) {
        struct pm_edge *edge = PM_PUSH(structure, edges);
        edge->from = ends[e][0];
        edge->to = ends[e][1];
        edge->counter = PM_NONE;
    }
    structure->edges[OUTSIDE].counter = 0;
    structure->edges[ITERATIONS].counter = 1;
    structure->n_counters = 2;
    return structure;
}

typedef double function(double n);

/* Models of OUTSIDE(N) entries and LOOP(N) iterations, M being floor(N/16) and S 3. */
static struct pm_model_set *fit(function *outside, function *loop,
                                const struct pm_fit_options *options,
                                struct pm_fit_statistics *statistics, struct pm_error *err) {
    struct pm_structure *structure = new_structure();
    struct pm_profile *profiles[N_SIZES];
    for (size_t k = 0; k < N_SIZES; k++) {
        char *text = pm_sprintf("N=%g,M=%g,S=3", sizes[k], floor(sizes[k] / 16));
        profiles[k] = pm_alloc(1, sizeof *profiles[k]);
        assert_true(pm_parameters_parse(text, &profiles[k]->parameters, err));
        free(text);
        profiles[k]->n_edges = N_EDGES;
        profiles[k]->edge_counts = pm_alloc(N_EDGES, sizeof(double));
        for (int e = 0; e < N_EDGES; e++)
            profiles[k]->edge_counts[e] = outside(sizes[k]);
        profiles[k]->edge_counts[ITERATIONS] = loop(sizes[k]);
    }
    struct pm_model_set *set = pm_fit(structure, (const struct pm_profile *const *)profiles,
                                      N_SIZES, options, statistics, err);
    for (size_t k = 0; k < N_SIZES; k++)
        pm_profile_free(profiles[k]);
    pm_structure_free(structure);
    return set;
}

static void expect_model(const struct pm_model_set *set, size_t edge, const char *formula) {
    char *text = pm_model_text(set->basis, &set->edges[edge]);
    assert_string_equal(text, formula);
    free(text);
}

static double cube(double n) { return n * n * n; }
static double root(double n) { return 12 * sqrt(n) + 5; }
static double blocks_of_five(double n) { return 7 * ceil(n / 5) + 3; }
static double product(double n) { return 2 * n * floor(n / 16) + 9 * n; }

static void models_consist_of_the_functions_that_are_given(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_fit_basis basis = {NULL, "1, N, sqrt( N ), ceil(N/5), N^3"};
    const struct pm_fit_options options = {.n_bases = 1, .bases = &basis};
    struct pm_model_set *set = fit(blocks_of_five, root, &options, NULL, &err);
    if (!set)
        fail_msg("%s", err.text);
    expect_model(set, OUTSIDE, "7*ceil(N/5) + 3");
    assert_true(set->edges[OUTSIDE].exact);
    expect_model(set, ITERATIONS, "12*sqrt( N ) + 5");
    pm_model_set_free(set);
    set = fit(cube, cube, &options, NULL, &err);
    expect_model(set, OUTSIDE, "N^3");
    assert_true(set->edges[OUTSIDE].exact);
    pm_model_set_free(set);
}

/* M is floor(N/16): a function of it is as good as one of N. */
static void functions_may_name_any_parameter_of_the_runs(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_fit_basis basis = {NULL, "1, N, N*M, S*M"};
    const struct pm_fit_options options = {.n_bases = 1, .bases = &basis};
    struct pm_model_set *set = fit(product, product, &options, NULL, &err);
    if (!set)
        fail_msg("%s", err.text);
    expect_model(set, ITERATIONS, "2*N*M + 9*N");
    struct pm_parameters at = {0};
    double value = 0;
    assert_true(pm_parameters_parse("N=256,M=16,S=3", &at, &err));
    assert_true(pm_model_evaluate(set->basis, &set->edges[ITERATIONS], &at, &value, &err));
    assert_true(value == 2 * 256 * 16 + 9 * 256);
    pm_model_set_free(set);
}

static void a_scope_has_its_own_basis(void **state) {
    (void)state;
    static const char *const names[] = {"f/1", "f/1 i", "f/1 :31", "heat.c:31", "f/1 i (vector)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pm_error err = {0};
        struct pm_fit_basis bases[] = {{names[i], "1, sqrt(N)"}, {"f", "1, N^3, N^5"}};
        const struct pm_fit_options options = {.n_bases = 2, .bases = bases};
        struct pm_model_set *set = fit(cube, root, &options, NULL, &err);
        if (!set)
            fail_msg("%s", err.text);
        expect_model(set, OUTSIDE, "N^3");
        expect_model(set, ITERATIONS, "12*sqrt(N) + 5");
        assert_int_equal(set->basis->n, 9); /* the list as it begins, and what is used */
        pm_model_set_free(set);
    }
    /* The same from outside in; and the rest of the program keeps the default. */
    struct pm_error err = {0};
    struct pm_fit_basis outer = {"f*", "1, sqrt(N)"}, inner = {"f/1", "1, sqrt(N)"};
    struct pm_fit_options options = {.n_bases = 1, .bases = &outer};
    struct pm_model_set *set = fit(cube, root, &options, NULL, &err);
    assert_non_null(set);
    assert_false(set->edges[OUTSIDE].exact);
    expect_model(set, ITERATIONS, "12*sqrt(N) + 5");
    pm_model_set_free(set);
    options.bases = &inner;
    set = fit(cube, root, &options, NULL, &err);
    expect_model(set, OUTSIDE, "N^3");
    pm_model_set_free(set);
}

static void expect_error(const char *scope, const char *functions, const char *sentence,
                         size_t caret) {
    struct pm_error err = {0};
    struct pm_fit_basis basis = {scope, functions};
    const struct pm_fit_options options = {.n_bases = 1, .bases = &basis};
    struct pm_model_set *set = fit(cube, cube, &options, NULL, &err);
    if (set) {
        pm_model_set_free(set);
        fail_msg("`%s` was accepted", functions);
    }
    if (!strstr(err.text, sentence))
        fail_msg("`%s`: expected \"%s\", got \"%s\"", functions, sentence, err.text);
    if (caret == SIZE_MAX)
        return;
    const char *last_line = strrchr(err.text, '\n');
    assert_non_null(last_line);
    assert_int_equal(strspn(last_line + 1, " "), 2 + caret);
    assert_string_equal(last_line + 1 + 2 + caret, "^");
}

static void mistakes_are_pointed_at_in_the_list(void **state) {
    (void)state;
    expect_error(NULL, "1, n, n^2", "no parameter of this name (known: M N S; did you mean N?)", 3);
    expect_error(NULL, "1, N^2 + K", "no parameter of this name", 9);
    expect_error(NULL, "1, N,, N", "a number, a name or '('", 5);
    expect_error(NULL, "1, N,", "a number, a name or '('", 5);
    expect_error(NULL, "", "a number, a name or '('", 0);
    expect_error(NULL, "1, min(N, M", "',' or ')' is expected", 11);
    expect_error(NULL, "1, N) N", "an operator, ',' or the end", 4);
    expect_error(NULL, "1, log2(N-16)", "no finite value at N=16", 3);
    expect_error(NULL, "1, sqrt(300-N)", "models are kept in shape", 3);
    expect_error(NULL, "1, N, N%8, N^2", "0 at every size", 6);
    expect_error(NULL, "N, 2=3", "an operator, ',' or the end", 4);
    expect_error("g", "1, N", "no routine or loop `g`", SIZE_MAX);
    expect_error("f/2", "1, N", "no routine or loop `f/2`", SIZE_MAX);
    expect_error("f/1 j", "1, N", "no routine or loop `f/1 j`", SIZE_MAX);
    expect_error("f/1 :", "1, N", "no routine or loop", SIZE_MAX);
    expect_error("other.c:31", "1, N", "no routine or loop", SIZE_MAX);
    expect_error("", "1, N", "no routine or loop", SIZE_MAX);
}

static void what_adds_nothing_is_left_out_with_a_note(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_fit_statistics statistics;
    /* All sizes are multiples of 8; S is 3 always. */
    struct pm_fit_basis basis = {NULL, "1, N, N, ceil(N/8), S, N^2, (N+1)^2, sqrt(N)"};
    const struct pm_fit_options options = {.n_bases = 1, .bases = &basis};
    struct pm_model_set *set = fit(cube, root, &options, &statistics, &err);
    if (!set)
        fail_msg("%s", err.text);
    static const char *const left_out[] = {"N is left", "ceil(N/8) is left", "S is left",
                                           "(N+1)^2 is left"};
    assert_int_equal(statistics.n_notes, 4);
    for (size_t i = 0; i < 4; i++)
        if (!strstr(statistics.notes[i], left_out[i]))
            fail_msg("%s", statistics.notes[i]);
    expect_model(set, ITERATIONS, "12*sqrt(N) + 5");
    pm_model_set_free(set);
}

static void long_lists_are_fitted_or_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    char *text = pm_strdup("1");
    for (int i = 1; i < PM_MODEL_MAX_TERMS; i++)
        pm_append(&text, ", ceil(N/%d)", i * 7);
    struct pm_fit_basis basis = {NULL, text};
    const struct pm_fit_options options = {.n_bases = 1, .bases = &basis};
    struct pm_model_set *set = fit(blocks_of_five, root, &options, NULL, &err);
    assert_non_null(set);
    pm_model_set_free(set);
    pm_append(&text, ", N");
    basis.functions = text;
    assert_null(fit(cube, cube, &options, NULL, &err));
    assert_non_null(strstr(err.text, "16 functions at most"));
    for (int i = 0; i < 1000; i++)
        pm_append(&text, ", N^%d", i);
    basis.functions = text;
    assert_null(fit(cube, cube, &options, NULL, &err));
    assert_non_null(strstr(err.text, "longer than"));
    free(text);
}

static double three_halves(double n) { return 3 * pow(n, 1.5) + 20; }
static double with_logarithm(double n) { return 2.5 * n * n * log2(n) - 4 * n * n + 7 * n; }
static double noisy_square(double n) { return 50 * n * n * (1 + uniform(-0.02, 0.02)); }

static void search_finds_fractional_powers_and_logarithms(void **state) {
    (void)state;
    struct pm_error err = {0};
    const struct pm_fit_options options = {.search = true};
    struct pm_model_set *set = fit(three_halves, with_logarithm, &options, NULL, &err);
    if (!set)
        fail_msg("%s", err.text);
    expect_model(set, OUTSIDE, "3*N^(3/2) + 20");
    expect_model(set, ITERATIONS, "2.5*N^2*log2(N) - 4*N^2 + 7*N");
    pm_model_set_free(set);
    struct pm_fit_basis basis = {NULL, "1, N"};
    const struct pm_fit_options both = {.search = true, .n_bases = 1, .bases = &basis};
    assert_null(fit(cube, cube, &both, NULL, &err));
    assert_non_null(strstr(err.text, "leaves nothing to search"));
}

/* In how many of 100 series of COUNT there is a function that is no polynomial. */
static unsigned n_without_polynomial(function *count, bool search) {
    const struct pm_fit_options options = {.search = search};
    unsigned n_taken = 0;
    for (unsigned i = 0; i < 100; i++) {
        struct pm_error err = {0};
        struct pm_model_set *set = fit(cube, count, &options, NULL, &err);
        assert_non_null(set);
        const struct pm_model *model = &set->edges[ITERATIONS];
        bool taken = false;
        for (size_t t = 0; t < model->n_terms; t++)
            taken |= model->terms[t] >= 5;
        n_taken += taken;
        pm_model_set_free(set);
    }
    printf("# other functions than powers: in %u of 100 series%s\n", n_taken,
           search ? ", searched" : "");
    return n_taken;
}

static void search_leaves_noisy_polynomials_alone(void **state) {
    (void)state;
    assert_true(n_without_polynomial(noisy_square, true) <= 5);
}

/* Comparisons of a search tree that was built at random: 2 N ln N, each path as long as it happens
   to be. */
static double in_a_tree(double n) {
    return (1.386 * n * log2(n) - 2.8 * n) * uniform(0.998, 1.002);
}
static double noisy_line(double n) { return 50 * n * uniform(0.98, 1.02); }
static double in_eights(double n) { return 3 * n * n + n * fmod(n * 7 / 8, 8); }

static void logarithms_are_recognised_at_any_sizes(void **state) {
    (void)state;
    unsigned n_near = 0;
    assert_true(n_without_polynomial(in_a_tree, false) >= 95);
    for (unsigned i = 0; i < 20; i++) {
        struct pm_error err = {0};
        struct pm_parameters far = {0};
        double value = 0;
        struct pm_model_set *set = fit(cube, in_a_tree, NULL, NULL, &err);
        assert_non_null(set);
        assert_true(pm_parameters_parse("N=12288,M=768,S=3", &far, &err)); /* 64 times */
        assert_true(pm_model_evaluate(set->basis, &set->edges[ITERATIONS], &far, &value, &err));
        n_near += fabs(value / (12288 * (1.386 * log2(12288) - 2.8)) - 1) < 0.1;
        pm_model_set_free(set);
    }
    printf("# at 64 times the largest size: %u of 20 within 10%%\n", n_near);
    assert_true(n_near >= 15);
}

static void logarithms_are_not_taken_for_powers(void **state) {
    (void)state;
    assert_true(n_without_polynomial(noisy_square, false) <= 5);
    assert_true(n_without_polynomial(in_eights, false) == 0);
    assert_true(n_without_polynomial(noisy_line, false) <= 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_consist_of_the_functions_that_are_given),
        cmocka_unit_test(functions_may_name_any_parameter_of_the_runs),
        cmocka_unit_test(a_scope_has_its_own_basis),
        cmocka_unit_test(mistakes_are_pointed_at_in_the_list),
        cmocka_unit_test(what_adds_nothing_is_left_out_with_a_note),
        cmocka_unit_test(long_lists_are_fitted_or_refused),
        cmocka_unit_test(search_finds_fractional_powers_and_logarithms),
        cmocka_unit_test(search_leaves_noisy_polynomials_alone),
        cmocka_unit_test(logarithms_are_recognised_at_any_sizes),
        cmocka_unit_test(logarithms_are_not_taken_for_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
