/* The least that repeats: the estimate by which all probes measure beside others.  If this fails,
   figures of `pmodel probe` hang on what else the machine does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/base.h"

static uint64_t random_state = 88172645463325252U;

static double uniform(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* Nine of ten rounds are up to three times slower. */
static void it_is_what_nobody_slowed(void **state) {
    (void)state;
    enum { TRIES = 500, ROUNDS = 400 };
    unsigned n_near = 0;
    for (int i = 0; i < TRIES; i++) {
        double rounds[ROUNDS];
        for (int j = 0; j < ROUNDS; j++)
            rounds[j] = 100 * (1 + 0.01 * uniform()) * (uniform() < 0.9 ? 1 + 2 * uniform() : 1);
        struct pm_estimate least = pm_estimate_least(rounds, ROUNDS, 0.005);
        assert_true(least.low <= least.estimate && least.estimate <= least.high);
        n_near += fabs(least.estimate - 100.5) < 2;
    }
    assert_true(n_near > TRIES * 95 / 100);
}

/* The quantile of what is drawn evenly from 0 to 1 is known. */
static void its_interval_holds_the_quantile(void **state) {
    (void)state;
    static const size_t sizes[] = {50, 100, 1000};
    enum { TRIES = 2000, MOST = 1000 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        unsigned n_held = 0;
        for (int i = 0; i < TRIES; i++) {
            double values[MOST];
            for (size_t j = 0; j < sizes[k]; j++)
                values[j] = uniform();
            struct pm_estimate least = pm_estimate_least(values, sizes[k], 0);
            n_held += least.low <= PM_LEAST_QUANTILE && PM_LEAST_QUANTILE <= least.high;
        }
        assert_true(n_held > TRIES * 78 / 100);
        assert_true(n_held < TRIES * 97 / 100); /* it is not wide for nothing */
    }
}

static void few_values_leave_the_interval_open_below(void **state) {
    (void)state;
    double values[] = {3.0, 4.0, 5.0}, one = 7;
    struct pm_estimate least = pm_estimate_least(values, 3, 0);
    assert_true(least.low < 3 && least.high > 3);
    assert_true(isnan(pm_estimate_least(values, 0, 0).estimate));
    assert_true(pm_estimate_least(&one, 1, 0).estimate == 7);
}

static void visits_are_as_good_as_the_best_of_them(void **state) {
    (void)state;
    const struct pm_estimate visits[] = {
        {11.9, 12, 12.1}, pm_estimate_unknown(), {9.9, 10, 10.1}, {29, 30, 31}};
    struct pm_estimate least = pm_estimate_least_of(visits, 4);
    assert_true(least.estimate == 10);
    assert_true(least.low <= 10. * 10 / 12 && least.low > 0 && least.high >= 12);
    const struct pm_estimate apart[] = {{9.9, 10, 10.1}, {29, 30, 31}};
    assert_true(pm_estimate_least_of(apart, 2).low > 0);
    assert_true(pm_estimate_least_of(visits, 1).high == 12.1);
    assert_true(isnan(pm_estimate_least_of(visits + 1, 1).estimate));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_nobody_slowed),
        cmocka_unit_test(its_interval_holds_the_quantile),
        cmocka_unit_test(few_values_leave_the_interval_open_below),
        cmocka_unit_test(visits_are_as_good_as_the_best_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
