/* Counter placement and solving: on random control flow graphs with random walks, the solved
   frequencies equal the walks'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "binlift/binlift.h"
#include "core/profile.h"
#include "binlift/counters/counters.h"
#include "binlift/counters/private.h"

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % limit;
}

/* ---- making graphs -------------------------------------------------------------------------- */

/* A lifted program of one routine with one instruction a block; edges are added by the tests. */
static struct pm_lifted *new_graph(uint32_t n_blocks) {
    struct pm_lifted *lifted = pm_alloc(1, sizeof *lifted);
    lifted->structure = pm_structure_new();
    struct pm_routine *routine = PM_PUSH(lifted->structure, routines);
    routine->name = pm_strdup("graph");
    routine->display_name = pm_strdup("graph");
    routine->n_blocks = n_blocks;
    routine->counted = true;
    for (uint32_t b = 0; b < n_blocks; b++) {
        *PM_PUSH(lifted->structure, blocks) = (struct pm_block){.address = b, .loop = PM_NONE};
        *PM_PUSH(lifted, block_codes) = (struct pm_block_code){.first_insn = b, .n_insns = 1};
        PM_PUSH(lifted, insns)->address = b;
    }
    return lifted;
}

static void place_counters(struct pm_lifted *lifted, const struct pm_known_weights *known) {
    pm_counter_plan_free(lifted->counters);
    lifted->counters = pm_plan_counters(lifted, known);
    pm_mark_counters(lifted->structure, lifted->counters);
}

static void free_graph(struct pm_lifted *lifted) {
    pm_counter_plan_free(lifted->counters);
    pm_structure_free(lifted->structure);
    free(lifted->insns);
    free(lifted->block_codes);
    free(lifted);
}

static void add_edge(struct pm_lifted *lifted, enum pm_edge_kind kind, uint32_t from, uint32_t to) {
    *PM_PUSH(lifted->structure, edges) =
        (struct pm_edge){.from = from, .to = to, .kind = kind, .counter = PM_NONE};
    lifted->structure->routines[0].n_edges++;
}

static void add_table(struct pm_lifted *lifted, uint32_t block, uint32_t n_blocks) {
    bool *is_target = pm_alloc(n_blocks, sizeof *is_target);
    for (uint32_t n = 1 + random_below(6); n > 0; n--) {
        uint32_t to = random_below(n_blocks);
        if (!is_target[to])
            add_edge(lifted, PM_EDGE_TABLE, block, to);
        is_target[to] = true;
    }
    free(is_target);
}

/* Ends BLOCK in one of the ways that code has, with targets at random. */
static void end_block(struct pm_lifted *lifted, uint32_t block, uint32_t n_blocks) {
    static const uint8_t controls[] = {
        PM_CONTROL_NONE,          PM_CONTROL_BRANCH, PM_CONTROL_BRANCH, PM_CONTROL_JUMP,
        PM_CONTROL_JUMP_INDIRECT, PM_CONTROL_CALL,   PM_CONTROL_RETURN, PM_CONTROL_BRANCH_LOOP};
    bool is_last = block + 1 == n_blocks;
    uint8_t control = controls[random_below(sizeof controls)];
    if (is_last && control != PM_CONTROL_JUMP)
        control = PM_CONTROL_RETURN;
    lifted->insns[block].control = control;
    switch (control) {
    case PM_CONTROL_BRANCH:
    case PM_CONTROL_BRANCH_LOOP:
        if (random_below(8) == 0)
            add_edge(lifted, PM_EDGE_EXIT, block, PM_NONE);
        else
            add_edge(lifted, PM_EDGE_TAKEN, block, random_below(n_blocks));
        add_edge(lifted, PM_EDGE_FALLTHROUGH, block, block + 1);
        break;
    case PM_CONTROL_JUMP:
        add_edge(lifted, PM_EDGE_TAKEN, block, random_below(n_blocks));
        break;
    case PM_CONTROL_JUMP_INDIRECT:
        add_table(lifted, block, n_blocks);
        break;
    case PM_CONTROL_CALL:
        add_edge(lifted, PM_EDGE_FALLTHROUGH, block, block + 1);
        add_edge(lifted, PM_EDGE_NO_RETURN, block, PM_NONE);
        break;
    case PM_CONTROL_RETURN:
        add_edge(lifted, PM_EDGE_EXIT, block, PM_NONE);
        break;
    default:
        add_edge(lifted, PM_EDGE_FALLTHROUGH, block, block + 1);
    }
}

static bool after_call(const struct pm_lifted *lifted, uint32_t block) {
    return block > 0 && lifted->insns[block - 1].control == PM_CONTROL_CALL;
}

static void reach(const struct pm_structure *structure, uint32_t block, bool *reached) {
    if (reached[block])
        return;
    reached[block] = true;
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].from == block && structure->edges[e].to != PM_NONE)
            reach(structure, structure->edges[e].to, reached);
}

/* As cfg/cfg.c does it: every basic block lies on a path from ENTRY. */
static void land_where_nothing_reaches(struct pm_lifted *lifted, uint32_t n_blocks) {
    const struct pm_structure *structure = lifted->structure;
    bool *reached = pm_alloc(n_blocks, sizeof *reached);
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].from == PM_NONE)
            reach(structure, structure->edges[e].to, reached);
    for (uint32_t b = 0; b < n_blocks; b++) {
        if (reached[b])
            continue;
        add_edge(lifted, PM_EDGE_INDIRECT_ENTRY, PM_NONE, b);
        reach(structure, b, reached);
    }
    free(reached);
}

static struct pm_lifted *random_graph(uint32_t n_blocks) {
    struct pm_lifted *lifted = new_graph(n_blocks);
    add_edge(lifted, PM_EDGE_ENTRY, PM_NONE, 0);
    for (uint32_t b = 0; b < n_blocks; b++)
        end_block(lifted, b, n_blocks);
    /* An indirect entry behind a call is a way in that cannot be told from the call's return. */
    for (uint32_t b = 1; b < n_blocks; b++)
        if (random_below(10) == 0 && !after_call(lifted, b))
            add_edge(lifted, PM_EDGE_INDIRECT_ENTRY, PM_NONE, b);
    land_where_nothing_reaches(lifted, n_blocks);
    return lifted;
}

/* ---- walking them --------------------------------------------------------------------------- */

/* Walks from ENTRY to EXIT and counts the edges; walks that circle for long are cut out. */
static void walk(const struct pm_flow *flow, uint64_t *truth) {
    enum { LONG = 4000 };
    uint32_t path[LONG], n = 0, v = flow->entry;
    while (v != flow->exit) {
        uint32_t n_out = flow->first_out[v + 1] - flow->first_out[v];
        if (n == LONG)
            return;
        path[n] = flow->out[flow->first_out[v] + random_below(n_out)];
        v = pm_flow_to(flow, path[n++]);
    }
    for (uint32_t i = 0; i < n; i++)
        truth[path[i]]++;
}

static void walk_and_solve(struct pm_lifted *lifted, uint32_t n_walks) {
    struct pm_structure *structure = lifted->structure;
    struct pm_flow *flow = pm_flow_new(structure, 0);
    uint64_t *truth = pm_alloc(flow->n_edges, sizeof *truth);
    uint64_t *solved = pm_alloc(flow->n_edges, sizeof *solved);
    uint64_t *counters = pm_alloc(structure->n_counters, sizeof *counters);
    bool inexact;

    while (n_walks-- > 0)
        walk(flow, truth);
    for (uint32_t e = 0; e < flow->n_edges; e++)
        if (flow->edges[e].counter != PM_NONE)
            counters[flow->edges[e].counter] = truth[e];
    pm_solve_edges(structure, counters, NULL, NULL, 0, solved, &inexact);
    assert_false(inexact);
    assert_memory_equal(solved, truth, flow->n_edges * sizeof *truth);

    double *real = pm_alloc(flow->n_edges, sizeof *real);
    for (uint32_t e = 0; e < flow->n_edges; e++)
        real[e] = (double)solved[e];
    double *executions = pm_block_executions(structure, real);
    for (uint32_t b = 0; b < flow->n_blocks; b++) {
        double leaving = 0;
        for (uint32_t i = flow->first_out[b]; i < flow->first_out[b + 1]; i++)
            leaving += real[flow->out[i]];
        assert_true(executions[b] == leaving);
    }
    free(executions);
    free(real);
    free(counters);
    free(solved);
    free(truth);
    pm_flow_free(flow);
}

/* ---- the tests ------------------------------------------------------------------------------ */

static void test_random_walks_are_recovered(void **state) {
    (void)state;
    uint32_t n_no_return = 0;
    for (random_state = 1; random_state <= 400; random_state++) {
        uint64_t seed = random_state;
        struct pm_lifted *lifted = random_graph(1 + random_below(60));
        place_counters(lifted, NULL);
        const struct pm_routine *routine = &lifted->structure->routines[0];
        assert_null(routine->reason);
        for (uint32_t e = 0; e < routine->n_edges; e++)
            n_no_return += lifted->structure->edges[e].kind == PM_EDGE_NO_RETURN;
        walk_and_solve(lifted, 100);
        free_graph(lifted);
        random_state = seed;
    }
    assert_true(n_no_return > 100);
}

/* What the counters of a placement cost for edges that are taken as TRUTH says. */
static uint64_t count_increments(const struct pm_structure *structure, const uint64_t *truth) {
    uint64_t sum = 0;
    for (uint32_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].counter != PM_NONE)
            sum += truth[e];
    return sum;
}

static void test_an_earlier_profile_saves_increments(void **state) {
    (void)state;
    uint64_t by_estimate = 0, by_profile = 0;
    for (random_state = 2000; random_state < 2200; random_state++) {
        uint64_t seed = random_state;
        uint32_t n_blocks = 1 + random_below(60);
        uint64_t shape = random_state;
        struct pm_lifted *lifted = random_graph(n_blocks);
        place_counters(lifted, NULL);
        struct pm_structure *structure = lifted->structure;
        struct pm_flow *flow = pm_flow_new(structure, 0);
        uint64_t *truth = pm_alloc(flow->n_edges, sizeof *truth);
        double *counts = pm_alloc(flow->n_edges, sizeof *counts);
        for (int i = 0; i < 100; i++)
            walk(flow, truth);
        for (uint32_t e = 0; e < flow->n_edges; e++)
            counts[e] = (double)truth[e];

        random_state = shape;
        struct pm_lifted *again = random_graph(n_blocks);
        struct pm_known_weights known = {structure, counts};
        place_counters(again, &known);
        uint64_t before = count_increments(structure, truth);
        uint64_t after = count_increments(again->structure, truth);
        assert_true(after <= before);
        by_estimate += before;
        by_profile += after;
        walk_and_solve(again, 100);
        free(truth);
        free(counts);
        pm_flow_free(flow);
        free_graph(again);
        free_graph(lifted);
        random_state = seed;
    }
    assert_true(by_profile < by_estimate);
}

/* A walk that is left for good at a call: in the middle of a block, or, if the block has a single
   way out, at its end, where the counter of that way has been passed already. */
static void leave_somewhere(const struct pm_lifted *lifted, const struct pm_flow *flow,
                            const uint8_t *places, uint64_t *truth, uint64_t *counters,
                            struct pm_open_call *call) {
    uint32_t v = flow->entry, n_steps = 1 + random_below(30);
    do {
        uint32_t n_out = flow->first_out[v + 1] - flow->first_out[v];
        uint32_t e = flow->out[flow->first_out[v] + random_below(n_out)];
        if (pm_flow_to(flow, e) == flow->exit)
            break; /* left before it gets there */
        truth[e]++;
        if (flow->edges[e].counter != PM_NONE)
            counters[flow->edges[e].counter]++;
        v = pm_flow_to(flow, e);
    } while (--n_steps);
    uint32_t out = flow->out[flow->first_out[v]];
    bool at_end = random_below(2) && flow->first_out[v + 1] - flow->first_out[v] == 1;
    call->return_address = lifted->structure->blocks[v].address + (at_end ? 16 : 5);
    call->count = 1;
    if (at_end && places[out] == PM_PLACE_IN_SOURCE && flow->edges[out].counter != PM_NONE)
        counters[flow->edges[out].counter]++;
}

struct kept_edges {
    uint64_t counts[400];
    size_t n;
};

static void keep_edges(void *context, uint32_t routine, const uint64_t *edge_counts,
                       bool is_exact) {
    struct kept_edges *kept = context;
    assert_int_equal(routine, 0);
    assert_true(is_exact);
    memcpy(kept->counts, edge_counts, kept->n * sizeof *edge_counts);
}

/* The same as pm_solve_edges found, time after time, and nothing where there is nothing. */
static void assert_solver_agrees(const struct pm_structure *structure, const uint64_t *counters,
                                 const struct pm_open_call *calls, size_t n_calls,
                                 const uint64_t *expected) {
    struct pm_edge_solver *solver = pm_edge_solver_new(structure);
    struct kept_edges kept = {.n = structure->n_edges};
    for (int times = 0; times < 2; times++) {
        for (uint32_t c = 0; c < structure->n_counters; c++)
            if (counters[c])
                pm_edge_solver_add_count(solver, c, counters[c]);
        for (size_t i = 0; i < n_calls; i++)
            pm_edge_solver_add_open_call(solver, &calls[i]);
        pm_edge_solver_run(solver, keep_edges, &kept);
        assert_memory_equal(kept.counts, expected, kept.n * sizeof *expected);
        memset(kept.counts, 0xff, sizeof kept.counts);
    }
    pm_edge_solver_run(solver, NULL, NULL);
    pm_edge_solver_free(solver);
}

static void test_walks_that_are_left_at_calls_are_recovered(void **state) {
    (void)state;
    enum { MOST = 20 };
    for (random_state = 5000; random_state < 5400; random_state++) {
        uint64_t seed = random_state, truth[400] = {0}, solved[400], counters[400] = {0};
        struct pm_open_call calls[MOST + 1] = {{0}};
        struct pm_lifted *lifted = random_graph(1 + random_below(40));
        bool inexact;
        place_counters(lifted, NULL);
        struct pm_structure *structure = lifted->structure;
        for (uint32_t b = 0; b < structure->n_blocks; b++) {
            structure->blocks[b].address = 16 * b;
            structure->blocks[b].size_bytes = 16;
        }
        assert_true(structure->n_edges <= 400);
        const uint8_t *places = lifted->counters->places;
        struct pm_flow *flow = pm_flow_new(structure, 0);
        for (uint32_t i = 0; i < MOST; i++)
            leave_somewhere(lifted, flow, places, truth, counters, &calls[i]);
        calls[MOST] = (struct pm_open_call){0, UINT64_MAX, 3, false}; /* in no block */
        pm_solve_edges(structure, counters, NULL, calls, MOST + 1, solved, &inexact);
        assert_false(inexact);
        for (uint32_t e = 0; e < flow->n_edges; e++)
            if (flow->edges[e].kind != PM_EDGE_NO_RETURN)
                assert_int_equal(solved[e], truth[e]);
        assert_solver_agrees(structure, counters, calls, MOST + 1, solved);
        pm_flow_free(flow);
        free_graph(lifted);
        random_state = seed;
    }
}

/* 0: entered before the measurement began, a call comes back; 1: returns. */
static void test_an_activation_that_goes_on_is_not_an_entry(void **state) {
    (void)state;
    struct pm_lifted *lifted = new_graph(2);
    struct pm_structure *structure = lifted->structure;
    lifted->insns[0].control = PM_CONTROL_BRANCH;
    lifted->insns[1].control = PM_CONTROL_RETURN;
    add_edge(lifted, PM_EDGE_ENTRY, PM_NONE, 0);
    add_edge(lifted, PM_EDGE_TAKEN, 0, 0);
    add_edge(lifted, PM_EDGE_FALLTHROUGH, 0, 1);
    add_edge(lifted, PM_EDGE_EXIT, 1, PM_NONE);
    place_counters(lifted, NULL);
    structure->blocks[0].size_bytes = structure->blocks[1].size_bytes = 16;
    structure->blocks[1].address = 16;
    static const uint64_t truth[] = {0, 4, 1, 1};
    struct pm_open_call calls[] = {{0, 5, -1, false}};
    uint64_t counters[4] = {0}, solved[4];
    bool inexact = true;
    for (uint32_t e = 0; e < 4; e++)
        if (structure->edges[e].counter != PM_NONE)
            counters[structure->edges[e].counter] = truth[e];
    pm_solve_edges(structure, counters, NULL, calls, 1, solved, &inexact);
    assert_false(inexact);
    assert_memory_equal(solved, truth, sizeof truth);
    free_graph(lifted);
}

/* 0: its last call may not return; 1: returns.  Of an interval that ends in that call the
   activation is no exit; in the next one it goes on.  What left for good is one. */
static void test_an_activation_that_stays_open_is_no_exit(void **state) {
    (void)state;
    static const struct {
        uint64_t truth[4];
        struct pm_open_call call;
    } cases[] = {{{1, 0, 0, 0}, {0, 16, 1, true}},
                 {{0, 1, 0, 1}, {0, 16, -1, true}},
                 {{1, 0, 1, 0}, {0, 16, 1, false}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pm_lifted *lifted = new_graph(2);
        struct pm_structure *structure = lifted->structure;
        lifted->insns[0].control = PM_CONTROL_CALL;
        lifted->insns[1].control = PM_CONTROL_RETURN;
        add_edge(lifted, PM_EDGE_ENTRY, PM_NONE, 0);
        add_edge(lifted, PM_EDGE_FALLTHROUGH, 0, 1);
        add_edge(lifted, PM_EDGE_NO_RETURN, 0, PM_NONE);
        add_edge(lifted, PM_EDGE_EXIT, 1, PM_NONE);
        place_counters(lifted, NULL);
        structure->blocks[0].size_bytes = structure->blocks[1].size_bytes = 16;
        structure->blocks[1].address = 16;
        uint64_t counters[4] = {0}, solved[4];
        bool inexact = true;
        for (uint32_t e = 0; e < 4; e++)
            if (structure->edges[e].counter != PM_NONE)
                counters[structure->edges[e].counter] = cases[i].truth[e];
        pm_solve_edges(structure, counters, NULL, &cases[i].call, 1, solved, &inexact);
        assert_false(inexact);
        assert_memory_equal(solved, cases[i].truth, sizeof solved);
        free_graph(lifted);
    }
}

static void test_counters_are_as_many_as_the_formula_says(void **state) {
    (void)state;
    for (random_state = 1000; random_state < 1200; random_state++) {
        uint64_t seed = random_state;
        struct pm_lifted *lifted = random_graph(1 + random_below(40));
        place_counters(lifted, NULL);
        const struct pm_routine *routine = &lifted->structure->routines[0];
        uint32_t n_vertices = routine->n_blocks + 2, n_calls = 0, n_placed = 0;
        const uint8_t *places = lifted->counters->places;
        for (uint32_t e = 0; e < routine->n_edges; e++) {
            n_calls += lifted->structure->edges[e].kind == PM_EDGE_NO_RETURN;
            if (lifted->structure->edges[e].counter == PM_NONE)
                continue;
            n_placed++;
            assert_int_not_equal(places[e], PM_PLACE_NOWHERE);
        }
        assert_int_equal(routine->n_counters, routine->n_edges + 2 - n_vertices);
        assert_int_equal(routine->n_counters, n_placed);
        assert_int_equal(routine->n_counters_formula, routine->n_counters - n_calls);
        free_graph(lifted);
        random_state = seed;
    }
}

static void test_broken_conservation_is_inexact(void **state) {
    (void)state;
    struct pm_lifted *lifted = new_graph(3); /* 0: call setjmp; 1: branch to 0 or on; 2: return */
    lifted->insns[0].control = PM_CONTROL_CALL;
    lifted->insns[1].control = PM_CONTROL_BRANCH;
    lifted->insns[2].control = PM_CONTROL_RETURN;
    add_edge(lifted, PM_EDGE_ENTRY, PM_NONE, 0);
    add_edge(lifted, PM_EDGE_FALLTHROUGH, 0, 1);
    add_edge(lifted, PM_EDGE_NO_RETURN, 0, PM_NONE);
    add_edge(lifted, PM_EDGE_TAKEN, 1, 0);
    add_edge(lifted, PM_EDGE_FALLTHROUGH, 1, 2);
    add_edge(lifted, PM_EDGE_EXIT, 2, PM_NONE);
    place_counters(lifted, NULL);
    /* Entered once, the call came back twice. */
    static const uint64_t truth[] = {1, 2, 0, 0, 2, 2};
    uint64_t counters[6] = {0}, solved[6];
    bool inexact = false;
    for (uint32_t e = 0; e < 6; e++)
        if (lifted->structure->edges[e].counter != PM_NONE)
            counters[lifted->structure->edges[e].counter] = truth[e];
    pm_solve_edges(lifted->structure, counters, NULL, NULL, 0, solved, &inexact);
    assert_true(inexact);
    lifted->structure->routines[0].counted = false;
    pm_solve_edges(lifted->structure, counters, NULL, NULL, 0, solved, &inexact);
    assert_false(inexact);
    for (uint32_t e = 0; e < 6; e++)
        assert_int_equal(solved[e], 0);
    free_graph(lifted);
}

static void test_an_indirect_entry_behind_a_call_is_not_counted(void **state) {
    (void)state;
    struct pm_lifted *lifted = new_graph(2);
    lifted->insns[0].control = PM_CONTROL_CALL;
    lifted->insns[1].control = PM_CONTROL_RETURN;
    add_edge(lifted, PM_EDGE_ENTRY, PM_NONE, 0);
    add_edge(lifted, PM_EDGE_INDIRECT_ENTRY, PM_NONE, 1);
    add_edge(lifted, PM_EDGE_FALLTHROUGH, 0, 1);
    add_edge(lifted, PM_EDGE_NO_RETURN, 0, PM_NONE);
    add_edge(lifted, PM_EDGE_EXIT, 1, PM_NONE);
    place_counters(lifted, NULL);
    assert_non_null(lifted->structure->routines[0].reason);
    assert_int_equal(lifted->structure->routines[0].n_counters, 0);
    free_graph(lifted);
}

static uint32_t add_loop(struct pm_lifted *lifted, uint32_t parent, uint32_t header) {
    uint32_t scope = (uint32_t)lifted->structure->n_scopes;
    struct pm_scope *loop = PM_PUSH(lifted->structure, scopes);
    *loop = (struct pm_scope){
        .kind = PM_SCOPE_LOOP, .parent = parent, .header = header, .fold = scope, .unroll = 1};
    return scope;
}

/* 0 → 1 (outer head) → 2 (inner head, itself, or return out of both) → 3 → 1 or 4. */
static void test_weights_follow_the_four_rules_and_exit_edges(void **state) {
    (void)state;
    struct pm_lifted *lifted = new_graph(5);
    uint32_t outer = add_loop(lifted, 0, 1), inner = add_loop(lifted, outer, 2);
    lifted->structure->blocks[1].loop = outer;
    lifted->structure->blocks[2].loop = inner;
    lifted->structure->blocks[3].loop = outer;
    add_edge(lifted, PM_EDGE_ENTRY, PM_NONE, 0); /* 0 */
    add_edge(lifted, PM_EDGE_FALLTHROUGH, 0, 1); /* 1 */
    add_edge(lifted, PM_EDGE_FALLTHROUGH, 1, 2); /* 2 */
    add_edge(lifted, PM_EDGE_TABLE, 2, 2);       /* 3 */
    add_edge(lifted, PM_EDGE_TABLE, 2, 3);       /* 4: exits the inner loop */
    add_edge(lifted, PM_EDGE_EXIT, 2, PM_NONE);  /* 5: exits both */
    add_edge(lifted, PM_EDGE_TAKEN, 3, 1);       /* 6 */
    add_edge(lifted, PM_EDGE_FALLTHROUGH, 3, 4); /* 7: exits the outer loop */
    add_edge(lifted, PM_EDGE_EXIT, 4, PM_NONE);  /* 8 */
    struct pm_flow *flow = pm_flow_new(lifted->structure, 0);
    double *weights = pm_alloc(flow->n_edges, sizeof *weights);
    pm_estimate_weights(flow, weights);
    /* Outer head 10, left by two edges (5, 7) at 1/2 each; inner head 100, entered 10 times, left
       by one edge as its outermost (4). */
    static const double expected[] = {1, 1, 10, 89.5, 10, 0.5, 9.5, 0.5, 0.5};
    for (uint32_t e = 0; e < 9; e++)
        assert_float_equal(weights[e], expected[e], 1e-9);
    free(weights);
    pm_flow_free(flow);
    free_graph(lifted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_walks_are_recovered),
        cmocka_unit_test(test_an_earlier_profile_saves_increments),
        cmocka_unit_test(test_walks_that_are_left_at_calls_are_recovered),
        cmocka_unit_test(test_an_activation_that_goes_on_is_not_an_entry),
        cmocka_unit_test(test_an_activation_that_stays_open_is_no_exit),
        cmocka_unit_test(test_counters_are_as_many_as_the_formula_says),
        cmocka_unit_test(test_broken_conservation_is_inexact),
        cmocka_unit_test(test_an_indirect_entry_behind_a_call_is_not_counted),
        cmocka_unit_test(test_weights_follow_the_four_rules_and_exit_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
