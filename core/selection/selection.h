/* What of the runs of a store is looked at: all of them as they are, the ranks of one role, one
   kind of interval, or both.  A store that has a selection (pm_store_select) gives runs, profiles
   and models of it, so that who works on these need not know. */
#ifndef PM_SELECTION_H
#define PM_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/parameters.h"

struct pm_selection {
    uint32_t
        role; /* of the store's roles (pm_store_roles): their mean rank; PM_NONE: all added up */
    uint32_t group;  /* of ranks, of runs that have so many; PM_NONE: all */
    uint32_t kind;   /* of interval, the store's number of it, added up; PM_NONE: whole runs */
    bool by_ordinal; /* not added up: intervals with other ordinals are other runs … */
    char ordinal_name[PM_PARAMETER_NAME_SIZE]; /* … that have this parameter, too: from 1 on */
};

/* Whole runs, all ranks. */
#define PM_SELECTION_ALL ((struct pm_selection){PM_NONE, PM_NONE, PM_NONE, false, ""})

bool pm_selection_is_all(const struct pm_selection *selection);
/* Does it name ranks? */
bool pm_selection_has_ranks(const struct pm_selection *selection);

#endif
