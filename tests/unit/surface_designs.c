/* Models in several parameters on random and adversarial input: exact polynomials come back from
   grids and from scattered runs, noise gives models that keep their shape, designs that do not tell
   get a sentence, and parameters that are functions of others are found. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/base.h"
#include "fit/prepare/prepare.h"
#include "fit/series/private.h"
#include "tests/unit/uniform.h"

enum { MAX_POINTS = 150, MAX_AXES = PM_FIT_MAX_AXES };

static const char *const names[MAX_AXES] = {"A", "B", "C", "D"};

struct points {
    size_t n, n_axes;
    double at[MAX_POINTS * MAX_AXES];
};

static size_t sorted_axes; /* of the points being sorted */

static int compare(const void *a, const void *b) { return pm_design_compare(a, b, sorted_axes); }

static void sort_points(struct points *p) {
    sorted_axes = p->n_axes;
    qsort(p->at, p->n, p->n_axes * sizeof(double), compare);
}

/* All combinations of SIDE values of each axis. */
static struct points grid(size_t n_axes, size_t side) {
    struct points p = {.n = 1, .n_axes = n_axes};
    for (size_t i = 0; i < n_axes; i++)
        p.n *= side;
    for (size_t k = 0, code; k < p.n; k++) {
        code = k;
        for (size_t i = 0; i < n_axes; i++, code /= side)
            p.at[k * n_axes + i] = (double)((code % side + 2) * (8 + 4 * i));
    }
    sort_points(&p);
    return p;
}

static struct points scattered(size_t n_axes, size_t n) {
    struct points p = {.n = n, .n_axes = n_axes};
    for (size_t k = 0; k < n * n_axes; k++)
        p.at[k] = floor(uniform(8, 120));
    sort_points(&p);
    return p;
}

static struct pm_design *surface_of(const struct points *p) {
    struct pm_error err = {0};
    struct pm_design *design = pm_design_on_axes(names, p->n_axes, p->at, p->n, NULL, 0, &err);
    if (!design)
        fail_msg("%s", err.text);
    return design;
}

static double power_of(size_t exponents, const double *at, size_t n_axes) {
    double value = 1; /* two bits an axis */
    for (size_t i = 0; i < n_axes; i++)
        value *= pow(at[i], (double)(exponents >> 2 * i & 3));
    return value;
}

static size_t total_degree(size_t exponents) {
    size_t sum = 0;
    for (; exponents; exponents >>= 2)
        sum += exponents & 3;
    return sum;
}

/* What the model gives at a place, without the clamp at 0. */
static double value_at(const struct pm_design *s, const struct pm_model *model, const double *at) {
    double sum = 0;
    for (size_t t = 0; t < model->n_terms; t++) {
        char *text = pm_design_text(s, model->terms[t]);
        struct pm_expression *expression = pm_expression_parse(text, NULL);
        double value = NAN;
        assert_true(pm_expression_evaluate(expression, s->n_axes, names, at, &value, NULL));
        sum += model->coefficients[t] * value;
        pm_expression_free(expression);
        free(text);
    }
    return sum;
}

/* ---- exact ---------------------------------------------------------------------------------- */

/* A random polynomial with whole values at all points comes back term by term. */
static void expect_polynomial_back(const struct points *p, size_t max_terms) {
    struct pm_design *design = surface_of(p);
    struct pm_series_workspace *workspace = pm_series_workspace_new(design);
    size_t exponents[8] = {0}, n = 0, wanted = 1 + (size_t)uniform(0, (double)max_terms);
    double coefficients[8], y[MAX_POINTS];
    while (n < wanted) {
        size_t candidate = (size_t)uniform(0, (double)(1u << 2 * p->n_axes));
        bool fresh = total_degree(candidate) <= 4;
        for (size_t i = 0; i < n; i++)
            fresh &= exponents[i] != candidate;
        if (!fresh)
            continue;
        exponents[n] = candidate;
        coefficients[n++] = floor(uniform(1, 1000));
    }
    for (size_t k = 0; k < p->n; k++) {
        y[k] = 0;
        for (size_t i = 0; i < n; i++)
            y[k] += coefficients[i] * power_of(exponents[i], p->at + k * p->n_axes, p->n_axes);
    }
    struct pm_model model;
    pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
    bool same = model.exact && model.n_terms == n;
    double far[MAX_AXES] = {1000, 999, 998, 997}, expected = 0;
    for (size_t i = 0; i < n; i++)
        expected += coefficients[i] * power_of(exponents[i], far, p->n_axes);
    if (!same || fabs(value_at(design, &model, far) / expected - 1) > 1e-12)
        fail_msg("%zu terms, %zu points in %zu parameters: got %u terms, exact %d, %g for %g", n,
                 p->n, p->n_axes, model.n_terms, model.exact, value_at(design, &model, far),
                 expected);
    pm_series_workspace_free(workspace);
    pm_design_free(design);
}

static void exact_polynomials_come_back_from_grids(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct points p = grid(2, 5 + (size_t)i % 2);
        expect_polynomial_back(&p, 6);
    }
    for (int i = 0; i < 20; i++) {
        struct points p = grid(3, 5);
        expect_polynomial_back(&p, 5);
    }
}

static void exact_polynomials_come_back_from_scattered_runs(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct points p = scattered(2, 30);
        expect_polynomial_back(&p, 4);
    }
    for (int i = 0; i < 20; i++) {
        struct points p = scattered(3, 60);
        expect_polynomial_back(&p, 4);
    }
    for (int i = 0; i < 3; i++) {
        struct points p = scattered(4, 80);
        expect_polynomial_back(&p, 3);
    }
}

static void small_random_numbers_are_not_taken_for_an_exact_polynomial(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct points p = grid(2, 3 + (size_t)i % 3);
        struct pm_design *design = surface_of(&p);
        struct pm_series_workspace *workspace = pm_series_workspace_new(design);
        double y[MAX_POINTS];
        struct pm_model model;
        for (size_t k = 0; k < p.n; k++)
            y[k] = floor(uniform(0, 20));
        pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
        assert_false(model.exact);
        pm_series_workspace_free(workspace);
        pm_design_free(design);
    }
}

/* ---- noise and shape ------------------------------------------------------------------------ */

static void noise_is_smoothed_and_extrapolates(void **state) {
    (void)state;
    double worst = 0, far[2] = {2 * 48, 2 * 72};
    for (int i = 0; i < 50; i++) {
        struct points p = grid(2, 5);
        struct pm_design *design = surface_of(&p);
        struct pm_series_workspace *workspace = pm_series_workspace_new(design);
        double y[MAX_POINTS];
        struct pm_model model;
        for (size_t k = 0; k < p.n; k++) {
            double a = p.at[2 * k], b = p.at[2 * k + 1];
            y[k] = (3 * a * a * b + 50 * a * b) * uniform(0.99, 1.01);
        }
        pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
        assert_false(model.exact);
        assert_true(model.leave_one_out_error < 0.015);
        double expected = 3 * far[0] * far[0] * far[1] + 50 * far[0] * far[1];
        worst = fmax(worst, fabs(value_at(design, &model, far) / expected - 1));
        pm_series_workspace_free(workspace);
        pm_design_free(design);
    }
    if (!(worst < 0.03))
        fail_msg("at twice the largest sizes off by %g", worst);
}

/* Noisy counts that grow along both axes: the model is not negative and does not fall, wherever
   within the range of prediction one looks. */
static void models_of_noisy_growing_counts_keep_their_shape(void **state) {
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct points p = grid(2, 4 + (size_t)i % 3);
        struct pm_design *design = surface_of(&p);
        struct pm_series_workspace *workspace = pm_series_workspace_new(design);
        double y[MAX_POINTS], rough = uniform(0.01, 0.12), c = uniform(0, 3), d = uniform(0, 3);
        struct pm_model model;
        for (size_t k = 0; k < p.n; k++) /* steps of the grid are larger than the noise */
            y[k] = pow(p.at[2 * k], c + 0.6) * pow(p.at[2 * k + 1], d + 0.6) *
                   uniform(1 - rough / 2, 1 + rough / 2);
        pm_series_fit(workspace, y, i % 2 ? PM_SERIES_COUNT : PM_SERIES_DISTANCE, &model);
        for (int place = 0; place < 200; place++) {
            double at[2] = {uniform(48, 6 * 48), uniform(72, 6 * 72)}, more[2] = {at[0], at[1]};
            more[place % 2] *= 1.3;
            double here = value_at(design, &model, at), there = value_at(design, &model, more);
            if (!(here >= 0 && there >= here * (1 - 1e-3)))
                fail_msg("%g at %g, %g and %g at %g, %g", here, at[0], at[1], there, more[0],
                         more[1]);
        }
        if (i % 2 == 0)
            assert_true(model.n_terms <= 3);
        pm_series_workspace_free(workspace);
        pm_design_free(design);
    }
}

static void late_constant_and_missing_values_stay_sane(void **state) {
    (void)state;
    struct points p = grid(2, 5);
    struct pm_design *design = surface_of(&p);
    struct pm_series_workspace *workspace = pm_series_workspace_new(design);
    double y[MAX_POINTS], far[2] = {100, 100};
    struct pm_model model;
    for (size_t k = 0; k < p.n; k++) /* sets in at A = 32 */
        y[k] = p.at[2 * k] < 32 ? 0 : 7 * p.at[2 * k] * p.at[2 * k + 1];
    pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
    assert_true(value_at(design, &model, far) == 70000);
    assert_int_equal(model.n_points, 15);
    for (size_t k = 0; k < p.n; k++)
        y[k] = k % 4 == 0 ? NAN : 5 + p.at[2 * k] * p.at[2 * k + 1] / 8;
    pm_series_fit(workspace, y, PM_SERIES_DISTANCE, &model);
    assert_true(fabs(value_at(design, &model, far) - 1255) < 1e-6);
    for (size_t k = 0; k < p.n; k++)
        y[k] = 42;
    pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
    assert_true(model.exact && value_at(design, &model, far) == 42);
    for (size_t k = 0; k < p.n; k++)
        y[k] = 0;
    pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
    assert_true(model.exact && model.n_terms == 0);
    for (size_t k = 0; k < p.n; k++)
        y[k] = k == 3 ? 1e15 : k == 7 ? 1e-300 : NAN;
    pm_series_fit(workspace, y, PM_SERIES_DISTANCE, &model);
    assert_true(isfinite(value_at(design, &model, far)));
    for (size_t k = 0; k < p.n; k++)
        y[k] = NAN;
    pm_series_fit(workspace, y, PM_SERIES_DISTANCE, &model);
    assert_int_equal(model.n_terms, 0);
    pm_series_workspace_free(workspace);
    pm_design_free(design);
}

/* Functions that repeat each other, vanish, jump or explode at the points. */
static void odd_bases_give_finite_models_or_a_sentence(void **state) {
    (void)state;
    static const char *const functions[] = {
        "A",     "A",        "2*A",    "ceil(A/8)",  "floor(A/1000)",
        "A^-1",  "1/(A-32)", "exp(A)", "sqrt(A-20)", "A%16",
        "A==24", "B",        "B^9",    "log2(B)",    "B*log(B)",
        "0*B",   "B^0",      "1",      "max(B,40)",  "exp(B^2)"};
    enum { N_FUNCTIONS = sizeof functions / sizeof *functions };
    for (int i = 0; i < 300; i++) {
        struct points p = i % 2 ? grid(2, 5) : scattered(2, 20);
        struct pm_error err = {0};
        const char *texts[6];
        size_t n = 1 + (size_t)uniform(0, 6);
        for (size_t t = 0; t < n; t++)
            texts[t] = functions[(size_t)uniform(0, N_FUNCTIONS)];
        struct pm_design *design = pm_design_on_axes(names, 2, p.at, p.n, texts, n, &err);
        assert_true(design || err.text[0]);
        if (!design)
            continue;
        struct pm_series_workspace *workspace = pm_series_workspace_new(design);
        double y[MAX_POINTS];
        struct pm_model model;
        for (size_t k = 0; k < p.n; k++)
            y[k] = floor(p.at[2 * k] * p.at[2 * k + 1] * uniform(0.5, 2));
        pm_series_fit(workspace, y, i % 3 ? PM_SERIES_COUNT : PM_SERIES_DISTANCE, &model);
        for (size_t k = 0; k < p.n; k++)
            assert_true(isfinite(value_at(design, &model, p.at + 2 * k)));
        pm_series_workspace_free(workspace);
        pm_design_free(design);
    }
}

/* ---- designs -------------------------------------------------------------------------------- */

static void expect_refused(const double *at, size_t n, size_t n_axes, const char *basis,
                           const char *words) {
    struct pm_error err = {0};
    struct points p = {.n = n, .n_axes = n_axes};
    memcpy(p.at, at, n * n_axes * sizeof *at);
    sort_points(&p);
    assert_null(pm_design_on_axes(names, n_axes, p.at, n, &basis, basis ? 1 : 0, &err));
    if (!strstr(err.text, words))
        fail_msg("expected \"%s\", got \"%s\"", words, err.text);
}

static void designs_that_do_not_tell_get_a_sentence(void **state) {
    (void)state;
    static const double two_levels[] = {8, 8, 8, 16, 16, 8, 16, 16, 24, 8, 24, 16};
    expect_refused(two_levels, 6, 2, NULL, "B has only 2 values");
    static const double few[] = {8, 8, 16, 24, 24, 16, 32, 8};
    expect_refused(few, 4, 2, NULL, "need 5 runs at least");
    static const double cross[] = {8, 8, 16, 8, 24, 8, 32, 8, 8, 16, 8, 24, 8, 32};
    expect_refused(cross, 7, 2, NULL, "what A and B do together");
    static const double negative[] = {8, 8, 16, 24, 24, -16, 32, 8, 40, 48};
    expect_refused(negative, 5, 2, NULL, "B=-16 is not a size");
    static const double sound[] = {8, 8, 8, 16, 16, 8, 16, 16, 24, 8, 24, 16, 24, 32, 8, 32};
    expect_refused(sound, 8, 2, "A*B", "`A*B` is not a function of one");
    expect_refused(sound, 8, 2, "E^2", "`E^2` is not a function of one");
    expect_refused(sound, 8, 2, "log2(A-8)", "has no");
}

/* Runs with these parameters, formulas of A, B and C. */
static void expect_varying(const char *const *formulas, size_t n_formulas, const char *expected) {
    struct pm_profile profiles[64] = {0};
    const struct pm_profile *pointers[64];
    const char *found[PM_MAX_PARAMETERS];
    struct pm_error err = {0};
    size_t n = 0;
    for (double a = 12; a <= 60; a += 16)
        for (double b = 10; b <= 40; b += 10)
            for (double c = 6; c <= 12; c += 2, n++) {
                double at[] = {a, b, c};
                for (size_t f = 0; f < n_formulas; f++) {
                    struct pm_expression *expression =
                        pm_expression_parse(strchr(formulas[f], '=') + 1, &err);
                    char name[8] = {formulas[f][0]};
                    double value = NAN;
                    assert_true(pm_expression_evaluate(expression, 3, names, at, &value, &err));
                    assert_true(pm_parameters_set(&profiles[n].parameters, name, value, &err));
                    pm_expression_free(expression);
                }
                pointers[n] = &profiles[n];
            }
    size_t n_found = pm_fit_varying(pointers, n, NULL, found, NULL, &err);
    char *text = pm_strdup("");
    for (size_t i = 0; i < n_found; i++)
        pm_append(&text, "%s%s", i ? " " : "", found[i]);
    assert_string_equal(text, expected);
    free(text);
}

static void parameters_that_are_functions_of_others_are_found(void **state) {
    (void)state;
    expect_varying((const char *const[]){"A=A", "B=B", "C=C"}, 3, "A B C");
    expect_varying((const char *const[]){"A=A", "B=B", "C=C", "P=A*B*C"}, 4, "A B C");
    expect_varying((const char *const[]){"A=A", "B=B", "C=C", "P=A+2*B", "S=7"}, 5, "A B C");
    expect_varying((const char *const[]){"A=A", "B=B", "C=C", "M=floor((B-1)/3)"}, 4, "A B C");
    expect_varying((const char *const[]){"A=A", "B=B", "C=C", "T=3*A"}, 4, "B C T");
}

/* A basis of several parameters has more functions than a model has terms. */
static void coefficients_that_are_not_negative_come_back(void **state) {
    (void)state;
    struct points p = grid(2, 5);
    struct pm_design *design = surface_of(&p);
    double y[MAX_POINTS];
    assert_true(design->n_basis > PM_MODEL_MAX_TERMS);
    for (size_t k = 0; k < p.n; k++)
        y[k] = 7 + 3 * p.at[2 * k] + 5 * p.at[2 * k + 1];
    struct pm_model model;
    pm_fit_nonnegative(design, y, &model);
    for (size_t t = 0; t < model.n_terms; t++)
        assert_true(model.coefficients[t] > 0);
    for (size_t k = 0; k < p.n; k++)
        assert_true(fabs(value_at(design, &model, &p.at[2 * k]) - y[k]) < 1e-3 * y[k]);
    pm_design_free(design);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_polynomials_come_back_from_grids),
        cmocka_unit_test(exact_polynomials_come_back_from_scattered_runs),
        cmocka_unit_test(small_random_numbers_are_not_taken_for_an_exact_polynomial),
        cmocka_unit_test(noise_is_smoothed_and_extrapolates),
        cmocka_unit_test(models_of_noisy_growing_counts_keep_their_shape),
        cmocka_unit_test(late_constant_and_missing_values_stay_sane),
        cmocka_unit_test(odd_bases_give_finite_models_or_a_sentence),
        cmocka_unit_test(designs_that_do_not_tell_get_a_sentence),
        cmocka_unit_test(coefficients_that_are_not_negative_come_back),
        cmocka_unit_test(parameters_that_are_functions_of_others_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
