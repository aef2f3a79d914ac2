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

static int compare(const void *left, const void *right) {
    const struct pm_group_histogram *a = left, *b = right;
    return a->group != b->group ? PM_COMPARE(a->group, b->group)
                                : PM_COMPARE(a->histogram.block_bytes, b->histogram.block_bytes);
}

const struct pm_histogram *pm_profile_dirty(const struct pm_profile *profile, uint32_t group,
                                            uint64_t block_bytes) {
    const struct pm_group_histogram wanted = {.group = group,
                                              .histogram = {.block_bytes = block_bytes}};
    size_t at = PM_LOWER_BOUND(profile->n_dirty, i, compare(&profile->dirty[i], &wanted) < 0);
    return at < profile->n_dirty && compare(&profile->dirty[at], &wanted) == 0
               ? &profile->dirty[at].histogram
               : NULL;
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

void pm_profile_sort_dirty(struct pm_profile *profile) {
    size_t kept = 0;
    PM_SORT(profile->dirty, profile->n_dirty, compare);
    for (size_t i = 0; i < profile->n_dirty; i++) {
        struct pm_group_histogram *next = &profile->dirty[i];
        struct pm_group_histogram *last = kept ? &profile->dirty[kept - 1] : NULL;
        if (last && compare(last, next) == 0) {
            pm_histogram_add(&last->histogram, &next->histogram);
            pm_histogram_free(&next->histogram);
        } else {
            profile->dirty[kept++] = *next;
        }
    }
    profile->n_dirty = kept;
}
