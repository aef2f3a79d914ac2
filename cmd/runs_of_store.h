/* Picking runs of a store by the values that the user names. */
#ifndef PM_RUNS_OF_STORE_H
#define PM_RUNS_OF_STORE_H

#include <stdbool.h>

#include "core/parameters.h"
#include "core/pm_error.h"

/* True if RUN has every value that WANTED names. */
bool pm_run_matches(const struct pm_parameters *run, const struct pm_parameters *wanted);

/* True if runs like KNOWN have all parameters that WANTED names; else the sentence says which there
   are. */
bool pm_check_parameter_names(const struct pm_parameters *known, const struct pm_parameters *wanted,
                              struct pm_error *err);

#endif
