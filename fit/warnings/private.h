/* What the files of fit/warnings/ share. */
#ifndef PM_FIT_WARNINGS_PRIVATE_H
#define PM_FIT_WARNINGS_PRIVATE_H

#include "fit/warnings/warnings.h"

/* Is the answer from models, not measured at its very size? */
bool pm_is_of_models(const struct pm_origin *origin);

/* Adds what the sizes that its models were made from say of ORIGIN, which is from models
   (warn_sizes.c). */
void pm_warn_of_sizes(const struct pm_origin *origin, struct pm_warnings *warnings);

/* Adds which share of the program is not in ORIGIN, because builds differ (dropped.c). */
void pm_warn_of_dropped(const struct pm_origin *origin, struct pm_warnings *warnings);

#endif
