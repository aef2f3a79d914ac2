/* Timers go where they are worth most and never cost more than they may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "binlift/binlift.h"
#include "core/base/base.h"

/* main: a loop that runs 10 times around a pair of loops that are shown as one, each 1000 times;
   leaf: called 10,000 times; cold: not counted. */
enum { MAIN = 2, OUTER, BODY, REMAINDER, LEAF, COLD, N_SCOPES };
enum { B_START, B_OUTER, B_BODY, B_REMAINDER, B_NEXT, B_LEAF, B_COLD };

struct program {
    struct pm_structure *structure;
    struct pm_profile profile;
    double counts[32];
};

static void add_scope(struct pm_structure *s, uint8_t kind, uint32_t parent, uint32_t routine) {
    struct pm_scope *scope = PM_PUSH(s, scopes);
    scope->kind = kind;
    scope->parent = parent;
    scope->routine = routine;
    scope->fold = (uint32_t)s->n_scopes - 1;
}

static void add_routine(struct pm_structure *s, uint32_t scope) {
    struct pm_routine *routine = PM_PUSH(s, routines);
    routine->name = pm_strdup("routine");
    routine->display_name = pm_strdup("routine");
    routine->scope = scope;
    routine->counted = true;
}

static void add_block(struct pm_structure *s, uint32_t routine, uint32_t loop,
                      uint32_t n_instructions) {
    struct pm_block *block = PM_PUSH(s, blocks);
    block->routine = routine;
    block->loop = loop;
    block->scope = loop == PM_NONE ? s->routines[routine].scope : loop;
    block->n_instructions = n_instructions;
}

static void add_edge(struct program *p, uint32_t from, uint32_t to, uint8_t kind, double count) {
    uint32_t block = from == PM_NONE ? to : from;
    p->counts[p->structure->n_edges] = count;
    *PM_PUSH(p->structure, edges) = (struct pm_edge){
        .from = from, .to = to, .kind = kind, .routine = p->structure->blocks[block].routine};
}

static void add_main(struct program *p) {
    add_edge(p, PM_NONE, B_START, PM_EDGE_ENTRY, 1);
    add_edge(p, B_START, B_OUTER, PM_EDGE_FALLTHROUGH, 1);
    add_edge(p, B_OUTER, B_BODY, PM_EDGE_FALLTHROUGH, 10);
    add_edge(p, B_BODY, B_BODY, PM_EDGE_TAKEN, 9990);
    add_edge(p, B_BODY, B_REMAINDER, PM_EDGE_FALLTHROUGH, 10);
    add_edge(p, B_REMAINDER, B_REMAINDER, PM_EDGE_TAKEN, 9990);
    add_edge(p, B_REMAINDER, B_NEXT, PM_EDGE_FALLTHROUGH, 10);
    add_edge(p, B_NEXT, B_OUTER, PM_EDGE_TAKEN, 9);
    add_edge(p, B_NEXT, PM_NONE, PM_EDGE_EXIT, 1);
}

static struct program *make(void) {
    struct program *p = pm_alloc(1, sizeof *p);
    struct pm_structure *s = p->structure = pm_structure_new();
    add_scope(s, PM_SCOPE_MODULE, 0, PM_NONE);
    add_scope(s, PM_SCOPE_ROUTINE, 1, 0);
    add_scope(s, PM_SCOPE_LOOP, MAIN, 0);
    add_scope(s, PM_SCOPE_LOOP, OUTER, 0);
    add_scope(s, PM_SCOPE_LOOP, OUTER, 0);
    s->scopes[REMAINDER].fold = BODY;
    add_scope(s, PM_SCOPE_ROUTINE, 1, 1);
    add_scope(s, PM_SCOPE_ROUTINE, 1, 2);
    add_routine(s, MAIN);
    add_routine(s, LEAF);
    add_routine(s, COLD);
    s->routines[2].counted = false;
    add_block(s, 0, PM_NONE, 5);
    add_block(s, 0, OUTER, 5);
    add_block(s, 0, BODY, 8);
    add_block(s, 0, REMAINDER, 2);
    add_block(s, 0, OUTER, 5);
    add_block(s, 1, PM_NONE, 3);
    add_block(s, 2, PM_NONE, 3);
    add_main(p);
    add_edge(p, PM_NONE, B_LEAF, PM_EDGE_ENTRY, 10000);
    add_edge(p, B_LEAF, PM_NONE, PM_EDGE_EXIT, 10000);
    add_edge(p, PM_NONE, B_COLD, PM_EDGE_ENTRY, 0);
    add_edge(p, B_COLD, PM_NONE, PM_EDGE_EXIT, 0);
    p->profile.n_edges = s->n_edges;
    p->profile.edge_counts = p->counts;
    return p;
}

static void drop(struct program *p) {
    pm_structure_free(p->structure);
    free(p);
}

/* Block BLOCK calls something N times each time. */
static void add_calls(struct program *p, uint32_t block, uint32_t n) {
    struct pm_structure *s = p->structure;
    s->blocks[block].first_op = (uint32_t)s->n_ops;
    s->blocks[block].n_ops = n + 1;
    PM_PUSH(s, ops)->op_class = PM_OP_INT_ADD;
    for (uint32_t i = 0; i < n; i++)
        PM_PUSH(s, ops)->op_class = PM_OP_CALL;
}

/* Chosen scopes as bits; with a pair of probes at one second the budget is a number of entries. */
static unsigned chosen_with(const struct program *p, double entries, double *cost) {
    struct pm_timer_budget budget = {.seconds = entries, .pair_seconds = 1};
    uint8_t *chosen = pm_choose_timed_scopes(p->structure, &p->profile, &budget, cost);
    unsigned bits = 0;
    for (unsigned i = 0; i < N_SCOPES; i++)
        bits |= (unsigned)chosen[i] << i;
    free(chosen);
    return bits;
}

static unsigned bit(unsigned scope) { return 1u << scope; }

static void all_that_ran_is_timed_where_the_budget_allows(void **state) {
    (void)state;
    struct program *p = make();
    double cost;
    assert_int_equal(chosen_with(p, 1e9, &cost),
                     bit(MAIN) | bit(OUTER) | bit(BODY) | bit(REMAINDER) | bit(LEAF));
    /* main 1, the outer loop 1, both inner loops 10 each, leaf 10,000 */
    assert_true(cost == 10022);
    drop(p);
}

static void what_is_entered_too_often_is_timed_at_its_parent(void **state) {
    (void)state;
    struct program *p = make();
    double cost;
    assert_int_equal(chosen_with(p, 10021, &cost),
                     bit(MAIN) | bit(OUTER) | bit(BODY) | bit(REMAINDER));
    assert_true(cost == 22);
    assert_int_equal(chosen_with(p, 21, &cost), bit(MAIN) | bit(OUTER));
    assert_true(cost == 2);
    assert_int_equal(chosen_with(p, 1, &cost), bit(MAIN));
    assert_int_equal(chosen_with(p, 0.5, &cost), 0);
    assert_true(cost == 0);
    drop(p);
}

/* Timers anywhere in main move all of it, with the calls in its outer loop: 2 for each of 10.  What
   they cost more has a budget of its own, so that they do not keep loops around them from being
   timed. */
static void calls_in_a_loop_are_no_cost_of_its_timer(void **state) {
    (void)state;
    struct program *p = make();
    add_calls(p, B_NEXT, 2);
    struct pm_timer_budget budget = {
        .seconds = 22, .pair_seconds = 1, .moving_seconds = 2000, .call_seconds = 100};
    double cost;
    uint8_t *chosen = pm_choose_timed_scopes(p->structure, &p->profile, &budget, &cost);
    assert_true(chosen[MAIN] && chosen[OUTER] && chosen[BODY] && !chosen[LEAF]);
    assert_true(cost == 22);
    free(chosen);
    budget.seconds = 1e9;
    budget.moving_seconds = 1999;
    chosen = pm_choose_timed_scopes(p->structure, &p->profile, &budget, &cost);
    assert_true(!chosen[MAIN] && !chosen[OUTER] && !chosen[BODY] && chosen[LEAF]);
    assert_true(cost == 10000);
    free(chosen);
    drop(p);
}

/* An exception that lands in the outer loop: not an entry of the routine, nor of a loop. */
static void an_indirect_entry_is_no_entry(void **state) {
    (void)state;
    struct program *p = make();
    double cost;
    add_edge(p, PM_NONE, B_OUTER, PM_EDGE_INDIRECT_ENTRY, 500);
    p->profile.n_edges = p->structure->n_edges;
    chosen_with(p, 1e9, &cost);
    assert_true(cost == 10022);
    drop(p);
}

static void a_fold_that_never_ends_is_not_followed_for_ever(void **state) {
    (void)state;
    struct program *p = make();
    p->structure->scopes[BODY].fold = REMAINDER;
    double cost;
    chosen_with(p, 1e9, &cost);
    assert_true(cost <= 10022);
    drop(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_ran_is_timed_where_the_budget_allows),
        cmocka_unit_test(what_is_entered_too_often_is_timed_at_its_parent),
        cmocka_unit_test(calls_in_a_loop_are_no_cost_of_its_timer),
        cmocka_unit_test(an_indirect_entry_is_no_entry),
        cmocka_unit_test(a_fold_that_never_ends_is_not_followed_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
