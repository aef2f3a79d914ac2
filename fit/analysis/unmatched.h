/* Accesses of code that is not the same in all builds (`pmodel run --build`), which has no models.
 */
#ifndef PM_UNMATCHED_H
#define PM_UNMATCHED_H

#include "core/profile.h"

/* The largest share, 0…1, of such accesses in one of N profiles, and in *OF which; NULL: there are
   none. */
double pm_unmatched_share(struct pm_profile *const *profiles, size_t n,
                          const struct pm_profile **of);

#endif
