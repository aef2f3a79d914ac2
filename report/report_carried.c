/* `pmodel report --as carried`: the fields of a row, and the report as a table, JSON and CSV. Needs
   the rows of fit/analysis/carried.c.

   JSON: {"format": "pmodel-carried", "version": 1, program, parameters, "machines": [{name, title,
   "levels", misses and cycles of the whole, "rows": [{misses by level, cycles, share, first_touch,
   carrier, across, source, destination, object, irregular, advice}]}]}.  CSV: a line for each
   machine, row and level with misses.  Shares are fractions of 1. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/report.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *advice_word(uint8_t advice) {
    static const char *const words[PM_N_ADVICE] = {
        [PM_ADVICE_NONE] = "",
        [PM_ADVICE_BLOCK] = "block",
        [PM_ADVICE_REORDER] = "reorder",
        [PM_ADVICE_FUSE] = "fuse",
        [PM_ADVICE_SKEW] = "skew",
        [PM_ADVICE_CALLS] = "join calls",
        [PM_ADVICE_RENUMBER] = "renumber",
    };
    return words[advice];
}

/* A scope, or what stands for one that is not known: "first touch", "?". */
static char *label_or(const struct pm_row_place *place, const char *otherwise) {
    return place->scope == PM_NONE ? pm_strdup(otherwise)
                                   : pm_scope_label_folded(place->structure, place->scope);
}

static char *carrier_label(const struct pm_carried_row *row) {
    return label_or(&row->carrier, row->is_first_touch ? "" : "?");
}

static char *source_label(const struct pm_carried_row *row) {
    return label_or(&row->source, row->is_first_touch ? "first touch" : "?");
}

/* ---- the fields of a row --------------------------------------------------------------------- */

static json_t *misses_json(const struct pm_machine *machine, const double *misses) {
    json_t *object = json_object();
    for (size_t l = 0; l < machine->n_levels; l++)
        json_object_set_new(object, machine->levels[l].name, pm_json_number(misses[l]));
    return object;
}

static struct pm_field_value scope_value(const struct pm_row_place *place) {
    static const struct pm_field fields[] = {
        {"label", PM_TEXT, .get = pm_place_label_folded},
        {"kind", PM_TEXT, .get = pm_place_kind},
        {"file", PM_TEXT, .get = pm_place_file},
        {"line_first", PM_POSITIVE, .get = pm_place_line_first},
        {"key", PM_HEX, .get = pm_place_key},
        {"module", PM_TEXT, .get = pm_place_module},
    };
    if (place->scope == PM_NONE)
        return pm_unknown();
    return pm_json_value(PM_JSON_OBJECT(fields, place));
}

static const char *where_word(const struct pm_carried_row *row) {
    uint32_t carrier = row->carrier.scope;
    if (carrier == PM_NONE || row->carrier.structure->scopes[carrier].kind != PM_SCOPE_LOOP)
        return "";
    return row->across ? "across" : "within";
}

static bool is_in_place(const struct pm_carried_row *row) {
    return row->source.scope == row->destination.scope;
}

PM_GETTER(row_misses, struct pm_carried_row, pm_json_value(misses_json(row->machine, row->misses)))
PM_GETTER(row_carrier, struct pm_carried_row, scope_value(&row->carrier))
PM_GETTER(row_source, struct pm_carried_row, scope_value(&row->source))
PM_GETTER(row_destination, struct pm_carried_row, scope_value(&row->destination))
PM_GETTER(row_across, struct pm_carried_row,
          row->carrier.scope == PM_NONE ? pm_unknown() : pm_integer(row->across))
PM_GETTER(row_advice, struct pm_carried_row, pm_text(row->advice ? advice_word(row->advice) : NULL))
PM_GETTER(row_parameters, struct pm_carried_row,
          pm_owned_text(pm_parameters_text(&row->report->profile->parameters)))
PM_GETTER(row_machine, struct pm_carried_row, pm_text(row->machine->name))
PM_GETTER(carrier_cell, struct pm_carried_row, pm_owned_text(carrier_label(row)))
PM_GETTER(where_cell, struct pm_carried_row, pm_text(where_word(row)))
PM_GETTER(source_cell, struct pm_carried_row,
          is_in_place(row) ? pm_text("=") : pm_owned_text(source_label(row)))
PM_GETTER(object_cell, struct pm_carried_row, pm_text(row->object ? row->object : "?"))
PM_GETTER(advice_cell, struct pm_carried_row, pm_text(advice_word(row->advice)))

#define ROW(member_) PM_MEMBER(struct pm_carried_row, member_)
#define PLACE(member_, get_) PM_PLACE(struct pm_carried_row, member_, get_)
#define NOT_IN_JSON .not_in_json = true

static const struct pm_field fields[] = {
    {"misses", PM_JSON_ONLY, .get = row_misses},
    {"cycles", PM_COUNT, ROW(cycles)},
    {"share", PM_PERCENT, ROW(share), .header = "%"},
    {"first_touch", PM_YES_NO, ROW(is_first_touch)},
    {"carrier", PM_JSON_ONLY, .get = row_carrier},
    {"across", PM_YES_NO, .get = row_across},
    {"source", PM_JSON_ONLY, .get = row_source},
    {"destination", PM_JSON_ONLY, .get = row_destination},
    {"object", PM_NAME, ROW(object), .header = "DATA", .cell = object_cell, .dispensable = 2},
    {"irregular", PM_YES_NO, ROW(is_irregular)},
    {"advice", PM_TEXT, .get = row_advice, .header = "TRY", .cell = advice_cell},
    {"program", PM_TEXT, PLACE(destination, program), NOT_IN_JSON},
    {"parameters", PM_TEXT, .get = row_parameters, NOT_IN_JSON},
    {"machine", PM_TEXT, .get = row_machine, NOT_IN_JSON},
    {"carrier_label", PM_NAME, PLACE(carrier, label_folded), .csv_name = "carrier", NOT_IN_JSON,
     .header = "CARRIED BY", .cell = carrier_cell},
    {"where", PM_TEXT, .cell = where_cell, NOT_IN_JSON},
    {"carrier_file", PM_TEXT, PLACE(carrier, file), NOT_IN_JSON},
    {"carrier_line", PM_POSITIVE, PLACE(carrier, line_first), NOT_IN_JSON},
    {"carrier_key", PM_HEX, PLACE(carrier, key), NOT_IN_JSON},
    {"source_label", PM_NAME, PLACE(source, label_folded), .csv_name = "source", NOT_IN_JSON,
     .header = "FROM", .cell = source_cell},
    {"source_file", PM_TEXT, PLACE(source, file), NOT_IN_JSON},
    {"source_line", PM_POSITIVE, PLACE(source, line_first), NOT_IN_JSON},
    {"source_key", PM_HEX, PLACE(source, key), NOT_IN_JSON},
    {"destination_label", PM_NAME, PLACE(destination, label_folded), .csv_name = "destination",
     NOT_IN_JSON, .header = "TO"},
    {"destination_file", PM_TEXT, PLACE(destination, file), NOT_IN_JSON},
    {"destination_line", PM_POSITIVE, PLACE(destination, line_first), NOT_IN_JSON},
    {"destination_key", PM_HEX, PLACE(destination, key), NOT_IN_JSON},
};

/* ---- table ----------------------------------------------------------------------------------- */

static void print_header(FILE *out, const struct pm_carried_report *report,
                         const struct pm_carried_rows *rows,
                         const struct pm_report_options *options) {
    char *parameters = pm_parameters_text(&report->profile->parameters);
    pm_print_title(out, options, "%s  %s%son %s: what carries its misses",
                   pm_program_name(report->structure), parameters, *parameters ? "  " : "",
                   rows->machine->title);
    free(parameters);
}

static struct pm_fields table_fields(const struct pm_machine *machine) {
    struct pm_fields columns = pm_fields_named(PM_FIELDS(fields), "share");
    struct pm_fields rest = pm_fields_named(
        PM_FIELDS(fields), "carrier_label where source_label destination_label object advice");
    for (size_t l = 0; l < machine->n_levels; l++)
        *PM_PUSH(&columns, fields) =
            (struct pm_field){machine->levels[l].name, PM_COUNT, ROW(misses[l]),
                              .header = machine->levels[l].name, .dispensable = 1};
    for (size_t i = 0; i < rest.n_fields; i++)
        *PM_PUSH(&columns, fields) = rest.fields[i];
    free(rest.fields);
    return columns;
}

/* Rows that are not shown, summed up. */
static void add_rest(struct pm_text_table *table, struct pm_fields columns,
                     const struct pm_carried_row *rest, size_t n) {
    char *label = pm_sprintf("other (%zu smaller ones)", n);
    size_t n_levels = rest->machine->n_levels;
    pm_text_table_cell(table, pm_percent_text(rest->share).text);
    for (size_t l = 0; l < n_levels; l++)
        pm_text_table_cell(table, pm_count_text(rest->misses[l]).text);
    pm_text_table_cell(table, label);
    for (size_t i = n_levels + 2; i < columns.n_fields; i++)
        pm_text_table_cell(table, NULL);
    free(label);
}

static void print_advice(FILE *out, const struct pm_report_options *options, const bool *given) {
    static const char *const meanings[PM_N_ADVICE] = {
        [PM_ADVICE_BLOCK] =
            "block: a loop comes back to the same data in the next iteration of the "
            "loop that carries: interchange the two, or block (tile) it, so that a "
            "part of the data is used up before the next one comes.",
        [PM_ADVICE_RENUMBER] =
            "renumber: the data is picked by an index or a pointer, so that no other order of the "
            "loops brings its uses nearer to each other: sort the indices, renumber the data so "
            "that what is used together has neighbouring numbers, or pack what is used into fewer "
            "blocks.",
        [PM_ADVICE_REORDER] = "reorder: the loop itself comes back to the same blocks only after "
                              "many others: a shorter stride, or data or iterations in another "
                              "order.",
        [PM_ADVICE_FUSE] = "fuse: two loops use the same data one after the other: fuse them, or "
                           "let one follow the other by few iterations (shifted, or both blocked "
                           "and the blocks fused).",
        [PM_ADVICE_SKEW] = "skew: a later iteration of the loop that carries, as of a time loop, "
                           "comes back to the data in another loop or by a new call: what helps is "
                           "to work on a part of the data over several of its iterations (time "
                           "skewing).",
        [PM_ADVICE_CALLS] = "join calls: a loop is executed several times within one iteration of "
                            "the loop that carries, or one call of the routine: do the work of "
                            "these executions in one.",
    };
    for (unsigned i = 0; i < PM_N_ADVICE; i++)
        if (given[i] && meanings[i])
            pm_print_note(out, options, "%s", meanings[i]);
}

static void write_machine(FILE *out, const struct pm_carried_report *report,
                          const struct pm_carried_rows *rows,
                          const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    struct pm_fields columns = table_fields(rows->machine);
    struct pm_carried_row rest = {.machine = rows->machine};
    size_t n_rest = 0;
    bool given[PM_N_ADVICE] = {false};
    pm_fields_columns(table, columns);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_carried_row *row = &rows->rows[i];
        if ((!options->max_rows || i < options->max_rows) &&
            !(100 * row->share < options->min_percent)) {
            pm_fields_cells(table, columns, NULL, row);
            given[row->advice] = true;
            continue;
        }
        n_rest++;
        rest.share += row->share;
        for (size_t l = 0; l < rows->machine->n_levels; l++)
            rest.misses[l] += row->misses[l];
    }
    if (n_rest)
        add_rest(table, columns, &rest, n_rest);
    print_header(out, report, rows, options);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
    free(columns.fields);
    print_advice(out, options, given);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

PM_GETTER(level_kind, struct pm_level, pm_text(pm_level_kind_word(row->kind)))

static const struct pm_field level_fields[] = {
    {"name", PM_TEXT, PM_MEMBER(struct pm_level, name)},
    {"kind", PM_TEXT, .get = level_kind},
    {"size_bytes", PM_INTEGER, PM_MEMBER(struct pm_level, size_bytes)},
    {"block_bytes", PM_INTEGER, PM_MEMBER(struct pm_level, block_bytes)},
};

static json_t *machine_json(const struct pm_carried_rows *rows) {
    const struct pm_machine *machine = rows->machine;
    json_t *object = json_object();
    json_object_set_new(object, "name", pm_json_text(machine->name));
    json_object_set_new(object, "title", pm_json_text(machine->title));
    json_object_set_new(object, "levels",
                        pm_fields_array(PM_FIELDS(level_fields), machine->levels, machine->n_levels,
                                        sizeof *machine->levels));
    json_object_set_new(object, "misses", misses_json(machine, rows->misses));
    json_object_set_new(object, "cycles", pm_json_number(rows->cycles));
    json_object_set_new(
        object, "rows",
        pm_fields_array(PM_FIELDS(fields), rows->rows, rows->n_rows, sizeof *rows->rows));
    return object;
}

static void write_json(FILE *out, const struct pm_carried_report *report,
                       struct pm_carried_rows *const *rows) {
    json_t *document = pm_program_document("carried", report->structure), *machines = json_array();
    json_object_set_new(document, "parameters", pm_json_parameters(&report->profile->parameters));
    for (size_t i = 0; i < report->n_machines; i++)
        json_array_append_new(machines, machine_json(rows[i]));
    json_object_set_new(document, "machines", machines);
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* What a row is at one level. */
struct level_line {
    struct pm_level level;
    double misses, cycles;
};

static void write_csv(FILE *out, const struct pm_carried_report *report,
                      struct pm_carried_rows *const *rows) {
    static const struct pm_field of_level[] = {
        {"level", PM_TEXT, PM_MEMBER(struct level_line, level.name)},
        {"block_bytes", PM_INTEGER, PM_MEMBER(struct level_line, level.block_bytes)},
        {"misses", PM_COUNT, PM_MEMBER(struct level_line, misses)},
        {"cycles", PM_COUNT, PM_MEMBER(struct level_line, cycles)},
    };
    struct pm_csv csv = {.out = out};
    struct pm_fields first = pm_fields_named(PM_FIELDS(fields), "program parameters machine");
    struct pm_fields last =
        pm_fields_named(PM_FIELDS(fields),
                        "carrier_label across carrier_file carrier_line carrier_key source_label "
                        "source_file source_line source_key destination_label destination_file "
                        "destination_line destination_key object irregular advice");
    pm_fields_csv_names(&csv, first);
    pm_fields_csv_names(&csv, PM_FIELDS(of_level));
    pm_fields_csv_names(&csv, last);
    pm_csv_end_line(&csv);
    for (size_t m = 0; m < report->n_machines; m++)
        for (size_t r = 0; r < rows[m]->n_rows; r++)
            for (size_t l = 0; l < rows[m]->machine->n_levels; l++) {
                const struct pm_carried_row *row = &rows[m]->rows[r];
                struct level_line line = {row->machine->levels[l], row->misses[l], NAN};
                if (!(line.misses > 0))
                    continue;
                line.cycles = line.misses * line.level.miss_penalty_cycles * line.level.exposed;
                pm_fields_csv_values(&csv, first, row);
                pm_fields_csv_values(&csv, PM_FIELDS(of_level), &line);
                pm_fields_csv_values(&csv, last, row);
                pm_csv_end_line(&csv);
            }
    free(first.fields);
    free(last.fields);
}

void pm_report_carried(FILE *out, const struct pm_carried_report *report,
                       const struct pm_report_options *options) {
    struct pm_carried_rows **rows = pm_alloc(report->n_machines, sizeof *rows);
    for (size_t i = 0; i < report->n_machines; i++)
        rows[i] = pm_carried_rows_new(report, report->machines[i]);
    if (options->format == PM_REPORT_JSON)
        write_json(out, report, rows);
    else if (options->format == PM_REPORT_CSV)
        write_csv(out, report, rows);
    for (size_t i = 0; i < report->n_machines; i++) {
        if (options->format == PM_REPORT_TABLE) {
            fputs(i ? "\n" : "", out);
            write_machine(out, report, rows[i], options);
        }
        pm_carried_rows_free(rows[i]);
    }
    free(rows);
}
