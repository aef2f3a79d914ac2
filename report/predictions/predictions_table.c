/* `pmodel report` for people: a header line, the rows by time, notes.  Needs the rows of rows.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/predictions/predictions.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* ---- the header ----------------------------------------------------------------------------- */

/* "measured at this size", or how far the prediction goes beyond what was measured. */
char *pm_prediction_range_text(const struct pm_prediction *prediction) {
    if (!prediction->predicted)
        return pm_strdup("measured at this size");
    const char *up_to = prediction->measured_up_to ? prediction->measured_up_to : "?";
    struct pm_number_text error = pm_percent_text(prediction->relative_error);
    if (prediction->below_measured)
        return pm_sprintf("below the measured sizes, so extrapolated %.1fx; models' error %s%%",
                          prediction->extrapolation, error.text);
    if (prediction->extrapolation > 1)
        return pm_sprintf("measured up to %s, so extrapolated %.1fx; models' error %s%%", up_to,
                          prediction->extrapolation, error.text);
    return pm_sprintf("measured up to %s, so not extrapolated; models' error %s%%", up_to,
                      error.text);
}

/* " (80%: 15.1 s to 16.4 s)"; empty without an interval. */
static char *time_interval(const struct pm_prediction *prediction) {
    struct pm_estimate seconds = pm_prediction_seconds(prediction);
    if (isnan(seconds.low) || isnan(seconds.high))
        return pm_strdup("");
    struct pm_number_text least = pm_seconds_text(seconds.low),
                          most = pm_seconds_text(seconds.high);
    return pm_sprintf(" (%.0f%%: %s to %s)", 100 * prediction->level, least.text, most.text);
}

/* " on 2 cores"; empty of one thread. */
static char *cores_text(const struct pm_prediction *prediction) {
    const struct pm_cores *cores = prediction->cores;
    if (!cores)
        return pm_strdup("");
    return pm_sprintf(" on %u core%s%s", cores->n_cores, cores->n_cores == 1 ? "" : "s",
                      cores->is_checked ? "" : ", not checked with a clock");
}

static void print_header(FILE *out, const struct pm_prediction *prediction,
                         const struct pm_rows *rows, const struct pm_report_options *options) {
    char *parameters = pm_parameters_text(&prediction->parameters);
    char *range = pm_prediction_range_text(prediction), *interval = time_interval(prediction);
    char *cores = cores_text(prediction);
    char *what = pm_sprintf("%s  %s%son %s: predicted %s%s%s%s%s", prediction->program, parameters,
                            *parameters ? "  " : "", prediction->machine_title,
                            rows->time_is_lower_bound ? ">" : "",
                            pm_prediction_is_interpolated(prediction) ? "~" : "",
                            pm_seconds_text(prediction->seconds).text, cores, interval);
    free(cores);
    free(interval);
    char *line = pm_sprintf("%s     %s", what, range);
    if (!options->width || strlen(line) <= options->width) {
        pm_print_title(out, options, "%s", line);
    } else {
        pm_print_title(out, options, "%s", what);
        pm_print_wrapped(out, "  ", "  ", range, options->width);
    }
    free(line);
    free(what);
    free(range);
    free(parameters);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The columns, those of the levels at the end; names that were made for them are in TITLES. */
static struct pm_fields table_fields(const struct pm_prediction *prediction,
                                     const struct pm_rows *rows, char **titles) {
    char *names = pm_sprintf("self_seconds self_share %s%slabel source bound",
                             rows->times ? "measured_seconds " : "",
                             rows->bounds ? "lower_bound_seconds " : "");
    struct pm_fields fields = pm_fields_named(pm_row_fields, names);
    free(names);
    if (pm_prediction_is_interpolated(prediction))
        fields.fields[0].header = "~TIME";
    for (size_t level = 0; !prediction->without_memory && level < prediction->n_levels; level++) {
        titles[level] = pm_sprintf("%s%s/it", prediction->level_interpolated_from[level] ? "~" : "",
                                   prediction->level_names[level]);
        *PM_PUSH(&fields, fields) = (struct pm_field){
            .name = prediction->level_names[level],
            .kind = PM_RATE,
            PM_MEMBER(struct pm_row, misses_per_iteration[level]),
            .header = titles[level],
            PM_MARKED(">", struct pm_row, misses_are_lower_bound),
            .dispensable = 2,
        };
    }
    return fields;
}

static bool is_shown(const struct pm_row *row, size_t n_shown,
                     const struct pm_report_options *options) {
    return (!options->max_rows || n_shown < options->max_rows) &&
           (!(100 * row->share < options->min_percent) || !isnan(row->lower_bound_seconds));
}

/* What rows that are shown have, and a note explains. */
struct seen {
    bool nameless;               /* a routine that is called after its address */
    bool lacks_operations;       /* a time marked > for it */
    bool misses_are_lower_bound; /* misses marked > */
    bool measured_elsewhere;     /* MEASURED names another row */
    bool measured_with_inner;    /* MEASURED marked < */
    bool measured_by_callers;    /* MEASURED ?, of a routine that others call */
    bool measured_outside;       /* MEASURED ?, of main, which the system starts */
};

/* Does the system start the routine of ROW, so that no caller has its time? */
static bool is_started_by_system(const struct pm_row *row) {
    const struct pm_structure *structure = row->place.structure;
    uint32_t routine = structure->scopes[row->place.scope].routine;
    const char *name = routine < structure->n_routines ? structure->routines[routine].name : NULL;
    return name && (strcmp(name, "main") == 0 || strcmp(name, "MAIN__") == 0);
}

static void see(struct seen *seen, const struct pm_row *row) {
    const struct pm_structure *structure = row->place.structure;
    uint32_t routine = structure->scopes[row->place.scope].routine;
    seen->nameless |=
        routine < structure->n_routines && !pm_has_symbol(&structure->routines[routine]);
    seen->lacks_operations |= row->lacks_operations;
    for (size_t level = 0; level < row->prediction->n_levels; level++)
        seen->misses_are_lower_bound |=
            row->misses_are_lower_bound && !isnan(row->misses_per_iteration[level]);
    seen->measured_with_inner |= row->measured_with_inner;
    if (!row->timed || !isnan(row->measured_seconds))
        return;
    bool outside = is_started_by_system(row);
    seen->measured_elsewhere |= row->measured_in != PM_NONE;
    seen->measured_outside |= row->measured_in == PM_NONE && outside;
    seen->measured_by_callers |= row->measured_in == PM_NONE && !outside;
}

/* Those that are not shown are summed up in OTHER; how many they are. */
static size_t add_rows(struct pm_text_table *table, struct pm_fields fields,
                       const struct pm_rows *rows, const struct pm_report_options *options,
                       struct pm_row *other, struct seen *seen) {
    size_t n_shown = 0, n_other = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_row *row = &rows->rows[i];
        if (!row->counted || !row->executed)
            continue;
        if (is_shown(row, n_shown, options)) {
            pm_fields_cells(table, fields, NULL, row);
            see(seen, row);
            n_shown++;
        } else {
            n_other++;
            other->seconds += row->seconds;
            other->measured_seconds += isnan(row->measured_seconds) ? 0 : row->measured_seconds;
            other->time_is_lower_bound |= row->time_is_lower_bound;
            other->measured_with_inner |= row->measured_with_inner;
            other->lacks_operations |= row->lacks_operations;
        }
    }
    /* Its sum has no misses, and names no other row. */
    seen->lacks_operations |= other->lacks_operations || rows->lacks_operations;
    seen->measured_with_inner |= other->measured_with_inner;
    return n_other;
}

/* A row without a place in the source; LABEL is freed. */
static void add_sum(struct pm_text_table *table, struct pm_fields fields,
                    const struct pm_prediction *prediction, struct pm_row sum, char *label) {
    bool predicted = !isnan(sum.seconds) || isnan(sum.measured_seconds);
    sum.label = label;
    sum.share = prediction->seconds > 0 ? sum.seconds / prediction->seconds : NAN;
    sum.measured_in = PM_NONE;
    pm_fields_cells(table, fields,
                    predicted ? "self_seconds self_share measured_seconds label"
                              : "measured_seconds label",
                    &sum);
    free(label);
}

static void add_sums(struct pm_text_table *table, struct pm_fields fields,
                     const struct pm_prediction *prediction, const struct pm_rows *rows,
                     size_t n_other, struct pm_row other) {
    if (n_other)
        add_sum(table, fields, prediction, other, pm_sprintf("other (%zu smaller ones)", n_other));
    if (rows->unattributed_seconds != 0)
        add_sum(table, fields, prediction, (struct pm_row){.seconds = rows->unattributed_seconds},
                pm_strdup("in no scope"));
    if (rows->n_not_counted)
        add_sum(table, fields, prediction, (struct pm_row){.seconds = NAN, .measured_seconds = NAN},
                pm_sprintf("not counted (%zu)", rows->n_not_counted));
    if (rows->times)
        add_sum(table, fields, prediction,
                (struct pm_row){.seconds = NAN, .measured_seconds = rows->times->outside_seconds},
                pm_strdup("outside all timers"));
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void print_bounds(FILE *out, const struct pm_report_options *options) {
    pm_print_note(out, options,
                  "LOWER BOUND: of a loop nest, with all loops in it, if nothing missed a cache; "
                  "`pmodel bound STORE` says more.");
}

/* Where, how and how well MEASURED was measured. */
static void print_measured(FILE *out, const struct pm_rows *rows, const struct seen *seen,
                           const struct pm_report_options *options) {
    const struct pm_times *times = rows->times;
    pm_print_note(
        out, options,
        "MEASURED: seconds of the processor on %s, %s in all; with timers the program took %.3f "
        "times its plain time; the timers' own %s are subtracted.",
        times->machine ? times->machine : "a machine of unknown name",
        pm_seconds_text(rows->measured_seconds).text, times->over_plain,
        pm_seconds_text(times->own_seconds).text);
    if (seen->measured_elsewhere)
        pm_print_note(out, options,
                      "Loops that are too short to be timed are measured in the loop or routine "
                      "that is named.");
    if (seen->measured_with_inner)
        pm_print_note(out, options,
                      "A measured time marked < is that of inner loops without a timer too; its "
                      "own time is less by theirs.");
    if (seen->measured_by_callers)
        pm_print_note(out, options,
                      "Measured time ?: the routine has no timer; its time is in the rows of "
                      "timed routines that call it, else outside all timers.");
    if (seen->measured_outside)
        pm_print_note(out, options,
                      "Measured time ? of main: it has no timer, and its time is outside all "
                      "timers.");
    for (const char *line = times->notes; line && *line;) {
        size_t length = strcspn(line, "\n");
        pm_print_note(out, options, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* Says what marks in the table mean that are there, then the prediction's own notes. */
static void print_notes(FILE *out, const struct pm_prediction *prediction,
                        const struct pm_rows *rows, const struct seen *seen,
                        const struct pm_report_options *options) {
    if (!seen->nameless && !seen->lacks_operations && !seen->misses_are_lower_bound &&
        !prediction->n_notes && !rows->times && !rows->bounds)
        return;
    fputs("notes:\n", out);
    if (rows->times)
        print_measured(out, rows, seen, options);
    if (rows->bounds)
        print_bounds(out, options);
    if (seen->lacks_operations)
        pm_print_note(out, options,
                      "A time marked > is a lower bound: at least 1%% of the operations in that "
                      "row have no cost in the machine file.");
    if (seen->misses_are_lower_bound && !prediction->without_memory)
        pm_print_note(out, options,
                      "Misses marked > are a lower bound: at least 1%% of the memory accesses in "
                      "that row were not recorded.");
    if (seen->nameless)
        pm_print_note(out, options,
                      "Routines whose names were stripped from the program are called after their "
                      "addresses: sub_1e50 begins at 0x1e50.");
    for (size_t i = 0; i < prediction->n_notes; i++)
        pm_print_note(out, options, "%s", prediction->notes[i]);
}

void pm_write_predictions_table(FILE *out, const struct pm_prediction *prediction,
                                const struct pm_rows *rows,
                                const struct pm_report_options *options) {
    struct pm_row other = {0};
    char *titles[PM_MAX_LEVELS] = {NULL};
    struct pm_text_table *table = pm_text_table_new();
    struct pm_fields fields = table_fields(prediction, rows, titles);
    pm_fields_columns(table, fields);
    struct seen seen = {0};
    size_t n_other = add_rows(table, fields, rows, options, &other, &seen);
    add_sums(table, fields, prediction, rows, n_other, other);
    print_header(out, prediction, rows, options);
    pm_text_table_print(out, table, options);
    pm_print_cores(out, rows->n_rows ? rows->rows[0].place.structure : NULL, prediction, options);
    print_notes(out, prediction, rows, &seen, options);
    for (size_t level = 0; level < prediction->n_levels; level++)
        free(titles[level]);
    free(fields.fields);
    pm_text_table_free(table);
}
