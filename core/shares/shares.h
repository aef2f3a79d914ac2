/* Histograms of a part of a run, where only those of the total are known: the part has a share of
   each group's accesses, equal to its share of the executions of the group's references, with the
   same distances as the total. */
#ifndef PM_SHARES_H
#define PM_SHARES_H

#include "core/profile.h"

/* How often each group's references are executed, by its holder; the caller frees. */
double *pm_group_executions(const struct pm_structure *structure, const double *edge_counts);

/* Makes all counts of HISTOGRAM larger by FACTOR; distances stay. */
void pm_histogram_multiply(struct pm_histogram *histogram, double factor);

/* TO, owned by the caller, as FROM with counts larger by FACTOR. */
void pm_histogram_scaled(struct pm_histogram *to, const struct pm_histogram *from, double factor);

/* Of the N histograms FROM each with the share that SHARES has of its group, *N_SCALED of them that
   have one; owned by the caller. */
struct pm_group_histogram *pm_scaled_histograms(const struct pm_group_histogram *from, size_t n,
                                                const double *shares, size_t *n_scaled);

#endif
