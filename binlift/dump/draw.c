/* A routine as a picture for people: its basic blocks, loops as boxes within boxes, edges told
   apart by colour and line, and a legend; or, of a large one, its loops alone.  In Graphviz'
   language, for `dot` to lay out.  Needs the scope tree. */
#include "binlift/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"

#define SANS "fontname=\"Helvetica,Arial,sans-serif\""
#define GREY "#57606a"
#define BLUE "#0969da"
#define GREEN "#1a7f37"
#define VIOLET "#8250df"
#define ORANGE "#bc4c00"
#define RED "#cf222e"

enum {
    NAME_CHARACTERS = 80,   /* of longer names the beginning */
    MOST_CALLEES = 3,       /* named in a basic block */
    TOOLTIP_LINES = 40,     /* instructions */
    MOST_DRAWN_LOOPS = 600, /* of a loop nest alone */
};

/* Fills of boxes from the outermost loop inwards; deeper ones have the last. */
static const char *const fills[] = {"#f6f8fa", "#e6eff9", "#d3e4f6", "#bed7f1", "#a9caec"};

static const char *fill_of(const struct pm_scope *loop) {
    unsigned level = loop->depth ? loop->depth - 1u : 0, last = sizeof fills / sizeof *fills - 1;
    return fills[level < last ? level : last];
}

static const struct pm_routine *routine_of(const struct pm_graph *graph) {
    return &graph->dump->structure->routines[graph->routine];
}

/* ---- words ----------------------------------------------------------------------------------- */

static void put_html(FILE *out, const char *text) {
    pm_put_escaped(out, text, PM_ESCAPE_HTML, NAME_CHARACTERS);
}

static void put_lines_of(FILE *out, const struct pm_scope *scope) {
    if (!scope->line_first)
        return;
    fputs("&#160; ", out);
    pm_put_source(out, scope, scope->line_first, PM_ESCAPE_HTML);
    if (scope->line_last > scope->line_first)
        fprintf(out, "–%" PRIu32, scope->line_last);
}

/* "step/3 i": the routine, or the inlined code that the loop is in, its depth, its variable. */
static void put_loop_name(const struct pm_graph *graph, uint32_t loop) {
    const struct pm_structure *structure = graph->dump->structure;
    const struct pm_scope *scope = &structure->scopes[loop];
    uint32_t code = scope->parent;
    while (code != PM_NONE && structure->scopes[code].kind == PM_SCOPE_LOOP)
        code = structure->scopes[code].parent;
    const char *name = code == PM_NONE ? NULL : structure->scopes[code].name;
    put_html(graph->dump->out, name ? name : routine_of(graph)->display_name);
    fprintf(graph->dump->out, "/%u", scope->depth);
    if (scope->name) {
        fputc(' ', graph->dump->out);
        put_html(graph->dump->out, scope->name);
    }
}

static void put_loop_remarks(FILE *out, const struct pm_scope *loop) {
    put_lines_of(out, loop);
    if (loop->trip_count) {
        fputs(" · trips ", out);
        put_html(out, loop->trip_count);
    }
    if (loop->unroll > 1)
        fprintf(out, " · unrolled %" PRIu32 "×", loop->unroll);
    if (loop->flags & PM_SCOPE_VECTOR_BODY)
        fputs(" · vector body", out);
    if (loop->flags & PM_SCOPE_REMAINDER)
        fputs(" · remainder", out);
    if (loop->flags & PM_SCOPE_IRREDUCIBLE)
        fputs(" · irreducible: several entries", out);
}

/* ---- title and legend ------------------------------------------------------------------------ */

static void put_title(const struct pm_graph *graph) {
    static const char *const states[] = {"", " · partial", " · refused"};
    const struct pm_routine *routine = routine_of(graph);
    const struct pm_dump *dump = graph->dump;
    FILE *out = dump->out;
    uint32_t n_loops = dump->first_loop[graph->routine + 1] - dump->first_loop[graph->routine];
    fputs("<TR><TD ALIGN=\"LEFT\"><FONT POINT-SIZE=\"18\"><B>", out);
    put_html(out, routine->display_name);
    fputs("</B></FONT></TD></TR>\n<TR><TD ALIGN=\"LEFT\"><FONT COLOR=\"" GREY "\">", out);
    fprintf(out, "at 0x%" PRIx64 " in ", routine->address);
    put_html(out, dump->structure->modules[routine->module].name);
    if (routine->scope != PM_NONE)
        put_lines_of(out, &dump->structure->scopes[routine->scope]);
    fprintf(out, " · basic blocks: %" PRIu32 " · edges: %" PRIu32 " · loops: %" PRIu32 "%s",
            routine->n_blocks, routine->n_edges, n_loops,
            routine->state < 3 ? states[routine->state] : "");
    fputs("</FONT></TD></TR>\n", out);
    if (routine->reason) {
        fputs("<TR><TD ALIGN=\"LEFT\"><FONT COLOR=\"" RED "\">", out);
        put_html(out, routine->reason);
        fputs("</FONT></TD></TR>\n", out);
    }
}

static void put_legend(FILE *out) {
    static const struct {
        const char *color, *line, *meaning;
    } entries[] = {
        {GREY, "──▶", "falls through"},        {GREEN, "──▶", "jumps"},
        {VIOLET, "──▶", "by a jump table"},    {BLUE, "━━▶", "back to a loop's header"},
        {ORANGE, "╌╌▶", "lands from outside"}, {RED, "┄┄▶", "does not return"},
        {GREY, "──◎", "leaves the routine"},
    };
    fputs("<TR><TD ALIGN=\"LEFT\">", out);
    for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++)
        fprintf(out, "%s<FONT COLOR=\"%s\">%s</FONT>&#160;%s", i ? "&#160;&#160;&#160; " : "",
                entries[i].color, entries[i].line, entries[i].meaning);
    fputs("</TD></TR>\n<TR><TD ALIGN=\"LEFT\"><TABLE BORDER=\"0\" CELLSPACING=\"4\" "
          "CELLPADDING=\"3\"><TR>",
          out);
    for (unsigned i = 1; i <= 3; i++)
        fprintf(out, "<TD BORDER=\"1\" COLOR=\"#8c959f\" BGCOLOR=\"%s\">loop at depth %u</TD>",
                fills[i - 1], i);
    fputs("<TD BORDER=\"1\" COLOR=\"" RED "\" STYLE=\"dashed\">irreducible region</TD>"
          "<TD BORDER=\"1\" COLOR=\"#8c959f\" BGCOLOR=\"white\">basic block</TD>"
          "<TD BORDER=\"2\" COLOR=\"" BLUE "\" BGCOLOR=\"white\">header of a loop</TD>"
          "</TR></TABLE></TD></TR>\n",
          out);
}

static void put_head(const struct pm_graph *graph) {
    FILE *out = graph->dump->out;
    fputs("graph [" SANS ",fontsize=11,labelloc=t,labeljust=l,pad=0.3,ranksep=0.35,nodesep=0.3,\n"
          "label=<<TABLE BORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\">\n",
          out);
    put_title(graph);
    put_legend(out);
    fputs("</TABLE>>];\n"
          "node [shape=plain," SANS ",fontsize=10];\n"
          "edge [penwidth=1.2,arrowsize=0.7];\n",
          out);
}

/* ---- basic blocks ---------------------------------------------------------------------------- */

static bool is_header(const struct pm_structure *structure, uint32_t block) {
    for (uint32_t loop = structure->blocks[block].loop; loop != PM_NONE;
         loop = pm_outer_loop(structure, loop))
        if (structure->scopes[loop].header == block)
            return true;
    return false;
}

static void put_instructions(const struct pm_dump *dump, uint32_t block) {
    const struct pm_block_code *code = &dump->lifted->block_codes[block];
    fputs("<TR><TD ALIGN=\"LEFT\" BALIGN=\"LEFT\"><FONT FACE=\"Courier New,monospace\" "
          "POINT-SIZE=\"9\">",
          dump->out);
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        char *text = pm_insn_text(dump->lifted, k);
        put_html(dump->out, text);
        fputs("&#160;<BR ALIGN=\"LEFT\"/>", dump->out);
        free(text);
    }
    fputs("</FONT></TD></TR>", dump->out);
}

static bool is_among(const char *name, char *const *names, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Each once; of more than MOST_CALLEES the first ones. */
static void put_callees(const struct pm_dump *dump, uint32_t block) {
    const struct pm_block_code *code = &dump->lifted->block_codes[block];
    char *names[MOST_CALLEES];
    unsigned n = 0;
    bool more = false;
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns && !more; k++) {
        uint8_t control = dump->lifted->insns[k].control;
        if (control != PM_CONTROL_CALL && control != PM_CONTROL_CALL_INDIRECT)
            continue;
        char *name = pm_called_name(dump->lifted, k);
        if (!name)
            name = pm_strdup(control == PM_CONTROL_CALL ? "?" : "through a pointer");
        bool is_new = !is_among(name, names, n);
        more = is_new && n == MOST_CALLEES;
        if (is_new && !more)
            names[n++] = name;
        else
            free(name);
    }
    for (unsigned i = 0; i < n; i++) {
        fputs(i ? ", " : "<TR><TD ALIGN=\"LEFT\"><I>calls ", dump->out);
        put_html(dump->out, names[i]);
        free(names[i]);
    }
    if (n)
        fprintf(dump->out, "%s</I></TD></TR>", more ? ", …" : "");
}

static void put_tooltip(const struct pm_dump *dump, uint32_t block) {
    const struct pm_block_code *code = &dump->lifted->block_codes[block];
    fputs(",tooltip=\"", dump->out);
    for (uint32_t i = 0; i < code->n_insns && i <= TOOLTIP_LINES; i++) {
        char *text =
            i < TOOLTIP_LINES ? pm_insn_text(dump->lifted, code->first_insn + i) : pm_strdup("…");
        fputs(i ? "\\n" : "", dump->out);
        pm_put_escaped(dump->out, text, PM_ESCAPE_DOT, 0);
        free(text);
    }
    fputc('"', dump->out);
}

static void put_node(const struct pm_graph *graph, uint32_t block) {
    const struct pm_dump *dump = graph->dump;
    const struct pm_structure *structure = dump->structure;
    const struct pm_block *found = &structure->blocks[block];
    bool header = is_header(structure, block);
    FILE *out = dump->out;
    fprintf(out,
            "label=<<TABLE BORDER=\"%d\" CELLBORDER=\"0\" CELLSPACING=\"2\" CELLPADDING=\"1\" "
            "STYLE=\"rounded\" COLOR=\"%s\" BGCOLOR=\"white\"><TR><TD ALIGN=\"LEFT\"><B>",
            header ? 2 : 1, header ? BLUE : "#8c959f");
    pm_put_block(dump, graph->routine, block, false);
    fprintf(out, "</B> <FONT COLOR=\"" GREY "\">0x%" PRIx64 "</FONT></TD></TR>", found->address);
    fputs("<TR><TD ALIGN=\"LEFT\">", out);
    if (found->line) {
        pm_put_source(out, found->scope == PM_NONE ? NULL : &structure->scopes[found->scope],
                      found->line, PM_ESCAPE_HTML);
        fputs(" · ", out);
    }
    fprintf(out, "%" PRIu32 " instruction%s</TD></TR>", found->n_instructions,
            found->n_instructions == 1 ? "" : "s");
    if (graph->drawing->instructions)
        put_instructions(dump, block);
    else
        put_callees(dump, block);
    fputs("</TABLE>>", out);
    put_tooltip(dump, block);
}

/* ---- edges and boxes ------------------------------------------------------------------------- */

static void put_edge(const struct pm_graph *graph, const struct pm_edge *edge) {
    static const char *const styles[] = {
        [PM_EDGE_ENTRY] = "color=black,penwidth=1.6",
        [PM_EDGE_FALLTHROUGH] = "color=\"" GREY "\",weight=2",
        [PM_EDGE_TAKEN] = "color=\"" GREEN "\"",
        [PM_EDGE_TABLE] = "color=\"" VIOLET "\"",
        [PM_EDGE_EXIT] = "color=\"" GREY "\",arrowhead=none",
        [PM_EDGE_NO_RETURN] = "color=\"" RED "\",style=dotted,arrowhead=none",
        [PM_EDGE_INDIRECT_ENTRY] = "color=\"" ORANGE "\",style=dashed",
    };
    FILE *out = graph->dump->out;
    bool back = pm_is_back_edge(graph->dump->structure, edge);
    if (back)
        fputs("color=\"" BLUE "\",penwidth=2.4,dir=back", out);
    else if (edge->kind < sizeof styles / sizeof *styles)
        fputs(styles[edge->kind], out);
    fputs(",edgetooltip=\"", out);
    pm_put_edge(graph->dump, edge);
    fputs(back ? ", back edge\"" : "\"", out);
}

static void put_box(const struct pm_graph *graph, uint32_t loop) {
    const struct pm_scope *scope = &graph->dump->structure->scopes[loop];
    bool irreducible = scope->flags & PM_SCOPE_IRREDUCIBLE;
    FILE *out = graph->dump->out;
    fprintf(out,
            "style=\"filled,rounded%s\";\ncolor=\"%s\";\nfillcolor=\"%s\";\nlabeljust=l;\n"
            "label=<<TABLE BORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"3\"><TR><TD><B>",
            irreducible ? ",dashed" : "", irreducible ? RED : "#8c959f", fill_of(scope));
    put_loop_name(graph, loop);
    fputs("</B></TD><TD>", out);
    put_loop_remarks(out, scope);
    fputs("</TD></TR></TABLE>>;\ntooltip=\"loop L", out);
    fprintf(out, "%" PRIu32 "\";\n", graph->dump->loop_number[loop]);
}

/* Marks beside the basic blocks where control comes from outside or leaves. */
static void put_marks(const struct pm_graph *graph) {
    const struct pm_routine *routine = routine_of(graph);
    FILE *out = graph->dump->out;
    fputs("ENTRY [shape=oval,label=\"entry\",margin=\"0.08,0.03\",height=0.2,tooltip=\"entry\"];\n",
          out);
    for (uint32_t i = 0; i < routine->n_edges; i++) {
        uint8_t kind = graph->dump->structure->edges[routine->first_edge + i].kind;
        const char *color = kind == PM_EDGE_INDIRECT_ENTRY ? ORANGE
                            : kind == PM_EDGE_NO_RETURN    ? RED
                            : kind == PM_EDGE_EXIT         ? GREY
                                                           : NULL;
        if (color)
            fprintf(out,
                    "outside%" PRIu32 " [shape=%s,style=filled,color=\"%s\",fillcolor=\"%s\","
                    "label=\"\",width=0.11,height=0.11,tooltip=\"%s\"];\n",
                    i, kind == PM_EDGE_EXIT ? "doublecircle" : "circle", color,
                    kind == PM_EDGE_EXIT ? "white" : color, pm_edge_kind_word(kind));
    }
}

/* ---- the loop nest alone --------------------------------------------------------------------- */

/* Loops deeper than the result are left out, so that at most MOST_DRAWN_LOOPS are drawn. */
static unsigned deepest_drawn(const struct pm_dump *dump, uint32_t r) {
    uint32_t n_at[256] = {0}, n = 0;
    for (uint32_t i = dump->first_loop[r]; i < dump->first_loop[r + 1]; i++)
        n_at[dump->structure->scopes[dump->loops[i]].depth]++;
    unsigned depth = 0;
    while (depth < 255 && n + n_at[depth + 1] <= MOST_DRAWN_LOOPS)
        n += n_at[++depth];
    return depth;
}

static void put_loop_node(const struct pm_graph *graph, uint32_t loop, uint32_t n_blocks) {
    const struct pm_dump *dump = graph->dump;
    const struct pm_scope *scope = &dump->structure->scopes[loop];
    bool irreducible = scope->flags & PM_SCOPE_IRREDUCIBLE;
    uint32_t outer = pm_outer_loop(dump->structure, loop);
    FILE *out = dump->out;
    fprintf(out,
            "L%" PRIu32 " [label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
            "CELLPADDING=\"2\" STYLE=\"rounded%s\" COLOR=\"%s\" BGCOLOR=\"%s\"><TR>"
            "<TD ALIGN=\"LEFT\"><B>",
            dump->loop_number[loop], irreducible ? ",dashed" : "", irreducible ? RED : "#8c959f",
            fill_of(scope));
    put_loop_name(graph, loop);
    fprintf(out, "</B> <FONT COLOR=\"" GREY "\">0x%" PRIx64 "</FONT>", scope->address_low);
    put_loop_remarks(out, scope);
    fprintf(out, " · %" PRIu32 " basic block%s</TD></TR></TABLE>>];\n", n_blocks,
            n_blocks == 1 ? "" : "s");
    if (outer == PM_NONE)
        fprintf(out, "ENTRY -> L%" PRIu32 ";\n", dump->loop_number[loop]);
    else
        fprintf(out, "L%" PRIu32 " -> L%" PRIu32 ";\n", dump->loop_number[outer],
                dump->loop_number[loop]);
}

static void put_nest(const struct pm_graph *graph) {
    const struct pm_dump *dump = graph->dump;
    const struct pm_structure *structure = dump->structure;
    const struct pm_routine *routine = routine_of(graph);
    const uint32_t *loops = dump->loops + dump->first_loop[graph->routine];
    uint32_t n_loops = dump->first_loop[graph->routine + 1] - dump->first_loop[graph->routine];
    unsigned deepest = deepest_drawn(dump, graph->routine);
    uint32_t *n_blocks = pm_alloc(n_loops, sizeof *n_blocks), n_left_out = 0;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++)
        if (structure->blocks[b].loop != PM_NONE)
            n_blocks[dump->loop_number[structure->blocks[b].loop]]++;
    FILE *out = dump->out;
    fputs("digraph \"", out);
    pm_put_escaped(out, routine->display_name, PM_ESCAPE_DOT, 0);
    fputs("\" {\nrankdir=LR;\ngraph [" SANS
          ",fontsize=11,labelloc=t,labeljust=l,pad=0.3,nodesep=0.06,\n"
          "label=<<TABLE BORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\">\n",
          out);
    put_title(graph);
    for (uint32_t i = 0; i < n_loops; i++)
        n_left_out += structure->scopes[loops[i]].depth > deepest;
    fputs("<TR><TD ALIGN=\"LEFT\">The routine is too large to draw its basic blocks: these are its "
          "loops, each with its first address, source lines and the basic blocks directly in it.",
          out);
    if (n_left_out)
        fprintf(out, " Left out: %" PRIu32 " loops deeper than %u.", n_left_out, deepest);
    fputs("</TD></TR></TABLE>>];\n"
          "node [shape=plain," SANS ",fontsize=10];\n"
          "edge [penwidth=1.2,color=\"" GREY "\",arrowhead=none];\n"
          "ENTRY [shape=oval,label=\"routine\",margin=\"0.08,0.03\",height=0.2];\n",
          out);
    for (uint32_t i = 0; i < n_loops; i++)
        if (structure->scopes[loops[i]].depth <= deepest)
            put_loop_node(graph, loops[i], n_blocks[i]);
    fputs("}\n", out);
    free(n_blocks);
}

/* ---- the door -------------------------------------------------------------------------------- */

/* The one routine of this name, else PM_NONE with a sentence. */
static uint32_t find_routine(const struct pm_lifted *lifted, const char *name,
                             struct pm_error *err) {
    uint32_t n_named, found = PM_NONE;
    bool *named = pm_routines_named(lifted->structure, name, &n_named);
    for (uint32_t r = 0; r < lifted->structure->n_routines && n_named == 1; r++)
        if (named[r])
            found = r;
    free(named);
    if (n_named == 0) {
        pm_fail(err, "%s: no routine is called \"%s\" (`pmodel loops %s` lists them)",
                lifted->image.path, name, lifted->image.path);
        pm_fail_nearest_routine(err, lifted->structure, name);
    }
    if (n_named > 1)
        pm_fail(err,
                "%s: %" PRIu32
                " routines are called \"%s\", and one can be drawn; give its linkage "
                "name (`pmodel loops --dump cfg --routine '%s' %s` has them)",
                lifted->image.path, n_named, name, name, lifted->image.path);
    if (found != PM_NONE && lifted->structure->routines[found].n_blocks == 0) {
        const char *reason = lifted->structure->routines[found].reason;
        pm_fail(err, "%s: there is no control flow of \"%s\" to draw (%s)", lifted->image.path,
                name, reason ? reason : "it has no code");
        found = PM_NONE;
    }
    return found;
}

bool pm_draw(const struct pm_lifted *lifted, const char *routine, const struct pm_drawing *drawing,
             FILE *out, bool *coarse, struct pm_error *err) {
    struct pm_dump dump = {.lifted = lifted, .structure = lifted->structure, .out = out};
    struct pm_graph graph = {
        .dump = &dump,
        .routine = find_routine(lifted, routine, err),
        .with_loops = true,
        .drawing = drawing,
        .head = put_head,
        .node = put_node,
        .edge = put_edge,
        .box = put_box,
        .tail = put_marks,
        .back_edges_upwards = true,
        .own_exits = true,
    };
    if (graph.routine == PM_NONE)
        return false;
    pm_number_loops(&dump);
    *coarse = lifted->structure->routines[graph.routine].n_blocks > drawing->max_blocks;
    if (*coarse)
        put_nest(&graph);
    else
        pm_put_graph(&graph);
    pm_dump_release(&dump);
    return true;
}
