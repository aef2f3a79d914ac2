/* Registers of an instruction: uses (may be read), defs (may be written) and kills (surely
   overwritten whole).  In doubt a use is added and a kill left out.

   A write of 8 or 16 bits leaves the rest of a general register; one of 32 bits clears the upper
   half.  A legacy SSE write leaves the bits above 128; a VEX or EVEX write clears them. */
#include "binlift/x86/zydis.h"

#define BIT(n) (UINT64_C(1) << (n))
#define ALL_GENERAL UINT64_C(0xffff)
#define ALL_MASKS (UINT64_C(0xff) << PM_X86_MASK)
#define ALL_VECTORS UINT64_C(0xffffffff)

static void add_register(struct pm_register_set *set, struct pm_x86_register which) {
    switch (which.file) {
    case PM_X86_FILE_GENERAL:
        set->general |= BIT(which.number);
        break;
    case PM_X86_FILE_VECTOR:
        set->vector |= BIT(which.number);
        break;
    case PM_X86_FILE_MASK:
        set->general |= BIT(PM_X86_MASK + which.number);
        break;
    case PM_X86_FILE_X87:
        set->general |= BIT(PM_X86_X87);
        break;
    case PM_X86_FILE_MXCSR:
        set->general |= BIT(PM_X86_MXCSR);
        break;
    default:
        break;
    }
}

bool pm_x86_is_no_mask(const ZydisDecodedOperand *operand) {
    return operand->encoding == ZYDIS_OPERAND_ENCODING_MASK &&
           operand->reg.value == ZYDIS_REGISTER_K0;
}

static bool is_merging(const struct pm_x86 *x86) {
    return x86->insn.avx.mask.mode == ZYDIS_MASK_MODE_MERGING &&
           x86->insn.avx.mask.reg > ZYDIS_REGISTER_K0;
}

/* Does the write surely replace the whole register? */
static bool write_kills(const struct pm_x86 *x86, const ZydisDecodedOperand *operand,
                        struct pm_x86_register which) {
    if (!(operand->actions & ZYDIS_OPERAND_ACTION_WRITE) ||
        (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE))
        return false;
    ZydisMnemonic mnemonic = x86->insn.mnemonic;
    switch (which.file) {
    case PM_X86_FILE_GENERAL:
        return which.bits >= 32 && x86->insn.meta.category != ZYDIS_CATEGORY_CMOV &&
               mnemonic != ZYDIS_MNEMONIC_BSF && mnemonic != ZYDIS_MNEMONIC_BSR &&
               mnemonic != ZYDIS_MNEMONIC_SYSCALL && !pm_x86_is_rep(x86);
    case PM_X86_FILE_VECTOR:
        return (x86->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
                x86->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) &&
               !is_merging(x86) && !pm_x86_is_gather(x86);
    case PM_X86_FILE_MASK:
        return !pm_x86_is_gather(x86);
    default:
        return false;
    }
}

static void find_operand_registers(const struct pm_x86 *x86, struct pm_registers *set) {
    for (unsigned i = 0; i < x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &x86->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            add_register(&set->uses, pm_x86_register(operand->mem.base));
            add_register(&set->uses, pm_x86_register(operand->mem.index));
        }
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || pm_x86_is_no_mask(operand))
            continue;
        struct pm_x86_register which = pm_x86_register(operand->reg.value);
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            add_register(&set->uses, which);
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
            add_register(&set->defs, which);
            if (which.file == PM_X86_FILE_VECTOR && (is_merging(x86) || pm_x86_is_gather(x86)))
                add_register(&set->uses, which);
        }
        if (write_kills(x86, operand, which))
            add_register(&set->kills, which);
    }
    if (x86->insn.avx.mask.reg > ZYDIS_REGISTER_K0)
        add_register(&set->uses, pm_x86_register(x86->insn.avx.mask.reg));
}

/* ---- flags ---------------------------------------------------------------------------------- */

/* True where the flags that are written may stay as they were: a count of zero. */
static bool flags_may_stay(const struct pm_x86 *x86) {
    if (pm_x86_is_rep(x86))
        return true;
    ZydisMnemonic mnemonic = x86->insn.mnemonic;
    bool is_shift = x86->insn.meta.category == ZYDIS_CATEGORY_SHIFT ||
                    x86->insn.meta.category == ZYDIS_CATEGORY_ROTATE ||
                    mnemonic == ZYDIS_MNEMONIC_SHLD || mnemonic == ZYDIS_MNEMONIC_SHRD;
    if (!is_shift)
        return false;
    if ((mnemonic == ZYDIS_MNEMONIC_RCL || mnemonic == ZYDIS_MNEMONIC_RCR) &&
        x86->insn.operand_width < 32)
        return true; /* the count is taken modulo 9 or 17 */
    unsigned limit = x86->insn.operand_width == 64 ? 63 : 31;
    for (unsigned i = 0; i < x86->insn.operand_count; i++)
        if (x86->operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return (x86->operands[i].imm.value.u & limit) == 0;
    return true;
}

static uint64_t six_flags(ZydisAccessedFlagsMask mask) {
    static const ZydisAccessedFlagsMask flags[6] = {ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF,
                                                    ZYDIS_CPUFLAG_AF, ZYDIS_CPUFLAG_ZF,
                                                    ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_OF};
    uint64_t set = 0;
    for (int i = 0; i < 6; i++)
        if (mask & flags[i])
            set |= BIT(PM_X86_CF + i);
    return set;
}

static void find_flags(const struct pm_x86 *x86, struct pm_registers *set) {
    const ZydisAccessedFlags *flags = x86->insn.cpu_flags;
    if (!flags)
        return;
    uint64_t written = six_flags(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
    set->uses.general |= six_flags(flags->tested);
    set->defs.general |= written;
    if (!flags_may_stay(x86))
        set->kills.general |= written;
}

/* ---- registers that no operand names -------------------------------------------------------- */

static bool has_fp_exceptions(const ZydisDecodedInstruction *insn) {
    switch (insn->meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_SSE2:
    case ZYDIS_EXCEPTION_CLASS_SSE3:
    case ZYDIS_EXCEPTION_CLASS_AVX2:
    case ZYDIS_EXCEPTION_CLASS_AVX3:
    case ZYDIS_EXCEPTION_CLASS_AVX11:
    case ZYDIS_EXCEPTION_CLASS_E2:
    case ZYDIS_EXCEPTION_CLASS_E2NF:
    case ZYDIS_EXCEPTION_CLASS_E3:
    case ZYDIS_EXCEPTION_CLASS_E3NF:
    case ZYDIS_EXCEPTION_CLASS_E11:
    case ZYDIS_EXCEPTION_CLASS_E11NF:
        return true;
    default:
        return false;
    }
}

static void find_hidden_registers(const struct pm_x86 *x86, struct pm_registers *set) {
    const uint64_t x87 = BIT(PM_X86_X87), mxcsr = BIT(PM_X86_MXCSR);
    switch (x86->insn.meta.category) {
    case ZYDIS_CATEGORY_X87_ALU:
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_AMD3DNOW:
        set->uses.general |= x87;
        set->defs.general |= x87;
        break;
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
        set->uses.general |= x87 | mxcsr | ALL_MASKS;
        set->uses.vector |= ALL_VECTORS;
        set->defs.general |= x87 | mxcsr | ALL_MASKS;
        set->defs.vector |= ALL_VECTORS;
        break;
    default:
        break;
    }
    if (has_fp_exceptions(&x86->insn)) {
        set->uses.general |= mxcsr;
        set->defs.general |= mxcsr;
    }
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        set->uses.general |= x87 | mxcsr;
        set->uses.vector |= 0xffff;
        set->defs.general |= x87 | mxcsr;
        set->defs.vector |= 0xffff;
        break;
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
        set->defs.general |= mxcsr;
        set->kills.general |= mxcsr;
        break;
    case ZYDIS_MNEMONIC_STMXCSR:
    case ZYDIS_MNEMONIC_VSTMXCSR:
        set->uses.general |= mxcsr;
        break;
    case ZYDIS_MNEMONIC_VZEROALL:
        set->kills.vector |= 0xffff;
        set->defs.vector |= 0xffff;
        break;
    case ZYDIS_MNEMONIC_VZEROUPPER:
        set->uses.vector |= 0xffff;
        set->defs.vector |= 0xffff;
        set->kills.vector = 0;
        break;
    case ZYDIS_MNEMONIC_SYSCALL: /* the kernel reads and keeps what it likes */
        set->uses.general |= ALL_GENERAL;
        set->defs.general |= BIT(PM_X86_RAX);
        set->kills.general = 0; /* Linux gives the flags back as they were */
        break;
    default:
        break;
    }
}

/* ---- idioms whose result does not depend on their operands ---------------------------------- */

static bool gives_constant(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_PSUBB:
    case ZYDIS_MNEMONIC_PSUBW:
    case ZYDIS_MNEMONIC_PSUBD:
    case ZYDIS_MNEMONIC_PSUBQ:
    case ZYDIS_MNEMONIC_PCMPEQB:
    case ZYDIS_MNEMONIC_PCMPEQW:
    case ZYDIS_MNEMONIC_PCMPEQD:
    case ZYDIS_MNEMONIC_PCMPEQQ:
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VPXORD:
    case ZYDIS_MNEMONIC_VPXORQ:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD:
    case ZYDIS_MNEMONIC_VPSUBB:
    case ZYDIS_MNEMONIC_VPSUBW:
    case ZYDIS_MNEMONIC_VPSUBD:
    case ZYDIS_MNEMONIC_VPSUBQ:
    case ZYDIS_MNEMONIC_VPCMPEQB:
    case ZYDIS_MNEMONIC_VPCMPEQW:
    case ZYDIS_MNEMONIC_VPCMPEQD:
    case ZYDIS_MNEMONIC_VPCMPEQQ:
        return true;
    default:
        return false;
    }
}

bool pm_x86_is_constant_idiom(const struct pm_x86 *x86) {
    const ZydisDecodedOperand *operands = x86->operands;
    unsigned n = x86->insn.operand_count_visible;
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_VPTERNLOGD ||
        x86->insn.mnemonic == ZYDIS_MNEMONIC_VPTERNLOGQ)
        return !is_merging(x86) && n >= 2 && operands[n - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
               (operands[n - 1].imm.value.u == 0 || operands[n - 1].imm.value.u == 0xff) &&
               operands[n - 2].type == ZYDIS_OPERAND_TYPE_REGISTER;
    if (!gives_constant(x86->insn.mnemonic) || is_merging(x86) || n < 2)
        return false;
    const ZydisDecodedOperand *a = &operands[n - 2], *b = &operands[n - 1];
    return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           a->reg.value == b->reg.value;
}

void pm_x86_find_registers(const struct pm_x86 *x86, struct pm_registers *set) {
    set->uses = set->defs = set->kills = (struct pm_register_set){0, 0};
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_NOP || x86->insn.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
        return;
    find_operand_registers(x86, set);
    find_flags(x86, set);
    find_hidden_registers(x86, set);
    if (pm_x86_is_constant_idiom(x86)) {
        uint64_t masks = set->uses.general & ALL_MASKS;
        set->uses = (struct pm_register_set){masks, 0};
    }
}
