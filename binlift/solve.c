/* From counters to the frequency of every edge.  At each vertex, ENTRY and EXIT included, what
   comes in goes out, once the virtual edge EXIT → ENTRY closes the graph.  Edges without a counter
   form a spanning tree, so some vertex always has a single unknown edge: it is solved and taken
   off, until none is left (Knuth & Stevenson 1973).  Needs nothing but the structure.

   A negative frequency shows that control took a way that is not in the graph (a second return of
   setjmp, a program that was killed); the routine is then marked inexact and that edge gets 0. */
#include "binlift/binlift.h"

#include <stdlib.h>
#include <string.h>

struct tree {
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    uint32_t entry, exit, n_vertices;
    uint64_t *surplus;     /* per vertex: known incoming − known outgoing, modulo 2^64 */
    uint32_t *n_unknown;   /* per vertex: edges not yet solved */
    uint32_t *unknown_sum; /* per vertex: exclusive or of their numbers */
    uint64_t *values;      /* per edge of the routine, then the virtual edge; modulo 2^64 */
};

static uint32_t from_vertex(const struct tree *tree, uint32_t e) {
    if (e == tree->routine->n_edges)
        return tree->exit;
    uint32_t from = tree->structure->edges[tree->routine->first_edge + e].from;
    return from == PM_NONE ? tree->entry : from - tree->routine->first_block;
}

static uint32_t to_vertex(const struct tree *tree, uint32_t e) {
    if (e == tree->routine->n_edges)
        return tree->entry;
    uint32_t to = tree->structure->edges[tree->routine->first_edge + e].to;
    return to == PM_NONE ? tree->exit : to - tree->routine->first_block;
}

static void set_value(struct tree *tree, uint32_t e, uint64_t value) {
    tree->values[e] = value;
    tree->surplus[to_vertex(tree, e)] += value;
    tree->surplus[from_vertex(tree, e)] -= value;
}

static void toggle_unknown(struct tree *tree, uint32_t e, int change) {
    uint32_t ends[2] = {from_vertex(tree, e), to_vertex(tree, e)};
    for (int i = 0; i < 2; i++) {
        tree->n_unknown[ends[i]] += (uint32_t)change;
        tree->unknown_sum[ends[i]] ^= e;
    }
}

/* Enters what was counted; the rest, and the virtual edge, is unknown. */
static void enter_counters(struct tree *tree, const uint64_t *counters) {
    for (uint32_t e = 0; e < tree->routine->n_edges; e++) {
        uint32_t counter = tree->structure->edges[tree->routine->first_edge + e].counter;
        if (counter != PM_NONE)
            set_value(tree, e, counters[counter]);
        else
            toggle_unknown(tree, e, 1);
    }
    toggle_unknown(tree, tree->routine->n_edges, 1);
}

/* Solves leaf after leaf; returns how many edges it solved. */
static uint32_t peel(struct tree *tree) {
    uint32_t n_solved = 0, n_stack = 0;
    uint32_t *stack = pm_alloc(2 * (size_t)tree->n_vertices, sizeof *stack);
    for (uint32_t v = 0; v < tree->n_vertices; v++)
        if (tree->n_unknown[v] == 1)
            stack[n_stack++] = v;
    while (n_stack) {
        uint32_t v = stack[--n_stack];
        if (tree->n_unknown[v] != 1)
            continue; /* its last edge was solved from the other end */
        uint32_t e = tree->unknown_sum[v];
        bool leaves = from_vertex(tree, e) == v;
        uint32_t other = leaves ? to_vertex(tree, e) : from_vertex(tree, e);
        toggle_unknown(tree, e, -1);
        set_value(tree, e, leaves ? tree->surplus[v] : -tree->surplus[v]);
        n_solved++;
        if (tree->n_unknown[other] == 1)
            stack[n_stack++] = other;
    }
    free(stack);
    return n_solved;
}

/* Returns whether the routine's counts obey conservation. */
static bool solve_routine(const struct pm_structure *structure, const struct pm_routine *routine,
                          const uint64_t *counters, uint64_t *edge_counts) {
    struct tree tree = {.structure = structure,
                        .routine = routine,
                        .entry = routine->n_blocks,
                        .exit = routine->n_blocks + 1,
                        .n_vertices = routine->n_blocks + 2};
    tree.surplus = pm_alloc(tree.n_vertices, sizeof *tree.surplus);
    tree.n_unknown = pm_alloc(tree.n_vertices, sizeof *tree.n_unknown);
    tree.unknown_sum = pm_alloc(tree.n_vertices, sizeof *tree.unknown_sum);
    tree.values = pm_alloc((size_t)routine->n_edges + 1, sizeof *tree.values);

    enter_counters(&tree, counters);
    bool exact = peel(&tree) == tree.n_vertices - 1; /* a spanning tree, or no solution */
    for (uint32_t v = 0; v < tree.n_vertices; v++)
        exact &= tree.surplus[v] == 0;
    for (uint32_t e = 0; e < routine->n_edges; e++) {
        bool negative = (int64_t)tree.values[e] < 0;
        exact &= !negative;
        edge_counts[routine->first_edge + e] = negative ? 0 : tree.values[e];
    }
    free(tree.values);
    free(tree.unknown_sum);
    free(tree.n_unknown);
    free(tree.surplus);
    return exact;
}

void pm_solve_edges(const struct pm_structure *structure, const uint64_t *counters,
                    uint64_t *edge_counts, bool *inexact) {
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        bool exact = true;
        if (routine->counted && routine->n_blocks)
            exact = solve_routine(structure, routine, counters, edge_counts);
        else if (routine->n_edges)
            memset(edge_counts + routine->first_edge, 0, routine->n_edges * sizeof *edge_counts);
        if (inexact)
            inexact[r] = !exact;
    }
}

double pm_block_count(const struct pm_structure *structure, const double *edge_counts,
                      uint32_t block) {
    const struct pm_routine *routine = &structure->routines[structure->blocks[block].routine];
    double count = 0;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
        if (structure->edges[e].to == block)
            count += edge_counts[e];
    return count;
}
