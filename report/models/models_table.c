/* `pmodel fit` for people.  Needs the rows of models.c where models are asked for. */
#include <math.h>
#include <stdlib.h>

#include "report/models/models.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* "N from 24 to 64", "M from 7 to 21, N from 24 to 64". */
static char *range_text(const struct pm_model_set *models) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < models->low.n; i++) {
        char low[PM_NUMBER_TEXT_SIZE], high[PM_NUMBER_TEXT_SIZE];
        double highest = models->low.values[i];
        pm_parameters_get(&models->high, models->low.names[i], &highest);
        pm_format_value(models->low.values[i], low, sizeof low);
        pm_format_value(highest, high, sizeof high);
        pm_append(&text, "%s%s from %s to %s", *text ? ", " : "", models->low.names[i], low, high);
    }
    return text;
}

/* Block sizes without models, and what to do about it. */
static void print_left_out(FILE *out, const struct pm_fit_statistics *statistics, unsigned width) {
    if (statistics->n_left_out == 0)
        return;
    char *sizes = pm_strdup("");
    for (size_t i = 0; i < statistics->n_left_out; i++) {
        pm_append(&sizes, "%s%llu", i ? ", " : "", (unsigned long long)statistics->left_out[i]);
    }
    char *line =
        pm_sprintf("no models for blocks of %s bytes: not every run measured them (`pmodel "
                   "run --block` with all sizes that you need)",
                   sizes);
    pm_print_wrapped(out, "  ", "    ", line, width);
    free(line);
    free(sizes);
}

/* Sizes that do not go with the others, and what to do about it. */
static void print_divergent(FILE *out, const struct pm_fit_statistics *statistics, unsigned width) {
    for (size_t i = 0; i < statistics->n_divergent; i++) {
        const struct pm_divergent_size *size = &statistics->divergent[i];
        char *at = pm_parameters_text(&size->parameters);
        char *line = pm_sprintf("%s %s: %zu of %zu groups with %s%% of the touches of blocks of %s "
                                "are off by %s%% (median) from what the other sizes say",
                                at, statistics->divergent_dropped ? "was left out" : "diverges",
                                size->n_groups, size->of_groups, pm_percent_text(size->share).text,
                                pm_bytes_text(size->block_bytes).text,
                                pm_percent_text(size->difference).text);
        pm_print_wrapped(out, "  ", "    ", line, width);
        free(line);
        free(at);
    }
    if (statistics->n_divergent && !statistics->divergent_dropped)
        pm_print_wrapped(out, "  ", "    ",
                         "data may be aligned otherwise there: `pmodel fit --drop-divergent` makes "
                         "the models without",
                         width);
}

static void print_summary(FILE *out, const struct pm_models_report *report,
                          const struct pm_report_options *options) {
    const struct pm_fit_statistics *s = report->statistics;
    char *range = range_text(report->models);
    char *title = pm_sprintf("%s: %zu runs, %s", pm_program_name(report->structure),
                             report->models->n_runs, range);
    pm_print_bold(out, title, options->color);
    char *line = pm_sprintf("%zu models in %s: %zu exact, %zu constant, %zu flagged "
                            "(leave-one-out error above %s%%)",
                            s->n_models, pm_seconds_text(s->seconds).text, s->n_exact,
                            s->n_constant, s->n_flagged, pm_percent_text(PM_FLAGGED_ERROR).text);
    pm_print_wrapped(out, "  ", "    ", line, options->width);
    fprintf(out, "  %zu histograms with %zu bins\n", s->n_histograms, s->n_bins);
    print_left_out(out, s, options->width);
    for (size_t i = 0; i < s->n_notes; i++)
        pm_print_wrapped(out, "  ", "    ", s->notes[i], options->width);
    print_divergent(out, s, options->width);
    free(line);
    free(title);
    free(range);
}

static void add_error(struct pm_text_table *table, double error) {
    char *text = pm_sprintf("%s%s", pm_percent_text(error).text, isnan(error) ? "" : "%");
    pm_text_table_cell(table, text);
    free(text);
}

/* "-3% to +4%", how far off the value beyond the measured sizes may be. */
static void add_interval(struct pm_text_table *table, const struct pm_model_row *row) {
    if (isnan(row->low) || isnan(row->value)) {
        pm_text_table_cell(table, "?");
        return;
    }
    if (row->low == row->high || row->value == 0) {
        pm_text_table_cell(table, row->low == row->high ? "exact" : "?");
        return;
    }
    char *high = isinf(row->high)
                     ? pm_strdup("?")
                     : pm_sprintf("%s%%", pm_percent_text(row->high / row->value - 1).text);
    char *text = pm_sprintf("-%s%% to +%s", pm_percent_text(1 - row->low / row->value).text, high);
    pm_text_table_cell(table, text);
    free(text);
    free(high);
}

static void print_rows(FILE *out, const struct pm_model_rows *rows, bool flagged,
                       const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    size_t n = 0;
    pm_text_table_column(table, "LOOP", PM_COLUMN_NAME);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
    if (flagged)
        pm_text_table_column(table, "MODEL OF", PM_COLUMN_TEXT);
    pm_text_table_column(table, "ERROR", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LEFT OUT", PM_COLUMN_NUMBER);
    char *place = pm_parameters_text(&rows->at);
    char *title = pm_sprintf("%.0f%% AT %s", 100 * rows->level, place);
    pm_text_table_column(table, title, PM_COLUMN_NUMBER);
    free(title);
    free(place);
    pm_text_table_column(table, flagged ? "FORMULA" : "ITERATIONS", PM_COLUMN_TEXT);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_model_row *row = &rows->rows[i];
        if (row->flagged != flagged)
            continue;
        n++;
        pm_text_table_cell(table, row->label);
        pm_text_table_cell(table, row->source);
        if (flagged)
            pm_text_table_cell(table, row->what);
        if (row->exact)
            pm_text_table_cell(table, "exact");
        else
            add_error(table, row->relative_error);
        add_error(table, row->leave_one_out_error);
        add_interval(table, row);
        pm_text_table_cell(table, row->formula ? row->formula : "?");
    }
    if (n) {
        fprintf(out, "\n%s\n", flagged ? "flagged models:" : "iterations of loops:");
        pm_text_table_print(out, table, options->width, options->color);
    }
    pm_text_table_free(table);
}

void pm_write_models_table(FILE *out, const struct pm_models_report *report,
                           const struct pm_report_options *options) {
    print_summary(out, report, options);
    if (!report->rows)
        return;
    print_rows(out, report->rows, false, options);
    print_rows(out, report->rows, true, options);
}
