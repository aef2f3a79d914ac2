/* Routines divided among threads.  Private to binlift/.

   A pass that looks at one routine at a time works on batches of neighbouring routines, keeps what
   it makes apart for each batch, and puts the results behind each other in the batches' order: so
   the outcome does not depend on the threads. */
#ifndef PM_BATCHES_H
#define PM_BATCHES_H

#include "binlift/lifted.h"

struct pm_batch {
    uint32_t first, end; /* routines */
};

struct pm_batches {
    PM_ARRAY(struct pm_batch, items); /* the caller frees */
};

/* Batches of about as many bytes of code, enough to outweigh the start of a batch. */
void pm_divide_routines(const struct pm_lifted *lifted, struct pm_batches *batches);

/* The range of instructions and the first basic block of a batch; all of its routines' lie behind
   each other. */
uint32_t pm_batch_first_insn(const struct pm_lifted *lifted, const struct pm_batch *batch);
uint32_t pm_batch_end_insn(const struct pm_lifted *lifted, const struct pm_batch *batch);

#endif
