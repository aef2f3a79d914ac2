/* The share of accesses without models; see unmatched.h. */
#include "fit/analysis/unmatched.h"

double pm_unmatched_share(struct pm_profile *const *profiles, size_t n,
                          const struct pm_profile **of) {
    double most = 0;
    *of = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct pm_profile *profile = profiles[i];
        const struct pm_skipped_accesses *lost = &profile->skipped[PM_SKIPPED_UNMATCHED];
        double kept = 0, n_lost = lost->loads + lost->stores;
        for (size_t h = 0; h < profile->n_histograms; h++)
            if (profile->histograms[h].histogram.block_bytes == profile->block_sizes[0])
                kept += pm_histogram_accesses(&profile->histograms[h].histogram);
        if (n_lost > 0 && n_lost / (n_lost + kept) > most) {
            most = n_lost / (n_lost + kept);
            *of = profile;
        }
    }
    return most;
}
