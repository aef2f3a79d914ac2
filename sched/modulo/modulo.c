/* Which interval is tried: from the larger of the bounds on, in whole cycles.  The problem is made
   here: micro-operations as operations of their own. */
#include <math.h>
#include <stdlib.h>

#include "sched/modulo/private.h"

enum {
    MOST_TRIES = 24,
    SMALL = 96, /* operations: every interval is tried; of larger loops each is a tenth larger */
    MOST_OPS = 1024, /* larger loops get the bound */
};

/* ---- which way each node is executed --------------------------------------------------------- */

/* How much every unit would be asked for, each micro-operation shared out evenly. */
static void add_load(const struct pm_dep_graph *graph, const struct pm_way *way, double sign,
                     double *load) {
    for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++) {
        const struct pm_micro *micro = &graph->micros[m];
        double share = sign * micro->busy_cycles / __builtin_popcountll(micro->units);
        for (uint64_t left = micro->units; left; left &= left - 1)
            load[__builtin_ctzll(left)] += share;
    }
}

static double most_loaded(const double *load) {
    double sum = 0;
    for (unsigned u = 0; u < PM_MACHINE_MAX_UNITS; u++)
        sum += load[u] * load[u]; /* the squares: the fullest unit counts most, the others too */
    return sum;
}

/* The way of each node with several, so that units are asked for evenly. */
static uint32_t *choose_ways(const struct pm_dep_graph *graph) {
    uint32_t *ways = pm_alloc(graph->n_nodes, sizeof *ways);
    double load[PM_MACHINE_MAX_UNITS] = {0};
    for (size_t i = 0; i < graph->n_nodes; i++) {
        ways[i] = graph->nodes[i].first_way;
        if (graph->nodes[i].n_ways)
            add_load(graph, &graph->ways[ways[i]], 1, load);
    }
    bool changed = true;
    for (unsigned round = 0; round < 16 && changed; round++) {
        changed = false;
        for (size_t i = 0; i < graph->n_nodes; i++) {
            const struct pm_node *node = &graph->nodes[i];
            for (uint32_t w = node->first_way; w < node->first_way + node->n_ways; w++) {
                double before = most_loaded(load);
                add_load(graph, &graph->ways[ways[i]], -1, load);
                add_load(graph, &graph->ways[w], 1, load);
                if (most_loaded(load) < before - 1e-9) {
                    changed = true;
                    ways[i] = w;
                } else {
                    add_load(graph, &graph->ways[w], -1, load);
                    add_load(graph, &graph->ways[ways[i]], 1, load);
                }
            }
        }
    }
    return ways;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void add_edge(struct pm_modulo_problem *problem, uint32_t from, uint32_t to, double cycles,
                     double stall, uint32_t distance) {
    *PM_PUSH(problem, edges) = (struct pm_modulo_edge){.from = from,
                                                       .to = to,
                                                       .cycles = (int32_t)ceil(cycles - 1e-6),
                                                       .stall_cycles = (float)stall,
                                                       .distance = (int32_t)distance};
}

/* FIRST, N: operations of each node; END: the one that its result comes from. */
struct places {
    uint32_t *first, *n, *end;
};

static void add_node(struct pm_modulo_problem *problem, const struct pm_dep_graph *graph,
                     uint32_t i, const struct pm_way *way, struct places *places) {
    const struct pm_node *node = &graph->nodes[i];
    uint32_t n = way ? way->n_micros : 0;
    places->first[i] = (uint32_t)problem->n_ops;
    for (uint32_t m = 0; m < n; m++) {
        const struct pm_micro *micro = &graph->micros[way->first_micro + m];
        *PM_PUSH(problem, ops) = (struct pm_modulo_op){.node = i,
                                                       .units = micro->units,
                                                       .busy_cycles = micro->busy_cycles,
                                                       .start_cycle = micro->start_cycle};
    }
    if (n != 1)
        *PM_PUSH(problem, ops) = (struct pm_modulo_op){.node = i};
    places->n[i] = n ? n : 1; /* those that wait for the operands */
    places->end[i] = (uint32_t)problem->n_ops - 1;
    for (uint32_t m = 0; m < n && n > 1; m++)
        add_edge(problem, places->first[i] + m, places->end[i], 0, 0, 0);
    problem->ops[places->first[i]].slots = node->slots;
}

static void order_edges(struct pm_modulo_problem *problem) {
    problem->in = pm_alloc(problem->n_edges, sizeof *problem->in);
    problem->out = pm_alloc(problem->n_edges, sizeof *problem->out);
    for (size_t e = 0; e < problem->n_edges; e++) {
        problem->ops[problem->edges[e].to].n_in++;
        problem->ops[problem->edges[e].from].n_out++;
    }
    uint32_t in = 0, out = 0;
    for (size_t i = 0; i < problem->n_ops; i++) {
        struct pm_modulo_op *op = &problem->ops[i];
        op->first_in = in;
        op->first_out = out;
        in += op->n_in;
        out += op->n_out;
        op->n_in = op->n_out = 0;
    }
    for (uint32_t e = 0; e < problem->n_edges; e++) {
        struct pm_modulo_op *to = &problem->ops[problem->edges[e].to];
        struct pm_modulo_op *from = &problem->ops[problem->edges[e].from];
        problem->in[to->first_in + to->n_in++] = e;
        problem->out[from->first_out + from->n_out++] = e;
    }
}

void pm_modulo_problem_make(const struct pm_dep_graph *graph, double width,
                            const struct pm_modulo_options *options,
                            struct pm_modulo_problem *problem) {
    size_t n = graph->n_nodes;
    uint32_t *ways = choose_ways(graph);
    struct places places = {.first = pm_alloc(3 * n, sizeof *places.first)};
    places.n = places.first + n;
    places.end = places.n + n;
    *problem = (struct pm_modulo_problem){.width = width};
    for (uint32_t i = 0; i < n; i++) {
        bool has_way = options->has_units && graph->nodes[i].n_ways;
        add_node(problem, graph, i, has_way ? &graph->ways[ways[i]] : NULL, &places);
    }
    for (size_t e = 0; e < graph->n_waits; e++) {
        const struct pm_wait *wait = &graph->waits[e];
        if (wait->is_hidden || (wait->distance && !options->carries))
            continue;
        double stall = options->in_order ? graph->nodes[wait->from].miss_cycles : 0;
        for (uint32_t m = 0; m < places.n[wait->to]; m++)
            add_edge(problem, places.end[wait->from], places.first[wait->to] + m,
                     wait->cycles - stall, stall, wait->distance);
    }
    order_edges(problem);
    free(places.first);
    free(ways);
}

void pm_modulo_problem_free(struct pm_modulo_problem *problem) {
    free(problem->ops);
    free(problem->edges);
    free(problem->in);
    free(problem->out);
}

/* ---- the interval ---------------------------------------------------------------------------- */

/* No cycle of the graph takes longer than its iterations last. */
static bool is_possible(const struct pm_modulo_problem *problem, uint32_t interval) {
    int64_t *longest = pm_alloc(problem->n_ops, sizeof *longest);
    bool grows = true;
    for (size_t round = 0; round <= problem->n_ops && grows; round++) {
        grows = false;
        for (size_t i = 0; i < problem->n_ops; i++)
            for (uint32_t k = 0; k < problem->ops[i].n_in; k++) {
                const struct pm_modulo_edge *edge =
                    &problem->edges[problem->in[problem->ops[i].first_in + k]];
                int64_t length =
                    longest[edge->from] + edge->cycles - (int64_t)interval * edge->distance;
                if (length > longest[i]) {
                    longest[i] = length;
                    grows = true;
                }
            }
    }
    free(longest);
    return !grows;
}

void pm_modulo_schedule(const struct pm_dep_graph *graph, double width,
                        const struct pm_modulo_options *options, struct pm_modulo *modulo) {
    *modulo = (struct pm_modulo){0};
    if (graph->n_nodes == 0)
        return;
    uint8_t unit;
    double least = fmax(1, options->least_cycles);
    if (options->has_units)
        least = fmax(least, pm_graph_units(graph, &unit));
    if (width > 0)
        least = fmax(least, graph->slots / width);
    struct pm_modulo_problem problem;
    pm_modulo_problem_make(graph, width, options, &problem);
    uint32_t interval = (uint32_t)ceil(least - 1e-6);
    while (!is_possible(&problem, interval))
        interval++;
    modulo->least_cycles = interval;
    uint32_t *cycle = pm_alloc(problem.n_ops, sizeof *cycle);
    int8_t *unit_of = pm_alloc(problem.n_ops, sizeof *unit_of);
    bool found = false;
    modulo->interval_cycles = interval;
    for (unsigned tries = 0; tries < MOST_TRIES && !found && problem.n_ops <= MOST_OPS; tries++) {
        if (tries)
            modulo->interval_cycles += problem.n_ops > SMALL ? 1 + modulo->interval_cycles / 10 : 1;
        found = pm_modulo_try(&problem, modulo->interval_cycles, cycle, unit_of);
    }
    modulo->cycles = found ? modulo->interval_cycles : interval;
    if (!found)
        modulo->interval_cycles = 0;
    for (size_t i = 0; i < problem.n_ops && found; i++) {
        uint32_t end = cycle[i] + (uint32_t)ceil(graph->nodes[problem.ops[i].node].latency_cycles);
        modulo->length_cycles = end > modulo->length_cycles ? end : modulo->length_cycles;
    }
    if (found)
        pm_dump_reservations(options, graph, &problem, modulo->interval_cycles, cycle, unit_of);
    if (found && options->in_order)
        modulo->cycles = pm_modulo_stalled_cycles(&problem, modulo->interval_cycles, cycle);
    free(unit_of);
    free(cycle);
    pm_modulo_problem_free(&problem);
}
