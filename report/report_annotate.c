/* `pmodel report --as source`: its fields, and the source as a table, JSON and CSV. */
#include <math.h>
#include <stdlib.h>

#include "report/annotate.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

struct line_row {
    const struct pm_annotation *annotation;
    struct pm_line_cost cost; /* summed over files that are this one */
    uint32_t number;
    const char *source; /* NULL: not known */
    bool has_figures;
};

struct line_rows {
    PM_ARRAY(struct line_row, rows); /* by number */
    double elsewhere, unknown;       /* seconds of other files, and without a line */
};

static double seconds_of(const struct pm_annotation *a, double cycles) {
    return cycles / a->prediction->clock_hz;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct line_row *row_at(struct line_rows *rows, const struct pm_annotation *a,
                               uint32_t number) {
    for (size_t i = rows->n_rows; i <= number; i++)
        *PM_PUSH(rows, rows) =
            (struct line_row){.annotation = a,
                              .number = (uint32_t)i,
                              .source = a->source ? pm_source_line(a->source, i) : NULL};
    return &rows->rows[number];
}

static struct line_rows make_rows(const struct pm_annotation *a) {
    struct line_rows rows = {0};
    if (a->source && a->source->n_lines)
        row_at(&rows, a, (uint32_t)a->source->n_lines);
    for (size_t i = 0; i < a->costs->n_rows; i++) {
        const struct pm_line_cost *cost = &a->costs->rows[i];
        if (cost->file == PM_NONE) {
            rows.unknown += seconds_of(a, cost->cycles);
            continue;
        }
        if (!a->is_it[cost->file]) {
            rows.elsewhere += seconds_of(a, cost->cycles);
            continue;
        }
        struct line_row *row = row_at(&rows, a, cost->line);
        row->cost.cycles += cost->cycles;
        row->cost.instructions += cost->instructions;
        for (size_t l = 0; l < a->prediction->n_levels; l++)
            row->cost.misses[l] += cost->misses[l];
        row->has_figures |= cost->instructions > 0 || cost->cycles > 0;
    }
    return rows;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static json_t *misses_json(const struct line_row *row) {
    const struct pm_prediction *p = row->annotation->prediction;
    json_t *object = json_object();
    for (size_t l = 0; l < p->n_levels; l++)
        json_object_set_new(object, p->level_names[l],
                            pm_json_number(p->without_memory ? NAN : row->cost.misses[l]));
    return object;
}

#define GETTER(name_, value_) PM_GETTER(name_, struct line_row, value_)
GETTER(line_seconds, pm_number(seconds_of(row->annotation, row->cost.cycles)))
GETTER(line_share, pm_number(seconds_of(row->annotation, row->cost.cycles) /
                             row->annotation->prediction->seconds))
GETTER(line_misses, pm_json_value(misses_json(row)))
GETTER(seconds_cell,
       row->has_figures
           ? pm_copied_text(pm_seconds_text(seconds_of(row->annotation, row->cost.cycles)).text)
           : pm_text(""))
GETTER(share_cell,
       row->has_figures
           ? pm_copied_text(pm_percent_text(seconds_of(row->annotation, row->cost.cycles) /
                                            row->annotation->prediction->seconds)
                                .text)
           : pm_text(""))
GETTER(instructions_cell,
       row->has_figures ? pm_copied_text(pm_count_text(row->cost.instructions).text) : pm_text(""))
GETTER(source_cell, pm_text(row->source ? row->source : ""))
#undef GETTER

static const struct pm_field fields[] = {
    {"line", PM_POSITIVE, PM_MEMBER(struct line_row, number), .header = "LINE"},
    {"seconds", PM_SECONDS, .get = line_seconds, .header = "TIME", .cell = seconds_cell},
    {"share", PM_PERCENT, .get = line_share, .header = "%", .cell = share_cell},
    {"instructions", PM_COUNT, PM_MEMBER(struct line_row, cost.instructions), .header = "INSTRS",
     .cell = instructions_cell, .dispensable = 2},
    {"misses", PM_JSON_ONLY, .get = line_misses},
    {"source", PM_NAME, PM_MEMBER(struct line_row, source), .header = "SOURCE",
     .cell = source_cell},
};

/* ---- table ----------------------------------------------------------------------------------- */

/* Shown are lines with a share worth telling, and what is near them. */
static bool *shown_lines(const struct line_rows *rows, const struct pm_report_options *options) {
    enum { AROUND = 2 };
    bool *shown = pm_alloc(rows->n_rows + 1, sizeof *shown);
    for (size_t i = 1; i < rows->n_rows; i++) {
        const struct line_row *row = &rows->rows[i];
        double percent = 100 * seconds_of(row->annotation, row->cost.cycles) /
                         row->annotation->prediction->seconds;
        if (!options->wide && (!row->has_figures || percent < options->min_percent))
            continue;
        size_t first = i > AROUND ? i - AROUND : 1;
        for (size_t k = first; k <= i + AROUND && k < rows->n_rows; k++)
            shown[k] = true;
    }
    return shown;
}

static void write_title(FILE *out, const struct pm_annotation *a,
                        const struct pm_report_options *options) {
    char *size = pm_parameters_text(&a->prediction->parameters);
    pm_print_title(out, options, "%s  %s%son %s: %s of %s", a->source ? a->source->path : a->file,
                   size, *size ? "  " : "", a->prediction->machine_title, a->prediction->program,
                   pm_seconds_text(a->prediction->seconds).text);
    free(size);
}

static void write_misses(struct pm_text_table *table, const struct line_row *row) {
    const struct pm_prediction *p = row->annotation->prediction;
    for (size_t l = 0; !p->without_memory && l < p->n_levels; l++)
        pm_text_table_cell(table, row->has_figures ? pm_count_text(row->cost.misses[l]).text : "");
}

static void write_table(FILE *out, const struct pm_annotation *a, const struct line_rows *rows,
                        const struct pm_report_options *options) {
    struct pm_fields first = pm_fields_named(PM_FIELDS(fields), "seconds share instructions");
    struct pm_fields last = pm_fields_named(PM_FIELDS(fields), "line source");
    struct pm_text_table *table = pm_text_table_new();
    bool *shown = shown_lines(rows, options);
    pm_fields_columns(table, first);
    for (size_t l = 0; !a->prediction->without_memory && l < a->prediction->n_levels; l++) {
        pm_text_table_column(table, a->prediction->level_names[l], PM_COLUMN_NUMBER);
        pm_text_table_dispensable(table, 1);
    }
    pm_fields_columns(table, last);
    size_t before = 0;
    for (size_t i = 1; i < rows->n_rows; i++) {
        if (!shown[i])
            continue;
        if (before && before + 1 < i)
            pm_text_table_line(table, "…");
        pm_fields_cells(table, first, NULL, &rows->rows[i]);
        write_misses(table, &rows->rows[i]);
        pm_fields_cells(table, last, NULL, &rows->rows[i]);
        before = i;
    }
    write_title(out, a, options);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
    pm_print_line(out, options, "%s in other files, %s in code without a line.",
                  pm_seconds_text(rows->elsewhere).text, pm_seconds_text(rows->unknown).text);
    if (a->note)
        pm_print_note(out, options, "%s", a->note);
    free(first.fields);
    free(last.fields);
    free(shown);
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

/* Those with figures, to the front; how many they are. */
static size_t keep_figures(struct line_rows *rows) {
    size_t n = 0;
    for (size_t i = 0; i < rows->n_rows; i++)
        if (rows->rows[i].has_figures)
            rows->rows[n++] = rows->rows[i];
    return n;
}

static void write_json(FILE *out, const struct pm_annotation *a, struct line_rows *rows,
                       const struct pm_report_options *options) {
    json_t *document = pm_json_document("annotate");
    size_t n = keep_figures(rows);
    json_object_set_new(document, "program", pm_json_text(a->prediction->program));
    json_object_set_new(document, "parameters", pm_json_parameters(&a->prediction->parameters));
    json_object_set_new(document, "machine", pm_json_text(a->prediction->machine_name));
    json_object_set_new(document, "file", pm_json_text(a->source ? a->source->path : a->file));
    json_object_set_new(document, "seconds", pm_json_number(a->prediction->seconds));
    json_object_set_new(document, "note", pm_json_text(a->note));
    json_object_set_new(document, "lines",
                        pm_fields_array(PM_FIELDS(fields), rows->rows, n, sizeof *rows->rows));
    json_object_set_new(document, "elsewhere_seconds", pm_json_number(rows->elsewhere));
    json_object_set_new(document, "unknown_seconds", pm_json_number(rows->unknown));
    pm_json_set_warnings(document, options);
    pm_json_print(out, document);
}

static void write_csv(FILE *out, const struct pm_annotation *a, struct line_rows *rows) {
    size_t n = keep_figures(rows);
    struct pm_fields columns =
        pm_fields_named(PM_FIELDS(fields), "line seconds share instructions");
    struct pm_fields last = pm_fields_named(PM_FIELDS(fields), "source");
    for (size_t l = 0; l < a->prediction->n_levels; l++)
        *PM_PUSH(&columns, fields) = (struct pm_field){.name = a->prediction->level_names[l],
                                                       .kind = PM_COUNT,
                                                       PM_MEMBER(struct line_row, cost.misses[l])};
    *PM_PUSH(&columns, fields) = last.fields[0];
    struct pm_csv csv = {.out = out};
    pm_fields_csv_names(&csv, columns);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < n; i++) {
        pm_fields_csv_values(&csv, columns, &rows->rows[i]);
        pm_csv_end_line(&csv);
    }
    free(columns.fields);
    free(last.fields);
}

void pm_report_annotation(FILE *out, const struct pm_annotation *annotation,
                          const struct pm_report_options *options) {
    struct line_rows rows = make_rows(annotation);
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, write_table(out, annotation, &rows, options),
                 write_json(out, annotation, &rows, options), write_csv(out, annotation, &rows));
    free(rows.rows);
}
