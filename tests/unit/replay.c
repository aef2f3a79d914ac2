/* Replays without SimGrid: traces that are read, checked and written again; waiting by begins and
   ends that are known; events of a run as actions with the computation between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/replay/replay.h"

static char *in_folder(const char *name) {
    const char *folder = getenv("TMP");
    return pm_sprintf("%s/%s", folder ? folder : "/tmp", name);
}

static void write_text(const char *name, const char *text) {
    char *path = in_folder(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

/* The ranks of a trace of two files. */
static bool read_two(const char *first, const char *second, struct pm_actions *actions,
                     struct pm_error *err) {
    write_text("list", "rank-a\nrank-b\n");
    write_text("rank-a", first);
    write_text("rank-b", second);
    char *list = in_folder("list");
    bool ok = pm_actions_read(list, actions, err);
    free(list);
    return ok;
}

#define HEAD_0 "0 init\n0 compute 100\n"
#define SENDS_0 "0 isend 1 7 10 0\n0 wait 0 1 7\n"
#define END_0 "0 allreduce 4 0 1 \n0 reduce 1 0 1 24 \n0 finalize\n"
#define RANK_1 "1 init\n1 recv 0 7 10 0\n1 allreduce 4 0 1 \n1 reduce 1 0 1 24 \n1 finalize\n"

static void trace_is_read(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_actions actions = {0};
    assert_true(read_two(HEAD_0 "0 send -333 3 8 0\n" SENDS_0 END_0, RANK_1, &actions, &err));
    assert_int_equal(actions.n_ranks, 2);
    assert_int_equal(actions.ranks[0].n_actions, 7);
    const struct pm_action *send = &actions.ranks[0].actions[2], *wait = send + 1;
    assert_int_equal(send->kind, PM_ACTION_ISEND);
    assert_int_equal(send->bytes, 80);
    assert_true(wait->is_send && wait->partner == 1);
    assert_int_equal(send[2].bytes, 16);
    assert_int_equal(send[3].partner, 1);
    assert_true(actions.in_flops);
    assert_true(pm_actions_check(&actions, &err));
    pm_actions_free(&actions);
}

/* Whether reading fails with a sentence that has TEXT in it. */
static void assert_refused(const char *first, const char *second, const char *text) {
    struct pm_error err = {0};
    struct pm_actions actions = {0};
    bool ok = read_two(first, second, &actions, &err) && pm_actions_check(&actions, &err);
    assert_false(ok);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, err.text);
    pm_actions_free(&actions);
}

static void damaged_traces_are_refused(void **state) {
    (void)state;
    assert_refused(HEAD_0 SENDS_0 END_0, "1 init\n1 recv 0 7 10 0\n", "rank 1 does not end with");
    assert_refused(HEAD_0 SENDS_0 END_0, "1 init\n1 recv 0 7 1", "line 2: the line has no end");
    assert_refused(HEAD_0 SENDS_0 END_0, "1 init\n1 recv 0 7\n", "line 2: the line is truncated");
    assert_refused(HEAD_0 SENDS_0 END_0, "1 init\n1 dance 0 7\n", "`dance` is no action");
    assert_refused(HEAD_0 SENDS_0 END_0, "1 init\nx\n", "line 2: no action");
    assert_refused(HEAD_0 SENDS_0 END_0, "1 init\n1 recv 0 7 8 99\n", "type of data");
    assert_refused(HEAD_0 END_0, RANK_1, "rank 1 receives more from rank 0 with tag 7");
    assert_refused(HEAD_0 SENDS_0 SENDS_0 END_0, RANK_1, "rank 0 sends more to rank 1 with tag 7");
    assert_refused(HEAD_0 SENDS_0 "0 finalize\n", RANK_1,
                   "as collective operation 1 rank 0 has none, rank 1 has allreduce");
    assert_refused(HEAD_0 "0 send 4 7 1\n0 finalize\n", RANK_1, "and there are 2 ranks");
}

static void written_trace_is_the_same(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_actions actions = {0}, again = {0};
    assert_true(read_two(HEAD_0 SENDS_0 END_0, RANK_1, &actions, &err));
    char *folder = in_folder("written");
    assert_true(system("mkdir -p \"$TMP/written\"") == 0);
    assert_true(pm_actions_write(&actions, folder, &err));
    char *list = in_folder("written/list");
    assert_true(pm_actions_read(list, &again, &err));
    for (size_t r = 0; r < 2; r++) {
        assert_int_equal(again.ranks[r].n_actions, actions.ranks[r].n_actions);
        assert_memory_equal(again.ranks[r].actions, actions.ranks[r].actions,
                            actions.ranks[r].n_actions * sizeof *actions.ranks[r].actions);
    }
    free(list);
    free(folder);
    pm_actions_free(&again);
    pm_actions_free(&actions);
}

static void set_spans(struct pm_rank_times *times, const double (*spans)[2], size_t n) {
    times->spans = pm_alloc(n, sizeof *times->spans);
    for (size_t i = 0; i < n; i++)
        times->spans[i] = (struct pm_span){.begin = spans[i][0], .end = spans[i][1]};
}

/* Rank 1 receives from 2 on what rank 0 sends at 5; rank 0 comes to the allreduce last; the root of
   the reduction is rank 1, which comes before rank 0. */
static void waiting_is_until_the_partner_comes(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_actions actions = {0};
    assert_true(read_two(HEAD_0 SENDS_0 END_0, RANK_1, &actions, &err));
    static const double of_0[][2] = {{0, 0}, {0, 5}, {5, 5}, {5, 6}, {9, 10}, {10, 11}, {11, 11}};
    static const double of_1[][2] = {{0, 0}, {2, 7}, {7, 10}, {10, 12}, {12, 12}};
    struct pm_replay replay = {0};
    set_spans(PM_PUSH(&replay, ranks), of_0, 7);
    set_spans(PM_PUSH(&replay, ranks), of_1, 5);
    pm_replay_add_up(&actions, &replay);
    const struct pm_rank_times *first = &replay.ranks[0], *second = &replay.ranks[1];
    assert_true(second->spans[1].waiting == 3);
    assert_true(second->spans[2].waiting == 2);
    assert_true(second->spans[3].waiting == 0);
    assert_true(first->spans[3].waiting == 0 && first->spans[4].waiting == 0);
    assert_true(first->computation == 5 && first->communication == 3 && first->waiting == 0);
    assert_true(second->computation == 0 && second->waiting == 5 && second->communication == 5);
    assert_true(first->seconds == 11 && second->seconds == 12);
    pm_replay_free(&replay);
    pm_actions_free(&actions);
}

/* ---- events of a run ------------------------------------------------------------------------- */

enum { PATH_RECV = 1, PATH_WAIT, PATH_SUM };

static void add_event(struct pm_communication *c, uint32_t process, struct pm_event_kind kind) {
    *PM_PUSH(c, counts) = (struct pm_event_count){process, 0, kind, 1};
}

static void add_trace(struct pm_communication *c, uint32_t process, uint32_t first, uint32_t n) {
    struct pm_trace *trace = PM_PUSH(c, traces);
    trace->process = process;
    trace->n_events = n;
    *PM_PUSH(trace, sequences) = 0;
    for (uint32_t i = 0; i < n; i++)
        *PM_PUSH(trace, nodes) = (struct pm_trace_node){.item = first + i};
}

/* Rank 0 receives without waiting, waits, and both add up; rank 1 sends. */
static struct pm_communication *two_ranks(void) {
    struct pm_communication *c = pm_communication_new();
    struct pm_communicator *world = PM_PUSH(c, communicators);
    world->made_by = PM_N_OPERATIONS;
    const uint32_t request = 0;
    for (int32_t i = 0; i < 2; i++)
        *PM_PUSH(world, members) = i;
    for (uint64_t i = PATH_RECV; i <= PATH_SUM; i++)
        pm_call_paths_add(&c->paths, PM_NO_PATH, 0, 0x1000 + i);
    struct pm_event_kind receive = {.path = PATH_RECV,
                                    .operation = PM_MPI_Irecv,
                                    .partner = 1,
                                    .tag = 3,
                                    .bytes_received = 80,
                                    .requests = pm_request_list(c, &request, 1)};
    struct pm_event_kind wait = {.path = PATH_WAIT,
                                 .operation = PM_MPI_Wait,
                                 .partner = PM_NO_PARTNER,
                                 .requests = receive.requests};
    struct pm_event_kind sum = {.path = PATH_SUM,
                                .operation = PM_MPI_Allreduce,
                                .partner = PM_NO_PARTNER,
                                .bytes_sent = 8,
                                .bytes_received = 8};
    struct pm_event_kind send = {
        .path = PATH_RECV, .operation = PM_MPI_Send, .partner = 0, .tag = 3, .bytes_sent = 80};
    add_event(c, 0, receive);
    add_event(c, 0, wait);
    add_event(c, 0, sum);
    add_event(c, 1, send);
    add_event(c, 1, sum);
    add_trace(c, 0, 0, 3);
    add_trace(c, 1, 3, 2);
    return c;
}

static void add_interval(struct pm_intervals *intervals, uint32_t begin, uint32_t end,
                         uint64_t count) {
    struct pm_interval *row = PM_PUSH(intervals, rows);
    *row = (struct pm_interval){.begin = begin, .end = end, .kind = PM_NONE, .n = 1};
    *PM_PUSH(row, edges) = (struct pm_edge_count){0, count};
}

static void events_become_actions(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_structure structure = {0};
    struct pm_communication *c = two_ranks();
    struct pm_intervals intervals = {0};
    for (uint64_t i = PATH_RECV; i <= PATH_SUM; i++)
        pm_call_paths_add(&intervals.paths, PM_NO_PATH, 0, 0x1000 + i);
    /* The call at PATH_WAIT ends intervals, that at PATH_RECV does not. */
    add_interval(&intervals, PM_NO_PATH, PATH_WAIT, 5);
    add_interval(&intervals, PATH_WAIT, PATH_SUM, 7);
    add_interval(&intervals, PATH_SUM, PM_NO_PATH, 2);
    double per_edge = 1, rank_seconds[] = {14, 9};
    struct pm_computation computation = {1, &per_edge};
    struct pm_rank of[] = {{.process = 0, .rank = 0, .size = 2},
                           {.process = 1, .rank = 1, .size = 2}};
    struct pm_ranks ranks = {.ranks = of, .n_ranks = 2};
    struct pm_interval_times times = pm_interval_times_of(&intervals, &computation, &c->paths);
    struct pm_run_to_replay run = {&structure, c, &ranks, &times, rank_seconds};
    struct pm_actions actions = {0};
    struct pm_replay_sources sources = {0};
    if (!pm_actions_of_run(&run, &actions, &sources, &err))
        fail_msg("%s", err.text);
    static const uint8_t expected[] = {PM_ACTION_INIT,    PM_ACTION_COMPUTE, PM_ACTION_IRECV,
                                       PM_ACTION_WAIT,    PM_ACTION_COMPUTE, PM_ACTION_ALLREDUCE,
                                       PM_ACTION_COMPUTE, PM_ACTION_FINALIZE};
    const struct pm_rank_actions *first = &actions.ranks[0];
    assert_int_equal(first->n_actions, sizeof expected);
    for (size_t i = 0; i < sizeof expected; i++)
        assert_int_equal(first->actions[i].kind, expected[i]);
    assert_true(first->actions[1].work == 5 && first->actions[4].work == 7 &&
                first->actions[6].work == 2);
    assert_int_equal(first->actions[3].partner, 1);
    assert_true(sources.by_intervals == 14);
    /* Rank 1 has no intervals: three times a third. */
    assert_true(sources.evenly == 9);
    assert_true(actions.ranks[1].actions[1].work == 3);
    assert_true(pm_actions_check(&actions, &err));
    pm_actions_free(&actions);

    c->traces[1].n_lost = 4;
    assert_false(pm_actions_of_run(&run, &actions, &sources, &err));
    assert_non_null(strstr(err.text, "rank 1 is truncated"));
    pm_actions_free(&actions);
    c->traces[1].n_lost = 0;
    c->counts[4].kind.operation = PM_MPI_Put;
    assert_false(pm_actions_of_run(&run, &actions, &sources, &err));
    assert_non_null(strstr(err.text, "MPI_Put"));
    pm_actions_free(&actions);
    for (size_t i = 0; i < intervals.n_rows; i++)
        pm_interval_free(&intervals.rows[i]);
    free(times.rows);
    free(intervals.rows);
    pm_call_paths_free(&intervals.paths);
    pm_communication_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_is_read),
        cmocka_unit_test(damaged_traces_are_refused),
        cmocka_unit_test(written_trace_is_the_same),
        cmocka_unit_test(waiting_is_until_the_partner_comes),
        cmocka_unit_test(events_become_actions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
