/* `pmodel loops --summary`: a line for each file.  Needs structures that were lifted for a summary;
   their statistics are all that is shown. */
#include <math.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/writers/writers.h"

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : NAN;
}

static void add_cell(struct pm_text_table *table, char *text) {
    pm_text_table_cell(table, text);
    free(text);
}

static void print_table(FILE *out, const struct pm_summary *summaries, size_t n,
                        const struct pm_report_options *options) {
    static const struct {
        const char *title;
        enum pm_column_kind kind;
    } columns[] = {{"FILE", PM_COLUMN_NAME},       {"ROUTINES", PM_COLUMN_NUMBER},
                   {"PARTIAL", PM_COLUMN_NUMBER},  {"REFUSED", PM_COLUMN_NUMBER},
                   {"INSTRS", PM_COLUMN_NUMBER},   {"TEXT %", PM_COLUMN_NUMBER},
                   {"LOOPS", PM_COLUMN_NUMBER},    {"INDIRECT", PM_COLUMN_NUMBER},
                   {"RESOLVED", PM_COLUMN_NUMBER}, {"METADATA", PM_COLUMN_TEXT},
                   {"LINES", PM_COLUMN_TEXT}};
    struct pm_text_table *table = pm_text_table_new();
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        pm_text_table_column(table, columns[i].title, columns[i].kind);
    for (size_t i = 0; i < n; i++) {
        const struct pm_summary *s = &summaries[i];
        double covered = percent(s->lifted_bytes, s->text_bytes);
        pm_text_table_cell(table, s->path);
        pm_text_table_number(table, s->statistics.n_routines);
        pm_text_table_number(table, s->statistics.n_partial);
        pm_text_table_number(table, s->statistics.n_refused);
        pm_text_table_number(table, s->statistics.n_instructions);
        add_cell(table, isnan(covered) ? pm_sprintf("?") : pm_sprintf("%.1f", covered));
        pm_text_table_number(table, s->statistics.n_loops);
        pm_text_table_number(table, s->statistics.n_indirect_jumps);
        pm_text_table_number(table, s->statistics.n_resolved_jumps);
        pm_text_table_cell(table, s->has_metadata ? "yes" : "no");
        pm_text_table_cell(table, s->has_lines ? "yes" : "no");
    }
    pm_text_table_print(out, table, options->width, options->color);
    pm_text_table_free(table);
}

static void print_csv(FILE *out, const struct pm_summary *summaries, size_t n) {
    static const char *const names[] = {
        "file",       "routines",         "partial",      "refused",     "instructions",
        "text_bytes", "lifted_bytes",     "loops",        "irreducible", "indirect",
        "resolved",   "first_unresolved", "has_metadata", "has_lines"};
    struct pm_csv csv = {.out = out};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pm_csv_text(&csv, names[i]);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < n; i++) {
        const struct pm_summary *s = &summaries[i];
        const struct pm_lift_statistics *t = &s->statistics;
        pm_csv_text(&csv, s->path);
        pm_csv_integer(&csv, t->n_routines);
        pm_csv_integer(&csv, t->n_partial);
        pm_csv_integer(&csv, t->n_refused);
        pm_csv_integer(&csv, t->n_instructions);
        pm_csv_integer(&csv, s->text_bytes);
        pm_csv_integer(&csv, s->lifted_bytes);
        pm_csv_integer(&csv, t->n_loops);
        pm_csv_integer(&csv, t->n_irreducible);
        pm_csv_integer(&csv, t->n_indirect_jumps);
        pm_csv_integer(&csv, t->n_resolved_jumps);
        if (t->first_unresolved)
            pm_csv_hex(&csv, t->first_unresolved);
        else
            pm_csv_text(&csv, NULL);
        pm_csv_integer(&csv, s->has_metadata);
        pm_csv_integer(&csv, s->has_lines);
        pm_csv_end_line(&csv);
    }
}

static json_t *to_json(const struct pm_summary *s) {
    const struct pm_lift_statistics *t = &s->statistics;
    json_t *file = json_object();
    json_object_set_new(file, "file", pm_json_text(s->path));
    json_object_set_new(file, "routines", pm_json_integer(t->n_routines));
    json_object_set_new(file, "partial", pm_json_integer(t->n_partial));
    json_object_set_new(file, "refused", pm_json_integer(t->n_refused));
    json_object_set_new(file, "instructions", pm_json_integer(t->n_instructions));
    json_object_set_new(file, "text_bytes", pm_json_integer(s->text_bytes));
    json_object_set_new(file, "lifted_bytes", pm_json_integer(s->lifted_bytes));
    json_object_set_new(file, "loops", pm_json_integer(t->n_loops));
    json_object_set_new(file, "irreducible", pm_json_integer(t->n_irreducible));
    json_object_set_new(file, "indirect_jumps", pm_json_integer(t->n_indirect_jumps));
    json_object_set_new(file, "resolved_jumps", pm_json_integer(t->n_resolved_jumps));
    json_object_set_new(file, "first_unresolved",
                        t->first_unresolved ? pm_json_hex(t->first_unresolved) : json_null());
    json_object_set_new(file, "has_metadata", json_boolean(s->has_metadata));
    json_object_set_new(file, "has_lines", json_boolean(s->has_lines));
    return file;
}

void pm_report_summaries(FILE *out, const struct pm_summary *summaries, size_t n_summaries,
                         const struct pm_report_options *options) {
    if (options->format == PM_REPORT_TABLE) {
        print_table(out, summaries, n_summaries, options);
    } else if (options->format == PM_REPORT_CSV) {
        print_csv(out, summaries, n_summaries);
    } else {
        json_t *document = pm_json_document("summary"), *files = json_array();
        for (size_t i = 0; i < n_summaries; i++)
            json_array_append_new(files, to_json(&summaries[i]));
        json_object_set_new(document, "files", files);
        pm_json_print(out, document);
    }
}
