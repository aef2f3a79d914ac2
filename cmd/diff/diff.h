/* `pmodel diff`: of two stores, predictions side by side; of two programs, what the compiler made.
 */
#ifndef PM_CMD_DIFF_H
#define PM_CMD_DIFF_H

#include "cmd/cmd.h"
#include "sched/sched.h"

/* Two programs without runs, on MACHINE or, NULL, without cycles (code.c). */
bool pm_diff_code(const char *before, const char *after, const struct pm_machine *machine,
                  const struct pm_report_options *options, struct pm_error *err);

#endif
