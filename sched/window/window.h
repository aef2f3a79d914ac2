/* An out-of-order core executing a path again and again: a simulation to its steady state.

   In order, each node is allocated (front end, slots a cycle, room in the window), its
   micro-operations get units, oldest first among those that are ready, and it is retired in order.
 */
#ifndef PM_WINDOW_H
#define PM_WINDOW_H

#include "sched/graph/graph.h"
#include "sched/window/misses.h"

/* How often a branch is predicted wrongly. */
struct pm_wrong_branch {
    double of_data;  /* one on loaded data: a pass */
    double of_exits; /* one that leaves the loop: an entry of the loop */
};

/* What limits the core; 0: nothing does. */
struct pm_window_limits {
    double front_end_slots; /* allocated in a cycle */
    double fetch_slots;     /* fetched in a cycle, from one run of code without a taken jump */
    double retire_slots;    /* retired in a cycle */
    double window_slots;    /* in flight */
    unsigned scheduler;     /* operations that wait for their operands; loads wait elsewhere */
    bool has_fetch;         /* jumps that are taken, and lines of code, take their time */
    bool has_units;
    bool carries;        /* iterations depend on each other */
    double least_cycles; /* a bound: an iteration takes no less; 0 unknown */
    double
        iterations; /* the path is passed so often; 0: until the time of an iteration is steady */
    double trips; /* iterations of an entry, each of which begins anew what is_fresh; 0: endless */
    size_t timed_from;                   /* a node of the first iteration */
    const struct pm_load_misses *misses; /* per reference of the path; NULL: all loads hit */
    /* Per step of the path: what is behind such a branch is allocated when it was executed and the
       right way is there, `mispredict_cycles` later.  NULL: all are predicted rightly. */
    const struct pm_wrong_branch *wrong;
    /* Where loads miss or branches are wrong, an eighth of the operations: of code with little
       time, to which an error of some percent does no harm. */
    bool is_brief;
    const struct pm_machine *machine; /* with MISSES: how many can be under way */
};

struct pm_window_result {
    double cycles;       /* of an iteration */
    double start_cycles; /* that the first and the last iteration take more than the others */
    double alone_cycles; /* of the first one, from its first allocation to its last result */
    double timed_cycles; /* of the first one, from when what is before `timed_from` was retired */
    double *unit_cycles; /* [n_nodes][PM_MACHINE_MAX_UNITS], all 0 before, or NULL: busy cycles of
                            each unit by iteration */
};

void pm_window_simulate(const struct pm_dep_graph *graph, const struct pm_window_limits *limits,
                        struct pm_window_result *result);
/* So many iterations of GRAPH at most; whether entries of the loop are told apart in them. */
unsigned pm_window_most_iterations(const struct pm_dep_graph *graph,
                                   const struct pm_window_limits *limits);
bool pm_window_has_entries(const struct pm_window_limits *limits);

/* ---- known_windows.c ------------------------------------------------------------------------- */

/* Simulations of any graph on any machine, which are not done twice.  Shared: freed when the last
   of those that took it has given it back. */
struct pm_known_windows;
struct pm_known_windows *pm_known_windows_new(void);
struct pm_known_windows *pm_known_windows_take(struct pm_known_windows *known);
void pm_known_windows_free(struct pm_known_windows *known); /* NULL is allowed */

/* As pm_window_simulate, to the bit.  Without KNOWN (NULL), and where RESULT wants busy cycles of
   units, it is that. */
void pm_known_window(struct pm_known_windows *known, const struct pm_dep_graph *graph,
                     const struct pm_window_limits *limits, struct pm_window_result *result);

#endif
