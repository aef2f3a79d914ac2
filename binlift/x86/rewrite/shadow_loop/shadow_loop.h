/* The code of a loop nest's shadow loop on x86-64 (pm_isa.shadow_loop; binlift/bound/README.md says
   what copies are for, core/bound_abi.h what they look like).

   The nest's basic blocks stand in their old order, each instruction in its old form but for its
   memory operand: of an access that has a slot it becomes [rip + slot], which leaves the operation
   and its micro-operations as they were.  An exit leads to `jmp *%gs:PM_CB_BOUND_DONE`.  Registers
   that the nest does not touch serve replayed branches; the runtime restores all of them. */
#ifndef PM_X86_BOUND_COPY_H
#define PM_X86_BOUND_COPY_H

#include "binlift/bound/bound.h"

bool pm_x86_shadow_loop(const struct pm_bound_request *request, struct pm_shadow_loop *copy);

#endif
