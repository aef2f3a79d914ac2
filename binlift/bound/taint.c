/* What hangs on values that slots stand for: registers and frame places, followed forwards through
   the nest and the routines that it calls until nothing more becomes tainted.  At the nest's entry
   nothing is.

   A routine is followed once for all its calls: tainted where it begins is what is tainted at any
   of them.  Behind a call, what the routine may change is as it was at its returns, all else as it
   was before. */
#include "binlift/bound/private.h"

#include <stdlib.h>
#include <string.h>

/* Of frames: what goes beyond shares the last bit, and stays tainted. */
enum { PLACE_WORDS = 8, MOST_PLACES = 64 * PLACE_WORDS - 1 };

struct places {
    uint64_t words[PLACE_WORDS];
};

struct taint {
    struct pm_register_set registers;
    struct places places;
};

/* A place of a frame that a kept access names. */
struct place {
    uint32_t routine;
    uint8_t base;
    bool is_known, is_push; /* pushed, popped: by an implicit operand */
    int64_t at;             /* from the stack pointer at the routine's entry; else displacement */
    uint32_t size_bytes;
    struct places overlaps; /* all places that have a byte of it */
    bool has_unknown;       /* a byte of it may be an argument whose use is unknown */
};

/* A call of CALLEE in CALLER, whose return address is at HEIGHT in the caller's frame. */
struct site {
    uint32_t caller, callee;
    bool is_known;
    int64_t height;
};

struct flow {
    struct pm_nest_work *work;
    struct taint *at;      /* per basic block of the nest: where it begins */
    struct taint *returns; /* per callee: where it returns */
    bool changed;
    PM_ARRAY(struct place, places);
    PM_ARRAY(struct site, sites);
    PM_ARRAY(uint32_t, edges); /* of the structure: within the nest */
    uint32_t *operand_places;  /* per operand of the nest: in places; PM_NONE: it is in no frame */
};

/* ---- sets ------------------------------------------------------------------------------------ */

static void set_place(struct places *set, size_t place) {
    size_t bit = place < MOST_PLACES ? place : MOST_PLACES;
    set->words[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void clear_place(struct places *set, size_t place) {
    if (place < MOST_PLACES)
        set->words[place / 64] &= ~(UINT64_C(1) << place % 64);
}

static bool places_meet(const struct places *a, const struct places *b) {
    for (unsigned i = 0; i < PLACE_WORDS; i++)
        if (a->words[i] & b->words[i])
            return true;
    return false;
}

static void add_places(struct places *to, const struct places *from) {
    for (unsigned i = 0; i < PLACE_WORDS; i++)
        to->words[i] |= from->words[i];
}

static bool meet(struct pm_register_set a, struct pm_register_set b) {
    return (a.general & b.general) || (a.vector & b.vector);
}

static void join(struct flow *flow, struct taint *to, const struct taint *from) {
    struct taint before = *to;
    to->registers.general |= from->registers.general;
    to->registers.vector |= from->registers.vector;
    add_places(&to->places, &from->places);
    flow->changed |= to->registers.general != before.registers.general ||
                     to->registers.vector != before.registers.vector ||
                     memcmp(&to->places, &before.places, sizeof before.places) != 0;
}

/* ---- places of frames ------------------------------------------------------------------------ */

static struct place place_of(const struct flow *flow, const struct pm_bound_operand *operand) {
    const struct pm_memory_operand *memory = pm_bound_memory(flow->work, operand);
    return (struct place){.routine = pm_bound_routine_of(flow->work, operand->insn),
                          .base = memory->base,
                          .is_known = operand->has_place,
                          .is_push = memory->implicit,
                          .at = operand->has_place ? operand->place : memory->displacement,
                          .size_bytes = memory->size_bytes};
}

static bool is_same(const struct place *a, const struct place *b) {
    return a->routine == b->routine && a->is_known == b->is_known &&
           (a->is_known || a->base == b->base) && a->is_push == b->is_push && a->at == b->at &&
           a->size_bytes == b->size_bytes;
}

static bool bytes_meet(int64_t a, uint32_t n_a, int64_t b, uint32_t n_b) {
    return a < b + n_b && b < a + n_a;
}

/* Below an alignment of the stack pointer (formula/frame.c) */
static bool is_aligned(const struct place *place) { return place->at < -(INT64_C(1) << 39); }

/* Of one routine.  Where nobody knows a place, registers are compared, and what is pushed lies
   below all that is named otherwise; where the stack pointer was aligned, what was pushed before
   lies above all that is named after. */
static bool overlap(const struct place *a, const struct place *b) {
    if (a->is_push != b->is_push && (a->is_push ? !a->is_known : !b->is_known))
        return false;
    if (a->is_known != b->is_known || (!a->is_known && a->base != b->base))
        return true;
    if (a->is_known && is_aligned(a) != is_aligned(b))
        return !(is_aligned(a) ? b : a)->is_push;
    return bytes_meet(a->at, a->size_bytes, b->at, b->size_bytes);
}

/* ARGUMENT, of a called routine: where its callers have it. */
static void find_in_callers(const struct flow *flow, struct place *argument) {
    for (size_t s = 0; s < flow->n_sites; s++) {
        const struct site *site = &flow->sites[s];
        if (site->callee != argument->routine)
            continue;
        argument->has_unknown |= !site->is_known;
        for (size_t i = 0; i < flow->n_places && site->is_known; i++) {
            const struct place *place = &flow->places[i];
            if (place->routine == site->caller &&
                (!place->is_known || bytes_meet(place->at, place->size_bytes,
                                                site->height + argument->at, argument->size_bytes)))
                set_place(&argument->overlaps, i);
        }
    }
}

static void list_places(struct flow *flow) {
    const struct pm_nest_work *work = flow->work;
    flow->operand_places = pm_alloc(work->n_operands + 1, sizeof *flow->operand_places);
    for (size_t i = 0; i < work->n_operands; i++) {
        flow->operand_places[i] = PM_NONE;
        if (work->operands[i].kind != PM_IN_FRAME)
            continue;
        struct place place = place_of(flow, &work->operands[i]);
        size_t k = 0;
        while (k < flow->n_places && !is_same(&flow->places[k], &place))
            k++;
        if (k == flow->n_places)
            *PM_PUSH(flow, places) = place;
        flow->operand_places[i] = (uint32_t)k;
    }
    for (size_t i = 0; i < flow->n_places; i++) {
        struct place *place = &flow->places[i];
        for (size_t k = 0; k < flow->n_places; k++)
            if (flow->places[k].routine == place->routine && overlap(&flow->places[k], place))
                set_place(&place->overlaps, k);
        if (place->routine != work->routine && place->is_known && place->at >= 0)
            find_in_callers(flow, place);
    }
}

/* The first operand of INSN or behind it. */
static size_t first_operand(const struct pm_nest_work *work, uint32_t insn) {
    return PM_LOWER_BOUND(work->n_operands, i, work->operands[i].insn < insn);
}

/* Where control leaves a routine for another one in the place of a return, arguments are its own.
 */
static uint32_t jumps_to(const struct flow *flow, uint32_t k) {
    const struct pm_insn *insn = &flow->work->lifted->insns[k];
    uint32_t own = pm_bound_routine_of(flow->work, k);
    bool jumps = insn->control == PM_CONTROL_JUMP || insn->control == PM_CONTROL_BRANCH ||
                 insn->control == PM_CONTROL_BRANCH_LOOP;
    uint32_t to = jumps && own != flow->work->routine
                      ? pm_routine_at(flow->work->lifted, insn->target)
                      : PM_NONE;
    return to == own ? PM_NONE : to;
}

static void list_sites_of(struct flow *flow, uint32_t k) {
    const struct pm_nest_work *work = flow->work;
    unsigned n_stored;
    struct site site = {.caller = pm_bound_routine_of(work, k), .callee = jumps_to(flow, k)};
    uint8_t call = site.callee == PM_NONE ? pm_bound_call_of(work->lifted, &work->lifted->insns[k],
                                                             &site.callee, &n_stored)
                                          : (uint8_t)PM_BOUND_CALLS_INSIDE;
    if (call != PM_BOUND_CALLS_INSIDE)
        return;
    for (size_t i = first_operand(work, k); i < work->n_operands && work->operands[i].insn == k;
         i++)
        if (pm_is_call(work->lifted->insns[k].control) && work->operands[i].has_place) {
            site.is_known = true;
            site.height = work->operands[i].place;
        }
    *PM_PUSH(flow, sites) = site;
}

static void list_sites(struct flow *flow) {
    const struct pm_nest_work *work = flow->work;
    for (size_t b = 0; b < work->n_blocks; b++) {
        const struct pm_block_code *code = &work->lifted->block_codes[work->blocks[b]];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            list_sites_of(flow, k);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* NULL: it is not followed. */
static struct taint *returns_of(const struct flow *flow, uint32_t routine) {
    for (size_t i = 0; i < flow->work->n_callees; i++)
        if (flow->work->callees[i] == routine)
            return &flow->returns[i];
    return NULL;
}

/* To where ROUTINE begins. */
static void enter(struct flow *flow, uint32_t routine, const struct taint *taint) {
    const struct pm_nest_work *work = flow->work;
    uint32_t block = pm_block_at(work->lifted, work->lifted->structure->routines[routine].address);
    size_t i = block == PM_NONE ? work->n_blocks : pm_bound_index(work, block);
    if (i < work->n_blocks)
        join(flow, &flow->at[i], taint);
}

static void call_inside(struct flow *flow, uint32_t k, uint32_t routine, struct taint *taint) {
    const struct pm_insn *insn = &flow->work->lifted->insns[k];
    const struct taint *returns = returns_of(flow, routine);
    uint64_t changed = pm_call_clobbers(flow->work->lifted, insn) | PM_FLAGS_MASK;
    enter(flow, routine, taint);
    taint->registers.general =
        (taint->registers.general & ~changed) | (returns->registers.general & changed);
    taint->registers.vector = returns->registers.vector;
}

/* All that such a routine may change hangs on its arguments. */
static void call_library(const struct flow *flow, struct taint *taint) {
    const struct pm_isa *isa = flow->work->lifted->isa;
    struct pm_register_set changed = {.general =
                                          isa->all_registers.general & ~isa->callee_saved.general,
                                      .vector = isa->all_registers.vector};
    bool tainted = meet(taint->registers, isa->argument_registers);
    if (tainted) {
        taint->registers.general |= changed.general;
        taint->registers.vector |= changed.vector;
    } else {
        taint->registers.general &= ~changed.general;
        taint->registers.vector &= ~changed.vector;
    }
}

/* ---- one instruction ------------------------------------------------------------------------- */

static bool loads_tainted(const struct flow *flow, size_t i, const struct taint *taint) {
    const struct pm_bound_operand *operand = &flow->work->operands[i];
    if (!(operand->access & PM_ACCESS_LOAD) || operand->kind == PM_IS_SCALAR)
        return false;
    if (operand->kind == PM_IN_SLOT || operand->is_reached)
        return true;
    const struct place *place = &flow->places[flow->operand_places[i]];
    return place->has_unknown || places_meet(&place->overlaps, &taint->places);
}

static void store(const struct flow *flow, size_t i, bool tainted, struct taint *taint) {
    uint32_t number = flow->operand_places[i];
    if (tainted)
        add_places(&taint->places, &flow->places[number].overlaps);
    else if (flow->work->operands[i].access == PM_ACCESS_STORE)
        clear_place(&taint->places, number);
}

static void step(struct flow *flow, uint32_t k, struct taint *taint) {
    const struct pm_nest_work *work = flow->work;
    const struct pm_insn *insn = &work->lifted->insns[k];
    const struct pm_registers *registers = insn->registers;
    uint32_t routine;
    unsigned n_stored;
    switch (pm_bound_call_of(work->lifted, insn, &routine, &n_stored)) {
    case PM_BOUND_CALLS_INSIDE:
        call_inside(flow, k, routine, taint);
        return;
    case PM_BOUND_CALLS_LIBRARY:
        call_library(flow, taint);
        return;
    default:
        break;
    }
    size_t first = first_operand(work, k);
    bool tainted = meet(registers->uses, taint->registers);
    for (size_t i = first; i < work->n_operands && work->operands[i].insn == k; i++)
        tainted |= loads_tainted(flow, i, taint);
    for (size_t i = first; i < work->n_operands && work->operands[i].insn == k; i++)
        if (work->operands[i].kind == PM_IN_FRAME && (work->operands[i].access & PM_ACCESS_STORE))
            store(flow, i, tainted, taint);
    if (tainted) {
        taint->registers.general |= registers->defs.general;
        taint->registers.vector |= registers->defs.vector;
    } else {
        taint->registers.general &= ~registers->kills.general;
        taint->registers.vector &= ~registers->kills.vector;
    }
    taint->registers.general &= ~(UINT64_C(1) << work->lifted->isa->stack_pointer);
}

/* ---- the nest -------------------------------------------------------------------------------- */

static void list_edges_of(struct flow *flow, uint32_t number) {
    const struct pm_nest_work *work = flow->work;
    const struct pm_structure *structure = work->lifted->structure;
    const struct pm_routine *routine = &structure->routines[number];
    for (uint32_t e = routine->first_edge; e < routine->first_edge + routine->n_edges; e++)
        if (pm_bound_index(work, structure->edges[e].from) < work->n_blocks &&
            pm_bound_index(work, structure->edges[e].to) < work->n_blocks)
            *PM_PUSH(flow, edges) = e;
}

static void list_edges(struct flow *flow) {
    list_edges_of(flow, flow->work->routine);
    for (size_t i = 0; i < flow->work->n_callees; i++)
        list_edges_of(flow, flow->work->callees[i]);
}

/* Where the basic block ends its routine: to its callers. */
static void leave(struct flow *flow, uint32_t last, const struct taint *taint) {
    uint32_t own = pm_bound_routine_of(flow->work, last), to = jumps_to(flow, last);
    struct taint *returns = returns_of(flow, own);
    if (returns && flow->work->lifted->insns[last].control == PM_CONTROL_RETURN)
        join(flow, returns, taint);
    if (returns && to != PM_NONE && returns_of(flow, to)) {
        enter(flow, to, taint);
        join(flow, returns, returns_of(flow, to));
    }
}

static struct taint behind(struct flow *flow, size_t block) {
    const struct pm_block_code *code = &flow->work->lifted->block_codes[flow->work->blocks[block]];
    struct taint taint = flow->at[block];
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
        step(flow, k, &taint);
    leave(flow, code->first_insn + code->n_insns - 1, &taint);
    return taint;
}

static void follow(struct flow *flow) {
    const struct pm_structure *structure = flow->work->lifted->structure;
    size_t n = flow->work->n_blocks;
    struct taint *ends = pm_alloc(n + 1, sizeof *ends);
    do {
        flow->changed = false;
        for (size_t i = 0; i < n; i++)
            ends[i] = behind(flow, i);
        for (size_t i = 0; i < flow->n_edges; i++) {
            const struct pm_edge *edge = &structure->edges[flow->edges[i]];
            join(flow, &flow->at[pm_bound_index(flow->work, edge->to)],
                 &ends[pm_bound_index(flow->work, edge->from)]);
        }
    } while (flow->changed);
    free(ends);
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
    struct flow flow = {.work = work,
                        .at = pm_alloc(work->n_blocks + 1, sizeof *flow.at),
                        .returns = pm_alloc(work->n_callees + 1, sizeof *flow.returns)};
    list_sites(&flow);
    list_places(&flow);
    list_edges(&flow);
    do
        follow(&flow);
    while (look_at_addresses(&flow));
    bool done = list_replayed(&flow);
    free(flow.at);
    free(flow.returns);
    free(flow.places);
    free(flow.sites);
    free(flow.edges);
    free(flow.operand_places);
    return done;
}
