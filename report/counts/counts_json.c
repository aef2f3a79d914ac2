/* `pmodel model --format json`: {"format": "pmodel-model", "version": 1, program, level, runs:
   sizes, at, "rows": [{scope or edge, class, count, share, measured: one for each run, model,
   sum}]}. Errors are fractions of 1; unknown is null. */
#include <math.h>

#include "report/counts/counts.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static json_t *terms_json(const struct pm_basis *basis, const struct pm_model *model) {
    json_t *array = json_array();
    for (size_t i = 0; i < model->n_terms; i++) {
        json_t *term = json_object();
        json_object_set_new(term, "function", pm_json_text(basis->texts[model->terms[i]]));
        json_object_set_new(term, "coefficient", pm_json_number(model->coefficients[i]));
        json_array_append_new(array, term);
    }
    return array;
}

static void set_edge(json_t *object, const struct pm_structure *structure, uint32_t index) {
    const struct pm_edge *edge = &structure->edges[index];
    const struct pm_block *from =
        edge->from < structure->n_blocks ? &structure->blocks[edge->from] : NULL;
    const struct pm_block *to =
        edge->to < structure->n_blocks ? &structure->blocks[edge->to] : NULL;
    json_object_set_new(object, "edge", pm_json_integer(index));
    json_object_set_new(object, "edge_kind", json_string(pm_edge_word(edge->kind)));
    json_object_set_new(object, "from_address", from ? pm_json_hex(from->address) : json_null());
    json_object_set_new(object, "from_line", pm_json_line_number(from ? from->line : 0));
    json_object_set_new(object, "to_address", to ? pm_json_hex(to->address) : json_null());
    json_object_set_new(object, "to_line", pm_json_line_number(to ? to->line : 0));
}

static json_t *row_json(const struct pm_counts *counts, const struct pm_count_row *row) {
    const struct pm_scope *scope = &counts->structure->scopes[row->scope];
    json_t *object = json_object(), *measured = json_array();
    json_object_set_new(object, "label", pm_json_text(row->label));
    json_object_set_new(object, "name", pm_json_text(pm_code_name(counts->structure, row->scope)));
    json_object_set_new(object, "kind", json_string(pm_scope_kind_word(scope->kind)));
    json_object_set_new(object, "file", pm_json_text(scope->file));
    json_object_set_new(object, "line_first", pm_json_line_number(scope->line_first));
    json_object_set_new(object, "key", pm_json_hex(scope->key));
    json_object_set_new(object, "module",
                        pm_json_text(pm_scope_module(counts->structure, row->scope)));
    if (row->edge != PM_NONE)
        set_edge(object, counts->structure, row->edge);
    else
        json_object_set_new(
            object, "class",
            json_string(pm_count_class_name(&counts->classes.classes[row->class_index])));
    for (size_t k = 0; k < counts->n_runs; k++)
        json_array_append_new(measured, pm_json_number(row->measured[k]));
    json_object_set_new(object, "measured", measured);
    json_object_set_new(object, "count", pm_json_number(row->count));
    json_object_set_new(object, "low_80", pm_json_number(row->low));
    json_object_set_new(object, "high_80", pm_json_number(row->high));
    json_object_set_new(object, "share", pm_json_number(row->share));
    json_object_set_new(object, "formula", pm_json_text(row->formula));
    json_object_set_new(object, "terms", terms_json(counts->basis, row->model));
    json_object_set_new(object, "relative_error", pm_json_number(row->model->relative_error));
    json_object_set_new(object, "leave_one_out_error",
                        pm_json_number(row->model->leave_one_out_error));
    json_object_set_new(object, "exact", json_boolean(row->model->exact));
    json_object_set_new(object, "sum_formula", pm_json_text(row->sum_formula));
    json_object_set_new(object, "sum_relative_error", pm_json_number(row->sum_error));
    return object;
}

void pm_write_counts_json(FILE *out, const struct pm_counts *counts) {
    const struct pm_counts_request *request = counts->request;
    json_t *document = pm_json_document("model"), *runs = json_array(), *rows = json_array();
    for (size_t k = 0; k < counts->n_runs; k++)
        json_array_append_new(runs, pm_json_parameters(&counts->runs[k]));
    for (size_t i = 0; i < counts->n_rows; i++)
        json_array_append_new(rows, row_json(counts, &counts->rows[i]));
    json_object_set_new(document, "program", pm_json_text(pm_program_name(counts->structure)));
    json_object_set_new(document, "level",
                        json_string(request->edges ? "edge" : pm_mix_level_word(request->level)));
    json_object_set_new(document, "elements", json_boolean(request->elements));
    json_object_set_new(document, "interval", pm_json_text(request->interval));
    json_object_set_new(document, "runs", runs);
    json_object_set_new(document, "at", pm_json_parameters(&counts->at));
    json_object_set_new(document, "predicted", json_boolean(counts->predicted));
    json_object_set_new(document, "rows", rows);
    json_object_set_new(document, "rows_below_threshold", pm_json_integer(counts->n_left_out));
    json_object_set_new(document, "routines_not_counted", pm_json_integer(counts->n_not_counted));
    json_object_set_new(document, "scopes_unmatched", pm_json_integer(counts->n_unmatched));
    pm_json_print(out, document);
}
