/* What a report says of a row, declared once: each field's name, what kind of figure it is, how to
   get it, and the head of its column.  A table, JSON and CSV are three writers over such a
   declaration:

       static const struct pm_field fields[] = {
           {"label", PM_NAME, PM_MEMBER(struct row, label), .header = "LOOP"},
           {"file", PM_TEXT, .get = pm_place_file},
           {"self_seconds", PM_SECONDS, PM_MEMBER(struct row, seconds), .header = "TIME"},
       };

   JSON has the fields in the order of the declaration; a table and CSV those that a list of names
   gives, in the list's order.  What is not known is "?" or empty in a table, null in JSON, and an
   empty field in CSV. */
#ifndef PM_FIELDS_H
#define PM_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/base.h"
#include "report/options.h"

struct pm_csv;
struct pm_text_table;

/* What a figure is, and with it how a table writes it. */
enum pm_field_kind {
    PM_TEXT,     /* NULL: not known */
    PM_NAME,     /* a text that a table may shorten */
    PM_NUMBER,   /* all digits; NAN: not known, as for the next five */
    PM_COUNT,    /* "20.1M" */
    PM_RATE,     /* "0.75" */
    PM_SECONDS,  /* "171 ms" */
    PM_PERCENT,  /* a fraction of 1: "89" */
    PM_POSITIVE, /* 0: not known; line numbers, bytes of a block */
    PM_INDEX,    /* PM_NONE: not known */
    PM_INTEGER,
    PM_HEX,
    PM_YES_NO,    /* true and false, in CSV 1 and 0 */
    PM_JSON_ONLY, /* an object or array, only in JSON */
};

/* A figure of one row. */
struct pm_field_value {
    enum { PM_UNKNOWN, PM_ABSENT, PM_IS_TEXT, PM_IS_NUMBER, PM_IS_INTEGER, PM_IS_JSON } type;
    const char *text;
    char *owned; /* what `text` is in, if it is to be freed */
    double number;
    uint64_t integer;
    json_t *json;
};

struct pm_field_value pm_unknown(void);
struct pm_field_value
pm_absent(void); /* not of this row: JSON leaves the field out, others empty */
struct pm_field_value pm_text(const char *text);
struct pm_field_value pm_owned_text(char *text); /* freed by the writer */
struct pm_field_value pm_copied_text(const char *text);
struct pm_field_value pm_percent_value(double share); /* "12%", "?" for NAN */
struct pm_field_value pm_number(double number);
struct pm_field_value pm_integer(uint64_t integer);
struct pm_field_value pm_json_value(json_t *json);

/* Types that a member of a row may have. */
enum pm_member_type { PM_NO_MEMBER, PM_STRING, PM_DOUBLE, PM_BOOL, PM_U8, PM_U16, PM_U32, PM_U64 };

#define PM_MEMBER(type_, member_)                                                                  \
    .offset = offsetof(type_, member_),                                                            \
    .member = _Generic(((type_){}).member_, char *                                               \
                       : PM_STRING, const char *                                                   \
                       : PM_STRING, double                                                         \
                       : PM_DOUBLE, bool                                                           \
                       : PM_BOOL, uint8_t                                                          \
                       : PM_U8, uint16_t                                                           \
                       : PM_U16, uint32_t                                                          \
                       : PM_U32, uint64_t                                                          \
                       : PM_U64)

struct pm_field {
    const char *name; /* in JSON and CSV; with the unit, where a number could be mistaken */
    enum pm_field_kind kind;
    /* How to get it: a member of the row (PM_MEMBER), or from the row at this offset. */
    size_t offset;
    enum pm_member_type member;
    struct pm_field_value (*get)(const void *row);
    const char *csv_name; /* where that is another one than in JSON; NULL: the same */
    bool not_in_json;
    bool (*json_when)(const void *row); /* JSON leaves it out of rows for which this does not
                                           hold; NULL: it is in all */
    /* In a table. */
    const char *header; /* NULL: "" */
    struct pm_field_value (*cell)(
        const void *row); /* where the cell says it otherwise; NULL: the same */
    char mark[2];     /* ">", and the bool of the row that says whether it stands before a figure */
    size_t marked_if; /* (PM_MARKED) */
    unsigned char dispensable; /* 0: always there; columns of the highest number are the first that
                                  a narrow terminal does without */
};

#define PM_MARKED(mark_, type_, flag_) .mark = mark_, .marked_if = offsetof(type_, flag_)

/* Defines a function for `get` or `cell`: VALUE, in terms of `row`. */
#define PM_GETTER(name_, type_, value_)                                                            \
    static struct pm_field_value name_(const void *at_) {                                          \
        const type_ *row = at_;                                                                    \
        return value_;                                                                             \
    }

struct pm_fields {
    PM_ARRAY(struct pm_field, fields);
};

/* All fields of a declaration; not to be freed. */
#define PM_FIELDS(array)                                                                           \
    ((struct pm_fields){.fields = (struct pm_field *)(uintptr_t)(array),                           \
                        .n_fields = sizeof(array) / sizeof *(array)})

/* Of ALL those that NAMES lists, with blanks between, in that order; others may be added
   (PM_PUSH).  The caller frees FIELDS of the result, not their texts. */
struct pm_fields pm_fields_named(struct pm_fields all, const char *names);

/* What FIELD is of ROW, before it is written; `owned` is to be freed, and `json` released. */
struct pm_field_value pm_field_value_of(const struct pm_field *field, const void *row);
/* The order of two rows by FIELD: numbers from the largest on, texts by letters, what is not known
   last. */
int pm_field_compare(const struct pm_field *field, const void *a, const void *b);

/* ---- the three writers ----------------------------------------------------------------------- */

/* Heads of the columns; a row's cells.  ONLY, if not NULL, lists fields as pm_fields_named does:
   cells of others stay empty. */
void pm_fields_columns(struct pm_text_table *table, struct pm_fields fields);
void pm_fields_cells(struct pm_text_table *table, struct pm_fields fields, const char *only,
                     const void *row);

/* What a table has in the cell of FIELD, owned by the caller; NULL: nothing. */
char *pm_field_cell(const struct pm_field *field, const void *row);

/* A table row by row. */
struct pm_table_rows {
    struct pm_text_table *table;
    struct pm_fields columns;
    size_t n_rows;
};
struct pm_table_rows pm_table_begin(struct pm_fields columns); /* of which it takes the list */
void pm_table_row(struct pm_table_rows *rows, const void *row);
/* Prints it and frees it.  With a TITLE, which stands before it, only if it has rows. */
void pm_table_end(FILE *out, struct pm_table_rows *rows, const char *title,
                  const struct pm_report_options *options);

/* A whole table of N rows, each of SIZE bytes. */
void pm_fields_table(FILE *out, struct pm_fields fields, const void *rows, size_t n, size_t size,
                     const struct pm_report_options *options);

/* Names, or values of a row, into the present line; of no row (NULL) empty ones. */
void pm_fields_csv_names(struct pm_csv *csv, struct pm_fields fields);
void pm_fields_csv_values(struct pm_csv *csv, struct pm_fields fields, const void *row);

/* Header and all rows, each of SIZE bytes. */
void pm_fields_csv(FILE *out, struct pm_fields all, const char *names, const void *rows, size_t n,
                   size_t size);

json_t *pm_fields_json(struct pm_fields fields, const void *row);
void pm_fields_set(json_t *object, struct pm_fields fields, const void *row);
json_t *pm_fields_array(struct pm_fields fields, const void *rows, size_t n, size_t size);

#define PM_JSON_OBJECT(fields, row) pm_fields_json(PM_FIELDS(fields), row)

#endif
