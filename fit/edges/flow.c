/* From predicted counts of the edges that carry a counter to those of all edges of a routine.

   At each vertex, ENTRY and EXIT included, what comes in goes out, once the virtual edge EXIT →
   ENTRY closes the graph.  Edges without a counter form a spanning tree: leaf by leaf each is
   solved (Marin & Mellor-Crummey 2004, section 2.2.1).  Predictions are not exact, so that the
   solution of an edge can come out negative; then flow is added around a shortest cycle through it,
   along edges that are in use where possible, which keeps conservation and touches no other edge.
 */
#include "fit/edges/edges.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

#define ROUNDING 1e-9 /* of the largest count of the routine */

struct flow {
    uint32_t n_edges, n_vertices; /* the virtual edge is the last */
    uint32_t *from, *to;          /* per edge: vertices */
    double *values;               /* per edge */
    bool *known;                  /* per edge */
    double *surplus;              /* per vertex: known incoming − known outgoing */
    uint32_t *n_unknown;          /* per vertex */
    uint32_t *unknown_edges;      /* per vertex: exclusive or of their numbers */
    uint32_t *work;               /* n_vertices + n_edges entries */
};

static struct flow *flow_new(const struct pm_structure *structure,
                             const struct pm_routine *routine) {
    struct flow *f = pm_alloc(1, sizeof *f);
    f->n_edges = routine->n_edges + 1;
    f->n_vertices = routine->n_blocks + 2;
    f->from = pm_alloc(f->n_edges, sizeof *f->from);
    f->to = pm_alloc(f->n_edges, sizeof *f->to);
    f->values = pm_alloc(f->n_edges, sizeof *f->values);
    f->known = pm_alloc(f->n_edges, sizeof *f->known);
    f->surplus = pm_alloc(f->n_vertices, sizeof *f->surplus);
    f->n_unknown = pm_alloc(f->n_vertices, sizeof *f->n_unknown);
    f->unknown_edges = pm_alloc(f->n_vertices, sizeof *f->unknown_edges);
    f->work = pm_alloc((size_t)f->n_vertices + f->n_edges, sizeof *f->work);
    uint32_t entry = routine->n_blocks, exit = entry + 1;
    for (uint32_t e = 0; e < routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[routine->first_edge + e];
        f->from[e] = edge->from == PM_NONE ? entry : edge->from - routine->first_block;
        f->to[e] = edge->to == PM_NONE ? exit : edge->to - routine->first_block;
    }
    f->from[routine->n_edges] = exit;
    f->to[routine->n_edges] = entry;
    return f;
}

static void flow_free(struct flow *f) {
    free(f->work);
    free(f->unknown_edges);
    free(f->n_unknown);
    free(f->surplus);
    free(f->known);
    free(f->values);
    free(f->to);
    free(f->from);
    free(f);
}

static void set_value(struct flow *f, uint32_t e, double value) {
    f->known[e] = true;
    f->values[e] = value;
    f->surplus[f->to[e]] += value;
    f->surplus[f->from[e]] -= value;
}

/* Solves unknown edges leaf after leaf; returns whether all came out. */
static bool peel(struct flow *f) {
    uint32_t n_stack = 0, n_left = 0, *stack = f->work;
    for (uint32_t e = 0; e < f->n_edges; e++)
        if (!f->known[e]) {
            n_left++;
            f->n_unknown[f->from[e]]++;
            f->n_unknown[f->to[e]]++;
            f->unknown_edges[f->from[e]] ^= e;
            f->unknown_edges[f->to[e]] ^= e;
        }
    for (uint32_t v = 0; v < f->n_vertices; v++)
        if (f->n_unknown[v] == 1)
            stack[n_stack++] = v;
    while (n_stack) {
        uint32_t v = stack[--n_stack];
        if (f->n_unknown[v] != 1)
            continue; /* its last edge was solved from the other end */
        uint32_t e = f->unknown_edges[v], ends[2] = {f->from[e], f->to[e]};
        set_value(f, e, ends[0] == v ? f->surplus[v] : -f->surplus[v]);
        n_left--;
        for (int i = 0; i < 2; i++) {
            f->n_unknown[ends[i]]--;
            f->unknown_edges[ends[i]] ^= e;
        }
        uint32_t other = ends[0] == v ? ends[1] : ends[0];
        if (f->n_unknown[other] == 1)
            stack[n_stack++] = other;
    }
    return n_left == 0;
}

/* Adds AMOUNT along a shortest path from START to END; IN_USE: over edges with flow only. */
static bool add_along_path(struct flow *f, uint32_t start, uint32_t end, double amount,
                           bool in_use) {
    uint32_t *queue = f->work, *arrived_by = f->n_unknown, head = 0, tail = 0;
    for (uint32_t v = 0; v < f->n_vertices; v++)
        arrived_by[v] = PM_NONE;
    queue[tail++] = start;
    while (head < tail && (start == end || arrived_by[end] == PM_NONE)) {
        uint32_t v = queue[head++];
        if (v == end)
            break;
        for (uint32_t e = 0; e < f->n_edges; e++) {
            uint32_t to = f->to[e];
            if (f->from[e] != v || to == start || arrived_by[to] != PM_NONE ||
                (in_use && f->values[e] <= 0))
                continue;
            arrived_by[to] = e;
            queue[tail++] = to;
        }
    }
    if (start != end && arrived_by[end] == PM_NONE)
        return false;
    for (uint32_t v = end; v != start; v = f->from[arrived_by[v]])
        f->values[arrived_by[v]] += amount;
    return true;
}

/* Makes all edges non-negative; returns whether any had to be changed by more than rounding. */
static bool repair(struct flow *f) {
    bool repaired = false;
    double largest = 0;
    for (uint32_t e = 0; e < f->n_edges; e++)
        largest = fmax(largest, f->values[e]);
    for (uint32_t e = 0; e < f->n_edges; e++) {
        if (f->values[e] >= 0)
            continue;
        double missing = -f->values[e];
        f->values[e] = 0;
        if (missing <= ROUNDING * largest)
            continue;
        repaired = true;
        if (!add_along_path(f, f->to[e], f->from[e], missing, true))
            (void)add_along_path(f, f->to[e], f->from[e], missing, false);
    }
    return repaired;
}

bool pm_fit_solve_routine(const struct pm_structure *structure, uint32_t routine_index,
                          double *edge_counts, bool *repaired) {
    const struct pm_routine *routine = &structure->routines[routine_index];
    struct flow *f = flow_new(structure, routine);
    for (uint32_t e = 0; e < routine->n_edges; e++)
        if (structure->edges[routine->first_edge + e].counter != PM_NONE)
            set_value(f, e, edge_counts[routine->first_edge + e]);
    bool solved = peel(f);
    if (solved) {
        *repaired = repair(f);
        if (routine->n_edges)
            memcpy(edge_counts + routine->first_edge, f->values,
                   routine->n_edges * sizeof *edge_counts);
    }
    flow_free(f);
    return solved;
}
