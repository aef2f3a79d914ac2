/* Schedules and their bounds on a structure made by hand, whose answers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/sched_example.h"

/* ---- schedule -------------------------------------------------------------------------------- */

static void a_sum_is_bound_by_the_latency_of_its_addition(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 40, 1, NO);
    add(&p, PM_OP_LOAD_FP, 41, 2, NO);
    add(&p, PM_OP_FP_MULT, 42, 40, 41);
    add(&p, PM_OP_FP_ADD, 43, 43, 42); /* the sum */
    add(&p, PM_OP_INT_ADD, 1, 1, NO);
    add(&p, PM_OP_INT_ADD, 2, 2, NO);
    add(&p, PM_OP_BRANCH, NO, 1, NO);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, 3);
    assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, 2); /* two loads on one unit */
    assert_int_equal(s[SCOPE_INNER].bound, PM_BOUND_RECURRENCE);
    assert_near(s[SCOPE_INNER].iterations, 1000);
    assert_near(s[SCOPE_INNER].entries, 100);
    assert_near(s[SCOPE_INNER].self.cycles, 3000);
    assert_near(s[SCOPE_INNER].self.instructions, 7000);
    free_program(&p);
}

static void four_independent_operations_wait_for_their_one_unit(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    for (uint8_t r = 40; r < 44; r++)
        add(&p, PM_OP_FP_MULT, r, 50, 51);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, 4);
    assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, 0);
    assert_int_equal(s[SCOPE_INNER].bound, PM_BOUND_UNIT);
    assert_string_equal(p.prediction->unit_names[s[SCOPE_INNER].bound_unit], "a");
    free_program(&p);
}

/* 3 on {a}, 4 on {a, b}, 2 on {b, c}: {a} 3, {a, b} 7/2, {a, b, c} 9/3; the second is tightest. */
static void operations_are_shared_out_between_their_units(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    for (int i = 0; i < 3; i++)
        add(&p, PM_OP_FP_MULT, 40, 50, 51);
    for (int i = 0; i < 4; i++)
        add(&p, PM_OP_FP_ADD, 41, 50, 51);
    for (int i = 0; i < 2; i++)
        add(&p, PM_OP_LOGICAL, 42, 50, 51);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, 3.5);
    free_program(&p);
}

static void the_issue_width_bounds_what_no_unit_does(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    for (int i = 0; i < 20; i++)
        add(&p, PM_OP_NOP, NO, NO, NO);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, 20.0 / 8);
    assert_int_equal(s[SCOPE_INNER].bound, PM_BOUND_ISSUE);
    free_program(&p);
}

static void an_iterative_unit_is_busy_for_its_repeat_cycles(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_FP_DIV, 40, 50, 51);
    add(&p, PM_OP_FP_DIV, 41, 50, 51);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, 36);
    free_program(&p);
}

/* x ← y + c (3 cycles), y ← old x · c (5 cycles): the cycle x → y → x takes 8 cycles, but crosses
   two iterations. */
static void a_dependence_cycle_over_two_iterations_counts_half(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_FP_MULT, 42, 40, 50);
    add(&p, PM_OP_FP_ADD, 40, 41, 50);
    add(&p, PM_OP_NOP, 41, 42, NO); /* a move that costs nothing */
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, 4);
    free_program(&p);
}

static void a_pointer_chase_is_bound_by_the_latency_of_its_load(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_INT, 1, 1, NO);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, 4);
    free_program(&p);
}

/* The outer loop's path: header, the block taken 75 of 100 times, the inner loop, latch.  Register
   60 is a sum in the frequent block; 61, in the seldom one, does not count; 62 is redefined by the
   inner loop, so that its chain is the inner loop's. */
/* x[i] = x[i − DISTANCE] + y: load to 1, add, store. */
static struct program make_memory_loop(uint8_t kind, uint32_t distance) {
    struct program p = make_program();
    *PM_PUSH(p.structure, references) = (struct pm_reference){.block = INNER, .group = PM_NONE};
    *PM_PUSH(p.structure, references) = (struct pm_reference){.block = INNER, .group = PM_NONE};
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 1, 10, NO)->reference = 0;
    add(&p, PM_OP_FP_ADD, 1, 1, 2);
    add(&p, PM_OP_STORE_FP, NO, 1, 10)->reference = 1;
    *PM_PUSH(p.structure, dependences) = (struct pm_dependence){SCOPE_INNER, 1, 0, distance, kind};
    return p;
}

static void expect_recurrence(struct program p, const char *machine,
                              enum pm_unknown_dependences dependences, double cycles) {
    p.options.dependences = dependences;
    const struct pm_scope_prediction *s = predict(&p, machine);
    assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, cycles);
    free_program(&p);
}

static void a_value_stored_and_loaded_later_makes_a_recurrence(void **state) {
    (void)state;
    static const char *const forward =
        TOP_LINES("64", "true", "true", "store_forward_latency = 5") UNITS COSTS LEVELS;
    /* 3 of the addition, and 4 of the load or 5 of the machine's forwarding */
    expect_recurrence(make_memory_loop(PM_DEPENDS_SAME, 1), MACHINE, PM_DEPS_OPTIMISTIC, 7);
    expect_recurrence(make_memory_loop(PM_DEPENDS_SAME, 1), forward, PM_DEPS_OPTIMISTIC, 8);
    expect_recurrence(make_memory_loop(PM_DEPENDS_SAME, 4), MACHINE, PM_DEPS_OPTIMISTIC, 7.0 / 4);
    expect_recurrence(make_memory_loop(PM_DEPENDS_SAME, 0), MACHINE, PM_DEPS_OPTIMISTIC, 0);
    expect_recurrence(make_memory_loop(PM_DEPENDS_UNKNOWN, 0), MACHINE, PM_DEPS_OPTIMISTIC, 0);
    expect_recurrence(make_memory_loop(PM_DEPENDS_UNKNOWN, 0), MACHINE, PM_DEPS_PESSIMISTIC, 7);
    struct program all = make_memory_loop(PM_DEPENDS_UNKNOWN, 0);
    all.structure->dependences[0].from = all.structure->dependences[0].to = PM_NONE;
    expect_recurrence(all, MACHINE, PM_DEPS_PESSIMISTIC, 7);
}

static void values_that_pass_an_inner_loop_are_there_in_time(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, OFTEN);
    add(&p, PM_OP_FP_ADD, 60, 60, 50);
    fill(&p, SELDOM);
    for (int i = 0; i < 9; i++)
        add(&p, PM_OP_FP_ADD, 61, 61, 50);
    fill(&p, INNER);
    add(&p, PM_OP_FP_MULT, 62, 62, 50);
    fill(&p, LATCH);
    add(&p, PM_OP_FP_DIV, 62, 62, 50);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    /* What goes from iteration to iteration of the outer loop passes the inner one, whose own
       cycles are counted there. */
    assert_near(s[SCOPE_OUTER].recurrence_cycles_per_iteration, 0);
    assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, 5);
    assert_near(s[SCOPE_OUTER].iterations, 100);
    assert_near(s[SCOPE_OUTER].entries, 1);
    /* A division of 18 cycles on c on both paths, more than the additions on {a, b}. */
    assert_near(s[SCOPE_OUTER].resource_cycles_per_iteration, 18);
    free_program(&p);
}

/* The inlined block (25 executions, 2 of 2.75 operations · 100) gets its share, the sum stays. */
static void inlined_code_gets_its_share_and_parts_add_up(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, ENTRY);
    add(&p, PM_OP_FP_ADD, 40, 50, 51);
    fill(&p, OFTEN);
    add(&p, PM_OP_FP_MULT, 40, 50, 51);
    fill(&p, SELDOM);
    add(&p, PM_OP_FP_MULT, 40, 50, 51);
    add(&p, PM_OP_FP_MULT, 41, 50, 51);
    add(&p, PM_OP_FP_MULT, 42, 50, 51);
    fill(&p, INNER);
    add(&p, PM_OP_FP_MULT, 40, 50, 51);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    /* 75 · 1 + 25 · 3 cycles at least, in halves. */
    assert_near(s[SCOPE_INLINED].self.schedule_cycles, s[SCOPE_OUTER].self.schedule_cycles);
    assert_true(s[SCOPE_INLINED].self.schedule_cycles >= 75 &&
                s[SCOPE_INLINED].self.schedule_cycles < 100);
    assert_near(s[SCOPE_INLINED].entries, 25);
    assert_true(s[SCOPE_INNER].self.schedule_cycles >= 1000 &&
                s[SCOPE_INNER].self.schedule_cycles < 1100);
    assert_near(s[SCOPE_OUTER].total.cycles,
                2 * s[SCOPE_INLINED].self.schedule_cycles + s[SCOPE_INNER].self.schedule_cycles);
    double sum = 0;
    for (size_t i = 0; i < p.prediction->n_scopes; i++)
        sum += s[i].self.cycles;
    assert_near(s[0].total.cycles, sum);
    assert_near(p.prediction->seconds, sum / 1e9);
    free_program(&p);
}

static void vectors_are_split_to_the_machine_s_width(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        unsigned element;
        double operations;
    } cases[] = {
        {TOP_LINES("128", "true", "true", "") UNITS COSTS LEVELS, 8, 4},
        {TOP_LINES("512", "true", "true", "") UNITS COSTS LEVELS, 8, 1},
        {TOP_LINES("64", "true", "true", "") UNITS COSTS LEVELS, 8, 8},  /* elements */
        {TOP_LINES("64", "true", "true", "") UNITS COSTS LEVELS, 4, 16}, /* elements */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct program p = make_program();
        fill(&p, INNER);
        add_wide(&p, PM_OP_FP_MULT, 512, cases[i].element, 40, 40, 51);
        const struct pm_scope_prediction *s = predict(&p, cases[i].machine);
        assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, cases[i].operations);
        /* The pieces are independent: the chain through the register stays that of one. */
        assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, 5);
        assert_int_equal(has_note(p.prediction, "are split"), cases[i].operations > 1);
        free_program(&p);
    }
}

static void without_hardware_a_multiply_add_is_two_operations(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_FP_FMA, 40, 40, 51);
    const struct pm_scope_prediction *s =
        predict(&p, TOP_LINES("64", "false", "true", "") UNITS COSTS LEVELS);
    assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, 8);
    assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, 1); /* a and b, one each */
    free_program(&p);
}

/* Ten loads, each feeding its instruction's addition: 20 slots apart, 10 fused. */
static void a_fused_load_takes_no_issue_slot(void **state) {
    (void)state;
    for (int fused = 0; fused < 2; fused++) {
        struct program p = make_program();
        fill(&p, INNER);
        for (int i = 0; i < 10; i++) {
            add(&p, PM_OP_NOP, NO, NO, NO);
            add(&p, PM_OP_LOAD_FP, 120, 1, NO);
            add(&p, PM_OP_NOP, 40, 120, NO)->instruction_start = 0;
        }
        const struct pm_scope_prediction *s =
            predict(&p, fused ? TOP_LINES("64", "true", "true", "fuses_memory = true") UNITS
                            "cost { of = {load_fp} latency = 4 units = {a, b, c, mem} }"
                            "cost { of = {nop} latency = 0 free = true }" LEVELS
                              : TOP_LINES("64", "true", "true", "") UNITS
                            "cost { of = {load_fp} latency = 4 units = {a, b, c, mem} }"
                            "cost { of = {nop} latency = 0 free = true }" LEVELS);
        assert_near(s[SCOPE_INNER].resource_cycles_per_iteration, fused ? 20.0 / 8 : 30.0 / 8);
        free_program(&p);
    }
}

/* A chain of four multiplications (20 cycles) outside loops; a window of 8 operations holds it and
   the two thereafter at a time. */
static void code_outside_loops_waits_for_its_chain(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double cycles;
        int bound;
    } cases[] = {
        {TOP_LINES("64", "true", "false", "") UNITS COSTS LEVELS, 20, PM_BOUND_LATENCY},
        {TOP_LINES("64", "true", "true", "window = 8") UNITS COSTS LEVELS, 20 / 3.0,
         PM_BOUND_LATENCY},
        {TOP_LINES("64", "true", "true", "window = 100") UNITS COSTS LEVELS, 4, PM_BOUND_UNIT},
        {TOP_LINES("64", "true", "true", "") UNITS COSTS LEVELS, 4, PM_BOUND_UNIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct program p = make_program();
        fill(&p, ENTRY);
        for (int k = 0; k < 4; k++)
            add(&p, PM_OP_FP_MULT, 40, 40, 51);
        const struct pm_scope_prediction *s = predict(&p, cases[i].machine);
        assert_true(s[SCOPE_ROUTINE].self.schedule_cycles >= cases[i].cycles - 1e-9 &&
                    s[SCOPE_ROUTINE].self.schedule_cycles <= 1.2 * cases[i].cycles);
        assert_int_equal(s[SCOPE_ROUTINE].bound, cases[i].bound);
        assert_near(s[SCOPE_ROUTINE].entries, 1);
        free_program(&p);
    }
}

/* ---- what is unknown ------------------------------------------------------------------------- */

static void unknown_operations_are_counted_and_named(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, OFTEN);
    add(&p, PM_OP_FP_MULT, 40, 50, 51);
    fill(&p, INNER);
    add(&p, PM_OP_STRING, NO, 1, NO);
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].self.unknown_operations, 1000);
    assert_near(s[0].total.unknown_operations, 1000);
    assert_near(s[0].total.operations, 1075);
    assert_int_equal(s[SCOPE_INNER].bound, PM_BOUND_UNKNOWN);
    assert_true(has_note(p.prediction, "93% of the executed operations have no cost"));
    assert_true(has_note(p.prediction, ": string."));
    assert_int_equal(s[SCOPE_ROUTINE].bound, PM_BOUND_NONE);
    free_program(&p);
}

static void routines_without_counters_are_told(void **state) {
    (void)state;
    struct program p = make_program();
    p.structure->routines[0].counted = false;
    predict(&p, MACHINE);
    assert_true(has_note(p.prediction, "1 of 1 routines have no counters"));
    assert_true(has_note(p.prediction, "work"));
    free_program(&p);
}

/* Two loads: one of a reference that is recorded and has a histogram, one that is not recorded. */
static void unrecorded_accesses_are_counted(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 40, 1, NO)->reference = 0;
    add(&p, PM_OP_LOAD_FP, 41, 1, NO)->reference = 1;
    add(&p, PM_OP_LOAD_FP, 42, 1, NO); /* names no reference */
    *PM_PUSH(p.structure, references) =
        (struct pm_reference){.block = INNER, .group = 0, .recorded = true};
    *PM_PUSH(p.structure, references) =
        (struct pm_reference){.block = INNER, .group = 0, .recorded = false};
    add_group(&p, SCOPE_INNER, 64, 0, 1, (double[][2]){{0, 1000}});
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].self.accesses, 1000);
    assert_near(s[SCOPE_INNER].self.unrecorded_accesses, 2000);
    assert_true(has_note(p.prediction, "66.7% of the executed memory operations"));
    free_program(&p);
}

/* Predicted counts of what never ran are differences of large ones. */
static void shares_that_are_rounding_are_no_note(void **state) {
    (void)state;
    for (int is_rounding = 0; is_rounding < 2; is_rounding++) {
        struct program p = make_program();
        fill(&p, OFTEN);
        add(&p, PM_OP_FP_MULT, 40, 50, 51);
        fill(&p, SELDOM);
        add(&p, PM_OP_STRING, NO, 1, NO);
        add(&p, PM_OP_LOAD_FP, 40, 1, NO);
        add_wide(&p, PM_OP_FP_ADD, 512, 8, 40, 41, 42);
        fill(&p, LAST);
        add(&p, PM_OP_LOAD_FP, 40, 1, NO)->reference = 0;
        *PM_PUSH(p.structure, references) =
            (struct pm_reference){.block = LAST, .group = 0, .recorded = true};
        add_group(&p, SCOPE_ROUTINE, 64, 0, 1, (double[][2]){{0, 1}});
        for (size_t e = 0; e < p.profile.n_edges && is_rounding; e++)
            if (p.profile.edge_counts[e] == 25)
                p.profile.edge_counts[e] = 1e-14;
        predict(&p, MACHINE);
        assert_int_equal(has_note(p.prediction, "have no cost"), !is_rounding);
        assert_int_equal(has_note(p.prediction, "were not recorded"), !is_rounding);
        assert_int_equal(has_note(p.prediction, "are split"), !is_rounding);
        free_program(&p);
    }
}

static void what_does_not_agree_is_put_down_to_its_cause(void **state) {
    (void)state;
    for (int predicted = 0; predicted < 2; predicted++) {
        struct program p = make_program();
        p.profile.n_inexact_routines = 1;
        p.profile.predicted = predicted;
        predict(&p, MACHINE);
        assert_int_equal(has_note(p.prediction, "longjmp"), !predicted);
        assert_int_equal(has_note(p.prediction, "models of counts contradict each other"),
                         predicted);
        free_program(&p);
    }
}

/* Of a run with --no-memory: time of execution, and no word about caches. */
static void without_memory_there_is_time_but_no_misses(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, OFTEN);
    add(&p, PM_OP_FP_MULT, 40, 50, 51);
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 40, 1, NO);
    p.profile.n_block_sizes = 0;
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_true(p.prediction->without_memory);
    assert_true(s[SCOPE_INNER].self.cycles > 0);
    assert_true(s[SCOPE_INNER].self.cycles == s[SCOPE_INNER].self.schedule_cycles);
    assert_true(isnan(s[SCOPE_INNER].self.level_misses[0]));
    assert_true(isnan(s[SCOPE_INNER].self.memory_cycles));
    assert_true(s[SCOPE_OUTER].self.level_misses[0] == 0); /* it accesses nothing */
    assert_true(isnan(s[0].total.level_misses[0]) && s[0].total.cycles > 0);
    assert_int_not_equal(s[SCOPE_INNER].bound, PM_BOUND_LEVEL);
    assert_true(has_note(p.prediction, "Memory accesses were not recorded"));
    assert_false(has_note(p.prediction, "fully associative"));
    assert_false(has_note(p.prediction, "penalty"));
    assert_false(has_note(p.prediction, "bandwidth"));
    assert_false(has_note(p.prediction, "count as hits"));
    free_program(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_that_are_rounding_are_no_note),
        cmocka_unit_test(what_does_not_agree_is_put_down_to_its_cause),
        cmocka_unit_test(without_memory_there_is_time_but_no_misses),
        cmocka_unit_test(a_sum_is_bound_by_the_latency_of_its_addition),
        cmocka_unit_test(four_independent_operations_wait_for_their_one_unit),
        cmocka_unit_test(operations_are_shared_out_between_their_units),
        cmocka_unit_test(the_issue_width_bounds_what_no_unit_does),
        cmocka_unit_test(an_iterative_unit_is_busy_for_its_repeat_cycles),
        cmocka_unit_test(a_dependence_cycle_over_two_iterations_counts_half),
        cmocka_unit_test(a_pointer_chase_is_bound_by_the_latency_of_its_load),
        cmocka_unit_test(a_value_stored_and_loaded_later_makes_a_recurrence),
        cmocka_unit_test(values_that_pass_an_inner_loop_are_there_in_time),
        cmocka_unit_test(inlined_code_gets_its_share_and_parts_add_up),
        cmocka_unit_test(vectors_are_split_to_the_machine_s_width),
        cmocka_unit_test(without_hardware_a_multiply_add_is_two_operations),
        cmocka_unit_test(a_fused_load_takes_no_issue_slot),
        cmocka_unit_test(code_outside_loops_waits_for_its_chain),
        cmocka_unit_test(unknown_operations_are_counted_and_named),
        cmocka_unit_test(routines_without_counters_are_told),
        cmocka_unit_test(unrecorded_accesses_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
