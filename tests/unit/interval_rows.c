/* What the runtime keeps of intervals: rows stay within their bounds and lose nothing, and the
   reuse distances of parts of a trace are, together, those of the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "runtime/thread_intervals/private.h"
#include "runtime/modules.h"
#include "runtime/reuse/reuse.h"
#include "tests/unit/rounds.h"

/* There is no module here (runtime/modules.c), nor an address record. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups;

static uint64_t random_state = 1;
static uint64_t random_below(uint64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { N_COUNTERS = 300 };

static struct pm_interval_counts random_counts(struct pm_interval_counted items[N_COUNTERS],
                                               uint64_t sums[N_COUNTERS], uint32_t most) {
    struct pm_interval_counts counts = {.items = items};
    for (uint32_t c = (uint32_t)random_below(3); c < most; c += 1 + (uint32_t)random_below(60)) {
        uint64_t count = 1 + random_below(1000);
        items[counts.n++] = (struct pm_interval_counted){c, 0, count};
        sums[c] += count;
    }
    return counts;
}

static void assert_sums(const struct pm_kind_table *kind, const uint64_t sums[N_COUNTERS]) {
    uint64_t found[N_COUNTERS] = {0};
    for (uint32_t row = 0; row < kind->n_rows; row++)
        for (uint32_t c = 0; c < kind->n_counters; c++)
            found[kind->counters[c]] += kind->values[(uint64_t)row * kind->room_counters + c];
    for (uint32_t c = 0; c < N_COUNTERS; c++)
        assert_int_equal(found[c], sums[c]);
    for (uint32_t c = 1; c < kind->n_counters; c++)
        assert_true(kind->counters[c - 1] < kind->counters[c]);
}

static void rows_are_joined_and_lose_nothing(void **state) {
    (void)state;
    struct pm_interval_table table = {0};
    uint64_t sums[2][N_COUNTERS] = {0}, left = 0, loads = 0, found_loads = 0;
    struct pm_interval_counted items[N_COUNTERS];
    for (unsigned i = 0; i < 3000; i++) {
        struct pm_kind_table *kind = pm_interval_find_kind(&table, 7, i % 3 == 0);
        assert_non_null(kind);
        /* More counters are met as time goes on. */
        struct pm_interval_counts counts =
            random_counts(items, sums[i % 3 == 0], 1 + N_COUNTERS * i / 3000);
        assert_true(pm_interval_add(&table, kind, &counts));
        struct pm_interval_exit exit = {.key = 1 + i % 5, .left = 2, .resumed = i & 1};
        left += i % 3 == 0 ? 2 : 0;
        if (i % 3 == 0)
            assert_true(pm_interval_add_exit(kind, &exit));
        struct pm_interval_bins bins = {0};
        const struct pm_interval_bin bin = {.key = 1 + i % 11, .loads = i};
        loads += i;
        assert_true(pm_interval_bins_add(&bins, &bin, &table.bytes));
        assert_true(pm_interval_add_bins(&table, kind, &bins));
        assert_int_equal(bins.n, 0);
    }
    assert_int_equal(table.n_kinds, 2);
    for (unsigned k = 0; k < 2; k++) {
        struct pm_kind_table *kind = pm_interval_find_kind(&table, 7, k);
        assert_int_equal(kind->n, k ? 1000 : 2000);
        assert_int_equal(kind->per_row, k ? 8 : 16);
        assert_true(kind->n_rows <= PM_INTERVAL_MOST_ROWS);
        assert_sums(kind, sums[k]);
        for (uint32_t row = 0; row < kind->n_rows; row++)
            for (uint32_t i = 0; i < kind->bins[row].room; i++)
                found_loads += kind->bins[row].items[i].loads;
    }
    assert_int_equal(found_loads, loads);
    const struct pm_kind_table *kind = pm_interval_find_kind(&table, 7, 1);
    uint64_t found_left = 0;
    assert_true(kind->n_exits <= 5 * kind->n_rows);
    for (uint32_t i = 0; i < kind->n_exits; i++) {
        assert_true(kind->exits[i].row < kind->n_rows);
        found_left += (uint64_t)kind->exits[i].left;
    }
    assert_int_equal(found_left, left);
    pm_interval_table_free(&table);
}

static void kinds_and_rows_are_bounded(void **state) {
    (void)state;
    struct pm_interval_table table = {0};
    for (uint32_t i = 0; i < PM_INTERVAL_MOST_KINDS; i++)
        assert_non_null(pm_interval_find_kind(&table, i, i + 1));
    assert_null(pm_interval_find_kind(&table, 1, 1));
    assert_non_null(pm_interval_find_kind(&table, 1, 2));
    pm_interval_table_free(&table);

    /* With many counters in many kinds there are fewer rows. */
    enum { MANY = 100000, KINDS = 20, TIMES = 20 };
    struct pm_interval_counts counts = {.items = calloc(MANY, sizeof *counts.items), .n = MANY};
    assert_non_null(counts.items);
    for (uint32_t c = 0; c < MANY; c++)
        counts.items[c] = (struct pm_interval_counted){c, 0, 1};
    for (uint32_t i = 0; i < TIMES * KINDS; i++)
        assert_true(pm_interval_add(&table, pm_interval_find_kind(&table, i % KINDS, 0), &counts));
    assert_true(table.most_rows < TIMES && table.bytes <= UINT64_C(400) << 20);
    for (uint32_t k = 0; k < KINDS; k++) {
        const struct pm_kind_table *kind = pm_interval_find_kind(&table, k, 0);
        uint64_t sum = 0;
        for (uint32_t row = 0; row < kind->n_rows; row++)
            sum += kind->values[(uint64_t)row * kind->room_counters + MANY - 1];
        assert_int_equal(sum, TIMES);
    }
    free(counts.items);
    pm_interval_table_free(&table);
}

static void exits_are_added_up(void **state) {
    (void)state;
    struct pm_interval_exits *exits = NULL;
    struct pm_interval_exit exit;
    assert_false(pm_interval_has_exits(exits));
    for (uint64_t i = 0; i < 3000; i++)
        pm_interval_exits_add(&exits, 1 + i % 1000, i % 3 == 0, 2);
    int64_t left = 0, resumed = 0;
    uint32_t n = 0;
    for (; pm_interval_exits_get(exits, n, &exit); n++) {
        left += exit.left;
        resumed += exit.resumed;
    }
    assert_int_equal(n, 1000);
    assert_int_equal(left, 4000);
    assert_int_equal(resumed, 2000);
    pm_interval_exits_clear(exits);
    assert_false(pm_interval_has_exits(exits));
    pm_interval_exits_add(&exits, 5, false, 1);
    assert_true(pm_interval_exits_get(exits, 0, &exit) && exit.left == 1);
    pm_interval_exits_free(exits);
}

/* ---- reuse distances ------------------------------------------------------------------------- */

enum { N_GROUPS = 3, N_PARTS = 6, PART = ROUNDS(4000, 1000), MOST_RISES = 100000 };

struct rises {
    struct pm_reuse_rise *items;
    size_t n;
};

static void keep(void *context, const struct pm_reuse_rise *rise) {
    struct rises *rises = context;
    assert_true(rises->n < MOST_RISES);
    rises->items[rises->n++] = *rise;
}

/* The part's own result is added to SUM (bins as the whole's). */
static void add_part(const struct pm_reuse *reuse, uint32_t group, const struct rises *rises,
                     const struct pm_reuse_result *whole, const struct pm_raw_bin *whole_bins,
                     struct pm_reuse_result *sum, struct pm_raw_bin *sum_bins) {
    struct pm_reuse_result part;
    struct pm_raw_bin *bins = calloc(whole->n_bins + 1, sizeof *bins);
    pm_reuse_part_begin(whole, &part, bins);
    for (size_t i = 0; i < rises->n; i++)
        if (rises->items[i].group == group)
            pm_reuse_part_add(whole, whole_bins, &rises->items[i], &part, bins);
    pm_reuse_part_end(reuse, whole, whole_bins, &part, bins);
    sum->cold_loads += part.cold_loads;
    sum->cold_stores += part.cold_stores;
    sum->beyond_loads += part.beyond_loads;
    sum->beyond_stores += part.beyond_stores;
    for (size_t i = 0, w = 0; i < part.n_bins; i++) {
        while (whole_bins[w].low != bins[i].low)
            assert_true(++w < whole->n_bins);
        assert_int_equal(whole_bins[w].high, bins[i].high);
        sum_bins[w].loads += bins[i].loads;
        sum_bins[w].stores += bins[i].stores;
        sum_bins[w].distance_sum += bins[i].distance_sum;
    }
    free(bins);
}

static void check_parts(const struct pm_reuse_options *options, const char *name) {
    static struct pmodel_access trace[PART];
    struct pm_reuse *reuse = pm_reuse_new(6, 512, PM_REUSE_SSE2);
    struct pm_reuse_rises *before = NULL;
    struct rises parts[N_PARTS];
    assert_true(reuse && pm_reuse_choose(reuse, options));
    for (unsigned p = 0; p < N_PARTS; p++) {
        for (size_t i = 0; i < PART; i++)
            trace[i] = (struct pmodel_access){
                .address = 64 * random_below(1u << (3 + random_below(10))),
                .size_bytes = random_below(20) ? 8 : 150,
                .group = (uint32_t)random_below(p < 2 ? 2 : N_GROUPS), /* one is met later */
                .kind = (uint32_t)(1 + random_below(3))};
        pm_reuse_accesses(reuse, N_GROUPS, trace, PART);
        parts[p] = (struct rises){calloc(MOST_RISES, sizeof *parts[p].items), 0};
        assert_true(pm_reuse_take_rises(reuse, &before, keep, &parts[p]));
        assert_true(parts[p].n > 0);
    }
    for (uint32_t g = 0; g < N_GROUPS; g++) {
        size_t most = pm_reuse_most_bins(reuse);
        struct pm_raw_bin *bins = calloc(most, sizeof *bins), *sums = calloc(most, sizeof *sums);
        struct pm_reuse_result whole, sum = {0};
        pm_reuse_result(reuse, g, &whole, bins);
        for (unsigned p = 0; p < N_PARTS; p++)
            add_part(reuse, g, &parts[p], &whole, bins, &sum, sums);
        if (sum.cold_loads != whole.cold_loads || sum.cold_stores != whole.cold_stores ||
            sum.beyond_loads != whole.beyond_loads || sum.beyond_stores != whole.beyond_stores)
            fail_msg("%s: first touches do not add up", name);
        for (size_t i = 0; i < whole.n_bins; i++)
            if (sums[i].loads != bins[i].loads || sums[i].stores != bins[i].stores ||
                fabs(sums[i].distance_sum - bins[i].distance_sum) > 0.5)
                fail_msg("%s: bin %zu does not add up", name, i);
        free(bins);
        free(sums);
    }
    for (unsigned p = 0; p < N_PARTS; p++)
        free(parts[p].items);
    pm_reuse_rises_free(before);
    pm_reuse_free(reuse);
}

static void parts_of_histograms_add_up(void **state) {
    (void)state;
    check_parts(&(struct pm_reuse_options){.sample = 1, .bin_width = PM_USUAL_BIN_WIDTH}, "usual");
    check_parts(&(struct pm_reuse_options){.sample = 1, .bin_width = 0}, "every distance");
    check_parts(&(struct pm_reuse_options){.sample = 1, .bin_width = 0.1, .max_blocks = 100},
                "bounded");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_joined_and_lose_nothing),
        cmocka_unit_test(kinds_and_rows_are_bounded),
        cmocka_unit_test(exits_are_added_up),
        cmocka_unit_test(parts_of_histograms_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
