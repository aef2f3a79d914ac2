#include "core/bounds/bounds.h"

#include <math.h>
#include <stdlib.h>

void pm_bounds_free(struct pm_bounds *bounds) {
    if (!bounds)
        return;
    for (size_t i = 0; i < bounds->n_nests; i++)
        free(bounds->nests[i].refusal);
    free(bounds->nests);
    free(bounds->machine);
    free(bounds);
}

double pm_nest_bound_seconds(const struct pm_nest_bound *nest) {
    if (nest->refusal || !(nest->sampled_seconds > 0))
        return NAN;
    return nest->bound_seconds * nest->seconds / nest->sampled_seconds;
}

double pm_nest_original(const struct pm_nest_bound *nest) {
    return nest->timed_seconds > 0 ? nest->timed_seconds : nest->seconds;
}

double pm_nest_bound_of_original(const struct pm_nest_bound *nest) {
    if (!(nest->seconds > 0))
        return NAN;
    return pm_nest_bound_seconds(nest) * pm_nest_original(nest) / nest->seconds;
}

static bool is_amount(double value) { return value >= 0 && !isinf(value); }

bool pm_bounds_fit(const struct pm_bounds *bounds, const struct pm_structure *structure,
                   struct pm_error *err) {
    bool fit = is_amount(bounds->plain_seconds) && is_amount(bounds->timed_seconds) &&
               is_amount(bounds->bounded_seconds) && is_amount(bounds->instructions) &&
               is_amount(bounds->cycle_seconds);
    for (size_t i = 0; i < bounds->n_nests && fit; i++) {
        const struct pm_nest_bound *nest = &bounds->nests[i];
        fit = nest->scope < structure->n_scopes &&
              structure->scopes[nest->scope].kind == PM_SCOPE_LOOP &&
              (i == 0 || nest->scope > bounds->nests[i - 1].scope) && is_amount(nest->seconds) &&
              is_amount(nest->sampled_seconds) && is_amount(nest->bound_seconds) &&
              nest->sampled_seconds <= nest->seconds;
    }
    return fit || pm_fail(err, "lower bounds in the store do not fit the program");
}
