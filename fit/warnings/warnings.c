/* What is wrong with any figure of an answer. */
#include "fit/warnings/private.h"

bool pm_is_of_models(const struct pm_answer *answer) {
    return answer->models && !(answer->profile && !answer->profile->predicted);
}

void pm_warn(const struct pm_answer *answer, struct pm_warnings *warnings) {
    pm_warn_of_dropped(answer, warnings);
    if (pm_is_of_models(answer))
        pm_warn_of_sizes(answer, warnings);
}
