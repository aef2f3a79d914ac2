/* Predicted counts of all edges of a routine that agree with each other.

   Each edge has a model, many of them exact, and these agree.  The least sure ones, a spanning tree
   of them, follow from the others by flow conservation (core/spanning_tree.h): so a count that no
   model fits, as of a loop of what vectors leave, spoils none that is known.  Where counters stood
   does not matter here.  The solution of an edge can come out negative; then flow is added around a
   shortest cycle through it, along edges that are in use where possible, which keeps conservation
   and touches no other edge.
 */
#include "fit/edges/edges.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/spanning_tree.h"
#include "fit/heuristics.h"

/* Adds AMOUNT along a shortest path from START to END; IN_USE: over edges with flow only. */
static bool add_along_path(const struct pm_spanning_tree *tree, double *values, uint32_t start,
                           uint32_t end, double amount, bool in_use) {
    uint32_t *arrived_by = pm_alloc_none(tree->n_vertices), head = 0, tail = 0;
    uint32_t *queue = pm_alloc(tree->n_vertices, sizeof *queue);
    queue[tail++] = start;
    while (head < tail && (start == end || arrived_by[end] == PM_NONE)) {
        uint32_t v = queue[head++];
        if (v == end)
            break;
        for (uint32_t e = 0; e < tree->n_edges; e++) {
            uint32_t to = tree->to[e];
            if (tree->from[e] != v || to == start || arrived_by[to] != PM_NONE ||
                (in_use && values[e] <= 0))
                continue;
            arrived_by[to] = e;
            queue[tail++] = to;
        }
    }
    bool found = start == end || arrived_by[end] != PM_NONE;
    for (uint32_t v = end; found && v != start; v = tree->from[arrived_by[v]])
        values[arrived_by[v]] += amount;
    free(queue);
    free(arrived_by);
    return found;
}

/* Makes all edges non-negative; returns whether any had to be changed by more than rounding. */
static bool repair(const struct pm_spanning_tree *tree, double *values) {
    bool repaired = false;
    double largest = 0;
    for (uint32_t e = 0; e < tree->n_edges; e++)
        largest = fmax(largest, values[e]);
    for (uint32_t e = 0; e < tree->n_edges; e++) {
        if (values[e] >= 0)
            continue;
        double missing = -values[e];
        values[e] = 0;
        if (missing <= pm_heuristics.rounding * largest)
            continue;
        repaired = true;
        if (!add_along_path(tree, values, tree->to[e], tree->from[e], missing, true))
            (void)add_along_path(tree, values, tree->to[e], tree->from[e], missing, false);
    }
    return repaired;
}

/* The virtual edge has no model. */
static void solve_doubtful(struct pm_spanning_tree *tree, uint32_t n_edges, const double *doubts) {
    double *of_edges = pm_alloc(tree->n_edges, sizeof *of_edges);
    memcpy(of_edges, doubts, n_edges * sizeof *of_edges);
    of_edges[n_edges] = INFINITY;
    pm_spanning_tree_choose(tree, of_edges);
    free(of_edges);
}

bool pm_fit_solve_routine(const struct pm_structure *structure, uint32_t routine_index,
                          double *edge_counts, const double *doubts, bool *repaired) {
    const struct pm_routine *routine = &structure->routines[routine_index];
    struct pm_spanning_tree *tree = pm_spanning_tree_new(structure, routine);
    bool solved = tree->is_solvable;
    double *values = pm_alloc(tree->n_edges, sizeof *values);
    double *surplus = pm_alloc(tree->n_vertices, sizeof *surplus);
    if (routine->n_edges)
        memcpy(values, edge_counts + routine->first_edge, routine->n_edges * sizeof *values);
    if (solved) {
        if (!pm_fit_without(PM_STEP_SURE_EDGES) && routine->n_edges)
            solve_doubtful(tree, routine->n_edges, doubts + routine->first_edge);
        pm_spanning_tree_solve_doubles(tree, values, surplus);
        *repaired = repair(tree, values);
        if (routine->n_edges)
            memcpy(edge_counts + routine->first_edge, values, routine->n_edges * sizeof *values);
    }
    free(values);
    free(surplus);
    pm_spanning_tree_free(tree);
    return solved;
}
