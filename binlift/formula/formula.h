/* Symbolic access formulas of one routine (Marin & Mellor-Crummey 2004, section 2.1): the address
   of every memory operand, and the value of every register, as a sum of terms

       constant + Σ factor · atom · atom …

   An atom is a value that has no formula itself: a register at the routine's entry (the stack
   pointer there gives stack slots), what a load or another instruction gave, a register at a place
   where several values meet, the number of the iteration of a loop (0 in the first), or how often a
   loop went round.  From the formula follow, for each loop around, the stride and the first address
   (number of the iteration := 0).

   From these the passes make reference groups and dependences through memory. */
#ifndef PM_BINLIFT_FORMULA_H
#define PM_BINLIFT_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_lifted;

/* groups.c: references (of operations too), and their groups. */
void pm_build_groups(struct pm_lifted *lifted);
/* dependences.c: dependences through memory. */
void pm_find_dependences(struct pm_lifted *lifted);

enum { PM_FORMULA_TERMS = 8, PM_TERM_ATOMS = 3 };

struct pm_formula_term {
    int64_t factor;
    uint32_t atoms[PM_TERM_ATOMS]; /* ascending, 0: none; the constant has none */
};

struct pm_formula {
    uint32_t n_terms; /* ordered by atoms, factors not 0: equal formulas are equal bytes */
    struct pm_formula_term terms[PM_FORMULA_TERMS];
};

enum pm_atom_kind {
    PM_ATOM_NONE = 0,
    PM_ATOM_ENTRY,     /* register `place` at the routine's entry */
    PM_ATOM_LOOP,      /* `place` at the header of `loop`, where it follows no rule */
    PM_ATOM_JOIN,      /* `place` where basic block `where` begins */
    PM_ATOM_LOAD,      /* what instruction `where` loads from `address` */
    PM_ATOM_RESULT,    /* what instruction `where` gives to `place` */
    PM_ATOM_FUNCTION,  /* the same, and it depends on `arguments` only */
    PM_ATOM_ITERATION, /* number of the iteration of `loop` */
    PM_ATOM_TRIPS,     /* how often `loop` went round before it was left */
};

/* How an address moves in one iteration of a loop; as struct pm_stride, owning nothing. */
struct pm_step {
    uint8_t kind; /* enum pm_stride_kind */
    int64_t bytes;
    const char *expression;
};

struct pm_formulas;
/* Needs the scope tree.  Cheap until something is asked. */
struct pm_formulas *pm_formulas_new(const struct pm_lifted *lifted, uint32_t routine);
void pm_formulas_free(struct pm_formulas *formulas);

/* The address of memory operand number OPERAND of instruction INSN.  A gather has none: its formula
   is one unknown atom. */
struct pm_formula pm_formula_of_operand(struct pm_formulas *formulas, uint32_t insn,
                                        unsigned operand);
/* General register REGISTER just before INSN. */
struct pm_formula pm_formula_of_register(struct pm_formulas *formulas, uint32_t insn,
                                         uint8_t number);

/* How FORMULA, of a place in the loop LOOP (a scope), moves from one of its iterations to the next.
   For a loop further out give the formula at the entry of those in between.  The expression is
   owned by FORMULAS. */
struct pm_step pm_formula_step(struct pm_formulas *formulas, const struct pm_formula *formula,
                               uint32_t loop);

/* What one loop around an operand does to its address. */
enum { PM_MOST_LEVELS = 32 }; /* loops around a reference that are told apart */

struct pm_formula_level {
    uint32_t loop; /* scope */
    struct pm_step step;
    struct pm_formula first; /* address in the loop's first iteration, as its parent sees it */
};
/* Fills LEVELS, innermost loop first, at most MOST; how many. */
uint32_t pm_formula_levels(struct pm_formulas *formulas, uint32_t insn, unsigned operand,
                           struct pm_formula_level *levels, uint32_t most);

/* LEFT − RIGHT; false: too many terms. */
bool pm_formula_subtract(const struct pm_formula *left, const struct pm_formula *right,
                         struct pm_formula *difference);
/* *SUM += FACTOR · ADDED; false, and *SUM is of no use: too many terms. */
bool pm_formula_add(struct pm_formula *sum, const struct pm_formula *added, int64_t factor);
/* FORMULA = *REST + *STRIDE · number of the iteration of LOOP; false: it is not of that kind. */
bool pm_formula_split(struct pm_formulas *formulas, const struct pm_formula *formula, uint32_t loop,
                      struct pm_formula *rest, struct pm_formula *stride);
/* Whether the operand is a place in the frame that no pointer reaches. */
bool pm_formula_is_slot(struct pm_formulas *formulas, uint32_t insn, unsigned operand);
/* Whether the operand is a fixed place in the frame: *PLACE bytes from the stack pointer at entry.
 */
bool pm_formula_frame_place(struct pm_formulas *formulas, uint32_t insn, unsigned operand,
                            int64_t *place);
/* Whether FORMULA is a constant, and which. */
bool pm_formula_constant(const struct pm_formula *formula, int64_t *value);
/* A frame address: the stack pointer at entry + *OFFSET + what else there is. */
bool pm_formula_is_frame(const struct pm_formulas *formulas, const struct pm_formula *formula,
                         int64_t *offset);
/* Whether general register NUMBER is the stack pointer or the routine's frame pointer. */
bool pm_formula_is_frame_register(struct pm_formulas *formulas, uint8_t number);
/* Whether FORMULA starts from a known address: a constant and terms that are 0 in the first
   iterations. */
bool pm_formula_is_fixed(const struct pm_formulas *formulas, const struct pm_formula *formula,
                         int64_t *address);
/* A number for what FORMULA starts from: the same for copies of one access that the compiler
   unrolled, whose constants differ, or, where a loop's stride is no constant, how many such strides
   they are off.  *CONSTANT: that part. */
uint64_t pm_formula_origin(struct pm_formulas *formulas, const struct pm_formula *formula,
                           int64_t *constant);

/* FORMULA as text, "rdi + 8*i2 - 16" (i2: iteration of the loop at depth 2); the caller frees. */
char *pm_formula_text(struct pm_formulas *formulas, const struct pm_formula *formula);

#endif
