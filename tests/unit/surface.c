/* Models in several parameters.  Data generated from each printed model of Marin's thesis (Rice
   University, 2003: equations 4.3 to 4.16, tables 4.1 and 4.2), on the thesis's own designs, give
   back its coefficients; a test bears the name of its equation.  The logarithm there is base 2. */
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
#include "fit/series/private.h"

enum { MAX_POINTS = 200, MAX_PARTS = 10, MAX_FUNCTIONS = 32 };

/* ---- designs -------------------------------------------------------------------------------- */

struct points {
    size_t n, n_axes;
    const char *names[PM_FIT_MAX_AXES];
    double at[MAX_POINTS * PM_FIT_MAX_AXES];
};

static size_t sorted_axes; /* of the points being sorted */

static int compare(const void *a, const void *b) { return pm_design_compare(a, b, sorted_axes); }

static void sort_points(struct points *p) {
    sorted_axes = p->n_axes;
    qsort(p->at, p->n, p->n_axes * sizeof(double), compare);
}

/* MM from one to floor((NLON − 1) / 3), for each NLON a power of two (thesis, section 4.1.1). */
static struct points pstswm_design(void) {
    struct points p = {.n_axes = 2, .names = {"MM", "NLON"}};
    for (double nlon = 16; nlon <= 512; nlon *= 2) {
        double most = floor((nlon - 1) / 3), last = 0;
        for (int i = 0; i <= 5; i++) {
            double mm = floor(1 + (most - 1) * i / 5);
            if (mm == last)
                continue;
            p.at[2 * p.n] = last = mm;
            p.at[2 * p.n++ + 1] = nlon;
        }
    }
    sort_points(&p);
    return p;
}

/* LON × LAT (section 4.2). */
static struct points crm_design(void) {
    struct points p = {.n_axes = 2, .names = {"LAT", "LON"}};
    static const double lon[] = {8, 16, 24, 48, 96, 128}, lat[] = {1, 4, 10, 20, 32, 64};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            p.at[2 * p.n] = lat[j];
            p.at[2 * p.n++ + 1] = lon[i];
        }
    sort_points(&p);
    return p;
}

/* ---- equations ------------------------------------------------------------------------------ */

struct part {
    double coefficient;
    const char *function;
};

struct equation {
    const char *name;
    struct points (*design)(void);
    const char *basis;   /* functions, separated by commas; NULL: the default ones */
    bool printed_digits; /* coefficients are rounded in print, and values no whole numbers */
    struct part parts[MAX_PARTS];
};

/* "Usual monomic terms but also a logarithmic term" (section 4.1.1). */
#define WITH_LOGARITHM "NLON,NLON^2,NLON^3,NLON^4,NLON^2*log2(NLON),MM,MM^2,MM^3,MM^4"
#define LOG "NLON^2*log2(NLON)"

static const struct equation equations[] = {
    {"equation 4.3, FpAdd of PSTSWM",
     pstswm_design,
     NULL,
     true,
     {{843.5, "NLON*MM^2"},
      {361.5, "MM^2"},
      {7591.5, "NLON*MM"},
      {1084.5, "MM"},
      {4.64, "NLON^3"},
      {21539.4, "NLON^2"},
      {-637926.64, "NLON"},
      {16925208, "1"}}},
    {"equation 4.4, FpMult of PSTSWM, falls before it rises",
     pstswm_design,
     NULL,
     true,
     {{843.5, "NLON*MM^2"},
      {2169, "MM^2"},
      {5844.25, "NLON*MM"},
      {6507, "MM"},
      {14040.8, "NLON^2"},
      {-546619, "NLON"},
      {18149057, "1"}}},
    {"equation 4.5, FpAdd of PSTSWM with a logarithm",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{843.5, "NLON*MM^2"},
      {361.5, "MM^2"},
      {7591.5, "NLON*MM"},
      {1084.5, "MM"},
      {2255.7, LOG},
      {2438.54, "NLON^2"},
      {-3093.68, "NLON"},
      {158417, "1"}}},
    {"equation 4.6, FpMult of PSTSWM with a logarithm",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{843.5, "NLON*MM^2"},
      {2169, "MM^2"},
      {5844.25, "NLON*MM"},
      {6507, "MM"},
      {745.4, LOG},
      {6535, "NLON^2"},
      {-107019, "NLON"},
      {1384697.6, "1"}}},
    {"equation 4.7, FpAdd without the FFT",
     pstswm_design,
     NULL,
     false,
     {{843.5, "NLON*MM^2"},
      {361.5, "MM^2"},
      {7591.5, "NLON*MM"},
      {1084.5, "MM"},
      {4277.25, "NLON^2"},
      {9881, "NLON"},
      {2892, "1"}}},
    {"equation 4.8, FpMult without the FFT",
     pstswm_design,
     NULL,
     false,
     {{843.5, "NLON*MM^2"},
      {2169, "MM^2"},
      {5844.25, "NLON*MM"},
      {6507, "MM"},
      {3615, "NLON^2"},
      {7772.25, "NLON"},
      {7229, "1"}}},
    {"equation 4.9, FpAdd of the FFT",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{2257.7, LOG}, {-1858.2, "NLON^2"}, {-12240.88, "NLON"}, {146380, "1"}}},
    {"equation 4.10, FpMult of the FFT",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{769, LOG}, {2692.5, "NLON^2"}, {-106059.6, "NLON"}, {1268178, "1"}}},
    {"equation 4.11, FpAdd of the FFT by difference",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{2255.7, LOG}, {-1838.7, "NLON^2"}, {-12974.68, "NLON"}, {155525, "1"}}},
    {"equation 4.12, FpMult of the FFT by difference",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{745.4, LOG}, {2920, "NLON^2"}, {-114791.25, "NLON"}, {1377468, "1"}}},
    {"equation 4.13, FpAdd of CRM",
     crm_design,
     NULL,
     false,
     {{145718, "LON*LAT"}, {1906, "LAT"}, {54, "LON"}, {599, "1"}}},
    {"equation 4.14, FpMult of CRM",
     crm_design,
     NULL,
     false,
     {{210726, "LON*LAT"}, {1964, "LAT"}, {39, "LON"}, {1057, "1"}}},
    {"equation 4.15, FpDiv64 of CRM",
     crm_design,
     NULL,
     false,
     {{41172, "LON*LAT"}, {93, "LAT"}, {37, "LON"}, {277, "1"}}},
    {"equation 4.16, FpSqrt64 of CRM",
     crm_design,
     NULL,
     false,
     {{15451, "LON*LAT"}, {1, "LAT"}, {2, "1"}}},
    {"table 4.1, cfftb FpAdd",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{1057.14, LOG}, {-1723.15, "NLON^2"}, {20425.5, "NLON"}, {-244116, "1"}}},
    {"table 4.1, cfftb FpMult",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{295.77, LOG}, {1035.57, "NLON^2"}, {-40792.15, "NLON"}, {487761, "1"}}},
    {"table 4.1, cfftf FpAdd",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{1200.58, LOG}, {-135.06, "NLON^2"}, {-32666.38, "NLON"}, {390496, "1"}}},
    {"table 4.1, cfftf FpMult",
     pstswm_design,
     WITH_LOGARITHM,
     true,
     {{473.23, LOG}, {1656.91, "NLON^2"}, {-65267.44, "NLON"}, {780417, "1"}}},
    {"table 4.1, dpupim2 FpAdd",
     pstswm_design,
     NULL,
     false,
     {{602.5, "MM^2"}, {1807.5, "MM"}, {1205, "1"}}},
    {"table 4.1, dpupim2 FpMult",
     pstswm_design,
     NULL,
     false,
     {{723, "MM^2"}, {2169, "MM"}, {2651, "1"}}},
    {"table 4.1, dzp FpAdd",
     pstswm_design,
     NULL,
     false,
     {{180.75, "NLON*MM^2"}, {1265.25, "NLON*MM"}, {1084.5, "NLON"}}},
    {"table 4.1, dzp FpMult",
     pstswm_design,
     NULL,
     false,
     {{180.75, "NLON*MM^2"}, {542.25, "NLON*MM"}, {361.5, "NLON"}}},
    {"table 4.1, extract FpAdd", pstswm_design, NULL, false, {{2410, "NLON^2"}, {1928, "NLON"}}},
    {"table 4.1, extract FpMult",
     pstswm_design,
     NULL,
     false,
     {{1928, "NLON^2"}, {1928, "NLON"}, {241, "1"}}},
    {"table 4.1, indi FpAdd",
     pstswm_design,
     NULL,
     false,
     {{482, "MM^2"}, {1446, "MM"}, {964, "1"}}},
    {"table 4.1, indi FpMult",
     pstswm_design,
     NULL,
     false,
     {{723, "MM^2"}, {2169, "MM"}, {1446, "1"}}},
    {"table 4.1, inject FpAdd", pstswm_design, NULL, false, {{1506.25, "NLON^2"}, {1205, "NLON"}}},
    {"table 4.1, inject FpMult", pstswm_design, NULL, false, {{602.5, "NLON^2"}}},
    {"table 4.1, inpiv FpAdd",
     pstswm_design,
     NULL,
     false,
     {{482, "MM^2"}, {1446, "MM"}, {964, "1"}}},
    {"table 4.1, inpiv FpMult",
     pstswm_design,
     NULL,
     false,
     {{964, "MM^2"}, {2892, "MM"}, {1928, "1"}}},
    {"table 4.1, nonlim FpAdd", pstswm_design, NULL, false, {{361.5, "NLON^2"}}},
    {"table 4.1, nonlim FpMult",
     pstswm_design,
     NULL,
     false,
     {{1084.5, "NLON^2"}, {120.5, "NLON"}, {723, "1"}}},
    {"table 4.1, rsdi FpAdd and FpMult",
     pstswm_design,
     NULL,
     false,
     {{180.75, "NLON*MM^2"},
      {-723, "MM^2"},
      {542.25, "NLON*MM"},
      {-2169, "MM"},
      {361.5, "NLON"},
      {-1446, "1"}}},
    {"table 4.1, rspiv FpAdd and FpMult",
     pstswm_design,
     NULL,
     false,
     {{241, "NLON*MM^2"},
      {-964, "MM^2"},
      {723, "NLON*MM"},
      {-2892, "MM"},
      {482, "NLON"},
      {-1928, "1"}}},
    {"table 4.1, simplic FpAdd", pstswm_design, NULL, false, {{723, "1"}}},
    {"table 4.1, step FpMult", pstswm_design, NULL, false, {{240, "1"}}},
    {"table 4.2, tmpdi FpAdd", pstswm_design, NULL, false, {{1446, "NLON*MM"}, {1446, "NLON"}}},
    {"table 4.2, tmpdi FpMult",
     pstswm_design,
     NULL,
     false,
     {{1265.25, "NLON*MM"}, {1566.5, "NLON"}}},
    {"table 4.2, tmppiv FpAdd", pstswm_design, NULL, false, {{2410, "NLON*MM"}, {2410, "NLON"}}},
    {"table 4.2, tmppiv FpMult",
     pstswm_design,
     NULL,
     false,
     {{2048.5, "NLON*MM"}, {2470.25, "NLON"}}},
    {"table 4.2, tmpuv FpAdd",
     pstswm_design,
     NULL,
     false,
     {{482, "MM^2"}, {1446, "MM"}, {2410, "1"}}},
    {"table 4.2, tmpuv FpMult",
     pstswm_design,
     NULL,
     false,
     {{1446, "MM^2"}, {4338, "MM"}, {3374, "1"}}},
    {"table 4.2, uv FpAdd",
     pstswm_design,
     NULL,
     false,
     {{241, "NLON*MM^2"}, {1205, "NLON*MM"}, {964, "NLON"}}},
    {"table 4.2, uv FpMult",
     pstswm_design,
     NULL,
     false,
     {{241, "NLON*MM^2"}, {723, "NLON*MM"}, {482, "NLON"}}},
    {"whole numbers of a transform come back without a basis of the user's",
     pstswm_design,
     NULL,
     false,
     {{2, LOG}, {-3, "NLON"}, {5, "NLON*log2(NLON)*MM"}, {7, "1"}}},
};
enum { N_EQUATIONS = sizeof equations / sizeof *equations };

static double function_at(const char *text, const struct points *p, const double *at) {
    struct pm_error err = {0};
    double value = NAN;
    struct pm_expression *expression = pm_expression_parse(text, &err);
    assert_non_null(expression);
    assert_true(pm_expression_evaluate(expression, p->n_axes, p->names, at, &value, &err));
    pm_expression_free(expression);
    return value;
}

static double equation_at(const struct equation *e, const struct points *p, const double *at) {
    double sum = 0;
    for (const struct part *part = e->parts; part->function; part++)
        sum += part->coefficient * function_at(part->function, p, at);
    return sum;
}

/* ---- fitting -------------------------------------------------------------------------------- */

struct fitter {
    struct points points;
    struct pm_design *design;
    struct pm_series_workspace *workspace;
    struct pm_basis *basis;
};

static struct fitter fitter_new(const struct points *points, const char *basis) {
    struct fitter f = {.points = *points};
    struct pm_error err = {0};
    const char *texts[MAX_FUNCTIONS];
    size_t n = 0;
    char *copy = pm_strdup(basis ? basis : ""), *rest = NULL;
    for (char *text = strtok_r(copy, ",", &rest); text; text = strtok_r(NULL, ",", &rest))
        texts[n++] = text;
    f.design =
        pm_design_on_axes(points->names, points->n_axes, points->at, points->n, texts, n, &err);
    free(copy);
    if (!f.design)
        fail_msg("%s", err.text);
    f.workspace = pm_series_workspace_new(f.design);
    char **functions = pm_alloc(f.design->n_basis, sizeof *functions);
    for (size_t j = 0; j < f.design->n_basis; j++)
        functions[j] = pm_design_text(f.design, j);
    f.basis = pm_basis_new(f.design->n_basis, (const char *const *)functions, &err);
    for (size_t j = 0; j < f.design->n_basis; j++)
        free(functions[j]);
    free(functions);
    if (!f.basis)
        fail_msg("%s", err.text);
    return f;
}

static void fitter_free(struct fitter *f) {
    pm_basis_free(f->basis);
    pm_series_workspace_free(f->workspace);
    pm_design_free(f->design);
}

/* The model's coefficient of a function, 0 if it has none; functions are told by their values. */
static double coefficient_of(const struct fitter *f, const struct pm_model *model,
                             const char *function) {
    static const double probe[] = {2.7, 3.9, 5.3, 7.1};
    double value = function_at(function, &f->points, probe);
    for (size_t i = 0; i < model->n_terms; i++) {
        double other = function_at(f->basis->texts[model->terms[i]], &f->points, probe);
        if (fabs(other / value - 1) < 1e-12)
            return model->coefficients[i];
    }
    return 0;
}

static void the_coefficients_come_back(void **state) {
    const struct equation *e = *state;
    struct points points = e->design();
    struct fitter f = fitter_new(&points, e->basis);
    double y[MAX_POINTS];
    for (size_t k = 0; k < points.n; k++)
        y[k] = equation_at(e, &points, points.at + k * points.n_axes);
    struct pm_model model;
    pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
    char *text = pm_model_text(f.basis, &model);
    size_t n_parts = 0;
    for (const struct part *part = e->parts; part->function; part++, n_parts++) {
        double found = coefficient_of(&f, &model, part->function);
        double tolerance = e->printed_digits ? 1e-6 * fabs(part->coefficient) : 0;
        if (!(fabs(found - part->coefficient) <= tolerance))
            fail_msg("%.10g instead of %.10g for %s: %s", found, part->coefficient, part->function,
                     text);
    }
    if (model.n_terms != n_parts)
        fail_msg("%u terms instead of %zu: %s", model.n_terms, n_parts, text);
    assert_true(model.exact || e->printed_digits);
    free(text);
    fitter_free(&f);
}

/* Section 4.1.1: "six models have the same general form", and each coefficient is a model in NLON.
 */
static void models_of_coefficients_find_the_terms(void **state) {
    (void)state;
    const struct equation *e = equations;
    while (!strstr(e->name, "4.7"))
        e++;
    struct points points = e->design();
    struct fitter f = fitter_new(&points, e->basis);
    double y[MAX_POINTS];
    struct pm_model model;
    struct pm_candidate nested;
    for (size_t k = 0; k < points.n; k++)
        y[k] = equation_at(e, &points, points.at + k * points.n_axes);
    pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model); /* takes the points */
    assert_true(pm_terms_of_coefficients(f.workspace, false, 0, &nested));
    assert_int_equal(nested.n_terms, model.n_terms);
    for (size_t t = 0; t < nested.n_terms; t++)
        assert_int_equal(nested.terms[t], model.terms[t]);
    fitter_free(&f);
}

/* MM is less than a third of NLON: what a model gives elsewhere is no concern of its shape. */
static void counts_may_be_negative_where_no_run_is_admissible(void **state) {
    (void)state;
    struct points points = pstswm_design();
    struct fitter f = fitter_new(&points, NULL);
    double y[MAX_POINTS];
    struct pm_model model;
    for (size_t k = 0; k < points.n; k++) {
        double mm = points.at[2 * k], nlon = points.at[2 * k + 1];
        y[k] = (nlon * mm - 2.9 * mm * mm) * (k % 2 ? 1.002 : 0.998);
    }
    pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
    if (!(model.leave_one_out_error < 0.01 && model.n_terms == 2)) {
        char *text = pm_model_text(f.basis, &model);
        fail_msg("off by %g: %s", model.leave_one_out_error, text);
    }
    fitter_free(&f);
}

int main(void) {
    static struct CMUnitTest tests[N_EQUATIONS + 2] = {
        [N_EQUATIONS] = cmocka_unit_test(models_of_coefficients_find_the_terms),
        cmocka_unit_test(counts_may_be_negative_where_no_run_is_admissible),
    };
    for (size_t i = 0; i < N_EQUATIONS; i++)
        tests[i] = (struct CMUnitTest){.name = equations[i].name,
                                       .test_func = the_coefficients_come_back,
                                       .initial_state = (void *)(uintptr_t)&equations[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
