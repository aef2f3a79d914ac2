/* What the files that cut and model histograms share.  Private to histogram/. */
#ifndef PM_FIT_HISTOGRAM_PRIVATE_H
#define PM_FIT_HISTOGRAM_PRIVATE_H

#include "core/base/base.h"
#include "fit/histogram/histogram.h"

/* The cumulative histogram of one size: its reuses by ascending distance, cold accesses apart.  A
   position counts accesses from the shortest distance on; entry i covers positions before[i] …
   before[i + 1]. */
struct pm_reuses {
    size_t n, capacity;
    double *distance, *low, *high; /* of entry i */
    double *before;                /* n + 1: accesses at shorter distances */
    double *distance_before;       /* n + 1: sum of their distances */
    double *square_before;         /* n + 1: sum of their squares */
    double *gap;                   /* log of the ratio to the entry below; 0 for the first */
    size_t *latest;                /* two entries that were looked for last */
};

/* The reuses of HISTOGRAM (NULL: none) but those at a short distance that is TAKEN already.  Reuses
   beyond a bound stand at the bound, after all others. */
void pm_reuses_fill(struct pm_reuses *reuses, const struct pm_histogram *histogram,
                    const bool taken[PM_MOST_short_distance]);
/* Makes room for N entries. */
void pm_reuses_reserve(struct pm_reuses *reuses, size_t n);
void pm_reuses_free(struct pm_reuses *reuses); /* not the struct itself */
/* All reuses of HISTOGRAM, NULL: 0. */
double pm_count_reuses(const struct pm_histogram *histogram);
/* Accesses of HISTOGRAM (NULL: none) between two distances. */
double pm_accesses_between(const struct pm_histogram *histogram, double low, double high);
double pm_reuses_total(const struct pm_reuses *reuses);
/* Accesses with a distance below DISTANCE. */
double pm_reuses_below(const struct pm_reuses *reuses, double distance);
/* Mean distance between two positions, NAN if there are no accesses. */
double pm_reuses_mean(const struct pm_reuses *reuses, double from, double to);
/* Standard deviation of the distances between two positions, at which there are accesses. */
double pm_reuses_spread(const struct pm_reuses *reuses, double from, double to);
/* Index of the entry of the first (last) access between two positions; needs from < to. */
size_t pm_reuses_first(const struct pm_reuses *reuses, double from);
size_t pm_reuses_last(const struct pm_reuses *reuses, double to);

/* Inserts VALUE into N ascending VALUES; the median of N ≥ 1 ascending ones. */
static inline void pm_insert_sorted(double *values, size_t n, double value) {
    for (; n > 0 && values[n - 1] > value; n--)
        values[n] = values[n - 1];
    values[n] = value;
}
static inline double pm_median(const double *values, size_t n) {
    return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

/* A segment: for each size its accesses, their mean distance and its ends (NAN without accesses).
 */
struct pm_histogram_segment {
    double *count, *mean, *low, *high; /* in the partition's rows */
    double *spread;                    /* standard deviation of the distances */
    bool constant_distance;
    bool takes_rest;
};

struct pm_partition {
    const struct pm_design *design;
    struct pm_series_workspace *series;
    struct pm_reuses *reuses; /* one for each size */
    double *cuts;             /* PM_PARTITION_DEPTH + 4 rows of n sizes */
    double *row;              /* two rows of n sizes */
    double *rows;             /* 5 rows of n sizes for each segment */
    size_t n_segments;
    struct pm_histogram_segment segments[PM_PARTITION_MAX_SEGMENTS];
    size_t same_counts[PM_PARTITION_MAX_SEGMENTS]; /* the segment whose counts these are multiples
                                                      of */
    struct pm_bin_model_arena bins;                /* of the models that are made with it */
    struct pm_histogram *sums;           /* of the histograms of joint groups, for each size */
    const struct pm_histogram **to_sums; /* pointers to these */
    struct pm_bin *sum_bins;             /* room for their bins: most_bins for each size */
    size_t most_bins;
    bool short_side;    /* segments made now lie below the clean cut */
    bool at_shares;     /* cuts are made at equal shares only, whatever gaps there are */
    double *side_total; /* what a segment of that side is negligible against, for each size */
};

/* Cuts HISTOGRAMS (one for each size, NULL: never accessed) into segments, which replace the
   former. Every reuse is in one of them. */
void pm_partition_cut(struct pm_partition *partition, const struct pm_histogram *const *histograms);

/* The same at equal shares of the reuses alone, without constant distances, clean cut and gaps. */
void pm_partition_cut_at_shares(struct pm_partition *partition,
                                const struct pm_histogram *const *histograms);

/* A cut at the same share of accesses at each size, chosen (the median over the sizes) so that both
   sides span equal ranges of distances; false if there is nothing to split. */
bool pm_partition_equal_share(struct pm_partition *partition, const double *low, const double *high,
                              double *cut);

/* Whether the error of predicting the counts in the first row is at most LIMIT; the smallest size
   may be of another kind. */
bool pm_partition_is_predictable(struct pm_partition *partition, double limit);

/* Adds the segment between the positions LOW and HIGH. */
void pm_partition_add(struct pm_partition *partition, const double *low, const double *high);

/* Makes segments I and J change places, with their rows, so that none is lost. */
void pm_segments_swap(struct pm_partition *partition, size_t i, size_t j);

/* Adds segment B to A. */
void pm_partition_join(const struct pm_partition *partition, struct pm_histogram_segment *a,
                       const struct pm_histogram_segment *b);

/* A cut that follows a gap in the distances through all sizes, between the positions LOW and HIGH
   (n sizes each); false if there is no such gap.  See gaps.c. */
bool pm_partition_gap(struct pm_partition *partition, const double *low, const double *high,
                      double *cut);

/* ---- bin_models.c ---------------------------------------------------------------------------- */

/* Models of the counts of all segments, which BINS stand for. */
void pm_fit_segment_counts(struct pm_partition *partition, struct pm_bin_model *bins);

/* Segments by ascending distance at the largest size. */
void pm_sort_segments(struct pm_partition *partition);

/* The models of what a group's histograms are in all: accesses, cold ones, the bound, stores. */
void pm_fit_totals(struct pm_partition *partition, const struct pm_histogram *const *histograms,
                   struct pm_histogram_model *model);

/* Puts segments with distances of AT_LEAST or more (0: no bound) there, size by size. */
void pm_segments_to_bound(struct pm_partition *partition, double at_least);

/* Two distances agree at each measured size. */
bool pm_distances_agree(const struct pm_design *design, const struct pm_model *a,
                        const struct pm_model *b);

/* The ends of BIN, from SEGMENT. */
void pm_fit_ends(const struct pm_partition *partition, const struct pm_histogram_segment *segment,
                 struct pm_bin_model *bin);

#endif
