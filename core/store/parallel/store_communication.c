/* The profile store: communication of runs of MPI programs, and traffic on sockets
   (core/communication/communication.h). */
#include <stdlib.h>
#include <string.h>

#include "core/store/private.h"

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_communicators(struct pm_store *store, int64_t run,
                              const struct pm_communication *of, struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, PM_COMMUNICATORS, run, err);
    for (size_t i = 0; i < of->n_communicators; i++) {
        const struct pm_communicator *is = &of->communicators[i];
        const struct pm_communicator_row row = {
            .number = is->number,
            .size = (uint32_t)is->n_members,
            .made_by = is->made_by,
            .members = {is->members, is->n_members * sizeof *is->members},
            .remote = {is->remote, is->n_remote * sizeof *is->remote}};
        pm_rows_put(&rows, &row);
    }
    return pm_rows_end(&rows);
}

/* The first is empty. */
static bool put_request_lists(struct pm_store *store, int64_t run,
                              const struct pm_communication *of, struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, PM_REQUEST_LISTS, run, err);
    for (uint32_t i = 1; i < of->n_requests; i++) {
        const struct pm_request_list *is = &of->requests[i];
        const struct pm_request_list_row row = {i,
                                                {is->numbers, is->n_numbers * sizeof *is->numbers}};
        pm_rows_put(&rows, &row);
    }
    return pm_rows_end(&rows);
}

static bool put_events(struct pm_store *store, int64_t run, const struct pm_communication *of,
                       const uint32_t *paths, struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, PM_EVENTS, run, err);
    for (size_t i = 0; i < of->n_counts && rows.ok; i++) {
        struct pm_event_count row = of->counts[i];
        row.kind.path = paths[row.kind.path];
        pm_rows_put(&rows, &row);
    }
    return pm_rows_end(&rows);
}

static struct pm_blob encode_trace(const struct pm_trace *trace) {
    size_t starts = trace->n_sequences * sizeof *trace->sequences,
           nodes = trace->n_nodes * sizeof *trace->nodes;
    uint32_t n = (uint32_t)trace->n_sequences;
    char *bytes = pm_alloc(sizeof n + starts + nodes, 1);
    memcpy(bytes, &n, sizeof n);
    if (starts > 0)
        memcpy(bytes + sizeof n, trace->sequences, starts);
    if (nodes > 0)
        memcpy(bytes + sizeof n + starts, trace->nodes, nodes);
    return (struct pm_blob){bytes, sizeof n + starts + nodes};
}

static bool put_traces(struct pm_store *store, int64_t run, const struct pm_communication *of,
                       struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, PM_TRACES, run, err);
    for (size_t i = 0; i < of->n_traces; i++) {
        const struct pm_trace *trace = &of->traces[i];
        const struct pm_trace_row row = {trace->process, trace->thread, trace->n_events,
                                         trace->n_lost, encode_trace(trace)};
        pm_rows_put(&rows, &row);
        pm_row_free(PM_TRACES, &row);
    }
    return pm_rows_end(&rows);
}

static int compare_traffic(const void *left, const void *right) {
    const struct pm_socket_traffic *a = left, *b = right;
    int order = PM_COMPARE(a->process, b->process);
    order = order ? order : PM_COMPARE(a->thread, b->thread);
    order = order ? order : PM_COMPARE(a->path, b->path);
    return order ? order : PM_COMPARE(a->socket, b->socket);
}

/* Paths that were apart in the process may be one in the store: their rows are added up. */
static bool put_traffic(struct pm_store *store, int64_t run, const struct pm_communication *of,
                        const uint32_t *paths, struct pm_error *err) {
    struct pm_socket_traffic *all = pm_alloc(of->n_traffic, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < of->n_traffic; i++) {
        all[i] = of->traffic[i];
        all[i].path = paths[all[i].path];
    }
    PM_SORT(all, of->n_traffic, compare_traffic);
    for (size_t i = 0; i < of->n_traffic; i++) {
        if (n == 0 || compare_traffic(&all[i], &all[n - 1]) != 0) {
            all[n++] = all[i];
            continue;
        }
        all[n - 1].sends += all[i].sends;
        all[n - 1].receives += all[i].receives;
        all[n - 1].bytes_sent += all[i].bytes_sent;
        all[n - 1].bytes_received += all[i].bytes_received;
    }
    bool ok = pm_store_put_rows(store, PM_TRAFFIC, run, all, n, err);
    free(all);
    return ok;
}

bool pm_store_put_communication(struct pm_store *store, const struct pm_structure *structure,
                                const struct pm_parameters *parameters,
                                const struct pm_communication *communication,
                                struct pm_error *err) {
    const struct pm_communication_row row = {communication->n_lost};
    int64_t run = pm_store_replace(store, parameters, PM_COMMUNICATIONS, PM_TRAFFIC, err);
    uint32_t *paths =
        run ? pm_store_put_call_paths(store, structure, &communication->paths, err) : NULL;
    bool ok = paths && pm_store_put_rows(store, PM_COMMUNICATIONS, run, &row, 1, err) &&
              put_communicators(store, run, communication, err) &&
              put_request_lists(store, run, communication, err) &&
              put_events(store, run, communication, paths, err) &&
              put_traces(store, run, communication, err) &&
              pm_store_put_rows(store, PM_SOCKETS, run, communication->sockets,
                                communication->n_sockets, err) &&
              put_traffic(store, run, communication, paths, err);
    free(paths);
    return pm_store_end(store, ok, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_communicators(struct pm_store *store, int64_t run, struct pm_communication *to,
                               struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_COMMUNICATORS, run, err);
    const struct pm_communicator_row *row;
    while ((row = pm_rows_next(&rows))) {
        struct pm_communicator *is = PM_PUSH(to, communicators);
        is->number = row->number;
        is->made_by = row->made_by;
        is->members = row->members.data;
        is->n_members = row->members.n / sizeof *is->members;
        is->remote = row->remote.data;
        is->n_remote = row->remote.n / sizeof *is->remote;
        if (row->members.n % sizeof *is->members != 0 || row->remote.n % sizeof *is->remote != 0)
            pm_rows_damaged(&rows);
    }
    return pm_rows_end(&rows);
}

static bool read_request_lists(struct pm_store *store, int64_t run, struct pm_communication *to,
                               struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_REQUEST_LISTS, run, err);
    const struct pm_request_list_row *row;
    while ((row = pm_rows_next(&rows))) {
        bool ok = row->id == to->n_requests && row->numbers.n % sizeof(uint32_t) == 0;
        struct pm_request_list *is = PM_PUSH(to, requests);
        is->numbers = row->numbers.data;
        is->n_numbers = row->numbers.n / sizeof *is->numbers;
        if (!ok)
            pm_rows_damaged(&rows);
    }
    return pm_rows_end(&rows);
}

static bool decode_trace(const struct pm_blob *bytes, struct pm_trace *trace) {
    struct pm_reader in = pm_reader_of(bytes->data, bytes->n);
    uint64_t n = pm_take_unsigned(&in, 4);
    for (uint64_t i = 0; i < n && !in.fault; i++)
        *PM_PUSH(trace, sequences) = (uint32_t)pm_take_unsigned(&in, 4);
    while (!in.fault && pm_bytes_left(&in) > 0)
        pm_take_into(&in, PM_PUSH(trace, nodes), sizeof *trace->nodes);
    return !in.fault;
}

static bool read_traces(struct pm_store *store, int64_t run, struct pm_communication *to,
                        struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_TRACES, run, err);
    const struct pm_trace_row *row;
    while ((row = pm_rows_next(&rows))) {
        struct pm_trace *trace = PM_PUSH(to, traces);
        *trace = (struct pm_trace){.process = row->process,
                                   .thread = row->thread,
                                   .n_events = row->events,
                                   .n_lost = row->lost};
        if (!decode_trace(&row->data, trace))
            pm_rows_damaged(&rows);
        pm_row_free(PM_TRACES, row);
    }
    return pm_rows_end(&rows);
}

static bool read_all(struct pm_store *store, int64_t run, struct pm_communication *to,
                     struct pm_error *err) {
    if (!(pm_store_call_paths(store, &to->paths, err) && read_communicators(store, run, to, err) &&
          read_request_lists(store, run, to, err) &&
          PM_READ_ROWS(store, PM_EVENTS, run, to, counts, err) &&
          read_traces(store, run, to, err) &&
          PM_READ_ROWS(store, PM_SOCKETS, run, to, sockets, err) &&
          PM_READ_ROWS(store, PM_TRAFFIC, run, to, traffic, err)))
        return false;
    for (size_t i = 0; i < to->n_sockets; i++)
        if (!to->sockets[i].text)
            to->sockets[i].text = pm_strdup("");
    return true;
}

bool pm_store_has_communication(struct pm_store *store, const struct pm_parameters *parameters,
                                bool *found, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    *found = false;
    return run == 0 ||
           (run > 0 && pm_store_has_rows(store, PM_COMMUNICATIONS, run, NULL, 0, found, err));
}

struct pm_communication *pm_store_communication(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err) {
    struct pm_communication_row row;
    bool found;
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0 || !pm_store_read_row(store, PM_COMMUNICATIONS, run, &row, &found, err) || !found)
        return NULL;
    struct pm_communication *communication = pm_communication_new();
    communication->n_lost = row.lost;
    if (read_all(store, run, communication, err)) {
        if (pm_communication_is_valid(communication, err))
            return communication;
        pm_fail_in(err, "%s", store->path);
    }
    pm_communication_free(communication);
    return NULL;
}
