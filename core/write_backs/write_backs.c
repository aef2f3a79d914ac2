/* Write-backs from stores by dirty distance; see write_backs.h. */
#include "core/write_backs/write_backs.h"

#include <math.h>

#include "core/base/base.h"

bool pm_profile_has_dirty(const struct pm_profile *profile, uint64_t block_bytes) {
    for (size_t i = 0; i < profile->n_dirty; i++)
        if (profile->dirty[i].histogram.block_bytes == block_bytes)
            return true;
    return false;
}

const struct pm_histogram *pm_profile_dirty(const struct pm_profile *profile, uint32_t group,
                                            uint64_t block_bytes) {
    return pm_find_histogram(profile->dirty, profile->n_dirty, group, block_bytes);
}

double pm_write_backs(const struct pm_profile *profile, uint32_t group, uint64_t block_bytes,
                      double blocks, const struct pm_response *serves) {
    if (!pm_profile_has_dirty(profile, block_bytes))
        return NAN;
    const struct pm_histogram *dirty = pm_profile_dirty(profile, group, block_bytes);
    return dirty ? pm_distance_misses(dirty, blocks, serves) : 0;
}

void pm_profile_add_dirty(struct pm_profile *profile, uint32_t group, struct pm_histogram *from) {
    *PM_PUSH(profile, dirty) = (struct pm_group_histogram){group, *from};
    *from = (struct pm_histogram){0};
}
