/* What the files of binlift/aarch64/ share: fields of an instruction word, register numbers, and
   what one instruction does with registers.  An A64 instruction is one word of 32 bits whose fields
   stand at fixed places (Arm Architecture Reference Manual, C4), so they are read from there; names
   come from Capstone (a64_names.c). */
#ifndef PM_A64_H
#define PM_A64_H

#include <string.h>

#include "binlift/isa.h"

/* x0 … x30 are general registers 0 … 30; number 31 is the stack pointer.  The zero register is
   none. */
enum { PM_A64_LINK = 30, PM_A64_SP = 31, PM_A64_PREDICATE = 40, PM_A64_STATUS = 56 };

#define PM_A64_N (UINT64_C(1) << 32)
#define PM_A64_Z (UINT64_C(1) << 33)
#define PM_A64_C (UINT64_C(1) << 34)
#define PM_A64_V (UINT64_C(1) << 35)
#define PM_A64_NZCV (PM_A64_N | PM_A64_Z | PM_A64_C | PM_A64_V)

/* Bits HIGH … LOW of WORD. */
static inline uint32_t pm_a64_bits(uint32_t word, unsigned high, unsigned low) {
    return word >> low & (UINT32_MAX >> (31 - (high - low)));
}
static inline int64_t pm_a64_signed_bits(uint32_t word, unsigned high, unsigned low) {
    unsigned width = high - low + 1;
    return (int64_t)((uint64_t)pm_a64_bits(word, high, low) << (64 - width)) >> (64 - width);
}
static inline unsigned pm_a64_rd(uint32_t word) { return word & 31; } /* or Rt */
static inline unsigned pm_a64_rn(uint32_t word) { return word >> 5 & 31; }
static inline unsigned pm_a64_rm(uint32_t word) { return word >> 16 & 31; }
static inline unsigned pm_a64_ra(uint32_t word) { return word >> 10 & 31; } /* or Rt2 */

static inline uint32_t pm_a64_word(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The groups of the encoding, by bits 28 … 25. */
enum pm_a64_group {
    PM_A64_RESERVED,
    PM_A64_SVE,
    PM_A64_IMMEDIATE, /* data processing with a constant */
    PM_A64_BRANCH,    /* branches, exceptions, system */
    PM_A64_MEMORY,
    PM_A64_REGISTER, /* data processing with registers */
    PM_A64_SIMD,     /* Advanced SIMD and floating point */
};
enum pm_a64_group pm_a64_group(uint32_t word);

/* The flags that condition CONDITION reads (of b.cond, csel, ccmp …). */
uint64_t pm_a64_condition_flags(unsigned condition);

/* Adds to SET a general register; number 31 is the stack pointer if SP, else the zero register. */
void pm_a64_add_general(struct pm_register_set *set, unsigned number, bool sp);
/* A definition of the whole register. */
void pm_a64_define(struct pm_registers *registers, unsigned number, bool sp);
void pm_a64_define_vector(struct pm_registers *registers, unsigned number);
void pm_a64_define_flags(struct pm_registers *registers);

/* Registers (a64_simd.c, a64_sve.c, a64_memory.c); all but flow, which a64_decode.c knows. */
void pm_a64_simd_registers(uint32_t word, struct pm_registers *registers);
void pm_a64_sve_registers(uint32_t word, struct pm_registers *registers);
void pm_a64_memory_registers(uint32_t word, struct pm_registers *registers);

/* Memory operands of a load, store, prefetch or atomic; how many. */
unsigned pm_a64_memory_operands(uint32_t word, uint64_t address,
                                struct pm_memory_operand operands[PM_INSN_MEMORY]);
unsigned pm_a64_sve_operands(uint32_t word, struct pm_memory_operand operands[PM_INSN_MEMORY]);

/* How a load or store is written: what it moves besides the data. */
enum pm_a64_memory_form {
    PM_A64_NO_MEMORY,
    PM_A64_PLAIN,   /* loads or stores one register, or a pair, or a list */
    PM_A64_ORDERED, /* load-acquire, store-release: as plain */
    PM_A64_EXCLUSIVE,
    PM_A64_ATOMIC,  /* reads, changes and writes at once */
    PM_A64_NO_DATA, /* prefetches, and tags of memory */
};
enum pm_a64_memory_form pm_a64_memory_form(uint32_t word);
/* The base register's change by writeback: its number and how much is added; false: none, or by a
   register. */
bool pm_a64_writeback(uint32_t word, unsigned *base, int64_t *step);
bool pm_a64_is_pair(uint32_t word); /* ldp, stp and their like */

/* a64_names.c: numbers of mnemonics are Capstone's, then those of instructions it does not know. */
enum { PM_A64_N_MNEMONICS = 1024 }; /* at most */
const char *pm_a64_mnemonic(uint32_t number);
uint32_t pm_a64_mnemonic_of(const uint8_t *bytes, const struct pm_insn *insn);
void pm_a64_print(const uint8_t *bytes, const struct pm_insn *insn, char *text, unsigned size);

/* The functions of struct pm_isa that are files of their own. */
bool pm_a64_decode(const uint8_t *bytes, uint64_t n_bytes, uint64_t address, struct pm_insn *insn,
                   struct pm_insn_parts *parts);
unsigned pm_a64_translate(const uint8_t *bytes, const struct pm_insn *insn,
                          const struct pm_classes *classes, struct pm_op ops[8]);
unsigned pm_a64_define_places(const uint8_t *bytes, const struct pm_insn *insn,
                              struct pm_definition definitions[PM_MOST_DEFINITIONS]);
enum pm_condition pm_a64_condition(const uint8_t *bytes, const struct pm_insn *insn);
struct pm_table_form pm_a64_find_table(const struct pm_table_query *query, bool *found);

#endif
