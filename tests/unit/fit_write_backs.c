/* Stores by dirty distance, and shares of sequential touches, become models of the size, which the
   store keeps, and from which write-backs, and what of misses is sequential, follow at a size that
   was never run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/behaviour/behaviour.h"
#include "fit/fit.h"
#include "tests/unit/store_example.h"

static const struct pm_response no_response;

enum { N_SIZES = 6 };

/* Runs of N = 8, 16, 24 …, each with N cold stores and 5 at distance 16. */
static void put_runs(void) {
    struct pm_store *store = open_new();
    for (int i = 1; i <= N_SIZES; i++)
        put(store, 8 * i);
    pm_store_close(store);
}

/* Fits what the store has, and puts the models into it. */
static void fit(const struct pm_structure *structure) {
    struct pm_error err = {0};
    struct pm_profile *profiles[N_SIZES];
    struct pm_store *store = pm_store_open(path, PM_STORE_CREATE, &err);
    assert_non_null(store);
    for (int i = 0; i < N_SIZES; i++) {
        struct pm_parameters at = size_of(8 * (i + 1));
        profiles[i] = pm_store_profile(store, &at, &err);
        assert_non_null(profiles[i]);
    }
    const struct pm_profile *const *all = (const struct pm_profile *const *)profiles;
    struct pm_model_set *models = pm_fit(structure, all, N_SIZES, NULL, NULL, &err);
    assert_non_null(models);
    pm_fit_write_backs(structure, all, N_SIZES, NULL, models);
    pm_fit_sequential(all, N_SIZES, models);
    assert_true(pm_store_put_models(store, models, &err));
    pm_model_set_free(models);
    for (int i = 0; i < N_SIZES; i++)
        pm_profile_free(profiles[i]);
    pm_store_close(store);
}

/* By the store's models, at N = 100. */
static struct pm_profile *predict(const struct pm_structure *structure) {
    struct pm_error err = {0};
    struct pm_parameters at = size_of(100);
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, &err);
    struct pm_model_set *models = pm_store_models(store, &err);
    assert_non_null(models);
    struct pm_profile *profile = pm_fit_instantiate(structure, models, &at, &err);
    assert_non_null(profile);
    pm_model_set_free(models);
    pm_store_close(store);
    return profile;
}

static void write_backs_are_predicted(void **state) {
    (void)state;
    struct pm_structure *structure = small_structure(1);
    put_runs();
    fit(structure);
    struct pm_profile *profile = predict(structure);
    assert_true(fabs(pm_write_backs(profile, 0, 64, 0, &no_response) - 105) < 1e-6);
    assert_true(fabs(pm_write_backs(profile, 0, 64, 16, &no_response) - 105) < 1e-6);
    assert_true(fabs(pm_write_backs(profile, 0, 64, 17, &no_response) - 100) < 1e-6);
    pm_profile_free(profile);
    pm_structure_free(structure);
}

static void a_run_without_leaves_them_unknown(void **state) {
    (void)state;
    struct pm_structure *structure = small_structure(1);
    put_runs();
    run_sql("DELETE FROM dirty WHERE run = 3");
    fit(structure);
    struct pm_profile *profile = predict(structure);
    assert_true(isnan(pm_write_backs(profile, 0, 64, 16, &no_response)));
    pm_profile_free(profile);
    pm_structure_free(structure);
}

static const struct pm_level cache = {
    .kind = PM_LEVEL_CACHE, .size_bytes = 4096, .block_bytes = 64};

static void sequential_misses_are_predicted(void **state) {
    (void)state;
    struct pm_structure *structure = small_structure(1);
    put_runs();
    fit(structure);
    struct pm_profile *profile = predict(structure);
    assert_true(fabs(pm_sequential_share(profile, 0, &cache) - 0.5) < 1e-9);
    pm_profile_free(profile);
    pm_structure_free(structure);
}

/* The largest run that has them says what they are. */
static void runs_without_sequential_touches_leave_them_to_others(void **state) {
    (void)state;
    struct pm_structure *structure = small_structure(1);
    put_runs();
    run_sql("DELETE FROM sequential WHERE run <> 2");
    fit(structure);
    struct pm_profile *profile = predict(structure);
    assert_true(fabs(pm_sequential_share(profile, 0, &cache) - 0.5) < 1e-9);
    pm_profile_free(profile);
    pm_structure_free(structure);
}

static void without_any_run_they_are_unknown(void **state) {
    (void)state;
    struct pm_structure *structure = small_structure(1);
    put_runs();
    run_sql("DELETE FROM sequential");
    fit(structure);
    struct pm_profile *profile = predict(structure);
    assert_true(isnan(pm_sequential_share(profile, 0, &cache)));
    pm_profile_free(profile);
    pm_structure_free(structure);
}

/* Larger blocks, and a level that serves by distance: the share of as many bytes. */
static void levels_of_larger_blocks_have_the_share_of_as_many_bytes(void **state) {
    (void)state;
    struct pm_bin all[2] = {{.low = 20, .high = 20, .mean = 20, .loads = 8},
                            {.low = 100, .high = 100, .mean = 100, .loads = 4}};
    struct pm_bin some[2] = {{.low = 20, .high = 20, .mean = 20, .loads = 2},
                             {.low = 100, .high = 100, .mean = 100, .loads = 4}};
    struct pm_group_histogram histogram = {0, {.block_bytes = 64, .n_bins = 2, .bins = all}};
    struct pm_group_histogram sequential = {0, {.block_bytes = 64, .n_bins = 2, .bins = some}};
    struct pm_profile profile = {
        .histograms = &histogram, .n_histograms = 1, .sequential = &sequential, .n_sequential = 1};
    struct pm_level level = cache;
    level.size_bytes = 1024;
    assert_true(fabs(pm_sequential_share(&profile, 0, &level) - 0.5) < 1e-9);
    level.block_bytes = 128;
    assert_true(fabs(pm_sequential_share(&profile, 0, &level) - 0.5) < 1e-9);
    level.size_bytes = 4096;
    assert_true(fabs(pm_sequential_share(&profile, 0, &level) - 1) < 1e-9);
    level.size_bytes = 1 << 20; /* nothing misses: the farthest touches say it */
    assert_true(fabs(pm_sequential_share(&profile, 0, &level) - 1) < 1e-9);
    assert_true(isnan(pm_sequential_share(&profile, 1, &level)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(write_backs_are_predicted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sequential_misses_are_predicted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_without_sequential_touches_leave_them_to_others,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_any_run_they_are_unknown, set_up, tear_down),
        cmocka_unit_test(levels_of_larger_blocks_have_the_share_of_as_many_bytes),
        cmocka_unit_test_setup_teardown(a_run_without_leaves_them_unknown, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
