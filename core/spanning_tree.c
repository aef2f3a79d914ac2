/* Flow on a spanning tree; see spanning_tree.h. */
#include "core/spanning_tree.h"

#include <stdlib.h>

/* ---- the order ------------------------------------------------------------------------------- */

/* Edges at a vertex that are not known yet: how many, and the exclusive or of their numbers, which
   is the number of the last one. */
struct unknown {
    uint32_t n, edges;
};

static void change_unknown(const struct pm_spanning_tree *tree, struct unknown *unknown,
                           uint32_t edge, int by) {
    uint32_t ends[2] = {tree->from[edge], tree->to[edge]};
    for (int i = 0; i < 2; i++) {
        unknown[ends[i]].n += (uint32_t)by;
        unknown[ends[i]].edges ^= edge;
    }
}

/* Takes off leaf after leaf of the spanning tree. */
static void find_steps(struct pm_spanning_tree *tree) {
    struct unknown *unknown = pm_alloc(tree->n_vertices, sizeof *unknown);
    /* At most all vertices to begin with, and one more after each step. */
    uint32_t *leaves = pm_alloc(2 * (size_t)tree->n_vertices, sizeof *leaves), n_leaves = 0;
    uint32_t n_unknown = 0;
    for (uint32_t e = 0; e < tree->n_edges; e++)
        if (!tree->counted[e]) {
            change_unknown(tree, unknown, e, 1);
            n_unknown++;
        }
    for (uint32_t v = 0; v < tree->n_vertices; v++)
        if (unknown[v].n == 1)
            leaves[n_leaves++] = v;
    while (n_leaves) {
        uint32_t v = leaves[--n_leaves];
        if (unknown[v].n != 1)
            continue; /* its last edge was solved from the other end */
        uint32_t edge = unknown[v].edges;
        uint32_t other = tree->from[edge] == v ? tree->to[edge] : tree->from[edge];
        tree->steps[tree->n_steps++] = (struct pm_tree_step){edge, v};
        change_unknown(tree, unknown, edge, -1);
        if (unknown[other].n == 1)
            leaves[n_leaves++] = other;
    }
    tree->is_solvable = tree->n_steps == n_unknown;
    tree->is_tree = tree->n_steps == tree->n_vertices - 1;
    free(leaves);
    free(unknown);
}

struct pm_spanning_tree *pm_spanning_tree_new(const struct pm_structure *structure,
                                              const struct pm_routine *routine) {
    struct pm_spanning_tree *tree = pm_alloc(1, sizeof *tree);
    tree->n_edges = routine->n_edges + 1;
    tree->n_vertices = routine->n_blocks + 2;
    tree->entry = routine->n_blocks;
    tree->exit = tree->entry + 1;
    tree->from = pm_alloc(tree->n_edges, sizeof *tree->from);
    tree->to = pm_alloc(tree->n_edges, sizeof *tree->to);
    tree->counted = pm_alloc(tree->n_edges, sizeof *tree->counted);
    tree->steps = pm_alloc(tree->n_vertices, sizeof *tree->steps);
    for (uint32_t e = 0; e < routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[routine->first_edge + e];
        tree->from[e] = edge->from == PM_NONE ? tree->entry : edge->from - routine->first_block;
        tree->to[e] = edge->to == PM_NONE ? tree->exit : edge->to - routine->first_block;
        tree->counted[e] = edge->counter != PM_NONE;
    }
    tree->from[routine->n_edges] = tree->exit;
    tree->to[routine->n_edges] = tree->entry;
    find_steps(tree);
    return tree;
}

void pm_spanning_tree_free(struct pm_spanning_tree *tree) {
    free(tree->from);
    free(tree->to);
    free(tree->counted);
    free(tree->steps);
    free(tree);
}

/* ---- another tree ---------------------------------------------------------------------------- */

struct doubtful_edge {
    double doubt;
    uint32_t edge;
    bool counted;
};

static int most_doubtful_first(const void *left, const void *right) {
    const struct doubtful_edge *a = left, *b = right;
    if (a->doubt != b->doubt)
        return PM_COMPARE(b->doubt, a->doubt);
    return a->counted != b->counted ? PM_COMPARE(a->counted, b->counted)
                                    : PM_COMPARE(a->edge, b->edge);
}

/* Kruskal's algorithm. */
void pm_spanning_tree_choose(struct pm_spanning_tree *tree, const double *doubts) {
    struct doubtful_edge *order = pm_alloc(tree->n_edges, sizeof *order);
    uint32_t *connected = pm_disjoint_sets_new(tree->n_vertices);
    for (uint32_t e = 0; e < tree->n_edges; e++)
        order[e] = (struct doubtful_edge){doubts[e], e, tree->counted[e]};
    PM_SORT(order, tree->n_edges, most_doubtful_first);
    for (uint32_t i = 0; i < tree->n_edges; i++) {
        uint32_t e = order[i].edge;
        tree->counted[e] = !pm_disjoint_sets_join(connected, tree->from[e], tree->to[e]);
    }
    tree->n_steps = 0;
    find_steps(tree);
    free(connected);
    free(order);
}

/* ---- the solution ---------------------------------------------------------------------------- */

/* The same for both types of counts. */
#define SOLVE(type)                                                                                \
    do {                                                                                           \
        for (uint32_t e = 0; e < tree->n_edges; e++) {                                             \
            if (tree->counted[e]) {                                                                \
                surplus[tree->to[e]] += values[e];                                                 \
                surplus[tree->from[e]] -= values[e];                                               \
            } else {                                                                               \
                values[e] = 0;                                                                     \
            }                                                                                      \
        }                                                                                          \
        for (uint32_t i = 0; i < tree->n_steps; i++) {                                             \
            uint32_t e = tree->steps[i].edge, v = tree->steps[i].vertex;                           \
            type value = tree->from[e] == v ? surplus[v] : -surplus[v];                            \
            values[e] = value;                                                                     \
            surplus[tree->to[e]] += value;                                                         \
            surplus[tree->from[e]] -= value;                                                       \
        }                                                                                          \
    } while (0)

void pm_spanning_tree_solve_counts(const struct pm_spanning_tree *tree, uint64_t *values,
                                   uint64_t *surplus) {
    SOLVE(uint64_t);
}

void pm_spanning_tree_solve_doubles(const struct pm_spanning_tree *tree, double *values,
                                    double *surplus) {
    SOLVE(double);
}
