/* Expressions over parameters: values, precedence, and sentences that point at the mistake. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/expression/expression.h"
#include "core/base/base.h"

static const char *const names[] = {"N", "M", "n_rows"};
static const double values[] = {40, 3, 7};

static double value_of(const char *text) {
    struct pm_error err = {0};
    struct pm_expression *expression = pm_expression_parse(text, &err);
    if (!expression)
        fail_msg("`%s`: %s", text, err.text);
    double result = NAN;
    bool ok = pm_expression_evaluate(expression, 3, names, values, &result, &err);
    pm_expression_free(expression);
    if (!ok)
        fail_msg("`%s`: %s", text, err.text);
    return result;
}

static void operators_bind_as_the_grammar_says(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"10-4-3", 3},
        {"2^3^2", 512},
        {"-2^2", -4},
        {"2^-1", 0.5},
        {"100/10/2", 5},
        {"17%5*2", 4},
        {"!0+1", 2},
        {"!N", 0},
        {"1+1==2&&2<3", 1},
        {"0||1&&0", 0},
        {"1||0&&0", 1},
        {"N%4==0", 1},
        {"N>=40", 1},
        {"N!=40", 0},
        {"1<=0", 0},
        {"--3", 3},
        {" floor ( (N-1) / M ) ", 13},
        {"ceil(2.1)+round(2.5)", 6},
        {"min(N,M,n_rows)", 3},
        {"max(N,M,n_rows)", 40},
        {"pow(2,10)", 1024},
        {"N^2*log2(1024)", 16000},
        {"abs(-3)+sqrt(9)+cbrt(27)+log10(100)+exp(0)+log(1)", 12},
        {".5e1+1E+2", 105},
        {"N>0 || 1/0", 1},
        {"N<0 && 1/0", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (value_of(cases[i].text) != cases[i].value)
            fail_msg("`%s` is %g, not %g", cases[i].text, value_of(cases[i].text), cases[i].value);
}

/* CARET: the column under which the caret must stand. */
static void expect_parse_error(const char *text, const char *sentence, size_t caret) {
    struct pm_error err = {0};
    struct pm_expression *expression = pm_expression_parse(text, &err);
    if (expression) {
        pm_expression_free(expression);
        fail_msg("`%s` was accepted", text);
    }
    if (!strstr(err.text, sentence))
        fail_msg("`%s`: expected \"%s\", got \"%s\"", text, sentence, err.text);
    const char *last_line = strrchr(err.text, '\n');
    assert_non_null(last_line);
    assert_int_equal(strspn(last_line + 1, " "), 2 + caret);
    assert_string_equal(last_line + 1 + 2 + caret, "^");
    assert_int_equal(err.kind, PM_ERROR_INPUT);
}

static void mistakes_are_pointed_at(void **state) {
    (void)state;
    expect_parse_error("floor((N-1)/3", "')' is expected", 13);
    expect_parse_error("2N", "an operator or the end", 1);
    expect_parse_error("N+*3", "a number, a name or '('", 2);
    expect_parse_error("", "a number, a name or '('", 0);
    expect_parse_error("N\t+", "a number, a name or '('", 3);
    expect_parse_error("1+fib(3)", "no function of this name", 2);
    expect_parse_error("sqrt(1,2)", "no further argument", 7);
    expect_parse_error("pow(2)", "needs another argument", 5);
    expect_parse_error("1<N<5", "cannot be chained", 3);
    expect_parse_error("1.2.3", "not a number", 0);
    expect_parse_error("0x10", "an operator or the end", 1);
    expect_parse_error("N=4", "an operator or the end", 1);
}

static void deep_or_long_text_is_refused_not_a_crash(void **state) {
    (void)state;
    struct pm_error err = {0};
    char text[100001];
    memset(text, '(', 1000);
    text[1000] = '\0';
    assert_null(pm_expression_parse(text, &err));
    assert_non_null(strstr(err.text, "nested too deeply"));
    memset(text, '-', 3000);
    text[3000] = '\0';
    assert_null(pm_expression_parse(text, &err));
    memset(text, '1', 100000);
    text[100000] = '\0';
    assert_null(pm_expression_parse(text, &err));
    assert_non_null(strstr(err.text, "longer than"));
}

static void unknown_names_and_undefined_values_are_errors(void **state) {
    (void)state;
    struct pm_error err = {0};
    double result = 5;
    struct pm_expression *expression = pm_expression_parse("N + K*2", &err);
    assert_non_null(expression);
    assert_false(pm_expression_evaluate(expression, 3, names, values, &result, &err));
    assert_non_null(strstr(err.text, "`K`"));
    pm_expression_free(expression);
    static const char *const undefined[] = {"1/(N-40)", "log(M-3)", "sqrt(-1)", "N%0"};
    for (size_t i = 0; i < 4; i++) {
        expression = pm_expression_parse(undefined[i], &err);
        assert_non_null(expression);
        assert_false(pm_expression_evaluate(expression, 3, names, values, &result, &err));
        assert_non_null(strstr(err.text, undefined[i]));
        pm_expression_free(expression);
    }
    assert_true(result == 5);
}

static void names_come_once_in_order(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_expression *expression = pm_expression_parse("M*N + M - floor(a_1)", &err);
    assert_non_null(expression);
    const char *const *found;
    size_t n;
    pm_expression_names(expression, &found, &n);
    assert_int_equal(n, 3);
    assert_string_equal(found[0], "M");
    assert_string_equal(found[1], "N");
    assert_string_equal(found[2], "a_1");
    pm_expression_free(expression);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_the_grammar_says),
        cmocka_unit_test(mistakes_are_pointed_at),
        cmocka_unit_test(deep_or_long_text_is_refused_not_a_crash),
        cmocka_unit_test(unknown_names_and_undefined_values_are_errors),
        cmocka_unit_test(names_come_once_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
