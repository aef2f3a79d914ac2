/* core/warnings.h: warnings stand by kind, each once; core/parameters.h: parameters that were given
   as formulas. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "core/parameters.h"
#include "core/warnings.h"

static void each_is_there_once_and_in_order(void **state) {
    (void)state;
    struct pm_warnings warnings = {0};
    pm_warning_add(&warnings, PM_WARNING_OUTSIDE, 0.5, "%d%% outside", 50);
    pm_warning_add(&warnings, PM_WARNING_POOR_MODELS, 0.2, "poor");
    pm_warning_add(&warnings, PM_WARNING_OUTSIDE, 0.5, "%s", "50% outside");
    pm_warning_add(&warnings, PM_WARNING_POOR_MODELS, NAN, "poorer");
    pm_warning_add(&warnings, PM_WARNING_EQUAL_COUNTS, NAN, "equal");
    assert_int_equal(warnings.n_list, 4);
    static const char *const texts[] = {"equal", "poor", "poorer", "50% outside"};
    for (size_t i = 0; i < warnings.n_list; i++)
        assert_string_equal(warnings.list[i].text, texts[i]);
    assert_true(warnings.list[1].share == 0.2);
    assert_true(isnan(warnings.list[2].share));
    pm_warnings_free(&warnings);
    assert_int_equal(warnings.n_list, 0);
}

static void each_kind_has_a_word(void **state) {
    (void)state;
    for (int kind = 0; kind < PM_N_WARNINGS; kind++)
        assert_non_null(pm_warning_word((enum pm_warning_kind)kind));
}

static void formulas_are_found_by_name(void **state) {
    (void)state;
    struct pm_given_formulas formulas = {0};
    assert_null(pm_given_formulas_get(&formulas, "L"));
    pm_given_formulas_add(&formulas, "L", "log2(N)");
    pm_given_formulas_add(&formulas, "M", "N/3");
    assert_string_equal(pm_given_formulas_get(&formulas, "M"), "N/3");
    assert_null(pm_given_formulas_get(&formulas, "N"));
    pm_given_formulas_free(&formulas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_there_once_and_in_order),
        cmocka_unit_test(each_kind_has_a_word),
        cmocka_unit_test(formulas_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
