/* What is in no figure, because it was measured in code or data that the builds of other sizes do
   not have (`pmodel run --build`). */
#include <math.h>

#include "core/base/base.h"
#include "fit/private.h"
#include "fit/warnings/private.h"

/* Of accesses or first touches that builds have not in common: more is said. */
static const double dropped_share = 0.01;

bool pm_is_of_unlike_builds(const struct pm_structure *structure) {
    for (size_t i = 0; i < structure->n_scopes; i++)
        if (structure->scopes[i].flags & PM_SCOPE_UNMATCHED)
            return true;
    for (uint32_t g = 0; g < structure->n_groups; g++)
        if (pm_group_holder(structure, g) == PM_NONE)
            return true;
    return false;
}

/* Of a measured profile, or of the fitted ones where it is largest. */
static struct pm_left_out left_out_of(const struct pm_origin *origin) {
    if (pm_is_of_models(origin))
        return (struct pm_left_out){origin->models->accesses_left_out,
                                    origin->models->first_touches_left_out};
    return origin->profile ? pm_profile_left_out(origin->profile) : (struct pm_left_out){0};
}

void pm_warn_of_dropped(const struct pm_origin *origin, struct pm_warnings *warnings) {
    struct pm_left_out out = left_out_of(origin);
    const char *where =
        pm_is_of_models(origin) ? "of the measured size where it is most" : "of this run";
    if (out.accesses > dropped_share || out.first_touches > dropped_share)
        pm_warning_add(warnings, PM_WARNING_DROPPED, fmax(out.accesses, out.first_touches),
                       "%.3g%% of the accesses and %.3g%% of the first touches (%s) are in no "
                       "figure, because the builds of other sizes have no such code or data; "
                       "at least as many of the misses are missing.",
                       100 * out.accesses, 100 * out.first_touches, where);
    else if (isnan(out.accesses) && pm_is_of_unlike_builds(origin->structure))
        pm_warning_add(warnings, PM_WARNING_DROPPED, NAN,
                       "an unknown share of accesses and misses is in no figure, because code "
                       "differs between builds and was measured by an earlier pmodel, which did "
                       "not match it by source: measure again into a new store.");
}
