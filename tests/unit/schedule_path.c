/* The schedule of a path on a machine made for it: bounds, simulation, latencies of loads, gains,
   the modulo schedule; and paths of a loop with their frequencies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sched/graph/graph.h"
#include "sched/paths/paths.h"
#include "sched/schedule.h"
#include "sched/window/window.h"
#include "tests/unit/sched_example.h"

/* Two operations a cycle; a window of 16. */
#define SMALL(order, more)                                                                         \
    "title = \"small\"\nclock_mhz = 100\nissue_width = 2\nvector_width = 64\nfma = true\n"         \
    "window = 16\nout_of_order = " order "\n" more UNITS COSTS LEVELS

static struct pm_path_schedule schedule(struct program *p, const char *machine,
                                        const struct pm_schedule_options *options) {
    struct pm_path_schedule found;
    const struct pm_path_step path = {.block = INNER, .loop = PM_NONE};
    use_machine(p, machine);
    struct pm_target_machine target = pm_target_of(p->structure, p->machine);
    pm_schedule_path(&target, &path, 1, options, &found);
    return found;
}

static void the_time_is_that_of_the_recurrence(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add(&p, PM_OP_INT_ADD, 1, 1, NO);
    struct pm_path_schedule s = schedule(
        &p, SMALL("true", ""),
        &(struct pm_schedule_options){
            .loop = SCOPE_INNER, .with_causes = true, .with_gains = true, .with_modulo = true});
    assert_near(s.bounds[PM_CAUSE_RECURRENCE], 3);
    assert_near(s.cycles, 3);
    assert_near(s.modulo_cycles, 3);
    assert_int_equal(s.hold, PM_CAUSE_RECURRENCE);
    double sum = 0;
    for (unsigned h = 0; h < PM_N_HOLDS; h++)
        sum += s.causes[h];
    assert_near(sum, s.cycles);
    assert_near(s.gains[PM_CAUSE_RECURRENCE], 2); /* then a slot each, two a cycle */
    free_program(&p);
}

static void units_are_shared_by_age(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    for (uint8_t i = 0; i < 3; i++)
        add(&p, PM_OP_FP_MULT, (uint8_t)(40 + i), 50, 51);
    add(&p, PM_OP_FP_ADD, 44, 50, 51);
    struct pm_path_schedule s =
        schedule(&p, SMALL("true", ""), &(struct pm_schedule_options){.loop = SCOPE_INNER});
    assert_near(s.cycles, 3); /* on a alone */
    assert_int_equal(s.hold, PM_CAUSE_UNITS);
    free_program(&p);
}

/* What is asked for with a table of known paths is what it is without one, in whatever order; what
   was worked out without causes is worked out again for them. */
static void known_paths_are_as_without_a_table(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    add(&p, PM_OP_INT_ADD, 1, 1, NO);
    const struct pm_schedule_options options[] = {
        {.loop = SCOPE_INNER},
        {.loop = PM_NONE},
        {.loop = SCOPE_INNER, .trips = 3},
        {.loop = SCOPE_INNER, .with_causes = true, .with_gains = true},
        {.loop = SCOPE_INNER},
        {.loop = SCOPE_INNER, .without = 1u << PM_CAUSE_RECURRENCE},
        {.loop = SCOPE_INNER, .wrong = &(struct pm_wrong_branch){.of_data = 0.5}},
        {.loop = SCOPE_INNER, .wrong = &(struct pm_wrong_branch){.of_data = 0.25}},
    };
    use_machine(&p, SMALL("true", ""));
    struct pm_target_machine target = pm_target_of(p.structure, p.machine);
    struct pm_known_paths *known = pm_known_paths_new(NULL);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct pm_path_step path = {.block = INNER, .loop = PM_NONE};
        struct pm_path_schedule alone, found;
        pm_schedule_path(&target, &path, 1, &options[i], &alone);
        pm_schedule_known_path(known, &target, &path, 1, &options[i], &found);
        assert_true(found.cycles == alone.cycles && found.start_cycles == alone.start_cycles);
        assert_int_equal(found.has_entries, alone.has_entries);
        for (unsigned h = 0; h < PM_N_HOLDS && options[i].with_causes; h++)
            assert_true(found.causes[h] == alone.causes[h] && found.gains[h] == alone.gains[h]);
    }
    pm_known_paths_free(known);
    free_program(&p);
}

/* A load of 100 cycles: 16 operations in flight are 8 iterations of one load and one addition. */
static void a_load_has_the_latency_that_it_is_given(void **state) {
    (void)state;
    struct program p = make_program();
    *PM_PUSH(p.structure, references) =
        (struct pm_reference){.block = INNER, .group = PM_NONE, .size_bytes = 8};
    p.structure->blocks[INNER].n_references = 1;
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 41, 1, NO)->reference = 0;
    add(&p, PM_OP_INT_ADD, 1, 1, NO);
    const double miss = 100;
    struct pm_path_schedule hit =
        schedule(&p, SMALL("true", ""), &(struct pm_schedule_options){.loop = SCOPE_INNER});
    assert_near(hit.cycles, 1);
    assert_int_equal(hit.n_references, 1);
    pm_machine_free(p.machine);
    struct pm_path_schedule missed =
        schedule(&p, SMALL("true", ""),
                 &(struct pm_schedule_options){.loop = SCOPE_INNER, .load_latency_cycles = &miss});
    assert_true(missed.cycles > 100 / 8.0 && missed.cycles < 104 / 7.0);
    assert_int_equal(missed.hold, PM_CAUSE_WINDOW);
    pm_machine_free(p.machine);
    missed = schedule(&p, SMALL("true", ""),
                      &(struct pm_schedule_options){.loop = SCOPE_INNER,
                                                    .load_latency_cycles = &miss,
                                                    .without = 1u << PM_CAUSE_WINDOW});
    assert_near(missed.cycles, 1);
    free_program(&p);
}

/* In order nothing is hidden but what lies between the load and its use. */
static void an_in_order_machine_waits_for_a_miss(void **state) {
    (void)state;
    struct program p = make_program();
    *PM_PUSH(p.structure, references) =
        (struct pm_reference){.block = INNER, .group = PM_NONE, .size_bytes = 8};
    p.structure->blocks[INNER].n_references = 1;
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 41, 1, NO)->reference = 0;
    add(&p, PM_OP_FP_ADD, 42, 41, 50);
    add(&p, PM_OP_INT_ADD, 1, 1, NO);
    const double miss = 34; /* 30 more than the row says */
    struct pm_path_schedule hit =
        schedule(&p, SMALL("false", ""), &(struct pm_schedule_options){.loop = SCOPE_INNER});
    assert_near(hit.cycles, 2); /* three slots */
    pm_machine_free(p.machine);
    struct pm_path_schedule missed =
        schedule(&p, SMALL("false", ""),
                 &(struct pm_schedule_options){.loop = SCOPE_INNER, .load_latency_cycles = &miss});
    assert_true(missed.cycles > 10 && missed.cycles <= 32);
    free_program(&p);
}

static void few_iterations_fill_and_drain(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    struct pm_path_schedule s = schedule(
        &p, SMALL("true", ""), &(struct pm_schedule_options){.loop = SCOPE_INNER, .iterations = 2});
    assert_true(s.cycles > 3 && s.cycles < 6);
    free_program(&p);
}

/* Half of the loads lie across two lines and take the unit twice. */
static void accesses_across_lines_take_their_unit_twice(void **state) {
    (void)state;
    struct program p = make_program();
    *PM_PUSH(p.structure, references) =
        (struct pm_reference){.block = INNER, .group = PM_NONE, .size_bytes = 32};
    p.structure->blocks[INNER].n_references = 1;
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 41, 1, NO)->reference = 0;
    const double half = 0.5;
    struct pm_path_schedule within =
        schedule(&p, SMALL("true", ""), &(struct pm_schedule_options){.loop = SCOPE_INNER});
    pm_machine_free(p.machine);
    struct pm_path_schedule across =
        schedule(&p, SMALL("true", ""),
                 &(struct pm_schedule_options){.loop = SCOPE_INNER, .crossings = &half});
    assert_near(within.cycles, 1);
    assert_near(across.cycles, 1.5);
    free_program(&p);
}

/* The share is that of the places that the strides lead to; from an unknown place, of all. */
static void the_share_across_lines_is_that_of_the_places(void **state) {
    (void)state;
    struct program p = make_program();
    *PM_PUSH(p.structure, references) =
        (struct pm_reference){.block = INNER, .group = PM_NONE, .size_bytes = 32};
    p.structure->blocks[INNER].n_references = 1;
    const struct pm_path_step path = {.block = INNER, .loop = PM_NONE};
    struct pm_reference_strides one = {.n_levels = 1, .lowest = 4096, .levels[0].stride_bytes = 32};
    struct pm_crossings crossings = {0};
    pm_crossings_of_path(p.structure, &p.profile, 64, &path, 1, &crossings);
    assert_near(crossings.shares[0], 24.0 / 64);
    pm_run_strides_add(&p.profile.strides, &one);
    pm_crossings_of_path(p.structure, &p.profile, 64, &path, 1, &crossings);
    assert_near(crossings.shares[0], 0);
    p.profile.strides.references[0].lowest = 4096 + 16;
    pm_crossings_of_path(p.structure, &p.profile, 64, &path, 1, &crossings);
    assert_near(crossings.shares[0], 0.5);
    free(crossings.shares);
    pm_run_strides_free(&p.profile.strides);
    free_program(&p);
}

/* A sum that begins anew in each entry: as many entries at a time as the window has. */
static void entries_of_a_short_loop_overlap(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, OFTEN);
    add(&p, PM_OP_FP_MOVE, 40, NO, NO);
    fill(&p, SELDOM);
    add(&p, PM_OP_FP_MOVE, 40, NO, NO);
    fill(&p, INNER);
    add(&p, PM_OP_FP_ADD, 40, 40, 50);
    struct pm_path_schedule endless =
        schedule(&p, SMALL("true", ""), &(struct pm_schedule_options){.loop = SCOPE_INNER});
    pm_machine_free(p.machine);
    struct pm_path_schedule s = schedule(
        &p, SMALL("true", ""), &(struct pm_schedule_options){.loop = SCOPE_INNER, .trips = 4});
    pm_machine_free(p.machine);
    struct pm_path_schedule waiting =
        schedule(&p, SMALL("true", "scheduler = 4\n"),
                 &(struct pm_schedule_options){.loop = SCOPE_INNER, .trips = 4});
    assert_near(endless.cycles, 3);
    assert_true(s.cycles < 1.5); /* one a cycle, or four chains of four in a window of sixteen */
    assert_true(waiting.cycles > s.cycles && waiting.cycles <= 3);
    free_program(&p);
}

/* What follows a wrong branch waits until it is executed. */
static void a_wrong_branch_waits_for_its_load(void **state) {
    (void)state;
    struct program p = make_program();
    *PM_PUSH(p.structure, references) =
        (struct pm_reference){.block = INNER, .group = PM_NONE, .size_bytes = 8};
    p.structure->blocks[INNER].n_references = 1;
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_INT, 2, 1, NO)->reference = 0;
    add(&p, PM_OP_BRANCH, NO, 2, NO);
    const struct pm_wrong_branch wrong = {.of_data = 0.5};
    struct pm_schedule_options options = {.loop = SCOPE_INNER};
    double right = schedule(&p, SMALL("true", "mispredict_penalty = 10\n"), &options).cycles;
    options.wrong = &wrong;
    pm_machine_free(p.machine);
    double half = schedule(&p, SMALL("true", "mispredict_penalty = 10\n"), &options).cycles;
    double latency = 50;
    options.load_latency_cycles = &latency;
    pm_machine_free(p.machine);
    double late = schedule(&p, SMALL("true", "mispredict_penalty = 10\n"), &options).cycles;
    assert_true(half > right + 4 && half < right + 10);
    assert_true(late > half + 20);
    free_program(&p);
}

/* Jumps that take half a cycle do not let twice as much through between them. */
static void no_more_is_issued_between_jumps_than_the_width(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_INT_ADD, 2, 3, NO);
    add(&p, PM_OP_INT_ADD, 4, 3, NO);
    add(&p, PM_OP_BRANCH, NO, 3, NO);
    const struct pm_wrong_branch wrong = {.of_exits = 1};
    const struct pm_schedule_options options = {.loop = SCOPE_INNER, .trips = 8, .wrong = &wrong};
    struct pm_path_schedule s =
        schedule(&p, SMALL("true", "taken_jumps = 2\nmispredict_penalty = 10\n"), &options);
    assert_near(s.cycles, (8 * 3 / 2.0 + 10) / 8); /* three slots an iteration, two a cycle */
    free_program(&p);
}

/* An operation without a row counts nothing, and is counted. */
static void what_has_no_row_is_told(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_CRYPTO, 40, 40, 50);
    add(&p, PM_OP_FP_ADD, 41, 41, 50);
    struct pm_path_schedule s =
        schedule(&p, SMALL("true", ""), &(struct pm_schedule_options){.loop = SCOPE_INNER});
    assert_int_equal(s.n_unknown_operations, 1);
    assert_int_equal(s.n_operations, 2);
    assert_near(s.cycles, 3);
    free_program(&p);
}

/* Of the outer loop: 75 by the one way, 25 by the other; the last pass leaves the loop. */
static void paths_add_up_to_the_edge_counts(void **state) {
    (void)state;
    struct program p = make_program();
    struct pm_frequencies frequencies;
    struct pm_paths paths = {0};
    double executions = 0, often = 0;
    pm_frequencies_make(p.structure, p.profile.edge_counts, &frequencies);
    pm_paths_of_region(&frequencies, SCOPE_OUTER, &paths);
    for (size_t i = 0; i < paths.n_items; i++) {
        executions += paths.items[i].executions;
        for (uint32_t k = 0; k < paths.items[i].n_steps; k++)
            if (paths.steps[paths.items[i].first_step + k].block == OFTEN)
                often += paths.items[i].executions;
    }
    assert_near(executions, 100);
    assert_near(often, 75);
    assert_near(paths.left_executions, 0);
    assert_int_equal(paths.steps[paths.items[0].first_step].block, HEADER);
    assert_int_equal(paths.steps[paths.items[0].first_step + 2].loop, SCOPE_INNER);
    pm_paths_of_region(&frequencies, SCOPE_INNER, &paths);
    assert_int_equal(paths.n_items, 2); /* again, and out */
    assert_near(paths.items[0].executions, 900);
    assert_true(paths.items[0].returns);
    assert_false(paths.items[1].returns);
    pm_paths_of_region(&frequencies, SCOPE_ROUTINE, &paths);
    assert_int_equal(paths.n_items, 1);
    assert_int_equal(paths.items[0].n_steps, 3); /* entry, the outer loop, the last block */
    pm_paths_free(&paths);
    pm_frequencies_free(&frequencies);
    free_program(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_is_that_of_the_recurrence),
        cmocka_unit_test(units_are_shared_by_age),
        cmocka_unit_test(known_paths_are_as_without_a_table),
        cmocka_unit_test(a_load_has_the_latency_that_it_is_given),
        cmocka_unit_test(an_in_order_machine_waits_for_a_miss),
        cmocka_unit_test(few_iterations_fill_and_drain),
        cmocka_unit_test(accesses_across_lines_take_their_unit_twice),
        cmocka_unit_test(the_share_across_lines_is_that_of_the_places),
        cmocka_unit_test(entries_of_a_short_loop_overlap),
        cmocka_unit_test(a_wrong_branch_waits_for_its_load),
        cmocka_unit_test(no_more_is_issued_between_jumps_than_the_width),
        cmocka_unit_test(what_has_no_row_is_told),
        cmocka_unit_test(paths_add_up_to_the_edge_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
