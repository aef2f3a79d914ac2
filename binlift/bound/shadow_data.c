/* The data of a nest's shadow loop; its code is the ISA's. */
#include "binlift/bound/bound.h"

#include <stdlib.h>
#include <string.h>

enum { DATA_ALIGNMENT = 64 };

static uint32_t round_up(uint32_t bytes) {
    return (bytes + DATA_ALIGNMENT - 1) & ~(uint32_t)(DATA_ALIGNMENT - 1);
}

/* Appends BYTES zeros; where they begin. */
static uint32_t append_zeros(struct pm_shadow_loop *copy, uint32_t bytes) {
    uint32_t at = (uint32_t)copy->n_data;
    for (uint32_t i = 0; i < bytes; i++)
        *PM_PUSH(copy, data) = 0;
    return at;
}

/* The outcomes in words as core/bound_abi.h has them, and a 0. */
static void append_ring(struct pm_shadow_loop *copy, const struct pm_bound_outcomes *outcomes) {
    for (uint32_t i = 0; i < outcomes->n;) {
        uint64_t word = 0, bit = PM_BOUND_NOTHING_LEFT;
        for (; i < outcomes->n && bit > 1; i++, bit >>= 1)
            if (outcomes->bits[i / 64] >> i % 64 & 1)
                word |= bit;
        word |= bit;
        uint32_t at = append_zeros(copy, sizeof word);
        memcpy(copy->data + at, &word, sizeof word);
    }
    append_zeros(copy, sizeof(uint64_t));
}

static void append_replay(struct pm_shadow_loop *copy, uint32_t i,
                          const struct pm_bound_outcomes *outcomes) {
    uint64_t first = copy->n_data;
    struct pm_bound_replay replay = {.word = PM_BOUND_NOTHING_LEFT,
                                     .next = first,
                                     .first = first,
                                     .signs = {PM_BOUND_NOTHING_LEFT, PM_BOUND_NOTHING_LEFT}};
    if (outcomes->n > 0)
        replay.budget = (int64_t)(outcomes->executions / outcomes->n);
    memcpy(copy->data + copy->first_replay + i * sizeof replay, &replay, sizeof replay);
    append_ring(copy, outcomes);
}

/* A prefetch needs a place, too: there is always one. */
static void make_data(const struct pm_bound_request *request, struct pm_shadow_loop *copy) {
    const struct pm_bound_nest *nest = request->nest;
    uint32_t slot_bytes = nest->slot_bytes > 0 ? nest->slot_bytes : 1;
    append_zeros(copy, round_up(slot_bytes));
    if (request->recorded.slots && nest->slot_bytes > 0)
        memcpy(copy->data, request->recorded.slots, nest->slot_bytes);
    copy->first_replay =
        append_zeros(copy, round_up(nest->n_replayed * (uint32_t)sizeof(struct pm_bound_replay)));
    copy->library_place = append_zeros(copy, DATA_ALIGNMENT);
    for (uint32_t i = 0; i < nest->n_replayed; i++) {
        struct pm_bound_outcomes none = {0};
        append_replay(copy, i, request->recorded.outcomes ? &request->recorded.outcomes[i] : &none);
    }
}

uint32_t pm_bound_block_of(const struct pm_lifted *lifted, uint32_t insn) {
    return lifted->insn_block[insn];
}

pm_live_set *pm_bound_liveness(const struct pm_lifted *lifted, const struct pm_bound_plan *plan) {
    const struct pm_structure *structure = lifted->structure;
    bool *followed = pm_alloc(structure->n_routines, sizeof *followed);
    for (size_t i = 0; i < plan->n_blocks; i++)
        followed[structure->blocks[plan->blocks[i]].routine] = true;
    pm_live_set *live = pm_find_liveness(lifted, followed, NULL);
    free(followed);
    return live;
}

void pm_bound_fill_slots(const struct pm_bound_plan *plan, const struct pm_bound_nest *nest,
                         const uint8_t *values, size_t stride, uint8_t *slots) {
    const struct pm_bound_access *all = plan->accesses;
    for (uint32_t i = nest->first_access; i < nest->first_access + nest->n_accesses; i++) {
        if (all[i].load_slot == PM_NONE)
            continue;
        const struct pm_bound_slot *to = &plan->slots[all[i].load_slot];
        uint32_t from = all[all[i].recorded].load_slot;
        uint32_t bytes = plan->slots[from].size_bytes;
        memcpy(slots + to->offset, values + from * stride,
               bytes < to->size_bytes ? bytes : to->size_bytes);
    }
}

bool pm_make_shadow_loop(const struct pm_bound_request *request, struct pm_shadow_loop *copy) {
    if (!request->lifted->isa->shadow_loop)
        return false;
    make_data(request, copy);
    return request->lifted->isa->shadow_loop(request, copy);
}

void pm_shadow_loop_free(struct pm_shadow_loop *copy) {
    free(copy->data);
    free(copy->code);
    free(copy->relocations);
    memset(copy, 0, sizeof *copy);
}
