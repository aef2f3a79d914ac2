/* `pmodel report --carried --format json`: {"format": "pmodel-carried", "version": 1, program,
   parameters, "machines": [{name, title, "levels", misses and cycles of the whole, "rows": [{misses
   by level, cycles, share, first_touch, carrier, across, source, destination, object, advice}]}]}.
   Needs the rows of carried.c.  Shares are fractions of 1; unknown is null. */
#include "report/carried/carried.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static json_t *scope_json(const struct pm_structure *structure, uint32_t number,
                          const char *label) {
    if (number == PM_NONE)
        return json_null();
    const struct pm_scope *scope = &structure->scopes[number];
    json_t *object = json_object();
    json_object_set_new(object, "label", pm_json_text(label));
    json_object_set_new(object, "kind", json_string(pm_scope_kind_word(scope->kind)));
    json_object_set_new(object, "file", pm_json_text(scope->file));
    json_object_set_new(object, "line_first", pm_json_line_number(scope->line_first));
    json_object_set_new(object, "key", pm_json_hex(scope->key));
    json_object_set_new(object, "module", pm_json_text(pm_scope_module(structure, number)));
    return object;
}

static json_t *misses_json(const struct pm_machine *machine, const double *misses) {
    json_t *object = json_object();
    for (size_t l = 0; l < machine->n_levels; l++)
        json_object_set_new(object, machine->levels[l].name, pm_json_number(misses[l]));
    return object;
}

static json_t *row_json(const struct pm_structure *structure, const struct pm_machine *machine,
                        const struct pm_carried_row *row) {
    json_t *object = json_object();
    json_object_set_new(object, "misses", misses_json(machine, row->misses));
    json_object_set_new(object, "cycles", pm_json_number(row->cycles));
    json_object_set_new(object, "share", pm_json_number(row->share));
    json_object_set_new(object, "first_touch", json_boolean(row->is_first_touch));
    json_object_set_new(object, "carrier", scope_json(structure, row->carrier, row->carrier_label));
    json_object_set_new(object, "across",
                        row->carrier == PM_NONE ? json_null() : json_boolean(row->across));
    json_object_set_new(object, "source", scope_json(structure, row->source, row->source_label));
    json_object_set_new(object, "destination",
                        scope_json(structure, row->destination, row->destination_label));
    json_object_set_new(object, "object", pm_json_text(row->object));
    json_object_set_new(object, "advice",
                        row->advice ? json_string(pm_advice_word(row->advice)) : json_null());
    return object;
}

static json_t *levels_json(const struct pm_machine *machine) {
    json_t *array = json_array();
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        json_t *object = json_object();
        json_object_set_new(object, "name", pm_json_text(level->name));
        json_object_set_new(object, "kind", json_string(pm_level_kind_word(level->kind)));
        json_object_set_new(object, "size_bytes", pm_json_integer(level->size_bytes));
        json_object_set_new(object, "block_bytes", pm_json_integer(level->block_bytes));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *machine_json(const struct pm_structure *structure,
                            const struct pm_carried_rows *rows) {
    json_t *object = json_object(), *array = json_array();
    json_object_set_new(object, "name", pm_json_text(rows->machine->name));
    json_object_set_new(object, "title", pm_json_text(rows->machine->title));
    json_object_set_new(object, "levels", levels_json(rows->machine));
    json_object_set_new(object, "misses", misses_json(rows->machine, rows->misses));
    json_object_set_new(object, "cycles", pm_json_number(rows->cycles));
    for (size_t i = 0; i < rows->n_rows; i++)
        json_array_append_new(array, row_json(structure, rows->machine, &rows->rows[i]));
    json_object_set_new(object, "rows", array);
    return object;
}

void pm_write_carried_json(FILE *out, const struct pm_carried_report *report,
                           struct pm_carried_rows *const *rows) {
    json_t *document = pm_json_document("carried"), *machines = json_array();
    json_object_set_new(document, "program", pm_json_text(pm_program_name(report->structure)));
    json_object_set_new(document, "parameters", pm_json_parameters(&report->profile->parameters));
    for (size_t i = 0; i < report->n_machines; i++)
        json_array_append_new(machines, machine_json(report->structure, rows[i]));
    json_object_set_new(document, "machines", machines);
    pm_json_print(out, document);
}
