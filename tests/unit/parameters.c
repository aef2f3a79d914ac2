/* Problem sizes: reading, canonical text, equality. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/parameters.h"

static void text_is_canonical_whatever_the_order(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_parameters a = {0}, b = {0};
    assert_true(pm_parameters_parse("N=40,M=13,alpha=0.1", &a, &err));
    assert_true(pm_parameters_parse("alpha=1e-1 M=13.0 N=4e1", &b, &err));
    char *text_a = pm_parameters_text(&a), *text_b = pm_parameters_text(&b);
    assert_string_equal(text_a, "M=13 N=40 alpha=0.1");
    assert_string_equal(text_b, text_a);
    assert_true(pm_parameters_equal(&a, &b));
    free(text_a);
    free(text_b);
    assert_true(pm_parameters_set(&b, "M", 14, &err));
    assert_false(pm_parameters_equal(&a, &b));
    assert_true(pm_parameters_set(&b, "M", 13, &err));
    assert_true(pm_parameters_set(&b, "K", 1, &err));
    assert_false(pm_parameters_equal(&a, &b));
}

static void values_read_back_the_same(void **state) {
    (void)state;
    static const double values[] = {0,       -0.0, 1,    -17,   1e6,      0.1,
                                    1.0 / 3, 1e-7, 1e15, 1e300, 4.5e-300, 123456789012345.0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[40];
        pm_format_value(values[i], text, sizeof text);
        assert_true(strtod(text, NULL) == values[i]);
        if (fabs(values[i]) < 1e15 && values[i] == floor(values[i]))
            assert_null(strpbrk(text, ".e"));
    }
    char text[40];
    pm_format_value(-0.0, text, sizeof text);
    assert_string_equal(text, "0");
    pm_format_value(0.1, text, sizeof text);
    assert_string_equal(text, "0.1");
}

static void mistakes_get_a_sentence_and_change_nothing(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"N", "NAME=VALUE"},
        {"N=", "not a number"},
        {"N=x", "not a number"},
        {"N=4x", "not a number"},
        {"4=4", "cannot be the name"},
        {"N=1,N=2", "given twice"},
        {"", "missing"},
        {"N=inf", "not a number"},
        {"N-1=3", "cannot be the name"},
        {"a_name_of_more_than_thirty_one_letters=1", "longer"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pm_error err = {0};
        struct pm_parameters parameters = {.n = 1, .names = {"Z"}, .values = {9}};
        if (pm_parameters_parse(wrong[i][0], &parameters, &err))
            fail_msg("`%s` was accepted", wrong[i][0]);
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("`%s`: expected \"%s\", got \"%s\"", wrong[i][0], wrong[i][1], err.text);
        assert_int_equal(parameters.n, 1);
        assert_true(parameters.values[0] == 9);
    }
}

static void more_than_sixteen_are_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_parameters parameters = {0};
    for (int i = 0; i < PM_MAX_PARAMETERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        assert_true(pm_parameters_set(&parameters, name, i, &err));
    }
    assert_false(pm_parameters_set(&parameters, "q", 1, &err));
    double value;
    assert_true(pm_parameters_get(&parameters, "p11", &value));
    assert_true(value == 11);
    assert_false(pm_parameters_get(&parameters, "q", &value));
}

static void sizes_given_in_parts_add_up(void **state) {
    (void)state;
    struct pm_parameters sum = {0}, whole = {0}, before;
    struct pm_error err = {0};
    assert_true(pm_parameters_add("N=40", &sum, &err));
    assert_true(pm_parameters_add("M=13,K=2", &sum, &err));
    assert_true(pm_parameters_parse("K=2,M=13,N=40", &whole, &err));
    assert_true(pm_parameters_equal(&sum, &whole));
    before = sum;
    assert_false(pm_parameters_add("L=1,M=14", &sum, &err));
    assert_non_null(strstr(err.text, "M is given twice"));
    assert_false(pm_parameters_add("nonsense", &sum, &err));
    assert_true(pm_parameters_equal(&sum, &before));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_canonical_whatever_the_order),
        cmocka_unit_test(values_read_back_the_same),
        cmocka_unit_test(sizes_given_in_parts_add_up),
        cmocka_unit_test(mistakes_get_a_sentence_and_change_nothing),
        cmocka_unit_test(more_than_sixteen_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
