/* `pmodel loops --schedule`: loops with the cycles of an iteration, the bounds, causes and gains.

   JSON: {"format": "pmodel-schedule", "version": 1, program, machine, "machine_title", "clock_hz",
   "out_of_order", "loops": [a loop each]}. */
#include <math.h>
#include <stdlib.h>

#include "report/schedule/private.h"

#define ROW(member_) PM_MEMBER(struct pm_schedule_row, member_)
#define PLACE(get_) PM_PLACE(struct pm_schedule_row, place, get_)
#define SCHEDULE(member_) PM_MEMBER(struct pm_schedule_row, schedule.member_)

static struct pm_field_value by_name(const double *figures) {
    json_t *object = json_object();
    for (unsigned h = 0; h < PM_N_HOLDS; h++)
        json_object_set_new(object, pm_cause_name(h), json_real(figures[h]));
    return pm_json_value(object);
}

static char *digits(const uint8_t *bytes, size_t n) {
    char *text = pm_alloc(2 * n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

static double unknown_share(const struct pm_path_schedule *schedule) {
    return schedule->n_operations ? (double)schedule->n_unknown_operations / schedule->n_operations
                                  : NAN;
}

static struct pm_field_value cycles_or_not(const struct pm_schedule_row *row, double cycles) {
    return row->is_scheduled && !isnan(cycles) ? pm_number(cycles) : pm_unknown();
}

static struct pm_field_value cycles_text(const struct pm_schedule_row *row, double cycles) {
    return row->is_scheduled && !isnan(cycles)
               ? pm_owned_text(
                     pm_sprintf("%s%.2f", row->schedule.n_unknown_operations ? ">" : "", cycles))
               : pm_text("");
}

PM_GETTER(hash_value, struct pm_schedule_row,
          row->code.bytes ? pm_integer(row->code.hash) : pm_unknown())
PM_GETTER(bytes_value, struct pm_schedule_row,
          row->code.bytes ? pm_owned_text(digits(row->code.bytes, row->code.n_bytes))
                          : pm_unknown())
PM_GETTER(result_value, struct pm_schedule_row, pm_text(row->result))
PM_GETTER(cycles_value, struct pm_schedule_row, cycles_or_not(row, row->schedule.cycles))
PM_GETTER(modulo_value, struct pm_schedule_row, cycles_or_not(row, row->schedule.modulo_cycles))
PM_GETTER(start_value, struct pm_schedule_row, cycles_or_not(row, row->schedule.start_cycles))
PM_GETTER(alone_value, struct pm_schedule_row, cycles_or_not(row, row->schedule.alone_cycles))
PM_GETTER(bounds_value, struct pm_schedule_row, by_name(row->schedule.bounds))
PM_GETTER(causes_value, struct pm_schedule_row,
          row->has_causes ? by_name(row->schedule.causes) : pm_unknown())
PM_GETTER(gains_value, struct pm_schedule_row,
          row->has_causes ? by_name(row->schedule.gains) : pm_unknown())
PM_GETTER(bound_value, struct pm_schedule_row,
          row->is_scheduled ? pm_text(pm_cause_name(row->schedule.hold)) : pm_unknown())
PM_GETTER(unit_value, struct pm_schedule_row,
          row->is_scheduled && row->schedule.bounds[PM_CAUSE_UNITS] > 0
              ? pm_text(row->machine->units[row->schedule.unit].name)
              : pm_unknown())
PM_GETTER(share_value, struct pm_schedule_row, cycles_or_not(row, unknown_share(&row->schedule)))
PM_GETTER(graph_value, struct pm_schedule_row,
          row->graph ? pm_json_value(pm_schedule_graph_json(row->machine, row->graph))
                     : pm_absent())

PM_GETTER(cycles_cell, struct pm_schedule_row, cycles_text(row, row->schedule.cycles))
PM_GETTER(modulo_cell, struct pm_schedule_row, cycles_text(row, row->schedule.modulo_cycles))
PM_GETTER(held_cell, struct pm_schedule_row,
          !row->is_scheduled ? pm_text(row->why_not)
          : row->schedule.hold == PM_CAUSE_UNITS
              ? pm_owned_text(pm_sprintf("unit %s", row->machine->units[row->schedule.unit].name))
              : pm_owned_text(pm_strdup(pm_hold_plain(row->schedule.hold))))

#define BOUND(name_, hold_, header_)                                                               \
    PM_GETTER(name_##_bound, struct pm_schedule_row,                                               \
              cycles_or_not(row, row->schedule.bounds[hold_]))                                     \
    PM_GETTER(name_##_cell, struct pm_schedule_row, cycles_text(row, row->schedule.bounds[hold_]))
BOUND(units, PM_CAUSE_UNITS, "UNITS")
BOUND(recurrence, PM_CAUSE_RECURRENCE, "RECURRENCE")
BOUND(front_end, PM_CAUSE_FRONT_END, "FRONT END")
BOUND(retirement, PM_CAUSE_RETIREMENT, "RETIREMENT")
BOUND(window, PM_CAUSE_WINDOW, "WINDOW")
#define BOUND_FIELD(name_, header_, dispensable_)                                                  \
    {                                                                                              \
#name_ "_bound", PM_NUMBER, .get = name_##_bound, .cell = name_##_cell, .header = header_, \
                                    .not_in_json = true, .dispensable = dispensable_               \
    }

static const struct pm_field fields[] = {
    {"label", PM_NAME, ROW(label), .header = "LOOP"},
    {"name", PM_TEXT, PLACE(name)},
    {"key", PM_HEX, PLACE(key)},
    {"source", PM_NAME, ROW(source), .header = "SOURCE", .dispensable = 3},
    {"address", PM_HEX, ROW(address)},
    {"hash", PM_HEX, .get = hash_value},
    {"bytes", PM_TEXT, .get = bytes_value},
    {"n_bytes", PM_POSITIVE, PM_MEMBER(struct pm_schedule_row, n_bytes)},
    {"instructions", PM_POSITIVE, SCHEDULE(n_instructions), .header = "INSTRS", .dispensable = 2},
    {"result", PM_TEXT, .get = result_value},
    {"cycles", PM_NUMBER, .get = cycles_value, .header = "CYCLES", .cell = cycles_cell},
    {"modulo_cycles", PM_NUMBER, .get = modulo_value, .header = "MODULO", .cell = modulo_cell,
     .dispensable = 4},
    {"start_cycles", PM_NUMBER, .get = start_value},
    {"alone_cycles", PM_NUMBER, .get = alone_value},
    {"bounds", PM_JSON_ONLY, .get = bounds_value},
    BOUND_FIELD(units, "UNITS", 1),
    BOUND_FIELD(recurrence, "RECURR", 1),
    BOUND_FIELD(front_end, "FRONT", 1),
    BOUND_FIELD(retirement, "RETIRE", 5),
    BOUND_FIELD(window, "WINDOW", 5),
    {"bound", PM_TEXT, .get = bound_value, .header = "HELD BY", .cell = held_cell},
    {"bound_unit", PM_TEXT, .get = unit_value},
    {"causes", PM_JSON_ONLY, .get = causes_value},
    {"gains", PM_JSON_ONLY, .get = gains_value},
    {"operations", PM_POSITIVE, SCHEDULE(n_operations)},
    {"slots", PM_NUMBER, SCHEDULE(slots)},
    {"unknown_operations", PM_INTEGER, SCHEDULE(n_unknown_operations)},
    {"unknown_share", PM_NUMBER, .get = share_value},
    {"graph", PM_JSON_ONLY, .get = graph_value},
};

const char *pm_hold_plain(enum pm_cause cause) {
    static const char *const words[PM_N_HOLDS] = {[PM_CAUSE_UNITS] = "units",
                                                  [PM_CAUSE_RECURRENCE] = "recurrence",
                                                  [PM_CAUSE_FRONT_END] = "front end",
                                                  [PM_CAUSE_RETIREMENT] = "retirement",
                                                  [PM_CAUSE_WINDOW] = "window"};
    return words[cause];
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct pm_schedule_row *make_rows(const struct pm_schedules_report *report) {
    size_t n = report->schedules->n_items;
    const struct pm_structure *structure = report->structure;
    struct pm_schedule_row *rows = pm_alloc(n + 1, sizeof *rows);
    struct pm_shown_label *labels = pm_alloc(n + 1, sizeof *labels);
    for (size_t i = 0; i < n; i++) {
        const struct pm_loop_schedule *item = &report->schedules->items[i];
        const struct pm_scope *scope = &structure->scopes[item->scope];
        bool is_unknown = item->n_steps && item->schedule.n_operations &&
                          item->schedule.n_unknown_operations == item->schedule.n_operations;
        rows[i] = (struct pm_schedule_row){
            .place = {structure, item->scope},
            .machine = report->machine,
            .schedule = item->schedule,
            .graph = report->graphs ? &report->graphs[i] : NULL,
            .has_causes = report->has_causes,
            .is_scheduled = item->n_steps && !is_unknown,
            .result = item->n_steps == 0 ? "no_path"
                      : is_unknown       ? "unknown"
                                         : "scheduled",
            .why_not = item->n_steps == 0 ? "no path back to its header"
                                          : "none of its operations has a row",
            .label = pm_scope_label(structure, item->scope),
            .source = pm_scope_source(structure, item->scope),
            .address = scope->header == PM_NONE ? scope->address_low
                                                : structure->blocks[scope->header].address};
        if (item->n_steps && report->files &&
            pm_path_code_read(report->files, &report->schedules->steps[item->first_step],
                              item->n_steps, &rows[i].code))
            rows[i].n_bytes = (uint32_t)rows[i].code.n_bytes;
        labels[i] = (struct pm_shown_label){&rows[i].label, item->scope};
    }
    pm_tell_labels_apart(structure, labels, n);
    free(labels);
    return rows;
}

static void free_rows(struct pm_schedule_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(rows[i].label);
        free(rows[i].source);
        free(rows[i].code.bytes);
    }
    free(rows);
}

/* ---- writers --------------------------------------------------------------------------------- */

static void write_table(FILE *out, const struct pm_schedules_report *report,
                        const struct pm_schedule_row *rows,
                        const struct pm_report_options *options) {
    size_t n = report->schedules->n_items, n_unknown = 0;
    struct pm_fields columns = pm_fields_named(
        PM_FIELDS(fields), report->has_causes
                               ? "label source instructions cycles modulo_cycles units_bound "
                                 "recurrence_bound front_end_bound retirement_bound window_bound "
                                 "bound"
                               : "label source instructions cycles units_bound recurrence_bound "
                                 "front_end_bound retirement_bound window_bound bound");
    pm_print_title(out, options, "%s on %s: cycles of an iteration when nothing misses",
                   pm_program_name(report->structure), report->machine->title);
    pm_fields_table(out, columns, rows, n, sizeof *rows, options);
    free(columns.fields);
    for (size_t i = 0; i < n; i++)
        n_unknown += rows[i].is_scheduled && rows[i].schedule.n_unknown_operations > 0;
    if (n_unknown)
        pm_print_note(out, options,
                      "%zu loops have operations for which the machine file has no row: their "
                      "cycles are lower bounds (>)",
                      n_unknown);
}

static void write_json(FILE *out, const struct pm_schedules_report *report,
                       const struct pm_schedule_row *rows) {
    json_t *document = pm_program_document("schedule", report->structure);
    const struct pm_machine *machine = report->machine;
    json_object_set_new(document, "machine", json_string(machine->name));
    json_object_set_new(document, "machine_title", json_string(machine->title));
    json_object_set_new(document, "clock_hz", json_real(machine->clock_hz));
    json_object_set_new(document, "out_of_order", json_boolean(machine->out_of_order));
    json_object_set_new(
        document, "loops",
        pm_fields_array(PM_FIELDS(fields), rows, report->schedules->n_items, sizeof *rows));
    pm_json_print(out, document);
}

void pm_report_schedules(FILE *out, const struct pm_schedules_report *report,
                         const struct pm_report_options *options) {
    size_t n = report->schedules->n_items;
    struct pm_schedule_row *rows = make_rows(report);
    if (options->format == PM_REPORT_JSON)
        write_json(out, report, rows);
    else if (options->format == PM_REPORT_CSV)
        pm_fields_csv(out, PM_FIELDS(fields),
                      "label name key source address hash bytes n_bytes instructions result cycles "
                      "modulo_cycles start_cycles alone_cycles units_bound recurrence_bound "
                      "front_end_bound retirement_bound window_bound bound bound_unit operations "
                      "slots unknown_operations unknown_share",
                      rows, n, sizeof *rows);
    else
        write_table(out, report, rows, options);
    free_rows(rows, n);
}
