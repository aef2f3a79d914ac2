/* Register dependences of loops made by hand: a body with two ways, and one with an inner loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "binlift/dump/dump.h"

enum { NO = PM_REGISTER_NONE, LOOP = 3, INNER = 4 };

static void add_scope(struct pm_structure *s, int kind, uint32_t parent, uint32_t header) {
    *PM_PUSH(s, scopes) =
        (struct pm_scope){.kind = (uint8_t)kind, .parent = parent, .header = header, .unroll = 1};
}

/* A basic block of LOOP with one operation, DEF ← FIRST, SECOND; both have the same number. */
static void add_block(struct pm_structure *s, uint32_t loop, uint8_t def, uint8_t first,
                      uint8_t second) {
    *PM_PUSH(s, blocks) =
        (struct pm_block){.loop = loop, .first_op = (uint32_t)s->n_ops, .n_ops = 1};
    *PM_PUSH(s, ops) = (struct pm_op){.op_class = PM_OP_INT_ADD,
                                      .defs = {def, NO, NO},
                                      .uses = {first, second, NO, NO, NO},
                                      .reference = PM_NONE};
}

static void add_edge(struct pm_structure *s, uint32_t from, uint32_t to) {
    *PM_PUSH(s, edges) = (struct pm_edge){.from = from, .to = to};
}

static struct pm_structure *make_structure(void) {
    struct pm_structure *s = pm_structure_new();
    add_scope(s, PM_SCOPE_MODULE, 0, PM_NONE);
    add_scope(s, PM_SCOPE_ROUTINE, 1, 0);
    add_scope(s, PM_SCOPE_LOOP, 2, 1);
    return s;
}

static void finish(struct pm_structure *s) {
    *PM_PUSH(s, routines) = (struct pm_routine){
        .n_blocks = (uint32_t)s->n_blocks, .n_edges = (uint32_t)s->n_edges, .scope = 2};
}

/* Each of EXPECTED is found, and nothing else. */
static void expect(struct pm_register_dependences *found,
                   const struct pm_register_dependence *expected, size_t n) {
    assert_false(found->is_cut);
    assert_int_equal(found->n_items, n);
    for (size_t i = 0; i < n; i++) {
        bool is_there = false;
        for (size_t k = 0; k < found->n_items; k++)
            is_there |= found->items[k].from == expected[i].from &&
                        found->items[k].to == expected[i].to &&
                        found->items[k].number == expected[i].number &&
                        found->items[k].distance == expected[i].distance;
        assert_true(is_there);
    }
    free(found->items);
}

/* 0: before the loop; 1: header; 2 or nothing; 3: latch. */
static struct pm_structure *make_ways(void) {
    struct pm_structure *s = make_structure();
    add_block(s, PM_NONE, 2, NO, NO);
    add_block(s, LOOP, 1, 2, 9);
    add_block(s, LOOP, 2, 1, NO);
    add_block(s, LOOP, 5, 2, 2);
    add_edge(s, PM_NONE, 0);
    add_edge(s, 0, 1);
    add_edge(s, 1, 2);
    add_edge(s, 1, 3);
    add_edge(s, 2, 3);
    add_edge(s, 3, 1);
    add_edge(s, 3, PM_NONE);
    finish(s);
    return s;
}

static void each_way_to_a_use_brings_its_definition(void **state) {
    (void)state;
    struct pm_structure *s = make_ways();
    struct pm_register_dependences found;
    pm_register_dependences_of_loop(s, LOOP, &found);
    static const struct pm_register_dependence expected[] = {
        {1, 2, 1, 0}, /* within the iteration */
        {2, 3, 2, 0}, /* by block 2 */
        {2, 3, 2, 1}, /* past it: what an earlier iteration left */
        {2, 1, 2, 1}, /* carried */
    };
    expect(&found, expected, 4);
    pm_structure_free(s);
}

/* 1: header; 2: the inner loop, which defines register 1; 3: latch. */
static void an_inner_loop_hides_what_it_defines_itself(void **state) {
    (void)state;
    struct pm_structure *s = make_structure();
    add_scope(s, PM_SCOPE_LOOP, LOOP, 2);
    add_block(s, PM_NONE, 2, NO, NO);
    add_block(s, LOOP, 1, 4, NO);
    add_block(s, INNER, 1, 1, NO);
    add_block(s, LOOP, 4, 1, 4);
    add_edge(s, PM_NONE, 0);
    add_edge(s, 0, 1);
    add_edge(s, 1, 2);
    add_edge(s, 2, 2);
    add_edge(s, 2, 3);
    add_edge(s, 3, 1);
    add_edge(s, 3, PM_NONE);
    finish(s);
    static const struct pm_register_dependence outside[] = {{3, 1, 4, 1}, {3, 3, 4, 1}};
    static const struct pm_register_dependence inside[] = {{2, 2, 1, 1}};
    struct pm_register_dependences found;
    pm_register_dependences_of_loop(s, LOOP, &found);
    expect(&found, outside, 2);
    pm_register_dependences_of_loop(s, INNER, &found);
    expect(&found, inside, 1);
    pm_structure_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_to_a_use_brings_its_definition),
        cmocka_unit_test(an_inner_loop_hides_what_it_defines_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
