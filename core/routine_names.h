/* Routines by name, as options of commands give it. */
#ifndef PM_ROUTINE_NAMES_H
#define PM_ROUTINE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/structure.h"

/* Whether TEXT is as PATTERN says: `*` stands for any text, `?` for any character. */
bool pm_matches(const char *pattern, const char *text);

/* For each routine whether it is called NAME, by linkage or display name, and in *N_NAMED how many
   are.  NAME: one or more names with commas between them; each is a pattern (pm_matches) unless a
   routine has exactly that name.  Commas within parentheses or angle brackets belong to a name.
   NULL: all.  The caller frees. */
bool *pm_routines_named(const struct pm_structure *structure, const char *name, uint32_t *n_named);

#endif
