/* The profile store gives back what was put in, refuses what is not a store, and loses nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "core/pm_alloc.h"
#include "core/store.h"

static char path[512];

static int set_up(void **state) {
    (void)state;
    const char *folder = getenv("TMP");
    snprintf(path, sizeof path, "%s/store-%d.pmdb", folder ? folder : "/tmp", (int)getpid());
    unlink(path);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

/* One routine, one basic block that loops, one group. */
static struct pm_structure *small_structure(uint8_t build) {
    struct pm_structure *s = pm_structure_new();
    s->isa = pm_strdup("x86-64");
    struct pm_module *module = PM_PUSH(s, modules);
    module->path = pm_strdup("./small");
    module->name = pm_strdup("small");
    module->build_id[0] = build;
    module->build_id_bytes = 20;
    struct pm_scope *scope = PM_PUSH(s, scopes);
    scope->kind = PM_SCOPE_MODULE;
    scope->name = pm_strdup("small");
    scope->routine = scope->header = PM_NONE;
    scope->fold = module->scope = 1;
    scope = PM_PUSH(s, scopes);
    scope->kind = PM_SCOPE_ROUTINE;
    scope->parent = 1;
    scope->fold = 2;
    scope->name = pm_strdup("main");
    struct pm_routine *routine = PM_PUSH(s, routines);
    routine->name = pm_strdup("main");
    routine->display_name = pm_strdup("main");
    routine->address = 0x1000;
    routine->size_bytes = 16;
    routine->scope = 2;
    routine->n_blocks = 1;
    routine->n_edges = 3;
    routine->counted = true;
    struct pm_block *block = PM_PUSH(s, blocks);
    block->address = 0x1000;
    block->size_bytes = 16;
    block->n_instructions = 4;
    block->scope = 2;
    block->loop = PM_NONE;
    block->n_references = 1;
    *PM_PUSH(s, edges) = (struct pm_edge){.from = PM_NONE, .counter = 0, .kind = PM_EDGE_ENTRY};
    *PM_PUSH(s, edges) = (struct pm_edge){.counter = 1, .kind = PM_EDGE_TAKEN};
    *PM_PUSH(s, edges) = (struct pm_edge){.to = PM_NONE, .counter = PM_NONE, .kind = PM_EDGE_EXIT};
    s->n_counters = 2;
    *PM_PUSH(s, references) =
        (struct pm_reference){.address = 0x1004, .size_bytes = 8, .access = PM_ACCESS_LOAD};
    struct pm_group *group = PM_PUSH(s, groups);
    group->scope = 2;
    group->object = pm_strdup("a");
    group->n_loads = 1;
    group->n_strides = 1;
    group->strides = pm_alloc(1, sizeof *group->strides);
    group->strides[0] = (struct pm_stride){.kind = PM_STRIDE_IS_CONSTANT, .bytes = 8};
    pm_structure_assign_keys(s);
    return s;
}

static struct pm_profile *small_profile(double n) {
    struct pm_profile *p = pm_alloc(1, sizeof *p);
    p->skipped[PM_SKIPPED_LEFT_OUT] = (struct pm_skipped_accesses){3e9, 7, n};
    assert_true(pm_parameters_set(&p->parameters, "N", n, NULL));
    p->n_edges = 3;
    p->edge_counts = pm_alloc(3, sizeof *p->edge_counts);
    p->edge_counts[0] = 1;
    p->edge_counts[1] = n - 1;
    p->edge_counts[2] = 1;
    p->n_histograms = 1;
    p->histograms = pm_alloc(1, sizeof *p->histograms);
    struct pm_histogram *h = &p->histograms[0].histogram;
    h->block_bytes = 64;
    h->cold_loads = n / 8;
    h->n_bins = 1;
    h->bins = pm_alloc(1, sizeof *h->bins);
    h->bins[0] = (struct pm_bin){.low = 0, .high = 0, .mean = 0, .loads = n - n / 8};
    p->n_block_sizes = 1;
    p->block_sizes = pm_alloc(1, sizeof *p->block_sizes);
    p->block_sizes[0] = 64;
    return p;
}

static void put(struct pm_store *store, double n) {
    struct pm_error err = {0};
    struct pm_profile *profile = small_profile(n);
    char command[] = "./small", settings[] = "command ./small {N}", notes[] = "a note";
    struct pm_run_facts facts = {.command = command,
                                 .wall_seconds = 0.5,
                                 .n_threads = 1,
                                 .n_processes = 1,
                                 .settings = settings,
                                 .notes = notes};
    bool inexact[1] = {n == 64};
    assert_true(pm_store_put_run(store, profile, NULL, &facts, inexact, 1, &err));
    pm_profile_free(profile);
}

static struct pm_store *open_new(void) {
    struct pm_error err = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_CREATE, &err);
    assert_non_null(store);
    struct pm_structure *s = small_structure(1);
    assert_true(pm_store_put_structure(store, s, &err));
    pm_structure_free(s);
    return store;
}

static void runs_come_back_whole(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put(store, 64);
    put(store, 8);
    put(store, 16);
    pm_store_close(store);

    store = pm_store_open(path, PM_STORE_READ, &err);
    assert_non_null(store);
    struct pm_parameters *runs;
    size_t n_runs;
    assert_true(pm_store_runs(store, &runs, &n_runs, &err));
    assert_int_equal(n_runs, 3);
    assert_true(runs[0].values[0] == 8 && runs[2].values[0] == 64);
    struct pm_profile *profile = pm_store_profile(store, &runs[2], &err);
    assert_non_null(profile);
    assert_int_equal(profile->n_edges, 3);
    assert_true(profile->edge_counts[1] == 63);
    assert_int_equal(profile->n_inexact_routines, 1);
    assert_true(profile->skipped[PM_SKIPPED_LEFT_OUT].loads == 3e9);
    assert_true(profile->skipped[PM_SKIPPED_LEFT_OUT].stores == 7);
    assert_true(profile->skipped[PM_SKIPPED_LEFT_OUT].executions == 64);
    assert_true(profile->skipped[PM_SKIPPED_STOPPED].loads == 0);
    assert_int_equal(profile->n_block_sizes, 1);
    const struct pm_histogram *h = pm_profile_histogram(profile, 0, 64);
    assert_non_null(h);
    assert_true(h->cold_loads == 8 && h->n_bins == 1 && h->bins[0].loads == 56);
    assert_null(pm_profile_histogram(profile, 0, 128));
    pm_profile_free(profile);
    struct pm_run_facts facts;
    assert_true(pm_store_run_facts(store, &runs[0], &facts, &err));
    assert_string_equal(facts.notes, "a note");
    pm_run_facts_free(&facts);
    free(runs);
    pm_store_close(store);
}

static void a_run_that_is_there_is_found(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put(store, 16);
    struct pm_parameters at = {0};
    pm_parameters_set(&at, "N", 16, NULL);
    const uint64_t have[] = {64}, more[] = {64, 128}, part[] = {6};
    const char *settings = "command ./small {N}";
    bool found;
    assert_true(pm_store_has_run(store, &at, settings, have, 1, &found, &err) && found);
    assert_true(pm_store_has_run(store, &at, settings, more, 2, &found, &err) && !found);
    assert_true(pm_store_has_run(store, &at, settings, part, 1, &found, &err) && !found);
    assert_true(pm_store_has_run(store, &at, "other", have, 1, &found, &err) && !found);
    pm_parameters_set(&at, "N", 17, NULL);
    assert_true(pm_store_has_run(store, &at, settings, have, 1, &found, &err) && !found);
    assert_null(pm_store_profile(store, &at, &err));
    assert_int_equal(err.kind, PM_ERROR_NONE);
    pm_store_close(store);
}

static void a_run_replaces_the_one_of_its_size(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put(store, 16);
    put(store, 16);
    struct pm_parameters *runs;
    size_t n_runs;
    assert_true(pm_store_runs(store, &runs, &n_runs, &err));
    assert_int_equal(n_runs, 1);
    free(runs);
    pm_store_close(store);
}

/* The times of small_structure's routine. */
static struct pm_times *small_times(double seconds) {
    struct pm_times *times = pm_alloc(1, sizeof *times);
    *PM_PUSH(times, scopes) =
        (struct pm_scope_time){.scope = 2, .seconds = seconds, .entries = 5, .threads = 2};
    times->outside_seconds = 0.25;
    times->own_seconds = 0.001;
    times->cpu_seconds = seconds + 0.25;
    times->plain_seconds = seconds;
    times->over_plain = 1.01;
    times->repetitions = 3;
    times->machine = pm_strdup("Some Processor");
    return times;
}

static struct pm_parameters size_of(double n) {
    struct pm_parameters at = {0};
    assert_true(pm_parameters_set(&at, "N", n, NULL));
    return at;
}

static void assert_times(struct pm_store *store, double n, double seconds) {
    struct pm_error err = {0};
    struct pm_parameters at = size_of(n);
    struct pm_structure *structure = small_structure(1);
    struct pm_times *times = pm_store_times(store, &at, &err);
    assert_non_null(times);
    assert_true(pm_times_fit(times, structure, &err));
    assert_int_equal(times->n_scopes, 1);
    assert_true(times->scopes[0].seconds == seconds && times->scopes[0].entries == 5);
    assert_int_equal(times->scopes[0].threads, 2);
    assert_true(times->outside_seconds == 0.25 && times->own_seconds == 0.001);
    assert_true(times->cpu_seconds == seconds + 0.25 && times->over_plain == 1.01);
    assert_int_equal(times->repetitions, 3);
    assert_string_equal(times->machine, "Some Processor");
    assert_null(times->notes);
    pm_times_free(times);
    pm_structure_free(structure);
}

static void assert_no_times(struct pm_store *store, double n) {
    struct pm_error err = {0};
    struct pm_parameters at = size_of(n);
    assert_null(pm_store_times(store, &at, &err));
    assert_int_equal(err.kind, PM_ERROR_NONE);
}

static void times_belong_to_a_run(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    struct pm_times *times = small_times(1), *later = small_times(2);
    struct pm_parameters at = size_of(16), missing = size_of(17);
    put(store, 16);
    put(store, 64);
    assert_no_times(store, 16);
    assert_true(pm_store_put_times(store, &at, times, &err));
    assert_times(store, 16, 1);
    assert_no_times(store, 64);
    assert_true(pm_store_put_times(store, &at, later, &err));
    assert_times(store, 16, 2);
    assert_false(pm_store_put_times(store, &missing, times, &err));
    assert_non_null(strstr(err.text, "no run of that size"));
    put(store, 16); /* a new run, of which no times are known yet */
    assert_no_times(store, 16);
    pm_times_free(times);
    pm_times_free(later);
    pm_store_close(store);
}

static void times_of_another_program_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 6; fault++) {
        struct pm_error err = {0};
        struct pm_structure *structure = small_structure(1);
        struct pm_times *times = small_times(1);
        if (fault == 0)
            times->scopes[0].scope = 3;
        else if (fault == 1)
            times->scopes[0].scope = 1;
        else if (fault == 2)
            times->scopes[0].seconds = NAN;
        else if (fault == 3)
            times->outside_seconds = -1;
        else if (fault == 4)
            *PM_PUSH(times, scopes) = (struct pm_scope_time){.scope = 2};
        assert_true(pm_times_fit(times, structure, &err) == (fault == 5));
        assert_true((err.kind == PM_ERROR_NONE) == (fault == 5));
        pm_times_free(times);
        pm_structure_free(structure);
    }
}

/* ---- histograms ------------------------------------------------------------------------------ */

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

static void run_sql(const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
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

/* ---- earlier versions ------------------------------------------------------------------------ */

static const char as_version_2[] =
    "CREATE TABLE old (run INTEGER, scope_group INTEGER, block_bytes INTEGER, cold INTEGER,"
    " accesses INTEGER, data BLOB, PRIMARY KEY (run, scope_group, block_bytes)) WITHOUT ROWID;"
    "INSERT INTO old SELECT run, scope_group, block_bytes, cold, accesses, data FROM histogram;"
    "DROP TABLE histogram; DROP TABLE stream; DROP TABLE skipped; DROP TABLE estimate;"
    "ALTER TABLE old RENAME TO histogram;"
    "PRAGMA user_version=2";
static const char as_version_1[] = "DROP TABLE time; DROP TABLE timing; PRAGMA user_version=1";

static void assert_histogram(struct pm_store *store) {
    struct pm_error err = {0};
    struct pm_parameters at = size_of(16);
    struct pm_profile *profile = pm_store_profile(store, &at, &err);
    assert_non_null(profile);
    assert_int_equal(profile->n_histograms, 1);
    assert_true(pm_profile_histogram(profile, 0, 64)->bins[0].loads == 14);
    pm_profile_free(profile);
}

/* Version 1 had no tables for times, 2 none for streams. */
static void stores_of_earlier_versions_are_read_and_extended(void **state) {
    (void)state;
    for (unsigned version = 1; version <= 2; version++) {
        struct pm_error err = {0};
        unlink(path);
        struct pm_store *store = open_new();
        put(store, 16);
        pm_store_close(store);
        run_sql(as_version_2);
        if (version == 1)
            run_sql(as_version_1);
        store = pm_store_open(path, PM_STORE_READ, &err);
        assert_non_null(store);
        assert_no_times(store, 16);
        assert_histogram(store);
        pm_store_close(store);
        store = pm_store_open(path, PM_STORE_CREATE, &err);
        assert_non_null(store);
        assert_histogram(store);
        struct pm_times *times = small_times(3);
        struct pm_parameters at = size_of(16);
        assert_true(pm_store_put_times(store, &at, times, &err));
        assert_times(store, 16, 3);
        put(store, 64);
        pm_times_free(times);
        pm_store_close(store);
        store = pm_store_open(path, PM_STORE_READ, &err);
        assert_histogram(store);
        pm_store_close(store);
    }
}

static struct pm_run_patterns *small_patterns(double loads) {
    struct pm_run_patterns *patterns = pm_alloc(1, sizeof *patterns);
    struct pm_bin bin = {.low = 3, .high = 3, .mean = 3, .loads = loads};
    struct pm_histogram histogram = {.block_bytes = 64, .n_bins = 1, .bins = &bin, .sample = 1};
    pm_run_patterns_add(patterns, 0, 2, PM_NONE, false, &histogram);
    pm_run_patterns_sort(patterns);
    return patterns;
}

static void check_patterns(struct pm_store *store, double n, double loads) {
    struct pm_error err = {0};
    struct pm_parameters at = {0};
    const uint64_t sizes[] = {64, 128};
    bool any, one, both;
    pm_parameters_set(&at, "N", n, NULL);
    assert_true(pm_store_has_patterns(store, &at, NULL, 0, &any, &err));
    assert_true(pm_store_has_patterns(store, &at, sizes, 1, &one, &err));
    assert_true(pm_store_has_patterns(store, &at, sizes, 2, &both, &err));
    assert_true(any == (loads > 0) && one == any && !both);
    struct pm_run_patterns *patterns = pm_store_patterns(store, &at, &err);
    assert_string_equal(err.text, "");
    assert_true((patterns != NULL) == any);
    if (patterns) {
        assert_int_equal(patterns->n_groups, 1);
        assert_int_equal(patterns->groups[0].n_patterns, 1);
        assert_int_equal(patterns->groups[0].patterns[0].source, 2);
        assert_int_equal(patterns->groups[0].patterns[0].carrier, PM_NONE);
        assert_true(patterns->groups[0].patterns[0].histogram.bins[0].loads == loads);
    }
    pm_run_patterns_free(patterns);
}

static void reuse_patterns_belong_to_a_run(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    struct pm_parameters at = {0}, other = {0};
    struct pm_run_patterns *five = small_patterns(5), *seven = small_patterns(7);
    pm_parameters_set(&at, "N", 16, NULL);
    pm_parameters_set(&other, "N", 17, NULL);
    put(store, 16);
    put(store, 8);
    check_patterns(store, 16, 0);
    assert_false(pm_store_put_patterns(store, &other, five, &err));
    assert_non_null(strstr(err.text, "no run of this size"));
    err = (struct pm_error){0};
    assert_true(pm_store_put_patterns(store, &at, five, &err));
    assert_true(pm_store_put_patterns(store, &at, seven, &err));
    check_patterns(store, 16, 7);
    check_patterns(store, 8, 0);
    put(store, 16);
    check_patterns(store, 16, 0);
    pm_store_close(store);
    pm_run_patterns_free(five);
    pm_run_patterns_free(seven);
}

static void another_build_is_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    struct pm_structure *same = small_structure(1), *other = small_structure(2);
    assert_true(pm_store_put_structure(store, same, &err));
    assert_false(pm_store_put_structure(store, other, &err));
    assert_non_null(strstr(err.text, "another build of small"));
    struct pm_structure *kept = pm_store_structure(store, &err);
    assert_non_null(kept);
    assert_true(pm_structure_hash(kept) == pm_structure_hash(same));
    pm_structure_free(kept);
    pm_structure_free(same);
    pm_structure_free(other);
    pm_store_close(store);
}

/* Every truncation and a damaged byte every few: an error or the right answer, never a crash. */
static void a_damaged_store_never_crashes(void **state) {
    (void)state;
    struct pm_store *store = open_new();
    put(store, 16);
    pm_store_close(store);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static unsigned char bytes[1 << 18];
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct pm_parameters at = {0};
    pm_parameters_set(&at, "N", 16, NULL);
    for (size_t i = 0; i < 2 * n; i += 173) {
        size_t length = i < n ? i : n;
        unsigned char *byte = &bytes[i < n ? 0 : i - n], saved = *byte;
        if (i >= n)
            *byte ^= 0x55;
        file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(bytes, 1, length, file);
        fclose(file);
        *byte = saved;
        struct pm_error err = {0};
        store = pm_store_open(path, PM_STORE_READ, &err);
        if (!store) {
            assert_non_null(strstr(err.text, path));
            continue;
        }
        struct pm_structure *structure = pm_store_structure(store, &err);
        struct pm_profile *profile = pm_store_profile(store, &at, &err);
        if (structure)
            pm_structure_free(structure);
        if (profile)
            pm_profile_free(profile);
        pm_store_close(store);
    }
}

static void foreign_files_are_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    assert_null(pm_store_open(path, PM_STORE_READ, &err));
    assert_non_null(strstr(err.text, "no such store"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("words, words, words: this is no database, however long it may be", file);
    fclose(file);
    assert_null(pm_store_open(path, PM_STORE_CREATE, &err));
    assert_non_null(strstr(err.text, "not a pmodel store"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_come_back_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_is_there_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_replaces_the_one_of_its_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_belong_to_a_run, set_up, tear_down),
        cmocka_unit_test(times_of_another_program_are_refused),
        cmocka_unit_test_setup_teardown(threads_are_kept_apart_and_summed_without_the_shared_stream,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(histograms_of_a_replaced_run_are_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(histograms_of_unknown_streams_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(stores_of_earlier_versions_are_read_and_extended, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(reuse_patterns_belong_to_a_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_build_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_store_never_crashes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_files_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
