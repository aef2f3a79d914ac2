/* Models of strides: what grows with the size comes back exactly at sizes that were not measured;
   what the allocator decides stays unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fit/fit.h"
#include "tests/unit/nest_example.h"

static const double sizes[] = {20, 28, 36, 44, 52};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* Three loops over a cube of n, row by row, by columns and downwards; a third array lies BEHIND
   bytes after the first. */
static struct nest cube(int64_t n, uint64_t base, uint64_t behind) {
    return (struct nest){3,
                         {(uint64_t)n - 2, (uint64_t)n - 2, (uint64_t)n - 2},
                         4,
                         {{base, {8 * n * n, 8 * n, 8}},
                          {base + 16 * (uint64_t)(n * n), {8 * n * n, 8 * n, 8}},
                          {base + behind, {8, 8 * n, 8 * n * n}},
                          {base + 8 * (uint64_t)(n * n * n), {-8 * n * n, -8 * n, 0}}}};
}

/* What models of PROFILES, which it frees with STRUCTURE, say at size N. */
static struct pm_profile *predict_from(struct pm_structure *structure, struct pm_profile **profiles,
                                       size_t n_profiles, double n) {
    struct pm_error err = {0};
    struct pm_model_set *set =
        pm_fit(structure, (const struct pm_profile *const *)profiles, n_profiles, NULL, NULL, &err);
    assert_non_null(set);
    void *bytes;
    size_t n_bytes;
    pm_model_set_encode(set, &bytes, &n_bytes);
    pm_model_set_free(set);
    set = pm_model_set_decode(bytes, n_bytes, &err); /* as a store would give them */
    assert_non_null(set);
    free(bytes);
    struct pm_parameters at = {0};
    pm_parameters_set(&at, "N", n, NULL);
    struct pm_profile *profile = pm_fit_instantiate(structure, set, &at, &err);
    assert_non_null(profile);
    for (size_t k = 0; k < n_profiles; k++)
        pm_profile_free(profiles[k]);
    pm_model_set_free(set);
    pm_structure_free(structure);
    return profile;
}

/* The strides at size N of models of the sizes above, each in a process of its own; BEHIND: the
   third array's place. */
static struct pm_profile *predict(double n, uint64_t (*behind)(int64_t n)) {
    struct pm_profile *profiles[N_SIZES];
    struct pm_structure *structure = NULL;
    for (size_t k = 0; k < N_SIZES; k++) {
        int64_t size = (int64_t)sizes[k];
        struct nest nest = cube(size, (k + 7) * 123 * 4096 + 16, behind(size));
        if (!structure)
            structure = nest_structure(&nest);
        profiles[k] = nest_profile(structure, &nest);
        pm_parameters_set(&profiles[k]->parameters, "N", sizes[k], NULL);
    }
    return predict_from(structure, profiles, N_SIZES, n);
}

static uint64_t next_page(int64_t n) {
    return (uint64_t)(8 * n * n * n + 4095) / 4096 * 4096 + 4096;
}

static void strides_and_elements_follow_the_size(void **state) {
    (void)state;
    struct pm_profile *profile = predict(128, next_page);
    struct nest nest = cube(128, 0, next_page(128));
    assert_int_equal(profile->strides.n_references, 4);
    for (uint32_t r = 0; r < 4; r++) {
        const struct pm_reference_strides *strides = &profile->strides.references[r];
        assert_int_equal(strides->reference, r);
        assert_int_equal(strides->n_levels, 3);
        for (int l = 0; l < 3; l++) {
            assert_true(strides->levels[l].stride_bytes ==
                        (double)nest.references[r].strides[2 - l]);
            assert_true(strides->levels[l].count == 126);
        }
    }
    pm_profile_free(profile);
}

static void places_in_one_array_follow_the_size(void **state) {
    (void)state;
    struct pm_profile *profile = predict(100, next_page);
    const struct pm_reference_strides *strides = profile->strides.references;
    assert_int_equal(strides[0].space, strides[1].space);
    assert_true(strides[1].lowest - strides[0].lowest == 16. * 100 * 100);
    pm_profile_free(profile);
}

/* No polynomial gives whole pages, but pages they are at every size. */
static void an_array_on_pages_of_its_own_keeps_its_place_in_a_page(void **state) {
    (void)state;
    struct pm_profile *profile = predict(100, next_page);
    const struct pm_reference_strides *strides = profile->strides.references;
    assert_int_not_equal(strides[0].space, strides[2].space);
    assert_true(strides[0].page_known && strides[2].page_known);
    assert_true(fmod(strides[2].lowest, 4096) == 16 && fmod(strides[0].lowest, 4096) == 16);
    pm_profile_free(profile);
}

static uint64_t anywhere(int64_t n) { return (uint64_t)(n * 7919 % 1000 * 1000 + 8 * n * n * n); }

static void what_follows_nothing_is_in_a_space_of_its_own(void **state) {
    (void)state;
    struct pm_profile *profile = predict(100, anywhere);
    const struct pm_reference_strides *strides = profile->strides.references;
    assert_int_not_equal(strides[0].space, strides[2].space);
    assert_false(strides[2].page_known);
    pm_profile_free(profile);
}

/* A Fourier transform of 2^LOG2 numbers has a pass more than one of half as many, and each pass has
   a stride of its own. */
static struct pm_stride_variant pass_of(int log2, int pass) {
    double n = ldexp(1, log2), count = ldexp(1, pass);
    return (struct pm_stride_variant){.share = 1.0 / log2,
                                      .since = 1000 + 10 * n * pass,
                                      .phase = n / 2,
                                      .lowest = 4096,
                                      .highest = 4096 + 16 * (n - n / count),
                                      .n_levels = 2,
                                      .levels = {{16 * n / count, count}, {0, n / count}}};
}

static void passes_follow_the_size(void **state) {
    (void)state;
    enum { LEAST = 6, MOST = 11, BEYOND = 14 };
    struct pm_profile *profiles[MOST - LEAST + 1];
    struct pm_structure *structure = NULL;
    for (int log2 = LEAST; log2 <= MOST; log2++) {
        struct nest nest = {2, {1u << (log2 - 1), 2}, 1, {{4096, {0, 8 << log2}}}};
        if (!structure)
            structure = nest_structure(&nest);
        struct pm_profile *profile = profiles[log2 - LEAST] = nest_profile(structure, &nest);
        pm_parameters_set(&profile->parameters, "N", ldexp(1, log2), NULL);
        profile->strides.references[0].n_variants = (uint32_t)log2;
        for (int pass = log2; pass-- > 0;) /* in no order */
            *PM_PUSH(&profile->strides, variants) = pass_of(log2, pass);
    }
    struct pm_profile *profile =
        predict_from(structure, profiles, MOST - LEAST + 1, ldexp(1, BEYOND));
    const struct pm_reference_strides *one = &profile->strides.references[0];
    assert_int_equal(one->n_variants, BEYOND);
    for (int pass = 0; pass < BEYOND; pass++) {
        const struct pm_stride_variant *is = &profile->strides.variants[one->first_variant + pass];
        struct pm_stride_variant should = pass_of(BEYOND, pass);
        assert_true(fabs(is->share - should.share) < 1e-12);
        assert_true(!pass || is->since > is[-1].since);
        assert_true(is->phase == should.phase && is->lowest == one->lowest);
        assert_true(is->n_levels == (pass < BEYOND - 1 ? 2 : 1)); /* the last one needs no more */
        for (int l = 0; l < is->n_levels; l++)
            assert_true(is->levels[l].stride_bytes == should.levels[l].stride_bytes &&
                        is->levels[l].count == should.levels[l].count);
    }
    pm_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_and_elements_follow_the_size),
        cmocka_unit_test(passes_follow_the_size),
        cmocka_unit_test(places_in_one_array_follow_the_size),
        cmocka_unit_test(an_array_on_pages_of_its_own_keeps_its_place_in_a_page),
        cmocka_unit_test(what_follows_nothing_is_in_a_space_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
