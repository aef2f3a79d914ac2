/* Profiles of basic blocks come back from the store as they were put in, what is damaged is
   refused, and operations are counted as the header says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/store_example.h"

static struct pm_block_profile *small_block_profile(void) {
    struct pm_block_profile *profile = pm_alloc(1, sizeof *profile);
    profile->stride_window = 8;
    profile->cpu_seconds = 0.5;
    for (int i = 0; i < 3; i++)
        *PM_PUSH(profile, levels) =
            (struct pm_simulated_level){.machine = pm_strdup(i < 2 ? "one" : "other"),
                                        .name = pm_strdup(i % 2 ? "L2" : "L1"),
                                        .size_bytes = 32768,
                                        .line_bytes = 64,
                                        .ways = 8,
                                        .replacement = PM_REPLACEMENT_FIFO};
    struct pm_profiled_block *block = PM_PUSH(profile, blocks);
    block->executions = 10;
    block->references = 20;
    block->bytes = 160;
    block->strides[PM_STRIDE_BIN_1] = 18;
    block->strides[PM_STRIDE_BIN_RANDOM] = 2;
    block->flops = 40;
    block->misses = pm_alloc(3, sizeof *block->misses);
    block->misses[0] = 3;
    block->misses[2] = 1;
    return profile;
}

static void profiles_come_back_whole(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    struct pm_parameters at = size_of(64);
    put(store, 64);
    assert_null(pm_store_block_profile(store, &at, &err));
    assert_int_equal(err.kind, PM_ERROR_NONE);
    struct pm_block_profile *profile = small_block_profile();
    assert_true(pm_store_put_block_profile(store, &at, profile, &err));
    assert_true(pm_store_put_block_profile(store, &at, profile, &err)); /* replaces it */
    pm_block_profile_free(profile);
    profile = pm_store_block_profile(store, &at, &err);
    assert_non_null(profile);
    struct pm_structure *structure = small_structure(1);
    assert_true(pm_block_profile_fits(profile, structure, &err));
    pm_structure_free(structure);
    assert_int_equal(profile->n_blocks, 1);
    assert_int_equal(profile->n_levels, 3);
    assert_int_equal(profile->stride_window, 8);
    assert_int_equal(profile->levels[1].replacement, PM_REPLACEMENT_FIFO);
    assert_string_equal(profile->levels[2].machine, "other");
    assert_true(profile->blocks[0].misses[0] == 3 && profile->blocks[0].misses[1] == 0 &&
                profile->blocks[0].misses[2] == 1);
    assert_true(profile->blocks[0].strides[PM_STRIDE_BIN_1] == 18);
    size_t n;
    assert_int_equal(pm_simulated_levels(profile, "other", &n), 2);
    assert_int_equal(n, 1);
    assert_int_equal(pm_simulated_levels(profile, NULL, &n), 0);
    assert_int_equal(n, 2);
    pm_simulated_levels(profile, "third", &n);
    assert_int_equal(n, 0);
    struct pm_profiled_block sum = pm_block_profile_sum(profile);
    assert_true(sum.references == 20 && sum.misses[2] == 1);
    free(sum.misses);
    pm_block_profile_free(profile);
    put(store, 64); /* measured again: without a profile */
    assert_null(pm_store_block_profile(store, &at, &err));
    assert_int_equal(err.kind, PM_ERROR_NONE);
    pm_store_close(store);
}

static void a_profile_that_does_not_add_up_is_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_structure *structure = small_structure(1);
    struct pm_block_profile *profile = small_block_profile();
    assert_true(pm_block_profile_fits(profile, structure, &err));
    profile->blocks[0].strides[PM_STRIDE_BIN_0] = 1;
    assert_false(pm_block_profile_fits(profile, structure, &err));
    profile->blocks[0].strides[PM_STRIDE_BIN_0] = 0;
    profile->blocks[0].misses[1] = 21;
    assert_false(pm_block_profile_fits(profile, structure, &err));
    profile->blocks[0].misses[1] = 0;
    profile->blocks[0].block = 1;
    assert_false(pm_block_profile_fits(profile, structure, &err));
    pm_block_profile_free(profile);
    pm_structure_free(structure);
}

static void misses_of_no_block_are_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_store *store = open_new();
    struct pm_parameters at = size_of(8);
    put(store, 8);
    struct pm_block_profile *profile = small_block_profile();
    assert_true(pm_store_put_block_profile(store, &at, profile, &err));
    pm_block_profile_free(profile);
    pm_store_close(store);
    run_sql("UPDATE block_misses SET level = 7 WHERE level = 2");
    store = pm_store_open(path, PM_STORE_READ, &err);
    assert_null(pm_store_block_profile(store, &at, &err));
    assert_non_null(strstr(err.text, "the simulated misses of run"));
    pm_store_close(store);
}

static void operations_count_by_their_elements(void **state) {
    (void)state;
    struct pm_op op = {.op_class = PM_OP_FP_FMA, .width_bits = 256, .element_bytes = 8};
    assert_true(pm_op_flops(&op) == 8);
    op.op_class = PM_OP_FP_DIV;
    assert_true(pm_op_flops(&op) == 4);
    op.width_bits = 64;
    assert_true(pm_op_flops(&op) == 1);
    op.element_bytes = 0;
    assert_true(pm_op_flops(&op) == 1);
    op.op_class = PM_OP_FP_COMPARE;
    assert_true(pm_op_flops(&op) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(profiles_come_back_whole, set_up, tear_down),
        cmocka_unit_test(a_profile_that_does_not_add_up_is_refused),
        cmocka_unit_test_setup_teardown(misses_of_no_block_are_refused, set_up, tear_down),
        cmocka_unit_test(operations_count_by_their_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
