/* Gaps in the distances, tracked from size to size.

   Where the reuses of one loop level end and those of the next begin, the distances have a gap, and
   both sides grow with the size each in its own way.  A gap of the largest size is followed
   downwards: at each size the gap is taken that is wide, that leaves about the same share below,
   and on whose two sides the counts grow with an exponent between 0 and that of a triple loop, and
   a little.  The track is accepted if the counts on both sides are predictable (leave-one-out),
   with the smallest size or without it: its arrays may lie otherwise, and one size must not undo a
   gap that all have. */
#include "fit/histogram/private.h"

#include <math.h>
#include <string.h>

struct gap {
    double position, width;
};

/* The pm_heuristics.gap_tries widest gaps of REUSES between two positions, widest first; how many.
 */
static size_t widest_gaps(const struct pm_reuses *reuses, double low, double high,
                          struct gap *gaps) {
    size_t n = 0;
    double margin = pm_heuristics.gap_least_share * (high - low);
    size_t last = pm_reuses_last(reuses, high);
    for (size_t i = pm_reuses_first(reuses, low) + 1; i <= last; i++) {
        double position = reuses->before[i];
        if (reuses->gap[i] <= pm_heuristics.wide_gap || position - low <= margin ||
            high - position <= margin)
            continue;
        size_t at = n < pm_heuristics.gap_tries ? n++ : pm_heuristics.gap_tries;
        for (; at > 0 && gaps[at - 1].width < reuses->gap[i]; at--)
            if (at < pm_heuristics.gap_tries)
                gaps[at] = gaps[at - 1];
        if (at < pm_heuristics.gap_tries)
            gaps[at] = (struct gap){position, reuses->gap[i]};
    }
    return n;
}

/* From one size to another: the sums of log ratios of the parameters that grow and that shrink. */
struct steps {
    double up, down;
};

/* How far the growth from LARGER at one size to VALUE at another lies outside the expected
   exponents. */
static double odd_growth(double value, double larger, struct steps steps) {
    double growth = log(fmax(value, 1) / larger);
    double least =
        pm_heuristics.largest_exponent * steps.down + pm_heuristics.least_exponent * steps.up;
    double most =
        pm_heuristics.largest_exponent * steps.up + pm_heuristics.least_exponent * steps.down;
    return fmax(0, fmax(least - growth, growth - most)) / (steps.up - steps.down);
}

static bool is_empty(const struct pm_partition *p, const double *low, const double *high,
                     size_t k) {
    return p->reuses[k].n == 0 || high[k] - low[k] <= pm_heuristics.rounding;
}

/* Follows GAP of the largest size down to the smallest; fills CUT.  SUM is the width of all. */
static bool follow(const struct pm_partition *p, const double *low, const double *high,
                   struct gap gap, double *cut, double *sum) {
    size_t last = p->design->n - 1;
    cut[last] = gap.position;
    *sum = gap.width;
    for (size_t k = last; k-- > 0;) {
        const struct pm_reuses *reuses = &p->reuses[k];
        if (is_empty(p, low, high, k)) {
            cut[k] = low[k];
            continue;
        }
        size_t from = pm_design_nearest(p->design, k);
        while (is_empty(p, low, high, from)) /* not so at the last, where the gap is */
            from = pm_design_nearest(p->design, from);
        struct steps steps;
        pm_design_steps(p->design, from, k, &steps.up, &steps.down);
        double below = cut[from] - low[from], above = high[from] - cut[from];
        double best = -INFINITY, best_width = 0, best_at = 0;
        double log_share = log(below / (high[from] - low[from])), here = high[k] - low[k];
        size_t end = pm_reuses_last(reuses, high[k]);
        for (size_t i = pm_reuses_first(reuses, low[k]) + 1; i <= end; i++) {
            if (reuses->gap[i] <= pm_heuristics.noticeable_gap)
                continue;
            double l = reuses->before[i] - low[k], u = high[k] - reuses->before[i];
            double likeness = reuses->gap[i] / gap.width -
                              pm_heuristics.odd_growth * odd_growth(l, below, steps) -
                              pm_heuristics.odd_growth * odd_growth(u, above, steps) -
                              pm_heuristics.odd_share * fabs(log(fmax(l, 1) / here) - log_share);
            if (likeness > best) {
                best = likeness;
                best_width = reuses->gap[i];
                best_at = reuses->before[i];
            }
        }
        if (best < pm_heuristics.least_likeness)
            return false;
        cut[k] = best_at;
        *sum += best_width;
    }
    return true;
}

/* Whether the counts on one side are predictable, their error weighted with the side's mean share.
 */
static bool is_predictable(struct pm_partition *p, const double *from, const double *to,
                           const double *low, const double *high) {
    size_t n = p->design->n;
    double share = 0;
    for (size_t k = 0; k < n; k++) {
        p->row[k] = to[k] - from[k];
        share += (to[k] - from[k]) / fmax(high[k] - low[k], 1) / (double)n;
    }
    return share <= 0 || pm_partition_is_predictable(p, pm_heuristics.gap_error / share);
}

bool pm_partition_is_predictable(struct pm_partition *p, double limit) {
    if (pm_series_predictability_within(p->series, p->row, 0, limit, limit) <= limit)
        return true;
    if (p->design->n <= pm_heuristics.enough_sizes || pm_fit_without(PM_STEP_SMALLEST_SIZE))
        return false;
    double others = pm_series_predictability_within(p->series, p->row, 1, -1, limit);
    return others <= limit &&
           others < pm_heuristics.smallest_gain * pm_series_predictability(p->series, p->row, 0);
}

bool pm_partition_gap(struct pm_partition *p, const double *low, const double *high, double *cut) {
    size_t n = p->design->n;
    const struct pm_reuses *largest = &p->reuses[n - 1];
    if (pm_fit_without(PM_STEP_GAPS) || largest->n < 2 ||
        high[n - 1] - low[n - 1] <= pm_heuristics.rounding)
        return false;
    struct gap gaps[PM_MOST_gap_tries];
    size_t n_gaps = widest_gaps(largest, low[n - 1], high[n - 1], gaps);
    double best = 0, sum, *track = p->row + n;
    for (size_t j = 0; j < n_gaps; j++) {
        if (!follow(p, low, high, gaps[j], track, &sum) || sum <= best)
            continue;
        if (!is_predictable(p, low, track, low, high) || !is_predictable(p, track, high, low, high))
            continue;
        best = sum;
        memcpy(cut, track, n * sizeof *cut);
    }
    return best > 0;
}
