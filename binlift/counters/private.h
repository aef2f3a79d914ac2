/* What the files of binlift/counters/ share. */
#ifndef PM_COUNTERS_PRIVATE_H
#define PM_COUNTERS_PRIVATE_H

#include "binlift/cfg/cfg.h"
#include "binlift/counters/counters.h"

/* counter_places.c: enum pm_counter_place of the edges of FLOW, in order, into PLACES. */
void pm_find_counter_places(const struct pm_lifted *lifted, const struct pm_flow *flow,
                            uint8_t *places);

/* trip_counts.c: appends the routine's, ascending by edge, to PLAN's trip_counts and trip_edges.
   Needs PLAN's places and the scope tree. */
void pm_find_trip_counts(const struct pm_lifted *lifted, const struct pm_flow *flow,
                         struct pm_counter_plan *plan);

/* weights_estimated.c: estimated frequency of each edge of the routine, for one entry, into
   WEIGHTS, which is 0 before. */
void pm_estimate_weights(const struct pm_flow *flow, double *weights);

/* weights_known.c: an earlier profile prepared for look-up; KNOWN must outlive it. */
struct pm_weights_index;
struct pm_weights_index *pm_weights_index_new(const struct pm_known_weights *known);
void pm_weights_index_free(struct pm_weights_index *index);

/* Fills WEIGHTS, one for each edge of routine R; false, and nothing filled, if the profile does not
   say. */
bool pm_known_weights_of(const struct pm_weights_index *index, const struct pm_structure *structure,
                         uint32_t r, double *weights);

#endif
