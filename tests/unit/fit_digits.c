/* No digit is lost between 16 and 4096: data that a sum of basis functions makes give its terms
   back and no others, fractions and whole numbers exactly, all else to about 1e-9. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fitter.h"
#include "tests/unit/uniform.h"

enum { MAX_SIZES = 12, N_MONOMIALS = 5 };

#define LARGEST 9007199254740992.0 /* 2^53 */

static const double powers_of_two[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
static const double uneven[] = {16, 27, 41, 83, 150, 311, 600, 1111, 1999, 3001, 3777, 4096};
static const char *const monomials[] = {"1", "N", "N^2", "N^3", "N^4"};

static double polynomial(const double *coefficients, double x) {
    double sum = 0;
    for (int j = N_MONOMIALS - 1; j >= 0; j--)
        sum = sum * x + coefficients[j];
    return sum;
}

static void expect_coefficients(const struct pm_model *model, const double *coefficients,
                                double tolerance) {
    double found[N_MONOMIALS] = {0};
    for (size_t t = 0; t < model->n_terms; t++)
        found[model->terms[t]] = model->coefficients[t];
    for (size_t j = 0; j < N_MONOMIALS; j++)
        if (!(fabs(found[j] - coefficients[j]) <= tolerance * fabs(coefficients[j])))
            fail_msg("the coefficient of %s is %.17g, not %.17g", monomials[j], found[j],
                     coefficients[j]);
}

/* Some of the terms, within a factor of a thousand at the smallest size: smaller ones drown in the
   rounding of the values. */
static void random_coefficients(double *coefficients, bool whole) {
    double scale = pow(10, uniform(0, 3.3));
    memset(coefficients, 0, N_MONOMIALS * sizeof *coefficients);
    for (int j = 0; j < N_MONOMIALS; j++)
        if (uniform(0, 1) < 0.6)
            coefficients[j] = scale * pow(10, uniform(0, 3)) / pow(16, j);
    if (coefficients[0] + coefficients[1] + coefficients[2] == 0)
        coefficients[1] = scale;
    for (int j = 0; j < N_MONOMIALS && whole; j++)
        coefficients[j] = fmin(ceil(coefficients[j]), 30) * (j == 4 ? 1 : 7);
}

static void terms_with_any_coefficients_come_back(void **state) {
    (void)state;
    for (int design = 0; design < 2; design++) {
        size_t n = design ? sizeof uneven / sizeof *uneven : sizeof powers_of_two / 8;
        const double *x = design ? uneven : powers_of_two;
        struct fitter f = fitter_new(monomials, N_MONOMIALS, x, n);
        double largest = 0;
        for (int i = 0; i < 1000; i++) {
            double coefficients[N_MONOMIALS], y[MAX_SIZES] = {0};
            random_coefficients(coefficients, false);
            for (size_t k = 0; k < n; k++)
                y[k] = polynomial(coefficients, x[k]);
            largest = fmax(largest, y[n - 1]);
            struct pm_model model;
            pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
            expect_coefficients(&model, coefficients, 1e-9);
            assert_true(model.leave_one_out_error < 1e-9);
        }
        assert_true(largest > 0.1 * LARGEST && largest < LARGEST);
        fitter_free(&f);
    }
}

static void whole_coefficients_come_back_exactly(void **state) {
    (void)state;
    double largest = 0;
    struct fitter f = fitter_new(monomials, N_MONOMIALS, powers_of_two, 9);
    for (int i = 0; i < 1000; i++) {
        double coefficients[N_MONOMIALS], y[MAX_SIZES];
        random_coefficients(coefficients, true);
        for (size_t k = 0; k < 9; k++)
            y[k] = polynomial(coefficients, powers_of_two[k]);
        largest = fmax(largest, y[8]);
        struct pm_model model;
        pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
        expect_coefficients(&model, coefficients, 0);
        assert_true(model.exact);
        assert_true(model.relative_error == 0 && model.leave_one_out_error == 0);
    }
    assert_true(largest > 1e15 && largest < LARGEST);
    fitter_free(&f);
}

static void fractions_come_back_exactly(void **state) {
    (void)state;
    static const struct {
        double coefficients[N_MONOMIALS];
        const char *text;
    } cases[] = {
        {{3364329, -332905, 22235, 100.25}, "100.25*N^3 + 22235*N^2 - 332905*N + 3364329"},
        {{723, 120.5, 1084.5}, "1084.5*N^2 + 120.5*N + 723"},
        {{2647343, -228246, 14328.9, 95.6}, "95.6*N^3 + 14328.9*N^2 - 228246*N + 2647343"},
        {{0, 0.5, 0, 0, 2.25}, "2.25*N^4 + 0.5*N"},
        {{7, 0, 180.75}, "180.75*N^2 + 7"},
    };
    struct fitter f = fitter_new(monomials, N_MONOMIALS, uneven, MAX_SIZES);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double y[MAX_SIZES];
        for (size_t k = 0; k < MAX_SIZES; k++)
            y[k] = polynomial(cases[i].coefficients, uneven[k]);
        struct pm_model model;
        pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
        char *text = pm_model_text(f.basis, &model);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
    fitter_free(&f);
}

static void other_functions_come_back(void **state) {
    (void)state;
    static const char *const texts[] = {"1", "sqrt(N)", "N", "N*log2(N)", "N^(3/2)", "ceil(N/8)"};
    struct fitter f = fitter_new(texts, 6, uneven, MAX_SIZES);
    for (int i = 0; i < 500; i++) {
        double coefficients[6] = {0}, found[6] = {0}, y[MAX_SIZES];
        for (int j = 0; j < 6; j++)
            coefficients[j] = uniform(0, 1) < 0.5 ? uniform(0.5, 50) : 0;
        coefficients[i % 6] += 1;
        for (size_t k = 0; k < MAX_SIZES; k++) {
            double x = uneven[k];
            const double values[] = {1, sqrt(x), x, x * log2(x), pow(x, 1.5), ceil(x / 8)};
            y[k] = 0;
            for (int j = 0; j < 6; j++)
                y[k] += coefficients[j] * values[j];
        }
        struct pm_model model;
        pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
        for (size_t t = 0; t < model.n_terms; t++)
            found[model.terms[t]] = model.coefficients[t];
        for (int j = 0; j < 6; j++)
            if (!(fabs(found[j] - coefficients[j]) <= 1e-9 * coefficients[j]))
                fail_msg("the coefficient of %s is %.17g, not %.17g", texts[j], found[j],
                         coefficients[j]);
    }
    fitter_free(&f);
}

/* Of noisy data no sum is exact, and the smallest that explains them has the terms that they were
   made from. */
static void noise_adds_no_terms(void **state) {
    (void)state;
    struct fitter f = fitter_new(monomials, N_MONOMIALS, uneven, MAX_SIZES);
    unsigned n_single = 0;
    for (int i = 0; i < 300; i++) {
        double y[MAX_SIZES];
        for (size_t k = 0; k < MAX_SIZES; k++)
            y[k] = 5.5 * pow(uneven[k], 1 + i % 3) * (1 + uniform(-1e-4, 1e-4));
        struct pm_model model;
        pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
        assert_false(model.exact);
        n_single += model.n_terms == 1;
        double main_term = 0;
        for (size_t t = 0; t < model.n_terms; t++)
            if (model.terms[t] == 1 + i % 3)
                main_term = model.coefficients[t];
        assert_true(fabs(main_term / 5.5 - 1) < 1e-3);
    }
    assert_true(n_single > 150);
    fitter_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_with_any_coefficients_come_back),
        cmocka_unit_test(whole_coefficients_come_back_exactly),
        cmocka_unit_test(fractions_come_back_exactly),
        cmocka_unit_test(other_functions_come_back),
        cmocka_unit_test(noise_adds_no_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
