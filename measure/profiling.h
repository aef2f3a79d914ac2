/* Profiles of basic blocks: what the runtime is told, and what becomes of what it counted. */
#ifndef PM_PROFILING_H
#define PM_PROFILING_H

#include "core/base/base.h"
#include "core/block_profile/block_profile.h"
#include "core/machine/machine.h"

struct pm_profiling_request {
    bool wanted;
    unsigned window;                    /* 0: the usual one */
    struct pm_machine *const *machines; /* whose caches are simulated; borrowed */
    size_t n_machines;
};

/* False with a sentence if the caches of a machine cannot be simulated: it has none, or some of
   sizes that do not fit together. */
bool pm_profiling_check(const struct pm_profiling_request *request, struct pm_error *err);

/* For the environment: PM_ENV_PROFILE and PM_ENV_SIMULATE with their values, owned by the caller.
 */
char *pm_profiling_window_setting(const struct pm_profiling_request *request);
char *pm_profiling_machines_setting(const struct pm_profiling_request *request);

/* Gives PROFILE, as pm_ingest made it with N_SERVED counts a basic block, its levels and misses.
   False with a sentence if these are not the request's. */
bool pm_profiling_complete(const struct pm_profiling_request *request,
                           struct pm_block_profile *profile, size_t n_served, struct pm_error *err);

/* Is PROFILE what the request asks for? */
bool pm_profiling_is_same(const struct pm_profiling_request *request,
                          const struct pm_block_profile *profile);

#endif
