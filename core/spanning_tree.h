/* Counts of all edges of a routine from those of the edges that carry a counter.

   In the graph of one routine the vertices are its basic blocks, then ENTRY, then EXIT; the edges
   are those of the routine, then the virtual edge EXIT → ENTRY, which closes the graph, so that the
   flow into each vertex equals the flow out of it.  Edges without a counter, and the virtual one,
   form a spanning tree: some vertex always has a single edge that is not known, which is solved and
   taken off, until none is left (Knuth & Stevenson 1973; Marin & Mellor-Crummey 2004, section
   2.2.1).  In which order that is depends on the graph only, not on the counts. */
#ifndef PM_SPANNING_TREE_H
#define PM_SPANNING_TREE_H

#include "core/base/base.h"
#include "core/structure/structure.h"

/* An edge to be solved, and the vertex at which it is the only unknown edge. */
struct pm_tree_step {
    uint32_t edge, vertex;
};

struct pm_spanning_tree {
    uint32_t n_edges, n_vertices; /* of the routine, and the virtual ones */
    uint32_t entry, exit;         /* vertices */
    uint32_t *from, *to;          /* per edge: vertices */
    bool *counted;                /* per edge: it has a counter */
    struct pm_tree_step *steps;   /* in this order */
    uint32_t n_steps;
    bool is_solvable; /* each edge has a counter or is solved in a step */
    bool is_tree;     /* and those that are solved are a spanning tree of all vertices */
};

/* The graph of ROUTINE; owned by the caller. */
struct pm_spanning_tree *pm_spanning_tree_new(const struct pm_structure *structure,
                                              const struct pm_routine *routine);
void pm_spanning_tree_free(struct pm_spanning_tree *tree); /* and the struct itself */

/* Which edges are solved in place of those without a counter: a spanning tree of the largest DOUBTS
   (n_edges, the virtual edge's too), of edges with the same doubt first those without a counter.
   `counted` is then: it is not solved. */
void pm_spanning_tree_choose(struct pm_spanning_tree *tree, const double *doubts);

/* VALUES (n_edges) has the counts of the edges with a counter and gets those of the others; 0 where
   they are not determined.  SURPLUS (n_vertices) has what comes into a vertex, less what goes out,
   other than along an edge, mostly 0; it gets what is left over there when all is solved: 0 if the
   counts agree.  Counts are taken modulo 2^64: a negative one is above INT64_MAX.  Doubles are
   added up in the order of the edges, then of the steps. */
void pm_spanning_tree_solve_counts(const struct pm_spanning_tree *tree, uint64_t *values,
                                   uint64_t *surplus);
void pm_spanning_tree_solve_doubles(const struct pm_spanning_tree *tree, double *values,
                                    double *surplus);

#endif
