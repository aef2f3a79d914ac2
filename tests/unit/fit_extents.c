/* Arrays of fixed extent: which groups are flagged, and which would be by mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/fit.h"

enum { INNER = 4, OUTER = 3 };

/* main() { for (i < n) for (j < m) ; }: scopes 0 program, 1 module, 2 main, 3 outer, 4 inner loop.
   Edges: 0 entry, 1 head → body, 2 body → body, 3 body → head, 4 body → exit. */
static struct pm_structure *make(void) {
    struct pm_structure *s = pm_structure_new();
    *PM_PUSH(s, modules) =
        (struct pm_module){.path = pm_strdup("./a"), .name = pm_strdup("a"), .scope = 1};
    for (uint32_t i = 1; i <= INNER; i++)
        *PM_PUSH(s, scopes) = (struct pm_scope){.kind = (uint8_t)(i == 1   ? PM_SCOPE_MODULE
                                                                  : i == 2 ? PM_SCOPE_ROUTINE
                                                                           : PM_SCOPE_LOOP),
                                                .parent = i - 1,
                                                .routine = i == 1 ? PM_NONE : 0,
                                                .header = i < OUTER ? PM_NONE : i - OUTER,
                                                .fold = i,
                                                .unroll = 1};
    *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup("main"),
                                                .display_name = pm_strdup("main"),
                                                .scope = 2,
                                                .n_blocks = 2,
                                                .n_edges = 5,
                                                .counted = true};
    *PM_PUSH(s, blocks) = (struct pm_block){.scope = OUTER, .loop = OUTER};
    *PM_PUSH(s, blocks) = (struct pm_block){.scope = INNER, .loop = INNER};
    const uint32_t ends[][2] = {{PM_NONE, 0}, {0, 1}, {1, 1}, {1, 0}, {1, PM_NONE}};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        *PM_PUSH(s, edges) = (struct pm_edge){.from = ends[e][0], .to = ends[e][1]};
    return s;
}

static struct pm_group *add_group(struct pm_structure *s, int64_t inner_bytes,
                                  int64_t outer_bytes) {
    struct pm_group *group = PM_PUSH(s, groups);
    *group = (struct pm_group){
        .scope = INNER, .n_strides = 2, .strides = pm_alloc(2, sizeof *group->strides)};
    group->strides[0] = (struct pm_stride){PM_STRIDE_CONSTANT, inner_bytes, NULL};
    group->strides[1] = (struct pm_stride){PM_STRIDE_CONSTANT, outer_bytes, NULL};
    return group;
}

/* The inner loop runs M times for each of the N iterations of the outer one. */
static struct pm_profile *run(double n, double m) {
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    pm_parameters_set(&profile->parameters, "N", n, NULL);
    profile->n_edges = 5;
    profile->edge_counts = pm_alloc(5, sizeof *profile->edge_counts);
    const double counts[] = {1, n, n * (m - 1), n - 1, 1};
    memcpy(profile->edge_counts, counts, sizeof counts);
    return profile;
}

/* Whether the only group is flagged, where the inner loop runs as long as AT says at N 8, 16, 32.
 */
static bool is_flagged(struct pm_structure *s, const double at[3], struct pm_fixed_extent *one) {
    struct pm_profile *runs[3];
    for (int i = 0; i < 3; i++)
        runs[i] = run(8 << i, at[i]);
    struct pm_fixed_extent *found;
    size_t n = pm_fit_fixed_extents(s, (const struct pm_profile *const *)runs, 3, &found);
    assert_true(n <= 1);
    if (n && one)
        *one = found[0];
    free(found);
    for (int i = 0; i < 3; i++)
        pm_profile_free(runs[i]);
    pm_structure_free(s);
    return n == 1;
}

static const double as_long_as_n[] = {8, 16, 32}, constant[] = {4, 4, 4};

static void test_rows_that_do_not_grow_with_the_walk_are_flagged(void **state) {
    (void)state;
    struct pm_structure *s = make();
    add_group(s, 8, 320);
    struct pm_fixed_extent one;
    assert_true(is_flagged(s, as_long_as_n, &one));
    assert_int_equal(one.group, 0);
    assert_int_equal(one.level, 1);
    assert_int_equal(one.stride_bytes, 320);
    assert_true(one.walk_least == 64);
    assert_true(one.walk_most == 256);
    s = make();
    add_group(s, -8, -320);
    assert_true(is_flagged(s, as_long_as_n, NULL));
}

static void test_rows_of_constant_length_are_not_flagged(void **state) {
    (void)state;
    struct pm_structure *s = make();
    add_group(s, 8, 32);
    assert_false(is_flagged(s, constant, NULL));
}

static void test_rows_that_overlap_are_not_flagged(void **state) {
    (void)state;
    struct pm_structure *s = make();
    add_group(s, 8, 8); /* a[i + j] */
    assert_false(is_flagged(s, as_long_as_n, NULL));
}

static void test_strides_that_are_formulas_or_zero_are_not_flagged(void **state) {
    (void)state;
    struct pm_structure *s = make();
    struct pm_group *group = add_group(s, 8, 0);
    group->strides[1].kind = PM_STRIDE_SYMBOLIC;
    group->strides[1].expression = pm_strdup("n * 8");
    assert_false(is_flagged(s, as_long_as_n, NULL));
    s = make();
    add_group(s, 8, 0);
    assert_false(is_flagged(s, as_long_as_n, NULL));
}

static void test_strides_that_differ_between_builds_are_not_flagged(void **state) {
    (void)state;
    struct pm_structure *s = make();
    add_group(s, 8, 320)->flags = PM_GROUP_STRIDES_VARY;
    assert_false(is_flagged(s, as_long_as_n, NULL));
}

static void test_spills_are_not_flagged(void **state) {
    (void)state;
    struct pm_structure *s = make();
    add_group(s, 8, 320)->flags = PM_GROUP_STACK;
    assert_false(is_flagged(s, as_long_as_n, NULL));
}

static void test_one_size_says_nothing(void **state) {
    (void)state;
    struct pm_structure *s = make();
    add_group(s, 8, 320);
    struct pm_profile *only = run(8, 8);
    struct pm_fixed_extent *found;
    assert_int_equal(pm_fit_fixed_extents(s, (const struct pm_profile *const *)&only, 1, &found),
                     0);
    free(found);
    pm_profile_free(only);
    pm_structure_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_that_do_not_grow_with_the_walk_are_flagged),
        cmocka_unit_test(test_rows_of_constant_length_are_not_flagged),
        cmocka_unit_test(test_rows_that_overlap_are_not_flagged),
        cmocka_unit_test(test_strides_that_are_formulas_or_zero_are_not_flagged),
        cmocka_unit_test(test_strides_that_differ_between_builds_are_not_flagged),
        cmocka_unit_test(test_spills_are_not_flagged),
        cmocka_unit_test(test_one_size_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
