/* Constants that decide, as tables: a name, a value and a reason each, and their scaling by a text
   for who tries what each is worth (fit/heuristics.h, sched/constants.h). */
#ifndef PM_TUNABLES_H
#define PM_TUNABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"

struct pm_tunable {
    const char *name, *why;
    double value;   /* as it stands in the table */
    double *number; /* what code reads, or */
    size_t *count;  /* the same of a whole one; the other is NULL */
};

/* Gives all N of TABLE their values, and multiplies those that TEXT names, "NAME:FACTOR,…" (NULL:
   none), by factors above 0 and up to 2; counts are rounded, to 1 at least.  False with a sentence
   that names VARIABLE, the environment's, and FILE, which has the constants; then all stay as they
   were. */
bool pm_tunables_scale(const struct pm_tunable *table, size_t n, const char *text,
                       const char *variable, const char *file, struct pm_error *err);

#endif
