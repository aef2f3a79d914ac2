/* `pmodel report --threads`. */
#ifndef PM_REPORT_THREADS_H
#define PM_REPORT_THREADS_H

#include "cmd/cmd.h"
#include "core/parameters.h"
#include "core/store/store.h"

/* Prints the misses of each thread of the run of exactly size AT, for each machine of ON. */
bool pm_print_threads(struct pm_store *store, const struct pm_parameters *at,
                      const struct pm_machine_list *on, const struct pm_report_options *options,
                      struct pm_error *err);

#endif
