/* Reuse distances of larger blocks, from the stack top of a smaller size, exactly.

   Model.  Let b be the size of the smaller blocks, F its stack top (analysis.h): the 16 b-blocks
   most recently touched before a touch; and B a multiple of b.  The B-blocks that hold blocks of F
   are the most recent B-blocks: one that is not among them has only b-blocks outside F, and these
   were touched before all that are in F.  Hence
   - a b-touch that hits F is a touch of a B-block at a distance below 16: only its number is
     needed;
   - one that misses F, of a B-block X that holds a block of F, has a distance below 16 too;
   - any other has the distance |B-blocks of F| + |B-blocks outside that were touched after X|,
     which may be below 16 as well; it is cold if X was never touched;
   - a B-block gets a stamp when the last of its b-blocks leaves F.  The order of leaving is the
     order of last touches: what left before was older then, or it would be in F again.
   So a larger size works only on far touches of b, those that miss F, and on the block that each of
   them pushes out.  Distances below 16 are one bin, which is known by its count alone.

   An access touches a B-block once: of its b-touches only the first in each B-block counts.  The
   b-touch before is of the same access and block, so one that does not count misses nothing.
   Assumed: as in reuse.h; and other sizes than b are not sampled.

   The smaller size collects its far touches; when there are some hundred, the larger sizes go over
   them in ascending order, each over what is left of them for the one before: where none of its
   blocks comes into F or goes, none of a larger size does. */
#ifndef PM_RUNTIME_REUSE_LARGER_H
#define PM_RUNTIME_REUSE_LARGER_H

#include <stdint.h>

struct pm_larger;
struct pm_reuse;

/* An analysis for blocks of 2^SHIFT bytes beside BASE, which is of smaller blocks, was not given an
   access yet and has its options (of pieces if BASE is); CAPACITY as in pm_reuse_new.  It ends with
   BASE, by pm_reuse_free. NULL without memory. */
struct pm_larger *pm_larger_new(struct pm_reuse *base, unsigned shift, uint64_t capacity);

/* What it finds: an analysis whose histograms are whole after pm_larger_flush. */
const struct pm_reuse *pm_larger_reuse(const struct pm_larger *larger);

/* Takes in all that BASE was given; after pm_record_reuse_flush. */
void pm_larger_flush(struct pm_reuse *base);

#endif
