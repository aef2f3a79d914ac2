/* The table of functions of x86-64, and its calling convention (System V ABI). */
#include "binlift/x86/rewrite/shadow_loop/shadow_loop.h"
#include "binlift/x86/rewrite/rewrite.h"
#include "binlift/x86/x86.h"
#include "binlift/x86/zydis.h"

#include <elf.h>
#include <stdio.h>

static void print(const uint8_t *bytes, const struct pm_insn *insn, char *text, unsigned size) {
    struct pm_x86 x86;
    ZydisFormatter formatter;
    if (!size)
        return;
    if (!pm_x86_decode(bytes, insn->length, &x86) ||
        !ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT)) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &x86.insn, x86.operands,
                                                      x86.insn.operand_count_visible, text, size,
                                                      insn->address, ZYAN_NULL)))
        snprintf(text, size, "(bad)");
}

/* Zydis numbers its mnemonics; 0 is no instruction.  Forms that cost something else have names of
   their own: a lea of three parts, a move of a constant of 64 bits, and sbb of a register and
   itself. */
enum { LEA3 = ZYDIS_MNEMONIC_MAX_VALUE + 1, MOVABS, SBB0, N_MNEMONICS };

static const char *mnemonic(uint32_t number) {
    if (number >= LEA3)
        return number == LEA3 ? "lea3" : number == MOVABS ? "movabs" : "sbb0";
    return number ? ZydisMnemonicGetString((ZydisMnemonic)number) : NULL;
}

uint32_t pm_x86_form(const ZydisDecodedInstruction *insn) {
    bool has_index = insn->raw.modrm.rm == 4 && insn->raw.modrm.mod != 3 &&
                     (insn->raw.sib.index != 4 || insn->raw.rex.X);
    bool has_base = insn->raw.sib.base != 5 || insn->raw.modrm.mod != 0;
    if (insn->mnemonic == ZYDIS_MNEMONIC_LEA && has_index && has_base && insn->raw.disp.size)
        return LEA3;
    if (insn->mnemonic == ZYDIS_MNEMONIC_MOV && insn->raw.imm[0].size == 64)
        return MOVABS;
    if (insn->mnemonic == ZYDIS_MNEMONIC_SBB && insn->raw.modrm.mod == 3 &&
        (insn->opcode == 0x19 || insn->opcode == 0x1b) &&
        insn->raw.modrm.reg == insn->raw.modrm.rm && insn->raw.rex.R == insn->raw.rex.B)
        return SBB0;
    return (uint32_t)insn->mnemonic;
}

/* A PLT entry is one jump through its slot, perhaps behind an endbr64. */
static bool plt_slot(const uint8_t *bytes, uint64_t n_bytes, uint64_t address, uint64_t *slot) {
    enum { N_INSTRUCTIONS = 2 };
    for (unsigned i = 0; i < N_INSTRUCTIONS; i++) {
        struct pm_insn insn;
        struct pm_insn_parts parts;
        if (!pm_x86_isa_decode(bytes, n_bytes, address, &insn, &parts))
            return false;
        if (insn.control == PM_CONTROL_JUMP_INDIRECT) {
            *slot = insn.n_memory ? (uint64_t)insn.memory[0].displacement : 0;
            return insn.n_memory && insn.memory[0].base == PM_REGISTER_PC;
        }
        if (insn.control != PM_CONTROL_NONE)
            return false;
        bytes += insn.length;
        n_bytes -= insn.length;
        address += insn.length;
    }
    return false;
}

/* Bits of the general registers, by hardware number: rax rcx rdx rbx rsp rbp rsi rdi r8 … r15. */
#define RAX 0x1u
#define RCX 0x2u
#define RDX 0x4u
#define RBX 0x8u
#define RSP 0x10u
#define RBP 0x20u
#define RSI 0x40u
#define RDI 0x80u
#define R8_R9 0x300u
#define R10 0x400u
#define R12_R15 0xf000u
#define X87_MXCSR ((UINT64_C(1) << PM_X86_X87) | (UINT64_C(1) << PM_X86_MXCSR))

static const char *const register_names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                             "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                             "r12", "r13", "r14", "r15"};

static const uint8_t dwarf_registers[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

static const char *const flag_names[] = {"CF", "PF", "AF", "ZF", "SF", "OF"};

const struct pm_isa pm_isa_x86_64 = {
    .name = "x86-64",
    .elf_machine = EM_X86_64,
    .decode = pm_x86_isa_decode,
    .translate = pm_x86_isa_translate,
    .n_mnemonics = N_MNEMONICS,
    .mnemonic = mnemonic,
    .print = print,
    .find_table = pm_x86_isa_find_table,
    .plt_slot = plt_slot,
    .relocations = {.relative = R_X86_64_RELATIVE,
                    .indirect = R_X86_64_IRELATIVE,
                    .absolute = R_X86_64_64,
                    .data_slot = R_X86_64_GLOB_DAT,
                    .code_slot = R_X86_64_JUMP_SLOT},
    .why = pm_x86_isa_why,
    .define = pm_x86_isa_define,
    .condition = pm_x86_isa_condition,
    .find_step = pm_x86_isa_find_step,
    .rewrite = pm_x86_rewrite,
    .shadow_loop = pm_x86_shadow_loop,
    .dwarf_registers = dwarf_registers,
    .stack_pointer = PM_X86_RSP,
    .register_names = register_names,
    .flag_names = flag_names,
    .n_flag_names = sizeof flag_names / sizeof *flag_names,
    .n_register_names = sizeof register_names / sizeof *register_names,
    /* rax: number of vector registers of a variadic call; r10: static chain */
    .argument_registers = {RDI | RSI | RDX | RCX | R8_R9 | RAX | R10 | RSP | X87_MXCSR, 0xff},
    .result_registers = {RAX | RDX | RSP | X87_MXCSR, 0x3},
    .callee_saved = {RBX | RBP | RSP | R12_R15 | X87_MXCSR, 0},
    .all_registers = {0xffffu | PM_FLAGS_MASK | (UINT64_C(0xff) << PM_X86_MASK) | X87_MXCSR,
                      0xffffffffu},
};
