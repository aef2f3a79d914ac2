/* A profile: what a program does at one problem size; see profile.h. */
#include "core/profile.h"

#include <stdlib.h>

#include "core/base/base.h"

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

/* ---- builds that differ ---------------------------------------------------------------------- */

static bool is_unmatched(const struct pm_structure *structure, uint32_t scope) {
    return (structure->scopes[scope].flags & PM_SCOPE_UNMATCHED) != 0;
}

/* The innermost loop around INSIDE, but not around OUTSIDE, that is the same in all builds; or
   PM_NONE. */
static uint32_t crossed_loop(const struct pm_structure *structure, uint32_t inside,
                             uint32_t outside) {
    uint32_t loop = inside == PM_NONE ? PM_NONE : structure->blocks[inside].loop;
    for (; loop != PM_NONE && !pm_is_in_loop(structure, outside, loop);
         loop = pm_outer_loop(structure, loop))
        if (!is_unmatched(structure, loop))
            return loop;
    return PM_NONE;
}

static void keep_edges(struct pm_profile *profile, const struct pm_structure *structure) {
    uint32_t *entry = pm_alloc(structure->n_scopes, sizeof *entry); /* of each loop, plus 1 */
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (!is_unmatched(structure, pm_edge_scope(structure, e)) ||
            crossed_loop(structure, edge->from, edge->to) != PM_NONE)
            continue;
        uint32_t entered = crossed_loop(structure, edge->to, edge->from);
        if (entered != PM_NONE && entry[entered] == 0)
            entry[entered] = e + 1;
        else if (entered != PM_NONE)
            profile->edge_counts[entry[entered] - 1] += profile->edge_counts[e];
        if (entered == PM_NONE || entry[entered] != e + 1)
            profile->edge_counts[e] = 0;
    }
    free(entry);
}

void pm_profile_keep_matched(struct pm_profile *profile, const struct pm_structure *structure) {
    if (profile->n_edges != structure->n_edges)
        return;
    keep_edges(profile, structure);
    size_t n = 0;
    for (size_t i = 0; i < profile->n_histograms; i++) {
        struct pm_group_histogram *histogram = &profile->histograms[i];
        if (histogram->group < structure->n_groups &&
            pm_group_is_matched(structure, histogram->group))
            profile->histograms[n++] = *histogram;
        else
            pm_histogram_free(&histogram->histogram);
    }
    profile->n_histograms = n;
}
