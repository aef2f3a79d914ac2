/* Histograms in a store: apart by thread, summed without the shared stream, replaced, refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/store_example.h"

static void add_histogram(struct pm_streams *streams, struct pm_stream stream, uint32_t group,
                          uint64_t block_bytes, double loads) {
    struct pm_bin *bins = pm_alloc(1, sizeof *bins);
    *bins = (struct pm_bin){.low = 5, .high = 5, .mean = 5, .loads = loads};
    *PM_PUSH(streams, histograms) = (struct pm_stream_histogram){
        .stream = pm_streams_index(streams, &stream),
        .group = group,
        .histogram = {
            .block_bytes = block_bytes, .cold_loads = 1, .n_bins = 1, .bins = bins, .sample = 1}};
}

static void put_streams(struct pm_store *store, double n, struct pm_streams *streams) {
    struct pm_error err = {0};
    struct pm_profile *profile = small_profile(n);
    pm_streams_order(streams);
    assert_true(
        pm_store_put_run(store, profile, streams, &(struct pm_run_facts){0}, NULL, 0, &err));
    pm_profile_free(profile);
}

/* Two threads of one process, one of another, and what the first two did interleaved; put in
   without order, one of them in two pieces. */
static void threads_are_kept_apart_and_summed_without_the_shared_stream(void **state) {
    (void)state;
    const struct pm_stream first = {0, 1, PM_STREAM_THREAD}, second = {0, 2, PM_STREAM_THREAD},
                           other = {1, 1, PM_STREAM_THREAD}, shared = {0, 0, PM_STREAM_SHARED};
    struct pm_error err = {0};
    struct pm_streams streams = {0};
    add_histogram(&streams, first, 0, 128, 1000);
    add_histogram(&streams, first, 0, 64, 1);
    add_histogram(&streams, shared, 0, 64, 7777);
    add_histogram(&streams, second, 0, 64, 20);
    add_histogram(&streams, other, 0, 64, 300);
    add_histogram(&streams, first, 0, 64, 4);
    *PM_PUSH(&streams, estimates) = (struct pm_stream_estimate){2, 64, 1024, 5000, 70};
    *PM_PUSH(&streams, estimates) = (struct pm_stream_estimate){2, 64, 512, 6000.5, 80};
    struct pm_store *store = open_new();
    put_streams(store, 16, &streams);
    pm_streams_free(&streams);

    struct pm_parameters at = size_of(16), missing = size_of(17);
    struct pm_profile *profile = pm_store_profile(store, &at, &err);
    assert_non_null(profile);
    assert_int_equal(profile->n_histograms, 2);
    assert_true(pm_profile_histogram(profile, 0, 64)->bins[0].loads == 325);
    assert_true(pm_profile_histogram(profile, 0, 64)->cold_loads == 4);
    assert_true(pm_profile_histogram(profile, 0, 128)->bins[0].loads == 1000);
    pm_profile_free(profile);

    static const struct {
        uint64_t block_bytes;
        double loads;
        struct pm_stream stream;
    } expected[] = {{64, 5, {0, 1, PM_STREAM_THREAD}},
                    {64, 7777, {0, 0, PM_STREAM_SHARED}},
                    {64, 20, {0, 2, PM_STREAM_THREAD}},
                    {64, 300, {1, 1, PM_STREAM_THREAD}},
                    {128, 1000, {0, 1, PM_STREAM_THREAD}}};
    struct pm_histogram_cursor *cursor = pm_store_histograms(store, &at, &err);
    assert_non_null(cursor);
    struct pm_histogram_place place;
    size_t n = 0;
    for (; pm_histogram_cursor_next(cursor, &place, &err); n++) {
        struct pm_histogram histogram;
        assert_true(n < sizeof expected / sizeof *expected);
        assert_int_equal(place.group, 0);
        assert_int_equal(place.block_bytes, expected[n].block_bytes);
        assert_int_equal(place.stream->process, expected[n].stream.process);
        assert_int_equal(place.stream->thread, expected[n].stream.thread);
        assert_int_equal(place.stream->kind, expected[n].stream.kind);
        assert_true(pm_histogram_cursor_read(cursor, &histogram, &err));
        assert_true(histogram.bins[0].loads == expected[n].loads);
        pm_histogram_free(&histogram);
    }
    assert_int_equal(n, sizeof expected / sizeof *expected);
    assert_int_equal(err.kind, PM_ERROR_NONE);
    pm_histogram_cursor_free(cursor);
    struct pm_stream_estimate *estimates;
    assert_true(pm_store_estimates(store, &at, &estimates, &n, &err));
    assert_int_equal(n, 2);
    assert_int_equal(estimates[0].cache_blocks, 512);
    assert_int_equal(estimates[1].stream, 2);
    assert_true(estimates[0].misses == 6000.5 && estimates[1].standard_error == 70);
    free(estimates);
    assert_true(pm_store_estimates(store, &missing, &estimates, &n, &err) && n == 0);
    assert_null(pm_store_histograms(store, &missing, &err));
    assert_non_null(strstr(err.text, "no run of that size"));
    pm_store_close(store);
}

/* A new run of the same size leaves nothing of the old one's. */
static void histograms_of_a_replaced_run_are_gone(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_streams streams = {0};
    add_histogram(&streams, (struct pm_stream){0, 1, PM_STREAM_THREAD}, 0, 64, 1);
    add_histogram(&streams, (struct pm_stream){0, 2, PM_STREAM_THREAD}, 0, 64, 2);
    *PM_PUSH(&streams, estimates) = (struct pm_stream_estimate){1, 64, 512, 7, 1};
    struct pm_store *store = open_new();
    put_streams(store, 16, &streams);
    put(store, 16);
    struct pm_parameters at = size_of(16);
    struct pm_histogram_cursor *cursor = pm_store_histograms(store, &at, &err);
    struct pm_histogram_place place;
    assert_true(pm_histogram_cursor_next(cursor, &place, &err));
    assert_int_equal(place.stream->kind, PM_STREAM_SUM);
    assert_false(pm_histogram_cursor_next(cursor, &place, &err));
    pm_histogram_cursor_free(cursor);
    pm_streams_free(&streams);
    struct pm_stream_estimate *estimates;
    size_t n;
    assert_true(pm_store_estimates(store, &at, &estimates, &n, &err) && n == 0);
    pm_store_close(store);
}

static void histograms_of_unknown_streams_are_refused(void **state) {
    (void)state;
    static const char *const faults[] = {
        "UPDATE histogram SET stream = 1", "UPDATE stream SET kind = 'several'",
        "UPDATE stream SET stream = 3", "UPDATE histogram SET scope_group = -1",
        "UPDATE histogram SET block_bytes = 128"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct pm_error err = {0};
        unlink(path);
        struct pm_store *store = open_new();
        put(store, 16);
        pm_store_close(store);
        run_sql(faults[i]);
        store = pm_store_open(path, PM_STORE_READ, &err);
        struct pm_parameters at = size_of(16);
        assert_null(pm_store_profile(store, &at, &err));
        assert_non_null(strstr(err.text, "damaged: run that size again"));
        pm_store_close(store);
    }
}

/* What each of two threads executed, also where the run is replaced by one of one thread. */
static void edges_of_threads_are_kept(void **state) {
    (void)state;
    const struct pm_stream first = {0, 0, PM_STREAM_THREAD}, second = {0, 3, PM_STREAM_THREAD};
    struct pm_error err = {0};
    struct pm_parameters at = size_of(16), missing = size_of(17);
    struct pm_store *store = open_new();
    for (int several = 1; several >= 0; several--) {
        struct pm_streams streams = {0}, read = {0};
        size_t n_edges = 3;
        add_histogram(&streams, first, 0, 64, 1);
        for (int t = several; several && t >= 0; t--) {
            struct pm_stream_counts *row = PM_PUSH(&streams, counts);
            row->stream = pm_streams_index(&streams, t ? &second : &first);
            row->edge_counts = pm_alloc(n_edges, sizeof(double));
            row->edge_counts[1] = 7 + t;
        }
        put_streams(store, 16, &streams);
        assert_true(pm_store_thread_edges(store, &missing, n_edges, &read, &err));
        assert_int_equal(read.n_counts, 0);
        assert_true(pm_store_thread_edges(store, &at, n_edges, &read, &err));
        assert_int_equal(read.n_counts, several ? 2 : 0);
        for (size_t t = 0; t < read.n_counts; t++) {
            assert_int_equal(read.streams[read.counts[t].stream].thread, t ? 3 : 0);
            assert_true(read.counts[t].edge_counts[1] == 7.0 + (double)t);
        }
        assert_true(!several || !pm_store_thread_edges(store, &at, n_edges + 1, &read, &err));
        assert_true(!several || strstr(err.text, "damaged"));
        err = (struct pm_error){0};
        pm_streams_free(&streams);
        pm_streams_free(&read);
    }
    pm_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_are_kept_apart_and_summed_without_the_shared_stream,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(edges_of_threads_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(histograms_of_a_replaced_run_are_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(histograms_of_unknown_streams_are_refused, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("store_histograms", tests, NULL, NULL);
}
