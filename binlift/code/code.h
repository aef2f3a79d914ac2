/* Instructions: decoded, found by address, as generic operations of the classes that text files
   give their mnemonics, and what calls of the C library access.  The passes fill struct pm_lifted
   (binlift/lifted.h), which owns what they make. */
#ifndef PM_BINLIFT_CODE_H
#define PM_BINLIFT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binlift/isa.h"
#include "core/base/base.h"
#include "core/structure/structure.h"

struct pm_lifted;
struct pm_lift_options;

/* ---- instructions of all routines (decode.c) ------------------------------------------------- */

void pm_decode_routines(struct pm_lifted *lifted);
void pm_free_interned(struct pm_lifted *lifted); /* for pm_lifted_free */
/* Bytes of an instruction. */
const uint8_t *pm_insn_bytes(const struct pm_lifted *lifted, uint32_t insn);

/* ---- addresses that code forms (formed_addresses.c) ------------------------------------------ */

/* The address that the instruction with BYTES forms relative to the program counter; 0 none.  Of an
   address that it loads from or stores to nobody learns. */
uint64_t pm_pc_relative_address(const struct pm_insn *insn, const uint8_t *bytes);
/* The address that instruction INSN forms or completes, where the ISA needs several; FIRST: the
   first one of its routine. */
uint64_t pm_formed_address(const struct pm_lifted *lifted, uint32_t insn, uint32_t first);
/* A routine without a symbol whose address the resolver of an indirect symbol forms is named as a
   variant of that symbol. */
void pm_name_variants(struct pm_lifted *lifted);

/* ---- routines that are reached (reached.c) --------------------------------------------------- */

/* Leaves the routines that control reaches from the symbols ENTRIES, by calls, jumps, and addresses
   that code forms.  The others become code that is not lifted.  Needs relocations. */
void pm_keep_reached(struct pm_lifted *lifted, char *const *entries, size_t n_entries);

/* ---- look-ups by address (index.c) ----------------------------------------------------------- */

/* A part of a routine, for look-ups by address. */
struct pm_range {
    uint64_t address, size_bytes;
    uint32_t routine;
    uint32_t first_insn, n_insns; /* 0 if it is refused */
};

/* Which addresses start instructions, and which: a bit for each byte of text, and for each 64 bytes
   the number of the first instruction that starts there (PM_NONE: two parts meet there, search). */
struct pm_insn_index {
    uint64_t *starts;
    uint32_t *first;
    uint64_t n_chunks;
};

/* Made anew after parts or instructions changed. */
void pm_index_ranges(struct pm_lifted *lifted);
void pm_index_insns(struct pm_lifted *lifted);

/* Instruction that starts exactly at ADDRESS, or PM_NONE. */
uint32_t pm_insn_at(const struct pm_lifted *lifted, uint64_t address);
/* The first instruction at ADDRESS or after it, and the one after INSN, in the order of addresses;
   PM_NONE at the end. */
uint32_t pm_first_insn_from(const struct pm_lifted *lifted, uint64_t address);
uint32_t pm_insn_after(const struct pm_lifted *lifted, uint32_t insn);
/* The part that covers ADDRESS, or NULL. */
const struct pm_range *pm_range_at(const struct pm_lifted *lifted, uint64_t address);
/* Routine that covers ADDRESS, or PM_NONE. */
uint32_t pm_routine_at(const struct pm_lifted *lifted, uint64_t address);

/* ---- instruction classes (classes.c) ---------------------------------------------------------

   Which generic operations the mnemonics of an ISA stand for.  Text files of one format for all
   ISAs (machines/README.md); a file that is read later overrides what an earlier one says of a
   mnemonic. */

enum { PM_CLASS_OPS = 4 };

/* What one mnemonic does between its loads and its stores. */
struct pm_class_rule {
    uint8_t n_ops;                  /* 1 … PM_CLASS_OPS */
    uint8_t op_class[PM_CLASS_OPS]; /* enum pm_op_class, in order; each works on the result of the
                                      one before */
    uint8_t element_bytes;          /* 0: as the operands say */
    bool scalar;                    /* of a vector register only one element takes part */
};

struct pm_classes;

/* Fills lifted->classes from the files that OPTIONS name, in the order in which they override, if
   they name any. */
bool pm_read_classes(struct pm_lifted *lifted, const struct pm_lift_options *options,
                     struct pm_error *err);

struct pm_classes *pm_classes_new(void);          /* without a class for anything */
void pm_classes_free(struct pm_classes *classes); /* NULL is fine */

/* Adds the file at PATH, which must be for ISA.  Errors name the file and the line. */
bool pm_classes_read(struct pm_classes *classes, const char *path, const char *isa,
                     struct pm_error *err);

/* The rule for a mnemonic in lower case; NULL: none. */
const struct pm_class_rule *pm_classes_find(const struct pm_classes *classes, const char *mnemonic);

/* Looks up all of an ISA's mnemonics once, so that pm_class_of is an index; to be called again
   after another file was read. */
void pm_classes_resolve(struct pm_classes *classes, uint32_t n_mnemonics,
                        const char *(*mnemonic)(uint32_t number));
/* The rule for mnemonic NUMBER of the ISA; NULL: none, also where CLASSES is NULL. */
const struct pm_class_rule *pm_class_of(const struct pm_classes *classes, uint32_t number);

/* Every name and pattern that was read, for checks of a file against an ISA: calls VISIT with the
   file, the line and the text (`*` stands for any characters). */
void pm_classes_visit(const struct pm_classes *classes,
                      void (*visit)(void *data, const char *path, unsigned line, const char *name),
                      void *data);

/* ---- numbers of references (references.c) ---------------------------------------------------- */

/* Fills lifted->insn_references, and those of basic blocks. */
void pm_number_references(struct pm_lifted *lifted);

/* ---- generic operations of basic blocks (operations.c) --------------------------------------- */

void pm_translate_blocks(struct pm_lifted *lifted);

/* ---- addresses of references, registers as sums (assignments.c) ------------------------------ */

/* Fills structure->assignments, and addresses of references. */
void pm_find_assignments(struct pm_lifted *lifted);

/* ---- which builds are the same code (identity.c) --------------------------------------------- */

/* A hash of what the file does, equal for builds that differ in lines, folders and debug
   information only; never 0.  INSN_LINE: the source line of each instruction, 0 unknown; may be
   NULL. */
uint64_t pm_hash_code(const struct pm_lifted *lifted, const uint32_t *insn_line);

/* ---- calls of the C library that access memory (called.c) ------------------------------------ */

/* Of the call or tail call INSN of a routine of the C library that accesses memory as its arguments
   say: which it is; NULL. */
struct pm_called_routine {
    const char *name;
    uint8_t called; /* enum pm_called */
    uint8_t access; /* enum pm_access */
    uint8_t scale;  /* an element has 1 << scale bytes */
};
const struct pm_called_routine *pm_called_routine(const struct pm_lifted *lifted,
                                                  const struct pm_insn *insn);
/* Does it call a routine by which threads wait for each other? */
bool pm_call_synchronises(const struct pm_lifted *lifted, const struct pm_insn *insn);

#endif
