/* The strides (core/strides/strides.h) of one process. */
#include <math.h>

#include "measure/ingest/private.h"

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static struct pm_stride_level level_of(const struct pm_raw_stride_level *raw) {
    return (struct pm_stride_level){
        .stride_bytes = (double)raw->stride,
        .stride_share = share(raw->stride_weight, raw->n_strides),
        .count = (double)raw->count,
        .count_share = share(raw->count_weight, raw->n_runs),
        .mean_count = raw->n_runs ? share(raw->n_elements, raw->n_runs) : (double)raw->count,
    };
}

static struct pm_stride_variant variant_of(const struct pm_raw_variant *raw, uint64_t n_elements) {
    struct pm_stride_variant variant = {.share = fmin(1, share(raw->weight, n_elements)),
                                        .since = (double)raw->since,
                                        .phase = (double)raw->weight / (double)raw->n_phases,
                                        .lowest = (double)raw->lowest,
                                        .highest = (double)raw->highest,
                                        .n_levels = (double)raw->n_levels};
    for (uint64_t k = 0; k < raw->n_levels; k++) {
        variant.levels[k].stride_bytes = (double)raw->levels[k].stride;
        variant.levels[k].count = (double)raw->levels[k].count;
    }
    return variant;
}

bool pm_ingest_strides(struct pm_run_strides *strides, const struct pm_raw *raw,
                       const struct pm_module_place *const *places, const char *path,
                       struct pm_error *err) {
    for (size_t i = 0; i < raw->n_strides; i++) {
        const struct pm_raw_strides *from = &raw->strides[i];
        const struct pm_module_place *place = places[from->module];
        const struct pm_raw_stride_level *level = from->levels;
        const struct pm_raw_variant *variant = from->variants;
        for (size_t w = 0; w < from->n_walks; w++) {
            const struct pm_raw_walk *walk = &from->walks[w];
            if (walk->reference >= place->n_references)
                return pm_fail(err, "%s: strides of a reference that the program does not have",
                               path);
            struct pm_reference_strides one = {.reference =
                                                   place->first_reference + walk->reference,
                                               .n_levels = walk->n_levels,
                                               .executions = (double)walk->n,
                                               .lowest = (double)walk->lowest,
                                               .highest = (double)walk->highest};
            const uint64_t n_elements = walk->n_levels ? level->n_elements : 0;
            for (uint32_t k = 0; k < walk->n_levels; k++)
                one.levels[k] = level_of(level++);
            one.first_variant = strides->n_variants;
            one.n_variants = walk->n_variants;
            for (uint32_t v = 0; v < walk->n_variants; v++)
                *PM_PUSH(strides, variants) = variant_of(variant++, n_elements);
            if (one.highest >= one.lowest) /* else it went around the end of the address space */
                pm_run_strides_add(strides, &one);
        }
    }
    return true;
}
