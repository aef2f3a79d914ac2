/* Register dependences: which operation uses the value that which other one defined.

   Within a basic block each definition is a name of its own, so that uses behind it are plain. What
   a basic block reads before it writes it is looked for backwards along the edges of the body, each
   way up to the first definition (this is renaming at the boundaries of basic blocks, done when it
   is asked for).  A way that passes the header goes to the iteration before.  An inner loop, passed
   as a whole, hides the definitions of the registers that it defines itself; what it defines is
   nobody's here.  What no definition in the body reaches, as a value that the loop does not change,
   has no dependence. */
#include "binlift/dump/dump.h"

#include <stdlib.h>
#include <string.h>

enum {
    N_REGISTERS = PM_REGISTER_NONE,
    MOST_ITEMS = 1 << 18,
    INNER_LOOP = UINT32_MAX - 1, /* as a definition: within an inner loop */
};

struct node { /* a step of the body */
    struct pm_path_step step;
    uint32_t first_before, n_before; /* nodes that control comes from */
    uint32_t last[N_REGISTERS];      /* the operation that defines each register last; PM_NONE */
};

struct body {
    const struct pm_structure *structure;
    struct node *nodes;
    uint32_t n_nodes, header;
    uint32_t *before;
    bool is_defined[N_REGISTERS]; /* anywhere in the body */
    uint32_t *passed;             /* two for each node, by iterations: number of the last search */
    uint32_t *waiting;            /* 2 · node + iterations */
    uint32_t n_searches;
    struct pm_register_dependences *found;
};

/* ---- definitions ----------------------------------------------------------------------------- */

static void define_block(struct body *body, struct node *node) {
    const struct pm_block *block = &body->structure->blocks[node->step.block];
    for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++)
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++) {
            uint8_t number = body->structure->ops[i].defs[k];
            if (number != PM_REGISTER_NONE)
                node->last[number] = i;
        }
}

static void define_inner_loop(struct body *body, struct node *node) {
    const struct pm_structure *structure = body->structure;
    const struct pm_scope *scope = &structure->scopes[node->step.loop];
    const struct pm_routine *routine = &structure->routines[scope->routine];
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (pm_inner_loop_around(structure, b, node->step.loop) == PM_NONE)
            continue;
        for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++)
            for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
                if (structure->ops[i].defs[k] != PM_REGISTER_NONE)
                    node->last[structure->ops[i].defs[k]] = INNER_LOOP;
    }
}

static void define(struct body *body) {
    for (uint32_t n = 0; n < body->n_nodes; n++) {
        struct node *node = &body->nodes[n];
        memset(node->last, 0xff, sizeof node->last);
        if (node->step.block != PM_NONE)
            define_block(body, node);
        else
            define_inner_loop(body, node);
        for (unsigned r = 0; r < N_REGISTERS; r++)
            body->is_defined[r] |= node->last[r] != PM_NONE;
    }
}

/* ---- uses ------------------------------------------------------------------------------------ */

static void add(struct body *body, uint32_t from, uint32_t to, uint8_t number, uint8_t distance) {
    struct pm_register_dependences *found = body->found;
    if (found->n_items >= MOST_ITEMS)
        found->is_cut = true;
    else if (from != INNER_LOOP)
        *PM_PUSH(found, items) = (struct pm_register_dependence){from, to, number, distance};
}

/* The definitions of register NUMBER that are there when NODE begins are used by operation TO.
   Passing the header more than once finds nothing new. */
static void search(struct body *body, uint32_t node, uint8_t number, uint32_t to) {
    uint32_t n_waiting = 0, this_search = ++body->n_searches;
    body->waiting[n_waiting++] = 2 * node;
    while (n_waiting) {
        uint32_t at = body->waiting[--n_waiting];
        const struct node *here = &body->nodes[at / 2];
        uint32_t distance = at % 2 || at / 2 == body->header;
        for (uint32_t i = 0; i < here->n_before; i++) {
            uint32_t next = 2 * body->before[here->first_before + i] + distance;
            if (body->passed[next] == this_search)
                continue;
            body->passed[next] = this_search;
            uint32_t from = body->nodes[next / 2].last[number];
            if (from == PM_NONE)
                body->waiting[n_waiting++] = next;
            else
                add(body, from, to, number, (uint8_t)distance);
        }
    }
}

static bool is_first_use(const struct pm_op *op, unsigned k) {
    for (unsigned before = 0; before < k; before++)
        if (op->uses[before] == op->uses[k])
            return false;
    return true;
}

static void connect(struct body *body, uint32_t n) {
    const struct pm_block *block = &body->structure->blocks[body->nodes[n].step.block];
    uint32_t defined[N_REGISTERS];
    memset(defined, 0xff, sizeof defined);
    for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++) {
        const struct pm_op *op = &body->structure->ops[i];
        for (unsigned k = 0; k < PM_OP_N_USES; k++) {
            uint8_t number = op->uses[k];
            if (number == PM_REGISTER_NONE || !body->is_defined[number] || !is_first_use(op, k))
                continue;
            if (defined[number] != PM_NONE)
                add(body, defined[number], i, number, 0);
            else
                search(body, n, number, i);
        }
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
            if (op->defs[k] != PM_REGISTER_NONE)
                defined[op->defs[k]] = i;
    }
}

static void find(struct body *body) {
    body->passed = pm_alloc(2 * (size_t)body->n_nodes, sizeof *body->passed);
    body->waiting = pm_alloc(2 * (size_t)body->n_nodes + 1, sizeof *body->waiting);
    define(body);
    for (uint32_t n = 0; n < body->n_nodes && !body->found->is_cut; n++)
        if (body->nodes[n].step.block != PM_NONE)
            connect(body, n);
    free(body->passed);
    free(body->waiting);
    free(body->before);
    free(body->nodes);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The node of BLOCK, PM_NONE outside the loop; inner loops have one for all their blocks, made when
   the first is met. */
static uint32_t node_of_block(struct body *body, uint32_t *nodes_of_loops, uint32_t block,
                              uint32_t loop) {
    uint32_t part = pm_inner_loop_around(body->structure, block, loop);
    if (part == PM_NONE)
        return PM_NONE;
    if (part != loop && nodes_of_loops[part - loop])
        return nodes_of_loops[part - loop] - 1;
    body->nodes[body->n_nodes++].step = part == loop
                                            ? (struct pm_path_step){.block = block, .loop = PM_NONE}
                                            : (struct pm_path_step){.block = PM_NONE, .loop = part};
    if (part != loop)
        nodes_of_loops[part - loop] = body->n_nodes;
    return body->n_nodes - 1;
}

/* Fills `before`; NODES: of each basic block of the routine. */
static void add_edges(struct body *body, const struct pm_routine *routine, const uint32_t *nodes) {
    const struct pm_edge *edges = body->structure->edges + routine->first_edge;
    size_t n = 0;
    for (int round = 0; round < 2; round++) { /* how many; which */
        for (uint32_t e = 0; e < routine->n_edges; e++) {
            if (edges[e].from == PM_NONE || edges[e].to == PM_NONE)
                continue;
            uint32_t from = nodes[edges[e].from - routine->first_block];
            uint32_t to = nodes[edges[e].to - routine->first_block];
            if (from == PM_NONE || to == PM_NONE)
                continue;
            struct node *node = &body->nodes[to];
            if (from == to && node->step.block == PM_NONE)
                continue; /* within an inner loop */
            if (round == 1)
                body->before[node->first_before + node->n_before] = from;
            node->n_before++;
        }
        for (uint32_t i = 0; i < body->n_nodes && round == 0; i++) {
            body->nodes[i].first_before = (uint32_t)n;
            n += body->nodes[i].n_before;
            body->nodes[i].n_before = 0;
        }
        if (round == 0)
            body->before = pm_alloc(n, sizeof *body->before);
    }
}

void pm_register_dependences_of_loop(const struct pm_structure *structure, uint32_t loop,
                                     struct pm_register_dependences *found) {
    *found = (struct pm_register_dependences){0};
    const struct pm_scope *scope = &structure->scopes[loop];
    const struct pm_routine *routine = &structure->routines[scope->routine];
    size_t n_nodes = 0;
    uint32_t last_loop = loop;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        uint32_t part = pm_inner_loop_around(structure, b, loop);
        n_nodes += part != PM_NONE;
        if (part != PM_NONE && part > last_loop)
            last_loop = part;
    }
    struct body body = {.structure = structure,
                        .nodes = pm_alloc(n_nodes, sizeof *body.nodes),
                        .header = PM_NONE,
                        .found = found};
    uint32_t *nodes = pm_alloc(routine->n_blocks, sizeof *nodes);
    uint32_t *nodes_of_loops = pm_alloc(last_loop - loop + 1, sizeof *nodes_of_loops);
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        nodes[b] = node_of_block(&body, nodes_of_loops, routine->first_block + b, loop);
        if (routine->first_block + b == scope->header)
            body.header = nodes[b];
    }
    add_edges(&body, routine, nodes);
    find(&body);
    free(nodes);
    free(nodes_of_loops);
}
