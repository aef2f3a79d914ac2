/* Counters on edges: which edges are counted, and where the counter of an edge can stand. */
#ifndef PM_BINLIFT_COUNTERS_H
#define PM_BINLIFT_COUNTERS_H

#include "binlift/lifted.h"

/* Where the counter of an edge can stand (counter_places.c).  counters.c gives counters only to
   edges that have such a place and the rewriter puts them there, so both must agree; this is the
   agreement. */
enum pm_counter_place {
    PM_PLACE_NOWHERE = 0, /* must be on the spanning tree */
    PM_PLACE_IN_TARGET,   /* anywhere in the target: the edge is the only way into it */
    PM_PLACE_IN_SOURCE,   /* anywhere in the source: the edge is the only way out of it */
    PM_PLACE_FALLTHROUGH, /* right after the conditional branch that ends the source */
    PM_PLACE_BRANCH,      /* in code of its own, to which the source's branch goes */
    PM_PLACE_ARRIVAL,     /* where the target is entered from outside its visible predecessors: by a
                             call, by its old address; the edge is the only one that comes so, but
                             for tagged ones */
    PM_PLACE_TAGGED, /* as an arrival, but several indirect jumps come that way; each leaves its
                        tag in a slot of the control block before it jumps */
};

/* Places of the edges of ROUTINE, in order; the caller frees. */
uint8_t *pm_counter_places(const struct pm_lifted *lifted, uint32_t routine);

/* counters.c: a spanning tree, and counters on what is not on it.  KNOWN: weights from an earlier
   profile; NULL: estimated. */
void pm_place_counters(struct pm_lifted *lifted, const struct pm_known_weights *known);

/* ---- loops whose back edge needs no counter in the loop (trip_counts.c) ---------------------- */

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

#endif
