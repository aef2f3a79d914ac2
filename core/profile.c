/* A profile: what a program does at one problem size; see profile.h. */
#include "core/profile.h"

#include <stdlib.h>

#include "core/pm_alloc.h"

void pm_profile_free(struct pm_profile *profile) {
    if (!profile)
        return;
    for (size_t i = 0; i < profile->n_histograms; i++)
        pm_histogram_free(&profile->histograms[i].histogram);
    free(profile->histograms);
    free(profile->edge_counts);
    free(profile->block_sizes);
    free(profile);
}

const struct pm_histogram *pm_profile_histogram(const struct pm_profile *profile, uint32_t group,
                                                uint64_t block_bytes) {
    size_t low = 0, high = profile->n_histograms;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pm_group_histogram *at = &profile->histograms[middle];
        if (at->group == group && at->histogram.block_bytes == block_bytes)
            return &at->histogram;
        if (at->group < group || (at->group == group && at->histogram.block_bytes < block_bytes))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool pm_profile_fits(const struct pm_profile *profile, const struct pm_structure *structure,
                     struct pm_error *err) {
    bool fits = profile->n_edges == structure->n_edges;
    for (size_t i = 0; i < profile->n_histograms && fits; i++)
        fits = profile->histograms[i].group < structure->n_groups;
    return fits || pm_fail(err, "a run's counts do not fit the program's structure: the store is "
                                "damaged; measure again");
}

double *pm_block_executions(const struct pm_structure *structure, const double *edge_counts) {
    double *blocks = pm_alloc(structure->n_blocks, sizeof *blocks);
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].to < structure->n_blocks)
            blocks[structure->edges[e].to] += edge_counts[e];
    return blocks;
}
