/* From the counts of edges off a spanning tree to those of all: what flows into a vertex flows out
   of it, in integers and in doubles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "core/spanning_tree.h"
#include "tests/unit/uniform.h"

enum { MOST_BLOCKS = 12, ROUNDS = 2000 };

static uint32_t below(uint32_t n) { return (uint32_t)uniform(0, n); }

static void add_edge(struct pm_structure *s, uint32_t from, uint32_t to) {
    *PM_PUSH(s, edges) = (struct pm_edge){.from = from, .to = to, .counter = 0};
    s->routines[0].n_edges++;
}

/* A routine that can be walked from ENTRY to EXIT whichever way is taken: each basic block has an
   edge to the next one, the last one to EXIT, and others go anywhere. */
static struct pm_structure *random_routine(void) {
    struct pm_structure *s = pm_structure_new();
    uint32_t n = 1 + below(MOST_BLOCKS);
    *PM_PUSH(s, routines) = (struct pm_routine){.n_blocks = n, .counted = true};
    for (uint32_t b = 0; b < n; b++)
        *PM_PUSH(s, blocks) = (struct pm_block){.loop = PM_NONE};
    add_edge(s, PM_NONE, 0);
    for (uint32_t b = 0; b < n; b++)
        add_edge(s, b, b + 1 < n ? b + 1 : PM_NONE);
    for (uint32_t more = below(2 * n); more > 0; more--)
        add_edge(s, below(n), below(n));
    return s;
}

static uint32_t root(const uint32_t *parents, uint32_t vertex) {
    while (parents[vertex] != vertex)
        vertex = parents[vertex];
    return vertex;
}

/* Takes the counters off the edges of a random spanning tree that has the virtual edge; how many.
 */
static uint32_t take_counters_off(struct pm_structure *s) {
    uint32_t n = s->routines[0].n_blocks, taken = 0, first = below((uint32_t)s->n_edges);
    uint32_t parents[MOST_BLOCKS + 1]; /* ENTRY and EXIT are one */
    for (uint32_t v = 0; v <= n; v++)
        parents[v] = v;
    for (size_t i = 0; i < s->n_edges; i++) {
        struct pm_edge *edge = &s->edges[(first + i) % s->n_edges];
        uint32_t from = root(parents, edge->from == PM_NONE ? n : edge->from);
        uint32_t to = root(parents, edge->to == PM_NONE ? n : edge->to);
        if (from == to)
            continue;
        parents[from] = to;
        edge->counter = PM_NONE;
        taken++;
    }
    return taken;
}

/* Counts of some walks from ENTRY to EXIT; those that go on for long stop choosing. */
static void walk(const struct pm_structure *s, uint64_t *counts) {
    struct pm_lists out = pm_edges_out(s);
    for (uint32_t walks = below(20); walks > 0; walks--) {
        counts[0]++;
        for (uint32_t at = 0, n = 0; at != PM_NONE; n++) {
            uint32_t choices = out.first[at + 1] - out.first[at];
            uint32_t edge = out.items[out.first[at] + (n < 200 ? below(choices) : 0)];
            counts[edge]++;
            at = s->edges[edge].to;
        }
    }
    pm_lists_free(&out);
}

static void check_solution(const struct pm_structure *s, const struct pm_spanning_tree *tree,
                           const uint64_t *counts) {
    uint64_t *values = pm_alloc(tree->n_edges, sizeof *values);
    uint64_t *surplus = pm_alloc(tree->n_vertices, sizeof *surplus);
    double *as_doubles = pm_alloc(tree->n_edges, sizeof *as_doubles);
    double *surplus_doubles = pm_alloc(tree->n_vertices, sizeof *surplus_doubles);
    for (size_t e = 0; e < s->n_edges; e++)
        if (tree->counted[e])
            as_doubles[e] = (double)(values[e] = counts[e]);
    pm_spanning_tree_solve_counts(tree, values, surplus);
    pm_spanning_tree_solve_doubles(tree, as_doubles, surplus_doubles);
    for (size_t e = 0; e < s->n_edges; e++) {
        assert_int_equal(values[e], counts[e]);
        assert_true(as_doubles[e] == (double)counts[e]);
    }
    assert_int_equal(values[s->n_edges], counts[0]); /* EXIT → ENTRY: as often as it is entered */
    for (uint32_t v = 0; v < tree->n_vertices; v++) {
        assert_int_equal(surplus[v], 0);
        assert_true(surplus_doubles[v] == 0);
    }
    free(values);
    free(surplus);
    free(as_doubles);
    free(surplus_doubles);
}

static void all_edges_follow_from_those_off_a_spanning_tree(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct pm_structure *s = random_routine();
        uint32_t taken = take_counters_off(s);
        struct pm_spanning_tree *tree = pm_spanning_tree_new(s, &s->routines[0]);
        uint64_t *counts = pm_alloc(s->n_edges, sizeof *counts);
        assert_true(tree->is_solvable && tree->is_tree);
        assert_int_equal(tree->n_steps, taken + 1);
        walk(s, counts);
        check_solution(s, tree, counts);
        free(counts);
        pm_spanning_tree_free(tree);
        pm_structure_free(s);
    }
}

/* Of 0 to 3 all, so that many are alike. */
static void the_most_doubtful_edges_follow_from_the_others(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct pm_structure *s = random_routine();
        take_counters_off(s);
        struct pm_spanning_tree *tree = pm_spanning_tree_new(s, &s->routines[0]);
        uint64_t *counts = pm_alloc(s->n_edges, sizeof *counts);
        double *doubts = pm_alloc(tree->n_edges, sizeof *doubts), chosen = 0, before = 0;
        for (uint32_t e = 0; e < tree->n_edges; e++)
            doubts[e] = below(4);
        doubts[s->n_edges] = INFINITY;
        for (uint32_t i = 0; i < tree->n_steps; i++)
            if (tree->steps[i].edge < s->n_edges)
                before += doubts[tree->steps[i].edge];
        pm_spanning_tree_choose(tree, doubts);
        assert_true(tree->is_solvable && tree->is_tree);
        for (uint32_t i = 0; i < tree->n_steps; i++)
            if (tree->steps[i].edge < s->n_edges)
                chosen += doubts[tree->steps[i].edge];
        assert_true(chosen >= before); /* as no other tree has more */
        walk(s, counts);
        check_solution(s, tree, counts);
        free(doubts);
        free(counts);
        pm_spanning_tree_free(tree);
        pm_structure_free(s);
    }
}

static void edges_without_a_counter_that_close_a_cycle_are_not_solvable(void **state) {
    (void)state;
    struct pm_structure *s = random_routine();
    add_edge(s, 0, 0);
    take_counters_off(s);
    s->edges[s->n_edges - 1].counter = PM_NONE;
    struct pm_spanning_tree *tree = pm_spanning_tree_new(s, &s->routines[0]);
    assert_false(tree->is_solvable);
    pm_spanning_tree_free(tree);
    pm_structure_free(s);
}

static void what_does_not_add_up_is_left_over(void **state) {
    (void)state;
    struct pm_structure *s = pm_structure_new();
    *PM_PUSH(s, routines) = (struct pm_routine){.n_blocks = 1};
    *PM_PUSH(s, blocks) = (struct pm_block){.loop = PM_NONE};
    add_edge(s, PM_NONE, 0);
    add_edge(s, 0, PM_NONE); /* both are counted: entered five times, left thrice */
    struct pm_spanning_tree *tree = pm_spanning_tree_new(s, &s->routines[0]);
    uint64_t values[3] = {5, 3}, surplus[3] = {0};
    pm_spanning_tree_solve_counts(tree, values, surplus);
    assert_int_equal(surplus[0], 2);
    assert_true(tree->is_solvable);
    assert_false(tree->is_tree);
    pm_spanning_tree_free(tree);
    pm_structure_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_edges_follow_from_those_off_a_spanning_tree),
        cmocka_unit_test(the_most_doubtful_edges_follow_from_the_others),
        cmocka_unit_test(edges_without_a_counter_that_close_a_cycle_are_not_solvable),
        cmocka_unit_test(what_does_not_add_up_is_left_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
