/* Affine steps of general registers: moves, additions, address arithmetic, multiplications by a
   constant (isa.h, struct pm_affine). */
#include "binlift/x86/zydis.h"

static bool add_term(struct pm_affine *form, ZydisRegister name, int64_t factor) {
    if (name == ZYDIS_REGISTER_NONE || factor == 0)
        return true;
    struct pm_x86_register which = pm_x86_register(name);
    if (which.file != PM_X86_FILE_GENERAL || which.bits < 32)
        return false;
    for (unsigned i = 0; i < form->n_terms; i++)
        if (form->terms[i].reg == which.number) {
            form->terms[i].factor += factor;
            return true;
        }
    form->terms[form->n_terms].reg = which.number;
    form->terms[form->n_terms].factor = factor;
    form->n_terms++;
    return true;
}

/* FACTOR times a register or a constant. */
static bool add_operand(struct pm_affine *form, const ZydisDecodedOperand *operand,
                        int64_t factor) {
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return add_term(form, operand->reg.value, factor);
    if (operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    form->constant += (int64_t)((uint64_t)factor * operand->imm.value.u);
    return true;
}

static bool find_sum(const struct pm_x86 *x86, struct pm_affine *form) {
    const ZydisDecodedOperand *operands = x86->operands;
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSXD:
        return add_operand(form, &operands[1], 1);
    case ZYDIS_MNEMONIC_CDQE:
        return add_term(form, ZYDIS_REGISTER_EAX, 1);
    case ZYDIS_MNEMONIC_LEA:
        form->constant = operands[1].mem.disp.value;
        return operands[1].mem.base != ZYDIS_REGISTER_RIP &&
               add_term(form, operands[1].mem.base, 1) &&
               add_term(form, operands[1].mem.index, operands[1].mem.scale);
    case ZYDIS_MNEMONIC_ADD:
        return add_operand(form, &operands[0], 1) && add_operand(form, &operands[1], 1);
    case ZYDIS_MNEMONIC_SUB:
        return add_operand(form, &operands[0], 1) && add_operand(form, &operands[1], -1);
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        form->constant = x86->insn.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
        return add_operand(form, &operands[0], 1);
    case ZYDIS_MNEMONIC_SHL:
        return operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[1].imm.value.u < 32 &&
               add_operand(form, &operands[0], INT64_C(1) << operands[1].imm.value.u);
    case ZYDIS_MNEMONIC_IMUL:
        return x86->insn.operand_count_visible == 3 &&
               operands[2].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
               add_operand(form, &operands[1], operands[2].imm.value.s);
    case ZYDIS_MNEMONIC_XOR:
        return pm_x86_is_constant_idiom(x86);
    default:
        return false;
    }
}

bool pm_x86_isa_affine(const uint8_t *bytes, const struct pm_insn *insn, struct pm_affine *form) {
    struct pm_x86 x86;
    *form = (struct pm_affine){0};
    if (insn->n_memory || insn->control != PM_CONTROL_NONE ||
        !pm_x86_decode(bytes, insn->length, &x86) || x86.insn.operand_count == 0 ||
        x86.operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return false;
    struct pm_x86_register dest = pm_x86_register(x86.operands[0].reg.value);
    form->dest = dest.number;
    return dest.file == PM_X86_FILE_GENERAL && dest.bits >= 32 && find_sum(&x86, form);
}
