/* Small values that many instructions have in common, kept once or at least seldom twice.  Private
   to binlift/code/. */
#ifndef PM_POOL_H
#define PM_POOL_H

#include <stddef.h>

struct pm_pool;

struct pm_pool *pm_pool_new(void);
void pm_pool_free(struct pm_pool *pool); /* with all values */

/* A copy of the N_BYTES bytes at VALUE (no padding that is not zero), 8-byte aligned, that lives as
   long as the pool; where the pool remembers an equal value, that one.  For one thread at a time.
 */
const void *pm_pool_keep(struct pm_pool *pool, const void *value, size_t n_bytes);

#endif
