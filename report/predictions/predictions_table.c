/* `pmodel report` for people: a header line, the rows by time, notes.  Needs the rows of rows.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/predictions/predictions.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* ---- the header ----------------------------------------------------------------------------- */

/* "measured at this size", or how far the prediction goes beyond what was measured. */
static char *range_text(const struct pm_prediction *prediction) {
    if (!prediction->predicted)
        return pm_strdup("measured at this size");
    const char *up_to = prediction->measured_up_to ? prediction->measured_up_to : "?";
    struct pm_number_text error = pm_percent_text(prediction->relative_error);
    if (prediction->extrapolation > 1)
        return pm_sprintf("measured up to %s, so extrapolated %.1fx; models' error %s%%", up_to,
                          prediction->extrapolation, error.text);
    return pm_sprintf("measured up to %s, so not extrapolated; models' error %s%%", up_to,
                      error.text);
}

/* " (80%: 15.1 s to 16.4 s)"; empty without an interval. */
static char *interval_text(const struct pm_prediction *prediction) {
    if (!prediction->low || !prediction->high)
        return pm_strdup("");
    double low = fmin(prediction->low->seconds, prediction->seconds);
    double high = fmax(prediction->high->seconds, prediction->seconds);
    struct pm_number_text least = pm_seconds_text(low), most = pm_seconds_text(high);
    return pm_sprintf(" (%.0f%%: %s to %s)", 100 * prediction->level, least.text, most.text);
}

static void print_header(FILE *out, const struct pm_prediction *prediction,
                         const struct pm_rows *rows, const struct pm_report_options *options) {
    char *parameters = pm_parameters_text(&prediction->parameters);
    char *range = range_text(prediction), *interval = interval_text(prediction);
    char *what = pm_sprintf("%s  %s%son %s: predicted %s%s%s", prediction->program, parameters,
                            *parameters ? "  " : "", prediction->machine_title,
                            rows->time_is_lower_bound ? ">" : "",
                            pm_seconds_text(prediction->seconds).text, interval);
    free(interval);
    char *line = pm_sprintf("%s     %s", what, range);
    if (!options->width || strlen(line) <= options->width) {
        pm_print_bold(out, line, options->color);
    } else {
        pm_print_bold(out, what, options->color);
        pm_print_wrapped(out, "  ", "  ", range, options->width);
    }
    free(line);
    free(what);
    free(range);
    free(parameters);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static struct pm_text_table *new_table(const struct pm_prediction *prediction, bool measured) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "TIME", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "%", PM_COLUMN_NUMBER);
    if (measured)
        pm_text_table_column(table, "MEASURED", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LOOP", PM_COLUMN_NAME);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
    pm_text_table_column(table, "BOUND BY", PM_COLUMN_TEXT);
    for (size_t level = 0; level < prediction->n_levels; level++) {
        char *title = pm_sprintf("%s/it", prediction->level_names[level]);
        pm_text_table_column(table, title, PM_COLUMN_NUMBER);
        free(title);
    }
    return table;
}

static void add_cell(struct pm_text_table *table, bool lower_bound, const char *text) {
    char *cell = pm_sprintf("%s%s", lower_bound ? ">" : "", text);
    pm_text_table_cell(table, cell);
    free(cell);
}

/* The row's own time, with that of inner loops without a timer, or the name of the loop or routine
   that holds it. */
static char *measured_text(const struct pm_structure *structure, const struct pm_row *row) {
    if (!isnan(row->measured_seconds) || row->measured_in == PM_NONE)
        return pm_sprintf("%s%s", row->measured_with_inner ? "<" : "",
                          pm_seconds_text(row->measured_seconds).text);
    enum { MOST_LETTERS = 16 };
    const struct pm_scope *holder = &structure->scopes[row->measured_in];
    char *name = pm_short_name(pm_code_name(structure, row->measured_in));
    char *depth = holder->depth ? pm_sprintf("/%u", holder->depth) : pm_strdup("");
    char *text = pm_sprintf("in %.*s%s%s", MOST_LETTERS, name,
                            strlen(name) > MOST_LETTERS ? "~" : "", depth);
    free(depth);
    free(name);
    return text;
}

static void add_row(struct pm_text_table *table, const struct pm_structure *structure,
                    const struct pm_rows *rows, const struct pm_row *row, size_t n_levels) {
    add_cell(table, row->time_is_lower_bound, pm_seconds_text(row->seconds).text);
    pm_text_table_cell(table, pm_percent_text(row->share).text);
    if (rows->times) {
        char *measured = measured_text(structure, row);
        pm_text_table_cell(table, measured);
        free(measured);
    }
    pm_text_table_cell(table, row->label);
    pm_text_table_cell(table, row->source);
    pm_text_table_cell(table, row->bound_label);
    for (size_t level = 0; level < n_levels; level++) {
        double misses = row->misses_per_iteration[level];
        add_cell(table, row->misses_are_lower_bound && !isnan(misses), pm_rate_text(misses).text);
    }
}

/* Rows that the table leaves out, summed up, or time that belongs to no row. */
struct sum {
    size_t n;
    double seconds, measured_seconds;
    bool time_is_lower_bound, measured_with_inner;
};

/* A row without a place in the source. */
static void add_sum(struct pm_text_table *table, const struct pm_prediction *prediction,
                    bool measured, const struct sum *sum, const char *label) {
    double share = prediction->seconds > 0 ? sum->seconds / prediction->seconds : NAN;
    bool predicted = !isnan(sum->seconds) || isnan(sum->measured_seconds);
    add_cell(table, sum->time_is_lower_bound, predicted ? pm_seconds_text(sum->seconds).text : "");
    pm_text_table_cell(table, predicted ? pm_percent_text(share).text : NULL);
    if (measured) {
        char *text = pm_sprintf("%s%s", sum->measured_with_inner ? "<" : "",
                                pm_seconds_text(sum->measured_seconds).text);
        pm_text_table_cell(table, text);
        free(text);
    }
    pm_text_table_cell(table, label);
    size_t n_levels = prediction->n_levels;
    for (size_t i = 0; i < n_levels + 2; i++)
        pm_text_table_cell(table, NULL);
}

static bool is_shown(const struct pm_row *row, size_t n_shown,
                     const struct pm_report_options *options) {
    return (!options->max_rows || n_shown < options->max_rows) &&
           !(100 * row->share < options->min_percent);
}

static void add_rows(struct pm_text_table *table, const struct pm_structure *structure,
                     const struct pm_prediction *prediction, const struct pm_rows *rows,
                     const struct pm_report_options *options, struct sum *other) {
    size_t n_shown = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_row *row = &rows->rows[i];
        if (!row->counted || !row->executed)
            continue;
        if (is_shown(row, n_shown, options)) {
            add_row(table, structure, rows, row, prediction->n_levels);
            n_shown++;
        } else {
            other->n++;
            other->seconds += row->seconds;
            other->measured_seconds += isnan(row->measured_seconds) ? 0 : row->measured_seconds;
            other->time_is_lower_bound |= row->time_is_lower_bound;
            other->measured_with_inner |= row->measured_with_inner;
        }
    }
}

static void add_sums(struct pm_text_table *table, const struct pm_prediction *prediction,
                     const struct pm_rows *rows, const struct sum *other) {
    bool measured = rows->times != NULL;
    if (other->n) {
        char *label = pm_sprintf("other (%zu smaller ones)", other->n);
        add_sum(table, prediction, measured, other, label);
        free(label);
    }
    if (rows->unattributed_seconds != 0)
        add_sum(table, prediction, measured,
                &(struct sum){1, rows->unattributed_seconds, 0, false, false}, "in no scope");
    if (rows->n_not_counted) {
        char *label = pm_sprintf("not counted (%zu)", rows->n_not_counted);
        add_sum(table, prediction, measured, &(struct sum){1, NAN, NAN, false, false}, label);
        free(label);
    }
    if (measured)
        add_sum(table, prediction, measured,
                &(struct sum){1, NAN, rows->times->outside_seconds, false, false},
                "outside all timers");
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void print_note(FILE *out, const char *text, const struct pm_report_options *options) {
    pm_print_wrapped(out, "  - ", "    ", text, options->width);
}

/* Where, how and how well MEASURED was measured. */
static void print_measured(FILE *out, const struct pm_rows *rows,
                           const struct pm_report_options *options) {
    const struct pm_times *times = rows->times;
    char *note = pm_sprintf(
        "MEASURED: seconds of the processor on %s, %s in all; with timers the program took %.3f "
        "times its plain time; the timers' own %s are subtracted.",
        times->machine ? times->machine : "a machine of unknown name",
        pm_seconds_text(rows->measured_seconds).text, times->over_plain,
        pm_seconds_text(times->own_seconds).text);
    print_note(out, note, options);
    free(note);
    bool elsewhere = false, unknown = false;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_row *row = &rows->rows[i];
        elsewhere |= row->measured_in != PM_NONE;
        unknown |= row->counted && row->executed && isnan(row->measured_seconds) &&
                   row->measured_in == PM_NONE;
    }
    if (elsewhere)
        print_note(out,
                   "Loops that are too short to be timed are measured in the loop or routine that "
                   "is named; its own time, marked <, is less by theirs.",
                   options);
    if (unknown)
        print_note(out,
                   "Measured time ?: the routine is called too often to be timed; its time is in "
                   "the rows that call it.",
                   options);
    for (const char *line = times->notes; line && *line;) {
        size_t length = strcspn(line, "\n");
        char *one = pm_sprintf("%.*s", (int)length, line);
        print_note(out, one, options);
        free(one);
        line += length + (line[length] == '\n');
    }
}

/* Says what the marks in the table mean, if there are any, then the prediction's own notes. */
static void print_notes(FILE *out, const struct pm_prediction *prediction,
                        const struct pm_rows *rows, const struct pm_report_options *options) {
    bool time_marked = false, misses_marked = false;
    for (size_t i = 0; i < rows->n_rows; i++) {
        time_marked |= rows->rows[i].counted && rows->rows[i].time_is_lower_bound;
        misses_marked |= rows->rows[i].counted && rows->rows[i].misses_are_lower_bound;
    }
    if (!time_marked && !misses_marked && !rows->n_not_counted && !prediction->n_notes &&
        !rows->times)
        return;
    fputs("notes:\n", out);
    if (rows->times)
        print_measured(out, rows, options);
    if (time_marked)
        print_note(out,
                   "A time marked > is a lower bound: at least 1% of the operations in that row "
                   "have no cost in the machine file.",
                   options);
    if (misses_marked)
        print_note(out,
                   "Misses marked > are a lower bound: at least 1% of the memory accesses in that "
                   "row were not recorded.",
                   options);
    if (rows->n_not_counted)
        print_note(out,
                   "Routines and loops that are not counted have no counters in the instrumented "
                   "program, or differ between builds: their time is unknown, and not in the sum. "
                   "`pmodel loops` gives the reasons of the first.",
                   options);
    for (size_t i = 0; i < prediction->n_notes; i++)
        print_note(out, prediction->notes[i], options);
}

void pm_write_predictions_table(FILE *out, const struct pm_structure *structure,
                                const struct pm_prediction *const *predictions,
                                struct pm_rows *const *rows, size_t n_predictions,
                                const struct pm_report_options *options) {
    for (size_t i = 0; i < n_predictions; i++) {
        struct sum other = {0};
        struct pm_text_table *table = new_table(predictions[i], rows[i]->times != NULL);
        add_rows(table, structure, predictions[i], rows[i], options, &other);
        add_sums(table, predictions[i], rows[i], &other);
        if (i)
            fputc('\n', out);
        print_header(out, predictions[i], rows[i], options);
        pm_text_table_print(out, table, options->width, options->color);
        print_notes(out, predictions[i], rows[i], options);
        pm_text_table_free(table);
    }
}
