/* Models of four kernels, measured at small sizes, must predict the accesses and the misses at a
   larger one, whatever the cache; and predicted histograms must be whole. */
#include "tests/unit/fitted_kernels.h"

enum { N_CACHES = 12, N_EDGES = 3 };

/* The blocked kernel's counts have period 8 in the size: one residue class. */
static const uint64_t sizes[N_KERNELS][N_SIZES] = {{12, 16, 20, 24, 28, 32},
                                                   {12, 16, 20, 24, 28, 32},
                                                   {16, 24, 32, 40, 48, 56},
                                                   {12, 16, 20, 24, 28, 32}};
static const uint64_t larger[N_KERNELS] = {48, 48, 80, 48};

static double all_accesses(const struct pm_profile *profile) {
    double sum = 0;
    for (size_t h = 0; h < profile->n_histograms; h++)
        sum += pm_histogram_accesses(&profile->histograms[h].histogram);
    return sum;
}

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void misses_at_one_and_a_half_times_the_largest_size_are_predicted(void **state) {
    (void)state;
    double errors[N_KERNELS * N_CACHES] = {0};
    size_t n = 0;
    for (size_t kernel = 0; kernel < N_KERNELS; kernel++) {
        struct fitted f = fit_kernel(kernel, sizes[kernel], N_SIZES, N_EDGES, 1);
        struct pm_profile *truth = measure(kernel, larger[kernel], 64, N_EDGES);
        struct pm_profile *predicted = predict(&f, (double)larger[kernel]);
        double error = all_accesses(predicted) / all_accesses(truth) - 1;
        if (fabs(error) > 0.005)
            fail_msg("%s: accesses are off by %.2f%%", kernels[kernel].name, 100 * error);
        for (int c = 0; c < N_CACHES; c++)
            errors[n++] = fabs(all_misses(predicted, 64 << c) / all_misses(truth, 64 << c) - 1);
        for (int e = 0; e < N_EDGES; e++)
            assert_true(fabs(predicted->edge_counts[e] - truth->edge_counts[e]) <=
                        1e-9 * truth->edge_counts[e]);
        pm_profile_free(predicted);
        pm_profile_free(truth);
        fitted_free(&f);
    }
    qsort(errors, n, sizeof *errors, ascending);
    print_message("misses: median error %.3f%%, three quarters within %.2f%%, all within %.1f%%\n",
                  100 * errors[n / 2], 100 * errors[3 * n / 4], 100 * errors[n - 1]);
    assert_true(errors[n / 2] < 0.01);
    assert_true(errors[3 * n / 4] < 0.02);
    assert_true(errors[n - 1] < 0.15);
}

/* A model whose sum turns beyond the sizes at which its shape was looked at. */
static void executions_do_not_vanish_far_outside(void **state) {
    (void)state;
    struct fitted f = fit_kernel(0, sizes[0], N_SIZES, N_EDGES, 1);
    double largest = (double)sizes[0][N_SIZES - 1];
    struct pm_model *model = &f.models->edges[0];
    *model = (struct pm_model){.n_terms = 2,
                               .terms = {1, 2},
                               .coefficients = {100 * largest, -1},
                               .shape = PM_SHAPE_INCREASING,
                               .n_points = N_SIZES};
    struct pm_profile *predicted = predict(&f, 1000 * largest);
    assert_true(predicted->edge_counts[0] >= 99 * largest * largest);
    pm_profile_free(predicted);
    fitted_free(&f);
}

/* At a measured size the models must give back what was measured. */
static void a_measured_size_is_reproduced(void **state) {
    (void)state;
    for (size_t kernel = 0; kernel < N_KERNELS; kernel++) {
        struct fitted f = fit_kernel(kernel, sizes[kernel], N_SIZES, N_EDGES, 1);
        struct pm_profile *predicted = predict(&f, (double)sizes[kernel][3]);
        assert_true(predicted->extrapolation == 1);
        double errors[N_CACHES];
        for (int c = 0; c < N_CACHES; c++) {
            double truth = all_misses(f.profiles[3], 64 << c);
            errors[c] = fabs(all_misses(predicted, 64 << c) / truth - 1);
        }
        qsort(errors, N_CACHES, sizeof *errors, ascending);
        if (errors[N_CACHES / 2] > 0.03)
            fail_msg("%s: median error %.1f%%", kernels[kernel].name, 100 * errors[N_CACHES / 2]);
        pm_profile_free(predicted);
        fitted_free(&f);
    }
}

/* Accesses as modelled, bins ascending and disjoint, nothing negative. */
static void expect_whole(const struct fitted *f, double n) {
    double basis[8];
    struct pm_error err = {0};
    struct pm_profile *predicted = predict(f, n);
    struct pm_parameters size = {.n = 1, .names = {"N"}, .values = {n}};
    assert_true(pm_basis_evaluate(f->models->basis, &size, basis, &err));
    assert_int_equal(predicted->n_block_sizes, 1);
    for (size_t h = 0; h < predicted->n_histograms; h++) {
        const struct pm_histogram *histogram = &predicted->histograms[h].histogram;
        double all = pm_model_value(&f->models->histograms[h].accesses, basis), last = -1;
        assert_true(fabs(pm_histogram_accesses(histogram) - all) <= 1e-9 * all);
        for (size_t b = 0; b < histogram->n_bins; b++) {
            const struct pm_bin *bin = &histogram->bins[b];
            assert_true(bin->loads >= 0 && bin->stores >= 0);
            assert_true(bin->low > last && bin->low <= bin->mean);
            assert_true(bin->mean <= bin->high);
            last = bin->high;
        }
    }
    pm_profile_free(predicted);
}

static void predicted_histograms_are_whole(void **state) {
    (void)state;
    static const double at[] = {9, 12, 30, 64, 250};
    for (size_t kernel = 0; kernel < N_KERNELS; kernel++)
        for (size_t n_sizes = 3; n_sizes <= N_SIZES; n_sizes++) {
            struct fitted f = fit_kernel(kernel, sizes[kernel], n_sizes, N_EDGES, 1);
            for (int i = 0; i < 5; i++)
                expect_whole(&f, at[i]);
            fitted_free(&f);
        }
}

static void the_number_of_threads_changes_nothing(void **state) {
    (void)state;
    void *bytes[2];
    size_t n_bytes[2];
    for (size_t kernel = 1; kernel < N_KERNELS; kernel += 2) {
        for (int i = 0; i < 2; i++) {
            struct fitted f = fit_kernel(kernel, sizes[kernel], N_SIZES, N_EDGES, i ? 3 : 1);
            pm_model_set_encode(f.models, &bytes[i], &n_bytes[i]);
            fitted_free(&f);
        }
        assert_int_equal(n_bytes[0], n_bytes[1]);
        assert_memory_equal(bytes[0], bytes[1], n_bytes[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
}

/* The trace analyser itself, against a stack that is searched. */
static void the_analyser_of_this_test_is_exact(void **state) {
    (void)state;
    enum { BLOCKS = 50, ACCESSES = 5000 };
    struct trace *t = pm_alloc(1, sizeof *t);
    t->block_bytes = 64;
    t->n_blocks = BLOCKS;
    t->capacity = 2 * BLOCKS; /* runs out of time stamps often */
    t->last_use = pm_alloc(BLOCKS, sizeof *t->last_use);
    t->block_at = pm_alloc((size_t)t->capacity + 1, sizeof *t->block_at);
    t->tree = pm_alloc((size_t)t->capacity + 1, sizeof *t->tree);
    double expected[BLOCKS] = {0};
    unsigned stack[BLOCKS], depth = 0, number = 1;
    for (int i = 0; i < ACCESSES; i++) {
        number = number * 1103515245 + 12345;
        unsigned block = (number >> 16) % BLOCKS * ((number >> 8) % BLOCKS) / BLOCKS, at = 0;
        while (at < depth && stack[at] != block)
            at++;
        if (at == depth)
            depth++;
        else
            expected[at]++;
        memmove(stack + 1, stack, at * sizeof *stack);
        stack[0] = block;
        trace_touch(t, 0, 64 * (uint64_t)block, 0);
    }
    for (unsigned d = 0; d < BLOCKS; d++)
        assert_true(t->bins[0][d].loads == expected[d]);
    assert_true(t->cold_loads[0] == depth);
    free(t->tree);
    free(t->block_at);
    free(t->last_use);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_analyser_of_this_test_is_exact),
        cmocka_unit_test(misses_at_one_and_a_half_times_the_largest_size_are_predicted),
        cmocka_unit_test(a_measured_size_is_reproduced),
        cmocka_unit_test(executions_do_not_vanish_far_outside),
        cmocka_unit_test(predicted_histograms_are_whole),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
