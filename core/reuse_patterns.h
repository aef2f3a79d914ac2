/* Reuse patterns of a run: where each reuse of a reference group comes from and which loop or
   routine carries it (runtime/reuse/carried_reuse/carried_reuse.h has the definitions), with the
   histogram of its distances.

   The patterns of one group and block size partition its reuses: their histograms add up to the
   group's own, but for the first touches, which have no pattern (Marin & Mellor-Crummey, ISPASS
   2008). */
#ifndef PM_REUSE_PATTERNS_H
#define PM_REUSE_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/histogram.h"
#include "core/base/base.h"
#include "core/structure/structure.h"

struct pm_reuse_pattern {
    uint32_t source;               /* scope of the access before */
    uint32_t carrier;              /* scope; PM_NONE: no loop or routine that is known */
    bool across;                   /* different iterations of the carrier, a loop */
    struct pm_histogram histogram; /* reuses only; owned */
};

struct pm_group_patterns { /* of one destination */
    uint32_t group;
    uint64_t block_bytes;
    PM_ARRAY(struct pm_reuse_pattern, patterns); /* by (source, carrier, across); owned */
};

struct pm_run_patterns {
    PM_ARRAY(struct pm_group_patterns, groups); /* by (group, block size) ascending */
};

void pm_group_patterns_free(struct pm_group_patterns *group); /* what it owns */
void pm_run_patterns_free(struct pm_run_patterns *patterns); /* and the struct itself; NULL: none */

/* Adds HISTOGRAM (block size and all) to the pattern of (GROUP, SOURCE, CARRIER, ACROSS), in any
   order; pm_run_patterns_sort is due afterwards. */
void pm_run_patterns_add(struct pm_run_patterns *patterns, uint32_t group, uint32_t source,
                         uint32_t carrier, bool across, const struct pm_histogram *histogram);

/* Brings everything into its order, equal patterns added up. */
void pm_run_patterns_sort(struct pm_run_patterns *patterns);

/* The patterns of one group as bytes (zstd-compressed, versioned) for the store, and back.  *BYTES
   is owned by the caller (free).  Decoding checks everything; the group's number stands elsewhere.
 */
void pm_group_patterns_encode(const struct pm_group_patterns *group, void **bytes, size_t *n_bytes);
bool pm_group_patterns_decode(const void *bytes, size_t n_bytes, struct pm_group_patterns *group,
                              struct pm_error *err);

/* True if all groups and scopes are STRUCTURE's; else the sentence says that they do not belong
   together.  Patterns from a store are to be checked before they are used. */
bool pm_run_patterns_fit(const struct pm_run_patterns *patterns,
                         const struct pm_structure *structure, struct pm_error *err);

#endif
