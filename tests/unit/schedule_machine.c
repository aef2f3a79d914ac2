/* What single figures of a machine do to the schedule of a path: lines of code, schedulers that
   operations are bound to, addresses of loads, stores that are loaded again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sched/schedule.h"
#include "tests/unit/sched_example.h"

#define TOP                                                                                        \
    "title = \"small\"\nclock_mhz = 100\nissue_width = 4\nvector_width = 64\nfma = true\n"         \
    "window = 200\nout_of_order = true\n"
#define STORES "cost { of = {store_int} latency = 1 uses = {\"mem + c\"} }\n"

static struct pm_path_schedule schedule(struct program *p, const char *machine, uint32_t loop) {
    struct pm_path_schedule found;
    const struct pm_path_step path = {.block = INNER, .loop = PM_NONE};
    const struct pm_schedule_options options = {.loop = loop};
    use_machine(p, machine);
    struct pm_target_machine target = pm_target_of(p->structure, p->machine);
    pm_schedule_path(&target, &path, 1, &options, &found);
    pm_machine_free(p->machine);
    p->machine = NULL;
    return found;
}

static double cycles(struct program *p, const char *machine) {
    return schedule(p, machine, SCOPE_INNER).cycles;
}

static void a_line_of_code_that_follows_another_takes_its_time(void **state) {
    (void)state;
    struct program p = make_program();
    struct pm_block *block = &p.structure->blocks[INNER];
    fill(&p, INNER);
    add(&p, PM_OP_BRANCH, NO, 3, NO);
    block->address = 120;
    block->size_bytes = 8; /* up to the end of a line */
    assert_near(cycles(&p, TOP "fetch_line = 64\n" UNITS COSTS LEVELS), 1);
    block->address = 121;
    assert_near(cycles(&p, TOP UNITS COSTS LEVELS), 1);
    assert_near(cycles(&p, TOP "fetch_line = 64\n" UNITS COSTS LEVELS), 2);
    assert_near(cycles(&p, TOP "fetch_line = 64\nnext_line = 0.5\n" UNITS COSTS LEVELS), 1.5);
    block->size_bytes = 100;
    assert_near(cycles(&p, TOP "fetch_line = 64\n" UNITS COSTS LEVELS), 3);
    free_program(&p);
}

/* One that is bound to a unit's scheduler waits for it, though another unit is free. */
static void an_operation_stays_in_the_scheduler_that_it_was_bound_to(void **state) {
    (void)state;
#define BUSY                                                                                       \
    "cost { of = {fp_div} latency = 1 repeat = 30 units = {x} }\n"                                 \
    "cost { of = {fp_add} latency = 1 units = {x, y} }\n"                                          \
    "cost { of = {fp_move} latency = 0 free = true }\n"
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_FP_DIV, 40, 50, 51);
    for (unsigned i = 0; i < 20; i++) /* so that the division has begun */
        add(&p, PM_OP_FP_MOVE, 41, 51, NO);
    add(&p, PM_OP_FP_ADD, 42, 50, 51);
    double alone[] = {
        schedule(&p, TOP "unit x {} unit y {}\n" BUSY LEVELS, PM_NONE).alone_cycles,
        schedule(&p, TOP "unit x {scheduler = A} unit y {scheduler = A}\n" BUSY LEVELS, PM_NONE)
            .alone_cycles,
        schedule(&p, TOP "unit x {scheduler = A} unit y {scheduler = B}\n" BUSY LEVELS, PM_NONE)
            .alone_cycles,
        schedule(&p, TOP "unit x {scheduler = A} unit y {}\n" BUSY LEVELS, PM_NONE).alone_cycles};
    assert_true(alone[0] < 10);
    assert_near(alone[1], alone[0]);
    assert_true(alone[2] > 30);
    assert_near(alone[3], alone[0]); /* not all of its units have a scheduler: any of them */
    free_program(&p);
#undef BUSY
}

/* Where the fewest wait: four chains, each on a unit that only it can have, and one addition. */
static void an_operation_is_bound_where_the_fewest_wait(void **state) {
    (void)state;
#define CHAIN                                                                                      \
    "cost { of = {fp_mult} latency = 10 units = {x} }\n"                                           \
    "cost { of = {fp_add} latency = 1 units = {x, y} }\n"
    struct program p = make_program();
    fill(&p, INNER);
    for (unsigned i = 0; i < 4; i++) /* they wait for each other */
        add(&p, PM_OP_FP_MULT, 40, 40, 51);
    add(&p, PM_OP_FP_ADD, 42, 50, 51);
    const char *machine = TOP "unit x {scheduler = A} unit y {scheduler = B}\n" CHAIN LEVELS;
    struct pm_path_schedule s = schedule(&p, machine, PM_NONE);
    assert_near(s.alone_cycles, 41); /* the addition passes by */
    assert_near(cycles(&p, machine), 40);
    free_program(&p);
#undef CHAIN
}

static void a_complex_address_takes_longer(void **state) {
    (void)state;
    static const struct {
        uint8_t base, index, scale;
        int64_t displacement;
        double more;
    } of[] = {
        {1, NO, 1, 8, 0}, {1, 2, 1, 0, 0}, {1, 2, 1, 8, 1}, {1, 2, 8, 0, 1}, {NO, 1, 4, 8, 1}};
    struct program p = make_program();
    struct pm_reference *at = PM_PUSH(p.structure, references);
    p.structure->blocks[INNER].n_references = 1;
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_INT, 1, 1, NO)->reference = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        *at = (struct pm_reference){.block = INNER,
                                    .group = PM_NONE,
                                    .size_bytes = 8,
                                    .has_address = true,
                                    .base = of[i].base,
                                    .index = of[i].index,
                                    .scale = of[i].scale,
                                    .displacement = of[i].displacement};
        assert_near(cycles(&p, TOP "complex_address = 1\n" UNITS COSTS LEVELS), 4 + of[i].more);
        assert_near(cycles(&p, TOP UNITS COSTS LEVELS), 4);
    }
    free_program(&p);
}

/* A word that is loaded, has one added, and is stored. */
static void what_a_loop_stored_is_renamed_an_iteration_later(void **state) {
    (void)state;
    struct program p = make_program();
    for (unsigned i = 0; i < 2; i++)
        *PM_PUSH(p.structure, references) =
            (struct pm_reference){.block = INNER, .group = PM_NONE, .size_bytes = 8};
    p.structure->blocks[INNER].n_references = 2;
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_INT, 1, 2, NO)->reference = 0;
    add(&p, PM_OP_INT_ADD, 1, 1, NO);
    struct pm_op *store = add(&p, PM_OP_STORE_INT, NO, 1, 2);
    store->reference = 1;
    struct pm_dependence *through = PM_PUSH(p.structure, dependences);
    *through = (struct pm_dependence){SCOPE_INNER, 1, 0, 1, PM_DEPENDS_SAME};
#define FORWARDS "store_forward_latency = 12\nstore_forward_general_latency = 7\n"
    assert_near(cycles(&p, TOP "store_forward_latency = 12\n" UNITS COSTS STORES LEVELS), 13);
    assert_near(cycles(&p, TOP FORWARDS UNITS COSTS STORES LEVELS), 8);
    assert_near(cycles(&p, TOP FORWARDS "renames_memory = true\n" UNITS COSTS STORES LEVELS), 2);
    through->distance = 2; /* only forwarded, in every second iteration */
    assert_near(cycles(&p, TOP FORWARDS "renames_memory = true\n" UNITS COSTS STORES LEVELS), 4);
    free_program(&p);
#undef FORWARDS
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_code_that_follows_another_takes_its_time),
        cmocka_unit_test(an_operation_stays_in_the_scheduler_that_it_was_bound_to),
        cmocka_unit_test(an_operation_is_bound_where_the_fewest_wait),
        cmocka_unit_test(a_complex_address_takes_longer),
        cmocka_unit_test(what_a_loop_stored_is_renamed_an_iteration_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
