/* Finds the natural loops and the irreducible regions of every routine and how they nest.  Needs
   basic blocks and edges; reads nothing else.

   Method: P. Havlak, "Nesting of reducible and irreducible loops", ACM TOPLAS 19(4), 1997, on top
   of R. Tarjan's reducibility test.  Loops with a common header are one loop.  What is entered from
   outside the visible CFG (landing pads, places whose address is taken) counts as entered from
   ENTRY, so a loop with a landing inside is irreducible; the walk takes the routine's own entries
   first, so that such a loop still has the header that the source gave it.  Basic blocks that no
   entry reaches are walked last, those without predecessors first. */
#include "binlift/loops.h"

#include <stdlib.h>
#include <string.h>

/* Nodes are numbers in depth-first preorder; node 0 is ENTRY, above all roots. */
enum { ENTRY = 0 };
#define NOT_SEEN UINT32_MAX

struct link { /* of a list of predecessors */
    uint32_t node, next;
};

struct walk {
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    uint32_t n_nodes; /* basic blocks + 1 */

    /* successors of basic block b (counted from the routine's first): successors[first[b]…] */
    uint32_t *first, *successors;

    uint32_t *node_of;  /* basic block → node */
    uint32_t *block_of; /* node → basic block */
    uint32_t *last;     /* highest node below or at this one in the depth-first tree */

    uint32_t *set;    /* union-find: towards the header of the loop that has swallowed the node */
    uint32_t *header; /* header of the innermost loop that the node is in but does not head */
    uint8_t *is_header, *irreducible;

    uint32_t *entering; /* head of the list of predecessors by other than back edges; 0 none */
    PM_ARRAY(struct link, links);
    uint32_t *body, *mark; /* nodes of the loop at hand; mark[x] == its header: x is among them */
};

static bool is_ancestor(const struct walk *w, uint32_t above, uint32_t below) {
    return above <= below && below <= w->last[above];
}

static uint32_t find(struct walk *w, uint32_t node) {
    uint32_t top = node;
    while (w->set[top] != top)
        top = w->set[top];
    while (w->set[node] != top) {
        uint32_t next = w->set[node];
        w->set[node] = top;
        node = next;
    }
    return top;
}

/* ---- the walk -----------------------------------------------------------------------------------
 */

static void collect_successors(struct walk *w) {
    const struct pm_routine *routine = w->routine;
    const struct pm_edge *edges = w->structure->edges + routine->first_edge;
    for (uint32_t e = 0; e < routine->n_edges; e++)
        if (edges[e].from != PM_NONE && edges[e].to != PM_NONE)
            w->first[edges[e].from - routine->first_block + 1]++;
    for (uint32_t b = 0; b < routine->n_blocks; b++)
        w->first[b + 1] += w->first[b];
    uint32_t *fill = pm_alloc(routine->n_blocks, sizeof *fill);
    for (uint32_t e = 0; e < routine->n_edges; e++)
        if (edges[e].from != PM_NONE && edges[e].to != PM_NONE) {
            uint32_t from = edges[e].from - routine->first_block;
            w->successors[w->first[from] + fill[from]++] = edges[e].to - routine->first_block;
        }
    free(fill);
}

/* Numbers what ROOT reaches and is not numbered yet; STACK and NEXT have room for all blocks. */
static void number_from(struct walk *w, uint32_t root, uint32_t *n_seen, uint32_t *stack,
                        uint32_t *next) {
    if (w->node_of[root] != NOT_SEEN)
        return;
    uint32_t depth = 0;
    stack[depth++] = root;
    w->node_of[root] = (*n_seen)++;
    w->block_of[w->node_of[root]] = root;
    next[root] = w->first[root];
    while (depth > 0) {
        uint32_t block = stack[depth - 1];
        if (next[block] == w->first[block + 1]) {
            w->last[w->node_of[block]] = *n_seen - 1;
            depth--;
            continue;
        }
        uint32_t to = w->successors[next[block]++];
        if (w->node_of[to] != NOT_SEEN)
            continue;
        w->node_of[to] = (*n_seen)++;
        w->block_of[w->node_of[to]] = to;
        next[to] = w->first[to];
        stack[depth++] = to;
    }
}

static void number_from_edges(struct walk *w, uint8_t kind, uint32_t *n_seen, uint32_t *stack,
                              uint32_t *next) {
    const struct pm_edge *edges = w->structure->edges + w->routine->first_edge;
    for (uint32_t e = 0; e < w->routine->n_edges; e++)
        if (edges[e].from == PM_NONE && edges[e].kind == kind)
            number_from(w, edges[e].to - w->routine->first_block, n_seen, stack, next);
}

static void number_blocks(struct walk *w) {
    uint32_t n_blocks = w->routine->n_blocks, n_seen = 1;
    uint32_t *stack = pm_alloc(n_blocks, sizeof *stack), *next = pm_alloc(n_blocks, sizeof *next);
    uint8_t *has_predecessor = pm_alloc(n_blocks, 1);
    memset(w->node_of, 0xff, n_blocks * sizeof *w->node_of);
    number_from_edges(w, PM_EDGE_ENTRY, &n_seen, stack, next);
    number_from_edges(w, PM_EDGE_LANDING, &n_seen, stack, next);
    for (uint32_t i = 0; i < w->first[n_blocks]; i++)
        has_predecessor[w->successors[i]] = 1;
    for (uint32_t b = 0; b < n_blocks; b++)
        if (!has_predecessor[b])
            number_from(w, b, &n_seen, stack, next);
    for (uint32_t b = 0; b < n_blocks; b++)
        number_from(w, b, &n_seen, stack, next);
    w->last[ENTRY] = n_seen - 1;
    free(stack);
    free(next);
    free(has_predecessor);
}

/* ---- loops --------------------------------------------------------------------------------------
 */

static void add_entering(struct walk *w, uint32_t node, uint32_t from) {
    uint32_t head = w->entering[node];
    if (head && w->links[head - 1].node == from)
        return;
    *PM_PUSH(w, links) = (struct link){from, head};
    w->entering[node] = (uint32_t)w->n_links;
}

static void collect_entering(struct walk *w) {
    const struct pm_edge *edges = w->structure->edges + w->routine->first_edge;
    uint32_t first_block = w->routine->first_block;
    for (uint32_t e = 0; e < w->routine->n_edges; e++) {
        if (edges[e].to == PM_NONE)
            continue;
        uint32_t from = edges[e].from == PM_NONE ? ENTRY : w->node_of[edges[e].from - first_block];
        uint32_t to = w->node_of[edges[e].to - first_block];
        if (!is_ancestor(w, to, from))
            add_entering(w, to, from);
    }
}

static uint32_t add_to_body(struct walk *w, uint32_t head, uint32_t node, uint32_t n_body) {
    if (node != head && w->mark[node] != head) {
        w->mark[node] = head;
        w->body[n_body++] = node;
    }
    return n_body;
}

/* The loop that back edges to HEAD make, if any: walks from their sources against the edges, inner
   loops already shrunk to their headers, until it stands at HEAD. */
static void find_loop_at(struct walk *w, uint32_t head, const uint32_t *sources,
                         uint32_t n_sources) {
    uint32_t n_body = 0;
    for (uint32_t i = 0; i < n_sources; i++)
        n_body = add_to_body(w, head, find(w, sources[i]), n_body);
    w->is_header[head] = n_sources > 0;
    for (uint32_t i = 0; i < n_body; i++)
        for (uint32_t l = w->entering[w->body[i]]; l; l = w->links[l - 1].next) {
            uint32_t from = find(w, w->links[l - 1].node);
            if (is_ancestor(w, head, from)) {
                n_body = add_to_body(w, head, from, n_body);
            } else {
                w->irreducible[head] = 1;
                add_entering(w, head, from);
            }
        }
    for (uint32_t i = 0; i < n_body; i++) {
        w->header[w->body[i]] = head;
        w->set[w->body[i]] = head;
    }
}

static void find_loops_of_nodes(struct walk *w) {
    /* back edges, by target */
    const struct pm_edge *edges = w->structure->edges + w->routine->first_edge;
    uint32_t first_block = w->routine->first_block;
    uint32_t *first = pm_alloc(w->n_nodes + 1, sizeof *first);
    uint32_t *sources = pm_alloc(w->routine->n_edges, sizeof *sources);
    for (int filling = 0; filling < 2; filling++) {
        for (uint32_t e = 0; e < w->routine->n_edges; e++) {
            if (edges[e].to == PM_NONE || edges[e].from == PM_NONE)
                continue;
            uint32_t from = w->node_of[edges[e].from - first_block];
            uint32_t to = w->node_of[edges[e].to - first_block];
            if (!is_ancestor(w, to, from))
                continue;
            if (filling)
                sources[--first[to]] = from;
            else
                first[to]++;
        }
        for (uint32_t node = 1; !filling && node <= w->n_nodes; node++)
            first[node] += first[node - 1];
    }
    for (uint32_t head = w->n_nodes - 1; head > ENTRY; head--)
        find_loop_at(w, head, sources + first[head], first[head + 1] - first[head]);
    free(first);
    free(sources);
}

/* From headers to the list of loops; in preorder, so parents come first. */
static void list_loops(const struct walk *w, struct pm_loops *loops) {
    uint32_t *loop_at = pm_alloc(w->n_nodes, sizeof *loop_at);
    uint32_t first_block = w->routine->first_block;
    loop_at[ENTRY] = PM_NONE;
    for (uint32_t node = 1; node < w->n_nodes; node++) {
        uint32_t around = loop_at[w->header[node]];
        if (w->is_header[node]) {
            loop_at[node] = (uint32_t)loops->n_loops;
            uint32_t depth = around == PM_NONE ? 1 : loops->loops[around].depth + 1;
            *PM_PUSH(loops, loops) =
                (struct pm_loop){.routine = (uint32_t)(w->routine - w->structure->routines),
                                 .header = first_block + w->block_of[node],
                                 .parent = around,
                                 .depth = depth,
                                 .irreducible = w->irreducible[node]};
            around = loop_at[node];
        }
        loops->block_loop[first_block + w->block_of[node]] = around;
    }
    free(loop_at);
}

static void find_loops_of(const struct pm_structure *structure, const struct pm_routine *routine,
                          struct pm_loops *loops) {
    uint32_t n_nodes = routine->n_blocks + 1;
    /* one allocation: 11 arrays of at most n_nodes + 1 elements, and the successors */
    uint32_t *room = pm_alloc((size_t)11 * (n_nodes + 1) + routine->n_edges, sizeof *room);
    uint32_t *at = room;
#define TAKE(n) ((at += (n)) - (n))
    struct walk w = {.structure = structure, .routine = routine, .n_nodes = n_nodes};
    w.first = TAKE(n_nodes + 1);
    w.node_of = TAKE(n_nodes);
    w.block_of = TAKE(n_nodes);
    w.last = TAKE(n_nodes);
    w.set = TAKE(n_nodes);
    w.header = TAKE(n_nodes);
    w.entering = TAKE(n_nodes);
    w.body = TAKE(n_nodes);
    w.mark = TAKE(n_nodes);
    w.successors = TAKE(routine->n_edges);
    w.is_header = (uint8_t *)TAKE(n_nodes);
    w.irreducible = (uint8_t *)TAKE(n_nodes);
#undef TAKE
    for (uint32_t node = 0; node < n_nodes; node++)
        w.set[node] = node;
    collect_successors(&w);
    number_blocks(&w);
    collect_entering(&w);
    find_loops_of_nodes(&w);
    list_loops(&w, loops);
    free(w.links);
    free(room);
}

void pm_find_loops(struct pm_lifted *lifted) {
    const struct pm_structure *structure = lifted->structure;
    struct pm_loops *loops = pm_alloc(1, sizeof *loops);
    loops->block_loop = pm_alloc(structure->n_blocks, sizeof *loops->block_loop);
    loops->first_loop = pm_alloc(structure->n_routines + 1, sizeof *loops->first_loop);
    memset(loops->block_loop, 0xff, structure->n_blocks * sizeof *loops->block_loop);
    for (size_t r = 0; r < structure->n_routines; r++) {
        loops->first_loop[r] = (uint32_t)loops->n_loops;
        if (structure->routines[r].n_blocks > 0)
            find_loops_of(structure, &structure->routines[r], loops);
    }
    loops->first_loop[structure->n_routines] = (uint32_t)loops->n_loops;
    pm_free_loops(lifted->loops);
    lifted->loops = loops;
}

void pm_free_loops(struct pm_loops *loops) {
    if (!loops)
        return;
    free(loops->loops);
    free(loops->block_loop);
    free(loops->first_loop);
    free(loops);
}
