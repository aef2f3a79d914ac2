/* `pmodel query --format csv`: a line for each answer; of --fits, for each cluster of reuses. */
#include <math.h>
#include <stdlib.h>

#include "report/query/query_writers.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void write_names(struct pm_csv *csv, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        pm_csv_text(csv, names[i]);
    pm_csv_end_line(csv);
}

static void write_part(struct pm_csv *csv, const struct pm_query_report *report, size_t number) {
    const struct pm_query_part *part = &report->parts->parts[number];
    const struct pm_scope *scope = &report->structure->scopes[part->scope];
    pm_csv_text(csv, pm_program_name(report->structure));
    pm_csv_text(csv, part->label);
    pm_csv_text(csv, scope->file);
    pm_csv_line_number(csv, scope->line_first);
    pm_csv_hex(csv, scope->key);
    if (part->group == PM_NONE)
        pm_csv_text(csv, NULL);
    else
        pm_csv_integer(csv, part->group);
}

static void write_cache(struct pm_csv *csv, const struct pm_query_cache *cache, const char *name,
                        const char *machine) {
    pm_csv_text(csv, machine);
    pm_csv_text(csv, name);
    pm_csv_integer(csv, cache->block_bytes);
    pm_csv_number(csv, isfinite(cache->blocks) ? cache->blocks : NAN);
}

static void write_row(struct pm_csv *csv, const struct pm_query_report *report,
                      const struct pm_query_row *row) {
    static const char *const found[] = {"found", "none", "beyond_range"};
    char *at = pm_parameters_text(&row->at);
    write_part(csv, report, row->part);
    pm_csv_text(csv, at);
    free(at);
    write_cache(csv, &row->cache, row->cache_name, row->machine);
    pm_csv_number(csv, row->wanted);
    pm_csv_text(csv, report->kind == PM_QUERY_MISSES ? NULL : found[row->found]);
    pm_csv_number(csv, row->counts.accesses);
    pm_csv_number(csv, row->counts.misses);
    pm_csv_number(csv, row->counts.cold);
    pm_csv_number(csv, pm_query_hit_ratio(&row->counts, true));
    pm_csv_number(csv, pm_query_hit_ratio(&row->counts, false));
    pm_csv_integer(csv, row->predicted);
    pm_csv_number(csv, row->extrapolation);
    pm_csv_number(csv, row->relative_error);
    pm_csv_number(csv, isfinite(row->low) ? row->low : NAN);
    pm_csv_number(csv, isfinite(row->high) ? row->high : NAN);
    pm_csv_end_line(csv);
}

static void write_rows(struct pm_csv *csv, const struct pm_query_report *report) {
    static const char *const names[] = {"program",       "part",          "file",
                                        "line",          "key",           "group",
                                        "parameters",    "machine",       "cache",
                                        "block_bytes",   "blocks",        "wanted",
                                        "found",         "accesses",      "misses",
                                        "first_touches", "hit_ratio",     "hit_ratio_of_reuses",
                                        "predicted",     "extrapolation", "relative_error",
                                        "interval_low",  "interval_high"};
    write_names(csv, names, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < report->n_rows; i++)
        write_row(csv, report, &report->rows[i]);
}

static void write_step(struct pm_csv *csv, const struct pm_query_report *report, size_t part,
                       size_t cache, const struct pm_query_step *step) {
    const struct pm_histogram_model *models = &report->models->histograms[step->histogram];
    const struct pm_query_level_cache *level = &report->caches[cache];
    char *fixed = pm_parameters_text(&report->fixed);
    char *formula = pm_model_text(report->models->basis, &models->bins[step->bin].distance);
    write_part(csv, report, part);
    pm_csv_text(csv, fixed);
    write_cache(csv, &level->cache, level->name, level->machine);
    pm_csv_text(csv, report->solved);
    pm_csv_number(csv, step->half_hit);
    pm_csv_number(csv, isfinite(step->all_hit) ? step->all_hit : NAN);
    pm_csv_number(csv, isfinite(step->some_hit) ? step->some_hit : NAN);
    pm_csv_number(csv, step->share);
    pm_csv_integer(csv, models->group);
    pm_csv_text(csv, formula);
    pm_csv_end_line(csv);
    free(formula);
    free(fixed);
}

static void write_fits(struct pm_csv *csv, const struct pm_query_report *report) {
    static const char *const names[] = {
        "program",    "part",           "file",           "line",
        "key",        "group",          "parameters",     "machine",
        "cache",      "block_bytes",    "blocks",         "solved",
        "up_to",      "all_hit_up_to",  "some_hit_up_to", "share_of_accesses",
        "step_group", "distance_blocks"};
    write_names(csv, names, sizeof names / sizeof names[0]);
    for (size_t p = 0; p < report->parts->n_parts; p++)
        for (size_t c = 0; c < report->n_caches; c++) {
            const struct pm_query_fits *fits = &report->fits[p * report->n_caches + c];
            for (size_t i = 0; i < fits->n_steps; i++)
                write_step(csv, report, p, c, &fits->steps[i]);
        }
}

void pm_write_query_csv(FILE *out, const struct pm_query_report *report) {
    struct pm_csv csv = {.out = out};
    if (report->kind == PM_QUERY_FITS)
        write_fits(&csv, report);
    else
        write_rows(&csv, report);
}

void pm_report_query(FILE *out, const struct pm_query_report *report,
                     const struct pm_report_options *options) {
    if (options->format == PM_REPORT_JSON)
        pm_write_query_json(out, report);
    else if (options->format == PM_REPORT_CSV)
        pm_write_query_csv(out, report);
    else
        pm_write_query_table(out, report, options);
}
