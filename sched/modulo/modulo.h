/* Iterative modulo scheduling: the initiation interval of a schedule that repeats itself, which is
   what any order of execution could reach in whole cycles, and the prediction for in-order
   machines.

   B. R. Rau, Iterative Modulo Scheduling: An Algorithm For Software Pipelining Loops, MICRO-27,
   1994. */
#ifndef PM_MODULO_H
#define PM_MODULO_H

#include "core/dumps/dumps.h"
#include "sched/graph/graph.h"

struct pm_modulo_options {
    double least_cycles; /* bounds that the graph does not tell */
    bool has_units;
    bool carries;  /* iterations depend on each other */
    bool in_order; /* issue stops at the first use of a value that is missing: what a load takes
                      more than its row's latency is no part of the schedule, but waited for */
    /* The schedule that is found is printed (dump_reservations.c), in words of TARGET; NULL: not.
     */
    const struct pm_dumping *dumping;
    const struct pm_target_machine *target;
};

struct pm_modulo {
    uint32_t interval_cycles; /* initiation interval; 0: none was found */
    uint32_t
        least_cycles; /* the larger of the resource and the recurrence bound, in whole cycles */
    uint32_t length_cycles; /* from the first issue of an iteration to its last result */
    double cycles;          /* of an iteration: the interval, in order with stalls; 0: none found */
};

/* WIDTH: issue slots of each cycle; 0: no limit. */
void pm_modulo_schedule(const struct pm_dep_graph *graph, double width,
                        const struct pm_modulo_options *options, struct pm_modulo *modulo);

#endif
