/* The writers of `pmodel report`, one file each; private to report/.  ROWS[i] are the rows of
   PREDICTIONS[i]. */
#ifndef PM_PREDICTIONS_H
#define PM_PREDICTIONS_H

#include <stdio.h>

#include "report/report.h"
#include "report/predictions/rows.h"

void pm_write_predictions_table(FILE *out, const struct pm_structure *structure,
                                const struct pm_prediction *const *predictions,
                                struct pm_rows *const *rows, size_t n_predictions,
                                const struct pm_report_options *options);
void pm_write_predictions_json(FILE *out, const struct pm_structure *structure,
                               const struct pm_prediction *const *predictions,
                               struct pm_rows *const *rows, size_t n_predictions);
void pm_write_predictions_csv(FILE *out, const struct pm_structure *structure,
                              const struct pm_prediction *const *predictions,
                              struct pm_rows *const *rows, size_t n_predictions);

#endif
