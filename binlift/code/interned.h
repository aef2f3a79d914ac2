/* Small values that many instructions have in common, kept once or at least seldom twice.  Private
   to binlift/code/. */
#ifndef PM_INTERNED_H
#define PM_INTERNED_H

#include <stddef.h>

struct pm_interned;

struct pm_interned *pm_interned_new(void);
void pm_interned_free(struct pm_interned *interned); /* with all values */

/* A copy of the N_BYTES bytes at VALUE (no padding that is not zero), 8-byte aligned, that lives as
   long as INTERNED; where that remembers an equal value, that one.  For one thread at a time.
 */
const void *pm_intern(struct pm_interned *interned, const void *value, size_t n_bytes);

#endif
