/* Looking back from an indirect jump for where registers get their values: constants, copies by way
   of the stack or a vector register, and among all of them the one that is the address of a table.
   Needs decoded instructions. */
#include "binlift/x86/x86_tables.h"

#include <string.h>

enum { LOOK_BACK = 200, MAX_MOVES = 8, NEAR_CODE = 1 << 26 };

bool pm_slice_decode(const struct pm_slice *slice, uint32_t k, struct pm_x86 *x86) {
    const struct pm_insn *insn = &slice->insns[k];
    const uint8_t *bytes = slice->read(slice->image, insn->address, insn->length);
    return bytes && pm_x86_decode(bytes, insn->length, x86);
}

bool pm_slice_defines(const struct pm_insn *insn, unsigned reg) {
    return insn->registers->defs.general >> reg & 1;
}

/* Number of a general register operand; PM_REGISTER_NONE for another kind of operand. */
uint8_t pm_slice_general(const ZydisDecodedOperand *operand) {
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return PM_REGISTER_NONE;
    struct pm_x86_register found = pm_x86_register(operand->reg.value);
    return found.file == PM_X86_FILE_GENERAL ? found.number : PM_REGISTER_NONE;
}

uint8_t pm_slice_address_part(ZydisRegister name) {
    struct pm_x86_register found = pm_x86_register(name);
    return found.file == PM_X86_FILE_GENERAL ? found.number : PM_REGISTER_NONE;
}

/* The nearest instruction before K that sets REG; false: none close by, or behind a place that
   control does not fall through (calls only destroy what they may). */
bool pm_slice_definition(const struct pm_slice *slice, uint32_t k, unsigned reg, uint32_t *at) {
    while (k-- > slice->first && slice->jump - k < LOOK_BACK) {
        if (pm_slice_defines(&slice->insns[k], reg)) {
            *at = k;
            return true;
        }
    }
    return false;
}

/* Does the first entry of TABLE, relative to BASE, lead near the jump? */
bool pm_slice_is_table(const struct pm_slice *slice, uint64_t table, bool relative, uint64_t base) {
    uint64_t jump = slice->insns[slice->jump].address, target = 0;
    const uint8_t *bytes = slice->read(slice->image, table, relative ? 4 : 8);
    if (!bytes || !slice->is_data(slice->image, table))
        return false;
    memcpy(&target, bytes, relative ? 4 : 8);
    if (!relative)
        return true; /* may be written by the dynamic linker */
    target = base + (uint64_t)(int64_t)(int32_t)target;
    return target - jump + NEAR_CODE < 2 * (uint64_t)NEAR_CODE;
}

/* `lea table(%rip), reg` or `mov $table, reg`: the constant. */
bool pm_slice_constant(const struct pm_slice *slice, uint32_t k, unsigned reg, uint64_t *value) {
    struct pm_x86 x86;
    if (!pm_slice_decode(slice, k, &x86) || pm_slice_general(&x86.operands[0]) != reg)
        return false;
    const ZydisDecodedOperand *source = &x86.operands[1];
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_LEA && source->mem.base == ZYDIS_REGISTER_RIP) {
        *value =
            slice->insns[k].address + slice->insns[k].length + (uint64_t)source->mem.disp.value;
        return true;
    }
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV && source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        *value = source->imm.value.u;
        return true;
    }
    return false;
}

/* The store that a reload `mov d(%rsp), reg` at K takes its value from; registers only. */
static bool find_spill(const struct pm_slice *slice, uint32_t k, uint32_t *at, uint8_t *reg) {
    struct pm_x86 reload, store;
    if (!pm_slice_decode(slice, k, &reload) || reload.insn.mnemonic != ZYDIS_MNEMONIC_MOV ||
        reload.operands[1].type != ZYDIS_OPERAND_TYPE_MEMORY ||
        reload.operands[1].mem.index != ZYDIS_REGISTER_NONE)
        return false;
    const ZydisDecodedOperandMem *slot = &reload.operands[1].mem;
    if (slot->base != ZYDIS_REGISTER_RSP && slot->base != ZYDIS_REGISTER_RBP)
        return false;
    while (k-- > slice->first) {
        if (!slice->insns[k].n_memory || slice->insns[k].memory[0].access != PM_ACCESS_STORE ||
            slice->insns[k].memory[0].displacement != slot->disp.value ||
            !pm_slice_decode(slice, k, &store) || store.insn.mnemonic != ZYDIS_MNEMONIC_MOV ||
            store.operands[0].mem.base != slot->base ||
            store.operands[0].mem.index != ZYDIS_REGISTER_NONE)
            continue;
        *at = k;
        *reg = pm_slice_general(&store.operands[1]);
        if (*reg != PM_REGISTER_NONE)
            return true;
    }
    return false;
}

static bool is_move_of_quadword(const struct pm_x86 *x86) {
    return x86->insn.mnemonic == ZYDIS_MNEMONIC_MOVQ || x86->insn.mnemonic == ZYDIS_MNEMONIC_VMOVQ;
}

/* The move into a vector register that `vmovq %xmm, reg` at K takes its value from: where general
   registers run out, the compiler keeps the address of a table there. */
static bool find_kept(const struct pm_slice *slice, uint32_t k, uint32_t *at, uint8_t *reg) {
    struct pm_x86 back, kept;
    if (!pm_slice_decode(slice, k, &back) || !is_move_of_quadword(&back) ||
        back.operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        pm_slice_general(&back.operands[1]) != PM_REGISTER_NONE)
        return false;
    while (k-- > slice->first) {
        if (!pm_slice_decode(slice, k, &kept) || !is_move_of_quadword(&kept) ||
            kept.operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            kept.operands[0].reg.value != back.operands[1].reg.value)
            continue;
        *at = k;
        *reg = pm_slice_general(&kept.operands[1]);
        if (*reg != PM_REGISTER_NONE)
            return true;
    }
    return false;
}

bool pm_slice_is_wanted(const struct pm_slice *slice, enum pm_slice_wanted wanted, uint64_t value,
                        uint64_t label) {
    enum { NEAR_LABEL = 1 << 20 };
    switch (wanted) {
    case WANT_ABSOLUTE:
        return pm_slice_is_table(slice, value, false, 0);
    case WANT_RELATIVE:
        return pm_slice_is_table(slice, value, true, value);
    case WANT_RELATIVE_TO_LABEL:
        return pm_slice_is_table(slice, value, true, label);
    default:
        return value - slice->insns[slice->jump].address + NEAR_LABEL < 2 * (uint64_t)NEAR_LABEL;
    }
}

/* Where the value that instruction K copies into a register comes from: *REG before *AT. */
static bool find_copied(const struct pm_slice *slice, uint32_t k, uint32_t *at, uint8_t *reg) {
    struct pm_x86 x86;
    *at = k;
    if (!pm_slice_decode(slice, k, &x86))
        return false;
    *reg = pm_slice_general(&x86.operands[1]);
    if (*reg == PM_REGISTER_NONE && find_kept(slice, k, at, reg))
        return true;
    return x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
           (*reg != PM_REGISTER_NONE || find_spill(slice, k, at, reg));
}

/* MOVES: how many copies may be followed, in all. */
static bool find_base_by(const struct pm_slice *slice, uint32_t k, uint8_t reg,
                         enum pm_slice_wanted wanted, uint64_t label, unsigned *moves,
                         uint64_t *table) {
    if (reg == PM_REGISTER_NONE)
        return false;
    while (k-- > slice->first) {
        uint32_t at;
        uint8_t source;
        if (!pm_slice_defines(&slice->insns[k], reg))
            continue;
        if (pm_slice_constant(slice, k, reg, table) &&
            pm_slice_is_wanted(slice, wanted, *table, label))
            return true;
        if (*moves == 0 || !find_copied(slice, k, &at, &source))
            continue;
        --*moves;
        if (find_base_by(slice, at, source, wanted, label, moves, table))
            return true; /* else it stands on another way, in the order of addresses before this */
    }
    return false;
}

/* Value of REG before instruction K as what is wanted. */
bool pm_slice_base(const struct pm_slice *slice, uint32_t k, uint8_t reg,
                   enum pm_slice_wanted wanted, uint64_t label, uint64_t *table) {
    unsigned moves = MAX_MOVES;
    return find_base_by(slice, k, reg, wanted, label, &moves, table);
}
