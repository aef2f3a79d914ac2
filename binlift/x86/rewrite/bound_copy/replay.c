/* Branches on loaded values, which go as they went when they were recorded.  The word at hand is
   doubled: the carry is the next outcome, and a result of zero says that only the end was left.

           add   T, T                   or, without a free register,   shlq  word(%rip)
           jz    refill
           jc    taken */
#include "binlift/x86/rewrite/bound_copy/private.h"
#include "binlift/x86/rewrite/encode.h"
#include "core/probe_abi.h"

#include <stddef.h>

enum { CARRY = 2, ZERO = 4, NOT_ZERO = 5, NOT_SIGN = 9 };
enum { LOAD = 0x8b, STORE = 0x89, ADD_TO_REGISTER = 0x01, TEST = 0x85 };
enum { GROUP_1_BYTE = 0x83, ADD_EXTENSION = 0, SUBTRACT_EXTENSION = 5 };
enum { SHIFT_BY_1 = 0xd1, SHIFT_LEFT_EXTENSION = 4 };

static uint8_t rex_w(unsigned reg, unsigned base) {
    return (uint8_t)(0x48 | (reg >> 3) << 2 | base >> 3);
}

/* N_BEHIND: bytes of the instruction behind the displacement. */
static void put_pc_relative(struct pm_code *code, uint8_t opcode, unsigned reg,
                            struct pm_target target, uint32_t offset, uint8_t n_behind) {
    pm_code_byte(code, rex_w(reg, 0));
    pm_code_byte(code, opcode);
    pm_code_byte(code, (uint8_t)(0x05 | (reg & 7) << 3));
    target.address += offset;
    pm_code_relative(code, target, (uint8_t)(4 + n_behind));
}

void pm_x86_put_pc_relative(struct pm_code *code, uint8_t opcode, unsigned reg,
                            struct pm_target target, uint32_t offset) {
    put_pc_relative(code, opcode, reg, target, offset, 0);
}

static void put_registers(struct pm_code *code, uint8_t opcode, unsigned reg) {
    pm_code_byte(code, rex_w(reg, reg));
    pm_code_byte(code, opcode);
    pm_code_byte(code, (uint8_t)(0xc0 | (reg & 7) << 3 | (reg & 7)));
}

void pm_x86_put_replayed(struct pm_code *code, const struct pm_replayed_branch *branch) {
    pm_code_bind(code, branch->again);
    if (branch->reg != PM_REGISTER_NONE)
        put_registers(code, ADD_TO_REGISTER, branch->reg);
    else
        put_pc_relative(code, SHIFT_BY_1, SHIFT_LEFT_EXTENSION, branch->state,
                        offsetof(struct pm_bound_replay, word), 0);
    pm_code_branch(code, ZERO, pm_to_label(branch->refill));
    pm_code_branch(code, CARRY, branch->taken);
}

/* mov (REG), REG. */
static void put_follow(struct pm_code *code, unsigned reg) {
    pm_code_byte(code, rex_w(reg, reg));
    pm_code_byte(code, LOAD);
    pm_code_byte(code, (uint8_t)(0x40 | (reg & 7) << 3 | (reg & 7)));
    if ((reg & 7) == PM_RSP) /* of r12, too: names the base in a byte of its own */
        pm_code_byte(code, 0x24);
    pm_code_byte(code, 0);
}

static void put_next_word(struct pm_code *code, const struct pm_replayed_branch *branch,
                          unsigned reg) {
    put_pc_relative(code, LOAD, reg, branch->state, offsetof(struct pm_bound_replay, next), 0);
    put_pc_relative(code, GROUP_1_BYTE, ADD_EXTENSION, branch->state,
                    offsetof(struct pm_bound_replay, next), 1);
    pm_code_byte(code, sizeof(uint64_t));
    put_follow(code, reg);
    put_registers(code, TEST, reg);
}

void pm_x86_put_refill(struct pm_code *code, const struct pm_replayed_branch *branch) {
    bool spills = branch->reg == PM_REGISTER_NONE;
    unsigned reg = spills ? PM_RAX : branch->reg;
    uint32_t next = pm_code_new_labels(code, 2), got = next + 1;
    pm_code_bind(code, branch->refill);
    if (spills)
        pm_x86_put_pc_relative(code, STORE, reg, branch->state,
                               offsetof(struct pm_bound_replay, spill));
    pm_code_bind(code, next);
    put_next_word(code, branch, reg);
    pm_code_branch(code, NOT_ZERO, pm_to_label(spills ? got : branch->again));
    pm_x86_put_pc_relative(code, LOAD, reg, branch->state, offsetof(struct pm_bound_replay, first));
    pm_x86_put_pc_relative(code, STORE, reg, branch->state, offsetof(struct pm_bound_replay, next));
    put_pc_relative(code, GROUP_1_BYTE, SUBTRACT_EXTENSION, branch->state,
                    offsetof(struct pm_bound_replay, budget), 1);
    pm_code_byte(code, 1);
    pm_code_branch(code, NOT_SIGN, pm_to_label(next));
    pm_put_jump_gs(code, PM_CB_BOUND_OVER);
    if (!spills)
        return;
    pm_code_bind(code, got);
    pm_x86_put_pc_relative(code, STORE, reg, branch->state, offsetof(struct pm_bound_replay, word));
    pm_x86_put_pc_relative(code, LOAD, reg, branch->state, offsetof(struct pm_bound_replay, spill));
    pm_code_jump(code, pm_to_label(branch->again));
}

void pm_x86_put_replay_start(struct pm_code *code, const struct pm_replayed_branch *branch) {
    if (branch->reg != PM_REGISTER_NONE)
        pm_x86_put_pc_relative(code, LOAD, branch->reg, branch->state,
                               offsetof(struct pm_bound_replay, word));
}

void pm_x86_put_replay_end(struct pm_code *code, const struct pm_replayed_branch *branch) {
    if (branch->reg != PM_REGISTER_NONE)
        pm_x86_put_pc_relative(code, STORE, branch->reg, branch->state,
                               offsetof(struct pm_bound_replay, word));
}
