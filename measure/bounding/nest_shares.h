/* Times of basic blocks, shared out from timers by instructions. */
#ifndef PM_BOUNDING_SHARES_H
#define PM_BOUNDING_SHARES_H

#include "core/structure/structure.h"
#include "core/times.h"

struct pm_shared_times {
    double *block_seconds; /* per basic block of the structure */
    double loop_seconds;   /* of all blocks in loops, and in routines that loops call */
    uint32_t *owners;      /* pm_times_owners */
};

struct pm_shared_times pm_share_times(const struct pm_structure *structure,
                                      const double *edge_counts, const struct pm_times *times);
void pm_shared_times_free(struct pm_shared_times *shared);

#endif
