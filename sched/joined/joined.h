/* Joined paths: iterations of a loop with the routines that it calls and its short inner loops in
   their places, one after the other as they would be executed, in one simulated window.

   Regions are scheduled each by itself (sched/regions.c), as if what they load were there.  A value
   that a callee leaves in memory for the next one, or an iteration for the next, is not: which
   loads take their data from which stores, and whether one store has them whole, is found here by
   following addresses as sums (addresses.c).  What the joined path takes beyond the sum of its
   parts is shared out among its regions, in proportion to their cycles. */
#ifndef PM_JOINED_H
#define PM_JOINED_H

#include "sched/graph/graph.h"
#include "sched/schedule.h"

/* What was found of the loads of all joined paths, by executions. */
struct pm_joined {
    double loads;
    double forwarded; /* take data of a store of the same path */
    double blocked;   /* … of several stores, or of a part of what they load */
    double unknown;   /* their address hangs on values that are not known on the path */
    double more_cycles;
    double apart_cycles; /* own, of loops whose iterations are too long */
};

/* Adds to SCHEDULES (by scope, of all regions, ENTRIES times each) what joined paths take more.
   Nothing of structures that do not tell addresses, and on in-order machines. */
void pm_join_regions(const struct pm_frequencies *frequencies,
                     const struct pm_target_machine *target,
                     const struct pm_scope_prediction *scopes, struct pm_region_schedule *schedules,
                     struct pm_joined *joined);

/* What there is to say of it in a report of ALL_CYCLES. */
void pm_add_joined_notes(const struct pm_joined *joined, const struct pm_target_machine *target,
                         double all_cycles, struct pm_prediction *prediction);

/* ---- traces (joined_trace.c) ----------------------------------------------------------------- */

/* Steps of a path that goes through several routines. */
struct pm_step_trace {
    PM_ARRAY(struct pm_path_step, steps);
    PM_ARRAY(bool, enters); /* per step: it ends with a call, and the next one is the callee's */
    double *passes;         /* by scope: of a loop iterations, of a routine executions */
    size_t n_ops;
    size_t n_before; /* steps at the begin that lead from the routine's entry to the loop: they tell
                        what registers and the frame hold, and are not simulated */
};

/* What traces are made from: paths of regions, each in turn as often as they are executed. */
struct pm_tracer;
struct pm_tracer *pm_tracer_new(const struct pm_frequencies *frequencies,
                                const struct pm_scope_prediction *scopes);
void pm_tracer_free(struct pm_tracer *tracer);
/* Operations of an iteration of LOOP with all that is in it; INFINITY: too many, or not known. */
double pm_tracer_size(struct pm_tracer *tracer, uint32_t loop);
/* Does an iteration call, or have a short loop in it? */
bool pm_tracer_joins(struct pm_tracer *tracer, uint32_t loop);
/* Begins TRACE, which is empty, with a way from the entry of its routine to LOOP. */
void pm_tracer_begin(struct pm_tracer *tracer, uint32_t loop, struct pm_step_trace *trace);
/* Adds an iteration of LOOP to TRACE, which has room for scopes in `passes`. */
void pm_tracer_add(struct pm_tracer *tracer, uint32_t loop, struct pm_step_trace *trace);
void pm_step_trace_free(struct pm_step_trace *trace);

/* ---- addresses (addresses.c) ----------------------------------------------------------------- */

/* A load or store on a trace. */
struct pm_traced_access {
    uint32_t op; /* number on the trace */
    uint32_t size_bytes;
    int64_t place;
    bool is_store;
    bool is_known; /* the place is an address */
};

struct pm_forwardings {
    PM_ARRAY(struct pm_forwarding, items);       /* ascending by load */
    PM_ARRAY(struct pm_traced_access, accesses); /* in order of the trace; only with HELD */
    size_t n_loads, n_forwarded, n_blocked, n_unknown;
};

/* Which loads of TRACE take their data from which of its stores.  HELD: what all registers and all
   aligned words of 8 bytes hold when it begins; NULL: nobody knows. */
void pm_trace_forwardings(const struct pm_structure *structure, const struct pm_step_trace *trace,
                          const uint64_t *held, struct pm_forwardings *found);

/* ---- loops of which all is known (loop_memory.c) --------------------------------------------- */

struct pm_loop_memory_flow {
    PM_ARRAY(struct pm_forwarding, forwardings); /* operations by their numbers on the path */
    double *crossings; /* per reference of the path: the share of accesses across two lines */
    double lines;      /* of an iteration: that a store goes to, other than the one before */
};

/* Of the loop around PATH, when all registers and words hold HELD at first. */
void pm_follow_loop_memory(const struct pm_target_machine *target, const struct pm_path_step *path,
                           size_t n_steps, uint64_t held, struct pm_loop_memory_flow *flow);
void pm_loop_memory_flow_free(struct pm_loop_memory_flow *flow);

#endif
