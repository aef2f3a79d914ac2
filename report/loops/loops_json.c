/* `pmodel loops --format json`.  Needs the rows of loops.c.  {"format": "pmodel-loops", "version":
   1, program, isa, structure_hash, modules, totals, statistics, "scopes": [routines, loops, inlined
   code; `indent` and order give the tree]}.  Unknown is null. */
#include <stdlib.h>

#include "report/loops/loops.h"
#include "report/loops/mix.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static json_t *modules_json(const struct pm_structure *structure) {
    json_t *array = json_array();
    for (size_t i = 0; i < structure->n_modules; i++) {
        const struct pm_module *module = &structure->modules[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", pm_json_text(module->name));
        json_object_set_new(object, "path", pm_json_text(module->path));
        json_object_set_new(object, "has_metadata", json_boolean(module->has_metadata));
        json_object_set_new(object, "has_lines", json_boolean(module->has_lines));
        json_object_set_new(object, "text_bytes", pm_json_integer(module->text_bytes));
        json_object_set_new(object, "lifted_bytes", pm_json_integer(module->lifted_bytes));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *totals_json(const struct pm_loops_totals *totals) {
    json_t *object = json_object();
    json_object_set_new(object, "routines", json_integer(totals->n_routines));
    json_object_set_new(object, "routines_lifted", json_integer(totals->n_lifted));
    json_object_set_new(object, "routines_partial", json_integer(totals->n_partial));
    json_object_set_new(object, "routines_refused", json_integer(totals->n_refused));
    json_object_set_new(object, "routines_with_metadata", json_integer(totals->n_with_metadata));
    json_object_set_new(object, "loops", json_integer(totals->n_loops));
    json_object_set_new(object, "basic_blocks", json_integer(totals->n_blocks));
    json_object_set_new(object, "edges", json_integer(totals->n_edges));
    json_object_set_new(object, "counters", json_integer(totals->n_counters));
    json_object_set_new(object, "counters_formula", json_integer(totals->n_counters_formula));
    json_object_set_new(object, "references", json_integer(totals->n_references));
    json_object_set_new(object, "groups", json_integer(totals->n_groups));
    return object;
}

static json_t *statistics_json(const struct pm_structure *structure,
                               const struct pm_lift_statistics *statistics) {
    if (!statistics)
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "instructions", pm_json_integer(statistics->n_instructions));
    json_object_set_new(object, "unknown_instructions",
                        pm_json_integer(statistics->n_unknown_instructions));
    size_t n_unknowns;
    struct pm_mix_unknown *unknowns = pm_unknowns_of(structure, &n_unknowns);
    json_object_set_new(object, "unknown_mnemonics", pm_unknowns_json(unknowns, n_unknowns));
    free(unknowns);
    json_object_set_new(object, "indirect_jumps", json_integer(statistics->n_indirect_jumps));
    json_object_set_new(object, "indirect_jumps_resolved",
                        json_integer(statistics->n_resolved_jumps));
    return object;
}

json_t *pm_group_json(const struct pm_structure *structure, uint32_t index) {
    const struct pm_group *group = &structure->groups[index];
    json_t *object = json_object(), *strides = json_array();
    for (uint32_t i = 0; i < group->n_strides; i++) {
        const struct pm_stride *stride = &group->strides[i];
        json_t *level = json_object();
        json_object_set_new(level, "kind", json_string(pm_stride_kind_word(stride->kind)));
        if (stride->kind == PM_STRIDE_CONSTANT)
            json_object_set_new(level, "bytes", json_integer(stride->bytes));
        if (stride->kind == PM_STRIDE_SYMBOLIC)
            json_object_set_new(level, "expression", pm_json_text(stride->expression));
        json_array_append_new(strides, level);
    }
    json_object_set_new(object, "group", json_integer(index));
    json_object_set_new(object, "object", pm_json_text(group->object));
    json_object_set_new(object, "object_type", pm_json_text(group->object_type));
    json_object_set_new(object, "strides_innermost_first", strides);
    json_object_set_new(object, "loads", json_integer(group->n_loads));
    json_object_set_new(object, "stores", json_integer(group->n_stores));
    json_object_set_new(object, "bytes_min", json_integer(group->bytes_min));
    json_object_set_new(object, "bytes_max", json_integer(group->bytes_max));
    json_object_set_new(object, "from_compiler",
                        json_boolean(group->flags & PM_GROUP_FROM_COMPILER));
    json_object_set_new(object, "irregular", json_boolean(group->flags & PM_GROUP_IRREGULAR));
    json_object_set_new(object, "stack", json_boolean(group->flags & PM_GROUP_STACK));
    json_object_set_new(object, "called", json_boolean(group->flags & PM_GROUP_CALLED));
    json_object_set_new(object, "pushed", json_boolean(group->flags & PM_GROUP_PUSHED));
    json_object_set_new(object, "constant_pool", json_boolean(group->flags & PM_GROUP_CONSTANTS));
    return object;
}

static void add_routine_fields(json_t *object, const struct pm_routine *routine) {
    bool known = routine->state != PM_ROUTINE_REFUSED;
    json_object_set_new(object, "linkage_name", pm_json_text(routine->name));
    json_object_set_new(object, "address", pm_json_hex(routine->address));
    json_object_set_new(object, "size_bytes", pm_json_integer(routine->size_bytes));
    json_object_set_new(object, "state", json_string(pm_routine_state_word(routine->state)));
    json_object_set_new(object, "reason", pm_json_text(routine->reason));
    json_object_set_new(object, "has_metadata", json_boolean(routine->has_metadata));
    json_object_set_new(object, "edges", known ? json_integer(routine->n_edges) : json_null());
    json_object_set_new(object, "counters",
                        known ? json_integer(routine->n_counters) : json_null());
    json_object_set_new(object, "counters_formula",
                        known ? json_integer(routine->n_counters_formula) : json_null());
}

static json_t *block_json(const struct pm_structure *structure, uint32_t block) {
    return block < structure->n_blocks ? pm_json_hex(structure->blocks[block].address)
                                       : json_null();
}

/* The basic blocks at which a loop is entered: one, its header, unless it is irreducible. */
static json_t *entries_json(const struct pm_structure *structure, uint32_t loop) {
    size_t n;
    uint32_t *blocks = pm_loop_entries(structure, loop, &n);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, block_json(structure, blocks[i]));
    free(blocks);
    return array;
}

static json_t *row_json(const struct pm_loops_report *report, const struct pm_loop_row *row) {
    const struct pm_scope *scope = &report->structure->scopes[row->scope];
    json_t *object = json_object();
    json_object_set_new(object, "label", pm_json_text(row->label));
    json_object_set_new(object, "name", pm_json_text(pm_code_name(report->structure, row->scope)));
    json_object_set_new(object, "kind", json_string(pm_scope_kind_word(scope->kind)));
    json_object_set_new(object, "indent", json_integer(row->indent));
    json_object_set_new(object, "key", pm_json_hex(scope->key));
    json_object_set_new(object, "file", pm_json_text(scope->file));
    json_object_set_new(object, "line_first", pm_json_line_number(scope->line_first));
    json_object_set_new(object, "line_last", pm_json_line_number(scope->line_last));
    json_object_set_new(object, "address_low", pm_json_hex(scope->address_low));
    json_object_set_new(object, "address_high", pm_json_hex(scope->address_high));
    json_object_set_new(object, "basic_blocks", json_integer(row->n_blocks));
    if (scope->kind == PM_SCOPE_INLINED) {
        json_object_set_new(object, "call_file", pm_json_text(scope->call_file));
        json_object_set_new(object, "call_line", pm_json_line_number(scope->call_file_line));
    }
    if (scope->kind == PM_SCOPE_LOOP) {
        json_object_set_new(object, "header", block_json(report->structure, scope->header));
        json_object_set_new(object, "depth", json_integer(scope->depth));
        json_object_set_new(object, "trip_count", pm_json_text(row->trip_count));
        json_object_set_new(object, "unroll", json_integer(scope->unroll));
        json_object_set_new(object, "irreducible",
                            json_boolean(scope->flags & PM_SCOPE_IRREDUCIBLE));
        if (scope->flags & PM_SCOPE_IRREDUCIBLE)
            json_object_set_new(object, "entries", entries_json(report->structure, row->scope));
        json_object_set_new(object, "vector_body",
                            json_boolean(scope->flags & PM_SCOPE_VECTOR_BODY));
        json_object_set_new(object, "remainder", json_boolean(scope->flags & PM_SCOPE_REMAINDER));
        json_object_set_new(object, "from_compiler",
                            json_boolean(scope->flags & PM_SCOPE_FROM_COMPILER));
        if (scope->fold != row->scope && scope->fold < report->structure->n_scopes)
            json_object_set_new(object, "reported_with_key",
                                pm_json_hex(report->structure->scopes[scope->fold].key));
    }
    if (row->routine)
        add_routine_fields(object, row->routine);
    if (!report->with_groups)
        return object;
    json_t *groups = json_array();
    for (uint32_t i = 0; i < row->n_groups; i++)
        json_array_append_new(
            groups, pm_group_json(report->structure, report->rows->groups[row->first_group + i]));
    json_object_set_new(object, "groups", groups);
    return object;
}

void pm_write_loops_json(FILE *out, const struct pm_loops_report *report) {
    const struct pm_structure *structure = report->structure;
    json_t *document = pm_json_document("loops"), *scopes = json_array();
    json_object_set_new(document, "program", pm_json_text(pm_program_name(structure)));
    json_object_set_new(document, "isa", pm_json_text(structure->isa));
    json_object_set_new(document, "structure_hash", pm_json_hex(structure->hash));
    json_object_set_new(document, "modules", modules_json(structure));
    json_object_set_new(document, "totals", totals_json(&report->rows->totals));
    json_object_set_new(document, "statistics",
                        statistics_json(report->structure, report->statistics));
    for (size_t i = 0; i < report->rows->n_rows; i++)
        json_array_append_new(scopes, row_json(report, &report->rows->rows[i]));
    json_object_set_new(document, "scopes", scopes);
    pm_json_print(out, document);
}
