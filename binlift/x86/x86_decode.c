/* Native instruction → struct pm_insn: length, control flow, what cannot be supported.  Registers
   are in x86_decode_registers.c, memory operands in x86_decode_memory.c. */
#include "binlift/x86/zydis.h"

#include <string.h>

bool pm_x86_decode(const uint8_t *bytes, uint64_t n_bytes, struct pm_x86 *x86) {
    ZydisDecoder decoder;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return false;
    return ZYAN_SUCCESS(
        ZydisDecoderDecodeFull(&decoder, bytes, n_bytes, &x86->insn, x86->operands));
}

/* Registers of one kind lie one after the other in Zydis' enumeration. */
struct pm_x86_register pm_x86_register(ZydisRegister name) {
#define SPAN(first, last, file, number, bits)                                                      \
    case ZYDIS_REGISTER_##first... ZYDIS_REGISTER_##last:                                          \
        return (struct pm_x86_register){                                                           \
            PM_X86_FILE_##file, (uint8_t)((number) + (name - ZYDIS_REGISTER_##first)), bits};
    switch (name) {
        SPAN(RAX, R15, GENERAL, 0, 64)
        SPAN(EAX, R15D, GENERAL, 0, 32)
        SPAN(AX, R15W, GENERAL, 0, 16)
        SPAN(AL, BL, GENERAL, 0, 8)
        SPAN(AH, BH, GENERAL, 0, 8)
        SPAN(SPL, DIL, GENERAL, 4, 8)
        SPAN(R8B, R15B, GENERAL, 8, 8)
        SPAN(XMM0, XMM31, VECTOR, 0, 128)
        SPAN(YMM0, YMM31, VECTOR, 0, 256)
        SPAN(ZMM0, ZMM31, VECTOR, 0, 512)
        SPAN(K0, K7, MASK, 0, 64)
        SPAN(ST0, X87TAG, X87, 0, 80)
        SPAN(MM0, MM7, X87, 0, 64)
        SPAN(MXCSR, MXCSR, MXCSR, 0, 32)
        SPAN(IP, RIP, PC, 0, 64)
    default:
        return (struct pm_x86_register){PM_X86_FILE_NONE, PM_REGISTER_NONE, 0};
    }
#undef SPAN
}

/* ---- control flow --------------------------------------------------------------------------- */

static enum pm_control find_control(const ZydisDecodedInstruction *insn) {
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
        return PM_CONTROL_BRANCH_LOOP;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
        return PM_CONTROL_STOP;
    default:
        break;
    }
    bool direct = insn->raw.imm[0].is_relative;
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return insn->mnemonic == ZYDIS_MNEMONIC_XBEGIN ? PM_CONTROL_NONE : PM_CONTROL_BRANCH;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return direct ? PM_CONTROL_JUMP : PM_CONTROL_JUMP_INDIRECT;
    case ZYDIS_CATEGORY_CALL:
        return direct ? PM_CONTROL_CALL : PM_CONTROL_CALL_INDIRECT;
    case ZYDIS_CATEGORY_RET:
        return PM_CONTROL_RETURN;
    default:
        return PM_CONTROL_NONE;
    }
}

static bool is_direct(enum pm_control control) {
    return control == PM_CONTROL_BRANCH || control == PM_CONTROL_BRANCH_LOOP ||
           control == PM_CONTROL_JUMP || control == PM_CONTROL_CALL;
}

/* ---- what cannot be supported --------------------------------------------------------------- */

static const char uses_gs[] = "uses %gs, which the instrumentation needs";
static const char reads_gs[] = "reads %gs, which the instrumentation needs";
static const char sets_gs[] = "sets %gs, which the instrumentation needs";

static const char *unsupported_mnemonic(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_XBEGIN:
        return "begins a hardware transaction (xbegin), which counting would abort";
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_SWAPGS:
        return sets_gs;
    case ZYDIS_MNEMONIC_RDGSBASE:
        return reads_gs;
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_UIRET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_RSM:
        return "returns between privilege levels";
    case ZYDIS_MNEMONIC_XLAT:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MOVDIR64B:
    case ZYDIS_MNEMONIC_ENQCMD:
    case ZYDIS_MNEMONIC_ENQCMDS:
        return "has a form of address that cannot be recorded";
    default:
        return NULL;
    }
}

/* Why the instruction cannot be moved or its accesses cannot be described; NULL: it can. */
static const char *unsupported(const struct pm_x86 *x86) {
    const ZydisDecodedInstruction *insn = &x86->insn;
    const char *why = unsupported_mnemonic(insn->mnemonic);
    if (why)
        return why;
    if (insn->mnemonic == ZYDIS_MNEMONIC_ENTER && insn->raw.imm[1].value.u)
        return "copies frame pointers (enter), whose accesses cannot be recorded";
    if (insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return "changes the code segment";
    if (insn->meta.category == ZYDIS_CATEGORY_AMX_TILE)
        return "uses tile registers (AMX), whose accesses cannot be recorded";
    for (unsigned i = 0; i < insn->operand_count; i++) {
        const ZydisDecodedOperand *operand = &x86->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == ZYDIS_REGISTER_GS)
            return uses_gs;
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        if (operand->mem.base == ZYDIS_REGISTER_EIP)
            return "addresses memory relative to a 32-bit program counter";
        if (operand->mem.base == ZYDIS_REGISTER_RIP && insn->raw.disp.size != 32)
            return "addresses memory in a form that cannot be moved";
        if (!pm_x86_is_access(x86, operand))
            continue;
        if (operand->mem.segment == ZYDIS_REGISTER_GS)
            return uses_gs;
        if (insn->address_width != 64)
            return "has a 32-bit address";
    }
    return NULL;
}

/* ---- the ISA's functions -------------------------------------------------------------------- */

bool pm_x86_isa_decode(const uint8_t *bytes, uint64_t n_bytes, uint64_t address,
                       struct pm_insn *insn, struct pm_insn_parts *parts) {
    struct pm_x86 x86;
    memset(insn, 0, sizeof *insn);
    memset(parts, 0, sizeof *parts);
    insn->memory = parts->memory;
    insn->registers = &parts->registers;
    if (!pm_x86_decode(bytes, n_bytes, &x86))
        return false;
    insn->address = address;
    insn->length = x86.insn.length;
    insn->control = find_control(&x86.insn);
    if (is_direct(insn->control))
        insn->target = address + insn->length + (uint64_t)x86.insn.raw.imm[0].value.s;
    insn->is_nop = x86.insn.mnemonic == ZYDIS_MNEMONIC_NOP;
    if (!x86.insn.raw.imm[0].is_relative && !x86.insn.raw.imm[1].size)
        insn->immediate_bytes = x86.insn.raw.imm[0].size / 8;
    const char *why = unsupported(&x86);
    insn->uses_unsupported = why != NULL;
    insn->uses_gs = why == uses_gs || why == reads_gs || why == sets_gs;
    for (unsigned i = 0; i < x86.insn.operand_count; i++)
        if (x86.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            x86.operands[i].mem.base == ZYDIS_REGISTER_RIP)
            insn->pc_displacement_offset = x86.insn.raw.disp.offset;
    pm_x86_find_memory(&x86, insn, parts->memory);
    pm_x86_find_registers(&x86, &parts->registers);
    return true;
}

const char *pm_x86_isa_why(const uint8_t *bytes, const struct pm_insn *insn) {
    struct pm_x86 x86;
    const char *why = pm_x86_decode(bytes, insn->length, &x86) ? unsupported(&x86) : NULL;
    return why ? why : "cannot be decoded";
}
