/* The recurrence bound, and the longest chain of an iteration.

       bound = max over cycles of the graph of  Σ cycles / Σ distance

   Lawler's method with the ratio of the cycle found: with the present bound t, longest paths are
   looked for in the graph with weights cycles − t · distance (Bellman and Ford).  A cycle of
   positive weight has a larger ratio, which is the next t; without one t is the maximum.  Nodes
   stand in the order of the program, and waits of distance 0 lead forward, so that one round
   follows all of them. */
#include <math.h>
#include <stdlib.h>

#include "sched/graph/graph.h"

static const double least_gain = 1e-7;

struct search {
    const struct pm_dep_graph *graph;
    double *longest;   /* to each node */
    uint32_t *parent;  /* the wait that it came by; PM_NONE */
    uint32_t *visited; /* number of the walk that passed it */
    double ratio;
    bool across_entries;
};

static bool counts(const struct pm_wait *wait, bool across_entries) {
    return !wait->is_hidden && !(across_entries && wait->is_fresh);
}

/* One round; whether anything grew. */
static bool relax(struct search *search) {
    const struct pm_dep_graph *graph = search->graph;
    bool grew = false;
    for (size_t v = 0; v < graph->n_nodes; v++) {
        const struct pm_node *node = &graph->nodes[v];
        for (uint32_t e = node->first_edge; e < node->first_edge + node->n_edges; e++) {
            const struct pm_wait *wait = &graph->waits[e];
            if (!counts(wait, search->across_entries))
                continue;
            double length =
                search->longest[wait->from] + wait->cycles - search->ratio * wait->distance;
            if (length > search->longest[v] + least_gain) {
                search->longest[v] = length;
                search->parent[v] = e;
                grew = true;
            }
        }
    }
    return grew;
}

/* A cycle among the parents: one of its nodes, or PM_NONE. */
static uint32_t find_cycle(struct search *search) {
    const struct pm_dep_graph *graph = search->graph;
    for (size_t v = 0; v < graph->n_nodes; v++)
        search->visited[v] = PM_NONE;
    for (uint32_t start = 0; start < graph->n_nodes; start++) {
        uint32_t v = start;
        while (v != PM_NONE && search->visited[v] == PM_NONE) {
            search->visited[v] = start;
            v = search->parent[v] == PM_NONE ? PM_NONE : graph->waits[search->parent[v]].from;
        }
        if (v != PM_NONE && search->visited[v] == start)
            return v;
    }
    return PM_NONE;
}

static double ratio_of_cycle(const struct search *search, uint32_t at, bool *on_cycle) {
    const struct pm_dep_graph *graph = search->graph;
    double cycles = 0, distance = 0;
    uint32_t v = at;
    for (size_t i = 0; on_cycle && i < graph->n_nodes; i++)
        on_cycle[i] = false;
    do {
        const struct pm_wait *wait = &graph->waits[search->parent[v]];
        cycles += wait->cycles;
        distance += wait->distance;
        if (on_cycle)
            on_cycle[v] = true;
        v = wait->from;
    } while (v != at);
    return distance > 0 ? cycles / distance : 0;
}

double pm_graph_recurrence(const struct pm_dep_graph *graph, bool across_entries, bool *on_cycle) {
    size_t n = graph->n_nodes;
    bool is_carried = false;
    for (size_t i = 0; i < graph->n_waits; i++)
        is_carried |= graph->waits[i].distance > 0 && counts(&graph->waits[i], across_entries);
    for (size_t i = 0; on_cycle && i < n; i++)
        on_cycle[i] = false;
    if (!is_carried)
        return 0;
    struct search search = {.graph = graph,
                            .across_entries = across_entries,
                            .longest = pm_alloc(n, sizeof *search.longest),
                            .parent = pm_alloc(n, sizeof *search.parent),
                            .visited = pm_alloc(n, sizeof *search.visited)};
    bool better = true;
    while (better) {
        better = false;
        for (size_t v = 0; v < n; v++) {
            search.longest[v] = 0;
            search.parent[v] = PM_NONE;
        }
        bool grows = true;
        for (size_t round = 0; round <= n && grows && !better; round++) {
            grows = relax(&search);
            uint32_t at = grows ? find_cycle(&search) : PM_NONE;
            if (at == PM_NONE)
                continue;
            double ratio = ratio_of_cycle(&search, at, NULL);
            if (ratio > search.ratio + least_gain) {
                search.ratio = ratio_of_cycle(&search, at, on_cycle);
                better = true;
            }
        }
    }
    free(search.longest);
    free(search.parent);
    free(search.visited);
    return search.ratio;
}

double pm_graph_critical_path(const struct pm_dep_graph *graph, bool *on_chain) {
    size_t n = graph->n_nodes;
    double *ready = pm_alloc(n, sizeof *ready), longest = 0;
    uint32_t *by = pm_alloc(n, sizeof *by), last = PM_NONE;
    for (uint32_t v = 0; v < n; v++) {
        const struct pm_node *node = &graph->nodes[v];
        by[v] = PM_NONE;
        for (uint32_t e = node->first_edge; e < node->first_edge + node->n_edges; e++) {
            const struct pm_wait *wait = &graph->waits[e];
            if (wait->distance == 0 && !wait->is_hidden &&
                ready[wait->from] + wait->cycles > ready[v]) {
                ready[v] = ready[wait->from] + wait->cycles;
                by[v] = wait->from;
            }
        }
        if (ready[v] + node->latency_cycles > longest) {
            longest = ready[v] + node->latency_cycles;
            last = v;
        }
        if (on_chain)
            on_chain[v] = false;
    }
    for (uint32_t v = last; on_chain && v != PM_NONE; v = by[v])
        on_chain[v] = true;
    free(ready);
    free(by);
    return longest;
}
