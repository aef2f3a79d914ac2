/* The loop forest of every routine, between pm_find_loops and pm_build_scopes.  Private to
   binlift/. */
#ifndef PM_LOOPS_H
#define PM_LOOPS_H

#include "binlift/lifted.h"

struct pm_loop {
    uint32_t routine;
    uint32_t header;  /* basic block; of several entries the lowest that is not a mere landing */
    uint32_t parent;  /* index of the next loop outside, smaller than its own; PM_NONE */
    uint32_t depth;   /* 1 = outermost */
    bool irreducible; /* can be entered elsewhere than at its header */
};

struct pm_loops {
    PM_ARRAY(struct pm_loop, loops); /* of all routines, in their order; in a routine outer loops
                                        first, else by address */
    uint32_t *block_loop;            /* n_blocks: innermost loop, PM_NONE outside loops */
    uint32_t *first_loop;            /* n_routines + 1: each routine's first loop */
};

/* Appends the loops of routine R; needs block_loop for the structure's blocks, all PM_NONE. */
void pm_find_loops_of(const struct pm_structure *structure, uint32_t r, struct pm_loops *loops);

#endif
