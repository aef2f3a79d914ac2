/* Loops whose back edge needs no counter in the loop: see trip_counts.c.  Private to binlift/. */
#ifndef PM_TRIP_COUNTS_H
#define PM_TRIP_COUNTS_H

#include "binlift/flow.h"
#include "binlift/lifted.h"

/* How often the back edge was taken follows from a register where the loop is left and where it was
   entered. */
struct pm_trip_count {
    uint32_t edge; /* the back edge; an index of the structure's edges */
    uint8_t number, bits;
    int64_t step;
    uint32_t first_way, n_ways; /* in pm_lifted.trip_ways */
};

/* An edge into the loop or out of it. */
struct pm_trip_way {
    uint32_t edge, trip_count; /* of the structure; of pm_lifted.trip_counts */
    bool leaves;
    bool stepped; /* of one that leaves: the register has stepped in the last iteration too */
};

enum { PM_TRIP_MOST_STEP = 4096 };

/* Appends the routine's, ascending by edge, to pm_lifted.trip_counts and trip_ways.  PLACES:
   pm_counter_places.  Needs the scope tree. */
void pm_find_trip_counts(struct pm_lifted *lifted, const struct pm_flow *flow,
                         const uint8_t *places);

#endif
