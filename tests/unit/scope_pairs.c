/* Scopes of two builds are paired by key, then, where only one on each side fits, without file
   names, by their line in their routine, and by the objects that innermost loops access. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/matching/matching.h"
#include "tests/unit/report_example.h"

struct fixture {
    struct pm_structure *a, *b;
    bool wanted[N_EXAMPLE_SCOPES];
    struct pm_scope_pairs pairs;
};

static void add_group(struct pm_structure *structure, uint32_t scope, const char *object,
                      bool stores) {
    struct pm_group *group = PM_PUSH(structure, groups);
    group->scope = scope;
    group->object = pm_strdup(object);
    group->n_loads = !stores;
    group->n_stores = stores;
}

static int set_up(void **state) {
    struct fixture *f = pm_alloc(1, sizeof *f);
    f->a = example_structure();
    f->b = example_structure();
    pm_structure_assign_keys(f->a);
    for (uint32_t s = 0; s < N_EXAMPLE_SCOPES; s++)
        f->wanted[s] = pm_has_own_code(f->a, s);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    pm_scope_pairs_free(&f->pairs);
    pm_structure_free(f->a);
    pm_structure_free(f->b);
    free(f);
    return 0;
}

static void pair(struct fixture *f) {
    pm_structure_assign_keys(f->b);
    f->pairs = pm_scope_pairs_make(f->a, f->wanted, f->b, f->wanted);
}

static void assert_paired(const struct fixture *f, uint32_t scope, enum pm_pairing by) {
    assert_int_equal(f->pairs.b_of_a[scope], scope);
    assert_int_equal(f->pairs.a_of_b[scope], scope);
    assert_int_equal(f->pairs.by[scope], by);
}

static void replace(char **text, const char *with) {
    free(*text);
    *text = with ? pm_strdup(with) : NULL;
}

static void what_is_the_same_has_its_key(void **state) {
    struct fixture *f = *state;
    pair(f);
    for (uint32_t s = 0; s < N_EXAMPLE_SCOPES; s++)
        if (f->wanted[s])
            assert_paired(f, s, PM_PAIRED_BY_KEY);
        else
            assert_int_equal(f->pairs.b_of_a[s], PM_NONE);
}

static void another_folder_changes_no_key(void **state) {
    struct fixture *f = *state;
    for (size_t s = 0; s < f->b->n_scopes; s++)
        if (f->b->scopes[s].file)
            replace(&f->b->scopes[s].file, "/elsewhere/heat.c");
    pair(f);
    assert_paired(f, SCOPE_J, PM_PAIRED_BY_KEY);
}

static void a_renamed_file_leaves_the_path(void **state) {
    struct fixture *f = *state;
    for (size_t s = 0; s < f->b->n_scopes; s++)
        if (f->b->scopes[s].file)
            replace(&f->b->scopes[s].file, "/home/me/heat/warmth.c");
    pair(f);
    assert_paired(f, SCOPE_STEP, PM_PAIRED_BY_PATH);
    assert_paired(f, SCOPE_I_VECTOR, PM_PAIRED_BY_PATH);
    assert_paired(f, SCOPE_NORM_LOOP, PM_PAIRED_BY_PATH);
}

static void a_loop_that_is_nested_otherwise_keeps_its_line(void **state) {
    struct fixture *f = *state;
    f->b->scopes[SCOPE_K].line_first = 27;
    pair(f);
    assert_int_equal(f->pairs.b_of_a[SCOPE_K], PM_NONE);
    assert_paired(f, SCOPE_J, PM_PAIRED_BY_PLACE);
}

static void a_rewritten_loop_keeps_its_data(void **state) {
    struct fixture *f = *state;
    add_group(f->a, SCOPE_I_VECTOR, "u", false);
    add_group(f->a, SCOPE_I_REMAINDER, "next", true);
    add_group(f->b, SCOPE_I_REMAINDER, "u", false);
    add_group(f->b, SCOPE_I_VECTOR, "next", true);
    add_group(f->b, SCOPE_NORM_LOOP, "next", true);
    f->wanted[SCOPE_I_REMAINDER] = false; /* it is folded into the vector loop */
    for (uint32_t s = SCOPE_K; s <= SCOPE_I_REMAINDER; s++)
        f->b->scopes[s].line_first += 3;
    replace(&f->b->routines[ROUTINE_STEP].name, "advance");
    replace(&f->b->scopes[SCOPE_STEP].name, "advance");
    pair(f);
    assert_paired(f, SCOPE_I_VECTOR, PM_PAIRED_BY_DATA);
    assert_int_equal(f->pairs.b_of_a[SCOPE_J], PM_NONE);
}

static void of_two_that_fit_none_is_taken(void **state) {
    struct fixture *f = *state;
    add_group(f->a, SCOPE_I_VECTOR, "u", false);
    add_group(f->b, SCOPE_I_VECTOR, "u", false);
    add_group(f->b, SCOPE_NEVER_LOOP, "u", false);
    f->wanted[SCOPE_I_REMAINDER] = false;
    replace(&f->b->scopes[SCOPE_STEP].name, "advance");
    replace(&f->b->routines[ROUTINE_STEP].name, "advance");
    f->b->scopes[SCOPE_NEVER_LOOP].line_first = 7;
    pair(f);
    assert_int_equal(f->pairs.b_of_a[SCOPE_I_VECTOR], PM_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_the_same_has_its_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_folder_changes_no_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_renamed_file_leaves_the_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loop_that_is_nested_otherwise_keeps_its_line, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_rewritten_loop_keeps_its_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_two_that_fit_none_is_taken, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
