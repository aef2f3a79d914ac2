/* A table for a terminal: columns as wide as their widest cell, shortened names where the terminal
   is narrower; see writers.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "report/writers/writers.h"

enum { NARROWEST_NAME = 16, GAP = 2 };

struct column {
    char *title;
    enum pm_column_kind kind;
};

struct pm_text_table {
    PM_ARRAY(struct column, columns);
    /* Row by row.  A line of its own is one row whose first cell is the line and whose other cells
       are NULL; `whole_lines` marks those rows. */
    PM_ARRAY(char *, cells);
    PM_ARRAY(bool, whole_lines);
};

struct pm_text_table *pm_text_table_new(void) {
    return pm_alloc(1, sizeof(struct pm_text_table));
}

void pm_text_table_free(struct pm_text_table *table) {
    for (size_t i = 0; i < table->n_columns; i++)
        free(table->columns[i].title);
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->columns);
    free(table->cells);
    free(table->whole_lines);
    free(table);
}

void pm_text_table_column(struct pm_text_table *table, const char *title,
                          enum pm_column_kind kind) {
    struct column *column = PM_PUSH(table, columns);
    column->title = pm_strdup(title);
    column->kind = kind;
}

/* A copy without control characters. */
static char *printable(const char *text) {
    char *copy = pm_strdup(text ? text : "");
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    return copy;
}

void pm_text_table_cell(struct pm_text_table *table, const char *text) {
    if (table->n_cells % table->n_columns == 0)
        *PM_PUSH(table, whole_lines) = false;
    *PM_PUSH(table, cells) = printable(text);
}

void pm_text_table_number(struct pm_text_table *table, uint64_t number) {
    char *text = pm_sprintf("%" PRIu64, number);
    pm_text_table_cell(table, text);
    free(text);
}

void pm_text_table_line(struct pm_text_table *table, const char *text) {
    *PM_PUSH(table, whole_lines) = true;
    *PM_PUSH(table, cells) = printable(text);
    for (size_t i = 1; i < table->n_columns; i++)
        *PM_PUSH(table, cells) = NULL;
}

/* Columns on the screen: characters of UTF-8, each taken as one wide. */
static size_t display_width(const char *text) {
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* Bytes of the first WIDTH characters. */
static size_t prefix_bytes(const char *text, size_t width) {
    const char *at = text;
    for (; *at; at++)
        if (((unsigned char)*at & 0xc0) != 0x80 && width-- == 0)
            break;
    return (size_t)(at - text);
}

static void print_cell(FILE *out, const char *text, size_t width, bool right, bool last) {
    size_t own = display_width(text);
    size_t padding = own < width ? width - own : 0;
    if (own > width) {
        fprintf(out, "%.*s~", (int)prefix_bytes(text, width - 1), text);
        return;
    }
    if (right)
        fprintf(out, "%*s", (int)padding, "");
    fputs(text, out);
    if (!right && !last)
        fprintf(out, "%*s", (int)padding, "");
}

/* Takes from the widest shortenable column until the table fits or nothing more can be taken. */
static void fit_widths(const struct pm_text_table *table, size_t *widths, unsigned limit) {
    size_t total = 1;
    for (size_t i = 0; i < table->n_columns; i++)
        total += widths[i] + (i ? GAP : 0);
    while (total > limit) {
        size_t widest = table->n_columns;
        for (size_t i = 0; i < table->n_columns; i++)
            if (table->columns[i].kind == PM_COLUMN_NAME && widths[i] > NARROWEST_NAME &&
                (widest == table->n_columns || widths[i] > widths[widest]))
                widest = i;
        if (widest == table->n_columns)
            return;
        widths[widest]--;
        total--;
    }
}

static void print_row(FILE *out, const struct pm_text_table *table, const size_t *widths,
                      char *const *cells) {
    size_t last = table->n_columns; /* trailing empty cells leave no blanks behind */
    while (last > 0 && !*(cells ? cells[last - 1] : table->columns[last - 1].title))
        last--;
    for (size_t i = 0; i < last; i++) {
        fprintf(out, "%*s", i ? GAP : 1, "");
        print_cell(out, cells ? cells[i] : table->columns[i].title, widths[i],
                   table->columns[i].kind == PM_COLUMN_NUMBER, i + 1 == last);
    }
}

void pm_text_table_print(FILE *out, const struct pm_text_table *table, unsigned width, bool color) {
    size_t *widths = pm_alloc(table->n_columns, sizeof *widths);
    for (size_t i = 0; i < table->n_columns; i++)
        widths[i] = display_width(table->columns[i].title);
    for (size_t row = 0; row < table->n_whole_lines; row++)
        for (size_t i = 0; !table->whole_lines[row] && i < table->n_columns; i++) {
            size_t own = display_width(table->cells[row * table->n_columns + i]);
            widths[i] = own > widths[i] ? own : widths[i];
        }
    if (width)
        fit_widths(table, widths, width);
    fputs(color ? "\033[1m" : "", out);
    print_row(out, table, widths, NULL);
    fputs(color ? "\033[0m\n" : "\n", out);
    for (size_t row = 0; row < table->n_whole_lines; row++) {
        char *const *cells = &table->cells[row * table->n_columns];
        if (table->whole_lines[row])
            fprintf(out, " %s", cells[0]);
        else
            print_row(out, table, widths, cells);
        fputc('\n', out);
    }
    free(widths);
}

void pm_print_wrapped(FILE *out, const char *first, const char *next, const char *text,
                      unsigned width) {
    char *clean = printable(text);
    size_t column = display_width(first);
    bool at_start = true;
    char *rest = NULL;
    fputs(first, out);
    for (char *word = strtok_r(clean, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t own = display_width(word);
        if (!at_start && width && column + 1 + own > width) {
            fprintf(out, "\n%s", next);
            column = display_width(next);
            at_start = true;
        }
        fprintf(out, "%s%s", at_start ? "" : " ", word);
        column += own + !at_start;
        at_start = false;
    }
    fputc('\n', out);
    free(clean);
}

void pm_print_bold(FILE *out, const char *text, bool color) {
    char *clean = printable(text);
    fprintf(out, "%s%s%s\n", color ? "\033[1m" : "", clean, color ? "\033[0m" : "");
    free(clean);
}
