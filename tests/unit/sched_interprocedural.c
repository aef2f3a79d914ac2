/* Interprocedural traces: what a called routine stores for the next call makes a chain, of several
   stores one that waits for retirement; cycles are shared out and none counts twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sched/interprocedural/interprocedural.h"
#include "tests/unit/sched_example.h"

enum { CALLEE = N_BLOCKS, SCOPE_CALLEE = SCOPE_INLINED + 1, POINTER = 1, OTHER = 2 };

#define MACHINE_WITH(more)                                                                         \
    TOP_LINES("64", "true", "true", "store_forward_latency = 5 " more)                             \
    UNITS COSTS LEVELS

/* The inner loop, 1000 times in all, calls a routine. */
static struct program make_calls(void) {
    struct program p = make_program();
    struct pm_structure *s = p.structure;
    add_scope(s, PM_SCOPE_ROUTINE, SCOPE_MODULE, CALLEE)->routine = 1;
    *PM_PUSH(s, blocks) = (struct pm_block){.scope = SCOPE_CALLEE, .loop = PM_NONE, .routine = 1};
    *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup("callee"),
                                                .display_name = pm_strdup("callee"),
                                                .scope = SCOPE_CALLEE,
                                                .first_block = CALLEE,
                                                .n_blocks = 1,
                                                .first_edge = (uint32_t)s->n_edges,
                                                .n_edges = 2,
                                                .counted = true};
    p.profile.edge_counts =
        pm_realloc(p.profile.edge_counts, s->n_edges + 2, sizeof *p.profile.edge_counts);
    for (int out = 0; out < 2; out++) {
        p.profile.edge_counts[s->n_edges] = 1000;
        *PM_PUSH(s, edges) = (struct pm_edge){.from = out ? CALLEE : PM_NONE,
                                              .to = out ? PM_NONE : CALLEE,
                                              .routine = 1,
                                              .kind = out ? PM_EDGE_EXIT : PM_EDGE_ENTRY,
                                              .counter = PM_NONE};
    }
    p.profile.n_edges = s->n_edges;
    fill(&p, INNER);
    add(&p, PM_OP_NOP, NO, NO, NO);
    *PM_PUSH(s, assignments) =
        (struct pm_assignment){.op = 0, .callee = 1, .place = PM_ASSIGNED_CALL};
    fill(&p, CALLEE);
    return p;
}

/* An access of SIZE bytes at what REGISTER holds and PLACE. */
static struct pm_op *add_access(struct program *p, bool stores, uint8_t data, uint8_t base,
                                int64_t place, uint32_t size) {
    struct pm_structure *s = p->structure;
    struct pm_op *op =
        stores ? add(p, PM_OP_STORE_FP, NO, data, base) : add(p, PM_OP_LOAD_FP, data, base, NO);
    op->reference = (uint32_t)s->n_references;
    if (!s->n_groups)
        *PM_PUSH(s, groups) = (struct pm_group){.scope = SCOPE_CALLEE};
    *PM_PUSH(s, references) =
        (struct pm_reference){.block = CALLEE,
                              .size_bytes = size,
                              .access = stores ? PM_ACCESS_STORE : PM_ACCESS_LOAD,
                              .has_address = true,
                              .base = base,
                              .index = PM_REGISTER_NONE,
                              .displacement = place};
    s->blocks[CALLEE].n_references++;
    return op;
}

static void add_step(struct program *p, uint8_t number, int64_t step) {
    *PM_PUSH(p->structure, assignments) =
        (struct pm_assignment){.op = (uint32_t)p->structure->n_ops,
                               .callee = PM_NONE,
                               .place = number,
                               .constant = step,
                               .n_terms = 1,
                               .places = {number},
                               .factors = {1}};
    add(p, PM_OP_INT_ADD, number, number, NO);
}

/* Cycles of an iteration of the loop with its callee; frees P. */
static double cycles_of(struct program *p, const char *machine) {
    const struct pm_scope_prediction *s = predict(p, machine);
    double sum = s[SCOPE_INNER].self.schedule_cycles + s[SCOPE_CALLEE].self.schedule_cycles;
    double causes = 0;
    for (unsigned c = 0; c < PM_N_CAUSES; c++)
        causes += s[SCOPE_INNER].self.causes[c] + s[SCOPE_CALLEE].self.causes[c];
    assert_float_equal(causes, sum, 1e-6 * sum);
    free_program(p);
    return sum / 1000;
}

static void what_a_call_stores_the_next_one_waits_for(void **state) {
    (void)state;
    struct program p = make_calls();
    add_access(&p, false, 40, POINTER, 8, 8);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add_access(&p, true, 40, POINTER, 8, 8);
    assert_float_equal(cycles_of(&p, MACHINE_WITH("")), 8, 0.01); /* forwarding and the addition */
}

static void other_places_are_not_waited_for(void **state) {
    (void)state;
    struct program p = make_calls();
    add_access(&p, false, 40, POINTER, 8, 8);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add_access(&p, true, 40, POINTER, 16, 8);
    assert_true(cycles_of(&p, MACHINE_WITH("")) < 4);
    p = make_calls();
    add_access(&p, false, 40, POINTER, 8, 8);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add_access(&p, true, 40, OTHER, 8, 8); /* another base: taken as another object */
    assert_true(cycles_of(&p, MACHINE_WITH("")) < 4);
}

/* Each call goes a place on: it loads what the one before stored where it now is, or not. */
static void places_move_with_the_registers(void **state) {
    (void)state;
    for (int64_t step = 8; step <= 16; step += 8) {
        struct program p = make_calls();
        add_access(&p, false, 40, POINTER, 0, 8);
        add(&p, PM_OP_FP_ADD, 40, 40, 50);
        add_access(&p, true, 40, POINTER, 8, 8);
        add_step(&p, POINTER, step);
        double cycles = cycles_of(&p, MACHINE_WITH(""));
        if (step == 8)
            assert_float_equal(cycles, 8, 0.01);
        else
            assert_true(cycles < 4);
    }
}

/* One store has all of it: forwarded.  Two stores: not before both are retired. */
static void what_two_stores_have_is_waited_for_longer(void **state) {
    (void)state;
    struct program p = make_calls();
    add_access(&p, false, 40, POINTER, 0, 16);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add_access(&p, true, 40, POINTER, 0, 8);
    add_access(&p, true, 40, POINTER, 8, 8);
    double cycles = cycles_of(&p, MACHINE_WITH("store_block_latency = 20"));
    assert_true(cycles >= 23 && cycles < 32); /* with the addition, and stores being retired */
    p = make_calls();
    add_access(&p, false, 40, POINTER, 8, 8);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add_access(&p, true, 40, POINTER, 0, 16);
    assert_float_equal(cycles_of(&p, MACHINE_WITH("store_block_latency = 20")), 8, 0.01);
}

/* A pointer that lies in memory, where the callee itself puts it on by 8. */
static void addresses_are_followed_through_memory(void **state) {
    (void)state;
    struct program p = make_calls();
    struct pm_structure *s = p.structure;
    uint32_t load = (uint32_t)s->n_ops;
    struct pm_op *op = add_access(&p, false, 3, POINTER, 100, 8);
    op->op_class = PM_OP_LOAD_INT;
    *PM_PUSH(s, assignments) = (struct pm_assignment){.op = load,
                                                      .callee = PM_NONE,
                                                      .place = 3,
                                                      .n_terms = 1,
                                                      .places = {PM_ASSIGNED_MEMORY},
                                                      .factors = {1}};
    add_access(&p, false, 40, 3, 0, 8);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add_access(&p, true, 40, 3, 8, 8);
    add_step(&p, 3, 8);
    *PM_PUSH(s, assignments) = (struct pm_assignment){.op = (uint32_t)s->n_ops,
                                                      .callee = PM_NONE,
                                                      .place = PM_ASSIGNED_MEMORY,
                                                      .n_terms = 1,
                                                      .places = {3},
                                                      .factors = {1}};
    add_access(&p, true, 3, POINTER, 100, 8);
    assert_float_equal(cycles_of(&p, MACHINE_WITH("")), 8, 0.05);
}

static void without_addresses_nothing_is_followed(void **state) {
    (void)state;
    struct program p = make_calls();
    add_access(&p, false, 40, POINTER, 8, 8);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add_access(&p, true, 40, POINTER, 8, 8);
    p.structure->n_assignments = 0; /* a store of an earlier version */
    assert_true(cycles_of(&p, MACHINE_WITH("")) < 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_call_stores_the_next_one_waits_for),
        cmocka_unit_test(other_places_are_not_waited_for),
        cmocka_unit_test(places_move_with_the_registers),
        cmocka_unit_test(what_two_stores_have_is_waited_for_longer),
        cmocka_unit_test(addresses_are_followed_through_memory),
        cmocka_unit_test(without_addresses_nothing_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
