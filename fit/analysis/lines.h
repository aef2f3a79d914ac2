/* Time and misses of source lines, for `pmodel report --as source`. */
#ifndef PM_LINES_H
#define PM_LINES_H

#include <stdint.h>

#include "binlift/binlift.h"
#include "core/base/base.h"
#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/profile.h"

struct pm_line_cost {
    uint32_t file, line; /* of the pm_code_lines; PM_NONE, 0: not known */
    double cycles, instructions;
    double misses[PM_MAX_LEVELS];
};

struct pm_line_costs {
    PM_ARRAY(struct pm_line_cost, rows); /* by file and line, what has no line last; owned */
};

/* Shares out PREDICTION, made from PROFILE on MACHINE: the schedule of a scope among its
   instructions, as often as they are executed; misses of a reference group, and what they cost,
   among its references. Lines add up to the prediction's time and misses.  LINES: of the program's
   own file; code of others has none. The caller frees the rows. */
void pm_line_costs_make(const struct pm_structure *structure, const struct pm_profile *profile,
                        const struct pm_machine *machine, const struct pm_prediction *prediction,
                        const struct pm_code_lines *lines, struct pm_line_costs *costs);

#endif
