/* Histograms of a part of a program; see shares.h. */
#include "core/shares/shares.h"

#include <stdlib.h>

double *pm_group_executions(const struct pm_structure *structure, const double *edge_counts) {
    double *blocks = pm_block_executions(structure, edge_counts);
    double *executions = pm_alloc(structure->n_groups, sizeof *executions);
    for (size_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        if (reference->group == PM_NONE)
            continue;
        executions[pm_group_kept_as(structure, reference->group)] += blocks[reference->block];
    }
    free(blocks);
    return executions;
}

void pm_histogram_multiply(struct pm_histogram *histogram, double factor) {
    for (size_t i = 0; i < histogram->n_bins; i++) {
        histogram->bins[i].loads *= factor;
        histogram->bins[i].stores *= factor;
    }
    histogram->cold_loads *= factor;
    histogram->cold_stores *= factor;
    histogram->beyond_loads *= factor;
    histogram->beyond_stores *= factor;
    histogram->bytes_touched *= factor;
}

void pm_histogram_scaled(struct pm_histogram *to, const struct pm_histogram *from, double factor) {
    *to = *from;
    to->bins = pm_alloc(from->n_bins, sizeof *to->bins);
    for (size_t i = 0; i < from->n_bins; i++)
        to->bins[i] = from->bins[i];
    pm_histogram_multiply(to, factor);
}

struct pm_group_histogram *pm_scaled_histograms(const struct pm_group_histogram *from, size_t n,
                                                const double *shares, size_t *n_scaled) {
    struct pm_group_histogram *scaled = pm_alloc(n, sizeof *scaled);
    *n_scaled = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(shares[from[i].group] > 0))
            continue;
        struct pm_group_histogram *to = &scaled[(*n_scaled)++];
        to->group = from[i].group;
        pm_histogram_scaled(&to->histogram, &from[i].histogram, shares[to->group]);
    }
    return scaled;
}
