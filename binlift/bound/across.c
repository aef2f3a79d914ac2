/* Accesses that lie across two lines of the first cache: such a one takes two accesses of it,
   though it misses nothing.  Of a loop's loads, and of its stores, as many get slots that lie so as
   do in the loop, on the average: of two loads of which each lies so every other time, one always
   does, one never. */
#include "binlift/bound/bound.h"
#include "binlift/code/code.h"
#include "core/base/base.h"

#include <stdlib.h>

enum { LINE = 64 };

/* Of the accesses to BYTES at ADDRESS, and every STEP bytes from there, which share does? */
static double share_across(uint64_t address, int64_t step, uint32_t bytes) {
    uint64_t apart = pm_greatest_divisor(LINE, (uint64_t)llabs(step % LINE));
    return pm_share_across(address, apart, bytes, LINE);
}

static const struct pm_reference *reference_of(const struct pm_lifted *lifted,
                                               const struct pm_bound_access *access) {
    return &lifted->structure->references[access->reference];
}

static uint32_t bytes_of(const struct pm_lifted *lifted, const struct pm_bound_access *access) {
    const struct pm_reference *r = reference_of(lifted, access);
    const struct pm_memory_operand *memory =
        &lifted->insns[pm_insn_at(lifted, r->address)].memory[r->operand];
    return memory->kind == PM_ACCESS_PLAIN ? memory->size_bytes : 0;
}

/* Behind all others, half in one line and half in the next. */
static void move_across(struct pm_bound_slot *slot, uint32_t bytes, struct pm_bound_nest *nest) {
    uint32_t line = (nest->slot_bytes + LINE - 1) / LINE * LINE;
    slot->offset = line + LINE - bytes / 2;
    nest->slot_bytes = slot->offset + slot->size_bytes;
    nest->n_across++;
}

void pm_bound_place_across(const struct pm_lifted *lifted, struct pm_bound_plan *plan,
                           struct pm_bound_nest *nest, const uint64_t *addresses, size_t stride) {
    bool *placed = pm_alloc(nest->n_slots + 1, sizeof *placed);
    uint32_t block = PM_NONE;
    double due[2] = {0, 0}; /* of loads and stores in the basic block at hand: that should lie
                               across, less those that do */
    for (uint32_t i = nest->first_access; i < nest->first_access + nest->n_accesses; i++) {
        const struct pm_bound_access *access = &plan->accesses[i];
        uint32_t bytes = bytes_of(lifted, access);
        if (access->recorded == PM_NONE || bytes < 2 ||
            placed[pm_bound_slot_of(access) - nest->first_slot])
            continue;
        uint32_t from = pm_bound_slot_of(&plan->accesses[access->recorded]);
        bool stores = access->load_slot == PM_NONE;
        uint64_t address =
            *(const uint64_t *)(const void *)((const uint8_t *)addresses + from * stride);
        placed[pm_bound_slot_of(access) - nest->first_slot] = true;
        if (reference_of(lifted, access)->block != block)
            due[0] = due[1] = 0;
        block = reference_of(lifted, access)->block;
        if (access->has_step && address)
            due[stores] += share_across(address, access->step, bytes);
        if (due[stores] < 0.5)
            continue;
        due[stores] -= 1;
        move_across(&plan->slots[pm_bound_slot_of(access)], bytes, nest);
    }
    free(placed);
}
