/* Slots: which references share one, how large each is, and where it lies. */
#include "binlift/bound/private.h"

#include <stdlib.h>

/* Further apart, a chain through memory is shorter than what else takes time. */
enum { MOST_BIASED_DISTANCE = 16, MOST_SLOT_BYTES = 64, RED_ZONE_BYTES = 128 };

/* The two halves of a reference: its load and its store. */
enum { LOADED = 0, STORED = 1, N_HALVES = 2 };

struct layout {
    const struct pm_nest_work *work;
    uint32_t *shares;  /* per half: another that it shares its slot with, or itself */
    uint32_t *nearest; /* per operand: iterations since the store was that its load gets; PM_NONE */
    uint32_t *slots;   /* per half that others share: its slot */
};

static uint32_t find(const struct layout *layout, size_t half) {
    while (layout->shares[half] != half)
        half = layout->shares[half];
    return (uint32_t)half;
}

static void join(struct layout *layout, size_t a, size_t b) {
    layout->shares[find(layout, a)] = find(layout, b);
}

/* The operand of REFERENCE, if it is in a slot; n_operands: it is not. */
static size_t operand_of(const struct pm_nest_work *work, uint32_t reference) {
    size_t i = PM_LOWER_BOUND(work->n_operands, k, work->operands[k].reference < reference);
    bool found = i < work->n_operands && work->operands[i].reference == reference &&
                 work->operands[i].kind == PM_IN_SLOT;
    return found ? i : work->n_operands;
}

static bool has_half(const struct pm_bound_operand *operand, unsigned half) {
    return (operand->access & (half == LOADED ? PM_ACCESS_LOAD : PM_ACCESS_STORE)) != 0;
}

/* ---- who shares ------------------------------------------------------------------------------ */

/* Is D of a store that a load gets?  Both in slots: *STORE, *LOAD. */
static bool is_flow(const struct pm_nest_work *work, const struct pm_dependence *d, size_t *store,
                    size_t *load) {
    if (d->kind != PM_DEPENDS_SAME || d->from == PM_NONE)
        return false;
    *store = operand_of(work, d->from);
    *load = operand_of(work, d->to);
    return *store < work->n_operands && *load < work->n_operands &&
           has_half(&work->operands[*store], STORED) && has_half(&work->operands[*load], LOADED);
}

static void note_nearest(struct layout *layout, const struct pm_dependence *all, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t store, load;
        if (is_flow(layout->work, &all[i], &store, &load) &&
            all[i].distance < layout->nearest[load])
            layout->nearest[load] = all[i].distance;
    }
}

static void share_in_loop(struct layout *layout, uint32_t loop, struct pm_bound_nest *nest) {
    size_t n;
    const struct pm_dependence *all =
        pm_structure_dependences(layout->work->lifted->structure, loop, &n);
    note_nearest(layout, all, n);
    for (size_t i = 0; i < n; i++) {
        size_t store, load;
        nest->all_unknown += all[i].from == PM_NONE;
        nest->n_unknown += all[i].from != PM_NONE && all[i].kind == PM_DEPENDS_UNKNOWN &&
                           operand_of(layout->work, all[i].from) < layout->work->n_operands &&
                           operand_of(layout->work, all[i].to) < layout->work->n_operands;
        if (is_flow(layout->work, &all[i], &store, &load) && all[i].distance <= 1 &&
            all[i].distance == layout->nearest[load])
            join(layout, N_HALVES * store + STORED, N_HALVES * load + LOADED);
    }
}

static void share(struct layout *layout, struct pm_bound_nest *nest) {
    const struct pm_nest_work *work = layout->work;
    const struct pm_structure *structure = work->lifted->structure;
    uint32_t *loops = pm_alloc(work->n_blocks, sizeof *loops);
    for (size_t i = 0; i < work->n_blocks; i++)
        loops[i] = structure->blocks[work->blocks[i]].loop;
    PM_SORT(loops, work->n_blocks, pm_compare_u32);
    for (size_t i = 0; i < work->n_blocks; i++)
        if (loops[i] != PM_NONE && (i == 0 || loops[i] != loops[i - 1]))
            share_in_loop(layout, loops[i], nest);
    for (size_t i = 0; i < work->n_operands; i++)
        nest->n_biased += layout->nearest[i] > 1 && layout->nearest[i] <= MOST_BIASED_DISTANCE;
    free(loops);
}

/* ---- where they lie -------------------------------------------------------------------------- */

static uint32_t slot_bytes(const struct pm_nest_work *work,
                           const struct pm_bound_operand *operand) {
    const struct pm_memory_operand *memory = pm_bound_memory(work, operand);
    uint32_t elements = memory->kind == PM_ACCESS_PLAIN ? 1 : memory->elements;
    uint32_t bytes = memory->size_bytes * elements, size = 1;
    while (size < bytes && size < MOST_SLOT_BYTES)
        size *= 2;
    return size;
}

/* Gives a slot to each set of halves that share one, as large as the largest half. */
static void make_slots(struct layout *layout, struct pm_bound_nest *nest,
                       struct pm_bound_plan *plan) {
    const struct pm_nest_work *work = layout->work;
    nest->first_slot = (uint32_t)plan->n_slots;
    for (size_t half = 0; half < N_HALVES * work->n_operands; half++) {
        const struct pm_bound_operand *operand = &work->operands[half / N_HALVES];
        if (operand->kind != PM_IN_SLOT || !has_half(operand, half % N_HALVES))
            continue;
        uint32_t root = find(layout, half), bytes = slot_bytes(work, operand);
        if (layout->slots[root] == PM_NONE) {
            layout->slots[root] = (uint32_t)plan->n_slots;
            *PM_PUSH(plan, slots) = (struct pm_bound_slot){0};
        }
        struct pm_bound_slot *slot = &plan->slots[layout->slots[root]];
        slot->size_bytes = slot->size_bytes < bytes ? bytes : slot->size_bytes;
    }
    nest->n_slots = (uint32_t)plan->n_slots - nest->first_slot;
}

/* The largest first, so that each is aligned to its size without gaps. */
static void place_slots(struct pm_bound_nest *nest, struct pm_bound_plan *plan) {
    for (uint32_t size = MOST_SLOT_BYTES; size > 0; size /= 2)
        for (uint32_t i = nest->first_slot; i < nest->first_slot + nest->n_slots; i++)
            if (plan->slots[i].size_bytes == size) {
                plan->slots[i].offset = nest->slot_bytes;
                nest->slot_bytes += size;
            }
}

/* How the address moves in the innermost loop in which it moves; false: in no constant steps. */
static bool step_of(const struct pm_nest_work *work, const struct pm_bound_operand *operand,
                    int64_t *step) {
    struct pm_formula_level levels[PM_MOST_LEVELS];
    struct pm_formulas *formulas =
        pm_bound_formulas(work, pm_bound_routine_of(work, operand->insn));
    uint32_t n =
        pm_formula_levels(formulas, operand->insn, operand->operand, levels, PM_MOST_LEVELS);
    *step = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (levels[i].step.kind != PM_STRIDE_CONSTANT)
            return false;
        *step = levels[i].step.bytes;
        if (*step != 0 || levels[i].loop == work->loop)
            return true;
    }
    return true;
}

static void add_accesses(const struct layout *layout, struct pm_bound_nest *nest,
                         struct pm_bound_plan *plan) {
    const struct pm_nest_work *work = layout->work;
    nest->first_access = (uint32_t)plan->n_accesses;
    nest->n_accesses = (uint32_t)work->n_operands;
    for (size_t i = 0; i < work->n_operands; i++) {
        uint32_t slots[N_HALVES] = {PM_NONE, PM_NONE};
        for (unsigned half = 0; half < N_HALVES; half++)
            if (work->operands[i].kind == PM_IN_SLOT && has_half(&work->operands[i], half))
                slots[half] = layout->slots[find(layout, N_HALVES * i + half)];
        int64_t step = 0;
        bool has_step = (slots[LOADED] != PM_NONE || slots[STORED] != PM_NONE) &&
                        step_of(work, &work->operands[i], &step);
        *PM_PUSH(plan, accesses) =
            (struct pm_bound_access){.reference = work->operands[i].reference,
                                     .load_slot = slots[LOADED],
                                     .store_slot = slots[STORED],
                                     .has_step = has_step,
                                     .step = step};
    }
}

/* ---- what kept stores write ------------------------------------------------------------------ */

/* Relative to a register as the nest finds it. */
static struct pm_bound_saved saved_of(const struct pm_nest_work *work,
                                      const struct pm_bound_operand *operand) {
    const struct pm_memory_operand *memory = pm_bound_memory(work, operand);
    int64_t displacement = memory->displacement;
    if (work->stack_moves && memory->base == work->lifted->isa->stack_pointer)
        displacement = operand->place - work->height;
    return (struct pm_bound_saved){displacement, memory->size_bytes, memory->base};
}

static void add_saved(struct pm_bound_nest *nest, struct pm_bound_plan *plan,
                      const struct pm_bound_saved *saved) {
    for (size_t k = nest->first_saved; k < plan->n_saved; k++)
        if (plan->saved[k].base == saved->base &&
            plan->saved[k].displacement == saved->displacement &&
            plan->saved[k].size_bytes == saved->size_bytes)
            return;
    *PM_PUSH(plan, saved) = *saved;
}

/* Of the nest's own routine.  What is called stores below the stack pointer, where nothing counts
   but the red zone. */
static void list_saved(const struct pm_nest_work *work, struct pm_bound_nest *nest,
                       struct pm_bound_plan *plan) {
    uint8_t stack_pointer = work->lifted->isa->stack_pointer;
    nest->first_saved = (uint32_t)plan->n_saved;
    for (size_t i = 0; i < work->n_operands; i++) {
        bool is_pushed = pm_bound_memory(work, &work->operands[i])->implicit;
        if (work->operands[i].kind != PM_IN_FRAME || is_pushed ||
            !(work->operands[i].access & PM_ACCESS_STORE) ||
            pm_bound_routine_of(work, work->operands[i].insn) != work->routine)
            continue;
        struct pm_bound_saved saved = saved_of(work, &work->operands[i]);
        add_saved(nest, plan, &saved);
    }
    if (work->n_callees > 0 || work->n_library > 0 || work->stack_moves)
        add_saved(nest, plan,
                  &(struct pm_bound_saved){-RED_ZONE_BYTES, RED_ZONE_BYTES, stack_pointer});
    nest->n_saved = (uint32_t)plan->n_saved - nest->first_saved;
}

void pm_bound_add_nest(const struct pm_nest_work *work, struct pm_bound_plan *plan) {
    size_t n_halves = N_HALVES * work->n_operands;
    struct layout layout = {.work = work,
                            .shares = pm_alloc(n_halves + 1, sizeof *layout.shares),
                            .nearest = pm_alloc(work->n_operands + 1, sizeof *layout.nearest),
                            .slots = pm_alloc(n_halves + 1, sizeof *layout.slots)};
    struct pm_bound_nest nest = {.loop = work->loop,
                                 .n_chased = work->n_chased,
                                 .n_routines = (uint32_t)work->n_callees,
                                 .n_library = work->n_library,
                                 .all_unknown = (uint32_t)work->n_callees};
    for (size_t i = 0; i < n_halves; i++) {
        layout.shares[i] = (uint32_t)i;
        layout.slots[i] = PM_NONE;
    }
    for (size_t i = 0; i < work->n_operands; i++)
        layout.nearest[i] = PM_NONE;
    share(&layout, &nest);
    make_slots(&layout, &nest, plan);
    place_slots(&nest, plan);
    add_accesses(&layout, &nest, plan);
    list_saved(work, &nest, plan);
    nest.first_block = (uint32_t)plan->n_blocks;
    nest.n_blocks = (uint32_t)work->n_blocks;
    for (size_t i = 0; i < work->n_blocks; i++)
        *PM_PUSH(plan, blocks) = work->blocks[i];
    nest.first_replayed = (uint32_t)plan->n_replayed;
    nest.n_replayed = (uint32_t)work->n_replayed;
    for (size_t i = 0; i < work->n_replayed; i++)
        *PM_PUSH(plan, replayed) = work->replayed[i];
    *PM_PUSH(plan, nests) = nest;
    free(layout.shares);
    free(layout.nearest);
    free(layout.slots);
}
