/* The writers of `pmodel query`, one file each; private to report/. */
#ifndef PM_QUERY_WRITERS_H
#define PM_QUERY_WRITERS_H

#include "report/query/query.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

void pm_write_query_table(FILE *out, const struct pm_query_report *report,
                          const struct pm_report_options *options);
void pm_write_fits_rows(FILE *out, const struct pm_query_report *report,
                        const struct pm_report_options *options);
void pm_write_query_json(FILE *out, const struct pm_query_report *report);
void pm_write_query_csv(FILE *out, const struct pm_query_report *report);

/* What both tables share (query_table.c): a note of parts that are too small for the options; a
   number with all its digits. */
void pm_query_note_hidden(FILE *out, const struct pm_query_report *report,
                          const struct pm_report_options *options);
struct pm_number_text pm_query_value_text(double value);
/* "226"; "<24" and ">1024" of infinite sizes, which are outside what was looked at. */
struct pm_number_text pm_query_limit_text(const struct pm_query_report *report, double size);

#endif
