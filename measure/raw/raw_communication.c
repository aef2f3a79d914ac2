/* Reads communication of a raw file. */
#include <stdlib.h>
#include <string.h>

#include "core/mpi_operations.h"
#include "measure/raw/sections.h"

static bool is_rank(int32_t rank) { return rank >= PM_UNKNOWN_PARTNER; }

bool pm_raw_read_communicators(struct pm_raw *raw, struct pm_reader *in) {
    if (raw->has_communication)
        return false;
    raw->has_communication = true;
    while (!in->fault && pm_bytes_left(in) > 0) {
        struct pm_raw_communicator *communicator = PM_PUSH(raw, communicators);
        communicator->made_by = (uint32_t)pm_take_unsigned(in, 4);
        uint64_t n_members = pm_take_unsigned(in, 4), n_remote = pm_take_unsigned(in, 4);
        if (communicator->made_by > PM_N_OPERATIONS ||
            n_members + n_remote > pm_bytes_left(in) / sizeof(int32_t))
            return false;
        for (uint64_t i = 0; i < n_members; i++)
            *PM_PUSH(communicator, members) = (int32_t)pm_take_signed(in, 4);
        for (uint64_t i = 0; i < n_remote; i++)
            *PM_PUSH(communicator, remote) = (int32_t)pm_take_signed(in, 4);
        for (uint64_t i = 0; i < n_members; i++)
            if (!is_rank(communicator->members[i]))
                return false;
        for (uint64_t i = 0; i < n_remote; i++)
            if (!is_rank(communicator->remote[i]))
                return false;
    }
    return !in->fault;
}

bool pm_raw_read_requests(struct pm_raw *raw, struct pm_reader *in) {
    if (raw->n_requests > 0)
        return false;
    PM_PUSH(raw, requests); /* list 0 */
    while (!in->fault && pm_bytes_left(in) > 0) {
        struct pm_raw_request_list *list = PM_PUSH(raw, requests);
        uint64_t n = pm_take_unsigned(in, 4);
        if (n == 0 || n > pm_bytes_left(in) / sizeof(uint32_t))
            return false;
        for (uint64_t i = 0; i < n; i++)
            *PM_PUSH(list, numbers) = (uint32_t)pm_take_unsigned(in, 4);
    }
    return !in->fault;
}

static bool event_is_valid(const struct pm_raw *raw, const struct pm_raw_event *event) {
    return event->operation < PM_N_OPERATIONS && (event->path == 0 || event->path < raw->n_paths) &&
           (event->communicator == PM_NONE || event->communicator < raw->n_communicators) &&
           (event->requests == 0 || event->requests < raw->n_requests) && is_rank(event->partner) &&
           is_rank(event->source);
}

static struct pm_raw_communication *of_thread(struct pm_raw *raw, uint64_t thread) {
    for (size_t i = raw->n_communication; i-- > 0;)
        if (raw->communication[i].thread == thread)
            return &raw->communication[i];
    return NULL;
}

bool pm_raw_read_communication(struct pm_raw *raw, struct pm_reader *in) {
    uint64_t thread = pm_take_unsigned(in, 8), n_lost = pm_take_unsigned(in, 8);
    if (in->fault || !raw->has_communication || thread > UINT32_MAX || of_thread(raw, thread) ||
        pm_bytes_left(in) % sizeof(struct pm_raw_event) != 0)
        return false;
    struct pm_raw_communication *of = PM_PUSH(raw, communication);
    of->thread = thread;
    of->n_lost = n_lost;
    while (pm_bytes_left(in) > 0) {
        struct pm_raw_event *event = PM_PUSH(of, events);
        pm_take_into(in, event, sizeof *event);
        if (!event_is_valid(raw, event))
            return false;
    }
    return true;
}

/* That it holds together, pm_trace_is_valid tells once it is ingested. */
bool pm_raw_read_trace(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_communication *of = of_thread(raw, pm_take_unsigned(in, 8));
    if (!of || of->n_sequences > 0)
        return false;
    of->n_traced = pm_take_unsigned(in, 8);
    of->n_cut = pm_take_unsigned(in, 8);
    uint64_t n_sequences = pm_take_unsigned(in, 4), n_nodes = pm_take_unsigned(in, 4);
    if (in->fault || n_sequences == 0 ||
        pm_bytes_left(in) != n_sequences * sizeof *of->sequences + n_nodes * sizeof *of->nodes)
        return false;
    for (uint64_t i = 0; i < n_sequences; i++)
        *PM_PUSH(of, sequences) = (uint32_t)pm_take_unsigned(in, 4);
    for (uint64_t i = 0; i < n_nodes; i++)
        pm_take_into(in, PM_PUSH(of, nodes), sizeof *of->nodes);
    return !in->fault;
}

/* ---- times of calls -------------------------------------------------------------------------- */

bool pm_raw_read_call_times(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_communication *of = of_thread(raw, pm_take_unsigned(in, 8));
    if (!of || of->n_times > 0 || pm_bytes_left(in) != of->n_events * sizeof *of->times)
        return false;
    for (size_t i = 0; i < of->n_events; i++) {
        pm_take_into(in, PM_PUSH(of, times), sizeof *of->times);
        if (of->times[i].least_ns > of->times[i].ns)
            return false;
    }
    return !in->fault;
}

bool pm_raw_read_call_log(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_communication *of = of_thread(raw, pm_take_unsigned(in, 8));
    uint64_t n = pm_take_unsigned(in, 8), at = 0;
    if (!of || of->n_calls > 0 || n > pm_bytes_left(in) / 2)
        return false;
    for (uint64_t i = 0; i < n && !in->fault; i++) {
        struct pm_raw_logged_call call;
        if (__builtin_add_overflow(at, pm_take_uleb(in), &call.begin_ns) ||
            __builtin_add_overflow(call.begin_ns, pm_take_uleb(in), &call.end_ns) ||
            call.end_ns > INT64_MAX)
            return false;
        *PM_PUSH(of, calls) = call;
        at = call.end_ns;
    }
    return !in->fault;
}

bool pm_raw_read_mpi_span(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_mpi_span *span = &raw->mpi_span;
    if (span->clock[0] || span->begin_ns)
        return false;
    pm_take_into(in, span, sizeof *span);
    return !in->fault && (span->end_ns == 0 || span->end_ns >= span->begin_ns);
}

/* ---- sockets --------------------------------------------------------------------------------- */

/* A text is what stands before its first zero byte, of which there is one. */
static bool take_socket(struct pm_raw *raw, struct pm_reader *in) {
    const char *text = pm_take(in, PM_RAW_SOCKET_TEXT);
    if (!text || !memchr(text, 0, PM_RAW_SOCKET_TEXT))
        return false;
    *PM_PUSH(raw, sockets) = pm_strdup(text);
    return true;
}

bool pm_raw_read_sockets(struct pm_raw *raw, struct pm_reader *in) {
    if (raw->has_sockets)
        return false;
    raw->has_sockets = true;
    raw->n_lost_transfers = pm_take_unsigned(in, 8);
    while (!in->fault && pm_bytes_left(in) >= sizeof(struct pm_raw_socket_traffic)) {
        struct pm_raw_socket_traffic *traffic = PM_PUSH(raw, socket_traffic);
        pm_take_into(in, traffic, sizeof *traffic);
        if (traffic->path == 0 || traffic->path >= raw->n_paths || traffic->is_new > 1 ||
            (traffic->is_new && !take_socket(raw, in)) || traffic->socket >= raw->n_sockets)
            return false;
    }
    return !in->fault;
}

void pm_raw_free_communication(struct pm_raw *raw) {
    for (size_t i = 0; i < raw->n_communicators; i++) {
        free(raw->communicators[i].members);
        free(raw->communicators[i].remote);
    }
    for (size_t i = 0; i < raw->n_requests; i++)
        free(raw->requests[i].numbers);
    for (size_t i = 0; i < raw->n_communication; i++) {
        free(raw->communication[i].events);
        free(raw->communication[i].sequences);
        free(raw->communication[i].nodes);
        free(raw->communication[i].times);
        free(raw->communication[i].calls);
    }
    for (size_t i = 0; i < raw->n_sockets; i++)
        free(raw->sockets[i]);
    free(raw->sockets);
    free(raw->socket_traffic);
    free(raw->communicators);
    free(raw->requests);
    free(raw->communication);
}
