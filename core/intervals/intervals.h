/* Intervals of a run: what a thread did between two calls that end one (`pmodel run --interval`),
   from its begin to the first of them, and from the last one to its end.

   Intervals whose ends have the same call paths are of one kind.  Within a thread those of a kind
   have ordinals, from 0; of one kind and thread there are at most PM_INTERVAL_ROWS rows: where
   there would be more, neighbours are joined two by two.  All rows of a run add up to its counts of
   edges and, where they have them, to its histograms. */
#ifndef PM_INTERVALS_H
#define PM_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/call_paths/call_paths.h"
#include "core/profile.h"

enum { PM_INTERVAL_ROWS = 128 };

struct pm_edge_count {
    uint32_t edge;
    uint64_t count; /* not 0 */
};

/* Intervals of one kind in one thread with ordinals from FIRST to FIRST + N − 1, added up. */
struct pm_interval {
    uint32_t process, thread; /* as in pm_stream */
    uint32_t begin, end;      /* paths of both ends */
    uint32_t kind;            /* its number in the store; PM_NONE: not of a store */
    uint64_t first, n;
    PM_ARRAY(struct pm_edge_count, edges);           /* ascending; owned */
    PM_ARRAY(struct pm_group_histogram, histograms); /* by (group, block size); owned.  None: not
                                                        measured, or not asked for */
};

struct pm_intervals {
    struct pm_call_paths paths;
    PM_ARRAY(struct pm_interval, rows); /* by begin, end, process, thread, first; owned */
};

void pm_intervals_free(struct pm_intervals *intervals); /* and the struct itself; NULL: none */
void pm_interval_free(struct pm_interval *interval);    /* what it owns */

/* How many intervals, and kinds of them, there are; of ordered rows. */
void pm_intervals_count(const struct pm_intervals *intervals, uint64_t *n, size_t *n_kinds);

/* Brings the rows into their order. */
void pm_intervals_sort(struct pm_intervals *intervals);

/* Adds the counts of ROW to EDGE_COUNTS, one for each edge of the structure. */
void pm_interval_add_edges(const struct pm_interval *row, double *edge_counts);

/* True if all edges, groups and paths are STRUCTURE's; else the sentence says that they do not
   belong together.  Intervals from a store are to be checked before they are used. */
bool pm_intervals_fit(const struct pm_intervals *intervals, const struct pm_structure *structure,
                      struct pm_error *err);

/* Counts of edges as bytes (zstd-compressed) for the store, and back.  *BYTES is owned by the
   caller (free).  Decoding checks everything; false: they are damaged. */
void pm_interval_encode_edges(struct pm_packing *packing, const struct pm_interval *interval,
                              void **bytes, size_t *n_bytes);
bool pm_interval_decode_edges(struct pm_packing *packing, const void *bytes, size_t n_bytes,
                              struct pm_interval *interval);

#endif
