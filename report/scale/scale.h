/* `pmodel report --as scaling`: misses and time over a range of sizes, on several machines. */
#ifndef PM_REPORT_SCALE_H
#define PM_REPORT_SCALE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/prediction.h"
#include "core/structure/structure.h"
#include "core/times.h"
#include "report/options.h"

/* One size. */
struct pm_scale_point {
    struct pm_parameters at;
    double value; /* of the parameter that varies */
    double unit;  /* units of work at this size: what figures are divided by */
    /* Machine by machine, with the ends of their intervals if they have them; owned.  By the
       models, NULL: there are none; from the counts of a run of this size, NULL: there is none. */
    struct pm_prediction **predicted, **measured;
    struct pm_times *times; /* of that run; NULL: it was not timed; owned */
};

/* Of a loop's accesses: reuses that are fewer are in JSON only. */
#define PM_SCALE_LEAST_SHARE 0.01

/* A loop falls out of a level: up to `size` (half of) these reuses of it hit. */
struct pm_scale_step {
    size_t machine;
    char *level, *label, *source; /* owned */
    double size;
    double share;  /* of the loop's accesses */
    double weight; /* of the loop in the program: the larger share of its accesses and misses */
};

struct pm_scale {
    const struct pm_structure *structure;
    const char *parameter;              /* that varies */
    const char *per;                    /* the unit as it was given; NULL: 1 */
    double measured_low, measured_high; /* of the parameter; NAN: there are no models */
    const struct pm_machine *const *machines;
    size_t n_machines;
    PM_ARRAY(struct pm_scale_point, points); /* ascending by value; owned */
    PM_ARRAY(struct pm_scale_step, steps);   /* by machine, then weight; owned */
};
void pm_scale_free(struct pm_scale *scale); /* what it owns */

/* A table for each machine, JSON or CSV.  JSON: {"format": "pmodel-scale", "version": 1, program,
   parameter, per, machines, "sizes": [{parameters, value, unit, "figures": [{machine, source,
   seconds, cycles, schedule_cycles, level_misses, level_cycles, …}]}], "steps": [{machine, level,
   label, size, …}]}.  CSV: a line for each size, machine, source and quantity.  Figures are of the
   whole program and, as `per_unit`, of a unit of work. */
void pm_report_scale(FILE *out, const struct pm_scale *scale,
                     const struct pm_report_options *options);

/* Two panels for each machine: misses of each level, and time with its parts, for each unit of work
   (Figures 6 and 7 of Marin & Mellor-Crummey 2004). */
void pm_report_scale_svg(FILE *out, const struct pm_scale *scale);

#endif
