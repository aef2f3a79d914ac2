/* `pmodel query`, and `pmodel report --fits`, which asks the same. */
#ifndef PM_CMD_QUERY_H
#define PM_CMD_QUERY_H

#include "cmd/cmd.h"
#include "fit/query/query.h"

/* The parameters of AT but NAME. */
struct pm_parameters pm_parameters_without(const struct pm_parameters *at, const char *name);

/* Prints for every loop on each machine ON up to which size its reuses hit; of several parameters
   each in turn, the others as AT has them. */
bool pm_print_fits_of_loops(struct pm_program *program, const struct pm_parameters *at,
                            const struct pm_machine_list *on,
                            const struct pm_report_options *options, struct pm_error *err);

#endif
