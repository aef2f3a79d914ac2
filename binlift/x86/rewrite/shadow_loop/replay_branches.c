/* Branches on loaded values, which go as they went when they were recorded.  The word at hand is
   doubled: the carry is the next outcome, and a result of zero says that only the end was left.

           add   T, T                   or, without a free register,   shlq  word(%rip)
           jz    refill
           jc    taken

   Without a general register, a vector holds the word and, beside it, the word without the 1 that
   ends it: where their highest bits differ, only the end was left.

           ptest   signs(%rip), X       Z: neither has the bit; C: both have it
           paddq   X, X
           ja      refill
           jc      taken */
#include "binlift/x86/rewrite/shadow_loop/private.h"
#include "binlift/x86/rewrite/encode.h"
#include "core/probe_abi.h"

#include <stddef.h>

enum { CARRY = 2, ZERO = 4, NOT_ZERO = 5, ABOVE = 7, NOT_SIGN = 9 };
enum { LOAD = 0x8b, STORE = 0x89, ADD_TO_REGISTER = 0x01, TEST = 0x85 };
enum { GROUP_1_BYTE = 0x83, ADD_EXTENSION = 0, SUBTRACT_EXTENSION = 5 };
enum { AND_REGISTER = 0x23, ADDRESS = 0x8d };
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

/* ---- vectors --------------------------------------------------------------------------------- */

/* Instructions of vectors of 16 bytes, of the maps 0f and 0f 38. */
struct vector_insn {
    uint8_t prefix, map, opcode; /* 0x66 or 0xf3; 1 or 2 */
};
static const struct vector_insn vector_load = {0xf3, 1, 0x6f}, vector_store = {0xf3, 1, 0x7f},
                                vector_add = {0x66, 1, 0xd4}, vector_test = {0x66, 2, 0x17};

/* All before ModRM, whose register is the branch's; so is the other one, if it IS_DOUBLED. */
static void put_vector_opcode(struct pm_code *code, const struct pm_replayed_branch *branch,
                              struct vector_insn insn, bool is_doubled) {
    unsigned high = branch->reg >> 3, base = is_doubled ? high : 0;
    if (branch->vex) {
        unsigned source = is_doubled ? branch->reg : 0;
        pm_code_byte(code, 0xc4);
        pm_code_byte(code, (uint8_t)((~(high << 7 | base << 5) & 0xe0) | insn.map));
        pm_code_byte(code, (uint8_t)((~source & 15) << 3 | (insn.prefix == 0x66 ? 1 : 2)));
    } else {
        pm_code_byte(code, insn.prefix);
        if (high)
            pm_code_byte(code, (uint8_t)(0x40 | high << 2 | base));
        pm_code_byte(code, 0x0f);
        if (insn.map == 2)
            pm_code_byte(code, 0x38);
    }
    pm_code_byte(code, insn.opcode);
}

static void put_vector(struct pm_code *code, const struct pm_replayed_branch *branch,
                       struct vector_insn insn, uint32_t offset) {
    struct pm_target target = branch->state;
    target.address += offset;
    put_vector_opcode(code, branch, insn, false);
    pm_code_byte(code, (uint8_t)(0x05 | (branch->reg & 7) << 3));
    pm_code_relative(code, target, 4);
}

static void put_doubled_vector(struct pm_code *code, const struct pm_replayed_branch *branch) {
    put_vector_opcode(code, branch, vector_add, true);
    pm_code_byte(code, (uint8_t)(0xc0 | (branch->reg & 7) << 3 | (branch->reg & 7)));
}

/* ---- branches -------------------------------------------------------------------------------- */

unsigned pm_x86_put_replayed(struct pm_code *code, const struct pm_replayed_branch *branch) {
    pm_code_bind(code, branch->again);
    if (branch->place == PM_REPLAY_IN_VECTOR) {
        put_vector(code, branch, vector_test, offsetof(struct pm_bound_replay, signs));
        put_doubled_vector(code, branch);
        pm_code_branch(code, ABOVE, pm_to_label(branch->refill));
        pm_code_branch(code, CARRY, branch->taken);
        return 3;
    }
    if (branch->place == PM_REPLAY_IN_REGISTER)
        put_registers(code, ADD_TO_REGISTER, branch->reg);
    else
        put_pc_relative(code, SHIFT_BY_1, SHIFT_LEFT_EXTENSION, branch->state,
                        offsetof(struct pm_bound_replay, word), 0);
    pm_code_branch(code, ZERO, pm_to_label(branch->refill));
    pm_code_branch(code, CARRY, branch->taken);
    return 2;
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

/* REG, whose value is in the spill slot, has the new word: to where the word is. */
static void put_new_word(struct pm_code *code, const struct pm_replayed_branch *branch,
                         unsigned reg) {
    pm_x86_put_pc_relative(code, STORE, reg, branch->state, offsetof(struct pm_bound_replay, word));
    if (branch->place != PM_REPLAY_IN_VECTOR)
        return;
    pm_code_byte(code, rex_w(reg, reg)); /* lea −1(REG), REG */
    pm_code_byte(code, ADDRESS);
    pm_code_byte(code, (uint8_t)(0x40 | (reg & 7) << 3 | (reg & 7)));
    pm_code_byte(code, 0xff);
    pm_x86_put_pc_relative(code, AND_REGISTER, reg, branch->state,
                           offsetof(struct pm_bound_replay, word));
    pm_x86_put_pc_relative(code, STORE, reg, branch->state, offsetof(struct pm_bound_replay, rest));
    put_vector(code, branch, vector_load, offsetof(struct pm_bound_replay, word));
}

void pm_x86_put_refill(struct pm_code *code, const struct pm_replayed_branch *branch) {
    bool spills = branch->place != PM_REPLAY_IN_REGISTER;
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
    put_new_word(code, branch, reg);
    pm_x86_put_pc_relative(code, LOAD, reg, branch->state, offsetof(struct pm_bound_replay, spill));
    pm_code_jump(code, pm_to_label(branch->again));
}

void pm_x86_put_replay_start(struct pm_code *code, const struct pm_replayed_branch *branch) {
    if (branch->place == PM_REPLAY_IN_REGISTER)
        pm_x86_put_pc_relative(code, LOAD, branch->reg, branch->state,
                               offsetof(struct pm_bound_replay, word));
    else if (branch->place == PM_REPLAY_IN_VECTOR)
        put_vector(code, branch, vector_load, offsetof(struct pm_bound_replay, word));
}

void pm_x86_put_replay_end(struct pm_code *code, const struct pm_replayed_branch *branch) {
    if (branch->place == PM_REPLAY_IN_REGISTER)
        pm_x86_put_pc_relative(code, STORE, branch->reg, branch->state,
                               offsetof(struct pm_bound_replay, word));
    else if (branch->place == PM_REPLAY_IN_VECTOR)
        put_vector(code, branch, vector_store, offsetof(struct pm_bound_replay, word));
}
