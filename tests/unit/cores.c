/* Time on several cores: waiting that is taken out of counts, parallel parts, what cores share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "sched/cores/cores.h"
#include "tests/unit/sched_example.h"

/* ---- waiting --------------------------------------------------------------------------------- */

enum { INNER_BACK = 6, OUTER_BACK = 8 }; /* edges of the example */

static struct pm_spin_loops take_out(struct program *p) {
    struct pm_spin_loops spin = {0};
    double *edges[] = {p->profile.edge_counts};
    pm_take_out_spin_loops(p->structure, edges, 1, &spin);
    return spin;
}

static void assert_flow_is_kept(const struct program *p) {
    for (uint32_t b = 0; b < N_BLOCKS; b++) {
        double in = 0, out = 0;
        for (size_t e = 0; e < p->structure->n_edges; e++) {
            in += p->structure->edges[e].to == b ? p->profile.edge_counts[e] : 0;
            out += p->structure->edges[e].from == b ? p->profile.edge_counts[e] : 0;
        }
        assert_near(in, out);
    }
}

static void add_test_and_branch(struct program *p, uint8_t loaded) {
    add(p, PM_OP_INT_COMPARE, 32, loaded, NO);
    add(p, PM_OP_BRANCH, NO, 32, NO);
}

/* while (!flag); in a loop that stores. */
static void a_loop_that_loads_and_tests_waits(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, HEADER);
    add(&p, PM_OP_STORE_INT, NO, 1, 2);
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_INT, 0, 1, NO);
    add_test_and_branch(&p, 0);
    struct pm_spin_loops spin = take_out(&p);
    assert_int_equal(spin.n_loops, 1);
    assert_int_equal(spin.loops[0].scope, SCOPE_INNER);
    assert_near(spin.loops[0].rounds, 900);
    assert_near(p.profile.edge_counts[INNER_BACK], 0);
    assert_near(p.profile.edge_counts[OUTER_BACK], 99);
    assert_flow_is_kept(&p);
    free(spin.loops);
    free_program(&p);
}

/* A sum, a walk along a list, a store: each time round leaves something to the next. */
static void a_loop_that_gets_on_does_not_wait(void **state) {
    (void)state;
    for (int what = 0; what < 4; what++) {
        struct program p = make_program();
        fill(&p, HEADER);
        add(&p, PM_OP_STORE_INT, NO, 1, 2);
        fill(&p, INNER);
        add(&p, PM_OP_LOAD_INT, what == 1 ? 1 : 0, 1, NO);
        add_test_and_branch(&p, 0);
        if (what == 0)
            add(&p, PM_OP_INT_ADD, 3, 3, 0);
        else if (what == 2)
            add(&p, PM_OP_STORE_INT, NO, 0, 2);
        else if (what == 3)
            add(&p, PM_OP_CALL, NO, NO, NO);
        struct pm_spin_loops spin = take_out(&p);
        assert_int_equal(spin.n_loops, 0);
        assert_near(p.profile.edge_counts[INNER_BACK], 900);
        free_program(&p);
    }
}

static void name_instructions(struct program *p, struct pm_op *op, const char *mnemonic) {
    *PM_PUSH(p->structure, mnemonics) = pm_strdup(mnemonic);
    op->mnemonic = (uint32_t)p->structure->n_mnemonics;
}

/* What an exchange stores is the same each time; a hint says it whatever is counted. */
static void exchanges_and_hints_are_known(void **state) {
    (void)state;
    for (int hint = 0; hint < 2; hint++) {
        struct program p = make_program();
        fill(&p, HEADER);
        add(&p, PM_OP_STORE_INT, NO, 1, 2);
        fill(&p, INNER);
        if (hint) {
            name_instructions(&p, add(&p, PM_OP_SYSTEM, NO, NO, NO), "pause");
            add(&p, PM_OP_INT_ADD, 3, 3, NO);
        } else {
            name_instructions(&p, add(&p, PM_OP_LOAD_INT, 0, 1, NO), "xchg");
            struct pm_op *op = add(&p, PM_OP_STORE_INT, NO, 2, 1);
            op->mnemonic = 1;
        }
        add_test_and_branch(&p, 0);
        struct pm_spin_loops spin = take_out(&p);
        assert_int_equal(spin.n_loops, 1);
        assert_near(spin.loops[0].rounds, 900);
        free(spin.loops);
        free_program(&p);
    }
}

/* A lock tried again, in two ways, with a loop in it that looks first: of all rounds one is left,
   each way with its share. */
static void what_is_left_is_one_passage(void **state) {
    (void)state;
    struct program p = make_program();
    fill(&p, HEADER);
    add(&p, PM_OP_LOAD_INT, 0, 1, NO);
    fill(&p, INNER);
    add(&p, PM_OP_LOAD_INT, 0, 1, NO);
    add_test_and_branch(&p, 0);
    struct pm_spin_loops spin = take_out(&p);
    assert_int_equal(spin.n_loops, 2);
    assert_int_equal(spin.loops[0].scope, SCOPE_INNER);
    assert_int_equal(spin.loops[1].scope, SCOPE_OUTER);
    assert_near(spin.loops[1].rounds, 99);
    double *blocks = pm_block_executions(p.structure, p.profile.edge_counts);
    for (uint32_t b = 0; b < N_BLOCKS; b++)
        assert_near(blocks[b], b == OFTEN ? 0.75 : b == SELDOM ? 0.25 : 1);
    assert_flow_is_kept(&p);
    free(blocks);
    free(spin.loops);
    free_program(&p);
}

/* ---- cores ----------------------------------------------------------------------------------- */

/* Threads that did these shares of it. */
static void split(struct program *p, const double *shares, size_t n) {
    for (size_t t = 0; t < n; t++) {
        struct pm_profile *thread = pm_alloc(1, sizeof *thread);
        thread->n_edges = p->profile.n_edges;
        thread->edge_counts = pm_alloc(thread->n_edges, sizeof(double));
        for (size_t e = 0; e < thread->n_edges; e++)
            thread->edge_counts[e] = shares[t] * p->profile.edge_counts[e];
        thread->n_block_sizes = p->profile.n_block_sizes;
        thread->block_sizes = pm_alloc(thread->n_block_sizes, sizeof(uint64_t));
        memcpy(thread->block_sizes, p->profile.block_sizes,
               thread->n_block_sizes * sizeof(uint64_t));
        thread->extrapolation = 1;
        *PM_PUSH(&p->profile, threads) = thread;
    }
}

static void free_threads(struct program *p) {
    for (size_t t = 0; t < p->profile.n_threads; t++)
        pm_profile_free(p->profile.threads[t]);
    free(p->profile.threads);
}

static struct program program_with_work(void) {
    struct program p = make_program();
    fill(&p, OFTEN);
    add(&p, PM_OP_FP_MULT, 40, 40, 51);
    fill(&p, INNER);
    add(&p, PM_OP_FP_ADD, 40, 40, 51);
    return p;
}

static void the_slowest_core_counts(void **state) {
    (void)state;
    static const double shares[] = {0.125, 0.5, 0.25, 0.125};
    static const struct {
        unsigned n_cores;
        double time, imbalance;
        bool is_checked;
    } expected[] = {
        {0, 0.5, 2, false}, {4, 0.5, 2, false}, {2, 0.625, 1.25, true}, {1, 1, 1, true}};
    struct program whole = program_with_work();
    predict(&whole, MACHINE);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct program p = program_with_work();
        split(&p, shares, 4);
        p.options.n_cores = expected[i].n_cores;
        const struct pm_scope_prediction *s = predict(&p, MACHINE);
        const struct pm_cores *cores = p.prediction->cores;
        assert_non_null(cores);
        assert_int_equal(cores->n_threads, 4);
        assert_int_equal(cores->n_cores, expected[i].n_cores ? expected[i].n_cores : 4);
        assert_int_equal(cores->is_checked, expected[i].is_checked);
        assert_int_equal(cores->n_parts, 2);
        assert_int_equal(cores->parts[1].routine, 0);
        assert_near(cores->imbalance, expected[i].imbalance);
        assert_near(s[0].total.cycles, expected[i].time * whole.prediction->scopes[0].total.cycles);
        assert_near(p.prediction->seconds * p.prediction->clock_hz, s[0].total.cycles);
        assert_near(s[SCOPE_INNER].iterations, expected[i].time * 1000);
        assert_int_equal(s[SCOPE_INNER].bound, whole.prediction->scopes[SCOPE_INNER].bound);
        assert_int_equal(has_note(p.prediction, "Not checked"), !expected[i].is_checked);
        free_threads(&p);
        free_program(&p);
    }
    free_program(&whole);
}

/* 1100 misses in L2, of half of it each where it is shared: those at a distance that only the whole
   of it holds come on top. */
static void a_shared_level_is_divided(void **state) {
    (void)state;
    static const double halves[] = {0.5, 0.5};
    double misses[2];
    for (int shared = 0; shared < 2; shared++) {
        struct program p = program_with_work();
        split(&p, halves, 2);
        add_group(&p, SCOPE_INNER, 64, 0, 2, (double[][2]){{600, 100}, {2000, 10}});
        for (size_t t = 0; t < 2; t++) {
            struct pm_profile *thread = p.profile.threads[t];
            thread->histograms = pm_alloc(1, sizeof *thread->histograms);
            thread->n_histograms = 1;
            thread->histograms[0] = p.profile.histograms[0];
            thread->histograms[0].histogram.bins = pm_alloc(2, sizeof(struct pm_bin));
            memcpy(thread->histograms[0].histogram.bins, p.profile.histograms[0].histogram.bins,
                   2 * sizeof(struct pm_bin));
        }
        const struct pm_scope_prediction *s = predict(
            &p, shared ? TOP_LINES("64", "true", "true", "") UNITS COSTS
                    "cache L1 { size = 6400 line = 64 ways = 0 latency = 4 miss_penalty = 10 "
                    "exposed = 1 }\n"
                    "cache L2 { size = 64000 line = 64 ways = 0 latency = 14 miss_penalty = 100 "
                    "exposed = 1 shared_by = 8 }\n"
                    "tlb TLB { entries = 4 page = 4096 ways = 0 miss_penalty = 30 exposed = 1 }\n"
                       : MACHINE);
        misses[shared] = s[SCOPE_INNER].self.level_misses[1];
        assert_int_equal(has_note(p.prediction, "L2 is shared by 8 cores: each"), shared);
        free_threads(&p);
        free_program(&p);
    }
    assert_near(misses[0], 10);
    assert_near(misses[1], 110);
}

/* Each of four cores of those that share a level finds it as full as one at a quarter of the
   distance. */
static void what_a_level_serves_is_shared(void **state) {
    (void)state;
    struct program p = make_program();
    use_machine(&p, TOP_LINES("64", "true", "true", "") UNITS COSTS
                "cache L1 { size = 6400 line = 64 ways = 0 latency = 4 miss_penalty = 10 "
                "exposed = 1 }\n"
                "cache L2 { size = 64000 line = 64 ways = 0 latency = 14 miss_penalty = 100 "
                "exposed = 1 shared_by = 4 serves = {\"16000: 1\", \"64000: 0.5\"} }\n");
    for (unsigned n = 1; n <= 8; n *= 2) {
        struct pm_machine *share = pm_machine_share(p.machine, n);
        assert_near(pm_response_half_bytes(&share->levels[1].serves), 64000 / fmin(n, 4));
        pm_machine_copy_free(share);
    }
    free_program(&p);
}

static void bandwidth_of_memory_saturates(void **state) {
    (void)state;
    struct program p = make_program();
    use_machine(&p, TOP_LINES("64", "true", "true", "") UNITS COSTS LEVELS
                "memory { latency = 100 bandwidth_gbs = 10 bandwidth_all_gbs = 30 }\n");
    static const double expected[] = {10, 10, 10, 7.5, 6};
    for (unsigned n = 1; n <= 5; n++) {
        struct pm_machine *share = pm_machine_share(p.machine, n);
        assert_near(share->memory_bandwidth_gbs, expected[n - 1]);
        assert_near(share->memory_bandwidth_bytes_per_cycle, expected[n - 1]);
        pm_machine_copy_free(share);
    }
    free_program(&p);
}

/* A routine that two parts call is theirs in proportion to their calls. */
static void routines_belong_to_who_calls_them(void **state) {
    (void)state;
    enum { MAIN, REGION, OTHER, HELPER, N };
    struct pm_structure *s = pm_structure_new();
    double counts[2][N] = {{1, 10, 2, 32}, {0, 10, 2, 12}}; /* entries, by thread */
    for (uint32_t r = 0; r < N; r++) {
        *PM_PUSH(s, blocks) = (struct pm_block){.routine = r};
        *PM_PUSH(s, edges) =
            (struct pm_edge){.from = PM_NONE, .to = r, .routine = r, .kind = PM_EDGE_ENTRY};
        *PM_PUSH(s, routines) = (struct pm_routine){
            .first_block = r, .n_blocks = 1, .first_edge = r, .n_edges = 1, .scope = PM_NONE};
    }
    /* main calls the helper 20 times with the first thread, in a basic block of its own. */
    *PM_PUSH(s, blocks) = (struct pm_block){.routine = MAIN};
    *PM_PUSH(s, edges) =
        (struct pm_edge){.from = MAIN, .to = N, .routine = MAIN, .kind = PM_EDGE_FALLTHROUGH};
    *PM_PUSH(s, calls) = (struct pm_call){REGION, HELPER};
    *PM_PUSH(s, calls) = (struct pm_call){OTHER, HELPER};
    *PM_PUSH(s, calls) = (struct pm_call){N, HELPER};
    struct pm_profile profile = {0}, *threads = pm_alloc(2, sizeof *threads);
    double edges[2][N + 1];
    for (size_t t = 0; t < 2; t++) {
        memcpy(edges[t], counts[t], sizeof counts[t]);
        edges[t][N] = t == 0 ? 20 : 0;
        threads[t].edge_counts = edges[t];
        threads[t].n_edges = N + 1;
        *PM_PUSH(&profile, threads) = &threads[t];
    }
    struct pm_parts parts;
    pm_parts_find(s, &profile, &parts);
    assert_int_equal(parts.n_routines, 3);
    assert_int_equal(parts.routines[0], PM_NONE);
    assert_int_equal(parts.routines[1], REGION);
    assert_int_equal(parts.routines[2], OTHER);
    assert_true(parts.first_works);
    for (size_t t = 0; t < 2; t++) {
        double *shares = pm_parts_shares(&parts, edges[t]);
        assert_near(shares[MAIN * 3 + 0], 1);
        assert_near(shares[REGION * 3 + 1], 1);
        assert_near(shares[HELPER * 3 + 0], t == 0 ? 20.0 / 32 : 0);
        assert_near(shares[HELPER * 3 + 1], t == 0 ? 10.0 / 32 : 10.0 / 12);
        assert_near(shares[HELPER * 3 + 2], t == 0 ? 2.0 / 32 : 2.0 / 12);
        free(shares);
    }
    pm_parts_free(&parts);
    free(profile.threads);
    free(threads);
    pm_structure_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_that_loads_and_tests_waits),
        cmocka_unit_test(a_loop_that_gets_on_does_not_wait),
        cmocka_unit_test(exchanges_and_hints_are_known),
        cmocka_unit_test(what_is_left_is_one_passage),
        cmocka_unit_test(the_slowest_core_counts),
        cmocka_unit_test(a_shared_level_is_divided),
        cmocka_unit_test(what_a_level_serves_is_shared),
        cmocka_unit_test(bandwidth_of_memory_saturates),
        cmocka_unit_test(routines_belong_to_who_calls_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
