/* One iteration of a loop: the instructions of its hottest path, in order, as they stand in the
   file, and what must be known of each to put it elsewhere.  What cannot be run on made-up data is
   refused here.  The loops of a program are found in set.c. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <Zydis/Zydis.h>

#include "machines/probe/loop_runner/private.h"

/* More would not fit the copy at the lowest count. */
enum { MOST_ITERATION_BYTES = 4096 };

void pm_loop_code_free(struct pm_loop_code *code) {
    free(code->insns);
    free(code->bytes);
    free(code->moves);
    *code = (struct pm_loop_code){.image = code->image};
}

/* ---- what is refused ------------------------------------------------------------------------- */

static bool has_operand(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
                        bool (*is)(const ZydisDecodedOperand *operand)) {
    for (unsigned i = 0; i < insn->operand_count; i++)
        if (is(&operands[i]))
            return true;
    return false;
}

static bool is_thread_local(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
           (operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS);
}

static bool is_x87(const ZydisDecodedOperand *operand) {
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return false;
    ZydisRegisterClass class = ZydisRegisterGetClass(operand->reg.value);
    return class == ZYDIS_REGCLASS_X87 || class == ZYDIS_REGCLASS_MMX;
}

static bool is_system_register(const ZydisDecodedOperand *operand) {
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
        return false;
    switch (ZydisRegisterGetClass(operand->reg.value)) {
    case ZYDIS_REGCLASS_SEGMENT:
    case ZYDIS_REGCLASS_TEST:
    case ZYDIS_REGCLASS_CONTROL:
    case ZYDIS_REGCLASS_DEBUG:
    case ZYDIS_REGCLASS_TABLE:
    case ZYDIS_REGCLASS_TMM:
        return true;
    default:
        return false;
    }
}

static bool is_system(const ZydisDecodedInstruction *insn) {
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_AMX_TILE:
    case ZYDIS_CATEGORY_CET:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLZERO:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_RDRAND:
    case ZYDIS_CATEGORY_RDSEED:
    case ZYDIS_CATEGORY_RDWRFSGS:
    case ZYDIS_CATEGORY_RDPID:
    case ZYDIS_CATEGORY_RDPRU:
    case ZYDIS_CATEGORY_PKU:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_WAITPKG:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
        return insn->mnemonic != ZYDIS_MNEMONIC_ENDBR64;
    default:
        break;
    }
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_STD:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_MWAITX:
        return true;
    default:
        return false;
    }
}

static bool is_x87_instruction(const ZydisDecodedInstruction *insn) {
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_X87_ALU:
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_AMD3DNOW:
        return true;
    default:
        return insn->meta.isa_set == ZYDIS_ISA_SET_X87 || insn->mnemonic == ZYDIS_MNEMONIC_EMMS ||
               insn->mnemonic == ZYDIS_MNEMONIC_FEMMS;
    }
}

static enum pm_loop_refusal refusal_of(const ZydisDecodedInstruction *insn,
                                       const ZydisDecodedOperand *operands) {
    const ZydisInstructionAttributes repeats =
        ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    bool is_direct =
        operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[0].imm.is_relative;
    if (insn->meta.category == ZYDIS_CATEGORY_CALL || insn->meta.category == ZYDIS_CATEGORY_RET)
        return PM_LOOP_CALLS;
    if (insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR && !is_direct)
        return PM_LOOP_INDIRECT_JUMP;
    if (insn->attributes & repeats)
        return PM_LOOP_STRING;
    if (is_x87_instruction(insn) || has_operand(insn, operands, is_x87))
        return PM_LOOP_X87;
    if (is_system(insn) || has_operand(insn, operands, is_system_register))
        return PM_LOOP_SYSTEM;
    if (has_operand(insn, operands, is_thread_local))
        return PM_LOOP_SEGMENT;
    return PM_LOOP_RAN;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static uint8_t vectors_of(const ZydisDecodedInstruction *insn,
                          const ZydisDecodedOperand *operands) {
    uint8_t widest = PM_LOOP_SSE;
    if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return PM_LOOP_AVX512;
    for (unsigned i = 0; i < insn->operand_count; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        ZydisRegisterClass class = ZydisRegisterGetClass(operands[i].reg.value);
        if (class == ZYDIS_REGCLASS_ZMM || class == ZYDIS_REGCLASS_MASK)
            return PM_LOOP_AVX512;
        if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
            (class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM))
            widest = PM_LOOP_AVX;
    }
    return widest;
}

static uint8_t control_of(const ZydisDecodedInstruction *insn) {
    if (insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
        return PM_LOOP_JUMP;
    if (insn->meta.category != ZYDIS_CATEGORY_COND_BR)
        return PM_LOOP_PLAIN;
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_JCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
        return PM_LOOP_COUNTED_BRANCH;
    default:
        return PM_LOOP_BRANCH;
    }
}

static bool is_prefetch(const ZydisDecodedInstruction *insn) {
    return insn->meta.category == ZYDIS_CATEGORY_PREFETCH &&
           insn->opcode_map == ZYDIS_OPCODE_MAP_0F;
}

static bool reads_by_pc(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands) {
    for (unsigned i = 0; i < insn->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operands[i].mem.base == ZYDIS_REGISTER_RIP)
            return true;
    return false;
}

/* ---- which registers hold addresses ---------------------------------------------------------- */

/* 16: none. */
static unsigned general_number(ZydisRegister name) {
    return ZydisRegisterGetClass(name) == ZYDIS_REGCLASS_GPR64 ? (unsigned)ZydisRegisterGetId(name)
                                                               : 16;
}

static void note_addresses(struct pm_loop_code *code, const ZydisDecodedInstruction *insn,
                           const ZydisDecodedOperand *operands) {
    unsigned to = operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
                      ? general_number(operands[0].reg.value)
                      : 16;
    for (unsigned i = 0; i < insn->operand_count; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        unsigned base = general_number(operands[i].mem.base);
        unsigned index = general_number(operands[i].mem.index);
        if (operands[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
            code->bases |= base < 16 ? 1u << base : 0;
            code->indices |= index < 16 ? 1u << index : 0;
        } else if (base < 16 && to < 16) {
            *PM_PUSH(code, moves) = (struct pm_loop_move){(uint8_t)to, (uint8_t)base};
        }
    }
    if (insn->mnemonic == ZYDIS_MNEMONIC_MOV && to < 16 &&
        operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
        unsigned from = general_number(operands[1].reg.value);
        if (from < 16)
            *PM_PUSH(code, moves) = (struct pm_loop_move){(uint8_t)to, (uint8_t)from};
    }
}

enum pm_loop_refusal pm_loop_code_append(struct pm_loop_code *code, const uint8_t *bytes,
                                         size_t n_bytes, uint64_t address) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (code->n_bytes + n_bytes > MOST_ITERATION_BYTES)
        return PM_LOOP_TOO_LONG;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    code->bytes = pm_realloc(code->bytes, code->n_bytes + n_bytes + 1, 1);
    for (size_t at = 0; at < n_bytes;) {
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeFull(&decoder, bytes + at, n_bytes - at, &insn, operands)))
            return PM_LOOP_BEYOND_REACH;
        enum pm_loop_refusal why = refusal_of(&insn, operands);
        if (why)
            return why;
        struct pm_loop_insn *kept = PM_PUSH(code, insns);
        *kept = (struct pm_loop_insn){.address = address + at,
                                      .at = (uint32_t)code->n_bytes,
                                      .length = insn.length,
                                      .control = control_of(&insn),
                                      .opcode_at = insn.raw.prefix_count};
        if (kept->control != PM_LOOP_PLAIN) {
            kept->pc_target = address + at + insn.length + (uint64_t)operands[0].imm.value.s;
            code->n_branches += kept->control == PM_LOOP_BRANCH;
        } else if (reads_by_pc(&insn, operands)) {
            kept->pc_target = address + at + insn.length + (uint64_t)insn.raw.disp.value;
            kept->pc_relative_at = insn.raw.disp.offset;
            if (insn.address_width != 64 || kept->pc_target >= PM_LOOP_IMAGE_BYTES)
                return PM_LOOP_BEYOND_REACH;
        }
        if (is_prefetch(&insn))
            kept->prefetch_modrm_at = insn.raw.modrm.offset;
        note_addresses(code, &insn, operands);
        uint8_t vectors = vectors_of(&insn, operands);
        if (vectors > code->vectors)
            code->vectors = vectors;
        memcpy(code->bytes + code->n_bytes, bytes + at, insn.length);
        code->n_bytes += insn.length;
        at += insn.length;
    }
    return PM_LOOP_RAN;
}

bool pm_loop_code_leads_to(struct pm_loop_code *code, uint64_t address) {
    struct pm_loop_insn *last = &code->insns[code->n_insns - 1];
    bool falls = last->control != PM_LOOP_JUMP && last->address + last->length == address;
    last->taken = !falls && last->control != PM_LOOP_PLAIN && last->pc_target == address;
    return falls || last->taken;
}

void pm_loop_code_finish(struct pm_loop_code *code, struct pm_loop_time *time) {
    uint16_t before;
    code->bases |= 1u << 4; /* the stack pointer, of push and pop, too */
    do {
        before = code->bases;
        for (size_t i = 0; i < code->n_moves; i++)
            if (code->bases >> code->moves[i].to & 1)
                code->bases |= 1u << code->moves[i].from;
    } while (code->bases != before);
    time->n_instructions = (uint32_t)code->n_insns;
    time->n_bytes = (uint32_t)code->n_bytes;
    time->hash = XXH64(code->bytes, code->n_bytes, code->form);
}
