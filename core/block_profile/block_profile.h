/* The application profile of a run, basic block by basic block (`pmodel run --profile`): references
   to memory, their strides, floating-point operations, and hits in simulated caches (Snavely,
   Wolter & Carrington 2001, section 5 and tables 1 and 2).  Kept with the run in the store, summed
   over its threads, each of which has caches of its own. */
#ifndef PM_BLOCK_PROFILE_H
#define PM_BLOCK_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/machine/machine.h"
#include "core/structure/structure.h"

/* X (enumerator, the largest stride in elements, name).  A reference's stride is the distance of
   its address from the nearest of the last addresses of its basic block, as many as the window has;
   an element is what the reference accesses.  It counts where it is not larger; random: it is
   larger than all, or there was no address before. */
#define PM_STRIDE_BINS(X)                                                                          \
    X(PM_STRIDE_BIN_0, 0, "0")                                                                     \
    X(PM_STRIDE_BIN_1, 1, "1")                                                                     \
    X(PM_STRIDE_BIN_2, 2, "2")                                                                     \
    X(PM_STRIDE_BIN_4, 4, "4")                                                                     \
    X(PM_STRIDE_BIN_8, 8, "8")                                                                     \
    X(PM_STRIDE_BIN_RANDOM, UINT32_MAX, "random")
enum pm_stride_bin {
#define PM_STRIDE_BIN_ENUM(id, elements, name) id,
    PM_STRIDE_BINS(PM_STRIDE_BIN_ENUM)
#undef PM_STRIDE_BIN_ENUM
        PM_N_STRIDE_BINS
};

/* What a basic block did. */
struct pm_profiled_block {
    uint32_t block; /* of the structure */
    double executions;
    double references; /* accesses to memory: a vector of any width is one, an element of a gather
                          too */
    double bytes;      /* that they access */
    double strides[PM_N_STRIDE_BINS]; /* of the references; they add up to these */
    double flops;        /* floating-point operations times their elements, without those that are
                            known to be masked off */
    double masked_flops; /* the part of `flops` under unknown masks, an upper bound */
    double *misses; /* [n_levels of the profile]: references that neither this level nor one before
                       it held, so that 1 − misses / references is its cumulative hit rate; owned */
};

/* A level of a machine whose caches were simulated, from the core outwards. */
struct pm_simulated_level {
    char *machine; /* name of the machine, as `-m` finds it; equal for all of its levels; owned */
    char *name;    /* "L1"; owned */
    uint64_t size_bytes, line_bytes;
    uint32_t ways; /* 0: fully associative */
    enum pm_replacement replacement;
};

struct pm_block_profile {
    PM_ARRAY(struct pm_profiled_block, blocks);  /* ascending, those that were executed; owned */
    PM_ARRAY(struct pm_simulated_level, levels); /* machine by machine; owned */
    uint32_t stride_window; /* so many addresses of its block a stride was looked for in */
    double cpu_seconds;     /* of the run that was profiled */
    char *notes;            /* sentences, one a line; NULL none; owned */
};

void pm_block_profile_free(struct pm_block_profile *profile); /* and the struct itself; NULL is
                                                                 allowed */

/* As pm_times_fit. */
bool pm_block_profile_fits(const struct pm_block_profile *profile,
                           const struct pm_structure *structure, struct pm_error *err);

const char *pm_stride_bin_name(enum pm_stride_bin bin); /* "0" … "random" */

/* The levels of the machine called NAME: the first of them, and in *N how many; SIZE_MAX and 0
   where it was not simulated.  NULL: the first machine. */
size_t pm_simulated_levels(const struct pm_block_profile *profile, const char *name, size_t *n);

/* The sum over all blocks, as a block (PM_NONE); the caller frees its `misses`. */
struct pm_profiled_block pm_block_profile_sum(const struct pm_block_profile *profile);

/* Operations of one execution of BLOCK by class, into COUNTS [PM_N_OP_CLASSES]: times the
   executions, the block's dynamic mix. */
void pm_block_mix(const struct pm_structure *structure, uint32_t block, double *counts);

/* Floating-point operations that OP is, if none of its elements are masked off: an addition, a
   subtraction, a multiplication, a division or a square root is one for each element, a
   multiply-add two; comparisons, minima, conversions, moves and approximations are none. */
double pm_op_flops(const struct pm_op *op);

/* Operations that compute, whole numbers or floating-point ones, as distinct from memory and
   control flow (section 5), of such a mix. */
double pm_arithmetic_operations(const double *counts);

#endif
