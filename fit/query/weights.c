/* Shares of accesses and misses, to show the heaviest first; see query.h. */
#include "fit/query/query.h"

#include <math.h>
#include <stdlib.h>

double **pm_query_misses(const struct pm_structure *structure, const struct pm_profile *profile,
                         struct pm_profile *const *ends, const struct pm_query_caches *caches) {
    struct pm_set_cache *sets = pm_alloc(caches->n_caches, sizeof *sets);
    for (size_t c = 0; c < caches->n_caches; c++)
        sets[c] = caches->caches[c].sets;
    double **misses = pm_set_misses(structure, profile, ends, sets, caches->n_caches);
    free(sets);
    return misses;
}

void pm_query_weights(const struct pm_structure *structure, const struct pm_profile *profile,
                      const struct pm_query_caches *caches,
                      const struct pm_query_groups *const *groups, size_t n, double *weights) {
    double **misses = pm_query_misses(structure, profile, NULL, caches);
    for (size_t i = 0; i < n; i++)
        weights[i] = 0;
    for (size_t c = 0; c < caches->n_caches; c++) {
        const struct pm_query_cache *cache = &caches->caches[c].cache;
        double all_accesses = 0, all_misses = 0;
        for (size_t h = 0; h < profile->n_histograms; h++) {
            const struct pm_histogram *histogram = &profile->histograms[h].histogram;
            if (histogram->block_bytes == cache->block_bytes)
                all_accesses += pm_histogram_accesses(histogram);
            all_misses += misses[c][h];
        }
        for (size_t i = 0; i < n; i++) {
            double own = pm_query_count(profile, groups[i], cache).accesses;
            double missing =
                pm_query_sum_misses(structure, profile, groups[i], cache->block_bytes, misses[c]);
            if (all_accesses > 0)
                weights[i] = fmax(weights[i], own / all_accesses);
            if (all_misses > 0)
                weights[i] = fmax(weights[i], missing / all_misses);
        }
    }
    pm_set_misses_free(misses, caches->n_caches);
}
