/* What ranks do at sizes that never ran: a program whose messages, loops and computation are known
   by hand at every size is given at a few of them, and must come out as it is at others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/replay/sizes/private.h"

/* ---- positions ------------------------------------------------------------------------------- */

static const struct pm_extents line = {.n = 1, .extents = {5}, .n_ranks = 5};
static const struct pm_extents grid = {.n = 2, .extents = {3, 4}, .n_ranks = 12};

static unsigned places(enum pm_place along_first, enum pm_place along_second) {
    return (unsigned)along_first | (unsigned)along_second << 2;
}

static void ranks_have_a_position_in_their_grid(void **state) {
    (void)state;
    assert_int_equal(pm_position(&line, 0), PM_PLACE_FIRST);
    assert_int_equal(pm_position(&line, 3), PM_PLACE_BETWEEN);
    assert_int_equal(pm_position(&line, 4), PM_PLACE_LAST);
    /* The last coordinate counts fastest: 7 is (1, 3). */
    int32_t at[PM_MAX_PARAMETERS];
    pm_coordinates(&grid, 7, at);
    assert_true(at[0] == 1 && at[1] == 3);
    assert_int_equal(pm_position(&grid, 0), places(PM_PLACE_FIRST, PM_PLACE_FIRST));
    assert_int_equal(pm_position(&grid, 3), places(PM_PLACE_FIRST, PM_PLACE_LAST));
    assert_int_equal(pm_position(&grid, 2), places(PM_PLACE_FIRST, PM_PLACE_BETWEEN));
    assert_int_equal(pm_position(&grid, 4), places(PM_PLACE_BETWEEN, PM_PLACE_FIRST));
    assert_int_equal(pm_position(&grid, 5), places(PM_PLACE_BETWEEN, PM_PLACE_BETWEEN));
    assert_int_equal(pm_position(&grid, 11), places(PM_PLACE_LAST, PM_PLACE_LAST));
    const struct pm_extents row = {.n = 2, .extents = {1, 3}, .n_ranks = 3};
    assert_int_equal(pm_position(&row, 1), places(PM_PLACE_ALONE, PM_PLACE_BETWEEN));
    const struct pm_rank_grid names = {.names = {"px", "py"}, .n = 2};
    char *text = pm_position_text(&names, pm_position(&row, 1));
    assert_string_equal(text, "alone along px, between along py");
    free(text);
}

static void a_grid_has_the_extents_of_a_size(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_extents extents;
    const struct pm_rank_grid names = {.names = {"px", "py"}, .n = 2};
    struct pm_parameters at = {0};
    assert_true(pm_parameters_parse("N=7,px=3,py=4", &at, &err));
    assert_true(pm_extents_at(&names, &at, &extents, &err));
    assert_int_equal(extents.n_ranks, 12);
    assert_true(extents.extents[0] == 3 && extents.extents[1] == 4);
    at.n = 0;
    assert_true(pm_parameters_parse("N=7,px=3", &at, &err));
    assert_false(pm_extents_at(&names, &at, &extents, &err));
    assert_non_null(strstr(err.text, "at N=7 px=3 no number of ranks along py is given"));
}

/* The partner of RANK in THERE, by what was learnt of pairs (rank, partner) in HERE. */
static int32_t partner_after(const struct pm_extents *here, const int32_t (*pairs)[2], size_t n,
                             const struct pm_extents *there, int32_t rank) {
    struct pm_partner_rule rule = {0};
    for (size_t i = 0; i < n; i++)
        pm_partner_learn(&rule, here, pairs[i][0], pairs[i][1]);
    return pm_partner_of(&rule, there, rank);
}

static void partners_are_steps_away_or_at_an_end(void **state) {
    (void)state;
    const struct pm_extents longer = {.n = 1, .extents = {9}, .n_ranks = 9};
    /* Rank 0 may be the first for rank 1 or the one before: a neighbour; for rank 4 the first. */
    assert_int_equal(partner_after(&line, (const int32_t[][2]){{1, 0}}, 1, &longer, 4), 3);
    assert_int_equal(partner_after(&line, (const int32_t[][2]){{1, 0}, {2, 1}}, 2, &longer, 4), 3);
    assert_int_equal(partner_after(&line, (const int32_t[][2]){{1, 0}, {2, 0}}, 2, &longer, 4), 0);
    assert_int_equal(partner_after(&line, (const int32_t[][2]){{1, 4}, {2, 4}}, 2, &longer, 4), 8);
    assert_int_equal(partner_after(&line, (const int32_t[][2]){{4, 0}}, 1, &longer, 8), 0);
    assert_int_equal(partner_after(&line, (const int32_t[][2]){{0, 2}}, 1, &longer, 0), 2);
    /* By other steps from either: no rule.  The rank before the first: out of the grid. */
    assert_int_equal(partner_after(&line, (const int32_t[][2]){{1, 2}, {2, 0}}, 2, &longer, 4), -1);
    assert_int_equal(partner_after(&line, (const int32_t[][2]){{1, 0}, {2, 1}}, 2, &longer, 0), -1);
    assert_int_equal(partner_after(&line, NULL, 0, &longer, 4), -1);
    /* One down in a grid is as many ranks as a row has; the end of one's own row. */
    const struct pm_extents wider = {.n = 2, .extents = {4, 6}, .n_ranks = 24};
    assert_int_equal(partner_after(&grid, (const int32_t[][2]){{1, 5}, {2, 6}}, 2, &wider, 8), 14);
    assert_int_equal(partner_after(&grid, (const int32_t[][2]){{1, 3}, {6, 7}}, 2, &wider, 8), 11);
    assert_int_equal(partner_after(&grid, (const int32_t[][2]){{1, 0}, {6, 4}}, 2, &wider, 9), 6);
}

static void roots_are_one_for_all(void **state) {
    (void)state;
    const struct pm_extents wider = {.n = 2, .extents = {4, 6}, .n_ranks = 24};
    struct pm_partner_rule first = {0}, last = {0}, inside = {0};
    pm_root_learn(&first, &grid, 0);
    pm_root_learn(&last, &grid, 11);
    pm_root_learn(&inside, &grid, 5);
    for (int32_t rank = 0; rank < wider.n_ranks; rank++) {
        assert_int_equal(pm_partner_of(&first, &wider, rank), 0);
        assert_int_equal(pm_partner_of(&last, &wider, rank), 23);
        assert_int_equal(pm_partner_of(&inside, &wider, rank), -1);
    }
}

/* ---- a program that is known at every size --------------------------------------------------- */

enum { PATH_HALO = 1, PATH_SUM, PATH_GATHER };

/* Ranks in PX · PY; N / 2 steps, in each of which as often as there are ranks every rank says 8·N²
   bytes to its neighbours, and at whose ends all add up; at last the first gathers.  Before a sum
   each rank computes N³ / (PX · PY) microseconds. */
struct program {
    double n;
    int32_t px, py;
    bool has_rows; /* the grid has both extents; else PY is 1 */
};

static void add_event(struct pm_communication *c, struct pm_trace *trace, int32_t rank,
                      struct pm_event_kind kind) {
    if (kind.operation != PM_MPI_Send && kind.operation != PM_MPI_Recv)
        kind.tag = PM_NO_TAG;
    kind.source = PM_NO_PARTNER;
    kind.source_tag = PM_NO_TAG;
    *PM_PUSH(trace, nodes) = (struct pm_trace_node){.item = (uint32_t)c->n_counts};
    *PM_PUSH(c, counts) = (struct pm_event_count){(uint32_t)rank, 0, kind, 1};
}

static void add_loop(struct pm_trace *trace, uint32_t sequence, double times) {
    *PM_PUSH(trace, nodes) = (struct pm_trace_node){sequence, (uint32_t)times};
}

static void begin_sequence(struct pm_trace *trace) {
    *PM_PUSH(trace, sequences) = (uint32_t)trace->n_nodes;
}

static void add_halo(const struct program *program, struct pm_communication *c,
                     struct pm_trace *trace, int32_t rank) {
    int32_t x = rank / program->py, y = rank % program->py;
    const struct {
        bool is_there;
        int32_t partner;
    } neighbours[] = {
        {x > 0, rank - program->py},
        {x < program->px - 1, rank + program->py},
        {y > 0, rank - 1},
        {y < program->py - 1, rank + 1},
    };
    uint64_t bytes = (uint64_t)(8 * program->n * program->n);
    for (int32_t i = 0; i < 4; i++) {
        if (!neighbours[i].is_there)
            continue;
        struct pm_event_kind kind = {.path = PATH_HALO,
                                     .operation = PM_MPI_Send,
                                     .partner = neighbours[i].partner,
                                     .tag = i,
                                     .bytes_sent = bytes};
        add_event(c, trace, rank, kind);
        kind.operation = PM_MPI_Recv;
        kind.tag = i ^ 1; /* as the neighbour sees it */
        kind.bytes_sent = 0;
        kind.bytes_received = bytes;
        add_event(c, trace, rank, kind);
    }
}

static void add_rank(const struct program *program, struct pm_communication *c, int32_t rank) {
    double n_ranks = (double)program->px * program->py;
    struct pm_trace trace = {.process = (uint32_t)rank, .n_events = 1};
    begin_sequence(&trace);
    add_halo(program, c, &trace, rank);
    begin_sequence(&trace);
    add_loop(&trace, 0, n_ranks);
    add_event(c, &trace, rank,
              (struct pm_event_kind){.path = PATH_SUM,
                                     .operation = PM_MPI_Allreduce,
                                     .partner = PM_NO_PARTNER,
                                     .bytes_sent = 8,
                                     .bytes_received = 8});
    begin_sequence(&trace);
    add_loop(&trace, 1, program->n / 2);
    add_event(c, &trace, rank,
              (struct pm_event_kind){.path = PATH_GATHER,
                                     .operation = PM_MPI_Gather,
                                     .partner = 0,
                                     .bytes_sent = (uint64_t)(8 * program->n),
                                     .bytes_received =
                                         rank == 0 ? (uint64_t)(8 * program->n * n_ranks) : 0});
    *PM_PUSH(c, traces) = trace;
}

static double seconds_of_step(const struct program *program) {
    return pow(program->n, 3) / (program->px * program->py) * 1e-6;
}

static struct pm_parameters size_of(const struct program *program) {
    struct pm_error err = {0};
    struct pm_parameters at = {0};
    assert_true(pm_parameters_set(&at, "N", program->n, &err));
    if (program->has_rows) {
        assert_true(pm_parameters_set(&at, "px", program->px, &err));
        assert_true(pm_parameters_set(&at, "py", program->py, &err));
    } else {
        assert_true(pm_parameters_set(&at, "p", program->px, &err));
    }
    return at;
}

static struct pm_traced_run run_of(const struct program *program) {
    struct pm_traced_run run = {.at = size_of(program), .communication = pm_communication_new()};
    struct pm_communicator *world = PM_PUSH(run.communication, communicators);
    world->made_by = PM_N_OPERATIONS;
    for (uint64_t path = PATH_HALO; path <= PATH_GATHER; path++)
        pm_call_paths_add(&run.communication->paths, PM_NO_PATH, 0, 0x1000 + path);
    pm_request_list(run.communication, NULL, 0);
    int32_t n_ranks = program->px * program->py;
    for (int32_t r = 0; r < n_ranks; r++) {
        *PM_PUSH(world, members) = r;
        *PM_PUSH(&run.ranks, ranks) = (struct pm_rank){
            .process = (uint32_t)r, .rank = (uint32_t)r, .size = (uint32_t)n_ranks};
        add_rank(program, run.communication, r);
        *PM_PUSH(&run.times, rows) = (struct pm_interval_time){
            .process = (uint32_t)r,
            .begin = PATH_SUM,
            .end = PATH_SUM,
            .n = (uint64_t)(program->n / 2),
            .seconds = seconds_of_step(program) * (uint64_t)(program->n / 2)};
    }
    return run;
}

/* ---- runs that never were -------------------------------------------------------------------- */

static const struct pm_rank_grid in_a_line = {.names = {"p"}, .n = 1};
static const struct pm_rank_grid in_rows = {.names = {"px", "py"}, .n = 2};

/* What of PROGRAM's runs follows for TO; the caller frees it. */
static bool extrapolate(const struct program *programs, size_t n, const struct program *to,
                        struct pm_traced_run *run, struct pm_error *err) {
    struct pm_traced_run *runs = pm_alloc(n, sizeof *runs);
    for (size_t i = 0; i < n; i++)
        runs[i] = run_of(&programs[i]);
    *run = (struct pm_traced_run){.at = size_of(to)};
    bool ok = pm_extrapolate_run(runs, n, to->has_rows ? &in_rows : &in_a_line, NULL, run, err);
    for (size_t i = 0; i < n; i++)
        pm_traced_run_free(&runs[i]);
    free(runs);
    return ok;
}

static void assert_same_event(const struct pm_communication *got, uint32_t event,
                              const struct pm_communication *expected, uint32_t expected_event) {
    struct pm_event_kind a = got->counts[event].kind, b = expected->counts[expected_event].kind;
    assert_int_equal(a.operation, b.operation);
    assert_int_equal(a.partner, b.partner);
    assert_int_equal(a.tag, b.tag);
    assert_int_equal(a.bytes_sent, b.bytes_sent);
    assert_int_equal(a.bytes_received, b.bytes_received);
    assert_int_equal(got->paths.sites[a.path].return_address,
                     expected->paths.sites[b.path].return_address);
}

/* Event by event, and what each rank computes before a sum. */
static void assert_is_run_of(const struct pm_traced_run *run, const struct program *program) {
    struct pm_error err = {0};
    struct pm_traced_run expected = run_of(program);
    const struct pm_communication *got = run->communication, *right = expected.communication;
    if (!pm_communication_is_valid(got, &err))
        fail_msg("%s", err.text);
    assert_int_equal(got->communicators[0].n_members, right->communicators[0].n_members);
    assert_int_equal(run->ranks.n_ranks, expected.ranks.n_ranks);
    assert_int_equal(got->n_traces, right->n_traces);
    for (size_t r = 0; r < right->n_traces; r++) {
        struct pm_trace_walk walk = pm_trace_walk(&got->traces[r]);
        struct pm_trace_walk right_walk = pm_trace_walk(&right->traces[r]);
        uint32_t event, right_event;
        while (pm_trace_next(&right_walk, &right_event)) {
            assert_true(pm_trace_next(&walk, &event));
            assert_same_event(got, event, right, right_event);
        }
        assert_false(pm_trace_next(&walk, &event));
    }
    assert_int_equal(run->times.n_rows, expected.times.n_rows);
    for (size_t i = 0; i < run->times.n_rows; i++) {
        double step = seconds_of_step(program);
        double seconds = run->times.rows[i].seconds / (double)run->times.rows[i].n;
        assert_true(fabs(seconds - step) <= 1e-6 * step);
    }
    pm_traced_run_free(&expected);
}

static void a_size_that_never_ran_is_as_it_would_run(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct program measured[16];
    size_t n = 0;
    for (int size = 8; size <= 14; size += 2)
        for (int32_t p = 3; p <= 6; p++)
            measured[n++] = (struct program){size, p, 1, false};
    static const struct program never[] = {{20, 9, 1, false}, {16, 3, 1, false}, {8, 12, 1, false}};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        struct pm_traced_run run;
        if (!extrapolate(measured, n, &never[i], &run, &err))
            fail_msg("%s", err.text);
        assert_is_run_of(&run, &never[i]);
        pm_traced_run_free(&run);
    }
}

/* Corners, edges and what is inside have partners of their own; all other numbers are the same. */
static void a_grid_that_never_ran_has_its_neighbours(void **state) {
    (void)state;
    struct pm_error err = {0};
    /* Each with 12 ranks, so that no number of the program differs. */
    static const struct program measured[] = {{10, 3, 4, true}, {10, 4, 3, true}};
    static const struct program never[] = {{10, 4, 3, true}, {10, 3, 4, true}};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        struct pm_traced_run run;
        if (!extrapolate(measured, 1, &never[i], &run, &err) ||
            (pm_traced_run_free(&run), !extrapolate(measured, 2, &never[i], &run, &err)))
            fail_msg("%s", err.text);
        assert_is_run_of(&run, &never[i]);
        pm_traced_run_free(&run);
    }
}

static void assert_refused(const struct program *measured, size_t n, struct program to,
                           const char *sentence) {
    struct pm_error err = {0};
    struct pm_traced_run run;
    assert_false(extrapolate(measured, n, &to, &run, &err));
    if (!strstr(err.text, sentence))
        fail_msg("\"%s\" is not in \"%s\"", sentence, err.text);
    pm_traced_run_free(&run);
}

static void what_no_run_tells_is_a_sentence(void **state) {
    (void)state;
    static const struct program of_two[] = {{10, 2, 1, false}};
    assert_refused(of_two, 1, (struct program){10, 3, 1, false},
                   "ranks that are between along p are in no run: measure one with such ranks");
    assert_refused(of_two, 1, (struct program){10, 1, 1, false},
                   "ranks that are alone along p are in no run");
    static const struct program rows[] = {{10, 2, 3, true}};
    assert_refused(rows, 1, (struct program){10, 3, 2, true},
                   "ranks that are between along px, first along py are in no run");
    static const struct program few[] = {{10, 3, 1, false}, {12, 3, 1, false}};
    assert_refused(few, 2, (struct program){14, 3, 1, false},
                   "ranks that are first along p: models need runs at 3 sizes at least");
    /* Ranks in rows, by the number of which alone nothing is known. */
    struct pm_error err = {0};
    struct pm_traced_run run = run_of(rows), to = {.at = run.at};
    const struct pm_rank_grid too_small = {.names = {"px"}, .n = 1};
    assert_false(pm_extrapolate_run(&run, 1, &too_small, NULL, &to, &err));
    assert_non_null(strstr(err.text, "there are 6 ranks, but the grid has 2"));
    pm_traced_run_free(&to);
    pm_traced_run_free(&run);
}

/* Of two ranks at a position that do otherwise, that of the largest run is followed; one that says
   something to a rank that no rule leads to is refused. */
static void partners_without_a_rule_are_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    const struct program program = {10, 5, 1, false};
    struct pm_traced_run run = run_of(&program), to = {.at = size_of(&program)};
    for (size_t i = 0; i < run.communication->n_counts; i++) {
        struct pm_event_count *count = &run.communication->counts[i];
        if (count->process == 2 && count->kind.operation == PM_MPI_Send && count->kind.tag == 0)
            count->kind.partner = 3;
    }
    assert_false(pm_extrapolate_run(&run, 1, &in_a_line, NULL, &to, &err));
    assert_non_null(strstr(err.text, "ranks that are between along p have partners that follow no "
                                     "rule of the grid (--grid)"));
    pm_traced_run_free(&to);
    /* A trace that was truncated says nothing. */
    run.communication->traces[2].n_lost = 1;
    to = (struct pm_traced_run){.at = size_of(&program)};
    err = (struct pm_error){0};
    if (!pm_extrapolate_run(&run, 1, &in_a_line, NULL, &to, &err))
        fail_msg("%s", err.text);
    assert_is_run_of(&to, &program);
    pm_traced_run_free(&to);
    pm_traced_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_have_a_position_in_their_grid),
        cmocka_unit_test(a_grid_has_the_extents_of_a_size),
        cmocka_unit_test(partners_are_steps_away_or_at_an_end),
        cmocka_unit_test(roots_are_one_for_all),
        cmocka_unit_test(a_size_that_never_ran_is_as_it_would_run),
        cmocka_unit_test(a_grid_that_never_ran_has_its_neighbours),
        cmocka_unit_test(what_no_run_tells_is_a_sentence),
        cmocka_unit_test(partners_without_a_rule_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
