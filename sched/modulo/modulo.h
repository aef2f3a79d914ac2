/* Iterative modulo scheduling: the initiation interval of a schedule that repeats itself, which is
   what any order of execution could reach in whole cycles, and the prediction for in-order
   machines.

   B. R. Rau, Iterative Modulo Scheduling: An Algorithm For Software Pipelining Loops, MICRO-27,
   1994. */
#ifndef PM_MODULO_H
#define PM_MODULO_H

#include "sched/graph/graph.h"

struct pm_modulo {
    uint32_t interval_cycles; /* initiation interval; 0: none was found */
    uint32_t
        least_cycles; /* the larger of the resource and the recurrence bound, in whole cycles */
    uint32_t length_cycles; /* from the first issue of an iteration to its last result */
    uint32_t *issue_cycle;  /* per node; owned by the caller of pm_modulo_schedule, may be NULL */
};

/* WIDTH: issue slots of a cycle; 0: no limit. */
void pm_modulo_schedule(const struct pm_graph *graph, double width, struct pm_modulo *modulo);

#endif
