/* Loop nests on control-flow graphs written by hand, and on random ones against the definition. */
#include "binlift/cfg/cfg.h"
#include "binlift/lifted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* A routine whose edges are given as pairs of letters: "^a" enters a, "*b" lands at b, "a$"
   leaves, "ab" goes from a to b.  Basic blocks are a, b, c, … */
static struct pm_lifted *make_graph(uint32_t n_blocks, const char *edges) {
    struct pm_lifted *lifted = pm_alloc(1, sizeof *lifted);
    struct pm_structure *s = lifted->structure = pm_structure_new();
    for (uint32_t b = 0; b < n_blocks; b++)
        *PM_PUSH(s, blocks) = (struct pm_block){.address = 16 * b, .size_bytes = 16};
    for (const char *at = edges; *at; at += at[1] ? 2 : 1) {
        if (*at == ' ') {
            at--;
            continue;
        }
        struct pm_edge *edge = PM_PUSH(s, edges);
        *edge = (struct pm_edge){.counter = PM_NONE, .kind = PM_EDGE_TAKEN};
        edge->from = at[0] == '^' || at[0] == '*' ? PM_NONE : (uint32_t)(at[0] - 'a');
        edge->to = at[1] == '$' ? PM_NONE : (uint32_t)(at[1] - 'a');
        if (edge->from == PM_NONE)
            edge->kind = at[0] == '^' ? PM_EDGE_ENTRY : PM_EDGE_INDIRECT_ENTRY;
        if (edge->to == PM_NONE)
            edge->kind = PM_EDGE_EXIT;
    }
    *PM_PUSH(s, routines) =
        (struct pm_routine){.n_blocks = n_blocks, .n_edges = (uint32_t)s->n_edges};
    pm_find_loops(lifted);
    return lifted;
}

static void free_graph(struct pm_lifted *lifted) {
    pm_free_loops(lifted->loops);
    pm_structure_free(lifted->structure);
    free(lifted);
}

/* The innermost loop of each basic block as the letter of its header ('.' none), capital if the
   loop is irreducible. */
static void expect_loops(uint32_t n_blocks, const char *edges, const char *innermost,
                         size_t n_loops) {
    struct pm_lifted *lifted = make_graph(n_blocks, edges);
    struct pm_loops *loops = lifted->loops;
    char found[32] = "";
    for (uint32_t b = 0; b < n_blocks; b++) {
        uint32_t l = loops->block_loop[b];
        found[b] = l == PM_NONE
                       ? '.'
                       : (char)((loops->loops[l].irreducible ? 'A' : 'a') + loops->loops[l].header);
    }
    assert_string_equal(found, innermost);
    assert_int_equal(loops->n_loops, n_loops);
    assert_int_equal(loops->first_loop[1], n_loops);
    free_graph(lifted);
}

static void test_straight_code_has_no_loop(void **state) {
    (void)state;
    expect_loops(3, "^a ab bc ac c$", "...", 0);
}

static void test_self_loop(void **state) {
    (void)state;
    expect_loops(3, "^a ab bb bc c$", ".b.", 1);
    expect_loops(1, "^a aa a$", "a", 1);
}

static void test_nested_loops(void **state) {
    (void)state;
    expect_loops(5, "^a ab bc cc cd db de e$", ".bcb.", 2);
    struct pm_lifted *lifted = make_graph(5, "^a ab bc cc cd db de e$");
    assert_int_equal(lifted->loops->loops[1].parent, 0);
    assert_int_equal(lifted->loops->loops[1].depth, 2);
    assert_int_equal(lifted->loops->loops[0].parent, PM_NONE);
    free_graph(lifted);
    /* three deep, the inner two left by a jump out of the nest */
    expect_loops(6, "^a ab bc cd dc cb ba de cf e$ f$", "abcc..", 3);
}

static void test_loops_with_one_header_are_one_loop(void **state) {
    (void)state;
    expect_loops(5, "^a ab bc bd cb db be e$", ".bbb.", 1);
}

static void test_loops_beside_each_other(void **state) {
    (void)state;
    expect_loops(5, "^a ab bb bc cd dc ce e$", ".bcc.", 2);
}

static void test_several_exits(void **state) {
    (void)state;
    expect_loops(6, "^a ab bc cd db be cf de e$ f$", ".bbb..", 1);
}

static void test_irreducible_region_is_kept(void **state) {
    (void)state;
    /* b and c enter each other and are both entered from a */
    expect_loops(4, "^a ab ac bc cb cd d$", ".BB.", 1);
    /* the second entry makes one region of two, not a nest */
    expect_loops(6, "^a ab ad bc cc cd de eb ed ef f$", ".BcBB.", 2);
    /* a natural loop around it and one in it stay natural */
    expect_loops(7, "^a ab bc bd ce ee ed dc df fb fg g$", ".bCCeb.", 3);
}

static void test_indirect_entry_inside_a_loop_is_another_entry(void **state) {
    (void)state;
    expect_loops(4, "^a ab bc cb cd d$ *c", ".BB.", 1);
    /* at the header it is just one more way in */
    expect_loops(4, "^a ab bc cb cd d$ *b", ".bb.", 1);
}

static void test_loops_that_nothing_reaches(void **state) {
    (void)state;
    /* c → d ⇄ e is not reached from a; its header is still the place where it is entered */
    expect_loops(5, "^a ab b$ cd de ed", "...dd", 1);
    expect_loops(3, "^a a$ cb bc", ".bb", 1);
}

/* ---- random graphs --------------------------------------------------------------------------- */

enum { N = 9 };

/* Which nodes share a cycle with HEAD once REMOVED are gone: its strongly connected component. */
static uint32_t component(const uint32_t *successors, uint32_t head, uint32_t present) {
    uint32_t seen = 0, reach[N];
    for (uint32_t from = 0; from < N; from++) {
        uint32_t frontier = successors[from] & present, all = 0;
        while (frontier & ~all) {
            all |= frontier;
            uint32_t more = 0;
            for (uint32_t b = 0; b < N; b++)
                if (all >> b & 1)
                    more |= successors[b] & present;
            frontier = more;
        }
        reach[from] = all;
    }
    for (uint32_t b = 0; b < N; b++)
        if ((present >> b & 1) && (reach[head] >> b & 1) && (reach[b] >> head & 1))
            seen |= UINT32_C(1) << b;
    return seen;
}

/* The definition: a loop is a strongly connected component with a cycle; without the edges to its
   entries, what is left of it falls apart into the loops inside.  Checks the forest found against
   it.  ALL has the edges of the graph, SUCCESSORS those that are left. */
static void check_level(const struct pm_loops *loops, const uint32_t *all,
                        const uint32_t *successors, uint32_t entered, uint32_t present,
                        uint32_t parent) {
    for (uint32_t left = present; left;) {
        uint32_t b = (uint32_t)__builtin_ctz(left);
        uint32_t members = component(successors, b, present);
        left &= ~(members | UINT32_C(1) << b);
        if (!members)
            continue;
        uint32_t found = PM_NONE; /* the loop with this parent whose header is a member */
        for (uint32_t l = 0; l < loops->n_loops; l++)
            if (loops->loops[l].parent == parent && (members >> loops->loops[l].header & 1)) {
                assert_int_equal(found, PM_NONE);
                found = l;
            }
        assert_int_not_equal(found, PM_NONE);
        const struct pm_loop *loop = &loops->loops[found];
        uint32_t inside = 0;
        for (uint32_t m = 0; m < N; m++) {
            uint32_t l = loops->block_loop[m];
            while (l != PM_NONE && l != found)
                l = loops->loops[l].parent;
            inside |= (uint32_t)(l == found) << m;
        }
        assert_int_equal(inside, members);
        uint32_t entries = members & entered;
        for (uint32_t from = 0; from < N; from++)
            if (!(members >> from & 1))
                entries |= all[from] & members;
        assert_true(entries >> loop->header & 1);
        assert_int_equal(loop->irreducible, (entries & (entries - 1)) != 0);
        uint32_t inner[N];
        for (uint32_t from = 0; from < N; from++)
            inner[from] = successors[from] & ~entries;
        check_level(loops, all, inner, entered, members, found);
    }
}

static void test_random_graphs_obey_the_definition(void **state) {
    (void)state;
    srand(20041);
    for (int trial = 0; trial < 20000; trial++) {
        uint32_t successors[N] = {0};
        char edges[200] = "^a";
        size_t used = 2;
        for (uint32_t b = 0; b + 1 < N; b++) /* a chain, so that all is reached */
            if (rand() % 8)
                successors[b] |= UINT32_C(2) << b;
            else
                successors[(uint32_t)rand() % (b + 1)] |= UINT32_C(2) << b;
        for (int extra = rand() % 8; extra > 0; extra--)
            successors[rand() % N] |= UINT32_C(1) << (rand() % N);
        for (uint32_t from = 0; from < N; from++)
            for (uint32_t to = 0; to < N; to++)
                if (successors[from] >> to & 1) {
                    edges[used++] = (char)('a' + from);
                    edges[used++] = (char)('a' + to);
                }
        struct pm_lifted *lifted = make_graph(N, edges);
        check_level(lifted->loops, successors, successors, 1, (UINT32_C(1) << N) - 1, PM_NONE);
        free_graph(lifted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight_code_has_no_loop),
        cmocka_unit_test(test_self_loop),
        cmocka_unit_test(test_nested_loops),
        cmocka_unit_test(test_loops_with_one_header_are_one_loop),
        cmocka_unit_test(test_loops_beside_each_other),
        cmocka_unit_test(test_several_exits),
        cmocka_unit_test(test_irreducible_region_is_kept),
        cmocka_unit_test(test_indirect_entry_inside_a_loop_is_another_entry),
        cmocka_unit_test(test_loops_that_nothing_reaches),
        cmocka_unit_test(test_random_graphs_obey_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
