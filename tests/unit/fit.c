/* The modelling stage: exact counts come back exactly, noise does not make models oscillate, bad
   input gets a sentence, and predicted edges obey flow conservation. */
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
#include "fit/series/private.h"
#include "tests/unit/fitter.h"
#include "tests/unit/uniform.h"

/* ---- one series ----------------------------------------------------------------------------- */

static double value_at(const struct fitter *f, const struct pm_model *model, double x) {
    struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {x}};
    struct pm_error err = {0};
    double value = NAN;
    assert_true(pm_model_evaluate(f->basis, model, &at, &value, &err));
    return value;
}

static const char *const monomials[] = {"1", "N", "N^2", "N^3", "N^4"};
static const double sizes[] = {24, 32, 40, 48, 56, 64};
enum { N_SIZES = 6 };

static void exact_polynomials_come_back_exactly(void **state) {
    (void)state;
    static const struct {
        double coefficients[5];
        const char *text;
    } cases[] = {
        {{-8, 12, -6, 1, 0}, "N^3 - 6*N^2 + 12*N - 8"}, /* (N−2)³ */
        {{0, 0.5, 0.5, 0, 0}, "0.5*N^2 + 0.5*N"},
        {{17, 0, 0, 0, 0}, "17"},
        {{0, 0, 0, 0, 3}, "3*N^4"},
        {{-10, 1, 0, 0, 0}, "N - 10"},
        {{24, -50, 35, -10, 1}, "N^4 - 10*N^3 + 35*N^2 - 50*N + 24"},
        {{-100000, 0, 0, 1000, 0}, "1000*N^3 - 100000"},
        {{0, 0, 0, 0, 0}, "0"},
    };
    struct fitter f = fitter_new(monomials, 5, sizes, N_SIZES);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double y[N_SIZES];
        for (size_t k = 0; k < N_SIZES; k++) {
            y[k] = 0;
            for (int j = 4; j >= 0; j--)
                y[k] = y[k] * sizes[k] + cases[i].coefficients[j];
        }
        struct pm_model model;
        pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
        char *text = pm_model_text(f.basis, &model);
        assert_string_equal(text, cases[i].text);
        free(text);
        assert_true(model.exact);
        assert_int_equal(model.n_points, N_SIZES);
        assert_true(model.relative_error == 0 && model.leave_one_out_error == 0);
    }
    fitter_free(&f);
}

static void small_random_numbers_are_not_taken_for_an_exact_polynomial(void **state) {
    (void)state;
    struct fitter f = fitter_new(monomials, 5, sizes, N_SIZES);
    unsigned n_exact = 0;
    for (int i = 0; i < 1000; i++) {
        struct pm_model model;
        double y[N_SIZES];
        for (size_t k = 0; k < N_SIZES; k++)
            y[k] = floor(uniform(1, 20));
        pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
        n_exact += model.exact;
    }
    fitter_free(&f);
    assert_int_equal(n_exact, 0);
}

/* Without its integer test this is plain least squares; N log N is in the basis, as a user's may
 * be. */
static void other_basis_functions_are_found(void **state) {
    (void)state;
    static const char *const texts[] = {"1", "N", "N*log2(N)", "N^2"};
    struct fitter f = fitter_new(texts, 4, sizes, N_SIZES);
    double y[N_SIZES];
    for (size_t k = 0; k < N_SIZES; k++)
        y[k] = 2.5 * sizes[k] * log2(sizes[k]) + 3 * sizes[k];
    struct pm_model model;
    pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
    assert_int_equal(model.n_terms, 2);
    assert_int_equal(model.terms[0], 1);
    assert_int_equal(model.terms[1], 2);
    assert_true(fabs(model.coefficients[0] - 3) < 1e-6);
    assert_true(fabs(model.coefficients[1] - 2.5) < 1e-7);
    fitter_free(&f);
}

/* Growing data with noise: the model must grow everywhere up to eight times the largest size. */
static void noise_does_not_make_models_oscillate(void **state) {
    (void)state;
    struct fitter f = fitter_new(monomials, 5, sizes, N_SIZES);
    unsigned n_close = 0, n_all = 0;
    for (int i = 0; i < 500; i++) {
        double y[N_SIZES], noise = i % 2 ? 0.002 : 0.05;
        for (size_t k = 0; k < N_SIZES; k++)
            y[k] = floor(1000 * pow(sizes[k], 1 + i % 3) * (1 + uniform(-noise, noise)));
        struct pm_model model;
        pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
        double before = 0, largest = value_at(&f, &model, 512);
        for (double x = 24; x <= 512; x += 2) {
            double value = value_at(&f, &model, x);
            assert_true(value >= before - 1e-5 * largest);
            before = value;
        }
        if (i % 2 && i % 3) {
            n_all++;
            n_close += fabs(value_at(&f, &model, 128) / (1000 * pow(128, 1 + i % 3)) - 1) < 0.1;
        }
    }
    assert_true(n_close > 0.9 * n_all);
    fitter_free(&f);
}

static void falling_and_late_series_stay_sane(void **state) {
    (void)state;
    struct fitter f = fitter_new(monomials, 5, sizes, N_SIZES);
    struct pm_model model;
    static const double falling[] = {1000, 700, 520, 410, 330, 280};
    pm_series_fit(f.workspace, falling, PM_SERIES_COUNT, &model);
    for (double x = 24; x <= 512; x += 8) {
        assert_true(value_at(&f, &model, x) >= 0);
        assert_true(value_at(&f, &model, x) <= 1100);
    }
    static const double late[] = {0, 0, 0, 310, 420, 590};
    pm_series_fit(f.workspace, late, PM_SERIES_COUNT, &model);
    assert_int_equal(model.n_points, 3);
    assert_int_equal(model.n_terms, 1);
    assert_true(value_at(&f, &model, 128) >= 500 && value_at(&f, &model, 128) <= 1e4);
    static const double once[] = {0, 0, 0, 0, 0, 590};
    pm_series_fit(f.workspace, once, PM_SERIES_COUNT, &model);
    assert_true(value_at(&f, &model, 128) == 590);
    assert_true(isnan(model.leave_one_out_error)); /* unknown, and said to be so */
    fitter_free(&f);
}

static void a_smallest_size_of_another_kind_is_left_out(void **state) {
    (void)state;
    struct fitter f = fitter_new(monomials, 5, sizes, N_SIZES);
    struct pm_model model;
    double y[N_SIZES] = {0.25 * 24 * 24 * 24};
    for (size_t k = 1; k < N_SIZES; k++)
        y[k] = 0.375 * sizes[k] * sizes[k] * sizes[k];
    pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
    assert_int_equal(model.n_points, N_SIZES - 1);
    assert_false(model.exact); /* it does not reproduce the smallest */
    assert_true(value_at(&f, &model, 128) == 786432);
    static const double gone[] = {7, 0, 0, 0, 0, 0};
    pm_series_fit(f.workspace, gone, PM_SERIES_COUNT, &model);
    assert_true(value_at(&f, &model, 128) == 0);
    assert_true(model.relative_error == 0);
    fitter_free(&f);
}

static void distances_never_fall_and_have_two_terms_at_most(void **state) {
    (void)state;
    struct fitter f = fitter_new(monomials, 5, sizes, N_SIZES);
    for (size_t i = 0; i < 300; i++) {
        double y[N_SIZES];
        for (size_t k = 0; k < N_SIZES; k++)
            y[k] = i % 7 == k ? NAN : uniform(0.9, 1.1) * pow(sizes[k], (double)(i % 3));
        struct pm_model model;
        pm_series_fit(f.workspace, y, PM_SERIES_DISTANCE, &model);
        assert_true(model.n_terms <= 2);
        double before = 0;
        for (double x = 24; x <= 512; x += 8) {
            assert_true(value_at(&f, &model, x) >= before * (1 - 1e-5));
            before = value_at(&f, &model, x);
        }
    }
    fitter_free(&f);
}

/* ---- the stage ------------------------------------------------------------------------------ */

/* ENTRY → 0 → 1 → 1 (loop) → 2 → EXIT, with a branch 1 → 3 → 1; counters are on edges 0, 3 and 5.
 */
static struct pm_structure *new_structure(void) {
    static const uint32_t ends[][2] = {{PM_NONE, 0}, {0, 1}, {1, 2},      {1, 1},
                                       {1, 3},       {3, 1}, {2, PM_NONE}};
    struct pm_structure *structure = pm_structure_new();
    struct pm_routine *routine = PM_PUSH(structure, routines);
    routine->name = pm_strdup("f");
    routine->display_name = pm_strdup("f");
    routine->n_blocks = 4;
    routine->n_edges = 7;
    routine->counted = true;
    for (int b = 0; b < 4; b++)
        PM_PUSH(structure, blocks);
    for (int e = 0; e < 7; e++) {
        struct pm_edge *edge = PM_PUSH(structure, edges);
        edge->from = ends[e][0];
        edge->to = ends[e][1];
        edge->counter = PM_NONE;
    }
    structure->edges[0].counter = 0;
    structure->edges[3].counter = 1;
    structure->edges[5].counter = 2;
    structure->n_counters = 3;
    return structure;
}

static struct pm_profile *new_profile(const char *parameters, double calls, double loops,
                                      double branches) {
    struct pm_error err = {0};
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    assert_true(pm_parameters_parse(parameters, &profile->parameters, &err));
    profile->n_edges = 7;
    profile->edge_counts = pm_alloc(7, sizeof *profile->edge_counts);
    double counts[7] = {calls, calls, calls, loops, branches, branches, calls};
    memcpy(profile->edge_counts, counts, sizeof counts);
    return profile;
}

static void expect_fit_error(const char *const *parameters, size_t n, const char *sentence) {
    struct pm_structure *structure = new_structure();
    struct pm_profile *profiles[8];
    struct pm_error err = {0};
    for (size_t i = 0; i < n; i++)
        profiles[i] = new_profile(parameters[i], 1, (double)i, 0);
    assert_null(pm_fit(structure, (const struct pm_profile *const *)profiles, n, NULL, NULL, &err));
    if (!strstr(err.text, sentence))
        fail_msg("expected \"%s\", got \"%s\"", sentence, err.text);
    for (size_t i = 0; i < n; i++)
        pm_profile_free(profiles[i]);
    pm_structure_free(structure);
}

static void runs_that_cannot_be_fitted_get_a_sentence(void **state) {
    (void)state;
    static const char *const two[] = {"N=1", "N=2"};
    expect_fit_error(two, 2, "3 sizes at least");
    static const char *const grid[] = {"N=1,M=1", "N=1,M=2", "N=2,M=1", "N=2,M=2"};
    expect_fit_error(grid, 4, "M has only 2 values");
    static const char *const zigzag[] = {"N=1,M=5", "N=2,M=1", "N=3,M=7", "N=4,M=2"};
    expect_fit_error(zigzag, 4, "need 5 runs at least");
    static const char *const mixed[] = {"N=1", "N=2", "N=3,M=4"};
    expect_fit_error(mixed, 3, "same parameters");
    static const char *const zero[] = {"N=0", "N=1", "N=2"};
    expect_fit_error(zero, 3, "N=0 is not a size");
    static const char *const none[] = {"N=0", "N=0", "N=0"};
    expect_fit_error(none, 3, "two runs");
    static const char *const twice[] = {"N=1", "N=2", "N=2"};
    expect_fit_error(twice, 3, "two runs have the same parameters");
}

static void a_run_of_another_build_is_refused(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure();
    struct pm_profile *profiles[3];
    struct pm_error err = {0};
    for (int i = 0; i < 3; i++)
        profiles[i] = new_profile(i == 0 ? "N=1" : i == 1 ? "N=2" : "N=3", 1, 1, 1);
    profiles[2]->n_edges = 6;
    assert_null(pm_fit(structure, (const struct pm_profile *const *)profiles, 3, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "another build"));
    for (int i = 0; i < 3; i++)
        pm_profile_free(profiles[i]);
    pm_structure_free(structure);
}

/* Fits calls = 2, loops = LOOPS(N), branches = BRANCHES(N) over N = 24 … 64, S fixed, M =
 * floor(N/16). */
static struct pm_model_set *fit_counts(const struct pm_structure *structure,
                                       double (*loops)(double), double (*branches)(double)) {
    struct pm_profile *profiles[N_SIZES];
    struct pm_error err = {0};
    struct pm_fit_statistics statistics;
    for (int i = 0; i < N_SIZES; i++) {
        double n = sizes[N_SIZES - 1 - i]; /* any order will do */
        char *text = pm_sprintf("N=%g,M=%g,S=3", n, floor(n / 16));
        profiles[i] = new_profile(text, 2, loops(n), branches(n));
        free(text);
    }
    struct pm_model_set *models = pm_fit(structure, (const struct pm_profile *const *)profiles,
                                         N_SIZES, NULL, &statistics, &err);
    if (!models)
        fail_msg("%s", err.text);
    assert_int_equal(statistics.n_models, 7);
    for (int i = 0; i < N_SIZES; i++)
        pm_profile_free(profiles[i]);
    return models;
}

static void expect_conservation(const double *counts) {
    assert_true(fabs(counts[0] - counts[1]) < 1e-6);
    assert_true(fabs(counts[1] + counts[5] - counts[2] - counts[4]) < 1e-6);
    assert_true(fabs(counts[4] - counts[5]) < 1e-6);
    assert_true(fabs(counts[2] - counts[6]) < 1e-6);
    for (int e = 0; e < 7; e++)
        assert_true(counts[e] >= 0);
}

static double cube_of_interior(double n) { return pow(n - 2, 3); }
static double square(double n) { return n * n; }

static void predicted_edges_obey_flow_conservation(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure();
    struct pm_model_set *models = fit_counts(structure, cube_of_interior, square);
    struct pm_parameters at = {0};
    struct pm_error err = {0};
    assert_true(pm_parameters_parse("N=256", &at, &err));
    struct pm_profile *profile = pm_fit_instantiate(structure, models, &at, &err);
    assert_non_null(profile);
    expect_conservation(profile->edge_counts);
    assert_true(profile->edge_counts[0] == 2);
    assert_true(profile->edge_counts[3] == 254.0 * 254 * 254);
    assert_true(profile->edge_counts[4] == 65536);
    assert_true(profile->predicted);
    assert_true(profile->extrapolation == 4);
    assert_true(profile->relative_error == 0);
    assert_int_equal(profile->n_inexact_routines, 0);
    double value;
    assert_true(pm_parameters_get(&profile->parameters, "S", &value) && value == 3);
    assert_false(pm_parameters_get(&profile->parameters, "M", &value));
    pm_profile_free(profile);
    pm_model_set_free(models);
    pm_structure_free(structure);
}

static void sizes_the_models_do_not_know_get_a_sentence(void **state) {
    (void)state;
    static const char *const wrong[][2] = {{"N=128,K=4", "they know: M, N, S"},
                                           {"N=128,S=4", "S was 3 in all runs"},
                                           {"M=3", "functions of N"},
                                           {"N=-3", "must be above 0"}};
    struct pm_structure *structure = new_structure();
    struct pm_model_set *models = fit_counts(structure, cube_of_interior, square);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pm_parameters at = {0};
        struct pm_error err = {0};
        assert_true(pm_parameters_parse(wrong[i][0], &at, &err));
        assert_null(pm_fit_instantiate(structure, models, &at, &err));
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("%s: expected \"%s\", got \"%s\"", wrong[i][0], wrong[i][1], err.text);
    }
    pm_model_set_free(models);
    pm_structure_free(structure);
}

/* Fits over A = 8 … 40, B = 12 … 60 and P = A·B; loops = A²·B, branches = A·B − B. */
static struct pm_model_set *fit_in_two(const struct pm_structure *structure, unsigned n_threads) {
    enum { SIDE = 5 };
    struct pm_profile *profiles[SIDE * SIDE];
    struct pm_error err = {0};
    struct pm_fit_options options = {.n_threads = n_threads};
    for (int i = 0; i < SIDE * SIDE; i++) {
        double a = 8 * (1 + i % SIDE), b = 12 * (SIDE - i / SIDE); /* any order will do */
        char *text = pm_sprintf("A=%g,B=%g,P=%g", a, b, a * b);
        profiles[i] = new_profile(text, 2, a * a * b, a * b - b);
        free(text);
    }
    struct pm_model_set *models = pm_fit(structure, (const struct pm_profile *const *)profiles,
                                         SIDE * SIDE, &options, NULL, &err);
    if (!models)
        fail_msg("%s", err.text);
    for (int i = 0; i < SIDE * SIDE; i++)
        pm_profile_free(profiles[i]);
    return models;
}

static void models_in_two_parameters_predict_and_obey_flow_conservation(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure();
    struct pm_model_set *models = fit_in_two(structure, 0);
    struct pm_parameters at = {0};
    struct pm_error err = {0};
    assert_true(pm_parameters_parse("A=80,B=48", &at, &err));
    struct pm_profile *profile = pm_fit_instantiate(structure, models, &at, &err);
    assert_non_null(profile);
    expect_conservation(profile->edge_counts);
    assert_true(profile->edge_counts[3] == 80.0 * 80 * 48);
    assert_true(profile->edge_counts[4] == 80.0 * 48 - 48);
    assert_true(profile->extrapolation == 2);
    assert_true(profile->relative_error == 0);
    static const char *const wrong[][2] = {{"A=80", "functions of B, which is not given: add -P B"},
                                           {"A=80,B=48,C=1", "they know: A, B, P"},
                                           {"A=80,B=-1", "B=-1 is not a size"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(&at, 0, sizeof at);
        assert_true(pm_parameters_parse(wrong[i][0], &at, &err));
        assert_null(pm_fit_instantiate(structure, models, &at, &err));
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("%s: expected \"%s\", got \"%s\"", wrong[i][0], wrong[i][1], err.text);
    }
    char *text = pm_model_text(models->basis, &models->edges[3]);
    assert_string_equal(text, "A^2*B");
    free(text);
    assert_int_equal(models->n_runs, 25);
    pm_profile_free(profile);
    pm_model_set_free(models);
    pm_structure_free(structure);
}

static void models_in_two_parameters_do_not_depend_on_threads(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure();
    void *bytes[2];
    size_t n_bytes[2];
    for (unsigned i = 0; i < 2; i++) {
        struct pm_model_set *models = fit_in_two(structure, i + 1);
        pm_model_set_encode(models, &bytes[i], &n_bytes[i]);
        pm_model_set_free(models);
    }
    assert_int_equal(n_bytes[0], n_bytes[1]);
    assert_memory_equal(bytes[0], bytes[1], n_bytes[0]);
    free(bytes[0]);
    free(bytes[1]);
    pm_structure_free(structure);
}

static double few(double n) { return n; }

/* An edge that is solved as a difference of two predictions can come out negative. */
static void inconsistent_predictions_are_repaired_and_counted(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure();
    struct pm_error err = {0};
    struct pm_parameters at = {0};
    struct pm_model_set *models = fit_counts(structure, cube_of_interior, few);
    /* A second way out, 1 → EXIT: its count is ENTRY's minus that of 2 → EXIT. */
    struct pm_edge *edge = PM_PUSH(structure, edges);
    *edge = (struct pm_edge){.from = 1, .to = PM_NONE, .counter = PM_NONE};
    structure->routines[0].n_edges = 8;
    structure->edges[6].counter = 3;
    structure->n_counters = 4;
    models->edges = pm_realloc(models->edges, 8, sizeof *models->edges);
    models->edges[7] = models->edges[6];
    models->n_edges = 8;
    models->edges[6].coefficients[0] = 5; /* more leave by 2 → EXIT than the 2 that came in */
    models->edges[7].exact = false;       /* and so it is this one that is solved */
    models->edges[7].sigma = 9;
    assert_true(pm_parameters_parse("N=64", &at, &err));
    struct pm_profile *profile = pm_fit_instantiate(structure, models, &at, &err);
    assert_non_null(profile);
    assert_int_equal(profile->n_inexact_routines, 1);
    const double *counts = profile->edge_counts;
    for (int e = 0; e < 8; e++)
        assert_true(counts[e] >= 0);
    assert_true(counts[0] == counts[1]);
    assert_true(counts[1] + counts[5] == counts[2] + counts[4] + counts[7]);
    assert_true(counts[2] == counts[6] && counts[0] == counts[6] + counts[7]);
    pm_profile_free(profile);
    pm_model_set_free(models);
    pm_structure_free(structure);
}

/* The edge into the branch has no counter, but an exact model; that out of it has one, and is not
   sure. */
static void a_count_that_is_not_sure_spoils_none_that_is(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure();
    struct pm_error err = {0};
    struct pm_parameters at = {0};
    struct pm_model_set *models = fit_counts(structure, cube_of_interior, square);
    models->edges[5].exact = false;
    models->edges[5].leave_one_out_error = models->edges[5].relative_error = 0.2;
    models->edges[5].coefficients[0] *= 1.3;
    assert_true(pm_parameters_parse("N=64", &at, &err));
    struct pm_profile *profile = pm_fit_instantiate(structure, models, &at, &err);
    assert_non_null(profile);
    expect_conservation(profile->edge_counts);
    assert_true(profile->edge_counts[4] == 64 * 64 && profile->edge_counts[5] == 64 * 64);
    assert_int_equal(profile->n_inexact_routines, 0);
    pm_profile_free(profile);
    pm_model_set_free(models);
    pm_structure_free(structure);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_polynomials_come_back_exactly),
        cmocka_unit_test(small_random_numbers_are_not_taken_for_an_exact_polynomial),
        cmocka_unit_test(other_basis_functions_are_found),
        cmocka_unit_test(noise_does_not_make_models_oscillate),
        cmocka_unit_test(falling_and_late_series_stay_sane),
        cmocka_unit_test(a_smallest_size_of_another_kind_is_left_out),
        cmocka_unit_test(distances_never_fall_and_have_two_terms_at_most),
        cmocka_unit_test(runs_that_cannot_be_fitted_get_a_sentence),
        cmocka_unit_test(a_run_of_another_build_is_refused),
        cmocka_unit_test(predicted_edges_obey_flow_conservation),
        cmocka_unit_test(sizes_the_models_do_not_know_get_a_sentence),
        cmocka_unit_test(models_in_two_parameters_predict_and_obey_flow_conservation),
        cmocka_unit_test(models_in_two_parameters_do_not_depend_on_threads),
        cmocka_unit_test(inconsistent_predictions_are_repaired_and_counted),
        cmocka_unit_test(a_count_that_is_not_sure_spoils_none_that_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
