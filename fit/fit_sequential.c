/* Shares of sequential touches (core/behaviour/behaviour.h) in models of histograms.

   A bin of a model is a range of distances that was followed through all sizes, whose accesses are
   of one kind: a sweep over an array, a column, a row that is near.  The share of them that go on
   from one block to the next is taken from the largest size, where the ends of streams count least,
   and is the same at every size: what of a level's misses is sequential then follows from the bins
   that miss there.  Of runs of a constant number of blocks that is so; where runs lengthen with the
   size, the share is too small beyond the largest size, and less so the longer they are. */
#include <math.h>
#include <stdlib.h>

#include "core/behaviour/behaviour.h"
#include "fit/fit.h"
#include "fit/private.h"

/* The accesses of HISTOGRAM at distances from LOW to HIGH, those of a bin being evenly spread. */
static double accesses_between(const struct pm_histogram *histogram, double low, double high) {
    double sum = 0;
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        double both = fmin(high, bin->high) - fmax(low, bin->low) + 1;
        sum += (bin->loads + bin->stores) * fmin(1, fmax(0, both) / (bin->high - bin->low + 1));
    }
    return sum;
}

static double share(double sequential, double all, double otherwise) {
    return all > 0 ? fmin(1, sequential / all) : otherwise;
}

/* MODEL at POINT, where ALL was measured and SEQUENTIAL is what of it is so. */
static void set_shares(struct pm_histogram_model *model, const struct pm_model_point *point,
                       const struct pm_histogram *all, const struct pm_histogram *sequential) {
    const double farther = pm_fully_associative_misses(all, PM_LEAST_FAR);
    const double usual = share(pm_fully_associative_misses(sequential, PM_LEAST_FAR), farther, 0);
    for (size_t b = 0; b < model->n_bins; b++) {
        struct pm_bin_model *bin = &model->bins[b];
        const double mean = pm_model_value_at(&bin->distance, point);
        const double low = floor(bin->low * mean), high = ceil(bin->high * mean);
        bin->sequential =
            share(accesses_between(sequential, low, high), accesses_between(all, low, high), usual);
    }
    model->sequential_cold = share(sequential->cold_loads + sequential->cold_stores,
                                   all->cold_loads + all->cold_stores, usual);
    model->knows_sequential = true;
}

/* The one with most first touches of those that have them; NULL: none has. */
static const struct pm_profile *largest(const struct pm_profile *const *profiles, size_t n) {
    const struct pm_profile *found = NULL;
    double most = -1;
    for (size_t k = 0; k < n; k++) {
        struct pm_program_total *sums = pm_profile_sums(profiles[k]);
        if (profiles[k]->n_sequential && sums[0].accesses > most) {
            most = sums[0].accesses;
            found = profiles[k];
        }
        free(sums);
    }
    return found;
}

void pm_fit_sequential(const struct pm_profile *const *profiles, size_t n_profiles,
                       struct pm_model_set *set) {
    const struct pm_profile **kept = pm_alloc(n_profiles, sizeof *kept);
    const struct pm_profile *profile =
        largest(kept, pm_fit_keep_fitted(profiles, n_profiles, set, kept));
    struct pm_error ignored = {0};
    struct pm_model_point point;
    free(kept);
    if (!profile || !pm_model_point_at(set, &profile->parameters, &point, &ignored))
        return;
    for (size_t h = 0; h < set->n_histograms; h++) {
        struct pm_histogram_model *model = &set->histograms[h];
        const struct pm_histogram *sequential,
            *all = pm_sequential_among(profile, model->group, &sequential);
        if (all && all->block_bytes == model->block_bytes)
            set_shares(model, &point, all, sequential);
    }
    pm_model_point_free(&point);
}
