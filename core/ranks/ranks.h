/* The ranks of a run of an MPI program: which process is which, what they do in the communication
   (roles), and which of them do the same work (groups).

   Role.  The call paths at which a rank communicates with another one point to point, partners that
   are none (MPI_PROC_NULL) left out, and where ranks with the same paths differ in it, the number
   of their partners.  That does not depend on how large the problem or the program is, so that a
   role is the same in runs of 4 and of 400 ranks.

   Group.  Ranks of one role whose work is alike: of two ranks a and b with w(r, s) instructions
   that rank r executed in the own code of scope s

       distance (a, b) = max (m(a, b), m(b, a)) / max (w(a), w(b))
       m(a, b) = Σ over s  max (0, w(a, s) − w(b, s)),   w(r) = Σ over s  w(r, s)

   the share of its instructions that the one does more, or elsewhere, than the other: from 0, where
   all scopes have the same, to 1, where none that one executes is executed by both.  Each rank, in
   their order, belongs to the first group whose first rank is no further away than the tolerance.
 */
#ifndef PM_RANKS_H
#define PM_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/streams.h"
#include "core/structure/structure.h"

/* A process of a rank; a rank that forked has several. */
struct pm_rank {
    uint32_t process;    /* ordinal among the processes of the run */
    uint32_t rank, size; /* number in MPI_COMM_WORLD, and how many there are */
    char *host;          /* owned */
    uint32_t role;       /* index in pm_ranks.roles */
    uint32_t group;      /* ordinal in the run, by its first rank */
};

struct pm_role {
    char *name; /* "corner"; owned */
};

struct pm_ranks {
    PM_ARRAY(struct pm_rank, ranks); /* by rank and process; none: it is no MPI program */
    double tolerance;                /* of the groups */
    PM_ARRAY(struct pm_role, roles); /* of all runs of the store; none: not told apart yet */
};

#define PM_RANKS_TOLERANCE 0.05

void pm_ranks_free(struct pm_ranks *ranks); /* what it owns */
void pm_ranks_sort(struct pm_ranks *ranks); /* by rank and process */

/* How many different ranks there are, of one ROLE (PM_NONE: of all) and one GROUP (likewise). */
unsigned pm_ranks_count(const struct pm_ranks *ranks, uint32_t role, uint32_t group);
unsigned pm_ranks_n_groups(const struct pm_ranks *ranks);

/* Is RANKS.ranks[I], in order, the first process of its rank? */
bool pm_ranks_is_first_process(const struct pm_ranks *ranks, size_t i);

/* "0, 4–7": those of a ROLE and a GROUP, as above; NULL: there are none.  Owned by the caller. */
char *pm_ranks_text(const struct pm_ranks *ranks, uint32_t role, uint32_t group);
/* "7", "4–7, 9": ranks below SIZE that none of RANKS is, or NULL; owned by the caller. */
char *pm_ranks_missing(const struct pm_ranks *ranks);

/* ---- roles (roles.c) ------------------------------------------------------------------------- */

/* What a rank of a run does in the communication. */
struct pm_rank_deeds {
    size_t run; /* ordinal */
    uint32_t rank, size;
    PM_ARRAY(uint32_t, paths); /* at which it has partners, of the store; a set, ascending */
    uint32_t n_partners;       /* ranks that it sends to or receives from */
    uint32_t role;             /* what comes out */
};

/* Adds to TO the roles that N ranks of all runs, run by run, have, and says which each of them has.
   Ranks of grids are called after the number of their partners: corner, edge, inside; else first
   and last, alone (no partners), all (there is one role), role-1 ….  Several of one name get
   numbers. */
void pm_ranks_find_roles(struct pm_rank_deeds *deeds, size_t n, struct pm_ranks *to);

/* The role called NAME; PM_NONE with a sentence that names the known ones. */
uint32_t pm_ranks_role(const struct pm_ranks *ranks, const char *name, struct pm_error *err);

/* ---- groups (rank_groups.c) ------------------------------------------------------------------ */

/* What the process took of each edge, out of the THREADS of a run (pm_streams.counts), into COUNTS,
   which it is added to; WHOLE, what the run did, where it has no threads (there was one). */
void pm_ranks_add_edges(const struct pm_streams *threads, const double *whole, size_t n_edges,
                        uint32_t process, double *counts);

/* Instructions in the own code of each scope, from EDGE_COUNTS; added to WORK. */
void pm_ranks_add_work(const struct pm_structure *structure, const double *edge_counts,
                       double *work);

/* Groups the RANKS, of which WORK has the instructions by scope, rank by rank in their order. */
void pm_ranks_group(struct pm_ranks *ranks, const double *work, size_t n_scopes, double tolerance);
/* The same from the THREADS of the run. */
void pm_ranks_group_by_edges(struct pm_ranks *ranks, const struct pm_structure *structure,
                             const struct pm_streams *threads, const double *whole,
                             double tolerance);
double pm_ranks_distance(const double *work_a, const double *work_b, size_t n_scopes);

#endif
