/* A core before its first cycle (private.h): nodes, waits that count and units of micro-operations
   in arrays of their own, without what other passes read, since the simulation goes through them
   once for each iteration. */
#include <stdlib.h>
#include <string.h>

#include "sched/window/private.h"

static bool has_blocked(const struct pm_dep_graph *graph) {
    for (size_t w = 0; w < graph->n_waits; w++)
        if (graph->waits[w].is_blocked)
            return true;
    return false;
}

static struct pm_misses_under_way *misses_of(const struct pm_window_limits *limits) {
    if (!limits->misses)
        return NULL;
    struct pm_misses_under_way *misses = pm_alloc(1, sizeof *misses);
    misses->n_levels = limits->machine->n_levels;
    for (size_t l = 0; l < misses->n_levels; l++) {
        uint32_t most = limits->machine->levels[l].misses_in_flight;
        misses->most[l] = most > PM_MOST_IN_FLIGHT ? PM_MOST_IN_FLIGHT : most;
    }
    return misses;
}

/* Which of the core's UNITS each scheduler has, by the order of their first ones. */
static void prepare_schedulers(struct pm_window_core *core, uint64_t *units) {
    const struct pm_machine *machine = core->limits->machine;
    const char *names[PM_MACHINE_MAX_UNITS];
    for (unsigned u = 0; machine && u < core->n_units; u++) {
        const char *name = machine->units[core->bits[u]].scheduler;
        unsigned s = 0;
        if (!name)
            continue;
        while (s < core->n_schedulers && strcmp(names[s], name) != 0)
            s++;
        if (s == core->n_schedulers)
            names[core->n_schedulers++] = name;
        units[s] |= UINT64_C(1) << u;
    }
    core->begin_in = pm_alloc(core->n_schedulers * (size_t)HORIZON, sizeof *core->begin_in);
}

static void set_units(struct pm_window_core *core, struct demand *demand, uint64_t units,
                      uint32_t *n_listed) {
    demand->set = units;
    demand->first_unit = *n_listed;
    demand->n_units = (uint32_t)__builtin_popcountll(units);
    for (; units; units &= units - 1)
        core->lists[(*n_listed)++] = (uint8_t)__builtin_ctzll(units);
}

static void prepare_demands(struct pm_window_core *core, const struct pm_dep_graph *graph) {
    uint64_t of_schedulers[PM_MACHINE_MAX_UNITS] = {0};
    prepare_schedulers(core, of_schedulers);
    size_t most = graph->n_micros * (1 + (size_t)core->n_schedulers);
    uint32_t n_listed = 0, n_demands = (uint32_t)graph->n_micros;
    core->demands = pm_alloc(most, sizeof *core->demands);
    core->lists = pm_alloc(2 * graph->n_micros * (size_t)core->n_units, sizeof *core->lists);
    for (size_t m = 0; m < graph->n_micros; m++) {
        const struct pm_micro *micro = &graph->micros[m];
        struct demand *demand = &core->demands[m];
        uint64_t units = 0, bound = 0;
        for (uint64_t left = micro->units; left; left &= left - 1)
            units |= UINT64_C(1) << core->numbers[__builtin_ctzll(left)];
        for (unsigned s = 0; s < core->n_schedulers; s++)
            bound |= of_schedulers[s];
        *demand = (struct demand){.busy_cycles = micro->busy_cycles,
                                  .start_cycle = micro->start_cycle,
                                  .scheduler = NO_SCHEDULER,
                                  .first_bound = n_demands,
                                  .is_one_cycle = micro->busy_cycles == 1};
        set_units(core, demand, units, &n_listed);
        if (units & ~bound)
            continue; /* any of them, since some have no scheduler */
        for (unsigned s = 0; s < core->n_schedulers; s++)
            if (units & of_schedulers[s]) {
                core->demands[n_demands] = *demand;
                core->demands[n_demands].scheduler = (uint8_t)s;
                set_units(core, &core->demands[n_demands++], units & of_schedulers[s], &n_listed);
            }
        demand->n_bound = n_demands - demand->first_bound;
    }
}

/* Those waits of NODE that count, within an iteration or CARRIED. */
static uint32_t add_operands(struct pm_window_core *core, const struct pm_dep_graph *graph,
                             const struct pm_node *node, bool carried, uint32_t n) {
    for (uint32_t e = node->first_edge; e < node->first_edge + node->n_edges; e++) {
        const struct pm_wait *wait = &graph->waits[e];
        bool is_carried = wait->distance > 0 || wait->is_blocked;
        if (!wait->is_hidden && is_carried == carried &&
            (wait->distance == 0 || core->limits->carries)) {
            while (core->history <= wait->distance)
                core->history *= 2;
            core->operands[n++] = (struct operand){.cycles = wait->cycles,
                                                   .from = wait->from,
                                                   .distance = wait->distance,
                                                   .is_blocked = wait->is_blocked,
                                                   .is_fresh = wait->is_fresh};
        }
    }
    return n;
}

static void prepare_operations(struct pm_window_core *core, const struct pm_dep_graph *graph) {
    const struct pm_window_limits *limits = core->limits;
    uint32_t n = 0;
    core->history = 1;
    core->operations = pm_alloc(graph->n_nodes, sizeof *core->operations);
    core->operands = pm_alloc(graph->n_waits, sizeof *core->operands);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_node *node = &graph->nodes[i];
        struct operation *operation = &core->operations[i];
        *operation = (struct operation){
            .slots = node->slots,
            .latency_cycles = node->latency_cycles,
            .fetch_cycles = node->fetch_cycles,
            .first_operand = n,
            .waits = limits->scheduler > 0 && node->n_ways > 0 && !node->is_load,
            .has_ways = node->n_ways > 0,
            .has_choice = limits->has_units && node->n_ways > 1,
            .may_miss = limits->misses && node->is_load && node->reference != PM_NONE,
            .may_be_wrong = limits->wrong && node->is_branch};
        if (limits->has_units && node->n_ways == 1) {
            operation->first_demand = graph->ways[node->first_way].first_micro;
            operation->n_demands = graph->ways[node->first_way].n_micros;
        }
        n = add_operands(core, graph, node, false, n);
        operation->n_here = n - operation->first_operand;
        n = add_operands(core, graph, node, true, n);
        operation->n_operands = n - operation->first_operand;
    }
}

void pm_window_core_prepare(struct pm_window_core *core) {
    const struct pm_dep_graph *graph = core->graph;
    uint64_t used = 0;
    for (size_t m = 0; m < graph->n_micros; m++)
        used |= graph->micros[m].units;
    for (uint64_t left = used; left; left &= left - 1)
        core->numbers[__builtin_ctzll(left)] = (uint8_t)core->n_units++;
    for (uint64_t left = used; left; left &= left - 1)
        core->bits[core->numbers[__builtin_ctzll(left)]] = (uint8_t)__builtin_ctzll(left);
    core->taken = pm_alloc(N_WORDS * (size_t)core->n_units, sizeof *core->taken);
    prepare_demands(core, graph);
    prepare_operations(core, graph);
    core->begun = pm_alloc(core->history * graph->n_nodes, sizeof *core->begun);
    if (has_blocked(graph))
        core->retired = pm_alloc(core->history * graph->n_nodes, sizeof *core->retired);
    size_t n_flights = 1024;
    while (n_flights < 2 * core->limits->window_slots + 2 * (double)graph->n_nodes)
        n_flights *= 2;
    core->flights = pm_alloc(n_flights, sizeof *core->flights);
    core->flight_mask = n_flights - 1;
    core->most_waiting = 2 * (core->limits->scheduler + 1);
    core->waiting = pm_alloc(core->most_waiting, sizeof *core->waiting);
    core->misses = misses_of(core->limits);
}

void pm_window_core_free(struct pm_window_core *core) {
    free(core->misses);
    free(core->begin_in);
    free(core->waiting);
    free(core->taken);
    free(core->lists);
    free(core->demands);
    free(core->operations);
    free(core->operands);
    free(core->begun);
    free(core->retired);
    free(core->flights);
}
