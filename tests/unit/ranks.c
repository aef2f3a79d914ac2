/* Ranks that do the same work are one group, and those that communicate alike have one role,
   whatever the size of the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/ranks/ranks.h"

static struct pm_ranks ranks_of(const uint32_t *numbers, size_t n, uint32_t size) {
    struct pm_ranks ranks = {0};
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(&ranks, ranks) = (struct pm_rank){
            .process = (uint32_t)i, .rank = numbers[i], .size = size, .host = pm_strdup("here")};
    pm_ranks_sort(&ranks);
    return ranks;
}

static void the_distance_is_the_share_of_other_work(void **state) {
    (void)state;
    const double all[] = {50, 50}, half[] = {25, 25}, elsewhere[] = {0, 100}, none[] = {0, 0};
    assert_true(pm_ranks_distance(all, all, 2) == 0);
    assert_true(pm_ranks_distance(all, half, 2) == 0.5);
    assert_true(pm_ranks_distance(half, all, 2) == 0.5);
    assert_true(pm_ranks_distance(all, elsewhere, 2) == 0.5);
    assert_true(pm_ranks_distance(all, none, 2) == 1);
    assert_true(pm_ranks_distance(none, none, 2) == 0);
}

static void ranks_are_grouped_within_the_tolerance(void **state) {
    (void)state;
    const uint32_t numbers[] = {0, 1, 2, 3, 3};
    struct pm_ranks ranks = ranks_of(numbers, 5, 4); /* rank 3 forked */
    const double work[] = {100, 0, 60, 40, 98, 0, 60, 41};
    pm_ranks_group(&ranks, work, 2, 0.05);
    assert_int_equal(ranks.ranks[0].group, 0);
    assert_int_equal(ranks.ranks[1].group, 1);
    assert_int_equal(ranks.ranks[2].group, 0);
    assert_int_equal(ranks.ranks[3].group, 1);
    assert_int_equal(ranks.ranks[4].group, 1);
    assert_int_equal(pm_ranks_n_groups(&ranks), 2);
    assert_int_equal(pm_ranks_count(&ranks, PM_NONE, 1), 2);
    assert_int_equal(pm_ranks_count(&ranks, PM_NONE, PM_NONE), 4);
    pm_ranks_group(&ranks, work, 2, 0);
    assert_int_equal(pm_ranks_n_groups(&ranks), 4);
    ranks.ranks[2].role = 1; /* alike, but something else in the communication */
    pm_ranks_group(&ranks, work, 2, 0.05);
    assert_int_equal(pm_ranks_n_groups(&ranks), 3);
    pm_ranks_free(&ranks);
}

static void ranks_that_are_missing_are_named(void **state) {
    (void)state;
    const uint32_t numbers[] = {1, 2, 5};
    struct pm_ranks ranks = ranks_of(numbers, 3, 9);
    char *missing = pm_ranks_missing(&ranks), *there = pm_ranks_text(&ranks, PM_NONE, PM_NONE);
    assert_string_equal(missing, "0, 3–4, 6–8");
    assert_string_equal(there, "1–2, 5");
    free(there);
    free(missing);
    pm_ranks_free(&ranks);
    const uint32_t both[] = {1, 0};
    ranks = ranks_of(both, 2, 2);
    assert_null(pm_ranks_missing(&ranks));
    pm_ranks_free(&ranks);
    assert_null(pm_ranks_missing(&ranks)); /* no MPI program */
}

/* ---- roles ----------------------------------------------------------------------------------- */

struct deeds {
    PM_ARRAY(struct pm_rank_deeds, list);
};

static void add_path(struct pm_rank_deeds *deeds, uint32_t path) {
    *PM_PUSH(deeds, paths) = path;
    deeds->n_partners++;
}

/* A pipeline that receives at path 1 and sends at path 2. */
static void add_chain(struct deeds *all, size_t run, uint32_t size) {
    for (uint32_t rank = 0; rank < size; rank++) {
        struct pm_rank_deeds *deeds = PM_PUSH(all, list);
        *deeds = (struct pm_rank_deeds){.run = run, .rank = rank, .size = size};
        if (rank > 0)
            add_path(deeds, 1);
        if (rank + 1 < size)
            add_path(deeds, 2);
    }
}

/* A grid of WIDTH × HEIGHT that exchanges with its neighbours; LOOPS: at one call. */
static void add_grid(struct deeds *all, size_t run, uint32_t width, uint32_t height, bool loops) {
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            struct pm_rank_deeds *deeds = PM_PUSH(all, list);
            *deeds =
                (struct pm_rank_deeds){.run = run, .rank = y * width + x, .size = width * height};
            const bool has[] = {y > 0, x > 0, x + 1 < width, y + 1 < height};
            for (uint32_t side = 0; side < 4; side++)
                if (has[side] && loops && deeds->n_paths)
                    deeds->n_partners++;
                else if (has[side])
                    add_path(deeds, loops ? 7 : 7 + side);
        }
}

static const char *role_of(const struct pm_ranks *roles, const struct deeds *all, size_t run,
                           uint32_t rank) {
    for (size_t i = 0; i < all->n_list; i++)
        if (all->list[i].run == run && all->list[i].rank == rank)
            return roles->roles[all->list[i].role].name;
    return "";
}

static void free_all(struct deeds *all, struct pm_ranks *roles) {
    for (size_t i = 0; i < all->n_list; i++)
        free(all->list[i].paths);
    free(all->list);
    pm_ranks_free(roles);
}

static void ranks_of_a_chain_are_first_inside_and_last(void **state) {
    (void)state;
    struct deeds all = {0};
    struct pm_ranks roles = {0};
    add_chain(&all, 0, 1);
    add_chain(&all, 1, 2);
    add_chain(&all, 2, 5);
    pm_ranks_find_roles(all.list, all.n_list, &roles);
    assert_int_equal(roles.n_roles, 4);
    assert_string_equal(role_of(&roles, &all, 0, 0), "alone");
    assert_string_equal(role_of(&roles, &all, 1, 0), "first");
    assert_string_equal(role_of(&roles, &all, 1, 1), "last");
    assert_string_equal(role_of(&roles, &all, 2, 0), "first");
    assert_string_equal(role_of(&roles, &all, 2, 3), "inside");
    assert_string_equal(role_of(&roles, &all, 2, 4), "last");
    free_all(&all, &roles);
}

static void ranks_of_a_grid_are_corners_edges_and_inside(void **state) {
    (void)state;
    struct deeds all = {0};
    struct pm_ranks roles = {0};
    add_grid(&all, 0, 3, 3, true);
    pm_ranks_find_roles(all.list, all.n_list, &roles);
    assert_int_equal(roles.n_roles, 3);
    assert_string_equal(role_of(&roles, &all, 0, 0), "corner");
    assert_string_equal(role_of(&roles, &all, 0, 1), "edge");
    assert_string_equal(role_of(&roles, &all, 0, 4), "inside");
    assert_string_equal(role_of(&roles, &all, 0, 8), "corner");
    free_all(&all, &roles);
}

static void corners_that_call_elsewhere_have_numbers(void **state) {
    (void)state;
    struct deeds all = {0};
    struct pm_ranks roles = {0};
    struct pm_error err = {0};
    add_grid(&all, 0, 2, 2, false);
    add_grid(&all, 1, 4, 3, false);
    pm_ranks_find_roles(all.list, all.n_list, &roles);
    assert_int_equal(roles.n_roles, 9);
    assert_string_equal(role_of(&roles, &all, 1, 0), "corner-1");
    assert_string_equal(role_of(&roles, &all, 0, 0), "corner-1");
    assert_string_equal(role_of(&roles, &all, 1, 3), "corner-2");
    assert_string_equal(role_of(&roles, &all, 0, 1), "corner-2");
    assert_string_equal(role_of(&roles, &all, 1, 1), "edge-1");
    assert_string_equal(role_of(&roles, &all, 1, 2), "edge-1");
    assert_string_equal(role_of(&roles, &all, 1, 5), "inside");
    assert_string_equal(roles.roles[pm_ranks_role(&roles, "inside", &err)].name, "inside");
    assert_int_equal(pm_ranks_role(&roles, "insid", &err), PM_NONE);
    assert_non_null(strstr(err.text, "did you mean inside?"));
    free_all(&all, &roles);
}

static void one_role_is_all(void **state) {
    (void)state;
    struct deeds all = {0};
    struct pm_ranks roles = {0};
    for (uint32_t rank = 0; rank < 3; rank++)
        *PM_PUSH(&all, list) = (struct pm_rank_deeds){.rank = rank, .size = 3};
    pm_ranks_find_roles(all.list, all.n_list, &roles);
    assert_int_equal(roles.n_roles, 1);
    assert_string_equal(roles.roles[0].name, "all");
    free_all(&all, &roles);
}

/* Of a master its number of partners says nothing: it is all others. */
static void a_master_is_one_role_at_all_sizes(void **state) {
    (void)state;
    struct deeds all = {0};
    struct pm_ranks roles = {0};
    for (uint32_t size = 3; size < 9; size++)
        for (uint32_t rank = 0; rank < size; rank++) {
            struct pm_rank_deeds *deeds = PM_PUSH(&all, list);
            *deeds = (struct pm_rank_deeds){.run = size, .rank = rank, .size = size};
            add_path(deeds, rank == 0 ? 3 : 4);
            deeds->n_partners = rank == 0 ? size - 1 : 1;
        }
    pm_ranks_find_roles(all.list, all.n_list, &roles);
    assert_int_equal(roles.n_roles, 2);
    assert_string_equal(role_of(&roles, &all, 8, 0), "first");
    assert_string_equal(role_of(&roles, &all, 3, 0), "first");
    assert_string_equal(role_of(&roles, &all, 5, 2), "role-1");
    free_all(&all, &roles);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_is_the_share_of_other_work),
        cmocka_unit_test(ranks_are_grouped_within_the_tolerance),
        cmocka_unit_test(ranks_that_are_missing_are_named),
        cmocka_unit_test(ranks_of_a_chain_are_first_inside_and_last),
        cmocka_unit_test(ranks_of_a_grid_are_corners_edges_and_inside),
        cmocka_unit_test(corners_that_call_elsewhere_have_numbers),
        cmocka_unit_test(one_role_is_all),
        cmocka_unit_test(a_master_is_one_role_at_all_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
