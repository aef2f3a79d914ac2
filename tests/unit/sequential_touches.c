/* Sequential touches (runtime/reuse/sequential_touches.h) access by access: for random and
   structured traces those of a stack that is searched from its top, for every vector variant that
   this CPU has; and shares that are known of streams side by side, up and down, of rows in order
   and shuffled, of every second block, and of chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "core/access.h"
#include "runtime/modules.h"
#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/sequential_touches.h"
#include "tests/unit/lru_stack.h"
#include "tests/unit/rounds.h"

/* There is no module here (runtime/modules.c), nor an address record. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups;

/* Stamps are numbered anew often, and hardly ever. */
enum { LEAST_CAPACITY = 512, LARGE_CAPACITY = 1 << 14 };
enum { SHIFT = 6, N_GROUPS = 2, COUNT = ROUNDS(16000, 6000) };
enum { NEAR = 64, FRONT = 16 };

/* ---- traces ---------------------------------------------------------------------------------- */

static uint64_t shuffled[COUNT]; /* 0 … COUNT − 1 */

static void shuffle(void) {
    for (size_t i = 0; i < COUNT; i++)
        shuffled[i] = i;
    for (size_t i = COUNT - 1; i > 0; i--) {
        size_t j = (size_t)random_number(i + 1);
        uint64_t one = shuffled[i];
        shuffled[i] = shuffled[j];
        shuffled[j] = one;
    }
}

typedef uint64_t block_function(size_t i);
enum { FAR_APART = 1 << 20 };

static uint64_t up(size_t i) { return i; }
static uint64_t down(size_t i) { return FAR_APART - i; }
static uint64_t again(size_t i) { return i % 500; }
static uint64_t every_second(size_t i) { return 2 * i; }
static uint64_t streams_60(size_t i) { return i % 60 * FAR_APART + i / 60; }
static uint64_t streams_70(size_t i) { return i % 70 * FAR_APART + i / 70; }
static uint64_t rows_shuffled(size_t i) { return 100 * shuffled[i / 10] + i % 10; }
static uint64_t rows_in_order(size_t i) { return 10 * (i / 10) + i % 10; }
static uint64_t list_shuffled(size_t i) { return shuffled[i]; }
static uint64_t few_at_random(size_t i) { return (void)i, random_number(300); }
static uint64_t zipf(size_t i) { return (void)i, random_number(1ull << random_number(14)); }
static uint64_t seesaw(size_t i) { return i / 900 % 2 ? 899 - i % 900 : i % 900; }

/* Stamps are given out for few blocks and taken back, while blocks before X wait behind them. */
static uint64_t few_between(size_t i) { return i % 700 < 690 ? i % 20 * 50 : 5000 + i / 700; }

/* SHARE of the touches outside the stack top are sequential, but for those at the ends of streams;
   NAN: only the stack tells. */
static const struct {
    const char *name;
    block_function *block;
    double share;
} traces[] = {{"up", up, 1},
              {"down", down, 1},
              {"again", again, 1},
              {"every second block", every_second, 0},
              {"60 streams", streams_60, 1},
              {"70 streams", streams_70, 0},
              {"rows in order", rows_in_order, 1},
              {"rows shuffled", rows_shuffled, 0.8},
              {"list shuffled", list_shuffled, 0},
              {"few between", few_between, NAN},
              {"few at random", few_at_random, NAN},
              {"zipf", zipf, NAN},
              {"seesaw", seesaw, NAN}};
enum { N_TRACES = sizeof traces / sizeof *traces };

/* ---- what is expected ------------------------------------------------------------------------ */

static struct stack stack;
static uint64_t expected[N_GROUPS][COUNT + 1]; /* by distance; COUNT: first touches */
static uint64_t n_far, n_sequential;

static bool was_touched_lately(uint64_t block, uint64_t x, size_t most) {
    size_t n = 0;
    for (size_t place = stack.used; place > 0 && n < most; place--) {
        if (stack.blocks[place - 1] == block)
            return true;
        n += stack.blocks[place - 1] != x;
    }
    return false;
}

static bool follows(uint64_t x, uint64_t step) {
    return was_touched_lately(x - step, x, NEAR) && was_touched_lately(x - 2 * step, x, 2 * NEAR);
}

static void expect(const struct pmodel_access *trace) {
    memset(expected, 0, sizeof expected);
    n_far = n_sequential = 0;
    stack.used = 0;
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t block = trace[i].address >> SHIFT;
        bool is_sequential = follows(block, 1) || follows(block, UINT64_MAX);
        int64_t distance = stack_touch(&stack, block);
        if (distance != COLD && distance < FRONT)
            continue;
        n_far++;
        n_sequential += is_sequential;
        expected[trace[i].group][distance == COLD ? COUNT : distance] += is_sequential;
    }
}

/* ---- the tests ------------------------------------------------------------------------------- */

static struct pmodel_access *make_trace(unsigned which) {
    struct pmodel_access *trace = calloc(COUNT, sizeof *trace);
    assert_non_null(trace);
    random_state = 5 + which;
    shuffle();
    for (size_t i = 0; i < COUNT; i++)
        trace[i] = (struct pmodel_access){(UINT64_C(0x10000000) + traces[which].block(i)) << SHIFT,
                                          8, 0, (uint32_t)random_number(N_GROUPS),
                                          (uint32_t)(1 + random_number(3))};
    return trace;
}

static void compare(const struct pm_reuse *reuse, unsigned which) {
    struct pm_raw_bin *bins = calloc(pm_reuse_most_bins(reuse), sizeof *bins);
    assert_non_null(bins);
    for (uint32_t group = 0; group < N_GROUPS; group++) {
        struct pm_reuse_result result;
        uint64_t n = 0, wanted = 0;
        pm_reuse_sequential(reuse, group, &result, bins);
        for (size_t i = 0; i < result.n_bins; i++) {
            assert_int_equal(bins[i].low, bins[i].high);
            if (bins[i].loads + bins[i].stores != expected[group][bins[i].low])
                fail_msg("%s, variant %u, distance %llu: %llu, not %llu", traces[which].name,
                         reuse->variant, (unsigned long long)bins[i].low,
                         (unsigned long long)(bins[i].loads + bins[i].stores),
                         (unsigned long long)expected[group][bins[i].low]);
            n += bins[i].loads + bins[i].stores;
        }
        for (size_t i = 0; i < COUNT; i++)
            wanted += expected[group][i];
        assert_int_equal(n, wanted);
        assert_int_equal(result.cold_loads + result.cold_stores, expected[group][COUNT]);
    }
    free(bins);
}

static void sequential_touches_are_those_of_a_stack(void **state) {
    const struct pm_reuse_options every_distance = {.sample = 1, .bin_width = 0};
    (void)state;
    for (unsigned which = 0; which < N_TRACES; which++) {
        struct pmodel_access *trace = make_trace(which);
        expect(trace);
        for (unsigned n = 0; n < 2 * (pm_reuse_best_variant() + 1u); n++) {
            struct pm_reuse *reuse =
                pm_reuse_new(SHIFT, n % 2 ? LARGE_CAPACITY : LEAST_CAPACITY, n / 2);
            assert_non_null(reuse);
            assert_true(pm_reuse_choose(reuse, &every_distance));
            assert_true(pm_reuse_count_sequential(reuse));
            pm_reuse_accesses(reuse, N_GROUPS, trace, COUNT);
            assert_false(pm_reuse_has_failed(reuse));
            compare(reuse, which);
            pm_reuse_free(reuse);
        }
        free(trace);
    }
}

static void shares_of_known_streams_are_found(void **state) {
    (void)state;
    for (unsigned which = 0; which < N_TRACES; which++) {
        if (isnan(traces[which].share))
            continue;
        struct pmodel_access *trace = make_trace(which);
        expect(trace);
        double share = (double)n_sequential / (double)n_far;
        if (fabs(share - traces[which].share) > 0.05)
            fail_msg("%s: a share of %g, not %g", traces[which].name, share, traces[which].share);
        free(trace);
    }
}

/* A thread that ends leaves no blocks that the next one with its number could follow. */
static void forgotten_blocks_are_not_followed(void **state) {
    const struct pm_reuse_options options = {.sample = 1, .bin_width = 0};
    struct pmodel_access trace[40];
    struct pm_raw_bin *bins;
    struct pm_reuse_result result;
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        trace[i] = (struct pmodel_access){(1000 + i) << SHIFT, 8, 0, 0, 1};
    struct pm_reuse *reuse = pm_reuse_new(SHIFT, LEAST_CAPACITY, PM_REUSE_SSE2);
    assert_non_null(reuse);
    assert_true(pm_reuse_choose(reuse, &options));
    assert_true(pm_reuse_count_sequential(reuse));
    bins = calloc(pm_reuse_most_bins(reuse), sizeof *bins);
    assert_non_null(bins);
    pm_reuse_accesses(reuse, 1, trace, 20);
    pm_reuse_forget_blocks(reuse);
    pm_reuse_accesses(reuse, 1, trace + 20, 20);
    pm_reuse_sequential(reuse, 0, &result, bins);
    assert_int_equal(result.n_bins, 0);
    assert_int_equal(result.cold_loads, 18 + 18);
    free(bins);
    pm_reuse_free(reuse);
}

/* Rows of ten blocks far apart: eight of each are sequential.  Enough of them that some touches are
   not looked at: the share is what it would be. */
static void one_that_is_drawn_counts_for_those_that_are_not(void **state) {
    enum { MANY = PM_SEQUENTIAL_ALL / 4 * 5, AT_ONCE = 1 << 12 };
    const struct pm_reuse_options options = {.sample = 1, .bin_width = 0};
    static struct pmodel_access trace[AT_ONCE];
    struct pm_reuse_result result;
    (void)state;
    struct pm_reuse *reuse = pm_reuse_new(SHIFT, LEAST_CAPACITY, pm_reuse_best_variant());
    assert_non_null(reuse);
    assert_true(pm_reuse_choose(reuse, &options));
    assert_true(pm_reuse_count_sequential(reuse));
    for (uint64_t i = 0; i < MANY; i += AT_ONCE) {
        for (uint64_t k = i; k < i + AT_ONCE; k++)
            trace[k - i] =
                (struct pmodel_access){(1000 + k / 10 * 16 + k % 10) << SHIFT, 8, 0, 0, 1};
        pm_reuse_accesses(reuse, 1, trace, AT_ONCE);
    }
    assert_false(pm_reuse_has_failed(reuse));
    struct pm_raw_bin *bins = calloc(pm_reuse_most_bins(reuse), sizeof *bins);
    assert_non_null(bins);
    pm_reuse_sequential(reuse, 0, &result, bins);
    double share = (double)result.cold_loads / MANY;
    if (fabs(share - 0.8) > 0.005)
        fail_msg("a share of %g, not 0.8", share);
    free(bins);
    pm_reuse_free(reuse);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequential_touches_are_those_of_a_stack),
        cmocka_unit_test(shares_of_known_streams_are_found),
        cmocka_unit_test(forgotten_blocks_are_not_followed),
        cmocka_unit_test(one_that_is_drawn_counts_for_those_that_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
