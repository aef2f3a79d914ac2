/* Random accesses: the distances of a group whose strides depend on data scale with what the
   program touches, so that its hit ratio in a fixed cache does not rise with the data; a group that
   walks is modelled as before. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fit/fit.h"
#include "fit/heuristics.h"
#include "tests/unit/fit_traces.h"

enum { N_SIZES = 6, GATHER = 0, WALK = 1, N_GROUPS = 2 };
static const uint64_t sizes[N_SIZES] = {2048, 3072, 4096, 5120, 6144, 8192};

static struct pm_structure *new_structure(enum pm_stride_kind kind) {
    struct pm_structure *structure = pm_structure_new();
    for (size_t g = 0; g < N_GROUPS; g++) {
        struct pm_group *group = PM_PUSH(structure, groups);
        group->scope = PM_NONE;
        group->n_strides = 1;
        group->strides = pm_alloc(1, sizeof *group->strides);
        group->strides[0].kind = (uint8_t)(g == GATHER ? kind : PM_STRIDE_CONSTANT);
        group->strides[0].bytes = g == GATHER ? 0 : 4;
        group->n_loads = 1;
    }
    return structure;
}

/* Numbers that look random, the same in every run. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Twice 4 N times: an index of 4 bytes from a list, and the element of N doubles that it names; the
   same indices both times.  EXPONENT 0: all are as likely; 1: the one of rank r as 1 / r. */
static struct pm_profile *gather(uint64_t n, int exponent) {
    struct trace *t = pm_alloc(1, sizeof *t);
    uint64_t list = 64 + 8 * n;
    t->block_bytes = 64;
    t->n_blocks = (uint32_t)((list + 16 * n) / 64 + 2);
    t->capacity = 4 * t->n_blocks + 1024;
    t->last_use = pm_alloc(t->n_blocks, sizeof *t->last_use);
    t->block_at = pm_alloc((size_t)t->capacity + 1, sizeof *t->block_at);
    t->tree = pm_alloc((size_t)t->capacity + 1, sizeof *t->tree);
    for (int pass = 0; pass < 2; pass++) {
        uint64_t state = 88172645463325252u;
        for (uint64_t i = 0; i < 4 * n; i++) {
            double u = (double)(next_random(&state) >> 11) * 0x1p-53;
            uint64_t rank = (uint64_t)(exponent ? exp(u * log((double)n)) : u * (double)n);
            trace_touch(t, WALK, list + 4 * i, 0);
            LOAD(GATHER, 64, rank * 2654435761u % n);
        }
    }
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    pm_parameters_set(&profile->parameters, "N", (double)n, NULL);
    profile->extrapolation = 1;
    profile->block_sizes = pm_alloc(1, sizeof *profile->block_sizes);
    profile->block_sizes[profile->n_block_sizes++] = 64;
    profile->edge_counts = pm_alloc(1, sizeof *profile->edge_counts);
    profile->histograms = pm_alloc(N_GROUPS, sizeof *profile->histograms);
    profile->n_histograms = N_GROUPS;
    for (unsigned g = 0; g < N_GROUPS; g++) {
        profile->histograms[g].group = g;
        trace_histogram(t, g, &profile->histograms[g].histogram);
    }
    free(t->tree);
    free(t->block_at);
    free(t->last_use);
    free(t);
    return profile;
}

/* What models of PROFILES, the small sizes, say of size N. */
static struct pm_profile *predict_from(const struct pm_structure *structure,
                                       struct pm_profile *const *profiles, double n) {
    struct pm_error err = {0};
    struct pm_fit_options options = {.n_threads = 1};
    struct pm_model_set *models = pm_fit(structure, (const struct pm_profile *const *)profiles,
                                         N_SIZES, &options, NULL, &err);
    if (!models)
        fail_msg("%s", err.text);
    struct pm_parameters at = {.n = 1, .names = {"N"}, .values = {n}};
    struct pm_profile *profile = pm_fit_instantiate(structure, models, &at, &err);
    if (!profile)
        fail_msg("%s", err.text);
    pm_model_set_free(models);
    return profile;
}

static struct pm_profile *predict(const struct pm_structure *structure, int exponent, double n) {
    struct pm_profile *profiles[N_SIZES];
    for (size_t k = 0; k < N_SIZES; k++)
        profiles[k] = gather(sizes[k], exponent);
    struct pm_profile *profile = predict_from(structure, profiles, n);
    for (size_t k = 0; k < N_SIZES; k++)
        pm_profile_free(profiles[k]);
    return profile;
}

static double hit_ratio(const struct pm_profile *profile, double cache_blocks) {
    const struct pm_histogram *histogram = &profile->histograms[GATHER].histogram;
    return 1 -
           pm_fully_associative_misses(histogram, cache_blocks) / pm_histogram_accesses(histogram);
}

/* Every cache's misses within WITHIN of those of a run at sixteen times the largest size. */
static void compare(enum pm_stride_kind kind, int exponent, double within) {
    struct pm_structure *structure = new_structure(kind);
    uint64_t n = 16 * sizes[N_SIZES - 1];
    struct pm_profile *predicted = predict(structure, exponent, (double)n);
    struct pm_profile *measured = gather(n, exponent);
    for (double blocks = 16; blocks <= 65536; blocks *= 2) {
        double says = 1 - hit_ratio(predicted, blocks), is = 1 - hit_ratio(measured, blocks);
        if (fabs(says - is) > within * is)
            fail_msg("cache of %.0f blocks: misses of %.4f predicted, %.4f measured", blocks, says,
                     is);
    }
    pm_profile_free(measured);
    pm_profile_free(predicted);
    pm_structure_free(structure);
}

static void random_gathers_scale_with_the_data(void **state) {
    (void)state;
    compare(PM_STRIDE_INDIRECT, 0, 0.02);
}

static void unknown_strides_are_tried_too(void **state) {
    (void)state;
    compare(PM_STRIDE_UNKNOWN, 0, 0.02);
}

static void popular_elements_stay_near(void **state) {
    (void)state;
    compare(PM_STRIDE_INDIRECT, 1, 0.15);
}

/* Where a stack or an array lies otherwise, the program touches a block more at some sizes. */
static void a_block_more_or_less_changes_no_prediction(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure(PM_STRIDE_INDIRECT);
    struct pm_profile *profiles[N_SIZES];
    double n = 64 * (double)sizes[N_SIZES - 1];
    for (size_t k = 0; k < N_SIZES; k++)
        profiles[k] = gather(sizes[k], 0);
    struct pm_profile *plain = predict_from(structure, profiles, n);
    for (unsigned more = 1; more < 1u << N_SIZES; more++) {
        for (size_t k = 0; k < N_SIZES; k++)
            profiles[k]->histograms[WALK].histogram.cold_loads += more >> k & 1;
        struct pm_profile *other = predict_from(structure, profiles, n);
        for (double blocks = 16; blocks <= 65536; blocks *= 2) {
            double expected = 1 - hit_ratio(plain, blocks), says = 1 - hit_ratio(other, blocks);
            if (fabs(says - expected) > 0.01 * expected)
                fail_msg("a block more at sizes %#x, cache of %.0f blocks: %.4f, not %.4f", more,
                         blocks, says, expected);
        }
        pm_profile_free(other);
        for (size_t k = 0; k < N_SIZES; k++)
            profiles[k]->histograms[WALK].histogram.cold_loads -= more >> k & 1;
    }
    pm_profile_free(plain);
    for (size_t k = 0; k < N_SIZES; k++)
        pm_profile_free(profiles[k]);
    pm_structure_free(structure);
}

static void the_hit_ratio_of_a_fixed_cache_does_not_rise(void **state) {
    (void)state;
    struct pm_structure *structure = new_structure(PM_STRIDE_INDIRECT);
    double before = 1;
    for (double n = 8192; n <= 64 * 8192; n *= 2) {
        struct pm_profile *profile = predict(structure, 0, n);
        double ratio = hit_ratio(profile, 512);
        assert_true(ratio <= before + 1e-3);
        before = ratio;
        pm_profile_free(profile);
    }
    assert_true(before < 0.02); /* 512 of 65,536 blocks, and what lies between */
    pm_structure_free(structure);
}

static void without_the_step_nothing_scales(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_structure *irregular = new_structure(PM_STRIDE_INDIRECT);
    struct pm_structure *regular = new_structure(PM_STRIDE_CONSTANT);
    regular->groups[GATHER].strides[0].bytes = 8;
    assert_true(pm_heuristics_set("irregular", NULL, &err));
    struct pm_profile *without = predict(irregular, 0, 16 * 8192);
    assert_true(pm_heuristics_set(NULL, NULL, &err));
    struct pm_profile *with = predict(irregular, 0, 16 * 8192);
    struct pm_profile *walking = predict(regular, 0, 16 * 8192);
    bool differs = false;
    for (double blocks = 16; blocks <= 65536; blocks *= 2) {
        assert_true(hit_ratio(without, blocks) == hit_ratio(walking, blocks));
        differs |= hit_ratio(with, blocks) != hit_ratio(walking, blocks);
    }
    assert_true(differs);
    pm_profile_free(walking);
    pm_profile_free(with);
    pm_profile_free(without);
    pm_structure_free(regular);
    pm_structure_free(irregular);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_gathers_scale_with_the_data),
        cmocka_unit_test(unknown_strides_are_tried_too),
        cmocka_unit_test(popular_elements_stay_near),
        cmocka_unit_test(a_block_more_or_less_changes_no_prediction),
        cmocka_unit_test(the_hit_ratio_of_a_fixed_cache_does_not_rise),
        cmocka_unit_test(without_the_step_nothing_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
