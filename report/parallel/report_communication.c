/* `pmodel show --as communication`: events of a run by call, what goes from rank to rank, and
   traces.

   JSON: {"format": "pmodel-communication", "version": 1, program, parameters, "ranks", "events": [a
   row each]}; with --matrix "pairs" in place of events, with --trace "rank" and "threads", of each
   "thread", "events", "lost" and "trace": a list of events and of loops {"times", "body": [...]}.

   A partner is relative to the rank (rank + 1) where that makes fewer rows of a call than its
   number, around the end of the communicator's world where that makes fewer. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/labels/labels.h"
#include "report/parallel/parallel.h"

/* ---- ranks ----------------------------------------------------------------------------------- */

/* PM_NONE: it is not known. */
static uint32_t rank_of(const struct pm_communication_report *report, uint32_t process) {
    for (size_t i = 0; i < report->ranks->n_ranks; i++)
        if (report->ranks->ranks[i].process == process)
            return report->ranks->ranks[i].rank;
    return PM_NONE;
}

static uint32_t world_size(const struct pm_communication_report *report) {
    uint32_t size = report->ranks->n_ranks ? report->ranks->ranks[0].size : 0;
    const struct pm_communicator *world = pm_communicator(report->communication, 0);
    return size ? size : world ? (uint32_t)world->n_members : 1;
}

/* ---- rows of events -------------------------------------------------------------------------- */

/* How partners of the events of one call are named. */
enum naming { BY_OFFSET, BY_OFFSET_AROUND, BY_NUMBER, N_NAMINGS };

struct event_row {
    uint32_t rank; /* PM_NONE: all */
    struct pm_event_kind kind;
    int64_t partner, source; /* as they are named */
    enum naming naming;
    char *call, *path, *to, *from, *communicator; /* owned */
    const char *operation;
    double n_ranks, events, sent, received, mean;
    double tag; /* NAN: several, or none */
    struct pm_call_seconds times;
    bool times_are_mixed; /* with another row's */
    double seconds, least_seconds, waiting_seconds;
    uint32_t last_rank;
};

#define ROW(member_) PM_MEMBER(struct event_row, member_)

static const struct pm_field fields[] = {
    {"rank", PM_INDEX, ROW(rank), .header = "RANK"},
    {"call", PM_NAME, ROW(call), .header = "CALL"},
    {"path", PM_TEXT, ROW(path)},
    {"operation", PM_TEXT, ROW(operation), .header = "OPERATION", .dispensable = 4},
    {"partner", PM_TEXT, ROW(to), .header = "PARTNER"},
    {"source", PM_TEXT, ROW(from)},
    {"communicator", PM_TEXT, ROW(communicator), .header = "COMMUNICATOR", .dispensable = 2},
    {"tag", PM_NUMBER, ROW(tag)},
    {"ranks", PM_COUNT, ROW(n_ranks), .header = "RANKS", .dispensable = 1},
    {"events", PM_COUNT, ROW(events), .header = "EVENTS"},
    {"bytes_sent", PM_COUNT, ROW(sent), .header = "BYTES SENT"},
    {"bytes_received", PM_COUNT, ROW(received), .header = "RECEIVED"},
    {"bytes_per_event", PM_COUNT, ROW(mean), .header = "BYTES/EVENT", .dispensable = 3},
    {"seconds", PM_SECONDS, ROW(seconds), .header = "TIME"},
    {"least_seconds", PM_SECONDS, ROW(least_seconds)},
    {"waiting_seconds", PM_SECONDS, ROW(waiting_seconds), .header = "WAITED"},
};

static int64_t name_partner(enum naming naming, int32_t partner, uint32_t rank, uint32_t size) {
    if (partner < 0 || naming == BY_NUMBER || rank == PM_NONE)
        return partner;
    int64_t offset = (int64_t)partner - rank;
    if (naming == BY_OFFSET_AROUND)
        offset = offset > size / 2              ? offset - size
                 : 2 * offset <= -(int64_t)size ? offset + size
                                                : offset;
    return offset;
}

static char *partner_text(enum naming naming, int64_t partner, int32_t number, uint32_t rank) {
    switch (number) {
    case PM_NO_PARTNER:
        return pm_strdup("");
    case PM_NULL_PARTNER:
        return pm_strdup("none");
    case PM_ANY_SOURCE:
        return pm_strdup("any");
    case PM_UNKNOWN_PARTNER:
        return pm_strdup("?");
    default:
        break;
    }
    if (naming == BY_NUMBER || rank == PM_NONE)
        return pm_sprintf("%d", number);
    return partner == 0 ? pm_strdup("itself")
                        : pm_sprintf("rank%s%" PRId64, partner < 0 ? "\u2212" : "+",
                                     partner < 0 ? -partner : partner);
}

static char *communicator_text(const struct pm_communication *communication, uint32_t number) {
    const struct pm_communicator *of = pm_communicator(communication, number);
    if (!of)
        return pm_strdup("");
    if (number == 0)
        return pm_strdup("world");
    const char *maker = pm_operation_name(of->made_by);
    return of->n_remote ? pm_sprintf("%s (%zu and %zu)", maker ? maker + 4 : "?", of->n_members,
                                     of->n_remote)
                        : pm_sprintf("%s (%zu)", maker ? maker + 4 : "?", of->n_members);
}

/* Communicators that are made at one place differ from rank to rank: rows tell them apart by how
   they were made and how large they are. */
static bool are_alike(const struct pm_communication *communication, uint32_t a, uint32_t b) {
    const struct pm_communicator *one = pm_communicator(communication, a);
    const struct pm_communicator *other = pm_communicator(communication, b);
    return a == b || (one && other && a != 0 && b != 0 && one->made_by == other->made_by &&
                      one->n_members == other->n_members && one->n_remote == other->n_remote);
}

/* By what is shown: calls of one name are one, unless paths are told apart. */
static bool is_one_call(const struct pm_communication_report *report, const struct pm_event_kind *a,
                        const struct pm_event_kind *b) {
    return report->calls[a->path] == report->calls[b->path] && a->operation == b->operation &&
           are_alike(report->communication, a->communicator, b->communicator);
}

struct event_rows {
    PM_ARRAY(struct event_row, rows);
};

static void add_event(struct event_rows *to, const struct pm_communication_report *report,
                      const struct pm_event_count *count, uint32_t rank, bool by_rank,
                      enum naming naming, uint32_t size) {
    const struct pm_event_kind *kind = &count->kind;
    int64_t partner = name_partner(naming, kind->partner, rank, size);
    int64_t source = name_partner(naming, kind->source, rank, size);
    struct event_row *row = NULL;
    for (size_t i = 0; i < to->n_rows && !row; i++)
        if (to->rows[i].partner == partner && to->rows[i].source == source &&
            (to->rows[i].kind.partner < 0) == (kind->partner < 0) &&
            (to->rows[i].kind.source < 0) == (kind->source < 0) &&
            (!by_rank || to->rows[i].rank == rank) && is_one_call(report, &to->rows[i].kind, kind))
            row = &to->rows[i];
    if (!row) {
        row = PM_PUSH(to, rows);
        *row = (struct event_row){.rank = by_rank ? rank : PM_NONE,
                                  .kind = *kind,
                                  .partner = partner,
                                  .source = source,
                                  .naming = naming,
                                  .tag = kind->tag == PM_NO_TAG ? NAN : kind->tag,
                                  .last_rank = PM_NONE};
    }
    double n = (double)count->n;
    row->events += n;
    row->sent += kind->bytes_sent == PM_UNKNOWN_BYTES ? NAN : n * (double)kind->bytes_sent;
    row->received +=
        kind->bytes_received == PM_UNKNOWN_BYTES ? NAN : n * (double)kind->bytes_received;
    row->n_ranks += row->last_rank != rank || rank == PM_NONE;
    row->last_rank = rank;
    if (row->tag != kind->tag)
        row->tag = NAN;
}

static bool is_shown(const struct pm_communication_report *report,
                     const struct pm_event_count *count) {
    return count->n > 0 &&
           (report->rank == PM_NONE || rank_of(report, count->process) == report->rank);
}

/* The rows of the call that event FIRST is of, with the naming that makes fewest. */
static void add_call(struct event_rows *to, const struct pm_communication_report *report,
                     size_t first, bool *is_done) {
    const struct pm_communication *of = report->communication;
    struct event_rows best = {0};
    enum naming last = report->by_rank ? BY_OFFSET : N_NAMINGS - 1;
    for (int naming = BY_OFFSET; naming <= (int)last; naming++) {
        struct event_rows rows = {0};
        for (size_t i = first; i < of->n_counts; i++) {
            uint32_t rank = rank_of(report, of->counts[i].process);
            if (!is_shown(report, &of->counts[i]) ||
                !is_one_call(report, &of->counts[first].kind, &of->counts[i].kind))
                continue;
            is_done[i] = true;
            add_event(&rows, report, &of->counts[i], rank, report->by_rank,
                      report->by_rank ? BY_NUMBER : (enum naming)naming, world_size(report));
        }
        bool is_better = naming == BY_OFFSET || rows.n_rows < best.n_rows;
        free(is_better ? best.rows : rows.rows);
        best = is_better ? rows : best;
    }
    for (size_t i = 0; i < best.n_rows; i++)
        *PM_PUSH(to, rows) = best.rows[i];
    free(best.rows);
}

static int by_bytes(const void *left, const void *right) {
    const struct event_row *a = left, *b = right;
    double in_a = a->sent + a->received, in_b = b->sent + b->received;
    if (a->rank != b->rank)
        return PM_COMPARE(a->rank, b->rank);
    if (isnan(in_a) != isnan(in_b))
        return isnan(in_a) ? -1 : 1;
    if (!isnan(in_a) && in_a != in_b)
        return PM_COMPARE(in_b, in_a);
    if (a->events != b->events)
        return PM_COMPARE(b->events, a->events);
    return PM_COMPARE(a->kind.path, b->kind.path);
}

/* Sockets whose text is the same are one row of a call. */
static void add_traffic(struct event_rows *to, const struct pm_communication_report *report,
                        const struct pm_socket_traffic *traffic) {
    const char *text = report->communication->sockets[traffic->socket].text;
    uint32_t rank = rank_of(report, traffic->process);
    struct event_row *row = NULL;
    if (report->rank != PM_NONE && rank != report->rank)
        return;
    for (size_t i = 0; i < to->n_rows && !row; i++)
        if (to->rows[i].to && strcmp(to->rows[i].to, text) == 0 &&
            report->calls[to->rows[i].kind.path] == report->calls[traffic->path] &&
            (!report->by_rank || to->rows[i].rank == rank))
            row = &to->rows[i];
    if (!row) {
        row = PM_PUSH(to, rows);
        *row = (struct event_row){.rank = report->by_rank ? rank : PM_NONE,
                                  .kind = {.path = traffic->path, .communicator = PM_NONE},
                                  .to = pm_strdup(text),
                                  .operation = "socket",
                                  .tag = NAN,
                                  .last_rank = PM_NONE};
    }
    row->events += (double)(traffic->sends + traffic->receives);
    row->sent += (double)traffic->bytes_sent;
    row->received += (double)traffic->bytes_received;
    row->n_ranks += (rank == PM_NONE && row->n_ranks == 0) || row->last_rank != rank;
    row->last_rank = rank;
}

/* Is TIME of calls that ROW counts?  Communicators are not told apart. */
static bool is_of_row(const struct pm_communication_report *report, const struct event_row *row,
                      const struct pm_call_time *time) {
    uint32_t size = world_size(report);
    return !row->to && report->calls[row->kind.path] == report->calls[time->path] &&
           row->kind.operation == time->operation &&
           (row->rank == PM_NONE || row->rank == time->rank) &&
           (row->kind.partner < 0) == (time->partner < 0) &&
           (row->kind.source < 0) == (time->source < 0) &&
           row->partner == name_partner(row->naming, time->partner, time->rank, size) &&
           row->source == name_partner(row->naming, time->source, time->rank, size);
}

/* Of the same calls in a run that was timed. */
static void add_times(struct event_rows *to, const struct pm_communication_report *report) {
    const struct pm_call_times *times = report->times;
    for (size_t i = 0; times && i < times->n_calls; i++) {
        const struct pm_call_time *time = &times->calls[i];
        struct event_row *first = NULL;
        if (report->rank != PM_NONE && time->rank != report->rank)
            continue;
        for (size_t r = 0; r < to->n_rows; r++) {
            if (!is_of_row(report, &to->rows[r], time))
                continue;
            if (first)
                first->times_are_mixed = to->rows[r].times_are_mixed = true;
            else
                pm_call_seconds_add(&(first = &to->rows[r])->times, time);
        }
    }
    for (size_t r = 0; r < to->n_rows; r++) {
        struct event_row *row = &to->rows[r];
        bool is_known = row->times.n > 0 && !row->times_are_mixed;
        row->seconds = is_known ? row->times.seconds : NAN;
        row->least_seconds = is_known ? row->times.least : NAN;
        row->waiting_seconds = is_known ? pm_call_seconds_waiting(&row->times) : NAN;
    }
}

static struct event_rows make_rows(const struct pm_communication_report *report) {
    const struct pm_communication *of = report->communication;
    struct event_rows rows = {0};
    bool *is_done = pm_alloc(of->n_counts + 1, sizeof *is_done);
    for (size_t i = 0; i < of->n_counts; i++)
        if (!is_done[i] && is_shown(report, &of->counts[i]))
            add_call(&rows, report, i, is_done);
    free(is_done);
    add_times(&rows, report);
    for (size_t i = 0; i < of->n_traffic; i++)
        add_traffic(&rows, report, &of->traffic[i]);
    PM_SORT(rows.rows, rows.n_rows, by_bytes);
    for (size_t i = 0; i < rows.n_rows; i++) {
        struct event_row *row = &rows.rows[i];
        row->call = pm_strdup(report->names[row->kind.path]);
        row->path = pm_call_path_text(report->structure, &of->paths, row->kind.path);
        row->communicator = communicator_text(of, row->kind.communicator);
        row->mean = (row->sent + row->received) / row->events;
        if (row->to) /* on a socket */
            continue;
        row->operation = pm_operation_name(row->kind.operation);
        row->to = partner_text(row->naming, row->partner, row->kind.partner, row->last_rank);
        row->from = partner_text(row->naming, row->source, row->kind.source, row->last_rank);
        if (*row->from) { /* of a call that exchanges both are the partner */
            char *both = pm_sprintf("%s, %s", row->to, row->from);
            free(row->to);
            row->to = both;
        }
    }
    return rows;
}

static void free_rows(struct event_rows *rows) {
    for (size_t i = 0; i < rows->n_rows; i++) {
        free(rows->rows[i].call);
        free(rows->rows[i].path);
        free(rows->rows[i].to);
        free(rows->rows[i].from);
        free(rows->rows[i].communicator);
    }
    free(rows->rows);
}

static json_t *document(const struct pm_communication_report *report) {
    json_t *document = pm_program_document("communication", report->structure);
    json_object_set_new(document, "parameters", pm_json_parameters(&report->at));
    json_object_set_new(document, "ranks", pm_json_integer(world_size(report)));
    json_object_set_new(document, "events_lost", pm_json_integer(report->communication->n_lost));
    return document;
}

static void title(FILE *out, const struct pm_communication_report *report,
                  const struct pm_report_options *options, const char *what) {
    char *at = pm_parameters_text(&report->at);
    pm_print_title(out, options, "%s%s%s: %s of %u ranks", pm_program_name(report->structure),
                   *at ? "  " : "", at, what, world_size(report));
    free(at);
    if (report->communication->n_lost)
        pm_print_note(out, options,
                      "%" PRIu64 " events are not counted: there were too many kinds of them",
                      report->communication->n_lost);
}

/* The name of each path, and the number of the first one that has the same. */
static void name_calls(struct pm_communication_report *report) {
    const struct pm_call_paths *paths = &report->communication->paths;
    struct pm_map known = {0};
    size_t n = paths->n_sites ? paths->n_sites : 1;
    report->names = pm_alloc(n, sizeof *report->names);
    report->calls = pm_alloc(n, sizeof *report->calls);
    for (uint32_t path = 0; path < n; path++) {
        char *name = report->by_path ? pm_call_path_text(report->structure, paths, path)
                                     : pm_call_path_name(report->structure, paths, path);
        uint64_t hash = pm_hash_text(name);
        report->names[path] = name;
        report->calls[path] = path;
        for (struct pm_map_entry at = pm_map_find(&known, hash); at.found && !report->by_path;
             pm_map_next(&known, &at))
            if (strcmp(report->names[at.item], name) == 0)
                report->calls[path] = at.item;
        if (report->calls[path] == path)
            pm_map_add(&known, hash, path);
    }
    pm_map_free(&known);
}

static void forget_names(struct pm_communication_report *report) {
    size_t n = report->communication->paths.n_sites ? report->communication->paths.n_sites : 1;
    for (size_t path = 0; path < n; path++)
        free(report->names[path]);
    free(report->names);
    free(report->calls);
}

void pm_report_communication(FILE *out, struct pm_communication_report *report,
                             const struct pm_report_options *options) {
    name_calls(report);
    struct event_rows rows = make_rows(report);
    if (options->format == PM_REPORT_JSON) {
        json_t *json = document(report);
        json_object_set_new(
            json, "events",
            pm_fields_array(PM_FIELDS(fields), rows.rows, rows.n_rows, sizeof *rows.rows));
        pm_json_print(out, json);
    } else if (options->format == PM_REPORT_CSV) {
        pm_fields_csv(out, PM_FIELDS(fields),
                      "rank call path operation partner source communicator tag ranks events "
                      "bytes_sent bytes_received bytes_per_event seconds least_seconds "
                      "waiting_seconds",
                      rows.rows, rows.n_rows, sizeof *rows.rows);
    } else {
        char *columns = pm_sprintf("%scall operation partner communicator %sevents bytes_sent "
                                   "bytes_received bytes_per_event%s",
                                   report->by_rank ? "rank " : "", report->by_rank ? "" : "ranks ",
                                   report->times ? " seconds waiting_seconds" : "");
        title(out, report, options, "communication");
        pm_fields_table(out, pm_fields_named(PM_FIELDS(fields), columns), rows.rows, rows.n_rows,
                        sizeof *rows.rows, options);
        free(columns);
    }
    free_rows(&rows);
    forget_names(report);
}

/* ---- from rank to rank ----------------------------------------------------------------------- */

struct pair {
    double messages, bytes;
};
struct pair_row {
    uint32_t from, to;
    double messages, bytes;
};
static const struct pm_field pair_fields[] = {
    {"from", PM_INTEGER, PM_MEMBER(struct pair_row, from), .header = "FROM"},
    {"to", PM_INTEGER, PM_MEMBER(struct pair_row, to), .header = "TO"},
    {"messages", PM_COUNT, PM_MEMBER(struct pair_row, messages), .header = "MESSAGES"},
    {"bytes", PM_COUNT, PM_MEMBER(struct pair_row, bytes), .header = "BYTES"},
};

/* What each rank sends to each other one, and what it fetches from there without its doing. */
static struct pair *make_pairs(const struct pm_communication_report *report, uint32_t n) {
    const struct pm_communication *of = report->communication;
    struct pair *pairs = pm_alloc((size_t)n * n, sizeof *pairs);
    for (size_t i = 0; i < of->n_counts; i++) {
        const struct pm_event_kind *kind = &of->counts[i].kind;
        uint32_t rank = rank_of(report, of->counts[i].process);
        double times = (double)of->counts[i].n;
        int32_t other;
        bool is_one_sided = pm_operation_way(kind->operation) == PM_WAY_ONE_SIDED;
        if (rank == PM_NONE || rank >= n)
            continue;
        if (pm_event_sends(kind, &other) && (uint32_t)other < n) {
            struct pair *pair = &pairs[(size_t)rank * n + (uint32_t)other];
            pair->messages += times;
            pair->bytes +=
                kind->bytes_sent == PM_UNKNOWN_BYTES ? NAN : times * (double)kind->bytes_sent;
        }
        if (is_one_sided && pm_event_receives(kind, &other) && (uint32_t)other < n) {
            struct pair *pair = &pairs[(size_t)(uint32_t)other * n + rank];
            pair->messages += times;
            pair->bytes += times * (double)kind->bytes_received;
        }
    }
    return pairs;
}

static void write_matrix(FILE *out, const struct pair *pairs, uint32_t n,
                         const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "FROM\\TO", PM_COLUMN_NUMBER);
    for (uint32_t to = 0; to < n; to++) {
        char number[16];
        snprintf(number, sizeof number, "%u", to);
        pm_text_table_column(table, number, PM_COLUMN_NUMBER);
    }
    for (uint32_t from = 0; from < n; from++) {
        pm_text_table_number(table, from);
        for (uint32_t to = 0; to < n; to++) {
            const struct pair *pair = &pairs[(size_t)from * n + to];
            pm_text_table_cell(table, pair->messages > 0 ? pm_count_text(pair->bytes).text : "");
        }
    }
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
}

void pm_report_communication_matrix(FILE *out, const struct pm_communication_report *report,
                                    const struct pm_report_options *options) {
    enum { WIDEST = 16 }; /* ranks; of more there is a line for each pair */
    uint32_t n = world_size(report);
    struct pair *pairs = make_pairs(report, n);
    struct {
        PM_ARRAY(struct pair_row, rows);
    } list = {0};
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++) {
            const struct pair *pair = &pairs[(size_t)from * n + to];
            if (pair->messages > 0)
                *PM_PUSH(&list, rows) = (struct pair_row){from, to, pair->messages, pair->bytes};
        }
    if (options->format == PM_REPORT_JSON) {
        json_t *json = document(report);
        json_object_set_new(
            json, "pairs",
            pm_fields_array(PM_FIELDS(pair_fields), list.rows, list.n_rows, sizeof *list.rows));
        pm_json_print(out, json);
    } else if (options->format == PM_REPORT_CSV) {
        pm_fields_csv(out, PM_FIELDS(pair_fields), "from to messages bytes", list.rows, list.n_rows,
                      sizeof *list.rows);
    } else {
        title(out, report, options, "bytes from rank to rank, collective operations left out,");
        if (n <= WIDEST)
            write_matrix(out, pairs, n, options);
        else
            pm_fields_table(out, pm_fields_named(PM_FIELDS(pair_fields), "from to messages bytes"),
                            list.rows, list.n_rows, sizeof *list.rows, options);
    }
    free(list.rows);
    free(pairs);
}
