/* How references go through memory, for what their misses hide of each other: in which share of the
   entries of their loop they come to new lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/structure/structure.h"
#include "sched/sched.h"

enum { LINE = 64, NOT_KNOWN = -1 };

/* Of a reference whose runs have these strides, innermost first, each a LEVELS[l][0] of bytes and a
   LEVELS[l][1] of elements. */
static double new_lines(uint32_t flags, uint32_t n_levels, const double levels[][2]) {
    struct pm_group group = {.flags = flags};
    struct pm_reference reference = {.group = 0};
    struct pm_structure structure = {
        .n_groups = 1, .groups = &group, .n_references = 1, .references = &reference};
    struct pm_reference_strides strides = {.reference = 0, .n_levels = n_levels};
    for (uint32_t l = 0; l < n_levels; l++)
        strides.levels[l] =
            (struct pm_stride_level){.stride_bytes = levels[l][0],
                                     .stride_share = levels[l][0] == NOT_KNOWN ? 0.1 : 1,
                                     .count = levels[l][1],
                                     .count_share = 1,
                                     .mean_count = levels[l][1]};
    struct pm_run_strides run = {0};
    pm_run_strides_add(&run, &strides);
    double share = pm_reference_new_lines(&structure, &run, 0, LINE);
    pm_run_strides_free(&run);
    return share;
}

static void columns_use_their_lines_up_over_entries(void **state) {
    (void)state;
    assert_true(new_lines(0, 2, (double[][2]){{800, 100}, {8, 100}}) == 8.0 / LINE);
    assert_true(new_lines(0, 2, (double[][2]){{-800, 100}, {-16, 100}}) == 16.0 / LINE);
    assert_true(new_lines(0, 3, (double[][2]){{0, 4}, {800, 100}, {8, 100}}) == 8.0 / LINE);
}

static void others_come_to_new_lines_in_each_entry_or_nobody_knows(void **state) {
    (void)state;
    assert_true(new_lines(0, 2, (double[][2]){{8, 100}, {800, 100}}) == 1);
    assert_true(new_lines(0, 2, (double[][2]){{800, 100}, {64, 100}}) == 1);
    assert_true(new_lines(0, 1, (double[][2]){{800, 100}}) == 1);
    assert_true(new_lines(0, 2, (double[][2]){{800, 100}, {NOT_KNOWN, 100}}) == 1);
    assert_true(new_lines(0, 2, (double[][2]){{NOT_KNOWN, 100}, {8, 100}}) == 1);
    assert_true(new_lines(PM_GROUP_IRREGULAR, 2, (double[][2]){{800, 100}, {8, 100}}) == 1);
    assert_true(new_lines(0, 0, NULL) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_use_their_lines_up_over_entries),
        cmocka_unit_test(others_come_to_new_lines_in_each_entry_or_nobody_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
