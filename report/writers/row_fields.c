/* Declared fields as cells of a table, JSON values and CSV; see fields.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/structure/structure.h"
#include "report/writers/writers.h"

/* ---- values ---------------------------------------------------------------------------------- */

struct pm_field_value pm_unknown(void) {
    return (struct pm_field_value){.type = PM_UNKNOWN};
}
struct pm_field_value pm_absent(void) {
    return (struct pm_field_value){.type = PM_ABSENT};
}

struct pm_field_value pm_text(const char *text) {
    return text ? (struct pm_field_value){.type = PM_IS_TEXT, .text = text} : pm_unknown();
}

struct pm_field_value pm_owned_text(char *text) {
    struct pm_field_value value = pm_text(text);
    value.owned = text;
    return value;
}

struct pm_field_value pm_copied_text(const char *text) {
    return pm_owned_text(pm_strdup(text));
}

struct pm_field_value pm_percent_value(double share) {
    if (isnan(share))
        return pm_text("?");
    return pm_owned_text(pm_sprintf("%s%%", pm_percent_text(share).text));
}

struct pm_field_value pm_number(double number) {
    return (struct pm_field_value){.type = PM_IS_NUMBER, .number = number};
}

struct pm_field_value pm_integer(uint64_t integer) {
    return (struct pm_field_value){
        .type = PM_IS_INTEGER, .integer = integer, .number = (double)integer};
}

struct pm_field_value pm_json_value(json_t *json) {
    return (struct pm_field_value){.type = PM_IS_JSON, .json = json};
}

static struct pm_field_value member_of(const struct pm_field *field, const char *at) {
    struct {
        const char *text;
        double number;
        bool flag;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } m;
    switch (field->member) {
    case PM_STRING:
        memcpy(&m.text, at, sizeof m.text);
        return pm_text(m.text);
    case PM_DOUBLE:
        memcpy(&m.number, at, sizeof m.number);
        return pm_number(m.number);
    case PM_BOOL:
        memcpy(&m.flag, at, sizeof m.flag);
        return pm_integer(m.flag);
    case PM_U8:
        memcpy(&m.u8, at, sizeof m.u8);
        return pm_integer(m.u8);
    case PM_U16:
        memcpy(&m.u16, at, sizeof m.u16);
        return pm_integer(m.u16);
    case PM_U32:
        memcpy(&m.u32, at, sizeof m.u32);
        return field->kind == PM_INDEX && m.u32 == PM_NONE ? pm_unknown() : pm_integer(m.u32);
    case PM_U64:
        memcpy(&m.u64, at, sizeof m.u64);
        return pm_integer(m.u64);
    default:
        return pm_unknown();
    }
}

struct pm_field_value pm_field_value_of(const struct pm_field *field, const void *row) {
    const char *at = (const char *)row + field->offset;
    struct pm_field_value value = field->get ? field->get(at) : member_of(field, at);
    if (field->kind == PM_POSITIVE && value.type >= PM_IS_NUMBER && !(value.number > 0))
        value.type = PM_UNKNOWN;
    return value;
}

int pm_field_compare(const struct pm_field *field, const void *a, const void *b) {
    struct pm_field_value x = pm_field_value_of(field, a), y = pm_field_value_of(field, b);
    bool x_known = x.type == PM_IS_TEXT || (x.type >= PM_IS_NUMBER && !isnan(x.number));
    bool y_known = y.type == PM_IS_TEXT || (y.type >= PM_IS_NUMBER && !isnan(y.number));
    int order = (int)y_known - (int)x_known;
    if (order == 0 && x_known)
        order = x.type == PM_IS_TEXT ? strcmp(x.text, y.text) : PM_COMPARE(y.number, x.number);
    free(x.owned);
    free(y.owned);
    return order;
}

/* ---- lists of names -------------------------------------------------------------------------- */

/* The next name of a list: its length, 0 at the end. */
static size_t next_name(const char **list) {
    *list += strspn(*list, " ");
    return strcspn(*list, " ");
}

static const struct pm_field *find_field(const struct pm_fields *all, const char *name,
                                         size_t length) {
    for (size_t i = 0; i < all->n_fields; i++)
        if (strlen(all->fields[i].name) == length &&
            strncmp(all->fields[i].name, name, length) == 0)
            return &all->fields[i];
    fprintf(stderr, "pmodel: no field is declared as %.*s\n", (int)length, name);
    abort(); /* a list in the source that does not fit the declaration beside it */
}

struct pm_fields pm_fields_named(struct pm_fields all, const char *names) {
    struct pm_fields named = {0};
    for (size_t length; (length = next_name(&names)) > 0; names += length)
        *PM_PUSH(&named, fields) = *find_field(&all, names, length);
    return named;
}

static bool is_listed(const char *names, const char *name) {
    for (size_t length; (length = next_name(&names)) > 0; names += length)
        if (strlen(name) == length && strncmp(names, name, length) == 0)
            return true;
    return false;
}

/* ---- tables ---------------------------------------------------------------------------------- */

void pm_fields_columns(struct pm_text_table *table, struct pm_fields fields) {
    for (size_t i = 0; i < fields.n_fields; i++) {
        const struct pm_field *field = &fields.fields[i];
        enum pm_column_kind kind = field->kind == PM_NAME   ? PM_COLUMN_NAME
                                   : field->kind == PM_TEXT ? PM_COLUMN_TEXT
                                                            : PM_COLUMN_NUMBER;
        pm_text_table_column(table, field->header ? field->header : "", kind);
        pm_text_table_dispensable(table, field->dispensable);
    }
}

static struct pm_number_text number_text(enum pm_field_kind kind, double number) {
    struct pm_number_text result = {"?"};
    switch (kind) {
    case PM_COUNT:
        return pm_count_text(number);
    case PM_RATE:
        return pm_rate_text(number);
    case PM_SECONDS:
        return pm_seconds_text(number);
    case PM_PERCENT:
        return pm_percent_text(number);
    default:
        if (isfinite(number))
            pm_format_value(number, result.text, sizeof result.text);
        return result;
    }
}

static char *number_cell(const struct pm_field *field, const void *row, double number) {
    bool marked = field->mark[0] && *((const char *)row + field->marked_if) && !isnan(number);
    return pm_sprintf("%s%s", marked ? field->mark : "", number_text(field->kind, number).text);
}

char *pm_field_cell(const struct pm_field *field, const void *row) {
    struct pm_field_value value = field->cell ? field->cell(row) : pm_field_value_of(field, row);
    bool is_scaled = field->kind >= PM_NUMBER && field->kind <= PM_PERCENT;
    char *cell = NULL;
    if (value.type == PM_IS_TEXT)
        cell = pm_strdup(value.text);
    else if (value.type == PM_IS_INTEGER && !is_scaled)
        cell = pm_sprintf("%" PRIu64, value.integer);
    else if (value.type == PM_IS_NUMBER || value.type == PM_IS_INTEGER)
        cell = number_cell(field, row, value.number);
    else if (field->kind >= PM_NUMBER && value.type == PM_UNKNOWN)
        cell = pm_strdup("?");
    free(value.owned);
    return cell;
}

static void write_cell(struct pm_text_table *table, const struct pm_field *field, const void *row) {
    char *cell = pm_field_cell(field, row);
    pm_text_table_cell(table, cell);
    free(cell);
}

void pm_fields_cells(struct pm_text_table *table, struct pm_fields fields, const char *only,
                     const void *row) {
    for (size_t i = 0; i < fields.n_fields; i++)
        if (!only || is_listed(only, fields.fields[i].name))
            write_cell(table, &fields.fields[i], row);
        else
            pm_text_table_cell(table, NULL);
}

struct pm_table_rows pm_table_begin(struct pm_fields columns) {
    struct pm_table_rows rows = {pm_text_table_new(), columns, 0};
    pm_fields_columns(rows.table, columns);
    return rows;
}

void pm_table_row(struct pm_table_rows *rows, const void *row) {
    pm_fields_cells(rows->table, rows->columns, NULL, row);
    rows->n_rows++;
}

void pm_table_end(FILE *out, struct pm_table_rows *rows, const char *title,
                  const struct pm_report_options *options) {
    if (title && rows->n_rows)
        fputs(title, out);
    if (!title || rows->n_rows)
        pm_text_table_print(out, rows->table, options);
    pm_text_table_free(rows->table);
    free(rows->columns.fields);
}

void pm_fields_table(FILE *out, struct pm_fields fields, const void *rows, size_t n, size_t size,
                     const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    pm_fields_columns(table, fields);
    for (size_t i = 0; i < n; i++)
        pm_fields_cells(table, fields, NULL, (const char *)rows + i * size);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void pm_fields_csv_names(struct pm_csv *csv, struct pm_fields fields) {
    for (size_t i = 0; i < fields.n_fields; i++) {
        const struct pm_field *field = &fields.fields[i];
        pm_csv_text(csv, field->csv_name ? field->csv_name : field->name);
    }
}

void pm_fields_csv_values(struct pm_csv *csv, struct pm_fields fields, const void *row) {
    for (size_t i = 0; i < fields.n_fields; i++) {
        struct pm_field_value value =
            row ? pm_field_value_of(&fields.fields[i], row) : pm_unknown();
        if (value.type == PM_IS_INTEGER && fields.fields[i].kind == PM_HEX)
            pm_csv_hex(csv, value.integer);
        else if (value.type == PM_IS_INTEGER)
            pm_csv_integer(csv, value.integer);
        else if (value.type == PM_IS_NUMBER)
            pm_csv_number(csv, value.number);
        else
            pm_csv_text(csv, value.type == PM_IS_TEXT ? value.text : NULL);
        free(value.owned);
    }
}

struct pm_csv_lines pm_csv_begin(FILE *out, struct pm_fields all, const char *names) {
    struct pm_csv_lines lines = {{.out = out}, pm_fields_named(all, names)};
    pm_fields_csv_names(&lines.csv, lines.fields);
    pm_csv_end_line(&lines.csv);
    return lines;
}

void pm_csv_line(struct pm_csv_lines *lines, const void *row) {
    pm_fields_csv_values(&lines->csv, lines->fields, row);
    pm_csv_end_line(&lines->csv);
}

void pm_csv_end(struct pm_csv_lines *lines) { free(lines->fields.fields); }

void pm_fields_csv(FILE *out, struct pm_fields all, const char *names, const void *rows, size_t n,
                   size_t size) {
    struct pm_csv_lines lines = pm_csv_begin(out, all, names);
    for (size_t i = 0; i < n; i++)
        pm_csv_line(&lines, (const char *)rows + i * size);
    pm_csv_end(&lines);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_of(enum pm_field_kind kind, const struct pm_field_value *value) {
    switch (value->type) {
    case PM_IS_TEXT:
        return pm_json_text(value->text);
    case PM_IS_NUMBER:
        return pm_json_number(value->number);
    case PM_IS_INTEGER:
        return kind == PM_HEX      ? pm_json_hex(value->integer)
               : kind == PM_YES_NO ? json_boolean(value->integer)
                                   : pm_json_integer(value->integer);
    case PM_IS_JSON:
        return value->json;
    default:
        return json_null();
    }
}

void pm_fields_set(json_t *object, struct pm_fields fields, const void *row) {
    for (size_t i = 0; i < fields.n_fields; i++) {
        const struct pm_field *field = &fields.fields[i];
        if (field->not_in_json || (field->json_when && !field->json_when(row)))
            continue;
        struct pm_field_value value = pm_field_value_of(field, row);
        if (value.type != PM_ABSENT)
            json_object_set_new(object, field->name, json_of(field->kind, &value));
        free(value.owned);
    }
}

json_t *pm_fields_json(struct pm_fields fields, const void *row) {
    json_t *object = json_object();
    pm_fields_set(object, fields, row);
    return object;
}

json_t *pm_fields_array(struct pm_fields fields, const void *rows, size_t n, size_t size) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, pm_fields_json(fields, (const char *)rows + i * size));
    return array;
}
