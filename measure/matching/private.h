/* What the files of measure/matching/ share. */
#ifndef PM_STRUCTURE_MATCH_PRIVATE_H
#define PM_STRUCTURE_MATCH_PRIVATE_H

#include "measure/matching/matching.h"

/* One of the builds, with what the walk asks for.  A vertex is a basic block b, as b, or a loop
   that is seen as one, as n_blocks + its scope. */
struct pm_match_side {
    const struct pm_structure *structure;
    struct pm_lists out_of;  /* per basic block: its edges by kind, then as they stand */
    struct pm_lists exits;   /* per scope, a loop: edges that leave it */
    struct pm_lists entries; /* per scope, a loop: edges that enter it */
    uint32_t *n_vertices;    /* per scope: basic blocks and inner loops of its own code */
    uint32_t *vertex;        /* per vertex: the matching vertex of the other structure; PM_NONE */
    double *instructions, *bytes; /* per scope: of its own code, in the text */
};

struct pm_matcher {
    struct pm_match_side from, to;
    struct pm_structure_match *match;
    uint32_t *inside;  /* per edge of FROM: the one of TO, where its owner's code is the same */
    uint32_t *leaving; /* … where the code of a loop that it leaves is the same */
};

void pm_match_side_make(struct pm_match_side *side, const struct pm_structure *structure);
void pm_match_side_free(struct pm_match_side *side);

/* Whether the own code of LOOP or routine SCOPE is that of its counterpart; notes pairs of vertices
   and edges.  Inner loops were asked before. */
enum pm_mismatch pm_match_own_code(struct pm_matcher *m, uint32_t scope);

/* Fills the groups of M->match from the pairs of vertices. */
void pm_match_groups(struct pm_matcher *m);

/* Fills the holders and joins of MATCH, from its groups. */
void pm_match_by_source(struct pm_structure_match *match);

#endif
