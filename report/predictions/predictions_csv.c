/* `pmodel report --format csv`: a line for each row of each prediction.  Machines have different
   levels, so that the columns are those of all machines together; where a machine lacks a level the
   field is empty.  Needs the rows of rows.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/predictions/predictions.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* Names of the levels of all machines, each once. */
struct level_names {
    PM_ARRAY(const char *, names); /* of the predictions */
};

static void collect_levels(struct level_names *levels,
                           const struct pm_prediction *const *predictions, size_t n_predictions) {
    for (size_t i = 0; i < n_predictions; i++)
        for (size_t j = 0; j < predictions[i]->n_levels; j++) {
            size_t k = 0;
            while (k < levels->n_names &&
                   strcmp(levels->names[k], predictions[i]->level_names[j]) != 0)
                k++;
            if (k == levels->n_names)
                *PM_PUSH(levels, names) = predictions[i]->level_names[j];
        }
}

static void write_header(struct pm_csv *csv, const struct level_names *levels) {
    static const char *const first[] = {"program",
                                        "parameters",
                                        "machine",
                                        "measured_at_this_size",
                                        "label",
                                        "kind",
                                        "depth",
                                        "file",
                                        "line_first",
                                        "line_last",
                                        "key",
                                        "module",
                                        "counted",
                                        "bound_by",
                                        "self_share",
                                        "self_seconds",
                                        "total_seconds",
                                        "entries",
                                        "iterations",
                                        "resource_cycles_per_iteration",
                                        "recurrence_cycles_per_iteration",
                                        "time_is_lower_bound",
                                        "misses_are_lower_bound",
                                        "measured_seconds",
                                        "measured_with_inner",
                                        "measured_in_key"};
    static const char *const sums[] = {"self", "total"};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        pm_csv_text(csv, first[i]);
    for (size_t sum = 0; sum < 2; sum++) {
        for (size_t i = 0; i < pm_n_cost_fields; i++) {
            char *name = pm_sprintf("%s_%s", sums[sum], pm_cost_fields[i].name);
            pm_csv_text(csv, name);
            free(name);
        }
        for (size_t i = 0; i < 2 * levels->n_names; i++) {
            char *name = pm_sprintf("%s_%s_%s", sums[sum], levels->names[i / 2],
                                    i % 2 ? "miss_cycles" : "misses");
            pm_csv_text(csv, name);
            free(name);
        }
    }
    static const char *const last[] = {
        "low_self_seconds", "high_self_seconds", "low_iterations", "high_iterations", "level",
        "extrapolation"};
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
        pm_csv_text(csv, last[i]);
    pm_csv_end_line(csv);
}

static void write_cost(struct pm_csv *csv, const struct pm_prediction *prediction,
                       const struct level_names *levels, const struct pm_cost_sum *cost,
                       bool known) {
    for (size_t i = 0; i < pm_n_cost_fields; i++)
        pm_csv_number(csv, known ? pm_cost_value(cost, &pm_cost_fields[i]) : NAN);
    for (size_t i = 0; i < levels->n_names; i++) {
        double misses = NAN, cycles = NAN;
        for (size_t level = 0; known && level < prediction->n_levels; level++)
            if (strcmp(prediction->level_names[level], levels->names[i]) == 0) {
                misses = cost->level_misses[level];
                cycles = cost->level_cycles[level];
            }
        pm_csv_number(csv, misses);
        pm_csv_number(csv, cycles);
    }
}

static void write_row(struct pm_csv *csv, const struct pm_structure *structure,
                      const struct pm_prediction *prediction, const struct level_names *levels,
                      const struct pm_rows *rows, const struct pm_row *row) {
    const struct pm_scope *scope = &structure->scopes[row->scope];
    char *parameters = pm_parameters_text(&prediction->parameters);
    pm_csv_text(csv, prediction->program);
    pm_csv_text(csv, parameters);
    pm_csv_text(csv, prediction->machine_name);
    pm_csv_integer(csv, !prediction->predicted);
    pm_csv_text(csv, row->label);
    pm_csv_text(csv, pm_scope_kind_word(scope->kind));
    pm_csv_integer(csv, scope->depth);
    pm_csv_text(csv, scope->file);
    pm_csv_line_number(csv, row->line_first);
    pm_csv_line_number(csv, row->line_last);
    pm_csv_hex(csv, scope->key);
    pm_csv_text(csv, pm_scope_module(structure, row->scope));
    pm_csv_integer(csv, row->counted);
    pm_csv_text(csv, row->counted ? row->bound_label : NULL);
    pm_csv_number(csv, row->share);
    pm_csv_number(csv, row->seconds);
    pm_csv_number(csv, row->total_seconds);
    pm_csv_number(csv, row->entries);
    pm_csv_number(csv, row->iterations);
    pm_csv_number(csv, row->resource_cycles_per_iteration);
    pm_csv_number(csv, row->recurrence_cycles_per_iteration);
    pm_csv_integer(csv, row->time_is_lower_bound);
    pm_csv_integer(csv, row->misses_are_lower_bound);
    pm_csv_number(csv, row->measured_seconds);
    pm_csv_integer(csv, row->measured_with_inner);
    if (row->measured_in == PM_NONE)
        pm_csv_text(csv, NULL);
    else
        pm_csv_hex(csv, structure->scopes[row->measured_in].key);
    write_cost(csv, prediction, levels, &row->self, row->counted);
    write_cost(csv, prediction, levels, &row->total, row->counted);
    struct pm_row_end low = pm_row_end(prediction, rows, row, false);
    struct pm_row_end high = pm_row_end(prediction, rows, row, true);
    pm_csv_number(csv, low.seconds);
    pm_csv_number(csv, high.seconds);
    pm_csv_number(csv, low.iterations);
    pm_csv_number(csv, high.iterations);
    pm_csv_number(csv, prediction->low ? prediction->level : NAN);
    pm_csv_number(csv, prediction->extrapolation);
    pm_csv_end_line(csv);
    free(parameters);
}

void pm_write_predictions_csv(FILE *out, const struct pm_structure *structure,
                              const struct pm_prediction *const *predictions,
                              struct pm_rows *const *rows, size_t n_predictions) {
    struct pm_csv csv = {.out = out};
    struct level_names levels = {0};
    collect_levels(&levels, predictions, n_predictions);
    write_header(&csv, &levels);
    for (size_t i = 0; i < n_predictions; i++)
        for (size_t j = 0; j < rows[i]->n_rows; j++)
            write_row(&csv, structure, predictions[i], &levels, rows[i], &rows[i]->rows[j]);
    free(levels.names);
}
