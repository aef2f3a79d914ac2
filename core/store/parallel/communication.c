/* The profile store: communication of runs of MPI programs (core/communication/communication.h). */
#include <stdlib.h>
#include <string.h>

#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS communication_of_run (run INTEGER PRIMARY KEY, lost INTEGER);"
    "CREATE TABLE IF NOT EXISTS communicator (run INTEGER, number INTEGER, size INTEGER,"
    " made_by TEXT, members BLOB, remote BLOB, PRIMARY KEY (run, number)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS request_list (run INTEGER, id INTEGER, numbers BLOB,"
    " PRIMARY KEY (run, id)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS communication (run INTEGER, id INTEGER, process INTEGER,"
    " thread INTEGER, path INTEGER, operation TEXT, partner INTEGER, source INTEGER,"
    " communicator INTEGER, tag INTEGER, source_tag INTEGER, bytes_sent INTEGER,"
    " bytes_received INTEGER, requests INTEGER, n INTEGER, PRIMARY KEY (run, id)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS trace (run INTEGER, process INTEGER, thread INTEGER,"
    " events INTEGER, lost INTEGER, data BLOB, PRIMARY KEY (run, process, thread)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS socket (run INTEGER, number INTEGER, process INTEGER, text TEXT,"
    " PRIMARY KEY (run, number)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS socket_traffic (run INTEGER, process INTEGER, thread INTEGER,"
    " path INTEGER, socket INTEGER, sends INTEGER, receives INTEGER, bytes_sent INTEGER,"
    " bytes_received INTEGER, PRIMARY KEY (run, process, thread, path, socket)) WITHOUT ROWID;";

static const char *const tables[] = {"communication_of_run", "communicator", "request_list",
                                     "communication",        "trace",        "socket",
                                     "socket_traffic"};
enum { N_TABLES = sizeof tables / sizeof *tables };

bool pm_store_remove_communication(struct pm_store *store, int64_t run, struct pm_error *err) {
    bool ok = true;
    for (size_t i = 0; i < N_TABLES && ok; i++)
        ok = pm_store_remove_rows(store, tables[i], run, err);
    return ok;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_whole(struct pm_store *store, int64_t run, uint64_t n_lost, struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "INSERT INTO communication_of_run (run, lost) VALUES (?,?)", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, (int64_t)n_lost);
    bool ok = pm_store_step(store, s, err);
    sqlite3_finalize(s);
    return ok;
}

static bool put_communicators(struct pm_store *store, int64_t run,
                              const struct pm_communication *of, struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "INSERT INTO communicator (run, number, size, made_by, members, remote)"
                         " VALUES (?,?,?,?,?,?)",
                         err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < of->n_communicators; i++) {
        const struct pm_communicator *communicator = &of->communicators[i];
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, communicator->number);
        sqlite3_bind_int64(s, 3, (int64_t)communicator->n_members);
        sqlite3_bind_text(s, 4, pm_operation_name(communicator->made_by), -1, SQLITE_STATIC);
        pm_store_bind_compressed(s, 5, communicator->members,
                                 communicator->n_members * sizeof *communicator->members);
        pm_store_bind_compressed(s, 6, communicator->remote,
                                 communicator->n_remote * sizeof *communicator->remote);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_request_lists(struct pm_store *store, int64_t run,
                              const struct pm_communication *of, struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "INSERT INTO request_list (run, id, numbers) VALUES (?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 1; ok && i < of->n_requests; i++) {
        const struct pm_request_list *list = &of->requests[i];
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        pm_store_bind_compressed(s, 3, list->numbers, list->n_numbers * sizeof *list->numbers);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static void bind_bytes(sqlite3_stmt *s, int column, uint64_t bytes) {
    if (bytes == PM_UNKNOWN_BYTES)
        sqlite3_bind_null(s, column);
    else
        sqlite3_bind_int64(s, column, (int64_t)bytes);
}

static void bind_count(sqlite3_stmt *s, const struct pm_event_count *count, uint32_t path) {
    const struct pm_event_kind *kind = &count->kind;
    sqlite3_bind_int64(s, 3, count->process);
    sqlite3_bind_int64(s, 4, count->thread);
    sqlite3_bind_int64(s, 5, path);
    sqlite3_bind_text(s, 6, pm_operation_name(kind->operation), -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 7, kind->partner);
    sqlite3_bind_int64(s, 8, kind->source);
    if (kind->communicator == PM_NONE)
        sqlite3_bind_null(s, 9);
    else
        sqlite3_bind_int64(s, 9, kind->communicator);
    sqlite3_bind_int64(s, 10, kind->tag);
    sqlite3_bind_int64(s, 11, kind->source_tag);
    bind_bytes(s, 12, kind->bytes_sent);
    bind_bytes(s, 13, kind->bytes_received);
    sqlite3_bind_int64(s, 14, kind->requests);
    sqlite3_bind_int64(s, 15, (int64_t)count->n);
}

static bool put_counts(struct pm_store *store, int64_t run, const struct pm_structure *structure,
                       const struct pm_communication *of, struct pm_error *err) {
    uint32_t *paths = pm_store_put_call_paths(store, structure, &of->paths, err);
    if (!paths)
        return false;
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "INSERT INTO communication (run, id, process, thread, path, operation, partner, source,"
        " communicator, tag, source_tag, bytes_sent, bytes_received, requests, n)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < of->n_counts; i++) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        bind_count(s, &of->counts[i], paths[of->counts[i].kind.path]);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    ok = ok && pm_store_put_sockets(store, run, of, paths, err);
    free(paths);
    return ok;
}

/* u32 number of sequences, where each begins, then the nodes. */
static void *encode_trace(const struct pm_trace *trace, size_t *n_bytes) {
    size_t starts = trace->n_sequences * sizeof *trace->sequences;
    uint32_t n = (uint32_t)trace->n_sequences;
    *n_bytes = sizeof n + starts + trace->n_nodes * sizeof *trace->nodes;
    char *bytes = pm_alloc(*n_bytes, 1);
    memcpy(bytes, &n, sizeof n);
    if (n > 0)
        memcpy(bytes + sizeof n, trace->sequences, starts);
    if (trace->n_nodes > 0)
        memcpy(bytes + sizeof n + starts, trace->nodes, trace->n_nodes * sizeof *trace->nodes);
    return bytes;
}

static bool put_traces(struct pm_store *store, int64_t run, const struct pm_communication *of,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO trace (run, process, thread, events, lost, data) VALUES (?,?,?,?,?,?)",
        err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < of->n_traces; i++) {
        const struct pm_trace *trace = &of->traces[i];
        size_t n_bytes;
        void *bytes = encode_trace(trace, &n_bytes);
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, trace->process);
        sqlite3_bind_int64(s, 3, trace->thread);
        sqlite3_bind_int64(s, 4, (int64_t)trace->n_events);
        sqlite3_bind_int64(s, 5, (int64_t)trace->n_lost);
        pm_store_bind_compressed(s, 6, bytes, n_bytes);
        free(bytes);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_put_communication(struct pm_store *store, const struct pm_structure *structure,
                                const struct pm_parameters *parameters,
                                const struct pm_communication *communication,
                                struct pm_error *err) {
    if (!pm_store_begin(store, err))
        return false;
    int64_t run = pm_store_find_run(store, parameters, err);
    bool ok = run > 0 || (run == 0 && pm_fail(err, "%s: no run of this size", store->path));
    ok = ok && pm_store_run_sql(store, schema, err) &&
         pm_store_remove_communication(store, run, err) &&
         put_whole(store, run, communication->n_lost, err) &&
         put_communicators(store, run, communication, err) &&
         put_request_lists(store, run, communication, err) &&
         put_counts(store, run, structure, communication, err) &&
         put_traces(store, run, communication, err);
    return pm_store_end(store, ok, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool damaged(struct pm_store *store, struct pm_error *err) {
    return pm_fail(err, "%s: the communication of a run is damaged: run that size again",
                   store->path);
}

/* Calls ADD for each row of the run that SQL, with the run as its parameter, gives. */
static bool read_rows(struct pm_store *store, const char *sql, int64_t run,
                      struct pm_communication *to,
                      bool (*add)(sqlite3_stmt *s, struct pm_communication *to),
                      struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, sql, err);
    bool ok = true;
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    while (pm_store_next_row(store, s, &ok, err))
        ok = add(s, to) || damaged(store, err);
    sqlite3_finalize(s);
    return ok;
}

/* The numbers of 32 bits in the column; *ARRAY owned by the caller. */
static bool read_numbers(sqlite3_stmt *s, int column, void *array, size_t *n) {
    size_t n_bytes = 0;
    void *numbers = pm_store_read_compressed(s, column, &n_bytes);
    memcpy(array, &numbers, sizeof numbers);
    *n = n_bytes / sizeof(uint32_t);
    return numbers && n_bytes % sizeof(uint32_t) == 0;
}

static bool add_communicator(sqlite3_stmt *s, struct pm_communication *to) {
    struct pm_communicator *communicator = PM_PUSH(to, communicators);
    const char *maker = (const char *)sqlite3_column_text(s, 1);
    communicator->number = (uint32_t)sqlite3_column_int64(s, 0);
    communicator->made_by = maker ? pm_operation_of_name(maker) : PM_N_OPERATIONS;
    return read_numbers(s, 2, &communicator->members, &communicator->n_members) &&
           read_numbers(s, 3, &communicator->remote, &communicator->n_remote);
}

static bool add_request_list(sqlite3_stmt *s, struct pm_communication *to) {
    if (sqlite3_column_int64(s, 0) != (int64_t)to->n_requests)
        return false;
    struct pm_request_list *list = PM_PUSH(to, requests);
    return read_numbers(s, 1, &list->numbers, &list->n_numbers);
}

static uint64_t column_bytes(sqlite3_stmt *s, int column) {
    return sqlite3_column_type(s, column) == SQLITE_NULL
               ? PM_UNKNOWN_BYTES
               : (uint64_t)sqlite3_column_int64(s, column);
}

static bool add_count(sqlite3_stmt *s, struct pm_communication *to) {
    const char *operation = (const char *)sqlite3_column_text(s, 4);
    if (sqlite3_column_int64(s, 0) != (int64_t)to->n_counts || !operation)
        return false;
    *PM_PUSH(to, counts) = (struct pm_event_count){
        .process = (uint32_t)sqlite3_column_int64(s, 1),
        .thread = (uint32_t)sqlite3_column_int64(s, 2),
        .kind = {.path = (uint32_t)sqlite3_column_int64(s, 3),
                 .operation = pm_operation_of_name(operation),
                 .partner = sqlite3_column_int(s, 5),
                 .source = sqlite3_column_int(s, 6),
                 .communicator = sqlite3_column_type(s, 7) == SQLITE_NULL
                                     ? PM_NONE
                                     : (uint32_t)sqlite3_column_int64(s, 7),
                 .tag = sqlite3_column_int(s, 8),
                 .source_tag = sqlite3_column_int(s, 9),
                 .bytes_sent = column_bytes(s, 10),
                 .bytes_received = column_bytes(s, 11),
                 .requests = (uint32_t)sqlite3_column_int64(s, 12)},
        .n = (uint64_t)sqlite3_column_int64(s, 13),
    };
    return true;
}

static bool add_trace(sqlite3_stmt *s, struct pm_communication *to) {
    struct pm_trace *trace = PM_PUSH(to, traces);
    trace->process = (uint32_t)sqlite3_column_int64(s, 0);
    trace->thread = (uint32_t)sqlite3_column_int64(s, 1);
    trace->n_events = (uint64_t)sqlite3_column_int64(s, 2);
    trace->n_lost = (uint64_t)sqlite3_column_int64(s, 3);
    size_t n_bytes = 0;
    void *bytes = pm_store_read_compressed(s, 4, &n_bytes);
    struct pm_reader in = pm_reader_of(bytes, bytes ? n_bytes : 0);
    uint64_t n = pm_take_unsigned(&in, 4);
    for (uint64_t i = 0; i < n && !in.fault; i++)
        *PM_PUSH(trace, sequences) = (uint32_t)pm_take_unsigned(&in, 4);
    while (!in.fault && pm_bytes_left(&in) > 0)
        pm_take_into(&in, PM_PUSH(trace, nodes), sizeof *trace->nodes);
    free(bytes);
    return !in.fault;
}

static bool add_whole(sqlite3_stmt *s, struct pm_communication *to) {
    to->n_lost = (uint64_t)sqlite3_column_int64(s, 0);
    return true;
}

static bool read_all(struct pm_store *store, int64_t run, struct pm_communication *to,
                     struct pm_error *err) {
    return pm_store_call_paths(store, &to->paths, err) &&
           read_rows(store, "SELECT lost FROM communication_of_run WHERE run = ?", run, to,
                     add_whole, err) &&
           read_rows(store,
                     "SELECT number, made_by, members, remote FROM communicator WHERE run = ?"
                     " ORDER BY number",
                     run, to, add_communicator, err) &&
           read_rows(store, "SELECT id, numbers FROM request_list WHERE run = ? ORDER BY id", run,
                     to, add_request_list, err) &&
           read_rows(store,
                     "SELECT id, process, thread, path, operation, partner, source, communicator,"
                     " tag, source_tag, bytes_sent, bytes_received, requests, n FROM communication"
                     " WHERE run = ? ORDER BY id",
                     run, to, add_count, err) &&
           read_rows(store,
                     "SELECT process, thread, events, lost, data FROM trace WHERE run = ?"
                     " ORDER BY process, thread",
                     run, to, add_trace, err) &&
           pm_store_read_sockets(store, run, to, err);
}

bool pm_store_has_communication(struct pm_store *store, const struct pm_parameters *parameters,
                                bool *found, struct pm_error *err) {
    bool has;
    *found = false;
    if (!pm_store_has_table(store, "communication_of_run", &has, err))
        return false;
    int64_t run = has ? pm_store_find_run(store, parameters, err) : 0;
    if (run <= 0)
        return run == 0;
    sqlite3_stmt *s =
        pm_store_prepare(store, "SELECT 1 FROM communication_of_run WHERE run = ?", err);
    if (!s)
        return false;
    bool ok = true;
    sqlite3_bind_int64(s, 1, run);
    *found = pm_store_next_row(store, s, &ok, err);
    sqlite3_finalize(s);
    return ok;
}

struct pm_communication *pm_store_communication(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err) {
    bool found;
    if (!pm_store_has_communication(store, parameters, &found, err) || !found)
        return NULL;
    int64_t run = pm_store_find_run(store, parameters, err);
    struct pm_communication *communication = run > 0 ? pm_communication_new() : NULL;
    if (communication && read_all(store, run, communication, err)) {
        if (pm_communication_is_valid(communication, err))
            return communication;
        pm_fail_in(err, "%s", store->path);
    }
    pm_communication_free(communication);
    return NULL;
}
