/* `pmodel report --carried`: which loops carry the misses of a run. */
#ifndef PM_REPORT_CARRIED_H
#define PM_REPORT_CARRIED_H

#include "cmd/cmd.h"
#include "core/store/store.h"
#include "report/report.h"

/* Of the largest run in STORE that has the values of AT and was made with --carry, on the machines
   ON.  False with a sentence if there is none, or if it lacks a block size of a machine. */
bool pm_report_store_carried(struct pm_store *store, const struct pm_parameters *at,
                             const struct pm_machine_list *on,
                             const struct pm_report_options *options, struct pm_error *err);

#endif
