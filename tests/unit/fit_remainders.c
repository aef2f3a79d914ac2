/* Counts of vector loops and of what they leave are found exactly, from sizes of which none is the
   one that is asked for; counts of another kind are not taken for such. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/expression/expression.h"
#include "fit/series/series.h"
#include "tests/unit/uniform.h"

enum { N = 6 };
static const double sizes[N] = {8, 10, 12, 14, 16, 18};

typedef double (*count)(double x);

static double rows(double x) { return (x - 2) * (x - 2); }
static double vectors(double x) { return 4000 * rows(x) * (floor((x - 2) / 4) - 1); }
static double left_over(double x) { return fmod(x - 2, 4) > 0 ? 4000 * rows(x) : 0; }
static double singles(double x) { return 7 * x * fmod(x + 2, 8) + 3; }

/* The value of MODEL at X by its texts, as a model set would have it. */
static double value_at(const struct pm_remainder_model *model, double x) {
    const char *const names[] = {"N"};
    double sum = 0;
    for (size_t k = 0; k < PM_REMAINDER_STEPPED; k++) {
        char *text = pm_remainder_text(model, "N", k);
        struct pm_expression *expression = pm_expression_parse(text, NULL);
        double value = NAN;
        assert_non_null(expression);
        assert_true(pm_expression_evaluate(expression, 1, names, &x, &value, NULL));
        sum += model->stepped[k] * value + model->smooth[k] * pow(x, (double)k);
        pm_expression_free(expression);
        free(text);
    }
    return sum;
}

static void expect(count count, double asked) {
    double y[N];
    struct pm_remainder_model model;
    for (size_t k = 0; k < N; k++)
        y[k] = count(sizes[k]);
    assert_true(pm_fit_remainders(N, sizes, y, NULL, 0, &model));
    assert_true(fabs(value_at(&model, asked) - count(asked)) <= 1e-9 * fabs(count(asked)));
}

static void counts_of_vector_loops_hold_at_larger_sizes(void **state) {
    (void)state;
    expect(vectors, 36);
    expect(left_over, 36);
    expect(left_over, 38);
    expect(singles, 102);
}

/* Numbers of nine digits that follow nothing. */
static void chance_is_no_remainder(void **state) {
    (void)state;
    for (int turn = 0; turn < 50; turn++) {
        double y[N];
        struct pm_remainder_model model;
        for (size_t k = 0; k < N; k++)
            y[k] = floor(uniform(0, 1e9));
        assert_false(pm_fit_remainders(N, sizes, y, NULL, 0, &model));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_vector_loops_hold_at_larger_sizes),
        cmocka_unit_test(chance_is_no_remainder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
