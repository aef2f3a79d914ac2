/* `pmodel query --fits` for people: a row for each cluster of reuses that outgrows a level. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/query_writers.h"
#include "report/writers/writers.h"

/* With three digits for a coefficient, and without terms that are but rounding errors. */
static char *short_formula(const struct pm_basis *basis, const struct pm_model *model) {
    struct pm_model rounded = *model;
    double largest = 0;
    for (size_t i = 0; i < rounded.n_terms; i++)
        largest = fmax(largest, fabs(rounded.coefficients[i]));
    for (size_t i = 0; i < rounded.n_terms; i++) {
        char text[40];
        snprintf(text, sizeof text, "%.3g", rounded.coefficients[i]);
        rounded.coefficients[i] =
            fabs(rounded.coefficients[i]) < 1e-30 * largest ? 0 : strtod(text, NULL);
    }
    return pm_model_text(basis, &rounded);
}

struct pm_number_text pm_query_limit_text(const struct pm_query_report *report, double size) {
    const struct pm_query_range *range = &report->range;
    if (isfinite(size))
        return pm_query_value_text(size);
    struct pm_number_text result = {{size < 0 ? '<' : '>'}};
    pm_format_value(pm_query_range_value(range, size < 0 ? 0 : range->n - 1), result.text + 1,
                    sizeof result.text - 1);
    return result;
}

/* "9.5", "0.024": percent, of shares that may be small because blocks are large. */
static struct pm_number_text share_text(double share) {
    struct pm_number_text result = {""};
    snprintf(result.text, sizeof result.text, "%.2g", 100 * share);
    return result;
}

struct fits_table {
    const struct pm_query_report *report;
    struct pm_text_table *table;
    bool with_machine;
    size_t last_part, last_cache; /* of the row before; repeated cells are left empty */
};

static void begin_row(struct fits_table *t, size_t part, size_t cache) {
    const struct pm_query_part *p = &t->report->parts->parts[part];
    const struct pm_query_level_cache *c = &t->report->caches[cache];
    bool same_part = part == t->last_part, same = same_part && cache == t->last_cache;
    pm_text_table_cell(t->table, same_part ? "" : p->label);
    pm_text_table_cell(t->table, same_part ? "" : p->source);
    if (t->with_machine)
        pm_text_table_cell(t->table, same ? "" : c->machine);
    pm_text_table_cell(t->table, same ? "" : c->name);
    t->last_part = part;
    t->last_cache = cache;
}

static void add_step(const struct fits_table *t, const struct pm_query_step *step) {
    const struct pm_query_report *report = t->report;
    const struct pm_histogram_model *models = &report->models->histograms[step->histogram];
    const char *object = models->group < report->structure->n_groups
                             ? report->structure->groups[models->group].object
                             : NULL;
    char *spread = pm_strdup("");
    if (step->all_hit != step->half_hit || step->some_hit != step->half_hit) {
        pm_append(&spread, "%s", pm_query_limit_text(report, step->all_hit).text);
        pm_append(&spread, "…%s", pm_query_limit_text(report, step->some_hit).text);
    }
    char *formula = short_formula(report->models->basis, &models->bins[step->bin].distance);
    pm_text_table_cell(t->table, pm_query_limit_text(report, step->half_hit).text);
    pm_text_table_cell(t->table, spread);
    pm_text_table_cell(t->table, share_text(step->share).text);
    pm_text_table_cell(t->table, formula);
    pm_text_table_cell(t->table, object ? object : "?");
    free(formula);
    free(spread);
}

/* A row of which only the size, and the share unless NAN, is known. */
static void add_limit(const struct fits_table *t, double size, double share) {
    pm_text_table_cell(t->table, pm_query_limit_text(t->report, size).text);
    pm_text_table_cell(t->table, "");
    pm_text_table_cell(t->table, isnan(share) ? "" : share_text(share).text);
    pm_text_table_cell(t->table, "");
    pm_text_table_cell(t->table, "");
}

static void add_fits(struct fits_table *t, size_t part, size_t cache) {
    const struct pm_query_fits *fits = &t->report->fits[part * t->report->n_caches + cache];
    double told = pm_query_least_share(t->report->caches[cache].cache.block_bytes);
    if (fits->missed_share >= told) {
        begin_row(t, part, cache);
        add_limit(t, -INFINITY, fits->missed_share);
    }
    for (size_t i = 0; i < fits->n_steps; i++) {
        begin_row(t, part, cache);
        add_step(t, &fits->steps[i]);
    }
    if (fits->n_steps == 0 && fits->missed_share < told) {
        begin_row(t, part, cache);
        add_limit(t, INFINITY, NAN);
    }
}

static bool has_several_machines(const struct pm_query_report *report) {
    bool several = false;
    for (size_t c = 1; c < report->n_caches; c++) {
        const char *a = report->caches[0].machine, *b = report->caches[c].machine;
        several |= (a != NULL) != (b != NULL) || (a && b && strcmp(a, b) != 0);
    }
    return several;
}

void pm_write_fits_rows(FILE *out, const struct pm_query_report *report,
                        const struct pm_report_options *options) {
    struct fits_table t = {.report = report,
                           .table = pm_text_table_new(),
                           .with_machine = has_several_machines(report),
                           .last_part = SIZE_MAX};
    pm_text_table_column(t.table, "LOOP", PM_COLUMN_NAME);
    pm_text_table_column(t.table, "SOURCE", PM_COLUMN_TEXT);
    if (t.with_machine)
        pm_text_table_column(t.table, "MACHINE", PM_COLUMN_TEXT);
    pm_text_table_column(t.table, "LEVEL", PM_COLUMN_TEXT);
    char *title = pm_sprintf("%s UP TO", report->solved);
    pm_text_table_column(t.table, title, PM_COLUMN_NUMBER);
    free(title);
    pm_text_table_column(t.table, "ALL…SOME", PM_COLUMN_NUMBER);
    pm_text_table_column(t.table, "% OF ACCESSES", PM_COLUMN_NUMBER);
    pm_text_table_column(t.table, "BLOCKS BETWEEN", PM_COLUMN_NAME);
    pm_text_table_column(t.table, "DATA", PM_COLUMN_NAME);
    for (size_t p = 0; p < report->parts->n_parts; p++)
        for (size_t c = 0; c < report->n_caches; c++)
            add_fits(&t, p, c);
    pm_text_table_print(out, t.table, options->width, options->color);
    pm_text_table_free(t.table);
    char *text = pm_sprintf(
        "Up to this %s so many of the loop's accesses still find their data in the level, because "
        "BLOCKS BETWEEN two uses of it (blocks of the level) are fewer than it has; beyond, they "
        "miss. ALL…SOME: the last %s at which all, and any, of them hit, where that differs.",
        report->solved, report->solved);
    pm_print_wrapped(out, "  - ", "    ", text, options->width);
    free(text);
    pm_query_note_hidden(out, report, options);
}
