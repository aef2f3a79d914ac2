/* `pmodel query` for people: what was asked, a row for each answer, what the figures count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/labels/labels.h"
#include "report/query/query_writers.h"
#include "report/writers/writers.h"

static void note(FILE *out, const struct pm_report_options *options, const char *text) {
    pm_print_wrapped(out, "  - ", "    ", text, options->width);
}

void pm_query_note_hidden(FILE *out, const struct pm_query_report *report,
                          const struct pm_report_options *options) {
    size_t n = report->parts->n_left_out;
    if (n == 0)
        return;
    char *text = pm_sprintf("%zu smaller one%s not shown (--min-percent, --top).", n,
                            n == 1 ? " is" : "s are");
    note(out, options, text);
    free(text);
}

/* A hit ratio in percent, with as many digits as it takes to tell it from 100. */
static struct pm_number_text hit_text(double ratio) {
    struct pm_number_text result = {"?"};
    double missing = 100 * (1 - ratio);
    if (missing > 0 && missing < 0.0005)
        snprintf(result.text, sizeof result.text, ">99.999");
    else if (!isnan(ratio))
        snprintf(result.text, sizeof result.text, "%.*f", missing > 0 && missing < 0.095 ? 3 : 2,
                 100 * ratio);
    return result;
}

struct pm_number_text pm_query_value_text(double value) {
    struct pm_number_text result = {""};
    pm_format_value(value, result.text, sizeof result.text);
    return result;
}

/* 1.5 MiB, where pm_bytes_text would count single bytes. */
static struct pm_number_text size_text(double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    struct pm_number_text result = {""};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof units[0] && bytes >= 1024) {
        bytes /= 1024;
        unit++;
    }
    snprintf(result.text, sizeof result.text, bytes == floor(bytes) ? "%.0f %s" : "%.4g %s", bytes,
             units[unit]);
    return result;
}

/* The machine that all caches are of; NULL if there is none. */
static const char *common_machine(const struct pm_query_report *report) {
    const char *first = NULL;
    size_t n = report->kind == PM_QUERY_FITS ? report->n_caches : report->n_rows;
    for (size_t i = 0; i < n; i++) {
        const char *machine =
            report->kind == PM_QUERY_FITS ? report->caches[i].machine : report->rows[i].machine;
        if (!machine || (first && strcmp(machine, first) != 0))
            return NULL;
        first = machine;
    }
    return first;
}

static void print_header(FILE *out, const struct pm_query_report *report,
                         const struct pm_report_options *options) {
    const char *program = pm_program_name(report->structure), *name = report->solved;
    char *line = NULL;
    const struct pm_query_range *range = &report->range;
    switch (report->kind) {
    case PM_QUERY_MISSES:
        line = pm_sprintf("%s: misses of fully associative LRU caches", program);
        break;
    case PM_QUERY_CACHE:
        line = pm_sprintf("%s: smallest fully associative LRU cache for a hit ratio", program);
        break;
    case PM_QUERY_SIZE:
        line = pm_sprintf("%s: largest %s for a hit ratio", program, name);
        break;
    case PM_QUERY_FITS:
        line = pm_sprintf("%s: largest %s at which reuses still hit", program, name);
        break;
    }
    if (common_machine(report))
        pm_append(&line, " on %s", common_machine(report));
    if (report->kind == PM_QUERY_SIZE || report->kind == PM_QUERY_FITS) {
        pm_append(&line, ", looked for from %s=%s to ", name,
                  pm_query_value_text(pm_query_range_value(range, 0)).text);
        pm_append(&line, "%s", pm_query_value_text(pm_query_range_value(range, range->n - 1)).text);
    }
    if (report->fixed.n) {
        char *fixed = pm_parameters_text(&report->fixed);
        pm_append(&line, ", at %s", fixed);
        free(fixed);
    }
    pm_append(&line, "   measured up to %s", report->measured_up_to);
    pm_print_bold(out, line, options->color);
    free(line);
}

/* ---- answers --------------------------------------------------------------------------------- */

struct columns { /* that not every table needs */
    bool part, source, machine, cold;
};

static struct columns needed_columns(const struct pm_query_report *report) {
    const struct pm_query_parts *parts = report->parts;
    struct columns columns = {.part = parts->n_parts > 1 || parts->parts[0].scope != 0};
    columns.source = columns.part && parts->level != PM_QUERY_ROUTINE;
    const char *first = report->n_rows ? report->rows[0].machine : NULL;
    for (size_t i = 0; i < report->n_rows; i++) {
        const char *machine = report->rows[i].machine;
        columns.machine |= (machine != NULL) != (first != NULL) ||
                           (machine && first && strcmp(machine, first) != 0);
    }
    return columns;
}

static struct pm_text_table *new_table(const struct pm_query_report *report,
                                       const struct columns *columns) {
    struct pm_text_table *table = pm_text_table_new();
    const struct pm_parameters *at = report->n_rows ? &report->rows[0].at : &report->fixed;
    if (columns->part)
        pm_text_table_column(table, "PART", PM_COLUMN_NAME);
    if (columns->source)
        pm_text_table_column(table, "SOURCE", PM_COLUMN_TEXT);
    for (size_t i = 0; i < at->n; i++)
        if (report->kind != PM_QUERY_SIZE || strcmp(at->names[i], report->solved) != 0)
            pm_text_table_column(table, at->names[i], PM_COLUMN_NUMBER);
    if (columns->machine)
        pm_text_table_column(table, "MACHINE", PM_COLUMN_TEXT);
    if (report->kind != PM_QUERY_CACHE)
        pm_text_table_column(table, "CACHE", PM_COLUMN_TEXT);
    if (report->kind == PM_QUERY_MISSES) {
        pm_text_table_column(table, "BLOCKS", PM_COLUMN_TEXT);
        pm_text_table_column(table, "ACCESSES", PM_COLUMN_NUMBER);
        pm_text_table_column(table, "MISSES", PM_COLUMN_NUMBER);
        pm_text_table_column(table, "80% BETWEEN", PM_COLUMN_NUMBER);
        pm_text_table_column(table, "FIRST TOUCHES", PM_COLUMN_NUMBER);
        pm_text_table_column(table, "HIT %", PM_COLUMN_NUMBER);
        pm_text_table_column(table, "OF REUSES %", PM_COLUMN_NUMBER);
        pm_text_table_column(table, "FROM", PM_COLUMN_TEXT);
        return table;
    }
    pm_text_table_column(table, "WANTED %", PM_COLUMN_NUMBER);
    if (report->kind == PM_QUERY_CACHE) {
        pm_text_table_column(table, "SMALLEST CACHE", PM_COLUMN_TEXT);
        pm_text_table_column(table, "80% BETWEEN", PM_COLUMN_NUMBER);
        pm_text_table_column(table, "BLOCKS", PM_COLUMN_TEXT);
        pm_text_table_column(table, "HIT %", PM_COLUMN_NUMBER);
        pm_text_table_column(table, "FROM", PM_COLUMN_TEXT);
        return table;
    }
    char *title = pm_sprintf("LARGEST %s", report->solved);
    pm_text_table_column(table, title, PM_COLUMN_NUMBER);
    free(title);
    pm_text_table_column(table, "80% BETWEEN", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "HIT % THERE", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "FROM", PM_COLUMN_TEXT);
    return table;
}

static struct pm_number_text bound_text(const struct pm_query_report *report,
                                        const struct pm_query_row *row, double bound) {
    struct pm_number_text none = {"none"};
    if (report->kind == PM_QUERY_SIZE)
        return pm_query_limit_text(report, bound);
    if (report->kind == PM_QUERY_MISSES)
        return pm_count_text(bound);
    return isinf(bound) ? none : size_text(bound * (double)row->cache.block_bytes);
}

/* "1.2M…1.4M"; empty if measured, or both are outside what was looked at. */
static void add_bounds(struct pm_text_table *table, const struct pm_query_report *report,
                       const struct pm_query_row *row) {
    char *text = pm_strdup("");
    if (!isnan(row->low) && !(isinf(row->low) && row->low == row->high)) {
        pm_append(&text, "%s…", bound_text(report, row, row->low).text);
        pm_append(&text, "%s", bound_text(report, row, row->high).text);
    }
    pm_text_table_cell(table, text);
    free(text);
}

/* "512 of 64 bytes" */
static char *blocks_text(const struct pm_query_cache *cache) {
    char *text = pm_sprintf("%s of ", pm_query_value_text(cache->blocks).text);
    pm_append(&text, "%s", pm_bytes_text(cache->block_bytes).text);
    return text;
}

/* "measured", "models, error 0.6%, extrapolated 4.0x" */
static char *from_text(const struct pm_query_row *row) {
    if (!row->predicted)
        return pm_strdup("measured");
    char *text = pm_sprintf("models, error %s%%", pm_percent_text(row->relative_error).text);
    if (row->extrapolation > 1)
        pm_append(&text, ", extrapolated %.1fx", row->extrapolation);
    return text;
}

static void add_hits(struct pm_text_table *table, const struct pm_query_report *report,
                     const struct pm_query_row *row) {
    pm_text_table_cell(table, hit_text(pm_query_hit_ratio(&row->counts, report->with_cold)).text);
}

static void add_misses_row(struct pm_text_table *table, const struct pm_query_report *report,
                           const struct pm_query_row *row) {
    char *blocks = blocks_text(&row->cache);
    pm_text_table_cell(table, blocks);
    free(blocks);
    pm_text_table_cell(table, pm_count_text(row->counts.accesses).text);
    char *misses = pm_sprintf("%s%s", row->counts.beyond > 0 ? "<" : "",
                              pm_count_text(row->counts.misses).text);
    pm_text_table_cell(table, misses);
    free(misses);
    add_bounds(table, report, row);
    pm_text_table_cell(table, pm_count_text(row->counts.cold).text);
    pm_text_table_cell(table, hit_text(pm_query_hit_ratio(&row->counts, true)).text);
    pm_text_table_cell(table, hit_text(pm_query_hit_ratio(&row->counts, false)).text);
}

static void add_cache_row(struct pm_text_table *table, const struct pm_query_report *report,
                          const struct pm_query_row *row) {
    bool none = row->found == PM_QUERY_NONE;
    char *blocks = none ? pm_strdup("") : blocks_text(&row->cache);
    double bytes = row->cache.blocks * (double)row->cache.block_bytes;
    pm_text_table_cell(table, none ? "none: unlimited has" : size_text(bytes).text);
    add_bounds(table, report, row);
    pm_text_table_cell(table, blocks);
    free(blocks);
    add_hits(table, report, row);
}

static void add_size_row(struct pm_text_table *table, const struct pm_query_report *report,
                         const struct pm_query_row *row) {
    double size = NAN;
    pm_parameters_get(&row->at, report->solved, &size);
    char *text = row->found == PM_QUERY_NONE
                     ? pm_sprintf("none")
                     : pm_sprintf("%s%s", row->found == PM_QUERY_BEYOND ? "≥ " : "",
                                  pm_query_value_text(size).text);
    pm_text_table_cell(table, text);
    free(text);
    add_bounds(table, report, row);
    add_hits(table, report, row);
}

static void add_row(struct pm_text_table *table, const struct pm_query_report *report,
                    const struct columns *columns, const struct pm_query_row *row) {
    const struct pm_query_part *part = &report->parts->parts[row->part];
    if (columns->part)
        pm_text_table_cell(table, part->label);
    if (columns->source)
        pm_text_table_cell(table, part->source);
    for (size_t i = 0; i < row->at.n; i++)
        if (report->kind != PM_QUERY_SIZE || strcmp(row->at.names[i], report->solved) != 0)
            pm_text_table_cell(table, pm_query_value_text(row->at.values[i]).text);
    if (columns->machine)
        pm_text_table_cell(table, row->machine);
    if (report->kind != PM_QUERY_CACHE)
        pm_text_table_cell(table, row->cache_name);
    if (report->kind != PM_QUERY_MISSES)
        pm_text_table_cell(table, pm_query_value_text(100 * row->wanted).text);
    if (report->kind == PM_QUERY_MISSES)
        add_misses_row(table, report, row);
    else if (report->kind == PM_QUERY_CACHE)
        add_cache_row(table, report, row);
    else
        add_size_row(table, report, row);
    char *from = from_text(row);
    pm_text_table_cell(table, from);
    free(from);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static char *row_name(const struct pm_query_report *report, const struct columns *columns,
                      const struct pm_query_row *row) {
    char *name =
        columns->part ? pm_sprintf("%s, ", report->parts->parts[row->part].label) : pm_strdup("");
    if (columns->machine && row->machine)
        pm_append(&name, "%s ", row->machine);
    pm_append(&name, "%s", row->cache_name);
    return name;
}

static void note_size(FILE *out, const struct pm_query_report *report,
                      const struct columns *columns, const struct pm_query_row *row,
                      const struct pm_report_options *options) {
    double size = NAN;
    pm_parameters_get(&row->at, report->solved, &size);
    char *name = row_name(report, columns, row);
    if (row->found == PM_QUERY_NONE) {
        char *text = pm_sprintf("%s: no %s in the range has %s%%; ", name, report->solved,
                                pm_query_value_text(100 * row->wanted).text);
        pm_append(&text, "%s=%s comes nearest with %s%%, ", report->solved,
                  pm_query_value_text(size).text,
                  hit_text(pm_query_hit_ratio(&row->counts, report->with_cold)).text);
        pm_append(&text, "and even an unlimited cache has %s%% there.",
                  hit_text(pm_query_hit_ratio(&row->unlimited, report->with_cold)).text);
        note(out, options, text);
        free(text);
    } else if (!isnan(row->gap_size)) {
        char *text = pm_sprintf("%s: not all smaller ones have it: %s=%s has not.", name,
                                report->solved, pm_query_value_text(row->gap_size).text);
        note(out, options, text);
        free(text);
    }
    free(name);
}

static void print_size_notes(FILE *out, const struct pm_query_report *report,
                             const struct columns *columns,
                             const struct pm_report_options *options) {
    bool beyond = false;
    for (size_t i = 0; i < report->n_rows; i++) {
        note_size(out, report, columns, &report->rows[i], options);
        beyond |= report->rows[i].found == PM_QUERY_BEYOND;
    }
    char *text = NULL;
    if (beyond)
        pm_append(&text,
                  "≥: the largest size that was looked at has it too; --range %s=LOW:HIGH "
                  "looks further. ",
                  report->solved);
    if (report->coarsest > 0 && report->range.n > PM_QUERY_MOST_SCANNED)
        pm_append(&text,
                  "Looked at in steps of at most %.1f%%, then exactly at the border: that sizes "
                  "beyond it have the hit ratio again for less than such a step is not seen.",
                  100 * report->coarsest);
    if (text)
        note(out, options, text);
    free(text);
}

static void print_notes(FILE *out, const struct pm_query_report *report,
                        const struct columns *columns, const struct pm_report_options *options) {
    bool beyond = false, unreachable = false;
    for (size_t i = 0; i < report->n_rows; i++) {
        beyond |= report->rows[i].counts.beyond > 0;
        unreachable |= report->rows[i].found == PM_QUERY_NONE;
    }
    if (report->kind == PM_QUERY_SIZE)
        print_size_notes(out, report, columns, options);
    if (report->kind == PM_QUERY_MISSES)
        note(out, options,
             "HIT % counts first touches as misses, which no cache avoids; OF REUSES % leaves "
             "them out.");
    else if (!report->with_cold)
        note(out, options, "Hit ratios are those of reuses: first touches are left out.");
    else
        note(out, options,
             unreachable ? "First touches count as misses, which no cache avoids: --no-cold leaves "
                           "them out."
                         : "First touches count as misses; --no-cold leaves them out.");
    if (beyond)
        note(out, options,
             "<: some reuses are only known to be long; they count as misses, of which there may "
             "be fewer.");
    pm_query_note_hidden(out, report, options);
}

void pm_write_query_table(FILE *out, const struct pm_query_report *report,
                          const struct pm_report_options *options) {
    print_header(out, report, options);
    if (report->kind == PM_QUERY_FITS) {
        pm_write_fits_rows(out, report, options);
        return;
    }
    struct columns columns = needed_columns(report);
    struct pm_text_table *table = new_table(report, &columns);
    for (size_t i = 0; i < report->n_rows; i++)
        add_row(table, report, &columns, &report->rows[i]);
    pm_text_table_print(out, table, options->width, options->color);
    pm_text_table_free(table);
    print_notes(out, report, &columns, options);
}
