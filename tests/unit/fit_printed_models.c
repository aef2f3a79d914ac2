/* The models of one parameter that Marin's thesis prints (Rice University, 2003, sections 4.1.1 and
   4.1.2): data generated from them give their coefficients back.  NLON = 16 … 512, powers of two,
   as there; the logarithm is base 2.  A test is named after the equation or the routine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fit/series/series.h"

enum { N_SIZES = 6, N_BASIS = 6 };
static const double sizes[N_SIZES] = {16, 32, 64, 128, 256, 512};
static const char *const texts[N_BASIS] = {"1",      "NLON",  "NLON^2", "NLON^2*log2(NLON)",
                                           "NLON^3", "NLON^4"};

struct printed {
    const char *place;
    double coefficients[N_BASIS];
};

static double value_of(const double *coefficients, double x) {
    return coefficients[0] + coefficients[1] * x + coefficients[2] * x * x +
           coefficients[3] * x * x * log2(x) + coefficients[4] * x * x * x +
           coefficients[5] * x * x * x * x;
}

/* Fits PRINTED over the first N_TEXTS functions. */
static void expect_back(const char *const *functions, size_t n_texts, const struct printed *printed,
                        const size_t *places) {
    struct pm_error err = {0};
    struct pm_basis *basis = pm_basis_new(n_texts, functions, &err);
    assert_non_null(basis);
    struct pm_design *design = pm_design_new(basis, "NLON", sizes, N_SIZES, &err);
    assert_non_null(design);
    struct pm_series_workspace *workspace = pm_series_workspace_new(design);
    double y[N_SIZES], found[N_BASIS] = {0};
    for (size_t k = 0; k < N_SIZES; k++)
        y[k] = value_of(printed->coefficients, sizes[k]);
    struct pm_model model;
    pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
    for (size_t t = 0; t < model.n_terms; t++)
        found[places[model.terms[t]]] = model.coefficients[t];
    for (size_t i = 0; i < N_BASIS; i++)
        if (!(fabs(found[i] - printed->coefficients[i]) <= 1e-9 * fabs(printed->coefficients[i])))
            fail_msg("%s: the coefficient of %s is %.12g, not %.12g", printed->place, texts[i],
                     found[i], printed->coefficients[i]);
    assert_int_equal(model.n_points, N_SIZES);
    assert_true(model.relative_error < 1e-12);
    pm_series_workspace_free(workspace);
    pm_design_free(design);
    pm_basis_free(basis);
}

static void expect_polynomial(const struct printed *printed) {
    static const char *const monomials[] = {"1", "NLON", "NLON^2", "NLON^3", "NLON^4"};
    static const size_t places[] = {0, 1, 2, 4, 5};
    expect_back(monomials, 5, printed, places);
}

static void expect_with_logarithm(const struct printed *printed) {
    static const size_t places[] = {0, 1, 2, 3, 4, 5};
    expect_back(texts, N_BASIS, printed, places);
}

static void equation_4_1(void **state) {
    (void)state;
    const struct printed printed = {"4.1, FpAdd", {3364329, -332905, 22235, 0, 100.25}};
    expect_polynomial(&printed);
    expect_with_logarithm(&printed);
}

static void equation_4_2(void **state) {
    (void)state;
    const struct printed printed = {"4.2, FpMult", {2647343, -228246, 14328.9, 0, 95.6}};
    expect_polynomial(&printed);
    expect_with_logarithm(&printed);
}

/* Of equations 4.3 to 4.8 the parts that do not depend on MM. */
static void equations_4_3_to_4_8_at_the_part_without_MM(void **state) {
    (void)state;
    static const struct printed polynomials[] = {
        {"4.3, FpAdd", {16925208, -637926.64, 21539.4, 0, 4.64}},
        {"4.4, FpMult", {18149057, -546619, 14040.8}},
        {"4.7, FpAdd", {2892, 9881, 4277.25}},
        {"4.8, FpMult", {7229, 7772.25, 3615}},
    };
    static const struct printed logarithms[] = {
        {"4.5, FpAdd", {158417, -3093.68, 2438.54, 2255.7}},
        {"4.6, FpMult", {1384697.6, -107019, 6535, 745.4}},
    };
    for (size_t i = 0; i < sizeof polynomials / sizeof *polynomials; i++)
        expect_polynomial(&polynomials[i]);
    for (size_t i = 0; i < sizeof logarithms / sizeof *logarithms; i++)
        expect_with_logarithm(&logarithms[i]);
}

static void equations_4_9_and_4_10(void **state) {
    (void)state;
    static const struct printed printed[] = {
        {"4.9, FpAdd", {146380, -12240.88, -1858.2, 2257.7}},
        {"4.10, FpMult", {1268178, -106059.6, 2692.5, 769}},
    };
    for (size_t i = 0; i < 2; i++)
        expect_with_logarithm(&printed[i]);
}

static void equations_4_11_and_4_12(void **state) {
    (void)state;
    static const struct printed printed[] = {
        {"4.11, FpAdd", {155525, -12974.68, -1838.7, 2255.7}},
        {"4.12, FpMult", {1377468, -114791.25, 2920, 745.4}},
    };
    for (size_t i = 0; i < 2; i++)
        expect_with_logarithm(&printed[i]);
}

static void table_4_1_cfftb_and_cfftf(void **state) {
    (void)state;
    static const struct printed printed[] = {
        {"cfftb, FpAdd", {-244116, 20425.5, -1723.15, 1057.14}},
        {"cfftb, FpMult", {487761, -40792.15, 1035.57, 295.77}},
        {"cfftf, FpAdd", {390496, -32666.38, -135.06, 1200.58}},
        {"cfftf, FpMult", {780417, -65267.44, 1656.91, 473.23}},
    };
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        expect_with_logarithm(&printed[i]);
}

static void table_4_1_routines_without_MM(void **state) {
    (void)state;
    static const struct printed printed[] = {
        {"extract, FpAdd", {0, 1928, 2410}},   {"extract, FpMult", {241, 1928, 1928}},
        {"inject, FpAdd", {0, 1205, 1506.25}}, {"inject, FpMult", {0, 0, 602.5}},
        {"nonlim, FpAdd", {0, 0, 361.5}},      {"nonlim, FpMult", {723, 120.5, 1084.5}},
    };
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        expect_polynomial(&printed[i]);
        expect_with_logarithm(&printed[i]);
    }
}

/* MM as the thesis chooses it: the largest below a third of NLON. */
static void tables_4_1_and_4_2_routines_without_NLON(void **state) {
    (void)state;
    static const double mm[N_SIZES] = {5, 10, 21, 42, 85, 170};
    static const char *const monomials[] = {"1", "MM", "MM^2", "MM^3", "MM^4"};
    static const struct {
        const char *place, *text;
        double coefficients[3];
    } printed[] = {
        {"dpupim2, FpAdd", "602.5*MM^2 + 1807.5*MM + 1205", {1205, 1807.5, 602.5}},
        {"dpupim2, FpMult", "723*MM^2 + 2169*MM + 2651", {2651, 2169, 723}},
        {"indi, FpAdd", "482*MM^2 + 1446*MM + 964", {964, 1446, 482}},
        {"indi, FpMult", "723*MM^2 + 2169*MM + 1446", {1446, 2169, 723}},
        {"inpiv, FpMult", "964*MM^2 + 2892*MM + 1928", {1928, 2892, 964}},
        {"tmpuv, FpAdd", "482*MM^2 + 1446*MM + 2410", {2410, 1446, 482}},
        {"tmpuv, FpMult", "1446*MM^2 + 4338*MM + 3374", {3374, 4338, 1446}},
        {"simplic, FpAdd", "723", {723}},
        {"step, FpMult", "240", {240}},
    };
    struct pm_error err = {0};
    struct pm_basis *basis = pm_basis_new(5, monomials, &err);
    struct pm_design *design = pm_design_new(basis, "MM", mm, N_SIZES, &err);
    assert_non_null(design);
    struct pm_series_workspace *workspace = pm_series_workspace_new(design);
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        const double *c = printed[i].coefficients;
        double y[N_SIZES];
        for (size_t k = 0; k < N_SIZES; k++)
            y[k] = c[0] + c[1] * mm[k] + c[2] * mm[k] * mm[k];
        struct pm_model model;
        pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
        char *text = pm_model_text(basis, &model);
        assert_string_equal(text, printed[i].text);
        assert_true(model.exact);
        free(text);
    }
    pm_series_workspace_free(workspace);
    pm_design_free(design);
    pm_basis_free(basis);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equation_4_1),
        cmocka_unit_test(equation_4_2),
        cmocka_unit_test(equations_4_3_to_4_8_at_the_part_without_MM),
        cmocka_unit_test(equations_4_9_and_4_10),
        cmocka_unit_test(equations_4_11_and_4_12),
        cmocka_unit_test(table_4_1_cfftb_and_cfftf),
        cmocka_unit_test(table_4_1_routines_without_MM),
        cmocka_unit_test(tables_4_1_and_4_2_routines_without_NLON),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
