/* Misses of a program made by hand, the time that they take, and what qualifies them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/sched_example.h"

/* L1 holds 100 blocks, L2 1000, the TLB 4 pages: an access hits if its distance is smaller. */
static void misses_follow_from_the_histograms(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 40, 1, NO);
    add_group(&p, SCOPE_INNER, 64, 7, 5,
              (double[][2]){{0, 500}, {99, 20}, {100, 30}, {999, 40}, {1000, 3}});
    add_group(&p, SCOPE_INNER, 64, 0, 1, (double[][2]){{5000, 1}});
    add_group(&p, SCOPE_OUTER, 4096, 2, 2, (double[][2]){{3, 50}, {4, 6}});
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    const struct pm_cost_sum *inner = &s[SCOPE_INNER].self, *outer = &s[SCOPE_OUTER].self;
    assert_near(inner->accesses, 601);
    assert_near(inner->level_misses[0], 30 + 40 + 3 + 7 + 1);
    assert_near(inner->level_misses[1], 3 + 7 + 1);
    assert_near(inner->level_misses[2], 0);
    assert_near(outer->level_misses[2], 6 + 2);
    assert_near(inner->level_cycles[0], 81 * 10 * 0.5);
    assert_near(inner->level_cycles[1], 11 * 100);
    assert_near(inner->memory_cycles, 405 + 1100);
    assert_near(inner->cycles, 1000 + 405 + 1100);
    assert_int_equal(s[SCOPE_INNER].bound, PM_BOUND_LEVEL);
    assert_int_equal(s[SCOPE_INNER].bound_level, 1);
    assert_near(s[0].total.level_misses[2], 8);
    assert_near(s[0].total.memory_cycles, 1505 + 8 * 30);
    free_program(&p);
}

/* 11 misses of 64 bytes at 0.1 bytes a cycle (0.1 GB/s at 1 GHz) need 7040 cycles. */
static void bandwidth_counts_where_it_needs_longer(void **state) {
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct program p = make_program();
        fill(&p, INNER);
        add(&p, PM_OP_LOAD_FP, 40, 1, NO);
        add_group(&p, SCOPE_INNER, 64, 11, 1, (double[][2]){{0, 500}});
        const struct pm_scope_prediction *s =
            predict(&p, slow ? TOP_LINES("64", "true", "true", "memory_bandwidth_gbs = 0.1")
                                   UNITS COSTS LEVELS
                             : TOP_LINES("64", "true", "true", "memory_bandwidth_gbs = 1")
                                   UNITS COSTS LEVELS);
        const struct pm_cost_sum *inner = &s[SCOPE_INNER].self;
        /* Beyond the schedule, 1000 cycles of iterations, where all overlaps. */
        assert_true(inner->memory_cycles >= (slow ? 7040 - 1100 : 11 * 5 + 11 * 100) &&
                    inner->memory_cycles <= (slow ? 7040 - 1000 : 11 * 5 + 11 * 100));
        assert_near(inner->level_cycles[0] + inner->level_cycles[1] +
                        inner->causes[PM_CAUSE_BANDWIDTH],
                    inner->memory_cycles);
        assert_true(inner->lower_cycles <= inner->cycles && inner->cycles <= inner->upper_cycles);
        assert_int_equal(s[SCOPE_INNER].bound, slow ? PM_BOUND_BANDWIDTH : PM_BOUND_LEVEL);
        assert_int_equal(has_note(p.prediction, "need longer than all else"), slow);
        free_program(&p);
    }
}

static void a_block_size_that_was_not_measured_is_an_error(void **state) {
    (void)state;
    struct program p = make_program();
    use_machine(&p, MACHINE);
    p.profile.block_sizes[1] = 2048;
    struct pm_error err = {0};
    assert_null(pm_predict(p.structure, &p.profile, p.machine, NULL, &err));
    assert_int_equal(err.kind, PM_ERROR_INPUT);
    assert_non_null(strstr(err.text, "TLB (4096 bytes)"));
    free_program(&p);
}

static void a_profile_of_another_build_is_an_error(void **state) {
    (void)state;
    struct program p = make_program();
    use_machine(&p, MACHINE);
    p.profile.n_edges--;
    struct pm_error err = {0};
    assert_null(pm_predict(p.structure, &p.profile, p.machine, NULL, &err));
    assert_non_null(strstr(err.text, "different builds"));
    free_program(&p);
}

/* Scaling every count scales every cycle: the model is linear in the counts. */
static void twice_the_counts_take_twice_the_time(void **state) {
    (void)state;
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        struct program p = make_program();
        for (size_t e = 0; e < p.profile.n_edges; e++)
            p.profile.edge_counts[e] *= i + 1;
        fill(&p, OFTEN);
        add(&p, PM_OP_FP_MULT, 40, 40, 51);
        fill(&p, INNER);
        add(&p, PM_OP_FP_ADD, 40, 40, 51);
        fill(&p, LAST);
        add(&p, PM_OP_FP_DIV, 40, 40, 51);
        predict(&p, MACHINE);
        cycles[i] = p.prediction->scopes[0].total.cycles;
        free_program(&p);
    }
    assert_near(cycles[1], 2 * cycles[0]);
    assert_true(cycles[0] > 3000);
}

/* ---- what qualifies misses ------------------------------------------------------------------- */

static const double far_bins[1][2] = {{50, 100}};

static void the_unused_part_of_blocks_is_told_with_the_object_that_has_most_of_it(void **state) {
    (void)state;
    struct program p = make_program();
    /* 100 blocks of `sparse` with 8 bytes used of each, found by two groups, 100 of `dense`, which
       a second group only uses again. */
    add_group(&p, SCOPE_INNER, 64, 60, 1, far_bins);
    add_group(&p, SCOPE_INNER, 64, 40, 1, far_bins);
    add_group(&p, SCOPE_INNER, 64, 100, 1, far_bins);
    add_group(&p, SCOPE_INNER, 64, 0, 1, far_bins);
    static const char *const objects[] = {"sparse", "sparse", "dense", "dense"};
    static const double bytes[] = {700, 100, 6400, 0};
    for (size_t g = 0; g < 4; g++) {
        p.structure->groups[g].object = pm_strdup(objects[g]);
        p.profile.histograms[g].histogram.bytes_touched = bytes[g];
    }
    predict(&p, MACHINE);
    assert_true(has_note(p.prediction, "Of the 64-byte blocks that are fetched, 43.8% of the bytes "
                                       "are never used, most of them in sparse (87.5%"));
    free_program(&p);
}

/* Half of what is unused is in blocks of nobody knows what. */
static void no_object_is_blamed_for_what_others_leave_unused(void **state) {
    (void)state;
    struct program p = make_program();
    for (size_t g = 0; g < 2; g++) {
        add_group(&p, SCOPE_INNER, 64, 100, 1, far_bins);
        p.profile.histograms[g].histogram.bytes_touched = 1600;
    }
    p.structure->groups[0].object = pm_strdup("sparse");
    predict(&p, MACHINE);
    assert_true(has_note(p.prediction, "75% of the bytes are never used."));
    free_program(&p);
}

static void what_was_not_measured_of_blocks_is_not_told(void **state) {
    (void)state;
    struct program p = make_program();
    add_group(&p, SCOPE_INNER, 64, 60, 1, far_bins);
    predict(&p, MACHINE);
    assert_false(has_note(p.prediction, "never used"));
    assert_false(has_note(p.prediction, "watched"));
    assert_false(has_note(p.prediction, "upper bound"));
    free_program(&p);
}

/* L1 has 100 blocks and L2 1000; reuses known to be 500 or more away may hit in L2 only. */
static void a_bound_within_a_cache_and_a_sample_are_told(void **state) {
    (void)state;
    struct program p = make_program();
    add_group(&p, SCOPE_INNER, 64, 60, 1, far_bins);
    struct pm_histogram *histogram = &p.profile.histograms[0].histogram;
    histogram->at_least = 500;
    histogram->beyond_loads = 40;
    histogram->sample = 64;
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].self.level_misses[1], 100);
    assert_true(has_note(p.prediction, "40% of the misses of L2 are only known"));
    assert_false(has_note(p.prediction, "misses of L1 are only known"));
    assert_true(has_note(p.prediction, "One of 64 blocks was watched"));
    free_program(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_follow_from_the_histograms),
        cmocka_unit_test(bandwidth_counts_where_it_needs_longer),
        cmocka_unit_test(a_block_size_that_was_not_measured_is_an_error),
        cmocka_unit_test(a_profile_of_another_build_is_an_error),
        cmocka_unit_test(twice_the_counts_take_twice_the_time),
        cmocka_unit_test(the_unused_part_of_blocks_is_told_with_the_object_that_has_most_of_it),
        cmocka_unit_test(no_object_is_blamed_for_what_others_leave_unused),
        cmocka_unit_test(what_was_not_measured_of_blocks_is_not_told),
        cmocka_unit_test(a_bound_within_a_cache_and_a_sample_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
