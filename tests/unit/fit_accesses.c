/* Accesses from executions: exact counts with logarithms are found and no others, the share of
   touches is a bounded constant, and a predicted histogram holds executions times share. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/base.h"
#include "core/probe_abi.h"
#include "fit/edges/edges.h"
#include "fit/series/series.h"
#include "tests/unit/uniform.h"

enum { N_SIZES = 7, N_EDGES = 3, N_GROUPS = 3, FIRST_SIZE = 256 };

/* ---- logarithms ------------------------------------------------------------------------------ */

static double transform(double n) { return n * log2(n) / 2 + 3 * n - 7; }
static double levels(double n) { return 2 * log2(n) - 1; }
static double mixed(double n) { return n * n * log2(n) - 4 * n; }

/* Interiors of all grids from N down to 2. */
static double interiors(double n) {
    double sum = 0;
    for (; n >= 2; n /= 2)
        sum += pow(n - 1, 3);
    return sum;
}

static const double powers[] = {256, 512, 1024, 2048, 4096, 8192, 16384};

static double value_at(const struct pm_model *model, double n) {
    const double basis[PM_FIT_BASIS] = {
        1, n, n * n, n * n * n, n * n * n * n, log2(n), n * log2(n), n * n * log2(n)};
    return pm_model_value(model, basis);
}

static void exact_logarithms_come_back_exactly(void **state) {
    (void)state;
    static double (*const counts[])(double) = {transform, levels, mixed, interiors};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double y[N_SIZES];
        struct pm_model model;
        for (size_t k = 0; k < N_SIZES; k++)
            y[k] = counts[i](powers[k]);
        assert_true(pm_fit_logarithms(N_SIZES, powers, y, &model));
        assert_true(model.exact && model.leave_one_out_error == 0);
        for (size_t k = 0; k < N_SIZES; k++)
            assert_true(fabs(value_at(&model, powers[k]) / y[k] - 1) < 1e-12);
        assert_true(fabs(value_at(&model, 65536) / counts[i](65536) - 1) < 1e-12);
    }
    /* A sum over all grids has five terms, and five sizes must do. */
    static const double five[] = {4, 8, 16, 32, 64};
    double y[5];
    struct pm_model model;
    for (size_t k = 0; k < 5; k++)
        y[k] = interiors(five[k]);
    assert_true(pm_fit_logarithms(5, five, y, &model));
    assert_true(fabs(value_at(&model, 256) / interiors(256) - 1) < 1e-12);
}

static void what_sets_in_late_is_found_from_there_on(void **state) {
    (void)state;
    double y[N_SIZES] = {0};
    struct pm_model model;
    for (size_t k = 1; k < N_SIZES; k++)
        y[k] = transform(powers[k]);
    assert_true(pm_fit_logarithms(N_SIZES, powers, y, &model));
    assert_int_equal(model.n_points, N_SIZES - 1);
    assert_true(value_at(&model, 32768) == transform(32768));
}

static void no_logarithms_where_there_are_none(void **state) {
    (void)state;
    static const double others[] = {24, 32, 40, 48, 56, 64, 72};
    struct pm_model model = {.n_points = 77};
    double y[N_SIZES];
    for (size_t k = 0; k < N_SIZES; k++)
        y[k] = floor(transform(others[k]));
    assert_false(pm_fit_logarithms(N_SIZES, others, y, &model)); /* cannot be checked there */
    for (int i = 0; i < 2000; i++) {
        size_t n = i % 2 ? N_SIZES : 5;
        for (size_t k = 0; k < n; k++)
            y[k] = i % 3 == 0   ? floor(uniform(0, 20))
                   : i % 3 == 1 ? floor(uniform(0, 1e6))
                                : floor(transform(powers[k]) * uniform(0.99, 1.01));
        assert_false(pm_fit_logarithms(n, powers, y, &model));
    }
    for (size_t k = 0; k < N_SIZES; k++)
        y[k] = transform(powers[k]) + (k == 3); /* one access more at one size */
    assert_false(pm_fit_logarithms(N_SIZES, powers, y, &model));
    assert_int_equal(model.n_points, 77);
}

/* ---- the share of touches -------------------------------------------------------------------- */

static double share_of(const double *shares, size_t n, double most) {
    double executed[N_SIZES], touched[N_SIZES];
    struct pm_model model;
    for (size_t k = 0; k < n; k++) {
        executed[k] = isnan(shares[k]) ? 0 : 1e6 * (double)(k + 1);
        touched[k] = isnan(shares[k]) ? 0 : executed[k] * shares[k];
    }
    if (!pm_fit_touches_per_access(n, executed, touched, most, &model))
        return NAN;
    assert_int_equal(model.n_terms, 1);
    assert_int_equal(model.terms[0], 0); /* a constant at every size */
    return model.coefficients[0];
}

static void the_share_is_a_constant_within_what_was_measured(void **state) {
    (void)state;
    assert_true(share_of((const double[]){1, 1, 1, 1}, 4, 2) == 1);
    assert_true(fabs(share_of((const double[]){1.5, 1, 1.25, 1.25}, 4, 2) - 1.25) < 1e-12);
    assert_true(fabs(share_of((const double[]){1.4, 1.2, 1.1, 1.05}, 4, 2) - 1.05) < 1e-12);
    assert_true(fabs(share_of((const double[]){NAN, 1.5, 1, 1.25}, 4, 2) - 1.25) < 1e-12);
    assert_true(isnan(share_of((const double[]){1, 1, 2.5, 1}, 4, 2))); /* impossible */
    assert_true(isnan(share_of((const double[]){1, 0.5, 1, 1}, 4, 2))); /* records are missing */
    assert_true(isnan(share_of((const double[]){NAN, NAN, NAN, NAN}, 4, 2)));
    for (int i = 0; i < 1000; i++) {
        double shares[N_SIZES], low = INFINITY, high = 0;
        for (size_t k = 0; k < N_SIZES; k++) {
            shares[k] = uniform(1, 2);
            low = fmin(low, shares[k]);
            high = fmax(high, shares[k]);
        }
        double share = share_of(shares, N_SIZES, 2);
        assert_true(share >= low * (1 - 1e-12) && share <= high * (1 + 1e-12));
    }
}

/* ---- the stage ------------------------------------------------------------------------------- */

/* ENTRY → 0 ⟲ → EXIT.  Group 0 loads and group 1 updates in the loop; 2 is a gather. */
static struct pm_structure *new_structure(void) {
    static const uint32_t ends[N_EDGES][2] = {{PM_NONE, 0}, {0, 0}, {0, PM_NONE}};
    static const uint8_t access[N_GROUPS] = {PM_ACCESS_LOAD, PM_ACCESS_BOTH, PM_ACCESS_LOAD};
    struct pm_structure *structure = pm_structure_new();
    struct pm_routine *routine = PM_PUSH(structure, routines);
    routine->name = pm_strdup("f");
    routine->display_name = pm_strdup("f");
    routine->n_blocks = 1;
    routine->n_edges = N_EDGES;
    routine->counted = true;
    PM_PUSH(structure, blocks);
    for (uint32_t e = 0; e < N_EDGES; e++) {
        struct pm_edge *edge = PM_PUSH(structure, edges);
        edge->from = ends[e][0];
        edge->to = ends[e][1];
        edge->counter = e < 2 ? e : PM_NONE;
    }
    structure->n_counters = 2;
    for (uint32_t g = 0; g < N_GROUPS; g++) {
        PM_PUSH(structure, groups);
        struct pm_reference *reference = PM_PUSH(structure, references);
        reference->group = g;
        reference->size_bytes = 32;
        reference->access = access[g];
        reference->kind = g == 2 ? PM_ACCESS_GATHER_V : PM_ACCESS_PLAIN;
        reference->recorded = true;
    }
    return structure;
}

/* What is touched at N: alignment differs between the two smallest sizes and the others. */
static double touches(uint32_t group, double n) {
    double executed = (transform(n) + 1) * (group == 1 ? 2 : 1);
    double share = n < 4 * FIRST_SIZE ? 1 : 1.5;
    return group == 2 ? 4 * executed : share * executed;
}

static struct pm_profile *new_profile(double n) {
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    assert_true(pm_parameters_set(&profile->parameters, "N", n, NULL));
    profile->n_edges = N_EDGES;
    profile->edge_counts = pm_alloc(N_EDGES, sizeof *profile->edge_counts);
    const double counts[N_EDGES] = {1, transform(n), 1};
    memcpy(profile->edge_counts, counts, sizeof counts);
    profile->n_block_sizes = 1;
    profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
    profile->block_sizes[0] = 64;
    profile->n_histograms = N_GROUPS;
    profile->histograms = pm_alloc(N_GROUPS, sizeof *profile->histograms);
    for (uint32_t g = 0; g < N_GROUPS; g++) {
        struct pm_histogram *histogram = &profile->histograms[g].histogram;
        profile->histograms[g].group = g;
        histogram->block_bytes = 64;
        histogram->cold_loads = n / 8;
        histogram->n_bins = 1;
        histogram->bins = pm_alloc(1, sizeof *histogram->bins);
        histogram->bins[0] = (struct pm_bin){.loads = touches(g, n) - n / 8};
    }
    return profile;
}

static void predicted_histograms_hold_executions_times_share(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_structure *structure = new_structure();
    struct pm_profile *profiles[N_SIZES];
    for (int k = 0; k < N_SIZES; k++)
        profiles[k] = new_profile(FIRST_SIZE << k);
    struct pm_model_set *models =
        pm_fit(structure, (const struct pm_profile *const *)profiles, N_SIZES, NULL, NULL, &err);
    if (!models)
        fail_msg("%s", err.text);
    assert_true(models->edges[1].exact);
    assert_int_equal(models->n_histograms, N_GROUPS);
    for (uint32_t g = 0; g < N_GROUPS; g++)
        assert_true(models->histograms[g].per_execution == (g != 2)); /* a gather's is unknown */

    void *bytes, *other_bytes;
    size_t n_bytes, n_other;
    struct pm_fit_options options = {.n_threads = 3};
    struct pm_model_set *other = pm_fit(structure, (const struct pm_profile *const *)profiles,
                                        N_SIZES, &options, NULL, &err);
    assert_non_null(other);
    pm_model_set_encode(other, &other_bytes, &n_other);
    pm_model_set_encode(models, &bytes, &n_bytes);
    assert_int_equal(n_bytes, n_other); /* whatever the number of threads */
    assert_memory_equal(bytes, other_bytes, n_bytes);
    free(other_bytes);
    pm_model_set_free(other);
    struct pm_model_set *copy = pm_model_set_decode(bytes, n_bytes, &err);
    assert_non_null(copy);
    for (double n = 300; n < 1e6; n *= 1.7) {
        struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {n}};
        struct pm_profile *predicted = pm_fit_instantiate(structure, copy, &at, &err);
        assert_non_null(predicted);
        double executions = predicted->edge_counts[0] + predicted->edge_counts[1];
        assert_true(fabs(executions / (transform(n) + 1) - 1) < 1e-9);
        for (uint32_t g = 0; g < 2; g++) {
            double all = pm_histogram_accesses(&predicted->histograms[g].histogram);
            assert_true(fabs(all / (1.5 * (g + 1) * executions) - 1) < 1e-9);
        }
        pm_profile_free(predicted);
    }
    free(bytes);
    pm_model_set_free(copy);
    pm_model_set_free(models);
    for (int k = 0; k < N_SIZES; k++)
        pm_profile_free(profiles[k]);
    pm_structure_free(structure);
}

/* Two sizes of a loop that sets in late do not make a constant of what grows, and its error is
   unknown. */
static void a_late_loop_grows_on(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_structure *structure = new_structure();
    struct pm_profile *profiles[N_SIZES];
    for (int k = 0; k < N_SIZES; k++) {
        profiles[k] = new_profile(FIRST_SIZE << k);
        profiles[k]->edge_counts[1] = k < N_SIZES - 2 ? 0 : k == N_SIZES - 2 ? 1000 : 7500;
    }
    struct pm_model_set *models =
        pm_fit(structure, (const struct pm_profile *const *)profiles, N_SIZES, NULL, NULL, &err);
    if (!models)
        fail_msg("%s", err.text);
    double n = FIRST_SIZE << (N_SIZES - 1);
    assert_true(fabs(value_at(&models->edges[1], n) / 7500 - 1) < 0.01);
    assert_true(fabs(value_at(&models->edges[1], 2 * n) / (8 * 7500) - 1) < 0.1);
    assert_false(models->edges[1].exact);
    pm_model_set_free(models);
    for (int k = 0; k < N_SIZES; k++)
        pm_profile_free(profiles[k]);
    pm_structure_free(structure);
}

/* Vector iterations of all grids down to LEAST, (n − 1)² rows of n / 4 − 4 each. */
static double vectors(double n, double least) {
    double sum = 0;
    for (; n >= least; n /= 2)
        sum += pow(n - 1, 2) * (n / 4 - 4);
    return sum;
}

static void a_late_loop_of_a_routine_that_halves_its_data_is_summed_over_sizes(void **state) {
    (void)state;
    enum { HERE = 5, LEAST = 32 };
    struct pm_error err = {0};
    for (int halves = 0; halves < 2; halves++) {
        struct pm_structure *structure = pm_structure_new();
        struct pm_routine *routine = PM_PUSH(structure, routines);
        struct pm_profile *profiles[HERE];
        for (uint32_t e = 0; e < 2; e++)
            PM_PUSH(structure, edges)->counter = e;
        structure->n_counters = routine->n_edges = 2;
        for (int k = 0; k < HERE; k++) {
            double n = 4 << k;
            profiles[k] = pm_alloc(1, sizeof *profiles[k]);
            profiles[k]->extrapolation = 1;
            pm_parameters_set(&profiles[k]->parameters, "N", n, NULL);
            profiles[k]->n_edges = 2;
            profiles[k]->edge_counts = pm_alloc(2, sizeof *profiles[k]->edge_counts);
            profiles[k]->edge_counts[0] = halves ? interiors(n) : n * n;
            profiles[k]->edge_counts[1] = n < LEAST ? 0 : vectors(n, halves ? LEAST : n);
        }
        struct pm_model_set *models =
            pm_fit(structure, (const struct pm_profile *const *)profiles, HERE, NULL, NULL, &err);
        if (!models)
            fail_msg("%s", err.text);
        double predicted = value_at(&models->edges[1], 128);
        assert_true(fabs(predicted / vectors(128, halves ? LEAST : 128) - 1) < 0.02);
        pm_model_set_free(models);
        for (int k = 0; k < HERE; k++)
            pm_profile_free(profiles[k]);
        pm_structure_free(structure);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_logarithms_come_back_exactly),
        cmocka_unit_test(what_sets_in_late_is_found_from_there_on),
        cmocka_unit_test(no_logarithms_where_there_are_none),
        cmocka_unit_test(the_share_is_a_constant_within_what_was_measured),
        cmocka_unit_test(predicted_histograms_hold_executions_times_share),
        cmocka_unit_test(a_late_loop_grows_on),
        cmocka_unit_test(a_late_loop_of_a_routine_that_halves_its_data_is_summed_over_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
