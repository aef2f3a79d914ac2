/* Models keep the shape of their data, between the measured sizes and up to eight times the
   largest: as monotone, convex or concave as these, never negative, and without turns where the
   data have none; with the default basis and with others. */
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
#include "tests/unit/uniform.h"

enum { MAX_SIZES = 8, N_FINE = 600, N_DESIGNS = 6 };

/* How far a model may fall on its way up, of what it has reached: shape is kept at a grid, not in
   between, and functions that are nearly alike can cancel there. */
#define DIP 2e-3
#define CANCELLING_DIP 0.1

static const char *const polynomials[] = {"1", "N", "N^2", "N^3", "N^4"};
static const char *const mixed[] = {"1", "N", "N^2", "N*log2(N)", "sqrt(N)", "N^(3/2)"};
static const char *const steps[] = {"1", "N", "N^2", "ceil(N/8)"};
static const struct {
    const char *const *texts;
    size_t n_basis, n;
    double sizes[MAX_SIZES];
} designs[N_DESIGNS] = {
    {polynomials, 5, 6, {24, 32, 40, 48, 56, 64}},
    {polynomials, 5, 8, {16, 32, 64, 128, 256, 512, 1024, 2048}},
    {polynomials, 5, 5, {12, 16, 20, 26, 32}},
    {mixed, 6, 8, {16, 32, 64, 128, 256, 512, 1024, 2048}},
    {mixed, 6, 6, {24, 32, 40, 48, 56, 64}},
    {steps, 4, 7, {17, 25, 36, 44, 55, 63, 71}},
};

struct fitter {
    struct pm_basis *basis;
    struct pm_design *design;
    struct pm_series_workspace *workspace;
    size_t n;
    const double *x;
    double from; /* the smallest size that the model is of: others may have been left out */
    double fine[N_FINE], basis_values[N_FINE][8];
};

/* A fine grid from the smallest size to eight times the largest; where steps are eight wide, of
   sizes at which they are complete: what a step does to the trend is kept in shape, not the step.
 */
static void fitter_new(struct fitter *f, size_t d) {
    struct pm_error err = {0};
    f->n = designs[d].n;
    f->x = designs[d].sizes;
    f->basis = pm_basis_new(designs[d].n_basis, designs[d].texts, &err);
    f->design = pm_design_new(f->basis, "N", f->x, f->n, &err);
    assert_non_null(f->design);
    f->workspace = pm_series_workspace_new(f->design);
    for (size_t j = 0; j < N_FINE; j++) {
        double share = (double)j / (N_FINE - 1);
        f->fine[j] = f->x[0] * pow(pm_heuristics.shape_range * f->x[f->n - 1] / f->x[0], share);
        if (designs[d].texts == steps)
            f->fine[j] = 8 * ceil(f->fine[j] / 8);
        struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {f->fine[j]}};
        assert_true(pm_basis_evaluate(f->basis, &at, f->basis_values[j], &err));
    }
}

static void fitter_free(struct fitter *f) {
    pm_series_workspace_free(f->workspace);
    pm_design_free(f->design);
    pm_basis_free(f->basis);
}

/* The model's values, not cut off at 0. */
static void evaluate(struct fitter *f, const struct pm_model *model, double *values) {
    f->from = f->x[f->n - model->n_points];
    for (size_t j = 0; j < N_FINE; j++) {
        values[j] = 0;
        for (size_t t = 0; t < model->n_terms; t++)
            values[j] += model->coefficients[t] * f->basis_values[j][model->terms[t]];
    }
}

/* The farthest that VALUES fall (rise, for SIGN −1) behind what they have reached, from FROM on. */
static double worst_dip(const struct fitter *f, const double *values, int sign, double from) {
    double reached = -INFINITY, worst = 0;
    for (size_t j = 0; j < N_FINE; j++) {
        if (f->fine[j] < from)
            continue;
        double largest = fmax(fabs(values[j]), fabs(reached));
        if (isfinite(reached) && largest > 0)
            worst = fmax(worst, (reached - sign * values[j]) / largest);
        reached = fmax(reached, sign * values[j]);
    }
    return worst;
}

/* Turns of VALUES by more than DIP of the largest of them up to the largest size. */
static size_t turns(const struct fitter *f, const double *values) {
    double largest = 0, extreme = NAN;
    int direction = 0;
    size_t n = 0;
    for (size_t j = 0; j < N_FINE && f->fine[j] <= f->x[f->n - 1]; j++)
        largest = fmax(largest, fabs(values[j]));
    for (size_t j = 0; j < N_FINE && f->fine[j] <= f->x[f->n - 1]; j++) {
        if (f->fine[j] < f->from)
            continue;
        if (isnan(extreme))
            extreme = values[j];
        double step = values[j] - extreme;
        if (fabs(step) <= DIP * largest) {
            if (direction && step * direction > 0)
                extreme = values[j];
            continue;
        }
        int now = step > 0 ? 1 : -1;
        n += direction && now != direction;
        direction = now;
        extreme = values[j];
    }
    return n;
}

/* How far VALUES lie above (below, for SIGN −1) the chords of their neighbours. */
static double worst_bend(const struct fitter *f, const double *values, int sign) {
    double worst = 0;
    for (size_t j = 20; j + 20 < N_FINE; j++) {
        if (f->fine[j - 20] < f->from)
            continue;
        double left = f->fine[j - 20], middle = f->fine[j], right = f->fine[j + 20];
        double share = (middle - left) / (right - left);
        double chord = values[j - 20] + share * (values[j + 20] - values[j - 20]);
        double largest = fmax(fabs(values[j - 20]), fabs(values[j + 20]));
        if (largest > 0)
            worst = fmax(worst, sign * (values[j] - chord) / largest);
    }
    return worst;
}

static void expect_not_negative(const struct fitter *f, const double *values) {
    double largest = 0;
    for (size_t j = 0; j < N_FINE && f->fine[j] <= f->x[f->n - 1]; j++)
        largest = fmax(largest, fabs(values[j]));
    for (size_t j = 0; j < N_FINE; j++)
        if (f->fine[j] >= f->from && values[j] < -DIP * largest)
            fail_msg("a count of %g at %g where values are up to %g", values[j], f->fine[j],
                     largest);
}

/* Growing and falling data, bent either way, from smooth to noisy: those that are monotone give
   monotone models. */
static void monotone_data_give_monotone_models(void **state) {
    (void)state;
    for (size_t d = 0; d < N_DESIGNS; d++) {
        struct fitter f;
        double worst = 0, values[N_FINE];
        unsigned n_monotone = 0;
        fitter_new(&f, d);
        for (int i = 0; i < 600; i++) {
            double y[MAX_SIZES], power = uniform(-1.5, 3.5), noise = pow(10, uniform(-4, -0.5));
            bool grows = true, falls = true;
            for (size_t k = 0; k < f.n; k++) {
                y[k] = 1e4 * pow(f.x[k] / f.x[0], power) * (1 + uniform(-noise, noise));
                grows &= k == 0 || y[k] > y[k - 1];
                falls &= k == 0 || y[k] < y[k - 1];
            }
            if (!grows && !falls)
                continue;
            n_monotone++;
            struct pm_model model;
            pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
            evaluate(&f, &model, values);
            expect_not_negative(&f, values);
            worst = fmax(worst, worst_dip(&f, values, grows ? 1 : -1, f.from));
        }
        printf("# design %zu: monotone to %.1e in %u series\n", d, worst, n_monotone);
        assert_true(n_monotone > 200);
        assert_true(worst <= (designs[d].texts == mixed ? CANCELLING_DIP : DIP));
        fitter_free(&f);
    }
}

static void convex_and_concave_data_give_such_models(void **state) {
    (void)state;
    for (size_t d = 0; d < N_DESIGNS - 1; d++) {
        struct fitter f;
        double worst = 0, values[N_FINE];
        unsigned n_bent = 0;
        fitter_new(&f, d);
        for (int i = 0; i < 400; i++) {
            bool convex = i % 2;
            double y[MAX_SIZES], power = convex ? uniform(1.2, 3.5) : uniform(0.2, 0.8);
            for (size_t k = 0; k < f.n; k++)
                y[k] = 1e4 * pow(f.x[k] / f.x[0], power) + uniform(0, 50);
            struct pm_model model;
            pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
            if (!(model.shape & (convex ? PM_SHAPE_CONVEX : PM_SHAPE_CONCAVE)))
                continue; /* the data are not, by more than the noise that is tolerated */
            evaluate(&f, &model, values);
            worst = fmax(worst, worst_bend(&f, values, convex ? 1 : -1));
            n_bent++;
        }
        printf("# design %zu: convex or concave to %.1e in %u series\n", d, worst, n_bent);
        assert_true(n_bent > 100);
        assert_true(worst <= 1e-4);
        fitter_free(&f);
    }
}

/* Data without a direction: a model turns no more often between the sizes than they do, does not
   turn beyond the largest, and is never negative. */
static void models_do_not_oscillate_between_points(void **state) {
    (void)state;
    for (size_t d = 0; d < N_DESIGNS - 1; d++) {
        struct fitter f;
        double values[N_FINE];
        fitter_new(&f, d);
        for (int i = 0; i < 600; i++) {
            double y[MAX_SIZES], noise = pow(10, uniform(-2, 0));
            size_t n_turns = 0;
            for (size_t k = 0; k < f.n; k++) {
                y[k] = 1e4 * (1 + uniform(-noise, noise)) * (1 + 3 * fabs((double)k - i % 5));
                n_turns += k > 1 && (y[k] - y[k - 1]) * (y[k - 1] - y[k - 2]) < 0;
            }
            struct pm_model model;
            pm_series_fit(f.workspace, y, PM_SERIES_COUNT, &model);
            evaluate(&f, &model, values);
            expect_not_negative(&f, values);
            assert_true(turns(&f, values) <= (n_turns ? n_turns : 1));
            double up = worst_dip(&f, values, 1, f.x[f.n - 1]);
            double down = worst_dip(&f, values, -1, f.x[f.n - 1]);
            assert_true(fmin(up, down) <= DIP);
        }
        fitter_free(&f);
    }
}

/* Equation 4.4 of Marin's thesis: the data grow, and their function falls from 16 to 19.5. */
static void a_minimum_between_two_sizes_is_kept(void **state) {
    (void)state;
    static const double sizes[] = {16, 32, 64, 128, 256, 512};
    for (int noisy = 0; noisy < 2; noisy++) {
        struct pm_error err = {0};
        struct pm_basis *basis = pm_basis_new(5, polynomials, &err);
        struct pm_design *design = pm_design_new(basis, "N", sizes, 6, &err);
        struct pm_series_workspace *workspace = pm_series_workspace_new(design);
        double y[6];
        for (size_t k = 0; k < 6; k++)
            y[k] = (14040.8 * sizes[k] * sizes[k] - 546619 * sizes[k] + 18149057) *
                   (noisy ? 1 + uniform(-1e-4, 1e-4) : 1);
        assert_true(y[0] < y[1]);
        struct pm_model model;
        pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
        struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {19.5}};
        double value = 0;
        assert_true(pm_model_evaluate(basis, &model, &at, &value, &err));
        assert_true(fabs(value / 12828995.6 - 1) < 0.01);
        assert_true(value < y[0] * 0.99);
        pm_series_workspace_free(workspace);
        pm_design_free(design);
        pm_basis_free(basis);
    }
}

static void distances_grow(void **state) {
    (void)state;
    for (size_t d = 0; d < N_DESIGNS; d++) {
        struct fitter f;
        double values[N_FINE];
        fitter_new(&f, d);
        for (int i = 0; i < 400; i++) {
            double y[MAX_SIZES], power = uniform(-1, 3);
            for (size_t k = 0; k < f.n; k++)
                y[k] = 100 * pow(f.x[k] / f.x[0], power) * uniform(0.9, 1.1);
            struct pm_model model;
            pm_series_fit(f.workspace, y, PM_SERIES_DISTANCE, &model);
            evaluate(&f, &model, values);
            expect_not_negative(&f, values);
            assert_true(model.n_terms <= 2);
            assert_true(worst_dip(&f, values, 1, f.from) <= DIP);
        }
        fitter_free(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotone_data_give_monotone_models),
        cmocka_unit_test(convex_and_concave_data_give_such_models),
        cmocka_unit_test(models_do_not_oscillate_between_points),
        cmocka_unit_test(a_minimum_between_two_sizes_is_kept),
        cmocka_unit_test(distances_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
