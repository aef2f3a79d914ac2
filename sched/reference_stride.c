/* How far a reference goes from one execution to the next: by the levels of the loops around it, as
   a run had them (core/strides/strides.h), else as the code says where it is constant.  What is
   indirect, by an address that is loaded, has no stride even where a run had one. */
#include <math.h>

#include "sched/sched.h"

/* NAN: most of the level's steps are others.  A run of which no end was seen has no shares. */
static double step_of_level(const struct pm_stride_level *level) {
    return level->stride_share < 0.5 && level->count_share > 0 ? NAN : level->stride_bytes;
}

static double step_of_stride(const struct pm_stride *stride) {
    return stride->kind == PM_STRIDE_CONSTANT ? (double)stride->bytes : NAN;
}

double pm_reference_step(const struct pm_structure *structure, const struct pm_run_strides *strides,
                         uint32_t reference) {
    const struct pm_reference_strides *seen =
        strides ? pm_strides_of_reference(strides, reference) : NULL;
    uint32_t group = structure->references[reference].group;
    const struct pm_stride *innermost = group != PM_NONE && structure->groups[group].n_strides
                                            ? &structure->groups[group].strides[0]
                                            : NULL;
    if (innermost && innermost->kind == PM_STRIDE_INDIRECT)
        return NAN;
    return seen && seen->n_levels ? step_of_level(&seen->levels[0])
           : innermost            ? step_of_stride(innermost)
                                  : NAN;
}

double pm_group_way(const struct pm_group *group) {
    if (group->flags & PM_GROUP_IRREGULAR)
        return NAN;
    for (uint32_t l = 0; l < group->n_strides; l++)
        if (step_of_stride(&group->strides[l]) != 0)
            return step_of_stride(&group->strides[l]);
    return 0;
}

double pm_reference_way(const struct pm_structure *structure, const struct pm_run_strides *strides,
                        uint32_t reference, double *run_bytes) {
    const struct pm_group *group = &structure->groups[structure->references[reference].group];
    const struct pm_reference_strides *seen = pm_strides_of_reference(strides, reference);
    *run_bytes = INFINITY;
    for (uint32_t l = 0; seen && l < seen->n_levels && !(group->flags & PM_GROUP_IRREGULAR); l++) {
        double step = step_of_level(&seen->levels[l]);
        if (step == 0)
            continue;
        if (isnan(step))
            return NAN;
        double bytes = seen->levels[l].count * step;
        bool goes_on = l + 1 < seen->n_levels && seen->levels[l + 1].stride_bytes == bytes;
        if (bytes != 0 && !goes_on)
            *run_bytes = fabs(bytes);
        return step;
    }
    return pm_group_way(group);
}

double pm_reference_new_lines(const struct pm_structure *structure,
                              const struct pm_run_strides *strides, uint32_t reference,
                              double line_bytes) {
    const struct pm_group *group = &structure->groups[structure->references[reference].group];
    const struct pm_reference_strides *seen = pm_strides_of_reference(strides, reference);
    double inner = 0;
    for (uint32_t l = 0; seen && l < seen->n_levels && !(group->flags & PM_GROUP_IRREGULAR); l++) {
        double step = fabs(step_of_level(&seen->levels[l]));
        if (step == 0)
            continue;
        if (inner > 0)
            return step < line_bytes ? step / line_bytes : 1;
        if (!(step >= line_bytes))
            return 1;
        inner = step;
    }
    return 1;
}
