/* What the build of a run has otherwise than the build whose structure the store keeps
   (structure_match.h): kept with the run, so that nothing is modelled from what is not the same
   everywhere, and listed for people. */
#ifndef PM_BUILD_DIFFERENCES_H
#define PM_BUILD_DIFFERENCES_H

#include <stddef.h>
#include <stdint.h>

#include "core/pm_alloc.h"
#include "core/profile.h"
#include "core/streams.h"
#include "core/structure_match.h"

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
};

void pm_build_differences_free(struct pm_build_differences *differences); /* what it owns */

/* Lists what MATCH did not match, first what the run executed most of, from the run's EDGE_COUNTS
   (one for each edge of match->from).  Freed by pm_build_differences_free. */
void pm_build_differences_list(const struct pm_structure_match *match, const double *edge_counts,
                               struct pm_build_differences *differences);

/* "12% of the accesses are left out, because …: main/2 heat.c:40 (other control flow), …", owned by
   the caller; NULL if nothing that the run executed is lost. */
char *pm_build_differences_sentence(const struct pm_build_differences *differences);

/* Flags in STRUCTURE what differs (PM_SCOPE_UNMATCHED, PM_GROUP_UNMATCHED, PM_GROUP_STRIDES_VARY).
   False with a sentence if a row names what is not there. */
bool pm_build_differences_mark(const struct pm_build_differences *differences,
                               struct pm_structure *structure, struct pm_error *err);

/* ---- a run's results in the store's numbers ---------------------------------------------------
 */

/* PROFILE, measured with match->from, becomes one of match->to; what has no counterpart goes to
   skipped[PM_SKIPPED_UNMATCHED].  Without histograms (those are in the streams). */
void pm_match_profile(const struct pm_structure_match *match, struct pm_profile *profile);
void pm_match_streams(const struct pm_structure_match *match, struct pm_streams *streams);
/* INEXACT: one for each routine of match->from; the result, of match->to, is the caller's. */
bool *pm_match_inexact(const struct pm_structure_match *match, const bool *inexact);

#endif
