/* What the writers of `pmodel validate` have in common; private to report/validation/. */
#ifndef PM_VALIDATION_REPORT_H
#define PM_VALIDATION_REPORT_H

#include "report/labels/labels.h"
#include "report/report.h"

struct pm_validation_report {
    const struct pm_structure *structure;
    const struct pm_model_set *models;
    const struct pm_validation_caches *caches;
    const struct pm_validation *sizes;
    struct pm_validation_table *const *tables; /* one a size */
    const struct pm_coverage *coverage;        /* PM_N_COVERAGES a size */
    size_t n_sizes;
};

void pm_write_validations_table(FILE *out, const struct pm_validation_report *report,
                                const struct pm_report_options *options);
/* "exact", "+1.2%", "inf": predicted where nothing was measured, "-": nothing to compare. */
struct pm_number_text pm_error_text(double error);
const char *pm_quantity_word(enum pm_quantity quantity); /* "misses", for programs */

#endif
