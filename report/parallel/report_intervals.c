/* Kinds of intervals: between which calls, how many, and how much of the time.

   JSON: {"format": "pmodel-intervals", "version": 1, "program", "reports": [{parameters, machine,
   seconds, has_histograms, kinds}]}; CSV: a line for each kind. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/parallel/parallel.h"

#define ROW(member_) PM_MEMBER(struct pm_interval_row, member_)

PM_GETTER(parameters_value, struct pm_interval_row, pm_owned_text(pm_parameters_text(row->at)))
PM_GETTER(mean_value, struct pm_interval_row, pm_number(row->n > 0 ? row->seconds / row->n : NAN))

static const struct pm_field fields[] = {
    {"machine", PM_TEXT, ROW(machine), .not_in_json = true},
    {"parameters", PM_TEXT, .get = parameters_value, .not_in_json = true},
    {"kind", PM_INTEGER, ROW(kind), .header = "KIND"},
    {"seconds", PM_SECONDS, ROW(seconds), .header = "TIME"},
    {"share", PM_PERCENT, ROW(share), .header = "%"},
    {"n", PM_COUNT, ROW(n), .header = "HOW MANY"},
    {"mean_seconds", PM_SECONDS, .get = mean_value, .header = "OF ONE"},
    {"instructions", PM_COUNT, ROW(instructions), .header = "INSTRUCTIONS", .dispensable = 1},
    {"begin", PM_NAME, ROW(begin), .header = "FROM"},
    {"end", PM_NAME, ROW(end), .header = "TO"},
    {"begin_path", PM_TEXT, ROW(begin_path)},
    {"end_path", PM_TEXT, ROW(end_path)},
};

void pm_intervals_report_free(struct pm_intervals_report *report) {
    for (size_t i = 0; i < report->n_rows; i++) {
        free(report->rows[i].begin);
        free(report->rows[i].end);
        free(report->rows[i].begin_path);
        free(report->rows[i].end_path);
    }
    free(report->rows);
    free(report->machine);
    free(report->machine_title);
    *report = (struct pm_intervals_report){0};
}

static int by_time(const void *left, const void *right) {
    const struct pm_interval_row *a = left, *b = right;
    int order = PM_COMPARE(b->seconds, a->seconds);
    return order ? order : PM_COMPARE(a->kind, b->kind);
}

void pm_intervals_report_complete(struct pm_intervals_report *report) {
    report->seconds = 0;
    for (size_t i = 0; i < report->n_rows; i++)
        report->seconds += report->rows[i].seconds;
    for (size_t i = 0; i < report->n_rows; i++)
        report->rows[i].share =
            report->seconds > 0 ? report->rows[i].seconds / report->seconds : NAN;
    PM_SORT(report->rows, report->n_rows, by_time);
}

static void write_json(FILE *out, const struct pm_intervals_report *reports, size_t n,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("intervals", reports[0].structure),
           *array = json_array();
    pm_json_set_warnings(document, options);
    for (size_t i = 0; i < n; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "parameters", pm_json_parameters(&reports[i].at));
        json_object_set_new(object, "machine", pm_json_text(reports[i].machine));
        json_object_set_new(object, "seconds", pm_json_number(reports[i].seconds));
        json_object_set_new(object, "has_histograms", json_boolean(reports[i].has_histograms));
        json_object_set_new(object, "kinds",
                            pm_fields_array(PM_FIELDS(fields), reports[i].rows, reports[i].n_rows,
                                            sizeof *reports[i].rows));
        json_array_append_new(array, object);
    }
    json_object_set_new(document, "reports", array);
    pm_json_print(out, document);
}

static void write_table(FILE *out, const struct pm_intervals_report *report,
                        const struct pm_report_options *options) {
    char *parameters = pm_parameters_text(&report->at);
    size_t n = report->n_rows;
    pm_print_title(out, options, "%s  %s%son %s: %zu kinds of intervals, %s of all ranks together",
                   pm_program_name(report->structure), parameters, *parameters ? "  " : "",
                   report->machine_title, n, pm_seconds_text(report->seconds).text);
    if (options->max_rows && n > options->max_rows)
        n = options->max_rows;
    pm_fields_table(out,
                    pm_fields_named(PM_FIELDS(fields),
                                    "kind seconds share n mean_seconds instructions begin end"),
                    report->rows, n, sizeof *report->rows, options);
    if (n < report->n_rows)
        pm_print_line(out, options, "and %zu kinds more (--top)", report->n_rows - n);
    if (report->without_memory)
        pm_print_note(out, options,
                      "Times are of execution alone: the size was measured without reuse "
                      "distances (--no-memory).");
    else if (!report->has_histograms)
        pm_print_note(out, options,
                      "Misses are as of the whole run, by the executions of each loop: reuse "
                      "distances were not measured by interval (`pmodel run --interval-memory`).");
    free(parameters);
}

static void write_tables(FILE *out, const struct pm_intervals_report *reports, size_t n,
                         const struct pm_report_options *options) {
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "\n" : "", out);
        write_table(out, &reports[i], options);
    }
}

static void write_csv(FILE *out, const struct pm_intervals_report *reports, size_t n) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(fields),
                     "machine parameters kind seconds share n mean_seconds instructions begin "
                     "end begin_path end_path");
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < reports[i].n_rows; r++)
            pm_csv_line(&lines, &reports[i].rows[r]);
    pm_csv_end(&lines);
}

void pm_report_intervals(FILE *out, struct pm_intervals_report *reports, size_t n_reports,
                         const struct pm_report_options *options) {
    for (size_t i = 0; i < n_reports; i++)
        for (size_t r = 0; r < reports[i].n_rows; r++) {
            reports[i].rows[r].machine = reports[i].machine;
            reports[i].rows[r].at = &reports[i].at;
        }
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, write_tables(out, reports, n_reports, options),
                 write_json(out, reports, n_reports, options), write_csv(out, reports, n_reports));
}
