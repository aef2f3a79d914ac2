/* Routines and loops by name, as options of commands give it and as reports print it. */
#ifndef PM_SCOPE_NAMES_H
#define PM_SCOPE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/structure.h"

/* For each scope whether NAME names it, and in *N_NAMED how many it names.  The caller frees.

     main         routines of this name (core/routine_names.h: patterns, several with commas), and
                  where such a routine is inlined
     main/2       loops at depth 2 in code of `main`, inlined elsewhere too
     main/2 i     of these the ones with induction variable i, as reports print it
     main/2 :31   of these the ones that begin on line 31
     heat.c:31    loops that begin on line 31 of a file of this name

   Where a routine has exactly that name, it is meant.  What stands in brackets at the end of a
   report's name, "(vector)", may be left out. */
bool *pm_scopes_named(const struct pm_structure *structure, const char *name, uint32_t *n_named);

#endif
