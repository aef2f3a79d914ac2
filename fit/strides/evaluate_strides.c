/* The strides at a size, from their models.  Addresses are those of a process that could be:
   spaces lie far apart. */
#include <math.h>

#include "fit/strides/strides.h"

static const double SPACE_BYTES = 1ull << 44;

static double offset_of(const struct pm_stride_model *model, const struct pm_model_point *point) {
    double offset = round(pm_model_value_at(&model->offset, point));
    if (model->whole_pages)
        offset = ceil(offset / PM_FIT_LEAST_PAGE) * PM_FIT_LEAST_PAGE;
    return model->below ? -offset : offset;
}

void pm_fit_predict_strides(const struct pm_stride_model *model, const struct pm_model_point *point,
                            struct pm_run_strides *strides) {
    if (!model->known)
        return;
    struct pm_reference_strides one = {.reference = model->reference,
                                       .n_levels = model->n_levels,
                                       .executions = 1,
                                       .space = model->space,
                                       .page_known = !isnan(model->place_in_page)};
    double span = 0;
    for (uint32_t l = 0; l < model->n_levels; l++) {
        const struct pm_stride_level_model *from = &model->levels[l];
        double stride = round(pm_model_value_at(&from->stride, point));
        double count = fmax(1, pm_model_value_at(&from->count, point));
        one.levels[l] = (struct pm_stride_level){.stride_bytes = from->downwards ? -stride : stride,
                                                 .stride_share = from->stride_share,
                                                 .count = count,
                                                 .count_share = from->count_share,
                                                 .mean_count = count};
        span += stride * (count - 1);
    }
    one.lowest = (model->space + 1) * SPACE_BYTES + offset_of(model, point) +
                 (one.page_known ? model->place_in_page : 0);
    one.highest = one.lowest + span;
    pm_fit_predict_variants(model, point, &one, strides);
    pm_run_strides_add(strides, &one);
}
