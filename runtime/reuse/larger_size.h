/* What the analysis of a larger size keeps (larger/larger.h). */
#ifndef PM_RUNTIME_REUSE_LARGER_SIZE_H
#define PM_RUNTIME_REUSE_LARGER_SIZE_H

#include "runtime/reuse/far_touches.h"

/* Numbers of touches by kind. */
struct pm_touch_counts {
    uint64_t n[PM_KINDS];
};

/* Of one larger size. */
struct pm_larger {
    uint64_t blocks[PM_STACK_TOP]
        __attribute__((aligned(64))); /* the B-blocks of F in no order; PM_NO_BLOCK: none here */
    uint8_t holds[PM_STACK_TOP]; /* blocks of F, or of the next smaller size, in each of them */
    uint32_t n_distinct;         /* how many there are */
    unsigned by;                 /* B = b · 2^by */
    struct pm_reuse *reuse;      /* owned; its stack top is not used */
    struct pm_touch_counts *uncounted; /* [n_uncounted], by group: touches of b that are none of B;
                                          modulo 2^64 while address records are not flushed */
    uint32_t n_uncounted;
    struct pm_larger *next; /* of the same base, larger still */
};

/* The stack top of BASE was set otherwise than by its touches: each larger size holds its
   blocks. */
void pm_larger_set_stack_tops(struct pm_reuse *base);

/* The walk over COUNT changes of a size whose blocks are smaller by 2^BY, for each vector extension
   (larger/larger_walk.h).  In their place it leaves the changes of its own blocks; their number. */
typedef uint32_t pm_larger_walk(struct pm_larger *larger, struct pm_top_change *changes,
                                uint32_t count, unsigned by);
pm_larger_walk pm_larger_walk_sse2, pm_larger_walk_avx2, pm_larger_walk_avx512;

#endif
