/* Interprocedural traces: iterations of a loop with the routines that it calls and its short inner
   loops in their places, one after the other as they would be executed, in one simulated window.

   Regions are scheduled each by itself (sched/regions.c), as if what they load were there.  A value
   that a callee leaves in memory for the next one, or an iteration for the next, is not: which
   loads take their data from which stores, and whether one store has them whole, is found here by
   following addresses as sums (addresses.c).  What the interprocedural trace takes beyond the sum
   of its parts is shared out among its regions, in proportion to their cycles. */
#ifndef PM_INTERPROCEDURAL_H
#define PM_INTERPROCEDURAL_H

#include "sched/graph/graph.h"
#include "sched/schedule.h"

/* What was found of the loads of all interprocedural traces, by executions. */
struct pm_interprocedural {
    double loads;
    double forwarded; /* take their data from one store of the same trace */
    double blocked;   /* … from several stores, or from one that has a part of it */
    double unknown;   /* their address depends on values that the trace does not know */
    double more_cycles;
    double apart_cycles; /* own cycles of loops whose iterations are too long for a trace */
};

/* Adds to SCHEDULES (by scope, of all regions, ENTRIES times each) the cycles that interprocedural
   traces take beyond the sum of their parts.  KNOWN: of the target.  Adds nothing for structures
   without addresses, and for in-order machines. */
void pm_schedule_interprocedural(const struct pm_frequencies *frequencies,
                                 const struct pm_target_machine *target,
                                 struct pm_known_paths *known,
                                 const struct pm_scope_prediction *scopes,
                                 struct pm_region_schedule *schedules,
                                 struct pm_interprocedural *found);

/* Adds the notes on what was FOUND to PREDICTION, whose time is ALL_CYCLES. */
void pm_add_interprocedural_notes(const struct pm_interprocedural *found,
                                  const struct pm_target_machine *target, double all_cycles,
                                  struct pm_prediction *prediction);

/* ---- traces (interprocedural_trace.c)
   ----------------------------------------------------------------- */

/* Steps of a path that goes through several routines. */
struct pm_step_trace {
    PM_ARRAY(struct pm_path_step, steps);
    PM_ARRAY(bool, enters); /* per step: it ends with a call, and the next step is in the callee */
    double *passes;         /* by scope: of a loop iterations, of a routine executions */
    size_t n_ops;
    size_t n_before; /* steps at the begin that lead from the routine's entry to the loop: they
                        define registers and the frame, and are not simulated */
};

/* Makes traces from the paths of regions, each of which is taken in turn as often as it is
   executed. */
struct pm_tracer;
struct pm_tracer *pm_tracer_new(const struct pm_frequencies *frequencies,
                                const struct pm_scope_prediction *scopes);
void pm_tracer_free(struct pm_tracer *tracer);
/* Operations of an iteration of LOOP, inner loops and callees included; INFINITY: too many, or
   unknown. */
double pm_tracer_size(struct pm_tracer *tracer, uint32_t loop);
/* Does an iteration of LOOP contain a call or a short inner loop? */
bool pm_tracer_is_interprocedural(struct pm_tracer *tracer, uint32_t loop);
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
