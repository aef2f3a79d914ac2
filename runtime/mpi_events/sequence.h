/* A sequence of numbers that is kept as nested loops over what repeats in it, found as it grows
   (as ScalaTrace does: Noeth, Ratn, Mueller, Schulz & de Supinski 2009).  Nothing is lost: what the
   loops stand for is the sequence.

   What is at hand is a list of nodes: numbers, and loops over bodies that are kept once.  Whenever
   the list's tail equals what stands before it, both become a loop; if that is a loop over the
   tail, it goes round once more.  Memory is bounded by the longest list and the bodies, not by the
   sequence. */
#ifndef PM_RUNTIME_SEQUENCE_H
#define PM_RUNTIME_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_sequence_node {
    uint32_t item;  /* a number of the sequence, or the body that a loop is over */
    uint32_t times; /* of a loop, at least 2; 0: a number */
};

enum {
    PM_SEQUENCE_NODES = 1 << 20,  /* at most, in the list and in the bodies each */
    PM_SEQUENCE_SEEN = 1 << 12,   /* entries of the table of nodes seen before */
    PM_SEQUENCE_WINDOW = 1 << 13, /* nodes that a repeat is long at most */
    PM_SEQUENCE_LOOPS = 1 << 12,  /* loops in the list that are looked at, at most */
};

/* Zeroed before its first use. */
struct pm_sequence {
    uint64_t n; /* numbers that the list stands for */
    struct pm_sequence_node *list;
    uint32_t *before; /* of each node of the list a place where the same may have stood, + 1 */
    uint32_t *seen;   /* the last such place by hash, + 1 */
    uint32_t n_list, room;
    uint32_t *loops; /* places of the loops in the list, ascending: the last ones */
    uint32_t n_loops;
    struct pm_sequence_node *bodies; /* one after the other */
    uint32_t *starts;                /* where in BODIES each begins; n_starts + 1 of them */
    uint32_t *by_hash;               /* number of a body + 1; open addressing */
    uint32_t n_bodies, n_starts, room_bodies, room_starts, room_by_hash;
};

/* False: there is no room for it. */
bool pm_sequence_add(struct pm_sequence *sequence, uint32_t number);
void pm_sequence_free(struct pm_sequence *sequence);

#endif
