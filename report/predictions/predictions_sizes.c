/* `pmodel report -P N=64,128,256`: figures of each row at several sizes side by side.  Needs the
   rows of rows.c.

   What a row is, is the same at all sizes: rows are joined by scope.  Figures stand once for each
   size, texts once, those of the last size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "report/labels/labels.h"
#include "report/predictions/tables.h"

struct sizes {
    const struct pm_sized_prediction *predictions;
    struct pm_rows *const *rows;
    size_t n;
    const struct pm_report_options *options;
    struct pm_columns figures, texts;
};

static bool is_figure(const struct pm_field *field) {
    return field->kind >= PM_NUMBER && field->kind <= PM_PERCENT;
}

/* The fields of COLUMNS whose `is_figure` equals WANTED; names and heads stay borrowed from
   COLUMNS. */
static struct pm_columns part_of(const struct pm_columns *columns, bool wanted) {
    struct pm_columns part = {0};
    for (size_t i = 0; i < columns->fields.n_fields; i++)
        if (is_figure(&columns->fields.fields[i]) == wanted)
            *PM_PUSH(&part.fields, fields) = columns->fields.fields[i];
    return part;
}

/* "N=64" heads a time, "%" its share, "L1/it N=64" all else. */
static void add_columns(struct pm_text_table *table, const struct sizes *sizes) {
    for (size_t s = 0; s < sizes->n; s++) {
        char *size = pm_parameters_text(&sizes->predictions[s].prediction->parameters);
        struct pm_columns heads = {0};
        for (size_t i = 0; i < sizes->figures.fields.n_fields; i++) {
            struct pm_field *field = PM_PUSH(&heads.fields, fields);
            *field = sizes->figures.fields.fields[i];
            const char *mark = *field->header == '~' ? "~" : "";
            /* A narrow terminal does without shares, then without the sizes before the last. */
            bool is_share = field->offset == offsetof(struct pm_row, share);
            field->dispensable = is_share ? 2 : s + 1 < sizes->n;
            if (field->offset == offsetof(struct pm_row, seconds))
                field->header = *PM_PUSH(&heads, texts) = pm_sprintf("%s%s", mark, size);
            else if (!is_share)
                field->header = *PM_PUSH(&heads, texts) = pm_sprintf("%s %s", field->header, size);
        }
        pm_fields_columns(table, heads.fields);
        pm_columns_free(&heads);
        free(size);
    }
    for (size_t i = 0; i < sizes->texts.fields.n_fields; i++)
        if (sizes->texts.fields.fields[i].dispensable)
            sizes->texts.fields.fields[i].dispensable = 3;
    pm_fields_columns(table, sizes->texts.fields);
}

/* The row at size S of what ROW, at the last size, is of; scopes have the same numbers. */
static const struct pm_row *at_size(const struct sizes *sizes, size_t s, const struct pm_row *row) {
    const struct pm_rows *rows = sizes->rows[s];
    uint32_t at = rows->row_of_scope[row->place.scope];
    return at == PM_NONE ? NULL : &rows->rows[at];
}

static bool is_large(const struct sizes *sizes, const struct pm_row *row) {
    for (size_t s = 0; s < sizes->n; s++) {
        const struct pm_row *at = at_size(sizes, s, row);
        if (at && at->executed && pm_row_is_large(at, sizes->options))
            return true;
    }
    return false;
}

static bool is_executed(const struct sizes *sizes, const struct pm_row *row) {
    for (size_t s = 0; s < sizes->n; s++) {
        const struct pm_row *at = at_size(sizes, s, row);
        if (at && at->executed)
            return true;
    }
    return false;
}

static void add_rows(struct pm_text_table *table, const struct sizes *sizes,
                     const struct pm_row *const *in_order, struct pm_row *others, size_t *n_other,
                     struct pm_seen *seen) {
    const struct pm_rows *last = sizes->rows[sizes->n - 1];
    const struct pm_report_options *options = sizes->options;
    size_t n_shown = 0;
    for (size_t i = 0; i < last->n_rows; i++) {
        const struct pm_row *row = in_order[i];
        if (!row->counted || !is_executed(sizes, row))
            continue;
        bool shown = is_large(sizes, row) && (!options->max_rows || n_shown < options->max_rows) &&
                     pm_row_is_called(row, options->filter);
        n_shown += shown;
        *n_other += !shown;
        for (size_t s = 0; s < sizes->n; s++) {
            const struct pm_row *at = at_size(sizes, s, row);
            if (shown && at)
                pm_fields_cells(table, sizes->figures.fields, NULL, at);
            else if (shown)
                pm_fields_cells(table, sizes->figures.fields, "", row);
            else if (at)
                pm_add_to_rest(&others[s], at);
        }
        if (shown)
            pm_fields_cells(table, sizes->texts.fields, NULL, row);
        if (shown)
            pm_see(seen, row);
    }
}

static void add_others(struct pm_text_table *table, const struct sizes *sizes,
                       const struct pm_row *others, size_t n_other) {
    for (size_t s = 0; s < sizes->n; s++)
        pm_add_sum(table, sizes->figures.fields, sizes->predictions[s].prediction, others[s],
                   pm_strdup(""));
    pm_add_sum(table, sizes->texts.fields, sizes->predictions[0].prediction, others[0],
               pm_other_label(n_other, sizes->options));
}

static void add_not_counted(struct pm_text_table *table, const struct sizes *sizes) {
    const struct pm_row unknown = {.seconds = NAN, .share = NAN, .measured_seconds = NAN};
    for (size_t s = 0; s < sizes->n; s++)
        pm_add_sum(table, sizes->figures.fields, sizes->predictions[s].prediction, unknown,
                   pm_strdup(""));
    pm_add_sum(table, sizes->texts.fields, sizes->predictions[0].prediction, unknown,
               pm_sprintf("not counted (%zu)", sizes->rows[sizes->n - 1]->n_not_counted));
}

static void print_header(FILE *out, const struct sizes *sizes) {
    const struct pm_prediction *first = sizes->predictions[0].prediction;
    pm_print_title(out, sizes->options, "%s on %s", first->program, first->machine_title);
    for (size_t s = 0; s < sizes->n; s++) {
        const struct pm_prediction *prediction = sizes->predictions[s].prediction;
        char *size = pm_parameters_text(&prediction->parameters);
        char *range = pm_prediction_range_text(prediction),
             *interval = pm_time_interval(prediction);
        pm_print_line(out, sizes->options, "%s: predicted %s%s%s%s; %s", size,
                      sizes->rows[s]->time_is_lower_bound ? ">" : "",
                      pm_prediction_is_interpolated(prediction) ? "~" : "",
                      pm_seconds_text(prediction->seconds).text, interval, range);
        free(interval);
        free(range);
        free(size);
    }
}

void pm_write_sizes_table(FILE *out, const struct pm_sized_prediction *predictions,
                          struct pm_rows *const *rows, size_t n_sizes,
                          const struct pm_report_options *options) {
    struct pm_error err = {0}; /* names of fields were looked at before */
    const struct pm_prediction *last = predictions[n_sizes - 1].prediction;
    struct pm_columns columns;
    const struct pm_row **in_order = pm_rows_in_order(rows[n_sizes - 1], last, options, &err);
    if (in_order && pm_columns_make(last, "self_seconds,self_share,label,source,bound", options,
                                    &columns, &err)) {
        struct pm_row *others = pm_alloc(n_sizes, sizeof *others);
        struct pm_text_table *table = pm_text_table_new();
        struct pm_seen seen = {0};
        size_t n_other = 0;
        pm_mark_interpolated(last, &columns);
        struct sizes sizes = {
            predictions, rows, n_sizes, options, part_of(&columns, true), part_of(&columns, false)};
        add_columns(table, &sizes);
        add_rows(table, &sizes, in_order, others, &n_other, &seen);
        if (n_other)
            add_others(table, &sizes, others, n_other);
        if (rows[n_sizes - 1]->n_not_counted)
            add_not_counted(table, &sizes);
        print_header(out, &sizes);
        pm_text_table_print(out, table, options);
        pm_print_prediction_notes(out, last, rows[n_sizes - 1], &seen, options);
        pm_text_table_free(table);
        pm_columns_free(&sizes.figures);
        pm_columns_free(&sizes.texts);
        pm_columns_free(&columns);
        free(others);
    }
    free(in_order);
}
