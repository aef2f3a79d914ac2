/* Predictions as rows, for the reports that have one a loop or routine; private to report/. */
#ifndef PM_PREDICTIONS_H
#define PM_PREDICTIONS_H

#include <stdio.h>

#include "report/predictions/rows.h"
#include "report/report.h"

/* What is declared of the rows of a prediction (report_predictions.c). */
extern const struct pm_fields pm_row_fields;

/* "measured up to N=64, so extrapolated 4.0x; models' error 0.7%"; owned by the caller. */
char *pm_prediction_range_text(const struct pm_prediction *prediction);

/* report_cores.c, of a prediction of several threads: tables behind its rows; null and nothing of
   one. */
json_t *pm_cores_json(const struct pm_structure *structure, const struct pm_cores *cores);
void pm_print_cores(FILE *out, const struct pm_structure *structure,
                    const struct pm_prediction *prediction,
                    const struct pm_report_options *options);

/* One size: rows by time, or as a tree; several sizes, side by side.  Names of fields in the
   options are those of pm_columns_make. */
void pm_write_predictions_table(FILE *out, const struct pm_prediction *prediction,
                                const struct pm_rows *rows,
                                const struct pm_report_options *options);
void pm_write_predictions_tree(FILE *out, const struct pm_prediction *prediction,
                               const struct pm_rows *rows, const struct pm_report_options *options);
void pm_write_sizes_table(FILE *out, const struct pm_sized_prediction *predictions,
                          struct pm_rows *const *rows, size_t n_sizes,
                          const struct pm_report_options *options);

#endif
