/* What a level that others use as well still serves of a program's reuses.

   A private level of C blocks serves a reuse with d other blocks between if d < C: a step.  In a
   shared one the blocks of neighbours lie between, too, more of them the longer the reuse takes, so
   that a share

       serves(d)        of the reuses with d bytes of blocks between

   finds its block, which falls with d and is measured (machines/probe/memory/response.c).
   Neighbours come by time, so that it hangs on how fast a program is, too: its interval has room
   for that.  It is linear in the logarithm of d between points, constant before the first and
   beyond the last.  What the levels nearer the core serve is in it.

       misses = cold + beyond + Σ over bins  accesses · (1 − mean of serves over the bin)

   with distances spread evenly over a bin, as for a step (core/histogram.h). */
#ifndef PM_SHARED_LEVEL_H
#define PM_SHARED_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/histogram.h"

enum { PM_MOST_RESPONSE_POINTS = 16 };

/* Distances ascend; shares, and both ends of their intervals, fall. */
struct pm_response_point {
    double distance_bytes;
    double share;     /* of the reuses at this distance that are served, 0…1 */
    double low, high; /* between what it lies with 80% probability */
};

struct pm_response {
    size_t n_points; /* 0: the level is a step */
    struct pm_response_point points[PM_MOST_RESPONSE_POINTS];
};

/* The mean of the shares at distances from FROM to TO bytes, FROM where they are equal. */
double pm_response_mean(const struct pm_response *response, double from, double to);

/* The distance in bytes of which half is served: where a step would stand that comes nearest. Where
   no point has less than a half, or none more, the last or first one. */
double pm_response_half_bytes(const struct pm_response *response);

/* The low or high end of the intervals, as a response of its own. */
struct pm_response pm_response_end(const struct pm_response *response, bool high);

/* Makes all distances FACTOR times as long. */
void pm_response_scale(struct pm_response *response, double factor);

/* Misses of HISTOGRAM as far as they hang on distances alone: through SERVES, or where that has no
   points in a fully associative LRU cache of CACHE_BLOCKS blocks. */
double pm_distance_misses(const struct pm_histogram *histogram, double cache_blocks,
                          const struct pm_response *serves);

#endif
