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

/* ---- table ----------------------------------------------------------------------------------- */

static void print_run(struct pm_text_table *table, const struct pm_parameters *at,
                      const struct pm_plan_cost *cost, const char *remark) {
    char *size = pm_parameters_text(at);
    pm_text_table_cell(table, size);
    pm_text_table_cell(table, pm_seconds_text(cost->seconds).text);
    pm_text_table_cell(table, bytes_text(cost->peak_bytes).text);
    pm_text_table_cell(table, bytes_text(cost->store_bytes).text);
    pm_text_table_cell(table, remark);
    free(size);
}

static void write_table(FILE *out, const struct pm_plan_report *report,
                        const struct pm_report_options *options) {
    const struct pm_plan *plan = report->plan;
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "SIZE", PM_COLUMN_TEXT);
    pm_text_table_column(table, "TIME", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "MEMORY", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "STORE", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "", PM_COLUMN_TEXT);
    for (size_t i = 0; i < plan->n_runs; i++) {
        const struct pm_plan_cost *tried = trial_of(report, &plan->runs[i].at);
        print_run(table, &plan->runs[i].at, tried ? tried : &plan->runs[i].cost,
                  tried ? "tried" : NULL);
    }
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
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

static json_t *run_json(const struct pm_parameters *at, const struct pm_plan_cost *cost) {
    json_t *object = json_object();
    json_object_set_new(object, "parameters", pm_json_parameters(at));
    json_object_set_new(object, "seconds", pm_json_number(cost->seconds));
    json_object_set_new(object, "peak_bytes", pm_json_number(cost->peak_bytes));
    json_object_set_new(object, "store_bytes", pm_json_number(cost->store_bytes));
    return object;
}

static void write_json(FILE *out, const struct pm_plan_report *report) {
    const struct pm_plan *plan = report->plan;
    json_t *document = pm_json_document("plan"), *runs = json_array(), *notes = json_array();
    for (size_t i = 0; i < plan->n_runs; i++) {
        const struct pm_plan_cost *tried = trial_of(report, &plan->runs[i].at);
        json_t *run = run_json(&plan->runs[i].at, tried ? tried : &plan->runs[i].cost);
        json_object_set_new(run, "tried", json_boolean(tried != NULL));
        json_array_append_new(runs, run);
    }
    for (size_t i = 0; i < plan->n_notes; i++)
        json_array_append_new(notes, pm_json_text(plan->notes[i]));
    json_object_set_new(document, "runs", runs);
    json_object_set_new(document, "seconds", pm_json_number(plan->seconds));
    json_object_set_new(document, "store_bytes", pm_json_number(plan->store_bytes));
    json_object_set_new(document, "too_few", json_boolean(plan->too_few));
    json_object_set_new(document, "to",
                        report->to ? run_json(report->to, &plan->to_cost) : json_null());
    json_object_set_new(document, "notes", notes);
    json_object_set_new(document, "command", pm_json_text(report->command));
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv(FILE *out, const struct pm_plan_report *report) {
    const struct pm_plan *plan = report->plan;
    struct pm_csv csv = {.out = out};
    for (size_t p = 0; plan->n_runs && p < plan->runs[0].at.n; p++)
        pm_csv_text(&csv, plan->runs[0].at.names[p]);
    static const char *const titles[] = {"seconds", "peak_bytes", "store_bytes", "tried"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        pm_csv_text(&csv, titles[i]);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < plan->n_runs; i++) {
        const struct pm_planned_run *run = &plan->runs[i];
        const struct pm_plan_cost *tried = trial_of(report, &run->at);
        const struct pm_plan_cost *cost = tried ? tried : &run->cost;
        for (size_t p = 0; p < run->at.n; p++)
            pm_csv_number(&csv, run->at.values[p]);
        pm_csv_number(&csv, cost->seconds);
        pm_csv_number(&csv, cost->peak_bytes);
        pm_csv_number(&csv, cost->store_bytes);
        pm_csv_integer(&csv, tried != NULL);
        pm_csv_end_line(&csv);
    }
}

void pm_report_plan(FILE *out, const struct pm_plan_report *report,
                    const struct pm_report_options *options) {
    if (options->format == PM_REPORT_JSON)
        write_json(out, report);
    else if (options->format == PM_REPORT_CSV)
        write_csv(out, report);
    else
        write_table(out, report, options);
}
