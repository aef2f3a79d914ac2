/* The control-flow graph of a routine as a graph for Graphviz, with or without boxes around loops.
   Needs the CFG; for boxes pm_number_loops. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes, in boxes of their loops ---------------------------------------------------------- */

/* For each loop of the routine, by its number, a list of what is directly in it; the last list has
   what is in no loop. */
struct nest {
    uint32_t n_loops;
    uint32_t *first_block, *next_block; /* basic blocks by their place in the routine */
    uint32_t *first_child, *next_loop;
};

static uint32_t *new_list(size_t n) {
    uint32_t *list = pm_alloc(n, sizeof *list);
    if (n) /* memset must not get NULL */
        memset(list, 0xff, n * sizeof *list);
    return list;
}

static struct nest new_nest(const struct pm_graph *graph) {
    const struct pm_dump *dump = graph->dump;
    const struct pm_structure *structure = dump->structure;
    const struct pm_routine *routine = &structure->routines[graph->routine];
    const uint32_t *loops = NULL;
    struct nest nest = {0};
    if (graph->with_loops) {
        loops = dump->loops + dump->first_loop[graph->routine];
        nest.n_loops = dump->first_loop[graph->routine + 1] - dump->first_loop[graph->routine];
    }
    nest.first_block = new_list(nest.n_loops + 1);
    nest.first_child = new_list(nest.n_loops + 1);
    nest.next_loop = new_list(nest.n_loops);
    nest.next_block = new_list(routine->n_blocks);
    for (uint32_t b = routine->n_blocks; b-- > 0;) {
        uint32_t loop =
            graph->with_loops ? structure->blocks[routine->first_block + b].loop : PM_NONE;
        uint32_t number = loop == PM_NONE ? nest.n_loops : dump->loop_number[loop];
        nest.next_block[b] = nest.first_block[number];
        nest.first_block[number] = b;
    }
    for (uint32_t l = nest.n_loops; l-- > 0;) {
        uint32_t outer = pm_outer_loop(structure, loops[l]);
        uint32_t number = outer == PM_NONE ? nest.n_loops : dump->loop_number[outer];
        nest.next_loop[l] = nest.first_child[number];
        nest.first_child[number] = l;
    }
    return nest;
}

static void free_nest(struct nest *nest) {
    free(nest->first_block);
    free(nest->next_block);
    free(nest->first_child);
    free(nest->next_loop);
}

static void put_blocks(const struct pm_graph *graph, uint32_t first, const struct nest *nest) {
    uint32_t first_block = graph->dump->structure->routines[graph->routine].first_block;
    for (uint32_t b = first; b != PM_NONE; b = nest->next_block[b]) {
        fprintf(graph->dump->out, "b%" PRIu32 " [", b);
        graph->node(graph, first_block + b);
        fputs("];\n", graph->dump->out);
    }
}

/* Boxes as deep as they are, without recursion: depth has no limit that a file could not exceed. */
static void put_boxes(const struct pm_graph *graph, const struct nest *nest) {
    const struct pm_dump *dump = graph->dump;
    const uint32_t *loops =
        graph->with_loops ? dump->loops + dump->first_loop[graph->routine] : NULL;
    uint32_t at = nest->first_child[nest->n_loops];
    while (at != PM_NONE) {
        fprintf(dump->out, "subgraph cluster_L%" PRIu32 " {\n", at);
        graph->box(graph, loops[at]);
        put_blocks(graph, nest->first_block[at], nest);
        if (nest->first_child[at] != PM_NONE) {
            at = nest->first_child[at];
            continue;
        }
        fputs("}\n", dump->out);
        while (nest->next_loop[at] == PM_NONE) {
            uint32_t outer = pm_outer_loop(dump->structure, loops[at]);
            if (outer == PM_NONE)
                return;
            at = dump->loop_number[outer];
            fputs("}\n", dump->out);
        }
        at = nest->next_loop[at];
    }
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void put_end(const struct pm_graph *graph, const struct pm_edge *edge, bool is_from) {
    const struct pm_structure *structure = graph->dump->structure;
    uint32_t block = is_from ? edge->from : edge->to;
    uint32_t number = (uint32_t)(edge - structure->edges);
    if (block == PM_NONE && graph->own_exits && edge->kind != PM_EDGE_ENTRY)
        fprintf(graph->dump->out, "outside%" PRIu32,
                number - structure->routines[graph->routine].first_edge);
    else
        pm_put_block(graph->dump, graph->routine, block, is_from);
}

static void put_edges(const struct pm_graph *graph) {
    const struct pm_structure *structure = graph->dump->structure;
    const struct pm_routine *routine = &structure->routines[graph->routine];
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        bool upwards = graph->back_edges_upwards && pm_is_back_edge(structure, edge);
        put_end(graph, edge, !upwards);
        fputs(" -> ", graph->dump->out);
        put_end(graph, edge, upwards);
        fputs(" [", graph->dump->out);
        graph->edge(graph, edge);
        fputs("];\n", graph->dump->out);
    }
}

void pm_put_graph(const struct pm_graph *graph) {
    FILE *out = graph->dump->out;
    struct nest nest = new_nest(graph);
    fputs("digraph \"", out);
    pm_put_escaped(out, graph->dump->structure->routines[graph->routine].display_name,
                   PM_ESCAPE_DOT, 0);
    fputs("\" {\n", out);
    graph->head(graph);
    put_blocks(graph, nest.first_block[nest.n_loops], &nest);
    put_boxes(graph, &nest);
    put_edges(graph);
    if (graph->tail)
        graph->tail(graph);
    fputs("}\n", out);
    free_nest(&nest);
}

/* ---- as the dumps have it -------------------------------------------------------------------- */

/* Colour and line of an edge by its kind. */
static void put_edge_style(const struct pm_graph *graph, const struct pm_edge *edge) {
    static const char *const styles[] = {
        [PM_EDGE_ENTRY] = "color=black",
        [PM_EDGE_FALLTHROUGH] = "color=black",
        [PM_EDGE_TAKEN] = "color=\"#1a7f37\"",
        [PM_EDGE_TABLE] = "color=\"#8250df\"",
        [PM_EDGE_EXIT] = "color=gray50",
        [PM_EDGE_NO_RETURN] = "color=gray50,style=dotted",
        [PM_EDGE_INDIRECT_ENTRY] = "color=\"#bc4c00\",style=dashed",
    };
    if (edge->kind < sizeof styles / sizeof *styles)
        fprintf(graph->dump->out, "%s,", styles[edge->kind]);
    fprintf(graph->dump->out, "tooltip=\"%s\"", pm_edge_kind_word(edge->kind));
}

static void plain_head(const struct pm_graph *graph) {
    FILE *out = graph->dump->out;
    fputs("label=\"", out);
    pm_put_escaped(out, graph->dump->structure->routines[graph->routine].display_name,
                   PM_ESCAPE_DOT, 0);
    fputs("\";\nlabelloc=t;\nnode [shape=box,fontname=\"monospace\",fontsize=10];\n"
          "ENTRY [shape=plaintext];\nEXIT [shape=plaintext];\n",
          out);
}

static void plain_node(const struct pm_graph *graph, uint32_t block) {
    FILE *out = graph->dump->out;
    fputs("label=\"", out);
    pm_put_block(graph->dump, graph->routine, block, false);
    fprintf(out, " 0x%" PRIx64 "\\l", graph->dump->structure->blocks[block].address);
    if (graph->lines)
        graph->lines(graph->dump, block);
    fputc('"', out);
}

static void plain_box(const struct pm_graph *graph, uint32_t loop) {
    const struct pm_scope *scope = &graph->dump->structure->scopes[loop];
    FILE *out = graph->dump->out;
    fprintf(out, "label=\"L%" PRIu32 " ", graph->dump->loop_number[loop]);
    pm_put_source(out, scope, scope->line_first, PM_ESCAPE_DOT);
    fprintf(out, "\";\n%s", scope->flags & PM_SCOPE_IRREDUCIBLE ? "style=dashed;\n" : "");
}

void pm_put_plain_graph(struct pm_graph *graph) {
    graph->head = plain_head;
    graph->node = plain_node;
    graph->box = plain_box;
    if (!graph->edge)
        graph->edge = put_edge_style;
    pm_put_graph(graph);
}
