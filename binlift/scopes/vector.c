/* Tells the vector body of a loop from its remainder in code that the compiler says nothing about;
   see tree.h.  Needs scopes, which loops fold together, and the generic operations.

   A loop is a vector body if packed operations (wider than one element) do at least half of its
   data operations (memory accesses, floating-point arithmetic), each counted once for every
   element.  Of the loops that fold together with it (same parent, overlapping lines) one is its
   remainder, or its prologue, if
     - it does not work on wider vectors: it is scalar, or its vectors are narrower (a vector
       epilogue, which is body and remainder at once);
     - it does the same kinds of arithmetic, and stores if the body stores: else it is another part
       of a loop that was distributed;
     - control goes from one to the other within one iteration of the loop around them: else it is
       the version for arrays that overlap or steps that are not one.
   Loops that the compiler described keep what it said. */
#include "binlift/scopes/scopes.h"

#include <stdlib.h>
#include <string.h>

struct work {
    uint64_t n_scalar, n_packed; /* data operations, packed ones once for every element */
    uint32_t width_bits;         /* of the widest packed data operation */
    uint32_t kinds;              /* set of enum kind */
    bool has_inner;              /* a loop inside */
};

enum kind { ADDS = 1, MULTIPLIES = 2, DIVIDES = 4, ROOTS = 8, STORES = 16, INT_MULTIPLIES = 32 };

static uint32_t kinds_of(uint8_t op_class) {
    switch (op_class) {
    case PM_OP_FP_ADD:
        return ADDS;
    case PM_OP_FP_MULT:
        return MULTIPLIES;
    case PM_OP_FP_FMA:
        return ADDS | MULTIPLIES;
    case PM_OP_FP_DIV:
        return DIVIDES;
    case PM_OP_FP_SQRT:
        return ROOTS;
    case PM_OP_INT_MULT:
        return INT_MULTIPLIES;
    case PM_OP_STORE_INT:
    case PM_OP_STORE_FP:
    case PM_OP_SCATTER:
        return STORES;
    default:
        return 0;
    }
}

static bool is_data(uint8_t op_class) {
    switch (op_class) {
    case PM_OP_LOAD_INT:
    case PM_OP_LOAD_FP:
    case PM_OP_STORE_INT:
    case PM_OP_STORE_FP:
    case PM_OP_GATHER:
    case PM_OP_SCATTER:
    case PM_OP_FP_ADD:
    case PM_OP_FP_MULT:
    case PM_OP_FP_FMA:
    case PM_OP_FP_DIV:
    case PM_OP_FP_SQRT:
    case PM_OP_FP_COMPARE:
    case PM_OP_FP_CONVERT:
        return true;
    default:
        return false;
    }
}

static struct work *measure(const struct pm_structure *structure) {
    struct work *works = pm_alloc(structure->n_scopes, sizeof *works);
    for (size_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (block->loop == PM_NONE)
            continue;
        struct work *work = &works[block->loop];
        for (uint32_t i = 0; i < block->n_ops; i++) {
            const struct pm_op *op = &structure->ops[block->first_op + i];
            work->kinds |= kinds_of(op->op_class);
            if (!is_data(op->op_class))
                continue;
            unsigned element_bits = op->element_bytes ? 8u * op->element_bytes : 64;
            if (op->width_bits <= element_bits && op->width_bits < 128) {
                work->n_scalar++;
                continue;
            }
            work->n_packed += op->width_bits > element_bits ? op->width_bits / element_bits : 1;
            if (op->width_bits > work->width_bits)
                work->width_bits = op->width_bits;
        }
    }
    for (size_t s = 0; s < structure->n_scopes; s++) {
        uint32_t above = structure->scopes[s].parent;
        if (structure->scopes[s].kind != PM_SCOPE_LOOP)
            continue;
        while (above != PM_NONE && structure->scopes[above].kind != PM_SCOPE_LOOP)
            above = structure->scopes[above].parent;
        if (above != PM_NONE)
            works[above].has_inner = true;
    }
    return works;
}

static bool is_vector(const struct work *work) {
    return work->n_packed > 0 && work->n_packed >= work->n_scalar && !work->has_inner;
}

/* ---- reachability ---------------------------------------------------------------------------- */

struct graph {
    const struct pm_structure *structure;
    uint32_t routine;          /* PM_NONE: none is laid out */
    uint32_t *first, *targets; /* successors of its basic blocks */
    uint32_t *seen, *stack, round;
};

static void lay_out(struct graph *graph, uint32_t r) {
    const struct pm_routine *routine = &graph->structure->routines[r];
    const struct pm_edge *edges = graph->structure->edges + routine->first_edge;
    if (graph->routine == r)
        return;
    free(graph->first);
    graph->routine = r;
    graph->round = 0;
    size_t n = routine->n_blocks;
    graph->first = pm_alloc(3 * n + 1 + routine->n_edges, sizeof *graph->first);
    graph->seen = graph->first + n + 1;
    graph->stack = graph->seen + n;
    graph->targets = graph->stack + n;
    for (int filling = 0; filling < 2; filling++) {
        for (uint32_t e = 0; e < routine->n_edges; e++) {
            if (edges[e].from == PM_NONE || edges[e].to == PM_NONE)
                continue;
            uint32_t from = edges[e].from - routine->first_block;
            if (filling)
                graph->targets[--graph->first[from]] = edges[e].to - routine->first_block;
            else
                graph->first[from]++;
        }
        for (size_t b = 1; !filling && b <= n; b++)
            graph->first[b] += graph->first[b - 1];
    }
}

/* Whether control can go from basic block FROM to TO without passing AVOID. */
static bool reaches(struct graph *graph, uint32_t from, uint32_t to, uint32_t avoid) {
    uint32_t first = graph->structure->routines[graph->routine].first_block, n = 0;
    graph->round++;
    graph->stack[n++] = from - first;
    graph->seen[from - first] = graph->round;
    while (n > 0) {
        uint32_t b = graph->stack[--n];
        for (uint32_t e = graph->first[b]; e < graph->first[b + 1]; e++) {
            uint32_t next = graph->targets[e];
            if (next + first == to)
                return true;
            if (next + first == avoid || graph->seen[next] == graph->round)
                continue;
            graph->seen[next] = graph->round;
            graph->stack[n++] = next;
        }
    }
    return false;
}

/* ---- marking --------------------------------------------------------------------------------- */

static uint32_t loop_around(const struct pm_structure *structure, uint32_t scope) {
    uint32_t above = structure->scopes[scope].parent;
    while (above != PM_NONE && structure->scopes[above].kind != PM_SCOPE_LOOP)
        above = structure->scopes[above].parent;
    return above;
}

static bool follow_each_other(struct graph *graph, uint32_t body, uint32_t other) {
    const struct pm_structure *structure = graph->structure;
    uint32_t around = loop_around(structure, body);
    uint32_t avoid = around == PM_NONE ? PM_NONE : structure->scopes[around].header;
    uint32_t a = structure->scopes[body].header, b = structure->scopes[other].header;
    lay_out(graph, structure->scopes[body].routine);
    return reaches(graph, a, b, avoid) || reaches(graph, b, a, avoid);
}

static bool is_remainder(struct graph *graph, const struct work *works, uint32_t body,
                         uint32_t other) {
    const struct work *wide = &works[body], *narrow = &works[other];
    bool is_narrower = !is_vector(narrow) || narrow->width_bits < wide->width_bits;
    return is_narrower && !narrow->has_inner && narrow->n_packed + narrow->n_scalar > 0 &&
           narrow->kinds == wide->kinds && follow_each_other(graph, body, other);
}

static bool is_open(const struct pm_structure *structure, uint32_t scope) {
    const struct pm_scope *s = &structure->scopes[scope];
    return s->kind == PM_SCOPE_LOOP && !(s->flags & PM_SCOPE_FROM_COMPILER) &&
           !structure->routines[s->routine].has_metadata;
}

void pm_mark_vector_loops(struct pm_structure *structure) {
    struct work *works = measure(structure);
    struct graph graph = {.structure = structure, .routine = PM_NONE};
    uint32_t *next = pm_alloc(structure->n_scopes, sizeof *next); /* of those that fold together */
    uint32_t *first = pm_alloc(structure->n_scopes, sizeof *first);
    memset(first, 0xff, structure->n_scopes * sizeof *first);
    for (uint32_t s = (uint32_t)structure->n_scopes; s-- > 0;) {
        next[s] = first[structure->scopes[s].fold];
        first[structure->scopes[s].fold] = s;
    }
    for (uint32_t body = 0; body < structure->n_scopes; body++) {
        if (!is_open(structure, body) || !is_vector(&works[body]))
            continue;
        structure->scopes[body].flags |= PM_SCOPE_VECTOR_BODY;
        for (uint32_t s = first[structure->scopes[body].fold]; s != PM_NONE; s = next[s])
            if (s != body && is_open(structure, s) && is_remainder(&graph, works, body, s))
                structure->scopes[s].flags |= PM_SCOPE_REMAINDER;
    }
    free(graph.first);
    free(first);
    free(next);
    free(works);
}
