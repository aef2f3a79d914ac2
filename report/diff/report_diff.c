/* `pmodel diff` of two stores: rows of both predictions side by side, and their fields.

   JSON: {"format": "pmodel-diff", "version": 1, machine, "before": {store, program, parameters,
   seconds}, "after": {…}, "change_seconds", "rows": […]}. */
#include <math.h>
#include <stdlib.h>

#include "report/diff/diff.h"
#include "report/labels/labels.h"
#include "report/predictions/predictions.h"
#include "report/writers/writers.h"

enum { N_COUNTS = 4 }; /* entries, iterations, instructions, accesses */

struct diff_figures {
    double seconds;
    double counts[N_COUNTS];
    double misses[PM_MAX_LEVELS];
    double causes[PM_N_CAUSES], level_causes[PM_MAX_LEVELS]; /* seconds */
};

struct diff_row {
    const struct pm_diff_report *report;
    const struct pm_row *before_row, *after_row; /* NULL: not there; both: a sum */
    struct pm_row_place place;
    const char *paired_by;
    char *label; /* owned */
    const char *source;
    struct diff_figures before, after, change;
    double relative; /* change of the time, by that before */
    double weight;
};

struct diff_rows {
    PM_ARRAY(struct diff_row, rows);
};

/* ---- figures --------------------------------------------------------------------------------- */

/* All figures are doubles. */
enum { N_FIGURES = sizeof(struct diff_figures) / sizeof(double) };

static double known(double figure) { return isnan(figure) ? 0 : figure; }

static void add_figures(struct diff_figures *into, const struct diff_figures *from) {
    double *to = (double *)(void *)into;
    const double *add = (const double *)(const void *)from;
    for (size_t i = 0; i < N_FIGURES; i++)
        to[i] += known(add[i]);
}

/* AFTER − BEFORE; what is but the rounding of sums is nothing. */
static struct diff_figures change_of(const struct diff_figures *before,
                                     const struct diff_figures *after) {
    static const double rounding = 1e-12;
    struct diff_figures change = {0};
    double *to = (double *)(void *)&change;
    const double *from = (const double *)(const void *)before;
    const double *now = (const double *)(const void *)after;
    for (size_t i = 0; i < N_FIGURES; i++) {
        double a = known(from[i]), b = known(now[i]);
        to[i] = fabs(b - a) > rounding * fmax(fabs(a), fabs(b)) ? b - a : 0;
    }
    return change;
}

static struct diff_figures figures_of(const struct pm_row *row) {
    struct diff_figures f = {0};
    if (!row)
        return f;
    const struct pm_prediction *p = row->prediction;
    f.seconds = row->seconds;
    f.counts[0] = row->entries;
    f.counts[1] = row->iterations;
    f.counts[2] = row->self.instructions;
    f.counts[3] = row->self.accesses;
    for (int c = 0; c < PM_N_CAUSES; c++)
        f.causes[c] = row->self.causes[c] / p->clock_hz;
    for (size_t l = 0; l < p->n_levels; l++) {
        f.misses[l] = row->self.level_misses[l];
        f.level_causes[l] = row->self.level_cycles[l] / p->clock_hz;
    }
    return f;
}

static double miss_seconds(const struct diff_figures *f, size_t n_levels) {
    double sum = f->causes[PM_CAUSE_BANDWIDTH];
    for (size_t l = 0; l < n_levels; l++)
        sum += f->level_causes[l];
    return sum;
}

static void derive(struct diff_row *row) {
    const struct pm_diff_report *report = row->report;
    row->change = change_of(&row->before, &row->after);
    row->relative = row->before.seconds > 0 ? row->change.seconds / row->before.seconds : NAN;
    if (report->time || report->causes)
        row->weight = fabs(row->change.seconds);
    else if (report->misses)
        row->weight = fabs(miss_seconds(&row->change, report->after.prediction->n_levels));
    else
        row->weight = fabs(row->change.counts[2]);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_shown(const struct pm_row *row) { return row && row->counted && row->executed; }

static void add_row(struct diff_rows *rows, const struct pm_diff_report *report,
                    const struct pm_row *before, const struct pm_row *after, const char *by) {
    const struct pm_row *row = after ? after : before;
    if (!is_shown(before) && !is_shown(after))
        return;
    struct diff_row *new = PM_PUSH(rows, rows);
    *new = (struct diff_row){
        .report = report,
        .before_row = before,
        .after_row = after,
        .place = row->place,
        .paired_by = by,
        .label = pm_sprintf("%s%s", row->label,
                            !after    ? " (only before)"
                            : !before ? " (only after)"
                                      : ""),
        .source = row->source,
        .before = figures_of(before),
        .after = figures_of(after),
    };
    derive(new);
}

static int by_weight(const void *left, const void *right) {
    const struct diff_row *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return PM_COMPARE(a->place.scope, b->place.scope);
}

/* The row of SCOPE, as rows are named. */
static const struct pm_row *row_of(const struct pm_rows *rows, uint32_t scope) {
    uint32_t at = scope == PM_NONE ? PM_NONE : rows->row_of_scope[scope];
    return at == PM_NONE ? NULL : &rows->rows[at];
}

static struct diff_rows make_rows(const struct pm_diff_report *report, const struct pm_rows *before,
                                  const struct pm_rows *after) {
    struct diff_rows rows = {0};
    const struct pm_scope_pairs *pairs = report->pairs;
    for (size_t i = 0; i < before->n_rows; i++) {
        const struct pm_row *row = &before->rows[i];
        uint32_t other = pairs->b_of_a[row->place.scope];
        add_row(&rows, report, row, row_of(after, other),
                other == PM_NONE ? NULL
                                 : pm_pairing_word((enum pm_pairing)pairs->by[row->place.scope]));
    }
    for (size_t i = 0; i < after->n_rows; i++)
        if (pairs->a_of_b[after->rows[i].place.scope] == PM_NONE)
            add_row(&rows, report, NULL, &after->rows[i], NULL);
    PM_SORT(rows.rows, rows.n_rows, by_weight);
    return rows;
}

static struct diff_row sum_of(const struct pm_diff_report *report, const struct diff_row *rows,
                              size_t n, char *label) {
    struct diff_row sum = {.report = report, .label = label, .source = ""};
    for (size_t i = 0; i < n; i++) {
        add_figures(&sum.before, &rows[i].before);
        add_figures(&sum.after, &rows[i].after);
    }
    derive(&sum);
    return sum;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static struct pm_field_value bound_cell(const void *at) {
    const struct diff_row *row = at;
    const char *before = is_shown(row->before_row) ? row->before_row->bound_label : NULL;
    const char *after = is_shown(row->after_row) ? row->after_row->bound_label : NULL;
    if (!before || !after)
        return pm_text(before ? before : after ? after : "");
    return strcmp(before, after) == 0 ? pm_text(after)
                                      : pm_owned_text(pm_sprintf("%s > %s", before, after));
}

/* A row that is not sure to be the same stands behind "~". */
static struct pm_field_value label_cell(const void *at) {
    const struct diff_row *row = at;
    bool is_sure = !row->paired_by || strcmp(row->paired_by, "key") == 0;
    return pm_owned_text(pm_sprintf("%s%s", is_sure ? "" : "~", row->label));
}

static json_t *figures_json(const struct pm_diff_report *report, const struct diff_figures *f) {
    static const char *const counts[N_COUNTS] = {"entries", "iterations", "instructions",
                                                 "accesses"};
    const struct pm_prediction *p = report->after.prediction;
    json_t *object = json_object(), *misses = json_object(), *causes = json_object();
    json_object_set_new(object, "seconds", pm_json_number(f->seconds));
    for (int c = 0; c < N_COUNTS; c++)
        json_object_set_new(object, counts[c], pm_json_number(f->counts[c]));
    for (int c = 0; c < PM_N_CAUSES; c++)
        json_object_set_new(causes, pm_cause_name((enum pm_cause)c), pm_json_number(f->causes[c]));
    for (size_t l = 0; l < p->n_levels; l++) {
        json_object_set_new(misses, p->level_names[l], pm_json_number(f->misses[l]));
        json_object_set_new(causes, p->level_names[l], pm_json_number(f->level_causes[l]));
    }
    json_object_set_new(object, "misses", misses);
    json_object_set_new(object, "cause_seconds", causes);
    return object;
}

#define GETTER(name_, value_) PM_GETTER(name_, struct diff_row, value_)
GETTER(before_json,
       row->before_row ? pm_json_value(figures_json(row->report, &row->before)) : pm_unknown())
GETTER(after_json,
       row->after_row ? pm_json_value(figures_json(row->report, &row->after)) : pm_unknown())
GETTER(change_json, pm_json_value(figures_json(row->report, &row->change)))
GETTER(before_cell, row->before_row || !row->after_row
                        ? pm_copied_text(pm_seconds_text(row->before.seconds).text)
                        : pm_text(""))
GETTER(after_cell, row->after_row || !row->before_row
                       ? pm_copied_text(pm_seconds_text(row->after.seconds).text)
                       : pm_text(""))
GETTER(relative_cell,
       isnan(row->relative) ? pm_text("") : pm_copied_text(pm_percent_text(row->relative).text))
GETTER(key_before, row->before_row ? pm_place_key(&row->before_row->place) : pm_unknown())
GETTER(key_after, row->after_row ? pm_place_key(&row->after_row->place) : pm_unknown())
#undef GETTER

#define ROW(member_) PM_MEMBER(struct diff_row, member_)
#define PLACE(get_) PM_PLACE(struct diff_row, place, get_)
static const struct pm_field fields[] = {
    {"label", PM_NAME, ROW(label), .header = "LOOP", .cell = label_cell},
    {"name", PM_TEXT, PLACE(name)},
    {"kind", PM_TEXT, PLACE(kind)},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"key_before", PM_HEX, .get = key_before},
    {"key_after", PM_HEX, .get = key_after},
    {"paired_by", PM_TEXT, ROW(paired_by)},
    {"change_seconds", PM_SECONDS, ROW(change.seconds), .header = "CHANGE"},
    {"before_seconds", PM_SECONDS, ROW(before.seconds), .not_in_json = true, .header = "BEFORE",
     .cell = before_cell},
    {"after_seconds", PM_SECONDS, ROW(after.seconds), .not_in_json = true, .header = "AFTER",
     .cell = after_cell},
    {"relative_change", PM_PERCENT, ROW(relative), .header = "%", .cell = relative_cell},
    {"before", PM_JSON_ONLY, .get = before_json},
    {"after", PM_JSON_ONLY, .get = after_json},
    {"change", PM_JSON_ONLY, .get = change_json},
    {"change_entries", PM_COUNT, ROW(change.counts[0]), .not_in_json = true, .header = "ENTRIES",
     .dispensable = 3},
    {"change_iterations", PM_COUNT, ROW(change.counts[1]), .not_in_json = true,
     .header = "ITERATIONS", .dispensable = 2},
    {"change_instructions", PM_COUNT, ROW(change.counts[2]), .not_in_json = true,
     .header = "INSTRS"},
    {"change_accesses", PM_COUNT, ROW(change.counts[3]), .not_in_json = true, .header = "ACCESSES"},
    {"source", PM_NAME, ROW(source), .not_in_json = true, .header = "SOURCE", .dispensable = 4},
    {"bound", PM_TEXT, .cell = bound_cell, .not_in_json = true, .header = "BOUND BY",
     .dispensable = 1},
};

/* A list of columns, and the texts that were made for them. */
struct columns {
    struct pm_fields fields;
    PM_ARRAY(char *, texts);
};

static void add_named(struct columns *columns, const char *names) {
    struct pm_fields named = pm_fields_named(PM_FIELDS(fields), names);
    for (size_t i = 0; i < named.n_fields; i++)
        *PM_PUSH(&columns->fields, fields) = named.fields[i];
    free(named.fields);
}

/* A figure of the change at OFFSET, called NAME in CSV and HEADER in a table. */
static void add_change(struct columns *columns, char *name, char *header, enum pm_field_kind kind,
                       size_t offset) {
    *PM_PUSH(columns, texts) = name;
    *PM_PUSH(columns, texts) = header;
    *PM_PUSH(&columns->fields, fields) = (struct pm_field){
        .name = name, .kind = kind, .offset = offset, .member = PM_DOUBLE, .header = header};
}

static void add_levels(struct columns *columns, const struct pm_prediction *p) {
    for (size_t l = 0; l < p->n_levels; l++)
        add_change(columns, pm_sprintf("change_%s_misses", p->level_names[l]),
                   pm_strdup(p->level_names[l]), PM_COUNT,
                   offsetof(struct diff_row, change.misses) + l * sizeof(double));
}

/* Of a table, which has a SUM, only causes that are anywhere; NULL: all. */
static void add_causes(struct columns *columns, const struct pm_prediction *p,
                       const struct diff_row *sum) {
    for (int c = 0; c < PM_N_CAUSES; c++)
        if (!sum || fabs(sum->before.causes[c]) + fabs(sum->after.causes[c]) > 0)
            add_change(columns, pm_sprintf("change_%s_seconds", pm_cause_name((enum pm_cause)c)),
                       pm_strdup(pm_cause_name((enum pm_cause)c)), PM_SECONDS,
                       offsetof(struct diff_row, change.causes) + (size_t)c * sizeof(double));
    for (size_t l = 0; l < p->n_levels; l++)
        if (!sum || sum->before.level_causes[l] + sum->after.level_causes[l] > 0)
            add_change(columns, pm_sprintf("change_%s_seconds", p->level_names[l]),
                       pm_strdup(p->level_names[l]), PM_SECONDS,
                       offsetof(struct diff_row, change.level_causes) + l * sizeof(double));
}

static void free_columns(struct columns *columns) {
    for (size_t i = 0; i < columns->n_texts; i++)
        free(columns->texts[i]);
    free(columns->texts);
    free(columns->fields.fields);
}

static struct columns columns_of(const struct pm_diff_report *report, const struct diff_row *sum) {
    struct columns columns = {0};
    if (report->time)
        add_named(&columns, "change_seconds before_seconds after_seconds relative_change");
    if (report->misses)
        add_levels(&columns, report->after.prediction);
    if (report->counts)
        add_named(&columns, "change_entries change_iterations change_instructions change_accesses");
    if (report->causes)
        add_causes(&columns, report->after.prediction, sum);
    add_named(&columns, report->time ? "label source bound" : "label source");
    return columns;
}

/* ---- table ----------------------------------------------------------------------------------- */

static char *side_text(const struct pm_diff_side *side) {
    char *size = pm_parameters_text(&side->prediction->parameters);
    char *text = pm_sprintf("%s%s%s %s", side->name, *size ? " " : "", size,
                            pm_seconds_text(side->prediction->seconds).text);
    free(size);
    return text;
}

static void write_title(FILE *out, const struct pm_diff_report *report,
                        const struct pm_report_options *options) {
    double before = report->before.prediction->seconds, after = report->after.prediction->seconds;
    char *from = side_text(&report->before), *to = side_text(&report->after);
    struct pm_number_text change = pm_seconds_text(after - before),
                          share = pm_percent_text((after - before) / before);
    pm_print_title(out, options, "%s on %s: %s, then %s: %s%s (%s%%)",
                   report->after.prediction->program, report->after.prediction->machine_title, from,
                   to, after > before ? "+" : "", change.text, share.text);
    free(from);
    free(to);
}

/* Both ends of the interval of a predicted time. */
static bool interval_of(const struct pm_prediction *p, double *low, double *high) {
    struct pm_estimate seconds = pm_prediction_seconds(p);
    bool is_known = !isnan(seconds.low);
    *low = is_known ? seconds.low : p->seconds;
    *high = is_known ? seconds.high : p->seconds;
    return is_known;
}

static void note_intervals(FILE *out, const struct pm_diff_report *report,
                           const struct pm_report_options *options) {
    double low[2], high[2];
    bool has_any = interval_of(report->before.prediction, &low[0], &high[0]);
    has_any |= interval_of(report->after.prediction, &low[1], &high[1]);
    if (!has_any || high[0] < low[1] || high[1] < low[0])
        return;
    pm_print_note(
        out, options,
        "The intervals of the two times overlap (80%%: %s to %s, then %s to %s): which of "
        "them is faster is not sure.",
        pm_seconds_text(low[0]).text, pm_seconds_text(high[0]).text, pm_seconds_text(low[1]).text,
        pm_seconds_text(high[1]).text);
}

static void write_table(FILE *out, const struct pm_diff_report *report,
                        const struct diff_rows *rows, const struct pm_report_options *options) {
    struct diff_row all = sum_of(report, rows->rows, rows->n_rows, pm_strdup("in all"));
    struct columns columns = columns_of(report, &all);
    struct pm_table_rows table = pm_table_begin(columns.fields);
    double weights = 0;
    size_t n = 0;
    bool is_unsure = false;
    for (size_t i = 0; i < rows->n_rows; i++)
        weights += rows->rows[i].weight;
    while (n < rows->n_rows && (!options->max_rows || n < options->max_rows) &&
           (100 * rows->rows[n].weight >= options->min_percent * weights || options->wide) &&
           rows->rows[n].weight > 0) {
        pm_table_row(&table, &rows->rows[n]);
        is_unsure |= rows->rows[n].paired_by && strcmp(rows->rows[n].paired_by, "key") != 0;
        n++;
    }
    struct diff_row rest = sum_of(report, rows->rows + n, rows->n_rows - n,
                                  pm_sprintf("other (%zu)", rows->n_rows - n));
    if (n < rows->n_rows)
        pm_table_row(&table, &rest);
    pm_table_row(&table, &all);
    write_title(out, report, options);
    columns.fields.fields = NULL; /* the table frees it */
    pm_table_end(out, &table, NULL, options);
    if (is_unsure)
        pm_print_note(out, options,
                      "~: not by its key, which changed, but by its line in its routine, or by the "
                      "data that it accesses (`paired_by` in JSON).");
    note_intervals(out, report, options);
    free_columns(&columns);
    free(rest.label);
    free(all.label);
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

static json_t *side_json(const struct pm_diff_side *side) {
    json_t *object = json_object();
    double low, high;
    bool has_interval = interval_of(side->prediction, &low, &high);
    json_object_set_new(object, "store", pm_json_text(side->name));
    json_object_set_new(object, "program", pm_json_text(side->prediction->program));
    json_object_set_new(object, "parameters", pm_json_parameters(&side->prediction->parameters));
    json_object_set_new(object, "seconds", pm_json_number(side->prediction->seconds));
    json_object_set_new(object, "low_seconds", pm_json_number(has_interval ? low : NAN));
    json_object_set_new(object, "high_seconds", pm_json_number(has_interval ? high : NAN));
    return object;
}

static void write_json(FILE *out, const struct pm_diff_report *report, const struct diff_rows *rows,
                       const struct pm_report_options *options) {
    json_t *document = pm_json_document("diff");
    const struct pm_prediction *p = report->after.prediction;
    json_object_set_new(document, "machine", pm_json_text(p->machine_name));
    json_object_set_new(document, "before", side_json(&report->before));
    json_object_set_new(document, "after", side_json(&report->after));
    json_object_set_new(document, "change_seconds",
                        pm_json_number(p->seconds - report->before.prediction->seconds));
    json_object_set_new(
        document, "rows",
        pm_fields_array(PM_FIELDS(fields), rows->rows, rows->n_rows, sizeof *rows->rows));
    pm_json_set_warnings(document, options);
    pm_json_print(out, document);
}

static void write_csv(FILE *out, const struct pm_diff_report *report,
                      const struct diff_rows *rows) {
    struct columns columns = {0};
    add_named(&columns, "label name kind file line_first key_before key_after paired_by "
                        "before_seconds after_seconds change_seconds relative_change "
                        "change_entries change_iterations change_instructions change_accesses");
    add_levels(&columns, report->after.prediction);
    add_causes(&columns, report->after.prediction, NULL);
    struct pm_csv csv = {.out = out};
    pm_fields_csv_names(&csv, columns.fields);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < rows->n_rows; i++) {
        pm_fields_csv_values(&csv, columns.fields, &rows->rows[i]);
        pm_csv_end_line(&csv);
    }
    free_columns(&columns);
}

void pm_report_diff(FILE *out, const struct pm_diff_report *report,
                    const struct pm_report_options *options) {
    struct pm_rows *before =
        pm_rows_new(report->before.structure, report->before.prediction, NULL, NULL);
    struct pm_rows *after =
        pm_rows_new(report->after.structure, report->after.prediction, NULL, NULL);
    struct diff_rows rows = make_rows(report, before, after);
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, write_table(out, report, &rows, options),
                 write_json(out, report, &rows, options), write_csv(out, report, &rows));
    for (size_t i = 0; i < rows.n_rows; i++)
        free(rows.rows[i].label);
    free(rows.rows);
    pm_rows_free(before);
    pm_rows_free(after);
}
