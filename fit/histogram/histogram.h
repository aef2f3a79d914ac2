/* Models of the reuse-distance histograms of one reference group and block size: cut, at all sizes
   at once, into segments that can be followed from size to size, each of which becomes a bin with a
   model of its accesses and one of its mean distance (Marin & Mellor-Crummey 2004, section 2.3.2;
   README.md). */
#ifndef PM_FIT_HISTOGRAM_H
#define PM_FIT_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dumps/dumps.h"
#include "core/histogram.h"
#include "core/model.h"
#include "core/structure/structure.h"
#include "fit/series/series.h"

/* Memory of one thread, reused from group to group. */
struct pm_partition;

/* For histograms, and sums of those of joint groups, with at most MOST_BINS bins at a size. */
struct pm_partition *pm_partition_new(const struct pm_design *design, size_t most_bins);
void pm_partition_free(struct pm_partition *partition);

/* What fits single series with the partition's memory. */
struct pm_series_workspace *pm_partition_series(struct pm_partition *partition);

/* Gives the bins of all models that were made with the partition to POOL, which then owns them. */
void pm_partition_hand_over(struct pm_partition *partition, struct pm_bin_model_arena *arena);

/* The models of one (group, block size); HISTOGRAMS has one entry for each size, NULL where the
   group was never accessed.  The bins belong to the partition until they are handed over. */
void pm_fit_histogram(struct pm_partition *partition, const struct pm_histogram *const *histograms,
                      struct pm_histogram_model *model);

/* dump_partition.c: the segments that PARTITION cut the histograms of MODEL into, at its sizes,
   RUNS. */
void pm_dump_partition(const struct pm_dumping *dumping, const struct pm_structure *structure,
                       const struct pm_parameters *runs, const struct pm_partition *partition,
                       const struct pm_histogram_model *model);

/* Blocks that a program touches, as a function of the size, without what is there at any size. */
struct pm_extent {
    struct pm_model blocks;
    bool grows; /* from size to size: else there is nothing to scale with */
};

/* From the numbers of BLOCKS at the sizes of PARTITION; whether it grows. */
bool pm_fit_extent(struct pm_partition *partition, const double *blocks, struct pm_model *extent);

/* Replaces the bins of MODEL, which PARTITION made of HISTOGRAMS of an irregular group, by ones
   whose distances scale with the extent, unless these are worse at predicting the largest sizes
   from the others, which are those of TRIAL; whether it did.  See scaled.c. */
bool pm_fit_scales(struct pm_partition *partition, const struct pm_extent *extent,
                   struct pm_partition *trial, const struct pm_extent *trial_extent,
                   const struct pm_histogram *const *histograms, struct pm_histogram_model *model);

/* The same by the paper's partition; see sigmetrics.c. */
void pm_fit_histogram_literally(struct pm_partition *partition,
                                const struct pm_histogram *const *histograms,
                                struct pm_histogram_model *model);

/* ---- groups modelled jointly (joint.c) ------------------------------------------------------- */

struct pm_joint_groups {
    size_t n;
    struct pm_joint_member {
        const struct pm_histogram *const *histograms; /* one for each size, or NULL */
        struct pm_histogram_model *model;             /* the member's own, fitted */
        double share;                                 /* of all accesses in one segment */
    } * members;
};

/* For each group the scope whose groups are modelled jointly with it, as those of one loop nest.
   Owned by the caller. */
uint32_t *pm_joint_scopes(const struct pm_structure *structure);

/* Replaces the bins of the members' models by shares of joint ones where those do better. */
void pm_fit_jointly(struct pm_partition *partition, const struct pm_joint_groups *groups);

/* ---- large blocks from small ones ------------------------------------------------------------ */

/* Replaces the long bins of the models of FAMILY, which are SET's, by those of the smallest blocks,
   where FAMILY is in pages and these say all that was measured of them; whether it did.  See
   dense_tail.c. */
bool pm_fit_dense_tail(struct pm_partition *partition, const struct pm_joint_groups *family,
                       const struct pm_model_set *set);

/* Cold accesses of a group in LARGE blocks of RATIO SMALL ones each, at N sizes: where its data are
   dense, true, and MODEL is that of the small ones, scaled.  CONSTANT is the basis function 1. */
bool pm_fit_dense_cold(size_t n, const double *small, const double *large, double ratio,
                       uint16_t constant, const struct pm_model *of_small, struct pm_model *model);

#endif
