/* What the files of modulo/ share: the graph as operations that each take one unit. */
#ifndef PM_MODULO_PRIVATE_H
#define PM_MODULO_PRIVATE_H

#include "sched/modulo/modulo.h"

/* A micro-operation, the end of a node that has several, or a node without any. */
struct pm_modulo_op {
    uint32_t node;
    uint64_t units; /* 0: none */
    double busy_cycles, start_cycle, slots;
    uint32_t first_in, n_in, first_out, n_out;
};

struct pm_modulo_edge {
    uint32_t from, to;
    int32_t cycles; /* whole */
    int32_t distance;
    float
        stall_cycles; /* what the load takes more, which is waited for when it is used (in order) */
};

struct pm_modulo_problem {
    PM_ARRAY(struct pm_modulo_op, ops);
    PM_ARRAY(struct pm_modulo_edge, edges);
    uint32_t *in, *out; /* edges by their ends */
    double width;
};

void pm_modulo_problem_make(const struct pm_dep_graph *graph, double width,
                            const struct pm_modulo_options *options,
                            struct pm_modulo_problem *problem);
void pm_modulo_problem_free(struct pm_modulo_problem *problem);

/* Fills CYCLE and UNIT (n_ops each; -1: it takes none) with a schedule of this INTERVAL; false:
   none was found (modulo_schedule.c). */
bool pm_modulo_try(const struct pm_modulo_problem *problem, uint32_t interval, uint32_t *cycle,
                   int8_t *unit);

/* Each operation with its cycle and unit, and the reservation table (dump_reservations.c). */
void pm_dump_reservations(const struct pm_modulo_options *options, const struct pm_dep_graph *graph,
                          const struct pm_modulo_problem *problem, uint32_t interval,
                          const uint32_t *cycle, const int8_t *unit);

/* Cycles of an iteration in which issue stops at the first use of what is missing (stalls.c). */
double pm_modulo_stalled_cycles(const struct pm_modulo_problem *problem, uint32_t interval,
                                const uint32_t *cycle);

#endif
