/* Simulations of windows that were done before.

   A prediction simulates the same iterations again and again: for the time, its causes and gains,
   beside misses, for figures that change nothing here, at ends of intervals, on several machines
   and at many sizes.  A simulation hangs on what is digested here alone:

       graph      its nodes with ways, micro-operations and waits; not which code they are of
       limits     widths, units, entries; a bound only where it ends the simulation
       misses     of each load how often it misses each level in so many iterations as there are at
                  most, and what a miss takes
       branches   how often each is predicted wrongly, in the same way

   A load misses in those iterations whose places are below its share (misses.h), so that how many
   of them there are says which: shares that no iteration tells apart are one.  Where no load misses
   in any iteration it is the simulation in which all hit, if that has as many iterations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "sched/window/window.h"

struct known_window {
    struct pm_digest content;
    struct pm_window_result result;
};

struct pm_known_windows {
    unsigned n_users;
    struct pm_map map;
    PM_ARRAY(struct known_window, windows);
    PM_ARRAY(char, content); /* of the simulation at hand */
};

struct pm_known_windows *pm_known_windows_new(void) {
    return pm_known_windows_take(pm_alloc(1, sizeof(struct pm_known_windows)));
}

struct pm_known_windows *pm_known_windows_take(struct pm_known_windows *known) {
    known->n_users++;
    return known;
}

void pm_known_windows_free(struct pm_known_windows *known) {
    if (!known || --known->n_users > 0)
        return;
    free(known->windows);
    free(known->content);
    pm_map_free(&known->map);
    free(known);
}

/* ---- the content of a simulation ------------------------------------------------------------- */

static void *room_for(struct pm_known_windows *known, size_t n) {
    if (known->n_content + n > known->cap_content) {
        known->cap_content = 2 * (known->n_content + n);
        known->content = pm_realloc(known->content, known->cap_content, 1);
    }
    known->n_content += n;
    return known->content + known->n_content - n;
}

static void put(struct pm_known_windows *known, const void *bytes, size_t n) {
    memcpy(room_for(known, n), bytes, n);
}

static void put_ways(struct pm_known_windows *known, const struct pm_dep_graph *graph,
                     const struct pm_node *node) {
    for (uint32_t w = node->first_way; w < node->first_way + node->n_ways; w++) {
        const struct pm_way *way = &graph->ways[w];
        put(known, &way->n_micros, sizeof way->n_micros);
        for (uint32_t m = way->first_micro; m < way->first_micro + way->n_micros; m++) {
            const struct pm_micro *micro = &graph->micros[m];
            const float cycles[] = {micro->busy_cycles, micro->start_cycle};
            put(known, &micro->units, sizeof micro->units);
            put(known, cycles, sizeof cycles);
        }
    }
}

static void put_waits(struct pm_known_windows *known, const struct pm_dep_graph *graph,
                      const struct pm_node *node) {
    for (uint32_t e = node->first_edge; e < node->first_edge + node->n_edges; e++) {
        const struct pm_wait *wait = &graph->waits[e];
        const uint32_t words[] = {wait->from, (uint32_t)wait->distance << 8 | wait->is_hidden << 2 |
                                                  wait->is_blocked << 1 | wait->is_fresh};
        put(known, words, sizeof words);
        put(known, &wait->cycles, sizeof wait->cycles);
    }
}

static void put_nodes(struct pm_known_windows *known, const struct pm_dep_graph *graph,
                      const struct pm_window_limits *limits, bool misses) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_node *node = &graph->nodes[i];
        const float cycles[] = {node->latency_cycles, node->slots, node->fetch_cycles};
        const uint32_t words[] = {node->n_ways,
                                  node->n_edges,
                                  node->is_load,
                                  node->is_branch,
                                  misses ? node->reference : PM_NONE,
                                  limits->wrong ? node->step : PM_NONE};
        put(known, cycles, sizeof cycles);
        put(known, words, sizeof words);
        put_ways(known, graph, node);
        put_waits(known, graph, node);
    }
}

/* How many of the places of the numbers below N are below each of SHARES. */
static void count_below(const double *shares, size_t n_shares, double phase, unsigned n,
                        uint32_t *counts) {
    for (unsigned i = 0; i < n; i++) {
        double place = pm_even_place(i, phase);
        for (size_t s = 0; s < n_shares; s++)
            counts[s] += place < shares[s];
    }
}

static bool may_miss(const struct pm_load_misses *load, size_t n_levels, unsigned iterations) {
    double most = 0;
    for (size_t l = 0; l < n_levels; l++)
        most = fmax(most, load->share[l]);
    for (unsigned i = 0; i < iterations && most > 0; i++)
        if (pm_even_place(i, load->phase) < most)
            return true;
    return false;
}

/* Whether misses change anything: a load misses, or more iterations are simulated than without. */
static bool misses_count(const struct pm_dep_graph *graph, const struct pm_window_limits *limits,
                         unsigned iterations) {
    if (!limits->misses || !limits->wrong)
        return limits->misses;
    for (uint32_t r = 0; r < graph->n_references; r++)
        if (may_miss(&limits->misses[r], limits->machine->n_levels, iterations))
            return true;
    return false;
}

static void put_misses(struct pm_known_windows *known, const struct pm_dep_graph *graph,
                       const struct pm_window_limits *limits, unsigned iterations) {
    const struct pm_machine *machine = limits->machine;
    for (size_t l = 0; l < machine->n_levels; l++)
        put(known, &machine->levels[l].misses_in_flight, sizeof(uint32_t));
    for (uint32_t r = 0; r < graph->n_references; r++) {
        const struct pm_load_misses *load = &limits->misses[r];
        uint32_t counts[PM_MAX_LEVELS] = {0};
        double cycles[PM_MAX_LEVELS] = {0};
        count_below(load->share, machine->n_levels, load->phase, iterations, counts);
        for (size_t l = 0; l < machine->n_levels; l++)
            cycles[l] = counts[l] ? load->cycles[l] : 0;
        put(known, &load->phase, sizeof load->phase);
        put(known, counts, sizeof counts);
        put(known, cycles, sizeof cycles);
    }
}

static void put_branches(struct pm_known_windows *known, const struct pm_dep_graph *graph,
                         const struct pm_window_limits *limits, unsigned iterations) {
    put(known, &limits->machine->mispredict_cycles, sizeof limits->machine->mispredict_cycles);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct pm_node *node = &graph->nodes[i];
        uint32_t counts[2] = {0};
        if (!node->is_branch)
            continue;
        const struct pm_wrong_branch *wrong = &limits->wrong[node->step];
        count_below(&wrong->of_data, 1, PM_GOLDEN_RATIO * node->step, iterations, &counts[0]);
        if (limits->trips > 0) /* an entry more than iterations, at most */
            count_below(&wrong->of_exits, 1, 0, iterations + 2, &counts[1]);
        put(known, counts, sizeof counts);
    }
}

/* Units that wait together, as the machine names them. */
static void put_schedulers(struct pm_known_windows *known, const struct pm_window_limits *limits) {
    for (size_t u = 0; limits->has_units && u < limits->machine->n_units; u++) {
        const char *name = limits->machine->units[u].scheduler;
        if (name)
            put(known, &(uint32_t){(uint32_t)u}, sizeof(uint32_t));
        if (name)
            put(known, name, strlen(name) + 1);
    }
    put(known, &(uint32_t){PM_NONE}, sizeof(uint32_t));
}

static void put_all(struct pm_known_windows *known, const struct pm_dep_graph *graph,
                    const struct pm_window_limits *limits) {
    const bool can_end_early = !limits->misses && !limits->wrong && !pm_window_has_entries(limits);
    const double numbers[] = {limits->front_end_slots,
                              limits->fetch_slots,
                              limits->retire_slots,
                              limits->window_slots,
                              limits->iterations,
                              limits->trips,
                              graph->slots,
                              can_end_early ? limits->least_cycles : 0};
    const unsigned iterations = pm_window_most_iterations(graph, limits);
    const bool misses = misses_count(graph, limits, iterations);
    const uint32_t words[] = {limits->scheduler,
                              limits->has_fetch,
                              limits->has_units,
                              limits->carries,
                              misses,
                              limits->wrong != NULL,
                              limits->is_brief && (misses || limits->wrong),
                              (uint32_t)graph->n_nodes,
                              graph->n_references};
    known->n_content = 0;
    put(known, numbers, sizeof numbers);
    put(known, words, sizeof words);
    put_schedulers(known, limits);
    put_nodes(known, graph, limits, misses);
    if (misses)
        put_misses(known, graph, limits, iterations);
    if (limits->wrong)
        put_branches(known, graph, limits, iterations);
}

/* ---- the table ------------------------------------------------------------------------------- */

void pm_known_window(struct pm_known_windows *known, const struct pm_dep_graph *graph,
                     const struct pm_window_limits *limits, struct pm_window_result *result) {
    if (!known || result->unit_cycles) {
        pm_window_simulate(graph, limits, result);
        return;
    }
    put_all(known, graph, limits);
    struct pm_digest content = pm_digest_bytes(known->content, known->n_content);
    for (struct pm_map_entry at = pm_map_find(&known->map, content.low); at.found;
         pm_map_next(&known->map, &at)) {
        const struct known_window *window = &known->windows[at.item];
        if (pm_digests_equal(window->content, content)) {
            *result = window->result;
            return;
        }
    }
    pm_window_simulate(graph, limits, result);
    *PM_PUSH(known, windows) = (struct known_window){content, *result};
    pm_map_add(&known->map, content.low, (uint32_t)known->n_windows - 1);
}
