/* "Did you mean": of the names that there are the one that is written most like one that there is
   not. */
#ifndef PM_NEAREST_H
#define PM_NEAREST_H

#include <stdbool.h>

#include "core/base/error.h"

enum { PM_NEAREST_SIZE = 128 };

struct pm_nearest {
    char name[PM_NEAREST_SIZE]; /* the best of those that were tried; "" none is like it */
    unsigned edits;             /* between it and what was written */
};

/* Takes NAME over if WRITTEN is more like it than like those before.  Like it is where at most a
   third of the letters have to be put in, left out, exchanged or swapped with a neighbour, and what
   NAME begins with; case counts as nothing.  Names longer than fit are never taken. */
void pm_nearest_try(struct pm_nearest *nearest, const char *written, const char *name);

/* Puts "; did you mean NAME?" behind the text of *ERR, if there is one like it; returns false. */
bool pm_fail_nearest(struct pm_error *err, const struct pm_nearest *nearest);

#endif
