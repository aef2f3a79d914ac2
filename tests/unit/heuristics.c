/* fit/heuristics.h: names from the environment change what they name, and a wrong one is an error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "core/base/base.h"
#include "fit/heuristics.h"

static void a_step_is_left_out_and_comes_back(void **state) {
    (void)state;
    struct pm_error err = {0};
    assert_false(pm_fit_without(PM_STEP_GAPS));
    assert_true(pm_heuristics_set("joint,gaps", NULL, &err));
    assert_true(pm_fit_without(PM_STEP_GAPS));
    assert_true(pm_fit_without(PM_STEP_JOINT));
    assert_false(pm_fit_without(PM_STEP_SHAPE));
    assert_true(pm_heuristics_set(NULL, NULL, &err));
    assert_false(pm_fit_without(PM_STEP_GAPS));
}

static void a_constant_is_scaled_from_its_own_value(void **state) {
    (void)state;
    struct pm_error err = {0};
    double similar = pm_heuristics.similar;
    for (int times = 0; times < 2; times++) {
        assert_true(pm_heuristics_set("", "similar:0.5,gap_tries:2", &err));
        assert_true(pm_heuristics.similar == 0.5 * similar);
        assert_int_equal(pm_heuristics.gap_tries, 2 * 4);
    }
    assert_true(pm_heuristics_set(NULL, "joint_smallest:0.01", &err));
    assert_int_equal(pm_heuristics.joint_smallest, 1);
    assert_true(pm_heuristics_set(NULL, NULL, &err));
    assert_true(pm_heuristics.similar == similar);
}

static void refuse(const char *without, const char *scale, const char *what) {
    struct pm_error err = {0};
    struct pm_heuristics before = pm_heuristics;
    assert_false(pm_heuristics_set(without, scale, &err));
    if (!strstr(err.text, what))
        fail_msg("\"%s\" does not say \"%s\"", err.text, what);
    assert_memory_equal(&before, &pm_heuristics, sizeof before);
}

static void what_is_no_name_is_an_error_that_lists_the_names(void **state) {
    (void)state;
    size_t n;
    const struct pm_heuristic_name *steps = pm_heuristic_steps(&n);
    for (size_t i = 0; i < n; i++)
        refuse("gap", NULL, steps[i].name);
    refuse(NULL, "gap_try:0.5", "no constant `gap_try`");
    refuse(NULL, "similar", "similar:0.5");
    refuse(NULL, "similar:3", "up to 2");
    refuse(NULL, "similar:0", "above 0");
    refuse(NULL, "similar:0.5x", "factor");
}

/* Each constant is there once, at a value, and says why. */
static void constants_have_names_values_and_reasons(void **state) {
    (void)state;
    size_t n;
    const struct pm_heuristic_name *constants = pm_heuristic_constants(&n);
    for (size_t i = 0; i < n; i++) {
        assert_true(constants[i].value != 0);
        assert_true(strlen(constants[i].why) > 10);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(constants[i].name, constants[j].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_left_out_and_comes_back),
        cmocka_unit_test(a_constant_is_scaled_from_its_own_value),
        cmocka_unit_test(what_is_no_name_is_an_error_that_lists_the_names),
        cmocka_unit_test(constants_have_names_values_and_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
