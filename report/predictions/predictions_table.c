/* `pmodel report` for people: a header line, the rows by time, notes.  Needs the rows of rows.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/predictions/tables.h"
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
char *pm_time_interval(const struct pm_prediction *prediction) {
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

void pm_print_prediction_header(FILE *out, const struct pm_prediction *prediction,
                                const struct pm_rows *rows,
                                const struct pm_report_options *options) {
    char *parameters = pm_parameters_text(&prediction->parameters);
    char *range = pm_prediction_range_text(prediction), *interval = pm_time_interval(prediction);
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

/* What of a row can be added up; heads of levels' columns follow. */
static char *additive_fields(const struct pm_prediction *prediction) {
    char *names = pm_strdup("self_seconds self_share total_seconds total_share measured_seconds "
                            "measured_share lower_seconds upper_seconds instructions accesses "
                            "label");
    for (size_t level = 0; level < prediction->n_levels; level++)
        pm_append(&names, " %s_misses %s_misses_per_kilo_instruction %s_miss_cycles",
                  prediction->level_names[level], prediction->level_names[level],
                  prediction->level_names[level]);
    return names;
}

void pm_mark_interpolated(const struct pm_prediction *prediction, struct pm_columns *columns) {
    for (size_t i = 0; i < columns->fields.n_fields; i++) {
        struct pm_field *field = &columns->fields.fields[i];
        if (pm_prediction_is_interpolated(prediction) && field->kind == PM_SECONDS &&
            field->offset != offsetof(struct pm_row, measured_seconds))
            field->header = *PM_PUSH(columns, texts) =
                pm_sprintf("~%s", field->header ? field->header : "");
    }
}

bool pm_row_is_large(const struct pm_row *row, const struct pm_report_options *options) {
    bool predicted = !(100 * row->share < options->min_percent);
    bool measured = 100 * row->measured_share >= options->min_percent;
    return predicted || measured || !isnan(row->lower_bound_seconds);
}

/* Of each row, whether a large one says that its time or bound is in it. */
static bool *named_rows(const struct pm_rows *rows, const struct pm_report_options *options) {
    bool *named = pm_alloc(rows->n_rows + 1, sizeof *named);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_row *row = &rows->rows[i];
        const uint32_t holders[] = {row->measured_in, row->lower_bound_in};
        for (int h = 0; h < 2; h++)
            if (row->counted && row->executed && pm_row_is_large(row, options) &&
                holders[h] != PM_NONE && rows->row_of_scope[holders[h]] != PM_NONE)
                named[rows->row_of_scope[holders[h]]] = true;
    }
    return named;
}

/* Does the system start the routine of ROW, so that no caller has its time? */
static bool is_started_by_system(const struct pm_row *row) {
    const struct pm_structure *structure = row->place.structure;
    uint32_t routine = structure->scopes[row->place.scope].routine;
    const char *name = routine < structure->n_routines ? structure->routines[routine].name : NULL;
    return name && (strcmp(name, "main") == 0 || strcmp(name, "MAIN__") == 0);
}

void pm_see(struct pm_seen *seen, const struct pm_row *row) {
    const struct pm_structure *structure = row->place.structure;
    uint32_t routine = structure->scopes[row->place.scope].routine;
    seen->nameless |=
        routine < structure->n_routines && !pm_has_symbol(&structure->routines[routine]);
    uint32_t module = routine < structure->n_routines ? structure->routines[routine].module
                                                      : (uint32_t)structure->n_modules;
    seen->sourceless |= !structure->scopes[row->place.scope].file &&
                        module < structure->n_modules && !structure->modules[module].has_lines;
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

void pm_add_to_rest(struct pm_row *rest, const struct pm_row *row) {
    rest->prediction = row->prediction;
    rest->counted = true;
    pm_cost_sum_add(&rest->self, &row->self);
    rest->seconds += row->seconds;
    rest->share += row->share;
    rest->total_seconds += row->total_seconds;
    rest->total_share += row->total_share;
    rest->lower_seconds += row->lower_seconds;
    rest->upper_seconds += row->upper_seconds;
    rest->measured_seconds += isnan(row->measured_seconds) ? 0 : row->measured_seconds;
    rest->measured_share += isnan(row->measured_share) ? 0 : row->measured_share;
    rest->time_is_lower_bound |= row->time_is_lower_bound;
    rest->measured_with_inner |= row->measured_with_inner;
    rest->lacks_operations |= row->lacks_operations;
    for (size_t level = 0; level < row->prediction->n_levels; level++)
        rest->misses_per_kilo_instruction[level] =
            1000 * rest->self.level_misses[level] / rest->self.instructions;
}

/* Those that are not shown are summed up in OTHER; how many they are. */
static size_t add_rows(struct pm_text_table *table, struct pm_fields fields,
                       const struct pm_rows *rows, const struct pm_row *const *in_order,
                       const struct pm_report_options *options, struct pm_row *other,
                       struct pm_seen *seen) {
    size_t n_shown = 0, n_other = 0;
    bool *named = named_rows(rows, options);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_row *row = in_order[i];
        if (!row->counted || !row->executed)
            continue;
        bool is_large = pm_row_is_large(row, options) || named[row - rows->rows];
        if (is_large && (!options->max_rows || n_shown < options->max_rows) &&
            pm_row_is_called(row, options->filter)) {
            pm_fields_cells(table, fields, NULL, row);
            pm_see(seen, row);
            n_shown++;
        } else {
            n_other++;
            pm_add_to_rest(other, row);
        }
    }
    /* Its sum names no other row. */
    seen->lacks_operations |= other->lacks_operations || rows->lacks_operations;
    seen->measured_with_inner |= other->measured_with_inner;
    free(named);
    return n_other;
}

/* A row without a place in the source; LABEL is freed. */
void pm_add_sum(struct pm_text_table *table, struct pm_fields fields,
                const struct pm_prediction *prediction, struct pm_row sum, char *label) {
    bool predicted = !isnan(sum.seconds) || isnan(sum.measured_seconds);
    char *additive = additive_fields(prediction);
    sum.label = label;
    sum.measured_in = PM_NONE;
    pm_fields_cells(table, fields,
                    !predicted       ? "measured_seconds measured_share label"
                    : sum.prediction ? additive
                                     : "self_seconds self_share total_seconds total_share "
                                       "measured_seconds label",
                    &sum);
    free(additive);
    free(label);
}

void pm_add_sums(struct pm_text_table *table, struct pm_fields fields,
                 const struct pm_prediction *prediction, const struct pm_rows *rows) {
    double apart = rows->unattributed_seconds, share = apart / prediction->seconds;
    if (apart != 0)
        pm_add_sum(
            table, fields, prediction,
            (struct pm_row){
                .seconds = apart, .share = share, .total_seconds = apart, .total_share = share},
            pm_strdup("in no scope"));
    if (rows->n_not_counted)
        pm_add_sum(table, fields, prediction,
                   (struct pm_row){.seconds = NAN,
                                   .share = NAN,
                                   .total_seconds = NAN,
                                   .total_share = NAN,
                                   .measured_seconds = NAN},
                   pm_sprintf("not counted (%zu)", rows->n_not_counted));
    if (rows->times)
        pm_add_sum(table, fields, prediction,
                   (struct pm_row){.seconds = NAN,
                                   .measured_seconds = rows->times->outside_seconds,
                                   .measured_share =
                                       rows->times->outside_seconds / rows->measured_seconds},
                   pm_strdup("outside all timers"));
}

char *pm_other_label(size_t n, const struct pm_report_options *options) {
    return pm_sprintf(options->filter ? "other (%zu)" : "other (%zu smaller ones)", n);
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void print_bounds(FILE *out, const struct pm_report_options *options) {
    pm_print_note(out, options,
                  "LOWER BOUND: of a loop nest, with all loops in it, if nothing missed a cache; "
                  "`pmodel bound STORE` says more.");
}

/* Where, how and how well MEASURED was measured. */
static void print_measured(FILE *out, const struct pm_rows *rows, const struct pm_seen *seen,
                           const struct pm_report_options *options) {
    const struct pm_times *times = rows->times;
    pm_print_note(
        out, options,
        "MEASURED: seconds of the processor on %s, %s in all, the least of %u runs; with timers "
        "the program took %.3f times its plain time; the timers' own %s are subtracted.",
        times->machine ? times->machine : "a machine of unknown name",
        pm_seconds_text(rows->measured_seconds).text, times->repetitions, times->over_plain,
        pm_seconds_text(times->own_seconds).text);
    if (!isnan(times->core_share))
        pm_print_note(out, options, "While it was timed the host gave %.2f of a core.",
                      times->core_share);
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

/* Of a prediction those by which figures hang; the others are asked for. */
static void print_own_notes(FILE *out, const struct pm_prediction *prediction,
                            const struct pm_report_options *options) {
    size_t n = options->all_notes ? prediction->n_notes : prediction->n_significant_notes;
    for (size_t i = 0; i < n; i++)
        pm_print_note(out, options, "%s", prediction->notes[i]);
    if (n < prediction->n_notes)
        pm_print_note(out, options,
                      "%zu more, of what changes no figure by 1%% or is assumed: --notes",
                      prediction->n_notes - n);
}

/* Says what marks in the table mean that are there, then the prediction's own notes. */
void pm_print_prediction_notes(FILE *out, const struct pm_prediction *prediction,
                               const struct pm_rows *rows, const struct pm_seen *seen,
                               const struct pm_report_options *options) {
    if (!seen->nameless && !seen->sourceless && !seen->lacks_operations &&
        !seen->misses_are_lower_bound && !prediction->n_notes && !rows->times && !rows->bounds)
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
    if (seen->sourceless)
        pm_print_note(out, options,
                      "SOURCE ?: the program has no debug information; built with -g, its loops "
                      "have their lines.");
    if (seen->nameless)
        pm_print_note(out, options,
                      "Routines whose names were stripped from the program are called after their "
                      "addresses: sub_1e50 begins at 0x1e50.");
    print_own_notes(out, prediction, options);
}

void pm_write_predictions_table(FILE *out, const struct pm_prediction *prediction,
                                const struct pm_rows *rows,
                                const struct pm_report_options *options) {
    struct pm_error err = {0}; /* names of fields were looked at before */
    struct pm_row other = {.counted = true};
    struct pm_columns columns;
    struct pm_seen seen = {0};
    char *own = pm_sprintf("self_seconds,self_share,%s%slabel,source,bound,misses_per_iteration",
                           rows->times ? "measured_seconds," : "",
                           rows->bounds ? "lower_bound_seconds," : "");
    const struct pm_row **in_order = pm_rows_in_order(rows, prediction, options, &err);
    if (in_order && pm_columns_make(prediction, own, options, &columns, &err)) {
        struct pm_text_table *table = pm_text_table_new();
        pm_mark_interpolated(prediction, &columns);
        pm_fields_columns(table, columns.fields);
        size_t n_other = add_rows(table, columns.fields, rows, in_order, options, &other, &seen);
        if (n_other)
            pm_add_sum(table, columns.fields, prediction, other, pm_other_label(n_other, options));
        pm_add_sums(table, columns.fields, prediction, rows);
        pm_print_prediction_header(out, prediction, rows, options);
        pm_text_table_print(out, table, options);
        pm_print_cores(out, rows->n_rows ? rows->rows[0].place.structure : NULL, prediction,
                       options);
        pm_print_prediction_notes(out, prediction, rows, &seen, options);
        pm_text_table_free(table);
        pm_columns_free(&columns);
    }
    free(in_order);
    free(own);
}
