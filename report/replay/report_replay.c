/* A replay as a table, JSON and CSV. */
#include "report/replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/writers/writers.h"

struct rank_row {
    uint64_t rank;
    const char *host;
    double seconds, computation, communication, waiting;
};

/* All calls at one place. */
struct call_row {
    const char *call;
    double n, bytes, seconds, waiting;
};

struct rows {
    PM_ARRAY(struct rank_row, ranks);
    PM_ARRAY(struct call_row, calls);
};

#define RANK(member_) PM_MEMBER(struct rank_row, member_)
static struct pm_field_value share_of(double seconds, const struct rank_row *row) {
    return pm_percent_value(row->seconds > 0 ? seconds / row->seconds : NAN);
}
PM_GETTER(computation_share, struct rank_row, share_of(row->computation, row))
PM_GETTER(communication_share, struct rank_row, share_of(row->communication, row))
PM_GETTER(waiting_share, struct rank_row, share_of(row->waiting, row))

static const struct pm_field rank_fields[] = {
    {"rank", PM_INTEGER, RANK(rank), .header = "RANK"},
    {"host", PM_NAME, RANK(host), .header = "HOST"},
    {"seconds", PM_SECONDS, RANK(seconds), .header = "TIME"},
    {"computation_seconds", PM_SECONDS, RANK(computation), .header = "COMPUTATION"},
    {"computation_share", PM_TEXT, .get = computation_share, .not_in_json = true},
    {"communication_seconds", PM_SECONDS, RANK(communication), .header = "COMMUNICATION"},
    {"communication_share", PM_TEXT, .get = communication_share, .not_in_json = true},
    {"waiting_seconds", PM_SECONDS, RANK(waiting), .header = "WAITING"},
    {"waiting_share", PM_TEXT, .get = waiting_share, .not_in_json = true},
};
#define RANK_COLUMNS                                                                               \
    "rank host seconds computation_seconds computation_share communication_seconds "               \
    "communication_share waiting_seconds waiting_share"
#define RANK_NAMES "rank host seconds computation_seconds communication_seconds waiting_seconds"

#define CALL(member_) PM_MEMBER(struct call_row, member_)
static const struct pm_field call_fields[] = {
    {"call", PM_NAME, CALL(call), .header = "CALL"},
    {"calls", PM_COUNT, CALL(n), .header = "CALLS"},
    {"bytes", PM_COUNT, CALL(bytes), .header = "BYTES"},
    {"seconds", PM_SECONDS, CALL(seconds), .header = "TIME"},
    {"waiting_seconds", PM_SECONDS, CALL(waiting), .header = "WAITING"},
};

struct what_if_row {
    const struct pm_what_if *what_if;
    double whole;
};
PM_GETTER(what_if_name, struct what_if_row, pm_text(row->what_if->name))
PM_GETTER(what_if_words, struct what_if_row, pm_text(row->what_if->words))
PM_GETTER(what_if_seconds, struct what_if_row, pm_number(row->what_if->seconds))
PM_GETTER(what_if_share, struct what_if_row,
          pm_percent_value(row->whole > 0 ? row->what_if->seconds / row->whole : NAN))
static const struct pm_field what_if_fields[] = {
    {"name", PM_TEXT, .get = what_if_name},
    {"words", PM_TEXT, .get = what_if_words, .not_in_json = true, .header = "WHAT IF"},
    {"seconds", PM_SECONDS, .get = what_if_seconds, .header = "TIME"},
    {"share", PM_TEXT, .get = what_if_share, .not_in_json = true, .header = "OF IT"},
};

/* ---- the rows -------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right) {
    const struct call_row *a = left, *b = right;
    return PM_COMPARE(b->seconds, a->seconds);
}

static void add_calls(const struct pm_replay_report *report, struct rows *rows) {
    const struct pm_actions *actions = report->actions;
    struct call_row *calls = pm_alloc(actions->n_labels + 1, sizeof *calls);
    for (size_t r = 0; r < actions->n_ranks; r++)
        for (size_t i = 0; i < actions->ranks[r].n_actions; i++) {
            const struct pm_action *action = &actions->ranks[r].actions[i];
            const struct pm_span *span = &report->replay->ranks[r].spans[i];
            struct call_row *call = &calls[action->label];
            if (action->kind == PM_ACTION_COMPUTE || action->label >= actions->n_labels)
                continue;
            call->n++;
            call->bytes += action->kind == PM_ACTION_WAITALL ? 0 : (double)action->bytes;
            call->seconds += span->end - span->begin;
            call->waiting += span->waiting;
        }
    for (size_t i = 0; i < actions->n_labels; i++)
        if (calls[i].n > 0 && actions->labels[i][0]) {
            calls[i].call = actions->labels[i];
            *PM_PUSH(rows, calls) = calls[i];
        }
    free(calls);
    PM_SORT(rows->calls, rows->n_calls, by_time);
}

static struct rows rows_of(const struct pm_replay_report *report) {
    struct rows rows = {0};
    for (size_t r = 0; r < report->replay->n_ranks; r++) {
        const struct pm_rank_times *times = &report->replay->ranks[r];
        *PM_PUSH(&rows, ranks) = (struct rank_row){r,
                                                   times->host,
                                                   times->seconds,
                                                   times->computation,
                                                   times->communication,
                                                   times->waiting};
    }
    add_calls(report, &rows);
    return rows;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_head(FILE *out, const struct pm_replay_report *report,
                       const struct pm_report_options *options) {
    char *between = isnan(report->seconds.low)
                        ? pm_strdup("")
                        : pm_sprintf(" (%.0f%%: %s to %s)", 100 * report->level,
                                     pm_seconds_text(report->seconds.low).text,
                                     pm_seconds_text(report->seconds.high).text);
    char *what = report->program
                     ? pm_sprintf("%s  %s  on %s", report->program, report->at, report->machine)
                     : pm_sprintf("trace of %zu ranks", report->replay->n_ranks);
    pm_print_title(out, options, "%s over %s: simulated %s%s", what, report->platform,
                   pm_seconds_text(report->seconds.estimate).text, between);
    free(what);
    free(between);
}

static void print_ratio(FILE *out, const struct pm_processor_ratio *ratio,
                        const struct pm_report_options *options) {
    if (!ratio->other)
        return;
    fputc('\n', out);
    pm_print_line(out, options,
                  "processor ratio to %s: %s by predicted times; %s by MetaSim numbers, and then "
                  "the parallel time would be %s; %s by peak rates, and then it would be %s",
                  ratio->other, pm_rate_text(ratio->predicted).text,
                  pm_rate_text(ratio->convolved).text,
                  pm_seconds_text(ratio->convolved_seconds).text, pm_rate_text(ratio->peak).text,
                  pm_seconds_text(ratio->peak_seconds).text);
}

static void print_table(FILE *out, const struct pm_replay_report *report, const struct rows *rows,
                        const struct pm_report_options *options) {
    print_head(out, report, options);
    struct pm_table_rows table =
        pm_table_begin(pm_fields_named(PM_FIELDS(rank_fields), RANK_COLUMNS));
    for (size_t r = 0; r < rows->n_ranks; r++)
        pm_table_row(&table, &rows->ranks[r]);
    pm_table_end(out, &table, NULL, options);
    table = pm_table_begin(
        pm_fields_named(PM_FIELDS(call_fields), "call calls bytes seconds waiting_seconds"));
    for (size_t i = 0; i < rows->n_calls; i++)
        pm_table_row(&table, &rows->calls[i]);
    pm_table_end(out, &table, "\nCalls of all ranks together\n", options);
    table = pm_table_begin(pm_fields_named(PM_FIELDS(what_if_fields), "words seconds share"));
    for (size_t i = 0; i < report->n_what_ifs; i++)
        pm_table_row(&table, &(struct what_if_row){&report->what_ifs[i], report->seconds.estimate});
    pm_table_end(out, &table, "\nWith a network or processor that is otherwise\n", options);
    print_ratio(out, &report->ratio, options);
    if (report->n_notes)
        fputc('\n', out);
    for (size_t i = 0; i < report->n_notes; i++)
        pm_print_note(out, options, "%s", report->notes[i]);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static json_t *ratio_json(const struct pm_processor_ratio *ratio) {
    json_t *object = json_object();
    json_object_set_new(object, "other", pm_json_text(ratio->other));
    json_object_set_new(object, "predicted", pm_json_number(ratio->predicted));
    json_object_set_new(object, "convolved", pm_json_number(ratio->convolved));
    json_object_set_new(object, "peak", pm_json_number(ratio->peak));
    json_object_set_new(object, "seconds_by_convolved", pm_json_number(ratio->convolved_seconds));
    json_object_set_new(object, "seconds_by_peak", pm_json_number(ratio->peak_seconds));
    return object;
}

static void print_json(FILE *out, const struct pm_replay_report *report, const struct rows *rows,
                       const struct pm_report_options *options) {
    json_t *document = pm_json_document("replay"), *what_ifs = json_array(), *notes = json_array();
    json_object_set_new(document, "program", pm_json_text(report->program));
    json_object_set_new(document, "size", pm_json_text(report->at));
    json_object_set_new(document, "machine", pm_json_text(report->machine));
    json_object_set_new(document, "platform", pm_json_text(report->platform));
    json_object_set_new(document, "simulated", json_true());
    json_object_set_new(document, "ratio", pm_json_number(report->faster));
    json_object_set_new(document, "seconds", pm_json_number(report->seconds.estimate));
    json_object_set_new(document, "low_seconds", pm_json_number(report->seconds.low));
    json_object_set_new(document, "high_seconds", pm_json_number(report->seconds.high));
    json_object_set_new(document, "actions", pm_json_integer(pm_actions_count(report->actions)));
    json_object_set_new(document, "engine_seconds", pm_json_number(report->replay->engine_seconds));
    json_object_set_new(
        document, "ranks",
        pm_fields_array(PM_FIELDS(rank_fields), rows->ranks, rows->n_ranks, sizeof *rows->ranks));
    json_object_set_new(
        document, "calls",
        pm_fields_array(PM_FIELDS(call_fields), rows->calls, rows->n_calls, sizeof *rows->calls));
    for (size_t i = 0; i < report->n_what_ifs; i++) {
        const struct what_if_row row = {&report->what_ifs[i], report->seconds.estimate};
        json_array_append_new(what_ifs, PM_JSON_OBJECT(what_if_fields, &row));
    }
    json_object_set_new(document, "what_if", what_ifs);
    json_object_set_new(document, "processor_ratio",
                        report->ratio.other ? ratio_json(&report->ratio) : json_null());
    for (size_t i = 0; i < report->n_notes; i++)
        json_array_append_new(notes, pm_json_text(report->notes[i]));
    json_object_set_new(document, "notes", notes);
    pm_json_set_warnings(document, options);
    pm_json_print(out, document);
}

void pm_report_replay(FILE *out, const struct pm_replay_report *report,
                      const struct pm_report_options *options) {
    struct rows rows = rows_of(report);
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, print_table(out, report, &rows, options),
                 print_json(out, report, &rows, options),
                 pm_fields_csv(out, PM_FIELDS(rank_fields), RANK_NAMES, rows.ranks, rows.n_ranks,
                               sizeof *rows.ranks));
    free(rows.ranks);
    free(rows.calls);
}
