/* The ISA interface: an instruction as definitions and uses, memory operands, control flow and
   generic operations.  One table of functions for each ISA; binlift/x86/ is the only place that
   knows Zydis, binlift/aarch64/ the only one that knows Capstone.  The passes of binlift/ use
   nothing else.  README.md says how an ISA is added. */
#ifndef PM_ISA_H
#define PM_ISA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

struct pm_classes;              /* binlift/code/code.h */
struct pm_lifted;               /* binlift/lifted.h */
struct pm_instrumentation_plan; /* binlift/copy/copy.h */
struct pm_new_code;             /* binlift/copy/copy.h */
struct pm_bound_request;        /* binlift/bound/bound.h */
struct pm_shadow_loop;          /* binlift/bound/bound.h */

/* A set of registers.  general: bits 0–31 general registers, 32–37 flags (x86: CF PF AF ZF SF OF,
   AArch64: N Z C V), 40–55 mask registers (x86: 8, and 48 x87 stack, 49 MXCSR), 56 status of
   floating point (AArch64); vector: bits 0–31. */
struct pm_register_set {
    uint64_t general, vector;
};
#define PM_FLAGS_MASK (UINT64_C(0x3f) << 32)

enum pm_control {
    PM_CONTROL_NONE = 0,
    PM_CONTROL_BRANCH,      /* conditional, direct */
    PM_CONTROL_BRANCH_LOOP, /* conditional, short form only, tests a register (jrcxz, loop) */
    PM_CONTROL_JUMP,        /* unconditional, direct */
    PM_CONTROL_JUMP_INDIRECT,
    PM_CONTROL_CALL,
    PM_CONTROL_CALL_INDIRECT,
    PM_CONTROL_RETURN,
    PM_CONTROL_STOP, /* ud2, hlt: control does not go on */
};

static inline bool pm_is_call(uint8_t control) {
    return control == PM_CONTROL_CALL || control == PM_CONTROL_CALL_INDIRECT;
}

enum { PM_INSN_MEMORY = 2 };
#define PM_REGISTER_PC 0xfe /* base of a pc-relative operand; displacement is then the address */

/* The address is base + index · scale + displacement with what the registers hold before the
   instruction: a push stores at displacement −size from the stack pointer. */
struct pm_memory_operand {
    int64_t displacement; /* of a pc-relative operand: the absolute address */
    uint8_t base, index;  /* general register number, PM_REGISTER_PC, PM_REGISTER_NONE; for a gather
                             index is the vector register */
    uint8_t scale;
    uint8_t segment;  /* 0 none, 1 fs, 2 gs */
    uint8_t access;   /* enum pm_access */
    uint8_t kind;     /* enum pm_access_kind */
    uint8_t mask;     /* mask register (AVX-512 k or AVX vector) of a masked or gather access; the
                         general register with the number of a bit */
    uint8_t elements; /* masked or gather */
    uint8_t index_bytes;
    bool implicit;       /* what push, pop, call, ret, enter, leave move on the stack */
    uint8_t stops_early; /* a string operation on as many elements as it takes until it finds what
                            it looks for: enum pm_called; 0 else */
    uint16_t size_bytes; /* of the access, or of one element if kind is not plain */
};

/* The registers of an instruction. */
struct pm_registers {
    struct pm_register_set uses;  /* may be read */
    struct pm_register_set defs;  /* may be written */
    struct pm_register_set kills; /* surely overwritten whole: dead before it (liveness) */
};

/* Addresses of user programs on 64-bit machines that we know. */
#define PM_ADDRESS_BITS 48

/* An instruction.  Programs have millions: 32 bytes each, what many have in common stands once. */
struct pm_insn {
    uint64_t address : PM_ADDRESS_BITS;
    uint64_t length : 4;
    uint64_t control : 4; /* enum pm_control */
    uint64_t n_memory : 2;
    uint64_t is_nop : 1;           /* any no-op: may be dropped when code moves (not endbr64) */
    uint64_t uses_unsupported : 1; /* xbegin …: its routine cannot be rewritten; `why` says */
    uint64_t uses_gs : 1;          /* unsupported because of %gs: no routine of the file can be */
    uint64_t target : PM_ADDRESS_BITS; /* direct control flow */
    uint64_t
        pc_displacement_offset : 4; /* byte offset of a 32-bit pc-relative displacement; 0 none */
    uint64_t immediate_bytes : 4;   /* of a constant in the last bytes (no branch); 0 none */
    const struct pm_memory_operand *memory; /* n_memory */
    const struct pm_registers *registers;
};
_Static_assert(sizeof(struct pm_insn) == 32, "programs have millions of instructions");

/* Where an instruction's `memory` and `registers` lie when it has just been decoded. */
struct pm_insn_parts {
    struct pm_memory_operand memory[PM_INSN_MEMORY];
    struct pm_registers registers;
};

/* The value that an instruction gives to one place, as a function of the values before it.  A place
   is a general register (its number) or one of these: */
enum {
    PM_PLACE_FLAGS = 0xfc,  /* what the flags compare with zero: the difference, or the result */
    PM_PLACE_MEMORY = 0xfd, /* the memory operand `operand` */
};

enum pm_definition_kind {
    PM_DEFINED_OTHERWISE = 0, /* by nothing listed below */
    PM_DEFINED_AS_SUM,        /* constant + Σ factor · term */
    PM_DEFINED_AS_PRODUCT,    /* factor of terms[0] · terms[0] · terms[1] + factor · terms[2] */
    PM_DEFINED_AS_QUOTIENT,   /* terms[0] / constant, without a remainder or rounded down */
    PM_DEFINED_AS_CONSTANT_WITH, /* terms[0], if a constant, with the bits that are set in its
                                    factor taken from `constant` */
    PM_DEFINED_AS_CHOICE,        /* one of the terms, by a condition */
};

enum { PM_MOST_TERMS = 3, PM_MOST_DEFINITIONS = 3 };

struct pm_definition {
    uint8_t place;   /* that is defined */
    uint8_t kind;    /* enum pm_definition_kind */
    uint8_t operand; /* memory operand that PM_PLACE_MEMORY stands for */
    uint8_t n_terms;
    struct {
        uint8_t place;
        int64_t factor;
    } terms[PM_MOST_TERMS];
    int64_t constant;
};

/* When a conditional branch is taken, by the value that the flags compare with zero. */
enum pm_condition {
    PM_IF_UNKNOWN = 0,
    PM_IF_EQUAL,
    PM_IF_NOT_EQUAL,
    PM_IF_LESS, /* signed or unsigned, as the next three */
    PM_IF_LESS_OR_EQUAL,
    PM_IF_GREATER,
    PM_IF_GREATER_OR_EQUAL,
};

/* A direct jump or branch within a routine: from one instruction to another. */
struct pm_jump {
    uint32_t to, from;
};

/* The first of JUMPS, ascending by `to`, that leads to INSN or behind it. */
static inline size_t pm_first_jump_to(const struct pm_jump *jumps, size_t n, uint32_t insn) {
    return PM_LOWER_BOUND(n, i, jumps[i].to < insn);
}

/* Reads program memory at link-time address; NULL where nothing is mapped for BYTES bytes. */
typedef const uint8_t *pm_read_memory(void *image, uint64_t address, uint64_t bytes);

/* Where an indirect jump stands. */
struct pm_table_query {
    const struct pm_insn *insns;
    uint32_t jump, first;        /* the jump; the first instruction of its part */
    const struct pm_jump *jumps; /* of the routine, ascending by `to` */
    size_t n_jumps;
    void *image;
    pm_read_memory *read;
    bool (*is_data)(const void *image, uint64_t address); /* in the file, and not code */
    bool has_register; /* what is looked for is not the jump's target but the value of */
    uint8_t looks_for; /* this register before it */
};

/* A general register to which a constant is added, modulo 2^bits. */
struct pm_register_step {
    uint8_t number, bits; /* 32: the upper half becomes 0; 64 */
    int64_t step;
};

struct pm_isa {
    const char *name; /* "x86-64" */
    uint16_t elf_machine;

    /* Decodes the instruction at BYTES; false: not an instruction.  INSN points into PARTS.  May be
       called from several threads. */
    bool (*decode)(const uint8_t *bytes, uint64_t n_bytes, uint64_t address, struct pm_insn *insn,
                   struct pm_insn_parts *parts);

    /* Appends the generic operations of the instruction (op.reference left PM_NONE; a memory
       operation has its operand's number in `reference`, the caller translates).  CLASSES, which
       are resolved and may be NULL, say what stands between loads and stores; an instruction that
       they do not know gives a PM_OP_UNKNOWN there.  `mnemonic` of each is 1 + the ISA's number. */
    unsigned (*translate)(const uint8_t *bytes, const struct pm_insn *insn,
                          const struct pm_classes *classes, struct pm_op ops[8]);

    /* Mnemonics, as files of classes name them, are numbered 0 … n_mnemonics − 1; `mnemonic` gives
       the name of a number (NULL: none). */
    uint32_t n_mnemonics;
    const char *(*mnemonic)(uint32_t number);

    /* Mnemonic and operands as text, for people. */
    void (*print)(const uint8_t *bytes, const struct pm_insn *insn, char *text, unsigned size);

    /* Backward slice from an indirect jump over the instructions of its part of the routine: finds
       a jump table's address, entry size, whether entries are relative to `base` (mostly the table
       itself, else a label), and an upper bound of entries (0: none found), from the bounds check
       or at least from the width of the index. */
    struct pm_table_form {
        uint64_t table;
        uint64_t base; /* if relative */
        uint8_t entry_bytes;
        bool relative;   /* the target is base + scale · entry, else the entry itself */
        bool is_signed;  /* entries of a relative table */
        bool is_checked; /* max_entries is what a comparison lets through */
        uint8_t scale;
        uint64_t max_entries;
    } (*find_table)(const struct pm_table_query *query, bool *found);

    /* The address that instruction K completes, as a value, where that takes several instructions
       (adrp, add): of code or data; 0 none.  NULL: addresses are pc_displacement_offset's. */
    uint64_t (*formed_address)(const struct pm_insn *insns, uint32_t k, uint32_t first, void *image,
                               pm_read_memory *read);

    /* The place of the slot that the PLT entry at ADDRESS, of which BYTES are the first N_BYTES,
       jumps through; false: not a PLT entry. */
    bool (*plt_slot)(const uint8_t *bytes, uint64_t n_bytes, uint64_t address, uint64_t *slot);

    struct { /* types of relocations of the dynamic linker that matter: all of 8 bytes */
        uint32_t relative, indirect, absolute, data_slot, code_slot;
    } relocations;

    bool switches_from_labels; /* entries of a `switch` count from a label, not from the table */

    /* Why an instruction with uses_unsupported cannot be moved: the end of a refusal's sentence. */
    const char *(*why)(const uint8_t *bytes, const struct pm_insn *insn);

    /* What the instruction defines, as far as it can be said in these terms: general registers of
       32 or 64 bits, memory operands of 4 or 8 bytes, flags.  All definitions read what was there
       before the instruction (but a branch that compares tests its own).  Narrow arithmetic is
       taken not to wrap around.  A register of defs without a definition is defined otherwise. */
    unsigned (*define)(const uint8_t *bytes, const struct pm_insn *insn,
                       struct pm_definition definitions[PM_MOST_DEFINITIONS]);

    /* Whether the instruction adds a constant to a general register and writes no other; NULL: not
       told (nothing is rewritten then). */
    bool (*find_step)(const uint8_t *bytes, const struct pm_insn *insn,
                      struct pm_register_step *step);

    /* When a conditional branch is taken. */
    enum pm_condition (*condition)(const uint8_t *bytes, const struct pm_insn *insn);

    /* Makes the new code that PLAN asks for, to stand at ADDRESS, and the old text with
       trampolines; false with a sentence.  MADE is 0 before and the caller's in any case.  NULL:
       such programs can be looked at, no instrumented copies of them are made. */
    bool (*rewrite)(const struct pm_lifted *lifted, const struct pm_instrumentation_plan *plan,
                    uint64_t address, struct pm_new_code *made, struct pm_error *err);

    /* Makes the code of a copy from which a lower bound is measured, whose data are there already;
       false: an operand that no slot can take the place of.  NULL: no lower bounds. */
    bool (*shadow_loop)(const struct pm_bound_request *request, struct pm_shadow_loop *copy);

    const uint8_t *dwarf_registers;    /* DWARF's numbers of general registers; NULL without
                                          `rewrite` */
    uint8_t stack_pointer;             /* number of the general register */
    const char *const *register_names; /* of general registers, for people; NULL: r0, r1 … */
    const char *const *flag_names;     /* of bits 32, 33 … of register sets */
    uint8_t n_register_names, n_flag_names;

    /* Calling convention, for liveness at calls and returns whose other end is unknown. */
    struct pm_register_set argument_registers, result_registers, callee_saved, all_registers;
};

extern const struct pm_isa pm_isa_aarch64;

/* The class of what transfers control, PM_OP_UNKNOWN for everything else (isas.c). */
enum pm_op_class pm_class_of_control(uint8_t control);

/* The ISA of an ELF machine number, or NULL (isas.c). */
const struct pm_isa *pm_isa_of_machine(uint16_t elf_machine);

#endif
