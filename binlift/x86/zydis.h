/* What the files of binlift/x86/ share of Zydis: an instruction decoded with all its operands, and
   registers as this project numbers them.  Private to the reading half of binlift/x86/. */
#ifndef PM_X86_ZYDIS_H
#define PM_X86_ZYDIS_H

#include <Zydis/Zydis.h>

#include "binlift/isa.h"

struct pm_x86 {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Bits of pm_register_set.general beyond the general registers. */
enum {
    PM_X86_RAX = 0,
    PM_X86_RCX = 1,
    PM_X86_RDX = 2,
    PM_X86_RSP = 4,
    PM_X86_RBP = 5,
    PM_X86_RSI = 6,
    PM_X86_RDI = 7,
    PM_X86_CF = 32,
    PM_X86_MASK = 40,
    PM_X86_X87 = 48,
    PM_X86_MXCSR = 49,
};

enum pm_x86_file {
    PM_X86_FILE_NONE = 0,
    PM_X86_FILE_GENERAL,
    PM_X86_FILE_VECTOR,
    PM_X86_FILE_MASK,
    PM_X86_FILE_X87, /* also MMX, which lies over it */
    PM_X86_FILE_MXCSR,
    PM_X86_FILE_PC,
};

struct pm_x86_register {
    uint8_t file;   /* enum pm_x86_file */
    uint8_t number; /* hardware number within its file */
    uint16_t bits;
};

struct pm_x86_register pm_x86_register(ZydisRegister name);
static inline bool pm_x86_is_vector(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           pm_x86_register(operand->reg.value).file == PM_X86_FILE_VECTOR;
}

/* Decodes with operands; false: not an instruction within N_BYTES. */
bool pm_x86_decode(const uint8_t *bytes, uint64_t n_bytes, struct pm_x86 *x86);

/* True for a memory operand that data moves through (not lea, nop, prefetch …). */
bool pm_x86_is_access(const struct pm_x86 *x86, const ZydisDecodedOperand *operand);
bool pm_x86_is_string(const struct pm_x86 *x86);
bool pm_x86_is_gather(const struct pm_x86 *x86); /* or scatter */
bool pm_x86_is_rep(const struct pm_x86 *x86);    /* rep, repe, repne */
/* k0 in the place of a mask: nothing is masked. */
bool pm_x86_is_no_mask(const ZydisDecodedOperand *operand);
/* xor of a register with itself and the like: the result does not depend on the operands. */
bool pm_x86_is_constant_idiom(const struct pm_x86 *x86);

/* Fill MEMORY (PM_INSN_MEMORY, zero before) and INSN's n_memory; all of SET. */
void pm_x86_find_memory(const struct pm_x86 *x86, struct pm_insn *insn,
                        struct pm_memory_operand *memory);
void pm_x86_find_registers(const struct pm_x86 *x86, struct pm_registers *set);

/* The members of pm_isa_x86_64. */
bool pm_x86_isa_decode(const uint8_t *bytes, uint64_t n_bytes, uint64_t address,
                       struct pm_insn *insn, struct pm_insn_parts *parts);
const char *pm_x86_isa_why(const uint8_t *bytes, const struct pm_insn *insn);
uint32_t pm_x86_form(const ZydisDecodedInstruction *insn); /* its mnemonic's number (isa.h) */
unsigned pm_x86_isa_translate(const uint8_t *bytes, const struct pm_insn *insn,
                              const struct pm_classes *classes, struct pm_op ops[8]);
unsigned pm_x86_isa_define(const uint8_t *bytes, const struct pm_insn *insn,
                           struct pm_definition definitions[PM_MOST_DEFINITIONS]);
bool pm_x86_isa_find_step(const uint8_t *bytes, const struct pm_insn *insn,
                          struct pm_register_step *step);
enum pm_condition pm_x86_isa_condition(const uint8_t *bytes, const struct pm_insn *insn);
struct pm_table_form pm_x86_isa_find_table(const struct pm_table_query *query, bool *found);

#endif
