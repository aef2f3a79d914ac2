/* `pmodel report --format json`: everything that the predictor found.  Needs the rows of rows.c.

   {"format": "pmodel-report", "version": 1, "predictions": [{program, parameters, machine, …,
   "rows": [as in the table, all of them], "scopes": [the scope tree, unfolded]}]}.  Times are in
   seconds, shares and errors fractions of 1, everything else counts or cycles; unknown is null. */
#include <math.h>
#include <string.h>

#include "report/predictions/predictions.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static json_t *levels_json(const struct pm_prediction *prediction, const double *values) {
    json_t *object = json_object();
    for (size_t level = 0; level < prediction->n_levels; level++)
        json_object_set_new(object, prediction->level_names[level], pm_json_number(values[level]));
    return object;
}

static json_t *cost_json(const struct pm_prediction *prediction, const struct pm_cost_sum *cost) {
    json_t *object = json_object();
    for (size_t i = 0; i < pm_n_cost_fields; i++)
        json_object_set_new(object, pm_cost_fields[i].name,
                            pm_json_number(pm_cost_value(cost, &pm_cost_fields[i])));
    json_object_set_new(object, "misses", levels_json(prediction, cost->level_misses));
    json_object_set_new(object, "miss_cycles", levels_json(prediction, cost->level_cycles));
    return object;
}

static json_t *keys_json(const struct pm_structure *structure, const uint32_t *scopes, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, pm_json_hex(structure->scopes[scopes[i]].key));
    return array;
}

static json_t *bound_json(const struct pm_prediction *prediction, const struct pm_row *row) {
    json_t *object = json_object();
    json_object_set_new(object, "text", pm_json_text(row->bound_label));
    json_object_set_new(object, "kind", json_string(pm_bound_kind_word(row->bound)));
    if (row->bound == PM_BOUND_UNIT && row->bound_unit < prediction->n_units)
        json_object_set_new(object, "unit", pm_json_text(prediction->unit_names[row->bound_unit]));
    if (row->bound == PM_BOUND_LEVEL && row->bound_level < prediction->n_levels)
        json_object_set_new(object, "level",
                            pm_json_text(prediction->level_names[row->bound_level]));
    return object;
}

/* One end of the row's interval; null: there is none. */
static json_t *end_json(const struct pm_prediction *prediction, const struct pm_rows *rows,
                        const struct pm_row *row, bool high) {
    if (!prediction->low || !prediction->high)
        return json_null();
    struct pm_row_end end = pm_row_end(prediction, rows, row, high);
    json_t *object = json_object();
    json_object_set_new(object, "self_seconds", pm_json_number(end.seconds));
    json_object_set_new(object, "iterations", pm_json_number(end.iterations));
    json_object_set_new(object, "misses", levels_json(prediction, end.level_misses));
    return object;
}

static json_t *row_json(const struct pm_structure *structure,
                        const struct pm_prediction *prediction, const struct pm_rows *rows,
                        const struct pm_row *row) {
    const struct pm_scope *scope = &structure->scopes[row->scope];
    json_t *object = json_object();
    json_object_set_new(object, "label", pm_json_text(row->label));
    json_object_set_new(object, "name", pm_json_text(pm_code_name(structure, row->scope)));
    json_object_set_new(object, "kind", json_string(pm_scope_kind_word(scope->kind)));
    json_object_set_new(object, "depth", json_integer(scope->depth));
    json_object_set_new(object, "file", pm_json_text(scope->file));
    json_object_set_new(object, "line_first", pm_json_line_number(row->line_first));
    json_object_set_new(object, "line_last", pm_json_line_number(row->line_last));
    json_object_set_new(object, "key", pm_json_hex(scope->key));
    json_object_set_new(object, "module", pm_json_text(pm_scope_module(structure, row->scope)));
    json_object_set_new(object, "member_keys",
                        keys_json(structure, rows->members + row->first_member, row->n_members));
    json_object_set_new(object, "counted", json_boolean(row->counted));
    if (!row->counted)
        return object; /* nothing more is known */
    json_object_set_new(object, "self_seconds", pm_json_number(row->seconds));
    json_object_set_new(object, "self_share", pm_json_number(row->share));
    json_object_set_new(object, "total_seconds", pm_json_number(row->total_seconds));
    json_object_set_new(object, "bound_by", bound_json(prediction, row));
    json_object_set_new(object, "entries", pm_json_number(row->entries));
    json_object_set_new(object, "iterations", pm_json_number(row->iterations));
    json_object_set_new(object, "resource_cycles_per_iteration",
                        pm_json_number(row->resource_cycles_per_iteration));
    json_object_set_new(object, "recurrence_cycles_per_iteration",
                        pm_json_number(row->recurrence_cycles_per_iteration));
    json_object_set_new(object, "misses_per_iteration",
                        levels_json(prediction, row->misses_per_iteration));
    json_object_set_new(object, "time_is_lower_bound", json_boolean(row->time_is_lower_bound));
    json_object_set_new(object, "misses_are_lower_bound",
                        json_boolean(row->misses_are_lower_bound));
    json_object_set_new(object, "self", cost_json(prediction, &row->self));
    json_object_set_new(object, "total", cost_json(prediction, &row->total));
    json_object_set_new(object, "low", end_json(prediction, rows, row, false));
    json_object_set_new(object, "high", end_json(prediction, rows, row, true));
    if (rows->times) {
        bool elsewhere = row->measured_in != PM_NONE;
        json_object_set_new(object, "measured_seconds", pm_json_number(row->measured_seconds));
        json_object_set_new(object, "measured_with_inner", json_boolean(row->measured_with_inner));
        json_object_set_new(object, "measured_in_key",
                            elsewhere ? pm_json_hex(structure->scopes[row->measured_in].key)
                                      : json_null());
    }
    return object;
}

/* What was measured at this size; null: nothing was.  Rows and `outside_seconds` add up to
   `seconds`. */
static json_t *measured_json(const struct pm_structure *structure, const struct pm_rows *rows) {
    const struct pm_times *times = rows->times;
    if (!times)
        return json_null();
    json_t *object = json_object(), *timers = json_array();
    json_object_set_new(object, "machine", pm_json_text(times->machine));
    json_object_set_new(object, "seconds", pm_json_number(rows->measured_seconds));
    json_object_set_new(object, "outside_seconds", pm_json_number(times->outside_seconds));
    json_object_set_new(object, "timers_own_seconds", pm_json_number(times->own_seconds));
    json_object_set_new(object, "cpu_seconds", pm_json_number(times->cpu_seconds));
    json_object_set_new(object, "plain_cpu_seconds", pm_json_number(times->plain_seconds));
    json_object_set_new(object, "over_plain", pm_json_number(times->over_plain));
    json_object_set_new(object, "repetitions", json_integer(times->repetitions));
    json_object_set_new(object, "notes", pm_json_text(times->notes));
    for (size_t i = 0; i < times->n_scopes; i++) {
        const struct pm_scope_time *time = &times->scopes[i];
        json_t *timer = json_object();
        json_object_set_new(timer, "scope", json_integer(time->scope));
        json_object_set_new(timer, "key", pm_json_hex(structure->scopes[time->scope].key));
        json_object_set_new(timer, "seconds", pm_json_number(time->seconds));
        json_object_set_new(timer, "entries", pm_json_number(time->entries));
        json_object_set_new(timer, "threads", json_integer(time->threads));
        json_array_append_new(timers, timer);
    }
    json_object_set_new(object, "timers", timers);
    return object;
}

static json_t *scope_json(const struct pm_structure *structure,
                          const struct pm_prediction *prediction, const struct pm_rows *rows,
                          uint32_t index) {
    const struct pm_scope *scope = &structure->scopes[index];
    const struct pm_scope_prediction *costs = &prediction->scopes[index];
    uint32_t row = rows->row_of_scope[index];
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(pm_scope_kind_word(scope->kind)));
    json_object_set_new(object, "name", pm_json_text(scope->name));
    json_object_set_new(object, "parent",
                        scope->parent == PM_NONE ? json_null() : json_integer(scope->parent));
    json_object_set_new(object, "row", row == PM_NONE ? json_null() : json_integer(row));
    json_object_set_new(object, "key", pm_json_hex(scope->key));
    json_object_set_new(object, "module", pm_json_text(pm_scope_module(structure, index)));
    json_object_set_new(object, "file", pm_json_text(scope->file));
    json_object_set_new(object, "line_first", pm_json_line_number(scope->line_first));
    json_object_set_new(object, "line_last", pm_json_line_number(scope->line_last));
    json_object_set_new(object, "entries", pm_json_number(costs->entries));
    json_object_set_new(object, "iterations", pm_json_number(costs->iterations));
    json_object_set_new(object, "self", cost_json(prediction, &costs->self));
    json_object_set_new(object, "total", cost_json(prediction, &costs->total));
    return object;
}

static json_t *machine_json(const struct pm_prediction *prediction) {
    json_t *object = json_object(), *levels = json_array(), *units = json_array();
    json_object_set_new(object, "name", pm_json_text(prediction->machine_name));
    json_object_set_new(object, "title", pm_json_text(prediction->machine_title));
    json_object_set_new(object, "clock_hz", pm_json_number(prediction->clock_hz));
    for (size_t i = 0; i < prediction->n_levels; i++) {
        json_t *level = json_object();
        json_object_set_new(level, "name", pm_json_text(prediction->level_names[i]));
        json_object_set_new(level, "kind",
                            json_string(pm_level_kind_word(prediction->level_kinds[i])));
        json_array_append_new(levels, level);
    }
    for (size_t i = 0; i < prediction->n_units; i++)
        json_array_append_new(units, pm_json_text(prediction->unit_names[i]));
    json_object_set_new(object, "levels", levels);
    json_object_set_new(object, "units", units);
    return object;
}

static json_t *prediction_json(const struct pm_structure *structure,
                               const struct pm_prediction *prediction, const struct pm_rows *rows) {
    json_t *object = json_object(), *row_array = json_array(), *scopes = json_array();
    json_t *notes = json_array();
    json_object_set_new(object, "program", pm_json_text(prediction->program));
    json_object_set_new(object, "parameters", pm_json_parameters(&prediction->parameters));
    json_object_set_new(object, "machine", machine_json(prediction));
    json_object_set_new(object, "seconds", pm_json_number(prediction->seconds));
    bool interval = prediction->low && prediction->high;
    json_object_set_new(object, "level",
                        interval ? pm_json_number(prediction->level) : json_null());
    json_object_set_new(object, "low_seconds",
                        interval
                            ? pm_json_number(fmin(prediction->low->seconds, prediction->seconds))
                            : json_null());
    json_object_set_new(object, "high_seconds",
                        interval
                            ? pm_json_number(fmax(prediction->high->seconds, prediction->seconds))
                            : json_null());
    json_object_set_new(object, "time_is_lower_bound", json_boolean(rows->time_is_lower_bound));
    json_object_set_new(object, "measured_at_this_size", json_boolean(!prediction->predicted));
    json_object_set_new(object, "measured_up_to", pm_json_text(prediction->measured_up_to));
    json_object_set_new(object, "extrapolation", pm_json_number(prediction->extrapolation));
    json_object_set_new(object, "models_relative_error",
                        pm_json_number(prediction->relative_error));
    json_object_set_new(object, "unattributed_seconds", pm_json_number(rows->unattributed_seconds));
    json_object_set_new(object, "measured", measured_json(structure, rows));
    for (size_t i = 0; i < prediction->n_notes; i++)
        json_array_append_new(notes, pm_json_text(prediction->notes[i]));
    for (size_t i = 0; i < rows->n_rows; i++)
        json_array_append_new(row_array, row_json(structure, prediction, rows, &rows->rows[i]));
    for (uint32_t i = 0; i < structure->n_scopes; i++)
        json_array_append_new(scopes, scope_json(structure, prediction, rows, i));
    json_object_set_new(object, "notes", notes);
    json_object_set_new(object, "rows", row_array);
    json_object_set_new(object, "scopes", scopes);
    return object;
}

void pm_write_predictions_json(FILE *out, const struct pm_structure *structure,
                               const struct pm_prediction *const *predictions,
                               struct pm_rows *const *rows, size_t n_predictions) {
    json_t *document = pm_json_document("report"), *array = json_array();
    for (size_t i = 0; i < n_predictions; i++)
        json_array_append_new(array, prediction_json(structure, predictions[i], rows[i]));
    json_object_set_new(document, "predictions", array);
    pm_json_print(out, document);
}
