/* Instructions that add a constant to a general register: what counts the iterations of loops. */
#include "binlift/x86/zydis.h"

/* The constant that is added; 0: it is another instruction. */
static int64_t added_constant(const struct pm_x86 *x86) {
    const ZydisDecodedOperand *operands = x86->operands;
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_INC:
        return 1;
    case ZYDIS_MNEMONIC_DEC:
        return -1;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return 0;
        /* a constant of 32 bits may have been read without its sign */
        return x86->insn.mnemonic == ZYDIS_MNEMONIC_ADD
                   ? (int32_t)operands[1].imm.value.u
                   : -(int64_t)(int32_t)operands[1].imm.value.u;
    case ZYDIS_MNEMONIC_LEA:
        if (operands[1].mem.index != ZYDIS_REGISTER_NONE ||
            operands[1].mem.base == ZYDIS_REGISTER_RIP ||
            pm_x86_register(operands[1].mem.base).number !=
                pm_x86_register(operands[0].reg.value).number ||
            pm_x86_register(operands[1].mem.base).bits < 64)
            return 0;
        return operands[1].mem.disp.value;
    default:
        return 0;
    }
}

bool pm_x86_isa_find_step(const uint8_t *bytes, const struct pm_insn *insn,
                          struct pm_register_step *step) {
    struct pm_x86 x86;
    if (insn->control != PM_CONTROL_NONE || !pm_x86_decode(bytes, insn->length, &x86) ||
        x86.insn.operand_count == 0 || x86.operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return false;
    struct pm_x86_register which = pm_x86_register(x86.operands[0].reg.value);
    if (which.file != PM_X86_FILE_GENERAL || which.bits < 32)
        return false;
    step->number = which.number;
    step->bits = (uint8_t)which.bits;
    step->step = added_constant(&x86);
    return step->step != 0;
}
