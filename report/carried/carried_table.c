/* `pmodel report --carried` for people: a header line, the rows by cost, what the advice means.
   Needs the rows of carried.c. */
#include <math.h>
#include <stdlib.h>

#include "report/carried/carried.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void print_header(FILE *out, const struct pm_carried_report *report,
                         const struct pm_carried_rows *rows,
                         const struct pm_report_options *options) {
    char *parameters = pm_parameters_text(&report->profile->parameters);
    char *line =
        pm_sprintf("%s  %s%son %s: what carries its misses", pm_program_name(report->structure),
                   parameters, *parameters ? "  " : "", rows->machine->title);
    pm_print_bold(out, line, options->color);
    free(line);
    free(parameters);
}

static struct pm_text_table *new_table(const struct pm_machine *machine) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "%", PM_COLUMN_NUMBER);
    for (size_t l = 0; l < machine->n_levels; l++)
        pm_text_table_column(table, machine->levels[l].name, PM_COLUMN_NUMBER);
    pm_text_table_column(table, "CARRIED BY", PM_COLUMN_NAME);
    pm_text_table_column(table, "", PM_COLUMN_TEXT);
    pm_text_table_column(table, "FROM", PM_COLUMN_NAME);
    pm_text_table_column(table, "TO", PM_COLUMN_NAME);
    pm_text_table_column(table, "DATA", PM_COLUMN_NAME);
    pm_text_table_column(table, "TRY", PM_COLUMN_TEXT);
    return table;
}

static void add_misses(struct pm_text_table *table, double share, const double *misses,
                       size_t n_levels) {
    pm_text_table_cell(table, pm_percent_text(share).text);
    for (size_t l = 0; l < n_levels; l++)
        pm_text_table_cell(table, pm_count_text(misses[l]).text);
}

static const char *where_word(const struct pm_structure *structure,
                              const struct pm_carried_row *row) {
    if (row->carrier == PM_NONE || structure->scopes[row->carrier].kind != PM_SCOPE_LOOP)
        return "";
    return row->across ? "across" : "within";
}

static void add_row(struct pm_text_table *table, const struct pm_structure *structure,
                    const struct pm_carried_row *row, size_t n_levels) {
    bool same = row->source == row->destination;
    add_misses(table, row->share, row->misses, n_levels);
    pm_text_table_cell(table, row->carrier_label);
    pm_text_table_cell(table, where_word(structure, row));
    pm_text_table_cell(table, same ? "=" : row->source_label);
    pm_text_table_cell(table, row->destination_label);
    pm_text_table_cell(table, row->object ? row->object : "?");
    pm_text_table_cell(table, pm_advice_word(row->advice));
}

struct rest {
    size_t n;
    double share, misses[PM_MAX_LEVELS];
};

static void add_rest(struct pm_text_table *table, const struct rest *rest, size_t n_levels) {
    char *label = pm_sprintf("other (%zu smaller ones)", rest->n);
    add_misses(table, rest->share, rest->misses, n_levels);
    pm_text_table_cell(table, label);
    for (unsigned i = 0; i < 5; i++)
        pm_text_table_cell(table, NULL);
    free(label);
}

static void print_advice(FILE *out, const struct pm_report_options *options, const bool *given) {
    static const char *const meanings[PM_N_ADVICE] = {
        [PM_ADVICE_BLOCK] =
            "block: a loop comes back to the same data in the next iteration of the "
            "loop that carries: interchange the two, or block (tile) it, so that a "
            "part of the data is used up before the next one comes.",
        [PM_ADVICE_REORDER] = "reorder: the loop itself comes back to the same blocks only after "
                              "many others: a shorter stride, or data or iterations in another "
                              "order.",
        [PM_ADVICE_FUSE] = "fuse: two loops use the same data one after the other: fuse them, or "
                           "let one follow the other by few iterations (shifted, or both blocked "
                           "and the blocks fused).",
        [PM_ADVICE_SKEW] = "skew: a later iteration of the loop that carries, as of a time loop, "
                           "comes back to the data in another loop or by a new call: what helps is "
                           "to work on a part of the data over several of its iterations (time "
                           "skewing).",
        [PM_ADVICE_CALLS] = "join calls: a loop is executed several times within one iteration of "
                            "the loop that carries, or one call of the routine: do the work of "
                            "these executions in one.",
    };
    for (unsigned i = 0; i < PM_N_ADVICE; i++)
        if (given[i] && meanings[i])
            pm_print_wrapped(out, "  - ", "    ", meanings[i], options->width);
}

static void write_machine(FILE *out, const struct pm_carried_report *report,
                          const struct pm_carried_rows *rows,
                          const struct pm_report_options *options) {
    size_t n_levels = rows->machine->n_levels;
    struct pm_text_table *table = new_table(rows->machine);
    struct rest rest = {0};
    bool given[PM_N_ADVICE] = {false};
    print_header(out, report, rows, options);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_carried_row *row = &rows->rows[i];
        if ((!options->max_rows || i < options->max_rows) &&
            !(100 * row->share < options->min_percent)) {
            add_row(table, report->structure, row, n_levels);
            given[row->advice] = true;
            continue;
        }
        rest.n++;
        rest.share += row->share;
        for (size_t l = 0; l < n_levels; l++)
            rest.misses[l] += row->misses[l];
    }
    if (rest.n)
        add_rest(table, &rest, n_levels);
    pm_text_table_print(out, table, options->width, options->color);
    pm_text_table_free(table);
    print_advice(out, options, given);
}

void pm_write_carried_table(FILE *out, const struct pm_carried_report *report,
                            struct pm_carried_rows *const *rows,
                            const struct pm_report_options *options) {
    for (size_t i = 0; i < report->n_machines; i++) {
        if (i)
            fputc('\n', out);
        write_machine(out, report, rows[i], options);
    }
}
