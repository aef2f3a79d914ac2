/* `pmodel plan`: the runs that are proposed, what each will cost, and the command that makes them,
   as a table, JSON {"format": "pmodel-plan", "version": 1, "runs": [{"parameters", "tried",
   "seconds", "peak_bytes", "store_bytes"}], "seconds", "store_bytes", "too_few", "to", "notes",
   "command"} or CSV.  What is not known is "?", null, or empty. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "report/report.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* What a run cost, if it was made as a trial, else NULL. */
static const struct pm_plan_cost *trial_of(const struct pm_plan_report *report,
                                           const struct pm_parameters *at) {
    for (size_t i = 0; i < report->n_trials; i++)
        if (pm_parameters_equal(&report->trials[i].at, at))
            return &report->trials[i].cost;
    return NULL;
}

static struct pm_number_text bytes_text(double bytes) {
    enum { MIB = 1 << 20 };
    struct pm_number_text text;
    if (isnan(bytes))
        snprintf(text.text, sizeof text.text, "?");
    else if (bytes < MIB)
        snprintf(text.text, sizeof text.text, "%.0f KiB", ceil(bytes / 1024));
    else if (bytes < 1024.0 * MIB)
        snprintf(text.text, sizeof text.text, "%.3g MiB", bytes / MIB);
    else
        snprintf(text.text, sizeof text.text, "%.3g GiB", bytes / MIB / 1024);
    return text;
}

/* ---- the fields of a run --------------------------------------------------------------------- */

struct run_row {
    struct pm_parameters at;
    struct pm_plan_cost cost;
    bool tried;
};

static struct run_row run_row(const struct pm_plan_report *report, size_t i) {
    const struct pm_planned_run *run = &report->plan->runs[i];
    const struct pm_plan_cost *tried = trial_of(report, &run->at);
    return (struct run_row){run->at, tried ? *tried : run->cost, tried != NULL};
}

PM_GETTER(run_parameters, struct run_row, pm_json_value(pm_json_parameters(&row->at)))
PM_GETTER(size_cell, struct run_row, pm_owned_text(pm_parameters_text(&row->at)))
PM_GETTER(memory_cell, struct run_row, pm_copied_text(bytes_text(row->cost.peak_bytes).text))
PM_GETTER(store_cell, struct run_row, pm_copied_text(bytes_text(row->cost.store_bytes).text))
PM_GETTER(tried_cell, struct run_row, pm_text(row->tried ? "tried" : ""))

#define RUN(member_) PM_MEMBER(struct run_row, member_)

static const struct pm_field fields[] = {
    {"parameters", PM_JSON_ONLY, .get = run_parameters},
    {"seconds", PM_SECONDS, RUN(cost.seconds), .header = "TIME"},
    {"peak_bytes", PM_NUMBER, RUN(cost.peak_bytes), .header = "MEMORY", .cell = memory_cell},
    {"store_bytes", PM_NUMBER, RUN(cost.store_bytes), .header = "STORE", .cell = store_cell,
     .dispensable = 1},
    {"tried", PM_YES_NO, RUN(tried)},
    {"size", PM_TEXT, .cell = size_cell, .not_in_json = true, .header = "SIZE"},
    {"remark", PM_TEXT, .cell = tried_cell, .not_in_json = true},
};

/* ---- table ----------------------------------------------------------------------------------- */

static void write_table(FILE *out, const struct pm_plan_report *report,
                        const struct pm_report_options *options) {
    const struct pm_plan *plan = report->plan;
    struct pm_table_rows table = pm_table_begin(
        pm_fields_named(PM_FIELDS(fields), "size seconds peak_bytes store_bytes remark"));
    for (size_t i = 0; i < plan->n_runs; i++) {
        struct run_row row = run_row(report, i);
        pm_table_row(&table, &row);
    }
    pm_table_end(out, &table, NULL, options);
    fprintf(out, "%zu runs, about %s in all, %s in the store\n", plan->n_runs,
            pm_seconds_text(plan->seconds).text, bytes_text(plan->store_bytes).text);
    if (report->to) {
        char *size = pm_parameters_text(report->to);
        fprintf(out, "measuring %s itself would take about %s and %s of memory\n", size,
                pm_seconds_text(plan->to_cost.seconds).text,
                bytes_text(plan->to_cost.peak_bytes).text);
        free(size);
    }
    for (size_t i = 0; i < plan->n_notes; i++)
        pm_print_wrapped(out, i ? "  - " : "notes:\n  - ", "    ", plan->notes[i], options->width);
    fprintf(out, "\n    %s\n", report->command);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The size to be predicted, as if it were measured. */
static json_t *to_json(const struct pm_plan_report *report) {
    struct run_row row = {*report->to, report->plan->to_cost, false};
    json_t *object = PM_JSON_OBJECT(fields, &row);
    json_object_del(object, "tried");
    return object;
}

static void write_json(FILE *out, const struct pm_plan_report *report) {
    const struct pm_plan *plan = report->plan;
    json_t *document = pm_json_document("plan"), *runs = json_array(), *notes = json_array();
    for (size_t i = 0; i < plan->n_runs; i++) {
        struct run_row row = run_row(report, i);
        json_array_append_new(runs, PM_JSON_OBJECT(fields, &row));
    }
    for (size_t i = 0; i < plan->n_notes; i++)
        json_array_append_new(notes, pm_json_text(plan->notes[i]));
    json_object_set_new(document, "runs", runs);
    json_object_set_new(document, "seconds", pm_json_number(plan->seconds));
    json_object_set_new(document, "store_bytes", pm_json_number(plan->store_bytes));
    json_object_set_new(document, "too_few", json_boolean(plan->too_few));
    json_object_set_new(document, "to", report->to ? to_json(report) : json_null());
    json_object_set_new(document, "notes", notes);
    json_object_set_new(document, "command", pm_json_text(report->command));
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv(FILE *out, const struct pm_plan_report *report) {
    const struct pm_plan *plan = report->plan;
    struct pm_csv csv = {.out = out};
    struct pm_fields columns = {0};
    struct pm_fields costs =
        pm_fields_named(PM_FIELDS(fields), "seconds peak_bytes store_bytes tried");
    for (size_t p = 0; plan->n_runs && p < plan->runs[0].at.n; p++)
        *PM_PUSH(&columns, fields) =
            (struct pm_field){plan->runs[0].at.names[p], PM_NUMBER, RUN(at.values[p])};
    for (size_t i = 0; i < costs.n_fields; i++)
        *PM_PUSH(&columns, fields) = costs.fields[i];
    pm_fields_csv_names(&csv, columns);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < plan->n_runs; i++) {
        struct run_row row = run_row(report, i);
        pm_fields_csv_values(&csv, columns, &row);
        pm_csv_end_line(&csv);
    }
    free(costs.fields);
    free(columns.fields);
}

void pm_report_plan(FILE *out, const struct pm_plan_report *report,
                    const struct pm_report_options *options) {
    PM_BY_FORMAT(options, write_table(out, report, options), write_json(out, report),
                 write_csv(out, report));
}
