/* A table for a terminal: columns as wide as their widest cell; where the terminal is narrower,
   names are shortened, then columns left out; see writers.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "report/writers/writers.h"

enum { NARROWEST_NAME = 16, GAP = 2 };

struct column {
    char *title;
    enum pm_column_kind kind;
    unsigned char dispensable;
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

void pm_text_table_dispensable(struct pm_text_table *table, unsigned char dispensable) {
    table->columns[table->n_columns - 1].dispensable = dispensable;
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

/* What of a table is printed: columns that are left out are 0 wide. */
struct layout {
    size_t *natural, *widths;
    bool *is_left_out;
};

static size_t total_width(const struct pm_text_table *table, const struct layout *layout) {
    size_t total = 0;
    for (size_t i = 0; i < table->n_columns; i++)
        if (!layout->is_left_out[i])
            total += layout->widths[i] + (total ? GAP : 1);
    return total;
}

/* Takes from the widest column of names until the table fits; false if nothing more can be taken.
 */
static bool shorten_names(const struct pm_text_table *table, struct layout *layout,
                          unsigned limit) {
    size_t total = total_width(table, layout);
    while (total > limit) {
        size_t widest = table->n_columns;
        for (size_t i = 0; i < table->n_columns; i++)
            if (!layout->is_left_out[i] && table->columns[i].kind == PM_COLUMN_NAME &&
                layout->widths[i] > NARROWEST_NAME &&
                (widest == table->n_columns || layout->widths[i] > layout->widths[widest]))
                widest = i;
        if (widest == table->n_columns)
            return false;
        layout->widths[widest]--;
        total--;
    }
    return true;
}

/* Leaves out the most dispensable column, of several the last; false if there is none. */
static bool leave_column_out(const struct pm_text_table *table, struct layout *layout) {
    size_t most = table->n_columns;
    for (size_t i = 0; i < table->n_columns; i++) {
        unsigned dispensable = layout->is_left_out[i] ? 0 : table->columns[i].dispensable;
        if (dispensable &&
            (most == table->n_columns || dispensable >= table->columns[most].dispensable))
            most = i;
    }
    if (most == table->n_columns)
        return false;
    layout->is_left_out[most] = true;
    return true;
}

/* LIMIT 0: none. */
static struct layout new_layout(const struct pm_text_table *table, unsigned limit) {
    size_t n = table->n_columns;
    struct layout layout = {pm_alloc(n, sizeof(size_t)), pm_alloc(n, sizeof(size_t)),
                            pm_alloc(n, sizeof(bool))};
    for (size_t i = 0; i < n; i++)
        layout.natural[i] = display_width(table->columns[i].title);
    for (size_t row = 0; row < table->n_whole_lines; row++)
        for (size_t i = 0; !table->whole_lines[row] && i < n; i++) {
            size_t own = display_width(table->cells[row * n + i]);
            layout.natural[i] = own > layout.natural[i] ? own : layout.natural[i];
        }
    do {
        for (size_t i = 0; i < n; i++)
            layout.widths[i] = layout.natural[i];
    } while (limit && !shorten_names(table, &layout, limit) && leave_column_out(table, &layout));
    return layout;
}

static const char *text_of(const struct pm_text_table *table, char *const *cells, size_t i) {
    return cells ? cells[i] : table->columns[i].title;
}

static void print_row(FILE *out, const struct pm_text_table *table, const struct layout *layout,
                      char *const *cells) {
    size_t last = table->n_columns; /* trailing empty cells leave no blanks behind */
    bool at_start = true;
    while (last > 0 && (layout->is_left_out[last - 1] || !*text_of(table, cells, last - 1)))
        last--;
    for (size_t i = 0; i < last; i++) {
        if (layout->is_left_out[i])
            continue;
        fprintf(out, "%*s", at_start ? 1 : GAP, "");
        print_cell(out, text_of(table, cells, i), layout->widths[i],
                   table->columns[i].kind == PM_COLUMN_NUMBER, i + 1 == last);
        at_start = false;
    }
}

static void print_left_out(FILE *out, const struct pm_text_table *table,
                           const struct layout *layout, unsigned width) {
    char *text = NULL;
    for (size_t i = 0; i < table->n_columns; i++)
        if (layout->is_left_out[i])
            pm_append(&text, "%s%s", text ? ", " : "no room for ", table->columns[i].title);
    if (text) {
        pm_append(&text, ": --wide has all columns");
        pm_print_wrapped(out, " ", "   ", text, width);
    }
    free(text);
}

void pm_text_table_print(FILE *out, const struct pm_text_table *table,
                         const struct pm_report_options *options) {
    struct layout layout = new_layout(table, options->wide ? 0 : options->width);
    fputs(options->color ? "\033[1m" : "", out);
    print_row(out, table, &layout, NULL);
    fputs(options->color ? "\033[0m\n" : "\n", out);
    for (size_t row = 0; row < table->n_whole_lines; row++) {
        char *const *cells = &table->cells[row * table->n_columns];
        if (table->whole_lines[row])
            fprintf(out, " %s", cells[0]);
        else
            print_row(out, table, &layout, cells);
        fputc('\n', out);
    }
    print_left_out(out, table, &layout, options->width);
    free(layout.natural);
    free(layout.widths);
    free(layout.is_left_out);
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

void pm_print_title(FILE *out, const struct pm_report_options *options, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pm_vsprintf(format, arguments), *clean = printable(text);
    va_end(arguments);
    const char *begin = options->color ? "\033[1m" : "", *end = options->color ? "\033[0m" : "";
    if (options->width && display_width(clean) > options->width) {
        fputs(begin, out);
        pm_print_wrapped(out, "", "  ", clean, options->width);
        fputs(end, out);
    } else {
        fprintf(out, "%s%s%s\n", begin, clean, end);
    }
    free(clean);
    free(text);
}

void pm_print_line(FILE *out, const struct pm_report_options *options, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pm_vsprintf(format, arguments);
    va_end(arguments);
    pm_print_wrapped(out, "  ", "    ", text, options->width);
    free(text);
}

void pm_print_note(FILE *out, const struct pm_report_options *options, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = pm_vsprintf(format, arguments);
    va_end(arguments);
    pm_print_wrapped(out, "  - ", "    ", text, options->width);
    free(text);
}
