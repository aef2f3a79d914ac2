/* `pmodel fit --format json`: {"format": "pmodel-models", "version": 1, program, runs, parameters,
   summary, "models": […] where asked for}.  Errors are fractions of 1; unknown is null. */
#include "report/models/models.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static json_t *range_json(const struct pm_model_set *models) {
    json_t *object = json_object();
    for (size_t i = 0; i < models->low.n; i++) {
        double high = models->low.values[i];
        pm_parameters_get(&models->high, models->low.names[i], &high);
        json_t *range = json_object();
        json_object_set_new(range, "low", pm_json_number(models->low.values[i]));
        json_object_set_new(range, "high", pm_json_number(high));
        json_object_set_new(object, models->low.names[i], range);
    }
    return object;
}

static json_t *divergent_json(const struct pm_fit_statistics *statistics) {
    json_t *array = json_array();
    for (size_t i = 0; i < statistics->n_divergent; i++) {
        const struct pm_divergent_size *size = &statistics->divergent[i];
        json_t *object = json_object();
        json_object_set_new(object, "parameters", pm_json_parameters(&size->parameters));
        json_object_set_new(object, "block_bytes", pm_json_integer(size->block_bytes));
        json_object_set_new(object, "groups", pm_json_integer(size->n_groups));
        json_object_set_new(object, "of_groups", pm_json_integer(size->of_groups));
        json_object_set_new(object, "share", pm_json_number(size->share));
        json_object_set_new(object, "difference", pm_json_number(size->difference));
        json_object_set_new(object, "dropped", json_boolean(statistics->divergent_dropped));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *summary_json(const struct pm_fit_statistics *statistics) {
    json_t *object = json_object();
    json_object_set_new(object, "models", pm_json_integer(statistics->n_models));
    json_object_set_new(object, "exact", pm_json_integer(statistics->n_exact));
    json_object_set_new(object, "constant", pm_json_integer(statistics->n_constant));
    json_object_set_new(object, "flagged", pm_json_integer(statistics->n_flagged));
    json_object_set_new(object, "histograms", pm_json_integer(statistics->n_histograms));
    json_object_set_new(object, "bins", pm_json_integer(statistics->n_bins));
    json_t *left_out = json_array();
    for (size_t i = 0; i < statistics->n_left_out; i++)
        json_array_append_new(left_out, json_integer((json_int_t)statistics->left_out[i]));
    json_object_set_new(object, "block_bytes_left_out", left_out);
    json_t *notes = json_array();
    for (size_t i = 0; i < statistics->n_notes; i++)
        json_array_append_new(notes, pm_json_text(statistics->notes[i]));
    json_object_set_new(object, "notes", notes);
    json_object_set_new(object, "divergent_sizes", divergent_json(statistics));
    json_object_set_new(object, "seconds", pm_json_number(statistics->seconds));
    return object;
}

static json_t *optional(uint32_t index) {
    return index == PM_NONE ? json_null() : json_integer(index);
}

/* Where the quantity lies at a size beyond those measured. */
static json_t *interval_json(const struct pm_model_rows *rows, const struct pm_model_row *row) {
    json_t *object = json_object();
    json_object_set_new(object, "parameters", pm_json_parameters(&rows->at));
    json_object_set_new(object, "value", pm_json_number(row->value));
    json_object_set_new(object, "low", pm_json_number(row->low));
    json_object_set_new(object, "high", pm_json_number(row->high));
    json_object_set_new(object, "level", pm_json_number(rows->level));
    return object;
}

static json_t *row_json(const struct pm_structure *structure, const struct pm_model_rows *rows,
                        const struct pm_model_row *row) {
    const struct pm_scope *scope = &structure->scopes[row->scope];
    json_t *object = json_object();
    json_object_set_new(object, "quantity", json_string(pm_model_target_word(row->target)));
    json_object_set_new(object, "label", pm_json_text(row->label));
    json_object_set_new(object, "file", pm_json_text(scope->file));
    json_object_set_new(object, "line_first", pm_json_line_number(scope->line_first));
    json_object_set_new(object, "key", pm_json_hex(scope->key));
    json_object_set_new(object, "module", pm_json_text(pm_scope_module(structure, row->scope)));
    json_object_set_new(object, row->target == PM_MODEL_OF_EDGE ? "edge" : "group",
                        optional(row->index));
    json_object_set_new(object, "bin", optional(row->bin));
    json_object_set_new(object, "block_bytes",
                        row->block_bytes ? pm_json_integer(row->block_bytes) : json_null());
    json_object_set_new(object, "description", pm_json_text(row->what));
    json_object_set_new(object, "formula", pm_json_text(row->formula));
    json_object_set_new(object, "relative_error", pm_json_number(row->relative_error));
    json_object_set_new(object, "leave_one_out_error", pm_json_number(row->leave_one_out_error));
    json_object_set_new(object, "exact", json_boolean(row->exact));
    json_object_set_new(object, "flagged", json_boolean(row->flagged));
    json_object_set_new(object, "interval", interval_json(rows, row));
    return object;
}

void pm_write_models_json(FILE *out, const struct pm_models_report *report) {
    json_t *document = pm_json_document("models");
    json_object_set_new(document, "program", pm_json_text(pm_program_name(report->structure)));
    json_object_set_new(document, "runs", pm_json_integer(report->models->n_runs));
    json_object_set_new(document, "parameters", range_json(report->models));
    json_object_set_new(document, "summary", summary_json(report->statistics));
    if (report->rows) {
        json_t *models = json_array();
        for (size_t i = 0; i < report->rows->n_rows; i++)
            json_array_append_new(
                models, row_json(report->structure, report->rows, &report->rows->rows[i]));
        json_object_set_new(document, "models", models);
    }
    pm_json_print(out, document);
}
