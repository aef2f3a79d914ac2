/* Cutting the histograms of one reference group into bins, for all sizes at once.

   Three steps (Marin & Mellor-Crummey 2004, section 2.3.2, with what a trial showed to matter):
   1. Constant short distances: a distance that occurs at every size, and whose number of accesses
   is predictable, is a segment of its own; only its count is a function of the size.
   2. A clean cut between short and long distances: the limit at which the number of longer
      reuses is best predictable, or a gap followed through the sizes.  A limit alone fails when a
      cluster of distances crosses it between two sizes, and every later share slips.
   3. On both sides: recursive halving.  At a gap in the distances that can be followed through all
      sizes (gaps.c); else at the share of accesses, the same at each size, that halves the range of
      distances.  It ends when a segment is narrow, when its halves agree, or when it is negligible.
   Neighbours whose distances agree are joined by their models (bin_models.c).
   What is rare enough to be neglected depends on the block size: a walk through memory touches a
   new block of B bytes once in B / 8 accesses, so that of large blocks the rare long distances are
   all the misses that there are.  Limits on counts are for 64-byte blocks and shrink as 64 / B.
   Needs sizes ascending. */
#include "fit/histogram/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Error of a limit for each size before the first with reuses beyond it. */
static const double late_penalty = 0.02;

struct pm_partition *pm_partition_new(const struct pm_design *design, size_t most_bins) {
    struct pm_partition *p = pm_alloc(1, sizeof *p);
    size_t n = design->n;
    p->design = design;
    p->series = pm_series_workspace_new(design);
    p->reuses = pm_alloc(n, sizeof *p->reuses);
    for (size_t k = 0; k < n; k++)
        pm_reuses_reserve(&p->reuses[k], most_bins + 1);
    p->sum_bins = pm_alloc(n * most_bins, sizeof *p->sum_bins);
    p->most_bins = most_bins;
    p->sums = pm_alloc(n, sizeof *p->sums);
    p->to_sums = pm_alloc(n, sizeof(const struct pm_histogram *));
    p->cuts = pm_alloc((PM_PARTITION_DEPTH + 4) * n, sizeof *p->cuts);
    p->row = pm_alloc(2 * n, sizeof *p->row);
    p->side_total = pm_alloc(n, sizeof *p->side_total);
    p->rows = pm_alloc(5 * n * PM_PARTITION_MAX_SEGMENTS, sizeof *p->rows);
    for (size_t i = 0; i < PM_PARTITION_MAX_SEGMENTS; i++) {
        p->segments[i].count = p->rows + 5 * n * i;
        p->segments[i].mean = p->segments[i].count + n;
        p->segments[i].low = p->segments[i].mean + n;
        p->segments[i].high = p->segments[i].low + n;
        p->segments[i].spread = p->segments[i].high + n;
    }
    return p;
}

void pm_partition_free(struct pm_partition *p) {
    if (!p)
        return;
    for (size_t k = 0; k < p->design->n; k++)
        pm_reuses_free(&p->reuses[k]);
    pm_series_workspace_free(p->series);
    pm_bin_model_arena_free(&p->bins);
    free(p->to_sums);
    free(p->sums);
    free(p->sum_bins);
    free(p->reuses);
    free(p->cuts);
    free(p->row);
    free(p->side_total);
    free(p->rows);
    free(p);
}

struct pm_series_workspace *pm_partition_series(struct pm_partition *p) {
    return p->series;
}

void pm_partition_hand_over(struct pm_partition *p, struct pm_bin_model_arena *arena) {
    pm_bin_model_arena_join(arena, &p->bins);
}

/* ---- step 1: constant short distances -------------------------------------------------------- */

/* Accesses of HISTOGRAM at exactly DISTANCE; NULL has none. */
static double count_at(const struct pm_histogram *histogram, double distance) {
    for (size_t i = 0; histogram && i < histogram->n_bins && histogram->bins[i].low <= distance;
         i++)
        if (histogram->bins[i].low == distance && histogram->bins[i].high == distance)
            return pm_bin_accesses(&histogram->bins[i]);
    return 0;
}

/* Whether distance D occurs at every size, in predictable numbers. */
static bool is_constant(struct pm_partition *p, const struct pm_histogram *const *histograms,
                        int d) {
    for (size_t k = 0; k < p->design->n; k++) {
        p->row[k] = count_at(histograms[k], d);
        if (p->row[k] == 0)
            return false;
    }
    double limit = pm_heuristics.constant_error;
    return pm_series_predictability_within(p->series, p->row, 0, limit, limit) <= limit;
}

/* Takes distances as segments where they are constant; TAKEN[d] tells which. */
static void take_constant_distances(struct pm_partition *p,
                                    const struct pm_histogram *const *histograms,
                                    bool taken[PM_MOST_short_distance]) {
    size_t n = p->design->n;
    for (int d = 0; d < (int)pm_heuristics.short_distance; d++) {
        taken[d] = !pm_fit_without(PM_STEP_CONSTANT_BINS) && is_constant(p, histograms, d);
        if (!taken[d])
            continue;
        struct pm_histogram_segment *segment = &p->segments[p->n_segments++];
        segment->constant_distance = segment->takes_rest = true;
        for (size_t k = 0; k < n; k++) {
            segment->count[k] = count_at(histograms[k], d);
            segment->mean[k] = segment->low[k] = segment->high[k] = d;
            segment->spread[k] = 0;
        }
    }
}

/* ---- step 2: the clean cut ------------------------------------------------------------------- */

static const int limits[] = {PM_FIT_LIMITS};
enum { N_LIMITS = sizeof limits / sizeof *limits };

/* Error of predicting how many reuses lie beyond LIMIT, or some value above HOPELESS; −1 if none
   does, +∞ if none is below.  The second row has those beyond the limit before, of error BEFORE. */
static double cut_error(struct pm_partition *p, double limit, double hopeless, double before) {
    size_t n = p->design->n, onset = n;
    bool any_below = false;
    for (size_t k = 0; k < n; k++) {
        double below = pm_reuses_below(&p->reuses[k], limit);
        p->row[k] = pm_reuses_total(&p->reuses[k]) - below;
        any_below |= below > 0;
        if (onset == n && p->row[k] > 0)
            onset = k;
    }
    if (onset == n)
        return -1;
    if (!any_below)
        return INFINITY;
    if (memcmp(p->row, p->row + n, n * sizeof *p->row) == 0)
        return before;
    double penalty = late_penalty * (double)onset;
    if (n - onset < pm_heuristics.enough_sizes && onset > 0)
        return 1 + penalty;
    return penalty +
           pm_series_predictability_within(p->series, p->row, onset, -1, hopeless - penalty);
}

/* Errors from which on a limit is not as good as the one of error LEAST. */
static double accepted_from(double least) {
    return fmax(pm_heuristics.limit_ratio * least, least + pm_heuristics.limit_more);
}

/* The limit of the clean cut, 0 if everything is long; its error.  Of limits that are about as
   good, the largest up to short_distance. */
static double clean_limit(struct pm_partition *p, double *error) {
    double errors[N_LIMITS], least = INFINITY, chosen = 0, here = INFINITY;
    size_t n = p->design->n, n_limits = 0;
    p->row[n] = NAN; /* there is none before the first */
    while (n_limits < N_LIMITS) {
        here = cut_error(p, limits[n_limits], accepted_from(least), here);
        memcpy(p->row + n, p->row, n * sizeof *p->row);
        errors[n_limits++] = here < 0 ? 0 : here;
        least = fmin(least, errors[n_limits - 1]);
        if (here < 0)
            break; /* nothing beyond: higher limits say the same */
    }
    double accepted = accepted_from(least);
    for (size_t i = 0; i < n_limits && isfinite(least); i++)
        if (errors[i] <= accepted &&
            (limits[i] <= (int)pm_heuristics.short_distance || chosen == 0)) {
            chosen = limits[i];
            *error = errors[i];
        }
    return chosen;
}

/* Fills MIDDLE with the positions of the clean cut between START and END: at a gap that can be
   followed through all sizes, because no limit separates two clusters where one grows into the
   range that the other had; at a limit where that predicts the longer reuses better. */
static void clean_cut(struct pm_partition *p, const double *start, const double *end,
                      double *middle) {
    size_t n = p->design->n;
    double limit_error = 0, *gap = p->cuts + 3 * n;
    double limit = pm_fit_without(PM_STEP_CLEAN_CUT) ? 0 : clean_limit(p, &limit_error);
    for (size_t k = 0; k < n; k++)
        middle[k] = pm_reuses_below(&p->reuses[k], limit);
    if (pm_fit_without(PM_STEP_CLEAN_CUT) || !pm_partition_gap(p, start, end, gap))
        return;
    for (size_t k = 0; k < n; k++)
        p->row[k] = end[k] - gap[k];
    if (pm_partition_is_predictable(p, limit_error + pm_heuristics.gap_bonus))
        memcpy(middle, gap, n * sizeof *middle);
}

/* ---- step 3: recursive halving --------------------------------------------------------------- */

void pm_partition_add(struct pm_partition *p, const double *low, const double *high) {
    struct pm_histogram_segment *segment = &p->segments[p->n_segments++];
    segment->constant_distance = true;
    segment->takes_rest = p->short_side;
    double distance = NAN;
    for (size_t k = 0; k < p->design->n; k++) {
        const struct pm_reuses *reuses = &p->reuses[k];
        double count = fmax(high[k] - low[k], 0);
        segment->count[k] = count > pm_heuristics.rounding ? count : 0;
        segment->mean[k] = pm_reuses_mean(reuses, low[k], high[k]);
        bool empty = isnan(segment->mean[k]);
        segment->low[k] = empty ? NAN : reuses->low[pm_reuses_first(reuses, low[k])];
        segment->high[k] = empty ? NAN : reuses->high[pm_reuses_last(reuses, high[k])];
        segment->spread[k] = empty ? NAN : pm_reuses_spread(reuses, low[k], high[k]);
        if (empty)
            continue;
        if (isnan(distance))
            distance = segment->low[k];
        segment->constant_distance &= segment->low[k] == distance && segment->high[k] == distance;
    }
}

bool pm_partition_equal_share(struct pm_partition *p, const double *low, const double *high,
                              double *cut) {
    size_t n_shares = 0;
    double *shares = p->row, sum = 0;
    for (size_t k = 0; k < p->design->n; k++) {
        const struct pm_reuses *reuses = &p->reuses[k];
        if (reuses->n == 0 || high[k] - low[k] <= pm_heuristics.rounding)
            continue;
        double a = reuses->distance[pm_reuses_first(reuses, low[k])];
        double b = reuses->distance[pm_reuses_last(reuses, high[k])];
        if (b <= a)
            continue;
        double share = (pm_reuses_below(reuses, (a + b) / 2) - low[k]) / (high[k] - low[k]);
        share = fmin(fmax(share, 0), 1);
        pm_insert_sorted(shares, n_shares++, share);
        sum += share;
    }
    if (n_shares == 0)
        return false;
    double share = pm_median(shares, n_shares), least = pm_heuristics.rounding;
    if (share < least || share > 1 - least)
        share = sum / (double)n_shares;
    if (share < least || share > 1 - least)
        return false;
    for (size_t k = 0; k < p->design->n; k++)
        cut[k] = low[k] + share * (high[k] - low[k]);
    return true;
}

static bool is_negligible(const struct pm_partition *p, const double *low, const double *high) {
    for (size_t k = 0; k < p->design->n; k++) {
        double least =
            fmax(pm_heuristics.negligible_share * p->side_total[k], pm_heuristics.negligible_count);
        if (high[k] - low[k] > least)
            return false;
    }
    return true;
}

static bool is_narrow(const struct pm_partition *p, const double *low, const double *high) {
    for (size_t k = 0; k < p->design->n; k++) {
        const struct pm_reuses *reuses = &p->reuses[k];
        if (reuses->n == 0 || high[k] - low[k] <= pm_heuristics.rounding)
            continue;
        double width = reuses->distance[pm_reuses_last(reuses, high[k])] -
                       reuses->distance[pm_reuses_first(reuses, low[k])];
        if (width >= pm_heuristics.similar * fmax(pm_reuses_mean(reuses, low[k], high[k]), 1))
            return false;
    }
    return true;
}

/* Mean distances of LOW…CUT and CUT…HIGH agree at each size. */
static bool halves_agree(const struct pm_partition *p, const double *low, const double *cut,
                         const double *high) {
    for (size_t k = 0; k < p->design->n; k++) {
        double first = pm_reuses_mean(&p->reuses[k], low[k], cut[k]);
        double second = pm_reuses_mean(&p->reuses[k], cut[k], high[k]);
        if (fabs(second - first) >
            pm_heuristics.similar * fmax(fmax(first, second), 1)) /* false for NAN */
            return false;
    }
    return true;
}

/* Each level of the recursion has its own row for the cut, so that ancestors' rows stay valid. */
static void halve(struct pm_partition *p, const double *low, const double *high, size_t depth) {
    bool empty = true;
    for (size_t k = 0; k < p->design->n; k++)
        empty &= high[k] - low[k] <= pm_heuristics.rounding;
    if (empty)
        return;
    double *cut = p->cuts + (depth + 3) * p->design->n;
    /* Each pending ancestor may still need one segment. */
    bool full = p->n_segments + PM_PARTITION_DEPTH + 2 >= PM_PARTITION_MAX_SEGMENTS;
    bool split = !full && depth < PM_PARTITION_DEPTH && !is_negligible(p, low, high) &&
                 !is_narrow(p, low, high);
    if (split && (p->at_shares || !pm_partition_gap(p, low, high, cut)))
        split = pm_partition_equal_share(p, low, high, cut) && !halves_agree(p, low, cut, high);
    if (!split) {
        pm_partition_add(p, low, high);
        return;
    }
    halve(p, low, cut, depth + 1);
    halve(p, cut, high, depth + 1);
}

/* ---- joining -------------------------------------------------------------------------------- */

static bool segments_agree(const struct pm_partition *p, const struct pm_histogram_segment *a,
                           const struct pm_histogram_segment *b) {
    if (a->constant_distance || b->constant_distance || a->takes_rest != b->takes_rest)
        return false;
    for (size_t k = 0; k < p->design->n; k++)
        if (isnan(a->mean[k]) != isnan(b->mean[k]) ||
            fabs(a->mean[k] - b->mean[k]) >
                pm_heuristics.similar * fmax(fmax(a->mean[k], b->mean[k]), 1))
            return false;
    return true;
}

void pm_segments_swap(struct pm_partition *p, size_t i, size_t j) {
    struct pm_histogram_segment moved = p->segments[i];
    p->segments[i] = p->segments[j];
    p->segments[j] = moved;
}

void pm_partition_join(const struct pm_partition *p, struct pm_histogram_segment *a,
                       const struct pm_histogram_segment *b) {
    for (size_t k = 0; k < p->design->n; k++) {
        double both = a->count[k] + b->count[k];
        if (both > 0 && !isnan(a->mean[k])) {
            double square = a->count[k] * (pow(a->spread[k], 2) + pow(a->mean[k], 2)) +
                            b->count[k] * (pow(b->spread[k], 2) + pow(b->mean[k], 2));
            a->mean[k] = (a->count[k] * a->mean[k] + b->count[k] * b->mean[k]) / both;
            a->spread[k] = sqrt(fmax(square / both - pow(a->mean[k], 2), 0));
            a->low[k] = fmin(a->low[k], b->low[k]);
            a->high[k] = fmax(a->high[k], b->high[k]);
        }
        a->count[k] = both;
    }
}

/* Joins similar neighbours among the segments from FIRST on, which stand by ascending distance.
   bin_models.c would join them by their models: this saves the fits, 15% of the time in all. */
static void join_similar(struct pm_partition *p, size_t first) {
    size_t kept = first;
    for (size_t i = first + 1; i < p->n_segments; i++) {
        if (segments_agree(p, &p->segments[kept], &p->segments[i])) {
            pm_partition_join(p, &p->segments[kept], &p->segments[i]);
            continue;
        }
        pm_segments_swap(p, ++kept, i);
    }
    if (p->n_segments > first)
        p->n_segments = kept + 1;
}

void pm_partition_cut_at_shares(struct pm_partition *p,
                                const struct pm_histogram *const *histograms) {
    static const bool none_taken[PM_MOST_short_distance];
    double *start = p->cuts, *end = p->cuts + 2 * p->design->n;
    p->n_segments = 0;
    for (size_t k = 0; k < p->design->n; k++) {
        pm_reuses_fill(&p->reuses[k], histograms[k], none_taken);
        start[k] = 0;
        p->side_total[k] = end[k] = pm_count_reuses(histograms[k]);
    }
    p->short_side = false;
    p->at_shares = true;
    halve(p, start, end, 0);
    p->at_shares = false;
}

void pm_partition_cut(struct pm_partition *p, const struct pm_histogram *const *histograms) {
    size_t n = p->design->n;
    bool taken[PM_MOST_short_distance];
    double *start = p->cuts, *middle = p->cuts + n, *end = p->cuts + 2 * n;
    p->n_segments = 0;
    take_constant_distances(p, histograms, taken);
    for (size_t k = 0; k < n; k++)
        pm_reuses_fill(&p->reuses[k], histograms[k], taken);
    for (size_t k = 0; k < n; k++) {
        start[k] = 0;
        end[k] = pm_reuses_total(&p->reuses[k]);
        p->side_total[k] =
            end[k] - pm_reuses_below(&p->reuses[k], (double)pm_heuristics.short_distance);
    }
    clean_cut(p, start, end, middle);
    size_t first = p->n_segments;
    p->short_side = false;
    halve(p, middle, end, 0);
    join_similar(p, first);
    first = p->n_segments;
    p->short_side = true;
    for (size_t k = 0; k < n; k++)
        p->side_total[k] = fmin(middle[k], p->side_total[k]);
    halve(p, start, middle, 0);
    join_similar(p, first);
}
