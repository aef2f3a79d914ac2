/* What a run's build has otherwise than the build whose structure a store keeps.

   A program whose arrays have fixed extents is built anew for each size, and the compiler may
   unroll, peel or drop a loop in one build and not in another.  What is the same in two builds is
   found when a run is measured (measure/matching/); what is not is kept with the run as it is
   declared here, so that nothing is modelled from what is not the same everywhere. */
#ifndef PM_BUILDS_H
#define PM_BUILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/profile.h"
#include "core/streams.h"
#include "core/structure/structure.h"

enum pm_mismatch {
    PM_MATCHES = 0,
    PM_MISMATCH_ABSENT = 1,      /* the other build has no such scope */
    PM_MISMATCH_FLOW = 2,        /* its control flow has another shape */
    PM_MISMATCH_BODY = 3,        /* unrolled or vectorised otherwise */
    PM_MISMATCH_NOT_COUNTED = 4, /* one of the builds has no counters there */
    PM_MISMATCH_REFERENCES = 5,  /* of a group: none with the same references */
    PM_N_MISMATCHES,
};

/* Two groups of the store's structure that are one in all runs; may be the same group, whose
   executions then say nothing of what is counted for it. */
struct pm_group_join {
    uint32_t group, with;
};

/* "its control flow is another" and so on, for people. */
const char *pm_mismatch_text(enum pm_mismatch mismatch);

/* ---- how much work a run of another build did, in the numbers of the store's structure (work.c)
 */

struct pm_build_work {
    size_t n_groups, n_scopes;
    double *group_bytes; /* [group]: bytes that references accessed whose accesses count there */
    double *iterations;  /* [scope]: iterations of loops, as emitted, and entries of routines, of
                            all code that is of its source */
};

void pm_build_work_free(struct pm_build_work *work); /* what it owns */
/* What a run of FROM with EDGE_COUNTS did, in the numbers of TO.  HOLDERS: for each group of FROM
   the one of TO that it counts for, PM_NONE for none; NULL: itself.  WORK is freed by
   pm_build_work_free. */
void pm_build_work_measure(const struct pm_structure *from, const double *edge_counts,
                           const struct pm_structure *to, const uint32_t *holders,
                           struct pm_build_work *work);
/* For each scope of both its place in the source; owned by the caller.  Loops of FROM that TO has
   under another line have TO's (source_keys.c). */
void pm_source_keys(const struct pm_structure *from, const struct pm_structure *to,
                    uint64_t **of_from, uint64_t **of_to);
/* Sets those of EDGE_COUNTS, of a run of another build that did WORK, that are own code of the
   scopes that DIFFER, from those of a run of STRUCTURE's own build.  Roughly: flow into a basic
   block of such code is not what flows out of it. */
void pm_build_work_scale(const struct pm_structure *structure, const bool *differs,
                         const double *base_counts, const struct pm_build_work *work,
                         double *edge_counts);

/* ---- what differs (differences.c) ------------------------------------------------------------ */

enum pm_difference_kind {
    PM_DIFFERENT_SCOPE = 0,   /* own code of a loop or routine */
    PM_DIFFERENT_GROUP = 1,   /* a reference group, in code that is the same */
    PM_DIFFERENT_STRIDES = 2, /* of a group that is the same; nothing is lost */
    PM_N_DIFFERENT,
};

struct pm_build_difference {
    uint8_t kind;     /* enum pm_difference_kind */
    uint8_t mismatch; /* enum pm_mismatch */
    uint32_t index;   /* scope or group of the store's structure; PM_NONE: only the run has it */
    char *place;      /* "step/2 heat.c:40" or "u in step/2 heat.c:40"; owned */
    double accesses;  /* of the run; NAN: the run's build does not have it */
};

struct pm_build_differences {
    PM_ARRAY(struct pm_build_difference, rows);
    double accesses; /* of the run, in all */
    PM_ARRAY(struct pm_group_join, joins);
    PM_ARRAY(struct pm_program_total, totals); /* of the run, before anything was dropped */
    struct pm_build_work work;
    double lost; /* accesses that are in no group of the store's structure; not read back */
};

void pm_build_differences_free(struct pm_build_differences *differences); /* what it owns */

/* "12% of the accesses are left out, because …: main/2 heat.c:40 (other control flow), …", or are
   matched by their source only; owned by the caller; NULL if all that the run executed is the same.
 */
char *pm_build_differences_sentence(const struct pm_build_differences *differences);

/* Flags in STRUCTURE what differs (PM_SCOPE_UNMATCHED, PM_GROUP_UNMATCHED, PM_GROUP_STRIDES_VARY).
   False with a sentence if a row names what is not there. */
bool pm_build_differences_mark(const struct pm_build_differences *differences,
                               struct pm_structure *structure, struct pm_error *err);

#endif
