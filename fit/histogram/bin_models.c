/* From the segments of a group's histograms to models.

   A segment becomes a bin with  count (x),  its accesses, and  D (x),  their mean distance in
   blocks, as functions of the size x; its ends are  low · D (x)  and  high · D (x),  those of the
   even distribution with the same spread at the largest sizes:  1 ± √3 · spread / mean.  Cold
   accesses, and accesses in all, are series of their own.
   Source: Marin & Mellor-Crummey 2004, section 2.3.2; what is said of single steps is of this
   project. */
#include "fit/histogram/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Half the width of the even distribution about the mean that has the spread of SEGMENT at size K,
   but none beyond its ends, as a share of the mean. */
static double half_width(const struct pm_histogram_segment *segment, size_t k) {
    double mean = segment->mean[k], width = sqrt(3) * segment->spread[k];
    return fmax(fmin(width, fmin(mean - segment->low[k], segment->high[k] - mean)), 0) / mean;
}

/* Ends of the bin as shares of the mean: the median over the largest sizes. */
void pm_fit_ends(const struct pm_partition *p, const struct pm_histogram_segment *segment,
                 struct pm_bin_model *bin) {
    double widths[PM_MOST_ends_from_sizes];
    size_t n = p->design->n, n_widths = 0, most = pm_heuristics.ends_from_sizes;
    for (size_t k = n > most ? n - most : 0; k < n; k++) {
        if (isnan(segment->mean[k]) || segment->mean[k] <= 0)
            continue;
        pm_insert_sorted(widths, n_widths++, half_width(segment, k));
    }
    double width = n_widths && !pm_fit_without(PM_STEP_BIN_WIDTH) ? pm_median(widths, n_widths) : 0;
    bin->low = 1 - fmin(width, 1);
    bin->high = 1 + width;
}

/* Counts of A over those of B where these are the same multiple at each size, else 0. */
static double multiple_of(const struct pm_histogram_segment *a,
                          const struct pm_histogram_segment *b, size_t n) {
    double ratio = 0;
    for (size_t k = n; k-- > 0;) {
        if ((a->count[k] == 0) != (b->count[k] == 0))
            return 0;
        if (a->count[k] == 0)
            continue;
        if (ratio == 0)
            ratio = a->count[k] / b->count[k];
        else if (fabs(a->count[k] - ratio * b->count[k]) > pm_heuristics.rounding * a->count[k])
            return 0;
    }
    return ratio;
}

/* The model of the counts of segment I.  Cuts at one share for all sizes make segments whose counts
   are multiples of each other's, and so are their models: of twenty segments nineteen need no fit.
   What may be exact is fitted by itself, because a multiple of whole numbers need not be whole. */
static void fit_count(struct pm_partition *p, size_t i, struct pm_bin_model *bins) {
    const struct pm_histogram_segment *segment = &p->segments[i];
    size_t n = p->design->n;
    p->same_counts[i] = i;
    bool alone = pm_exact_is_possible(n, segment->count);
    for (size_t j = 0; j < i && !alone; j++) {
        double ratio = p->same_counts[j] == j ? multiple_of(segment, &p->segments[j], n) : 0;
        if (ratio == 0 || bins[j].count.exact)
            continue;
        bins[i].count = bins[j].count;
        pm_model_scale(&bins[i].count, ratio);
        p->same_counts[i] = j;
        return;
    }
    pm_series_fit(p->series, segment->count, PM_SERIES_COUNT, &bins[i].count);
}

void pm_fit_segment_counts(struct pm_partition *p, struct pm_bin_model *bins) {
    for (size_t i = 0; i < p->n_segments; i++)
        fit_count(p, i, bins);
}

static void fit_segment(struct pm_partition *p, const struct pm_histogram_segment *segment,
                        struct pm_bin_model *bin) {
    pm_series_fit(p->series, segment->mean, PM_SERIES_DISTANCE, &bin->distance);
    pm_fit_ends(p, segment, bin);
    bin->constant_distance = segment->constant_distance;
    bin->takes_rest = segment->takes_rest;
}

/* Distance at the largest size that has one, for the order of the bins. */
static double last_distance(const struct pm_histogram_segment *segment, size_t n) {
    for (size_t k = n; k-- > 0;)
        if (!isnan(segment->mean[k]))
            return segment->mean[k];
    return 0;
}

void pm_sort_segments(struct pm_partition *p) {
    for (size_t i = 1; i < p->n_segments; i++) {
        struct pm_histogram_segment segment = p->segments[i];
        double distance = last_distance(&segment, p->design->n);
        size_t at = i;
        for (; at > 0 && last_distance(&p->segments[at - 1], p->design->n) > distance; at--)
            p->segments[at] = p->segments[at - 1];
        p->segments[at] = segment;
    }
}

/* Accesses over all sizes. */
static double segment_weight(const struct pm_histogram_segment *segment, size_t n) {
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += segment->count[k];
    return sum;
}

/* The function of MODEL that comes last in the basis; −1 if it has none. */
static int last_term(const struct pm_model *model) {
    int last = -1;
    for (size_t i = 0; i < model->n_terms; i++)
        last = model->terms[i] > last ? model->terms[i] : last;
    return last;
}

static bool is_constant(const struct pm_model *distance) {
    return distance->n_terms == 0 || (distance->n_terms == 1 && distance->terms[0] == 0);
}

/* What is nearer at every size stays nearer: where a longer distance of as many accesses is
   constant, a shorter one that seems to grow is on its way from one small whole number to the next,
   and becomes constant, too.  That is so where the longer one is small for the block size: what
   seems constant further out may be noise. */
static void bound_by_constants(struct pm_partition *p, double at_least, struct pm_bin_model *bins) {
    size_t n = p->design->n;
    double heaviest = 0, highest = (double)pm_heuristics.few_blocks;
    if (at_least > 0) /* at the bound a distance only seems constant */
        highest = fmin(highest, at_least * (1 - pm_heuristics.rounding));
    for (size_t i = p->n_segments; i-- > 0;) {
        const struct pm_histogram_segment *segment = &p->segments[i];
        double weight = segment_weight(segment, n), last = segment->mean[n - 1];
        if (is_constant(&bins[i].distance)) {
            if (last < highest) /* false for NAN */
                heaviest = fmax(heaviest, weight);
            continue;
        }
        if (heaviest < pm_heuristics.bound_share * weight || isnan(last))
            continue;
        bins[i].distance = pm_model_constant(last, n);
        bins[i].low = last > 0 ? fmin(segment->low[n - 1] / last, 1) : 1;
        bins[i].high = last > 0 ? fmax(segment->high[n - 1] / last, 1) : 1;
    }
}

/* Whether LEFT is nearer than RIGHT at every size, of as many accesses, and both are known there.
 */
static bool is_nearer(const struct pm_histogram_segment *left,
                      const struct pm_histogram_segment *right, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (!(left->mean[k] <= right->mean[k])) /* NAN: not known */
            return false;
    return segment_weight(left, n) <= segment_weight(right, n);
}

/* What is nearer at every size stays nearer: where a longer distance of as many accesses is better
   known and grows less, a shorter one whose model is poor keeps its ratio to that from the largest
   size on. */
static void bound_by_longer(struct pm_partition *p, struct pm_bin_model *bins) {
    size_t n = p->design->n;
    for (size_t i = p->n_segments; i-- > 0;) {
        struct pm_model *own = &bins[i].distance;
        if (!(own->leave_one_out_error > pm_heuristics.flagged_error))
            continue;
        for (size_t j = i + 1; j < p->n_segments; j++) {
            const struct pm_model *longer = &bins[j].distance;
            if (is_constant(longer) || last_term(longer) >= last_term(own) ||
                !(longer->leave_one_out_error < own->leave_one_out_error) ||
                !(p->segments[j].mean[n - 1] > 0) || /* then there is no ratio */
                !is_nearer(&p->segments[i], &p->segments[j], n))
                continue;
            *own = *longer;
            pm_model_scale(own, p->segments[i].mean[n - 1] / p->segments[j].mean[n - 1]);
            break;
        }
    }
}

/* A TLB has few entries, so that of pages the misses of all but the shortest distances are noticed:
   these alone take the accesses that the others do not account for, if there are any. */
static void give_rest_to_shortest(const struct pm_partition *p, struct pm_bin_model *bins) {
    bool any = false;
    for (size_t i = 0; i < p->n_segments; i++)
        any |= last_distance(&p->segments[i], p->design->n) < (double)pm_heuristics.few_blocks &&
               bins[i].takes_rest;
    for (size_t i = 0; i < p->n_segments && any; i++)
        bins[i].takes_rest &=
            last_distance(&p->segments[i], p->design->n) < (double)pm_heuristics.few_blocks;
}

void pm_fit_totals(struct pm_partition *p, const struct pm_histogram *const *histograms,
                   struct pm_histogram_model *model) {
    size_t n = p->design->n;
    double stores = 0, all = 0, *cold = p->row, *accesses = p->row + n;
    model->at_least = 0;
    for (size_t k = 0; k < n; k++) {
        const struct pm_histogram *histogram = histograms[k];
        cold[k] = accesses[k] = 0;
        if (!histogram)
            continue;
        cold[k] = histogram->cold_loads + histogram->cold_stores;
        accesses[k] = cold[k] + pm_count_reuses(histogram);
        all += accesses[k];
        stores += histogram->cold_stores + histogram->beyond_stores;
        for (size_t i = 0; i < histogram->n_bins; i++)
            stores += histogram->bins[i].stores;
        if (histogram->at_least > 0 &&
            (model->at_least == 0 || histogram->at_least < model->at_least))
            model->at_least = histogram->at_least;
    }
    pm_series_fit(p->series, cold, PM_SERIES_COUNT, &model->cold);
    pm_series_fit(p->series, accesses, PM_SERIES_COUNT, &model->accesses);
    model->store_share = all > 0 ? fmin(1, stores / all) : 0; /* rounded, of means */
}

/* A segment with reuses of which is only known that they are beyond the bound is there as a whole.
 */
void pm_segments_to_bound(struct pm_partition *p, double at_least) {
    for (size_t i = 0; i < p->n_segments && at_least > 0; i++) {
        struct pm_histogram_segment *segment = &p->segments[i];
        for (size_t k = 0; k < p->design->n; k++)
            if (segment->high[k] >= at_least) { /* false for NAN */
                segment->mean[k] = segment->low[k] = segment->high[k] = at_least;
                segment->spread[k] = 0;
            }
    }
}

bool pm_distances_agree(const struct pm_design *design, const struct pm_model *a,
                        const struct pm_model *b) {
    for (size_t s = 0; s < design->n; s++) {
        double first = pm_design_model_value(design, a, s);
        double second = pm_design_model_value(design, b, s);
        if (fabs(first - second) > pm_heuristics.similar * fmax(fmax(first, second), 1))
            return false;
    }
    return true;
}

/* Joins neighbours whose distances are alike at the measured sizes, by their models, and go on
   alike: as the same function of the basis at the end. */
static void join_similar_bins(struct pm_partition *p, struct pm_histogram_model *model) {
    size_t kept = 0;
    for (size_t i = 1; i < model->n_bins; i++) {
        struct pm_bin_model *last = &model->bins[kept], *bin = &model->bins[i];
        if (!last->constant_distance && !bin->constant_distance &&
            last->takes_rest == bin->takes_rest &&
            last_term(&last->distance) == last_term(&bin->distance) &&
            pm_distances_agree(p->design, &last->distance, &bin->distance)) {
            pm_partition_join(p, &p->segments[kept], &p->segments[i]);
            fit_segment(p, &p->segments[kept], last);
            continue;
        }
        kept++;
        pm_segments_swap(p, kept, i);
        model->bins[kept] = *bin;
    }
    if (model->n_bins)
        model->n_bins = p->n_segments = kept + 1;
}

void pm_fit_histogram(struct pm_partition *p, const struct pm_histogram *const *histograms,
                      struct pm_histogram_model *model) {
    pm_fit_totals(p, histograms, model);
    pm_partition_cut(p, histograms);
    pm_segments_to_bound(p, model->at_least);
    pm_sort_segments(p);
    model->n_bins = p->n_segments;
    model->bins = pm_bin_model_arena_alloc(&p->bins, p->n_segments);
    for (size_t i = 0; i < p->n_segments; i++)
        fit_segment(p, &p->segments[i], &model->bins[i]);
    join_similar_bins(p, model);
    pm_fit_segment_counts(p, model->bins);
    if (!pm_fit_without(PM_STEP_STAYS_NEARER)) {
        bound_by_constants(p, model->at_least, model->bins);
        bound_by_longer(p, model->bins);
    }
    if (model->block_bytes >= PM_FIT_LEAST_PAGE)
        give_rest_to_shortest(p, model->bins);
}
