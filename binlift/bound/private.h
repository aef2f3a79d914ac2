/* What the files of this folder share. */
#ifndef PM_BOUND_PRIVATE_H
#define PM_BOUND_PRIVATE_H

#include "binlift/bound/bound.h"
#include "binlift/formula/formula.h"

enum pm_bound_kind {
    PM_IN_FRAME = 0, /* kept */
    PM_IS_SCALAR,    /* kept, unless its address is tainted */
    PM_IN_SLOT,
};

struct pm_bound_operand {
    uint32_t insn, reference;
    uint8_t operand, kind; /* enum pm_bound_kind */
    uint8_t access;        /* enum pm_access */
    bool is_reached;       /* of the frame: a store of the nest by a pointer may change it */
};

/* A nest while it is looked at. */
struct pm_nest_work {
    const struct pm_lifted *lifted;
    struct pm_formulas *formulas; /* of its routine */
    uint32_t loop, routine;
    PM_ARRAY(uint32_t, blocks);                  /* ascending */
    PM_ARRAY(struct pm_bound_operand, operands); /* ascending by reference */
    PM_ARRAY(uint32_t, replayed);
    uint32_t n_chased;
};

/* operands.c: fills operands, as far as addresses tell; false: the frame moves. */
bool pm_bound_find_operands(struct pm_nest_work *work);

/* taint.c: fills replayed and n_chased; makes slots of scalars whose addresses are tainted.  False:
   a branch that counts a register is tainted. */
bool pm_bound_find_tainted(struct pm_nest_work *work);

/* slots.c: adds the nest to PLAN. */
void pm_bound_add_nest(const struct pm_nest_work *work, struct pm_bound_plan *plan);

static inline const struct pm_memory_operand *
pm_bound_memory(const struct pm_nest_work *work, const struct pm_bound_operand *operand) {
    return &work->lifted->insns[operand->insn].memory[operand->operand];
}

#endif
