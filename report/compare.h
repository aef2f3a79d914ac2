/* `pmodel compare`: machines ranked by what several programs take on them. */
#ifndef PM_REPORT_COMPARE_H
#define PM_REPORT_COMPARE_H

#include <stdio.h>

#include "core/machine/machine.h"
#include "core/parameters.h"
#include "fit/analysis/analysis.h"
#include "report/options.h"

struct pm_compared_program {
    const char *store;
    char *name; /* of the program; owned */
    double weight;
    struct pm_parameters at;
    bool predicted;    /* else measured at this size */
    bool has_interval; /* of its times */
};

struct pm_comparison {
    const struct pm_machine *const *machines;
    struct pm_ranking_request ranking; /* its arrays are those of the comparison's maker */
    const struct pm_compared_program *programs;
    const bool *is_lower_bound; /* [program · n_machines + machine] */
    double level;               /* of the intervals */
};

/* A line for each machine, best first.  JSON: {"format": "pmodel-compare", "version": 1,
   "programs": […], "mean", "survives", "machines": [{name, title, rank, best_rank, worst_rank,
   score, low, high, by_best, "seconds": [{estimate, low, high} of each program]}]}. */
void pm_report_comparison(FILE *out, const struct pm_comparison *comparison,
                          const struct pm_report_options *options);

#endif
