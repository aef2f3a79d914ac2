/* Block sizes that were not measured, from the nearest that was: against data that is walked over
   from end to end, for which it is exact, and what holds for any histogram. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "fit/query/query.h"

static uint64_t seed = 0x9e3779b97f4a7c15;
static double random_up_to(double high) { /* [0, high) */
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return high * (double)(seed >> 11) * 0x1p-53;
}

static void add_bin(struct pm_histogram *histogram, double low, double high, double loads,
                    double stores) {
    histogram->bins = pm_realloc(histogram->bins, histogram->n_bins + 1, sizeof *histogram->bins);
    histogram->bins[histogram->n_bins++] = (struct pm_bin){
        .low = low, .high = high, .mean = (low + high) / 2, .loads = loads, .stores = stores};
}

/* An array of BYTES, 8 at a time, N_SWEEPS times. */
static struct pm_histogram sweeps(uint64_t block_bytes, double bytes, double n_sweeps) {
    double blocks = bytes / (double)block_bytes;
    struct pm_histogram histogram = {
        .block_bytes = block_bytes, .cold_loads = blocks, .sample = 1, .bytes_touched = bytes};
    add_bin(&histogram, 0, 0, n_sweeps * (bytes / 8 - blocks), 0);
    add_bin(&histogram, blocks - 1, blocks - 1, (n_sweeps - 1) * blocks, 0);
    return histogram;
}

static double loads_of(const struct pm_histogram *histogram) {
    double sum = histogram->cold_loads + histogram->beyond_loads;
    for (size_t i = 0; i < histogram->n_bins; i++)
        sum += histogram->bins[i].loads;
    return sum;
}

static void what_is_walked_over_from_end_to_end_is_exact(void **state) {
    (void)state;
    static const uint64_t sizes[] = {32, 64, 128, 4096, 16384};
    enum { N_SIZES = sizeof sizes / sizeof *sizes };
    const double bytes = 1 << 20;
    for (size_t f = 0; f < N_SIZES; f++)
        for (size_t t = 0; t < N_SIZES; t++) {
            struct pm_histogram from = sweeps(sizes[f], bytes, 5), made,
                                true_one = sweeps(sizes[t], bytes, 5);
            pm_histogram_in_blocks(&from, sizes[t], &made);
            assert_true(pm_histogram_is_valid(&made));
            assert_true(made.cold_loads == true_one.cold_loads);
            for (double cache = bytes / 16; cache <= 4 * bytes; cache *= 2) {
                double blocks = cache / (double)sizes[t];
                assert_true(pm_fully_associative_misses(&made, blocks) ==
                            pm_fully_associative_misses(&true_one, blocks));
            }
            pm_histogram_free(&from);
            pm_histogram_free(&made);
            pm_histogram_free(&true_one);
        }
}

static struct pm_histogram random_histogram(void) {
    struct pm_histogram histogram = {.block_bytes = 64, .sample = 1, .bytes_touched = NAN};
    double at = floor(random_up_to(3));
    for (int b = 0; b < 12; b++) {
        double high = at + floor(random_up_to(b < 4 ? 1 : 40));
        add_bin(&histogram, at, high, floor(random_up_to(100)), floor(random_up_to(30)));
        at = high + 1 + floor(random_up_to(b < 6 ? 2 : 300));
    }
    histogram.cold_loads = floor(random_up_to(200));
    histogram.cold_stores = floor(random_up_to(200));
    if (random_up_to(1) < 0.5) {
        histogram.at_least = at + 1;
        histogram.beyond_loads = floor(random_up_to(50));
    }
    return histogram;
}

/* misses (B, S) = misses (b, S) · b / B, at most all, where S is no distance within a bin. */
static void misses_scale_with_the_block_size(void **state) {
    (void)state;
    for (int round = 0; round < 500; round++) {
        struct pm_histogram from = random_histogram(), made;
        uint64_t bytes = UINT64_C(1) << (3 + (int)random_up_to(14));
        double share = 64.0 / (double)bytes, accesses = pm_histogram_accesses(&from);
        pm_histogram_in_blocks(&from, bytes, &made);
        assert_true(pm_histogram_is_valid(&made));
        assert_int_equal(made.block_bytes, bytes);
        assert_true(fabs(pm_histogram_accesses(&made) - accesses) < 1e-9 * accesses);
        assert_true(fabs(loads_of(&made) - loads_of(&from)) < 1e-9 * accesses);
        double last = INFINITY;
        for (double blocks = 0; blocks < 3000; blocks += 1 + floor(blocks / 7)) {
            double misses = pm_fully_associative_misses(&made, blocks);
            assert_true(misses <= last && misses <= accesses * (1 + 1e-9));
            last = misses;
        }
        for (size_t i = 0; share <= 1 && i < from.n_bins; i++) {
            double low =
                from.bins[i].low * share; /* a capacity of whole blocks at a bin's border */
            if (low != floor(low) || low < 1)
                continue;
            double wanted = pm_fully_associative_misses(&from, from.bins[i].low) * share;
            assert_true(fabs(pm_fully_associative_misses(&made, low) - wanted) <= 1e-9 * accesses);
        }
        pm_histogram_free(&from);
        pm_histogram_free(&made);
    }
}

/* ---- profiles -------------------------------------------------------------------------------- */

static struct pm_profile *profile_of(const uint64_t *sizes, size_t n) {
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->block_sizes = pm_alloc(n, sizeof *profile->block_sizes);
    profile->n_block_sizes = n;
    profile->histograms = pm_alloc(2 * n, sizeof *profile->histograms);
    for (uint32_t group = 0; group < 2; group++)
        for (size_t i = 0; i < n; i++) {
            profile->block_sizes[i] = sizes[i];
            profile->histograms[profile->n_histograms++] =
                (struct pm_group_histogram){group, sweeps(sizes[i], 1 << 20, 2 + group)};
        }
    return profile;
}

static void the_nearest_measured_size_is_taken_and_told(void **state) {
    (void)state;
    static const uint64_t measured[] = {64, 4096}, wanted[] = {32, 64, 128, 512, 1024, 32768};
    static const uint64_t from[] = {64, 0, 64, 64, 4096, 4096};
    struct pm_profile *profile = profile_of(measured, 2);
    pm_profile_interpolate(profile, wanted, 6);
    assert_int_equal(profile->n_block_sizes, 7);
    assert_int_equal(profile->n_interpolated, 5);
    for (size_t i = 0; i < 6; i++) {
        assert_true(pm_profile_has_block_size(profile, wanted[i]));
        assert_int_equal(pm_profile_interpolated_from(profile, wanted[i]), from[i]);
        for (uint32_t group = 0; group < 2; group++)
            assert_non_null(pm_profile_histogram(profile, group, wanted[i]));
    }
    for (size_t i = 1; i < profile->n_block_sizes; i++)
        assert_true(profile->block_sizes[i - 1] < profile->block_sizes[i]);
    pm_profile_free(profile);
}

static void without_reuse_distances_there_is_nothing_to_interpolate(void **state) {
    (void)state;
    static const uint64_t wanted[] = {32};
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    pm_profile_interpolate(profile, wanted, 1);
    assert_true(pm_profile_is_without_memory(profile));
    pm_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_walked_over_from_end_to_end_is_exact),
        cmocka_unit_test(misses_scale_with_the_block_size),
        cmocka_unit_test(the_nearest_measured_size_is_taken_and_told),
        cmocka_unit_test(without_reuse_distances_there_is_nothing_to_interpolate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
