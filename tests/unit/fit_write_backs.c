/* Stores by dirty distance become models of the size, which the store keeps, and from which
   write-backs at a size that was never run follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(write_backs_are_predicted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_without_leaves_them_unknown, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
