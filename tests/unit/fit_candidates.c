/* Free candidates of a series: their leave-one-out errors are those of fits that leave points out
   one by one, the best one is the best, decisions that end early are right, and the nearest point
   under constraints is the general solver's; and what is taken over from a like segment is what a
   fit of its own would be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_multifit.h>

#include "fit/series/private.h"
#include "fit/algebra/algebra.h"
#include "fit/histogram/private.h"
#include "tests/unit/fitter.h"
#include "tests/unit/uniform.h"

enum { N_SIZES = 10, N_BASIS = 5 };

static const char *const monomials[] = {"1", "N", "N^2", "N^3", "N^4"};

static struct fitter new_fitter(void) {
    double x[N_SIZES];
    for (size_t i = 0; i < N_SIZES; i++)
        x[i] = 5 + (double)i;
    return fitter_new(monomials, N_BASIS, x, N_SIZES);
}

/* A polynomial with noise of any size. */
static void random_series(double *y) {
    double noise = pow(10, uniform(-5, -0.5)), power = floor(uniform(0, 4)), c = uniform(0, 100);
    for (size_t i = 0; i < N_SIZES; i++)
        y[i] = (c + pow(5 + (double)i, power)) * (1 + uniform(-noise, noise));
}

/* Value at point OUT of the weighted fit of SUBSET through all others, by GSL. */
static double predicted_without(const struct pm_series_workspace *w, unsigned subset, size_t out) {
    size_t n_terms = (size_t)__builtin_popcount(subset), at = 0;
    gsl_matrix *functions = gsl_matrix_alloc(w->n - 1, n_terms);
    gsl_matrix *covariance = gsl_matrix_alloc(n_terms, n_terms);
    gsl_vector *target = gsl_vector_alloc(w->n - 1), *c = gsl_vector_alloc(n_terms);
    gsl_multifit_linear_workspace *space = gsl_multifit_linear_alloc(w->n - 1, n_terms);
    double value = 0, chi_square;
    for (size_t i = 0; i < w->n; i++) {
        if (i == out)
            continue;
        size_t j = 0;
        for (size_t f = 0; f < N_BASIS; f++)
            if (subset >> f & 1)
                gsl_matrix_set(functions, at, j++,
                               w->at->functions[f * w->stride + i] * w->weight[i]);
        gsl_vector_set(target, at++, w->y[i] * w->weight[i]);
    }
    gsl_multifit_linear(functions, target, c, covariance, &chi_square, space);
    size_t j = 0;
    for (size_t f = 0; f < N_BASIS; f++)
        if (subset >> f & 1)
            value += gsl_vector_get(c, j++) * w->at->functions[f * w->stride + out];
    gsl_multifit_linear_free(space);
    gsl_vector_free(c);
    gsl_vector_free(target);
    gsl_matrix_free(covariance);
    gsl_matrix_free(functions);
    return value;
}

static bool solve_subset(struct pm_series_workspace *w, unsigned subset, struct pm_candidate *c) {
    c->n_terms = 0;
    for (size_t f = 0; f < N_BASIS; f++)
        if (subset >> f & 1)
            c->terms[c->n_terms++] = f;
    return pm_candidate_solve(w, c);
}

static void left_out_errors_are_those_of_fits_without_each_point(void **state) {
    (void)state;
    struct fitter f = new_fitter();
    struct pm_series_workspace *w = f.workspace;
    double y[N_SIZES];
    for (int trial = 0; trial < 30; trial++) {
        random_series(y);
        pm_series_predictability(w, y, 0); /* takes the points */
        assert_int_equal(w->n, N_SIZES);
        for (unsigned subset = 1; subset < 1u << N_BASIS; subset++) {
            struct pm_candidate candidate;
            double relative = 0, emphasised = 0;
            assert_true(solve_subset(w, subset, &candidate));
            for (size_t i = 0; i < N_SIZES; i++) {
                double error = predicted_without(w, subset, i) - y[i];
                relative += pow(error / y[i], 2) / N_SIZES;
                emphasised += pow(error * w->weight[i], 2) / N_SIZES;
            }
            assert_true(fabs(candidate.leave_one_out - sqrt(relative)) <= 1e-5 * sqrt(relative));
            assert_true(fabs(candidate.emphasised - sqrt(emphasised)) <= 1e-5 * sqrt(emphasised));
        }
    }
    fitter_free(&f);
}

static void the_ranking_is_that_of_candidates_solved_one_by_one(void **state) {
    (void)state;
    struct fitter f = new_fitter();
    struct pm_series_workspace *w = f.workspace;
    double y[N_SIZES];
    for (int trial = 0; trial < 300; trial++) {
        random_series(y);
        double error = pm_series_predictability(w, y, 0), best = INFINITY, best_error = 0;
        size_t max_terms = 1 + (size_t)uniform(0, N_BASIS), n_expected = 0;
        size_t n = pm_candidates_rank(w, N_BASIS, max_terms);
        unsigned seen = 0;
        for (size_t i = 0; i < n; i++) {
            struct pm_candidate candidate;
            assert_true(solve_subset(w, w->ranked[i].subset, &candidate));
            assert_true(fabs(candidate.score - w->ranked[i].score) <= 1e-6 * candidate.score);
            assert_true(i == 0 || w->ranked[i].score >= w->ranked[i - 1].score);
            assert_true(candidate.n_terms <= max_terms);
            assert_false(seen >> w->ranked[i].subset & 1);
            seen |= 1u << w->ranked[i].subset;
        }
        for (unsigned subset = 1; subset < 1u << N_BASIS; subset++) {
            struct pm_candidate candidate;
            n_expected += (size_t)__builtin_popcount(subset) <= max_terms;
            assert_true(solve_subset(w, subset, &candidate));
            if (subset < 1u << 4 && candidate.score < best) { /* of degree 3 at most */
                best = candidate.score;
                best_error = candidate.emphasised;
            }
            assert_true(candidate.score >= pm_candidates_least_score(w, N_BASIS) * (1 - 1e-9));
        }
        assert_int_equal(n, n_expected);
        assert_true(fabs(error - best_error) <= 1e-6 * best_error);
    }
    fitter_free(&f);
}

static void decisions_that_end_early_are_right(void **state) {
    (void)state;
    struct fitter f = new_fitter();
    double y[N_SIZES];
    for (int trial = 0; trial < 2000; trial++) {
        random_series(y);
        double error = pm_series_predictability(f.workspace, y, 0);
        double limit = error * pow(10, uniform(-1, 1));
        double within = pm_series_predictability_within(f.workspace, y, 0, limit, limit);
        assert_int_equal(error <= limit, within <= limit);
    }
    fitter_free(&f);
}

static void the_nearest_point_is_that_of_the_general_solver(void **state) {
    (void)state;
    enum { N = 5, M = 24 };
    size_t n_moved = 0;
    for (int trial = 0; trial < 2000; trial++) {
        size_t n = 1 + (size_t)uniform(0, N);
        double h[N * N] = {0}, g[N], a[M * N], b[M] = {0}, normals[(N + 1) * M], x[N], nearest[N];
        for (size_t i = 0; i < n; i++) {
            h[i * n + i] = 1;
            nearest[i] = uniform(-2, 2);
            g[i] = -nearest[i];
            for (size_t c = 0; c < M; c++) { /* some are none; the direction 1 … 1 satisfies all */
                double scale = c % 5 == 0 ? 0 : pow(10, uniform(-3, 3));
                normals[i * M + c] = a[c * n + i] = scale * uniform(-0.2, 1);
            }
        }
        enum pm_qp_result expected = pm_qp_solve(n, h, g, M, a, b, x, NULL);
        enum pm_qp_result found = pm_qp_nearest(n, M, normals, nearest);
        assert_int_equal(found, expected);
        for (size_t i = 0; i < n && found == PM_QP_SOLVED; i++) {
            assert_true(fabs(nearest[i] - x[i]) <= 1e-9 * (1 + fabs(x[i])));
            n_moved += fabs(x[i] + g[i]) > 1e-6;
        }
    }
    assert_true(n_moved > 1000);
}

/* Distances spread over a wide range that grows with the size, so that it is cut at equal shares.
 */
static struct pm_histogram spread_histogram(double x, struct pm_bin *bins, size_t n_bins) {
    for (size_t i = 0; i < n_bins; i++) {
        double distance = floor(x * x * pow(1.2, (double)i) * 10);
        bins[i] = (struct pm_bin){.low = distance, .mean = distance, .high = distance};
        bins[i].loads = floor(x * x * x * 10 * uniform(0.9, 1.1));
    }
    return (struct pm_histogram){.block_bytes = 64, .n_bins = n_bins, .bins = bins};
}

static void pieces_have_the_models_that_their_counts_have_alone(void **state) {
    (void)state;
    enum { N_BINS = 24 };
    struct fitter f = new_fitter();
    struct pm_partition *partition = pm_partition_new(f.design, N_BINS);
    size_t n_multiples = 0;
    for (int trial = 0; trial < 40; trial++) {
        struct pm_bin bins[N_SIZES][N_BINS];
        struct pm_histogram histograms[N_SIZES];
        const struct pm_histogram *pointers[N_SIZES];
        for (size_t k = 0; k < N_SIZES; k++) {
            histograms[k] = spread_histogram(5 + (double)k, bins[k], N_BINS);
            pointers[k] = &histograms[k];
        }
        struct pm_histogram_model model = {0};
        pm_fit_histogram(partition, pointers, &model);
        assert_int_equal(model.n_bins, partition->n_segments);
        for (size_t i = 0; i < model.n_bins; i++) {
            struct pm_model alone, *count = &model.bins[i].count;
            pm_series_fit(f.workspace, partition->segments[i].count, PM_SERIES_COUNT, &alone);
            assert_int_equal(count->n_terms, alone.n_terms);
            assert_int_equal(count->exact, alone.exact);
            for (size_t t = 0; t < alone.n_terms; t++) {
                assert_int_equal(count->terms[t], alone.terms[t]);
                assert_true(fabs(count->coefficients[t] - alone.coefficients[t]) <=
                            1e-6 * fabs(alone.coefficients[t]));
            }
            assert_true(fabs(count->sigma - alone.sigma) <= 1e-6 * alone.sigma);
            n_multiples += partition->same_counts[i] != i;
        }
    }
    assert_true(n_multiples > 40);
    pm_partition_free(partition);
    fitter_free(&f);
}

/* Shares of a count that a branch takes, as whole numbers, at sizes as close as users choose them:
   eight times beyond, the models are those of what was rounded. */
static void small_counts_are_not_met_by_what_meets_their_rounding(void **state) {
    (void)state;
    enum { N = 6, N_SERIES = 500 };
    const double x[N] = {8, 10, 12, 14, 16, 18}, far = 8 * x[N - 1],
                 powers[] = {1, far, far * far, pow(far, 3), pow(far, 4)};
    struct fitter f = fitter_new(monomials, N_BASIS, x, N);
    size_t n_off = 0;
    for (size_t i = 0; i < N_SERIES; i++) {
        double slope = uniform(0.5, 3), offset = uniform(0, 5), y[N], value = 0;
        struct pm_model model;
        for (size_t k = 0; k < N; k++)
            y[k] = floor(slope * x[k] + offset + uniform(0, 1));
        pm_series_fit_executions(f.workspace, y, &model);
        for (size_t t = 0; t < model.n_terms; t++)
            value += model.coefficients[t] * powers[model.terms[t]];
        n_off += value > 2 * (slope * far + offset) || value < (slope * far + offset) / 2;
    }
    if (n_off > N_SERIES / 50)
        fail_msg("%zu of %d series are off by more than a factor of two", n_off, N_SERIES);
    fitter_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_counts_are_not_met_by_what_meets_their_rounding),
        cmocka_unit_test(left_out_errors_are_those_of_fits_without_each_point),
        cmocka_unit_test(the_ranking_is_that_of_candidates_solved_one_by_one),
        cmocka_unit_test(decisions_that_end_early_are_right),
        cmocka_unit_test(the_nearest_point_is_that_of_the_general_solver),
        cmocka_unit_test(pieces_have_the_models_that_their_counts_have_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
