/* A routine's control-flow graph in the form in which the compiler's and the lifter's are compared.
   Private to binlift/metadata/.  check_graph.c says what the form leaves out, and why. */
#ifndef PM_CHECK_GRAPH_H
#define PM_CHECK_GRAPH_H

#include "binlift/lifted.h"
#include "binlift/metadata/metadata.h"

#define PM_CHECK_EXIT PM_NONE /* where an arc goes that leaves the routine */

struct pm_check_node {
    uint64_t address;
    uint32_t last_insn; /* of its code, as it was decoded; PM_NONE: no code was decoded there */
    uint32_t head; /* first node of the straight line that it is in; itself: a canonical block */
    uint32_t tail; /* of a head: the last node of its line */
    bool outside;  /* control arrives here from outside the routine, or unseen */
};

struct pm_check_arc {
    uint32_t from, to; /* nodes; to may be PM_CHECK_EXIT */
};

struct pm_check_graph {
    PM_ARRAY(struct pm_check_node, nodes); /* by address */
    PM_ARRAY(struct pm_check_arc, arcs);   /* by (from, to), each once */
    uint32_t *first_arc;                   /* n_nodes + 1 */
    uint32_t n_inner; /* lifter's basic blocks folded into one of the compiler's that has control
                         flow of its own inside */
};

/* What the compiler said of CONTRIBUTION.  LIFTED (of the same file) gives the instructions. */
void pm_check_compiler_graph(const struct pm_metadata *metadata,
                             const struct pm_contribution *contribution,
                             const struct pm_lifted *lifted, struct pm_check_graph *graph);
/* What LIFTED found in the N ROUTINES, parts of one function. */
void pm_check_lifted_graph(const struct pm_lifted *lifted, const uint32_t *routines, unsigned n,
                           struct pm_check_graph *graph);
/* Folds basic blocks of LIFTED that lie inside one of COMPILER's.  Before pm_check_merge. */
void pm_check_fold_inner(struct pm_check_graph *lifted, const struct pm_check_graph *compiler,
                         const struct pm_lifted *code);
/* Joins straight lines: fills head and tail. */
void pm_check_merge(struct pm_check_graph *graph, const struct pm_lifted *code);
void pm_check_graph_release(struct pm_check_graph *graph);

/* Node that starts at ADDRESS, PM_NONE. */
uint32_t pm_check_node_at(const struct pm_check_graph *graph, uint64_t address);

#endif
