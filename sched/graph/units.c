/* The resource bound of a graph: the least cycles in which the units can execute one iteration.

       cycles = max over S of  D(S) / |S|

   as in target/resource.c, where the method is explained, but over the sets of units of this graph
   only, which are few.  Of nodes that can be executed in several ways the one counts that needs
   least of S: that is a lower bound, and seldom the largest. */
#include <math.h>
#include <stdlib.h>

#include "sched/graph/graph.h"

enum { MOST_SETS = 1024 };

struct sets {
    PM_ARRAY(uint64_t, items);
};

static void add_set(struct sets *sets, uint64_t set) {
    for (size_t i = 0; i < sets->n_items; i++)
        if (sets->items[i] == set)
            return;
    *PM_PUSH(sets, items) = set;
}

static double busy_within(const struct pm_dep_graph *graph, const struct pm_way *way,
                          uint64_t units) {
    double cycles = 0;
    for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++)
        if (!(graph->micros[m].units & ~units))
            cycles += graph->micros[m].busy_cycles;
    return cycles;
}

static double demand_within(const struct pm_dep_graph *graph, uint64_t units) {
    double cycles = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_node *node = &graph->nodes[i];
        double least = node->n_ways ? INFINITY : 0;
        for (uint32_t w = 0; w < node->n_ways; w++)
            least = fmin(least, busy_within(graph, &graph->ways[node->first_way + w], units));
        cycles += least;
    }
    return cycles;
}

double pm_graph_units(const struct pm_dep_graph *graph, uint8_t *unit) {
    struct sets sets = {0};
    double most = 0;
    for (size_t m = 0; m < graph->n_micros; m++)
        add_set(&sets, graph->micros[m].units);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_node *node = &graph->nodes[i];
        uint64_t all = 0;
        for (uint32_t w = 0; w < node->n_ways && node->n_ways > 1; w++) {
            const struct pm_way *way = &graph->ways[node->first_way + w];
            for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++)
                all |= graph->micros[m].units;
        }
        if (all)
            add_set(&sets, all);
    }
    size_t n_sets = sets.n_items;
    for (size_t i = 0; i < sets.n_items; i++) /* grows: unions of sets with a common unit */
        for (size_t k = 0; k < n_sets && sets.n_items < MOST_SETS; k++)
            if (sets.items[i] & sets.items[k])
                add_set(&sets, sets.items[i] | sets.items[k]);
    *unit = 0;
    for (size_t i = 0; i < sets.n_items; i++) {
        double cycles = demand_within(graph, sets.items[i]) / __builtin_popcountll(sets.items[i]);
        uint8_t first = (uint8_t)__builtin_ctzll(sets.items[i]);
        if (cycles > most || (cycles == most && first < *unit)) {
            most = cycles;
            *unit = first;
        }
    }
    free(sets.items);
    return most;
}
