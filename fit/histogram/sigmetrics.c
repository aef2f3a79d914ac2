/* Section 2.3.2 of the paper as it is written, to compare with what partition.c makes of it:

   1. Leading bins whose distance is the same constant at every size are bins of their own; only
      their number of accesses is modelled.
   2. The rest is split in two, recursively, at a share of the accesses that is the same at every
      size and such that both parts cover equal ranges of distances; it ends when the models of the
      two mean distances are similar.
   3. Neighbours whose models of the distance are similar are joined.
   Each bin has a model of its accesses and one of its mean distance, with coefficients that are not
   negative (nonnegative.c).  No gaps, no clean cut, no joint groups, and no bins that take what the
   others do not account for: all of a group's are scaled to its accesses alike.

   The paper leaves open how similar is similar; it is 3% at each measured size, as in partition.c.
   Source: Marin & Mellor-Crummey 2004, section 2.3.2. */
#include "fit/histogram/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- step 1 ---------------------------------------------------------------------------------- */

/* The common distance of bin I at all sizes; −1 if there is none that is short. */
static int leading_distance(const struct pm_partition *p,
                            const struct pm_histogram *const *histograms, size_t i) {
    double distance = -1;
    for (size_t k = 0; k < p->design->n; k++) {
        const struct pm_histogram *histogram = histograms[k];
        if (!histogram || i >= histogram->n_bins)
            return -1;
        const struct pm_bin *bin = &histogram->bins[i];
        if (bin->low != bin->high || bin->low >= (double)pm_heuristics.short_distance ||
            (k > 0 && bin->low != distance))
            return -1;
        distance = bin->low;
    }
    return (int)distance;
}

static void take_leading_bins(struct pm_partition *p, const struct pm_histogram *const *histograms,
                              bool taken[PM_MOST_short_distance]) {
    int distance;
    for (size_t i = 0; (distance = leading_distance(p, histograms, i)) >= 0; i++) {
        struct pm_histogram_segment *segment = &p->segments[p->n_segments++];
        segment->constant_distance = true;
        segment->takes_rest = false;
        taken[distance] = true;
        for (size_t k = 0; k < p->design->n; k++) {
            const struct pm_bin *bin = &histograms[k]->bins[i];
            segment->count[k] = pm_bin_accesses(bin);
            segment->mean[k] = segment->low[k] = segment->high[k] = distance;
            segment->spread[k] = 0;
        }
    }
}

/* ---- step 2 ---------------------------------------------------------------------------------- */

static struct pm_model mean_model(struct pm_partition *p, const double *low, const double *high) {
    struct pm_model model;
    for (size_t k = 0; k < p->design->n; k++)
        p->row[k] = pm_reuses_mean(&p->reuses[k], low[k], high[k]);
    pm_fit_nonnegative(p->design, p->row, &model);
    return model;
}

static void split(struct pm_partition *p, const double *low, const double *high, size_t depth) {
    double most = 0, *cut = p->cuts + (depth + 3) * p->design->n;
    for (size_t k = 0; k < p->design->n; k++)
        most = fmax(most, high[k] - low[k]);
    if (most <= pm_heuristics.rounding)
        return;
    bool full = p->n_segments + PM_PARTITION_DEPTH + 2 >= PM_PARTITION_MAX_SEGMENTS;
    bool whole = full || depth >= PM_PARTITION_DEPTH || most < 1 ||
                 !pm_partition_equal_share(p, low, high, cut);
    if (!whole) {
        struct pm_model below = mean_model(p, low, cut), above = mean_model(p, cut, high);
        whole = pm_distances_agree(p->design, &below, &above);
    }
    if (whole) {
        pm_partition_add(p, low, high);
        return;
    }
    split(p, low, cut, depth + 1);
    split(p, cut, high, depth + 1);
}

/* ---- step 3 ---------------------------------------------------------------------------------- */

static void fit_bin(const struct pm_partition *p, const struct pm_histogram_segment *segment,
                    struct pm_bin_model *bin) {
    *bin = (struct pm_bin_model){.constant_distance = segment->constant_distance};
    pm_fit_nonnegative(p->design, segment->count, &bin->count);
    pm_fit_nonnegative(p->design, segment->mean, &bin->distance);
    pm_fit_ends(p, segment, bin);
}

/* The segments, by ascending distance, to bins; joined segments are fitted anew. */
static void fit_bins(struct pm_partition *p, struct pm_histogram_model *model) {
    model->bins = pm_bin_model_arena_alloc(&p->bins, p->n_segments);
    model->n_bins = 0;
    size_t last = 0; /* segment of the last bin */
    for (size_t i = 0; i < p->n_segments; i++) {
        struct pm_bin_model *bin = &model->bins[model->n_bins];
        fit_bin(p, &p->segments[i], bin);
        if (model->n_bins == 0 || bin->constant_distance || bin[-1].constant_distance ||
            !pm_distances_agree(p->design, &bin[-1].distance, &bin->distance)) {
            model->n_bins++;
            last = i;
            continue;
        }
        pm_partition_join(p, &p->segments[last], &p->segments[i]);
        fit_bin(p, &p->segments[last], bin - 1);
    }
    pm_bin_model_arena_return(&p->bins, p->n_segments - model->n_bins);
}

void pm_fit_histogram_literally(struct pm_partition *p,
                                const struct pm_histogram *const *histograms,
                                struct pm_histogram_model *model) {
    size_t n = p->design->n;
    double *start = p->cuts, *end = p->cuts + n;
    bool taken[PM_MOST_short_distance] = {false};
    p->n_segments = 0;
    p->short_side = false;
    take_leading_bins(p, histograms, taken);
    for (size_t k = 0; k < n; k++) {
        pm_reuses_fill(&p->reuses[k], histograms[k], taken);
        start[k] = 0;
        end[k] = pm_reuses_total(&p->reuses[k]);
    }
    split(p, start, end, 0);
    pm_fit_totals(p, histograms, model);
    pm_segments_to_bound(p, model->at_least);
    fit_bins(p, model);
}
