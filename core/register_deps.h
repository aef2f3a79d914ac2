/* Register dependences between the operations of a loop's body (Marin & Mellor-Crummey 2004,
   section 2.1). */
#ifndef PM_REGISTER_DEPS_H
#define PM_REGISTER_DEPS_H

#include "core/structure.h"

/* A step of one iteration: a basic block, or an inner loop that is passed as a whole. */
struct pm_path_step {
    uint32_t block; /* PM_NONE: */
    uint32_t loop;  /* an inner loop */
};

struct pm_register_dependence {
    uint32_t from, to; /* operations: `to` uses what `from` defines */
    uint8_t number;    /* of the register */
    uint8_t distance;  /* 0: in one iteration; 1: the value is there when an iteration begins, from
                          the one before or, if that did not come by `from`, an earlier one */
};

struct pm_register_dependences {
    PM_ARRAY(struct pm_register_dependence, items); /* of one `to` in a row, in order of steps */
    bool is_cut;                                    /* there are more, too many to be of use */
};

/* Of LOOP: all ways through the basic blocks directly in it.  Freed by the caller (items). */
void pm_register_dependences_of_loop(const struct pm_structure *structure, uint32_t loop,
                                     struct pm_register_dependences *found);
/* Of an iteration that is these steps one after the other. */
void pm_register_dependences_of_path(const struct pm_structure *structure,
                                     const struct pm_path_step *path, size_t n_steps,
                                     struct pm_register_dependences *found);

#endif
