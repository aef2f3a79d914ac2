/* Where counters stand: estimated weights of edges and basic blocks, the spanning tree, the edges
   off it with their counters, as text and for Graphviz.  Needs counters. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "binlift/counters/counters.h"

/* Counters are numbered within the routine, so that a dump does not change with other routines. */
static uint32_t first_counter(const struct pm_structure *structure, uint32_t r) {
    const struct pm_routine *routine = &structure->routines[r];
    uint32_t first = PM_NONE;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
        if (structure->edges[e].counter < first)
            first = structure->edges[e].counter;
    return first;
}

static void put_formula(const struct pm_dump *dump, uint32_t r, uint32_t first) {
    const struct pm_routine *routine = &dump->structure->routines[r];
    /* routine->n_counters_formula does without the calls that may not return */
    uint32_t n_vertices = routine->n_blocks + 2;
    uint32_t n_edges = routine->n_counters_formula + n_vertices - 2;
    fprintf(dump->out,
            "counters E - V + 2 = %" PRIu32 " - %" PRIu32 " + 2 = %" PRIu32
            ", calls that may not return %" PRIu32 ", placed %" PRIu32,
            n_edges, n_vertices, routine->n_counters_formula, routine->n_edges - n_edges,
            routine->n_counters);
    if (first != PM_NONE)
        fprintf(dump->out, ", c0 is counter %" PRIu32 " of the program", first);
    fputc('\n', dump->out);
}

static void put_place(const struct pm_dump *dump, const struct pm_edge *edge, uint8_t place) {
    switch (place) {
    case PM_PLACE_IN_TARGET:
    case PM_PLACE_IN_SOURCE:
        fputs("in ", dump->out);
        pm_put_block(dump, edge->routine, place == PM_PLACE_IN_TARGET ? edge->to : edge->from,
                     place == PM_PLACE_IN_SOURCE);
        break;
    case PM_PLACE_FALLTHROUGH:
        fputs("after the branch of ", dump->out);
        pm_put_block(dump, edge->routine, edge->from, true);
        break;
    case PM_PLACE_BRANCH:
        fputs("on the way of the branch", dump->out);
        break;
    case PM_PLACE_ARRIVAL:
        fputs("where it arrives", dump->out);
        break;
    case PM_PLACE_TAGGED:
        fputs("where it arrives, by the jump's tag", dump->out);
        break;
    default:
        fputs("nowhere", dump->out);
    }
}

/* For each basic block its executions, by the weights of what comes in, and the counter that counts
   them alone, PM_NONE: they follow from several. */
struct block_count {
    double weight;
    uint32_t counter;
};

static struct block_count *count_blocks(const struct pm_structure *structure, uint32_t r,
                                        const uint8_t *places) {
    const struct pm_routine *routine = &structure->routines[r];
    struct block_count *counts = pm_alloc(routine->n_blocks, sizeof *counts);
    for (uint32_t b = 0; b < routine->n_blocks; b++)
        counts[b].counter = PM_NONE;
    for (uint32_t i = 0; i < routine->n_edges; i++) {
        const struct pm_edge *edge = &structure->edges[routine->first_edge + i];
        if (edge->to != PM_NONE)
            counts[edge->to - routine->first_block].weight += edge->weight;
        if (edge->counter != PM_NONE && places[i] == PM_PLACE_IN_TARGET)
            counts[edge->to - routine->first_block].counter = edge->counter;
        if (edge->counter != PM_NONE && places[i] == PM_PLACE_IN_SOURCE)
            counts[edge->from - routine->first_block].counter = edge->counter;
    }
    return counts;
}

static void text(const struct pm_dump *dump, uint32_t r) {
    const struct pm_structure *structure = dump->structure;
    const struct pm_routine *routine = &structure->routines[r];
    if (!routine->n_blocks || routine->state == PM_ROUTINE_REFUSED)
        return;
    uint32_t first = first_counter(structure, r);
    const uint8_t *places = dump->lifted->counters->places + routine->first_edge;
    struct block_count *counts = count_blocks(structure, r, places);
    put_formula(dump, r, first);
    for (uint32_t i = 0; i < routine->n_edges; i++) {
        const struct pm_edge *edge = &structure->edges[routine->first_edge + i];
        fputs("edge ", dump->out);
        pm_put_edge(dump, edge);
        fprintf(dump->out, " weight %.6g ", edge->weight);
        if (edge->counter == PM_NONE) {
            fputs(routine->n_counters ? "tree" : "not counted", dump->out);
        } else {
            fprintf(dump->out, "counter c%" PRIu32 " ", edge->counter - first);
            if (pm_is_trip_counted(dump->lifted->counters, routine->first_edge + i))
                fputs("where the loop is left", dump->out);
            else
                put_place(dump, edge, places[i]);
        }
        fputc('\n', dump->out);
    }
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        fprintf(dump->out, "block b%" PRIu32 " weight %.6g", b, counts[b].weight);
        if (counts[b].counter != PM_NONE)
            fprintf(dump->out, " counted by c%" PRIu32, counts[b].counter - first);
        fputc('\n', dump->out);
    }
    free(counts);
}

static void put_edge_of_graph(const struct pm_graph *graph, const struct pm_edge *edge) {
    FILE *out = graph->dump->out;
    fprintf(out, "tooltip=\"%s, weight %.6g\",", pm_edge_kind_word(edge->kind), edge->weight);
    if (edge->counter == PM_NONE)
        fputs("style=dashed,color=gray50", out);
    else
        fprintf(out, "penwidth=2,label=\"c%" PRIu32 "\"", edge->counter - graph->first_counter);
}

static void dot(const struct pm_dump *dump, uint32_t routine) {
    struct pm_graph graph = {.dump = dump,
                             .routine = routine,
                             .edge = put_edge_of_graph,
                             .first_counter = first_counter(dump->structure, routine)};
    pm_put_plain_graph(&graph);
}

const struct pm_dump_kind pm_dump_counters = {.needs = PM_LIFT_ALL, .text = text, .dot = dot};
