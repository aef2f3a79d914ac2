/* Waiting of ranks follows from when their calls began and ended: who is late, the other waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "core/mpi_operations.h"
#include "measure/mpi_times/private.h"
#include "sched/replay/replay.h"

enum { MOST_RANKS = 3 };

/* Calls of some ranks, in the order in which each makes them. */
struct example {
    struct pm_communication *communication;
    struct pm_timed_run run;
};

static void begin(struct example *example, unsigned n_ranks) {
    *example = (struct example){.communication = pm_communication_new()};
    struct pm_communicator *world = PM_PUSH(example->communication, communicators);
    world->made_by = PM_N_OPERATIONS;
    for (unsigned i = 0; i < n_ranks; i++) {
        *PM_PUSH(world, members) = (int32_t)i;
        *PM_PUSH(&example->run, processes) = (struct pm_timed_process){.rank = i, .clock = {1, 2}};
    }
    example->run.communication = example->communication;
}

/* A kind of its own for each call; returns its index. */
static uint32_t call(struct example *example, unsigned rank, uint16_t operation, int32_t partner,
                     int64_t begin_ns, int64_t end_ns) {
    struct pm_communication *c = example->communication;
    uint32_t index = (uint32_t)c->n_counts;
    *PM_PUSH(c, counts) = (struct pm_event_count){.process = rank,
                                                  .kind = {.operation = operation,
                                                           .partner = partner,
                                                           .source = PM_NO_PARTNER,
                                                           .source_tag = PM_NO_TAG},
                                                  .n = 1};
    *PM_PUSH(&example->run.processes[rank], events) =
        (struct pm_timed_event){begin_ns, end_ns, index};
    return index;
}

static void with_request(struct example *example, uint32_t index, uint32_t number) {
    example->communication->counts[index].kind.requests =
        pm_request_list(example->communication, &number, 1);
}

/* What was found, by call; the caller frees. */
static struct pm_kind_waiting *end(struct example *example) {
    struct pm_timed_run *run = &example->run;
    struct pm_kind_waiting *found = pm_alloc(example->communication->n_counts + 1, sizeof *found);
    for (size_t p = 0; p < run->n_processes; p++) {
        struct pm_timed_process *process = &run->processes[p];
        process->partners = pm_alloc(process->n_events + 1, sizeof *process->partners);
        for (size_t i = 0; i < process->n_events; i++)
            process->partners[i] = (struct pm_event_partners){PM_COMES_NEVER, PM_COMES_NEVER};
    }
    pm_match_messages(run);
    pm_match_collectives(run);
    pm_add_waiting(run, found);
    for (size_t p = 0; p < run->n_processes; p++) {
        free(run->processes[p].events);
        free(run->processes[p].partners);
    }
    free(run->processes);
    pm_communication_free(example->communication);
    return found;
}

static void a_receive_waits_for_a_late_send(void **state) {
    (void)state;
    struct example e;
    begin(&e, 2);
    uint32_t send = call(&e, 0, PM_MPI_Send, 1, 700, 710);
    uint32_t receive = call(&e, 1, PM_MPI_Recv, 0, 100, 720);
    uint32_t next_send = call(&e, 0, PM_MPI_Send, 1, 800, 810); /* which is there before */
    uint32_t next_receive = call(&e, 1, PM_MPI_Recv, 0, 900, 910);
    struct pm_kind_waiting *found = end(&e);
    assert_int_equal(found[receive].waiting_ns, 600);
    assert_int_equal(found[receive].logged_ns, 620);
    assert_int_equal(found[send].waiting_ns, 0);
    assert_int_equal(found[next_send].waiting_ns, 0); /* buffered: it ended before the receive */
    assert_int_equal(found[next_receive].waiting_ns, 0);
    free(found);
}

static void a_send_waits_unless_it_is_buffered(void **state) {
    (void)state;
    struct example e;
    begin(&e, 2);
    uint32_t large = call(&e, 0, PM_MPI_Send, 1, 100, 500);
    uint32_t buffered = call(&e, 0, PM_MPI_Bsend, 1, 600, 900);
    call(&e, 1, PM_MPI_Recv, 0, 400, 510);
    call(&e, 1, PM_MPI_Recv, 0, 800, 910);
    struct pm_kind_waiting *found = end(&e);
    assert_int_equal(found[large].waiting_ns, 300);
    assert_int_equal(found[buffered].waiting_ns, 0);
    free(found);
}

static void a_completion_waits_for_its_request(void **state) {
    (void)state;
    struct example e;
    begin(&e, 2);
    uint32_t receive = call(&e, 0, PM_MPI_Irecv, 1, 100, 110);
    uint32_t wait = call(&e, 0, PM_MPI_Wait, PM_NO_PARTNER, 200, 600);
    uint32_t unknown = call(&e, 0, PM_MPI_Wait, PM_NO_PARTNER, 700, 750);
    call(&e, 1, PM_MPI_Send, 0, 550, 560);
    with_request(&e, receive, 0);
    with_request(&e, wait, 0);
    with_request(&e, unknown, 5); /* of a request that nobody saw begin */
    struct pm_kind_waiting *found = end(&e);
    assert_int_equal(found[receive].waiting_ns, 0);
    assert_int_equal(found[wait].waiting_ns, 350);
    assert_int_equal(found[unknown].waiting_ns, 0);
    assert_int_equal(found[unknown].unknown_ns, 50);
    free(found);
}

static void collectives_wait_for_whom_they_need(void **state) {
    (void)state;
    struct example e;
    uint32_t barrier[MOST_RANKS], bcast[MOST_RANKS], reduce[MOST_RANKS], scan[MOST_RANKS];
    begin(&e, MOST_RANKS);
    for (unsigned r = 0; r < MOST_RANKS; r++) {
        barrier[r] = call(&e, r, PM_MPI_Barrier, PM_NO_PARTNER, 100 + 10 * r, 200);
        bcast[r] = call(&e, r, PM_MPI_Bcast, 1, 300 + 10 * r, 400);
        reduce[r] = call(&e, r, PM_MPI_Reduce, 0, 500 + 10 * r, 600);
        scan[r] = call(&e, r, PM_MPI_Scan, PM_NO_PARTNER, 720 - 10 * r, 800);
    }
    struct pm_kind_waiting *found = end(&e);
    const unsigned waits[4][MOST_RANKS] = {{20, 10, 0}, {10, 0, 0}, {20, 0, 0}, {0, 10, 20}};
    for (unsigned r = 0; r < MOST_RANKS; r++) {
        assert_int_equal(found[barrier[r]].waiting_ns, waits[0][r]);
        assert_int_equal(found[bcast[r]].waiting_ns, waits[1][r]);
        assert_int_equal(found[reduce[r]].waiting_ns, waits[2][r]);
        assert_int_equal(found[scan[r]].waiting_ns, waits[3][r]);
    }
    free(found);
}

/* One call of each rank, as MPI has it and as a replay does. */
struct both {
    uint16_t operation;
    enum pm_action_kind kind;
    int32_t partner;
    int64_t begin, end;
};

static void replays_wait_as_measured_calls_do(void **state) {
    (void)state;
    enum { N = 9, N_RANKS = 3, ALL = PM_NO_PARTNER };
    static const struct both calls[N][N_RANKS] = {
        /* a late send; a receive that comes late to a send that ends late, and to a buffered one */
        {{PM_MPI_Send, PM_ACTION_SEND, 1, 700, 710}, {PM_MPI_Recv, PM_ACTION_RECV, 0, 100, 720}},
        {{PM_MPI_Send, PM_ACTION_SEND, 1, 800, 930}, {PM_MPI_Recv, PM_ACTION_RECV, 0, 900, 940}},
        {{PM_MPI_Send, PM_ACTION_SEND, 1, 940, 950}, {PM_MPI_Recv, PM_ACTION_RECV, 0, 990, 999}},
        {{PM_MPI_Barrier, PM_ACTION_BARRIER, ALL, 1000, 1200},
         {PM_MPI_Barrier, PM_ACTION_BARRIER, ALL, 1100, 1200},
         {PM_MPI_Barrier, PM_ACTION_BARRIER, ALL, 1050, 1090}},
        {{PM_MPI_Bcast, PM_ACTION_BCAST, 1, 2000, 2200},
         {PM_MPI_Bcast, PM_ACTION_BCAST, 1, 2100, 2200},
         {PM_MPI_Bcast, PM_ACTION_BCAST, 1, 2300, 2350}},
        {{PM_MPI_Gather, PM_ACTION_GATHER, 2, 3000, 3200},
         {PM_MPI_Gather, PM_ACTION_GATHER, 2, 3100, 3200},
         {PM_MPI_Gather, PM_ACTION_GATHER, 2, 3050, 3150}},
        {{PM_MPI_Scan, PM_ACTION_SCAN, ALL, 4100, 4200},
         {PM_MPI_Scan, PM_ACTION_SCAN, ALL, 4000, 4200},
         {PM_MPI_Scan, PM_ACTION_SCAN, ALL, 4050, 4200}},
        {{PM_MPI_Reduce, PM_ACTION_REDUCE, 0, 5000, 5500},
         {PM_MPI_Reduce, PM_ACTION_REDUCE, 0, 5100, 5200},
         {PM_MPI_Reduce, PM_ACTION_REDUCE, 0, 5400, 5410}},
        {{PM_MPI_Allreduce, PM_ACTION_ALLREDUCE, ALL, 6000, 6500},
         {PM_MPI_Allreduce, PM_ACTION_ALLREDUCE, ALL, 6100, 6500},
         {PM_MPI_Allreduce, PM_ACTION_ALLREDUCE, ALL, 6400, 6500}},
    };
    struct example e;
    struct pm_actions actions = {0};
    struct pm_replay replay = {0};
    uint32_t index[N][N_RANKS];
    begin(&e, N_RANKS);
    for (uint32_t r = 0; r < N_RANKS; r++) {
        struct pm_rank_actions *rank = PM_PUSH(&actions, ranks);
        struct pm_rank_times *times = PM_PUSH(&replay, ranks);
        times->spans = pm_alloc(N, sizeof *times->spans);
        for (size_t i = 0; i < N; i++) {
            const struct both *both = &calls[i][r];
            if (both->end == 0)
                continue;
            index[i][r] = call(&e, r, both->operation, both->partner, both->begin, both->end);
            times->spans[rank->n_actions] =
                (struct pm_span){(double)both->begin, (double)both->end, 0};
            *PM_PUSH(rank, actions) =
                (struct pm_action){.kind = (uint8_t)both->kind, .partner = both->partner};
        }
    }
    struct pm_kind_waiting *found = end(&e);
    pm_replay_add_up(&actions, &replay);
    for (uint32_t r = 0; r < N_RANKS; r++)
        for (size_t i = 0, at = 0; i < N; i++)
            if (calls[i][r].end) {
                double waiting = replay.ranks[r].spans[at++].waiting;
                if (waiting != (double)found[index[i][r]].waiting_ns)
                    fail_msg("call %zu of rank %u: %g in the replay", i, r, waiting);
            }
    free(found);
    pm_actions_free(&actions);
    pm_replay_free(&replay);
}

static void a_probe_waits_for_what_the_next_receive_gets(void **state) {
    (void)state;
    struct example e;
    begin(&e, 2);
    call(&e, 0, PM_MPI_Send, 1, 500, 510);
    call(&e, 0, PM_MPI_Send, 1, 900, 910);
    uint32_t probe = call(&e, 1, PM_MPI_Probe, 0, 100, 520);
    uint32_t receive = call(&e, 1, PM_MPI_Recv, 0, 530, 540);
    uint32_t second = call(&e, 1, PM_MPI_Recv, 0, 550, 920);
    struct pm_kind_waiting *found = end(&e);
    assert_int_equal(found[probe].waiting_ns, 400);
    assert_int_equal(found[receive].waiting_ns, 0);
    assert_int_equal(found[second].waiting_ns, 350);
    free(found);
}

static void what_is_not_known_is_not_zero(void **state) {
    (void)state;
    struct example e;
    begin(&e, 3);
    uint32_t none = call(&e, 0, PM_MPI_Recv, PM_NULL_PARTNER, 100, 110); /* MPI_PROC_NULL */
    uint32_t far = call(&e, 0, PM_MPI_Recv, 2, 200, 300); /* from a machine with another clock */
    uint32_t odd = call(&e, 0, PM_MPI_Recv, 1, 400, 500); /* one is received, two are sent */
    call(&e, 1, PM_MPI_Send, 0, 410, 420);
    call(&e, 1, PM_MPI_Send, 0, 430, 440);
    call(&e, 2, PM_MPI_Send, 0, 250, 260);
    uint32_t barrier = call(&e, 1, PM_MPI_Barrier, PM_NO_PARTNER, 600, 650);
    e.run.processes[2].clock[1] = 3;
    struct pm_kind_waiting *found = end(&e);
    assert_int_equal(found[none].unknown_ns, 0);
    assert_int_equal(found[far].unknown_ns, 100);
    assert_int_equal(found[odd].unknown_ns, 100);
    assert_int_equal(found[barrier].unknown_ns, 50); /* the others were not seen there */
    free(found);
}

static void a_log_that_ends_early_leaves_what_is_before(void **state) {
    (void)state;
    struct example e;
    begin(&e, 2);
    uint32_t first = call(&e, 0, PM_MPI_Recv, 1, 100, 300);
    uint32_t second = call(&e, 0, PM_MPI_Recv, 1, 400, 500);
    call(&e, 1, PM_MPI_Send, 0, 250, 260);
    e.run.processes[1].is_cut = true;
    struct pm_kind_waiting *found = end(&e);
    assert_int_equal(found[first].waiting_ns, 150);
    assert_int_equal(found[second].unknown_ns, 100);
    free(found);
}

static void sums_of_which_much_is_unknown_are_unknown(void **state) {
    (void)state;
    struct pm_call_seconds sum = {0};
    pm_call_seconds_add(&sum, &(struct pm_call_time){.n = 2,
                                                     .seconds = 10,
                                                     .least_seconds = 3,
                                                     .waiting_seconds = 4,
                                                     .unknown_seconds = 0.05});
    assert_true(pm_call_seconds_waiting(&sum) == 4);
    pm_call_seconds_add(&sum, &(struct pm_call_time){
                                  .n = 1, .seconds = 1, .least_seconds = 1, .unknown_seconds = 1});
    assert_true(isnan(pm_call_seconds_waiting(&sum)));
    assert_true(sum.seconds == 11 && sum.least == 1 && sum.n == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receive_waits_for_a_late_send),
        cmocka_unit_test(a_send_waits_unless_it_is_buffered),
        cmocka_unit_test(a_completion_waits_for_its_request),
        cmocka_unit_test(collectives_wait_for_whom_they_need),
        cmocka_unit_test(replays_wait_as_measured_calls_do),
        cmocka_unit_test(a_probe_waits_for_what_the_next_receive_gets),
        cmocka_unit_test(what_is_not_known_is_not_zero),
        cmocka_unit_test(a_log_that_ends_early_leaves_what_is_before),
        cmocka_unit_test(sums_of_which_much_is_unknown_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
