/* core/histogram.c: misses of a cache, sums of histograms, and the stored form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/histogram.h"

/* A histogram with bins on the heap, as the functions own them. */
static struct pm_histogram make(double cold_loads, double cold_stores, const struct pm_bin *bins,
                                size_t n_bins) {
    struct pm_histogram histogram = {.block_bytes = 64,
                                     .cold_loads = cold_loads,
                                     .cold_stores = cold_stores,
                                     .n_bins = n_bins,
                                     .sample = 1};
    histogram.bins = calloc(n_bins + 1, sizeof *bins);
    memcpy(histogram.bins, bins, n_bins * sizeof *bins);
    return histogram;
}

static const struct pm_bin example[] = {
    {0, 0, 0, 100, 50}, {7, 7, 7, 10, 0}, {100, 109, 104, 20, 20}, {1000, 1000, 1000, 0, 3}};
enum { N_EXAMPLE = sizeof example / sizeof *example };

static void accesses_are_cold_ones_and_all_bins(void **state) {
    (void)state;
    struct pm_histogram histogram = make(5, 6, example, N_EXAMPLE);
    assert_true(pm_histogram_accesses(&histogram) == 5 + 6 + 150 + 10 + 40 + 3);
    pm_histogram_free(&histogram);
}

/* An access hits iff its distance is below the number of blocks. */
static void misses_are_distances_from_the_cache_size_on(void **state) {
    (void)state;
    struct pm_histogram histogram = make(5, 6, example, N_EXAMPLE);
    assert_true(pm_fully_associative_misses(&histogram, 0) == 214);
    assert_true(pm_fully_associative_misses(&histogram, 1) == 64);
    assert_true(pm_fully_associative_misses(&histogram, 7) == 64);
    assert_true(pm_fully_associative_misses(&histogram, 8) == 54);
    assert_true(pm_fully_associative_misses(&histogram, 1000) == 14);
    assert_true(pm_fully_associative_misses(&histogram, 1001) == 11);
    assert_true(pm_fully_associative_misses(&histogram, INFINITY) == 11);
    pm_histogram_free(&histogram);
}

static void a_bin_that_the_cache_size_cuts_is_evenly_spread(void **state) {
    (void)state;
    struct pm_histogram histogram = make(0, 0, &example[2], 1);
    assert_true(pm_fully_associative_misses(&histogram, 100) == 40);
    assert_float_equal(pm_fully_associative_misses(&histogram, 101), 36, 1e-12);
    assert_float_equal(pm_fully_associative_misses(&histogram, 105), 20, 1e-12);
    assert_float_equal(pm_fully_associative_misses(&histogram, 109), 4, 1e-12);
    assert_true(pm_fully_associative_misses(&histogram, 110) == 0);
    pm_histogram_free(&histogram);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void adding_joins_equal_bins_and_keeps_others(void **state) {
    (void)state;
    const struct pm_bin other[] = {{7, 7, 7, 1, 2}, {50, 50, 50, 3, 0}, {2000, 2003, 2001, 0, 9}};
    struct pm_histogram sum = make(5, 6, example, N_EXAMPLE), from = make(1, 2, other, 3);
    pm_histogram_add(&sum, &from);
    const struct pm_bin expected[] = {{0, 0, 0, 100, 50},       {7, 7, 7, 11, 2},
                                      {50, 50, 50, 3, 0},       {100, 109, 104, 20, 20},
                                      {1000, 1000, 1000, 0, 3}, {2000, 2003, 2001, 0, 9}};
    assert_int_equal(sum.n_bins, 6);
    assert_memory_equal(sum.bins, expected, sizeof expected);
    assert_true(sum.cold_loads == 6 && sum.cold_stores == 8);
    pm_histogram_free(&sum);
    pm_histogram_free(&from);
}

static void adding_merges_bins_that_overlap_partly(void **state) {
    (void)state;
    /* [15, 30] bridges [10, 19] and [20, 29]; [31, 31] stays apart. */
    const struct pm_bin one[] = {{10, 19, 12, 4, 0}, {20, 29, 22, 0, 4}, {31, 31, 31, 1, 1}};
    const struct pm_bin two[] = {{15, 30, 16, 4, 4}};
    struct pm_histogram sum = make(0, 0, one, 3), from = make(0, 0, two, 1);
    pm_histogram_add(&sum, &from);
    assert_int_equal(sum.n_bins, 2);
    assert_true(sum.bins[0].low == 10 && sum.bins[0].high == 30);
    assert_true(sum.bins[0].loads == 8 && sum.bins[0].stores == 8);
    assert_float_equal(sum.bins[0].mean, (4 * 12 + 4 * 22 + 8 * 16) / 16.0, 1e-12);
    assert_true(sum.bins[1].low == 31);
    pm_histogram_free(&sum);
    pm_histogram_free(&from);
}

static void adding_to_an_empty_histogram_copies(void **state) {
    (void)state;
    struct pm_histogram sum = {.block_bytes = 64}, from = make(1, 2, example, N_EXAMPLE);
    pm_histogram_add(&sum, &from);
    assert_int_equal(sum.n_bins, N_EXAMPLE);
    assert_memory_equal(sum.bins, example, sizeof example);
    pm_histogram_add(&from, &(struct pm_histogram){.block_bytes = 64});
    assert_int_equal(from.n_bins, N_EXAMPLE);
    pm_histogram_free(&sum);
    pm_histogram_free(&from);
}

/* Bins with the boundaries of one width, random ones taken: their sums have no other boundaries. */
static void adding_histograms_of_one_bin_width_widens_nothing(void **state) {
    (void)state;
    enum { N = 60, ROUNDS = 50 };
    struct pm_bin all[N];
    double low = 0;
    for (unsigned i = 0; i < N; i++) {
        double high = i < 20 ? low : floor(low * 1.1);
        all[i] = (struct pm_bin){low, high, (low + high) / 2, 3, 1};
        low = high + 1;
    }
    struct pm_histogram sum = {.block_bytes = 64};
    double taken[N] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct pm_bin some[N];
        size_t n = 0;
        for (unsigned i = 0; i < N; i++)
            if ((i * 7919 + round * 104729) % 5 < 2) {
                some[n++] = all[i];
                taken[i]++;
            }
        struct pm_histogram from = make(0, 0, some, n);
        pm_histogram_add(&sum, &from);
        pm_histogram_free(&from);
    }
    size_t n_taken = 0;
    for (unsigned i = 0; i < N; i++) {
        if (taken[i] == 0)
            continue;
        const struct pm_bin *bin = &sum.bins[n_taken++];
        assert_true(bin->low == all[i].low && bin->high == all[i].high);
        assert_float_equal(bin->mean, all[i].mean, 1e-9);
        assert_true(bin->loads == 3 * taken[i] && bin->stores == taken[i]);
    }
    assert_int_equal(sum.n_bins, n_taken);
    pm_histogram_free(&sum);
}

static void what_is_beyond_a_bound_counts_and_misses(void **state) {
    (void)state;
    struct pm_histogram histogram = make(5, 6, example, N_EXAMPLE);
    histogram.at_least = 2000;
    histogram.beyond_loads = 30;
    histogram.beyond_stores = 4;
    assert_true(pm_histogram_accesses(&histogram) == 214 + 34);
    assert_true(pm_fully_associative_misses(&histogram, 1001) == 11 + 34);
    pm_histogram_free(&histogram);
}

static void the_unused_share_is_of_the_blocks_first_touched(void **state) {
    (void)state;
    struct pm_histogram histogram = {.block_bytes = 64, .cold_loads = 6, .cold_stores = 4};
    histogram.bytes_touched = (double)NAN; /* not measured */
    assert_true(isnan(pm_histogram_unused_share(&histogram)));
    histogram.bytes_touched = 160;
    assert_float_equal(pm_histogram_unused_share(&histogram), 0.75, 1e-12);
    histogram.bytes_touched = 640;
    assert_true(pm_histogram_unused_share(&histogram) == 0);
    histogram.bytes_touched = 641; /* some are in blocks of others */
    assert_true(isnan(pm_histogram_unused_share(&histogram)));
    histogram = (struct pm_histogram){.block_bytes = 64, .bytes_touched = 8};
    assert_true(isnan(pm_histogram_unused_share(&histogram)));
}

static void adding_keeps_the_nearer_bound_and_the_larger_sample(void **state) {
    (void)state;
    struct pm_histogram sum = {.block_bytes = 64};
    struct pm_histogram far = {
        .at_least = 900, .beyond_loads = 1, .beyond_stores = 2, .bytes_touched = 10, .sample = 1};
    struct pm_histogram near = {
        .at_least = 500, .beyond_loads = 4, .beyond_stores = 8, .bytes_touched = 20, .sample = 64};
    struct pm_histogram exact = {.bytes_touched = 40, .sample = 1};
    pm_histogram_add(&sum, &exact);
    assert_true(sum.at_least == 0 && sum.sample == 1);
    pm_histogram_add(&sum, &far);
    pm_histogram_add(&sum, &near);
    pm_histogram_add(&sum, &far);
    pm_histogram_add(&sum, &exact);
    assert_true(sum.at_least == 500 && sum.beyond_loads == 6 && sum.beyond_stores == 12);
    assert_true(sum.bytes_touched == 120);
    assert_int_equal(sum.sample, 64);
    struct pm_histogram unknown = {.bytes_touched = (double)NAN, .sample = 1};
    pm_histogram_add(&sum, &unknown);
    pm_histogram_add(&sum, &exact);
    assert_true(isnan(sum.bytes_touched)); /* what is not known is not 0 */
    pm_histogram_free(&sum);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void decoding_gives_back_what_was_encoded(void **state) {
    (void)state;
    for (size_t n_bins = 0; n_bins <= N_EXAMPLE; n_bins++) {
        struct pm_histogram histogram = make(5.25, 6, example, n_bins), back;
        histogram.bytes_touched = n_bins == 1 ? (double)NAN : n_bins == 2 ? 0 : 77;
        histogram.at_least = 4000;
        histogram.beyond_loads = 1.5;
        histogram.beyond_stores = 3;
        histogram.sample = 64;
        struct pm_error err = {0};
        void *bytes;
        size_t n_bytes;
        pm_histogram_encode(NULL, &histogram, &bytes, &n_bytes);
        assert_true(pm_histogram_decode(NULL, bytes, n_bytes, &back, &err));
        assert_int_equal(back.block_bytes, 64);
        assert_true(back.cold_loads == 5.25 && back.cold_stores == 6);
        assert_true(back.at_least == 4000);
        assert_true(back.bytes_touched == histogram.bytes_touched ||
                    (n_bins == 1 && isnan(back.bytes_touched)));
        assert_true(back.beyond_loads == 1.5 && back.beyond_stores == 3 && back.sample == 64);
        assert_int_equal(back.n_bins, n_bins);
        assert_memory_equal(back.bins, example, n_bins * sizeof *example);
        free(bytes);
        pm_histogram_free(&histogram);
        pm_histogram_free(&back);
    }
}

static void assert_is_refused(const void *bytes, size_t n_bytes) {
    struct pm_histogram histogram;
    struct pm_error err = {0};
    assert_false(pm_histogram_decode(NULL, bytes, n_bytes, &histogram, &err));
    assert_int_equal(strncmp(err.text, "histogram: ", 11), 0);
    assert_null(histogram.bins);
}

static void assert_blob_is_refused(const struct pm_histogram *histogram) {
    void *bytes;
    size_t n_bytes;
    pm_histogram_encode(NULL, histogram, &bytes, &n_bytes);
    assert_is_refused(bytes, n_bytes);
    free(bytes);
}

/* A copy of exactly the size, so that a sanitizer sees what reads beyond it. */
static void *exact_copy(const void *bytes, size_t n_bytes) {
    void *copy = malloc(n_bytes ? n_bytes : 1);
    memcpy(copy, bytes, n_bytes);
    return copy;
}

static void a_damaged_blob_is_refused_wherever_it_is_damaged(void **state) {
    (void)state;
    struct pm_histogram histogram = make(5, 6, example, N_EXAMPLE);
    void *bytes;
    size_t n_bytes;
    pm_histogram_encode(NULL, &histogram, &bytes, &n_bytes);
    for (size_t i = 0; i < n_bytes; i++) {
        char *cut = exact_copy(bytes, i);
        assert_is_refused(cut, i);
        free(cut);
        static const unsigned char flips[] = {0x01, 0x80, 0xff};
        for (unsigned flip = 0; flip < sizeof flips; flip++) {
            char *damaged = exact_copy(bytes, n_bytes);
            damaged[i] ^= (char)flips[flip];
            /* zstd ignores one bit of its frame header; the content is the same then. */
            struct pm_histogram back;
            struct pm_error err = {0};
            if (pm_histogram_decode(NULL, damaged, n_bytes, &back, &err)) {
                assert_int_equal(back.n_bins, N_EXAMPLE);
                assert_memory_equal(back.bins, example, sizeof example);
                assert_true(i >= 24);
                pm_histogram_free(&back);
            }
            free(damaged);
        }
    }
    free(bytes);
    pm_histogram_free(&histogram);
}

/* Sound bytes that say what no histogram is. */
static void impossible_bins_are_refused(void **state) {
    (void)state;
    static const struct pm_bin bad[][2] = {
        {{5, 4, 4, 1, 0}, {10, 10, 10, 1, 0}},        {{0, 5, 4, 1, 0}, {5, 10, 10, 1, 0}},
        {{0, 0, 0, -1, 0}, {10, 10, 10, 1, 0}},       {{-1, 0, 0, 1, 0}, {10, 10, 10, 1, 0}},
        {{0, 0, 0, 1, INFINITY}, {10, 10, 10, 1, 0}}, {{0, 0, NAN, 1, 0}, {10, 10, 10, 1, 0}},
        {{10, 10, 10, 1, 0}, {0, 0, 0, 1, 0}},        {{0, NAN, 0, 1, 0}, {10, 10, 10, 1, 0}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pm_histogram histogram = make(0, 0, bad[i], 2);
        assert_blob_is_refused(&histogram);
        pm_histogram_free(&histogram);
    }
}

static void impossible_heads_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 6; fault++) {
        struct pm_histogram histogram = make(1, 1, example, N_EXAMPLE);
        histogram.cold_loads = fault == 0 ? -1 : 1;
        histogram.bytes_touched = fault == 1 ? -1 : 1;
        histogram.at_least = fault == 2 ? -1 : fault == 3 ? 0 : 9;
        histogram.beyond_loads = fault == 4 ? (double)INFINITY : 1;
        histogram.beyond_stores = fault == 5 ? -1 : 1;
        assert_blob_is_refused(&histogram);
        pm_histogram_free(&histogram);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_cold_ones_and_all_bins),
        cmocka_unit_test(misses_are_distances_from_the_cache_size_on),
        cmocka_unit_test(a_bin_that_the_cache_size_cuts_is_evenly_spread),
        cmocka_unit_test(adding_joins_equal_bins_and_keeps_others),
        cmocka_unit_test(adding_merges_bins_that_overlap_partly),
        cmocka_unit_test(adding_to_an_empty_histogram_copies),
        cmocka_unit_test(adding_histograms_of_one_bin_width_widens_nothing),
        cmocka_unit_test(what_is_beyond_a_bound_counts_and_misses),
        cmocka_unit_test(the_unused_share_is_of_the_blocks_first_touched),
        cmocka_unit_test(adding_keeps_the_nearer_bound_and_the_larger_sample),
        cmocka_unit_test(decoding_gives_back_what_was_encoded),
        cmocka_unit_test(a_damaged_blob_is_refused_wherever_it_is_damaged),
        cmocka_unit_test(impossible_bins_are_refused),
        cmocka_unit_test(impossible_heads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
