/* Intervals of a program's misses: as wide as the sets without the largest sizes say otherwise. */
#include "tests/unit/fitted_kernels.h"

enum { FEW_SIZES = 3, FAR = 56, SMALLEST = 64, LARGEST = 8192 };

static const uint64_t sizes[N_SIZES] = {8, 12, 16, 20, 24, 28};

/* With held-out sets. */
static struct fitted fit_spread(size_t kernel, size_t n_sizes) {
    struct fitted f = fit_kernel(kernel, sizes, n_sizes, 0, 1);
    const struct pm_fit_options options = {.n_threads = 1};
    pm_fit_hold_out(f.structure, (const struct pm_profile *const *)f.profiles, n_sizes, &options,
                    f.models);
    return f;
}

/* Misses at N of the prediction (END 0), or of the lower (−1) or upper (1) end at LEVEL. */
static struct pm_profile *at(const struct fitted *f, double n, int end, double level) {
    struct pm_error err = {0};
    struct pm_parameters there = {.n = 1, .names = {"N"}, .values = {n}};
    return end ? made(pm_fit_instantiate_end(f->structure, f->models, &there, level, end > 0, &err),
                      &err)
               : predict(f, n);
}

static double misses_at(const struct fitted *f, double n, double cache, int end, double level) {
    struct pm_profile *profile = at(f, n, end, level);
    double misses = all_misses(profile, cache);
    pm_profile_free(profile);
    return misses;
}

static struct pm_model_set *copy_of(const struct pm_model_set *set) {
    void *bytes;
    size_t n_bytes;
    struct pm_error err = {0};
    pm_model_set_encode(set, &bytes, &n_bytes);
    struct pm_model_set *copy = pm_model_set_decode(bytes, n_bytes, &err);
    if (!copy)
        fail_msg("%s", err.text);
    free(bytes);
    return copy;
}

static void scale(struct pm_model *model, double factor) {
    for (size_t i = 0; i < model->n_terms; i++)
        model->coefficients[i] *= factor;
}

/* N_SETS that were made without the largest sizes are ones that say FACTOR times as many accesses
   at every distance, and the models are wrong by RESIDUAL at the measured sizes. */
static void hold_out_multiple(struct fitted *f, size_t n_sets, double factor, double residual) {
    for (size_t k = 0; k < f->models->n_held_out; k++)
        pm_model_set_free(f->models->held_out[k]);
    f->models->n_held_out = 0;
    struct pm_model_set *plain = copy_of(f->models);
    for (size_t k = 0; k < n_sets; k++) {
        struct pm_model_set *set = copy_of(plain);
        for (size_t h = 0; h < set->n_histograms; h++) {
            struct pm_histogram_model *histogram = &set->histograms[h];
            scale(&histogram->accesses, factor);
            scale(&histogram->cold, factor);
            for (size_t b = 0; b < histogram->n_bins; b++)
                scale(&histogram->bins[b].count, factor);
        }
        f->models->held_out[f->models->n_held_out++] = set;
    }
    pm_model_set_free(plain);
    assert_int_equal(f->models->n_residuals, 1);
    f->models->residuals[0].error = residual;
}

static void expect_factor(const struct fitted *f, double factor) {
    for (double cache = SMALLEST; cache <= LARGEST; cache *= 2) {
        double predicted = misses_at(f, 50, cache, 0, 0.8);
        double low = misses_at(f, 50, cache, -1, 0.8), high = misses_at(f, 50, cache, 1, 0.8);
        if (fabs(predicted / low / factor - 1) > 1e-6 || fabs(high / predicted / factor - 1) > 1e-6)
            fail_msg("cache of %g: %g is between %g and %g, not within a factor of %g", cache,
                     predicted, low, high, factor);
    }
}

static void a_small_disagreement_gives_its_share(void **state) {
    (void)state;
    struct fitted f = fit_spread(0, N_SIZES);
    hold_out_multiple(&f, 2, 1.1, 0);
    expect_factor(&f, exp(hypot(0.3 * log(1.1), 0.005)));
    hold_out_multiple(&f, 2, 1 / 1.15, 0);
    expect_factor(&f, exp(hypot(0.3 * log(1.15), 0.005)));
    /* Of one set less is known: Student's quantiles at 80% are 3.08 and 1.89. */
    hold_out_multiple(&f, 1, 1 / 1.15, 0);
    expect_factor(&f, exp(3.0776835 / 1.8856181 * hypot(0.3 * log(1.15), 0.005)));
    fitted_free(&f);
}

static void errors_where_it_was_measured_widen_the_interval(void **state) {
    (void)state;
    struct fitted f = fit_spread(0, N_SIZES);
    hold_out_multiple(&f, 2, 1.1, 0.04);
    expect_factor(&f, exp(hypot(0.3 * log(1.1), hypot(1.25 * 0.04, 0.005))));
    fitted_free(&f);
}

/* The residual is the mean over sizes and caches of what the models are off by there. */
static void the_residual_is_that_of_the_measured_sizes(void **state) {
    (void)state;
    for (size_t kernel = 0; kernel < N_KERNELS; kernel++) {
        struct fitted f = fit_spread(kernel, N_SIZES);
        double sum = 0;
        size_t n = 0;
        for (size_t k = 0; k < N_SIZES; k++) {
            double all_cold = all_misses(f.profiles[k], 1e15), measured = 2 * all_cold;
            for (double cache = SMALLEST; measured > all_cold; cache *= 2, n++) {
                measured = all_misses(f.profiles[k], cache);
                sum += fabs(log(misses_at(&f, (double)sizes[k], cache, 0, 0) / measured));
            }
        }
        if (fabs(f.models->residuals[0].error - sum / (double)n) > 1e-9)
            fail_msg("%s: %g instead of %g", kernels[kernel].name, f.models->residuals[0].error,
                     sum / (double)n);
        fitted_free(&f);
    }
}

static void a_large_disagreement_gives_a_multiple(void **state) {
    (void)state;
    struct fitted f = fit_spread(0, N_SIZES);
    hold_out_multiple(&f, 2, 1.5, 0);
    struct pm_profile *predicted = at(&f, 50, 0, 0.8);
    double all = all_misses(predicted, 0);
    for (double cache = SMALLEST; cache <= LARGEST; cache *= 2) {
        double misses = all_misses(predicted, cache), high = misses_at(&f, 50, cache, 1, 0.8);
        assert_true(fabs(misses / misses_at(&f, 50, cache, -1, 0.8) / pow(1.5, 4) - 1) < 1e-6);
        /* but no more misses than accesses */
        double most = fmin(misses * pow(1.5, 4), all * 1.5);
        assert_true(fabs(high / most - 1) < 1e-6);
    }
    pm_profile_free(predicted);
    fitted_free(&f);
}

static void no_prediction_is_wrong_and_sure_of_it(void **state) {
    (void)state;
    for (size_t kernel = 0; kernel < N_KERNELS; kernel++) {
        struct fitted f = fit_spread(kernel, N_SIZES);
        assert_int_equal(f.models->n_held_out, 2);
        struct pm_profile *truth = measure(kernel, FAR, 64, 0);
        for (double cache = SMALLEST; cache <= LARGEST; cache *= 2) {
            double measured = all_misses(truth, cache), predicted = misses_at(&f, FAR, cache, 0, 0);
            double low = misses_at(&f, FAR, cache, -1, 0.8),
                   high = misses_at(&f, FAR, cache, 1, 0.8);
            assert_true(low <= predicted * (1 + 1e-9) && predicted <= high * (1 + 1e-9));
            if (fabs(predicted / measured - 1) > 0.25 && (measured < low || measured > high))
                fail_msg("%s, cache of %g: %g is not in %g to %g", kernels[kernel].name, cache,
                         measured, low, high);
            double wider = misses_at(&f, FAR, cache, 1, 0.95);
            double narrower = misses_at(&f, FAR, cache, 1, 0.5);
            assert_true(narrower <= high * (1 + 1e-6) && high <= wider * (1 + 1e-6));
        }
        pm_profile_free(truth);
        fitted_free(&f);
    }
}

static void three_sizes_give_a_wide_interval(void **state) {
    (void)state;
    struct fitted f = fit_spread(0, FEW_SIZES);
    double largest = (double)sizes[FEW_SIZES - 1];
    assert_true(f.models->held_out_tried && f.models->n_held_out == 0);
    for (double cache = SMALLEST; cache <= LARGEST;
         cache *= 2) /* a power of the size more or less */
        assert_true(misses_at(&f, 2 * largest, cache, -1, 0.8) * 1.99 <
                    misses_at(&f, 2 * largest, cache, 0, 0.8));
    fitted_free(&f);
}

static void sizes_below_the_smallest_are_extrapolated(void **state) {
    (void)state;
    struct fitted f = fit_spread(0, N_SIZES);
    const double n[] = {2, 8, 15, 28, 56}, expected[] = {4, 1, 1, 1, 2};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        struct pm_profile *profile = at(&f, n[i], 0, 0);
        assert_true(profile->extrapolation == expected[i]);
        pm_profile_free(profile);
    }
    fitted_free(&f);
}

static void stored_sets_keep_what_was_held_out(void **state) {
    (void)state;
    struct fitted f = fit_spread(1, N_SIZES), again = f;
    again.models = copy_of(f.models);
    assert_int_equal(again.models->n_held_out, f.models->n_held_out);
    for (double cache = SMALLEST; cache <= LARGEST; cache *= 2)
        assert_true(misses_at(&f, 40, cache, 1, 0.8) == misses_at(&again, 40, cache, 1, 0.8));
    pm_model_set_free(again.models);
    fitted_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_disagreement_gives_its_share),
        cmocka_unit_test(errors_where_it_was_measured_widen_the_interval),
        cmocka_unit_test(the_residual_is_that_of_the_measured_sizes),
        cmocka_unit_test(a_large_disagreement_gives_a_multiple),
        cmocka_unit_test(no_prediction_is_wrong_and_sure_of_it),
        cmocka_unit_test(three_sizes_give_a_wide_interval),
        cmocka_unit_test(sizes_below_the_smallest_are_extrapolated),
        cmocka_unit_test(stored_sets_keep_what_was_held_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
