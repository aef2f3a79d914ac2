/* The code that appends memory records, before the instruction that accesses memory, because it may
   overwrite its own base register.

   In a segment the pointer register holds next; records go to fixed offsets from it
   (plan_address_records.c). What addresses they need is computed into a register that is dead
   there, or into one that is spilled around it. */
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

void pm_x86_put_segment_start(struct pm_rewrite *rewrite, const struct pm_segment *segment,
                              uint32_t slow_label, uint32_t back_label) {
    struct pm_code *code = &rewrite->code;
    bool rax_live = rewrite->live[segment->first] & PM_LIVE_BIT(PM_RAX);
    if (segment->spills_pointer)
        pm_put_store_gs(code, segment->pointer, PM_SLOT_POINTER);
    if (segment->address != PM_REGISTER_NONE)
        pm_put_store_gs(code, segment->address, PM_SLOT_ADDRESS);
    pm_put_load_gs(code, segment->pointer, PM_CB_NEXT);
    if (segment->saves_flags) {
        if (rax_live)
            pm_put_store_gs(code, PM_RAX, PM_SLOT_FLAGS);
        pm_put_save_flags(code);
    }
    pm_put_compare_gs(code, segment->pointer, PM_CB_LIMIT);
    pm_code_branch(code, PM_CONDITION_A, pm_to_label(slow_label));
    pm_code_bind(code, back_label);
    if (segment->saves_flags) {
        pm_put_restore_flags(code);
        if (rax_live)
            pm_put_load_gs(code, PM_RAX, PM_SLOT_FLAGS);
    }
}

void pm_x86_put_segment_end(struct pm_rewrite *rewrite, const struct pm_segment *segment) {
    struct pm_code *code = &rewrite->code;
    pm_put_lea(code, segment->pointer, segment->pointer, (int32_t)segment->n_bytes);
    pm_put_store_gs(code, segment->pointer, PM_CB_NEXT);
    if (segment->spills_pointer)
        pm_put_load_gs(code, segment->pointer, PM_SLOT_POINTER);
    if (segment->address != PM_REGISTER_NONE)
        pm_put_load_gs(code, segment->address, PM_SLOT_ADDRESS);
}

void pm_x86_put_slow_path(struct pm_rewrite *rewrite, const struct pm_segment *segment,
                          uint32_t slow_label, uint32_t back_label) {
    struct pm_code *code = &rewrite->code;
    uint32_t resume = pm_code_new_labels(code, 1);
    pm_code_bind(code, slow_label);
    pm_put_lea_target(code, segment->pointer, pm_to_label(resume));
    pm_put_store_gs(code, segment->pointer, PM_CB_RETURN);
    pm_put_jump_gs(code, PM_CB_SLOW);
    pm_code_bind(code, resume);
    pm_put_load_gs(code, segment->pointer, PM_CB_NEXT);
    pm_code_jump(code, pm_to_label(back_label));
}

/* ---- addresses ------------------------------------------------------------------------------ */

void pm_x86_put_address(struct pm_rewrite *rewrite, const struct pm_memory_operand *memory,
                        unsigned reg) {
    struct pm_code *code = &rewrite->code;
    bool is_gather = memory->kind == PM_ACCESS_GATHER_K || memory->kind == PM_ACCESS_GATHER_V;
    uint8_t index = is_gather ? PM_REGISTER_NONE : memory->index;
    int32_t displacement = (int32_t)memory->displacement;
    if (memory->base == PM_REGISTER_PC) {
        pm_put_lea_target(code, reg, pm_to_address((uint64_t)memory->displacement));
        return;
    }
    if (memory->segment != 1) {
        pm_put_lea_indexed(code, reg, memory->base, index, memory->scale, displacement);
        return;
    }
    pm_put_load_fs_base(code, reg);
    if (memory->base == PM_REGISTER_NONE) {
        pm_put_lea_indexed(code, reg, (uint8_t)reg, index, memory->scale, displacement);
        return;
    }
    /* Three registers: the base goes in as an index of scale 1 (which %rsp cannot be). */
    if (memory->base == PM_RSP)
        pm_put_lea_indexed(code, reg, PM_RSP, (uint8_t)reg, 1, displacement);
    else
        pm_put_lea_indexed(code, reg, (uint8_t)reg, memory->base, 1, displacement);
    if (index != PM_REGISTER_NONE)
        pm_put_lea_indexed(code, reg, (uint8_t)reg, index, memory->scale, 0);
}

/* ---- payloads ------------------------------------------------------------------------------- */

static void put_string_payload(struct pm_rewrite *rewrite, unsigned pointer, unsigned reg,
                               int32_t at) {
    pm_put_store(&rewrite->code, PM_RCX, pointer, at);
    if (!rewrite
             ->sets_direction_flag) { /* then it is clear, as the ABI wants it between routines */
        pm_put_store_immediate(&rewrite->code, 0, pointer, at + 8);
        return;
    }
    pm_put_read_flags_register(&rewrite->code, reg);
    pm_put_store(&rewrite->code, reg, pointer, at + 8);
}

static void put_mask_register(struct pm_rewrite *rewrite, const struct pm_memory_operand *memory,
                              unsigned pointer, unsigned reg, int32_t at) {
    pm_put_read_mask(&rewrite->code, reg, memory->mask, memory->elements > 16);
    pm_put_store(&rewrite->code, reg, pointer, at);
    pm_put_store_immediate(&rewrite->code, 0, pointer, at + 8);
}

static void put_payload(struct pm_rewrite *rewrite, uint32_t k,
                        const struct pm_memory_operand *memory, unsigned pointer, unsigned reg,
                        int32_t at) {
    struct pm_code *code = &rewrite->code;
    bool is_vex = (*pm_insn_bytes(rewrite->lifted, k) & 0xfe) == 0xc4;
    switch (memory->kind) {
    case PM_ACCESS_STRING:
        put_string_payload(rewrite, pointer, reg, at);
        break;
    case PM_ACCESS_MASK_K:
    case PM_ACCESS_PACKED_K:
        put_mask_register(rewrite, memory, pointer, reg, at);
        break;
    case PM_ACCESS_BIT:
        pm_put_store(code, memory->mask, pointer, at);
        pm_put_store_immediate(code, 0, pointer, at + 8);
        break;
    case PM_ACCESS_MASK_V:
        if (is_vex) {
            pm_put_store_ymm(code, memory->mask, pointer, at);
            break;
        }
        pm_put_store_xmm(code, memory->mask, pointer, at);
        pm_put_store_immediate(code, 0, pointer, at + 16);
        pm_put_store_immediate(code, 0, pointer, at + 24);
        break;
    case PM_ACCESS_GATHER_K:
        put_mask_register(rewrite, memory, pointer, reg, at);
        pm_put_store_zmm(code, memory->index, pointer, at + 16);
        break;
    case PM_ACCESS_GATHER_V:
        pm_put_store_ymm(code, memory->mask, pointer, at);
        pm_put_store_ymm(code, memory->index, pointer, at + 32);
        break;
    default:
        break;
    }
}

/* ---- records -------------------------------------------------------------------------------- */

/* A register for the addresses of instruction K: dead there, else the segment's, else one that K
   does not use, spilled for K alone. */
static unsigned choose_scratch(const struct pm_rewrite *rewrite, const struct pm_segment *segment,
                               uint32_t k, bool *spills) {
    pm_live_set never = PM_LIVE_BIT(PM_RSP) | PM_LIVE_BIT(segment->pointer);
    pm_live_set dead = ~(rewrite->live[k] | never) & PM_LIVE_REGISTERS;
    pm_live_set unused =
        ~(pm_live_from(rewrite->lifted->insns[k].registers->uses) | never) & PM_LIVE_REGISTERS;
    *spills = !dead && segment->address == PM_REGISTER_NONE;
    if (!dead && !*spills)
        return segment->address;
    return (unsigned)__builtin_ctz(dead ? dead : unused);
}

/* A plain base register holds the address as it is. */
static bool is_bare_base(const struct pm_memory_operand *memory) {
    return memory->base < 16 && memory->displacement == 0 && memory->segment == 0 &&
           (memory->index == PM_REGISTER_NONE || memory->kind == PM_ACCESS_GATHER_K ||
            memory->kind == PM_ACCESS_GATHER_V);
}

static void put_record(struct pm_rewrite *rewrite, const struct pm_segment *segment, uint32_t k,
                       uint32_t r, unsigned reg) {
    struct pm_code *code = &rewrite->code;
    const struct pm_reference *reference = &rewrite->lifted->structure->references[r];
    const struct pm_memory_operand *memory = &rewrite->lifted->insns[k].memory[reference->operand];
    const struct pm_record_place *place = &rewrite->record_places[r];
    uint32_t first = rewrite->plan->options->first_reference; /* of address records too */
    if (place->header_at >= 0)
        pm_put_store_immediate(
            code,
            (int32_t)(first + (place->address_record == PM_NONE
                                   ? r
                                   : PM_RECORD_IS_ADDRESSES + place->address_record)),
            segment->pointer, place->header_at);
    if (place->address_at < 0)
        return;
    unsigned address = memory->base;
    if (!is_bare_base(memory))
        pm_x86_put_address(rewrite, memory, address = reg);
    pm_put_store(code, address, segment->pointer, place->address_at);
    put_payload(rewrite, k, memory, segment->pointer, reg, place->address_at + 8);
}

bool pm_x86_stores_address(const struct pm_rewrite *rewrite, uint32_t k) {
    const struct pm_lifted *lifted = rewrite->lifted;
    for (uint32_t r = lifted->insn_references[k]; r < pm_x86_end_references(lifted, k); r++)
        if (rewrite->record_places[r].address_at >= 0)
            return true;
    return false;
}

void pm_x86_put_records(struct pm_rewrite *rewrite, const struct pm_segment *segment, uint32_t k) {
    const struct pm_lifted *lifted = rewrite->lifted;
    struct pm_code *code = &rewrite->code;
    bool spills = false;
    unsigned reg = PM_REGISTER_NONE;
    if (pm_x86_stores_address(rewrite, k))
        reg = choose_scratch(rewrite, segment, k, &spills);
    if (spills)
        pm_put_store_gs(code, reg, PM_SLOT_SCRATCH);
    for (uint32_t r = lifted->insn_references[k]; r < pm_x86_end_references(lifted, k); r++)
        put_record(rewrite, segment, k, r, reg);
    if (spills)
        pm_put_load_gs(code, reg, PM_SLOT_SCRATCH);
}
