/* `pmodel report --as source`: a source file with the time and misses of its lines. */
#ifndef PM_REPORT_ANNOTATE_H
#define PM_REPORT_ANNOTATE_H

#include <stdio.h>

#include "core/prediction.h"
#include "core/source/source.h"
#include "fit/analysis/analysis.h"
#include "report/options.h"

struct pm_annotation {
    const struct pm_prediction *prediction;
    const char *file;  /* as it was asked for */
    const bool *is_it; /* for each of the files of the lines, whether it is that one */
    const struct pm_line_costs *costs;
    const struct pm_source *source; /* NULL: not found */
    const char *note;               /* what qualifies the lines; NULL: nothing */
};

/* Lines with figures, and two around each; all with --wide, and in JSON and CSV those with figures.
   JSON:
   {"format": "pmodel-annotate", "version": 1, program, parameters, machine, file, seconds, "lines":
   [{line, seconds, share, instructions, misses, source}], "elsewhere_seconds", "unknown_seconds"}.
 */
void pm_report_annotation(FILE *out, const struct pm_annotation *annotation,
                          const struct pm_report_options *options);

#endif
