/* What the files of window/ have in common: a core that is simulated, and what the simulation reads
   of the graph, laid out for reading it hundreds of times. */
#ifndef PM_WINDOW_PRIVATE_H
#define PM_WINDOW_PRIVATE_H

#include "sched/window/window.h"

enum {
    HORIZON = 4096, /* cycles; a power of two */
    NO_SCHEDULER = PM_MACHINE_MAX_UNITS,
    N_WORDS = HORIZON / 64,
};

/* When a slot of a stage that takes so many a cycle is free. */
struct stage {
    double cycle, used;
};

/* A micro-operation: one of its units for so many cycles. */
struct demand {
    double busy_cycles, start_cycle;
    uint64_t set; /* of units, by their numbers in the core */
    uint32_t first_unit, n_units;
    bool is_one_cycle;
    uint8_t scheduler;             /* that it is bound to; NO_SCHEDULER: not yet */
    uint32_t first_bound, n_bound; /* the same bound to each of its units' schedulers */
};

/* A wait that counts under the limits. */
struct operand {
    double cycles;
    uint32_t from;
    uint16_t distance;
    bool is_blocked, is_fresh;
};

/* A node. */
struct operation {
    double slots, latency_cycles, fetch_cycles;
    uint32_t first_operand, n_here, n_operands; /* those of the same iteration come first */
    uint32_t first_demand, n_demands;
    bool waits, has_ways, has_choice, may_miss, may_be_wrong;
};

/* In flight: until when, and how many slots. */
struct flight {
    double retired, slots;
};

/* An out-of-order core while it is simulated. */
struct pm_window_core {
    const struct pm_dep_graph *graph;
    const struct pm_window_limits *limits;
    struct operation *operations; /* of nodes */
    struct operand *operands;
    struct demand *demands;                /* of micro-operations */
    uint8_t *lists;                        /* of units that these may have */
    uint8_t numbers[PM_MACHINE_MAX_UNITS]; /* of a bit of a set of units: which of the core's */
    uint8_t bits[PM_MACHINE_MAX_UNITS];    /* … and the other way */
    unsigned n_units;
    unsigned n_schedulers;
    uint32_t waiting_in[PM_MACHINE_MAX_UNITS]; /* of each scheduler: what is bound to it and begins
                                                  in the present cycle or later */
    uint16_t *begin_in; /* n_schedulers · HORIZON: … of these, in a cycle */
    int64_t present;    /* cycle */
    uint64_t *taken;    /* N_WORDS · n_units: all units of the same cycles are side by side */
    double fraction[PM_MACHINE_MAX_UNITS]; /* of a cycle that a unit is owed */
    double load[PM_MACHINE_MAX_UNITS];     /* busy cycles that it was given */
    uint64_t uneven;                       /* units whose fraction may round one cycle to another */
    int64_t cleared;                       /* cycles before are free again in the ring */
    unsigned history; /* iterations that are kept, a power of two above the longest distance */
    double *begun;    /* history · n_nodes */
    double *retired;  /* as begun; NULL: no load waits for that */
    struct stage fetch, allocation, retirement;
    double next_fetch;
    struct flight *flights; /* a ring, a power of two */
    size_t oldest, youngest, flight_mask;
    double in_flight;
    double *waiting; /* from first_waiting on, ascending: when those that wait will begin */
    size_t first_waiting, n_waiting, most_waiting;
    unsigned entry, n_entries; /* of the loop: the first iteration of this one; begun so far */
    double first_allocation, last_result, timed_begin;
    double *node_units; /* of the node that is executed: where busy cycles of units are added up */
    struct pm_misses_under_way *misses; /* NULL: all loads hit */
};

/* CORE with its graph and limits becomes one before its first cycle. */
void pm_window_core_prepare(struct pm_window_core *core);
void pm_window_core_free(struct pm_window_core *core); /* what it owns */

#endif
