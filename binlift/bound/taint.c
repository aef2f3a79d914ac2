/* What hangs on values that slots stand for: registers and frame places, followed forwards through
   the nest until nothing more becomes tainted.  At the nest's entry nothing is. */
#include "binlift/bound/private.h"

#include <stdlib.h>

enum {
    MOST_PLACES = 63
}; /* of the frame; what goes beyond shares the last bit, and stays tainted */

struct taint {
    struct pm_register_set registers;
    uint64_t places; /* of the frame */
};

/* A place of the frame that a kept access names. */
struct place {
    int64_t displacement;
    uint32_t size_bytes;
    uint8_t base;
};

struct flow {
    struct pm_nest_work *work;
    struct taint *at; /* per basic block of the nest: where it begins */
    PM_ARRAY(struct place, places);
    PM_ARRAY(uint32_t, edges); /* of the structure: within the nest */
};

/* ---- places of the frame --------------------------------------------------------------------- */

static struct place place_of(const struct flow *flow, const struct pm_bound_operand *operand) {
    const struct pm_memory_operand *memory = pm_bound_memory(flow->work, operand);
    return (struct place){memory->displacement, memory->size_bytes, memory->base};
}

/* Where the stack pointer and the frame pointer both serve, nobody compares them. */
static bool overlap(const struct place *a, const struct place *b) {
    return a->base != b->base || (a->displacement < b->displacement + b->size_bytes &&
                                  b->displacement < a->displacement + a->size_bytes);
}

static bool is_same(const struct place *a, const struct place *b) {
    return a->base == b->base && a->displacement == b->displacement &&
           a->size_bytes == b->size_bytes;
}

static void list_places(struct flow *flow) {
    const struct pm_nest_work *work = flow->work;
    for (size_t i = 0; i < work->n_operands; i++) {
        if (work->operands[i].kind != PM_IN_FRAME)
            continue;
        struct place place = place_of(flow, &work->operands[i]);
        size_t k = 0;
        while (k < flow->n_places && !is_same(&flow->places[k], &place))
            k++;
        if (k == flow->n_places)
            *PM_PUSH(flow, places) = place;
    }
}

static uint64_t bit_of(size_t place) {
    return UINT64_C(1) << (place < MOST_PLACES ? place : MOST_PLACES);
}

/* The bits of all places that have a byte of PLACE; *OWN: the bit that is this very place's alone,
   or 0. */
static uint64_t bits_of(const struct flow *flow, const struct place *place, uint64_t *own) {
    uint64_t bits = 0;
    *own = 0;
    for (size_t i = 0; i < flow->n_places; i++) {
        if (overlap(&flow->places[i], place))
            bits |= bit_of(i);
        if (i < MOST_PLACES && is_same(&flow->places[i], place))
            *own = bit_of(i);
    }
    return bits;
}

/* ---- one instruction ------------------------------------------------------------------------- */

static bool meet(struct pm_register_set a, struct pm_register_set b) {
    return (a.general & b.general) || (a.vector & b.vector);
}

static bool loads_tainted(const struct flow *flow, const struct pm_bound_operand *operand,
                          const struct taint *taint) {
    struct place place = place_of(flow, operand);
    uint64_t own;
    if (!(operand->access & PM_ACCESS_LOAD) || operand->kind == PM_IS_SCALAR)
        return false;
    return operand->kind == PM_IN_SLOT || operand->is_reached ||
           (bits_of(flow, &place, &own) & taint->places);
}

static void store(const struct flow *flow, const struct pm_bound_operand *operand, bool tainted,
                  struct taint *taint) {
    struct place place = place_of(flow, operand);
    uint64_t own, bits = bits_of(flow, &place, &own);
    if (tainted)
        taint->places |= bits;
    else if (operand->access == PM_ACCESS_STORE)
        taint->places &= ~own;
}

/* The first operand of INSN or behind it. */
static size_t first_operand(const struct pm_nest_work *work, uint32_t insn) {
    return PM_LOWER_BOUND(work->n_operands, i, work->operands[i].insn < insn);
}

static void step(const struct flow *flow, uint32_t k, struct taint *taint) {
    const struct pm_nest_work *work = flow->work;
    const struct pm_registers *registers = work->lifted->insns[k].registers;
    size_t first = first_operand(work, k);
    bool tainted = meet(registers->uses, taint->registers);
    for (size_t i = first; i < work->n_operands && work->operands[i].insn == k; i++)
        tainted |= loads_tainted(flow, &work->operands[i], taint);
    for (size_t i = first; i < work->n_operands && work->operands[i].insn == k; i++)
        if (work->operands[i].kind == PM_IN_FRAME && (work->operands[i].access & PM_ACCESS_STORE))
            store(flow, &work->operands[i], tainted, taint);
    if (tainted) {
        taint->registers.general |= registers->defs.general;
        taint->registers.vector |= registers->defs.vector;
    } else {
        taint->registers.general &= ~registers->kills.general;
        taint->registers.vector &= ~registers->kills.vector;
    }
}

/* ---- the nest -------------------------------------------------------------------------------- */

static size_t index_of(const struct pm_nest_work *work, uint32_t block) {
    return PM_LOWER_BOUND(work->n_blocks, i, work->blocks[i] < block);
}

static bool is_in_nest(const struct pm_nest_work *work, uint32_t block) {
    size_t i = index_of(work, block);
    return i < work->n_blocks && work->blocks[i] == block;
}

static void list_edges(struct flow *flow) {
    const struct pm_structure *structure = flow->work->lifted->structure;
    const struct pm_routine *routine = &structure->routines[flow->work->routine];
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
        if (is_in_nest(flow->work, structure->edges[e].from) &&
            is_in_nest(flow->work, structure->edges[e].to))
            *PM_PUSH(flow, edges) = e;
}

static struct taint behind(const struct flow *flow, size_t block) {
    const struct pm_block_code *code = &flow->work->lifted->block_codes[flow->work->blocks[block]];
    struct taint taint = flow->at[block];
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        step(flow, k, &taint);
    return taint;
}

static bool join(struct taint *to, const struct taint *from) {
    struct taint before = *to;
    to->registers.general |= from->registers.general;
    to->registers.vector |= from->registers.vector;
    to->places |= from->places;
    return to->registers.general != before.registers.general ||
           to->registers.vector != before.registers.vector || to->places != before.places;
}

static void follow(struct flow *flow) {
    const struct pm_structure *structure = flow->work->lifted->structure;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < flow->n_edges; i++) {
            const struct pm_edge *edge = &structure->edges[flow->edges[i]];
            struct taint taint = behind(flow, index_of(flow->work, edge->from));
            changed |= join(&flow->at[index_of(flow->work, edge->to)], &taint);
        }
    }
}

/* Registers of the operand's address that are tainted. */
static bool hangs_on_loads(const struct pm_memory_operand *memory, const struct taint *taint) {
    uint64_t address = (memory->base < 32 ? UINT64_C(1) << memory->base : 0) |
                       (memory->index < 32 ? UINT64_C(1) << memory->index : 0);
    return (address & taint->registers.general) != 0;
}

/* Makes slots of scalars whose addresses are tainted, and counts the loads at such addresses;
   false: no scalar became a slot. */
static bool look_at_addresses(struct flow *flow) {
    struct pm_nest_work *work = flow->work;
    bool any = false;
    work->n_chased = 0;
    for (size_t b = 0; b < work->n_blocks; b++) {
        const struct pm_block_code *code = &work->lifted->block_codes[work->blocks[b]];
        struct taint taint = flow->at[b];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            for (size_t i = first_operand(work, k);
                 i < work->n_operands && work->operands[i].insn == k; i++) {
                struct pm_bound_operand *operand = &work->operands[i];
                if (operand->kind == PM_IN_FRAME ||
                    !hangs_on_loads(pm_bound_memory(work, operand), &taint))
                    continue;
                work->n_chased += (operand->access & PM_ACCESS_LOAD) != 0;
                any |= operand->kind == PM_IS_SCALAR;
                operand->kind = PM_IN_SLOT;
            }
            step(flow, k, &taint);
        }
    }
    return any;
}

/* Only the last instruction of a basic block decides. */
static bool list_replayed(struct flow *flow) {
    struct pm_nest_work *work = flow->work;
    for (size_t b = 0; b < work->n_blocks; b++) {
        const struct pm_block_code *code = &work->lifted->block_codes[work->blocks[b]];
        uint32_t last = code->first_insn + code->n_insns - 1;
        const struct pm_insn *insn = &work->lifted->insns[last];
        struct taint taint = flow->at[b];
        for (uint32_t k = code->first_insn; k < last; k++)
            step(flow, k, &taint);
        if (!meet(insn->registers->uses, taint.registers))
            continue;
        if (insn->control == PM_CONTROL_BRANCH_LOOP)
            return false;
        if (insn->control == PM_CONTROL_BRANCH)
            *PM_PUSH(work, replayed) = last;
    }
    return true;
}

bool pm_bound_find_tainted(struct pm_nest_work *work) {
    struct flow flow = {.work = work, .at = pm_alloc(work->n_blocks, sizeof *flow.at)};
    list_places(&flow);
    list_edges(&flow);
    do
        follow(&flow);
    while (look_at_addresses(&flow));
    bool done = list_replayed(&flow);
    free(flow.at);
    free(flow.places);
    free(flow.edges);
    return done;
}
