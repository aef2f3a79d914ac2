/* What decides how a program is instrumented, read from the files that the options name:
   instruction classes, weights, lists of routines.  For `pmodel run` and `pmodel instrument`. */
#ifndef PM_COPY_CHOICE_H
#define PM_COPY_CHOICE_H

#include "binlift/binlift.h"
#include "cmd/routine_lists.h"

struct pm_copy_files { /* each may be NULL */
    const char *classes, *weights_store, *include, *exclude;
};

struct pm_copy_choice {
    char *runtime;                  /* path of the runtime library */
    struct pm_run_weights *weights; /* NULL: none were given */
    struct pm_routine_lists *lists; /* the same */
    struct pm_lift_options lift;
};

/* Fills CHOICE, of which `lift` may have been set before.  What it owns is freed by
   pm_copy_choice_free, also after an error. */
bool pm_copy_choice_read(struct pm_copy_choice *choice, const struct pm_copy_files *files,
                         struct pm_error *err);
void pm_copy_choice_free(struct pm_copy_choice *choice);

#endif
