/* Communication comes back from the store as it was put in, goes with its run, and damaged traces
   are seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/communication/communication.h"
#include "tests/unit/store_example.h"

/* Two ranks: 0 sends 100 times to 1, two receives begin and end together, and a barrier follows. */
static struct pm_communication *example(void) {
    struct pm_communication *c = pm_communication_new();
    uint32_t outer = pm_call_paths_add(&c->paths, 0, 0, 0x1008);
    uint32_t inner = pm_call_paths_add(&c->paths, outer, 0, 0x100c);
    struct pm_communicator *world = PM_PUSH(c, communicators);
    world->made_by = PM_N_OPERATIONS;
    for (int32_t i = 0; i < 2; i++)
        *PM_PUSH(world, members) = i;
    const uint32_t both[] = {0, 1};
    struct pm_event_kind send = {.path = inner,
                                 .operation = PM_MPI_Send,
                                 .partner = 1,
                                 .source = PM_NO_PARTNER,
                                 .tag = 7,
                                 .source_tag = PM_NO_TAG,
                                 .bytes_sent = 800};
    struct pm_event_kind wait = {.path = outer,
                                 .operation = PM_MPI_Waitall,
                                 .communicator = PM_NONE,
                                 .partner = PM_NO_PARTNER,
                                 .source = PM_NO_PARTNER,
                                 .tag = PM_NO_TAG,
                                 .source_tag = PM_NO_TAG,
                                 .requests = pm_request_list(c, both, 2)};
    struct pm_event_kind lost = {.path = 0,
                                 .operation = PM_MPI_Irecv,
                                 .partner = PM_ANY_SOURCE,
                                 .source = PM_NO_PARTNER,
                                 .tag = PM_ANY_TAG,
                                 .source_tag = PM_NO_TAG,
                                 .bytes_received = PM_UNKNOWN_BYTES,
                                 .requests = pm_request_list(c, both + 1, 1)};
    *PM_PUSH(c, counts) = (struct pm_event_count){0, 0, send, 100};
    *PM_PUSH(c, counts) = (struct pm_event_count){0, 0, wait, 10};
    *PM_PUSH(c, counts) = (struct pm_event_count){1, 3, lost, 1};
    struct pm_trace *trace = PM_PUSH(c, traces);
    *PM_PUSH(trace, sequences) = 0;
    *PM_PUSH(trace, nodes) = (struct pm_trace_node){.item = 0};
    *PM_PUSH(trace, sequences) = 1;
    *PM_PUSH(trace, nodes) = (struct pm_trace_node){.item = 0, .times = 10};
    *PM_PUSH(trace, nodes) = (struct pm_trace_node){.item = 1};
    *PM_PUSH(trace, sequences) = 3;
    *PM_PUSH(trace, nodes) = (struct pm_trace_node){.item = 1, .times = 10};
    trace->n_events = 110;
    trace = PM_PUSH(c, traces);
    *trace = (struct pm_trace){.process = 1, .thread = 3, .n_events = 1, .n_lost = 5};
    *PM_PUSH(trace, sequences) = 0;
    *PM_PUSH(trace, nodes) = (struct pm_trace_node){.item = 2};
    c->n_lost = 9;
    return c;
}

static void assert_equal(const struct pm_communication *a, const struct pm_communication *b) {
    assert_int_equal(a->n_counts, b->n_counts);
    for (size_t i = 0; i < a->n_counts; i++) {
        const struct pm_event_count *one = &a->counts[i], *other = &b->counts[i];
        assert_int_equal(one->process, other->process);
        assert_int_equal(one->thread, other->thread);
        assert_int_equal(one->n, other->n);
        assert_int_equal(one->kind.operation, other->kind.operation);
        assert_int_equal(one->kind.communicator, other->kind.communicator);
        assert_int_equal(one->kind.partner, other->kind.partner);
        assert_int_equal(one->kind.source, other->kind.source);
        assert_int_equal(one->kind.tag, other->kind.tag);
        assert_int_equal(one->kind.source_tag, other->kind.source_tag);
        assert_true(one->kind.bytes_sent == other->kind.bytes_sent);
        assert_true(one->kind.bytes_received == other->kind.bytes_received);
        assert_int_equal(one->kind.requests, other->kind.requests);
        assert_int_equal(a->paths.sites[one->kind.path].return_address,
                         b->paths.sites[other->kind.path].return_address);
    }
    assert_int_equal(a->n_communicators, b->n_communicators);
    assert_int_equal(a->communicators[0].n_members, b->communicators[0].n_members);
    assert_int_equal(a->communicators[0].members[1], b->communicators[0].members[1]);
    assert_int_equal(a->communicators[0].made_by, b->communicators[0].made_by);
    assert_int_equal(a->n_requests, b->n_requests);
    assert_int_equal(a->requests[1].n_numbers, b->requests[1].n_numbers);
    assert_int_equal(a->requests[1].numbers[1], b->requests[1].numbers[1]);
    assert_int_equal(a->n_traces, b->n_traces);
    assert_int_equal(a->n_lost, b->n_lost);
    assert_int_equal(a->traces[1].thread, b->traces[1].thread);
    assert_int_equal(a->traces[1].n_lost, b->traces[1].n_lost);
}

/* 10 times: 10 sends, then a wait. */
static void assert_order(const struct pm_trace *trace) {
    struct pm_trace_walk walk = pm_trace_walk(trace);
    uint32_t event, n = 0;
    for (; pm_trace_next(&walk, &event); n++)
        assert_int_equal(event, n % 11 == 10 ? 1 : 0);
    assert_int_equal(n, 110);
}

static void communication_comes_back(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_communication *c = example();
    assert_true(pm_communication_is_valid(c, &err));
    assert_order(&c->traces[0]);
    struct pm_store *store = open_new();
    struct pm_structure *s = small_structure(1);
    put(store, 8);
    put(store, 16);
    struct pm_parameters at = size_of(16);
    bool found = true;
    assert_true(pm_store_has_communication(store, &at, &found, &err) && !found);
    assert_null(pm_store_communication(store, &at, &err));
    assert_int_equal(err.kind, PM_ERROR_NONE);
    for (int twice = 0; twice < 2; twice++)
        assert_true(pm_store_put_communication(store, s, &at, c, &err));
    assert_true(pm_store_has_communication(store, &at, &found, &err) && found);
    struct pm_communication *back = pm_store_communication(store, &at, &err);
    assert_non_null(back);
    assert_equal(c, back);
    assert_order(&back->traces[0]);
    pm_communication_free(back);
    put(store, 16); /* the run anew */
    assert_true(pm_store_has_communication(store, &at, &found, &err) && !found);
    at = size_of(99);
    assert_false(pm_store_put_communication(store, s, &at, c, &err));
    pm_store_close(store);
    pm_structure_free(s);
    pm_communication_free(c);
}

static void damaged_traces_are_seen(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_communication *c = example();
    struct pm_trace *trace = &c->traces[0];
    trace->nodes[3].item = 2; /* a loop over itself */
    assert_false(pm_communication_is_valid(c, &err));
    trace->nodes[3].item = 1;
    trace->nodes[1].times = 1;
    assert_false(pm_trace_is_valid(trace, 3));
    trace->nodes[1].times = 10;
    assert_false(pm_trace_is_valid(trace, 1));
    trace->sequences[1] = 9;
    assert_false(pm_trace_is_valid(trace, 3));
    trace->sequences[1] = 1;
    trace->n_events++;
    assert_false(pm_trace_is_valid(trace, 3));
    pm_communication_free(c);
}

static void damaged_tables_are_seen(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_communication *c = example();
    struct pm_store *store = open_new();
    struct pm_structure *s = small_structure(1);
    struct pm_parameters at = size_of(8);
    put(store, 8);
    assert_true(pm_store_put_communication(store, s, &at, c, &err));
    pm_store_close(store);
    run_sql("UPDATE communication SET requests = 77 WHERE id = 1");
    store = pm_store_open(path, PM_STORE_READ, &err);
    assert_null(pm_store_communication(store, &at, &err));
    assert_int_equal(err.kind, PM_ERROR_INPUT);
    pm_store_close(store);
    pm_structure_free(s);
    pm_communication_free(c);
}

static void events_tell_who_sends_to_whom(void **state) {
    (void)state;
    int32_t to, from;
    struct pm_event_kind kind = {.operation = PM_MPI_Sendrecv, .partner = 1, .source = 2};
    assert_true(pm_event_sends(&kind, &to) && to == 1);
    assert_true(pm_event_receives(&kind, &from) && from == 2);
    kind.source = PM_NULL_PARTNER;
    assert_false(pm_event_receives(&kind, &from));
    kind.operation = PM_MPI_Send;
    assert_true(pm_event_sends(&kind, &to) && !pm_event_receives(&kind, &from));
    kind.operation = PM_MPI_Bcast;
    assert_false(pm_event_sends(&kind, &to) || pm_event_receives(&kind, &from));
    kind.operation = PM_MPI_Get;
    kind.bytes_received = 8;
    assert_true(!pm_event_sends(&kind, &to) && pm_event_receives(&kind, &from));
    assert_string_equal(pm_operation_name(PM_MPI_Iallreduce), "MPI_Iallreduce");
}

static struct pm_call_times *times_example(void) {
    struct pm_call_times *times = pm_alloc(1, sizeof *times);
    uint32_t outer = pm_call_paths_add(&times->paths, 0, 0, 0x1008);
    uint32_t inner = pm_call_paths_add(&times->paths, outer, 0, 0x100c);
    *PM_PUSH(times, calls) = (struct pm_call_time){.rank = 0,
                                                   .path = inner,
                                                   .operation = PM_MPI_Send,
                                                   .partner = 1,
                                                   .source = PM_NO_PARTNER,
                                                   .n = 100,
                                                   .seconds = 3,
                                                   .least_seconds = 0.01,
                                                   .waiting_seconds = 1,
                                                   .unknown_seconds = 2};
    *PM_PUSH(times, calls) = (struct pm_call_time){
        .rank = 1, .path = outer, .operation = PM_MPI_Waitall, .partner = PM_NO_PARTNER};
    *PM_PUSH(times, spans) = (struct pm_rank_span){.rank = 1, .seconds = 5};
    return times;
}

static void times_of_calls_come_back_and_go_with_their_run(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_call_times *times = times_example();
    struct pm_structure *s = small_structure(1);
    struct pm_store *store = open_new();
    struct pm_parameters at = size_of(16);
    put(store, 16);
    assert_null(pm_store_call_times(store, &at, &err)); /* as of an old store */
    assert_int_equal(err.kind, PM_ERROR_NONE);
    for (int twice = 0; twice < 2; twice++)
        assert_true(pm_store_put_call_times(store, s, &at, times, &err));
    struct pm_call_times *back = pm_store_call_times(store, &at, &err);
    assert_non_null(back);
    assert_int_equal(back->n_calls, 2);
    const struct pm_call_time *one = &times->calls[0], *other = &back->calls[0];
    assert_int_equal(other->operation, PM_MPI_Send);
    assert_int_equal(other->partner, 1);
    assert_int_equal(other->n, 100);
    assert_true(other->seconds == one->seconds && other->least_seconds == one->least_seconds &&
                other->waiting_seconds == one->waiting_seconds &&
                other->unknown_seconds == one->unknown_seconds);
    assert_int_equal(back->paths.sites[other->path].return_address, 0x100c);
    assert_int_equal(back->spans[0].rank, 1);
    pm_call_times_free(back);
    put(store, 16);
    assert_null(pm_store_call_times(store, &at, &err));
    times->calls[0].waiting_seconds = 4; /* more than there is */
    assert_false(pm_call_times_are_valid(times, &err));
    pm_call_times_free(times);
    pm_structure_free(s);
    pm_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(communication_comes_back, set_up, tear_down),
        cmocka_unit_test(damaged_traces_are_seen),
        cmocka_unit_test_setup_teardown(damaged_tables_are_seen, set_up, tear_down),
        cmocka_unit_test(events_tell_who_sends_to_whom),
        cmocka_unit_test_setup_teardown(times_of_calls_come_back_and_go_with_their_run, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
