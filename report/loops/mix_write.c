/* `pmodel loops --mix` as a table, JSON and CSV.  Needs the rows of mix.c. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/loops/loops.h"
#include "report/loops/mix.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static const char *const level_words[] = {"block", "loop", "routine", "module", "program"};

bool pm_mix_level_from_name(const char *name, enum pm_mix_level *level) {
    for (size_t i = 0; i < sizeof level_words / sizeof level_words[0]; i++)
        if (strcmp(level_words[i], name) == 0) {
            *level = (enum pm_mix_level)i;
            return true;
        }
    return false;
}

const char *pm_mix_level_word(enum pm_mix_level level) { return level_words[level]; }

const char *pm_mix_level_header(enum pm_mix_level level) {
    static const char *const headers[] = {"BASIC BLOCK", "ROUTINE / LOOP", "ROUTINE", "MODULE",
                                          "PROGRAM"};
    return headers[level];
}

static double share_of(const struct pm_mix_row *row, const struct pm_mix_item *item) {
    return row->n_operations ? (double)item->count / (double)row->n_operations : NAN;
}

/* ---- table ----------------------------------------------------------------------------------- */

static void add_item(struct pm_text_table *table, const struct pm_mix_row *row,
                     const struct pm_mix_item *item) {
    char *op_class;
    if (item->op_class == PM_OP_UNKNOWN) {
        char *names = pm_unknowns_label(row->unknowns, row->n_unknowns);
        op_class = pm_sprintf("unknown: %s", names);
        free(names);
    } else {
        op_class = pm_strdup(pm_op_class_name((enum pm_op_class)item->op_class));
    }
    pm_text_table_number(table, item->count);
    pm_text_table_cell(table, pm_percent_text(share_of(row, item)).text);
    if (item->width_bits)
        pm_text_table_number(table, item->width_bits);
    else
        pm_text_table_cell(table, NULL);
    if (item->element_bytes)
        pm_text_table_number(table, 8u * item->element_bytes);
    else
        pm_text_table_cell(table, NULL);
    pm_text_table_cell(table, op_class);
    free(op_class);
}

/* The row's name and numbers stand in the line of its first class. */
static void add_mix_row(struct pm_text_table *table, const struct pm_mix_row *row) {
    for (size_t i = 0; i < row->n_items; i++) {
        char *label = row->block == PM_NONE ? pm_strdup(row->label)
                                            : pm_sprintf("%s 0x%" PRIx64, row->label, row->address);
        pm_text_table_cell(table, i ? NULL : label);
        pm_text_table_cell(table, i ? NULL : row->source);
        if (i)
            pm_text_table_cell(table, NULL);
        else
            pm_text_table_number(table, row->n_instructions);
        add_item(table, row, &row->items[i]);
        free(label);
    }
}

static void write_table(FILE *out, const struct pm_structure *structure, const struct pm_mix *mix,
                        enum pm_mix_level level, const struct pm_report_options *options) {
    char *title = pm_sprintf("%s (%s): instruction mix", pm_program_name(structure),
                             structure->isa ? structure->isa : "?");
    pm_print_bold(out, title, options->color);
    free(title);
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, pm_mix_level_header(level), PM_COLUMN_NAME);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
    pm_text_table_column(table, "INSTRUCTIONS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "OPERATIONS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "%", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "BITS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "ELEMENT", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "CLASS", PM_COLUMN_TEXT);
    for (size_t i = 0; i < mix->n_rows; i++)
        add_mix_row(table, &mix->rows[i]);
    pm_text_table_print(out, table, options->width, options->color);
    pm_text_table_free(table);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *pm_unknowns_json(const struct pm_mix_unknown *unknowns, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "mnemonic", pm_json_text(unknowns[i].mnemonic));
        json_object_set_new(object, "count", pm_json_integer(unknowns[i].count));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *row_json(const struct pm_structure *structure, const struct pm_mix_row *row) {
    json_t *object = json_object(), *items = json_array();
    if (row->scope != PM_NONE) {
        const struct pm_scope *scope = &structure->scopes[row->scope];
        bool is_block = row->block != PM_NONE;
        json_object_set_new(object, "label", pm_json_text(row->label));
        json_object_set_new(object, "name", pm_json_text(pm_code_name(structure, row->scope)));
        json_object_set_new(object, "kind",
                            json_string(is_block ? "block" : pm_scope_kind_word(scope->kind)));
        json_object_set_new(object, "key", pm_json_hex(scope->key));
        json_object_set_new(object, "file", pm_json_text(scope->file));
        json_object_set_new(
            object, "line",
            pm_json_line_number(is_block ? structure->blocks[row->block].line : scope->line_first));
        json_object_set_new(object, "address", pm_json_hex(row->address));
    }
    json_object_set_new(object, "instructions", pm_json_integer(row->n_instructions));
    json_object_set_new(object, "operations", pm_json_integer(row->n_operations));
    for (size_t i = 0; i < row->n_items; i++) {
        const struct pm_mix_item *item = &row->items[i];
        json_t *each = json_object();
        json_object_set_new(each, "class",
                            json_string(pm_op_class_name((enum pm_op_class)item->op_class)));
        json_object_set_new(each, "width_bits",
                            item->width_bits ? json_integer(item->width_bits) : json_null());
        json_object_set_new(each, "element_bytes",
                            item->element_bytes ? json_integer(item->element_bytes) : json_null());
        json_object_set_new(each, "count", pm_json_integer(item->count));
        json_object_set_new(each, "share", pm_json_number(share_of(row, item)));
        json_array_append_new(items, each);
    }
    json_object_set_new(object, "mix", items);
    json_object_set_new(object, "unknown_instructions",
                        pm_unknowns_json(row->unknowns, row->n_unknowns));
    return object;
}

static void write_json(FILE *out, const struct pm_structure *structure, const struct pm_mix *mix,
                       enum pm_mix_level level) {
    json_t *document = pm_json_document("mix"), *rows = json_array();
    json_object_set_new(document, "program", pm_json_text(pm_program_name(structure)));
    json_object_set_new(document, "isa", pm_json_text(structure->isa));
    json_object_set_new(document, "level", json_string(level_words[level]));
    for (size_t i = 0; i + 1 < mix->n_rows; i++)
        json_array_append_new(rows, row_json(structure, &mix->rows[i]));
    json_object_set_new(document, "rows", rows);
    json_object_set_new(document, "total", row_json(structure, &mix->rows[mix->n_rows - 1]));
    pm_json_print(out, document);
}

/* ---- CSV: a line for each class of each row; those of the whole are for the reader to add up
 * ------ */

static void write_csv(FILE *out, const struct pm_structure *structure, const struct pm_mix *mix,
                      enum pm_mix_level level) {
    static const char *const names[] = {"program",       "level",  "label", "key",
                                        "address",       "source", "class", "width_bits",
                                        "element_bytes", "count",  "share", "mnemonics"};
    struct pm_csv csv = {.out = out};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pm_csv_text(&csv, names[i]);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i + 1 < mix->n_rows; i++)
        for (size_t k = 0; k < mix->rows[i].n_items; k++) {
            const struct pm_mix_row *row = &mix->rows[i];
            const struct pm_mix_item *item = &row->items[k];
            char *unknowns = pm_unknowns_label(row->unknowns, row->n_unknowns);
            pm_csv_text(&csv, pm_program_name(structure));
            pm_csv_text(&csv, level_words[level]);
            pm_csv_text(&csv, row->label);
            pm_csv_hex(&csv, structure->scopes[row->scope].key);
            pm_csv_hex(&csv, row->address);
            pm_csv_text(&csv, row->source);
            pm_csv_text(&csv, pm_op_class_name((enum pm_op_class)item->op_class));
            pm_csv_number(&csv, item->width_bits ? item->width_bits : NAN);
            pm_csv_number(&csv, item->element_bytes ? item->element_bytes : NAN);
            pm_csv_integer(&csv, item->count);
            pm_csv_number(&csv, share_of(row, item));
            pm_csv_text(&csv, item->op_class == PM_OP_UNKNOWN ? unknowns : NULL);
            pm_csv_end_line(&csv);
            free(unknowns);
        }
}

void pm_report_mix(FILE *out, const struct pm_structure *structure, enum pm_mix_level level,
                   const char *routine, const struct pm_report_options *options) {
    struct pm_mix *mix = pm_mix_new(structure, level, routine);
    switch (options->format) {
    case PM_REPORT_JSON:
        write_json(out, structure, mix, level);
        break;
    case PM_REPORT_CSV:
        write_csv(out, structure, mix, level);
        break;
    default:
        write_table(out, structure, mix, level, options);
    }
    pm_mix_free(mix);
}
