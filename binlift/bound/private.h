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
    bool has_place; /* of the frame: it is known where from the stack pointer at the entry … */
    int64_t place;  /* … of its routine */
};

struct pm_routine_formulas {
    uint32_t routine;
    struct pm_formulas *formulas;
};

/* What all nests have in common while they are looked for. */
struct pm_bound_search {
    const struct pm_lifted *lifted;
    const double *executed; /* per basic block; NULL: unknown */
    const double *per_call; /* per routine: instructions of a call; NULL: unknown */
    PM_ARRAY(struct pm_routine_formulas, formulas); /* that were made so far */
};

/* A nest while it is looked at. */
struct pm_nest_work {
    const struct pm_lifted *lifted;
    struct pm_bound_search *search;
    uint32_t loop, routine;
    PM_ARRAY(uint32_t, callees); /* routines that it calls, with all that these call */
    uint32_t n_library;          /* calls of the mathematical library … */
    bool library_stores;         /* … some through pointers */
    int64_t height; /* of the stack pointer at the nest's header, as frame places count; 0 where it
                       does not move in the nest */
    bool stack_moves;                            /* in the nest's own routine */
    PM_ARRAY(uint32_t, blocks);                  /* ascending; of callees, too */
    PM_ARRAY(struct pm_bound_operand, operands); /* ascending by reference */
    PM_ARRAY(uint32_t, replayed);
    uint32_t n_chased;
};

/* region.c: fills blocks and callees; enum pm_bound_refusal. */
uint8_t pm_bound_find_region(struct pm_nest_work *work);
struct pm_formulas *pm_bound_formulas(const struct pm_nest_work *work, uint32_t routine);
void pm_bound_free_formulas(struct pm_bound_search *search);

static inline bool pm_bound_was_executed(const struct pm_nest_work *work, uint32_t block) {
    return !work->search->executed || work->search->executed[block] > 0;
}

/* Which of work->blocks BLOCK is; n_blocks: none. */
static inline size_t pm_bound_index(const struct pm_nest_work *work, uint32_t block) {
    size_t i = PM_LOWER_BOUND(work->n_blocks, k, work->blocks[k] < block);
    return i < work->n_blocks && work->blocks[i] == block ? i : work->n_blocks;
}

static inline uint32_t pm_bound_routine_of(const struct pm_nest_work *work, uint32_t insn) {
    return work->lifted->structure->blocks[work->lifted->insn_block[insn]].routine;
}

/* operands.c: fills operands and height, as far as addresses tell; false: a frame moves in a way
   that is not known. */
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
