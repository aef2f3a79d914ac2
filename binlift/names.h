/* Names of routines: for people, and of the routine that a compiler made another one from.  Private
   to binlift/. */
#ifndef PM_NAMES_H
#define PM_NAMES_H

#include <stddef.h>

/* `_ZN3foo3barEi.constprop.0` → `foo::bar(int)`; the caller frees. */
char *pm_display_name(const char *linkage_name);

/* Length of LINKAGE_NAME, of which the first LENGTH bytes count, without the last suffix of a part
   or clone: `f._omp_fn.0.cold` → that of `f._omp_fn.0` → that of `f`.  LENGTH if it has none. */
size_t pm_source_name_length(const char *linkage_name, size_t length);

#endif
