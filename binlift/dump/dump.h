/* Parts of the making of dumps: one file for each pass, and what they have in common.  Private to
   binlift/dump/. */
#ifndef PM_BINLIFT_DUMP_H
#define PM_BINLIFT_DUMP_H

#include "binlift/bound/bound.h"
#include "binlift/lifted.h"
#include "binlift/cfg/cfg.h"

struct pm_dump {
    const struct pm_lifted *lifted;
    const struct pm_structure *structure;
    FILE *out;
    /* Made by the `prepare` of a pass; else NULL. */
    uint32_t *first_loop, *loops; /* scopes of routine r's loops: loops[first_loop[r]] …, outer ones
                                     first */
    uint32_t *loop_number;        /* per scope: number of a loop in its routine */
    pm_live_set *live_in;         /* per instruction: before it */
    pm_live_set *live_out;        /* per basic block: at its end */
    struct pm_bound_plan *bounds;
};

/* Text of a pass for one routine; `dot`, a graph for Graphviz, is NULL where it makes no sense. */
struct pm_dump_kind {
    enum pm_lift_end needs;
    void (*prepare)(struct pm_dump *dump); /* once; NULL */
    void (*text)(const struct pm_dump *dump, uint32_t routine);
    void (*dot)(const struct pm_dump *dump, uint32_t routine);
};
extern const struct pm_dump_kind pm_dump_cfg, pm_dump_loops, pm_dump_live, pm_dump_formulas,
    pm_dump_deps, pm_dump_groups, pm_dump_bounds, pm_dump_counters;

void pm_dump_release(struct pm_dump *dump); /* what `prepare` made */

/* ---- words (dump_text.c) -------------------------------------------------------------------- */

enum pm_escape {
    PM_ESCAPE_TEXT, /* one line of text */
    PM_ESCAPE_DOT,  /* within quotes of a .dot file, or of a text dump */
    PM_ESCAPE_HTML, /* within an HTML-like label of a .dot file */
};
/* TEXT with control characters and bytes that are not UTF-8 as \xNN, at most MOST characters of it
   ("…" for the rest; 0: all). */
void pm_put_escaped(FILE *out, const char *text, enum pm_escape escape, unsigned most);
/* "b3", or ENTRY (as an edge's `from`) or EXIT (as its `to`). */
void pm_put_block(const struct pm_dump *dump, uint32_t routine, uint32_t block, bool is_from);
/* "b1 -> b3 taken" */
void pm_put_edge(const struct pm_dump *dump, const struct pm_edge *edge);
const char *pm_edge_kind_word(uint8_t kind);
/* "heat.c:126"; nothing where it is not known. */
void pm_put_source(FILE *out, const struct pm_scope *scope, uint32_t line, enum pm_escape escape);
/* Instruction INSN as text, with the name of what it calls; the caller frees. */
char *pm_insn_text(const struct pm_lifted *lifted, uint32_t insn);
/* Name of the routine that a call goes to, demangled, the caller frees; NULL: none or not known. */
char *pm_called_name(const struct pm_lifted *lifted, uint32_t insn);

/* First line of a routine in each text dump: name, address, size, state, basic blocks and edges. */
void pm_put_routine(const struct pm_dump *dump, uint32_t routine);

/* "i12": instruction INSN, counted in its routine. */
void pm_put_insn(const struct pm_dump *dump, uint32_t routine, uint32_t insn);

/* ---- register dependences between the operations of a loop's body (register_deps.c; Marin &
   Mellor-Crummey 2004, section 2.1) ------------------------------------------------------------ */

struct pm_register_dependence {
    uint32_t from, to; /* operations: `to` uses what `from` defines */
    uint8_t number;    /* of the register */
    uint8_t distance;  /* 0: in one iteration; 1: the value is there when an iteration begins, from
                          the one before or, if that did not come by `from`, an earlier one */
};

struct pm_register_dependences {
    PM_ARRAY(struct pm_register_dependence, items); /* of one `to` in a row, in order of steps */
    bool is_cut;                                    /* there are more, too many to be of use */
};

/* Of LOOP: along all paths through the basic blocks directly in it.  Freed by the caller (items).
 */
void pm_register_dependences_of_loop(const struct pm_structure *structure, uint32_t loop,
                                     struct pm_register_dependences *found);

/* ---- loops (cfg/find_loops.c) ---------------------------------------------------------------- */

/* Fills first_loop, loops, loop_number.  Needs the scope tree. */
void pm_number_loops(struct pm_dump *dump);
/* Whether EDGE goes back to the header of a loop that it comes from. */
bool pm_is_back_edge(const struct pm_structure *structure, const struct pm_edge *edge);

/* ---- graphs (dump_graph.c) ------------------------------------------------------------------- */

/* How a control-flow graph is written: node, edge and box are given what stands between the
   brackets, or, for a box, after the brace. */
struct pm_graph {
    const struct pm_dump *dump;
    uint32_t routine;
    bool with_loops;                                           /* a box for each */
    const struct pm_drawing *drawing;                          /* of draw.c */
    uint32_t first_counter;                                    /* of counters/counters.c */
    void (*lines)(const struct pm_dump *dump, uint32_t block); /* pm_put_plain_graph */
    void (*head)(const struct pm_graph *graph);                /* attributes of all */
    void (*node)(const struct pm_graph *graph, uint32_t block);
    void (*edge)(const struct pm_graph *graph, const struct pm_edge *edge);
    void (*box)(const struct pm_graph *graph, uint32_t loop);
    void (*tail)(const struct pm_graph *graph); /* what else there is; NULL */
    bool back_edges_upwards; /* written from the header down, so that headers come out on top;
                                `edge` must turn the arrow round (dir=back) */
    bool own_exits; /* a mark for each exit, indirect entry: not one node with many lines to it */
};
void pm_put_graph(const struct pm_graph *graph);

/* Graphs of the dumps: head, boxes, and basic blocks with the lines that `lines` writes, each ended
   by "\l"; edges by their kind, unless `edge` is given. */
void pm_put_plain_graph(struct pm_graph *graph);

#endif
