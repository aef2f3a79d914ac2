/* Models: evaluation, text, and storage that survives damage. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/model.h"
#include "core/base/base.h"

static const char *const texts[] = {"1", "N", "N^2", "N*log2(N)"};

static struct pm_basis *new_basis(void) {
    struct pm_error err = {0};
    struct pm_basis *basis = pm_basis_new(4, texts, &err);
    assert_non_null(basis);
    return basis;
}

static struct pm_model model_of(double constant, double linear, double square) {
    struct pm_model model = {.n_terms = 3,
                             .terms = {0, 1, 2},
                             .coefficients = {constant, linear, square},
                             .leave_one_out_error = NAN,
                             .n_points = 6,
                             .shape = PM_SHAPE_INCREASING | PM_SHAPE_CONVEX};
    return model;
}

static void value_is_the_sum_and_never_negative(void **state) {
    (void)state;
    struct pm_basis *basis = new_basis();
    struct pm_error err = {0};
    struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {8}};
    struct pm_model model = model_of(-4, 3, 0.5);
    double value, functions[4];
    assert_true(pm_model_evaluate(basis, &model, &at, &value, &err));
    assert_true(value == 52);
    assert_true(pm_basis_evaluate(basis, &at, functions, &err));
    assert_true(functions[3] == 24);
    assert_true(pm_model_value(&model, functions) == 52);
    model = model_of(-4, -3, 0);
    assert_true(pm_model_value(&model, functions) == 0);
    assert_true(pm_model_evaluate(basis, &model, &at, &value, &err));
    assert_true(value == 0);
    struct pm_parameters other = {.n = 1, .names = {"M"}, .values = {8}};
    assert_false(pm_model_evaluate(basis, &model, &other, &value, &err));
    assert_non_null(strstr(err.text, "`N`"));
    pm_basis_free(basis);
}

/* Far outside a sum may turn, whatever shape it has where that was looked at. */
static void far_outside_what_grew_is_at_least_as_large(void **state) {
    (void)state;
    const double at_100[] = {1, 100, 100 * 100}, at_10[] = {1, 10, 10 * 10};
    struct pm_model_point beyond = {at_100, at_10}, within = {at_10, NULL};
    struct pm_model model = model_of(0, 20, -0.5); /* 150 at 10, −3000 at 100 */
    assert_true(pm_model_value_at(&model, &within) == 150);
    assert_true(pm_model_value_at(&model, &beyond) == 150);
    model = model_of(0, 20, 0.5);
    assert_true(pm_model_value_at(&model, &beyond) == 7000);
    model = model_of(200, -20, 1); /* 100 at 10, 8200 at 100 */
    model.shape = PM_SHAPE_DECREASING;
    assert_true(pm_model_value_at(&model, &beyond) == 100);
    model.shape = PM_SHAPE_FREE;
    assert_true(pm_model_value_at(&model, &beyond) == 8200);
}

static void expect_text(const struct pm_basis *basis, const struct pm_model *model,
                        const char *expected) {
    char *text = pm_model_text(basis, model);
    assert_string_equal(text, expected);
    free(text);
}

static void text_reads_as_one_would_write_it(void **state) {
    (void)state;
    struct pm_basis *basis = new_basis();
    struct pm_model model = model_of(1, -5, 2);
    expect_text(basis, &model, "2*N^2 - 5*N + 1");
    model = model_of(-1, 1, -1);
    expect_text(basis, &model, "-N^2 + N - 1");
    model = model_of(0, 0, 0);
    expect_text(basis, &model, "0");
    model = model_of(-7, 0, 0);
    expect_text(basis, &model, "-7");
    model = model_of(0.5, 0, 0);
    model.terms[1] = 3;
    model.coefficients[1] = 1.25;
    expect_text(basis, &model, "1.25*N*log2(N) + 0.5");
    pm_basis_free(basis);
}

static void a_basis_with_a_mistake_is_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    static const char *const wrong[] = {"1", "N^"};
    assert_null(pm_basis_new(2, wrong, &err));
    assert_non_null(strstr(err.text, "basis function 2"));
}

static struct pm_model_set *new_set(void) {
    struct pm_model_set *set = pm_alloc(1, sizeof *set);
    set->basis = new_basis();
    assert_true(pm_parameters_set(&set->low, "N", 12, NULL));
    assert_true(pm_parameters_set(&set->high, "N", 32, NULL));
    set->n_runs = 6;
    set->runs = pm_alloc(6, sizeof *set->runs);
    for (int i = 0; i < 6; i++)
        assert_true(pm_parameters_set(&set->runs[i], "N", 12 + 4 * i, NULL));
    set->n_runs_dropped = 2;
    set->n_edges = 3;
    set->edges = pm_alloc(3, sizeof *set->edges);
    for (int i = 0; i < 3; i++)
        set->edges[i] = model_of(i, -i, 2 * i);
    set->edges[1].exact = true;
    set->n_histograms = 2;
    set->histograms = pm_alloc(2, sizeof *set->histograms);
    for (int i = 0; i < 2; i++) {
        struct pm_histogram_model *histogram = &set->histograms[i];
        histogram->group = (uint32_t)(5 + i);
        histogram->block_bytes = 64;
        histogram->accesses = model_of(100, 0, 1);
        histogram->cold = model_of(1, 0, 0);
        histogram->store_share = 0.25;
        histogram->n_bins = (size_t)(2 * i);
        histogram->bins = pm_bin_model_arena_alloc(&set->bins, histogram->n_bins);
        for (int b = 0; b < 2 * i; b++) {
            histogram->bins[b].count = model_of(b, 2, 3);
            histogram->bins[b].distance = model_of(b, 0, 3);
            histogram->bins[b].low = 0.5;
            histogram->bins[b].high = 1.25;
            histogram->bins[b].constant_distance = b == 0;
        }
    }
    return set;
}

static void decoding_gives_back_what_was_encoded(void **state) {
    (void)state;
    struct pm_model_set *set = new_set();
    struct pm_error err = {0};
    void *bytes, *again;
    size_t n_bytes, n_again;
    pm_model_set_encode(set, &bytes, &n_bytes);
    struct pm_model_set *copy = pm_model_set_decode(bytes, n_bytes, &err);
    assert_non_null(copy);
    pm_model_set_encode(copy, &again, &n_again);
    assert_int_equal(n_bytes, n_again);
    assert_memory_equal(bytes, again, n_bytes);
    assert_string_equal(copy->basis->texts[3], "N*log2(N)");
    assert_int_equal(copy->histograms[1].n_bins, 2);
    assert_true(copy->histograms[1].bins[1].high == 1.25);
    assert_true(pm_parameters_equal(&copy->runs[5], &set->runs[5]));
    assert_int_equal(copy->n_runs_dropped, 2);
    assert_true(copy->edges[1].exact && !copy->edges[2].exact);
    assert_true(isnan(copy->edges[0].leave_one_out_error));
    double low;
    assert_true(pm_parameters_get(&copy->low, "N", &low) && low == 12);
    free(again);
    free(bytes);
    pm_model_set_free(copy);
    pm_model_set_free(set);
}

static void every_truncation_and_every_changed_byte_is_found(void **state) {
    (void)state;
    struct pm_model_set *set = new_set();
    void *bytes;
    size_t n_bytes;
    pm_model_set_encode(set, &bytes, &n_bytes);
    for (size_t n = 0; n < n_bytes; n++) {
        struct pm_error err = {0};
        assert_null(pm_model_set_decode(bytes, n, &err));
        assert_int_equal(err.kind, PM_ERROR_INPUT);
    }
    unsigned char *copy = pm_alloc(n_bytes, 1);
    for (size_t i = 0; i < n_bytes; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            struct pm_error err = {0};
            memcpy(copy, bytes, n_bytes);
            copy[i] ^= (unsigned char)(1 << bit);
            struct pm_model_set *got = pm_model_set_decode(copy, n_bytes, &err);
            if (got) { /* an unused bit of the compressed frame's header may differ */
                void *again;
                size_t n_again;
                pm_model_set_encode(got, &again, &n_again);
                assert_int_equal(n_again, n_bytes);
                assert_memory_equal(again, bytes, n_bytes);
                free(again);
                pm_model_set_free(got);
            }
        }
    free(copy);
    free(bytes);
    pm_model_set_free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_the_sum_and_never_negative),
        cmocka_unit_test(far_outside_what_grew_is_at_least_as_large),
        cmocka_unit_test(text_reads_as_one_would_write_it),
        cmocka_unit_test(a_basis_with_a_mistake_is_refused),
        cmocka_unit_test(decoding_gives_back_what_was_encoded),
        cmocka_unit_test(every_truncation_and_every_changed_byte_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
