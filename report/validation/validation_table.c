/* `pmodel validate` for people: for each size the program's figures, its misses by cache size, and
   the loops.  Needs the tables of fit/analysis/validation.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/validation/validation.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

struct size_report {
    FILE *out;
    const struct pm_validation_report *report;
    const struct pm_validation *size;
    const struct pm_validation_table *table;
    const struct pm_report_options *options;
};

/* ---- cells ----------------------------------------------------------------------------------- */

struct pm_number_text pm_error_text(double error) {
    struct pm_number_text text;
    if (isnan(error))
        snprintf(text.text, sizeof text.text, "-");
    else if (isinf(error))
        snprintf(text.text, sizeof text.text, "inf");
    else if (error == 0)
        snprintf(text.text, sizeof text.text, "exact");
    else
        snprintf(text.text, sizeof text.text, fabs(error) < 0.0995 ? "%+.2f%%" : "%+.0f%%",
                 100 * error);
    return text;
}

static struct pm_number_text size_of_error_text(double error) {
    struct pm_number_text text = pm_error_text(fabs(error));
    if (text.text[0] == '+') {
        struct pm_number_text bare;
        snprintf(bare.text, sizeof bare.text, "%s", text.text + 1);
        return bare;
    }
    return text;
}

static struct pm_number_text value_text(enum pm_quantity quantity, double value) {
    return quantity == PM_QUANTITY_SECONDS ? pm_seconds_text(value) : pm_count_text(value);
}

static void add_pair(struct pm_text_table *cells, enum pm_quantity quantity, struct pm_pair pair) {
    pm_text_table_cell(cells, value_text(quantity, pair.predicted).text);
    pm_text_table_cell(cells, value_text(quantity, pair.measured).text);
    pm_text_table_cell(cells, pm_error_text(pm_pair_error(pair)).text);
}

/* "4.35M-4.39M", one number where both ends are written alike. */
static void add_interval(struct pm_text_table *cells, struct pm_pair pair) {
    struct pm_number_text low = pm_count_text(pair.low), high = pm_count_text(pair.high);
    char *text = strcmp(low.text, high.text) == 0 ? pm_strdup(low.text)
                                                  : pm_sprintf("%s-%s", low.text, high.text);
    pm_text_table_cell(cells, text);
    free(text);
}

static void add_pair_columns(struct pm_text_table *cells, const char *predicted) {
    pm_text_table_column(cells, predicted, PM_COLUMN_NUMBER);
    pm_text_table_column(cells, "MEASURED", PM_COLUMN_NUMBER);
    pm_text_table_column(cells, "ERROR", PM_COLUMN_NUMBER);
}

static void print_cells(const struct size_report *r, struct pm_text_table *cells) {
    pm_text_table_print(r->out, cells, r->options);
    pm_text_table_free(cells);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void print_title(const struct size_report *r) {
    char *parameters = pm_parameters_text(&r->size->measured->parameters);
    char *up_to = pm_parameters_text(&r->report->models->high);
    pm_print_title(r->out, r->options,
                   "%s  %s: predicted by models of %zu runs up to %s (%.1fx), and measured",
                   pm_program_name(r->report->structure), parameters, r->report->models->n_runs,
                   up_to, r->size->predicted->extrapolation);
    free(up_to);
    free(parameters);
}

static char *quantity_label(const struct size_report *r,
                            const struct pm_validation_column *column) {
    if (column->quantity == PM_QUANTITY_SECONDS)
        return pm_sprintf("time on %s", r->size->predicted_times[column->machine]->machine_name);
    if (column->quantity == PM_QUANTITY_ACCESSES)
        return pm_strdup("accesses");
    return pm_strdup("executions of basic blocks");
}

static void print_program(const struct size_report *r) {
    struct pm_text_table *cells = pm_text_table_new();
    pm_text_table_column(cells, "PROGRAM", PM_COLUMN_TEXT);
    add_pair_columns(cells, "PREDICTED");
    for (size_t c = 0; c < r->table->n_columns; c++) {
        const struct pm_validation_column *column = &r->table->columns[c];
        if (column->quantity == PM_QUANTITY_MISSES || column->quantity == PM_QUANTITY_ITERATIONS)
            continue;
        char *label = quantity_label(r, column);
        pm_text_table_cell(cells, label);
        add_pair(cells, column->quantity, pm_validation_pair(r->table, 0, c));
        free(label);
    }
    print_cells(r, cells);
    fprintf(r->out, "basic blocks whose executions are exact: %zu of %zu\n",
            r->table->n_blocks_exact, r->table->n_blocks_executed);
}

/* ---- prediction intervals -------------------------------------------------------------------- */

static void add_coverage(struct pm_text_table *cells, const char *label,
                         const struct pm_coverage *coverage) {
    pm_text_table_cell(cells, label);
    pm_text_table_number(cells, coverage->exact);
    pm_text_table_number(cells, coverage->exact_right);
    pm_text_table_number(cells, coverage->n);
    for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++) {
        double share = (double)coverage->inside[l] / (double)coverage->n;
        char *text = coverage->n ? pm_sprintf("%.0f%%", 100 * share) : pm_strdup("-");
        pm_text_table_cell(cells, text);
        free(text);
    }
    pm_text_table_number(cells, coverage->unknown);
}

/* How many of the measured counts lie inside the intervals of their models. */
static void print_coverage(const struct size_report *r, const struct pm_coverage *coverage) {
    static const char *const labels[PM_N_COVERAGES] = {"edges", "accesses", "cold accesses",
                                                       "misses of caches"};
    struct pm_coverage sum = pm_coverage_sum(coverage, PM_N_MODEL_COVERAGES);
    struct pm_text_table *cells = pm_text_table_new();
    pm_text_table_column(cells, "INTERVALS", PM_COLUMN_TEXT);
    pm_text_table_column(cells, "EXACT", PM_COLUMN_NUMBER);
    pm_text_table_column(cells, "RIGHT", PM_COLUMN_NUMBER);
    pm_text_table_column(cells, "OTHERS", PM_COLUMN_NUMBER);
    for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++) {
        char *title = pm_sprintf("IN %.0f%%", 100 * pm_coverage_levels[l]);
        pm_text_table_column(cells, title, PM_COLUMN_NUMBER);
        free(title);
    }
    pm_text_table_column(cells, "UNKNOWN", PM_COLUMN_NUMBER);
    for (size_t q = 0; q < PM_N_MODEL_COVERAGES; q++)
        add_coverage(cells, labels[q], &coverage[q]);
    add_coverage(cells, "all models", &sum);
    if (r->report->caches->n_block_sizes)
        add_coverage(cells, labels[PM_COVERAGE_MISSES], &coverage[PM_COVERAGE_MISSES]);
    fputc('\n', r->out);
    print_cells(r, cells);
}

/* ---- misses ---------------------------------------------------------------------------------- */

static void print_summary(const struct size_report *r, uint64_t block_bytes) {
    struct pm_errors program =
        pm_validation_program_errors(r->table, PM_QUANTITY_MISSES, block_bytes);
    struct pm_errors loops = pm_validation_loop_errors(r->table, PM_QUANTITY_MISSES, block_bytes);
    fprintf(r->out, "program: median %s, worst %s; ", size_of_error_text(program.median).text,
            size_of_error_text(program.worst).text);
    fprintf(r->out, "loops: median %s, worst %s\n", size_of_error_text(loops.median).text,
            size_of_error_text(loops.worst).text);
}

static char *worst_label(const struct size_report *r, const struct pm_validation_column *column) {
    return column->worst_row == PM_NONE
               ? pm_strdup("-")
               : pm_scope_label(r->report->structure,
                                r->table->rows[column->worst_row].place.scope);
}

static void print_misses(const struct size_report *r, uint64_t block_bytes) {
    struct pm_text_table *cells = pm_text_table_new();
    pm_text_table_column(cells, "BLOCKS", PM_COLUMN_NUMBER);
    pm_text_table_column(cells, "CACHE", PM_COLUMN_NUMBER);
    add_pair_columns(cells, "MISSES");
    char *between = pm_sprintf("%.0f%% BETWEEN", 100 * r->size->level);
    pm_text_table_column(cells, between, PM_COLUMN_NUMBER);
    pm_text_table_dispensable(cells, 2);
    free(between);
    pm_text_table_column(cells, "LOOPS", PM_COLUMN_NUMBER);
    pm_text_table_dispensable(cells, 3);
    pm_text_table_column(cells, "MEDIAN", PM_COLUMN_NUMBER);
    pm_text_table_column(cells, "WORST", PM_COLUMN_NUMBER);
    pm_text_table_column(cells, "WORST LOOP", PM_COLUMN_NAME);
    pm_text_table_dispensable(cells, 1);
    for (size_t c = 0; c < r->table->n_columns; c++) {
        const struct pm_validation_column *column = &r->table->columns[c];
        if (column->quantity != PM_QUANTITY_MISSES || column->block_bytes != block_bytes)
            continue;
        pm_text_table_number(cells, (uint64_t)column->cache_blocks);
        pm_text_table_cell(
            cells, pm_bytes_text((uint64_t)column->cache_blocks * column->block_bytes).text);
        add_pair(cells, column->quantity, pm_validation_pair(r->table, 0, c));
        add_interval(cells, pm_validation_pair(r->table, 0, c));
        pm_text_table_cell(cells, pm_count_text((double)column->loops.n).text);
        pm_text_table_cell(cells, size_of_error_text(column->loops.median).text);
        pm_text_table_cell(cells, size_of_error_text(column->loops.worst).text);
        char *worst = worst_label(r, column);
        pm_text_table_cell(cells, worst);
        free(worst);
    }
    fprintf(r->out, "\nmisses of fully associative LRU caches, blocks of %s\n",
            pm_bytes_text(block_bytes).text);
    print_cells(r, cells);
    print_summary(r, block_bytes);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* True if the row is large in any column of the quantity. */
static bool is_large(const struct size_report *r, size_t row, enum pm_quantity quantity) {
    size_t worst;
    return pm_validation_row_errors(r->table, row, quantity, 0, &worst).n > 0;
}

static bool is_full(const struct size_report *r, size_t n_shown) {
    return r->options->max_rows && n_shown >= r->options->max_rows;
}

static void add_names(struct pm_text_table *cells, const struct pm_validation_row *row) {
    char *label = pm_scope_label(row->place.structure, row->place.scope);
    char *source = pm_scope_source(row->place.structure, row->place.scope);
    pm_text_table_cell(cells, label);
    pm_text_table_cell(cells, source);
    free(source);
    free(label);
}

static struct pm_text_table *new_loop_cells(void) {
    struct pm_text_table *cells = pm_text_table_new();
    pm_text_table_column(cells, "LOOP", PM_COLUMN_NAME);
    pm_text_table_column(cells, "SOURCE", PM_COLUMN_NAME);
    pm_text_table_dispensable(cells, 1);
    return cells;
}

/* Iterations, and accesses. */
static void print_loop_counts(const struct size_report *r) {
    struct pm_text_table *cells = new_loop_cells();
    bool memory = r->report->caches->n_block_sizes > 0;
    size_t n_shown = 0;
    add_pair_columns(cells, "ITERATIONS");
    if (memory)
        add_pair_columns(cells, "ACCESSES");
    for (size_t row = 1; row < r->table->n_rows && !is_full(r, n_shown); row++) {
        if (!is_large(r, row, PM_QUANTITY_EXECUTIONS) && !is_large(r, row, PM_QUANTITY_ACCESSES))
            continue;
        add_names(cells, &r->table->rows[row]);
        for (size_t c = 1; c < (memory ? 3 : 2); c++)
            add_pair(cells, r->table->columns[c].quantity, pm_validation_pair(r->table, row, c));
        n_shown++;
    }
    fputs("\nloops and routines\n", r->out);
    print_cells(r, cells);
}

static void print_loop_misses(const struct size_report *r, uint64_t block_bytes) {
    struct pm_text_table *cells = new_loop_cells();
    size_t n_shown = 0;
    pm_text_table_column(cells, "MEDIAN", PM_COLUMN_NUMBER);
    pm_text_table_column(cells, "WORST AT", PM_COLUMN_NUMBER);
    add_pair_columns(cells, "MISSES");
    for (size_t row = 1; row < r->table->n_rows && !is_full(r, n_shown); row++) {
        size_t worst;
        struct pm_errors errors =
            pm_validation_row_errors(r->table, row, PM_QUANTITY_MISSES, block_bytes, &worst);
        if (errors.n == 0)
            continue;
        add_names(cells, &r->table->rows[row]);
        pm_text_table_cell(cells, size_of_error_text(errors.median).text);
        pm_text_table_number(cells, (uint64_t)r->table->columns[worst].cache_blocks);
        add_pair(cells, PM_QUANTITY_MISSES, pm_validation_pair(r->table, row, worst));
        n_shown++;
    }
    fprintf(r->out, "\nloops with at least %.3g%% of the misses of such a cache, blocks of %s\n",
            100 * r->table->least_share, pm_bytes_text(block_bytes).text);
    print_cells(r, cells);
}

void pm_write_validations_table(FILE *out, const struct pm_validation_report *report,
                                const struct pm_report_options *options) {
    for (size_t i = 0; i < report->n_sizes; i++) {
        struct size_report r = {out, report, &report->sizes[i], report->tables[i], options};
        if (i)
            fputc('\n', out);
        print_title(&r);
        print_program(&r);
        print_coverage(&r, report->coverage + i * PM_N_COVERAGES);
        for (size_t b = 0; b < report->caches->n_block_sizes; b++)
            print_misses(&r, report->caches->block_sizes[b]);
        print_loop_counts(&r);
        for (size_t b = 0; b < report->caches->n_block_sizes; b++)
            print_loop_misses(&r, report->caches->block_sizes[b]);
    }
}
