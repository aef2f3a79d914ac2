/* Edge frequencies that decide where counters stand: estimated (weights.c) or known from an earlier
   profile (weights_known.c).  Private to binlift/counters/. */
#ifndef PM_WEIGHTS_H
#define PM_WEIGHTS_H

#include "binlift/binlift.h"
#include "binlift/cfg/cfg.h"

/* Estimated frequency of each edge of the routine, for one entry; the caller frees. */
double *pm_estimate_weights(const struct pm_flow *flow);

/* An earlier profile prepared for look-up; KNOWN's parts must outlive it. */
struct pm_weights_index;
struct pm_weights_index *pm_weights_index_new(const struct pm_known_weights *known);
void pm_weights_index_free(struct pm_weights_index *index);

/* Fills WEIGHTS, one for each edge of routine R; false, and nothing filled, if the profile does not
   tell. */
bool pm_known_weights_of(const struct pm_weights_index *index, const struct pm_structure *structure,
                         uint32_t r, double *weights);

#endif
