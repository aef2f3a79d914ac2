/* An out-of-order core executing a path again and again: a simulation to its steady state.

   In order, each node is allocated (front end, slots a cycle, room in the window), its
   micro-operations get units, oldest first among those that are ready, and it is retired in order.
 */
#ifndef PM_WINDOW_H
#define PM_WINDOW_H

#include "sched/graph/graph.h"
#include "sched/window/misses.h"

/* What limits the core; 0: nothing does. */
struct pm_window_limits {
    double front_end_slots; /* allocated in a cycle */
    double fetch_slots;     /* fetched in a cycle, from one run of code without a taken jump */
    double retire_slots;    /* retired in a cycle */
    double window_slots;    /* in flight */
    bool has_fetch;         /* jumps that are taken, and lines of code, take their time */
    bool has_units;
    bool carries;        /* iterations depend on each other */
    double least_cycles; /* a bound: an iteration takes no less; 0 unknown */
    double
        iterations; /* the path is passed so often; 0: until the time of an iteration is steady */
    const struct pm_load_misses *misses; /* per reference of the path; NULL: all loads hit */
    const struct pm_machine *machine;    /* with MISSES: how many can be under way */
};

struct pm_window_result {
    double cycles;       /* of an iteration */
    double start_cycles; /* that the first and the last iteration take more than the others */
    double alone_cycles; /* of the first one, from its first allocation to its last result */
    double *unit_cycles; /* [n_nodes][PM_MACHINE_MAX_UNITS], all 0 before, or NULL: busy cycles of
                            each unit by iteration */
};

void pm_window_simulate(const struct pm_dep_graph *graph, const struct pm_window_limits *limits,
                        struct pm_window_result *result);

#endif
