/* The profile store gives back what was put in, refuses what is not a store, and loses nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/store_example.h"

static const struct pm_response no_response;

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
    assert_true(pm_write_backs(profile, 0, 64, 16, &no_response) == 64 + 5);
    assert_true(pm_write_backs(profile, 0, 64, 17, &no_response) == 64);
    assert_true(pm_write_backs(profile, 1, 64, 16, &no_response) == 0);
    assert_true(isnan(pm_write_backs(profile, 0, 128, 16, &no_response)));
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

static void put_merged(struct pm_store *store, double n, const uint64_t *merged, size_t n_merged) {
    struct pm_error err = {0};
    struct pm_profile *profile = small_profile(n);
    profile->block_sizes = pm_realloc(profile->block_sizes, 3, sizeof *profile->block_sizes);
    profile->block_sizes[1] = 128;
    profile->block_sizes[2] = 4096;
    profile->n_block_sizes = 3;
    char settings[] = "command ./small {N}";
    struct pm_run_facts facts = {.settings = settings, .merged = merged, .n_merged = n_merged};
    assert_true(pm_store_put_run(store, profile, NULL, &facts, NULL, 1, &err));
    pm_profile_free(profile);
}

static void assert_sizes(struct pm_store *store, double n, const char *settings,
                         const char *expected) {
    struct pm_error err = {0};
    struct pm_parameters at = {0};
    pm_parameters_set(&at, "N", n, NULL);
    struct pm_run_block_sizes sizes;
    char *text = pm_strdup("");
    assert_true(pm_store_block_sizes(store, &at, settings, &sizes, &err));
    for (size_t i = 0; i < sizes.n_list; i++)
        pm_append(&text, "%s%u%s", i ? " " : "", (unsigned)sizes.list[i].bytes,
                  sizes.list[i].merged ? "m" : "");
    assert_string_equal(text, expected);
    free(text);
    free(sizes.list);
}

static void a_run_says_of_which_blocks_short_distances_are_merged(void **state) {
    (void)state;
    struct pm_store *store = open_new();
    const uint64_t merged[] = {128, 4096};
    const char *settings = "command ./small {N}";
    put_merged(store, 16, merged, 0);
    assert_sizes(store, 16, settings, "64 128 4096");
    put_merged(store, 17, merged, 2);
    assert_sizes(store, 17, settings, "64 128m 4096m");
    assert_sizes(store, 16, settings, "64 128 4096");
    put_merged(store, 17, merged, 1);
    assert_sizes(store, 17, settings, "64 128m 4096");
    assert_sizes(store, 17, "other", "");
    assert_sizes(store, 18, settings, "");
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

/* ---- runs that did not come to their end ------------------------------------------------------
 */

static void put_truncated(struct pm_store *store, double n, char *how) {
    struct pm_error err = {0};
    struct pm_profile *profile = small_profile(n);
    char command[] = "./small", settings[] = "command ./small {N}";
    struct pm_run_facts facts = {.command = command, .settings = settings, .truncated = how};
    bool inexact[1] = {false};
    assert_true(pm_store_put_run(store, profile, NULL, &facts, inexact, 1, &err));
    pm_profile_free(profile);
}

static void assert_truncated(struct pm_store *store, double n, const char *how) {
    struct pm_error err = {0};
    struct pm_parameters at = size_of(n);
    struct pm_run_facts facts;
    struct pm_profile *profile = pm_store_profile(store, &at, &err);
    assert_non_null(profile);
    assert_true(pm_store_run_facts(store, &at, &facts, &err));
    if (how) {
        assert_string_equal(profile->truncated, how);
        assert_string_equal(facts.truncated, how);
    } else {
        assert_null(profile->truncated);
        assert_null(facts.truncated);
    }
    pm_run_facts_free(&facts);
    pm_profile_free(profile);
}

static void a_truncated_run_is_marked(void **state) {
    (void)state;
    struct pm_error err = {0};
    char how[] = "was ended by signal 15 (Terminated)";
    struct pm_store *store = open_new();
    put(store, 8);
    put_truncated(store, 16, how);
    assert_truncated(store, 8, NULL);
    assert_truncated(store, 16, how);
    pm_store_close(store);
    store = pm_store_open(path, PM_STORE_CREATE, &err);
    assert_non_null(store);
    assert_truncated(store, 16, how);
    put(store, 16); /* a whole one in its place */
    assert_truncated(store, 16, NULL);
    pm_store_close(store);
}

/* ---- other versions -------------------------------------------------------------------------- */

/* A store of another format is refused, with which it is, and stays as it is. */
static void stores_of_other_versions_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *sql, *sentence;
    } versions[] = {{"PRAGMA user_version=3", "a store of format 3, of an earlier pmodel"},
                    {"PRAGMA user_version=99", "a store of format 99, of a later pmodel"}};
    pm_store_close(open_new());
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        run_sql(versions[i].sql);
        for (enum pm_store_mode mode = PM_STORE_READ; mode <= PM_STORE_CREATE; mode++) {
            struct pm_error err = {0};
            assert_null(pm_store_open(path, mode, &err));
            assert_non_null(strstr(err.text, path));
            assert_non_null(strstr(err.text, versions[i].sentence));
            assert_non_null(strstr(err.text, "measure again"));
        }
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
    assert_non_null(strstr(err.text, "no run of that size"));
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

/* A run of another build, in whose `main` nothing is the same. */
static void put_other_build(struct pm_store *store, double n) {
    struct pm_error err = {0};
    char place[] = "main a.c:3", command[] = "./small";
    struct pm_build_difference rows[] = {
        {.kind = PM_DIFFERENT_SCOPE,
         .mismatch = PM_MISMATCH_FLOW,
         .index = 2,
         .place = place,
         .accesses = 5},
        {.kind = PM_DIFFERENT_STRIDES, .index = 0, .place = place, .accesses = NAN},
    };
    struct pm_build_differences differences = {.rows = rows, .n_rows = 2, .accesses = 20};
    struct pm_run_facts facts = {.command = command, .differences = &differences};
    struct pm_profile *profile = small_profile(n);
    assert_true(pm_store_put_run(store, profile, NULL, &facts, NULL, 1, &err));
    pm_profile_free(profile);
}

static void what_builds_have_not_in_common_is_in_no_profile(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    struct pm_parameters first = size_of(16), other = size_of(32);
    struct pm_build_differences differences;
    put(store, 16);
    struct pm_structure *structure = pm_store_structure(store, &err);
    assert_int_equal(structure->scopes[2].flags & PM_SCOPE_UNMATCHED, 0);
    pm_structure_free(structure);
    put_other_build(store, 32);
    structure = pm_store_structure(store, &err);
    assert_int_equal(structure->scopes[2].flags & PM_SCOPE_UNMATCHED, PM_SCOPE_UNMATCHED);
    assert_int_equal(structure->groups[0].flags & PM_GROUP_STRIDES_VARY, PM_GROUP_STRIDES_VARY);
    pm_structure_free(structure);
    struct pm_profile *profile = pm_store_profile(store, &first, &err);
    assert_int_equal(profile->n_histograms, 0);
    assert_true(profile->edge_counts[1] == 0);
    assert_true(profile->skipped[PM_SKIPPED_UNMATCHED].loads == 16);
    pm_profile_free(profile);
    assert_true(pm_store_differences(store, &other, &differences, &err));
    assert_int_equal(differences.n_rows, 2);
    assert_string_equal(differences.rows[0].place, "main a.c:3");
    assert_true(differences.rows[0].accesses == 5);
    assert_true(isnan(differences.rows[1].accesses));
    assert_true(differences.accesses == 20);
    pm_build_differences_free(&differences);
    assert_true(pm_store_differences(store, &first, &differences, &err));
    assert_int_equal(differences.n_rows, 0);
    put(store, 32); /* of the store's build now */
    profile = pm_store_profile(store, &first, &err);
    assert_int_equal(profile->n_histograms, 1);
    assert_true(profile->edge_counts[1] == 15);
    pm_profile_free(profile);
    pm_store_close(store);
}

static void damaged_differences_between_builds_are_refused(void **state) {
    (void)state;
    static const char *const damages[] = {
        "UPDATE build_difference SET id = 99",      "UPDATE build_difference SET id = -1",
        "UPDATE build_difference SET kind = 'x'",   "UPDATE build_difference SET kind = NULL",
        "UPDATE build_difference SET place = NULL", "UPDATE build_difference SET mismatch = 1000",
    };
    struct pm_parameters at = size_of(32);
    struct pm_store *store = open_new();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct pm_error err = {0};
        put_other_build(store, 32);
        run_sql(damages[i]);
        assert_null(pm_store_structure(store, &err));
        assert_int_equal(err.kind, PM_ERROR_INPUT);
        assert_null(pm_store_profile(store, &at, &err));
    }
    pm_store_close(store);
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

/* Runs of a build of the same code go into the store, which has the newest lines from then on and
   all that was recorded; where loops, names of routines or the code differ it is refused, and said
   why. */
static void builds_of_the_same_code_share_a_store(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    struct pm_structure *first = small_structure(1), *moved = small_structure(2),
                        *other = small_structure(3);
    first->modules[0].code_hash = moved->modules[0].code_hash = other->modules[0].code_hash = 77;
    first->references[0].recorded = true;
    moved->scopes[2].line_first = 31;
    pm_store_close(store);
    unlink(path);
    store = pm_store_open(path, PM_STORE_CREATE, &err);
    assert_true(pm_store_put_structure(store, first, &err));
    assert_true(pm_store_put_structure(store, moved, &err));
    struct pm_structure *kept = pm_store_structure(store, &err);
    assert_non_null(kept);
    assert_true(pm_structure_hash(kept) == pm_structure_hash(moved));
    assert_int_equal(kept->scopes[2].line_first, 31);
    assert_true(kept->references[0].recorded);
    pm_structure_free(kept);
    other->references[0].size_bytes = 4;
    assert_false(pm_store_put_structure(store, other, &err));
    assert_non_null(strstr(err.text, "of the same code with other debug information"));
    other->modules[0].code_hash = 78;
    assert_false(pm_store_put_structure(store, other, &err));
    assert_non_null(strstr(err.text, "another build of small, whose code differs"));
    free(other->modules[0].name);
    other->modules[0].name = pm_strdup("large");
    assert_false(pm_store_put_structure(store, other, &err));
    assert_non_null(strstr(err.text, "holds runs of small, and large is another program"));
    first->modules[0].code_hash = 0; /* of an earlier version: nothing is known */
    assert_false(pm_structures_are_alike(first, moved));
    pm_structure_free(first);
    pm_structure_free(moved);
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
            assert_null(strstr(err.text, "database")); /* SQLite's own words */
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

/* "PATH: EXPECTED", and no word of SQLite's. */
static void assert_sentence(const struct pm_error *err, enum pm_error_kind kind, const char *where,
                            const char *expected) {
    char *sentence = pm_sprintf("%s: %s", where, expected);
    assert_string_equal(err->text, sentence);
    assert_int_equal(err->kind, kind);
    free(sentence);
}

static void what_cannot_be_done_is_a_sentence(void **state) {
    (void)state;
    struct pm_error err = {0};
    assert_null(pm_store_open("/nowhere/a.pmdb", PM_STORE_CREATE, &err));
    assert_sentence(&err, PM_ERROR_INPUT, "/nowhere/a.pmdb",
                    "the store cannot be opened: No such file or directory");
    struct pm_store *store = open_new();
    put(store, 16);
    pm_store_close(store);
    store = pm_store_open(path, PM_STORE_READ, &err);
    assert_non_null(store);
    struct pm_parameters at = {0};
    pm_parameters_set(&at, "N", 16, NULL);
    const struct pm_times times = {0};
    assert_false(pm_store_put_times(store, &at, &times, &err));
    assert_sentence(&err, PM_ERROR_SYSTEM, path,
                    "the store cannot be written: make the file and its folder writable, or work "
                    "with a copy");
    pm_store_close(store);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE edges", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    store = pm_store_open(path, PM_STORE_READ, &err);
    assert_non_null(store);
    assert_null(pm_store_profile(store, &at, &err));
    assert_sentence(&err, PM_ERROR_INPUT, path,
                    "the store is damaged: take a copy of it from before, or measure again into a "
                    "new one");
    pm_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_come_back_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_is_there_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_says_of_which_blocks_short_distances_are_merged,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_replaces_the_one_of_its_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_truncated_run_is_marked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_belong_to_a_run, set_up, tear_down),
        cmocka_unit_test(times_of_another_program_are_refused),
        cmocka_unit_test_setup_teardown(stores_of_other_versions_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reuse_patterns_belong_to_a_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_builds_have_not_in_common_is_in_no_profile, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(damaged_differences_between_builds_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_build_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(builds_of_the_same_code_share_a_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_store_never_crashes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_done_is_a_sentence, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
