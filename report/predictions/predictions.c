/* The entry points of `pmodel report` and the choice of its writer. */
#include <stdlib.h>
#include <string.h>

#include "report/predictions/predictions.h"
#include "report/report.h"

bool pm_report_format_from_name(const char *name, enum pm_report_format *format) {
    static const char *const names[] = {"table", "json", "csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            *format = (enum pm_report_format)i;
            return true;
        }
    return false;
}

void pm_report_predictions(FILE *out, const struct pm_structure *structure,
                           const struct pm_prediction *const *predictions, size_t n_predictions,
                           const struct pm_times *times, const struct pm_report_options *options) {
    struct pm_rows **rows = pm_alloc(n_predictions, sizeof *rows);
    for (size_t i = 0; i < n_predictions; i++)
        rows[i] = pm_rows_new(structure, predictions[i], times);
    switch (options->format) {
    case PM_REPORT_JSON:
        pm_write_predictions_json(out, structure, predictions, rows, n_predictions);
        break;
    case PM_REPORT_CSV:
        pm_write_predictions_csv(out, structure, predictions, rows, n_predictions);
        break;
    default:
        pm_write_predictions_table(out, structure, predictions, rows, n_predictions, options);
    }
    for (size_t i = 0; i < n_predictions; i++)
        pm_rows_free(rows[i]);
    free(rows);
}
