/* Where the counter of an edge can stand.  counters.c gives counters only to edges that have such a
   place and the rewriter puts them there, so both must agree; this is the agreement.  Private to
   binlift/. */
#ifndef PM_COUNTERS_H
#define PM_COUNTERS_H

#include "binlift/lifted.h"

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

#endif
