/* Shares of sequential touches; see behaviour.h. */
#include <math.h>

#include "core/behaviour/behaviour.h"
#include "core/machine/machine.h"
#include "core/profile.h"
#include "core/shared_level/shared_level.h"

const struct pm_histogram *pm_sequential_among(const struct pm_profile *profile, uint32_t group,
                                               const struct pm_histogram **sequential) {
    if (profile->n_sequential == 0)
        return NULL;
    uint64_t block_bytes = profile->sequential[0].histogram.block_bytes;
    *sequential = pm_find_histogram(profile->sequential, profile->n_sequential, group, block_bytes);
    return *sequential ? pm_profile_histogram(profile, group, block_bytes) : NULL;
}

/* Of the touches that miss in CACHE_BLOCKS, or through SERVES. */
static double share_of(const struct pm_histogram *sequential, const struct pm_histogram *all,
                       double cache_blocks, const struct pm_response *serves) {
    double misses = pm_distance_misses(all, cache_blocks, serves);
    if (!(misses > 0))
        return NAN;
    return fmin(1, pm_distance_misses(sequential, cache_blocks, serves) / misses);
}

double pm_sequential_share(const struct pm_profile *profile, uint32_t group,
                           const struct pm_level *level) {
    static const struct pm_response step;
    const struct pm_histogram *sequential, *all = pm_sequential_among(profile, group, &sequential);
    if (!all)
        return NAN;
    double blocks =
        pm_level_capacity_blocks(level) * (double)level->block_bytes / (double)all->block_bytes;
    double share = share_of(sequential, all, blocks, &level->serves);
    if (isnan(share) && all->n_bins)
        share = share_of(sequential, all, all->bins[all->n_bins - 1].low, &step);
    return share;
}
