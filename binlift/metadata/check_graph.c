/* The canonical form in which the compiler's final CFG and the lifter's are compared.  Needs the
   metadata with its edges, and decoded instructions.

   Both graphs have addresses as nodes, and EXIT.  These differences in how the two sides describe
   the same machine code are taken out, and no others:

   - A basic block of the compiler that emits no code is the one behind it in the layout: a jump to
     the one is, in the code, a jump to the other.
   - A basic block of the lifter that is nothing but no-ops (the assembler puts them before an
   aligned basic block, and control passes through) is the one behind it.
   - Edges of exceptions and other abnormal edges of the compiler leave from within a call, so no
     instruction of the routine takes them.  Their target counts as entered from outside, which is
     what the lifter says of it.  An abnormal edge behind an indirect jump (computed goto) and one
     to EXIT (tail calls) is taken by that jump and stays.
   - The lifter's edges to EXIT for calls that may not return stand beside the ordinary edge of
     the call; the compiler has none, because the call itself does not jump.  They are left out; a
     call that never returns has no other edge, on both sides.
   - The mark of an indirect entry (endbr64), which the compiler puts between a basic block's label
   and where it says that the basic block starts, is a part of it.
   - Straight lines are joined: two basic blocks are one if the first goes nowhere else, the second
     lies next to it, and control enters it in no other way.  The compiler leaves such pairs where
     it merged or moved something late, the lifter where a call may not return.  Entering behind a
     call that comes back (setjmp's second return) is no other way.
   - Branches within one basic block of the compiler, which come from assembler text, are folded
   into it: they must leave the basic block to where the compiler says.  They are counted (n_inner).
   - A jump for which the compiler has no edge at all (goto to a label of the enclosing function)
     leaves the routine.

   What remains must be equal: the set of block starts, and for each the set of successors. */
#include "binlift/metadata/check_graph.h"

#include <stdlib.h>
#include <string.h>

static int by_node_address(const void *a, const void *b) {
    const struct pm_check_node *x = a, *y = b;
    return PM_COMPARE(x->address, y->address);
}

static int by_arc(const void *a, const void *b) {
    const struct pm_check_arc *x = a, *y = b;
    if (x->from != y->from)
        return PM_COMPARE(x->from, y->from);
    return PM_COMPARE(x->to, y->to);
}

uint32_t pm_check_node_at(const struct pm_check_graph *graph, uint64_t address) {
    struct pm_check_node wanted = {.address = address};
    const struct pm_check_node *found =
        graph->n_nodes
            ? bsearch(&wanted, graph->nodes, graph->n_nodes, sizeof wanted, by_node_address)
            : NULL;
    return found ? (uint32_t)(found - graph->nodes) : PM_NONE;
}

static void add_node(struct pm_check_graph *graph, uint64_t address) {
    *PM_PUSH(graph, nodes) = (struct pm_check_node){.address = address, .last_insn = PM_NONE};
}

/* Nodes by address, each once. */
static void sort_nodes(struct pm_check_graph *graph) {
    size_t kept = 0;
    PM_SORT(graph->nodes, graph->n_nodes, by_node_address);
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (i == 0 || graph->nodes[i].address != graph->nodes[i - 1].address)
            graph->nodes[kept++] = graph->nodes[i];
    graph->n_nodes = kept;
    for (uint32_t n = 0; n < graph->n_nodes; n++)
        graph->nodes[n].head = graph->nodes[n].tail = n;
}

static void add_arc(struct pm_check_graph *graph, uint32_t from, uint32_t to) {
    *PM_PUSH(graph, arcs) = (struct pm_check_arc){from, to};
}

/* Arcs in order, each once, with their index by node. */
static void sort_arcs(struct pm_check_graph *graph) {
    size_t kept = 0;
    PM_SORT(graph->arcs, graph->n_arcs, by_arc);
    for (size_t i = 0; i < graph->n_arcs; i++)
        if (i == 0 || by_arc(&graph->arcs[i], &graph->arcs[kept - 1]) != 0)
            graph->arcs[kept++] = graph->arcs[i];
    graph->n_arcs = kept;
    free(graph->first_arc);
    graph->first_arc = pm_alloc(graph->n_nodes + 1, sizeof *graph->first_arc);
    for (size_t i = 0; i < graph->n_arcs; i++)
        graph->first_arc[graph->arcs[i].from + 1]++;
    for (size_t n = 0; n < graph->n_nodes; n++)
        graph->first_arc[n + 1] += graph->first_arc[n];
}

static bool has_arc(const struct pm_check_graph *graph, uint32_t from, uint32_t to) {
    struct pm_check_arc wanted = {from, to};
    return graph->n_arcs &&
           bsearch(&wanted, graph->arcs, graph->n_arcs, sizeof wanted, by_arc) != NULL;
}

/* ---- no-ops --------------------------------------------------------------------------------- */

static bool is_only_no_ops(const struct pm_lifted *code, const struct pm_check_node *node) {
    uint32_t first = pm_insn_at(code, node->address);
    if (first == PM_NONE || node->last_insn == PM_NONE)
        return false;
    for (uint32_t k = first; k <= node->last_insn; k++)
        if (!code->insns[k].is_nop)
            return false;
    return true;
}

/* The node that stands for NODE: chains of folded nodes ascend or end at once. */
static uint32_t head_of(const struct pm_check_graph *graph, uint32_t node) {
    while (graph->nodes[node].head != node)
        node = graph->nodes[node].head;
    return node;
}

static void fold_no_ops(struct pm_check_graph *graph, const struct pm_lifted *code) {
    for (uint32_t n = 0; n + 1 < graph->n_nodes; n++) {
        bool goes_on =
            graph->first_arc[n + 1] - graph->first_arc[n] == 1 && has_arc(graph, n, n + 1);
        if (!goes_on || !is_only_no_ops(code, &graph->nodes[n]))
            continue;
        graph->nodes[n].head = n + 1;
        graph->nodes[n + 1].outside |= graph->nodes[n].outside;
    }
    size_t kept = 0;
    for (size_t i = 0; i < graph->n_arcs; i++) {
        struct pm_check_arc arc = graph->arcs[i];
        if (graph->nodes[arc.from].head != arc.from)
            continue;
        if (arc.to != PM_CHECK_EXIT)
            arc.to = head_of(graph, arc.to);
        graph->arcs[kept++] = arc;
    }
    graph->n_arcs = kept;
    sort_arcs(graph);
}

/* ---- the compiler's ------------------------------------------------------------------------- */

/* A basic block of the compiler: where its code is, and whether it has any. */
struct place {
    uint32_t number, order, node;
    uint64_t address;
    bool emits_code;
};

static int by_address_and_order(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->address != y->address)
        return PM_COMPARE(x->address, y->address);
    return PM_COMPARE(x->order, y->order);
}

static int by_number(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return PM_COMPARE(x->number, y->number);
}

static const struct place *find_place(const struct place *places, uint32_t n, uint32_t number) {
    struct place wanted = {.number = number};
    return n ? bsearch(&wanted, places, n, sizeof wanted, by_number) : NULL;
}

/* Of basic blocks at one address the last in the layout has the code. */
static struct place *find_places(const struct pm_metadata *metadata,
                                 const struct pm_contribution *contribution,
                                 const struct pm_lifted *lifted, struct pm_check_graph *graph) {
    uint32_t n = contribution->n_blocks;
    struct place *places = pm_alloc(n, sizeof *places);
    for (uint32_t i = 0; i < n; i++) {
        const struct pm_metadata_block *block = &metadata->blocks[contribution->first_block + i];
        /* Of basic blocks at one place the first in the layout has the mark. */
        uint64_t address = i && block[-1].address == block->address
                               ? block->address
                               : pm_metadata_block_start(lifted, block->address);
        places[i] = (struct place){block->number, i, PM_NONE, address, false};
        add_node(graph, address);
    }
    sort_nodes(graph);
    PM_SORT(places, n, by_address_and_order);
    for (uint32_t i = 0; i < n; i++) {
        places[i].node = pm_check_node_at(graph, places[i].address);
        places[i].emits_code = i + 1 == n || places[i + 1].address != places[i].address;
    }
    PM_SORT(places, n, by_number);
    return places;
}

/* The last decoded instruction before the next node, if the code is without a gap up to it. */
static uint32_t last_insn_of(const struct pm_lifted *lifted, const struct pm_check_graph *graph,
                             uint32_t node) {
    uint32_t k = pm_insn_at(lifted, graph->nodes[node].address);
    uint32_t routine = pm_routine_at(lifted, graph->nodes[node].address);
    uint64_t end = node + 1 < graph->n_nodes ? graph->nodes[node + 1].address : UINT64_MAX;
    if (k == PM_NONE || routine == PM_NONE)
        return PM_NONE;
    while (k + 1 < lifted->n_insns && lifted->insns[k + 1].address < end &&
           lifted->insns[k + 1].address == lifted->insns[k].address + lifted->insns[k].length &&
           lifted->insn_block[k + 1] != PM_NONE &&
           lifted->structure->blocks[lifted->insn_block[k + 1]].routine ==
               lifted->structure->blocks[lifted->insn_block[k]].routine)
        k++;
    return k;
}

static bool is_jump(const struct pm_lifted *code, const struct pm_check_node *node) {
    if (node->last_insn == PM_NONE)
        return false;
    uint8_t control = code->insns[node->last_insn].control;
    return control == PM_CONTROL_JUMP || control == PM_CONTROL_JUMP_INDIRECT;
}

void pm_check_compiler_graph(const struct pm_metadata *metadata,
                             const struct pm_contribution *contribution,
                             const struct pm_lifted *lifted, struct pm_check_graph *graph) {
    enum { ENTRY = 0, EXIT = 1 }; /* the compiler's numbers */
    struct place *places = find_places(metadata, contribution, lifted, graph);
    for (uint32_t n = 0; n < graph->n_nodes; n++)
        graph->nodes[n].last_insn = last_insn_of(lifted, graph, n);
    for (uint32_t i = 0; i < contribution->n_edges; i++) {
        const struct pm_metadata_edge *edge = &metadata->edges[contribution->first_edge + i];
        const struct place *from = find_place(places, contribution->n_blocks, edge->from);
        const struct place *to = find_place(places, contribution->n_blocks, edge->to);
        bool jumps = from && is_jump(lifted, &graph->nodes[from->node]);
        bool is_unseen = (edge->flags & (PM_CFG_ABNORMAL | PM_CFG_EH)) && edge->to != EXIT &&
                         !(jumps && !(edge->flags & PM_CFG_EH));
        if (to && (edge->from == ENTRY || is_unseen))
            graph->nodes[to->node].outside = true;
        if (is_unseen || !from || !from->emits_code)
            continue;
        if (edge->to == EXIT)
            add_arc(graph, from->node, PM_CHECK_EXIT);
        else if (to)
            add_arc(graph, from->node, to->node);
    }
    sort_arcs(graph);
    for (uint32_t n = 0; n < graph->n_nodes; n++)
        if (graph->first_arc[n] == graph->first_arc[n + 1] && is_jump(lifted, &graph->nodes[n]))
            add_arc(graph, n, PM_CHECK_EXIT);
    sort_arcs(graph);
    fold_no_ops(graph, lifted);
    free(places);
}

/* ---- the lifter's --------------------------------------------------------------------------- */

static void add_lifted_arcs(const struct pm_lifted *lifted, const struct pm_routine *routine,
                            struct pm_check_graph *graph) {
    const struct pm_structure *structure = lifted->structure;
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        uint32_t from = PM_NONE, to = PM_CHECK_EXIT;
        if (edge->from != PM_NONE)
            from = pm_check_node_at(graph, structure->blocks[edge->from].address);
        if (edge->to != PM_NONE)
            to = pm_check_node_at(graph, structure->blocks[edge->to].address);
        if (from == PM_NONE && to != PM_CHECK_EXIT)
            graph->nodes[to].outside = true;
        else if (from != PM_NONE && edge->kind != PM_EDGE_NO_RETURN)
            add_arc(graph, from, to);
    }
}

void pm_check_lifted_graph(const struct pm_lifted *lifted, const uint32_t *routines, unsigned n,
                           struct pm_check_graph *graph) {
    const struct pm_structure *structure = lifted->structure;
    for (unsigned i = 0; i < n; i++) {
        const struct pm_routine *routine = &structure->routines[routines[i]];
        for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++)
            add_node(graph, structure->blocks[b].address);
    }
    sort_nodes(graph);
    for (unsigned i = 0; i < n; i++) {
        const struct pm_routine *routine = &structure->routines[routines[i]];
        for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++)
            graph->nodes[pm_check_node_at(graph, structure->blocks[b].address)].last_insn =
                lifted->block_codes[b].first_insn + lifted->block_codes[b].n_insns - 1;
        add_lifted_arcs(lifted, routine, graph);
    }
    sort_arcs(graph);
    fold_no_ops(graph, lifted);
}

/* ---- control flow within a basic block of the compiler -------------------------------------- */

static bool is_branch(const struct pm_lifted *code, uint32_t insn) {
    if (insn == PM_NONE)
        return false;
    uint8_t control = code->insns[insn].control;
    return control == PM_CONTROL_BRANCH || control == PM_CONTROL_BRANCH_LOOP ||
           control == PM_CONTROL_JUMP;
}

/* The node of COMPILER whose code ADDRESS is in. */
static uint32_t node_around(const struct pm_check_graph *compiler, uint64_t address) {
    size_t low = PM_LOWER_BOUND(compiler->n_nodes, i, compiler->nodes[i].address <= address);
    return low ? (uint32_t)(low - 1) : PM_NONE;
}

/* Which basic blocks of COMPILER have a branch before their last instruction, or one that goes to
   another place inside. */
static bool *find_inner_flow(const struct pm_check_graph *lifted,
                             const struct pm_check_graph *compiler, const uint32_t *around,
                             const struct pm_lifted *code) {
    bool *has_inner = pm_alloc(compiler->n_nodes, sizeof *has_inner);
    for (size_t i = 0; i < lifted->n_arcs; i++) {
        struct pm_check_arc arc = lifted->arcs[i];
        uint32_t block = around[arc.from], last = lifted->nodes[arc.from].last_insn;
        if (block == PM_NONE || !is_branch(code, last))
            continue;
        bool is_inside = arc.to != PM_CHECK_EXIT && around[arc.to] == block &&
                         code->insns[last].target == lifted->nodes[arc.to].address;
        bool to_start =
            is_inside && lifted->nodes[arc.to].address == compiler->nodes[block].address;
        has_inner[block] |= arc.from + 1 < lifted->n_nodes && around[arc.from + 1] == block &&
                            !is_only_no_ops(code, &lifted->nodes[arc.from + 1]);
        has_inner[block] |= is_inside && (!to_start || !has_arc(compiler, block, block));
    }
    return has_inner;
}

void pm_check_fold_inner(struct pm_check_graph *lifted, const struct pm_check_graph *compiler,
                         const struct pm_lifted *code) {
    uint32_t *around = pm_alloc(lifted->n_nodes, sizeof *around);
    for (uint32_t n = 0; n < lifted->n_nodes; n++)
        around[n] = node_around(compiler, lifted->nodes[n].address);
    bool *has_inner = find_inner_flow(lifted, compiler, around, code);
    for (uint32_t n = 0; n < lifted->n_nodes; n++) {
        uint32_t block = around[n];
        uint32_t start = block != PM_NONE && has_inner[block]
                             ? pm_check_node_at(lifted, compiler->nodes[block].address)
                             : PM_NONE;
        if (start == PM_NONE || start == n || lifted->nodes[n].head != n)
            continue;
        lifted->nodes[n].head = start;
        lifted->nodes[start].last_insn = lifted->nodes[n].last_insn;
        lifted->n_inner++;
    }
    size_t kept = 0;
    for (size_t i = 0; i < lifted->n_arcs; i++) {
        struct pm_check_arc arc = lifted->arcs[i];
        uint32_t block = around[arc.from];
        bool stays_inside = arc.to != PM_CHECK_EXIT && block != PM_NONE && has_inner[block] &&
                            around[arc.to] == block;
        arc.from = head_of(lifted, arc.from);
        if (!stays_inside || (arc.to == arc.from && has_arc(compiler, block, block)))
            lifted->arcs[kept++] = arc;
    }
    lifted->n_arcs = kept;
    sort_arcs(lifted);
    free(around);
    free(has_inner);
}

/* ---- straight lines ------------------------------------------------------------------------- */

static bool is_behind_call(const struct pm_lifted *code, const struct pm_check_node *before) {
    if (before->last_insn == PM_NONE)
        return false;
    uint8_t control = code->insns[before->last_insn].control;
    return control == PM_CONTROL_CALL || control == PM_CONTROL_CALL_INDIRECT;
}

void pm_check_merge(struct pm_check_graph *graph, const struct pm_lifted *code) {
    uint32_t *n_in = pm_alloc(graph->n_nodes, sizeof *n_in);
    uint32_t before = PM_NONE;
    for (size_t i = 0; i < graph->n_arcs; i++)
        if (graph->arcs[i].to != PM_CHECK_EXIT)
            n_in[graph->arcs[i].to]++;
    for (uint32_t n = 0; n < graph->n_nodes; n++) {
        struct pm_check_node *node = &graph->nodes[n];
        if (node->head != n)
            continue; /* inside another */
        bool is_line = before != PM_NONE && n_in[n] == 1 && has_arc(graph, before, n) &&
                       graph->first_arc[before + 1] - graph->first_arc[before] == 1 &&
                       (!node->outside || is_behind_call(code, &graph->nodes[before]));
        if (is_line) {
            node->head = graph->nodes[before].head;
            graph->nodes[node->head].tail = n;
        }
        before = n;
    }
    free(n_in);
}

void pm_check_graph_release(struct pm_check_graph *graph) {
    free(graph->nodes);
    free(graph->arcs);
    free(graph->first_arc);
}
