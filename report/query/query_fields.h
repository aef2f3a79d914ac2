/* What is declared of the answers to queries, and their table; private to report/query/. */
#ifndef PM_QUERY_FIELDS_H
#define PM_QUERY_FIELDS_H

#include "report/labels/labels.h"
#include "report/query/query.h"

/* An answer, and what it is about. */
struct pm_answer_row {
    const struct pm_query_report *report;
    const struct pm_query_part *part;
    struct pm_row_place place;
    struct pm_query_row row;
};
struct pm_answer_row pm_answer_row(const struct pm_query_report *report, size_t i);
extern const struct pm_fields pm_answer_fields;

/* A cluster of reuses that outgrows a cache (pm_query_step), or, where STEP is NULL, that reuses
   with this share hit up to a size outside what was looked at. */
struct pm_fits_row {
    const struct pm_query_report *report;
    const struct pm_query_part *part;
    struct pm_row_place place;
    const struct pm_query_level_cache *cache;
    const struct pm_query_step *step;
    double up_to, share;        /* share: NAN, nothing to say */
    bool same_part, same_cache; /* as in the row of the table before: empty cells */
};
struct pm_fits_row pm_fits_row(const struct pm_query_report *report, size_t part, size_t cache,
                               const struct pm_query_step *step);
extern const struct pm_fields pm_fits_fields;

void pm_write_query_table(FILE *out, const struct pm_query_report *report,
                          const struct pm_report_options *options);

/* A number with all its digits. */
struct pm_number_text pm_query_value_text(double value);
/* A hit ratio in percent, with as many digits as it takes to tell it from 100. */
struct pm_number_text pm_query_hit_text(double ratio);

#endif
