/* `pmodel show --as communication --trace`: the events of a rank in their order, as the loops that
   they are kept as. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/parallel/parallel.h"

enum { INDENT = 2 };

/* "from 1", "to 3", "root 0"; owned by the caller. */
static char *partner_text(const struct pm_event_kind *kind) {
    enum pm_operation_way way = pm_operation_way(kind->operation);
    const char *word = way == PM_WAY_RECEIVES || way == PM_WAY_PROBES ? "from"
                       : way == PM_WAY_COLLECTIVE                     ? "root"
                                                                      : "to";
    char *text = kind->partner == PM_NO_PARTNER        ? pm_strdup("")
                 : kind->partner == PM_NULL_PARTNER    ? pm_sprintf(" %s nobody", word)
                 : kind->partner == PM_ANY_SOURCE      ? pm_sprintf(" %s any", word)
                 : kind->partner == PM_UNKNOWN_PARTNER ? pm_sprintf(" %s ?", word)
                                                       : pm_sprintf(" %s %d", word, kind->partner);
    if (kind->source >= 0)
        pm_append(&text, " from %d", kind->source);
    else if (kind->source == PM_NULL_PARTNER)
        pm_append(&text, " from nobody");
    return text;
}

static char *requests_text(const struct pm_communication *of, uint32_t number) {
    const struct pm_request_list *list = &of->requests[number];
    char *text = pm_strdup(list->n_numbers ? "  request" : "");
    for (size_t i = 0; i < list->n_numbers; i++)
        pm_append(&text, " %u", list->numbers[i]);
    return text;
}

static void print_event(FILE *out, const struct pm_communication_report *report,
                        const struct pm_event_kind *kind, unsigned depth) {
    char *call = pm_call_path_name(report->structure, &report->communication->paths, kind->path);
    char *partner = partner_text(kind),
         *requests = requests_text(report->communication, kind->requests);
    fprintf(out, "%*s%s%s", (int)(INDENT * depth), "", pm_operation_name(kind->operation), partner);
    if (kind->bytes_sent == PM_UNKNOWN_BYTES || kind->bytes_received == PM_UNKNOWN_BYTES)
        fputs("  ? bytes", out);
    else if (kind->bytes_sent && kind->bytes_received)
        fprintf(out, "  %" PRIu64 " bytes out, %" PRIu64 " in", kind->bytes_sent,
                kind->bytes_received);
    else if (kind->bytes_sent + kind->bytes_received)
        fprintf(out, "  %" PRIu64 " bytes", kind->bytes_sent + kind->bytes_received);
    if (kind->tag != PM_NO_TAG && kind->tag != PM_ANY_TAG)
        fprintf(out, "  tag %d", kind->tag);
    fprintf(out, "%s  (%s)\n", requests, call);
    free(call);
    free(partner);
    free(requests);
}

static void print_sequence(FILE *out, const struct pm_communication_report *report,
                           const struct pm_trace *trace, uint32_t sequence, unsigned depth) {
    size_t n;
    const struct pm_trace_node *nodes = pm_trace_sequence(trace, sequence, &n);
    for (size_t i = 0; i < n; i++) {
        if (nodes[i].times == 0) {
            print_event(out, report, &report->communication->counts[nodes[i].item].kind, depth);
            continue;
        }
        fprintf(out, "%*s%u times\n", (int)(INDENT * depth), "", nodes[i].times);
        print_sequence(out, report, trace, nodes[i].item, depth + 1);
    }
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

/* An event; or, in CSV, where a loop begins, which what is deeper belongs to. */
struct trace_row {
    const struct pm_communication_report *report;
    const struct pm_event_kind *kind; /* NULL: a loop */
    uint32_t thread, depth, times;
};

static struct pm_field_value bytes_value(uint64_t bytes) {
    return bytes == PM_UNKNOWN_BYTES ? pm_unknown() : pm_integer(bytes);
}
static struct pm_field_value rank_value(int32_t rank) {
    return rank < 0 ? pm_unknown() : pm_integer((uint64_t)rank);
}
static struct pm_field_value path_value(const struct trace_row *row) {
    return pm_owned_text(pm_call_path_text(row->report->structure,
                                           &row->report->communication->paths, row->kind->path));
}
static struct pm_field_value requests_value(const struct trace_row *row) {
    const struct pm_request_list *list = &row->report->communication->requests[row->kind->requests];
    json_t *array = json_array();
    for (size_t i = 0; i < list->n_numbers; i++)
        json_array_append_new(array, pm_json_integer(list->numbers[i]));
    return pm_json_value(array);
}

#define GETTER(name_, value_)                                                                      \
    PM_GETTER(get_##name_, struct trace_row, row->kind ? (value_) : pm_absent())
GETTER(operation, pm_text(pm_operation_name(row->kind->operation)))
GETTER(path, path_value(row))
GETTER(partner, rank_value(row->kind->partner))
GETTER(source, rank_value(row->kind->source))
GETTER(communicator,
       row->kind->communicator == PM_NONE ? pm_unknown() : pm_integer(row->kind->communicator))
GETTER(tag, row->kind->tag < 0 ? pm_unknown() : pm_integer((uint64_t)row->kind->tag))
GETTER(bytes_sent, bytes_value(row->kind->bytes_sent))
GETTER(bytes_received, bytes_value(row->kind->bytes_received))
GETTER(requests, requests_value(row))

static const struct pm_field fields[] = {
    {"thread", PM_INTEGER, PM_MEMBER(struct trace_row, thread), .not_in_json = true},
    {"depth", PM_INTEGER, PM_MEMBER(struct trace_row, depth), .not_in_json = true},
    {"times", PM_POSITIVE, PM_MEMBER(struct trace_row, times), .not_in_json = true},
    {"operation", PM_TEXT, .get = get_operation},
    {"path", PM_TEXT, .get = get_path},
    {"partner", PM_INTEGER, .get = get_partner},
    {"source", PM_INTEGER, .get = get_source},
    {"communicator", PM_INTEGER, .get = get_communicator},
    {"tag", PM_INTEGER, .get = get_tag},
    {"bytes_sent", PM_INTEGER, .get = get_bytes_sent},
    {"bytes_received", PM_INTEGER, .get = get_bytes_received},
    {"requests", PM_JSON_ONLY, .get = get_requests},
};

static json_t *sequence_json(const struct pm_communication_report *report,
                             const struct pm_trace *trace, uint32_t sequence) {
    size_t n;
    const struct pm_trace_node *nodes = pm_trace_sequence(trace, sequence, &n);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        struct trace_row row = {.report = report};
        json_t *item;
        if (nodes[i].times == 0) {
            row.kind = &report->communication->counts[nodes[i].item].kind;
            item = PM_JSON_OBJECT(fields, &row);
        } else {
            item = json_object();
            json_object_set_new(item, "times", pm_json_integer(nodes[i].times));
            json_object_set_new(item, "body", sequence_json(report, trace, nodes[i].item));
        }
        json_array_append_new(array, item);
    }
    return array;
}

static void csv_sequence(struct pm_csv_lines *lines, const struct pm_communication_report *report,
                         const struct pm_trace *trace, uint32_t sequence, uint32_t depth) {
    size_t n;
    const struct pm_trace_node *nodes = pm_trace_sequence(trace, sequence, &n);
    for (size_t i = 0; i < n; i++) {
        struct trace_row row = {
            .report = report, .thread = trace->thread, .depth = depth, .times = nodes[i].times};
        if (nodes[i].times == 0)
            row.kind = &report->communication->counts[nodes[i].item].kind;
        pm_csv_line(lines, &row);
        if (nodes[i].times > 0)
            csv_sequence(lines, report, trace, nodes[i].item, depth + 1);
    }
}

/* ---- all threads of the rank ----------------------------------------------------------------- */

static bool is_of_rank(const struct pm_communication_report *report, const struct pm_trace *trace) {
    for (size_t i = 0; i < report->ranks->n_ranks; i++)
        if (report->ranks->ranks[i].process == trace->process)
            return report->ranks->ranks[i].rank == report->rank;
    return report->ranks->n_ranks == 0 && trace->process == report->rank;
}

static void print_trace(FILE *out, const struct pm_communication_report *report,
                        const struct pm_trace *trace, const struct pm_report_options *options) {
    char *at = pm_parameters_text(&report->at);
    pm_print_title(out, options, "%s%s%s: %" PRIu64 " events of rank %u, thread %u, as %zu nodes",
                   pm_program_name(report->structure), *at ? "  " : "", at, trace->n_events,
                   report->rank, trace->thread, trace->n_nodes);
    print_sequence(out, report, trace, (uint32_t)trace->n_sequences - 1, 1);
    if (trace->n_lost)
        pm_print_note(out, options, "%" PRIu64 " events that came after them are counted only",
                      trace->n_lost);
    free(at);
}

static json_t *trace_json(const struct pm_communication_report *report,
                          const struct pm_trace *trace) {
    json_t *thread = json_object();
    json_object_set_new(thread, "thread", pm_json_integer(trace->thread));
    json_object_set_new(thread, "events", pm_json_integer(trace->n_events));
    json_object_set_new(thread, "lost", pm_json_integer(trace->n_lost));
    json_object_set_new(thread, "trace",
                        sequence_json(report, trace, (uint32_t)trace->n_sequences - 1));
    return thread;
}

void pm_report_communication_trace(FILE *out, const struct pm_communication_report *report,
                                   const struct pm_report_options *options) {
    const struct pm_communication *of = report->communication;
    json_t *document = NULL, *threads = json_array();
    struct pm_csv_lines lines;
    if (options->format == PM_REPORT_CSV)
        lines = pm_csv_begin(out, PM_FIELDS(fields),
                             "thread depth times operation path partner source communicator tag "
                             "bytes_sent bytes_received");
    for (size_t i = 0; i < of->n_traces; i++) {
        const struct pm_trace *trace = &of->traces[i];
        if (!is_of_rank(report, trace))
            continue;
        if (options->format == PM_REPORT_JSON)
            json_array_append_new(threads, trace_json(report, trace));
        else if (options->format == PM_REPORT_CSV)
            csv_sequence(&lines, report, trace, (uint32_t)trace->n_sequences - 1, 0);
        else
            print_trace(out, report, trace, options);
    }
    if (options->format == PM_REPORT_CSV)
        pm_csv_end(&lines);
    if (options->format == PM_REPORT_JSON) {
        document = pm_program_document("communication", report->structure);
        json_object_set_new(document, "parameters", pm_json_parameters(&report->at));
        json_object_set_new(document, "rank", pm_json_integer(report->rank));
        json_object_set(document, "threads", threads);
        pm_json_print(out, document);
    }
    json_decref(threads);
}
