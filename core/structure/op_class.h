/* Generic instruction classes (Marin's thesis 2003, Table 3.1, extended by what today's processors
   have: vector width, FMA, gather and scatter, masks, conversions, shuffles, atomics, strings). The
   lifter translates native instructions into them, machine files say what they cost, the scheduler
   speaks nothing else. */
#ifndef PM_OP_CLASS_H
#define PM_OP_CLASS_H

#include <stdbool.h>

/* X (enumerator, name in machine files and reports, kind: m memory, i integer, f floating point,
   c control, o other) */
#define PM_OP_CLASSES(X)                                                                           \
    X(PM_OP_UNKNOWN, "unknown", 'o')                                                               \
    X(PM_OP_LOAD_INT, "load_int", 'm')                                                             \
    X(PM_OP_LOAD_FP, "load_fp", 'm')                                                               \
    X(PM_OP_STORE_INT, "store_int", 'm')                                                           \
    X(PM_OP_STORE_FP, "store_fp", 'm')                                                             \
    X(PM_OP_GATHER, "gather", 'm')                                                                 \
    X(PM_OP_SCATTER, "scatter", 'm')                                                               \
    X(PM_OP_PREFETCH, "prefetch", 'm')                                                             \
    X(PM_OP_INT_ADD, "int_add", 'i')                                                               \
    X(PM_OP_INT_COMPARE, "int_compare", 'i')                                                       \
    X(PM_OP_LOGICAL, "logical", 'i')                                                               \
    X(PM_OP_SHIFT, "shift", 'i')                                                                   \
    X(PM_OP_INT_MULT, "int_mult", 'i')                                                             \
    X(PM_OP_INT_DIV, "int_div", 'i')                                                               \
    X(PM_OP_MOVE_INT, "move_int", 'i')                                                             \
    X(PM_OP_COND_MOVE, "cond_move", 'i')                                                           \
    X(PM_OP_FP_ADD, "fp_add", 'f')                                                                 \
    X(PM_OP_FP_MULT, "fp_mult", 'f')                                                               \
    X(PM_OP_FP_FMA, "fp_fma", 'f')                                                                 \
    X(PM_OP_FP_DIV, "fp_div", 'f')                                                                 \
    X(PM_OP_FP_SQRT, "fp_sqrt", 'f')                                                               \
    X(PM_OP_FP_COMPARE, "fp_compare", 'f')                                                         \
    X(PM_OP_FP_MOVE, "fp_move", 'f')                                                               \
    X(PM_OP_FP_CONVERT, "fp_convert", 'f')                                                         \
    X(PM_OP_FP_OTHER, "fp_other", 'f')                                                             \
    X(PM_OP_SHUFFLE, "shuffle", 'f')                                                               \
    X(PM_OP_CRYPTO, "crypto", 'i')                                                                 \
    X(PM_OP_MASK, "mask", 'f')                                                                     \
    X(PM_OP_BRANCH, "branch", 'c')                                                                 \
    X(PM_OP_JUMP, "jump", 'c')                                                                     \
    X(PM_OP_CALL, "call", 'c')                                                                     \
    X(PM_OP_RETURN, "return", 'c')                                                                 \
    X(PM_OP_ATOMIC, "atomic", 'm')                                                                 \
    X(PM_OP_STRING, "string", 'm')                                                                 \
    X(PM_OP_SYSTEM, "system", 'o')                                                                 \
    X(PM_OP_NOP, "nop", 'o')

enum pm_op_class {
#define PM_OP_ENUM(id, name, kind) id,
    PM_OP_CLASSES(PM_OP_ENUM)
#undef PM_OP_ENUM
        PM_N_OP_CLASSES
};

const char *pm_op_class_name(enum pm_op_class op_class);
bool pm_op_class_from_name(const char *name, enum pm_op_class *op_class);
char pm_op_class_kind(enum pm_op_class op_class);

#endif
