/* From counters to the frequency of every edge: flow on the spanning tree of the edges without a
   counter (core/spanning_tree.h), with what calls did that did not come back, or came back twice.
   Needs nothing but the structure.

   A call does not end a basic block as a rule, so an activation that was left at one (by longjmp,
   an exception, exit) went into its block and not out of it.  The runtime notes such calls by their
   return addresses: they are as many edges from the block to EXIT.  Where the call ends its block
   and the graph has that edge (PM_EDGE_NO_RETURN), it is solved like any other, and the note says
   nothing new.  An activation that went on behind a call without having been entered is an edge
   from ENTRY.

   A negative frequency shows that control took an edge that is not in the graph and was not noted;
   the routine is then marked inexact and that edge gets 0. */
#include "binlift/binlift.h"
#include "core/spanning_tree.h"

#include <stdlib.h>
#include <string.h>

/* What happened at the calls of one basic block. */
struct open_block {
    uint32_t block;
    bool at_end;  /* of the block; else it goes on behind the call */
    bool goes_on; /* as in struct pm_open_call */
    uint64_t left, resumed;
};

/* A routine that is solved. */
struct solving {
    const struct pm_edge *edges; /* of the routine */
    uint32_t n_edges;
    const struct pm_spanning_tree *tree;
    uint64_t *values;  /* per edge of the tree, modulo 2^64 */
    uint64_t *surplus; /* per vertex */
};

/* The only edge out of BLOCK, PM_NONE if it has several; *NO_RETURN: one is for a call that does
   not come back. */
static uint32_t only_edge_out(const struct solving *s, uint32_t block, bool *no_return) {
    uint32_t only = PM_NONE, n = 0;
    *no_return = false;
    for (uint32_t e = 0; e < s->n_edges; e++) {
        if (s->edges[e].from != block)
            continue;
        *no_return |= s->edges[e].kind == PM_EDGE_NO_RETURN;
        only = n++ ? PM_NONE : e;
    }
    return only;
}

/* Is BLOCK, which ends with the open call, left by that as by a return? */
static bool is_tail_call(const struct solving *s, uint32_t block) {
    bool returns = false;
    for (uint32_t e = 0; e < s->n_edges; e++)
        returns |= s->edges[e].from == block && s->edges[e].kind == PM_EDGE_EXIT;
    return returns;
}

/* Whether the counter of edge E, the only one out of its source, stands there: it does unless the
   edge is the only one into its target (counter_places.c). */
static bool is_counted_in_source(const struct solving *s, uint32_t e) {
    uint32_t n_in = 0;
    for (uint32_t other = 0; s->edges[e].to != PM_NONE && other < s->n_edges; other++)
        n_in += s->edges[other].to == s->edges[e].to;
    return s->tree->counted[e] && n_in != 1;
}

static void enter_open_call(struct solving *s, const struct open_block *open,
                            uint32_t first_block) {
    bool no_return;
    uint32_t out = only_edge_out(s, open->block, &no_return);
    uint64_t left = open->at_end && no_return && !open->goes_on ? 0 : open->left;
    if (open->at_end && open->goes_on && is_tail_call(s, open->block))
        return;
    s->surplus[open->block - first_block] += open->resumed - left;
    s->surplus[s->tree->entry] -= open->resumed;
    s->surplus[s->tree->exit] += left;
    /* A counter in a block that a call ends stands before the call. */
    if (open->at_end && out != PM_NONE && is_counted_in_source(s, out))
        s->values[out] += open->resumed - left;
}

/* Returns whether the routine's counts obey conservation.  EDGE_COUNTS: of the routine's edges. */
static bool solve_routine(const struct pm_structure *structure, const struct pm_routine *routine,
                          const struct pm_spanning_tree *tree, const uint64_t *counters,
                          const struct open_block *open, size_t n_open, uint64_t *edge_counts) {
    struct solving s = {.edges = structure->edges + routine->first_edge,
                        .n_edges = routine->n_edges,
                        .tree = tree,
                        .values = pm_alloc(tree->n_edges, sizeof *s.values),
                        .surplus = pm_alloc(tree->n_vertices, sizeof *s.surplus)};
    for (uint32_t e = 0; e < s.n_edges; e++)
        if (tree->counted[e])
            s.values[e] = counters[s.edges[e].counter];
    for (size_t i = 0; i < n_open; i++)
        enter_open_call(&s, &open[i], routine->first_block);
    pm_spanning_tree_solve_counts(tree, s.values, s.surplus);

    bool exact = tree->is_tree;
    for (uint32_t v = 0; v < tree->n_vertices; v++)
        exact &= s.surplus[v] == 0;
    for (uint32_t e = 0; e < s.n_edges; e++) {
        bool negative = (int64_t)s.values[e] < 0;
        exact &= !negative;
        edge_counts[e] = negative ? 0 : s.values[e];
    }
    free(s.values);
    free(s.surplus);
    return exact;
}

/* ---- open calls ------------------------------------------------------------------------------ */

struct placed_block {
    uint32_t module, block;
    uint64_t address, end;
};

static int by_place(const void *left, const void *right) {
    const struct placed_block *a = left, *b = right;
    return a->module != b->module ? PM_COMPARE(a->module, b->module)
                                  : PM_COMPARE(a->address, b->address);
}

static struct placed_block *sort_blocks(const struct pm_structure *structure) {
    struct placed_block *placed = pm_alloc(structure->n_blocks, sizeof *placed);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        placed[b] = (struct placed_block){structure->routines[block->routine].module, b,
                                          block->address, block->address + block->size_bytes};
    }
    PM_SORT(placed, structure->n_blocks, by_place);
    return placed;
}

/* The block that the call before RETURN_ADDRESS is in; NULL. */
static const struct placed_block *find_block(const struct placed_block *placed, size_t n,
                                             const struct pm_open_call *call) {
    size_t i =
        PM_LOWER_BOUND(n, i,
                       placed[i].module != call->module ? placed[i].module < call->module
                                                        : placed[i].address < call->return_address);
    const struct placed_block *found = i ? &placed[i - 1] : NULL;
    return found && found->module == call->module && call->return_address <= found->end ? found
                                                                                        : NULL;
}

static int by_block(const void *left, const void *right) {
    const struct open_block *a = left, *b = right;
    return PM_COMPARE(a->block, b->block);
}

/* Adds what CALL means for its block, if it is in one. */
static bool place_open_call(const struct placed_block *placed, size_t n_placed,
                            const struct pm_open_call *call, struct open_block *open) {
    const struct placed_block *block = find_block(placed, n_placed, call);
    if (!block)
        return false;
    *open = (struct open_block){.block = block->block,
                                .at_end = call->return_address == block->end,
                                .goes_on = call->goes_on};
    if (call->count < 0)
        open->resumed = -(uint64_t)call->count;
    else
        open->left = (uint64_t)call->count;
    return true;
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
    for (size_t i = 0; i < n_calls; i++)
        *n_open += place_open_call(placed, structure->n_blocks, &calls[i], &open[*n_open]);
    free(placed);
    PM_SORT(open, *n_open, by_block);
    return open;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_solve_edges(const struct pm_structure *structure, const uint64_t *counters,
                    const bool *also, const struct pm_open_call *open_calls, size_t n_open_calls,
                    uint64_t *edge_counts, bool *inexact) {
    size_t n_open, first = 0;
    struct open_block *open = place_open_calls(structure, open_calls, n_open_calls, &n_open);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        bool exact = true;
        size_t next = first;
        while (next < n_open && open[next].block < routine->first_block + routine->n_blocks)
            next++;
        bool has_counters = routine->counted || (also && also[r] && routine->n_counters > 0);
        if (has_counters && routine->n_blocks) {
            struct pm_spanning_tree *tree = pm_spanning_tree_new(structure, routine);
            exact = solve_routine(structure, routine, tree, counters, open + first, next - first,
                                  edge_counts + routine->first_edge);
            pm_spanning_tree_free(tree);
        } else if (routine->n_edges)
            memset(edge_counts + routine->first_edge, 0, routine->n_edges * sizeof *edge_counts);
        if (inexact)
            inexact[r] = !exact;
        first = routine->n_blocks ? next : first;
    }
    free(open);
}

/* ---- many times ------------------------------------------------------------------------------ */

struct pm_edge_solver {
    const struct pm_structure *structure;
    struct placed_block *placed;
    struct pm_spanning_tree **trees;  /* per routine; NULL: not needed yet */
    uint32_t *routine_of;             /* per counter; PM_NONE: of no routine that is counted */
    uint64_t *counters, *edge_counts; /* room for a routine's edges */
    PM_ARRAY(uint32_t, touched);      /* counters */
    PM_ARRAY(struct open_block, open);
    PM_ARRAY(uint64_t, routines);
};

struct pm_edge_solver *pm_edge_solver_new(const struct pm_structure *structure) {
    struct pm_edge_solver *solver = pm_alloc(1, sizeof *solver);
    solver->structure = structure;
    solver->placed = sort_blocks(structure);
    solver->trees = pm_alloc(structure->n_routines, sizeof *solver->trees);
    solver->routine_of = pm_alloc_none(structure->n_counters);
    solver->counters = pm_alloc(structure->n_counters, sizeof *solver->counters);
    uint32_t most_edges = 0;
    for (size_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        const struct pm_routine *routine = &structure->routines[edge->routine];
        if (edge->counter != PM_NONE && routine->counted)
            solver->routine_of[edge->counter] = edge->routine;
        if (routine->n_edges > most_edges)
            most_edges = routine->n_edges;
    }
    solver->edge_counts = pm_alloc(most_edges, sizeof *solver->edge_counts);
    return solver;
}

void pm_edge_solver_free(struct pm_edge_solver *solver) {
    for (size_t r = 0; r < solver->structure->n_routines; r++)
        if (solver->trees[r])
            pm_spanning_tree_free(solver->trees[r]);
    free(solver->placed);
    free(solver->trees);
    free(solver->routine_of);
    free(solver->counters);
    free(solver->edge_counts);
    free(solver->touched);
    free(solver->open);
    free(solver->routines);
    free(solver);
}

void pm_edge_solver_add_count(struct pm_edge_solver *solver, uint32_t counter, uint64_t count) {
    if (solver->routine_of[counter] == PM_NONE)
        return;
    *PM_PUSH(solver, touched) = counter;
    *PM_PUSH(solver, routines) = solver->routine_of[counter];
    solver->counters[counter] += count;
}

void pm_edge_solver_add_open_call(struct pm_edge_solver *solver, const struct pm_open_call *call) {
    struct open_block open;
    if (!place_open_call(solver->placed, solver->structure->n_blocks, call, &open))
        return;
    uint32_t routine = solver->structure->blocks[open.block].routine;
    if (!solver->structure->routines[routine].counted)
        return;
    *PM_PUSH(solver, open) = open;
    *PM_PUSH(solver, routines) = routine;
}

void pm_edge_solver_run(struct pm_edge_solver *solver,
                        void (*solved)(void *context, uint32_t routine, const uint64_t *edge_counts,
                                       bool is_exact),
                        void *context) {
    const struct pm_structure *structure = solver->structure;
    size_t first = 0, n_routines = pm_make_set(solver->routines, solver->n_routines);
    PM_SORT(solver->open, solver->n_open, by_block);
    for (size_t i = 0; i < n_routines; i++) {
        uint32_t r = (uint32_t)solver->routines[i];
        const struct pm_routine *routine = &structure->routines[r];
        size_t next = first;
        while (next < solver->n_open &&
               solver->open[next].block < routine->first_block + routine->n_blocks)
            next++;
        if (!solver->trees[r])
            solver->trees[r] = pm_spanning_tree_new(structure, routine);
        bool exact = solve_routine(structure, routine, solver->trees[r], solver->counters,
                                   solver->open + first, next - first, solver->edge_counts);
        solved(context, r, solver->edge_counts, exact);
        first = next;
    }
    for (size_t i = 0; i < solver->n_touched; i++)
        solver->counters[solver->touched[i]] = 0;
    solver->n_touched = solver->n_open = solver->n_routines = 0;
}
