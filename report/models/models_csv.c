/* `pmodel fit --format csv`: one line with the summary, or, where models are asked for, a line for
   each of them. */
#include <stdlib.h>

#include "report/models/models.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void write_names(struct pm_csv *csv, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        pm_csv_text(csv, names[i]);
    pm_csv_end_line(csv);
}

static void write_summary(struct pm_csv *csv, const struct pm_models_report *report) {
    static const char *const names[] = {"program",  "runs",           "models",     "exact",
                                        "constant", "flagged",        "histograms", "bins",
                                        "seconds",  "divergent_sizes"};
    const struct pm_fit_statistics *statistics = report->statistics;
    write_names(csv, names, sizeof names / sizeof names[0]);
    pm_csv_text(csv, pm_program_name(report->structure));
    pm_csv_integer(csv, report->models->n_runs);
    pm_csv_integer(csv, statistics->n_models);
    pm_csv_integer(csv, statistics->n_exact);
    pm_csv_integer(csv, statistics->n_constant);
    pm_csv_integer(csv, statistics->n_flagged);
    pm_csv_integer(csv, statistics->n_histograms);
    pm_csv_integer(csv, statistics->n_bins);
    pm_csv_number(csv, statistics->seconds);
    pm_csv_integer(csv, statistics->n_divergent);
    pm_csv_end_line(csv);
}

static void write_optional(struct pm_csv *csv, uint64_t value, bool known) {
    if (known)
        pm_csv_integer(csv, value);
    else
        pm_csv_text(csv, NULL);
}

static void write_row(struct pm_csv *csv, const struct pm_structure *structure,
                      const struct pm_model_rows *rows, const struct pm_model_row *row) {
    const struct pm_scope *scope = &structure->scopes[row->scope];
    bool is_edge = row->target == PM_MODEL_OF_EDGE;
    pm_csv_text(csv, pm_program_name(structure));
    pm_csv_text(csv, pm_model_target_word(row->target));
    pm_csv_text(csv, row->label);
    pm_csv_text(csv, scope->file);
    pm_csv_line_number(csv, scope->line_first);
    pm_csv_hex(csv, scope->key);
    pm_csv_text(csv, pm_scope_module(structure, row->scope));
    write_optional(csv, row->index, is_edge);
    write_optional(csv, row->index, !is_edge && row->index != PM_NONE);
    write_optional(csv, row->bin, row->bin != PM_NONE);
    write_optional(csv, row->block_bytes, row->block_bytes != 0);
    pm_csv_text(csv, row->formula);
    pm_csv_number(csv, row->relative_error);
    pm_csv_number(csv, row->leave_one_out_error);
    pm_csv_integer(csv, row->exact);
    pm_csv_integer(csv, row->flagged);
    char *at = pm_parameters_text(&rows->at);
    pm_csv_text(csv, at);
    free(at);
    pm_csv_number(csv, row->value);
    pm_csv_number(csv, row->low);
    pm_csv_number(csv, row->high);
    pm_csv_number(csv, rows->level);
    pm_csv_end_line(csv);
}

void pm_write_models_csv(FILE *out, const struct pm_models_report *report) {
    static const char *const names[] = {"program",
                                        "quantity",
                                        "label",
                                        "file",
                                        "line_first",
                                        "key",
                                        "module",
                                        "edge",
                                        "group",
                                        "bin",
                                        "block_bytes",
                                        "formula",
                                        "relative_error",
                                        "leave_one_out_error",
                                        "exact",
                                        "flagged",
                                        "at",
                                        "value",
                                        "low",
                                        "high",
                                        "level"};
    struct pm_csv csv = {.out = out};
    if (!report->rows) {
        write_summary(&csv, report);
        return;
    }
    write_names(&csv, names, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < report->rows->n_rows; i++)
        write_row(&csv, report->structure, report->rows, &report->rows->rows[i]);
}
