/* Live general registers and flags; see liveness.c.  Vector registers are not looked at.  Private
   to binlift/. */
#ifndef PM_LIVENESS_H
#define PM_LIVENESS_H

#include "binlift/lifted.h"

/* General registers (bits 0–31, by number) and flags (bits 32–37), as in pm_register_set.general.
 */
typedef uint64_t pm_live_set;
#define PM_LIVE_FLAGS PM_FLAGS_MASK
#define PM_LIVE_BIT(number) (UINT64_C(1) << (number))

static inline pm_live_set pm_live_from(struct pm_register_set set) {
    return set.general & (UINT64_C(0xffffffff) | PM_FLAGS_MASK);
}

/* For each instruction what is live before it; nothing is known of routines for which FOLLOWED is
   false, and what goes there finds all live.  *AT_ENDS (may be NULL): for each basic block what is
   live where it ends.  The caller frees both. */
pm_live_set *pm_find_liveness(const struct pm_lifted *lifted, const bool *followed,
                              pm_live_set **at_ends);

#endif
