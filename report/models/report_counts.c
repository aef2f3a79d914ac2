/* `pmodel report --as formulas`: the fields of a row, and the report as a table, JSON and CSV.
   Needs the rows of fit/analysis/analysis_counts.c.  JSON: {"format": "pmodel-model", "version": 1,
   program, level, runs: sizes, at, "rows":
   [{scope or edge, class, count, share, measured: one for each run, model, sum}]}.  Errors are
   fractions of 1. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/loops/loops.h"
#include "report/report.h"

/* ---- edges ----------------------------------------------------------------------------------- */

static bool is_of_edge(const void *row) {
    return ((const struct pm_count_row *)row)->edge != PM_NONE;
}
static bool is_class(const void *row) { return !is_of_edge(row); }

static const struct pm_edge *edge_of(const struct pm_count_row *row) {
    return is_of_edge(row) ? &row->place.structure->edges[row->edge] : NULL;
}

/* The basic block at one end of the row's edge; NULL: outside the routine. */
static const struct pm_block *block_at(const struct pm_count_row *row, bool to) {
    const struct pm_structure *structure = row->place.structure;
    uint32_t block = to ? edge_of(row)->to : edge_of(row)->from;
    return block < structure->n_blocks ? &structure->blocks[block] : NULL;
}

static struct pm_field_value address(const struct pm_block *block) {
    return block ? pm_integer(block->address) : pm_unknown();
}

/* "0x401136 :12", or OUTSIDE. */
static struct pm_field_value end_text(const struct pm_count_row *row, bool to,
                                      const char *outside) {
    const struct pm_block *block = is_of_edge(row) ? block_at(row, to) : NULL;
    if (!block)
        return pm_text(is_of_edge(row) ? outside : NULL);
    return pm_owned_text(block->line ? pm_sprintf("0x%" PRIx64 " :%u", block->address, block->line)
                                     : pm_sprintf("0x%" PRIx64, block->address));
}

static const char *edge_word(uint8_t kind) {
    static const char *const words[] = {
        [PM_EDGE_ENTRY] = "entry",
        [PM_EDGE_FALLTHROUGH] = "fallthrough",
        [PM_EDGE_TAKEN] = "taken",
        [PM_EDGE_TABLE] = "table",
        [PM_EDGE_EXIT] = "exit",
        [PM_EDGE_NO_RETURN] = "no-return",
        [PM_EDGE_INDIRECT_ENTRY] = "indirect-entry",
    };
    return kind < sizeof words / sizeof words[0] ? words[kind] : "?";
}

/* ---- other values ---------------------------------------------------------------------------- */

static struct pm_field_value terms(const struct pm_basis *basis, const struct pm_model *model) {
    json_t *array = json_array();
    for (size_t i = 0; i < model->n_terms; i++) {
        json_t *term = json_object();
        json_object_set_new(term, "function", pm_json_text(basis->texts[model->terms[i]]));
        json_object_set_new(term, "coefficient", pm_json_number(model->coefficients[i]));
        json_array_append_new(array, term);
    }
    return pm_json_value(array);
}

static struct pm_field_value numbers(const double *values, size_t n) {
    json_t *array = json_array();
    for (size_t k = 0; k < n; k++)
        json_array_append_new(array, pm_json_number(values[k]));
    return pm_json_value(array);
}

static struct pm_field_value error_text(double error, bool exact) {
    if (exact || isnan(error) || isinf(error))
        return pm_text(exact ? "exact" : isnan(error) ? "?" : "inf");
    return pm_percent_value(error);
}

/* "1.20M to 1.31M"; empty for an exact model. */
static struct pm_field_value count_interval(double low, double high) {
    if (low == high || isnan(low))
        return pm_text(isnan(low) ? "?" : "");
    char *text = pm_sprintf("%s to ", pm_count_text(low).text);
    pm_append(&text, "%s", isinf(high) ? "?" : pm_count_text(high).text);
    return pm_owned_text(text);
}

static const char *class_name(const struct pm_count_row *row) {
    return is_of_edge(row) ? NULL
                           : pm_count_class_name(&row->counts->classes.classes[row->class_index]);
}

/* ---- the fields of a row --------------------------------------------------------------------- */

/* Rows of loops have all that is folded into them. */
static struct pm_field_value label(const struct pm_count_row *row) {
    const struct pm_counts_request *request = row->counts->request;
    return request->level == PM_MIX_LOOP || request->edges ? pm_place_label_folded(&row->place)
                                                           : pm_place_label(&row->place);
}

PM_GETTER(row_label, struct pm_count_row, label(row))
PM_GETTER(row_class, struct pm_count_row, pm_text(class_name(row)))
PM_GETTER(row_edge_kind, struct pm_count_row, pm_text(edge_word(edge_of(row)->kind)))
PM_GETTER(row_from_address, struct pm_count_row, address(block_at(row, false)))
PM_GETTER(row_to_address, struct pm_count_row, address(block_at(row, true)))
PM_GETTER(row_from_line, struct pm_count_row,
          pm_integer(block_at(row, false) ? block_at(row, false)->line : 0))
PM_GETTER(row_to_line, struct pm_count_row,
          pm_integer(block_at(row, true) ? block_at(row, true)->line : 0))
PM_GETTER(row_from, struct pm_count_row, end_text(row, false, "entry"))
PM_GETTER(row_to, struct pm_count_row, end_text(row, true, "exit"))
PM_GETTER(row_measured, struct pm_count_row, numbers(row->measured, row->counts->n_runs))
PM_GETTER(row_terms, struct pm_count_row, terms(row->counts->basis, row->model))
PM_GETTER(row_error, struct pm_count_row, pm_number(row->model->relative_error))
PM_GETTER(row_left_out, struct pm_count_row, pm_number(row->model->leave_one_out_error))
PM_GETTER(row_exact, struct pm_count_row, pm_integer(row->model->exact))
PM_GETTER(error_cell, struct pm_count_row,
          error_text(row->model->relative_error, row->model->exact))
PM_GETTER(left_out_cell, struct pm_count_row, error_text(row->model->leave_one_out_error, false))
PM_GETTER(sum_error_cell, struct pm_count_row,
          error_text(row->sum_error, row->sum_error < pm_heuristics.rounding))
PM_GETTER(interval_cell, struct pm_count_row, count_interval(row->low, row->high))

#define ROW(member_) PM_MEMBER(struct pm_count_row, member_)
#define PLACE(get_) PM_PLACE(struct pm_count_row, place, get_)
#define NOT_IN_JSON .not_in_json = true

static const struct pm_field fields[] = {
    {"label", PM_NAME, .get = row_label, .header = "ROUTINE / LOOP"},
    {"name", PM_TEXT, PLACE(name)},
    {"kind", PM_TEXT, PLACE(kind)},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"key", PM_HEX, PLACE(key)},
    {"module", PM_TEXT, PLACE(module)},
    {"edge", PM_INDEX, ROW(edge), .json_when = is_of_edge},
    {"edge_kind", PM_TEXT, .get = row_edge_kind, .json_when = is_of_edge, .header = "KIND",
     .dispensable = 1},
    {"from_address", PM_HEX, .get = row_from_address, .json_when = is_of_edge},
    {"from_line", PM_POSITIVE, .get = row_from_line, .json_when = is_of_edge},
    {"to_address", PM_HEX, .get = row_to_address, .json_when = is_of_edge},
    {"to_line", PM_POSITIVE, .get = row_to_line, .json_when = is_of_edge},
    {"class", PM_TEXT, .get = row_class, .json_when = is_class, .header = "CLASS"},
    {"measured", PM_JSON_ONLY, .get = row_measured},
    {"count", PM_COUNT, ROW(count), .header = "COUNT"},
    {"low_80", PM_COUNT, ROW(low)},
    {"high_80", PM_COUNT, ROW(high)},
    {"share", PM_PERCENT, ROW(share), .header = "%"},
    {"formula", PM_TEXT, ROW(formula), .header = "MODEL"},
    {"terms", PM_JSON_ONLY, .get = row_terms},
    {"relative_error", PM_PERCENT, .get = row_error, .header = "ERROR", .cell = error_cell,
     .dispensable = 2},
    {"leave_one_out_error", PM_PERCENT, .get = row_left_out, .header = "LEFT OUT",
     .cell = left_out_cell, .dispensable = 3},
    {"exact", PM_YES_NO, .get = row_exact},
    {"sum_formula", PM_TEXT, ROW(sum_formula)},
    {"sum_relative_error", PM_PERCENT, ROW(sum_error), .header = "OF SUM", .cell = sum_error_cell,
     .dispensable = 4},
    {"program", PM_TEXT, PLACE(program), NOT_IN_JSON},
    {"source", PM_NAME, PLACE(source), NOT_IN_JSON, .header = "SOURCE", .dispensable = 5},
    {"from", PM_TEXT, .get = row_from, NOT_IN_JSON, .header = "FROM"},
    {"to", PM_TEXT, .get = row_to, NOT_IN_JSON, .header = "TO"},
    {"interval", PM_TEXT, .cell = interval_cell, NOT_IN_JSON, .header = "80% IN", .dispensable = 1},
};

/* ---- table ----------------------------------------------------------------------------------- */

static void print_title(FILE *out, const struct pm_class_counts *counts,
                        const struct pm_report_options *options) {
    const struct pm_counts_request *request = counts->request;
    char *at = pm_parameters_text(&counts->at);
    pm_print_title(out, options, "%s: %s%s%s, models of %zu runs",
                   pm_program_name(counts->structure),
                   request->edges ? "edges of the control flow" : "executed operations",
                   request->interval ? " for each call of " : "",
                   request->interval ? request->interval : "", counts->n_runs);
    fprintf(out, "counts and shares %s at %s\n", counts->predicted ? "predicted" : "measured", at);
    free(at);
}

static void write_table(FILE *out, const struct pm_class_counts *counts,
                        const struct pm_report_options *options) {
    const struct pm_counts_request *request = counts->request;
    char *names = pm_sprintf("label %s count%s share relative_error leave_one_out_error%s formula",
                             request->edges ? "from to edge_kind" : "source class",
                             counts->predicted ? " interval" : "",
                             request->edges || request->interval ? "" : " sum_relative_error");
    struct pm_fields columns = pm_fields_named(PM_FIELDS(fields), names);
    if (!request->edges)
        columns.fields[0].header = pm_mix_level_header(request->level);
    print_title(out, counts, options);
    pm_fields_table(out, columns, counts->rows, counts->n_rows, sizeof *counts->rows, options);
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
    free(columns.fields);
    free(names);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_json(FILE *out, const struct pm_class_counts *counts,
                       const struct pm_report_options *options) {
    const struct pm_counts_request *request = counts->request;
    json_t *document = pm_program_document("model", counts->structure), *runs = json_array();
    for (size_t k = 0; k < counts->n_runs; k++)
        json_array_append_new(runs, pm_json_parameters(&counts->runs[k]));
    pm_json_set_warnings(document, options);
    json_object_set_new(document, "level",
                        json_string(request->edges ? "edge" : pm_mix_level_word(request->level)));
    json_object_set_new(document, "elements", json_boolean(request->elements));
    json_object_set_new(document, "interval", pm_json_text(request->interval));
    json_object_set_new(document, "runs", runs);
    json_object_set_new(document, "at", pm_json_parameters(&counts->at));
    json_object_set_new(document, "predicted", json_boolean(counts->predicted));
    json_object_set_new(
        document, "rows",
        pm_fields_array(PM_FIELDS(fields), counts->rows, counts->n_rows, sizeof *counts->rows));
    json_object_set_new(document, "rows_below_threshold", pm_json_integer(counts->n_left_out));
    json_object_set_new(document, "routines_not_counted", pm_json_integer(counts->n_not_counted));
    json_object_set_new(document, "scopes_unmatched", pm_json_integer(counts->n_unmatched));
    pm_json_print(out, document);
}

bool pm_report_counts(FILE *out, const struct pm_structure *structure,
                      const struct pm_model_set *models, const struct pm_profile *const *profiles,
                      const struct pm_fit_options *fit_options,
                      const struct pm_counts_request *request,
                      const struct pm_report_options *options, struct pm_error *err) {
    struct pm_class_counts *counts =
        pm_class_counts_new(structure, models, profiles, fit_options, request, err);
    if (!counts)
        return false;
    pm_print_warnings(out, options);
    PM_BY_FORMAT(
        options, write_table(out, counts, options), write_json(out, counts, options),
        pm_fields_csv(out, PM_FIELDS(fields),
                      "program label kind file line_first key module from to class count low_80 "
                      "high_80 share formula relative_error leave_one_out_error exact sum_formula "
                      "sum_relative_error",
                      counts->rows, counts->n_rows, sizeof *counts->rows));
    pm_class_counts_free(counts);
    return true;
}
