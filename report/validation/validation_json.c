/* `pmodel validate --format json`: {"format": "pmodel-validation", "version": 1, program, models,
   "sizes": [{parameters, "level": of the intervals, …, "summaries", "intervals": [{quantity, exact,
   exact_right, unknown, models, "levels": [{level, inside: of the models}]}], "rows": names,
   "comparisons": [{quantity, predicted, measured, error, low, high of the program, "rows": the same
   for each row}]}]}.  Needs the tables of validation.c.  Errors are fractions of 1; unknown, or
   relative to nothing, is null. */
#include <math.h>

#include "report/validation/validation.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static json_t *models_json(const struct pm_model_set *models) {
    json_t *object = json_object();
    json_object_set_new(object, "runs", pm_json_integer(models->n_runs));
    json_object_set_new(object, "low", pm_json_parameters(&models->low));
    json_object_set_new(object, "high", pm_json_parameters(&models->high));
    return object;
}

static json_t *rows_json(const struct pm_structure *structure,
                         const struct pm_validation_table *table) {
    json_t *array = json_array();
    for (size_t r = 0; r < table->n_rows; r++) {
        const struct pm_scope *scope = &structure->scopes[table->rows[r].scope];
        json_t *object = json_object();
        json_object_set_new(object, "label", pm_json_text(table->rows[r].label));
        json_object_set_new(object, "kind", json_string(pm_scope_kind_word(scope->kind)));
        json_object_set_new(object, "depth", json_integer(scope->depth));
        json_object_set_new(object, "file", pm_json_text(scope->file));
        json_object_set_new(object, "line_first", pm_json_line_number(scope->line_first));
        json_object_set_new(object, "key", pm_json_hex(scope->key));
        json_object_set_new(object, "module",
                            pm_json_text(pm_scope_module(structure, table->rows[r].scope)));
        json_array_append_new(array, object);
    }
    return array;
}

static void set_pair(json_t *object, struct pm_pair pair) {
    json_object_set_new(object, "predicted", pm_json_number(pair.predicted));
    json_object_set_new(object, "measured", pm_json_number(pair.measured));
    json_object_set_new(object, "error", pm_json_number(pm_pair_error(pair)));
    json_object_set_new(object, "low", pm_json_number(pair.low));
    json_object_set_new(object, "high", pm_json_number(pair.high));
}

static json_t *errors_json(struct pm_errors errors) {
    json_t *object = json_object();
    json_object_set_new(object, "n", pm_json_integer(errors.n));
    json_object_set_new(object, "median", pm_json_number(errors.median));
    json_object_set_new(object, "worst", pm_json_number(errors.worst));
    return object;
}

static json_t *number_unless_0(double value) {
    return value > 0 ? pm_json_number(value) : json_null();
}

static json_t *comparison_json(const struct pm_validation *size,
                               const struct pm_validation_table *table, size_t c) {
    const struct pm_validation_column *column = &table->columns[c];
    json_t *object = json_object(), *rows = json_array();
    json_object_set_new(object, "quantity", json_string(pm_quantity_word(column->quantity)));
    json_object_set_new(object, "block_bytes", number_unless_0((double)column->block_bytes));
    json_object_set_new(object, "cache_blocks", number_unless_0(column->cache_blocks));
    json_object_set_new(object, "machine",
                        column->quantity == PM_QUANTITY_SECONDS
                            ? pm_json_text(size->predicted_times[column->machine]->machine_name)
                            : json_null());
    set_pair(object, pm_validation_pair(table, 0, c));
    json_object_set_new(object, "loops", errors_json(column->loops));
    for (size_t r = 1; r < table->n_rows; r++) {
        json_t *row = json_object();
        json_object_set_new(row, "row", pm_json_integer(r));
        set_pair(row, pm_validation_pair(table, r, c));
        json_object_set_new(row, "large", json_boolean(pm_validation_is_large(table, r, c)));
        json_array_append_new(rows, row);
    }
    json_object_set_new(object, "rows", rows);
    return object;
}

static json_t *summary_json(const struct pm_validation_table *table, enum pm_quantity quantity,
                            uint64_t block_bytes) {
    json_t *object = json_object();
    json_object_set_new(object, "quantity", json_string(pm_quantity_word(quantity)));
    json_object_set_new(object, "block_bytes", number_unless_0((double)block_bytes));
    json_object_set_new(object, "program",
                        errors_json(pm_validation_program_errors(table, quantity, block_bytes)));
    json_object_set_new(object, "loops",
                        errors_json(pm_validation_loop_errors(table, quantity, block_bytes)));
    return object;
}

static json_t *coverage_json(const struct pm_coverage *coverage, const char *quantity) {
    json_t *object = json_object(), *levels = json_array();
    json_object_set_new(object, "quantity", json_string(quantity));
    json_object_set_new(object, "exact", pm_json_integer(coverage->exact));
    json_object_set_new(object, "exact_right", pm_json_integer(coverage->exact_right));
    json_object_set_new(object, "unknown", pm_json_integer(coverage->unknown));
    json_object_set_new(object, "models", pm_json_integer(coverage->n));
    for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++) {
        json_t *level = json_object();
        json_object_set_new(level, "level", pm_json_number(pm_coverage_levels[l]));
        json_object_set_new(level, "inside", pm_json_integer(coverage->inside[l]));
        json_array_append_new(levels, level);
    }
    json_object_set_new(object, "levels", levels);
    return object;
}

static json_t *coverages_json(const struct pm_coverage *coverage) {
    json_t *array = json_array();
    for (size_t q = 0; q < PM_N_COVERAGES; q++)
        json_array_append_new(array, coverage_json(&coverage[q], pm_coverage_word(q)));
    return array;
}

static json_t *size_json(const struct pm_validation_report *report, size_t i) {
    const struct pm_validation *size = &report->sizes[i];
    const struct pm_validation_table *table = report->tables[i];
    json_t *object = json_object(), *blocks = json_object(), *summaries = json_array();
    json_t *comparisons = json_array();
    json_object_set_new(blocks, "executed", pm_json_integer(table->n_blocks_executed));
    json_object_set_new(blocks, "exact", pm_json_integer(table->n_blocks_exact));
    if (report->caches->n_block_sizes)
        json_array_append_new(summaries, summary_json(table, PM_QUANTITY_ACCESSES, 0));
    for (size_t b = 0; b < report->caches->n_block_sizes; b++) {
        uint64_t block_bytes = report->caches->block_sizes[b];
        json_array_append_new(summaries, summary_json(table, PM_QUANTITY_MISSES, block_bytes));
    }
    for (size_t c = 0; c < table->n_columns; c++)
        json_array_append_new(comparisons, comparison_json(size, table, c));
    json_object_set_new(object, "parameters", pm_json_parameters(&size->measured->parameters));
    json_object_set_new(object, "extrapolation", pm_json_number(size->predicted->extrapolation));
    json_object_set_new(object, "models_relative_error",
                        pm_json_number(size->predicted->relative_error));
    json_object_set_new(object, "level", size->low ? pm_json_number(size->level) : json_null());
    json_object_set_new(object, "least_share", pm_json_number(table->least_share));
    json_object_set_new(object, "basic_blocks", blocks);
    json_object_set_new(object, "summaries", summaries);
    json_object_set_new(object, "intervals", coverages_json(report->coverage + i * PM_N_COVERAGES));
    json_object_set_new(object, "rows", rows_json(report->structure, table));
    json_object_set_new(object, "comparisons", comparisons);
    return object;
}

void pm_write_validations_json(FILE *out, const struct pm_validation_report *report) {
    json_t *document = pm_json_document("validation"), *sizes = json_array();
    json_object_set_new(document, "program", pm_json_text(pm_program_name(report->structure)));
    json_object_set_new(document, "models", models_json(report->models));
    for (size_t i = 0; i < report->n_sizes; i++)
        json_array_append_new(sizes, size_json(report, i));
    json_object_set_new(document, "sizes", sizes);
    pm_json_print(out, document);
}
