/* `pmodel report --as loop`: all that is known of one loop, or of a routine's code outside loops,
   at one size on one machine. */
#ifndef PM_REPORT_EXPLAIN_H
#define PM_REPORT_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/source/source.h"
#include "core/structure/structure.h"
#include "fit/analysis/explain/explain.h"
#include "report/options.h"
#include "report/query/query.h"

struct pm_schedules_report; /* report/report.h */
struct pm_path_detail;      /* sched/sched.h */

struct pm_explanation {
    const struct pm_structure *structure;
    const struct pm_machine *machine;
    const struct pm_prediction *prediction;
    uint32_t scope;           /* that the loop's row is named after */
    PM_ARRAY(uint32_t, also); /* what the same name stands for, too; owned */
    struct pm_loop_count counts[PM_N_LOOP_FIGURES];
    struct pm_trips_summary trips; /* of the row's loop with most iterations; NAN: not measured */
    bool has_models;
    double level_gains[PM_MAX_LEVELS]; /* cycles that would be saved if all accesses hit the level;
                                          NAN: not worked out */
    struct pm_loop_groups groups;
    char *bytes_at;                        /* the run that unused bytes are of; NULL: none; owned */
    const struct pm_carried_rows *carried; /* by group, of the whole program; NULL: not measured */
    char *carried_at;                      /* the run that they are of; owned */
    struct pm_suggestions suggestions;
    PM_ARRAY(struct pm_query_report, fits); /* PM_QUERY_FITS of this loop, for each parameter */
    const struct pm_source *source;         /* NULL: not asked for, or not found */
    const char *source_missing;             /* why; NULL */
    /* Its code, to be shown by pm_report_instructions; NULL: not asked for. */
    const struct pm_schedules_report *code;
    const struct pm_path_detail *code_detail; /* NULL: there is no path */
};

/* A screen, JSON, or CSV (a line for each reference group).  JSON: {"format": "pmodel-explain",
   "version": 1, program, parameters, machine, "loop": {its place and row}, "counts": {…}, "trips":
   {…} or null, "cycles": {…}, "groups": […], "fits": […], "suggestions": […]}. */
void pm_report_explanation(FILE *out, const struct pm_explanation *explanation,
                           const struct pm_report_options *options);

#endif
