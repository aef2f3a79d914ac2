/* Shares of accesses and misses, to show the heaviest first; see query.h. */
#include "fit/query/query.h"

#include <math.h>

static struct pm_query_counts count_whole(const struct pm_profile *profile,
                                          const struct pm_query_cache *cache) {
    struct pm_query_counts whole = {0};
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_histogram *histogram = &profile->histograms[i].histogram;
        if (histogram->block_bytes != cache->block_bytes)
            continue;
        whole.accesses += pm_histogram_accesses(histogram);
        whole.misses += pm_histogram_misses(histogram, cache->blocks);
    }
    return whole;
}

void pm_query_weights(const struct pm_profile *profile, const struct pm_query_caches *caches,
                      const struct pm_query_groups *const *groups, size_t n, double *weights) {
    for (size_t i = 0; i < n; i++)
        weights[i] = 0;
    for (size_t c = 0; c < caches->n_caches; c++) {
        struct pm_query_counts whole = count_whole(profile, &caches->caches[c].cache);
        for (size_t i = 0; i < n; i++) {
            struct pm_query_counts own =
                pm_query_count(profile, groups[i], &caches->caches[c].cache);
            if (whole.accesses > 0)
                weights[i] = fmax(weights[i], own.accesses / whole.accesses);
            if (whole.misses > 0)
                weights[i] = fmax(weights[i], own.misses / whole.misses);
        }
    }
}
