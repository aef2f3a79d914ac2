/* Which rows and columns of a prediction are shown, and in which order; private to report/. */
#ifndef PM_PREDICTION_COLUMNS_H
#define PM_PREDICTION_COLUMNS_H

#include "report/predictions/predictions.h"

/* Fields of a row (pm_row_fields) and of the levels of one machine.  In lists, with commas between,
   a field is called by its name or by the head of its column, whatever the case: `self_seconds`,
   `time`, `L1/it`; `misses_per_iteration` (or `misses/it`) stands for those of all levels. */
struct pm_columns {
    struct pm_fields fields;
    PM_ARRAY(char *, texts); /* names and heads that were made for levels; owned */
};

/* The list of the options; where there is none, or one with a + before it, first OWN.  Error: a
   field that there is not, with those that there are. */
bool pm_columns_make(const struct pm_prediction *prediction, const char *own,
                     const struct pm_report_options *options, struct pm_columns *columns,
                     struct pm_error *err);
void pm_columns_free(struct pm_columns *columns); /* what it owns */

/* Does the row's routine, loop, file or place match PATTERN (fnmatch; NULL: all do)?  "step",
   "step/3", "heat.c", "heat.c:31". */
bool pm_row_is_called(const struct pm_row *row, const char *pattern);

/* All rows, those that are not counted last, in the order of the options: by time, or by one field.
   The array is the caller's (free).  NULL after an error: a field that there is not. */
const struct pm_row **pm_rows_in_order(const struct pm_rows *rows,
                                       const struct pm_prediction *prediction,
                                       const struct pm_report_options *options,
                                       struct pm_error *err);

#endif
