/* Generic operations of an instruction and their registers, each once; for the ISAs. */
#ifndef PM_OP_REGISTERS_H
#define PM_OP_REGISTERS_H

#include <string.h>

#include "core/structure/structure.h"

static inline struct pm_op pm_op_of_class(enum pm_op_class op_class) {
    struct pm_op op = {.op_class = (uint8_t)op_class, .reference = PM_NONE};
    memset(op.defs, PM_REGISTER_NONE, sizeof op.defs);
    memset(op.uses, PM_REGISTER_NONE, sizeof op.uses);
    return op;
}

enum { PM_MOST_OPS = 8 }; /* of one instruction */

/* Appends an operation without registers to the *N of OPS; in the place of the last one where there
   are PM_MOST_OPS. */
static inline struct pm_op *pm_append_op(struct pm_op *ops, unsigned *n,
                                         enum pm_op_class op_class) {
    struct pm_op *op = &ops[*n < PM_MOST_OPS ? (*n)++ : PM_MOST_OPS - 1];
    *op = pm_op_of_class(op_class);
    return op;
}

/* What there is no room for is left out. */
static inline void pm_op_add(uint8_t *registers, unsigned n, uint8_t which) {
    for (unsigned i = 0; i < n && which != PM_REGISTER_NONE; i++) {
        if (registers[i] == which)
            return;
        if (registers[i] == PM_REGISTER_NONE) {
            registers[i] = which;
            return;
        }
    }
}

static inline void pm_op_add_use(struct pm_op *op, uint8_t which) {
    pm_op_add(op->uses, PM_OP_N_USES, which);
}

static inline void pm_op_add_def(struct pm_op *op, uint8_t which) {
    pm_op_add(op->defs, PM_OP_N_DEFS, which);
}

#endif
