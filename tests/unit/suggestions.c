/* What is suggested for a loop follows MIAMI's rule by the form of its reuse patterns, is weighed
   by the cycles that it is about, and leaves out what is small and what is the compiler's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fit/analysis/explain/explain.h"
#include "tests/unit/report_example.h"

enum { GROUP_U, GROUP_PICKED, GROUP_SPILLED, N_GROUPS };

struct fixture {
    struct pm_structure *structure;
    struct pm_machine machine;
    struct pm_cost_sum self;
    double gains[PM_N_CAUSES];
    struct pm_carried_rows carried;
    struct pm_loop_groups groups;
    struct pm_suggestions found;
};

static void add_group(struct pm_structure *structure, const char *object, uint32_t flags) {
    struct pm_group *group = PM_PUSH(structure, groups);
    group->scope = SCOPE_I_VECTOR;
    group->object = object ? pm_strdup(object) : NULL;
    group->flags = flags;
}

static int set_up(void **state) {
    struct fixture *f = pm_alloc(1, sizeof *f);
    f->structure = example_structure();
    add_group(f->structure, "u", 0);
    add_group(f->structure, "a", PM_GROUP_IRREGULAR);
    add_group(f->structure, NULL, PM_GROUP_STACK);
    f->machine.n_levels = 1;
    f->self = (struct pm_cost_sum){.cycles = 1000, .schedule_cycles = 400, .memory_cycles = 600};
    f->self.level_cycles[0] = 600;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    free(f->carried.rows);
    free(f->groups.groups);
    free(f->found.list);
    pm_structure_free(f->structure);
    free(f);
    return 0;
}

static void add_pattern(struct fixture *f, uint32_t source, uint32_t carrier, bool across,
                        enum pm_advice advice, uint32_t group, double cycles) {
    *PM_PUSH(&f->carried, rows) =
        (struct pm_carried_row){.source = {f->structure, source},
                                .carrier = {f->structure, carrier},
                                .destination = {f->structure, SCOPE_I_VECTOR},
                                .across = across,
                                .advice = (uint8_t)advice,
                                .group = group,
                                .cycles = cycles};
}

static void suggest(struct fixture *f) {
    pm_suggest(f->structure, SCOPE_I_VECTOR, &f->machine, &f->self, f->gains, &f->groups,
               &f->carried, &f->found);
}

static void patterns_ask_for_what_the_rule_says(void **state) {
    struct fixture *f = *state;
    add_pattern(f, SCOPE_I_VECTOR, SCOPE_K, true, PM_ADVICE_BLOCK, GROUP_U, 50);
    add_pattern(f, SCOPE_NORM_LOOP, SCOPE_J, false, PM_ADVICE_FUSE, GROUP_U, 30);
    add_pattern(f, SCOPE_I_VECTOR, SCOPE_J, true, PM_ADVICE_RENUMBER, GROUP_PICKED, 15);
    add_pattern(f, SCOPE_I_VECTOR, SCOPE_J, true, PM_ADVICE_BLOCK, GROUP_SPILLED, 5);
    suggest(f);
    assert_int_equal(f->found.n_list, 3);
    assert_int_equal(f->found.list[0].kind, PM_TRY_INTERCHANGE);
    assert_int_equal(f->found.list[1].kind, PM_TRY_FUSE);
    assert_int_equal(f->found.list[2].kind, PM_TRY_SORT);
    /* Shares of the memory cycles, of all that was carried. */
    assert_float_equal(f->found.list[0].cycles, 300, 1e-9);
    assert_float_equal(f->found.list[2].cycles, 90, 1e-9);
}

static void patterns_of_one_carrier_are_one(void **state) {
    struct fixture *f = *state;
    add_pattern(f, SCOPE_I_VECTOR, SCOPE_K, true, PM_ADVICE_BLOCK, GROUP_U, 50);
    add_pattern(f, SCOPE_I_VECTOR, SCOPE_K, true, PM_ADVICE_BLOCK, GROUP_U, 50);
    suggest(f);
    assert_int_equal(f->found.n_list, 1);
    assert_float_equal(f->found.list[0].cycles, 600, 1e-9);
}

static void conflicts_and_unused_bytes_are_about_their_share(void **state) {
    struct fixture *f = *state;
    *PM_PUSH(&f->groups, groups) = (struct pm_loop_group){
        .group = GROUP_U, .misses = {80}, .conflicts = {40}, .cycles = 480, .unused_share = 0.25};
    *PM_PUSH(&f->groups, groups) = (struct pm_loop_group){.group = GROUP_SPILLED,
                                                          .misses = {20},
                                                          .conflicts = {20},
                                                          .cycles = 120,
                                                          .unused_share = 1};
    suggest(f);
    assert_int_equal(f->found.n_list, 2);
    assert_int_equal(f->found.list[0].kind, PM_TRY_PAD);
    assert_float_equal(f->found.list[0].cycles, 240, 1e-9); /* not those of what is spilled */
    assert_int_equal(f->found.list[1].kind, PM_TRY_SPLIT);
    assert_float_equal(f->found.list[1].cycles, 120, 1e-9);
    assert_int_equal(f->found.list[1].group, GROUP_U);
}

static void small_and_unknown_is_left_out(void **state) {
    struct fixture *f = *state;
    f->gains[PM_CAUSE_RECURRENCE] = NAN;
    f->self.causes[PM_CAUSE_BANDWIDTH] = 49;
    f->self.causes[PM_CAUSE_MISPREDICTIONS] = 51;
    suggest(f);
    assert_int_equal(f->found.n_list, 1);
    assert_int_equal(f->found.list[0].kind, PM_TRY_BRANCHES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(patterns_ask_for_what_the_rule_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(patterns_of_one_carrier_are_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(conflicts_and_unused_bytes_are_about_their_share, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(small_and_unknown_is_left_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
