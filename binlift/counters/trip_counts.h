/* Loops whose back edge needs no counter in the loop: see trip_counts.c.  Private to
   binlift/counters/. */
#ifndef PM_TRIP_COUNTS_H
#define PM_TRIP_COUNTS_H

#include "binlift/cfg/cfg.h"
#include "binlift/counters/counters.h"

/* Appends the routine's, ascending by edge, to pm_lifted.trip_counts and trip_ways.  PLACES:
   pm_counter_places.  Needs the scope tree. */
void pm_find_trip_counts(struct pm_lifted *lifted, const struct pm_flow *flow,
                         const uint8_t *places);

#endif
