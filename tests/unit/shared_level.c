/* Misses through what a shared level serves.  If this fails, misses of levels with `serves` in
   their machine file are wrong, at whatever size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "core/shared_level/shared_level.h"

static const struct pm_response falling = {.n_points = 4,
                                           .points = {{65536, 0.95, 0.9, 1},
                                                      {1 << 20, 0.8, 0.7, 0.9},
                                                      {1 << 22, 0.2, 0.1, 0.3},
                                                      {1 << 24, 0.05, 0, 0.1}}};

/* cmocka's own compares as float. */
static void assert_within(double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g, not %.17g", found, expected);
}

static double at(const struct pm_response *response, double distance) {
    return pm_response_mean(response, distance, distance);
}

static void shares_are_linear_in_the_logarithm_of_the_distance(void **state) {
    (void)state;
    for (size_t i = 0; i < falling.n_points; i++)
        assert_within(at(&falling, falling.points[i].distance_bytes), falling.points[i].share,
                      1e-12);
    assert_within(at(&falling, 1), 0.95, 0);
    assert_within(at(&falling, 0), 0.95, 0);
    assert_within(at(&falling, 1e15), 0.05, 0);
    assert_within(at(&falling, 1 << 21), 0.5, 1e-12);
    assert_within(at(&falling, 1 << 18), 0.875, 1e-12);
    assert_within(pm_response_half_bytes(&falling), 1 << 21, 1e-3);
}

/* Sums of many small steps. */
static void means_over_ranges_are_those_of_their_distances(void **state) {
    (void)state;
    static const double ranges[][2] = {
        {0, 1000},
        {0, 1 << 20},
        {30000, 90000},
        {1 << 19, 1 << 23},
        {2e6, 2e6},
        {2e6, 2e6 + 64},
        {1 << 22, (1 << 22) + 64},
        {3e7, 4e7},
        {0, 1e8},
        {1e6, 1.0009e6},
        {1e6, 1.0011e6},
        {65536, 1 << 24},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        enum { STEPS = 200000 };
        double from = ranges[i][0], to = ranges[i][1], sum = 0;
        for (int k = 0; k < STEPS; k++)
            sum += at(&falling, from + (to - from) * (k + 0.5) / STEPS);
        assert_within(pm_response_mean(&falling, from, to), sum / STEPS, 2e-6);
    }
}

static void a_response_like_a_step_misses_what_a_cache_does(void **state) {
    (void)state;
    struct pm_bin bins[] = {{0, 0, 0, 7, 3},        {5, 20, 12, 40, 1},
                            {60, 139, 100, 80, 0},  {140, 140, 140, 5, 5},
                            {200, 900, 400, 11, 0}, {5000, 5000, 5000, 2, 0}};
    const struct pm_histogram histogram = {.block_bytes = 64,
                                           .cold_loads = 30,
                                           .cold_stores = 4,
                                           .n_bins = sizeof bins / sizeof *bins,
                                           .bins = bins,
                                           .at_least = 1e6,
                                           .beyond_loads = 9};
    for (double blocks = 1; blocks < 1200; blocks = ceil(blocks * 1.3)) {
        const struct pm_response step = {
            .n_points = 2, .points = {{64 * blocks, 1, 1, 1}, {64 * blocks * (1 + 1e-9), 0, 0, 0}}};
        assert_within(pm_distance_misses(&histogram, NAN, &step),
                      pm_fully_associative_misses(&histogram, blocks), 1e-4);
    }
    static const struct pm_response none;
    assert_true(pm_distance_misses(&histogram, 100, &none) ==
                pm_fully_associative_misses(&histogram, 100));
    /* Whatever it serves, cold accesses and those beyond all miss. */
    const struct pm_response all = {.n_points = 1, .points = {{64, 1, 1, 1}}};
    assert_within(pm_distance_misses(&histogram, NAN, &all), 30 + 4 + 9, 1e-12);
}

static void ends_have_more_and_fewer_misses_and_longer_distances_fewer(void **state) {
    (void)state;
    struct pm_bin bins[] = {{100, 20000, 9000, 50, 50}, {1e5, 1e6, 5e5, 20, 0}};
    const struct pm_histogram histogram = {.block_bytes = 64, .n_bins = 2, .bins = bins};
    const struct pm_response low = pm_response_end(&falling, false),
                             high = pm_response_end(&falling, true);
    struct pm_response farther = falling;
    pm_response_scale(&farther, 2);
    double misses = pm_distance_misses(&histogram, NAN, &falling);
    assert_true(pm_distance_misses(&histogram, NAN, &low) > misses + 5);
    assert_true(pm_distance_misses(&histogram, NAN, &high) < misses - 5);
    assert_true(pm_distance_misses(&histogram, NAN, &farther) < misses - 2);
    assert_within(at(&farther, 1 << 22), 0.5, 1e-12);
}

static void where_half_is_never_crossed_a_step_stands_at_an_end(void **state) {
    (void)state;
    const struct pm_response little = {.n_points = 2,
                                       .points = {{1000, 0.4, 0.4, 0.4}, {2000, 0, 0, 0}}},
                             much = {.n_points = 2,
                                     .points = {{1000, 1, 1, 1}, {2000, 0.7, 0.7, 0.7}}};
    assert_within(pm_response_half_bytes(&little), 1000, 0);
    assert_within(pm_response_half_bytes(&much), 2000, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_linear_in_the_logarithm_of_the_distance),
        cmocka_unit_test(means_over_ranges_are_those_of_their_distances),
        cmocka_unit_test(a_response_like_a_step_misses_what_a_cache_does),
        cmocka_unit_test(ends_have_more_and_fewer_misses_and_longer_distances_fewer),
        cmocka_unit_test(where_half_is_never_crossed_a_step_stands_at_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
