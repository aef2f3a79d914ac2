/* The stack pointer through a routine, and the places in its frame that act as registers:
   spilled values and arguments on the stack; see solver.h.  Needs the control-flow graph.

   Every operand whose base is the stack or frame pointer and that has no index is a fixed place, if
   all paths to it agree on the stack pointer.  A called routine and a pointer write no such place
   unless its address is known outside of these operands.  An object reaches upwards from its
   address, so what lies at or above the lowest address that is computed is left out; but an object
   of the frame does not reach into the caller's. */
#include "binlift/formula/solver.h"

#include <stdlib.h>
#include <string.h>

/* The stack pointer after it was aligned: as if the frame lay this much lower.  What lies where is
   compared within one of the two only. */
static const int64_t aligned_frame = -(INT64_C(1) << 40);

struct state {
    bool known[2]; /* stack pointer, frame pointer */
    int64_t offset[2];
};

struct walk {
    struct pm_formulas *f;
    struct state *at_end;             /* of basic blocks */
    int64_t lowest, lowest_of_caller; /* addresses that are computed, of the frame and above */
    bool is_broken;
};

uint32_t pm_registers_defined(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    uint64_t defs = insn->registers->defs.general;
    if (pm_is_call(insn->control))
        defs = (defs | pm_call_clobbers(lifted, insn)) & ~lifted->isa->callee_saved.general;
    return (uint32_t)defs;
}

static const struct pm_definition *find_definition(const struct pm_definition *definitions,
                                                   unsigned n, uint8_t place) {
    for (unsigned i = 0; i < n; i++)
        if (definitions[i].place == place && definitions[i].kind == PM_DEFINED_AS_SUM)
            return &definitions[i];
    return NULL;
}

/* Does INSN align the stack pointer? */
static bool aligns_stack(const struct pm_formulas *f, uint32_t i) {
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    const struct pm_insn *insn = &f->lifted->insns[i];
    uint32_t stack_pointer = UINT32_C(1) << f->lifted->isa->stack_pointer;
    if (insn->n_memory > 0 || !(insn->registers->defs.general & stack_pointer) ||
        (insn->registers->uses.general & UINT32_MAX) != stack_pointer)
        return false;
    unsigned n = f->lifted->isa->define(pm_insn_bytes(f->lifted, i), insn, definitions);
    return !find_definition(definitions, n, f->lifted->isa->stack_pointer);
}

/* A register that INSN sets from the stack pointer, and that calls keep; −1. */
static int set_from_stack(const struct pm_formulas *f, uint32_t i) {
    const struct pm_lifted *lifted = f->lifted;
    const struct pm_insn *insn = &lifted->insns[i];
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    uint32_t saved = (uint32_t)(insn->registers->defs.general & lifted->isa->callee_saved.general) &
                     ~(UINT32_C(1) << lifted->isa->stack_pointer);
    if (!saved || !(insn->registers->uses.general >> lifted->isa->stack_pointer & 1))
        return -1;
    unsigned n = lifted->isa->define(pm_insn_bytes(lifted, i), insn, definitions);
    for (unsigned k = 0; k < n; k++)
        if (definitions[k].place < PM_N_GENERAL && saved >> definitions[k].place & 1 &&
            definitions[k].kind == PM_DEFINED_AS_SUM && definitions[k].n_terms == 1 &&
            definitions[k].terms[0].place == lifted->isa->stack_pointer)
            return definitions[k].place;
    return -1;
}

/* The register that is set from the stack pointer at the routine's start, for good.  If one is set
   after the stack pointer was aligned, that which was set before only finds the arguments. */
static int frame_pointer_of(const struct pm_formulas *f) {
    enum { LOOK_AT = 32 };
    uint32_t n = f->code->n_insns < LOOK_AT ? f->code->n_insns : LOOK_AT;
    int before = -1, found = -1;
    for (uint32_t i = f->code->first_insn; i < f->code->first_insn + n; i++) {
        if (found < 0)
            found = set_from_stack(f, i);
        if (found >= 0 && aligns_stack(f, i)) {
            before = found;
            found = -1;
        }
    }
    return found >= 0 ? found : before;
}

/* Only once. */
static void find_frame_pointer(struct pm_formulas *f) {
    if (!f->has_frame_pointer)
        f->frame_pointer = frame_pointer_of(f);
    f->has_frame_pointer = true;
}

bool pm_formula_is_frame_register(struct pm_formulas *f, uint8_t number) {
    find_frame_pointer(f);
    return number == f->lifted->isa->stack_pointer ||
           (f->frame_pointer >= 0 && number == f->frame_pointer);
}

/* 0 stack pointer, 1 frame pointer, −1 neither. */
static int which(const struct pm_formulas *f, uint8_t place) {
    if (place == f->lifted->isa->stack_pointer)
        return 0;
    return f->frame_pointer >= 0 && place == f->frame_pointer ? 1 : -1;
}

static void compute_address(struct walk *walk, int64_t offset) {
    if (offset < 0 && offset < walk->lowest)
        walk->lowest = offset;
    if (offset >= 0 && offset < walk->lowest_of_caller)
        walk->lowest_of_caller = offset;
}

static bool frame_sum(const struct pm_formulas *f, const struct state *state,
                      const struct pm_definition *sum, int64_t *offset) {
    int w = sum->n_terms == 1 && sum->terms[0].factor == 1 ? which(f, sum->terms[0].place) : -1;
    if (w < 0 || !state->known[w])
        return false;
    *offset = state->offset[w] + sum->constant;
    return true;
}

static bool names_frame(const struct pm_formulas *f, const struct state *state,
                        const struct pm_definition *definition) {
    for (unsigned t = 0; t < definition->n_terms; t++) {
        int w = which(f, definition->terms[t].place);
        if (w >= 0 && state->known[w])
            return true;
    }
    return false;
}

/* Memory operands: fixed places, and arrays in the frame. */
static void look_at_operands(struct walk *walk, uint32_t i, const struct state *state) {
    struct pm_formulas *f = walk->f;
    const struct pm_insn *insn = &f->lifted->insns[i];
    for (unsigned k = 0; k < insn->n_memory; k++) {
        const struct pm_memory_operand *operand = &insn->memory[k];
        int w = which(f, operand->base);
        int x = which(f, operand->index);
        if (x >= 0 && state->known[x])
            compute_address(walk, state->offset[x]);
        if (w < 0 || !state->known[w] || operand->segment)
            continue;
        int64_t offset = state->offset[w] + operand->displacement;
        if (operand->index != PM_REGISTER_NONE || operand->kind != PM_ACCESS_PLAIN)
            compute_address(walk, offset);
        else
            *PM_PUSH(f, accesses) = (struct pm_frame_access){i, (uint8_t)k, offset};
    }
}

/* Whether something but memory operands reads the stack or frame pointer: to be looked at. */
static bool touches_frame_registers(const struct pm_formulas *f, const struct pm_insn *insn) {
    uint32_t frame = UINT32_C(1) << f->lifted->isa->stack_pointer;
    if (f->frame_pointer >= 0)
        frame |= UINT32_C(1) << f->frame_pointer;
    return ((insn->registers->uses.general | insn->registers->defs.general) & frame) != 0;
}

static void set_register(struct walk *walk, uint32_t i, int w, uint8_t place,
                         const struct pm_definition *definitions, unsigned n,
                         const struct state *before, struct state *state) {
    const struct pm_definition *sum = find_definition(definitions, n, place);
    if (sum && frame_sum(walk->f, before, sum, &state->offset[w])) {
        state->known[w] = true;
        return;
    }
    const struct pm_insn *insn = &walk->f->lifted->insns[i];
    bool is_aligned = w == 0 && before->known[0] && before->offset[0] > aligned_frame / 2 && !sum &&
                      insn->n_memory == 0 &&
                      (insn->registers->uses.general & UINT32_MAX) == UINT32_C(1) << place;
    state->known[w] = is_aligned;
    state->offset[w] = aligned_frame;
}

static void step(struct walk *walk, uint32_t i, struct state *state) {
    struct pm_formulas *f = walk->f;
    const struct pm_insn *insn = &f->lifted->insns[i];
    if (!touches_frame_registers(f, insn))
        return;
    look_at_operands(walk, i, state);
    if (insn->control != PM_CONTROL_NONE)
        return; /* calls give the stack pointer back */
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    uint64_t other = insn->registers->uses.general;
    uint64_t frame[2] = {UINT64_C(1) << f->lifted->isa->stack_pointer,
                         f->frame_pointer < 0 ? 0 : UINT64_C(1) << f->frame_pointer};
    bool only_operands = !(insn->registers->defs.general & (frame[0] | frame[1]));
    for (unsigned k = 0; k < insn->n_memory; k++) {
        /* A register that addresses memory is not a value; if it is both, `define` tells. */
        if (insn->memory[k].base < PM_N_GENERAL)
            other &= ~(UINT64_C(1) << insn->memory[k].base);
    }
    if (only_operands && !(other & (frame[0] | frame[1])) &&
        !(insn->n_memory && insn->memory[0].access == PM_ACCESS_STORE))
        return;
    struct state before = *state;
    unsigned n = f->lifted->isa->define(pm_insn_bytes(f->lifted, i), insn, definitions);
    for (int w = 0; w < 2; w++)
        if (insn->registers->defs.general & frame[w])
            set_register(walk, i, w, w ? (uint8_t)f->frame_pointer : f->lifted->isa->stack_pointer,
                         definitions, n, &before, state);
    bool explained = only_operands && !(other & (frame[0] | frame[1]));
    for (unsigned k = 0; k < n; k++) {
        int64_t offset;
        if (definitions[k].place == PM_PLACE_FLAGS || which(f, definitions[k].place) >= 0) {
            explained |= definitions[k].place != PM_PLACE_FLAGS;
            continue;
        }
        if (!names_frame(f, &before, &definitions[k]))
            continue;
        explained = true;
        if (frame_sum(f, &before, &definitions[k], &offset)) {
            compute_address(walk, offset);
            continue;
        }
        for (unsigned t = 0; t < definitions[k].n_terms; t++) { /* plus something */
            int w = which(f, definitions[k].terms[t].place);
            if (w >= 0 && before.known[w])
                compute_address(walk, before.offset[w] + definitions[k].constant);
        }
    }
    for (int w = 0; w < 2; w++) /* in a way that is not understood */
        if (!explained && (other & frame[w]) && before.known[w] &&
            !(insn->registers->defs.general & frame[w]) && n == 0)
            walk->is_broken = true;
}

static struct state state_at_start(const struct walk *walk, uint32_t vertex, bool *agree) {
    const struct pm_formulas *f = walk->f;
    struct state state = {{false, false}, {0, 0}};
    bool is_first = true;
    for (uint32_t k = f->flow->first_in[vertex]; k < f->flow->first_in[vertex + 1]; k++) {
        uint32_t e = f->flow->in[k], from = pm_flow_from(f->flow, e);
        struct state next = walk->at_end[from];
        if (from == f->flow->entry)
            next.known[0] = f->flow->edges[e].kind == PM_EDGE_ENTRY;
        else if (f->position[from] >= f->position[vertex])
            continue; /* compared when all are done */
        if (is_first)
            state = next;
        for (int w = 0; w < 2; w++)
            if (state.known[w] != next.known[w] ||
                (state.known[w] && state.offset[w] != next.offset[w])) {
                *agree &= w == 1 && !(state.known[w] && next.known[w]);
                state.known[w] = false;
            }
        is_first = false;
    }
    return state;
}

static void check_ways_back(struct walk *walk, const struct state *at_start) {
    const struct pm_formulas *f = walk->f;
    for (uint32_t e = 0; e < f->flow->n_edges; e++) {
        uint32_t from = pm_flow_from(f->flow, e), to = pm_flow_to(f->flow, e);
        if (to == f->flow->exit || from == f->flow->entry || f->position[from] == PM_NONE ||
            f->position[from] < f->position[to])
            continue;
        for (int w = 0; w < 2; w++)
            if (at_start[to].known[w] && (!walk->at_end[from].known[w] ||
                                          walk->at_end[from].offset[w] != at_start[to].offset[w]))
                walk->is_broken = true;
    }
}

/* ---- slots ----------------------------------------------------------------------------------- */

static int compare_slots(const void *left, const void *right) {
    const struct pm_slot *a = left, *b = right;
    if (a->offset != b->offset)
        return PM_COMPARE(a->offset, b->offset);
    return (a->size_bytes < b->size_bytes) - (a->size_bytes > b->size_bytes); /* larger first */
}

static int compare_accesses(const void *left, const void *right) {
    const struct pm_frame_access *a = left, *b = right;
    if (a->insn != b->insn)
        return PM_COMPARE(a->insn, b->insn);
    return PM_COMPARE(a->operand, b->operand);
}

/* Places that are loaded from whole, and do not overlap. */
static void make_slots(struct walk *walk) {
    struct pm_formulas *f = walk->f;
    for (size_t a = 0; a < f->n_accesses; a++) {
        const struct pm_frame_access *access = &f->accesses[a];
        const struct pm_memory_operand *operand =
            &f->lifted->insns[access->insn].memory[access->operand];
        bool is_free = access->offset < 0 ? access->offset < walk->lowest
                                          : access->offset < walk->lowest_of_caller;
        if (is_free && (operand->access & PM_ACCESS_LOAD) &&
            (operand->size_bytes == 4 || operand->size_bytes == 8))
            *PM_PUSH(f, slots) = (struct pm_slot){access->offset, operand->size_bytes};
    }
    PM_SORT(f->slots, f->n_slots, compare_slots);
    size_t n = 0;
    for (size_t i = 0; i < f->n_slots; i++)
        if (n == 0 || f->slots[i].offset >= f->slots[n - 1].offset + f->slots[n - 1].size_bytes)
            f->slots[n++] = f->slots[i];
    f->n_slots = n < PM_MOST_SLOTS ? n : PM_MOST_SLOTS;
}

uint32_t pm_slot_at(const struct pm_formulas *f, int64_t offset) {
    size_t low = PM_LOWER_BOUND(f->n_slots, i, f->slots[i].offset < offset);
    return low < f->n_slots && f->slots[low].offset == offset ? PM_N_GENERAL + (uint32_t)low
                                                              : PM_NONE;
}

const struct pm_frame_access *pm_frame_access_of(const struct pm_formulas *f, uint32_t insn,
                                                 unsigned operand) {
    struct pm_frame_access key = {insn, (uint8_t)operand, 0};
    return f->n_accesses ? bsearch(&key, f->accesses, f->n_accesses, sizeof key, compare_accesses)
                         : NULL;
}

bool pm_formula_is_slot(struct pm_formulas *f, uint32_t insn, unsigned operand) {
    const struct pm_frame_access *access = pm_frame_access_of(f, insn, operand);
    return access && pm_slot_at(f, access->offset) != PM_NONE;
}

void pm_find_frame(struct pm_formulas *f) {
    struct walk walk = {.f = f, .lowest = 0, .lowest_of_caller = INT64_MAX};
    struct state *at_start = pm_alloc(f->flow->n_vertices, sizeof *at_start);
    walk.at_end = pm_alloc(f->flow->n_vertices, sizeof *walk.at_end);
    find_frame_pointer(f);
    for (uint32_t o = 0; o < f->n_order; o++) {
        uint32_t vertex = f->order[o];
        if (vertex >= f->flow->n_blocks)
            continue;
        bool agree = true;
        struct state state = at_start[vertex] = state_at_start(&walk, vertex, &agree);
        walk.is_broken |= !agree;
        const struct pm_block_code *code = &f->lifted->block_codes[f->first_block + vertex];
        for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++)
            step(&walk, i, &state);
        walk.at_end[vertex] = state;
    }
    check_ways_back(&walk, at_start);
    PM_SORT(f->accesses, f->n_accesses, compare_accesses);
    if (walk.is_broken)
        f->n_accesses = 0; /* nothing is known of the frame */
    make_slots(&walk);
    free(at_start);
    free(walk.at_end);
}
