/* What the files of the replay share. */
#ifndef PM_REPLAY_PRIVATE_H
#define PM_REPLAY_PRIVATE_H

#include "sched/replay/replay.h"

/* SimGrid's numbers of types of data in traces, and their bytes; 0: there is no such number. */
enum { PM_TRACED_DOUBLE = 0, PM_TRACED_INT = 1, PM_TRACED_BYTE = 6 };
unsigned pm_traced_type_bytes(unsigned type);

/* One end of a message, of a send or of a receive. */
struct pm_message_end {
    int32_t from, to, tag;
    size_t action; /* index among those of its rank */
    uint64_t bytes;
};

/* By sender, receiver, tag and order, in which MPI brings sends and receives together: the Nth of
   the one belongs to the Nth of the other. */
struct pm_messages {
    PM_ARRAY(struct pm_message_end, sends);
    PM_ARRAY(struct pm_message_end, receives);
};
struct pm_messages pm_messages_of(const struct pm_actions *actions);
void pm_messages_free(struct pm_messages *messages); /* what it owns */

/* ---- result.c -------------------------------------------------------------------------------- */

/* Fills REPLAY from what the engine wrote, N_BYTES with a NUL behind them.  Errors: it is no
   result, or not one of REQUEST's actions; SimGrid's own, a deadlock. */
bool pm_replay_read_result(const struct pm_replay_request *request, const char *bytes,
                           size_t n_bytes, struct pm_replay *replay, struct pm_error *err);

/* ---- replay_parts.c -------------------------------------------------------------------------- */

/* The ranks of a communicator. */
struct pm_replay_part {
    const int32_t *members; /* ranks of the world */
    size_t n, mine, root;   /* the places of the rank, and of the operation's root, among them */
    int32_t tag;            /* that no other message has between them */
};
/* What a rank does in a collective operation of a part of the ranks, that SimGrid would have of all
   as LIKE. */
void pm_add_part(struct pm_rank_actions *to, const struct pm_replay_part *part,
                 const struct pm_action *like);

/* ---- placement.c ----------------------------------------------------------------------------- */

struct pm_placement_kinds;

/* Goes through the intervals of a process beside its events. */
struct pm_placement {
    struct pm_placement_kinds *kinds; /* owned */
    uint32_t at;                      /* path where the interval that is under way began */
    double placed;                    /* seconds that were given out */
    bool is_empty;                    /* the process has no intervals */
};
struct pm_placement pm_placement_begin(const struct pm_run_to_replay *run, uint32_t process);
void pm_placement_free(struct pm_placement *placement); /* what it owns */
/* Whether the event at PATH ends an interval, and what was computed since the last one ended. */
bool pm_placement_ends(struct pm_placement *placement, uint32_t path, double *seconds);
/* The same for the end of the process. */
double pm_placement_end(struct pm_placement *placement);

#endif
