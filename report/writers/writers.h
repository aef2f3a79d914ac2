/* What the writers of the three formats are made of; private to report/. */
#ifndef PM_WRITERS_H
#define PM_WRITERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/parameters.h"
#include "report/options.h"
#include "report/writers/fields.h"
#include "report/writers/svg.h"

/* Executes one of three calls, as options.format says. */
#define PM_BY_FORMAT(options, table, json, csv)                                                    \
    ((options)->format == PM_REPORT_JSON  ? (json)                                                 \
     : (options)->format == PM_REPORT_CSV ? (csv)                                                  \
                                          : (table))

/* ---- text_table.c: a table on a terminal ----------------------------------------------------
   Cells are put in row by row, then the columns get their widths.  Control characters become "?",
   so that a name found in a file cannot move the cursor. */

struct pm_text_table;

enum pm_column_kind {
    PM_COLUMN_NUMBER, /* to the right */
    PM_COLUMN_TEXT,   /* to the left */
    PM_COLUMN_NAME,   /* to the left; may be shortened when the table is too wide */
};

struct pm_text_table *pm_text_table_new(void);
void pm_text_table_free(struct pm_text_table *table);
void pm_text_table_column(struct pm_text_table *table, const char *title, enum pm_column_kind kind);
/* What pm_field.dispensable says, of the column that was added last. */
void pm_text_table_dispensable(struct pm_text_table *table, unsigned char dispensable);
/* The next cell of the row that is being filled; NULL or "": empty. */
void pm_text_table_cell(struct pm_text_table *table, const char *text);
void pm_text_table_number(struct pm_text_table *table, uint64_t number);
/* A line of its own, not cut into columns; only between whole rows. */
void pm_text_table_line(struct pm_text_table *table, const char *text);
/* Where the terminal is narrower than the table, names are shortened; then columns are left out,
   the most dispensable first, and a line says which. */
void pm_text_table_print(FILE *out, const struct pm_text_table *table,
                         const struct pm_report_options *options);

/* TEXT, broken between words so that no line is longer than WIDTH (0: no limit); FIRST stands
   before the first line, NEXT before the others. */
void pm_print_wrapped(FILE *out, const char *first, const char *next, const char *text,
                      unsigned width);
/* In bold type, where there is any. */
void pm_print_title(FILE *out, const struct pm_report_options *options, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A sentence, indented; a note, with "-" before it. */
void pm_print_line(FILE *out, const struct pm_report_options *options, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pm_print_note(FILE *out, const struct pm_report_options *options, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- write_warnings.c: what stands before the figures -------------------------------------------
 */

/* Those of the options: of a table on OUT; of CSV, which has no place for them, on the error
   stream. */
void pm_print_warnings(FILE *out, const struct pm_report_options *options);
/* "warnings": [{kind, share, text}] of DOCUMENT. */
void pm_json_set_warnings(json_t *document, const struct pm_report_options *options);

/* ---- csv.c: RFC 4180 -------------------------------------------------------------------------
   A header line first, lines end with CR LF, fields with commas, quotes or line ends are quoted.
   What is not known is an empty field. */

struct pm_csv {
    FILE *out;
    bool inside_line;
};

void pm_csv_text(struct pm_csv *csv, const char *text); /* NULL: empty */
void pm_csv_number(struct pm_csv *csv, double value);   /* NAN: empty; all digits */
void pm_csv_integer(struct pm_csv *csv, uint64_t value);
void pm_csv_hex(struct pm_csv *csv, uint64_t value); /* 0x… */
void pm_csv_end_line(struct pm_csv *csv);

/* Lines of CSV one by one: begun with a line of names, those of ALL that NAMES lists. */
struct pm_csv_lines {
    struct pm_csv csv;
    struct pm_fields fields;
};
struct pm_csv_lines pm_csv_begin(FILE *out, struct pm_fields all, const char *names);
void pm_csv_line(struct pm_csv_lines *lines, const void *row);
void pm_csv_end(struct pm_csv_lines *lines); /* frees what it owns */

/* ---- write_units.c: numbers as a person reads them; "?" for NAN ------------------------------ */

enum { PM_NUMBER_TEXT_SIZE = 32 };
struct pm_number_text {
    char text[PM_NUMBER_TEXT_SIZE];
};

struct pm_number_text pm_seconds_text(double seconds); /* "1.93 s", "171 ms", "12.3 us", "40 ns" */
struct pm_number_text pm_count_text(double count);     /* "12", "1.53k", "20.1M" */
struct pm_number_text pm_rate_text(double rate);       /* "0.75", "0.002", "2e-05", "12.3" */
struct pm_number_text
pm_percent_text(double share); /* 0.89 → "89", 0.0123 → "1.2", 1e-5 → "<0.1" */
struct pm_number_text pm_bytes_text(uint64_t bytes); /* "64 bytes", "4 KiB", "2 MiB" */

/* ---- json.c -----------------------------------------------------------------------------------
   Values that are not known are null. */

json_t *pm_json_text(const char *text); /* NULL: null; bytes that are not UTF-8 become U+FFFD */
json_t *pm_json_number(double value);   /* NAN, infinite: null; integers without a point */
json_t *pm_json_parameters(const struct pm_parameters *parameters); /* {"N": 40} */
json_t *pm_json_integer(uint64_t value);
json_t *pm_json_hex(uint64_t value); /* "0x…": JSON numbers lose bits past 2^53 */
/* {"format": "pmodel-NAME", "version": 1} */
json_t *pm_json_document(const char *name);
void pm_json_print(FILE *out, json_t *document); /* and frees it */

#endif
