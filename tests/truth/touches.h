/* Reuse distances of a recorded trace (record_trace.c), from a stack that is searched from its top,
   and how a histogram is compared with them.

   The stack holds all blocks in the order of their last touch.  An access touches every block that
   holds one of its bytes, in ascending order; the distance of a touch is the block's place in the
   stack, most recent first, and a block that is not there is cold.  An access that is load and
   store counts as a load, and then as a store at distance 0 (Marin & Mellor-Crummey 2004, section
   2.2.2, and core/histogram.h). */
#ifndef PM_TESTS_TOUCHES_H
#define PM_TESTS_TOUCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/histogram.h"
#include "core/base/base.h"
#include "runtime/pmodel_handler.h"

struct trace {
    struct pmodel_access *accesses;
    size_t n;
    uint32_t n_groups; /* 1 + the largest in it */
};

/* All accesses of the file PATH.  The caller frees trace->accesses. */
bool trace_read(const char *path, struct trace *trace, struct pm_error *err);

enum { COLD = -1 };
struct touch {
    int64_t distance; /* blocks, or COLD */
    bool store;
};
struct touches { /* of one group, ascending by distance */
    PM_ARRAY(struct touch, touch);
};

/* The touches of every group [trace->n_groups], and the number of distinct blocks. */
struct touches *touches_search(const struct trace *trace, uint64_t block_bytes, size_t *n_blocks);
void touches_free(struct touches *groups, uint32_t n_groups);

/* Prints figures that let a reader judge what was compared. */
void touches_print(const struct trace *trace, const struct touches *groups, uint64_t block_bytes,
                   size_t n_blocks);

/* Every bin must hold exactly the loads, the stores and the sum of distances between its ends, cold
   touches too, and no touch may be missing.  Differences are printed and counted. */
void touches_compare(const struct touches *of_group, const struct pm_histogram *histogram,
                     uint32_t group);
void touches_compare_value(uint64_t block_bytes, uint32_t group, const char *what, double found,
                           double expected);
extern unsigned touches_n_differences;

#endif
