/* `pmodel loops`: the fields of a routine, loop or inlined code and of a reference group, and the
   report as a table, JSON and CSV.  Needs the rows of loops.c.

   JSON: {"format": "pmodel-loops", "version": 1, program, isa, structure_hash, modules, totals,
   statistics, "scopes": [routines, loops, inlined code; `indent` and order give the tree]}.  CSV: a
   line for each of these, and, where groups are asked for, one for each group, right after the line
   of its scope; `record` says which. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/loops/loops.h"

/* ---- the fields of a group ------------------------------------------------------------------- */

static json_t *strides_json(const struct pm_group *group) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < group->n_strides; i++) {
        const struct pm_stride *stride = &group->strides[i];
        json_t *level = json_object();
        json_object_set_new(level, "kind", json_string(pm_stride_kind_word(stride->kind)));
        if (stride->kind == PM_STRIDE_CONSTANT)
            json_object_set_new(level, "bytes", json_integer(stride->bytes));
        if (stride->kind == PM_STRIDE_SYMBOLIC)
            json_object_set_new(level, "expression", pm_json_text(stride->expression));
        json_array_append_new(array, level);
    }
    return array;
}

#define FLAG(flag_) pm_integer((row->flags & (flag_)) != 0)

PM_GETTER(group_strides, struct pm_group, pm_json_value(strides_json(row)))
PM_GETTER(group_strides_text, struct pm_group, pm_owned_text(pm_strides_label(row)))
PM_GETTER(group_flags, struct pm_group, pm_owned_text(pm_group_flags_label(row)))
PM_GETTER(group_from_compiler, struct pm_group, FLAG(PM_GROUP_FROM_COMPILER))
PM_GETTER(group_irregular, struct pm_group, FLAG(PM_GROUP_IRREGULAR))
PM_GETTER(group_stack, struct pm_group, FLAG(PM_GROUP_STACK))
PM_GETTER(group_called, struct pm_group, FLAG(PM_GROUP_CALLED))
PM_GETTER(group_pushed, struct pm_group, FLAG(PM_GROUP_PUSHED))
PM_GETTER(group_constants, struct pm_group, FLAG(PM_GROUP_CONSTANTS))

#define GROUP(member_) PM_MEMBER(struct pm_group, member_)
#define NOT_IN_JSON .not_in_json = true

static const struct pm_field group_fields[] = {
    {"object", PM_TEXT, GROUP(object)},
    {"object_type", PM_TEXT, GROUP(object_type)},
    {"strides_innermost_first", PM_JSON_ONLY, .get = group_strides},
    {"strides_bytes", PM_TEXT, .get = group_strides_text, NOT_IN_JSON},
    {"loads", PM_INTEGER, GROUP(n_loads)},
    {"stores", PM_INTEGER, GROUP(n_stores)},
    {"bytes_min", PM_INTEGER, GROUP(bytes_min)},
    {"bytes_max", PM_INTEGER, GROUP(bytes_max)},
    {"group_flags", PM_TEXT, .get = group_flags, NOT_IN_JSON},
    {"from_compiler", PM_YES_NO, .get = group_from_compiler},
    {"irregular", PM_YES_NO, .get = group_irregular},
    {"stack", PM_YES_NO, .get = group_stack},
    {"called", PM_YES_NO, .get = group_called},
    {"pushed", PM_YES_NO, .get = group_pushed},
    {"constant_pool", PM_YES_NO, .get = group_constants},
};

json_t *pm_group_json(const struct pm_structure *structure, uint32_t index) {
    json_t *object = json_object();
    json_object_set_new(object, "group", json_integer(index));
    pm_fields_set(object, PM_FIELDS(group_fields), &structure->groups[index]);
    return object;
}

/* ---- the fields of a row --------------------------------------------------------------------- */

static const struct pm_scope *scope_of(const struct pm_loop_row *row) {
    return &row->place.structure->scopes[row->place.scope];
}

static bool is_kind(const void *row, uint8_t kind) { return scope_of(row)->kind == kind; }
static bool is_loop(const void *row) { return is_kind(row, PM_SCOPE_LOOP); }
static bool is_inlined(const void *row) { return is_kind(row, PM_SCOPE_INLINED); }
static bool is_routine(const void *row) { return ((const struct pm_loop_row *)row)->routine; }
static bool with_groups(const void *row) {
    return ((const struct pm_loop_row *)row)->report->with_groups;
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

static json_t *groups_json(const struct pm_loop_row *row) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < row->n_groups; i++)
        json_array_append_new(
            array,
            pm_group_json(row->place.structure, row->report->rows->groups[row->first_group + i]));
    return array;
}

static bool is_folded(const struct pm_loop_row *row) {
    uint32_t fold = scope_of(row)->fold;
    return fold != row->place.scope && fold < row->place.structure->n_scopes;
}

/* A number that only routines have, and those that were refused not. */
static struct pm_field_value counter(const struct pm_loop_row *row, uint32_t number) {
    if (!row->routine)
        return pm_absent();
    return row->routine->state == PM_ROUTINE_REFUSED ? pm_unknown() : pm_integer(number);
}

#define ROUTINE(value_) row->routine ? value_ : pm_absent()
#define SCOPE_FLAG(flag_) pm_integer((scope_of(row)->flags & (flag_)) != 0)

PM_GETTER(row_address_low, struct pm_loop_row, pm_integer(scope_of(row)->address_low))
PM_GETTER(row_address_high, struct pm_loop_row, pm_integer(scope_of(row)->address_high))
PM_GETTER(row_call_file, struct pm_loop_row, pm_text(scope_of(row)->call_file))
PM_GETTER(row_call_line, struct pm_loop_row, pm_integer(scope_of(row)->call_file_line))
PM_GETTER(row_header, struct pm_loop_row,
          pm_json_value(block_json(row->place.structure, scope_of(row)->header)))
PM_GETTER(row_unroll, struct pm_loop_row,
          is_loop(row) ? pm_integer(scope_of(row)->unroll) : pm_absent())
PM_GETTER(row_irreducible, struct pm_loop_row, SCOPE_FLAG(PM_SCOPE_IRREDUCIBLE))
PM_GETTER(row_entries, struct pm_loop_row,
          scope_of(row)->flags &PM_SCOPE_IRREDUCIBLE
              ? pm_json_value(entries_json(row->place.structure, row->place.scope))
              : pm_absent())
PM_GETTER(row_vector_body, struct pm_loop_row, SCOPE_FLAG(PM_SCOPE_VECTOR_BODY))
PM_GETTER(row_remainder, struct pm_loop_row, SCOPE_FLAG(PM_SCOPE_REMAINDER))
PM_GETTER(row_from_compiler, struct pm_loop_row, SCOPE_FLAG(PM_SCOPE_FROM_COMPILER))
PM_GETTER(row_reported_with, struct pm_loop_row,
          is_folded(row) ? pm_integer(row->place.structure->scopes[scope_of(row)->fold].key)
                         : pm_absent())
PM_GETTER(row_linkage_name, struct pm_loop_row, ROUTINE(pm_text(row->routine->name)))
PM_GETTER(row_address, struct pm_loop_row,
          pm_integer(row->routine ? row->routine->address : scope_of(row)->address_low))
PM_GETTER(row_size, struct pm_loop_row, ROUTINE(pm_integer(row->routine->size_bytes)))
PM_GETTER(row_state, struct pm_loop_row,
          ROUTINE(pm_text(pm_routine_state_word(row->routine->state))))
PM_GETTER(row_reason, struct pm_loop_row, ROUTINE(pm_text(row->routine->reason)))
PM_GETTER(row_has_metadata, struct pm_loop_row, ROUTINE(pm_integer(row->routine->has_metadata)))
PM_GETTER(row_edges, struct pm_loop_row, counter(row, row->routine ? row->routine->n_edges : 0))
PM_GETTER(row_counters, struct pm_loop_row,
          counter(row, row->routine ? row->routine->n_counters : 0))
PM_GETTER(row_counters_formula, struct pm_loop_row,
          counter(row, row->routine ? row->routine->n_counters_formula : 0))
PM_GETTER(row_groups, struct pm_loop_row, pm_json_value(groups_json(row)))
PM_GETTER(label_cell, struct pm_loop_row,
          pm_owned_text(pm_sprintf("%*s%s", (int)(2 * row->indent), "", row->label)))
PM_GETTER(trips_cell, struct pm_loop_row,
          pm_text(row->trip_count ? row->trip_count
                  : is_loop(row)  ? "?"
                                  : NULL))

#define ROW(member_) PM_MEMBER(struct pm_loop_row, member_)
#define PLACE(get_) PM_PLACE(struct pm_loop_row, place, get_)

static const struct pm_field row_fields[] = {
    {"label", PM_NAME, ROW(label), .header = "ROUTINE / LOOP", .cell = label_cell},
    {"name", PM_TEXT, PLACE(name)},
    {"kind", PM_TEXT, ROW(record), .csv_name = "record"},
    {"indent", PM_INTEGER, ROW(indent)},
    {"key", PM_HEX, PLACE(key)},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"line_last", PM_POSITIVE, PLACE(line_last)},
    {"address_low", PM_HEX, .get = row_address_low},
    {"address_high", PM_HEX, .get = row_address_high},
    {"basic_blocks", PM_INTEGER, ROW(n_blocks), .header = "BLOCKS", .dispensable = 2},
    {"call_file", PM_TEXT, .get = row_call_file, .json_when = is_inlined},
    {"call_line", PM_POSITIVE, .get = row_call_line, .json_when = is_inlined},
    {"header", PM_JSON_ONLY, .get = row_header, .json_when = is_loop},
    {"depth", PM_INTEGER, PLACE(depth), .json_when = is_loop},
    {"trip_count", PM_TEXT, ROW(trip_count), .json_when = is_loop, .header = "TRIPS",
     .cell = trips_cell, .dispensable = 1},
    {"unroll", PM_INTEGER, .get = row_unroll, .json_when = is_loop},
    {"irreducible", PM_YES_NO, .get = row_irreducible, .json_when = is_loop},
    {"entries", PM_JSON_ONLY, .get = row_entries, .json_when = is_loop},
    {"vector_body", PM_YES_NO, .get = row_vector_body, .json_when = is_loop},
    {"remainder", PM_YES_NO, .get = row_remainder, .json_when = is_loop},
    {"from_compiler", PM_YES_NO, .get = row_from_compiler, .json_when = is_loop},
    {"reported_with_key", PM_HEX, .get = row_reported_with, .json_when = is_loop},
    {"linkage_name", PM_TEXT, .get = row_linkage_name},
    {"address", PM_HEX, .get = row_address, .json_when = is_routine},
    {"size_bytes", PM_INTEGER, .get = row_size},
    {"state", PM_TEXT, .get = row_state},
    {"reason", PM_TEXT, .get = row_reason},
    {"has_metadata", PM_YES_NO, .get = row_has_metadata},
    {"edges", PM_INTEGER, .get = row_edges, .header = "EDGES", .dispensable = 3},
    {"counters", PM_INTEGER, .get = row_counters, .header = "COUNTERS", .dispensable = 3},
    {"counters_formula", PM_INTEGER, .get = row_counters_formula, .header = "FORMULA",
     .dispensable = 4},
    {"groups", PM_JSON_ONLY, .get = row_groups, .json_when = with_groups},
    {"program", PM_TEXT, PLACE(program), NOT_IN_JSON},
    {"source", PM_NAME, ROW(source), NOT_IN_JSON, .header = "SOURCE"},
    {"remarks", PM_TEXT, ROW(remarks), NOT_IN_JSON, .header = "REMARKS", .dispensable = 5},
};

/* ---- the header ----------------------------------------------------------------------------- */

static void print_coverage(FILE *out, const struct pm_loops_report *report,
                           const struct pm_report_options *options) {
    const struct pm_loops_totals *totals = &report->rows->totals;
    const struct pm_lift_statistics *statistics = report->statistics;
    pm_print_line(out, options,
                  "routines: %" PRIu32 " lifted, %" PRIu32 " partial, %" PRIu32
                  " refused; loops: %" PRIu32,
                  totals->n_lifted, totals->n_partial, totals->n_refused, totals->n_loops);
    double covered =
        totals->text_bytes ? (double)totals->lifted_bytes / (double)totals->text_bytes : NAN;
    pm_print_line(out, options, "text: %" PRIu64 " bytes, %s%% covered by lifted routines",
                  totals->text_bytes, pm_percent_text(covered).text);
    if (!statistics)
        return;
    size_t n_unknowns;
    struct pm_mix_unknown *unknowns = pm_unknowns_of(report->structure, &n_unknowns);
    char *names = pm_unknowns_label(unknowns, n_unknowns);
    pm_print_line(
        out, options,
        "instructions: %" PRIu64 ", of these %" PRIu64
        " without a generic class%s%s%s; indirect jumps: %" PRIu32 " of %" PRIu32 " resolved",
        statistics->n_instructions, statistics->n_unknown_instructions, *names ? " (" : "", names,
        *names ? ")" : "", statistics->n_resolved_jumps, statistics->n_indirect_jumps);
    free(names);
    free(unknowns);
}

/* What the compiler would have told. */
static void print_missing(FILE *out, const struct pm_loops_report *report,
                          const struct pm_report_options *options) {
    const struct pm_loops_totals *totals = &report->rows->totals;
    const char *other = report->statistics ? report->statistics->other_compiler : NULL;
    static const char missing[] =
        "no compiler metadata (.pmodel): names of objects, trip counts, most strides and the "
        "compiler's loops are missing, loops come from the code alone";
    if (!totals->has_metadata && other)
        pm_print_line(out, options,
                      "%s; code in the file was compiled by %s, and only GCC 12 takes the plugin: "
                      "compile with it and $(pmodel flags) to have them",
                      missing, other);
    else if (!totals->has_metadata)
        pm_print_line(out, options, "%s; compile and link with $(pmodel flags) to have them",
                      missing);
    else
        pm_print_line(out, options,
                      "compiler metadata (.pmodel): %" PRIu32 " of %" PRIu32 " routines",
                      totals->n_with_metadata, totals->n_routines);
    if (report->statistics && report->statistics->debug_note)
        pm_print_line(out, options, "%s", report->statistics->debug_note);
    else if (!totals->has_lines && totals->has_metadata)
        pm_print_line(out, options,
                      "no debug information (DWARF): lines of loops are those that the compiler's "
                      "metadata has, others and inlined code are missing; compile with -g to have "
                      "them");
    else if (!totals->has_lines)
        pm_print_line(out, options,
                      "no debug information (DWARF): source files, lines and inlined code "
                      "are missing; compile with -g to have them");
    if (totals->n_nameless)
        pm_print_line(out, options,
                      "%" PRIu32 " routines have no name in the file, from which symbols were "
                      "stripped, and are called after their addresses: sub_1e50 begins at 0x1e50",
                      totals->n_nameless);
}

/* ---- table ----------------------------------------------------------------------------------- */

/* "group 3: u (double), 6 loads, 1 store, 8 bytes, strides 8, 8*N [irregular]" */
static void add_group(struct pm_text_table *table, const struct pm_structure *structure,
                      uint32_t index, unsigned indent) {
    const struct pm_group *group = &structure->groups[index];
    char *strides = pm_strides_label(group), *flags = pm_group_flags_label(group);
    char *bytes = group->bytes_min == group->bytes_max
                      ? pm_sprintf("%" PRIu32, group->bytes_min)
                      : pm_sprintf("%" PRIu32 " to %" PRIu32, group->bytes_min, group->bytes_max);
    char *line = pm_sprintf("%*sgroup %" PRIu32 ": %s (%s), loads %" PRIu32 ", stores %" PRIu32
                            ", %s bytes each; strides: %s%s%s%s",
                            (int)(2 * indent + 2), "", index, group->object ? group->object : "?",
                            group->object_type ? group->object_type : "?", group->n_loads,
                            group->n_stores, bytes, *strides ? strides : "none", *flags ? " [" : "",
                            flags, *flags ? "]" : "");
    pm_text_table_line(table, line);
    free(line);
    free(bytes);
    free(strides);
    free(flags);
}

static void print_totals(FILE *out, const struct pm_loops_totals *totals) {
    fprintf(out,
            "total: %" PRIu32 " basic blocks, %" PRIu32 " edges, %" PRIu32
            " counters (formula E - V + 2: %" PRIu32 "), %" PRIu32 " references in %" PRIu32
            " groups\n",
            totals->n_blocks, totals->n_edges, totals->n_counters, totals->n_counters_formula,
            totals->n_references, totals->n_groups);
}

static void write_table(FILE *out, const struct pm_loops_report *report,
                        const struct pm_report_options *options) {
    const struct pm_structure *structure = report->structure;
    pm_print_title(out, options, "%s (%s)", pm_program_name(structure),
                   structure->isa ? structure->isa : "?");
    print_coverage(out, report, options);
    print_missing(out, report, options);
    fputc('\n', out);
    if (!report->rows->n_rows) {
        pm_print_line(out, options, "%s%s",
                      report->routine ? "no routine is called " : "no routines",
                      report->routine ? report->routine : "");
        return;
    }
    struct pm_text_table *table = pm_text_table_new();
    struct pm_fields columns =
        pm_fields_named(PM_FIELDS(row_fields), "label source basic_blocks edges counters_formula "
                                               "counters trip_count remarks");
    pm_fields_columns(table, columns);
    for (size_t i = 0; i < report->rows->n_rows; i++) {
        const struct pm_loop_row *row = &report->rows->rows[i];
        pm_fields_cells(table, columns, NULL, row);
        for (uint32_t j = 0; report->with_groups && j < row->n_groups; j++)
            add_group(table, structure, report->rows->groups[row->first_group + j], row->indent);
    }
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
    free(columns.fields);
    print_totals(out, &report->rows->totals);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#define MODULE(member_) PM_MEMBER(struct pm_module, member_)
#define TOTAL(name_, member_)                                                                      \
    { name_, PM_INTEGER, PM_MEMBER(struct pm_loops_totals, member_) }

static const struct pm_field module_fields[] = {
    {"name", PM_TEXT, MODULE(name)},
    {"path", PM_TEXT, MODULE(path)},
    {"has_metadata", PM_YES_NO, MODULE(has_metadata)},
    {"has_lines", PM_YES_NO, MODULE(has_lines)},
    {"text_bytes", PM_INTEGER, MODULE(text_bytes)},
    {"lifted_bytes", PM_INTEGER, MODULE(lifted_bytes)},
};
static const struct pm_field total_fields[] = {
    TOTAL("routines", n_routines),
    TOTAL("routines_lifted", n_lifted),
    TOTAL("routines_partial", n_partial),
    TOTAL("routines_refused", n_refused),
    TOTAL("routines_with_metadata", n_with_metadata),
    TOTAL("loops", n_loops),
    TOTAL("basic_blocks", n_blocks),
    TOTAL("edges", n_edges),
    TOTAL("counters", n_counters),
    TOTAL("counters_formula", n_counters_formula),
    TOTAL("references", n_references),
    TOTAL("groups", n_groups),
};

static json_t *statistics_json(const struct pm_structure *structure,
                               const struct pm_lift_statistics *statistics) {
    if (!statistics)
        return json_null();
    size_t n_unknowns;
    struct pm_mix_unknown *unknowns = pm_unknowns_of(structure, &n_unknowns);
    json_t *object = json_object();
    json_object_set_new(object, "instructions", pm_json_integer(statistics->n_instructions));
    json_object_set_new(object, "unknown_instructions",
                        pm_json_integer(statistics->n_unknown_instructions));
    json_object_set_new(object, "unknown_mnemonics", pm_unknowns_json(unknowns, n_unknowns));
    json_object_set_new(object, "indirect_jumps", json_integer(statistics->n_indirect_jumps));
    json_object_set_new(object, "indirect_jumps_resolved",
                        json_integer(statistics->n_resolved_jumps));
    free(unknowns);
    return object;
}

static void write_json(FILE *out, const struct pm_loops_report *report) {
    const struct pm_structure *structure = report->structure;
    const struct pm_loop_rows *rows = report->rows;
    json_t *document = pm_program_document("loops", structure);
    json_object_set_new(document, "isa", pm_json_text(structure->isa));
    json_object_set_new(document, "structure_hash", pm_json_hex(structure->hash));
    json_object_set_new(document, "modules",
                        pm_fields_array(PM_FIELDS(module_fields), structure->modules,
                                        structure->n_modules, sizeof *structure->modules));
    json_object_set_new(document, "totals", PM_JSON_OBJECT(total_fields, &rows->totals));
    json_object_set_new(document, "statistics", statistics_json(structure, report->statistics));
    json_object_set_new(
        document, "scopes",
        pm_fields_array(PM_FIELDS(row_fields), rows->rows, rows->n_rows, sizeof *rows->rows));
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Lines of scopes and of groups share the first fields. */
static void write_csv(FILE *out, const struct pm_loops_report *report) {
    static const struct pm_field index[] = {{"group", PM_INTEGER, .member = PM_U32}};
    struct pm_csv csv = {.out = out};
    struct pm_fields place =
        pm_fields_named(PM_FIELDS(row_fields),
                        "program kind label indent depth key file line_first line_last address");
    struct pm_fields scope =
        pm_fields_named(PM_FIELDS(row_fields), "trip_count unroll basic_blocks edges counters "
                                               "counters_formula state remarks");
    struct pm_fields group = pm_fields_named(
        PM_FIELDS(group_fields),
        "object object_type strides_bytes loads stores bytes_min bytes_max group_flags");
    pm_fields_csv_names(&csv, place);
    pm_fields_csv_names(&csv, scope);
    pm_fields_csv_names(&csv, PM_FIELDS(index));
    pm_fields_csv_names(&csv, group);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < report->rows->n_rows; i++) {
        struct pm_loop_row row = report->rows->rows[i];
        pm_fields_csv_values(&csv, place, &row);
        pm_fields_csv_values(&csv, scope, &row);
        pm_fields_csv_values(&csv, PM_FIELDS(index), NULL);
        pm_fields_csv_values(&csv, group, NULL);
        pm_csv_end_line(&csv);
        row.record = "group";
        for (uint32_t j = 0; report->with_groups && j < row.n_groups; j++) {
            uint32_t number = report->rows->groups[row.first_group + j];
            pm_fields_csv_values(&csv, place, &row);
            pm_fields_csv_values(&csv, scope, NULL);
            pm_fields_csv_values(&csv, PM_FIELDS(index), &number);
            pm_fields_csv_values(&csv, group, &report->structure->groups[number]);
            pm_csv_end_line(&csv);
        }
    }
    free(group.fields);
    free(scope.fields);
    free(place.fields);
}

void pm_write_loops(FILE *out, const struct pm_loops_report *report,
                    const struct pm_report_options *options) {
    PM_BY_FORMAT(options, write_table(out, report, options), write_json(out, report),
                 write_csv(out, report));
}
