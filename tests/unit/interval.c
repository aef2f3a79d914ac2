/* Between what a time lies: what counts, the model of time and the machine make of it together, for
   one scope and for sums of scopes (core/prediction.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "core/prediction.h"

static void is_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Of 1000 cycles of which HALF is half an interval of the model. */
static struct pm_cost_sum cost_of(double half) {
    return (struct pm_cost_sum){.cycles = 1000,
                                .spread = {.below = half,
                                           .above = half,
                                           .below_squares = half * half,
                                           .above_squares = half * half}};
}

static void nothing_uncertain_is_no_interval(void **state) {
    (void)state;
    struct pm_cost_sum cost = cost_of(0);
    struct pm_estimate cycles = pm_cycles_between(&cost);
    is_near(cycles.low, 1000);
    is_near(cycles.high, 1000);
}

static void one_scope_has_the_half_intervals_that_it_was_given(void **state) {
    (void)state;
    struct pm_cost_sum cost = cost_of(200);
    struct pm_estimate cycles = pm_cycles_between(&cost);
    is_near(cycles.low, 800);
    is_near(cycles.estimate, 1000);
    is_near(cycles.high, 1200);
}

static void sources_err_independently(void **state) {
    (void)state;
    struct pm_cost_sum cost = cost_of(200);
    cost.spread.high.cycles = 200;
    cost.spread.machine_below = cost.spread.machine_above = 200;
    is_near(pm_cycles_between(&cost).high, 1000 * exp(sqrt(3) * log(1.2)));
    cost.spread.low.cycles = -200;
    is_near(pm_cycles_between(&cost).low, 1000 * exp(sqrt(3) * log(0.8)));
    /* One that is on one side alone leaves the other as it is. */
    cost.spread.machine_below = 0;
    is_near(pm_cycles_between(&cost).low, 1000 * exp(sqrt(2) * log(0.8)));
    is_near(pm_cycles_between(&cost).high, 1000 * exp(sqrt(3) * log(1.2)));
}

static void an_end_on_the_wrong_side_does_not_narrow(void **state) {
    (void)state;
    struct pm_cost_sum cost = cost_of(200);
    cost.spread.low.cycles = 100;
    cost.spread.high.cycles = -100;
    struct pm_estimate cycles = pm_cycles_between(&cost);
    is_near(cycles.low, 800);
    is_near(cycles.high, 1200);
}

/* Of many scopes the interval is narrower than of one with all cycles, but never by as much as if
   they erred by themselves. */
static void a_sum_is_surer_than_its_parts(void **state) {
    (void)state;
    enum { N = 100 };
    struct pm_cost_sum sum = {0}, one = cost_of(200);
    for (int i = 0; i < N; i++)
        pm_cost_sum_add(&sum, &one);
    struct pm_estimate cycles = pm_cycles_between(&sum);
    double half = (cycles.high - cycles.estimate) / cycles.estimate;
    assert_true(half < 0.2 && half > 0.2 / sqrt(N));
    /* One that outweighs the others is as uncertain as it is. */
    struct pm_cost_sum large = cost_of(0);
    large.cycles = 1e6;
    large.spread.above = 2e5;
    large.spread.above_squares = 4e10;
    pm_cost_sum_add(&large, &one);
    struct pm_estimate all = pm_cycles_between(&large);
    assert_true(all.high / all.estimate > 1.19 && all.high / all.estimate < 1.2001);
}

/* A tenth of the time is the schedule; counts and the machine would each take nearly all away. */
static void nothing_is_below_the_schedule_without_misses(void **state) {
    (void)state;
    struct pm_cost_sum cost = cost_of(100);
    cost.schedule_cycles = 100;
    cost.spread.least = 60;
    cost.spread.machine_below = 990;
    cost.spread.low.cycles = -990;
    is_near(pm_cycles_between(&cost).low, 60);
    /* With half as many iterations the schedule is half as long. */
    cost.spread.low.schedule_cycles = -50;
    is_near(pm_cycles_between(&cost).low, 30);
    cost.spread.least = 0;
    assert_true(pm_cycles_between(&cost).low < 30);
}

static void what_is_missing_is_on_top(void **state) {
    (void)state;
    struct pm_cost_sum cost = cost_of(200);
    cost.spread.missing = 500;
    struct pm_estimate cycles = pm_cycles_between(&cost);
    is_near(cycles.low, 800);
    is_near(cycles.high, 1700);
}

static void a_share_has_a_share_of_the_interval(void **state) {
    (void)state;
    struct pm_cost_sum part = {0}, one = cost_of(200);
    one.spread.missing = 100;
    pm_cost_sum_add_share(&part, &one, 0.25);
    struct pm_estimate cycles = pm_cycles_between(&part);
    is_near(cycles.low, 200);
    is_near(cycles.high, 325);
}

static void what_nobody_knows_has_no_ends(void **state) {
    (void)state;
    struct pm_cost_sum cost = cost_of(NAN);
    struct pm_estimate cycles = pm_cycles_between(&cost);
    assert_true(isnan(cycles.low) && isnan(cycles.high));
    is_near(cycles.estimate, 1000);
}

static void more_than_all_of_it_leaves_something(void **state) {
    (void)state;
    struct pm_cost_sum cost = cost_of(5000);
    struct pm_estimate cycles = pm_cycles_between(&cost);
    assert_true(cycles.low > 0 && cycles.low < 10);
    is_near(cycles.high, 6000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_uncertain_is_no_interval),
        cmocka_unit_test(one_scope_has_the_half_intervals_that_it_was_given),
        cmocka_unit_test(sources_err_independently),
        cmocka_unit_test(an_end_on_the_wrong_side_does_not_narrow),
        cmocka_unit_test(a_sum_is_surer_than_its_parts),
        cmocka_unit_test(nothing_is_below_the_schedule_without_misses),
        cmocka_unit_test(what_is_missing_is_on_top),
        cmocka_unit_test(a_share_has_a_share_of_the_interval),
        cmocka_unit_test(what_nobody_knows_has_no_ends),
        cmocka_unit_test(more_than_all_of_it_leaves_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
