/* `pmodel model` for people.  Needs the rows of counts.c. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/counts/counts.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

char *pm_edge_end_label(const struct pm_structure *structure, uint32_t block, const char *outside) {
    if (block >= structure->n_blocks)
        return pm_strdup(outside);
    const struct pm_block *b = &structure->blocks[block];
    return b->line ? pm_sprintf("0x%" PRIx64 " :%u", b->address, b->line)
                   : pm_sprintf("0x%" PRIx64, b->address);
}

const char *pm_edge_word(uint8_t kind) {
    static const char *const words[] = {
        [PM_EDGE_ENTRY] = "entry",     [PM_EDGE_FALLTHROUGH] = "fallthrough",
        [PM_EDGE_TAKEN] = "taken",     [PM_EDGE_TABLE] = "table",
        [PM_EDGE_EXIT] = "exit",       [PM_EDGE_NO_RETURN] = "no-return",
        [PM_EDGE_LANDING] = "landing",
    };
    return kind < sizeof words / sizeof words[0] ? words[kind] : "?";
}

static void print_title(FILE *out, const struct pm_counts *counts,
                        const struct pm_report_options *options) {
    const struct pm_counts_request *request = counts->request;
    char *at = pm_parameters_text(&counts->at);
    char *title = pm_sprintf("%s: %s%s%s, models of %zu runs", pm_program_name(counts->structure),
                             request->edges ? "edges of the control flow" : "executed operations",
                             request->interval ? " for each call of " : "",
                             request->interval ? request->interval : "", counts->n_runs);
    pm_print_bold(out, title, options->color);
    fprintf(out, "counts and shares %s at %s\n", counts->predicted ? "predicted" : "measured", at);
    free(title);
    free(at);
}

static void add_error(struct pm_text_table *table, double error, bool exact) {
    if (exact || isnan(error)) {
        pm_text_table_cell(table, exact ? "exact" : "?");
        return;
    }
    char *text = isinf(error) ? pm_strdup("inf") : pm_sprintf("%s%%", pm_percent_text(error).text);
    pm_text_table_cell(table, text);
    free(text);
}

static void add_columns(struct pm_text_table *table, const struct pm_counts *counts) {
    static const char *const scopes[] = {"BASIC BLOCK", "ROUTINE / LOOP", "ROUTINE", "MODULE",
                                         "PROGRAM"};
    bool edges = counts->request->edges;
    pm_text_table_column(table, edges ? "ROUTINE / LOOP" : scopes[counts->request->level],
                         PM_COLUMN_NAME);
    if (edges) {
        pm_text_table_column(table, "FROM", PM_COLUMN_TEXT);
        pm_text_table_column(table, "TO", PM_COLUMN_TEXT);
        pm_text_table_column(table, "KIND", PM_COLUMN_TEXT);
    } else {
        pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
        pm_text_table_column(table, "CLASS", PM_COLUMN_TEXT);
    }
    pm_text_table_column(table, "COUNT", PM_COLUMN_NUMBER);
    if (counts->predicted)
        pm_text_table_column(table, "80% IN", PM_COLUMN_TEXT);
    pm_text_table_column(table, "%", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "ERROR", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LEFT OUT", PM_COLUMN_NUMBER);
    if (!edges && !counts->request->interval)
        pm_text_table_column(table, "OF SUM", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "MODEL", PM_COLUMN_TEXT);
}

/* "1.20M to 1.31M"; empty for an exact model. */
static void add_interval(struct pm_text_table *table, const struct pm_count_row *row) {
    if (row->low == row->high || isnan(row->low)) {
        pm_text_table_cell(table, isnan(row->low) ? "?" : NULL);
        return;
    }
    struct pm_number_text low = pm_count_text(row->low), high = pm_count_text(row->high);
    char *text = pm_sprintf("%s to %s", low.text, isinf(row->high) ? "?" : high.text);
    pm_text_table_cell(table, text);
    free(text);
}

static void add_row(struct pm_text_table *table, const struct pm_counts *counts,
                    const struct pm_count_row *row) {
    const struct pm_structure *structure = counts->structure;
    pm_text_table_cell(table, row->label);
    if (row->edge != PM_NONE) {
        const struct pm_edge *edge = &structure->edges[row->edge];
        char *from = pm_edge_end_label(structure, edge->from, "entry"),
             *to = pm_edge_end_label(structure, edge->to, "exit");
        pm_text_table_cell(table, from);
        pm_text_table_cell(table, to);
        pm_text_table_cell(table, pm_edge_word(edge->kind));
        free(to);
        free(from);
    } else {
        pm_text_table_cell(table, row->source);
        pm_text_table_cell(table, pm_count_class_name(&counts->classes.classes[row->class_index]));
    }
    pm_text_table_cell(table, pm_count_text(row->count).text);
    if (counts->predicted)
        add_interval(table, row);
    pm_text_table_cell(table, pm_percent_text(row->share).text);
    add_error(table, row->model->relative_error, row->model->exact);
    add_error(table, row->model->leave_one_out_error, false);
    if (!counts->request->edges && !counts->request->interval)
        add_error(table, row->sum_error, row->sum_error < PM_COUNT_ROUNDING);
    pm_text_table_cell(table, row->formula);
}

void pm_write_counts_table(FILE *out, const struct pm_counts *counts,
                           const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    print_title(out, counts, options);
    add_columns(table, counts);
    for (size_t i = 0; i < counts->n_rows; i++)
        add_row(table, counts, &counts->rows[i]);
    pm_text_table_print(out, table, options->width, options->color);
    pm_text_table_free(table);
    if (counts->n_left_out)
        fprintf(out, "%zu rows below the threshold are not shown\n", counts->n_left_out);
    if (counts->n_not_counted)
        fprintf(out, "%zu routines have no counters: what they execute is not in it\n",
                counts->n_not_counted);
    if (counts->n_unmatched)
        fprintf(out,
                "%zu loops and routines are not the same in all builds of the runs: what they "
                "execute is not in it\n",
                counts->n_unmatched);
}
