/* A store that has a selection gives runs, profiles, threads and models of it, and nothing else
   changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/store_example.h"

static struct pm_histogram histogram_with(double loads) {
    struct pm_histogram histogram = {.block_bytes = 64,
                                     .cold_loads = 2,
                                     .bytes_touched = NAN,
                                     .sample = 1,
                                     .n_bins = 1,
                                     .bins = pm_alloc(1, sizeof *histogram.bins)};
    histogram.bins[0] = (struct pm_bin){.low = 3, .high = 3, .mean = 3, .loads = loads};
    return histogram;
}

/* A run of SIZE ranks, of which rank r goes round its loop n · (r + 1) times; the last rank's raw
   file was the first one. */
static void put_ranks(struct pm_store *store, double n, uint32_t size) {
    struct pm_error err = {0};
    struct pm_profile *profile = small_profile(n);
    struct pm_streams streams = {0};
    struct pm_ranks ranks = {.tolerance = 0.05};
    char settings[] = "command mpirun";
    const struct pm_run_facts facts = {.settings = settings, .n_processes = size};
    memset(profile->edge_counts, 0, 3 * sizeof(double));
    pm_parameters_set(&profile->parameters, "p", size, NULL);
    for (uint32_t process = 0; process < size; process++) {
        uint32_t rank = size - 1 - process;
        struct pm_stream stream = {.process = process};
        uint32_t index = pm_streams_index(&streams, &stream);
        double *counts = pm_alloc(3, sizeof *counts);
        counts[0] = counts[2] = 1;
        counts[1] = n * (rank + 1);
        for (size_t e = 0; e < 3; e++)
            profile->edge_counts[e] += counts[e];
        *PM_PUSH(&streams, counts) = (struct pm_stream_counts){index, counts};
        *PM_PUSH(&streams, histograms) =
            (struct pm_stream_histogram){index, 0, histogram_with(10 * (rank + 1))};
        *PM_PUSH(&ranks, ranks) = (struct pm_rank){.process = process,
                                                   .rank = rank,
                                                   .size = size,
                                                   .host = pm_strdup("here"),
                                                   .group = rank > 0};
    }
    pm_ranks_sort(&ranks);
    assert_true(pm_store_put_run(store, profile, &streams, &facts, NULL, 1, &err));
    assert_true(pm_store_put_ranks(store, &profile->parameters, &ranks, &err));
    pm_ranks_free(&ranks);
    pm_streams_free(&streams);
    pm_profile_free(profile);
}

static struct pm_parameters at(double n, double p) {
    struct pm_parameters parameters = size_of(n);
    assert_true(pm_parameters_set(&parameters, "p", p, NULL));
    return parameters;
}

static void select_group(struct pm_store *store, uint32_t group) {
    struct pm_error err = {0};
    struct pm_selection selection = PM_SELECTION_ALL;
    selection.group = group;
    assert_true(pm_store_select(store, &selection, &err));
}

static void ranks_come_back(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put_ranks(store, 8, 3);
    struct pm_parameters size = at(8, 3);
    struct pm_ranks ranks = {0};
    assert_true(pm_store_ranks(store, &size, &ranks, &err));
    assert_int_equal(ranks.n_ranks, 3);
    assert_int_equal(ranks.ranks[0].process, 2);
    assert_int_equal(ranks.ranks[2].process, 0);
    assert_int_equal(ranks.ranks[2].group, 1);
    assert_int_equal(ranks.n_roles, 1);
    assert_string_equal(ranks.roles[0].name, "all");
    assert_string_equal(ranks.ranks[1].host, "here");
    pm_ranks_free(&ranks);
    put_ranks(store, 8, 3); /* again: those of the run before are gone */
    assert_true(pm_store_ranks(store, &size, &ranks, &err));
    assert_int_equal(ranks.n_ranks, 3);
    pm_ranks_free(&ranks);
    pm_store_close(store);
}

static void damaged_ranks_are_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_ranks ranks = {0};
    struct pm_parameters size = at(8, 3);
    struct pm_store *store = open_new();
    put_ranks(store, 8, 3);
    pm_store_close(store);
    run_sql("UPDATE rank SET rank = 3 WHERE process = 0"); /* of 3 */
    store = pm_store_open(path, PM_STORE_READ, &err);
    assert_false(pm_store_ranks(store, &size, &ranks, &err));
    assert_non_null(strstr(err.text, "the ranks of run 1 are damaged"));
    pm_ranks_free(&ranks);
    pm_store_close(store);
}

static void a_profile_of_ranks_is_their_mean(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put(store, 16); /* no MPI program */
    put_ranks(store, 8, 3);
    put_ranks(store, 8, 1);
    select_group(store, 1);
    struct pm_parameters *runs, size = at(8, 3);
    size_t n_runs;
    assert_true(pm_store_runs(store, &runs, &n_runs, &err));
    assert_int_equal(n_runs, 1); /* the others have no such group */
    assert_true(pm_parameters_equal(&runs[0], &size));
    free(runs);
    struct pm_profile *profile = pm_store_profile(store, &size, &err);
    assert_non_null(profile);
    assert_true(profile->edge_counts[0] == 1 && profile->edge_counts[1] == 8 * 2.5);
    const struct pm_histogram *h = pm_profile_histogram(profile, 0, 64);
    assert_true(h->cold_loads == 2 && h->bins[0].loads == 25);
    assert_int_equal(profile->n_dirty, 0);
    pm_profile_free(profile);
    size = at(8, 1);
    assert_null(pm_store_profile(store, &size, &err));
    pm_store_close(store);
}

static void without_a_selection_all_is_as_before(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put_ranks(store, 8, 3);
    select_group(store, 0);
    assert_true(pm_store_select(store, &PM_SELECTION_ALL, &err));
    struct pm_parameters size = at(8, 3);
    struct pm_profile *profile = pm_store_profile(store, &size, &err);
    assert_true(profile->edge_counts[0] == 3 && profile->edge_counts[1] == 8 * 6);
    assert_true(pm_profile_histogram(profile, 0, 64)->bins[0].loads == 60);
    assert_int_equal(profile->n_dirty, 1);
    pm_profile_free(profile);
    struct pm_streams threads = {0};
    assert_true(pm_store_thread_edges(store, &size, 3, &threads, &err));
    assert_int_equal(threads.n_counts, 3);
    pm_streams_free(&threads);
    select_group(store, 1);
    assert_true(pm_store_thread_edges(store, &size, 3, &threads, &err));
    assert_int_equal(threads.n_counts, 0); /* each has one thread */
    pm_streams_free(&threads);
    struct pm_selection wrong = PM_SELECTION_ALL;
    wrong.role = 7;
    assert_false(pm_store_select(store, &wrong, &err));
    pm_store_close(store);
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Of PROCESS so many rows of N intervals each, whose edge 1 is taken as often as their ordinal. */
static void add_rows(struct pm_intervals *intervals, uint32_t path, uint32_t process, uint64_t n,
                     uint64_t rows) {
    for (uint64_t i = 0; i < rows; i++) {
        struct pm_interval *row = PM_PUSH(intervals, rows);
        *row = (struct pm_interval){.process = process,
                                    .begin = path,
                                    .end = path,
                                    .kind = PM_NONE,
                                    .first = i * n,
                                    .n = n};
        uint64_t count = 0;
        for (uint64_t k = 0; k < n; k++)
            count += i * n + k;
        if (count)
            *PM_PUSH(row, edges) = (struct pm_edge_count){1, count};
    }
}

static void put_intervals(struct pm_store *store) {
    struct pm_error err = {0};
    struct pm_structure *structure = small_structure(1);
    struct pm_intervals *intervals = pm_alloc(1, sizeof *intervals);
    struct pm_parameters size = at(8, 2);
    put_ranks(store, 8, 2);
    uint32_t path = pm_call_paths_add(&intervals->paths, PM_NO_PATH, 0, 0x1004);
    pm_call_paths_set_callee(&intervals->paths, path, "step");
    add_rows(intervals, path, 0, 1, 4); /* rank 1: ordinals 0 … 3 */
    add_rows(intervals, path, 1, 2, 4); /* rank 0: 0 … 7, two in a row */
    pm_intervals_sort(intervals);
    assert_true(pm_store_put_intervals(store, &size, structure, intervals, &err));
    pm_intervals_free(intervals);
    pm_structure_free(structure);
}

static uint32_t only_kind(struct pm_store *store) {
    struct pm_error err = {0};
    struct pm_interval_kinds kinds = {0};
    assert_true(pm_store_interval_kinds(store, &kinds, &err));
    assert_int_equal(kinds.n_kinds, 1);
    uint32_t number = kinds.kinds[0].number;
    free(kinds.kinds);
    return number;
}

static void a_profile_of_a_kind_is_the_sum_of_its_intervals(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put_intervals(store);
    struct pm_selection selection = PM_SELECTION_ALL;
    struct pm_parameters size = at(8, 2);
    selection.kind = only_kind(store);
    assert_true(pm_store_select(store, &selection, &err));
    struct pm_profile *profile = pm_store_profile(store, &size, &err);
    assert_true(profile->edge_counts[0] == 0);
    assert_true(profile->edge_counts[1] == 0 + 1 + 2 + 3 + 28);
    /* The group's accesses follow the executions of its block, of which the run has 2 + 24. */
    const struct pm_histogram *h = pm_profile_histogram(profile, 0, 64);
    assert_true(fabs(h->bins[0].loads - 30 * 34.0 / 26) < 1e-9);
    assert_true(h->bins[0].low == 3);
    pm_profile_free(profile);
    selection.kind = 17;
    assert_false(pm_store_select(store, &selection, &err));
    pm_store_close(store);
}

static void ordinals_of_all_threads_come_together(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put_intervals(store);
    struct pm_selection selection = PM_SELECTION_ALL;
    selection.kind = only_kind(store);
    selection.by_ordinal = true;
    strcpy(selection.ordinal_name, "step");
    assert_true(pm_store_select(store, &selection, &err));
    struct pm_parameters *runs;
    size_t n_runs;
    double step;
    assert_true(pm_store_runs(store, &runs, &n_runs, &err));
    assert_int_equal(n_runs, 4);
    assert_true(pm_parameters_get(&runs[1], "step", &step) && step == 3.5);
    struct pm_profile *profile = pm_store_profile(store, &runs[1], &err);
    assert_true(profile->edge_counts[1] == 2.5 + 2.5); /* of each rank the mean of 2 and 3 */
    assert_true(pm_parameters_equal(&profile->parameters, &runs[1]));
    pm_profile_free(profile);
    profile = pm_store_profile(store, &runs[3], &err);
    assert_true(profile->edge_counts[1] == 6.5); /* one of them has so many */
    pm_profile_free(profile);
    free(runs);
    selection.group = 1; /* rank 1 */
    assert_true(pm_store_select(store, &selection, &err));
    assert_true(pm_store_runs(store, &runs, &n_runs, &err));
    assert_int_equal(n_runs, 4);
    profile = pm_store_profile(store, &runs[3], &err);
    assert_true(profile->edge_counts[1] == 3);
    pm_profile_free(profile);
    free(runs);
    strcpy(selection.ordinal_name, "N"); /* the runs have that */
    assert_true(pm_store_select(store, &selection, &err));
    assert_false(pm_store_runs(store, &runs, &n_runs, &err));
    pm_store_close(store);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Of N_RUNS runs; LOW, 1 … tells it from others. */
static struct pm_model_set *model_set(struct pm_store *store, double constant) {
    struct pm_error err = {0};
    struct pm_model_set *set = pm_alloc(1, sizeof *set);
    static const char *const texts[] = {"1"};
    assert_true(pm_store_runs(store, &set->runs, &set->n_runs, &err));
    set->low = set->high = set->runs[0];
    set->basis = pm_basis_new(1, texts, &err);
    set->n_edges = 3;
    set->edges = pm_alloc(3, sizeof *set->edges);
    for (size_t e = 0; e < 3; e++)
        set->edges[e] = (struct pm_model){
            .n_terms = 1, .coefficients = {constant}, .n_points = 3, .exact = true};
    return set;
}

static double stored_constant(struct pm_store *store) {
    struct pm_error err = {0};
    struct pm_model_set *set = pm_store_models(store, &err);
    double constant = set ? set->edges[1].coefficients[0] : NAN;
    assert_int_equal(err.kind, PM_ERROR_NONE);
    pm_model_set_free(set);
    return constant;
}

static void put_constant(struct pm_store *store, double constant) {
    struct pm_error err = {0};
    struct pm_model_set *set = model_set(store, constant);
    assert_true(pm_store_put_models(store, set, &err));
    pm_model_set_free(set);
}

static void each_selection_has_models_of_its_own(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put_ranks(store, 8, 2);
    put_ranks(store, 8, 1);
    put_constant(store, 1);
    select_group(store, 1);
    assert_true(isnan(stored_constant(store)));
    put_constant(store, 2);
    select_group(store, 0);
    put_constant(store, 3);
    assert_true(stored_constant(store) == 3);
    select_group(store, 1);
    assert_true(stored_constant(store) == 2);
    put_constant(store, 4);
    assert_true(stored_constant(store) == 4);
    assert_true(pm_store_select(store, &PM_SELECTION_ALL, &err));
    assert_true(stored_constant(store) == 1);
    /* A run more that has no such group leaves its models as they are. */
    put_ranks(store, 16, 1);
    assert_null(pm_store_models(store, &err));
    assert_non_null(strstr(err.text, "runs were added"));
    select_group(store, 1);
    assert_true(stored_constant(store) == 4);
    pm_store_close(store);
}

static void models_of_messages_come_back(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put_ranks(store, 8, 2);
    struct pm_message_models messages = {.models = model_set(store, 5)};
    *PM_PUSH(&messages, items) =
        (struct pm_message_item){.path = 4, .operation = PM_MPI_Recv, .unknown = {[2] = true}};
    assert_null(pm_store_message_models(store, &err));
    assert_true(pm_store_put_message_models(store, &messages, &err));
    assert_true(pm_store_put_message_models(store, &messages, &err));
    struct pm_message_models *read = pm_store_message_models(store, &err);
    assert_non_null(read);
    assert_int_equal(read->n_items, 1);
    assert_int_equal(read->items[0].path, 4);
    assert_int_equal(read->items[0].operation, PM_MPI_Recv);
    assert_true(read->items[0].unknown[2] && !read->items[0].unknown[1]);
    assert_true(read->models->edges[2].coefficients[0] == 5);
    pm_message_models_free(read);
    select_group(store, 1);
    assert_null(pm_store_message_models(store, &err));
    assert_int_equal(err.kind, PM_ERROR_NONE);
    pm_model_set_free(messages.models);
    free(messages.items);
    pm_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranks_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_ranks_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_profile_of_ranks_is_their_mean, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_selection_all_is_as_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_profile_of_a_kind_is_the_sum_of_its_intervals, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ordinals_of_all_threads_come_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_selection_has_models_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(models_of_messages_come_back, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
