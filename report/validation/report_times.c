/* `pmodel validate --time`: predicted beside measured seconds as a table, JSON and CSV.  Needs the
   tables of fit/analysis/times/predicted_times.c.

   JSON: {"format": "pmodel-validation-times", "version": 1, program, "sizes": [{parameters,
   machine, …, "nests": errors of the large ones, "rows": [{kind, predicted_seconds, low_seconds,
   high_seconds, measured_seconds, median_seconds, p90_seconds, error, …}]}]}.  Rows are the
   program, nests by time, and what is in none; the last two add up to the program, predicted, and
   to the program with timers, measured.  CSV: a line for each row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/validation/validation.h"

/* A row of a table, and what the whole table has in common. */
struct time_line {
    const struct pm_timed_size *size;
    struct pm_time_row row;
    double least_share;
};

/* ---- why a row may be off -------------------------------------------------------------------- */

/* "schedule", "bandwidth", "L2 misses", "first touches of pages": what most of the predicted time
 * is. */
static char *largest_part(const struct time_line *line) {
    const struct pm_prediction *prediction = line->size->prediction;
    const struct pm_time_parts *parts = &line->row.parts;
    double most = parts->schedule;
    size_t at = prediction->n_levels;
    for (size_t level = 0; level < prediction->n_levels; level++)
        if (parts->levels[level] > most) {
            most = parts->levels[level];
            at = level;
        }
    if (parts->first_touches > fmax(most, parts->bandwidth))
        return pm_strdup("first touches of pages");
    if (parts->bandwidth > most)
        return pm_strdup("bandwidth");
    if (!(most > 0))
        return NULL;
    return at < prediction->n_levels ? pm_sprintf("%s misses", prediction->level_names[at])
                                     : pm_strdup("schedule");
}

/* What is known not to be in the predicted time, in words; NULL: nothing. */
static char *doubts_text(const struct time_line *line) {
    static const double worth_telling = 0.01;
    const struct pm_time_row *row = &line->row;
    char *text = NULL;
    if (row->unknown_share >= worth_telling)
        pm_append(&text, "%s%% of the operations have no known cost",
                  pm_percent_text(row->unknown_share).text);
    if (row->unrecorded_share >= worth_telling)
        pm_append(&text, "%s%s%% of the accesses were not recorded", text ? ", " : "",
                  pm_percent_text(row->unrecorded_share).text);
    if (row->calls_out > 0)
        pm_append(&text, "%s%s calls of code that is not measured", text ? ", " : "",
                  pm_count_text(row->calls_out).text);
    return text;
}

/* Which side of what it could be with all misses hidden, or none, the clock is on. */
static char *bracket_text(const struct pm_time_row *row) {
    double measured = row->measured.estimate;
    if (measured > row->upper)
        return pm_sprintf("even with each miss alone it would be %s, so it is not misses",
                          pm_seconds_text(row->upper).text);
    if (measured < row->lower)
        return pm_sprintf("even with every miss prefetched it would be %s, so the schedule is too "
                          "long",
                          pm_seconds_text(row->lower).text);
    return pm_sprintf("it is between every miss prefetched, %s, and each alone, %s, so it may be "
                      "how far misses are hidden",
                      pm_seconds_text(row->lower).text, pm_seconds_text(row->upper).text);
}

/* Why ROW may be off as far as it is, in words; from what the prediction knows alone. */
static char *reasons_text(const struct time_line *line) {
    static const double worth_telling = 0.1, wide = 1.3;
    const struct pm_time_row *row = &line->row;
    double predicted = row->predicted.estimate, beyond = line->size->prediction->extrapolation;
    if (isnan(row->error) || !(predicted > 0))
        return NULL;
    char *text = bracket_text(row), *doubts = doubts_text(line), *part = largest_part(line);
    if (part)
        pm_append(&text, "; mostly %s", part);
    if (row->parts.mispredictions > worth_telling * predicted)
        pm_append(&text, "; %s%% of it mispredictions%s",
                  pm_percent_text(row->parts.mispredictions / predicted).text,
                  row->assumes_branches ? ", at most" : "");
    if (row->fallback > worth_telling * predicted)
        pm_append(&text, "; misses of %s%% of it not simulated",
                  pm_percent_text(row->fallback / predicted).text);
    if (row->high_by_models > wide * row->low_by_models)
        pm_append(&text, "; counts and misses alone, %.2gx beyond those measured, make it %s to %s",
                  beyond, pm_seconds_text(row->low_by_models).text,
                  pm_seconds_text(row->high_by_models).text);
    if (fmax(row->below_by_machine, row->above_by_machine) > worth_telling * predicted)
        pm_append(&text, "; figures of the machine take up to %s%% off it, or add %s%%",
                  pm_percent_text(row->below_by_machine / predicted).text,
                  pm_percent_text(row->above_by_machine / predicted).text);
    if (row->missing > worth_telling * predicted)
        pm_append(&text, "; up to %s are missing", pm_seconds_text(row->missing).text);
    if (doubts)
        pm_append(&text, "; %s", doubts);
    free(doubts);
    free(part);
    return text;
}

/* ---- the fields ------------------------------------------------------------------------------ */

static const char *kind_word(const struct time_line *line) {
    switch (line->row.kind) {
    case PM_TIME_PROGRAM:
        return "program";
    case PM_TIME_UNTIMED:
        return "untimed";
    default:
        return "nest";
    }
}

static struct pm_field_value place_or(const struct time_line *line,
                                      struct pm_field_value (*get)(const void *),
                                      struct pm_field_value otherwise) {
    return line->row.kind == PM_TIME_NEST ? get(&line->row.place) : otherwise;
}

static json_t *parts_json(const struct time_line *line) {
    const struct pm_prediction *prediction = line->size->prediction;
    json_t *object = json_object();
    json_object_set_new(object, "schedule", pm_json_number(line->row.parts.schedule));
    json_object_set_new(object, "bandwidth", pm_json_number(line->row.parts.bandwidth));
    json_object_set_new(object, "first_touches", pm_json_number(line->row.parts.first_touches));
    for (size_t level = 0; level < prediction->n_levels; level++)
        json_object_set_new(object, prediction->level_names[level],
                            pm_json_number(line->row.parts.levels[level]));
    return object;
}

static json_t *runs_json(const struct time_line *line) {
    json_t *array = json_array();
    for (size_t r = 0; r < line->row.n_runs; r++)
        json_array_append_new(array, pm_json_number(line->row.runs[r]));
    return array;
}

/* Of a row without measured time there is nothing to hold. */
static struct pm_field_value inside_value(const struct time_line *line) {
    if (isnan(line->row.predicted.low) || isnan(line->row.error))
        return pm_unknown();
    return pm_json_value(json_boolean(line->row.inside));
}

static char *seconds_range(double low, double high) {
    if (isnan(low) || isnan(high))
        return pm_strdup("?");
    return pm_sprintf("%s-%s", pm_seconds_text(low).text, pm_seconds_text(high).text);
}

static const char *name_of_rest(const struct time_line *line) {
    return line->row.kind == PM_TIME_PROGRAM ? "the program" : "in no timer";
}

#define GETTER(name_, value_) PM_GETTER(name_, struct time_line, value_)
GETTER(line_kind, pm_text(kind_word(row)))
GETTER(line_label, place_or(row, pm_place_label_folded, pm_text(name_of_rest(row))))
GETTER(line_source, place_or(row, pm_place_source, pm_text("")))
GETTER(line_name, place_or(row, pm_place_name, pm_unknown()))
GETTER(line_scope_kind, place_or(row, pm_place_kind, pm_unknown()))
GETTER(line_file, place_or(row, pm_place_file, pm_unknown()))
GETTER(line_line, place_or(row, pm_place_line_first, pm_unknown()))
GETTER(line_key, place_or(row, pm_place_key, pm_unknown()))
GETTER(line_module, place_or(row, pm_place_module, pm_unknown()))
GETTER(line_parts, pm_json_value(parts_json(row)))
GETTER(line_runs, pm_json_value(runs_json(row)))
GETTER(line_inside, inside_value(row))
GETTER(line_largest, pm_owned_text(largest_part(row)))
GETTER(line_doubts, pm_owned_text(doubts_text(row)))
GETTER(line_reasons, pm_owned_text(reasons_text(row)))
GETTER(line_between, pm_owned_text(seconds_range(row->row.predicted.low, row->row.predicted.high)))
GETTER(line_error, pm_copied_text(pm_error_text(row->row.error).text))
GETTER(line_inside_cell, pm_text(isnan(row->row.predicted.low) || isnan(row->row.error) ? "?"
                                 : row->row.inside                                      ? "yes"
                                                                                        : "no"))
GETTER(line_parameters, pm_owned_text(pm_parameters_text(&row->size->prediction->parameters)))
GETTER(line_machine, pm_text(row->size->prediction->machine_name))
GETTER(line_inside_csv, isnan(row->row.predicted.low) || isnan(row->row.error)
                            ? pm_unknown()
                            : pm_integer(row->row.inside))
GETTER(line_n_runs, pm_integer(row->row.n_runs))

#define ROW(member_) PM_MEMBER(struct time_line, row.member_)
#define NOT_IN_JSON .not_in_json = true
static const struct pm_field line_fields[] = {
    {"kind", PM_TEXT, .get = line_kind},
    {"label", PM_NAME, .get = line_label, .header = "NEST"},
    {"name", PM_TEXT, .get = line_name},
    {"scope_kind", PM_TEXT, .get = line_scope_kind},
    {"file", PM_TEXT, .get = line_file},
    {"line", PM_POSITIVE, .get = line_line},
    {"key", PM_HEX, .get = line_key},
    {"module", PM_TEXT, .get = line_module},
    {"predicted_seconds", PM_SECONDS, ROW(predicted.estimate), .header = "PREDICTED"},
    {"low_seconds", PM_NUMBER, ROW(predicted.low)},
    {"high_seconds", PM_NUMBER, ROW(predicted.high)},
    {"measured_seconds", PM_SECONDS, ROW(measured.estimate), .header = "MEASURED"},
    {"median_seconds", PM_SECONDS, ROW(median), .header = "MEDIAN", .dispensable = 3},
    {"p90_seconds", PM_NUMBER, ROW(measured.high)},
    {"error", PM_NUMBER, ROW(error)},
    {"inside", PM_JSON_ONLY, .get = line_inside},
    {"lower_seconds", PM_NUMBER, ROW(lower)},
    {"upper_seconds", PM_NUMBER, ROW(upper)},
    {"models_low_seconds", PM_NUMBER, ROW(low_by_models)},
    {"models_high_seconds", PM_NUMBER, ROW(high_by_models)},
    {"models_low_schedule_seconds", PM_NUMBER, ROW(low_schedule_by_models)},
    {"machine_below_seconds", PM_NUMBER, ROW(below_by_machine)},
    {"machine_above_seconds", PM_NUMBER, ROW(above_by_machine)},
    {"missing_seconds", PM_NUMBER, ROW(missing)},
    {"share", PM_PERCENT, ROW(share), .header = "%"},
    {"large", PM_YES_NO, ROW(is_large)},
    {"largest_part", PM_TEXT, .get = line_largest, .header = "MOSTLY", .dispensable = 2},
    {"parts_seconds", PM_JSON_ONLY, .get = line_parts},
    {"unknown_share", PM_NUMBER, ROW(unknown_share)},
    {"unrecorded_share", PM_NUMBER, ROW(unrecorded_share)},
    {"calls_out", PM_NUMBER, ROW(calls_out)},
    {"first_touches", PM_NUMBER, ROW(first_touches)},
    {"doubts", PM_TEXT, .get = line_doubts},
    {"fallback_seconds", PM_NUMBER, ROW(fallback)},
    {"reasons", PM_TEXT, .get = line_reasons},
    {"mispredictions_seconds", PM_NUMBER, ROW(parts.mispredictions)},
    {"runs_seconds", PM_JSON_ONLY, .get = line_runs},
    {"between", PM_TEXT, .get = line_between, NOT_IN_JSON, .header = "80% BETWEEN",
     .dispensable = 3},
    {"error_text", PM_NUMBER, .get = line_error, NOT_IN_JSON, .header = "ERROR"},
    {"inside_text", PM_TEXT, .get = line_inside_cell, NOT_IN_JSON, .header = "INSIDE"},
    {"source", PM_NAME, .get = line_source, NOT_IN_JSON, .header = "SOURCE", .dispensable = 1},
    {"parameters", PM_TEXT, .get = line_parameters, NOT_IN_JSON},
    {"machine", PM_TEXT, .get = line_machine, NOT_IN_JSON},
    {"inside_interval", PM_INTEGER, .get = line_inside_csv, NOT_IN_JSON},
    {"runs", PM_INTEGER, .get = line_n_runs, NOT_IN_JSON},
};

static struct time_line line_of(const struct pm_timed_size *size, const struct pm_time_table *table,
                                size_t row) {
    return (struct time_line){size, table->rows[row], table->least_share};
}

/* ---- errors of the large nests --------------------------------------------------------------- */

struct nest_errors {
    struct pm_errors errors;
    size_t n_inside;
};

static struct nest_errors errors_of(const struct pm_time_table *table) {
    double *errors = pm_alloc(table->n_rows, sizeof *errors);
    struct nest_errors found = {0};
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].is_large) {
            errors[n++] = fabs(table->rows[i].error);
            found.n_inside += table->rows[i].inside;
        }
    found.errors = pm_summarise_errors(errors, n);
    free(errors);
    return found;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_title(FILE *out, const struct pm_timed_report *report,
                        const struct pm_timed_size *size, const struct pm_time_table *table,
                        const struct pm_report_options *options) {
    const struct pm_prediction *prediction = size->prediction;
    char *at = pm_parameters_text(&prediction->parameters);
    char *up_to = pm_parameters_text(&report->models->high);
    pm_print_title(out, options, "%s  %s: predicted for %s, by models of %zu runs up to %s (%.1fx)",
                   prediction->program, at, prediction->machine_title, report->models->n_runs,
                   up_to, prediction->extrapolation);
    fprintf(out, "measured in %zu %s%s on %s", size->n_runs,
            size->n_runs == 1 ? "process" : "processes", size->n_runs == 1 ? "" : ", the least",
            size->runs[0]->machine ? size->runs[0]->machine : "a processor that is not known");
    if (!isnan(table->core_share))
        fprintf(out, "; the host gave %.2f of a core", table->core_share);
    fputc('\n', out);
    free(up_to);
    free(at);
}

/* Nests below the least share, or beyond the last row to be shown, are one row. */
static void print_rows(FILE *out, const struct pm_timed_size *size,
                       const struct pm_time_table *table, const struct pm_report_options *options) {
    struct pm_table_rows rows = pm_table_begin(
        pm_fields_named(PM_FIELDS(line_fields),
                        "predicted_seconds between measured_seconds median_seconds error_text "
                        "inside_text share label source largest_part"));
    size_t n_shown = 0, n_others = 0;
    double predicted = 0, measured = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct pm_time_row *row = &table->rows[i];
        struct time_line line = line_of(size, table, i);
        bool is_full = options->max_rows && n_shown >= options->max_rows;
        if (row->kind == PM_TIME_NEST && (!row->is_large || is_full)) {
            n_others++;
            predicted += row->predicted.estimate;
            measured += row->measured.estimate;
            continue;
        }
        n_shown += row->kind == PM_TIME_NEST;
        pm_table_row(&rows, &line);
    }
    pm_table_end(out, &rows, NULL, options);
    if (n_others)
        fprintf(out, "%zu smaller nests: predicted %s, measured %s\n", n_others,
                pm_seconds_text(predicted).text, pm_seconds_text(measured).text);
}

static void print_notes(FILE *out, const struct pm_timed_size *size,
                        const struct pm_time_table *table,
                        const struct pm_report_options *options) {
    static const double far_off = 0.4;
    struct nest_errors errors = errors_of(table);
    if (errors.errors.n)
        fprintf(out,
                "nests with at least %.3g%% of the time: %zu; error: median %.1f%%, worst "
                "%.1f%%; inside their intervals: %zu\n",
                100 * table->least_share, errors.errors.n, 100 * errors.errors.median,
                100 * errors.errors.worst, errors.n_inside);
    for (size_t i = 0; i < table->n_rows; i++) {
        struct time_line line = line_of(size, table, i);
        if (!line.row.is_large || !(fabs(line.row.error) > far_off))
            continue;
        struct pm_field_value label = line_label(&line);
        char *reasons = reasons_text(&line);
        pm_print_note(out, options, "%s is off by %s: %s", label.text,
                      pm_error_text(line.row.error).text, reasons ? reasons : "nothing predicted");
        free(reasons);
        free(label.owned);
    }
    const char *here = size->runs[0]->machine;
    if (here && !strstr(size->prediction->machine_title, here))
        pm_print_note(out, options,
                      "Measured on %s, predicted for %s, whose description does not name that "
                      "processor: `pmodel probe -o here.conf` describes the one that it runs on.",
                      here, size->prediction->machine_title);
    if (table->over_plain > 1.05)
        pm_print_note(
            out, options,
            "with timers the program took %.2f times its plain time, so that nests are no "
            "surer than that",
            table->over_plain);
    for (size_t i = 0; i < size->prediction->n_notes; i++)
        pm_print_note(out, options, "%s", size->prediction->notes[i]);
}

static void write_tables(FILE *out, const struct pm_timed_report *report,
                         struct pm_time_table *const *tables,
                         const struct pm_report_options *options) {
    for (size_t i = 0; i < report->n_sizes; i++) {
        if (i)
            fputc('\n', out);
        print_title(out, report, &report->sizes[i], tables[i], options);
        print_rows(out, &report->sizes[i], tables[i], options);
        print_notes(out, &report->sizes[i], tables[i], options);
    }
}

/* ---- for programs ---------------------------------------------------------------------------- */

static json_t *size_json(const struct pm_timed_size *size, const struct pm_time_table *table) {
    const struct pm_prediction *prediction = size->prediction;
    json_t *object = json_object(), *nests = json_object(), *rows = json_array();
    struct nest_errors errors = errors_of(table);
    json_object_set_new(nests, "n", pm_json_integer(errors.errors.n));
    json_object_set_new(nests, "median", pm_json_number(errors.errors.median));
    json_object_set_new(nests, "worst", pm_json_number(errors.errors.worst));
    json_object_set_new(nests, "inside", pm_json_integer(errors.n_inside));
    for (size_t i = 0; i < table->n_rows; i++) {
        struct time_line line = line_of(size, table, i);
        json_array_append_new(rows, PM_JSON_OBJECT(line_fields, &line));
    }
    json_object_set_new(object, "parameters", pm_json_parameters(&prediction->parameters));
    json_object_set_new(object, "machine", pm_json_text(prediction->machine_name));
    json_object_set_new(object, "clock_hz", pm_json_number(prediction->clock_hz));
    json_object_set_new(object, "extrapolation", pm_json_number(prediction->extrapolation));
    json_object_set_new(object, "models_relative_error",
                        pm_json_number(prediction->relative_error));
    json_object_set_new(object, "level", pm_json_number(prediction->level));
    json_object_set_new(object, "measured_on", pm_json_text(size->runs[0]->machine));
    json_object_set_new(object, "over_plain", pm_json_number(table->over_plain));
    json_object_set_new(object, "core_share", pm_json_number(table->core_share));
    json_object_set_new(object, "least_share", pm_json_number(table->least_share));
    json_object_set_new(object, "nests", nests);
    json_object_set_new(object, "rows", rows);
    return object;
}

static void write_json(FILE *out, const struct pm_timed_report *report,
                       struct pm_time_table *const *tables,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("validation-times", report->structure),
           *sizes = json_array();
    pm_json_set_warnings(document, options);
    for (size_t i = 0; i < report->n_sizes; i++)
        json_array_append_new(sizes, size_json(&report->sizes[i], tables[i]));
    json_object_set_new(document, "sizes", sizes);
    pm_json_print(out, document);
}

static void write_csv(FILE *out, const struct pm_timed_report *report,
                      struct pm_time_table *const *tables) {
    struct pm_csv_lines lines = pm_csv_begin(
        out, PM_FIELDS(line_fields),
        "parameters machine kind label name file line key module predicted_seconds "
        "low_seconds high_seconds measured_seconds median_seconds p90_seconds runs error "
        "inside_interval share large largest_part unknown_share unrecorded_share "
        "calls_out doubts");
    for (size_t i = 0; i < report->n_sizes; i++)
        for (size_t r = 0; r < tables[i]->n_rows; r++) {
            struct time_line line = line_of(&report->sizes[i], tables[i], r);
            pm_csv_line(&lines, &line);
        }
    pm_csv_end(&lines);
}

void pm_report_validated_times(FILE *out, const struct pm_timed_report *report,
                               const struct pm_report_options *options) {
    struct pm_time_table **tables = pm_alloc(report->n_sizes, sizeof *tables);
    for (size_t i = 0; i < report->n_sizes; i++)
        tables[i] =
            pm_time_table_new(report->structure, &report->sizes[i], options->min_percent / 100);
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, write_tables(out, report, tables, options),
                 write_json(out, report, tables, options), write_csv(out, report, tables));
    for (size_t i = 0; i < report->n_sizes; i++)
        pm_time_table_free(tables[i]);
    free(tables);
}
