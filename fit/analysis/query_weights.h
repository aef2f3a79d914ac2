/* How much of a program's accesses and misses sets of reference groups make, to show the heaviest
   first. */
#ifndef PM_QUERY_WEIGHTS_H
#define PM_QUERY_WEIGHTS_H

#include "core/profile.h"
#include "fit/query/query.h"

/* WEIGHTS (n values) of N sets of groups at PROFILE: the larger of their shares of all accesses and
   of all misses, in any of these caches. */
void pm_query_weights(const struct pm_profile *profile, const struct pm_query_caches *caches,
                      const struct pm_query_groups *const *groups, size_t n, double *weights);

#endif
