/* The rewriter of x86-64 (pm_isa.rewrite): the new code that an instrumentation plan asks for, and
   the old text with a trampoline at each address where control may still arrive.
   README.md says what both look like. */
#ifndef PM_X86_REWRITE_H
#define PM_X86_REWRITE_H

#include "binlift/isa.h"

/* Makes the code of all routines that PLAN has move, to stand at ADDRESS.  False with a sentence if
   old and new text are too far apart.  MADE, 0 before, is the caller's in any case. */
bool pm_x86_rewrite(const struct pm_lifted *lifted, const struct pm_instrumentation_plan *plan,
                    uint64_t address, struct pm_new_code *made, struct pm_error *err);

#endif
