/* Sequential touches: those of a group that go on from one block to the next, as prefetchers follow
   them (runtime/reuse/sequential_touches.h has the definition), each by its own reuse distance, in
   blocks of the smallest size that was measured.  A property of the program, on no machine.

     share(level) = sequential touches that miss / touches that miss

   for a level of any size: both counts are of distances of at least its capacity, or through what a
   shared level serves, and cold ones.  Blocks of the level may be larger than those that were
   followed: then it is the share among the misses of a level of as many bytes in these. */
#ifndef PM_SEQUENTIAL_H
#define PM_SEQUENTIAL_H

#include "core/machine/machine.h"
#include "core/profile.h"

/* Touches at smaller distances are not looked at; they miss in no cache. */
enum { PM_LEAST_FAR = 16 };

/* Of GROUP's misses in LEVEL; of a level that none of its touches misses the share of those that
   are farthest.  NAN: not measured, or the group has no touches that could miss. */
double pm_sequential_share(const struct pm_profile *profile, uint32_t group,
                           const struct pm_level *level);

/* The histogram of the touches of GROUP that *SEQUENTIAL is a part of; NULL: not measured. */
const struct pm_histogram *pm_sequential_among(const struct pm_profile *profile, uint32_t group,
                                               const struct pm_histogram **sequential);

#endif
