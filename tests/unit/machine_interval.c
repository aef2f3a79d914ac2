/* What figures of the machine may change of times, each on the side that it is on: misses of a
   level whose size is known only between two, penalties, figures that are unverified. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/sched_example.h"

#define L1                                                                                         \
    "cache L1 { size = 6400 line = 64 ways = 0 latency = 4 miss_penalty = 10 exposed = 0.5 }\n"
#define TLB "tlb TLB { entries = 4 page = 4096 ways = 0 miss_penalty = 30 exposed = 1 }\n"
#define WITH_L2(figures)                                                                           \
    TOP_LINES("64", "true", "true", "")                                                            \
    UNITS COSTS L1 "cache L2 { line = 64 ways = 0 latency = 14 exposed = 1 " figures " }\n" TLB
#define WIDE                                                                                       \
    WITH_L2("miss_penalty = 100 size = \"64000 (32000 to 128000)\"") /* 500 to 2000 blocks */

/* Of the inner loop, 500 loads of which are at DISTANCE blocks. */
static struct pm_cost_sum loads_at(double distance, const char *machine) {
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 40, 1, NO);
    add_group(&p, SCOPE_INNER, 64, 0, 1, (double[][2]){{distance, 500}});
    struct pm_cost_sum inner = predict(&p, machine)[SCOPE_INNER].self;
    free_program(&p);
    return inner;
}

static void what_fits_in_all_sizes_or_none_hangs_on_none(void **state) {
    (void)state;
    const double distances[] = {10, 400, 5000};
    for (int i = 0; i < 3; i++) {
        struct pm_cost_sum inner = loads_at(distances[i], WIDE);
        assert_near(inner.spread.machine_below, 0);
        assert_near(inner.spread.machine_above, 0);
    }
}

static void what_fits_in_some_sizes_is_slower_in_smaller_ones(void **state) {
    (void)state;
    struct pm_cost_sum inner = loads_at(700, WIDE);
    struct pm_cost_sum small = loads_at(700, WITH_L2("miss_penalty = 100 size = 32000"));
    assert_true(small.cycles > inner.cycles);
    assert_near(inner.spread.machine_below, 0);
    assert_near(inner.spread.machine_above, small.cycles - inner.cycles);
}

static void what_fits_in_larger_sizes_is_faster_there_and_not_more(void **state) {
    (void)state;
    struct pm_cost_sum inner = loads_at(1500, WIDE);
    struct pm_cost_sum large = loads_at(1500, WITH_L2("miss_penalty = 100 size = 128000"));
    assert_true(large.cycles < inner.cycles);
    assert_near(inner.spread.machine_above, 0);
    assert_near(inner.spread.machine_below, inner.cycles - large.cycles);
    /* 500 misses of 100 cycles beside a schedule of 1000 */
    struct pm_estimate cycles = pm_cycles_between(&inner);
    assert_true(cycles.low >= inner.spread.least && inner.spread.least > 600);
    assert_true(cycles.high < 1.6 * cycles.estimate);
}

/* Misses of 100 cycles took 60 where nothing disturbed them; that it was 900 once says nothing. */
static void of_a_penalty_the_fast_side_counts(void **state) {
    (void)state;
    struct pm_cost_sum inner =
        loads_at(5000, WITH_L2("size = 64000 miss_penalty = \"100 (60 to 900)\""));
    assert_near(inner.spread.machine_below, 0.4 * inner.level_cycles[1]);
    assert_near(inner.spread.machine_above, (1 / 0.6 - 1) * inner.level_cycles[1]);
}

static void sides_of_several_figures_are_joined_apart(void **state) {
    (void)state;
    struct pm_cost_sum size = loads_at(1500, WIDE);
    struct pm_cost_sum both = loads_at(
        1500, WITH_L2("miss_penalty = \"100 (60 to 120)\" size = \"64000 (32000 to 128000)\""));
    double below = 0.4 * both.level_cycles[1], above = (1 / 0.6 - 1) * both.level_cycles[1];
    assert_near(both.spread.machine_below, hypot(size.spread.machine_below, below));
    assert_near(both.spread.machine_above, above);
}

/* A size that is unverified lies somewhere around; what does not miss there hangs on it only
   where it may not fit. */
static void unverified_sizes_count_where_something_hangs_on_them(void **state) {
    (void)state;
    const char *unverified = WITH_L2("miss_penalty = 100 size = 64000 not_verified = {size}");
    struct pm_cost_sum fits = loads_at(300, unverified), nearly = loads_at(900, unverified);
    struct pm_cost_sum little = loads_at(1100, unverified);
    assert_near(fits.spread.machine_below, 0);
    assert_near(fits.spread.machine_above, 0);
    assert_near(nearly.spread.machine_below, 0);
    assert_true(nearly.spread.machine_above > 0);
    assert_true(little.spread.machine_below > 0);
    assert_near(little.spread.machine_above, 0);
}

/* Distance 1000 is 64000 bytes. */
#define SERVES(points)                                                                             \
    WITH_L2("miss_penalty = 100 size = 640000 serves = {\"6400: 1 (1 to 1)\", " points "}")

static void what_a_shared_level_serves_counts_and_its_interval_too(void **state) {
    (void)state;
    struct pm_cost_sum inner = loads_at(999, SERVES("\"64000: 0.6 (0.4 to 0.7)\""));
    struct pm_cost_sum less = loads_at(999, SERVES("\"64000: 0.4\""));
    struct pm_cost_sum more = loads_at(999, SERVES("\"64000: 0.7\""));
    assert_float_equal(inner.level_misses[1], 200, 0.2);
    assert_float_equal(less.level_misses[1], 300, 0.3);
    assert_true(more.cycles < inner.cycles && inner.cycles < less.cycles);
    assert_near(inner.spread.machine_below, inner.cycles - more.cycles);
    assert_near(inner.spread.machine_above, less.cycles - inner.cycles);
    assert_near(less.spread.machine_above, 0);
}

/* That the size is unverified is of no account: nothing comes from it. */
static void an_unverified_response_may_reach_farther_or_less_far(void **state) {
    (void)state;
    struct pm_cost_sum inner =
        loads_at(999, WITH_L2("miss_penalty = 100 size = 640000 not_verified = {size, serves}"
                              " serves = {\"6400: 1\", \"64000: 0.6\", \"640000: 0\"}"));
    assert_true(inner.spread.machine_above > 0 && inner.spread.machine_below > 0);
    inner = loads_at(999, WITH_L2("miss_penalty = 100 size = 640000 not_verified = {size}"
                                  " serves = {\"6400: 1\", \"64000: 0.6\", \"640000: 0\"}"));
    assert_near(inner.spread.machine_above, 0);
    assert_near(inner.spread.machine_below, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_in_all_sizes_or_none_hangs_on_none),
        cmocka_unit_test(what_fits_in_some_sizes_is_slower_in_smaller_ones),
        cmocka_unit_test(what_fits_in_larger_sizes_is_faster_there_and_not_more),
        cmocka_unit_test(of_a_penalty_the_fast_side_counts),
        cmocka_unit_test(sides_of_several_figures_are_joined_apart),
        cmocka_unit_test(what_a_shared_level_serves_counts_and_its_interval_too),
        cmocka_unit_test(an_unverified_response_may_reach_farther_or_less_far),
        cmocka_unit_test(unverified_sizes_count_where_something_hangs_on_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
