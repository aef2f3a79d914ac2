/* The dependence graph of one path: operations in micro-operations of the target, and what each
   waits for, with distances in iterations.

   A node is a generic operation of the structure (struct pm_op) or what a foreign operation adds.
   Its micro-operations are those of the machine's row: a store is one for the address and one for
   the data, an operation of the reservation table "p0|p1 + p5" two.  What is fused with a branch or
   done by renaming has none.  Everything is a flat array: nodes in the order of the program, the
   edges into a node in a row. */
#ifndef PM_GRAPH_H
#define PM_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/structure/structure.h"
#include "sched/target/target.h"

/* What one micro-operation reserves: any one of UNITS, from START cycles after it began, for BUSY
   cycles. */
struct pm_micro {
    uint64_t units;
    float busy_cycles, start_cycle;
    bool is_data; /* of a store: it waits for the data, the others for the address */
};

/* One of the ways to execute a node (struct pm_reservation_table). */
struct pm_way {
    uint32_t first_micro, n_micros;
};

struct pm_node {
    uint32_t op;          /* of the structure */
    uint32_t step;        /* of the path */
    uint32_t reference;   /* number among the path's references; PM_NONE */
    float latency_cycles; /* from its operands to its result */
    float miss_cycles;    /* of these, what a load takes more than its row says */
    float slots;          /* of the front end, the window and retirement */
    uint32_t first_way, n_ways;
    uint32_t first_edge, n_edges; /* into it */
    bool is_load, is_store, is_branch;
    bool is_known; /* the machine file has a row for it */
    bool starts_instruction;
    float fetch_cycles; /* that what follows is fetched later: jumps taken, lines of code */
};

enum pm_edge_sort {
    PM_THROUGH_REGISTER = 0,
    PM_THROUGH_DATA,   /* of a store: the value to be stored */
    PM_THROUGH_MEMORY, /* from a store to a load of the same place */
};

/* `to` waits for `from` of `distance` iterations before: its operands are there `cycles` after
   `from` began. */
struct pm_wait {
    uint32_t from, to;
    uint16_t distance;
    uint8_t sort;    /* enum pm_edge_sort */
    bool is_hidden;  /* passes an inner loop: there in time, because that takes its own cycles */
    bool is_blocked; /* … after `from` has left the window: several stores have what is loaded */
    bool is_fresh;   /* each entry of the loop begins anew: nothing comes from the one before */
    float cycles;
};

/* A load takes its data from a store before it; operations by their numbers on the path. */
struct pm_forwarding {
    uint32_t load, store;
    uint16_t distance;  /* iterations from the store to the load */
    bool is_same_place; /* both begin at the same address */
    bool is_partial;    /* the store has not all of it */
    bool is_blocked;    /* … and others have the rest: it waits for the first cache to have all */
};

struct pm_dep_graph {
    PM_ARRAY(struct pm_node, nodes);
    PM_ARRAY(struct pm_micro, micros);
    PM_ARRAY(struct pm_way, ways);
    PM_ARRAY(struct pm_wait, waits); /* ascending by `to` */
    double slots;
    uint32_t n_unknown;   /* operations without a row */
    uint32_t n_taken;     /* jumps taken in one iteration, the one back included */
    double commit_cycles; /* in which the stores of an iteration enter the first cache */
    uint32_t n_references;
};

struct pm_graph_options {
    uint32_t loop; /* around which the path goes; PM_NONE: it is passed once, nothing is carried */
    bool pessimistic;                  /* unknown dependences through memory are taken as real */
    bool with_entries;                 /* find out what is_fresh */
    const double *load_latency_cycles; /* pm_schedule_options */
    const double *crossings;           /* pm_schedule_options */
    bool is_unrolled; /* copies of the path follow each other: each load is there many times */
    const struct pm_forwarding *forwardings; /* instead of the loop's dependences, if not NULL */
    size_t n_forwardings;
    const double *store_lines; /* that stores of an iteration go to; NULL: by their strides */
};

/* GRAPH is emptied and filled; freed by pm_graph_free, and may be used again before that. */
void pm_graph_of_path(const struct pm_target_machine *target, const struct pm_path_step *path,
                      size_t n_steps, const struct pm_graph_options *options,
                      struct pm_dep_graph *graph);
void pm_graph_free(struct pm_dep_graph *graph);

/* The resource bound of an iteration (units.c).  *UNIT: the first one of the tightest set. */
double pm_graph_units(const struct pm_dep_graph *graph, uint8_t *unit);

/* Cycles in which the stores of an iteration enter the first cache (stores.c).  LINES: that they go
   to, other than the store before; NULL: by their strides. */
double pm_graph_commit(const struct pm_target_machine *target, const struct pm_dep_graph *graph,
                       const double *lines);

/* The recurrence bound: the largest over cycles of the graph of latency by iterations crossed
   (cycles.c).  ACROSS_ENTRIES: only of what the loop carries from one entry to the next, too.
   ON_CYCLE (n_nodes, may be NULL): the nodes of such a cycle. */
double pm_graph_recurrence(const struct pm_dep_graph *graph, bool across_entries, bool *on_cycle);

/* The longest chain within an iteration, in cycles.  ON_CHAIN (n_nodes, may be NULL): its nodes. */
double pm_graph_critical_path(const struct pm_dep_graph *graph, bool *on_chain);

#endif
