/* Sizes that do not go with the others: found across groups and left out; and why a series is hard
   to model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/base.h"
#include "fit/fit.h"
#include "fit/algebra/algebra.h"

enum { N_GROUPS = 12, N_SIZES = 10 };

static double uniform(double low, double high) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

/* What each size of a test is like; sizes are 16, 24 … */
struct world {
    size_t n;
    double
        far[N_SIZES + 10]; /* touches of groups 0 … n_moved - 1 are so many times what they were */
    size_t n_moved;
    double noise;
};

static struct pm_structure *new_structure(void) {
    struct pm_structure *structure = pm_structure_new();
    for (int g = 0; g < N_GROUPS; g++)
        PM_PUSH(structure, groups);
    return structure;
}

/* Group g touches (g + 1)·N² + 40·N times, an eighth of them cold, half at distance 0. */
static struct pm_profile *new_profile(const struct world *world, size_t k) {
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    double n = 16 + 8 * (double)k;
    assert_true(pm_parameters_set(&profile->parameters, "N", n, NULL));
    profile->n_block_sizes = 1;
    profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
    profile->block_sizes[0] = 64;
    profile->n_histograms = N_GROUPS;
    profile->histograms = pm_alloc(N_GROUPS, sizeof *profile->histograms);
    profile->edge_counts = pm_alloc(1, sizeof *profile->edge_counts);
    for (uint32_t g = 0; g < N_GROUPS; g++) {
        struct pm_histogram *histogram = &profile->histograms[g].histogram;
        double touches = (g + 1) * 100 * n * n + 4000 * n;
        touches *= 1 + uniform(-world->noise, world->noise);
        double moved = g < world->n_moved ? world->far[k] : 1;
        profile->histograms[g].group = g;
        histogram->block_bytes = 64;
        histogram->sample = 1;
        histogram->bytes_touched = NAN;
        histogram->cold_loads = round(touches / 8);
        histogram->n_bins = 2;
        histogram->bins = pm_alloc(2, sizeof *histogram->bins);
        histogram->bins[0] = (struct pm_bin){.loads = round(touches / 2)};
        histogram->bins[1] = (struct pm_bin){.low = n, .high = n, .mean = n};
        histogram->bins[1].loads = round(touches * 0.375 * moved);
    }
    return profile;
}

/* The models of a world; *STATISTICS has what was found. */
static struct pm_model_set *fit(const struct world *world, const struct pm_fit_options *options,
                                struct pm_fit_statistics *statistics) {
    struct pm_structure *structure = new_structure();
    struct pm_profile *profiles[N_SIZES + 10];
    struct pm_error err = {0};
    for (size_t k = 0; k < world->n; k++) /* in any order */
        profiles[(k + 3) % world->n] = new_profile(world, k);
    const struct pm_fit_options one_thread = {.n_threads = 1};
    struct pm_model_set *set = pm_fit(structure, (const struct pm_profile *const *)profiles,
                                      world->n, options ? options : &one_thread, statistics, &err);
    if (!set)
        fail_msg("%s", err.text);
    for (size_t k = 0; k < world->n; k++)
        pm_profile_free(profiles[k]);
    pm_structure_free(structure);
    return set;
}

static struct world regular(size_t n) {
    struct world world = {.n = n, .n_moved = N_GROUPS};
    for (size_t k = 0; k < n; k++)
        world.far[k] = 1;
    return world;
}

static size_t count_outliers(const struct world *world) {
    struct pm_fit_statistics statistics;
    pm_model_set_free(fit(world, NULL, &statistics));
    return statistics.n_outliers;
}

static void nothing_is_found_where_there_is_no_outlier(void **state) {
    (void)state;
    struct world world = regular(N_SIZES);
    assert_int_equal(count_outliers(&world), 0);
    for (int i = 0; i < 40; i++) { /* groups that are each noisy on their own */
        world.noise = i % 2 ? 0.02 : 0.3;
        assert_int_equal(count_outliers(&world), 0);
    }
}

static void outlier_sizes_are_found_and_measured(void **state) {
    (void)state;
    struct world world = regular(N_SIZES);
    struct pm_fit_statistics statistics;
    world.far[3] = 2;
    world.far[7] = 2.5;
    pm_model_set_free(fit(&world, NULL, &statistics));
    assert_int_equal(statistics.n_outliers, 2);
    assert_false(statistics.outliers_dropped);
    double first, second;
    assert_true(pm_parameters_get(&statistics.outliers[0].parameters, "N", &first));
    assert_true(pm_parameters_get(&statistics.outliers[1].parameters, "N", &second));
    assert_true(first == 16 + 8 * 3 && second == 16 + 8 * 7);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(statistics.outliers[i].n_groups, N_GROUPS);
        assert_int_equal(statistics.outliers[i].of_groups, N_GROUPS);
        assert_int_equal(statistics.outliers[i].block_bytes, 64);
        assert_true(fabs(statistics.outliers[i].share - 1) < 1e-12);
    }
    /* Reuses at distances above 0 and cold touches: 3/8 of half of them are so many times as many.
     */
    assert_true(fabs(statistics.outliers[0].difference - 0.75) < 0.01);
    assert_true(fabs(statistics.outliers[1].difference - 1.125) < 0.01);
}

static void one_group_alone_makes_no_outlier(void **state) {
    (void)state;
    struct world world = regular(N_SIZES);
    world.n_moved = 1;
    world.far[4] = 5;
    assert_int_equal(count_outliers(&world), 0);
    world.n_moved = 2; /* 3 of 78 parts of the touches */
    assert_int_equal(count_outliers(&world), 0);
    world.n_moved = 9; /* 45 of 78 */
    assert_int_equal(count_outliers(&world), 1);
}

static void what_only_the_largest_sizes_do_makes_no_outlier(void **state) {
    (void)state;
    struct world world = regular(N_SIZES);
    world.far[N_SIZES - 1] = 3;
    assert_int_equal(count_outliers(&world), 0);
    world.far[N_SIZES - 2] = 3;
    assert_int_equal(count_outliers(&world), 0);
    world.far[4] = 3; /* now they are as another is */
    assert_int_equal(count_outliers(&world), 3);
}

static void what_most_sizes_do_makes_no_outlier(void **state) {
    (void)state;
    for (size_t n = 3; n < N_SIZES + 10; n++)
        for (int trial = 0; trial < 8; trial++) {
            struct world world = regular(n);
            struct pm_fit_statistics statistics;
            for (size_t k = 0; k < n; k++)
                world.far[k] = uniform(0, 1) < 0.12 * trial ? 2 : 1;
            struct pm_model_set *set =
                fit(&world, &(struct pm_fit_options){.n_threads = 1, .drop_outliers = true},
                    &statistics);
            size_t dropped = statistics.n_outliers;
            assert_true(dropped == 0 || (n - dropped >= 5 && 2 * dropped < n));
            assert_int_equal(set->n_runs, n - dropped);
            assert_int_equal(set->n_runs_dropped, dropped);
            pm_model_set_free(set);
        }
}

static void models_without_outlier_sizes_are_exact_again(void **state) {
    (void)state;
    struct world world = regular(N_SIZES);
    struct pm_fit_statistics statistics;
    struct pm_parameters at = {0};
    double with, without;
    world.far[2] = 3;
    world.far[9] = 3; /* the largest */
    struct pm_fit_options drop = {.n_threads = 1, .drop_outliers = true};
    struct pm_model_set *all = fit(&world, NULL, &statistics);
    struct pm_model_set *kept = fit(&world, &drop, &statistics);
    assert_int_equal(statistics.n_outliers, 2);
    assert_true(statistics.outliers_dropped);
    assert_true(pm_parameters_get(&kept->high, "N", &with) && with == 16 + 8 * 8);
    assert_true(pm_parameters_set(&at, "N", 200, NULL));
    double expected = 100 * 200.0 * 200 + 4000 * 200;
    assert_true(pm_model_evaluate(all->basis, &all->histograms[0].accesses, &at, &with, NULL));
    assert_true(pm_model_evaluate(kept->basis, &kept->histograms[0].accesses, &at, &without, NULL));
    assert_true(fabs(without / expected - 1) < 1e-6);
    assert_true(fabs(with / expected - 1) > 0.05);
    pm_model_set_free(all);
    pm_model_set_free(kept);
}

static void the_number_of_threads_changes_nothing(void **state) {
    (void)state;
    struct world world = regular(N_SIZES);
    struct pm_fit_statistics one, four;
    world.far[1] = 1.5;
    world.far[6] = 0.4;
    pm_model_set_free(fit(&world, &(struct pm_fit_options){.n_threads = 1}, &one));
    pm_model_set_free(fit(&world, &(struct pm_fit_options){.n_threads = 4}, &four));
    assert_int_equal(one.n_outliers, 2);
    assert_int_equal(four.n_outliers, 2);
    assert_memory_equal(one.outliers, four.outliers, sizeof one.outliers);
}

/* ---- a curve through most points ------------------------------------------------------------- */

/* Up to n/2 - 2 points that lie anywhere do not hide each other. */
static void outliers_do_not_hide_each_other(void **state) {
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        size_t n = 6 + (size_t)uniform(0, 30), most;
        double x[40], y[40], scratch[120], power = uniform(0, 3);
        bool off[40] = {0}, outlying[40];
        for (size_t k = 0; k < n; k++) {
            x[k] = 16 + 4 * (double)k;
            y[k] = 1000 * pow(x[k], power);
        }
        struct pm_robust *robust = pm_robust_new(x, n);
        most = pm_robust_most_outliers(robust);
        assert_true(2 * most < n);
        for (size_t i = 0; i < most; i++) {
            size_t k = (size_t)uniform(0, (double)n);
            if (!off[k])
                y[k] *= uniform(0, 1) < 0.5 ? uniform(2, 9) : uniform(0.1, 0.5);
            off[k] = true;
        }
        bool any = pm_robust_outliers(robust, y, 0.05, scratch, outlying), expected = false;
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(off[k], outlying[k]);
            expected |= off[k];
        }
        assert_int_equal(any, expected);
        pm_robust_free(robust);
    }
}

/* ---- why a series is hard to model ----------------------------------------------------------- */

static enum pm_regularity regularity_of(double (*value)(double), double first, double step,
                                        size_t n, unsigned *period) {
    double x[40], y[40];
    for (size_t k = 0; k < n; k++) {
        x[k] = first + step * (double)k;
        y[k] = value(x[k]);
    }
    return pm_fit_regularity(n, x, y, period);
}

static double cube(double x) { return (x - 2) * (x - 2) * (x - 2); }
static double two_to_the(double x) { return exp2(x / 16); }
static double by_fours(double x) { return x * x * (1 + fmod(x, 4)); }
static double by_threes(double x) { return fmod(x, 3) == 0 ? 5 * x : x; }
static double at_random(double x) {
    (void)x;
    return uniform(100, 1000);
}

static void the_course_of_a_series_is_told(void **state) {
    (void)state;
    unsigned period = 0;
    assert_int_equal(regularity_of(cube, 16, 8, 8, &period), PM_REGULARITY_SMOOTH);
    assert_int_equal(regularity_of(two_to_the, 16, 8, 8, &period), PM_REGULARITY_SMOOTH);
    assert_int_equal(regularity_of(by_fours, 16, 1, 16, &period), PM_REGULARITY_PERIODIC);
    assert_int_equal(period, 4);
    assert_int_equal(regularity_of(by_fours, 16, 8, 8, &period), PM_REGULARITY_SMOOTH);
    assert_int_equal(regularity_of(by_threes, 16, 1, 16, &period), PM_REGULARITY_PERIODIC);
    assert_int_equal(period, 3);
    assert_int_equal(regularity_of(cube, 16, 8, 3, &period), PM_REGULARITY_UNKNOWN);
    int n_jumps = 0;
    for (int i = 0; i < 100; i++)
        n_jumps += regularity_of(at_random, 16, 1, 20, &period) == PM_REGULARITY_JUMPS;
    assert_true(n_jumps >= 95);
}

/* ---- models of any counts -------------------------------------------------------------------- */

static void counts_get_models_in_the_order_of_their_runs(void **state) {
    (void)state;
    static const double sizes[] = {40, 8, 24, 16, 32, 48};
    struct pm_parameters runs[6] = {0};
    double counts[3 * 6];
    struct pm_error err = {0};
    for (size_t k = 0; k < 6; k++) {
        double n = sizes[k];
        assert_true(pm_parameters_set(&runs[k], "N", n, NULL));
        counts[k] = 3 * n * n - 2;
        counts[6 + k] = 0;
        counts[12 + k] = 7;
    }
    struct pm_model_set *set = pm_fit_counts(runs, 6, counts, 3, NULL, &err);
    assert_non_null(set);
    assert_int_equal(set->n_edges, 3);
    char *text = pm_model_text(set->basis, &set->edges[0]);
    assert_string_equal(text, "3*N^2 - 2");
    assert_true(set->edges[0].exact && set->edges[1].exact && set->edges[2].exact);
    free(text);
    pm_model_set_free(set);
    assert_null(pm_fit_counts(runs, 2, counts, 3, NULL, &err));
    assert_non_null(strstr(err.text, "3 sizes at least"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_found_where_there_is_no_outlier),
        cmocka_unit_test(outlier_sizes_are_found_and_measured),
        cmocka_unit_test(one_group_alone_makes_no_outlier),
        cmocka_unit_test(what_only_the_largest_sizes_do_makes_no_outlier),
        cmocka_unit_test(what_most_sizes_do_makes_no_outlier),
        cmocka_unit_test(models_without_outlier_sizes_are_exact_again),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(outliers_do_not_hide_each_other),
        cmocka_unit_test(the_course_of_a_series_is_told),
        cmocka_unit_test(counts_get_models_in_the_order_of_their_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
