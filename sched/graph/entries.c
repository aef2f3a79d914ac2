/* What a loop carries from one entry to the next.

   A sum that begins at zero for each row is carried from iteration to iteration, but not from row
   to row: an out-of-order core works on several rows at a time.  A register is carried across
   entries if, on some way from the loop's exits back to its header through the routine's other
   code, its value hangs on what the loop defined.  What is loaded outside the loop hangs on its
   address only if that hangs on more than additions (a list that goes on where the loop ended).

   Places of loads and stores that an iteration shares with one before are others in the next entry
   if the surrounding loop has a stride there. */
#include <stdlib.h>
#include <string.h>

#include "sched/graph/private.h"

enum {
    N_REGISTERS = PM_REGISTER_NONE,
    HANGS = 1, /* on what the loop defined */
    HARD = 2,  /* … by more than additions, moves and the like */
};

static bool is_simple(uint8_t op_class) {
    return op_class == PM_OP_INT_ADD || op_class == PM_OP_INT_COMPARE ||
           op_class == PM_OP_LOGICAL || op_class == PM_OP_SHIFT || op_class == PM_OP_MOVE_INT;
}

static void walk_block(const struct pm_structure *s, uint32_t block, uint8_t *hangs) {
    const struct pm_block *b = &s->blocks[block];
    for (uint32_t i = b->first_op; i < b->first_op + b->n_ops; i++) {
        const struct pm_op *op = &s->ops[i];
        uint8_t on = 0;
        for (unsigned k = 0; k < PM_OP_N_USES; k++)
            if (op->uses[k] != PM_REGISTER_NONE)
                on |= hangs[op->uses[k]];
        bool is_memory = pm_op_class_kind((enum pm_op_class)op->op_class) == 'm';
        if (is_memory && !(on & HARD))
            on = 0;
        for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
            if (op->defs[k] != PM_REGISTER_NONE)
                hangs[op->defs[k]] = on;
    }
}

/* What the loop's own code and its inner loops' define, whose blocks are INSIDE. */
static void find_defined(const struct pm_structure *s, const struct pm_routine *routine,
                         const bool *inside, uint8_t *defined) {
    memset(defined, 0, N_REGISTERS);
    for (uint32_t b = 0; b < routine->n_blocks; b++) {
        const struct pm_block *block = &s->blocks[routine->first_block + b];
        if (!inside[b])
            continue;
        for (uint32_t i = block->first_op; i < block->first_op + block->n_ops; i++)
            for (unsigned k = 0; k < PM_OP_N_DEFS; k++)
                if (s->ops[i].defs[k] != PM_REGISTER_NONE)
                    defined[s->ops[i].defs[k]] |=
                        is_simple(s->ops[i].op_class) ? HANGS : HANGS | HARD;
    }
}

/* Joins FROM to INTO; whether that is more than it was. */
static bool join(uint8_t *into, const uint8_t *from) {
    bool more = false;
    for (unsigned r = 0; r < N_REGISTERS; r++) {
        more |= (from[r] & ~into[r]) != 0;
        into[r] |= from[r];
    }
    return more;
}

/* What hangs at the beginning of each block outside the loop, and which of these blocks hand on
   more than when their edges were followed last. */
struct hanging {
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    bool *inside; /* [block of the routine]: it is in the loop */
    uint8_t *at;  /* [block of the routine][register] */
    bool *more;   /* [block of the routine] */
    uint8_t defined[N_REGISTERS], at_header[N_REGISTERS];
};

/* Follows EDGE, in the FIRST round or a later one; whether what it leads to hands on more. */
static bool follow(struct hanging *h, const struct pm_edge *edge, bool first) {
    uint8_t after[N_REGISTERS];
    if (edge->from == PM_NONE || edge->to == PM_NONE)
        return false;
    const uint32_t from = edge->from - h->routine->first_block;
    const uint32_t to = edge->to - h->routine->first_block;
    bool from_loop = h->inside[from];
    if (from_loop ? !first : !h->more[from])
        return false;
    if (from_loop) {
        memcpy(after, h->defined, sizeof after);
    } else {
        memcpy(after, &h->at[(size_t)from * N_REGISTERS], sizeof after);
        walk_block(h->structure, edge->from, after);
    }
    if (!h->inside[to])
        return join(&h->at[(size_t)to * N_REGISTERS], after);
    if (!from_loop)
        join(h->at_header, after);
    return false;
}

void pm_find_fresh_registers(const struct pm_structure *s, uint32_t loop, bool *fresh) {
    const struct pm_routine *routine = &s->routines[s->scopes[loop].routine];
    struct hanging h = {.structure = s, .routine = routine};
    h.inside = pm_alloc(routine->n_blocks, sizeof *h.inside);
    for (uint32_t b = 0; b < routine->n_blocks; b++)
        h.inside[b] = pm_is_in_loop(s, routine->first_block + b, loop);
    h.at = pm_alloc((size_t)routine->n_blocks * N_REGISTERS, 1);
    h.more = pm_alloc(routine->n_blocks, sizeof *h.more);
    bool *next = pm_alloc(routine->n_blocks, sizeof *next);
    find_defined(s, routine, h.inside, h.defined);
    for (bool first = true, any = true; any; first = false) {
        any = false;
        for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
            if (follow(&h, &s->edges[e], first))
                any = next[s->edges[e].to - routine->first_block] = true;
        memcpy(h.more, next, routine->n_blocks * sizeof *next);
        memset(next, 0, routine->n_blocks * sizeof *next);
    }
    for (unsigned r = 0; r < N_REGISTERS; r++)
        fresh[r] = !h.at_header[r];
    free(next);
    free(h.more);
    free(h.at);
    free(h.inside);
}

bool pm_is_fresh_place(const struct pm_structure *s, uint32_t reference) {
    uint32_t group = s->references[reference].group;
    if (group == PM_NONE || s->groups[group].n_strides < 2)
        return false;
    const struct pm_stride *outer = &s->groups[group].strides[1];
    return outer->kind == PM_STRIDE_SYMBOLIC || (outer->kind == PM_STRIDE_CONSTANT && outer->bytes);
}
