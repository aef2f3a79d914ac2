/* Communication in the raw file: what the runtime writes is read as it was, and what cannot be is
   refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/mpi_operations.h"
#include "measure/raw/raw.h"
#include "runtime/raw_output/raw_output.h"

/* What a test changes of the usual file. */
struct content {
    uint32_t made_by, n_members;
    int32_t member;
    uint32_t list_length;
    struct pm_raw_event event;
    uint64_t thread, second_thread; /* of communication, and of its trace */
    uint32_t n_sequences, n_nodes;
    uint32_t n_socket_rows; /* of a path that is not there */
    struct pm_raw_call_time time;
    uint64_t n_logged;
    uint8_t last_byte; /* of the log */
    struct pm_raw_mpi_span span;
};
static const struct content usual = {
    .made_by = PM_MPI_Comm_split,
    .n_members = 2,
    .member = 1,
    .list_length = 2,
    .event =
        {.operation = PM_MPI_Send, .requests = 1, .partner = 1, .source = PM_NO_PARTNER, .n = 5},
    .thread = 3,
    .second_thread = 3,
    .n_sequences = 2,
    .n_nodes = 2,
    .time = {.ns = 900, .least_ns = 100},
    .n_logged = 2,
    .last_byte = 5,
    .span = {.begin_ns = 100, .end_ns = 2000, .clock = {1, 2}},
};

static void add_file(struct pm_raw_builder *builder, const struct content *content) {
    const uint64_t meta[] = {4711, 1, 1700000000000000000, 2000, 1000, 2, 3, 0};
    const struct pm_raw_trace_node nodes[2] = {{0, 0}, {0, 5}};
    const uint32_t sequences[2] = {0, 1};
    pm_raw_begin(builder);
    pm_raw_section_begin(builder, PM_RAW_META);
    pm_raw_add(builder, meta, sizeof meta);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_COMMUNICATORS);
    pm_raw_add_u32(builder, content->made_by);
    pm_raw_add_u32(builder, content->n_members);
    pm_raw_add_u32(builder, 0);
    pm_raw_add_u32(builder, 0);
    pm_raw_add_u32(builder, (uint32_t)content->member);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_REQUESTS);
    pm_raw_add_u32(builder, content->list_length);
    pm_raw_add_u32(builder, 7);
    pm_raw_add_u32(builder, 9);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_COMMUNICATION);
    pm_raw_add_u64(builder, content->thread);
    pm_raw_add_u64(builder, 0);
    pm_raw_add(builder, &content->event, sizeof content->event);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_TRACE);
    pm_raw_add_u64(builder, content->second_thread);
    pm_raw_add_u64(builder, 5);
    pm_raw_add_u64(builder, 0);
    pm_raw_add_u32(builder, content->n_sequences);
    pm_raw_add_u32(builder, content->n_nodes);
    pm_raw_add(builder, sequences, sizeof sequences);
    pm_raw_add(builder, nodes, sizeof nodes);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_CALL_TIMES);
    pm_raw_add_u64(builder, content->second_thread);
    pm_raw_add(builder, &content->time, sizeof content->time);
    pm_raw_section_end(builder);
    const uint8_t log[] = {0x80, 0x08, 100, 7, content->last_byte}; /* 1024, 100, 7, … */
    pm_raw_section_begin(builder, PM_RAW_CALL_LOG);
    pm_raw_add_u64(builder, content->second_thread);
    pm_raw_add_u64(builder, content->n_logged);
    pm_raw_add(builder, log, sizeof log);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_MPI_SPAN);
    pm_raw_add(builder, &content->span, sizeof content->span);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_SOCKETS);
    pm_raw_add_u64(builder, 6);
    for (uint32_t i = 0; i < content->n_socket_rows; i++) {
        const struct pm_raw_socket_traffic traffic = {.path = i, .is_new = 1};
        const char text[PM_RAW_SOCKET_TEXT] = "unix";
        pm_raw_add(builder, &traffic, sizeof traffic);
        pm_raw_add(builder, text, sizeof text);
    }
    pm_raw_section_end(builder);
}

/* As pm_raw_save completes a file. */
static struct pm_raw *read_back(const struct content *content, struct pm_error *err) {
    struct pm_raw_builder builder = {0};
    add_file(&builder, content);
    uint64_t file_bytes = builder.used + 8;
    memcpy(builder.bytes + offsetof(struct pm_raw_header, n_sections), &builder.n_sections, 4);
    memcpy(builder.bytes + offsetof(struct pm_raw_header, file_bytes), &file_bytes, 8);
    pm_raw_add_u64(&builder, XXH3_64bits(builder.bytes, builder.used));
    struct pm_raw *raw = pm_raw_read_memory(builder.bytes, builder.used, "file", err);
    pm_raw_builder_free(&builder);
    return raw;
}

static void what_is_written_is_read(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_raw *raw = read_back(&usual, &err);
    assert_non_null(raw);
    assert_true(raw->has_communication);
    assert_int_equal(raw->n_communicators, 1);
    assert_int_equal(raw->communicators[0].members[1], 1);
    assert_int_equal(raw->n_requests, 2);
    assert_int_equal(raw->requests[1].numbers[1], 9);
    assert_int_equal(raw->n_communication, 1);
    const struct pm_raw_communication *of = &raw->communication[0];
    assert_int_equal(of->thread, 3);
    assert_int_equal(of->n_events, 1);
    assert_memory_equal(&of->events[0], &usual.event, sizeof usual.event);
    assert_int_equal(of->n_traced, 5);
    assert_int_equal(of->n_sequences, 2);
    assert_int_equal(of->nodes[1].times, 5);
    assert_int_equal(of->n_times, 1);
    assert_int_equal(of->times[0].least_ns, 100);
    assert_int_equal(of->n_calls, 2);
    assert_int_equal(of->calls[0].begin_ns, 1024);
    assert_int_equal(of->calls[0].end_ns, 1124);
    assert_int_equal(of->calls[1].begin_ns, 1131);
    assert_int_equal(of->calls[1].end_ns, 1136);
    assert_int_equal(raw->mpi_span.end_ns, 2000);
    assert_true(raw->has_sockets);
    assert_int_equal(raw->n_lost_transfers, 6);
    pm_raw_free(raw);
}

static void assert_refused(const struct content *content) {
    struct pm_error err = {0};
    assert_null(read_back(content, &err));
    assert_int_equal(err.kind, PM_ERROR_INPUT);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        struct content content = usual;                                                            \
        content.field = value;                                                                     \
        assert_refused(&content);                                                                  \
    } while (0)
    REFUSED(made_by, PM_N_OPERATIONS + 1);
    REFUSED(n_members, UINT32_MAX);
    REFUSED(n_members, 1);
    REFUSED(member, PM_UNKNOWN_PARTNER - 1);
    REFUSED(list_length, 0);
    REFUSED(list_length, UINT32_MAX);
    REFUSED(event.operation, PM_N_OPERATIONS);
    REFUSED(event.path, 1); /* there are no paths */
    REFUSED(event.communicator, 1);
    REFUSED(event.requests, 2);
    REFUSED(event.partner, PM_UNKNOWN_PARTNER - 1);
    REFUSED(thread, UINT64_MAX);
    REFUSED(second_thread, 4);
    REFUSED(n_sequences, 0);
    REFUSED(n_sequences, UINT32_MAX);
    REFUSED(n_nodes, 3);
    REFUSED(time.least_ns, 901);
    REFUSED(n_logged, 1);
    REFUSED(n_logged, UINT64_MAX);
    REFUSED(last_byte, 0x85);
    REFUSED(span.end_ns, 99);
    REFUSED(n_socket_rows, 1); /* of path 0, which is none */
#undef REFUSED
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
