/* Two builds of one program side by side: which scopes, edges and reference groups are the same.

   A program whose arrays have fixed extents is built anew for each size.  Its builds mostly differ
   in constants only, but the compiler may unroll, peel or drop a loop in one and not in another.
   What is the same is found from the scope keys (structure.h) and from the shape of the control
   flow, routine by routine and loop by loop:

   - A scope is the same as the one with its key.  A routine without a name is the same as none.
   - The own code of a loop or routine (its basic blocks outside inner loops, each of these being
     one vertex) is the same if both graphs have one shape, walked from the header or the entry
     along edges in the order of their kinds, with inner loops at the same places.  Of a loop,
     emitted iterations must also be the same: equal unrolling and vectorising as far as the
     compiler says, and about as many instructions.
   - Edges of own code that is the same are the same in the order of the walk.  What enters or
     leaves a loop belongs to the code around it.  Where that differs, but the loop itself is the
     same, its entries are known as a sum, which stands on the first edge that enters it.
   - A group is the same if its loop's own code is, and it has as many references of the same sizes
     to the same object in the same blocks, in an order that leaves no choice.
   - What a group did that is not the same goes by its source: to what the other build has of the
     same object in the same part of the source (match_source.c).  There all groups of the object
     become one, in all runs of the store.

   Modules with equal build-ids (shared libraries) are the same as a whole. */
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

struct pm_structure_match {
    const struct pm_structure *from, *to; /* borrowed */
    uint32_t *scopes;                     /* [from->n_scopes]: of TO with the same key; PM_NONE */
    uint8_t *own_from, *own_to;           /* per scope of each: enum pm_mismatch of its own code */
    uint32_t *edges;   /* [from->n_edges]: of TO, to which its count is added; PM_NONE */
    uint32_t *groups;  /* [from->n_groups]: of TO; PM_NONE */
    uint32_t *holders; /* [from->n_groups]: of TO, which gets its histograms: that of `groups`, or
                          one by source; PM_NONE: TO has no such object */
    PM_ARRAY(struct pm_group_join, joins); /* of TO, by source */
    bool *group_is_lost; /* [to->n_groups]: its own code matches, but no group of FROM */
    bool *strides_vary;  /* [to->n_groups]: other strides in FROM */
};

/* Matches FROM with TO; both must outlive the result, which the caller frees. */
struct pm_structure_match *pm_structure_match(const struct pm_structure *from,
                                              const struct pm_structure *to);
void pm_structure_match_free(struct pm_structure_match *match); /* NULL is allowed */

/* "its control flow is another" and so on, for people. */
const char *pm_mismatch_text(enum pm_mismatch mismatch);

/* ---- scopes side by side, for people (pairs.c) ------------------------------------------------
 */

/* By what two scopes of two builds are taken to be the same, the surest first. */
enum pm_pairing {
    PM_PAIRED_BY_KEY = 0,
    PM_PAIRED_BY_PATH,  /* the key without names of files: the source was renamed */
    PM_PAIRED_BY_PLACE, /* the same line of the same routine, wherever it was inlined and nested */
    PM_PAIRED_BY_DATA,  /* innermost loops that load and store the same objects, of the same routine
                           or else of any: it was rewritten, or the routine renamed */
    PM_N_PAIRINGS,
};

/* All but the first only where there is one such scope in each that is not in a pair yet. */
struct pm_scope_pairs {
    uint32_t *b_of_a, *a_of_b; /* by scope; PM_NONE: none */
    uint8_t *by;               /* by scope of A: enum pm_pairing */
};

/* Pairs scopes of A for which WANTED_A holds with such of B.  Freed by pm_scope_pairs_free. */
struct pm_scope_pairs pm_scope_pairs_make(const struct pm_structure *a, const bool *wanted_a,
                                          const struct pm_structure *b, const bool *wanted_b);
void pm_scope_pairs_free(struct pm_scope_pairs *pairs);
const char *pm_pairing_word(enum pm_pairing pairing); /* "key" */

/* ---- how much work a run of another build did, in the numbers of the store's structure (work.c)
 */

struct pm_build_work {
    size_t n_groups, n_scopes;
    double *group_bytes; /* [group]: bytes that references accessed whose accesses count there */
    double *iterations;  /* [scope]: iterations of loops, as emitted, and entries of routines, of
                            all code that is of its source */
};

void pm_build_work_free(struct pm_build_work *work); /* what it owns */
/* EDGE_COUNTS: of match->from.  WORK is freed by pm_build_work_free. */
void pm_build_work_measure(const struct pm_structure_match *match, const double *edge_counts,
                           struct pm_build_work *work);
/* Sets those of EDGE_COUNTS, of a run of another build that did WORK, that are own code of the
   scopes that DIFFER, from those of a run of STRUCTURE's own build.  Roughly: flow into a basic
   block of such code is not what flows out of it. */
void pm_build_work_scale(const struct pm_structure *structure, const bool *differs,
                         const double *base_counts, const struct pm_build_work *work,
                         double *edge_counts);

/* ---- what a run's build has otherwise than the build whose structure the store keeps: kept with
   the run, so that nothing is modelled from what is not the same everywhere, and listed for people
   (differences.c) ------------------------------------------------------------------------------ */

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
    PM_ARRAY(struct pm_whole, wholes); /* of the run, before anything was dropped */
    struct pm_build_work work;
    double lost; /* accesses that are in no group of the store's structure; not read back */
};

void pm_build_differences_free(struct pm_build_differences *differences); /* what it owns */

/* Lists what MATCH did not match, first what the run executed most of, from the run's EDGE_COUNTS
   (one for each edge of match->from).  Freed by pm_build_differences_free. */
void pm_build_differences_list(const struct pm_structure_match *match, const double *edge_counts,
                               struct pm_build_differences *differences);

/* "12% of the accesses are left out, because …: main/2 heat.c:40 (other control flow), …", or are
   matched by their source only; owned by the caller; NULL if all that the run executed is the same.
 */
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
