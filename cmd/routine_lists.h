/* Files that say which routines are measured: `--include FILE`, `--exclude FILE`.  A line is a name
   or a pattern (core/structure/routine_names.h); `#` begins a comment.  In a file of --exclude `!`
   before it says that these routines must stay as they are. */
#ifndef PM_ROUTINE_LISTS_H
#define PM_ROUTINE_LISTS_H

#include <stdbool.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

struct pm_routine_lists;

/* Reads the files; each may be NULL.  Without --include all routines are measured but those
   excluded; with both, those included and not excluded. */
struct pm_routine_lists *pm_routine_lists_read(const char *include, const char *exclude,
                                               struct pm_error *err);
void pm_routine_lists_free(struct pm_routine_lists *lists);

/* For each routine of STRUCTURE whether it is left out; the caller frees.  To be called for each
   module of a program.  Untouched: whether a line with `!` names it, so that it is left out in any
   case. */
bool *pm_routine_lists_left_out(struct pm_routine_lists *lists,
                                const struct pm_structure *structure);
bool *pm_routine_lists_untouched(struct pm_routine_lists *lists,
                                 const struct pm_structure *structure);

/* False with a sentence if a line named no routine in any structure so far. */
bool pm_routine_lists_all_found(const struct pm_routine_lists *lists, struct pm_error *err);

#endif
