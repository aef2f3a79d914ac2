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

/* ---- the fields of a class in a row ---------------------------------------------------------- */

struct item_row {
    const struct pm_mix_row *row;
    struct pm_mix_item item;
    double share;
    const char *level;
    bool is_first; /* of its row: has the name in a table */
};

static struct item_row item_row(const struct pm_mix_row *row, size_t i, const char *level) {
    const struct pm_mix_item *item = &row->items[i];
    double share = row->n_operations ? (double)item->count / (double)row->n_operations : NAN;
    return (struct item_row){row, *item, share, level, i == 0};
}

static bool is_unknown(const struct item_row *row) { return row->item.op_class == PM_OP_UNKNOWN; }

static const char *class_name(const struct item_row *row) {
    return pm_op_class_name((enum pm_op_class)row->item.op_class);
}

/* The row's name and numbers stand in the line of its first class. */
static struct pm_field_value label_text(const struct item_row *row) {
    const struct pm_mix_row *r = row->row;
    if (!row->is_first || r->block == PM_NONE)
        return pm_text(row->is_first ? r->label : "");
    return pm_owned_text(pm_sprintf("%s 0x%" PRIx64, r->label, r->address));
}

static struct pm_field_value class_text(const struct item_row *row) {
    if (!is_unknown(row))
        return pm_text(class_name(row));
    char *names = pm_unknowns_label(row->row->unknowns, row->row->n_unknowns);
    char *text = pm_sprintf("unknown: %s", names);
    free(names);
    return pm_owned_text(text);
}

static struct pm_field_value positive_or_empty(uint64_t number) {
    return number ? pm_integer(number) : pm_absent();
}

PM_GETTER(item_class, struct item_row, pm_text(class_name(row)))
PM_GETTER(item_program, struct item_row, pm_text(pm_program_name(row->row->place.structure)))
PM_GETTER(item_label, struct item_row, pm_text(row->row->label))
PM_GETTER(item_key, struct item_row, pm_place_key(&row->row->place))
PM_GETTER(item_address, struct item_row, pm_integer(row->row->address))
PM_GETTER(item_source, struct item_row, pm_text(row->row->source))
PM_GETTER(item_mnemonics, struct item_row,
          is_unknown(row)
              ? pm_owned_text(pm_unknowns_label(row->row->unknowns, row->row->n_unknowns))
              : pm_unknown())
PM_GETTER(label_cell, struct item_row, label_text(row))
PM_GETTER(source_cell, struct item_row, pm_text(row->is_first ? row->row->source : ""))
PM_GETTER(instructions_cell, struct item_row,
          row->is_first ? pm_integer(row->row->n_instructions) : pm_absent())
PM_GETTER(bits_cell, struct item_row, positive_or_empty(row->item.width_bits))
PM_GETTER(element_cell, struct item_row, positive_or_empty(8u * row->item.element_bytes))
PM_GETTER(class_cell, struct item_row, class_text(row))

#define ITEM(member_) PM_MEMBER(struct item_row, member_)
#define NOT_IN_JSON .not_in_json = true

static const struct pm_field item_fields[] = {
    {"class", PM_TEXT, .get = item_class, .header = "CLASS", .cell = class_cell},
    {"width_bits", PM_POSITIVE, ITEM(item.width_bits), .header = "BITS", .cell = bits_cell,
     .dispensable = 2},
    {"element_bytes", PM_POSITIVE, ITEM(item.element_bytes), .header = "ELEMENT",
     .cell = element_cell, .dispensable = 3},
    {"count", PM_INTEGER, ITEM(item.count), .header = "OPERATIONS"},
    {"share", PM_PERCENT, ITEM(share), .header = "%"},
    {"program", PM_TEXT, .get = item_program, NOT_IN_JSON},
    {"level", PM_TEXT, ITEM(level), NOT_IN_JSON},
    {"label", PM_NAME, .get = item_label, NOT_IN_JSON, .cell = label_cell},
    {"key", PM_HEX, .get = item_key, NOT_IN_JSON},
    {"address", PM_HEX, .get = item_address, NOT_IN_JSON},
    {"source", PM_NAME, .get = item_source, NOT_IN_JSON, .header = "SOURCE", .cell = source_cell,
     .dispensable = 4},
    {"mnemonics", PM_TEXT, .get = item_mnemonics, NOT_IN_JSON},
    {"instructions", PM_INTEGER, .cell = instructions_cell, NOT_IN_JSON, .header = "INSTRUCTIONS",
     .dispensable = 1},
};

/* ---- the fields of a row, as JSON has them --------------------------------------------------- */

static const struct pm_field unknown_fields[] = {
    {"mnemonic", PM_TEXT, PM_MEMBER(struct pm_mix_unknown, mnemonic)},
    {"count", PM_INTEGER, PM_MEMBER(struct pm_mix_unknown, count)},
};

json_t *pm_unknowns_json(const struct pm_mix_unknown *unknowns, size_t n) {
    return pm_fields_array(PM_FIELDS(unknown_fields), unknowns, n, sizeof *unknowns);
}

static json_t *items_json(const struct pm_mix_row *row) {
    json_t *array = json_array();
    for (size_t i = 0; i < row->n_items; i++) {
        struct item_row item = item_row(row, i, NULL);
        json_array_append_new(array, PM_JSON_OBJECT(item_fields, &item));
    }
    return array;
}

static bool is_part(const void *row) {
    return ((const struct pm_mix_row *)row)->place.scope != PM_NONE;
}

PM_GETTER(row_kind, struct pm_mix_row,
          row->block != PM_NONE ? pm_text("block") : pm_place_kind(&row->place))
PM_GETTER(row_line, struct pm_mix_row,
          row->block != PM_NONE ? pm_integer(row->place.structure->blocks[row->block].line)
                                : pm_place_line_first(&row->place))
PM_GETTER(row_items, struct pm_mix_row, pm_json_value(items_json(row)))
PM_GETTER(row_unknowns, struct pm_mix_row,
          pm_json_value(pm_unknowns_json(row->unknowns, row->n_unknowns)))

#define ROW(member_) PM_MEMBER(struct pm_mix_row, member_)
#define PLACE(get_) PM_PLACE(struct pm_mix_row, place, get_)

static const struct pm_field row_fields[] = {
    {"label", PM_TEXT, ROW(label), .json_when = is_part},
    {"name", PM_TEXT, PLACE(name), .json_when = is_part},
    {"kind", PM_TEXT, .get = row_kind, .json_when = is_part},
    {"key", PM_HEX, PLACE(key), .json_when = is_part},
    {"file", PM_TEXT, PLACE(file), .json_when = is_part},
    {"line", PM_POSITIVE, .get = row_line, .json_when = is_part},
    {"address", PM_HEX, ROW(address), .json_when = is_part},
    {"instructions", PM_INTEGER, ROW(n_instructions)},
    {"operations", PM_INTEGER, ROW(n_operations)},
    {"mix", PM_JSON_ONLY, .get = row_items},
    {"unknown_instructions", PM_JSON_ONLY, .get = row_unknowns},
};

/* ---- the three formats ----------------------------------------------------------------------- */

static void write_table(FILE *out, const struct pm_structure *structure, const struct pm_mix *mix,
                        enum pm_mix_level level, const struct pm_report_options *options) {
    pm_print_title(out, options, "%s (%s): instruction mix", pm_program_name(structure),
                   structure->isa ? structure->isa : "?");
    struct pm_fields columns =
        pm_fields_named(PM_FIELDS(item_fields),
                        "label source instructions count share width_bits element_bytes class");
    columns.fields[0].header = pm_mix_level_header(level);
    struct pm_table_rows table = pm_table_begin(columns);
    for (size_t i = 0; i < mix->n_rows; i++)
        for (size_t k = 0; k < mix->rows[i].n_items; k++) {
            struct item_row item = item_row(&mix->rows[i], k, NULL);
            pm_table_row(&table, &item);
        }
    pm_table_end(out, &table, NULL, options);
}

static void write_json(FILE *out, const struct pm_structure *structure, const struct pm_mix *mix,
                       enum pm_mix_level level) {
    const struct pm_mix_row *total = &mix->rows[mix->n_rows - 1];
    json_t *document = pm_program_document("mix", structure);
    json_object_set_new(document, "isa", pm_json_text(structure->isa));
    json_object_set_new(document, "level", json_string(level_words[level]));
    json_object_set_new(
        document, "rows",
        pm_fields_array(PM_FIELDS(row_fields), mix->rows, mix->n_rows - 1, sizeof *mix->rows));
    json_object_set_new(document, "total", PM_JSON_OBJECT(row_fields, total));
    pm_json_print(out, document);
}

/* A line for each class of each row; those of the program total are for the reader to add up. */
static void write_csv(FILE *out, const struct pm_mix *mix, enum pm_mix_level level) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(item_fields),
                     "program level label key address source class width_bits "
                     "element_bytes count share mnemonics");
    for (size_t i = 0; i + 1 < mix->n_rows; i++)
        for (size_t k = 0; k < mix->rows[i].n_items; k++) {
            struct item_row item = item_row(&mix->rows[i], k, level_words[level]);
            pm_csv_line(&lines, &item);
        }
    pm_csv_end(&lines);
}

void pm_report_mix(FILE *out, const struct pm_structure *structure, enum pm_mix_level level,
                   const char *routine, const struct pm_report_options *options) {
    struct pm_mix *mix = pm_mix_new(structure, level, routine);
    PM_BY_FORMAT(options, write_table(out, structure, mix, level, options),
                 write_json(out, structure, mix, level), write_csv(out, mix, level));
    pm_mix_free(mix);
}
