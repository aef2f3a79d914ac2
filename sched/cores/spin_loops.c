/* Spin loops, in which a thread waits for another: how often they go round says nothing of work.

   A back edge is that of a spin loop if the way from the loop's header to it, over whatever basic
   blocks, changes nothing: no store, no call, no value in a register that one time round leaves to
   the next.  Each time round then does the same until what it loads from memory is other, which
   another thread has to write.  What an exchange, or a comparison with one, writes is the same each
   time and counts as nothing, as in a lock that is tried again.  A loop with the processor's hint
   that it waits (`pause`, `yield`) is one whatever it counts in registers.

   Waiting is taken out of counts as times round.  Of a back edge that is taken w times, with

       p(b) = Σ over edges b → c within  c(b → c) / c(b) · p(c)  +  c(back edge from b) / c(b)

   the probability that the way from basic block b comes to it, c(b → c) · p(c) of each edge belong
   to these times round, and w of the back edge itself.  What is left is the counts of a program in
   which nobody has to wait; flow into each basic block is flow out of it as before. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/cores/cores.h"

enum { MOST_ROUNDS = 200, N_REGISTERS = 128 };
static const double settled = 1e-12;

struct registers {
    uint64_t bits[N_REGISTERS / 64];
};

/* A back edge and the basic blocks of its times round. */
struct ring {
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    uint32_t header, edge;
    bool *inside; /* by number in the routine */
    uint32_t n_blocks;
};

/* ---- which blocks ---------------------------------------------------------------------------- */

static uint32_t in_routine(const struct ring *ring, uint32_t block) {
    return block - ring->routine->first_block;
}

/* All from which the back edge is reached without passing the header. */
static void find_blocks(struct ring *ring) {
    const struct pm_structure *s = ring->structure;
    const struct pm_routine *routine = ring->routine;
    uint32_t *stack = pm_alloc(routine->n_blocks, sizeof *stack), n = 0;
    memset(ring->inside, 0, routine->n_blocks * sizeof *ring->inside);
    ring->inside[in_routine(ring, ring->header)] = true;
    ring->n_blocks = 1;
    stack[n++] = s->edges[ring->edge].from;
    while (n > 0) {
        uint32_t block = stack[--n];
        if (ring->inside[in_routine(ring, block)])
            continue;
        ring->inside[in_routine(ring, block)] = true;
        ring->n_blocks++;
        for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
            if (s->edges[e].to == block && s->edges[e].from != PM_NONE &&
                !ring->inside[in_routine(ring, s->edges[e].from)] && n < routine->n_blocks)
                stack[n++] = s->edges[e].from;
    }
    free(stack);
}

static bool is_inside(const struct ring *ring, uint32_t block) {
    return block != PM_NONE && ring->inside[in_routine(ring, block)];
}

/* ---- what they do ---------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names) {
    for (; name && *names; names++)
        if (strncmp(name, *names, strlen(*names)) == 0)
            return true;
    return false;
}

/* What writes the same each time, if it fails again. */
static bool tries_again(const char *mnemonic) {
    static const char *const names[] = {"xchg", "cmpxchg", "bts",   "btr",
                                        "swp",  "cas",     "ldset", NULL};
    return is_one_of(mnemonic, names);
}

static bool is_hint(const char *mnemonic) {
    static const char *const names[] = {"pause", "tpause", "umwait", "yield", "wfe", NULL};
    return is_one_of(mnemonic, names);
}

struct deeds {
    bool loads, changes, hints;
};

static void add_op(const struct pm_structure *s, const struct pm_op *op, struct deeds *deeds) {
    const char *mnemonic = pm_op_mnemonic(s, op);
    if (is_hint(mnemonic)) {
        deeds->hints = true;
        return;
    }
    if (tries_again(mnemonic)) {
        deeds->loads |= pm_op_class_kind(op->op_class) == 'm';
        return;
    }
    switch (op->op_class) {
    case PM_OP_LOAD_INT:
    case PM_OP_LOAD_FP:
        deeds->loads = true;
        break;
    case PM_OP_STORE_INT:
    case PM_OP_STORE_FP:
    case PM_OP_SCATTER:
    case PM_OP_ATOMIC:
    case PM_OP_STRING:
    case PM_OP_CALL:
    case PM_OP_RETURN:
    case PM_OP_SYSTEM:
    case PM_OP_UNKNOWN:
        deeds->changes = true;
        break;
    default:
        break;
    }
}

static struct deeds deeds_of(const struct ring *ring) {
    const struct pm_structure *s = ring->structure;
    struct deeds deeds = {0};
    for (uint32_t i = 0; i < ring->routine->n_blocks; i++) {
        const struct pm_block *block = &s->blocks[ring->routine->first_block + i];
        for (uint32_t o = 0; ring->inside[i] && o < block->n_ops; o++)
            add_op(s, &s->ops[block->first_op + o], &deeds);
    }
    return deeds;
}

/* ---- what a time round leaves to the next ---------------------------------------------------- */

static bool has(const struct registers *set, uint8_t number) {
    return number < N_REGISTERS && (set->bits[number / 64] >> number % 64 & 1);
}

static void put(struct registers *set, uint8_t number) {
    if (number < N_REGISTERS)
        set->bits[number / 64] |= UINT64_C(1) << number % 64;
}

/* What the block needs from before, and what it defines. */
static void read_block(const struct pm_structure *s, const struct pm_block *block,
                       struct registers *needs, struct registers *defines) {
    for (uint32_t o = block->first_op; o < block->first_op + block->n_ops; o++) {
        const struct pm_op *op = &s->ops[o];
        for (int i = 0; i < PM_OP_N_USES; i++)
            if (!has(defines, op->uses[i]))
                put(needs, op->uses[i]);
        for (int i = 0; i < PM_OP_N_DEFS; i++)
            put(defines, op->defs[i]);
    }
}

/* Does the header need a register that a time round defines? */
static bool carries(const struct ring *ring) {
    const struct pm_structure *s = ring->structure;
    const struct pm_routine *routine = ring->routine;
    struct registers *needs = pm_alloc(routine->n_blocks, sizeof *needs);
    struct registers *defines = pm_alloc(routine->n_blocks, sizeof *defines), all = {{0}};
    for (uint32_t i = 0; i < routine->n_blocks; i++) {
        if (!ring->inside[i])
            continue;
        read_block(s, &s->blocks[routine->first_block + i], &needs[i], &defines[i]);
        for (int w = 0; w < N_REGISTERS / 64; w++)
            all.bits[w] |= defines[i].bits[w];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
            const struct pm_edge *edge = &s->edges[e];
            if (!is_inside(ring, edge->from) || !is_inside(ring, edge->to) ||
                edge->to == ring->header)
                continue;
            uint32_t from = in_routine(ring, edge->from), to = in_routine(ring, edge->to);
            for (int w = 0; w < N_REGISTERS / 64; w++) {
                uint64_t more = needs[to].bits[w] & ~defines[from].bits[w] & ~needs[from].bits[w];
                needs[from].bits[w] |= more;
                changed |= more != 0;
            }
        }
    }
    const struct registers *header = &needs[in_routine(ring, ring->header)];
    bool any = false;
    for (int w = 0; w < N_REGISTERS / 64; w++)
        any |= (header->bits[w] & all.bits[w]) != 0;
    free(needs);
    free(defines);
    return any;
}

static bool is_spin_loop(struct ring *ring) {
    find_blocks(ring);
    struct deeds deeds = deeds_of(ring);
    if (deeds.changes)
        return false;
    return deeds.hints || (deeds.loads && !carries(ring));
}

/* ---- taking it out --------------------------------------------------------------------------- */

/* P of each basic block of the routine, by EDGE_COUNTS; the caller frees. */
static double *chances(const struct ring *ring, const double *edge_counts) {
    const struct pm_structure *s = ring->structure;
    const struct pm_routine *routine = ring->routine;
    uint32_t end = routine->first_edge + routine->n_edges;
    double *executions = pm_alloc(routine->n_blocks, sizeof *executions);
    double *p = pm_alloc(routine->n_blocks, sizeof *p), change = 1;
    double *next = pm_alloc(routine->n_blocks, sizeof *next);
    for (uint32_t e = routine->first_edge; e < end; e++)
        if (s->edges[e].to != PM_NONE)
            executions[in_routine(ring, s->edges[e].to)] += edge_counts[e];
    for (int round = 0; round < MOST_ROUNDS && change > settled; round++) {
        memset(next, 0, routine->n_blocks * sizeof *next);
        for (uint32_t e = routine->first_edge; e < end; e++) {
            const struct pm_edge *edge = &s->edges[e];
            if (!is_inside(ring, edge->from) || edge_counts[e] <= 0)
                continue;
            uint32_t from = in_routine(ring, edge->from);
            if (e == ring->edge)
                next[from] += edge_counts[e] / executions[from];
            else if (is_inside(ring, edge->to) && edge->to != ring->header)
                next[from] += edge_counts[e] / executions[from] * p[in_routine(ring, edge->to)];
        }
        change = 0;
        for (uint32_t i = 0; i < routine->n_blocks; i++) {
            change = fmax(change, fabs(next[i] - p[i]));
            p[i] = fmin(next[i], 1);
        }
    }
    free(next);
    free(executions);
    return p;
}

/* How often the ring was gone round, which EDGE_COUNTS are without then. */
static double take_out(const struct ring *ring, double *edge_counts) {
    const struct pm_structure *s = ring->structure;
    const struct pm_routine *routine = ring->routine;
    double rounds = edge_counts[ring->edge];
    if (!(rounds > 0))
        return 0;
    double *p = chances(ring, edge_counts);
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++) {
        const struct pm_edge *edge = &s->edges[e];
        if (e == ring->edge)
            edge_counts[e] = 0;
        else if (is_inside(ring, edge->from) && is_inside(ring, edge->to) &&
                 edge->to != ring->header)
            edge_counts[e] *= 1 - p[in_routine(ring, edge->to)];
    }
    free(p);
    return rounds;
}

/* ---- all of a program ------------------------------------------------------------------------ */

struct spin_edge {
    uint32_t edge, loop, n_blocks;
};

static int smallest_first(const void *left, const void *right) {
    const struct spin_edge *a = left, *b = right;
    int order = PM_COMPARE(a->n_blocks, b->n_blocks);
    return order ? order : PM_COMPARE(a->edge, b->edge);
}

/* The loop that EDGE goes back to the header of; PM_NONE: none, or one with several ways in. */
static uint32_t loop_of_back_edge(const struct pm_structure *s, const struct pm_edge *edge) {
    if (edge->from == PM_NONE || edge->to == PM_NONE)
        return PM_NONE;
    uint32_t loop = s->blocks[edge->to].loop;
    while (loop != PM_NONE && s->scopes[loop].header != edge->to)
        loop = pm_outer_loop(s, loop);
    bool is_back = loop != PM_NONE && pm_is_in_loop(s, edge->from, loop) &&
                   !(s->scopes[loop].flags & PM_SCOPE_IRREDUCIBLE);
    return is_back ? loop : PM_NONE;
}

static struct ring ring_of(const struct pm_structure *s, uint32_t edge, bool *inside) {
    return (struct ring){.structure = s,
                         .routine = &s->routines[s->edges[edge].routine],
                         .header = s->edges[edge].to,
                         .edge = edge,
                         .inside = inside};
}

static bool *room_for_blocks(const struct pm_structure *s) {
    uint32_t most = 0;
    for (size_t r = 0; r < s->n_routines; r++)
        most = s->routines[r].n_blocks > most ? s->routines[r].n_blocks : most;
    return pm_alloc(most, sizeof(bool));
}

void pm_take_out_spin_loops(const struct pm_structure *structure, double *const *edge_counts,
                            size_t n_threads, struct pm_spin_loops *spin) {
    struct {
        PM_ARRAY(struct spin_edge, list);
    } found = {0};
    bool *inside = room_for_blocks(structure);
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        double taken = 0;
        for (size_t t = 0; t < n_threads; t++)
            taken += edge_counts[t][e];
        uint32_t loop = taken > 0 ? loop_of_back_edge(structure, &structure->edges[e]) : PM_NONE;
        struct ring ring = ring_of(structure, e, inside);
        if (loop != PM_NONE && is_spin_loop(&ring))
            *PM_PUSH(&found, list) = (struct spin_edge){e, loop, ring.n_blocks};
    }
    /* What is within another comes first. */
    PM_SORT(found.list, found.n_list, smallest_first);
    for (size_t i = 0; i < found.n_list; i++) {
        struct ring ring = ring_of(structure, found.list[i].edge, inside);
        struct pm_spin_loop loop = {.scope = found.list[i].loop};
        find_blocks(&ring);
        for (size_t t = 0; t < n_threads; t++)
            loop.rounds += take_out(&ring, edge_counts[t]);
        if (loop.rounds > 0)
            *PM_PUSH(spin, loops) = loop;
    }
    free(found.list);
    free(inside);
}
