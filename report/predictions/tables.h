/* What the tables of predictions have in common: one size by time, one size as a tree, sizes side
   by side; private to report/. */
#ifndef PM_PREDICTION_TABLES_H
#define PM_PREDICTION_TABLES_H

#include "report/predictions/columns.h"
#include "report/writers/writers.h"

/* What rows that are shown have, and a note explains. */
struct pm_seen {
    bool sourceless;             /* SOURCE ?, in a file without debug information */
    bool nameless;               /* a routine that is called after its address */
    bool lacks_operations;       /* a time marked > for it */
    bool misses_are_lower_bound; /* misses marked > */
    bool measured_elsewhere;     /* MEASURED names another row */
    bool measured_with_inner;    /* MEASURED marked < */
    bool measured_by_callers;    /* MEASURED ?, of a routine that others call */
    bool measured_outside;       /* MEASURED ?, of main, which the system starts */
};
void pm_see(struct pm_seen *seen, const struct pm_row *row);

/* " (80%: 15.1 s to 16.4 s)"; empty without an interval.  Owned by the caller. */
char *pm_time_interval(const struct pm_prediction *prediction);
void pm_print_prediction_header(FILE *out, const struct pm_prediction *prediction,
                                const struct pm_rows *rows,
                                const struct pm_report_options *options);
void pm_print_prediction_notes(FILE *out, const struct pm_prediction *prediction,
                               const struct pm_rows *rows, const struct pm_seen *seen,
                               const struct pm_report_options *options);

/* Puts ~ before the heads of predicted times, if misses are interpolated. */
void pm_mark_interpolated(const struct pm_prediction *prediction, struct pm_columns *columns);

/* Is its share of the predicted or of the measured time at least that of the options, or does it
   have a lower bound? */
bool pm_row_is_large(const struct pm_row *row, const struct pm_report_options *options);

/* Adds what of ROW can be added up. */
void pm_add_to_rest(struct pm_row *rest, const struct pm_row *row);
/* A row of sums, without a place in the source; LABEL is freed. */
void pm_add_sum(struct pm_text_table *table, struct pm_fields fields,
                const struct pm_prediction *prediction, struct pm_row sum, char *label);
/* What is in no row of the prediction: time in no scope, what is not counted, what no timer has. */
void pm_add_sums(struct pm_text_table *table, struct pm_fields fields,
                 const struct pm_prediction *prediction, const struct pm_rows *rows);
/* "other (3 smaller ones)"; owned by the caller. */
char *pm_other_label(size_t n, const struct pm_report_options *options);

#endif
