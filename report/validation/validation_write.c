/* `pmodel validate`: the fields of a comparison, and the report as JSON and CSV.  Needs the tables
   of fit/analysis/validation.c.

   JSON: {"format": "pmodel-validation", "version": 1, program, models, "sizes": [{parameters,
   "level": of the intervals, …, "summaries", "intervals": [{quantity, exact, exact_right, unknown,
   models, "levels": [{level, inside: of the models}]}], "rows": names, "comparisons": [{quantity,
   predicted, measured, error, low, high of the program, "rows": the same for each row}]}]}.  CSV: a
   line for each size, quantity and row.  Errors are fractions of 1; relative to nothing they are
   not known. */
#include <math.h>
#include <stdlib.h>

#include "report/validation/validation.h"

/* One quantity of one row at one size. */
struct comparison {
    const struct pm_validation_report *report;
    const struct pm_validation *size;
    const struct pm_validation_table *table;
    struct pm_validation_column column;
    struct pm_validation_row row;
    struct pm_pair pair;
    size_t row_index;
    bool large; /* the row is the program, or large */
};

static struct comparison compare(const struct pm_validation_report *report, size_t size, size_t row,
                                 size_t column) {
    const struct pm_validation_table *table = report->tables[size];
    return (struct comparison){
        .report = report,
        .size = &report->sizes[size],
        .table = table,
        .column = table->columns[column],
        .row = table->rows[row],
        .pair = pm_validation_pair(table, row, column),
        .row_index = row,
        .large = row == 0 || pm_validation_is_large(table, row, column),
    };
}

const char *pm_quantity_word(enum pm_quantity quantity) {
    static const char *const words[PM_N_QUANTITIES] = {"executions", "iterations", "accesses",
                                                       "misses", "seconds"};
    return words[quantity];
}

/* ---- declarations ---------------------------------------------------------------------------- */

PM_GETTER(pair_error, struct pm_pair, pm_number(pm_pair_error(*row)))

static const struct pm_field pair_fields[] = {
    {"predicted", PM_NUMBER, PM_MEMBER(struct pm_pair, predicted)},
    {"measured", PM_NUMBER, PM_MEMBER(struct pm_pair, measured)},
    {"error", PM_NUMBER, .get = pair_error},
    {"low", PM_NUMBER, PM_MEMBER(struct pm_pair, low)},
    {"high", PM_NUMBER, PM_MEMBER(struct pm_pair, high)},
};

static const char *machine_of(const struct comparison *row) {
    return row->column.quantity == PM_QUANTITY_SECONDS
               ? row->size->predicted_times[row->column.machine]->machine_name
               : NULL;
}

#define GETTER(name_, value_) PM_GETTER(name_, struct comparison, value_)
GETTER(comparison_parameters, pm_owned_text(pm_parameters_text(&row->size->measured->parameters)))
GETTER(comparison_quantity, pm_text(pm_quantity_word(row->column.quantity)))
GETTER(comparison_machine, pm_text(machine_of(row)))
GETTER(comparison_error, pm_number(pm_pair_error(row->pair)))
GETTER(comparison_level, pm_number(row->size->low ? row->size->level : NAN))

#define ROW(member_) PM_MEMBER(struct comparison, member_)
#define PLACE(get_) PM_PLACE(struct comparison, row.place, get_)
#define NOT_IN_JSON .not_in_json = true

static const struct pm_field comparison_fields[] = {
    {"quantity", PM_TEXT, .get = comparison_quantity},
    {"block_bytes", PM_POSITIVE, ROW(column.block_bytes)},
    {"cache_blocks", PM_POSITIVE, ROW(column.cache_blocks)},
    {"machine", PM_TEXT, .get = comparison_machine},
    {"predicted", PM_NUMBER, ROW(pair.predicted)},
    {"measured", PM_NUMBER, ROW(pair.measured)},
    {"error", PM_NUMBER, .get = comparison_error},
    {"low", PM_NUMBER, ROW(pair.low)},
    {"high", PM_NUMBER, ROW(pair.high)},
    {"program", PM_TEXT, PLACE(program), NOT_IN_JSON},
    {"parameters", PM_TEXT, .get = comparison_parameters, NOT_IN_JSON},
    {"large", PM_YES_NO, ROW(large), NOT_IN_JSON},
    {"kind", PM_TEXT, PLACE(kind), NOT_IN_JSON},
    {"depth", PM_INTEGER, PLACE(depth), NOT_IN_JSON},
    {"label", PM_TEXT, PLACE(label), NOT_IN_JSON},
    {"file", PM_TEXT, PLACE(file), NOT_IN_JSON},
    {"line", PM_POSITIVE, PLACE(line_first), NOT_IN_JSON},
    {"key", PM_HEX, PLACE(key), NOT_IN_JSON},
    {"module", PM_TEXT, PLACE(module), NOT_IN_JSON},
    {"level", PM_NUMBER, .get = comparison_level, NOT_IN_JSON},
};
#undef PLACE

#define PLACE(get_) PM_PLACE(struct pm_validation_row, place, get_)
static const struct pm_field row_fields[] = {
    {"label", PM_TEXT, PLACE(label)},
    {"kind", PM_TEXT, PLACE(kind)},
    {"depth", PM_INTEGER, PLACE(depth)},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"key", PM_HEX, PLACE(key)},
    {"module", PM_TEXT, PLACE(module)},
};

static struct pm_field_value coverage_levels(const void *at) {
    const struct pm_coverage *coverage = at;
    json_t *array = json_array();
    for (size_t l = 0; l < PM_N_COVERAGE_LEVELS; l++) {
        json_t *level = json_object();
        json_object_set_new(level, "level", pm_json_number(pm_coverage_levels[l]));
        json_object_set_new(level, "inside", pm_json_integer(coverage->inside[l]));
        json_array_append_new(array, level);
    }
    return pm_json_value(array);
}

static const struct pm_field coverage_fields[] = {
    {"exact", PM_INTEGER, PM_MEMBER(struct pm_coverage, exact)},
    {"exact_right", PM_INTEGER, PM_MEMBER(struct pm_coverage, exact_right)},
    {"unknown", PM_INTEGER, PM_MEMBER(struct pm_coverage, unknown)},
    {"models", PM_INTEGER, PM_MEMBER(struct pm_coverage, n)},
    {"levels", PM_JSON_ONLY, .get = coverage_levels},
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *models_json(const struct pm_model_set *models) {
    json_t *object = json_object();
    json_object_set_new(object, "runs", pm_json_integer(models->n_runs));
    json_object_set_new(object, "low", pm_json_parameters(&models->low));
    json_object_set_new(object, "high", pm_json_parameters(&models->high));
    return object;
}

static json_t *errors_json(struct pm_errors errors) {
    json_t *object = json_object();
    json_object_set_new(object, "n", pm_json_integer(errors.n));
    json_object_set_new(object, "median", pm_json_number(errors.median));
    json_object_set_new(object, "worst", pm_json_number(errors.worst));
    return object;
}

static json_t *comparison_json(const struct pm_validation_report *report, size_t size, size_t c) {
    const struct pm_validation_table *table = report->tables[size];
    struct comparison whole = compare(report, size, 0, c);
    json_t *object = PM_JSON_OBJECT(comparison_fields, &whole), *rows = json_array();
    json_object_set_new(object, "loops", errors_json(whole.column.loops));
    for (size_t r = 1; r < table->n_rows; r++) {
        struct comparison one = compare(report, size, r, c);
        json_t *row = json_object();
        json_object_set_new(row, "row", pm_json_integer(r));
        pm_fields_set(row, PM_FIELDS(pair_fields), &one.pair);
        json_object_set_new(row, "large", json_boolean(one.large));
        json_array_append_new(rows, row);
    }
    json_object_set_new(object, "rows", rows);
    return object;
}

static json_t *summary_json(const struct pm_validation_table *table, enum pm_quantity quantity,
                            uint64_t block_bytes) {
    json_t *object = json_object();
    json_object_set_new(object, "quantity", json_string(pm_quantity_word(quantity)));
    json_object_set_new(object, "block_bytes",
                        block_bytes ? pm_json_integer(block_bytes) : json_null());
    json_object_set_new(object, "program",
                        errors_json(pm_validation_program_errors(table, quantity, block_bytes)));
    json_object_set_new(object, "loops",
                        errors_json(pm_validation_loop_errors(table, quantity, block_bytes)));
    return object;
}

static json_t *coverage_json(const struct pm_coverage *coverage,
                             enum pm_coverage_quantity quantity) {
    json_t *object = json_object();
    json_object_set_new(object, "quantity", json_string(pm_coverage_word(quantity)));
    pm_fields_set(object, PM_FIELDS(coverage_fields), coverage);
    return object;
}

static json_t *coverages_json(const struct pm_coverage *coverage) {
    json_t *array = json_array();
    for (size_t q = 0; q < PM_N_COVERAGES; q++)
        json_array_append_new(array, coverage_json(&coverage[q], q));
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
        json_array_append_new(comparisons, comparison_json(report, i, c));
    json_object_set_new(object, "parameters", pm_json_parameters(&size->measured->parameters));
    json_object_set_new(object, "extrapolation", pm_json_number(size->predicted->extrapolation));
    json_object_set_new(object, "models_relative_error",
                        pm_json_number(size->predicted->relative_error));
    json_object_set_new(object, "level", size->low ? pm_json_number(size->level) : json_null());
    json_object_set_new(object, "least_share", pm_json_number(table->least_share));
    json_object_set_new(object, "basic_blocks", blocks);
    json_object_set_new(object, "summaries", summaries);
    json_object_set_new(object, "intervals", coverages_json(report->coverage + i * PM_N_COVERAGES));
    json_object_set_new(
        object, "rows",
        pm_fields_array(PM_FIELDS(row_fields), table->rows, table->n_rows, sizeof *table->rows));
    json_object_set_new(object, "comparisons", comparisons);
    return object;
}

static void write_json(FILE *out, const struct pm_validation_report *report,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("validation", report->structure), *sizes = json_array();
    pm_json_set_warnings(document, options);
    json_object_set_new(document, "models", models_json(report->models));
    for (size_t i = 0; i < report->n_sizes; i++)
        json_array_append_new(sizes, size_json(report, i));
    json_object_set_new(document, "sizes", sizes);
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv(FILE *out, const struct pm_validation_report *report) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(comparison_fields),
                     "program parameters quantity block_bytes cache_blocks machine predicted "
                     "measured error large kind depth label file line key module low high level");
    for (size_t size = 0; size < report->n_sizes; size++)
        for (size_t c = 0; c < report->tables[size]->n_columns; c++)
            for (size_t r = 0; r < report->tables[size]->n_rows; r++) {
                struct comparison row = compare(report, size, r, c);
                pm_csv_line(&lines, &row);
            }
    pm_csv_end(&lines);
}

void pm_report_validations(FILE *out, const struct pm_structure *structure,
                           const struct pm_model_set *models,
                           const struct pm_validation_caches *caches,
                           const struct pm_validation *sizes, size_t n_sizes,
                           const struct pm_report_options *options) {
    struct pm_validation_table **tables = pm_alloc(n_sizes, sizeof *tables);
    struct pm_coverage *coverage = pm_alloc(n_sizes * PM_N_COVERAGES, sizeof *coverage);
    for (size_t i = 0; i < n_sizes; i++) {
        tables[i] =
            pm_validation_table_new(structure, caches, &sizes[i], options->min_percent / 100);
        pm_coverage_count(structure, models, sizes[i].measured, caches,
                          coverage + i * PM_N_COVERAGES);
    }
    struct pm_validation_report report = {structure, models,   caches, sizes,
                                          tables,    coverage, n_sizes};
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, pm_write_validations_table(out, &report, options),
                 write_json(out, &report, options), write_csv(out, &report));
    for (size_t i = 0; i < n_sizes; i++)
        pm_validation_table_free(tables[i]);
    free(coverage);
    free(tables);
}
