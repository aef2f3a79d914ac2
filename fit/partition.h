/* Cutting the histograms of one reference group, at all sizes at once, into bins that can be
   followed from size to size.  Private to fit/. */
#ifndef PM_PARTITION_H
#define PM_PARTITION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/histogram.h"
#include "core/base/base.h"
#include "fit/series.h"

enum {
    PM_PARTITION_DEPTH = 40,
    PM_PARTITION_MAX_PIECES = 400,
    PM_PARTITION_SHORT = 64 /* blocks: distances below are short */
};

/* One size's reuses by ascending distance, cold accesses apart.  A position counts accesses from
   the shortest distance on; entry i covers positions before[i] … before[i + 1]. */
struct pm_ladder {
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
void pm_ladder_fill(struct pm_ladder *ladder, const struct pm_histogram *histogram,
                    const bool taken[PM_PARTITION_SHORT]);
/* Makes room for N entries. */
void pm_ladder_reserve(struct pm_ladder *ladder, size_t n);
void pm_ladder_free(struct pm_ladder *ladder); /* not the struct itself */
/* All reuses of HISTOGRAM, NULL: 0. */
double pm_ladder_reuses(const struct pm_histogram *histogram);
double pm_ladder_accesses(const struct pm_ladder *ladder);
/* Accesses with a distance below DISTANCE. */
double pm_ladder_below(const struct pm_ladder *ladder, double distance);
/* Mean distance between two positions, NAN if there are no accesses. */
double pm_ladder_mean(const struct pm_ladder *ladder, double from, double to);
/* Standard deviation of the distances between two positions, at which there are accesses. */
double pm_ladder_spread(const struct pm_ladder *ladder, double from, double to);
/* Index of the entry of the first (last) access between two positions; needs from < to. */
size_t pm_ladder_first(const struct pm_ladder *ladder, double from);
size_t pm_ladder_last(const struct pm_ladder *ladder, double to);

/* A piece: for each size its accesses, their mean distance and its ends (NAN without accesses). */
struct pm_piece {
    double *count, *mean, *low, *high; /* in the partition's pool */
    double *spread;                    /* standard deviation of the distances */
    bool constant_distance;
    bool takes_rest;
};

/* Memory of one thread, reused from group to group. */
struct pm_partition {
    const struct pm_design *design;
    struct pm_series_workspace *series;
    struct pm_ladder *ladders; /* one for each size */
    double *cuts;              /* PM_PARTITION_DEPTH + 2 rows of n sizes */
    double *row;               /* two rows of n sizes */
    double *pool;              /* 5 rows for each piece */
    size_t n_pieces;
    struct pm_piece pieces[PM_PARTITION_MAX_PIECES];
    size_t same_counts[PM_PARTITION_MAX_PIECES]; /* the piece whose counts these are multiples of */
    double rarity;                               /* 64 / block size, at most 1: see partition.c */
    struct pm_bin_pool bins;                     /* of the models that are made with it */
    struct pm_histogram *family;                 /* a family's histograms added up, for each size */
    const struct pm_histogram **family_pointers; /* to these */
    struct pm_bin *sums;                         /* room for their bins: most_bins for each size */
    size_t most_bins;
    bool short_side;    /* pieces made now lie below the clean cut */
    double *side_total; /* what a piece of that side is negligible against, for each size */
};

/* For histograms, and sums of a family's, with at most MOST_BINS bins at a size. */
struct pm_partition *pm_partition_new(const struct pm_design *design, size_t most_bins);
void pm_partition_free(struct pm_partition *partition);

/* Cuts HISTOGRAMS (one for each size, NULL: never accessed) into pieces, which replace the former.
   Together they hold every reuse. */
void pm_partition_cut(struct pm_partition *partition, const struct pm_histogram *const *histograms);

/* A cut at the same share of accesses at each size, chosen (the median over the sizes) so that both
   sides span equal ranges of distances; false if there is nothing to split. */
bool pm_partition_equal_share(struct pm_partition *partition, const double *low, const double *high,
                              double *cut);

/* Whether the error of predicting the counts in the first row is at most LIMIT; the smallest size
   may be of another kind. */
bool pm_partition_is_predictable(struct pm_partition *partition, double limit);

/* Adds the piece between the positions LOW and HIGH. */
void pm_partition_add(struct pm_partition *partition, const double *low, const double *high);

/* Adds piece B to A. */
void pm_partition_join(const struct pm_partition *partition, struct pm_piece *a,
                       const struct pm_piece *b);

/* A cut that follows a gap in the distances through all sizes, between the positions LOW and HIGH
   (n sizes each); false if there is no such gap.  See gaps.c. */
bool pm_partition_gap(struct pm_partition *partition, const double *low, const double *high,
                      double *cut);

#endif
