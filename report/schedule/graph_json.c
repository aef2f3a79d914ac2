/* The dependence graph of a path as JSON, for programs that schedule it themselves:

   {"nodes": [{"operation", "latency", "slots", "ways": [[{"units": ["p0"], "busy", "start"}]]}],
    "waits": [{"from", "to", "distance", "cycles"}]}

   A node is executed in one of its ways, whose micro-operations begin when or after its operands
   are there, each on one of its units; its result is there `latency` after the last of them began.
 */
#include "report/schedule/private.h"

static json_t *units_json(const struct pm_machine *machine, uint64_t units) {
    json_t *names = json_array();
    for (uint64_t left = units; left; left &= left - 1)
        json_array_append_new(names, json_string(machine->units[__builtin_ctzll(left)].name));
    return names;
}

static json_t *ways_json(const struct pm_machine *machine, const struct pm_dep_graph *graph,
                         const struct pm_node *node) {
    json_t *ways = json_array();
    for (uint32_t w = node->first_way; w < node->first_way + node->n_ways; w++) {
        const struct pm_way *way = &graph->ways[w];
        json_t *micros = json_array();
        for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++)
            json_array_append_new(micros, json_pack("{s:o, s:f, s:f}", "units",
                                                    units_json(machine, graph->micros[m].units),
                                                    "busy", (double)graph->micros[m].busy_cycles,
                                                    "start", (double)graph->micros[m].start_cycle));
        json_array_append_new(ways, micros);
    }
    return ways;
}

json_t *pm_schedule_graph_json(const struct pm_machine *machine, const struct pm_dep_graph *graph) {
    json_t *nodes = json_array(), *waits = json_array();
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_node *node = &graph->nodes[i];
        json_array_append_new(
            nodes, json_pack("{s:I, s:f, s:f, s:o}", "operation", (json_int_t)node->op, "latency",
                             (double)node->latency_cycles, "slots", (double)node->slots, "ways",
                             ways_json(machine, graph, node)));
    }
    for (size_t i = 0; i < graph->n_waits; i++) {
        const struct pm_wait *wait = &graph->waits[i];
        if (!wait->is_hidden)
            json_array_append_new(
                waits, json_pack("{s:I, s:I, s:I, s:f}", "from", (json_int_t)wait->from, "to",
                                 (json_int_t)wait->to, "distance", (json_int_t)wait->distance,
                                 "cycles", (double)wait->cycles));
    }
    return json_pack("{s:o, s:o}", "nodes", nodes, "waits", waits);
}
