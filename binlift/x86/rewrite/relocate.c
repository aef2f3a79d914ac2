/* One instruction at its new place.  What is no control flow is copied, with its pc-relative field
   recomputed.  Direct branches are made anew, so that they take the form that reaches.

   A call moves as well where that is certain (copy/moving_calls.c): it returns to the new code, of
   which new unwinding tables tell.  Else it stays at its old place if there is room around it: the
   new code jumps there, the call pushes the old return address, and the old return site jumps back.
   Unwinding tables therefore stay right, and so does the processor's return predictor.  A call that
   has no room there pushes the old return address itself: `call` to the next instruction keeps the
   predictor's depth, then its return address is overwritten. */
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

#include <string.h>

static bool is_legacy_prefix(uint8_t byte) {
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return true;
    default:
        return false;
    }
}

/* ---- copies --------------------------------------------------------------------------------- */

static void put_copy(struct pm_rewrite *rewrite, uint32_t k) {
    const struct pm_insn *insn = &rewrite->lifted->insns[k];
    struct pm_code *code = &rewrite->code;
    uint32_t start = (uint32_t)code->n_bytes;
    pm_code_append(code, pm_insn_bytes(rewrite->lifted, k), insn->length);
    if (!insn->pc_displacement_offset)
        return;
    int32_t displacement;
    uint8_t at = insn->pc_displacement_offset;
    memcpy(&displacement, code->bytes + start + at, sizeof displacement);
    uint64_t target = insn->address + insn->length + (uint64_t)(int64_t)displacement;
    pm_code_relative_at(code, start + at, pm_to_address(target), (uint8_t)(insn->length - at));
}

/* ---- branches ------------------------------------------------------------------------------- */

uint8_t pm_x86_condition(const uint8_t *bytes) {
    while (is_legacy_prefix(*bytes))
        bytes++;
    uint8_t opcode = *bytes == 0x0f ? bytes[1] : *bytes;
    return opcode & 0x0f;
}

void pm_x86_put_branch(struct pm_code *code, const uint8_t *bytes, struct pm_target taken) {
    pm_code_branch(code, pm_x86_condition(bytes), taken);
}

/* Only a short form exists, so it jumps over a jump to a long one. */
void pm_x86_put_loop_branch(struct pm_code *code, const uint8_t *bytes, unsigned length,
                            struct pm_target taken) {
    static const uint8_t jump_over_long[] = {0xeb, 5, 0xe9};
    pm_code_append(code, bytes, length - 1u);
    pm_code_byte(code, 2);
    pm_code_append(code, jump_over_long, sizeof jump_over_long);
    pm_code_relative(code, taken, 4);
}

/* ---- calls that push the old return address ------------------------------------------------- */

/* The operand of the indirect call K (FF /2) into REG: the same operand with opcode 8B. */
static void put_load_operand(struct pm_rewrite *rewrite, uint32_t k, unsigned reg) {
    const struct pm_insn *insn = &rewrite->lifted->insns[k];
    const uint8_t *bytes = pm_insn_bytes(rewrite->lifted, k), *at = bytes;
    struct pm_code *code = &rewrite->code;
    uint8_t rex = 0;
    for (; is_legacy_prefix(*at); at++)
        if (*at == 0x64) /* the others say nothing about the operand */
            pm_code_byte(code, *at);
    if ((*at & 0xf0) == 0x40)
        rex = *at++;
    pm_code_byte(code, (uint8_t)(0x48 | (rex & 3) | (reg >> 3) << 2));
    pm_code_byte(code, 0x8b);
    at++; /* FF */
    pm_code_byte(code, (uint8_t)((*at & 0xc7) | (reg & 7) << 3));
    at++;
    unsigned n_rest = insn->length - (unsigned)(at - bytes);
    if (!insn->pc_displacement_offset) {
        pm_code_append(code, at, n_rest);
        return;
    }
    int32_t displacement;
    memcpy(&displacement, at, sizeof displacement);
    pm_code_relative(
        code, pm_to_address(insn->address + insn->length + (uint64_t)(int64_t)displacement), 4);
}

static void put_pushing_call(struct pm_rewrite *rewrite, uint32_t k) {
    const struct pm_insn *insn = &rewrite->lifted->insns[k];
    struct pm_code *code = &rewrite->code;
    pm_live_set live = rewrite->live[k];
    unsigned reg = 0;
    while (reg < 16 && (live & PM_LIVE_BIT(reg)))
        reg++;
    bool spills = reg == 16;
    if (spills) {
        reg = PM_RAX;
        pm_put_store_gs(code, reg, PM_SLOT_SCRATCH);
    }
    if (insn->control == PM_CONTROL_CALL_INDIRECT) {
        put_load_operand(rewrite, k, reg);
        pm_put_store_gs(code, reg, PM_SLOT_TARGET);
    }
    /* Not to the very next byte: processors take such a call for a way to read the program counter
       and leave it out of the predictor. */
    uint32_t pushed = pm_code_new_labels(code, 1);
    pm_code_byte(code, 0xe8);
    pm_code_relative(code, pm_to_label(pushed), 4);
    pm_code_byte(code, 0xcc);
    pm_code_bind(code, pushed);
    pm_put_lea_target(code, reg, pm_to_address(insn->address + insn->length));
    pm_put_store(code, reg, PM_RSP, 0);
    if (spills)
        pm_put_load_gs(code, reg, PM_SLOT_SCRATCH);
    if (insn->control == PM_CONTROL_CALL_INDIRECT)
        pm_put_jump_gs(code, PM_SLOT_TARGET);
    else
        pm_code_jump(code, pm_x86_outer_target(rewrite, insn->target));
}

/* ---- calls that moved ----------------------------------------------------------------------- */

static void put_moved_call(struct pm_rewrite *rewrite, uint32_t k) {
    const struct pm_insn *insn = &rewrite->lifted->insns[k];
    if (insn->control == PM_CONTROL_CALL_INDIRECT) {
        put_copy(rewrite, k);
    } else {
        pm_code_byte(&rewrite->code, 0xe8);
        pm_code_relative(&rewrite->code, pm_x86_outer_target(rewrite, insn->target), 4);
    }
    *PM_PUSH(rewrite, returns) =
        (struct pm_frame_mark){pm_code_here(&rewrite->code), insn->address + insn->length};
}

/* ---- all of them ---------------------------------------------------------------------------- */

void pm_x86_put_instruction(struct pm_rewrite *rewrite, uint32_t k, struct pm_target taken) {
    const struct pm_insn *insn = &rewrite->lifted->insns[k];
    switch (insn->control) {
    case PM_CONTROL_BRANCH:
        pm_x86_put_branch(&rewrite->code, pm_insn_bytes(rewrite->lifted, k), taken);
        break;
    case PM_CONTROL_BRANCH_LOOP:
        pm_x86_put_loop_branch(&rewrite->code, pm_insn_bytes(rewrite->lifted, k), insn->length,
                               taken);
        break;
    case PM_CONTROL_JUMP:
        pm_code_jump(&rewrite->code, taken);
        break;
    case PM_CONTROL_CALL:
    case PM_CONTROL_CALL_INDIRECT:
        if (rewrite->call_forms[k] == PM_CALL_IN_PLACE)
            pm_code_jump(&rewrite->code, pm_to_address(insn->address));
        else if (rewrite->call_forms[k] == PM_CALL_MOVED)
            put_moved_call(rewrite, k);
        else
            put_pushing_call(rewrite, k);
        break;
    default:
        put_copy(rewrite, k);
    }
}
