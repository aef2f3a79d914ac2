/* Bounds, misses and their sums on hand-made structures whose answers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"

/* ---- a program made by hand -------------------------------------------------------------------

   One routine: entry block 0, outer loop {1, 2, 3, 4, 5}, exit block 6.
       1 → 2 (75 of 100) or 3 (25 of 100) → 4 → inner loop {4} of 10 iterations → 5 → 1
   A test fills operations into the blocks that it needs. */

enum { ENTRY, HEADER, OFTEN, SELDOM, INNER, LATCH, LAST, N_BLOCKS };
enum { SCOPE_MODULE = 1, SCOPE_ROUTINE, SCOPE_OUTER, SCOPE_INNER, SCOPE_INLINED };

struct program {
    struct pm_structure *structure;
    struct pm_profile profile;
    struct pm_machine *machine;
    struct pm_prediction *prediction;
    uint32_t filling; /* block that gets the next operation */
    enum pm_unknown_dependences dependences;
};

static struct pm_scope *add_scope(struct pm_structure *s, int kind, uint32_t parent,
                                  uint32_t header) {
    struct pm_scope *scope = PM_PUSH(s, scopes);
    *scope = (struct pm_scope){.kind = (uint8_t)kind,
                               .parent = parent,
                               .routine = kind >= PM_SCOPE_ROUTINE ? 0 : PM_NONE,
                               .header = header,
                               .name = pm_strdup("name"),
                               .fold = (uint32_t)s->n_scopes - 1,
                               .unroll = 1};
    return scope;
}

static struct program make_program(void) {
    struct program p = {.structure = pm_structure_new(), .filling = PM_NONE};
    struct pm_structure *s = p.structure;
    *PM_PUSH(s, modules) =
        (struct pm_module){.path = pm_strdup("x"), .name = pm_strdup("x"), .scope = SCOPE_MODULE};
    add_scope(s, PM_SCOPE_MODULE, 0, PM_NONE);
    add_scope(s, PM_SCOPE_ROUTINE, SCOPE_MODULE, ENTRY);
    add_scope(s, PM_SCOPE_LOOP, SCOPE_ROUTINE, HEADER);
    add_scope(s, PM_SCOPE_LOOP, SCOPE_OUTER, INNER);
    add_scope(s, PM_SCOPE_INLINED, SCOPE_OUTER, PM_NONE);
    static const struct {
        uint32_t scope, loop;
    } places[N_BLOCKS] = {
        [ENTRY] = {SCOPE_ROUTINE, PM_NONE},   [HEADER] = {SCOPE_OUTER, SCOPE_OUTER},
        [OFTEN] = {SCOPE_OUTER, SCOPE_OUTER}, [SELDOM] = {SCOPE_INLINED, SCOPE_OUTER},
        [INNER] = {SCOPE_INNER, SCOPE_INNER}, [LATCH] = {SCOPE_OUTER, SCOPE_OUTER},
        [LAST] = {SCOPE_ROUTINE, PM_NONE}};
    for (int b = 0; b < N_BLOCKS; b++)
        *PM_PUSH(s, blocks) = (struct pm_block){.scope = places[b].scope, .loop = places[b].loop};
    static const struct {
        uint32_t from, to;
        uint8_t kind;
        double count;
    } edges[] = {{PM_NONE, ENTRY, PM_EDGE_ENTRY, 1},       {ENTRY, HEADER, PM_EDGE_FALLTHROUGH, 1},
                 {HEADER, OFTEN, PM_EDGE_FALLTHROUGH, 75}, {HEADER, SELDOM, PM_EDGE_TAKEN, 25},
                 {OFTEN, INNER, PM_EDGE_TAKEN, 75},        {SELDOM, INNER, PM_EDGE_FALLTHROUGH, 25},
                 {INNER, INNER, PM_EDGE_TAKEN, 900},       {INNER, LATCH, PM_EDGE_FALLTHROUGH, 100},
                 {LATCH, HEADER, PM_EDGE_TAKEN, 99},       {LATCH, LAST, PM_EDGE_FALLTHROUGH, 1},
                 {LAST, PM_NONE, PM_EDGE_EXIT, 1}};
    size_t n_edges = sizeof edges / sizeof edges[0];
    p.profile.edge_counts = pm_alloc(n_edges, sizeof(double));
    p.profile.n_edges = n_edges;
    for (size_t i = 0; i < n_edges; i++) {
        *PM_PUSH(s, edges) = (struct pm_edge){
            .from = edges[i].from, .to = edges[i].to, .kind = edges[i].kind, .counter = PM_NONE};
        p.profile.edge_counts[i] = edges[i].count;
    }
    *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup("work"),
                                                .display_name = pm_strdup("work"),
                                                .scope = SCOPE_ROUTINE,
                                                .n_blocks = N_BLOCKS,
                                                .n_edges = (uint32_t)n_edges,
                                                .counted = true};
    p.profile.block_sizes = pm_alloc(2, sizeof(uint64_t));
    p.profile.n_block_sizes = 2;
    p.profile.block_sizes[0] = 64;
    p.profile.block_sizes[1] = 4096;
    p.profile.extrapolation = 1;
    return p;
}

/* Opens BLOCK for operations; blocks are filled in ascending order. */
static void fill(struct program *p, uint32_t block) {
    p->filling = block;
    p->structure->blocks[block].first_op = (uint32_t)p->structure->n_ops;
}

enum { NO = PM_REGISTER_NONE };

/* One instruction of one operation: DEF ← USE1, USE2. */
static struct pm_op *add_wide(struct program *p, enum pm_op_class op_class, unsigned width_bits,
                              unsigned element_bytes, uint8_t def, uint8_t use1, uint8_t use2) {
    struct pm_op *op = PM_PUSH(p->structure, ops);
    *op = (struct pm_op){.op_class = (uint8_t)op_class,
                         .width_bits = (uint16_t)width_bits,
                         .element_bytes = (uint8_t)element_bytes,
                         .defs = {def, NO},
                         .uses = {use1, use2, NO, NO, NO},
                         .instruction_start = 1,
                         .reference = PM_NONE};
    p->structure->blocks[p->filling].n_ops++;
    p->structure->blocks[p->filling].n_instructions++;
    return op;
}

static struct pm_op *add(struct program *p, enum pm_op_class op_class, uint8_t def, uint8_t use1,
                         uint8_t use2) {
    return add_wide(p, op_class, 64, 8, def, use1, use2);
}

/* A group in the inner loop with a histogram: COUNTS of loads at DISTANCES, and cold ones. */
static void add_group(struct program *p, uint32_t scope, uint64_t block_bytes, double cold,
                      size_t n_bins, const double (*bins)[2]) {
    struct pm_structure *s = p->structure;
    p->profile.histograms = pm_realloc(p->profile.histograms, p->profile.n_histograms + 1,
                                       sizeof *p->profile.histograms);
    struct pm_group_histogram *h = &p->profile.histograms[p->profile.n_histograms++];
    *h = (struct pm_group_histogram){
        .group = (uint32_t)s->n_groups,
        .histogram = {.block_bytes = block_bytes, .cold_loads = cold, .n_bins = n_bins}};
    h->histogram.bytes_touched = (double)NAN;
    h->histogram.bins = pm_alloc(n_bins, sizeof *h->histogram.bins);
    for (size_t i = 0; i < n_bins; i++)
        h->histogram.bins[i] = (struct pm_bin){
            .low = bins[i][0], .high = bins[i][0], .mean = bins[i][0], .loads = bins[i][1]};
    *PM_PUSH(s, groups) = (struct pm_group){.scope = scope};
}

#define TOP_LINES(vector, fma, order, more)                                                        \
    "title = \"t\" clock_mhz = 1000 issue_width = 8 vector_width = " vector " fma = " fma          \
    " out_of_order = " order " " more "\n"
#define UNITS "unit a {} unit b {} unit c {} unit mem {}\n"
#define COSTS                                                                                      \
    "cost { of = {fp_mult} latency = 5 units = {a} }\n"                                            \
    "cost { of = {fp_add, fp_fma} latency = 3 units = {a, b} }\n"                                  \
    "cost { of = {logical} latency = 1 units = {b, c} }\n"                                         \
    "cost { of = {fp_div} latency = 20 repeat = 18 units = {c} }\n"                                \
    "cost { of = {load_fp, load_int, store_fp} latency = 4 units = {mem} }\n"                      \
    "cost { of = {int_add, branch} latency = 1 units = {b, c} }\n"                                 \
    "cost { of = {nop} latency = 0 free = true }\n"
#define LEVELS                                                                                     \
    "cache L1 { size = 6400 line = 64 ways = 0 latency = 4 miss_penalty = 10 exposed = 0.5 }\n"    \
    "cache L2 { size = 64000 line = 64 ways = 0 latency = 14 miss_penalty = 100 exposed = 1 }\n"   \
    "tlb TLB { entries = 4 page = 4096 ways = 0 miss_penalty = 30 exposed = 1 }\n"
#define MACHINE TOP_LINES("64", "true", "true", "") UNITS COSTS LEVELS

static void use_machine(struct program *p, const char *text) {
    char path[512];
    const char *folder = getenv("TMP");
    snprintf(path, sizeof path, "%s/sched.conf", folder ? folder : "/tmp");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    struct pm_error err = {0};
    p->machine = pm_machine_read(path, &err);
    if (!p->machine)
        fail_msg("%s", err.text);
}

static const struct pm_scope_prediction *predict(struct program *p, const char *machine) {
    use_machine(p, machine);
    struct pm_error err = {0};
    p->prediction = pm_predict(p->structure, &p->profile, p->machine, p->dependences, &err);
    if (!p->prediction)
        fail_msg("%s", err.text);
    return p->prediction->scopes;
}

static void free_program(struct program *p) {
    pm_prediction_free(p->prediction);
    pm_machine_free(p->machine);
    for (size_t i = 0; i < p->profile.n_histograms; i++)
        free(p->profile.histograms[i].histogram.bins);
    free(p->profile.histograms);
    free(p->profile.block_sizes);
    free(p->profile.edge_counts);
    pm_structure_free(p->structure);
}

static bool has_note(const struct pm_prediction *prediction, const char *part) {
    for (size_t i = 0; i < prediction->n_notes; i++)
        if (strstr(prediction->notes[i], part))
            return true;
    return false;
}

#define assert_near(a, b) assert_float_equal(a, b, 1e-9)

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
    p.dependences = dependences;
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

static void the_frequent_path_gives_the_recurrence(void **state) {
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
    assert_near(s[SCOPE_OUTER].recurrence_cycles_per_iteration, 3);
    assert_near(s[SCOPE_INNER].recurrence_cycles_per_iteration, 5);
    assert_near(s[SCOPE_OUTER].iterations, 100);
    assert_near(s[SCOPE_OUTER].entries, 1);
    /* Blocks count with their frequency: per iteration 1 division of 18 cycles on c; 0.75 + 9 ·
       0.25 additions on {a, b} are less. */
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
    assert_near(s[SCOPE_OUTER].self.schedule_cycles, 75);
    assert_near(s[SCOPE_INLINED].self.schedule_cycles, 75);
    assert_near(s[SCOPE_INLINED].entries, 25);
    assert_near(s[SCOPE_INNER].self.schedule_cycles, 1000);
    assert_near(s[SCOPE_OUTER].total.cycles, 75 + 75 + 1000);
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

/* A chain of four multiplications (20 cycles) outside loops; the window holds 16 operations. */
static void code_outside_loops_waits_for_its_chain(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double cycles;
        int bound;
    } cases[] = {
        {TOP_LINES("64", "true", "false", "") UNITS COSTS LEVELS, 20, PM_BOUND_LATENCY},
        {TOP_LINES("64", "true", "true", "window = 16") UNITS COSTS LEVELS, 5, PM_BOUND_LATENCY},
        {TOP_LINES("64", "true", "true", "window = 100") UNITS COSTS LEVELS, 4, PM_BOUND_UNIT},
        {TOP_LINES("64", "true", "true", "") UNITS COSTS LEVELS, 4, PM_BOUND_UNIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct program p = make_program();
        fill(&p, ENTRY);
        for (int k = 0; k < 4; k++)
            add(&p, PM_OP_FP_MULT, 40, 40, 51);
        const struct pm_scope_prediction *s = predict(&p, cases[i].machine);
        assert_near(s[SCOPE_ROUTINE].self.schedule_cycles, cases[i].cycles);
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

/* ---- memory ---------------------------------------------------------------------------------- */

/* L1 holds 100 blocks, L2 1000, the TLB 4 pages: an access hits if its distance is smaller. */
static void misses_follow_from_the_histograms(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_FP, 40, 1, NO);
    add_group(&p, SCOPE_INNER, 64, 7, 5,
              (double[][2]){{0, 500}, {99, 20}, {100, 30}, {999, 40}, {1000, 3}});
    add_group(&p, SCOPE_INNER, 64, 0, 1, (double[][2]){{5000, 1}});
    add_group(&p, SCOPE_OUTER, 4096, 2, 2, (double[][2]){{3, 50}, {4, 6}});
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    const struct pm_cost_sum *inner = &s[SCOPE_INNER].self, *outer = &s[SCOPE_OUTER].self;
    assert_near(inner->accesses, 601);
    assert_near(inner->level_misses[0], 30 + 40 + 3 + 7 + 1);
    assert_near(inner->level_misses[1], 3 + 7 + 1);
    assert_near(inner->level_misses[2], 0);
    assert_near(outer->level_misses[2], 6 + 2);
    assert_near(inner->level_cycles[0], 81 * 10 * 0.5);
    assert_near(inner->level_cycles[1], 11 * 100);
    assert_near(inner->memory_cycles, 405 + 1100);
    assert_near(inner->cycles, 1000 + 405 + 1100);
    assert_int_equal(s[SCOPE_INNER].bound, PM_BOUND_LEVEL);
    assert_int_equal(s[SCOPE_INNER].bound_level, 1);
    assert_near(s[0].total.level_misses[2], 8);
    assert_near(s[0].total.memory_cycles, 1505 + 8 * 30);
    free_program(&p);
}

/* 11 misses of 64 bytes at 0.1 bytes a cycle (0.1 GB/s at 1 GHz) need 7040 cycles. */
static void bandwidth_counts_where_it_needs_longer(void **state) {
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct program p = make_program();
        fill(&p, INNER);
        add(&p, PM_OP_LOAD_FP, 40, 1, NO);
        add_group(&p, SCOPE_INNER, 64, 11, 1, (double[][2]){{0, 500}});
        const struct pm_scope_prediction *s =
            predict(&p, slow ? TOP_LINES("64", "true", "true", "memory_bandwidth_gbs = 0.1")
                                   UNITS COSTS LEVELS
                             : TOP_LINES("64", "true", "true", "memory_bandwidth_gbs = 1")
                                   UNITS COSTS LEVELS);
        const struct pm_cost_sum *inner = &s[SCOPE_INNER].self;
        assert_near(inner->memory_cycles, slow ? 7040 : 11 * 5 + 11 * 100);
        assert_near(inner->level_cycles[0] + inner->level_cycles[1], inner->memory_cycles);
        assert_int_equal(s[SCOPE_INNER].bound, slow ? PM_BOUND_BANDWIDTH : PM_BOUND_LEVEL);
        assert_int_equal(has_note(p.prediction, "bandwidth needs longer"), slow);
        free_program(&p);
    }
}

static void a_block_size_that_was_not_measured_is_an_error(void **state) {
    (void)state;
    struct program p = make_program();
    use_machine(&p, MACHINE);
    p.profile.block_sizes[1] = 2048;
    struct pm_error err = {0};
    assert_null(pm_predict(p.structure, &p.profile, p.machine, PM_DEPS_OPTIMISTIC, &err));
    assert_int_equal(err.kind, PM_ERROR_INPUT);
    assert_non_null(strstr(err.text, "TLB (4096 bytes)"));
    assert_non_null(strstr(err.text, "pmodel run --block 64,4096"));
    free_program(&p);
}

static void a_profile_of_another_build_is_an_error(void **state) {
    (void)state;
    struct program p = make_program();
    use_machine(&p, MACHINE);
    p.profile.n_edges--;
    struct pm_error err = {0};
    assert_null(pm_predict(p.structure, &p.profile, p.machine, PM_DEPS_OPTIMISTIC, &err));
    assert_non_null(strstr(err.text, "different builds"));
    free_program(&p);
}

/* Scaling every count scales every cycle: the model is linear in the counts. */
static void twice_the_counts_take_twice_the_time(void **state) {
    (void)state;
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        struct program p = make_program();
        for (size_t e = 0; e < p.profile.n_edges; e++)
            p.profile.edge_counts[e] *= i + 1;
        fill(&p, OFTEN);
        add(&p, PM_OP_FP_MULT, 40, 40, 51);
        fill(&p, INNER);
        add(&p, PM_OP_FP_ADD, 40, 40, 51);
        fill(&p, LAST);
        add(&p, PM_OP_FP_DIV, 40, 40, 51);
        predict(&p, MACHINE);
        cycles[i] = p.prediction->scopes[0].total.cycles;
        free_program(&p);
    }
    assert_near(cycles[1], 2 * cycles[0]);
    assert_true(cycles[0] > 3000);
}

/* ---- what qualifies misses ------------------------------------------------------------------- */

static const double far_bins[1][2] = {{50, 100}};

static void the_unused_part_of_blocks_is_told_with_the_object_that_has_most_of_it(void **state) {
    (void)state;
    struct program p = make_program();
    /* 100 blocks of `sparse` with 8 bytes used of each, found by two groups, 100 of `dense`, which
       a second group only uses again. */
    add_group(&p, SCOPE_INNER, 64, 60, 1, far_bins);
    add_group(&p, SCOPE_INNER, 64, 40, 1, far_bins);
    add_group(&p, SCOPE_INNER, 64, 100, 1, far_bins);
    add_group(&p, SCOPE_INNER, 64, 0, 1, far_bins);
    static const char *const objects[] = {"sparse", "sparse", "dense", "dense"};
    static const double bytes[] = {700, 100, 6400, 0};
    for (size_t g = 0; g < 4; g++) {
        p.structure->groups[g].object = pm_strdup(objects[g]);
        p.profile.histograms[g].histogram.bytes_touched = bytes[g];
    }
    predict(&p, MACHINE);
    assert_true(has_note(p.prediction, "Of the 64-byte blocks that are fetched, 43.8% of the bytes "
                                       "are never used, most of them in sparse (87.5%"));
    free_program(&p);
}

/* Half of what is unused is in blocks of nobody knows what. */
static void no_object_is_blamed_for_what_others_leave_unused(void **state) {
    (void)state;
    struct program p = make_program();
    for (size_t g = 0; g < 2; g++) {
        add_group(&p, SCOPE_INNER, 64, 100, 1, far_bins);
        p.profile.histograms[g].histogram.bytes_touched = 1600;
    }
    p.structure->groups[0].object = pm_strdup("sparse");
    predict(&p, MACHINE);
    assert_true(has_note(p.prediction, "75% of the bytes are never used."));
    free_program(&p);
}

static void what_was_not_measured_of_blocks_is_not_told(void **state) {
    (void)state;
    struct program p = make_program();
    add_group(&p, SCOPE_INNER, 64, 60, 1, far_bins);
    predict(&p, MACHINE);
    assert_false(has_note(p.prediction, "never used"));
    assert_false(has_note(p.prediction, "watched"));
    assert_false(has_note(p.prediction, "upper bound"));
    free_program(&p);
}

/* L1 has 100 blocks and L2 1000; reuses known to be 500 or more away may hit in L2 only. */
static void a_bound_within_a_cache_and_a_sample_are_told(void **state) {
    (void)state;
    struct program p = make_program();
    add_group(&p, SCOPE_INNER, 64, 60, 1, far_bins);
    struct pm_histogram *histogram = &p.profile.histograms[0].histogram;
    histogram->at_least = 500;
    histogram->beyond_loads = 40;
    histogram->sample = 64;
    const struct pm_scope_prediction *s = predict(&p, MACHINE);
    assert_near(s[SCOPE_INNER].self.level_misses[1], 100);
    assert_true(has_note(p.prediction, "40% of the misses of L2 are only known"));
    assert_false(has_note(p.prediction, "misses of L1 are only known"));
    assert_true(has_note(p.prediction, "One of 64 blocks was watched"));
    free_program(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_is_bound_by_the_latency_of_its_addition),
        cmocka_unit_test(four_independent_operations_wait_for_their_one_unit),
        cmocka_unit_test(operations_are_shared_out_between_their_units),
        cmocka_unit_test(the_issue_width_bounds_what_no_unit_does),
        cmocka_unit_test(an_iterative_unit_is_busy_for_its_repeat_cycles),
        cmocka_unit_test(a_dependence_cycle_over_two_iterations_counts_half),
        cmocka_unit_test(a_pointer_chase_is_bound_by_the_latency_of_its_load),
        cmocka_unit_test(a_value_stored_and_loaded_later_makes_a_recurrence),
        cmocka_unit_test(the_frequent_path_gives_the_recurrence),
        cmocka_unit_test(inlined_code_gets_its_share_and_parts_add_up),
        cmocka_unit_test(vectors_are_split_to_the_machine_s_width),
        cmocka_unit_test(without_hardware_a_multiply_add_is_two_operations),
        cmocka_unit_test(a_fused_load_takes_no_issue_slot),
        cmocka_unit_test(code_outside_loops_waits_for_its_chain),
        cmocka_unit_test(unknown_operations_are_counted_and_named),
        cmocka_unit_test(routines_without_counters_are_told),
        cmocka_unit_test(unrecorded_accesses_are_counted),
        cmocka_unit_test(misses_follow_from_the_histograms),
        cmocka_unit_test(bandwidth_counts_where_it_needs_longer),
        cmocka_unit_test(a_block_size_that_was_not_measured_is_an_error),
        cmocka_unit_test(a_profile_of_another_build_is_an_error),
        cmocka_unit_test(twice_the_counts_take_twice_the_time),
        cmocka_unit_test(the_unused_part_of_blocks_is_told_with_the_object_that_has_most_of_it),
        cmocka_unit_test(no_object_is_blamed_for_what_others_leave_unused),
        cmocka_unit_test(what_was_not_measured_of_blocks_is_not_told),
        cmocka_unit_test(a_bound_within_a_cache_and_a_sample_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
