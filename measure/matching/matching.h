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
#ifndef PM_MATCHING_H
#define PM_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/builds/builds.h"
#include "core/profile.h"
#include "core/streams.h"
#include "core/structure/structure.h"

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

/* Lists what MATCH did not match, first what the run executed most of, from the run's EDGE_COUNTS
   (one for each edge of match->from).  Freed by pm_build_differences_free. */
void pm_build_differences_list(const struct pm_structure_match *match, const double *edge_counts,
                               struct pm_build_differences *differences);

/* ---- a run's results in the store's numbers ---------------------------------------------------
 */

/* PROFILE, measured with match->from, becomes one of match->to; what has no counterpart goes to
   skipped[PM_SKIPPED_UNMATCHED].  Without histograms (those are in the streams). */
void pm_match_profile(const struct pm_structure_match *match, struct pm_profile *profile);
void pm_match_streams(const struct pm_structure_match *match, struct pm_streams *streams);
/* INEXACT: one for each routine of match->from; the result, of match->to, is the caller's. */
bool *pm_match_inexact(const struct pm_structure_match *match, const bool *inexact);

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

#endif
