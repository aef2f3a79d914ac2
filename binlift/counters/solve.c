/* From counters to the frequency of every edge.  At each vertex, ENTRY and EXIT included, what
   comes in goes out, once the virtual edge EXIT → ENTRY closes the graph.  Edges without a counter
   form a spanning tree, so some vertex always has a single unknown edge: it is solved and taken
   off, until none is left (Knuth & Stevenson 1973).  Needs nothing but the structure.

   A call does not end a basic block as a rule, so an activation that was left at one (by longjmp,
   an exception, exit) went into its block and not out of it.  The runtime notes such calls by their
   return addresses: they are as many ways from the block to EXIT.  Where the call ends its block
   and the graph has that way (PM_EDGE_NO_RETURN), it is solved like any other, and the note says
   nothing new.  An activation that went on behind a call without having been entered is a way from
   ENTRY.

   A negative frequency shows that control took a way that is not in the graph and was not noted;
   the routine is then marked inexact and that edge gets 0. */
#include "binlift/binlift.h"

#include <stdlib.h>
#include <string.h>

/* What happened at the calls of one basic block. */
struct open_block {
    uint32_t block;
    bool at_end; /* of the block; else it goes on behind the call */
    uint64_t left, resumed;
};

struct tree {
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    const struct open_block *open; /* of this routine */
    size_t n_open;
    uint32_t entry, exit, n_vertices;
    uint64_t *surplus;     /* per vertex: known incoming − known outgoing, modulo 2^64 */
    uint32_t *n_unknown;   /* per vertex: edges not yet solved */
    uint32_t *unknown_sum; /* per vertex: exclusive or of their numbers */
    uint64_t *values;      /* per edge of the routine, then the virtual edge; modulo 2^64 */
};

static uint32_t from_vertex(const struct tree *tree, uint32_t e) {
    if (e == tree->routine->n_edges)
        return tree->exit;
    uint32_t from = tree->structure->edges[tree->routine->first_edge + e].from;
    return from == PM_NONE ? tree->entry : from - tree->routine->first_block;
}

static uint32_t to_vertex(const struct tree *tree, uint32_t e) {
    if (e == tree->routine->n_edges)
        return tree->entry;
    uint32_t to = tree->structure->edges[tree->routine->first_edge + e].to;
    return to == PM_NONE ? tree->exit : to - tree->routine->first_block;
}

static void set_value(struct tree *tree, uint32_t e, uint64_t value) {
    tree->values[e] = value;
    tree->surplus[to_vertex(tree, e)] += value;
    tree->surplus[from_vertex(tree, e)] -= value;
}

static void toggle_unknown(struct tree *tree, uint32_t e, int change) {
    uint32_t ends[2] = {from_vertex(tree, e), to_vertex(tree, e)};
    for (int i = 0; i < 2; i++) {
        tree->n_unknown[ends[i]] += (uint32_t)change;
        tree->unknown_sum[ends[i]] ^= e;
    }
}

/* Enters what was counted; the rest, and the virtual edge, is unknown. */
static void enter_counters(struct tree *tree, const uint64_t *counters) {
    for (uint32_t e = 0; e < tree->routine->n_edges; e++) {
        uint32_t counter = tree->structure->edges[tree->routine->first_edge + e].counter;
        if (counter != PM_NONE)
            set_value(tree, e, counters[counter]);
        else
            toggle_unknown(tree, e, 1);
    }
    toggle_unknown(tree, tree->routine->n_edges, 1);
}

/* The only edge out of BLOCK, PM_NONE if it has several; *NO_RETURN: one is for a call that does
   not come back. */
static uint32_t way_out(const struct tree *tree, uint32_t block, bool *no_return) {
    uint32_t only = PM_NONE, n = 0;
    *no_return = false;
    for (uint32_t e = 0; e < tree->routine->n_edges; e++) {
        const struct pm_edge *edge = &tree->structure->edges[tree->routine->first_edge + e];
        if (edge->from != block)
            continue;
        *no_return |= edge->kind == PM_EDGE_NO_RETURN;
        only = n++ ? PM_NONE : e;
    }
    return only;
}

/* Whether the counter of edge E, the only way out of its source, stands there: it does unless the
   edge is the only way into its target (counter_places.c). */
static bool is_counted_in_source(const struct tree *tree, uint32_t e) {
    const struct pm_edge *edges = tree->structure->edges + tree->routine->first_edge;
    uint32_t n_in = 0;
    for (uint32_t other = 0; edges[e].to != PM_NONE && other < tree->routine->n_edges; other++)
        n_in += edges[other].to == edges[e].to;
    return edges[e].counter != PM_NONE && n_in != 1;
}

static void enter_open_calls(struct tree *tree) {
    for (size_t i = 0; i < tree->n_open; i++) {
        const struct open_block *open = &tree->open[i];
        bool no_return;
        uint32_t out = way_out(tree, open->block, &no_return);
        uint64_t left = open->at_end && no_return ? 0 : open->left;
        uint32_t vertex = open->block - tree->routine->first_block;
        tree->surplus[vertex] += open->resumed - left;
        tree->surplus[tree->entry] -= open->resumed;
        tree->surplus[tree->exit] += left;
        /* A counter in a block that a call ends stands before the call. */
        if (open->at_end && out != PM_NONE && is_counted_in_source(tree, out)) {
            uint64_t counted = tree->values[out];
            set_value(tree, out, open->resumed - left);
            tree->values[out] += counted;
        }
    }
}

/* Solves leaf after leaf; returns how many edges it solved. */
static uint32_t peel(struct tree *tree) {
    uint32_t n_solved = 0, n_stack = 0;
    uint32_t *stack = pm_alloc(2 * (size_t)tree->n_vertices, sizeof *stack);
    for (uint32_t v = 0; v < tree->n_vertices; v++)
        if (tree->n_unknown[v] == 1)
            stack[n_stack++] = v;
    while (n_stack) {
        uint32_t v = stack[--n_stack];
        if (tree->n_unknown[v] != 1)
            continue; /* its last edge was solved from the other end */
        uint32_t e = tree->unknown_sum[v];
        bool leaves = from_vertex(tree, e) == v;
        uint32_t other = leaves ? to_vertex(tree, e) : from_vertex(tree, e);
        toggle_unknown(tree, e, -1);
        set_value(tree, e, leaves ? tree->surplus[v] : -tree->surplus[v]);
        n_solved++;
        if (tree->n_unknown[other] == 1)
            stack[n_stack++] = other;
    }
    free(stack);
    return n_solved;
}

/* Returns whether the routine's counts obey conservation. */
static bool solve_routine(const struct pm_structure *structure, const struct pm_routine *routine,
                          const uint64_t *counters, const struct open_block *open, size_t n_open,
                          uint64_t *edge_counts) {
    struct tree tree = {.structure = structure,
                        .routine = routine,
                        .open = open,
                        .n_open = n_open,
                        .entry = routine->n_blocks,
                        .exit = routine->n_blocks + 1,
                        .n_vertices = routine->n_blocks + 2};
    tree.surplus = pm_alloc(tree.n_vertices, sizeof *tree.surplus);
    tree.n_unknown = pm_alloc(tree.n_vertices, sizeof *tree.n_unknown);
    tree.unknown_sum = pm_alloc(tree.n_vertices, sizeof *tree.unknown_sum);
    tree.values = pm_alloc((size_t)routine->n_edges + 1, sizeof *tree.values);

    enter_counters(&tree, counters);
    enter_open_calls(&tree);
    bool exact = peel(&tree) == tree.n_vertices - 1; /* a spanning tree, or no solution */
    for (uint32_t v = 0; v < tree.n_vertices; v++)
        exact &= tree.surplus[v] == 0;
    for (uint32_t e = 0; e < routine->n_edges; e++) {
        bool negative = (int64_t)tree.values[e] < 0;
        exact &= !negative;
        edge_counts[routine->first_edge + e] = negative ? 0 : tree.values[e];
    }
    free(tree.values);
    free(tree.unknown_sum);
    free(tree.n_unknown);
    free(tree.surplus);
    return exact;
}

/* ---- open calls ------------------------------------------------------------------------------ */

struct placed_block {
    uint32_t module, block;
    uint64_t address, end;
};

static int by_place(const void *left, const void *right) {
    const struct placed_block *a = left, *b = right;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static struct placed_block *sort_blocks(const struct pm_structure *structure) {
    struct placed_block *placed = pm_alloc(structure->n_blocks, sizeof *placed);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        placed[b] = (struct placed_block){structure->routines[block->routine].module, b,
                                          block->address, block->address + block->size_bytes};
    }
    if (structure->n_blocks)
        qsort(placed, structure->n_blocks, sizeof *placed, by_place);
    return placed;
}

/* The block that the call before RETURN_ADDRESS is in; NULL. */
static const struct placed_block *find_block(const struct placed_block *placed, size_t n,
                                             const struct pm_open_call *call) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool before = placed[middle].module != call->module
                          ? placed[middle].module < call->module
                          : placed[middle].address < call->return_address;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    const struct placed_block *found = low ? &placed[low - 1] : NULL;
    return found && found->module == call->module && call->return_address <= found->end ? found
                                                                                        : NULL;
}

static int by_block(const void *left, const void *right) {
    const struct open_block *a = left, *b = right;
    return a->block < b->block ? -1 : a->block > b->block;
}

/* What the calls mean for blocks, in order of blocks; one block may come several times. */
static struct open_block *place_open_calls(const struct pm_structure *structure,
                                           const struct pm_open_call *calls, size_t n_calls,
                                           size_t *n_open) {
    *n_open = 0;
    if (n_calls == 0)
        return NULL;
    struct placed_block *placed = sort_blocks(structure);
    struct open_block *open = pm_alloc(n_calls, sizeof *open);
    for (size_t i = 0; i < n_calls; i++) {
        const struct placed_block *block = find_block(placed, structure->n_blocks, &calls[i]);
        if (!block)
            continue;
        struct open_block *into = &open[(*n_open)++];
        *into = (struct open_block){.block = block->block,
                                    .at_end = calls[i].return_address == block->end};
        if (calls[i].count < 0)
            into->resumed = -(uint64_t)calls[i].count;
        else
            into->left = (uint64_t)calls[i].count;
    }
    free(placed);
    if (*n_open)
        qsort(open, *n_open, sizeof *open, by_block);
    return open;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_solve_edges(const struct pm_structure *structure, const uint64_t *counters,
                    const struct pm_open_call *open_calls, size_t n_open_calls,
                    uint64_t *edge_counts, bool *inexact) {
    size_t n_open, first = 0;
    struct open_block *open = place_open_calls(structure, open_calls, n_open_calls, &n_open);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        bool exact = true;
        size_t next = first;
        while (next < n_open && open[next].block < routine->first_block + routine->n_blocks)
            next++;
        if (routine->counted && routine->n_blocks)
            exact = solve_routine(structure, routine, counters, open + first, next - first,
                                  edge_counts);
        else if (routine->n_edges)
            memset(edge_counts + routine->first_edge, 0, routine->n_edges * sizeof *edge_counts);
        if (inexact)
            inexact[r] = !exact;
        first = routine->n_blocks ? next : first;
    }
    free(open);
}

double pm_block_count(const struct pm_structure *structure, const double *edge_counts,
                      uint32_t block) {
    const struct pm_routine *routine = &structure->routines[structure->blocks[block].routine];
    double count = 0;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
        if (structure->edges[e].to == block)
            count += edge_counts[e];
    return count;
}
