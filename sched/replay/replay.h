/* Replay of a parallel program on a simulated network: what each rank does one after the other, and
   when it does it.  Snavely, Wolter and Carrington (2001), section 6, had DIMEMAS for this; here it
   is SimGrid, in a program of its own (engine/), so that nothing else needs it.

   In: actions of each rank, from a time-independent trace or from the communication of a run and
   its computation as predicted for a machine; a platform (SimGrid's XML).  Out: begin and end of
   each action, and of each rank what it computed, communicated and waited. */
#ifndef PM_REPLAY_H
#define PM_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/call_times/call_times.h"
#include "core/communication/communication.h"
#include "core/intervals/intervals.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/ranks/ranks.h"
#include "core/structure/structure.h"

/* ---- what ranks do --------------------------------------------------------------------------- */

/* X (kind, name in a trace, who waits for whom in it: enum pm_meeting). */
#define PM_ACTIONS(X)                                                                              \
    X(INIT, "init", NONE)                                                                          \
    X(FINALIZE, "finalize", NONE)                                                                  \
    X(COMPUTE, "compute", NONE)                                                                    \
    X(SEND, "send", NONE)                                                                          \
    X(ISEND, "isend", NONE)                                                                        \
    X(RECV, "recv", NONE)                                                                          \
    X(IRECV, "irecv", NONE)                                                                        \
    X(WAIT, "wait", NONE)                                                                          \
    X(WAITALL, "waitall", NONE)                                                                    \
    X(BARRIER, "barrier", ALL)                                                                     \
    X(BCAST, "bcast", ROOT)                                                                        \
    X(REDUCE, "reduce", AT_ROOT)                                                                   \
    X(ALLREDUCE, "allreduce", ALL)                                                                 \
    X(ALLTOALL, "alltoall", ALL)                                                                   \
    X(ALLGATHER, "allgather", ALL)                                                                 \
    X(GATHER, "gather", AT_ROOT)                                                                   \
    X(SCATTER, "scatter", ROOT)                                                                    \
    X(SCAN, "scan", BEFORE)                                                                        \
    X(EXSCAN, "exscan", BEFORE)                                                                    \
    X(ALLTOALLV, "alltoallv", ALL)                                                                 \
    X(ALLGATHERV, "allgatherv", ALL)                                                               \
    X(GATHERV, "gatherv", AT_ROOT)                                                                 \
    X(SCATTERV, "scatterv", ROOT)                                                                  \
    X(REDUCE_SCATTER, "reducescatter", ALL)

enum pm_action_kind {
#define PM_ACTION_ENUM(kind, name, meeting) PM_ACTION_##kind,
    PM_ACTIONS(PM_ACTION_ENUM)
#undef PM_ACTION_ENUM
        PM_N_ACTIONS
};

const char *pm_action_name(enum pm_action_kind kind);
/* Of a collective: who cannot go on before whom has come. */
enum pm_meeting pm_action_meeting(enum pm_action_kind kind);

struct pm_action {
    uint8_t kind;    /* enum pm_action_kind */
    bool is_send;    /* of WAIT: for a request that sends, to PARTNER */
    uint8_t type;    /* of data of a collective, by SimGrid's number: algorithms go by elements */
    int32_t partner; /* a rank; of collectives the root */
    int32_t tag;
    uint32_t label; /* index in pm_actions.labels: the call that it comes from */
    uint64_t bytes; /* sent, or received; of a collective what SimGrid counts for each rank */
    uint64_t received_bytes; /* of a collective that has both; of one whose ranks differ, an index
                                in pm_actions.lines */
    double work;             /* of COMPUTE: seconds, or floating-point operations */
};

struct pm_rank_actions {
    PM_ARRAY(struct pm_action, actions); /* owned */
};

struct pm_actions {
    PM_ARRAY(struct pm_rank_actions, ranks);
    PM_ARRAY(char *, labels); /* 0: "" ; owned */
    PM_ARRAY(char *, lines);  /* arguments of actions that are kept as they are; owned */
    bool in_flops;            /* work is what the platform's hosts have a speed for; else seconds */
};

void pm_actions_free(struct pm_actions *actions); /* what it owns */
/* The number of LABEL, which is added if it is not there. */
uint32_t pm_actions_label(struct pm_actions *actions, const char *label);
uint64_t pm_actions_count(const struct pm_actions *actions);
/* The computation of all ranks together, and all computation made FACTOR times as long. */
double pm_actions_work(const struct pm_actions *actions);
void pm_actions_scale_work(struct pm_actions *actions, double factor);

/* Reads the trace that `smpirun -trace-ti` wrote at PATH: a list of the ranks' files.  What ranks
   send to MPI_PROC_NULL, which SimGrid's replay does not take, is left out.  Errors: a file that is
   not there, or that ends before the rank does; a line that is no action. */
bool pm_actions_read(const char *path, struct pm_actions *actions, struct pm_error *err);
/* Writes a file for each rank into FOLDER, and FOLDER/list with their names. */
bool pm_actions_write(const struct pm_actions *actions, const char *folder, struct pm_error *err);

/* Can they be replayed to the end, as far as counting tells?  The sentence names two ranks whose
   messages do not belong together, or a rank that comes to fewer collectives. */
bool pm_actions_check(const struct pm_actions *actions, struct pm_error *err);

/* ---- the computation between events (computation.c) ------------------------------------------ */

/* Seconds of what ranks compute, from the prediction of all that they do.  What one instruction in
   the own code of a scope takes is the same everywhere in the run:

       seconds (interval) = Σ over scopes s  instructions (interval, s) · seconds (s) / instructions
   (s)
 */
struct pm_computation {
    size_t n_edges;
    double *per_edge; /* seconds of the instructions that taking the edge leads to; owned */
};
/* PREDICTION is of PROFILE, all ranks added up. */
struct pm_computation pm_computation_of(const struct pm_structure *structure,
                                        const struct pm_profile *profile,
                                        const struct pm_prediction *prediction);
void pm_computation_free(struct pm_computation *computation); /* what it owns */
double pm_computation_seconds(const struct pm_computation *computation, const double *edge_counts);

/* What intervals of one kind take in a rank, those with ordinals from FIRST to FIRST + N − 1
   together. */
struct pm_interval_time {
    uint32_t process;
    uint32_t begin, end; /* paths of the communication that the times go with */
    uint64_t first, n;
    double seconds;
};
struct pm_interval_times {
    PM_ARRAY(struct pm_interval_time,
             rows); /* owned (free); by kind and ordinal within a process */
};
/* Those of the processes' first threads; PATHS gets what only intervals have. */
struct pm_interval_times pm_interval_times_of(const struct pm_intervals *intervals,
                                              const struct pm_computation *computation,
                                              struct pm_call_paths *paths);

/* ---- actions of a run (replay_events.c) ------------------------------------------------------ */

struct pm_run_to_replay {
    const struct pm_structure *structure;
    const struct pm_communication *communication;
    const struct pm_ranks *ranks;
    const struct pm_interval_times *times; /* none: not measured */
    const double
        *rank_seconds; /* all that each rank computes, by its number; NULL: what is in TIMES */
};

/* What qualifies it. */
struct pm_replay_sources {
    double by_intervals, evenly; /* seconds of computation that stand where the run had them, and
                                    that are shared out evenly between events of their rank */
    uint64_t n_left_out; /* events that SimGrid's replay has no word for, without which it goes on:
                            probes, the making of communicators of a part of the ranks */
    uint64_t n_averaged; /* collectives whose ranks have shares of different size, as if alike */
};

/* The events of each rank in their order, with what it computed between them.  Where an interval
   begins, its computation stands.  Errors: events that cannot be replayed (one-sided ones,
   several threads that communicate), traces that are not whole.
 */
bool pm_actions_of_run(const struct pm_run_to_replay *run, struct pm_actions *actions,
                       struct pm_replay_sources *sources, struct pm_error *err);

/* ---- the replay ------------------------------------------------------------------------------ */

/* How much faster than written: 1, and of latency how much longer. */
struct pm_replay_scales {
    double processor, bandwidth, latency;
};

struct pm_replay_request {
    const struct pm_actions *actions;
    const char *platform; /* path */
    const char *engine;   /* path of pmodel-replay */
    struct pm_replay_scales scales;
};

struct pm_span {
    double begin, end, waiting; /* seconds; of these so many until the partner came */
};

struct pm_rank_times {
    char *host;                                 /* owned */
    double computation, communication, waiting; /* add up to SECONDS */
    double seconds;                             /* its end */
    struct pm_span *spans;                      /* of each of its actions; owned */
};

struct pm_replay {
    double seconds;
    PM_ARRAY(struct pm_rank_times, ranks);
    double engine_seconds; /* what the replay itself took */
};

/* Errors: no SimGrid here, a platform that SimGrid does not take or with too few cores, a deadlock;
   sentences name the ranks and what they wait for. */
bool pm_replay_run(const struct pm_replay_request *request, struct pm_replay *replay,
                   struct pm_error *err);
void pm_replay_free(struct pm_replay *replay); /* what it owns */

/* Says of each span how long its rank waited there, and adds up the ranks' times
   (replay_waiting.c). */
void pm_replay_add_up(const struct pm_actions *actions, struct pm_replay *replay);

#endif
