/* Prediction intervals: noise of the kind that is assumed is covered as often as promised, the
   width is that of weighted least squares, and what is not known is said to be unknown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_multifit.h>

#include "core/base/base.h"
#include "fit/fit.h"
#include "fit/series/series.h"
#include "tests/unit/uniform.h"

static double gaussian(void) {
    return sqrt(-2 * log(1 - uniform(0, 1))) * cos(2 * M_PI * uniform(0, 1));
}

/* ---- a set with the runs of a fit, and what fits series at them -------------------------------
 */

struct fitter {
    struct pm_model_set *set;
    struct pm_design *design;
    struct pm_series_workspace *workspace;
};

static struct fitter fitter_new(const double *x, size_t n) {
    static const char *const monomials[] = {"1", "N", "N^2", "N^3", "N^4"};
    struct pm_error err = {0};
    struct fitter f = {.set = pm_alloc(1, sizeof *f.set)};
    f.set->basis = pm_basis_new(5, monomials, &err);
    f.set->n_runs = n;
    f.set->runs = pm_alloc(n, sizeof *f.set->runs);
    for (size_t i = 0; i < n; i++)
        assert_true(pm_parameters_set(&f.set->runs[i], "N", x[i], &err));
    f.set->low = f.set->runs[0];
    f.set->high = f.set->runs[n - 1];
    f.design = pm_design_new(f.set->basis, "N", x, n, &err);
    assert_non_null(f.design);
    f.workspace = pm_series_workspace_new(f.design);
    return f;
}

static void fitter_free(struct fitter *f) {
    pm_series_workspace_free(f->workspace);
    pm_design_free(f->design);
    pm_model_set_free(f->set);
}

static struct pm_parameters at(double x) {
    return (struct pm_parameters){.n = 1, .names = {"N"}, .values = {x}};
}

static double value_of(const struct fitter *f, const struct pm_model *model, double x) {
    struct pm_parameters p = at(x);
    double value = NAN;
    assert_true(pm_model_evaluate(f->set->basis, model, &p, &value, NULL));
    return value;
}

static double polynomial(const double *coefficients, double x) {
    double sum = 0;
    for (int k = 4; k >= 0; k--)
        sum = sum * x + coefficients[k];
    return sum;
}

/* ---- coverage ---------------------------------------------------------------------------------
 */

enum { N_LEVELS = 3, DRAWS = 400 };
static const double levels[N_LEVELS] = {0.5, 0.8, 0.95};

struct tally {
    size_t n, unknown, inside[N_LEVELS];
};

/* A curve with relative noise SIGMA, fitted at the sizes X, and one more value of it at each of
   FACTORS times the largest. */
static void draw(const struct fitter *f, const double *x, size_t n, const double *coefficients,
                 double sigma, const double *factors, size_t n_factors, struct tally *tallies) {
    double y[16];
    for (size_t i = 0; i < n; i++)
        y[i] = polynomial(coefficients, x[i]) * (1 + sigma * gaussian());
    struct pm_model model;
    pm_series_fit(f->workspace, y, PM_SERIES_COUNT, &model);
    for (size_t k = 0; k < n_factors; k++) {
        double far = factors[k] * x[n - 1], low, high;
        double truth = polynomial(coefficients, far) * (1 + sigma * gaussian());
        struct pm_parameters p = at(far);
        tallies[k].n++;
        for (size_t l = 0; l < N_LEVELS; l++) {
            if (!pm_fit_interval(f->set, &model, &p, levels[l], &low, &high)) {
                tallies[k].unknown += l == 0;
                continue;
            }
            assert_true(low >= 0 && low <= high);
            tallies[k].inside[l] += truth >= low && truth <= high;
        }
    }
}

/* Draws of several polynomials and noises; prints what was covered. */
static void cover(const char *what, const double *x, size_t n, const double *factors,
                  size_t n_factors, struct tally *tallies) {
    static const double curves[][5] = {
        {0, 0, 7, 0, 0}, {1e4, 900, 0, 0, 0}, {0, 0, 40, 3, 0}, {5000, -100, 60, 2, 0}};
    static const double sigmas[] = {0.0005, 0.005, 0.03};
    struct fitter f = fitter_new(x, n);
    memset(tallies, 0, n_factors * sizeof *tallies);
    for (size_t c = 0; c < sizeof curves / sizeof *curves; c++)
        for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
            for (size_t d = 0; d < DRAWS; d++)
                draw(&f, x, n, curves[c], sigmas[s], factors, n_factors, tallies);
    for (size_t k = 0; k < n_factors; k++)
        print_message("%s, at %g times: %.3f of 50%%, %.3f of 80%%, %.3f of 95%%, %zu of %zu "
                      "unknown\n",
                      what, factors[k], (double)tallies[k].inside[0] / (double)tallies[k].n,
                      (double)tallies[k].inside[1] / (double)tallies[k].n,
                      (double)tallies[k].inside[2] / (double)tallies[k].n, tallies[k].unknown,
                      tallies[k].n);
    fitter_free(&f);
}

static const double factors[] = {0.9, 1.25, 2, 4};
enum { N_FACTORS = 4 };

static void check_shares(const struct tally *tallies, const double *least, const double *most) {
    for (size_t k = 0; k < N_FACTORS; k++)
        for (size_t l = 0; l < N_LEVELS; l++) {
            double share = (double)tallies[k].inside[l] / (double)tallies[k].n;
            assert_true(share >= least[l] && share <= most[l]);
            assert_int_equal(tallies[k].unknown, 0);
        }
}

/* Of so many draws chance moves a share by less than 0.02.  Many sizes give more than promised,
   because no more than two degrees of freedom are taken from them, and because noise without any
   drift is not what the growth with the distance is for. */
static const double few_least[N_LEVELS] = {0.45, 0.76, 0.90},
                    few_most[N_LEVELS] = {0.65, 0.86, 0.96};
static const double many_least[N_LEVELS] = {0.50, 0.85, 0.97},
                    many_most[N_LEVELS] = {0.90, 0.99, 1};

static void relative_noise_is_covered_as_promised(void **state) {
    (void)state;
    static const double few[] = {24, 32, 40, 48, 56, 64};
    static const double many[] = {16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64};
    struct tally tallies[N_FACTORS];
    cover("six sizes", few, 6, factors, N_FACTORS, tallies);
    check_shares(tallies, few_least, few_most);
    cover("13 sizes", many, 13, factors, N_FACTORS, tallies);
    check_shares(tallies, many_least, many_most);
}

/* Values from 1e3 to 1e9: relative noise is noise of every size. */
static void values_over_orders_of_magnitude_are_covered_alike(void **state) {
    (void)state;
    static const double wide[] = {16, 32, 64, 128, 256, 512, 1024};
    struct tally tallies[N_FACTORS];
    cover("16 to 1024", wide, 7, factors, N_FACTORS, tallies);
    check_shares(tallies, many_least, many_most);
}

/* A count that depends on the size modulo 8, at sizes of all residues: no polynomial has it.  What
   is left over is not noise, and the same interval still holds most of what comes. */
static void a_periodic_rest_is_covered_as_far_as_it_can_be(void **state) {
    (void)state;
    struct tally tally = {0};
    for (int draw = 0; draw < 600; draw++) {
        double x[7], y[7], share = 0.2 + 4 * uniform(0, 1), next = 16 + floor(16 * uniform(0, 1));
        for (size_t i = 0; i < 7; i++, next += 3 + floor(6 * uniform(0, 1))) {
            x[i] = next;
            y[i] = next * next + floor(share * next) * fmod(next, 8);
        }
        struct fitter f = fitter_new(x, 7);
        struct pm_model model;
        pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
        for (double far = 2 * x[6]; far < 2 * x[6] + 8; far++) {
            double truth = far * far + floor(share * far) * fmod(far, 8), low, high;
            struct pm_parameters p = at(far);
            tally.n++;
            if (pm_fit_interval(f.set, &model, &p, 0.8, &low, &high))
                tally.inside[1] += truth >= low && truth <= high;
        }
        fitter_free(&f);
    }
    double inside = (double)tally.inside[1] / (double)tally.n;
    print_message("periodic rest, at twice: %.3f of 80%%\n", inside);
    assert_true(inside > 0.7 && inside < 0.98);
}

/* The terms are given here: which of them is another test's matter. */
static void two_parameters_are_covered_by_the_same_formula(void **state) {
    (void)state;
    enum { SIDE = 4, RUNS = SIDE * SIDE, TERMS = 3 };
    static const char *const products[TERMS] = {"A", "A*B", "A*B^2"};
    static const double truth[TERMS] = {500, 12, 3};
    struct pm_error err = {0};
    struct pm_model_set set = {.basis = pm_basis_new(TERMS, products, &err), .n_runs = RUNS};
    struct pm_parameters runs[RUNS] = {{0}}, far = {0};
    gsl_matrix *functions = gsl_matrix_alloc(RUNS, TERMS), *rest = gsl_matrix_alloc(TERMS, TERMS);
    gsl_vector *weights = gsl_vector_alloc(RUNS), *y = gsl_vector_alloc(RUNS);
    gsl_vector *c = gsl_vector_alloc(TERMS);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(RUNS, TERMS);
    double values[RUNS][TERMS], there[TERMS], clean[RUNS], beyond = 0;
    assert_non_null(set.basis);
    for (size_t i = 0; i < RUNS; i++) {
        pm_parameters_set(&runs[i], "A", 10 + 10 * (double)(i / SIDE), &err);
        pm_parameters_set(&runs[i], "B", 16 + 8 * (double)(i % SIDE), &err);
        assert_true(pm_basis_evaluate(set.basis, &runs[i], values[i], &err));
        clean[i] = 0;
        for (size_t j = 0; j < TERMS; j++) {
            gsl_matrix_set(functions, i, j, values[i][j]);
            clean[i] += truth[j] * values[i][j];
        }
    }
    set.runs = runs;
    set.low = runs[0];
    set.high = runs[RUNS - 1];
    pm_parameters_set(&far, "A", 80, &err);
    pm_parameters_set(&far, "B", 80, &err);
    assert_true(pm_basis_evaluate(set.basis, &far, there, &err));
    for (size_t j = 0; j < TERMS; j++)
        beyond += truth[j] * there[j];
    size_t inside = 0, beyond_inside = 0;
    for (int draw = 0; draw < 2000; draw++) {
        struct pm_model model = {
            .n_terms = TERMS, .terms = {0, 1, 2}, .n_points = RUNS, .leave_one_out_error = 0.02};
        double square = 0, chi, low, high;
        for (size_t i = 0; i < RUNS; i++) {
            gsl_vector_set(y, i, clean[i] * (1 + 0.01 * gaussian()));
            gsl_vector_set(weights, i, pow(gsl_vector_get(y, i), -2));
        }
        gsl_multifit_wlinear(functions, weights, y, c, rest, &chi, work);
        for (size_t j = 0; j < TERMS; j++)
            model.coefficients[j] = gsl_vector_get(c, j);
        for (size_t i = 0; i < RUNS; i++)
            square += pow(pm_model_value(&model, values[i]) / gsl_vector_get(y, i) - 1, 2) / RUNS;
        model.relative_error = sqrt(square);
        assert_true(pm_fit_interval(&set, &model, &runs[RUNS / 2], 0.5, &low, &high));
        double again = clean[RUNS / 2] * (1 + 0.01 * gaussian());
        inside += again >= low && again <= high;
        assert_true(pm_fit_interval(&set, &model, &far, 0.5, &low, &high));
        again = beyond * (1 + 0.01 * gaussian());
        beyond_inside += again >= low && again <= high;
    }
    print_message("two parameters: %.3f of 50%% inside, %.3f at twice\n", (double)inside / 2000,
                  (double)beyond_inside / 2000);
    /* t of two degrees of freedom for 13, and the growth by 1 + ln 2. */
    assert_true(inside > 0.5 * 2000 && inside < 0.65 * 2000);
    assert_true(beyond_inside > 0.70 * 2000 && beyond_inside < 0.90 * 2000);
    gsl_multifit_linear_free(work);
    gsl_matrix_free(functions);
    gsl_matrix_free(rest);
    gsl_vector_free(weights);
    gsl_vector_free(y);
    gsl_vector_free(c);
    pm_basis_free(set.basis);
}

/* ---- width ------------------------------------------------------------------------------------
 */

static const double sizes[] = {24, 32, 40, 48, 56, 64};
enum { N_SIZES = 6 };

/* Student's t is known in closed form for two degrees of freedom. */
static double quantile(double level) { return level * sqrt(2 / (1 - level * level)); }

/* GSL's weighted least squares on the same points gives the same variance of the prediction. */
static void the_width_is_that_of_weighted_least_squares(void **state) {
    (void)state;
    struct fitter f = fitter_new(sizes, N_SIZES);
    for (int draw = 0; draw < 200; draw++) {
        struct pm_model model = {
            .n_terms = (uint8_t)(1 + draw % 3),
            .terms = {1, 2, 4},
            .coefficients = {5 + 10 * uniform(0, 1), uniform(0, 1), 0.01 * uniform(0, 1)},
            .relative_error = 0.01 * uniform(0, 1),
            .leave_one_out_error = 0.02,
            .n_points = N_SIZES};
        size_t k = model.n_terms;
        gsl_matrix *functions = gsl_matrix_alloc(N_SIZES, k), *covariance = gsl_matrix_alloc(k, k);
        gsl_vector *weights = gsl_vector_alloc(N_SIZES), *y = gsl_vector_alloc(N_SIZES);
        gsl_vector *c = gsl_vector_alloc(k), *there = gsl_vector_alloc(k);
        gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(N_SIZES, k);
        double far = 64 * (0.5 + 3 * uniform(0, 1)), chi, v, deviation, low, high;
        for (size_t i = 0; i < N_SIZES; i++) {
            double value = value_of(&f, &model, sizes[i]);
            for (size_t j = 0; j < k; j++)
                gsl_matrix_set(functions, i, j, pow(sizes[i], model.terms[j]));
            gsl_vector_set(weights, i, 1 / (value * value));
            gsl_vector_set(y, i, value);
        }
        for (size_t j = 0; j < k; j++)
            gsl_vector_set(there, j, pow(far, model.terms[j]));
        gsl_multifit_wlinear(functions, weights, y, c, covariance, &chi, work);
        gsl_multifit_linear_est(there, c, covariance, &v, &deviation);
        double sigma = model.relative_error * sqrt(N_SIZES / (double)(N_SIZES - k));
        double drift = 1 + 0.75 * log(fmax(fmax(far / 64, 24 / far), 1));
        double width = quantile(0.8) * sigma * drift * sqrt(1 + deviation * deviation / (v * v));
        struct pm_parameters p = at(far);
        assert_true(pm_fit_interval(f.set, &model, &p, 0.8, &low, &high));
        assert_true(fabs(log(high / v) - width) < 1e-6 * width + 1e-12);
        assert_true(fabs(log(v / low) - width) < 1e-6 * width + 1e-12);
        gsl_multifit_linear_free(work);
        gsl_matrix_free(functions);
        gsl_matrix_free(covariance);
        gsl_vector_free(weights);
        gsl_vector_free(y);
        gsl_vector_free(c);
        gsl_vector_free(there);
    }
    fitter_free(&f);
}

static void exact_models_have_no_width(void **state) {
    (void)state;
    struct fitter f = fitter_new(sizes, N_SIZES);
    double y[N_SIZES], low, high;
    for (size_t i = 0; i < N_SIZES; i++)
        y[i] = pow(sizes[i] - 2, 3);
    struct pm_model model;
    pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
    assert_true(model.exact);
    struct pm_parameters p = at(1000);
    assert_true(pm_fit_interval(f.set, &model, &p, 0.8, &low, &high));
    assert_true(low == pow(998, 3) && high == low);
    fitter_free(&f);
}

static void intervals_widen_with_the_distance_and_the_level(void **state) {
    (void)state;
    struct fitter f = fitter_new(sizes, N_SIZES);
    double y[N_SIZES], low, high, before = 0, widest = 0;
    for (size_t i = 0; i < N_SIZES; i++)
        y[i] = 3000 * sizes[i] * (1 + 0.02 * gaussian());
    struct pm_model model;
    pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
    for (double factor = 1; factor <= 16; factor *= 1.5) {
        struct pm_parameters p = at(64 * factor);
        assert_true(pm_fit_interval(f.set, &model, &p, 0.8, &low, &high));
        assert_true(high / low > before);
        before = high / low;
    }
    for (double level = 0.1; level < 1; level += 0.1) {
        struct pm_parameters p = at(128);
        assert_true(pm_fit_interval(f.set, &model, &p, level, &low, &high));
        assert_true(high / low > widest);
        widest = high / low;
    }
    fitter_free(&f);
}

/* ---- what is not known ------------------------------------------------------------------------
 */

static void what_is_not_known_has_no_interval(void **state) {
    (void)state;
    struct fitter f = fitter_new(sizes, N_SIZES);
    struct pm_model model = {.n_terms = 1,
                             .coefficients = {7},
                             .relative_error = 0.1,
                             .leave_one_out_error = 0.1,
                             .sigma = 0.7,
                             .n_points = N_SIZES};
    struct pm_parameters there = at(100), elsewhere = {.n = 1, .names = {"M"}, .values = {100}};
    double low, high;
    assert_true(pm_fit_interval(f.set, &model, &there, 0.8, &low, &high));
    assert_false(pm_fit_interval(f.set, &model, &elsewhere, 0.8, &low, &high));
    assert_false(pm_fit_interval(f.set, &model, &there, 0, &low, &high));
    assert_false(pm_fit_interval(f.set, &model, &there, 1, &low, &high));
    struct pm_model other = model;
    other.leave_one_out_error = NAN; /* too few sizes */
    assert_false(pm_fit_interval(f.set, &other, &there, 0.8, &low, &high));
    other = model;
    other.n_points = 1; /* as many as there are terms */
    assert_false(pm_fit_interval(f.set, &other, &there, 0.8, &low, &high));
    other = model;
    other.n_points = N_SIZES + 1; /* of another set */
    assert_false(pm_fit_interval(f.set, &other, &there, 0.8, &low, &high));
    other = model;
    other.n_terms = 2; /* twice the same function */
    assert_true(pm_fit_interval(f.set, &other, &there, 0.8, &low, &high));
    assert_true(low == 0 && isinf(high));
    other = model;
    other.coefficients[0] = -7; /* predicts nothing: counts are not below 0 */
    assert_true(pm_fit_interval(f.set, &other, &there, 0.8, &low, &high));
    assert_true(low == 0 && high > 0 && isfinite(high));
    fitter_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relative_noise_is_covered_as_promised),
        cmocka_unit_test(values_over_orders_of_magnitude_are_covered_alike),
        cmocka_unit_test(a_periodic_rest_is_covered_as_far_as_it_can_be),
        cmocka_unit_test(two_parameters_are_covered_by_the_same_formula),
        cmocka_unit_test(the_width_is_that_of_weighted_least_squares),
        cmocka_unit_test(exact_models_have_no_width),
        cmocka_unit_test(intervals_widen_with_the_distance_and_the_level),
        cmocka_unit_test(what_is_not_known_has_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
