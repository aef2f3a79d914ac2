/* Strides of a run: of several threads' the ones that were looked at most stay, they come back from
   their bytes, and damaged bytes are refused with a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/strides/strides.h"

static struct pm_reference_strides one(uint32_t reference, double executions, uint32_t n_levels) {
    struct pm_reference_strides strides = {.reference = reference,
                                           .n_levels = n_levels,
                                           .executions = executions,
                                           .lowest = 4096,
                                           .highest = 1e14};
    for (uint32_t k = 0; k < n_levels; k++)
        strides.levels[k] = (struct pm_stride_level){.stride_bytes = k ? -512.0 * k : 8,
                                                     .stride_share = 1,
                                                     .count = 10 + k,
                                                     .count_share = k == 2 ? 0 : 0.75,
                                                     .mean_count = 9.5 + k};
    return strides;
}

static struct pm_stride_variant variant(double since) {
    return (struct pm_stride_variant){.share = 0.5,
                                      .since = since,
                                      .phase = 7,
                                      .lowest = 4096,
                                      .highest = 8192,
                                      .n_levels = 2,
                                      .levels = {{8, 10}, {-512, 11}}};
}

static struct pm_run_strides some_strides(void) {
    const struct pm_reference_strides all[] = {one(7, 100, 2), one(3, 5, 0), one(7, 300, 3),
                                               one(5, 1, PM_MOST_STRIDE_LEVELS), one(3, 4, 1)};
    struct pm_run_strides strides = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pm_reference_strides with = all[i];
        with.first_variant = strides.n_variants;
        with.n_variants = with.n_levels / 2;
        for (uint32_t v = 0; v < with.n_variants; v++)
            *PM_PUSH(&strides, variants) = variant(with.executions + v);
        pm_run_strides_add(&strides, &with);
    }
    pm_run_strides_sort(&strides);
    return strides;
}

static void what_was_looked_at_most_stays(void **state) {
    (void)state;
    struct pm_run_strides strides = some_strides();
    assert_int_equal(strides.n_references, 3);
    assert_true(pm_strides_of_reference(&strides, 3)->executions == 5);
    assert_int_equal(pm_strides_of_reference(&strides, 5)->n_levels, PM_MOST_STRIDE_LEVELS);
    assert_int_equal(pm_strides_of_reference(&strides, 7)->n_levels, 3);
    assert_null(pm_strides_of_reference(&strides, 4));
    assert_null(pm_strides_of_reference(&strides, 8));
    pm_run_strides_free(&strides);
}

static void they_come_back_from_their_bytes(void **state) {
    (void)state;
    struct pm_run_strides strides = some_strides(), again;
    struct pm_error err = {0};
    void *bytes;
    size_t n_bytes;
    pm_run_strides_encode(&strides, &bytes, &n_bytes);
    assert_true(pm_run_strides_decode(bytes, n_bytes, 8, &again, &err));
    assert_int_equal(again.n_references, strides.n_references);
    for (size_t i = 0; i < again.n_references; i++) {
        struct pm_reference_strides *now = &again.references[i], *then = &strides.references[i];
        assert_int_equal(now->n_variants, then->n_variants);
        assert_memory_equal(&again.variants[now->first_variant],
                            &strides.variants[then->first_variant],
                            now->n_variants * sizeof *again.variants);
        now->first_variant = then->first_variant; /* those of threads that went are not kept */
        assert_memory_equal(now, then, sizeof *now);
    }
    assert_int_equal(again.n_variants, 4);
    pm_run_strides_free(&again);
    assert_false(pm_run_strides_decode(bytes, n_bytes, 7, &again, &err)); /* has no reference 7 */
    assert_non_null(strstr(err.text, "strides"));
    free(bytes);
    pm_run_strides_free(&strides);
}

static void damaged_bytes_are_refused(void **state) {
    (void)state;
    struct pm_run_strides strides = some_strides(), again;
    void *bytes;
    size_t n_bytes;
    pm_run_strides_encode(&strides, &bytes, &n_bytes);
    for (size_t i = 0; i < n_bytes; i++) {
        struct pm_error err = {0};
        ((uint8_t *)bytes)[i] ^= 0x55;
        assert_false(pm_run_strides_decode(bytes, n_bytes, 8, &again, &err));
        assert_true(err.text[0]);
        ((uint8_t *)bytes)[i] ^= 0x55;
        struct pm_error cut = {0};
        assert_false(pm_run_strides_decode(bytes, i, 8, &again, &cut));
        assert_true(cut.text[0]);
    }
    free(bytes);
    pm_run_strides_free(&strides);
}

/* What no run has, behind a checksum that fits. */
static void absurd_strides_are_refused(void **state) {
    (void)state;
    struct pm_reference_strides absurd[] = {one(1, 0, 1), one(1, 1, 1), one(1, 1, 1), one(1, 1, 1)};
    absurd[1].highest = 1;
    absurd[2].levels[0].stride_share = 1.5;
    absurd[3].levels[0].count = 0;
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        struct pm_run_strides strides = {0}, again;
        struct pm_error err = {0};
        void *bytes;
        size_t n_bytes;
        pm_run_strides_add(&strides, &absurd[i]);
        pm_run_strides_encode(&strides, &bytes, &n_bytes);
        assert_false(pm_run_strides_decode(bytes, n_bytes, 8, &again, &err));
        free(bytes);
        pm_run_strides_free(&strides);
    }
}

static void absurd_variants_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 8; fault++) {
        struct pm_run_strides strides = {0}, again;
        struct pm_error err = {0};
        struct pm_reference_strides with = one(1, 1, 1);
        struct pm_stride_variant *of = PM_PUSH(&strides, variants);
        void *bytes;
        size_t n_bytes;
        *of = variant(1);
        of->share = fault == 1 ? 0 : fault == 2 ? 1.5 : 0.5;
        of->since = fault == 3 ? NAN : 1;
        of->phase = fault == 4 ? 0 : 7;
        of->highest = fault == 5 ? 1 : 8192;
        of->n_levels = fault == 6 ? PM_MOST_STRIDE_LEVELS + 1 : 2;
        of->levels[1].count = fault == 7 ? 0 : 11;
        with.n_variants = 1;
        pm_run_strides_add(&strides, &with);
        pm_run_strides_encode(&strides, &bytes, &n_bytes);
        assert_int_equal(pm_run_strides_decode(bytes, n_bytes, 8, &again, &err), fault == 0);
        pm_run_strides_free(&again);
        free(bytes);
        pm_run_strides_free(&strides);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_looked_at_most_stays),
        cmocka_unit_test(they_come_back_from_their_bytes),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(absurd_strides_are_refused),
        cmocka_unit_test(absurd_variants_are_refused),
    };
    return cmocka_run_group_tests_name("run_strides", tests, NULL, NULL);
}
