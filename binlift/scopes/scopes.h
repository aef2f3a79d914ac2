/* The scope tree: program, module, routine, inlined code, loops, with files and lines.  Needs the
   CFG and loops; reads DWARF. */
#ifndef PM_BINLIFT_SCOPES_H
#define PM_BINLIFT_SCOPES_H

#include "core/structure/structure.h"

struct pm_lifted;

void pm_build_scopes(struct pm_lifted *lifted);

/* fold.c: which loops reports show as one (Marin & Mellor-Crummey 2004, section 2.3.1). */
void pm_fold_loops(struct pm_structure *structure);

/* vector.c: after folding, which loops are vector bodies and which their remainders, where
   the compiler does not say. */
void pm_mark_vector_loops(struct pm_structure *structure);

#endif
