/* `pmodel validate --format csv`: a line for each size, quantity and row.  Needs the tables of
   validation.c. */
#include <math.h>
#include <stdlib.h>

#include "report/validation/validation.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void write_header(struct pm_csv *csv) {
    static const char *const names[] = {
        "program",  "parameters", "quantity", "block_bytes", "cache_blocks", "machine", "predicted",
        "measured", "error",      "large",    "kind",        "depth",        "label",   "file",
        "line",     "key",        "module",   "low",         "high",         "level"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pm_csv_text(csv, names[i]);
    pm_csv_end_line(csv);
}

static void write_integer_unless_0(struct pm_csv *csv, double value) {
    if (value > 0)
        pm_csv_number(csv, value);
    else
        pm_csv_text(csv, NULL);
}

static void write_line(struct pm_csv *csv, const struct pm_validation_report *report, size_t size,
                       const char *parameters, size_t c, size_t r) {
    const struct pm_validation_table *table = report->tables[size];
    const struct pm_validation_column *column = &table->columns[c];
    const struct pm_scope *scope = &report->structure->scopes[table->rows[r].scope];
    struct pm_pair pair = pm_validation_pair(table, r, c);
    pm_csv_text(csv, pm_program_name(report->structure));
    pm_csv_text(csv, parameters);
    pm_csv_text(csv, pm_quantity_word(column->quantity));
    write_integer_unless_0(csv, (double)column->block_bytes);
    write_integer_unless_0(csv, column->cache_blocks);
    pm_csv_text(csv, column->quantity == PM_QUANTITY_SECONDS
                         ? report->sizes[size].predicted_times[column->machine]->machine_name
                         : NULL);
    pm_csv_number(csv, pair.predicted);
    pm_csv_number(csv, pair.measured);
    pm_csv_number(csv, pm_pair_error(pair));
    pm_csv_integer(csv, r == 0 || pm_validation_is_large(table, r, c));
    pm_csv_text(csv, pm_scope_kind_word(scope->kind));
    pm_csv_integer(csv, scope->depth);
    pm_csv_text(csv, table->rows[r].label);
    pm_csv_text(csv, scope->file);
    pm_csv_line_number(csv, scope->line_first);
    pm_csv_hex(csv, scope->key);
    pm_csv_text(csv, pm_scope_module(report->structure, table->rows[r].scope));
    pm_csv_number(csv, pair.low);
    pm_csv_number(csv, pair.high);
    pm_csv_number(csv, report->sizes[size].low ? report->sizes[size].level : NAN);
    pm_csv_end_line(csv);
}

void pm_write_validations_csv(FILE *out, const struct pm_validation_report *report) {
    struct pm_csv csv = {.out = out};
    write_header(&csv);
    for (size_t size = 0; size < report->n_sizes; size++) {
        const struct pm_validation_table *table = report->tables[size];
        char *parameters = pm_parameters_text(&report->sizes[size].measured->parameters);
        for (size_t c = 0; c < table->n_columns; c++)
            for (size_t r = 0; r < table->n_rows; r++)
                write_line(&csv, report, size, parameters, c, r);
        free(parameters);
    }
}
