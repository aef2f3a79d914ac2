/* Unwinding information (.eh_frame, DWARF 5, section 6.4; the LSB's .eh_frame_hdr) as rules for
   each instruction, and the same rules written again for code that moved.

   Nothing is guessed: of a file whose tables are not understood to their last byte no call moves;
   a routine with an expression that depends on where the code stands keeps its calls. */
#ifndef PM_BINLIFT_UNWINDING_H
#define PM_BINLIFT_UNWINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "binlift/elf/elf.h"
#include "core/base/base.h"

/* ---- what the file says (table.c) ------------------------------------------------------------ */

enum { PM_UNWIND_REGISTERS = 17 }; /* DWARF's of x86-64: the last is the return address */

struct pm_unwind_cie {
    uint32_t offset; /* in .eh_frame */
    uint64_t code_alignment;
    int64_t data_alignment;
    uint8_t lsda_encoding;
    bool is_signal;
    uint64_t personality;         /* address of the routine that reads exception tables; 0 none */
    bool personality_is_indirect; /* or of a word that the dynamic linker fills in with it */
    struct pm_reader instructions;
};

struct pm_unwind_fde {
    uint64_t address, end;
    uint64_t lsda;   /* address of its exception table; 0 none */
    uint32_t offset; /* in .eh_frame */
    uint32_t cie;
    bool can_move; /* its rules hold for the same instructions at another place too */
    struct pm_reader instructions;
};

struct pm_unwinding {
    const struct pm_image *image;
    const struct pm_section *section; /* .eh_frame */
    uint64_t n_bytes;                 /* of the section, without terminators at its end */
    PM_ARRAY(struct pm_unwind_cie, cies);
    PM_ARRAY(struct pm_unwind_fde, fdes); /* ascending by address */
    PM_ARRAY(uint32_t, relatives);        /* offsets in the section of 32-bit fields that are
                                             relative to their own place */
};

/* NULL with a sentence if the file has no tables, or if they are not understood. */
struct pm_unwinding *pm_unwinding_read(const struct pm_image *image, struct pm_error *err);
void pm_unwinding_free(struct pm_unwinding *unwinding); /* NULL is fine */
/* The FDE of the code at ADDRESS, or PM_NONE. */
uint32_t pm_unwind_fde_at(const struct pm_unwinding *unwinding, uint64_t address);

/* ---- rules of an instruction (unwind_rows.c) ------------------------------------------------- */

enum pm_unwind_rule_kind {
    PM_RULE_NONE = 0, /* not mentioned */
    PM_RULE_UNDEFINED,
    PM_RULE_SAME,
    PM_RULE_AT_OFFSET,   /* saved at CFA + number */
    PM_RULE_IS_OFFSET,   /* is CFA + number */
    PM_RULE_IN_REGISTER, /* is in register number; the CFA: is register + offset */
    PM_RULE_AT_EXPRESSION,
    PM_RULE_IS_EXPRESSION,
};

struct pm_unwind_rule {
    uint8_t kind;     /* enum pm_unwind_rule_kind */
    uint32_t n_bytes; /* of the expression */
    int64_t number;
    const uint8_t *expression; /* in the image */
};

struct pm_unwind_row {
    struct pm_unwind_rule cfa; /* PM_RULE_IN_REGISTER: cfa_register + number; _IS_EXPRESSION */
    uint64_t cfa_register, args_size;
    struct pm_unwind_rule of[PM_UNWIND_REGISTERS];
};

struct pm_unwind_rows {
    PM_ARRAY(uint64_t, addresses); /* from which on each row holds; ascending, the first is the
                                      FDE's own */
    PM_ARRAY(struct pm_unwind_row, rows);
    struct pm_unwind_row initial; /* as the CIE has it */
};

/* Fills ROWS anew; false: something is not understood.  *CAN_MOVE as in struct pm_unwind_fde. */
bool pm_unwind_read_rows(const struct pm_unwinding *unwinding, const struct pm_unwind_fde *fde,
                         struct pm_unwind_rows *rows, bool *can_move);
void pm_unwind_rows_release(struct pm_unwind_rows *rows);
const struct pm_unwind_row *pm_unwind_row_at(const struct pm_unwind_rows *rows, uint64_t address);
bool pm_unwind_same_rule(const struct pm_unwind_rule *a, const struct pm_unwind_rule *b);

/* ---- exception tables (exception_tables.c) --------------------------------------------------- */

/* A call site: its range, where exceptions land (0: nowhere), and the offset of its actions + 1. */
struct pm_lsda_call_site {
    uint64_t address, end, landing_pad, action;
};

struct pm_exception_table {
    PM_ARRAY(struct pm_lsda_call_site, sites); /* as they stand */
    const uint8_t *actions;                    /* n_action_bytes */
    uint64_t n_action_bytes;
    uint8_t type_encoding;
    const uint8_t *types;    /* where types are counted from: entries before, filters behind */
    uint64_t types_address;  /* of the same */
    uint64_t n_types;        /* entries before */
    uint64_t n_filter_bytes; /* behind */
};

/* False if the table of FDE is not understood, or could not be written elsewhere. */
bool pm_read_exception_table(const struct pm_image *image, const struct pm_unwind_fde *fde,
                             struct pm_exception_table *table);
void pm_exception_table_release(struct pm_exception_table *table);

/* ---- the same for moved code (write_eh_frame.c) ---------------------------------------------- */

/* From ADDRESS in the new code on, to the next such place, rules are those of the old code at OLD;
   0: there are none. */
struct pm_moved_place {
    uint64_t address, old;
};

struct pm_new_table {
    uint8_t *bytes;
    size_t n_bytes;
    uint64_t address;
};

struct pm_new_unwinding {
    struct pm_new_table exceptions; /* .gcc_except_table of what moved */
    struct pm_new_table frames;     /* .eh_frame of the whole file: the old one and what moved */
    struct pm_new_table header;     /* .eh_frame_hdr */
};

/* Where exceptions that landed at an old address land now. */
typedef uint64_t pm_new_landing_pad(const void *context, uint64_t old);

/* PLACES ascend; at the last one the code ends.  The three tables stand one behind the other from
 * ADDRESS on, each aligned by 16.
 */
void pm_write_unwinding(const struct pm_unwinding *unwinding, const struct pm_moved_place *places,
                        size_t n_places, uint64_t address, pm_new_landing_pad *landing_pad,
                        const void *context, struct pm_new_unwinding *made);
void pm_new_unwinding_release(struct pm_new_unwinding *made);

#endif
