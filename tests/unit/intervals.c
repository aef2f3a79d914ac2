/* Call paths have one number each, intervals come back from the store as they were put in, and what
   is damaged is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/intervals/intervals.h"
#include "tests/unit/store_example.h"

static void a_path_has_one_number(void **state) {
    (void)state;
    struct pm_call_paths paths = {0}, other = {0};
    uint32_t outer = pm_call_paths_add(&paths, PM_NO_PATH, 0, 0x1004);
    uint32_t inner = pm_call_paths_add(&paths, outer, 0, 0x1004);
    uint32_t elsewhere = pm_call_paths_add(&paths, outer, 1, 0x1004);
    assert_int_equal(outer, 1);
    assert_int_equal(inner, 2);
    assert_int_equal(elsewhere, 3);
    assert_int_equal(pm_call_paths_add(&paths, outer, 0, 0x1004), inner);
    pm_call_paths_set_callee(&paths, inner, "MPI_Barrier");
    pm_call_paths_set_callee(&paths, inner, "another");
    assert_int_equal(pm_call_paths_copy(&other, &paths, inner), 2);
    assert_int_equal(other.n_sites, 3);
    assert_string_equal(other.callees[2], "MPI_Barrier");
    assert_int_equal(pm_call_paths_copy(&other, &paths, PM_NO_PATH), PM_NO_PATH);

    struct pm_structure *structure = small_structure(1);
    char *text = pm_call_path_text(structure, &paths, inner);
    assert_string_equal(text, "main > main > MPI_Barrier");
    free(text);
    text = pm_call_path_name(structure, &paths, inner);
    assert_string_equal(text, "main MPI_Barrier");
    free(text);
    const bool both[4] = {false, true, true};
    pm_call_paths_set_callee(&paths, outer, "MPI_Barrier");
    char **names = pm_call_path_names(structure, &paths, both);
    assert_string_equal(names[PM_NO_PATH], "-");
    assert_string_equal(names[outer], "main MPI_Barrier");
    assert_string_equal(names[inner], "main > main MPI_Barrier");
    assert_null(names[elsewhere]);
    pm_call_path_names_free(names, &paths);

    /* Two calls on one line. */
    struct pm_call_paths alike = {0};
    const bool all[3] = {false, true, true};
    pm_call_paths_add(&alike, PM_NO_PATH, 0, 0x1004);
    pm_call_paths_add(&alike, PM_NO_PATH, 0, 0x1008);
    names = pm_call_path_names(structure, &alike, all);
    assert_string_equal(names[1], "main @0x1004");
    assert_string_equal(names[2], "main @0x1008");
    pm_call_path_names_free(names, &alike);
    pm_call_paths_free(&alike);
    text = pm_call_path_name(structure, &paths, PM_NO_PATH);
    assert_string_equal(text, "-");
    free(text);
    assert_true(pm_call_path_fits(structure, &paths, inner));
    assert_false(pm_call_path_fits(structure, &paths, elsewhere)); /* there is no module 1 */
    assert_false(pm_call_path_fits(structure, &paths, 4));
    pm_structure_free(structure);
    pm_call_paths_free(&paths);
    pm_call_paths_free(&other);
}

static void add_row(struct pm_intervals *intervals, uint32_t begin, uint32_t end, uint64_t first,
                    uint64_t n, uint32_t edge, uint64_t count) {
    struct pm_interval *row = PM_PUSH(intervals, rows);
    *row =
        (struct pm_interval){.begin = begin, .end = end, .kind = PM_NONE, .first = first, .n = n};
    *PM_PUSH(row, edges) = (struct pm_edge_count){0, 1};
    *PM_PUSH(row, edges) = (struct pm_edge_count){edge, count};
}

static void add_histogram(struct pm_interval *row, uint64_t block_bytes, double loads) {
    struct pm_group_histogram *of = PM_PUSH(row, histograms);
    of->histogram = (struct pm_histogram){.block_bytes = block_bytes,
                                          .cold_loads = 1,
                                          .bytes_touched = NAN,
                                          .sample = 1,
                                          .n_bins = 1,
                                          .bins = pm_alloc(1, sizeof *of->histogram.bins)};
    of->histogram.bins[0] = (struct pm_bin){.low = 3, .high = 3, .mean = 3, .loads = loads};
}

/* Two kinds: from the begin to a call, and from that call to itself. */
static struct pm_intervals *example(uint64_t return_address) {
    struct pm_intervals *intervals = pm_alloc(1, sizeof *intervals);
    uint32_t path = pm_call_paths_add(&intervals->paths, PM_NO_PATH, 0, return_address);
    pm_call_paths_set_callee(&intervals->paths, path, "step");
    add_row(intervals, path, path, 8, 2, 1, 300);
    add_row(intervals, path, path, 0, 8, 1, UINT64_C(1) << 40);
    add_row(intervals, PM_NO_PATH, path, 0, 1, 2, 7);
    add_histogram(&intervals->rows[1], 64, 5);
    add_histogram(&intervals->rows[1], 4096, 6);
    add_histogram(&intervals->rows[0], 64, 8);
    pm_intervals_sort(intervals);
    return intervals;
}

static void put_example(struct pm_store *store, double n, uint64_t return_address) {
    struct pm_error err = {0};
    struct pm_parameters at = size_of(n);
    struct pm_structure *structure = small_structure(1);
    struct pm_intervals *intervals = example(return_address);
    assert_true(pm_store_put_intervals(store, &at, structure, intervals, &err));
    pm_intervals_free(intervals);
    pm_structure_free(structure);
}

static void intervals_come_back_whole(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    put(store, 8);
    put(store, 16);
    struct pm_parameters first = size_of(8), second = size_of(16);
    bool found;
    assert_null(pm_store_intervals(store, &first, PM_NONE, true, &err));
    assert_int_equal(err.kind, PM_ERROR_NONE);
    put_example(store, 8, 0x1004);
    put_example(store, 16, 0x1008);
    put_example(store, 16, 0x1008); /* in place of those before */
    pm_store_close(store);

    store = pm_store_open(path, PM_STORE_READ, &err);
    assert_true(pm_store_has_intervals(store, &second, true, &found, &err) && found);
    struct pm_intervals *intervals = pm_store_intervals(store, &second, PM_NONE, true, &err);
    assert_non_null(intervals);
    assert_int_equal(intervals->n_rows, 3);
    assert_int_equal(intervals->paths.n_sites, 3); /* those of both runs */
    const struct pm_interval *row = intervals->rows;
    assert_true(row[0].begin == PM_NO_PATH && row[0].end == 2 && row[0].n == 1);
    assert_true(row[1].begin == 2 && row[1].end == 2 && row[1].first == 0 && row[1].n == 8);
    assert_true(row[2].first == 8 && row[2].n == 2 && row[2].kind == row[1].kind);
    assert_true(row[0].kind != row[1].kind);
    assert_string_equal(intervals->paths.callees[2], "step");
    assert_int_equal(row[1].n_edges, 2);
    assert_true(row[1].edges[1].edge == 1 && row[1].edges[1].count == UINT64_C(1) << 40);
    assert_int_equal(row[0].n_histograms, 0);
    assert_int_equal(row[1].n_histograms, 2);
    assert_true(row[1].histograms[1].histogram.block_bytes == 4096);
    assert_true(row[1].histograms[1].histogram.bins[0].loads == 6);
    assert_int_equal(row[2].n_histograms, 1);
    double sums[3] = {0};
    for (size_t i = 0; i < intervals->n_rows; i++)
        pm_interval_add_edges(&row[i], sums);
    assert_true(sums[0] == 3 && sums[1] == 300 + 0x1p40 && sums[2] == 7);
    struct pm_structure *structure = pm_store_structure(store, &err);
    assert_true(pm_intervals_fit(intervals, structure, &err));
    pm_structure_free(structure);
    uint32_t kind = row[1].kind;
    pm_intervals_free(intervals);

    intervals = pm_store_intervals(store, &second, kind, false, &err);
    assert_int_equal(intervals->n_rows, 2);
    assert_int_equal(intervals->rows[0].n_histograms, 0);
    pm_intervals_free(intervals);
    struct pm_interval_kinds kinds;
    assert_true(pm_store_interval_kinds(store, &kinds, &err));
    assert_int_equal(kinds.n_kinds, 4);
    assert_true(kinds.kinds[3].number == 4);
    free(kinds.kinds);
    pm_store_close(store);
}

static void they_go_with_their_run(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    struct pm_parameters at = size_of(8);
    put(store, 8);
    put_example(store, 8, 0x1004);
    put(store, 8);
    bool found;
    assert_true(pm_store_has_intervals(store, &at, false, &found, &err) && !found);
    pm_store_close(store);
}

static void damage_is_found(void **state) {
    (void)state;
    static const char *const damages[] = {"UPDATE interval SET edges = x'00'",
                                          "UPDATE interval SET n = 0",
                                          "UPDATE interval_kind SET end = 9 + id",
                                          "UPDATE interval_histogram SET first = first + 77",
                                          "UPDATE interval_histogram SET data = x'1234'",
                                          "UPDATE call_path SET parent = id",
                                          "UPDATE call_path SET module = -1"};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct pm_error err = {0};
        set_up(state);
        struct pm_store *store = open_new();
        struct pm_parameters at = size_of(8);
        put(store, 8);
        put_example(store, 8, 0x1004);
        run_sql(damages[i]);
        assert_null(pm_store_intervals(store, &at, PM_NONE, true, &err));
        assert_int_equal(err.kind, PM_ERROR_INPUT);
        pm_store_close(store);
    }
}

static void edges_are_packed_and_checked(void **state) {
    (void)state;
    struct pm_interval row = {0}, back = {0};
    void *bytes;
    size_t n_bytes;
    pm_interval_encode_edges(NULL, &row, &bytes, &n_bytes);
    assert_true(pm_interval_decode_edges(NULL, bytes, n_bytes, &back) && back.n_edges == 0);
    free(bytes);
    for (uint32_t i = 0; i < 1000; i++)
        *PM_PUSH(&row, edges) = (struct pm_edge_count){3 * i * i, 1 + (uint64_t)i * i * i * i * i};
    pm_interval_encode_edges(NULL, &row, &bytes, &n_bytes);
    assert_true(pm_interval_decode_edges(NULL, bytes, n_bytes, &back));
    assert_int_equal(back.n_edges, 1000);
    assert_memory_equal(back.edges, row.edges, 1000 * sizeof *row.edges);
    pm_interval_free(&back);
    for (size_t cut = 0; cut < n_bytes; cut += 7) {
        assert_false(pm_interval_decode_edges(NULL, bytes, cut, &back));
        pm_interval_free(&back);
    }
    free(bytes);
    pm_interval_free(&row);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_one_number),
        cmocka_unit_test(edges_are_packed_and_checked),
        TEST(intervals_come_back_whole),
        TEST(they_go_with_their_run),
        TEST(damage_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
