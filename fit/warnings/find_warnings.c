/* What is wrong with any figure of an answer. */
#include <math.h>

#include "fit/warnings/private.h"

bool pm_is_of_models(const struct pm_origin *origin) {
    return origin->models && !(origin->profile && !origin->profile->predicted);
}

/* Of a run that is shown, or that the models were made from. */
static void warn_of_truncated(const struct pm_origin *origin, struct pm_warnings *warnings) {
    if (origin->profile && origin->profile->truncated)
        pm_warning_add(warnings, PM_WARNING_TRUNCATED, NAN,
                       "this run did not come to its end (it %s): all figures are of what it did "
                       "until then.",
                       origin->profile->truncated);
    if (pm_is_of_models(origin) && origin->models->n_truncated)
        pm_warning_add(warnings, PM_WARNING_TRUNCATED, NAN,
                       "%zu of the runs that the models were made from did not come to their end: "
                       "what they lack, the predictions lack as well.",
                       origin->models->n_truncated);
}

void pm_warn(const struct pm_origin *origin, struct pm_warnings *warnings) {
    warn_of_truncated(origin, warnings);
    pm_warn_of_dropped(origin, warnings);
    if (pm_is_of_models(origin))
        pm_warn_of_sizes(origin, warnings);
}
