/* What the files of the formulas share; see formula.h.

   sum.c             sums of terms: adding, multiplying, substituting
   frame.c           the stack pointer through the routine; slots that act as registers
   reaching_values.c which definition of a register or slot reaches a place
   atoms.c           atoms, and the loops around
   define_values.c   what instructions define
   joins.c           where values meet; induction variables
   loop_exits.c      what leaves a loop
   formula.c         from values and operands to formulas
   formula_strides.c what varies in which loop, strides, first addresses
   formula_text.c    formulas as text */
#ifndef PM_FORMULA_SOLVER_H
#define PM_FORMULA_SOLVER_H

#include "binlift/cfg/cfg.h"
#include "binlift/formula/formula.h"
#include "binlift/lifted.h"
#include "core/probe_abi.h"

enum {
    PM_N_GENERAL = 32,
    PM_MOST_SLOTS = 224,
    PM_MOST_VARIABLES = PM_N_GENERAL + PM_MOST_SLOTS, /* registers, then slots */
    PM_VARIABLE_WORDS = PM_MOST_VARIABLES / 64,
    PM_MOST_DEPTH = 400, /* of definitions that are followed one from another */
};

/* A variable: a general register, or a place in the frame that nothing reaches by a pointer. */
struct pm_slot {
    int64_t offset; /* from the stack pointer at entry */
    uint32_t size_bytes;
};

/* An operand at a fixed place in the frame. */
struct pm_frame_access {
    uint32_t insn;
    uint8_t operand;
    int64_t offset;
};

enum pm_value_kind { PM_VALUE_ENTRY, PM_VALUE_INSN, PM_VALUE_JOIN };

/* One definition of one variable (number 0: not known at all). */
struct pm_ssa_value {
    uint8_t kind; /* enum pm_value_kind */
    uint8_t state, attempts;
    bool is_cyclic; /* may depend on itself */
    uint16_t variable;
    uint32_t where;               /* instruction, or basic block where values meet */
    uint32_t previous;            /* value of the variable before, in the same basic block */
    uint32_t first_term, n_terms; /* formula, if state is PM_VALUE_DONE */
    uint32_t blocker;             /* a value that has to be found before; 0: none */
};
enum { PM_VALUE_NEW = 0, PM_VALUE_BUSY, PM_VALUE_DONE };

struct pm_stored_formula {
    uint32_t first_term, n_terms;
};

struct pm_atom {
    uint8_t kind;  /* enum pm_atom_kind */
    uint8_t place; /* variable number, or operand of a load */
    bool is_solved;
    uint32_t where, loop; /* loop: where the atom gets its value, PM_NONE outside */
    uint32_t value;       /* of a PM_ATOM_LOOP or PM_ATOM_JOIN */
    uint32_t first_argument, n_arguments;
    struct pm_stored_formula solution; /* of a PM_ATOM_LOOP that is an induction variable */
    unsigned asked_when;               /* n_known then */
    uint32_t asked_loop;               /* + 1; enum pm_variation */
    uint8_t asked_answer;
};

enum pm_variation { PM_VARIES_NOT = 0, PM_VARIES, PM_VARIES_INDIRECTLY };

/* How a loop ends: factor · (number of the last iteration) = bound. */
struct pm_ending {
    bool asked, is_known;
    int64_t factor;
    struct pm_stored_formula bound;
    uint32_t trips; /* atom */
};

struct pm_formulas {
    const struct pm_lifted *lifted;
    const struct pm_structure *structure;
    const struct pm_routine *routine;
    const struct pm_routine_code *code;
    uint32_t number;                             /* of the routine */
    uint32_t first_block, first_scope, n_scopes; /* of the routine; scopes of others in between */
    bool is_ready, has_frame_pointer;

    /* frame */
    struct pm_flow *flow;
    uint32_t *order, *position, n_order;
    int frame_pointer;                          /* register, −1: none */
    PM_ARRAY(struct pm_frame_access, accesses); /* ascending by instruction */
    PM_ARRAY(struct pm_slot, slots);            /* ascending by offset */

    /* values */
    uint32_t n_variables; /* PM_N_GENERAL + n_slots */
    PM_ARRAY(struct pm_ssa_value, values);
    uint32_t *entry_values;                 /* n_variables */
    uint32_t *in, *out;                     /* [block][variable]: value at its start and end */
    uint64_t (*changed)[PM_VARIABLE_WORDS]; /* [scope]: variables that a loop defines */

    /* formulas */
    PM_ARRAY(struct pm_formula_term, terms);
    PM_ARRAY(struct pm_atom, atoms); /* the first is none */
    PM_ARRAY(struct pm_stored_formula, arguments);
    struct pm_map atom_map;    /* of atoms but the first */
    struct pm_ending *endings; /* [scope] */
    PM_ARRAY(char *, texts);
    unsigned depth;
    unsigned n_known;        /* atoms of which more became known: answers before are out of date */
    unsigned n_provisional;  /* formulas that left a loop in which a value was still being found */
    uint32_t provisional_on; /* the last such value */
    unsigned n_discarded;    /* formulas that were provisional */
};

/* ---- sum.c --------------------------------------------------------------------------- */

struct pm_formula pm_sum_constant(int64_t value);
struct pm_formula pm_sum_atom(uint32_t atom);
bool pm_sum_multiply(const struct pm_formula *a, const struct pm_formula *b,
                     struct pm_formula *product);
bool pm_sum_equal(const struct pm_formula *a, const struct pm_formula *b);
bool pm_sum_has(const struct pm_formula *sum, uint32_t atom);
/* *SUM with VALUE in the place of ATOM. */
bool pm_sum_replace(struct pm_formula *sum, uint32_t atom, const struct pm_formula *value);
/* SUM = *REST + *FACTOR · ATOM; false: ATOM stands in it otherwise. */
bool pm_sum_split(const struct pm_formula *sum, uint32_t atom, struct pm_formula *rest,
                  struct pm_formula *factor);

/* ---- frame.c ------------------------------------------------------------------------- */

void pm_find_frame(struct pm_formulas *f);
/* The fixed place in the frame that an operand is; NULL. */
const struct pm_frame_access *pm_frame_access_of(const struct pm_formulas *f, uint32_t insn,
                                                 unsigned operand);
/* The variable that lies exactly at OFFSET, PM_NONE. */
uint32_t pm_slot_at(const struct pm_formulas *f, int64_t offset);
/* General registers that INSN may change. */
uint32_t pm_registers_defined(const struct pm_lifted *lifted, const struct pm_insn *insn);

/* ---- reaching_values.c ----------------------------------------------------------------------- */

void pm_find_values(struct pm_formulas *f);
/* What VARIABLE holds just before INSN. */
uint32_t pm_value_before(const struct pm_formulas *f, uint32_t insn, uint32_t variable);
static inline uint32_t pm_value_at_end(const struct pm_formulas *f, uint32_t vertex,
                                       uint32_t variable) {
    return f->out[(size_t)vertex * f->n_variables + variable];
}

/* ---- atoms.c ------------------------------------------------------------------------- */

/* The atom with these parts, made if it is new. */
uint32_t pm_atom(struct pm_formulas *f, enum pm_atom_kind kind, uint32_t where, uint32_t place,
                 uint32_t loop);
void pm_atom_add_argument(struct pm_formulas *f, uint32_t atom, const struct pm_formula *argument);
struct pm_stored_formula pm_store_formula(struct pm_formulas *f, const struct pm_formula *formula);
struct pm_formula pm_load_formula(const struct pm_formulas *f, struct pm_stored_formula stored);
uint32_t pm_loop_of_insn(const struct pm_formulas *f, uint32_t insn);
/* LOOP is OUTER or lies in it; PM_NONE is outside of all. */
bool pm_loop_is_in(const struct pm_formulas *f, uint32_t loop, uint32_t outer);

/* ---- formula_strides.c ----------------------------------------------------------------------- */

/* Whether SUM, seen from LOOP, is the same in all iterations of it. */
enum pm_variation pm_sum_variation(struct pm_formulas *f, const struct pm_formula *sum,
                                   uint32_t loop);

/* SUM does not change in LOOP. */
static inline bool pm_is_from_outside(struct pm_formulas *f, const struct pm_formula *sum,
                                      uint32_t loop) {
    return pm_sum_variation(f, sum, loop) == PM_VARIES_NOT;
}

/* ---- define_values.c ------------------------------------------------------------------------ */

/* What PLACE holds before INSN; memory operand OPERAND if it is PM_PLACE_MEMORY. */
struct pm_formula pm_formula_of_place(struct pm_formulas *f, uint32_t insn, uint8_t place,
                                      uint8_t operand);
/* What memory operand NUMBER of INSN holds before it. */
struct pm_formula pm_formula_of_load(struct pm_formulas *f, uint32_t insn, uint8_t number);
/* A definition of INSN.  False: too many terms, or not of that kind. */
bool pm_formula_evaluate(struct pm_formulas *f, uint32_t insn,
                         const struct pm_definition *definition, struct pm_formula *formula);
/* What INSN gives to VARIABLE. */
struct pm_formula pm_formula_of_definition(struct pm_formulas *f, uint32_t insn, uint32_t variable);

/* ---- joins.c -------------------------------------------------------------------------- */

static inline uint32_t pm_loop_of_block(const struct pm_formulas *f, uint32_t block) {
    return f->structure->blocks[block].loop;
}
/* The loop at whose header V stands, PM_NONE if it is another meeting. */
uint32_t pm_loop_of_join(const struct pm_formulas *f, const struct pm_ssa_value *v);
struct pm_formula pm_formula_of_join(struct pm_formulas *f, uint32_t value);
/* Formula of the value at a loop's header when the loop is entered. */
struct pm_formula pm_formula_initial(struct pm_formulas *f, uint32_t value);
/* What was last met as provisional waits for a value other than VALUE. */
bool pm_is_busy_other(const struct pm_formulas *f, uint32_t value);

/* ---- loop_exits.c ------------------------------------------------------------------------- */

/* The only edge of the routine that leaves LOOP; PM_NONE if there are several. */
uint32_t pm_only_exit(const struct pm_formulas *f, uint32_t loop);
/* A value at the same header that SUM depends on and that is being looked for; 0: none. */
uint32_t pm_busy_in(const struct pm_formulas *f, const struct pm_formula *sum, uint32_t loop);
/* SUM, of a value that VALUE in FROM has, as the loop TO outside of it sees it. */
struct pm_formula pm_formula_behind_loop(struct pm_formulas *f, struct pm_formula sum,
                                         uint32_t value, uint32_t from, uint32_t to);

/* ---- formula.c ------------------------------------------------------------------------------- */

/* The formula of a value, as a place in the loop LOOP sees it. */
struct pm_formula pm_formula_of_value(struct pm_formulas *f, uint32_t value, uint32_t loop);
/* Puts in what became known of atoms since FORMULA was made. */
struct pm_formula pm_formula_resolve(struct pm_formulas *f, const struct pm_formula *formula);

#endif
