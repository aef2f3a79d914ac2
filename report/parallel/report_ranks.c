/* Time by group of ranks, how even it is, and where ranks wait.

   JSON: {"format": "pmodel-ranks", "version": 1, "program", "reports": [{parameters, machine,
   predicted, ranks, slowest_seconds, mean_seconds, imbalance, tolerance, groups, spin_loops,
   waiting_calls}]}; CSV: a line for each group.

   Times are predicted, but for those with `measured_` in their names, which are those of the run
   that was timed (core/call_times/call_times.h), of the mean rank of the group or role. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/parallel/parallel.h"

#define ROW(member_) PM_MEMBER(struct pm_rank_row, member_)

PM_GETTER(parameters_value, struct pm_rank_row, pm_owned_text(pm_parameters_text(row->at)))
PM_GETTER(ranks_cell, struct pm_rank_row, row->ranks ? pm_text(row->ranks) : pm_unknown())

static const struct pm_field fields[] = {
    {"machine", PM_TEXT, ROW(machine), .not_in_json = true},
    {"parameters", PM_TEXT, .get = parameters_value, .not_in_json = true},
    {"seconds", PM_SECONDS, ROW(seconds), .header = "TIME"},
    {"low_seconds", PM_SECONDS, ROW(low)},
    {"high_seconds", PM_SECONDS, ROW(high)},
    {"waits_seconds", PM_SECONDS, ROW(waits_seconds), .header = "WAITS"},
    {"measured_seconds", PM_SECONDS, ROW(calls.span_seconds), .header = "MEASURED"},
    {"measured_mpi_seconds", PM_SECONDS, ROW(calls.seconds), .header = "IN MPI"},
    {"measured_waiting_seconds", PM_SECONDS, ROW(calls.waiting_seconds), .header = "WAITED"},
    {"n_ranks", PM_COUNT, ROW(n_ranks), .header = "RANKS"},
    {"group", PM_INDEX, ROW(group), .header = "GROUP"},
    {"role", PM_TEXT, ROW(role), .header = "ROLE"},
    {"ranks", PM_NAME, ROW(ranks), .cell = ranks_cell, .header = "NUMBERS"},
};

static const struct pm_field loop_fields[] = {
    {"rounds", PM_COUNT, PM_MEMBER(struct pm_rank_spin_loop, rounds), .header = "ROUNDS"},
    {"group", PM_INDEX, PM_MEMBER(struct pm_rank_spin_loop, group), .header = "GROUP"},
    {"role", PM_TEXT, PM_MEMBER(struct pm_rank_spin_loop, role), .header = "ROLE"},
    {"label", PM_NAME, PM_PLACE(struct pm_rank_spin_loop, place, label), .header = "LOOP"},
    {"source", PM_TEXT, PM_PLACE(struct pm_rank_spin_loop, place, source), .header = "SOURCE"},
};

#define CALL(member_) PM_MEMBER(struct pm_rank_waiting_call, member_)

static const struct pm_field call_fields[] = {
    {"measured_waiting_seconds", PM_SECONDS, CALL(times.waiting_seconds), .header = "WAITED"},
    {"measured_mpi_seconds", PM_SECONDS, CALL(times.seconds), .header = "IN MPI"},
    {"calls", PM_COUNT, CALL(calls), .header = "CALLS"},
    {"role", PM_TEXT, CALL(role), .header = "ROLE"},
    {"call", PM_NAME, CALL(call), .header = "CALL"},
};

void pm_ranks_report_free(struct pm_ranks_report *report) {
    for (size_t i = 0; i < report->n_rows; i++) {
        free(report->rows[i].role);
        free(report->rows[i].ranks);
    }
    for (size_t i = 0; i < report->n_calls; i++)
        free(report->calls[i].call);
    free(report->rows);
    free(report->loops);
    free(report->calls);
    free(report->machine);
    free(report->machine_title);
    *report = (struct pm_ranks_report){0};
}

void pm_ranks_report_complete(struct pm_ranks_report *report) {
    double sum = 0;
    report->n_ranks = 0;
    report->slowest_seconds = NAN;
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct pm_rank_row *row = &report->rows[i];
        report->n_ranks += row->n_ranks;
        sum += row->n_ranks * row->seconds;
        if (i == 0 || isnan(row->seconds) || row->seconds > report->slowest_seconds)
            report->slowest_seconds = row->seconds; /* one that is not known makes it unknown */
    }
    report->mean_seconds = report->n_ranks > 0 ? sum / report->n_ranks : NAN;
    report->imbalance =
        report->mean_seconds > 0 ? report->slowest_seconds / report->mean_seconds : NAN;
    for (size_t i = 0; i < report->n_rows; i++)
        report->rows[i].waits_seconds = report->slowest_seconds - report->rows[i].seconds;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *report_json(const struct pm_ranks_report *report) {
    json_t *object = json_object();
    json_object_set_new(object, "parameters", pm_json_parameters(&report->at));
    json_object_set_new(object, "machine", pm_json_text(report->machine));
    json_object_set_new(object, "predicted", json_boolean(report->predicted));
    json_object_set_new(object, "ranks", pm_json_number(report->n_ranks));
    json_object_set_new(object, "slowest_seconds", pm_json_number(report->slowest_seconds));
    json_object_set_new(object, "mean_seconds", pm_json_number(report->mean_seconds));
    json_object_set_new(object, "imbalance", pm_json_number(report->imbalance));
    json_object_set_new(object, "tolerance", pm_json_number(report->tolerance));
    json_object_set_new(
        object, "groups",
        pm_fields_array(PM_FIELDS(fields), report->rows, report->n_rows, sizeof *report->rows));
    json_object_set_new(object, "spin_loops",
                        pm_fields_array(PM_FIELDS(loop_fields), report->loops, report->n_loops,
                                        sizeof *report->loops));
    json_object_set_new(object, "waiting_calls",
                        report->calls_known
                            ? pm_fields_array(PM_FIELDS(call_fields), report->calls,
                                              report->n_calls, sizeof *report->calls)
                            : json_null());
    return object;
}

static void write_json(FILE *out, const struct pm_ranks_report *reports, size_t n,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("ranks", reports[0].structure), *array = json_array();
    pm_json_set_warnings(document, options);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, report_json(&reports[i]));
    json_object_set_new(document, "reports", array);
    pm_json_print(out, document);
}

static void write_csv(FILE *out, const struct pm_ranks_report *reports, size_t n) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(fields),
                     "machine parameters group role ranks n_ranks seconds low_seconds high_seconds "
                     "waits_seconds measured_seconds measured_mpi_seconds "
                     "measured_waiting_seconds");
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < reports[i].n_rows; r++)
            pm_csv_line(&lines, &reports[i].rows[r]);
    pm_csv_end(&lines);
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_title(FILE *out, const struct pm_ranks_report *report,
                        const struct pm_report_options *options) {
    char *parameters = pm_parameters_text(&report->at);
    pm_print_title(
        out, options, "%s  %s%son %s: %s rank%s up to %s each, %s times the mean of %s     %s",
        pm_program_name(report->structure), parameters, *parameters ? "  " : "",
        report->machine_title, pm_count_text(report->n_ranks).text,
        report->n_ranks == 1 ? " takes" : "s take", pm_seconds_text(report->slowest_seconds).text,
        pm_rate_text(report->imbalance).text, pm_seconds_text(report->mean_seconds).text,
        report->predicted ? "from the models of roles" : "measured at this size");
    free(parameters);
}

static void print_notes(FILE *out, const struct pm_ranks_report *report,
                        const struct pm_report_options *options) {
    fputs("notes:\n", out);
    pm_print_note(
        out, options,
        "Times are of what each rank does, with a core for each of its threads, without what it "
        "waits for others and what the MPI library does; WAITS is what the slowest take longer.");
    if (report->times_known)
        pm_print_note(out, options,
                      "MEASURED, from MPI_Init to MPI_Finalize, IN MPI and WAITED are times of the "
                      "machine that ran it, of one rank: of the fastest of the runs with timers. "
                      "A rank waits in a receive until the message was sent, in a send that is not "
                      "buffered until the receive began, in a collective operation until the last "
                      "rank came.");
    else if (report->calls_known)
        pm_print_note(out, options,
                      "How long ranks wait was not measured: `pmodel run --time` does.");
    for (size_t i = 0; i < report->n_rows; i++)
        if (isnan(report->rows[i].seconds))
            pm_print_note(out, options,
                          "Role %s has no models, so that its time is not known, nor what the "
                          "others wait for it; `pmodel fit` says why.",
                          report->rows[i].role);
    if (report->without_memory)
        pm_print_note(out, options,
                      "Times are of execution alone: the size was measured without reuse "
                      "distances (--no-memory).");
    if (!isnan(report->tolerance))
        pm_print_note(out, options,
                      "A group is of ranks of one role that do more or other work than its first "
                      "one for at most %g%% of their instructions.",
                      100 * report->tolerance);
    if (!report->calls_known && !report->predicted)
        pm_print_note(out, options,
                      "Where ranks wait for messages is not known: communication was not traced.");
}

static void write_table(FILE *out, const struct pm_ranks_report *report,
                        const struct pm_report_options *options) {
    struct pm_table_rows loops = pm_table_begin(pm_fields_named(PM_FIELDS(loop_fields),
                                                                "rounds group role label source")),
                         calls = pm_table_begin(pm_fields_named(
                             PM_FIELDS(call_fields),
                             report->times_known
                                 ? "measured_waiting_seconds measured_mpi_seconds calls role call"
                                 : "calls role call"));
    print_title(out, report, options);
    pm_fields_table(out,
                    pm_fields_named(PM_FIELDS(fields),
                                    report->times_known
                                        ? "seconds waits_seconds measured_seconds "
                                          "measured_mpi_seconds measured_waiting_seconds n_ranks "
                                          "group role ranks"
                                        : "seconds waits_seconds n_ranks group role ranks"),
                    report->rows, report->n_rows, sizeof *report->rows, options);
    for (size_t i = 0; i < report->n_loops; i++)
        pm_table_row(&loops, &report->loops[i]);
    pm_table_end(out, &loops, "left out: rounds in which a rank only waited for another one\n",
                 options);
    for (size_t i = 0; i < report->n_calls; i++)
        if (!(report->calls[i].times.waiting_seconds == 0)) /* or it is not known */
            pm_table_row(&calls, &report->calls[i]);
    pm_table_end(out, &calls,
                 report->times_known
                     ? "calls at which ranks wait for others, of one rank each\n"
                     : "calls at which ranks may wait for others, of one rank each\n",
                 options);
    print_notes(out, report, options);
}

static void write_tables(FILE *out, const struct pm_ranks_report *reports, size_t n,
                         const struct pm_report_options *options) {
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "\n" : "", out);
        write_table(out, &reports[i], options);
    }
}

void pm_report_ranks(FILE *out, struct pm_ranks_report *reports, size_t n_reports,
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
