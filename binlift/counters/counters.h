/* Counters on edges: which edges are counted, where the counter of an edge stands, and which timers
   are worth their cost.  Everything is decided from the lifted program, which it does not change:
   the decision is a plan beside it, and one function copies into the structure what the store keeps
   of it.  After a run, pm_solve_edges (binlift.h) gives the frequency of every edge. */
#ifndef PM_BINLIFT_COUNTERS_H
#define PM_BINLIFT_COUNTERS_H

#include "binlift/lifted.h"

/* Where the counter of an edge can stand (counter_places.c).  Only edges that have such a place get
   counters, and there the rewriter puts them. */
enum pm_counter_place {
    PM_PLACE_NOWHERE = 0, /* must be on the spanning tree */
    PM_PLACE_IN_TARGET,   /* anywhere in the target: the edge is the only one into it */
    PM_PLACE_IN_SOURCE,   /* anywhere in the source: the edge is the only one out of it */
    PM_PLACE_FALLTHROUGH, /* right after the conditional branch that ends the source */
    PM_PLACE_BRANCH,      /* in code of its own, to which the source's branch goes */
    PM_PLACE_ARRIVAL,     /* where the target is entered from outside its visible predecessors: by a
                             call, by its old address; the edge is the only one that comes so, but
                             for tagged ones */
    PM_PLACE_TAGGED, /* as an arrival, but several indirect jumps come that way; each stores its
                        tag in a slot of the control block before it jumps */
};

/* A loop whose back edge needs no counter in the loop (trip_counts.c): how often the back edge was
   taken follows from a register where the loop is left and where it was entered. */
struct pm_trip_count {
    uint32_t edge; /* the back edge; an index of the structure's edges */
    uint8_t number, bits;
    int64_t step;
    uint32_t first_edge, n_edges; /* in pm_counter_plan.trip_edges */
};

/* An edge into the loop or out of it. */
struct pm_trip_edge {
    uint32_t edge, trip_count; /* of the structure; of pm_counter_plan.trip_counts */
    bool is_exit;              /* out of the loop */
    bool stepped;              /* of an exit: the register has stepped in the last iteration too */
};

enum { PM_TRIP_MOST_STEP = 4096 };

struct pm_counter_plan {
    uint32_t n_counters;
    uint32_t *counter_of; /* per edge: its counter; PM_NONE: on the spanning tree, or of a routine
                             that cannot be counted */
    double *weights;      /* per edge: executions for one entry of the routine, estimated or known:
                             what the choice was made by */
    uint8_t *places;      /* per edge: enum pm_counter_place */
    struct pm_counted_routine {
        uint32_t n_counters; /* E − V + 2 and one for each call that may not return */
        uint32_t n_formula;  /* E − V + 2 over the CFG without those calls */
        bool has_cycle;      /* of edges that no counter can stand on: it has no counters */
    } * routines;
    PM_ARRAY(struct pm_trip_count, trip_counts); /* ascending by edge */
    PM_ARRAY(struct pm_trip_edge, trip_edges);
};

/* counters.c: a spanning tree, and counters on what is not on it.  KNOWN: weights from an earlier
   profile; NULL: estimated.  Freed by pm_counter_plan_free. */
struct pm_counter_plan *pm_plan_counters(const struct pm_lifted *lifted,
                                         const struct pm_known_weights *known);
void pm_counter_plan_free(struct pm_counter_plan *plan);

/* Copies PLAN into STRUCTURE, for the store and for all who read profiles: pm_edge.counter and
   weight, pm_routine.n_counters, n_counters_formula and, of a routine that cannot be counted,
   reason; pm_structure.n_counters.  Nothing else writes these. */
void pm_mark_counters(struct pm_structure *structure, const struct pm_counter_plan *plan);

/* Is EDGE the back edge of a loop that is counted where the loop is left? */
bool pm_is_trip_counted(const struct pm_counter_plan *plan, uint32_t edge);

#endif
