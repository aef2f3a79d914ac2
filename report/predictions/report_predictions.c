/* `pmodel report`: the fields of a row, and the reports as JSON and CSV.  Needs the rows of rows.c.

   JSON: {"format": "pmodel-report", "version": 1, "warnings": [{kind,
   share, text}], "predictions": [{program, parameters, machine, …,
   "rows": [as in the table, all of them], "scopes": [the scope tree, unfolded]}]}.  Times are in
   seconds, shares and errors fractions of 1, everything else counts or cycles.

   CSV: a line for each row of each prediction.  Machines have different levels, so that the columns
   are those of all machines together; where a machine lacks a level the field is empty. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/predictions/columns.h"
#include "report/predictions/predictions.h"

bool pm_report_format_from_name(const char *name, enum pm_report_format *format) {
    static const char *const names[] = {"table", "json", "csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            *format = (enum pm_report_format)i;
            return true;
        }
    return false;
}

/* ---- nested values --------------------------------------------------------------------------- */

static const struct pm_field doubt_fields[] = {
    {"name", PM_TEXT, PM_MEMBER(struct pm_doubtful_figure, name)},
    {"value", PM_TEXT, PM_MEMBER(struct pm_doubtful_figure, value)},
    {"elasticity", PM_NUMBER, PM_MEMBER(struct pm_doubtful_figure, elasticity)},
};

static json_t *levels_json(const struct pm_prediction *prediction, const double *values) {
    json_t *object = json_object();
    for (size_t level = 0; level < prediction->n_levels; level++)
        json_object_set_new(object, prediction->level_names[level], pm_json_number(values[level]));
    return object;
}

static json_t *causes_json(const double *values) {
    json_t *object = json_object();
    for (int c = 0; c < PM_N_CAUSES; c++)
        json_object_set_new(object, pm_cause_name((enum pm_cause)c), pm_json_number(values[c]));
    return object;
}

static struct pm_field_value cost_value(const struct pm_prediction *prediction,
                                        const struct pm_cost_sum *cost) {
    struct pm_fields fields = {.fields = (struct pm_field *)(uintptr_t)pm_cost_fields,
                               .n_fields = pm_n_cost_fields};
    json_t *object = pm_fields_json(fields, cost);
    json_object_set_new(object, "causes", causes_json(cost->causes));
    json_object_set_new(object, "misses", levels_json(prediction, cost->level_misses));
    json_object_set_new(object, "miss_cycles", levels_json(prediction, cost->level_cycles));
    json_object_set_new(object, "write_backs", levels_json(prediction, cost->level_write_backs));
    return pm_json_value(object);
}

/* ---- the fields of a row --------------------------------------------------------------------- */

static bool is_counted(const void *row) { return ((const struct pm_row *)row)->counted; }

static bool has_bounds(const void *at) { return ((const struct pm_row *)at)->has_bounds; }

static bool is_timed(const void *at) {
    const struct pm_row *row = at;
    return row->counted && row->timed;
}

static struct pm_field_value row_member_keys(const void *at) {
    const struct pm_row *row = at;
    json_t *array = json_array();
    for (size_t i = 0; i < row->n_members; i++)
        json_array_append_new(array,
                              pm_json_hex(row->place.structure->scopes[row->members[i]].key));
    return pm_json_value(array);
}

static struct pm_field_value row_bound(const void *at) {
    const struct pm_row *row = at;
    const struct pm_prediction *prediction = row->prediction;
    json_t *object = json_object();
    json_object_set_new(object, "text", pm_json_text(row->bound_label));
    json_object_set_new(object, "kind", json_string(pm_bound_kind_word(row->bound)));
    if (row->bound == PM_BOUND_UNIT && row->bound_unit < prediction->n_units)
        json_object_set_new(object, "unit", pm_json_text(prediction->unit_names[row->bound_unit]));
    if (row->bound == PM_BOUND_LEVEL && row->bound_level < prediction->n_levels)
        json_object_set_new(object, "level",
                            pm_json_text(prediction->level_names[row->bound_level]));
    return pm_json_value(object);
}

PM_GETTER(row_misses, struct pm_row,
          pm_json_value(levels_json(row->prediction, row->misses_per_iteration)))
PM_GETTER(row_kilo_misses, struct pm_row,
          pm_json_value(levels_json(row->prediction, row->misses_per_kilo_instruction)))
PM_GETTER(row_gains, struct pm_row, pm_json_value(causes_json(row->gains)))
PM_GETTER(row_self, struct pm_row, cost_value(row->prediction, &row->self))
PM_GETTER(row_total, struct pm_row, cost_value(row->prediction, &row->total))
/* One end of the row's interval; null: there is none. */
static struct pm_field_value end_value(const struct pm_prediction *prediction,
                                       const struct pm_row_end *end) {
    static const struct pm_field fields[] = {
        {"self_seconds", PM_SECONDS, PM_MEMBER(struct pm_row_end, seconds)},
        {"iterations", PM_COUNT, PM_MEMBER(struct pm_row_end, iterations)},
    };
    if (isnan(end->seconds))
        return pm_unknown();
    json_t *object = PM_JSON_OBJECT(fields, end);
    json_object_set_new(object, "misses", levels_json(prediction, end->level_misses));
    return pm_json_value(object);
}

PM_GETTER(row_low, struct pm_row, end_value(row->prediction, &row->low))
PM_GETTER(row_high, struct pm_row, end_value(row->prediction, &row->high))
PM_GETTER(row_measured_in_key, struct pm_row,
          row->measured_in == PM_NONE
              ? pm_unknown()
              : pm_integer(row->place.structure->scopes[row->measured_in].key))
/* "in step/3 :124": the row that has the figure. */
static struct pm_field_value holder_cell(const struct pm_structure *structure, uint32_t scope) {
    enum { MOST_LETTERS = 16 };
    const struct pm_scope *holder = &structure->scopes[scope];
    char *name = pm_short_name(pm_code_name(structure, scope));
    char *text =
        pm_sprintf("in %.*s%s", MOST_LETTERS, name, strlen(name) > MOST_LETTERS ? "~" : "");
    if (holder->depth)
        pm_append(&text, "/%u", holder->depth);
    if (holder->line_first)
        pm_append(&text, " :%u", holder->line_first);
    free(name);
    return pm_owned_text(text);
}

/* The row's own time, with that of inner loops without a timer, or the name of the loop or routine
   that holds it. */
static struct pm_field_value measured_cell(const void *at) {
    const struct pm_row *row = at;
    if (!isnan(row->measured_seconds) || row->measured_in == PM_NONE)
        return pm_owned_text(pm_sprintf("%s%s", row->measured_with_inner ? "<" : "",
                                        pm_seconds_text(row->measured_seconds).text));
    return holder_cell(row->place.structure, row->measured_in);
}

PM_GETTER(row_lower_bound_in_key, struct pm_row,
          row->lower_bound_in == PM_NONE
              ? pm_unknown()
              : pm_integer(row->place.structure->scopes[row->lower_bound_in].key))
PM_GETTER(lower_bound_cell, struct pm_row,
          row->lower_bound_in != PM_NONE
              ? holder_cell(row->place.structure, row->lower_bound_in)
              : pm_owned_text(pm_sprintf("%s", pm_seconds_text(row->lower_bound_seconds).text)))

PM_GETTER(row_program, struct pm_row, pm_text(row->prediction->program))
PM_GETTER(row_parameters, struct pm_row,
          pm_owned_text(pm_parameters_text(&row->prediction->parameters)))
PM_GETTER(row_machine, struct pm_row, pm_text(row->prediction->machine_name))
PM_GETTER(row_measured_here, struct pm_row, pm_integer(!row->prediction->predicted))
static struct pm_field_value row_level(const void *at) {
    const struct pm_prediction *prediction = ((const struct pm_row *)at)->prediction;
    return pm_number(isnan(pm_prediction_seconds(prediction).low) ? NAN : prediction->level);
}

static bool is_interpolated(const void *row) {
    return pm_prediction_is_interpolated(((const struct pm_row *)row)->prediction);
}

/* "L1 L2": the levels whose misses are, and times with them; null: of none. */
static struct pm_field_value row_interpolated(const void *at) {
    const struct pm_prediction *prediction = ((const struct pm_row *)at)->prediction;
    char *names = NULL;
    for (size_t level = 0; level < prediction->n_levels; level++)
        if (prediction->level_interpolated_from[level])
            pm_append(&names, "%s%s", names ? " " : "", prediction->level_names[level]);
    return names ? pm_owned_text(names) : pm_unknown();
}

PM_GETTER(row_extrapolation, struct pm_row, pm_number(row->prediction->extrapolation))
#define ROW(member_) PM_MEMBER(struct pm_row, member_)
#define PLACE(get_) PM_PLACE(struct pm_row, place, get_)

static const struct pm_field row_fields[] = {
    {"label", PM_NAME, ROW(label), .header = "LOOP"},
    {"name", PM_TEXT, PLACE(name), .header = "NAME"},
    {"kind", PM_TEXT, PLACE(kind), .header = "KIND"},
    {"depth", PM_INTEGER, PLACE(depth), .header = "DEPTH"},
    {"file", PM_TEXT, PLACE(file), .header = "FILE"},
    {"line_first", PM_POSITIVE, ROW(line_first), .header = "LINE"},
    {"line_last", PM_POSITIVE, ROW(line_last), .header = "LAST LINE"},
    {"key", PM_HEX, PLACE(key), .header = "KEY"},
    {"module", PM_TEXT, PLACE(module), .header = "MODULE"},
    {"member_keys", PM_JSON_ONLY, .get = row_member_keys},
    {"counted", PM_YES_NO, ROW(counted)},
    {"self_seconds", PM_SECONDS, ROW(seconds), .json_when = is_counted, .header = "TIME",
     PM_MARKED(">", struct pm_row, time_is_lower_bound)},
    {"self_share", PM_PERCENT, ROW(share), .json_when = is_counted, .header = "%"},
    {"total_seconds", PM_SECONDS, ROW(total_seconds), .json_when = is_counted, .header = "TOTAL"},
    {"bound_by", PM_JSON_ONLY, .get = row_bound, .json_when = is_counted},
    {"entries", PM_COUNT, ROW(entries), .json_when = is_counted, .header = "ENTRIES"},
    {"iterations", PM_COUNT, ROW(iterations), .json_when = is_counted, .header = "ITERATIONS"},
    {"resource_cycles_per_iteration", PM_RATE, ROW(resource_cycles_per_iteration),
     .json_when = is_counted, .header = "UNITS/it"},
    {"recurrence_cycles_per_iteration", PM_RATE, ROW(recurrence_cycles_per_iteration),
     .json_when = is_counted, .header = "REC/it"},
    {"gains", PM_JSON_ONLY, .get = row_gains, .json_when = is_counted},
    {"misses_per_iteration", PM_JSON_ONLY, .get = row_misses, .json_when = is_counted},
    {"misses_per_kilo_instruction", PM_JSON_ONLY, .get = row_kilo_misses, .json_when = is_counted},
    {"time_is_lower_bound", PM_YES_NO, ROW(time_is_lower_bound), .json_when = is_counted},
    {"misses_are_lower_bound", PM_YES_NO, ROW(misses_are_lower_bound), .json_when = is_counted},
    {"self", PM_JSON_ONLY, .get = row_self, .json_when = is_counted},
    {"total", PM_JSON_ONLY, .get = row_total, .json_when = is_counted},
    {"low", PM_JSON_ONLY, .get = row_low, .json_when = is_counted},
    {"high", PM_JSON_ONLY, .get = row_high, .json_when = is_counted},
    {"measured_seconds", PM_SECONDS, ROW(measured_seconds), .json_when = is_timed,
     .header = "MEASURED", .cell = measured_cell},
    {"measured_with_inner", PM_YES_NO, ROW(measured_with_inner), .json_when = is_timed},
    {"measured_in_key", PM_HEX, .get = row_measured_in_key, .json_when = is_timed},
    {"lower_bound_seconds", PM_SECONDS, ROW(lower_bound_seconds), .json_when = has_bounds,
     .header = "LOWER BOUND", .cell = lower_bound_cell},
    {"lower_bound_in_key", PM_HEX, .get = row_lower_bound_in_key, .json_when = has_bounds},
    {"interpolated", PM_TEXT, .get = row_interpolated, .json_when = is_interpolated},
#define ALSO .not_in_json = true
    {"source", PM_NAME, ROW(source), ALSO, .header = "SOURCE", .dispensable = 1},
    {"bound", PM_TEXT, ROW(bound_label), ALSO, .csv_name = "bound_by", .header = "BOUND BY"},
    {"total_share", PM_PERCENT, ROW(total_share), ALSO, .header = "TOTAL %"},
    {"measured_share", PM_PERCENT, ROW(measured_share), ALSO, .header = "MEASURED %"},
    {"lower_seconds", PM_SECONDS, ROW(lower_seconds), ALSO, .header = "AT LEAST"},
    {"upper_seconds", PM_SECONDS, ROW(upper_seconds), ALSO, .header = "AT MOST"},
    {"cycles_per_iteration", PM_RATE, ROW(cycles_per_iteration), ALSO, .header = "CYC/it"},
    {"instructions", PM_COUNT, ROW(self.instructions), ALSO, .header = "INSTR"},
    {"instructions_per_iteration", PM_RATE, ROW(instructions_per_iteration), ALSO,
     .header = "INSTR/it"},
    {"accesses", PM_COUNT, ROW(self.accesses), ALSO, .header = "ACCESSES"},
    {"program", PM_TEXT, .get = row_program, ALSO, .header = "PROGRAM"},
    {"parameters", PM_TEXT, .get = row_parameters, ALSO, .header = "SIZE"},
    {"machine", PM_TEXT, .get = row_machine, ALSO, .header = "MACHINE"},
    {"measured_at_this_size", PM_YES_NO, .get = row_measured_here, ALSO},
    {"low_self_seconds", PM_SECONDS, ROW(low.seconds), ALSO, .header = "LOW"},
    {"high_self_seconds", PM_SECONDS, ROW(high.seconds), ALSO, .header = "HIGH"},
    {"low_iterations", PM_COUNT, ROW(low.iterations), ALSO},
    {"high_iterations", PM_COUNT, ROW(high.iterations), ALSO},
    {"level", PM_NUMBER, .get = row_level, ALSO},
    {"extrapolation", PM_RATE, .get = row_extrapolation, ALSO},
#undef ALSO
};

const struct pm_fields pm_row_fields = {.fields = (struct pm_field *)(uintptr_t)row_fields,
                                        .n_fields = sizeof row_fields / sizeof *row_fields};

/* ---- JSON: the scope tree -------------------------------------------------------------------- */

/* A scope by itself. */
struct tree_row {
    struct pm_row_place place;
    const struct pm_prediction *prediction;
    const char *name;
    uint32_t parent, row;
    double entries, iterations;
    const struct pm_cost_sum *self, *total;
};

PM_GETTER(tree_self, struct tree_row, cost_value(row->prediction, row->self))
PM_GETTER(tree_total, struct tree_row, cost_value(row->prediction, row->total))
static const struct pm_field tree_fields[] = {
    {"kind", PM_TEXT, PM_PLACE(struct tree_row, place, kind)},
    {"name", PM_TEXT, PM_MEMBER(struct tree_row, name)},
    {"parent", PM_INDEX, PM_MEMBER(struct tree_row, parent)},
    {"row", PM_INDEX, PM_MEMBER(struct tree_row, row)},
    {"key", PM_HEX, PM_PLACE(struct tree_row, place, key)},
    {"module", PM_TEXT, PM_PLACE(struct tree_row, place, module)},
    {"file", PM_TEXT, PM_PLACE(struct tree_row, place, file)},
    {"line_first", PM_POSITIVE, PM_PLACE(struct tree_row, place, line_first)},
    {"line_last", PM_POSITIVE, PM_PLACE(struct tree_row, place, line_last)},
    {"entries", PM_COUNT, PM_MEMBER(struct tree_row, entries)},
    {"iterations", PM_COUNT, PM_MEMBER(struct tree_row, iterations)},
    {"self", PM_JSON_ONLY, .get = tree_self},
    {"total", PM_JSON_ONLY, .get = tree_total},
};

/* PLACE: of each row, where it is in "rows"; PM_NONE: nowhere. */
static json_t *tree_json(const struct pm_structure *structure,
                         const struct pm_prediction *prediction, const struct pm_rows *rows,
                         const uint32_t *place) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < structure->n_scopes; i++) {
        const struct pm_scope_prediction *p = &prediction->scopes[i];
        struct tree_row row = {{structure, i},
                               prediction,
                               structure->scopes[i].name,
                               structure->scopes[i].parent,
                               rows->row_of_scope[i] == PM_NONE ? PM_NONE
                                                                : place[rows->row_of_scope[i]],
                               p->entries,
                               p->iterations,
                               &p->self,
                               &p->total};
        json_array_append_new(array, PM_JSON_OBJECT(tree_fields, &row));
    }
    return array;
}

/* ---- JSON: measured times -------------------------------------------------------------------- */

struct timer_row {
    struct pm_row_place place;
    struct pm_scope_time time;
};

static const struct pm_field timer_fields[] = {
    {"scope", PM_INTEGER, PM_MEMBER(struct timer_row, time.scope)},
    {"key", PM_HEX, PM_PLACE(struct timer_row, place, key)},
    {"seconds", PM_SECONDS, PM_MEMBER(struct timer_row, time.seconds)},
    {"entries", PM_COUNT, PM_MEMBER(struct timer_row, time.entries)},
    {"threads", PM_INTEGER, PM_MEMBER(struct timer_row, time.threads)},
};

static const struct pm_field times_fields[] = {
    {"outside_seconds", PM_SECONDS, PM_MEMBER(struct pm_times, outside_seconds)},
    {"timers_own_seconds", PM_SECONDS, PM_MEMBER(struct pm_times, own_seconds)},
    {"cpu_seconds", PM_SECONDS, PM_MEMBER(struct pm_times, cpu_seconds)},
    {"plain_cpu_seconds", PM_SECONDS, PM_MEMBER(struct pm_times, plain_seconds)},
    {"over_plain", PM_RATE, PM_MEMBER(struct pm_times, over_plain)},
    {"repetitions", PM_INTEGER, PM_MEMBER(struct pm_times, repetitions)},
    {"core_share", PM_RATE, PM_MEMBER(struct pm_times, core_share)},
    {"notes", PM_TEXT, PM_MEMBER(struct pm_times, notes)},
};

/* What was measured at this size; null: nothing was.  Rows and `outside_seconds` add up to
   `seconds`. */
static json_t *measured_json(const struct pm_structure *structure, const struct pm_rows *rows) {
    const struct pm_times *times = rows->times;
    if (!times)
        return json_null();
    json_t *object = json_object(), *timers = json_array();
    json_object_set_new(object, "machine", pm_json_text(times->machine));
    json_object_set_new(object, "seconds", pm_json_number(rows->measured_seconds));
    pm_fields_set(object, PM_FIELDS(times_fields), times);
    for (size_t i = 0; i < times->n_scopes; i++) {
        struct timer_row row = {{structure, times->scopes[i].scope}, times->scopes[i]};
        json_array_append_new(timers, PM_JSON_OBJECT(timer_fields, &row));
    }
    json_object_set_new(object, "timers", timers);
    return object;
}

/* ---- which rows -----------------------------------------------------------------------------
 */

/* Rows that the options ask for, in their order. */
struct chosen_rows {
    PM_ARRAY(const struct pm_row *, rows);
};

static struct chosen_rows choose_rows(const struct pm_prediction *prediction,
                                      const struct pm_rows *rows,
                                      const struct pm_report_options *options) {
    struct pm_error err = {0}; /* names of fields were looked at before */
    struct chosen_rows chosen = {0};
    const struct pm_row **in_order = pm_rows_in_order(rows, prediction, options, &err);
    for (size_t i = 0; in_order && i < rows->n_rows; i++)
        if (pm_row_is_called(in_order[i], options->filter))
            *PM_PUSH(&chosen, rows) = in_order[i];
    free(in_order);
    return chosen;
}

/* Of those fields only that the options name, if they do.  PLACE: see tree_json. */
static json_t *rows_json(const struct pm_prediction *prediction, const struct pm_rows *rows,
                         const struct pm_report_options *options, uint32_t *place) {
    struct pm_error err = {0};
    struct pm_columns columns = {0};
    struct chosen_rows chosen = choose_rows(prediction, rows, options);
    json_t *array = json_array();
    bool has_own = !options->fields || *options->fields == '+';
    if (options->fields && pm_columns_make(prediction, "", options, &columns, &err))
        for (size_t i = 0; i < columns.fields.n_fields; i++)
            columns.fields.fields[i].not_in_json = false;
    for (size_t i = 0; i < rows->n_rows; i++)
        place[i] = PM_NONE;
    for (size_t i = 0; i < chosen.n_rows; i++) {
        json_t *row = json_object();
        place[chosen.rows[i] - rows->rows] = (uint32_t)i;
        if (has_own)
            pm_fields_set(row, pm_row_fields, chosen.rows[i]);
        pm_fields_set(row, columns.fields, chosen.rows[i]);
        json_array_append_new(array, row);
    }
    pm_columns_free(&columns);
    free(chosen.rows);
    return array;
}

/* ---- JSON: the whole ------------------------------------------------------------------------- */

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
        uint64_t from = prediction->level_interpolated_from[i];
        json_object_set_new(level, "interpolated_from_block_bytes",
                            from ? pm_json_integer(from) : json_null());
        json_array_append_new(levels, level);
    }
    for (size_t i = 0; i < prediction->n_units; i++)
        json_array_append_new(units, pm_json_text(prediction->unit_names[i]));
    json_object_set_new(object, "levels", levels);
    json_object_set_new(object, "units", units);
    return object;
}

static json_t *prediction_json(const struct pm_structure *structure,
                               const struct pm_prediction *prediction, const struct pm_rows *rows,
                               const struct pm_report_options *options) {
    json_t *object = json_object(), *notes = json_array();
    struct pm_estimate seconds = pm_prediction_seconds(prediction);
    json_object_set_new(object, "program", pm_json_text(prediction->program));
    json_object_set_new(object, "parameters", pm_json_parameters(&prediction->parameters));
    json_object_set_new(object, "machine", machine_json(prediction));
    json_object_set_new(object, "seconds", pm_json_number(prediction->seconds));
    json_object_set_new(object, "level",
                        pm_json_number(isnan(seconds.low) ? NAN : prediction->level));
    json_object_set_new(object, "low_seconds", pm_json_number(seconds.low));
    json_object_set_new(object, "high_seconds", pm_json_number(seconds.high));
    const struct pm_cost_sum *total = &prediction->scopes[0].total;
    json_object_set_new(object, "lower_seconds",
                        pm_json_number(total->lower_cycles / prediction->clock_hz));
    json_object_set_new(object, "upper_seconds",
                        pm_json_number(total->upper_cycles / prediction->clock_hz));
    json_object_set_new(object, "time_is_lower_bound", json_boolean(rows->time_is_lower_bound));
    json_object_set_new(object, "measured_at_this_size", json_boolean(!prediction->predicted));
    json_object_set_new(object, "measured_up_to", pm_json_text(prediction->measured_up_to));
    json_object_set_new(object, "extrapolation", pm_json_number(prediction->extrapolation));
    json_object_set_new(object, "below_measured", json_boolean(prediction->below_measured));
    json_object_set_new(object, "models_relative_error",
                        pm_json_number(prediction->relative_error));
    json_object_set_new(object, "interpolated",
                        json_boolean(pm_prediction_is_interpolated(prediction)));
    json_object_set_new(object, "unattributed_seconds", pm_json_number(rows->unattributed_seconds));
    json_object_set_new(object, "measured", measured_json(structure, rows));
    if (prediction->cores)
        json_object_set_new(object, "cores", pm_cores_json(structure, prediction->cores));
    for (size_t i = 0; i < prediction->n_notes; i++)
        json_array_append_new(notes, pm_json_text(prediction->notes[i]));
    json_object_set_new(object, "not_verified_figures", pm_json_integer(prediction->n_unverified));
    json_object_set_new(object, "doubtful_figures",
                        pm_fields_array(PM_FIELDS(doubt_fields), prediction->doubts,
                                        prediction->n_doubts, sizeof *prediction->doubts));
    json_object_set_new(object, "notes", notes);
    json_object_set_new(object, "significant_notes",
                        pm_json_integer(prediction->n_significant_notes));
    uint32_t *place = pm_alloc(rows->n_rows + 1, sizeof *place);
    json_object_set_new(object, "rows", rows_json(prediction, rows, options, place));
    json_object_set_new(object, "scopes", tree_json(structure, prediction, rows, place));
    free(place);
    return object;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Names of the levels of all machines, each once. */
struct level_names {
    PM_ARRAY(const char *, names); /* of the predictions */
};

static void collect_levels(struct level_names *levels,
                           const struct pm_sized_prediction *predictions, size_t n_predictions) {
    for (size_t i = 0; i < n_predictions; i++)
        for (size_t j = 0; j < predictions[i].prediction->n_levels; j++) {
            const char *name = predictions[i].prediction->level_names[j];
            size_t k = 0;
            while (k < levels->n_names && strcmp(levels->names[k], name) != 0)
                k++;
            if (k == levels->n_names)
                *PM_PUSH(levels, names) = name;
        }
}

/* Fields of the cost at OFFSET in a row of PREDICTION. */
static void add_cost_fields(struct pm_fields *fields, const char *prefix, size_t offset,
                            const struct pm_prediction *prediction,
                            const struct level_names *levels) {
    for (size_t i = 0; i < pm_n_cost_fields; i++) {
        struct pm_field field = pm_cost_fields[i];
        field.name = pm_sprintf("%s_%s", prefix, field.name);
        field.offset += offset;
        *PM_PUSH(fields, fields) = field;
    }
    for (size_t i = 0; i < 2 * levels->n_names; i++) {
        bool cycles = i % 2;
        struct pm_field field = {.name = pm_sprintf("%s_%s_%s", prefix, levels->names[i / 2],
                                                    cycles ? "miss_cycles" : "misses"),
                                 .kind = PM_NUMBER};
        for (size_t level = 0; level < prediction->n_levels; level++)
            if (strcmp(prediction->level_names[level], levels->names[i / 2]) == 0) {
                field.member = PM_DOUBLE;
                field.offset = offset +
                               (cycles ? offsetof(struct pm_cost_sum, level_cycles)
                                       : offsetof(struct pm_cost_sum, level_misses)) +
                               level * sizeof(double);
            }
        *PM_PUSH(fields, fields) = field;
    }
}

/* All fields, those of costs and levels after the others. */
static struct pm_fields all_csv_fields(const struct pm_prediction *prediction,
                                       const struct level_names *levels, size_t *first,
                                       size_t *last) {
    struct pm_fields fields = pm_fields_named(
        pm_row_fields, "program parameters machine measured_at_this_size label kind depth file "
                       "line_first line_last key module counted bound self_share self_seconds "
                       "total_seconds entries iterations resource_cycles_per_iteration "
                       "recurrence_cycles_per_iteration time_is_lower_bound "
                       "misses_are_lower_bound measured_seconds measured_with_inner "
                       "measured_in_key lower_bound_seconds lower_bound_in_key");
    *first = fields.n_fields;
    add_cost_fields(&fields, "self", offsetof(struct pm_row, self), prediction, levels);
    add_cost_fields(&fields, "total", offsetof(struct pm_row, total), prediction, levels);
    *last = fields.n_fields;
    struct pm_fields ends =
        pm_fields_named(pm_row_fields, "low_self_seconds high_self_seconds low_iterations "
                                       "high_iterations level extrapolation interpolated");
    for (size_t i = 0; i < ends.n_fields; i++)
        *PM_PUSH(&fields, fields) = ends.fields[i];
    free(ends.fields);
    return fields;
}

static void write_csv_rows(struct pm_csv *csv, const struct pm_prediction *prediction,
                           const struct pm_rows *rows, const struct level_names *levels,
                           const struct pm_report_options *options, bool with_header) {
    struct pm_columns columns = {0};
    struct pm_error err = {0};
    size_t first = 0, last = 0;
    struct pm_fields all = all_csv_fields(prediction, levels, &first, &last), fields = all;
    if (options->fields && *options->fields != '+' &&
        pm_columns_make(prediction, "", options, &columns, &err))
        fields = columns.fields;
    struct chosen_rows chosen = choose_rows(prediction, rows, options);
    if (with_header) {
        pm_fields_csv_names(csv, fields);
        pm_csv_end_line(csv);
    }
    for (size_t i = 0; i < chosen.n_rows; i++) {
        pm_fields_csv_values(csv, fields, chosen.rows[i]);
        pm_csv_end_line(csv);
    }
    for (size_t i = first; i < last; i++)
        free((char *)(uintptr_t)all.fields[i].name);
    pm_columns_free(&columns);
    free(chosen.rows);
    free(all.fields);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The rows of all predictions of a machine, size by size. */
static struct pm_rows **make_rows(const struct pm_predictions_report *report, size_t machine) {
    struct pm_rows **rows = pm_alloc(report->n_sizes, sizeof *rows);
    for (size_t s = 0; s < report->n_sizes; s++) {
        const struct pm_sized_prediction *at = &report->predictions[machine * report->n_sizes + s];
        rows[s] = pm_rows_new(report->structure, at->prediction, at->times, at->bounds);
    }
    return rows;
}

static void free_rows(struct pm_rows **rows, size_t n) {
    for (size_t s = 0; s < n; s++)
        pm_rows_free(rows[s]);
    free(rows);
}

/* Do all machines have the fields that are asked for? */
static bool check_fields(const struct pm_predictions_report *report,
                         const struct pm_report_options *options, struct pm_error *err) {
    const struct pm_rows none = {0};
    for (size_t m = 0; m < report->n_machines; m++) {
        const struct pm_prediction *prediction =
            report->predictions[m * report->n_sizes].prediction;
        struct pm_columns columns;
        if (!pm_columns_make(prediction, "", options, &columns, err))
            return pm_fail_in(err, "--fields");
        pm_columns_free(&columns);
        const struct pm_row **rows = pm_rows_in_order(&none, prediction, options, err);
        if (!rows)
            return false;
        free(rows);
    }
    return true;
}

/* Of one machine. */
static void write_tables(FILE *out, const struct pm_sized_prediction *predictions,
                         struct pm_rows *const *rows, size_t n_sizes,
                         const struct pm_report_options *options) {
    if (n_sizes > 1)
        pm_write_sizes_table(out, predictions, rows, n_sizes, options);
    else if (options->tree)
        pm_write_predictions_tree(out, predictions[0].prediction, rows[0], options);
    else
        pm_write_predictions_table(out, predictions[0].prediction, rows[0], options);
}

bool pm_report_predictions(FILE *out, const struct pm_predictions_report *report,
                           const struct pm_report_options *options, struct pm_error *err) {
    struct pm_csv csv = {.out = out};
    struct level_names levels = {0};
    if (!check_fields(report, options, err))
        return false;
    json_t *array = json_array();
    collect_levels(&levels, report->predictions, report->n_machines * report->n_sizes);
    pm_print_warnings(out, options);
    for (size_t m = 0; m < report->n_machines; m++) {
        const struct pm_sized_prediction *at = &report->predictions[m * report->n_sizes];
        struct pm_rows **rows = make_rows(report, m);
        for (size_t s = 0; s < report->n_sizes; s++)
            if (options->format == PM_REPORT_JSON)
                json_array_append_new(
                    array, prediction_json(report->structure, at[s].prediction, rows[s], options));
            else if (options->format == PM_REPORT_CSV)
                write_csv_rows(&csv, at[s].prediction, rows[s], &levels, options, m + s == 0);
        if (options->format == PM_REPORT_TABLE) {
            fputs(m ? "\n" : "", out);
            write_tables(out, at, rows, report->n_sizes, options);
        }
        free_rows(rows, report->n_sizes);
    }
    if (options->format == PM_REPORT_JSON) {
        json_t *document = pm_json_document("report");
        pm_json_set_warnings(document, options);
        json_object_set_new(document, "predictions", json_incref(array));
        pm_json_print(out, document);
    }
    json_decref(array);
    free(levels.names);
    return true;
}
